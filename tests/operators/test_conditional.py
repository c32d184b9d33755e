"""Conditionals that are bound from finished programs: what they hand on, effects, references, and where nothing is traced."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import ClosedJaxpr, Var, jaxpr_as_fun

import autograph_jax as ag
from autograph_jax.loops.tracing import traced
from autograph_jax.operators.jax_private import user_frames
from autograph_jax.operators.staging.conditional import conditional, followed_by


def conditions(jaxpr):
    return [equation for equation in jaxpr.eqns if equation.primitive.name == "cond"]


def handed_on(x, y):
    a, b = x, y
    if x > 0:
        a, b = x, y + 1
    else:
        a, b = x, y - 1
    return a, b


def test_what_both_branches_hand_on_is_no_output():
    closed = jax.make_jaxpr(ag.autograph(handed_on))(1.0, 2.0)
    (equation,) = conditions(closed.jaxpr)
    assert len(equation.outvars) == 1
    assert closed.jaxpr.outvars[0] is closed.jaxpr.invars[0]
    np.testing.assert_allclose(jaxpr_as_fun(closed)(1.0, 2.0), [1.0, 3.0])
    np.testing.assert_allclose(jaxpr_as_fun(closed)(-1.0, 2.0), [-1.0, 1.0])


def test_an_operand_is_handed_once():
    def f(x, y):
        return x * y + x if x > y else x - y

    (equation,) = conditions(jax.make_jaxpr(ag.autograph(f))(1.0, 2.0).jaxpr)
    assert len(equation.invars) == 3  # the index, x and y
    assert all(len(branch.jaxpr.invars) == 2 and not branch.consts for branch in equation.params["branches"])


def test_equations_keep_their_lines():
    def f(x):
        if x > 0:
            x = jnp.sin(x)
        return x

    (equation,) = conditions(jax.make_jaxpr(ag.autograph(f))(1.0).jaxpr)
    (sine,) = (e for branch in equation.params["branches"] for e in branch.jaxpr.eqns if e.primitive.name == "sin")
    file, function, _ = user_frames(sine)[0]
    assert file == __file__ and function.endswith(".f")


def references(x):
    ref = jax.new_ref(jnp.zeros(2))
    if x > 0:
        ref[0] = x
    else:
        ref[1] = -x
    return ref[...]


@pytest.mark.parametrize("value", [2.0, -3.0])
def test_references_in_branches(value):
    found = jax.jit(ag.autograph(references))(value)
    np.testing.assert_array_equal(found, references(value))


TABLE = np.arange(5.0, dtype=np.float32)


def of_a_table(x):
    y = x
    if x > 0:
        y = jnp.asarray(TABLE)[jnp.int32(x)] * x
    return y


def test_without_jit():
    """Lanes decide for themselves, so the branches are traced, with the array that one of them reads."""
    x, converted = jnp.array([2.5, -3.0]), ag.autograph(of_a_table)
    with jax.disable_jit():
        found = jax.vmap(converted)(x)
        slopes = jax.grad(lambda x: jax.vmap(converted)(x).sum())(x)
    np.testing.assert_array_equal(found, [5.0, -3.0])
    np.testing.assert_array_equal(slopes, [2.0, 1.0])


def test_constants_of_two_kinds():
    """A tracer of the program around, and an array that is known."""
    table = jnp.arange(3.0)

    @jax.jit
    def outer(x):
        first = traced(lambda: [x + 1, table[0]], [])
        second = traced(lambda: [x, table[2]], [])
        return conditional(x > 0, first, second)

    np.testing.assert_array_equal(outer(1.0), [2.0, 0.0])
    np.testing.assert_array_equal(outer(-1.0), [-1.0, 2.0])


def test_a_constant_twice():
    closed = traced(lambda x: [x + 1], [jax.ShapeDtypeStruct((3,), "float32")])
    (equation,), (variable,) = closed.jaxpr.eqns, closed.jaxpr.invars
    other, table = Var(variable.aval), jnp.arange(3, dtype="float32")
    jaxpr = closed.jaxpr.replace(
        constvars=[variable, other],
        invars=[],
        outvars=[*equation.outvars, other],
        debug_info=closed.jaxpr.debug_info.with_unknown_names(),
    )
    twice = ClosedJaxpr(jaxpr, [table, table])
    found = jax.jit(lambda x: conditional(x > 0, twice, twice))(1.0)
    np.testing.assert_array_equal(found, [[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]])


def test_followed_by():
    closed = traced(lambda x: [x * 2, 3.0, x], [jax.ShapeDtypeStruct((), "float32")])
    around = jnp.float32(10.0)

    def ending(values):
        return [values[0] + values[1], values[2], around, values[0]]

    whole = followed_by(closed, closed.jaxpr.outvars, ending)
    assert whole.jaxpr.outvars[3] is closed.jaxpr.outvars[0]
    np.testing.assert_array_equal(jaxpr_as_fun(whole)(jnp.float32(2.0)), [7.0, 2.0, 10.0, 4.0])
