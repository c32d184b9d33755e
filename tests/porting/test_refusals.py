"""What only traced values make fail is a PortingError with the line, also where JAX or Python has found it out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize

import autograph_jax as ag
from tests.porting.programs import Programs

REFUSED = refused = Programs()
KEPT = kept = Programs()
SPACE: dict = {"np": np}
exec("def without_source(x):\n    return float(x)", SPACE)  # noqa: S102 - a function without source text
without_source = SPACE["without_source"]


@refused
def a_number_asked_for_by_python(b):
    return without_source(b.sum())


@refused
def which_a_handler_would_catch(b):
    try:
        return without_source(b.sum())
    except TypeError:
        return 0.0


@refused
def a_text_that_is_formatted_by_c(b):
    return "{:d}".__format__(b.sum())


@refused
def how_many_elements_there_are(b):
    return np.unique(b)


@refused
def an_argument_that_jax_wants_to_know(b):
    return np.partition(b, b.sum().astype(int))


@refused
def an_attribute_of_no_array(b):
    return b.sum().real.coefficients


@refused
def an_integer_beyond_64_bits(b):
    return b.sum() * int("9" * 30)


@kept
def an_index_out_of_bounds(b):
    return b[7]


@kept
def shapes_that_do_not_fit(b):
    return np.concatenate([b, np.ones((2, 2))])


@kept
def a_wrong_type(b):
    return [1.0, 2.0] - {}


@kept
def an_error_of_a_function_that_c_calls(b):
    def told(x):
        raise LookupError(str(b.shape))

    return scipy.optimize.root(told, np.zeros(3))


@kept
def an_error_of_its_own(b):
    raise LookupError("nothing found")


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_the_line(name):
    with pytest.raises(ag.PortingError, match=r"(test_refusals.py|<string>):\d+, in "):
        jax.jit(ag.port(REFUSED[name]))(jnp.ones(3))


def test_what_c_gets_from_a_function_is_no_traced_number():
    with pytest.raises(ag.PortingError, match=r"_hybrd` has no counterpart"):
        jax.jit(ag.port(lambda b: scipy.optimize.root(lambda x: x - b, np.zeros(3)).x))(jnp.ones(3))


@pytest.mark.parametrize("name", KEPT)
def test_errors_of_the_original_stay(name):
    with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever it is
        KEPT[name](np.ones(3))
    with pytest.raises(type(expected.value)) as found:
        jax.jit(ag.port(KEPT[name]))(jnp.ones(3))
    assert not isinstance(found.value, ag.PortingError)


def test_a_refused_program_leaves_the_next_alone():
    def fails(b):
        if b[0] > 0:
            return np.unique(b)
        return b

    def with_a_handler(b):
        try:
            return b.missing
        except AttributeError:
            return b

    for _ in range(20):  # frames of the first are where frames of the second will be
        with pytest.raises(ag.PortingError):
            jax.jit(ag.port(fails))(jnp.ones(3))
        assert jax.jit(ag.port(with_a_handler))(jnp.ones(3)).shape == (3,)


def test_a_loop_without_an_end_that_cannot_be_staged_is_refused(x64: None):
    def f(b):
        found = np.zeros(1)
        while True:
            found = np.append(found, b)
            if found.sum() > 10:
                break
        return found.sum()

    with pytest.raises(ag.ShapeError, match="`found` gets longer in each turn"):
        jax.jit(ag.port(f))(jnp.ones(3))


def test_a_text_whose_form_is_a_variable(x64: None):
    @ag.jit
    @ag.port
    def f(x):
        form = "%.1f after " + "%d"
        if x > 0:
            raise ValueError(form % (x, x % 2))
        return x

    with pytest.raises(ValueError, match=r"^3.5 after 1$"):
        f(3.5)


def test_a_text_that_a_branch_makes_longer(x64: None):
    @ag.jit
    @ag.port
    def f(x):
        text = f"first {x}"
        if x > 1:
            text += f" and {x + 1:.1f}"
        if x > 0:
            raise ValueError(text + "!")
        return x

    for x, text in ((3.0, "first 3.0 and 4.0!"), (0.5, "first 0.5!")):
        with pytest.raises(ValueError) as found:
            f(x)
        assert str(found.value) == text


def test_a_function_that_knows_what_a_branch_has_computed_leaves_it(x64):
    """As SciPy's projections by QR factors, which give those by singular values where the factors are singular."""

    def by_sums(x):
        total = x.sum() * 2
        return lambda y: total + y, 1

    def projections(x):
        if x[0] < 0:
            return by_sums(x)
        return lambda y: y * x[1], 2

    run = jax.jit(ag.port(lambda x: projections(x)[0](2.0)))
    for x in (np.ones(3), np.array([-1.0, 3.0, 5.0])):
        assert run(x) == projections(x)[0](2.0)
