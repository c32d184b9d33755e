"""`math.hypot(x, y)` and `cmath.sqrt(z)` of traced numbers: the functions of Python's math and cmath, by jax.numpy's.

They compute in floats (cmath's in complex numbers) whatever they get, and say what Python says of infinities and of integers of
small types.
"""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .exact import log2, log10

Function = Callable[..., Any]

# Where the two libraries have different names, or other arguments.
OF_MATH: dict[Function, Function] = {
    math.acos: jnp.arccos, math.acosh: jnp.arccosh, math.asin: jnp.arcsin, math.asinh: jnp.arcsinh, math.atan: jnp.arctan,
    math.atanh: jnp.arctanh, math.atan2: jnp.arctan2, math.fabs: lambda x: abs(_float(x)),
    math.fmod: lambda x, y: jnp.fmod(_float(x), _float(y)), math.pow: lambda x, y: jnp.power(_float(x), _float(y)),
    math.remainder: lambda x, y: _remainder(_float(x), _float(y)), math.modf: lambda x: parts(_float(x)),
    math.gamma: lambda x: jnp.exp(jax.scipy.special.gammaln(x)) * gamma_sign(x), math.lgamma: jax.scipy.special.gammaln,
    math.erf: jax.scipy.special.erf, math.erfc: jax.scipy.special.erfc, math.ldexp: jnp.ldexp,
    math.gcd: lambda *x: functools.reduce(_gcd, _integers(x), 0), math.lcm: lambda *x: functools.reduce(_lcm, _integers(x), 1),
    math.log: lambda x, *base: jnp.log(x) / jnp.log(base[0]) if base else jnp.log(x),
    math.log2: lambda x: log2(_float(x)), math.log10: lambda x: log10(_float(x)),
    math.floor: lambda x: _integer(jnp.floor(x)), math.ceil: lambda x: _integer(jnp.ceil(x)),
    math.trunc: lambda x: _integer(jnp.trunc(x)), math.hypot: lambda *x: _length(_side_by_side(x)),
    math.degrees: jnp.degrees, math.radians: jnp.radians,
    math.dist: lambda p, q: _length(_float(jnp.asarray(p)) - jnp.asarray(q)),
    math.isclose: lambda a, b, *, rel_tol=1e-9, abs_tol=0.0: _is_close(a, b, rel_tol, abs_tol),
    math.fsum: lambda x: jnp.sum(jnp.asarray(x, float)),
    math.prod: lambda x, *, start=1: start * in_own_type(jnp.prod, jnp.asarray(x), start),
}  # fmt: skip


# Those of cmath give complex numbers, whatever they get.
OF_CMATH: dict[Function, Function] = {
    **{
        getattr(cmath, name): functools.partial(lambda ours, x: mirrored(ours, x), getattr(jnp, name.replace("a", "arc", 1)))
        for name in "acos acosh asin asinh atan atanh".split()
    },
    **{
        getattr(cmath, name): functools.partial(lambda ours, x: mirrored(ours, x), getattr(jnp, name))
        for name in "cos cosh exp log10 sin sinh sqrt tan tanh".split()
    },
    cmath.log: lambda x, *base: mirrored(jnp.log, x) / mirrored(jnp.log, base[0]) if base else mirrored(jnp.log, x),
    cmath.polar: lambda x: (jnp.abs(x), jnp.angle(x)), cmath.rect: lambda r, phi: _from_polar(_float(r), _float(phi)),
    cmath.phase: jnp.angle, cmath.isfinite: jnp.isfinite, cmath.isinf: jnp.isinf, cmath.isnan: jnp.isnan,
    cmath.isclose: lambda a, b, *, rel_tol=1e-9, abs_tol=0.0: _is_close(a, b, rel_tol, abs_tol),
}  # fmt: skip


def _float(x: Any) -> Any:
    """Python's math has floats throughout."""
    return x if jnp.issubdtype(jnp.result_type(x), jnp.floating) else jnp.asarray(x, float)


def _integer(x: jax.Array) -> jax.Array:
    """Python's `math.floor` and the like give integers."""
    return x.astype(int)


def _remainder(x: Any, y: Any) -> jax.Array:
    """What is left after the nearest multiple of y, of two as near the even one (IEEE 754). jnp.remainder's is Python's %."""
    left, size = jnp.fmod(x, y), jnp.abs(y)
    is_odd = jnp.fmod((x - left) / y, 2) != 0
    is_far = (2 * jnp.abs(left) > size) | (2 * jnp.abs(left) == size) & is_odd
    return jnp.where(is_far, left - jnp.copysign(size, left), left)


def parts(x: Any) -> tuple[jax.Array, jax.Array]:
    """The fraction and the whole of a number, both of its sign. Of an infinity the fraction is zero."""
    whole = jnp.trunc(x)
    fraction = jnp.where(jnp.signbit(x), -(whole - x), x - whole)
    return jnp.where(jnp.isinf(x), jnp.copysign(jnp.zeros_like(x), x), fraction), whole


def gamma_sign(x: Any) -> jax.Array:
    """The sign of the gamma function, whose logarithm `gammaln` is."""
    return jnp.where((x < 0) & (jnp.floor(x) % 2 != 0), -1.0, 1.0)


def _side_by_side(numbers: tuple[Any, ...]) -> jax.Array:
    """Numbers as the parts of a vector of floats."""
    parts = jnp.broadcast_arrays(*numbers)
    kind = jnp.result_type(*numbers) if numbers else float
    kind = kind if jnp.issubdtype(kind, jnp.floating) else float
    return jnp.stack([part.astype(kind) for part in parts]) if parts else jnp.zeros(0)


