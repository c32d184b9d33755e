"""What libraries compute in C with functions that they are given, in Python: converted like the code of the libraries."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import jax

from ..arrays import MutableArray
from ..names import lacking
from ..selections import Selection
from . import bracketing, masked, quadrature

_IN_C = {"scipy.optimize._zeros": bracketing.BY_NAME, "scipy.integrate._quadpack": quadrature.BY_NAME}


def written(function: Any) -> types.FunctionType | None:
    """What computes the same as a function in C; None where it is not known."""
    module = getattr(function, "__module__", None)
    return _IN_C[module].get(function.__name__) if module in _IN_C else None


def masked_counterpart(function: Any, arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
    """What computes a function of `numpy.ma`, or one of NumPy's that is given a masked array; None where neither is."""
    leaves = jax.tree.leaves(arguments, is_leaf=lambda leaf: leaf is None or isinstance(leaf, masked.MaskedArray))
    if is_of_masked(function):
        is_ours = any(isinstance(leaf, jax.Array | MutableArray | Selection | masked.MaskedArray) for leaf in leaves)
        return _found(masked.of_masked, function) if is_ours else None
    return _found(masked.of_arrays, function) if any(isinstance(leaf, masked.MaskedArray) for leaf in leaves) else None


def is_of_masked(function: Any) -> bool:
    """Is this a function of `numpy.ma`, or its class?"""
    return (getattr(function, "__module__", None) or "").startswith("numpy.ma")


def _found(look_up: Callable[[Any], Callable[..., Any] | None], function: Any) -> Callable[..., Any]:
    if (found := look_up(function)) is None:
        raise lacking(function)
    return found
