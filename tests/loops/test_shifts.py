"""`//` and `%` by powers of two are shifts and masks, for every integer; what looks like them and is not stays as it is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.extend.core import jaxpr_as_fun

from autograph_jax.loops.compiled import compiled

pytestmark = pytest.mark.usefixtures("x64")
KINDS = [jnp.int8, jnp.int32, jnp.int64, jnp.uint8, jnp.uint64]


def numbers(kind):
    limits = jnp.iinfo(kind)
    near = [limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, 2, 3, 5, 7, 8, 9, 64, 100]
    return jnp.array([*near, *(-n for n in near[5:] if limits.min < 0)], kind)


def names(closed):
    return {equation.primitive.name for equation in closed.jaxpr.eqns}


def shifted(function, *args, known=()):
    """The program with shifts, and what it gives, which is what it gave."""
    closed = jax.make_jaxpr(function)(*args)
    made = compiled(closed, known, frozenset({"shifts"}))
    ours, theirs = [jax.jit(jaxpr_as_fun(program))(*args) for program in (made, closed)]
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    return made


@pytest.mark.parametrize("power", [1, 2, 64])
@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_every_integer(kind, power):
    by = np.dtype(kind).type(power)
    made = shifted(lambda n: (n // by, n % by, *jnp.divmod(n, by), n[0] // by, n[0] % by), numbers(kind))
    assert not names(made) & {"div", "rem"}


def test_lanes():
    made = shifted(jax.vmap(lambda n: (n // 4, n % 4)), numbers(jnp.int32))
    assert not names(made) & {"div", "rem"}


UNLIKE = {
    "another number": lambda n: (n // 3, n % 6),
    "a negative number": lambda n: (n // -4, n % -4),
    "no number": lambda n: (n // n, n % n),
    "zero": lambda n: (n // 0, n % 0),
    "towards zero": lambda n: (lax.div(n, 4 * jnp.ones_like(n)), lax.rem(n, 4 * jnp.ones_like(n))),
    "floats": lambda n: (n * 1.0 // 4, n * 1.0 % 4),
    "one less on another condition": lambda n: lax.select(n > 0, lax.div(n, n * 0 + 4), lax.div(n, n * 0 + 4) - 1),
    "two different": lambda n: lax.select(
        (jnp.sign(n) != 1) & (lax.rem(n, jnp.full_like(n, 8)) != 0), lax.div(n, jnp.full_like(n, 4)), n // 4 - 1
    ),
    "the other way round": lambda n: jnp.where((jnp.sign(n) != 1) & (n % 4 != 0), lax.div(n, jnp.full_like(n, 4)), n - 1),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_what_is_something_else(name):
    made = shifted(UNLIKE[name], numbers(jnp.int32)[5:])  # not 0: of 0 // 0 XLA makes this or that
    if name in ("another number", "a negative number", "no number", "towards zero"):
        assert not names(made) & {"shift_right_arithmetic", "shift_right_logical"}


def test_what_is_not_negative_is_divided_by_shifts():
    def f(n):
        return lax.div(n, jnp.int32(8)), lax.rem(n, jnp.int32(8))

    assert names(shifted(f, jnp.int32(77), known=((0, 100),))) == {"shift_right_arithmetic", "and"}
    assert names(shifted(f, jnp.int32(-77), known=((-100, 100),))) == {"div", "rem"}
