"""`ag.port(f, max_len=...)`: lists of ported code that traced data makes longer, and solvers that keep such."""

import collections
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.stats
from scipy.optimize.elementwise import find_root

import autograph_jax as ag
from autograph_jax.errors import AliasError, StructureError
from tests.porting.programs import VECTORS, check_compiled


def path(h: Any) -> Any:
    t, ts, ys = 0.0, [0.0], [np.array([1.0, 2.0])]
    while t < 1:
        t = t + h
        ts.append(t)
        ys.append(ys[-1] * (1 - h))
    return {"ts": np.array(ts), "ys": np.vstack(ys).T, "count": len(ts), "flat": np.hstack(ys), "last": ts[-1], "sum": sum(ts)}


def pieces(h: Any) -> Any:
    grid, t, i = np.linspace(0, 1, 7), 0.0, 0
    ts = []
    ys = []
    while t < 1:
        t = t + h
        j = (grid <= t).sum()
        part = grid[i:j]
        if part.size > 0:
            ts.append(part)
            ys.append(np.vstack([part, part**2]))
            i = j
    if ts:
        ts, ys = np.hstack(ts), np.hstack(ys)
    return {"ts": ts, "ys": ys}


def compressed(h: Any) -> Any:
    """As SciPy's elementwise solvers: what is finished is taken out."""
    x, active, out, turns = np.arange(1.0, 4.0) * h, np.arange(3), np.zeros(3), 0
    scale = 0.5
    while turns < 30 and active.size:
        x = x * 1.5 + scale
        scale = x / 10
        turns += 1
        stop = x > 4
        if np.any(stop):
            out[active[stop]] = x[stop]
            go_on = ~stop
            active, x, scale = active[go_on], x[go_on], scale[go_on]
    return {"out": out, "turns": turns}


def history(h: Any) -> Any:
    """As statsmodels' RLM: lists in a dict, one of them a variable's too."""
    past = {"x": [np.inf], "size": []}
    kept = past["x"]
    x, turns, done = 1 + h, 0, False
    while not done:
        if x == 0.0:
            break
        x = 0.5 * (x + 2.0 / x)
        past["x"].append(x)
        past["size"].append(np.abs(x))
        turns += 1
        done = turns >= 30 or np.abs(kept[turns] - kept[turns - 1]) < 1e-9
    x = x + past["size"][-1]
    return {"x": x, "last": kept[turns], "before": past["x"][turns - 1], "all": np.array(past["x"][1:])}


@pytest.mark.parametrize("function", [path, pieces, compressed, history])
def test_programs(function: Any, x64: None):
    run = jax.jit(ag.port(function, max_len=50))
    for h in (0.3, 0.21, 0.05):
        want, found = function(h), run(h)
        for name, value in want.items():
            one = found[name]
            if hasattr(one, "length"):
                assert one.length == np.shape(value)[one.axis]
                one = np.take(np.asarray(one), np.arange(one.length), axis=one.axis)
            np.testing.assert_allclose(one, value, rtol=1e-12, err_msg=f"{name} at {h}")


def test_without_a_bound_it_says_so(x64: None):
    with pytest.raises(ag.StructureError, match="max_len"):
        jax.jit(ag.port(path))(0.3)


def test_a_list_longer_than_the_bound(x64: None):
    with pytest.raises(IndexError, match="at most 4 elements"):
        jax.block_until_ready(ag.jit(ag.port(path, max_len=4))(0.1)["count"])


def test_a_list_longer_than_what_was_taken_for_its_bound(x64: None):
    def f(x: Any, least: int) -> Any:
        values, n, done = [np.inf], 0, False
        while not done:
            if x == 0.0:
                break
            x = 0.5 * (x + 2.0 / x)
            values.append(x)
            n += 1
            done = n >= least and np.abs(values[n] - values[n - 1]) < 1e-9
        return values[n]

    solve = ag.jit(ag.port(f))
    np.testing.assert_allclose(solve(1.0, 3), f(1.0, 3))
    with pytest.raises(IndexError, match="max_len=100"):
        jax.block_until_ready(solve(1.0, 250))
    np.testing.assert_allclose(ag.jit(ag.port(f, max_len=300))(1.0, 250), f(1.0, 250))


def test_an_array_in_such_a_list_is_not_written(x64: None):
    def f(h: Any) -> Any:
        x, t = np.zeros(2), 0.0
        xs = []
        while t < 1:
            t = t + h
            xs.append(x)
            x[0] = t
        return np.array(xs)

    with pytest.raises(ag.AliasError, match="list of bounded length"):
        jax.jit(ag.port(f, max_len=9))(0.3)


