"""Programs that are made of types alone are those that jax.make_jaxpr makes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import check_jaxpr, jaxpr_as_fun

from autograph_jax.loops.building import with_programs_in_place
from autograph_jax.loops.evaluation import called, is_call
from autograph_jax.loops.tracing import traced

ARRAY = jnp.arange(3.0)
FUNCTIONS = {
    "numbers": (lambda x, y: x * 2 + y, ("float32", "int32")),
    "structures": (lambda x, y: {"a": [x, (y,)], "b": None}, ("float32", "int32")),
    "constants": (lambda x, y: (x + ARRAY, 3.0, np.arange(2)), ("float32", "int32")),
    "arguments": (lambda x, y: [y, x, x], ("float32", "int32")),
    "calls": (lambda x, y: jax.jit(lambda a: jnp.where(a > 0, a, -a))(x) + y, ("float32", "int32")),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_make_jaxpr(name):
    function, dtypes = FUNCTIONS[name]
    structs = [jax.ShapeDtypeStruct((3,), dtype) for dtype in dtypes]
    expected, found = jax.make_jaxpr(function)(*structs), traced(function, structs)
    assert str(found) == str(expected)
    assert found.in_avals == expected.in_avals and found.out_avals == expected.out_avals


def test_weak_types_stay():
    struct = jax.ShapeDtypeStruct((), "float32", weak_type=True)
    assert traced(lambda x: x * 2, [struct]).out_avals[0].weak_type
    assert traced(lambda x: x * 2, [jax.typeof(jnp.float32(1.0))]).out_avals[0].weak_type is False


def test_values_around_are_constants():
    @jax.jit
    def outer(y):
        closed = traced(lambda x: x * y, [jax.ShapeDtypeStruct((), "float32")])
        assert len(closed.consts) == 1 and closed.consts[0] is y
        return jaxpr_as_fun(closed)(2.0)[0]

    assert outer(3.0) == 6.0


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")  # jax 0.12 tells of it
def test_types_are_those_of_the_present_setting():
    struct = jax.ShapeDtypeStruct((), "float64")
    for x64, dtype in ((False, "float32"), (True, "float64"), (False, "float32")):
        with jax.enable_x64(x64):
            assert traced(lambda x: x, [struct]).in_avals[0].dtype == dtype


def test_an_error_leaves_nothing():
    def fails(x):
        raise ValueError("no")

    with pytest.raises(ValueError, match="^no$"):
        traced(fails, [jax.ShapeDtypeStruct((), "float32")])
    assert jnp.ones(()) + 1 == 2


def test_calls_written_out():
    inner = jax.jit(lambda a, b: (jnp.sin(a) + ARRAY.sum(), b))
    twice = jax.jit(lambda a, b: inner(*inner(b, a)))

    def function(x, y):
        first, second = twice(x, y)
        again, _ = inner(second, x)
        return first * again, second, 2.0

    closed = traced(function, [jax.ShapeDtypeStruct((3,), "float32")] * 2)
    flat = with_programs_in_place(closed, lambda equation: called(equation) if is_call(equation) else None)
    assert not any(is_call(equation) for equation in flat.jaxpr.eqns)
    x, y = jnp.array([0.1, 0.2, 0.3]), jnp.array([1.0, 2.0, 3.0])
    for one, other in zip(jaxpr_as_fun(flat)(x, y), jaxpr_as_fun(closed)(x, y), strict=True):
        np.testing.assert_array_equal(one, other)
    check_jaxpr(flat.jaxpr)
