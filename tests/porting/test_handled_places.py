"""`except IndexError` around elements of arrays at traced places, and other errors that ported code handles: as in NumPy."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from tests.porting.programs import Programs

pytestmark = pytest.mark.usefixtures("x64")
PROGRAMS = program = Programs()
X = np.array([1.0, 2.0, 3.0])
PLACES = (0, 2, 3, 5, -1, -3, -4)


@program
def read(x, i):
    try:
        v = x[i]
    except IndexError:
        v = -1.0
    return v


@program
def written(x, i):
    y = x.copy()
    try:
        y[i] = 9.0
    except IndexError:
        y[0] = -1
    return y


@program
def nothing_is_written_after_it(x, i):
    y, z, log = x.copy(), np.zeros(2), [0]
    try:
        y[i] = np.sqrt(4.0)
        z[0] = 1.0
        log[0] = 5
    except IndexError:
        z[1] = 1.0
    return y, z, log[0]


@program
def added_to(x, i):
    y = x.copy()
    y[1] = 7
    try:
        y[i] += 1
        y[0] *= 3
    except (IndexError, KeyError):
        y[2] = -1
    return y


@program
def value_and_place_fail_in_turn(x, i):
    y = x.copy()
    try:
        y[i] = x[i + 1]
    except IndexError:
        y -= 1
    return y


@program
def of_a_view(x, i):
    y = x.copy()
    try:
        y[1:][i] = 0
    except IndexError:
        y[0] = 5
    return y


@program
def several_places(x, i):
    try:
        return x[np.array([i, 0])].sum()
    except LookupError:
        return -5.0


@program
def place_in_a_matrix(x, i):
    m, found = np.outer(x, x), np.zeros(4)
    for number, key in enumerate(((i, 0), (0, i), (..., i), (None, i, 1))):
        try:
            found[number] = m[key].sum()
        except IndexError:
            found[number] = -1.0
    return found


@program
def the_first_of_those_selected(x, i):
    try:
        return np.where(x > i)[0][0]
    except IndexError:
        return len(x)


@program
def with_else_and_finally(x, i):
    done = 0.0
    try:
        y = x[i]
    except IndexError:
        pass
    else:
        return y + done
    finally:
        done += 1
    return 7.0 + done


def corner(m, i):
    return m[i, 0] + m[0, i]


@program
def raised_in_a_function(x, i):
    m, s = np.outer(x, x), 0.0
    for k in range(5):
        try:
            s += corner(m, i + k)
        except IndexError:
            s -= 1
            break
    return s


@program
def in_a_staged_loop(x, i):
    k = i
    while k < 9:
        try:
            if x[k] > 2.5:
                break
        except IndexError:
            k = 100
        k += 1
    return k


@program
def handled_by_a_caller_that_asks(x, i):
    try:
        return read_all(x, i)
    except IndexError as error:
        if "bounds" not in str(error):
            raise
        return -2.0


def read_all(x, i):
    total = 0.0
    for k in range(2):
        total += x[i + k]
    return total


@program
def not_handled_is_the_nearest_one(x, i):
    return x[min(max(i, 0), 2)]


def first_column(y):
    """As in sklearn.cross_decomposition: an error of an iterator's becomes one with a text, which a caller looks at."""
    try:
        column = next(col for col in y.T if np.any(np.abs(col) > 1e-9))
    except StopIteration as error:
        raise StopIteration("no column") from error
    return column.sum()


@program
def an_iterator_that_is_at_its_end(x, i):
    total = 0.0
    for k in range(4):
        try:
            total += first_column(np.outer(x, x) * (i + 1 - k))
        except StopIteration as error:
            if str(error) != "no column":
                raise
            warnings.warn(f"at {k}", stacklevel=2)
            break
    return total


def put_and_count(o, i):
    try:
        o[i] = 5.0
    finally:
        o[0] += 100.0


@program
def a_final_part_runs_where_a_write_has_failed(x, i):
    y = x.copy()
    try:
        put_and_count(y, i)
    except IndexError:
        y[1] = -1.0
    return y


@program
def taken_by_functions(x, i):
    try:
        first = np.take(x, i)
    except IndexError:
        first = -1.0
    try:
        second = x.take([i, 0]).sum()
    except IndexError:
        second = -2.0
    y = x.copy()
    try:
        np.add.at(y, i, 3.0)
    except IndexError:
        y[1] = -3.0
    return first, second, y


@program
def added_where_it_does_not_fail(x, i):
    table = {"a": 0.0}
    try:
        table.update(a=x[i])
    except IndexError:
        table["a"] -= 1
    return table["a"]


@pytest.mark.filterwarnings("ignore:at ")
@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_what_numpy_gives(f):
    ported = ag.port(f)
    wants = [jax.tree.leaves(f(X.copy(), i)) for i in PLACES]
    for run in (ag.jit(ported), jax.jit(ported)):
        for i, want in zip(PLACES, wants, strict=True):
            for got, one in zip(jax.tree.leaves(run(jnp.asarray(X), jnp.asarray(i))), want, strict=True):
                np.testing.assert_allclose(got, one, err_msg=f"at {i}")
    lanes = jax.tree.leaves(jax.vmap(ported, (None, 0))(jnp.asarray(X), jnp.asarray(PLACES)))
    for got, *one in zip(lanes, *wants, strict=True):
        np.testing.assert_allclose(got, np.array(one))


def test_slopes_where_the_handler_runs():
    def f(x, i):
        try:
            return x[i] ** 2
        except IndexError:
            return 3 * x[0]

    slopes = jax.jit(jax.grad(ag.port(f)))
    np.testing.assert_allclose(slopes(jnp.asarray(X), 1), [0, 4, 0])
    np.testing.assert_allclose(slopes(jnp.asarray(X), 4), [3, 0, 0])


def several_targets(x, i):
    t = 0.0
    try:
        t = 1.0
        x[i] = t = 5.0
    except IndexError:
        pass
    return x, t


def several_elements(x, i):
    try:
        x[0], x[i] = 5.0, 6.0
    except IndexError:
        pass
    return x


@pytest.mark.parametrize("f", [several_targets, several_elements])
def test_what_python_writes_before_one_of_several_fails_is_refused(f):
    with pytest.raises(ag.StagingError):
        ag.jit(ag.port(f))(jnp.asarray(X), jnp.asarray(4))