def lengthened(b: Any) -> Any:
    ends = [b[0], b[1]]
    if b[2] != 0:
        inner = b[0] / b[2]
        if b[0] < inner < b[1]:
            ends.append(inner)
    if b[1] > 0:
        ends.append(b[2])
    ends = np.asarray(ends)
    values = ends * (ends - 1)
    return ends[np.argmin(values)], values.sum(), len(ends)


def emptied(b: Any) -> Any:
    found = []
    if b[0] > 0:
        found.append(b[0])
    if b[1] > 0:
        found.append(b[1])
    return min(found) if found else -1.0


def until(b):
    ends = [b[0]]
    for k in range(3):
        ends.append(ends[-1] + b[1] + k)
        if ends[-1] > 3:
            break
    return ends[-1], len(ends), sum(ends)


def until_others(b):
    ends, total = [b[0]], 0.0
    for k in (1, 2, 5):
        total = total + k * b[1]
        if total > 6:
            break
        if b[2] > 0.1:
            ends.append(total)
    return ends[-1], len(ends), total


def residuals(b):
    found = []
    r = b[0]
    for k in range(20):
        r = r / 2 + b[1] / 8
        if r < 0.2:
            break
        found.append(r)
        if k == 3 and b[2] == 0:
            return r, found[0], len(found)
    return r, sum(found), len(found)


class History:
    def __init__(self):
        self.steps = []

    def note(self, step):
        self.steps.append(step)
        while len(self.steps) > 3:
            self.steps.pop(0)


class Slotted:
    __slots__ = ("steps",)

    def __init__(self):
        self.steps = []

    def note(self, step):
        self.steps.append(step)


def of_an_object(b):
    history, x = History(), b
    for _ in range(20):
        if x[0] > 3:
            break
        for step in history.steps:
            x = x + 0.3 * step
        x = x + 0.1
        history.note(x)
    return x, len(history.steps), sum(history.steps)


def of_an_object_with_slots(b):
    history, x = Slotted(), b[0]
    while x < 3:
        x = x + 0.7
        if b[1] > 0:
            history.note(x)
        if len(history.steps) > 3:
            break
    else:
        history.note(b[2])
    return x, len(history.steps)


def of_an_object_in_a_branch(b):
    history = Slotted()
    if b[0] > 1:
        history.note(b[1])
    if b[0] > 0:
        history.note(b[2])
    return len(history.steps), sum(history.steps)


def of_a_callers_object(b):
    def noted(history):
        for k in range(4):
            if b[0] * k > 2:
                return k
            history.note(b[0] * k)
        return -1

    history = Slotted()
    return noted(history), history.steps[-1], len(history.steps)


OF_OBJECTS = [of_an_object, of_an_object_in_a_branch, of_a_callers_object]


@pytest.mark.parametrize("function", [lengthened, emptied, until, until_others, residuals, *OF_OBJECTS])
def test_a_list_that_a_branch_makes_longer_needs_no_bound(function: Any, x64: None):
    run = jax.jit(ag.port(function))
    for values in ([1.0, 3.0, 0.5], [-1.0, -3.0, 0.5], [2.0, 1.0, 0.0]):
        for one, other in zip(
            jax.tree.leaves(run(jnp.array(values))), jax.tree.leaves(function(np.array(values))), strict=True
        ):
            np.testing.assert_allclose(one, other)


def test_a_list_of_an_object_in_a_loop_without_a_bound(x64: None):
    run = jax.jit(ag.port(of_an_object_with_slots, max_len=9))
    for values in ([1.0, 3.0, 0.5], [-1.0, -3.0, 0.5], [2.0, 1.0, 0.0]):
        for one, other in zip(run(jnp.array(values)), of_an_object_with_slots(np.array(values)), strict=True):
            np.testing.assert_allclose(one, other)
    with pytest.raises(ag.StructureError, match="max_len"):
        jax.jit(ag.port(of_an_object_with_slots))(jnp.ones(3))


def test_a_list_of_two_objects_is_bounded_in_both(x64: None):
    def f(b: Any) -> Any:
        first, second = Slotted(), Slotted()
        second.steps = first.steps
        if b[0] > 0:
            first.note(b[0])
        second.note(b[1])
        return len(second.steps), first.steps[-1], first.steps[0]

    for b in (np.array([2.0, 3.0]), np.array([-2.0, 3.0])):
        np.testing.assert_allclose(jax.jit(ag.port(f))(b), f(b))


def test_a_list_that_somebody_else_holds_is_not_bounded(x64: None):
    def f(b: Any) -> Any:
        found = []
        kept = {"found": found}
        if b[0] > 0:
            found.append(b[0])
        return len(kept["found"])

    with pytest.raises(ag.StructureError, match="how many elements"):
        jax.jit(ag.port(f))(jnp.ones(3))


