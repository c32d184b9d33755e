"""Programs put together of others' equations: the same values, each equation at its place in the user's code."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import check_jaxpr, jaxpr_as_fun

from autograph_jax.loops.building import Builder, with_consts_given, with_programs_in_place
from autograph_jax.loops.evaluation import called, is_call
from autograph_jax.loops.tracing import traced

ARRAY = np.arange(3.0, dtype=np.float32)
STRUCT = jax.ShapeDtypeStruct((3,), "float32")
X = jnp.array([0.5, 1.0, 2.0])


def scopes(closed):
    return [str(equation.source_info.name_stack) for equation in closed.jaxpr.eqns]


def test_equations_are_not_traced_again():
    closed = traced(lambda x: jnp.sin(x) * 2.0 + ARRAY, [STRUCT])
    builder = Builder(closed.in_avals)
    outputs = builder.of_program(closed, builder.inputs, lambda e, operands: builder.again(e, operands))
    again = builder.program(closed.jaxpr, outputs)
    check_jaxpr(again.jaxpr)
    assert [e.primitive for e in again.jaxpr.eqns] == [e.primitive for e in closed.jaxpr.eqns]
    np.testing.assert_array_equal(jaxpr_as_fun(again)(X)[0], jaxpr_as_fun(closed)(X)[0])


def test_what_a_function_gives_stands_for_an_equation():
    """Of literals it gets numbers, of constants arrays, and it stands where the equation stood."""
    with_scope = jax.named_call(lambda x: jnp.sin(x), name="outer")
    closed = traced(with_scope, [STRUCT])
    builder, given = Builder(closed.in_avals), []

    def each(equation, operands):
        def instead(*values):
            given.extend(values)
            return jnp.cos(values[0]) + 1.0

        return (
            builder.of(instead, operands, equation) if equation.primitive.name == "sin" else builder.again(equation, operands)
        )

    flat = with_programs_in_place(closed, lambda e: called(e) if is_call(e) else None)
    outputs = builder.of_program(flat, builder.inputs, each)
    made = builder.program(flat.jaxpr, outputs)
    check_jaxpr(made.jaxpr)
    np.testing.assert_allclose(jaxpr_as_fun(made)(X)[0], np.cos(X) + 1.0, rtol=1e-6)
    assert len(given) == 1 and all("outer" in scope for scope in scopes(made))


def test_scopes_of_programs_inside_of_others():
    inner = jax.jit(lambda x: jax.named_call(jnp.sin, name="inside")(x))
    closed = traced(jax.named_call(lambda x: inner(inner(x)), name="outside"), [STRUCT])
    flat = with_programs_in_place(closed, lambda e: called(e) if is_call(e) else None)
    found = [scope for e, scope in zip(flat.jaxpr.eqns, scopes(flat), strict=True) if e.primitive.name == "sin"]
    assert len(found) == 2 and all(scope.index("outside") < scope.index("inside") for scope in found)


def test_one_array_is_one_constant():
    first, second = (traced(lambda x, n=n: x * ARRAY + n, [STRUCT]) for n in (1.0, 2.0))
    builder = Builder(first.in_avals)
    outputs = builder.of_program(second, builder.of_program(first, builder.inputs))
    both = builder.program(first.jaxpr, outputs)
    assert len(both.consts) == 1
    np.testing.assert_array_equal(jaxpr_as_fun(both)(X)[0], (X * ARRAY + 1.0) * ARRAY + 2.0)


def test_constants_as_first_inputs():
    closed = traced(lambda x: x * ARRAY, [STRUCT])
    opened = with_consts_given(closed)
    assert not opened.consts and len(opened.in_avals) == 2
    np.testing.assert_array_equal(jaxpr_as_fun(opened)(*closed.consts, X)[0], X * ARRAY)
