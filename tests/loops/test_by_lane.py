"""Which loops are mapped as many loops, each with a test of its own: told by reading what JAX's rule would find."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import Primitive
from jax.interpreters import batching

from autograph_jax.loops import by_lane
from autograph_jax.loops.batched import _as_lax_does
from autograph_jax.loops.loop import Given, loop_of


def counted(x, n):
    return jax.lax.while_loop(lambda c: c[1] < n, lambda c: (c[0] * x, c[1] + 1), (x, 0))


def until_large(x, n):
    return jax.lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + jnp.abs(x) + 1, c[1] + 1), (x, 0))


def counted_by_a_branch(x, n):
    def turn(c):
        value, count = jax.lax.cond(c[1] > 1, lambda v, i: (v * x, i + 2), lambda v, i: (v + x, i + 1), *c)
        return value, count

    return jax.lax.while_loop(lambda c: c[1] < n, turn, (x, 0))


def counted_by_a_branch_of_its_own(x, n):
    def turn(c):
        return jax.lax.cond(x > 1, lambda v, i: (v * x, i + 2), lambda v, i: (v + x, i + 1), *c)

    return jax.lax.while_loop(lambda c: c[1] < n, turn, (x, 0))


def counted_by_a_loop(x, n):
    return jax.lax.while_loop(lambda c: c[1] < n, lambda c: (counted(c[0], n)[0], counted(c[0], c[1] + 1)[1]), (x, 0))


def counted_by_a_scan(x, n):
    def turn(c):
        (value, count), _ = jax.lax.scan(lambda c, _: ((c[0] + x, c[1] + 1), None), c, length=2)
        return value, count

    return jax.lax.while_loop(lambda c: c[1] < n, turn, (x, 0))


def counted_by_lanes_of_a_scan(x, n):
    def turn(c):
        (value, count), _ = jax.lax.scan(lambda c, _: ((c[0] + x, c[1] + c[0].astype(int)), None), c, length=2)
        return value, count

    return jax.lax.while_loop(lambda c: c[1] < n, turn, (x, 0))


def handed_on(x, n):
    """What is a lane's comes into the test only after some turns."""
    return jax.lax.while_loop(lambda c: c[2] < n, lambda c: (c[0] + x, c[0], c[1] + 1), (x, jnp.float32(0), jnp.float32(0)))[1:]


def by_a_call(x, n):
    @jax.jit
    def step(value, count):
        return value * x, count + 1

    return jax.lax.while_loop(lambda c: c[1] < n, lambda c: step(*c), (x, 0))


def axis_data():
    """What JAX hands the rules of a vmap over three lanes."""
    given = []
    probe = Primitive("probe")
    probe.def_abstract_eval(lambda x: x)
    batching.fancy_primitive_batchers[probe] = lambda data, operands, dims: (given.append(data) or operands[0], dims[0])
    jax.make_jaxpr(jax.vmap(probe.bind))(jnp.ones(3))
    return given[0]


@pytest.mark.parametrize(
    "function, by_lanes",
    [
        (counted, False),
        (until_large, True),
        (counted_by_a_branch, False),
        (counted_by_a_branch_of_its_own, True),
        (counted_by_a_loop, False),
        (counted_by_a_scan, False),
        (counted_by_lanes_of_a_scan, True),
        (handed_on, True),
        (by_a_call, False),
    ],
)
def test_as_the_rule_of_jax_finds(function, by_lanes):
    program = jax.make_jaxpr(function)(jnp.float32(1.5), 4).jaxpr
    equation = next(e for e in program.eqns if e.primitive.name == "while")
    params = equation.params
    counts = params["cond_nconsts"], params["body_nconsts"]
    loop = loop_of(params["cond_jaxpr"], params["body_jaxpr"], counts, Given())
    differ = [not hasattr(v, "val") and v.aval.dtype == np.float32 for v in equation.invars]
    mapped, _ = _as_lax_does(loop, axis_data(), [0 if one else None for one in differ])
    assert by_lane.decides(loop, differ) == by_lanes == bool(mapped.rank)
