"""`solve_triangular(L, b, overwrite_b=True)`: what SciPy computes into the memory of an argument which it may overwrite.

Whether it does depends on the order of the argument in memory, and is seen by doing the same to numbers of no meaning. Where
a result is in an argument's memory then, it is written there, and the argument is what the function gives: sklearn's orthogonal
matching pursuit throws the result away, and goes on with the row of the matrix that it has asked to be overwritten. What else
SciPy leaves in such an argument, as the factors of a matrix that is solved with, has no meaning by its documentation.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .arrays import MutableArray
from .creating import layouts
from .probing import identity, replaced
from .refusals import not_made_by_ported_code
from .rows import Mask
from .selections import Selection
from .views import is_static

Function = Callable[..., Any]
_PREFIX = "overwrite_"


def is_for(function: Function, args: Any, kwargs: dict[str, Any]) -> bool:
    """Is a function of SciPy's called that may overwrite an array of ported code?"""
    if not any(isinstance(one, MutableArray | Selection) for one in (*args, *kwargs.values())):
        return False
    return any(is_static(value) and bool(value) for value in _switches(function, args, kwargs).values())


def called(function: Function, args: Any, kwargs: dict[str, Any], call: Callable[..., Any]) -> Any:
    """What `call(function, args, kwargs)` gives, the parts of it in the arguments' memory that SciPy would have put there.

    Raises PortingError for one that would be put into an array of NumPy's own.
    """
    places = _in_arguments(function, args, kwargs)
    kept, rest = list(args), dict(kwargs)
    for place in _switches(function, args, kwargs):
        (kept if isinstance(place, int) else rest)[place] = False  # type: ignore[index]
    found = call(function, tuple(kept), rest)
    parts = list(found) if isinstance(found, tuple) else [found]
    for number, place in places.items():
        target = args[place] if isinstance(place, int) else kwargs[place]
        if isinstance(target, np.ndarray):
            raise not_made_by_ported_code()
        target.put(parts[number])
        parts[number] = target
    return tuple(parts) if isinstance(found, tuple) else parts[0]


def _switches(function: Function, args: Any, kwargs: dict[str, Any]) -> dict[int | str, Any]:
    """What is said of overwriting, by name or position."""
    named: dict[int | str, Any] = {name: value for name, value in kwargs.items() if name.startswith(_PREFIX)}
    if not (getattr(function, "__module__", None) or "").startswith("scipy."):
        return named  # BLAS and LAPACK do not tell what their arguments are called
    places = enumerate(zip(_parameters(function), args, strict=False))
    return named | {place: value for place, (name, value) in places if name.startswith(_PREFIX)}


@functools.cache
def _parameters(function: Function) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def _in_arguments(function: Function, args: Any, kwargs: dict[str, Any]) -> dict[int, int | str]:
    """The numbers of the results that are in the memory of an argument, each with its position or name."""
    given: dict[Any, Any] = {place: replaced(one, _example) for place, one in (*enumerate(args), *kwargs.items())}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = function(*(given[place] for place in range(len(args))), **{name: given[name] for name in kwargs})
    except (np.linalg.LinAlgError, ValueError, ArithmeticError, TypeError):
        return {}
    kinds = MutableArray | Selection | np.ndarray
    arrays = [place for place, one in (*enumerate(args), *kwargs.items()) if isinstance(one, kinds)]
    return {
        number: place
        for number, part in enumerate(found if isinstance(found, tuple) else (found,))
        for place in arrays
        if isinstance(part, np.ndarray) and part.shape == given[place].shape and np.shares_memory(part, given[place])
    }


def _example(x: Any) -> Any:
    """Numbers to compute with, in the order in memory that an argument has."""
    if isinstance(x, MutableArray):
        return _ordered(x.shadow.shape, x.dtype, c=x.shadow.flags.c_contiguous, f=x.shadow.flags.f_contiguous)
    if isinstance(x, Selection):
        flags = x.array.shadow.flags
        if all(isinstance(rows, Mask) for rows in x.rows.values()):  # a copy
            return _ordered(x.array.shape, x.dtype, c=True, f=x.ndim == 1)
        c, f = flags.c_contiguous and set(x.rows) <= {0}, flags.f_contiguous and set(x.rows) <= {x.ndim - 1}
        return _ordered(x.array.shape, x.dtype, c=c, f=f)
    if isinstance(x, jax.Array):
        return identity(x.shape, x.dtype) if x.ndim else layouts(x)
    return x.copy(order="K") if isinstance(x, np.ndarray) else x


def _ordered(shape: tuple[int, ...], dtype: np.dtype, *, c: bool, f: bool) -> np.ndarray:
    numbers = identity(shape, dtype)
    if c or f:
        return np.array(numbers, order="C" if c else "F")
    apart = np.empty((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
    apart[...] = numbers
    return apart
