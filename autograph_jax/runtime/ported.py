"""`port`: NumPy and SciPy code as it is, as a function for jax.jit, jax.vmap and jax.grad."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, overload

import jax

from autograph_jax.loops import collecting, increments
from autograph_jax.operators import hooks, integers
from autograph_jax.operators.effects import aside, attempts
from autograph_jax.operators.outside_loops import marked
from autograph_jax.operators.tracing import buffers as buffers  # sets the arrays' hook
from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.values import selection
from autograph_jax.operators.values.choices import Choice
from autograph_jax.porting import array_classes
from autograph_jax.porting import hooks as porting_hooks
from autograph_jax.porting.in_python import masked
from autograph_jax.porting.refusals import refusing
from autograph_jax.runtime import libraries, ported_builtins
from autograph_jax.runtime.calls import call
from autograph_jax.runtime.convert import deep_recursion
from autograph_jax.runtime.handed_over import Entered, left, references, written_back
from autograph_jax.runtime.libraries import is_porting, porting
from autograph_jax.runtime.unconverted import do_not_convert

F = TypeVar("F", bound=Callable[..., Any])
hooks.is_porting = is_porting
hooks.shown_as = ported_builtins.shown_as
hooks.max_len = porting_hooks.max_len = libraries.max_len
porting_hooks.number = lambda value: array_classes.data_of(masked.operand(selection.not_none(value)))
porting_hooks.options_of = lambda value: (value._index, value._options) if type(value) is Choice else None
porting_hooks.holds_traced = reach.holds_tracer
porting_hooks.marked = marked
porting_hooks.is_named = attempts.is_named
porting_hooks.made = state.made
porting_hooks.traced_aside = aside.traced_aside
porting_hooks.of_integers |= integers.OVERRIDES
porting_hooks.python_number = ported_builtins.python_number
porting_hooks.spans_left_by = increments.left_by
porting_hooks.as_list = ported_builtins.as_list
_DEPTH = 5_000  # of calls: a solver's early returns are functions inside each other while they are traced


@overload
def port(function: F, /, *, max_len: int | None = None) -> F: ...
@overload
def port(*, max_len: int | None = None) -> Callable[[F], F]: ...
def port(function: Any = None, /, *, max_len: int | None = None) -> Any:
    """Run unmodified NumPy code, a library's solver say, on traced JAX values.

    The function and whatever Python code it calls are converted as by `ag.autograph`. Its arrays behave as NumPy's do: views
    share memory, `x[i] = v` and `x += v` write in place, dtypes promote as NumPy's. Array arguments enter as such arrays,
    results leave as `jax.Array`; what depends on no traced value is computed by NumPy itself, and stays known. `x[mask]` may
    be computed with and written back. A warning is not given where traced data decides about it. Nothing of the library
    is changed; its classes are converted for as long as a call runs. What is written into an argument shows in a NumPy array of
    the caller's; a `jax.Array` does not change, and has to be returned.

    Where traced data decides how many elements a list or a result has, a bound has to be known: with `max_len`, results are
    padded to so many rows (`Padded`: an array and a length), and lists that grow have so many elements at most.

        >>> import jax, scipy.optimize
        >>> newton = port(scipy.optimize.newton)
        >>> print(jax.jit(lambda a: newton(lambda x: x**2 - a, 1.0))(2.0))
        1.4142135

    NumPy computes with 64 bits. Where JAX's are switched off (`jax_enable_x64`), a UserWarning says so, once.

    Raises PortingError for what has no counterpart on traced values.
    """
    if function is None:
        return functools.partial(port, max_len=max_len)

    @functools.wraps(function, updated=())
    def ported(*arguments: Any, **keywords: Any) -> Any:
        if not jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
            _warn_of_32_bits()
        held = references(arguments, keywords)
        own = Entered()
        entered = tuple(map(own.take, arguments))
        entered_by_name = {name: own.take(value) for name, value in keywords.items()}
        if not state.traces():
            state.take_escaped()  # of a program that has ended
        with porting(max_len), deep_recursion(_DEPTH), refusing(), collecting.seldom():
            given = left(call(function)(*entered, **entered_by_name))
        back = functools.partial(written_back, held=held, arguments=arguments, keywords=keywords)
        own.give_back(back)
        return given

    return do_not_convert(ported)  # what is inside is converted as ported code, when it is called


@functools.cache
def _warn_of_32_bits() -> None:
    """Once in a process."""
    text = 'NumPy code computes with 64 bits, which JAX has switched off: jax.config.update("jax_enable_x64", True)'
    warnings.warn(text, stacklevel=3)
