"""What libraries compute in C with functions that they are given, in Python: converted like the code of the libraries."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax
import numpy as np

from ..arrays import MutableArray
from ..names import lacking
from ..selections import Selection
from . import bracketing, masked, quadrature

_IN_C = {"scipy.optimize._zeros": bracketing.BY_NAME, "scipy.integrate._quadpack": quadrature.BY_NAME}


def written(function: Any) -> types.FunctionType | None:
    """What computes the same as a function in C; None where it is not known."""
    module = getattr(function, "__module__", None)
    return _IN_C[module].get(function.__name__) if module in _IN_C else None


def of_masked_module(function: Any, arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
    """What computes a function of `numpy.ma`; None where all that it is given is NumPy's."""
    if not any(isinstance(leaf, _OURS) for leaf in _leaves(arguments)):
        return None
    if (found := masked.of_masked(function)) is None:
        raise lacking(function)
    return found


def of_masked_arguments(function: Any, arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
    """What computes a function of NumPy that is given masked arrays; None where none is, or it sees but their data."""
    leaves = list(_leaves(arguments))
    arrays = [leaf for leaf in leaves if isinstance(leaf, masked.MaskedArray | np.ma.MaskedArray)]
    if not any(isinstance(leaf, _OURS) for leaf in leaves):
        return None
    found = masked.of_arrays(function) if arrays else None
    if found is None and any(array.mask is not np.ma.nomask for array in arrays):
        raise lacking(function)
    return found


_OURS = (jax.Array, MutableArray, Selection, masked.MaskedArray)


def _leaves(arguments: Iterable[Any]) -> Iterator[Any]:
    """Arguments, and what stands in lists of them."""
    for argument in arguments:
        yield from _leaves(argument) if isinstance(argument, list | tuple) else (argument,)


def is_of_masked(function: Any) -> bool:
    """Is this a function of `numpy.ma`, or its class?"""
    module = getattr(function, "__module__", None)
    return isinstance(module, str) and module.startswith("numpy.ma")
