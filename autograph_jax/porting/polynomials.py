"""Polynomials by their coefficients: zeros that lead are not taken away where traced data says how many there are."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.polynomial import polyutils

from ..errors import PortingError, user_location
from . import hooks
from .arrays import wrap
from .creating import asarray
from .views import is_static


def roots(p: Any) -> Any:
    """As if the first coefficient were not zero; at run time an error where it is."""
    value = asarray(p).value
    if is_static(value):
        return wrap(np.roots(value))
    hooks.raise_where(value[0] == 0, _trimmed())
    return wrap(jnp.roots(value, strip_zeros=False))


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """As if there were no zeros at the ends, which leading coefficients are as a rule; at run time an error where there are."""
    array = asarray(filt)
    if is_static(array.value):
        return wrap(np.trim_zeros(array.value, trim))  # type: ignore[arg-type]
    for place, letter in ((0, "f"), (-1, "b")):
        if letter in trim.lower() and array.size:
            hooks.raise_where(array.value[place] == 0, _trimmed())
    return array


def trimseq(seq: Any) -> Any:
    """As if the last coefficient were not zero; at run time an error where it is, and is not the only one."""
    array = asarray(seq)
    if is_static(array.value):
        return wrap(polyutils.trimseq(array.value))
    if array.size > 1:
        hooks.raise_where(array.value[-1] == 0, _trimmed())
    return array


def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """As if the remainder had as many coefficients as it can have; at run time an error where NumPy finds more, or fewer."""
    u, v = (np.atleast_1d(asarray(one)) + 0.0 for one in (u, v))
    if is_static((u.value, v.value)):
        quotient, rest = np.polydiv(u.value, v.value)
        return wrap(quotient), wrap(rest)
    kind, degree, steps = np.result_type(u.dtype, v.dtype), len(v) - 1, max(len(u) - len(v) + 1, 0)
    quotient, rest = wrap(np.zeros(max(steps, 1), kind)), wrap(jnp.asarray(u.value, kind))
    for place in range(steps):
        quotient[place] = rest[place] * (1.0 / v[0])
        rest[place : place + degree + 1] -= quotient[place] * v
    return quotient, _without_zeros(rest, min(steps, len(rest) - 1))


def _without_zeros(rest: Any, expected: int) -> Any:
    """The coefficients behind so many that are zero but for rounding, by NumPy's measure."""
    is_zero = np.isclose(rest, 0, rtol=1e-14).value
    others = jnp.any(~is_zero[:expected])
    if expected + 1 < len(rest):
        others = others | is_zero[expected]
    hooks.raise_where(others, _trimmed())
    return rest[expected:]


def _trimmed() -> PortingError:
    return PortingError(
        "NumPy would take zeros away at an end of the coefficients, and how many depends on traced data",
        location=user_location(),
        help="leave leading coefficients out that are zero",
    )
