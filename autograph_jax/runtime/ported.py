"""`port`: NumPy and SciPy code as it is, as a function for jax.jit, jax.vmap and jax.grad."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, overload

import jax
import numpy as np

from autograph_jax.operators import hooks
from autograph_jax.operators.tracing import buffers as buffers  # sets the arrays' hook
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.places import Attribute, Content
from autograph_jax.porting.arrays import MutableArray, wrap
from autograph_jax.runtime.calls import call
from autograph_jax.runtime.libraries import is_porting, porting

F = TypeVar("F", bound=Callable[..., Any])
hooks.is_porting = is_porting


@overload
def port(function: F, /) -> F: ...
@overload
def port() -> Callable[[F], F]: ...
def port(function: Any = None, /) -> Any:
    """Run unmodified NumPy code, a library's solver say, on traced JAX values.

    The function and whatever Python code it calls are converted as by `ag.autograph`. Its arrays behave as NumPy's do: views share
    memory, `x[i] = v` and `x += v` write in place, dtypes promote as NumPy's. Array arguments enter as such arrays, results leave as
    `jax.Array`; what depends on no traced value is computed by NumPy itself. Nothing of the library is changed.

        >>> import jax, scipy.optimize
        >>> newton = port(scipy.optimize.newton)
        >>> print(jax.jit(lambda a: newton(lambda x: x**2 - a, 1.0))(2.0))
        1.4142135

    Raises PortingError for what has no counterpart on traced values.
    """
    if function is None:
        return port

    @functools.wraps(function, updated=())
    def ported(*arguments: Any, **keywords: Any) -> Any:
        entered, entered_by_name = jax.tree.map(_entering, (arguments, keywords))
        with porting():
            given = call(function)(*entered, **entered_by_name)
            return left(given)

    return ported


def _entering(leaf: Any) -> Any:
    """An array argument as one that can be written; what has no dimensions is a number."""
    return wrap(leaf) if isinstance(leaf, jax.Array | np.ndarray) and leaf.ndim else leaf


def left(value: Any) -> Any:
    """What a ported function gives: arrays are JAX's, or NumPy's where they are known, also inside containers and objects."""
    if isinstance(value, MutableArray):
        return value.value
    for part in list(reach.everything(value)):
        if isinstance(part, list | dict):
            _leave(Content(part))
        elif reach.is_record(part):
            for name in reach.attributes(part):
                _leave(Attribute(part, name))
    return _without(value)


def _leave(place: Any) -> None:
    old = place.read()
    new = _without(old)
    if new is not old:
        place.write(new)


def _without(value: Any) -> Any:
    """A value in which arrays are values; a list or dict, and what is in tuples, anew if anything in it is one."""
    if isinstance(value, MutableArray):
        return value.value
    if isinstance(value, dict) and any(isinstance(part, MutableArray | tuple) for part in value.values()):
        return {key: _without(part) if isinstance(part, MutableArray | tuple) else part for key, part in value.items()}
    if isinstance(value, list | tuple) and any(isinstance(part, MutableArray | tuple) for part in value):
        parts = [_without(part) if isinstance(part, MutableArray | tuple) else part for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value
