"""Which outputs depend on traced data, which inputs are used, and whether a body has one precision."""

import jax
import jax.numpy as jnp
import pytest

from autograph_jax.operators.staging import dependence


def jaxpr_of(function, *arguments):
    return jax.make_jaxpr(function)(*arguments)


outside = jnp.arange(3.0)
TAINTED = {  # a function of (x, i), where x is traced data and i is not: which outputs depend on x
    "both": (lambda x, i: (x + 1, i + 1), [True, False]),
    "through another": (lambda x, i: (jnp.sin(x) * i, i * i), [True, False]),
    "constant": (lambda x, i: (1.0, i), [False, False]),
    "an array from outside": (lambda x, i: (outside[i], i), [True, False]),
    "a branch": (lambda x, i: (jax.lax.cond(i > 0, lambda: i, lambda: i + 1), i), [False, False]),
    "a traced branch": (lambda x, i: (jax.lax.cond(x > 0, lambda: i, lambda: i + 1), i), [True, False]),
    "handed on": (lambda x, i: (i, x), [False, True]),
}


@pytest.mark.parametrize("name", TAINTED)
def test_tainted_outputs(name: str):
    function, expected = TAINTED[name]
    assert dependence.tainted_outputs(jaxpr_of(function, 1.0, 2), [True, False]) == expected


def test_later_inputs_count_as_clean():
    assert dependence.tainted_outputs(jaxpr_of(lambda x, i: (x, i), 1.0, 2), [True]) == [True, False]


def test_effects_count_as_tainted():
    def f(i):
        jax.debug.print("{}", i)
        return jax.pure_callback(lambda i: i, jax.ShapeDtypeStruct((), i.dtype), i)

    assert dependence.tainted_outputs(jaxpr_of(f, jnp.int32(2)), [False]) in ([True], [False])


def test_uses():
    closed = jaxpr_of(lambda x, y, z: (x + 1, z), 1.0, 2.0, 3.0)
    assert [dependence.uses(closed.jaxpr, v) for v in closed.jaxpr.invars] == [True, False, True]


PRECISION = {
    "one float": (lambda x: jnp.sin(x) + 1, (jnp.float32(1),), True),
    "two floats": (lambda x, y: x + y, (jnp.float32(1), jnp.float16(1)), False),
    "float and integer": (lambda x, i: x * i, (jnp.float32(1), jnp.int32(1)), True),
    "two integers": (lambda i, j: i + j, (jnp.int32(1), jnp.int8(1)), False),
    "bool is neither": (lambda x, b: jnp.where(b, x, 0), (jnp.float32(1), jnp.bool_(True)), True),
    "complex and float": (lambda x, c: x + c, (jnp.float32(1), jnp.complex64(1)), False),
}


@pytest.mark.parametrize("name", PRECISION)
def test_one_precision(name: str):
    function, arguments, expected = PRECISION[name]
    jaxpr = jaxpr_of(function, *arguments).jaxpr
    assert dependence.one_precision(jaxpr, jnp.inexact, jnp.integer) is expected


def test_one_precision_of_a_kind():
    jaxpr = jaxpr_of(lambda x, i, j: x * (i + j), jnp.float32(1), jnp.int32(1), jnp.int8(1)).jaxpr
    assert dependence.one_precision(jaxpr, jnp.inexact) and not dependence.one_precision(jaxpr, jnp.integer)
