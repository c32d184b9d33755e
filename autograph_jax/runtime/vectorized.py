"""`np.vectorize(f)(x)` and `np.frompyfunc(f, 1, 1)(x)` in ported code: a loop over the elements, which calls what was given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph_jax.errors import PortingError, user_location
from autograph_jax.porting import creating
from autograph_jax.porting.arrays import MutableArray, result
from autograph_jax.runtime.convert import convert_function

Function = Callable[..., Any]


def of_vectorize(vectorized: np.vectorize, call: Callable[[Any], Function]) -> Function:
    """What stands for calling this object."""

    def apply(*arguments: Any, **keywords: Any) -> Any:
        if vectorized.signature is not None:
            raise PortingError(
                "`np.vectorize` with a signature has no counterpart on traced values",
                location=user_location(),
                help="call the function in a loop over the rows",
            )
        excluded = vectorized.excluded
        names = [*range(len(arguments)), *keywords]
        given = {name: value for name, value in zip(names, (*arguments, *keywords.values()), strict=True)}
        varied = {name: value for name, value in given.items() if name not in excluded}
        function = call(vectorized.pyfunc)

        def of_elements(*elements: Any) -> Any:
            whole = {**given, **dict(zip(varied, elements, strict=True))}
            positional = [whole[place] for place in range(len(arguments))]
            return function(*positional, **{name: whole[name] for name in keywords})

        return over_elements(of_elements, list(varied.values()), vectorized.otypes)

    return apply


def frompyfunc(call: Callable[[Any], Function], func: Any, /, nin: int, nout: int, **options: Any) -> Any:
    """A function of arrays; of scalars, the function's own results."""

    def apply(*arguments: Any) -> Any:
        if len(arguments) != nin:
            raise TypeError(f"{func.__name__}() takes {nin} positional arguments but {len(arguments)} were given")
        return over_elements(call(func), arguments, None)

    return apply


def over_elements(function: Function, arguments: Sequence[Any], dtypes: str | None) -> Any:
    """What it gives for each of the elements, broadcast, as one array, or several; `dtypes` as characters, or None."""
    arrays = [creating.asarray(argument) for argument in arguments]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    count = int(np.prod(shape))
    if not count and dtypes is None:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    columns = [np.broadcast_to(array, shape).ravel() for array in arrays]
    rows = convert_function(_rows)(function, columns, count)
    several = isinstance(rows[0], tuple) if count else dtypes is not None and len(dtypes) > 1
    parts = list(zip(*rows, strict=True)) if several and count else [rows] * (len(dtypes or "x"))
    kinds: Any = dtypes or [None] * len(parts)
    found = [_array(part, kind, shape) for part, kind in zip(parts, kinds, strict=True)]
    return tuple(found) if several else found[0]


def _rows(function: Function, columns: Any, count: int) -> Any:
    """Converted before it is called."""
    found = []
    for place in range(count):
        found.append(function(*[column[place] for column in columns]))  # noqa: PERF401 - a loop, staged where it is long
    return found


def _array(elements: Any, kind: Any, shape: tuple[int, ...]) -> Any:
    made: MutableArray = creating.asarray(list(elements))
    made = made.astype(creating.asarray(elements[0]).dtype if kind is None else np.dtype(kind))
    return result(made.reshape(shape).value)
