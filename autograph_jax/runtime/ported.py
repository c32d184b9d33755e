"""`port`: NumPy and SciPy code as it is, as a function for jax.jit, jax.vmap and jax.grad."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, overload

import jax

from autograph_jax.operators import hooks
from autograph_jax.operators.tracing import buffers as buffers  # sets the arrays' hook
from autograph_jax.runtime.calls import call
from autograph_jax.runtime.handed_over import entering, left, written_back
from autograph_jax.runtime.libraries import is_porting, porting

F = TypeVar("F", bound=Callable[..., Any])
hooks.is_porting = is_porting


@overload
def port(function: F, /) -> F: ...
@overload
def port() -> Callable[[F], F]: ...
def port(function: Any = None, /) -> Any:
    """Run unmodified NumPy code, a library's solver say, on traced JAX values.

    The function and whatever Python code it calls are converted as by `ag.autograph`. Its arrays behave as NumPy's do: views
    share memory, `x[i] = v` and `x += v` write in place, dtypes promote as NumPy's. Array arguments enter as such arrays,
    results leave as `jax.Array`; what depends on no traced value is computed by NumPy itself, and stays known. `x[mask]` may
    be computed with and written back. A warning is not given where traced data decides about it. Nothing of the library
    is changed; its classes are converted for as long as a call runs. What is written into an argument shows in a NumPy array of
    the caller's; a `jax.Array` does not change, and has to be returned.

        >>> import jax, scipy.optimize
        >>> newton = port(scipy.optimize.newton)
        >>> print(jax.jit(lambda a: newton(lambda x: x**2 - a, 1.0))(2.0))
        1.4142135

    NumPy computes with 64 bits. Where JAX's are switched off (`jax_enable_x64`), a UserWarning says so, once.

    Raises PortingError for what has no counterpart on traced values.
    """
    if function is None:
        return port

    @functools.wraps(function, updated=())
    def ported(*arguments: Any, **keywords: Any) -> Any:
        if not jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
            _warn_of_32_bits()
        entered, entered_by_name = jax.tree.map(entering, (arguments, keywords))
        with porting():
            given = left(call(function)(*entered, **entered_by_name))
        jax.tree.map(written_back, (arguments, keywords), (entered, entered_by_name))
        return given

    return ported


@functools.cache
def _warn_of_32_bits() -> None:
    """Once in a process."""
    text = 'NumPy code computes with 64 bits, which JAX has switched off: jax.config.update("jax_enable_x64", True)'
    warnings.warn(text, stacklevel=3)