def _length(vector: jax.Array) -> jax.Array:
    """Of a vector. It is divided by a power of two near its largest part first: no square is too large."""
    largest = jnp.max(jnp.abs(jax.lax.stop_gradient(vector)), axis=0, initial=0)
    scale = jnp.where(jnp.isfinite(largest), jnp.ldexp(jnp.ones_like(largest), jnp.frexp(largest)[1] - 1), 1)
    length = scale * jnp.sqrt(jnp.sum(jnp.square(vector / scale), axis=0))
    return jnp.where(jnp.isinf(vector).any(axis=0), jnp.inf, length)  # also with a NaN beside it


def _integers(numbers: tuple[Any, ...]) -> list[jax.Array]:
    """Integers in the default type at least: the least common multiple of two of an int8 may not be one."""
    return [wide(jnp.asarray(number)) for number in numbers]


def wide(integer: jax.Array) -> jax.Array:
    """An integer of a small type in the default one, as Python's have no bound; anything else as it is."""
    is_small = integer.dtype.kind in "iu" and integer.dtype.itemsize < jnp.asarray(0).dtype.itemsize
    return integer.astype(int) if is_small else integer


def _gcd(a: Any, b: Any) -> jax.Array:
    """By Euclid. jnp.gcd takes the absolute values first, and never ends where the smallest integer has none."""
    a, b = _alike(a, b)

    def divided(pair: Any) -> Any:
        a, b = pair
        return b, jnp.where(b == 0, 0, jax.lax.rem(a, jnp.where(b == 0, 1, b)))

    return jnp.abs(jax.lax.while_loop(lambda pair: jnp.any(pair[1] != 0), divided, (a, b))[0])


def _lcm(a: Any, b: Any) -> jax.Array:
    a, b = _alike(a, b)
    return jnp.abs(a // jnp.maximum(_gcd(a, b), 1) * b)


def _is_close(a: Any, b: Any, rel_tol: Any, abs_tol: Any) -> jax.Array:
    """Python's rule, by the larger of the two; NumPy's goes by the second. An infinity is close to itself alone."""
    size = jnp.maximum(jnp.abs(_inexact(a)), jnp.abs(_inexact(b)))
    within = _apart(a, b) <= jnp.maximum(rel_tol * size, abs_tol)
    return jnp.equal(a, b) | within & jnp.isfinite(a) & jnp.isfinite(b)


def _inexact(x: Any) -> jax.Array:
    return jnp.asarray(x, complex if jnp.iscomplexobj(x) else float)


def _apart(a: Any, b: Any) -> jax.Array:
    """How far two numbers are from each other. Of two integers it has no sign, and so is one of the unsigned type."""
    kind = jnp.result_type(a, b)
    if kind.kind not in "iu":
        return jnp.abs(_inexact(a) - _inexact(b))
    a, b = _alike(a, b)
    return _inexact((jnp.maximum(a, b) - jnp.minimum(a, b)).astype(f"uint{8 * a.dtype.itemsize}"))


def _alike(a: Any, b: Any) -> tuple[jax.Array, jax.Array]:
    """Two numbers in their common type and shape."""
    kind = jnp.result_type(a, b)
    first, second = jnp.broadcast_arrays(a, b)
    return first.astype(kind), second.astype(kind)


def in_own_type(reduce: Function, rows: jax.Array, start: Any) -> jax.Array:
    """A sum or a product over the first axis, in the type that it has row after row: JAX's own of int8 is an int32."""
    return reduce(rows, axis=0, dtype=own_type(rows, start))


def own_type(rows: Any, start: Any) -> Any:
    """The type of a row added to a start, and so on."""
    is_number = isinstance(start, int | float | complex | jax.Array)
    kind = start if is_number else jax.dtypes.canonicalize_dtype(getattr(start, "dtype", rows.dtype))
    return jnp.result_type(kind, rows if isinstance(rows, jax.Array) else rows.dtype)


def mirrored(function: Function, x: Any) -> jax.Array:
    """A function of a complex number, below the real axis the conjugate of the one above: a zero there has a sign.

    `cmath.sqrt(complex(-1, -0.0))` is -1j, where jnp.sqrt says 1j.
    """
    z = _complex(x)
    is_below = jnp.signbit(jnp.imag(z))
    above = function(jnp.where(is_below, jnp.conj(z), z))
    return jnp.where(is_below, jnp.conj(above), above)


def _complex(x: Any) -> jax.Array:
    return jnp.asarray(x) if jnp.iscomplexobj(x) else complex_of(x, 0.0)


def _from_polar(r: jax.Array, phi: jax.Array) -> jax.Array:
    """An infinite number on the real axis has a zero beside it, not a NaN."""
    imag = jnp.where(phi == 0, phi * jnp.sign(r), r * jnp.sin(phi))
    return complex_of(r * jnp.cos(phi), imag)


def complex_of(real: Any, imag: Any) -> jax.Array:
    """A complex number of two real ones, as they are: `x + 1j * y` makes a NaN of the real part where y is infinite."""
    kind = jnp.result_type(real, imag)
    kind = kind if kind in (jnp.float32, jnp.float64) else float
    return jax.lax.complex(*(part.astype(kind) for part in jnp.broadcast_arrays(real, imag)))