def nonmonotone(b):
    """As SciPy's df-sane: the best of the last few."""
    best = collections.deque([b[0]], 3)
    x, k = b[0], 0
    while x < 8 and k < 20:
        x = 0.5 * max(best) + 0.7 * abs(b[1]) + best[0] / 8 + 0.1
        best.append(x)
        k += 1
    return x, k, len(best), best[-1], best[0], best.maxlen, sum(best)


def deque_in_a_branch(b):
    last = collections.deque(maxlen=2)
    for k in range(4):
        if b[k % 3] > 0:
            last.append(b[k % 3])
    first = last.popleft() if last else -1.0
    return len(last), first


@pytest.mark.parametrize("function", [nonmonotone, deque_in_a_branch])
def test_a_deque_has_its_bound(function: Any, x64: None):
    check_compiled(function, VECTORS)


def decay(t: Any, y: Any) -> Any:
    return np.array([y[1], -y[0]])


@pytest.mark.parametrize("times", [None, np.linspace(0, 1, 4)])
def test_solve_ivp(times: Any, x64: None):
    def solved(y0: Any) -> Any:
        result = scipy.integrate.solve_ivp(decay, (0.0, 1.0), y0, t_eval=times)
        return result.t, result.y

    y0 = np.array([1.0, 0.5])
    for one, other in zip(jax.jit(ag.port(solved, max_len=12))(jnp.array(y0)), solved(y0), strict=True):
        assert one.length == other.shape[-1]
        np.testing.assert_allclose(np.asarray(one)[..., : other.shape[-1]], other, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_anderson(x64: None):
    def solved(a: Any) -> Any:
        def cubic(x: Any) -> Any:
            return np.array([x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]])

        return scipy.optimize.anderson(cubic, a)

    a = np.array([0.5, -1.0])
    np.testing.assert_allclose(jax.jit(ag.port(solved, max_len=6))(jnp.array(a)), solved(a), rtol=1e-6)


