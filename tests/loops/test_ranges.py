"""Interval arithmetic against all values of small intervals; integers from a counter that have no room when staged."""

import functools

import hypothesis
import hypothesis.strategies as st
import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.loops import guards, ranges

OF_TWO = {
    name: getattr(jax.lax, name)
    for name in """add sub mul div rem bitwise_and bitwise_or bitwise_xor shift_left shift_right_logical shift_right_arithmetic
    max min""".split()
}
OF_ONE = {name: getattr(jax.lax, name) for name in "abs sign bitwise_not neg".split()}
OF_ONE |= {f"power_{n}": functools.partial(jax.lax.integer_pow, y=n) for n in (2, 3)}

spans = st.tuples(st.integers(-9, 9), st.integers(0, 9)).map(lambda pair: (pair[0], sum(pair)))


@functools.cache
def equation(name):
    function, count = (OF_TWO[name], 2) if name in OF_TWO else (OF_ONE[name], 1)
    return jax.make_jaxpr(function)(*[jnp.int32(1)] * count).jaxpr.eqns[0]


@pytest.mark.parametrize("name", [*OF_TWO, *OF_ONE])
@hypothesis.given(spans, spans)
def test_all_results_are_in_the_interval(name, a, b):
    given = (a, b) if name in OF_TWO else (a,)
    found = ranges.of_result(equation(name), given)
    if found is None or name in ("div", "rem") and b[0] <= 0 <= b[1]:
        return
    values = np.meshgrid(*(np.arange(low, high + 1, dtype=np.int32) for low, high in given))
    results = np.asarray((OF_TWO | OF_ONE)[name](*values))
    assert found[0] <= results.min() and results.max() <= found[1]


COUNTERS = {
    "quotient": lambda i: ((i // 2) ** 6) % 101,
    "negative quotient": lambda i: ((-(-i // 3)) ** 7) % 101,
    "triangle": lambda i: (i * (i + 1) // 2) ** 4 % 101,
    "absolute": lambda i: (abs(i - 100) ** 6) % 101,
    "bits": lambda i: ((i ^ 5) ** 6 + (i | 3) ** 6 + (~i) ** 6) % 101,
    "shifted": lambda i: ((i - 100) >> 1) ** 6 % 101,
    "masked": lambda i: (i**2 & ~1) ** 3 % 101,
}


@pytest.mark.parametrize("name", COUNTERS)
def test_integers_from_a_counter_do_not_overflow(name):
    compute = COUNTERS[name]

    def total(x):
        s = 0.0
        for i in range(150):
            s = s + x * compute(i)
        return s

    assert ag.jit(total)(1.0) == total(1.0)


def test_a_loop_may_hold_a_scan():
    @ag.jit
    def total(x):
        s = 0.0
        for i in range(3):
            carry, rows = jax.lax.scan(lambda c, y: (c + 1, c * y), i, x)
            s = s + rows.sum() + carry
        return s

    assert total(jnp.ones(4)) == sum(i + i + 1 + i + 2 + i + 3 + i + 4 for i in range(3))


def test_a_branch_that_is_known_says_nothing():
    """`lax.cond(True, ...)`: jaxopt's line search has one, whose index is a literal."""
    closed = jax.make_jaxpr(lambda x: jax.lax.cond(True, lambda: x < 3, lambda: x > 5))(1)
    (cond,) = [equation for equation in closed.jaxpr.eqns if equation.primitive.name == "cond"]
    index = jax.extend.core.Literal(np.int32(1), cond.invars[0].aval)
    known = cond.replace(invars=[index, *cond.invars[1:]])
    makers = {variable: known for variable in known.outvars}
    assert guards.said(known.outvars[0], makers, lambda variable: None) == []
