"""Powers of whole numbers: Python's are floats where the exponent is negative, and JAX's are then some number."""

from __future__ import annotations

import operator
from typing import Any

import jax

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.effects import checks
from autograph_jax.operators.values.containers import array_form
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.porting import numbers


def power(base: Any, exponent: Any) -> Any:
    """`base ** exponent`, of a traced exponent an integer; at run time an error where that is negative.

    In ported code the error is NumPy's; there a plain integer to a traced power is a float, which may be as large as Python's.
    """
    if is_traced(exponent) and _is_pythons(base) and _is_pythons(exponent):
        if hooks.is_porting() and type(base) is int:
            return float(base) ** exponent
        if not numbers.is_natural(exponent):
            checks.raise_where(exponent < 0, _NUMPYS if hooks.is_porting() else _float_error())
    return base**exponent


_NUMPYS = ValueError("Integers to negative integer powers are not allowed.")


def power_in_place(base: Any, exponent: Any) -> Any:
    """`base **= exponent`."""
    return power(base, exponent) if _is_pythons(base) else operator.ipow(base, exponent)


def inverse_power(base: Any, exponent: Any) -> Any:
    """`base ** -exponent`: of Python's integers a float, as it is in Python but for an exponent of zero or less."""
    if is_traced(exponent) and _is_pythons(base) and _is_pythons(exponent):
        base = base * 1.0
    return base**-exponent


def _is_pythons(number: Any) -> bool:
    """Is this an integer of Python's, or a traced one in its place? In ported code any traced one may be."""
    if not isinstance(number, jax.Array):
        return type(number) is int
    return number.dtype.kind in "iu" and not number.ndim and (hooks.is_porting() or array_form(number).weak)


def _float_error() -> StagingError:
    return StagingError(
        "an integer is raised to a negative power, which in Python gives a float",
        location=user_location(),
        help="make it a float throughout: `2.0 ** n`",
    )