def test_find_root(x64: None):
    def solved(a: Any) -> Any:
        result = find_root(lambda x, a: x**3 - a, (np.zeros(3), np.full(3, 3.0)), args=(a,))
        return result.x, result.nit, result.success

    a = np.array([2.0, 5.0, 0.3])
    for one, other in zip(jax.jit(ag.port(solved))(jnp.array(a)), solved(a), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def means_of_constant_columns(x: Any) -> Any:
    """As statsmodels looks for its constant: a list of as many elements at most as the selection may have."""
    columns = np.where(np.max(x, axis=0) == np.min(x, axis=0))[0]
    found, place = 0.0, -1
    if columns.size == 1:
        found = x[:, columns].mean()
    elif columns.size > 1:
        values = []
        for column in columns:
            value = x[:, column].mean()
            if value == 1:
                place = column
                break
            values.append(value)
        else:
            found = np.array(values).sum()
    return found, place


@pytest.mark.usefixtures("x64")
def test_a_list_that_a_loop_over_a_selection_makes_longer():
    rows = [[[1.0, 2.0, 3.0], [0.0, 5.0, 4.0]], [[1.0, 2.0, 3.0], [1.0, 5.0, 4.0]], [[7.0, 2.0, 3.0], [7.0, 1.0, 3.0]]]
    check_compiled(means_of_constant_columns, [*rows, [[4.0, 1.0, 3.0], [4.0, 1.0, 2.0]]])


def appended_where_traced_data_ends_the_loop(x: Any) -> Any:
    if x > 1:
        values = []
        while x < 100:
            values.append(x)
            x = x * 2
        return len(values)
    return 0


@pytest.mark.usefixtures("x64")
def test_a_list_without_a_bound_that_a_branch_makes_is_refused():
    with pytest.raises(ag.errors.StructureError, match="how many elements this list has"):
        jax.jit(ag.port(appended_where_traced_data_ends_the_loop))(3.0)


def longer_or_another(x):
    found = []
    if np.any(x > 0):
        found.append(x.sum())
        found.append(x.max())
    else:
        found = [np.nan for _ in range(2)]
    found = [2 * value for value in found]
    return found[0] if len(found) == 1 else tuple(found)


def longer_or_none_longer(x):
    found = []
    if x[0] > 0:
        found += [x.sum()]
    return sum(found)


@pytest.mark.parametrize("function", [longer_or_another, longer_or_none_longer])
def test_a_list_that_one_branch_makes_longer_and_the_other_replaces(function, x64):
    for x in (np.array([1.0, 2.0]), np.array([-1.0, -2.0])):
        np.testing.assert_array_equal(ag.jit(ag.port(function))(jnp.asarray(x)), function(x))


def test_the_moments_of_a_distribution(x64):
    for distribution, shape in ((scipy.stats.gamma, 2.3), (scipy.stats.poisson, 2.5)):
        for name in ("mean", "var", "stats"):
            method = getattr(distribution, name)
            np.testing.assert_allclose(ag.jit(ag.port(method))(shape), method(shape))


class Sum:
    """A matrix as SciPy's Broyden methods keep it: vectors, and from some number on an array."""

    def __init__(self, most):
        self.most: Any = most
        self.parts: Any = []
        self.whole: Any = None

    def append(self, part):
        if self.whole is not None:
            self.whole += np.outer(part, part)
            return
        self.parts.append(part)
        if len(self.parts) > self.most:
            self.whole = np.zeros((2, 2))
            for left, right in zip(self.parts, self.parts):  # noqa: B905
                self.whole += np.outer(left, right)
            self.parts = None

    def drop(self):
        del self.parts[:]

    def times(self, v):
        if self.whole is not None:
            return self.whole @ v
        found = v * 1
        for part in self.parts:
            found = found + part * (part @ v)
        return found


class Parts:
    def __init__(self):
        self.parts = []

    def append(self, part):
        self.parts.append(part)

    def reset(self):
        self.parts = []

    def times(self, v):
        found = v * 1
        for part in self.parts:
            found = found + part * (part @ v)
        return found


class Keeper:
    def __init__(self):
        self.renew()

    def renew(self):
        self.sum = Parts()


def to_the_end(x, total, change):
    for turn in range(20):
        if np.abs(x).max() < 1e-3:
            break
        if x[0] < 0.1:
            change()
        total().append(x * 0.1)
        x = 0.5 * total().times(x)
    return x, turn


def an_array_from_some_number_on(x):
    total = Sum(2)
    return to_the_end(x, lambda: total, lambda: None)


def a_list_that_a_branch_replaces(x):
    total = Parts()
    return to_the_end(x, lambda: total, total.reset)


def a_list_that_a_branch_empties(x):
    total = Sum(100)
    return to_the_end(x, lambda: total, total.drop)


def an_object_that_a_branch_replaces(x):
    keeper = Keeper()
    return to_the_end(x, lambda: keeper.sum, keeper.renew)


def a_variable_that_a_branch_replaces(x):
    total = Parts()
    for _ in range(20):
        if np.abs(x).max() < 1e-3:
            break
        if x[0] < 0.1:
            total = Parts()
        total.append(x * 0.1)
        x = 0.5 * total.times(x)
    return x


REPLACED = [
    *(an_array_from_some_number_on, a_list_that_a_branch_replaces, a_list_that_a_branch_empties),
    *(an_object_that_a_branch_replaces, a_variable_that_a_branch_replaces),
]


@pytest.mark.parametrize("function", REPLACED)
def test_lists_of_objects_that_traced_data_replaces(function, x64):
    check_compiled(function, [[1.0, 2.0], [3.0, 0.1], [-0.2, 0.1]])


def a_list_that_two_variables_hold(x):
    total = Parts()
    seen = total.parts
    total.append(x)
    if x[0] > 0:
        total.reset()
    total.append(x * 2)
    return len(seen), len(total.parts)


def test_a_replaced_list_that_another_variable_holds(x64):
    """Python's numbers, or a refusal: which of two lists is written is only known at run time."""
    for x in (np.array([1.0, 2.0]), np.array([-1.0, 2.0])):
        try:
            found = ag.jit(ag.port(a_list_that_two_variables_hold))(x)
        except (AliasError, StructureError):
            continue
        assert tuple(map(int, found)) == a_list_that_two_variables_hold(x)


def test_going_through_none():
    def program(x):
        parts: Any = None
        if x > 1:
            parts = [x, 2 * x]
        total = x * 0
        for part in parts:
            total = total + part
        return total

    for convert in (ag.autograph, ag.port):
        run = ag.jit(convert(program))
        assert run(2.0) == 6
        with pytest.raises(TypeError, match="'NoneType' object is not iterable"):
            run(0.5)


def lists_that_each_restart_makes_anew(x):
    """As pyamg's GMRES has it: the turn in which the rows are bounded is traced again, and not without an end."""
    for _ in range(3):
        rows, kept = [x], []
        for inner in range(3):
            row = np.zeros(x.size)
            row[:] = x * (inner + 1)
            rows.append(row)
            for k in range(inner + 1):
                row -= rows[k] * 0.5
            norm = np.abs(row).sum()
            if norm != 0:
                kept.append(norm)
            if norm < 1:
                break
        x = x * 0.5 + rows[-1] + len(kept)
        if x.sum() < 1:
            return x
    return -x


@pytest.mark.parametrize("x", [[1.0, 2.0], [0.1, 0.1], [0.0, 0.0]])
def test_lists_that_each_restart_makes_anew(x: Any, x64: None):
    check_compiled(lists_that_each_restart_makes_anew, [x])
