"""`np.bincount(k, w)`, `np.choose(k, [a, b])`, `np.ravel_multi_index(k, shape)`: what is where."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import PortingError, user_location
from . import casting, hooks, making
from .arrays import result, static, wrap
from .creating import asarray, values
from .numbers import natural
from .rows import Window
from .selections import Selection
from .views import is_static


def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    """As long as `minlength` says, where places are traced: at run time an error where one is beyond."""
    places = asarray(x).value
    given = None if weights is None else asarray(weights).value
    least = static(minlength)
    if is_static((places, given)):
        return wrap(np.bincount(places, given, least))
    known = places if is_static(places) else np.zeros(np.shape(places), places.dtype)
    sample = np.bincount(known, None if given is None else np.ones(np.shape(given), given.dtype), least)  # or NumPy's own error
    added = jnp.ones(np.shape(places), int) if given is None else casting.to(given, casting.canonical(float))
    if is_static(places):
        return wrap(jnp.zeros(len(sample), added.dtype).at[places].add(added))
    places = jnp.asarray(places).astype(int)
    hooks.raise_where(jnp.any(places < 0), ValueError("'list' argument must have no negative elements"))
    count = jnp.maximum(jnp.max(places, initial=-1) + 1, least)
    if least and hooks.max_len() is None:
        hooks.raise_where(count > least, _longer())
        return wrap(jnp.zeros(least, added.dtype).at[places].add(added))
    found = making.made(np.zeros, natural(count), (), {"dtype": added.dtype})
    sums = jnp.zeros(found.array.shape, added.dtype).at[places].add(added)
    return Selection(wrap(sums), {0: Window(0, found.rows[0].count)})


def _longer() -> PortingError:
    return PortingError(
        "`np.bincount` gives an array longer than `minlength`, and how long depends on traced data",
        location=user_location(),
        help="make `minlength` as large as a place may be, and one more",
    )


def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    """The element of the array that stands at this place among several, broadcast."""
    index, arrays = asarray(a), [asarray(one) for one in choices]
    if is_static(values([index, *arrays])):
        found = np.choose(index.value, [one.value for one in arrays], mode=mode)
    else:
        places, count = jnp.asarray(index.value).astype(int), len(arrays)
        if mode == "raise":
            outside = (places < 0) | (places >= count)
            hooks.raise_where(jnp.any(outside), ValueError("invalid entry in choice array"))
        places = places % count if mode == "wrap" else jnp.clip(places, 0, count - 1)
        dtype = casting.canonical(np.result_type(*(one.dtype for one in arrays)))
        places, *given = jnp.broadcast_arrays(places, *(casting.to(one.value, dtype) for one in arrays))
        found = jnp.take_along_axis(jnp.stack(given), places[None], axis=0)[0]
    if out is None:
        return result(found)
    out[...] = result(found)
    return out


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """The place among all elements in a row."""
    sizes = static(dims)
    sizes = sizes if isinstance(sizes, tuple) else (int(sizes),)
    index = [asarray(one).value for one in multi_index]
    if is_static(index):
        return result(np.ravel_multi_index(tuple(index), sizes, mode, order))  # type: ignore[call-overload]
    np.ravel_multi_index(tuple(np.zeros(np.shape(one), one.dtype) for one in index), sizes, mode, order)  # type: ignore[call-overload]
    modes = mode if isinstance(mode, tuple) else (mode,) * len(sizes)
    found: Any = 0
    strides = np.cumprod([1, *(sizes if order == "F" else sizes[::-1])])[:-1]
    strides = strides if order == "F" else strides[::-1]
    for one, size, own, stride in zip(index, sizes, modes, strides, strict=True):
        one = jnp.asarray(one).astype(int)
        if own == "raise":
            hooks.raise_where(jnp.any((one < 0) | (one >= size)), ValueError("invalid entry in coordinates array"))
        found = found + (one % size if own == "wrap" else jnp.clip(one, 0, size - 1)) * int(stride)
    return result(found)
