"""`x[s]` and `x[s] = 0` where traced data has chosen the slice: `s = slice(0, 2) if x[0] > 1 else slice(2, 4)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from ..errors import PortingError, user_location
from . import hooks

if TYPE_CHECKING:
    from .arrays import MutableArray
    from .selections import Selection

_TO_THE_END = np.iinfo(np.int32).max


def is_chosen(key: Any) -> bool:
    """Is there a part in it that is one of several, of which traced data says which?"""
    return any(hooks.options_of(part) is not None for part in (key if isinstance(key, tuple) else (key,)))


def read(array: MutableArray | Selection, key: Any) -> Any:
    """The view of the one that is taken, where all have one layout; else one that begins and ends where it does."""
    found = _view(array, key)
    return array[_with_bounds(key)] if found is None else found


def write(array: MutableArray | Selection, key: Any, new: Any) -> None:
    """`array[key] = new`."""
    found = _view(array, key)
    if found is None:
        array[_with_bounds(key)] = new
    else:
        found[...] = new


def _parted(key: Any) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
    """What is before the first part that is one of several, that part, and what is behind it."""
    parts = key if isinstance(key, tuple) else (key,)
    place = next(number for number, part in enumerate(parts) if hooks.options_of(part) is not None)
    return parts[:place], hooks.options_of(parts[place]), parts[place + 1 :]


def _view(array: Any, key: Any) -> Any:
    from . import arrays

    before, (index, options), after = _parted(key)
    if not isinstance(array, arrays.MutableArray):
        return None
    views = [array[(*before, option, *after)] for option in options]
    return arrays.picked(views, index) if all(map(arrays.is_view, views)) else None


def _with_bounds(key: Any) -> Any:
    before, (index, options), after = _parted(key)
    if not all(isinstance(option, slice) and option.step in (None, 1) for option in options):
        raise PortingError(
            "an index may be one of several, depending on traced data, and what they give has not one shape",
            location=user_location(),
            help="use each where it is chosen: `y = x[s]` in both branches",
        )
    start = _one_of(index, [0 if option.start is None else option.start for option in options])
    stop = _one_of(index, [_TO_THE_END if option.stop is None else option.stop for option in options])
    return (*before, slice(start, stop), *after)


def _one_of(index: Any, numbers: list[Any]) -> Any:
    from .arrays import value_of

    return jnp.stack([jnp.asarray(value_of(number), int) for number in numbers])[index]
