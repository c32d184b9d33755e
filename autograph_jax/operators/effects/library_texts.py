"""Functions of the standard library that show what they are handed: `pprint.pprint`, `string.Template("$a").substitute`.

They are not converted. Of traced values they would show the tracers, so they are called at run time, or refused.
"""

from __future__ import annotations

import csv
import dataclasses
import pprint
import reprlib
import string
import sys
import types
from collections.abc import Callable
from typing import Any

from autograph_jax.operators import jax_private
from autograph_jax.operators.effects import in_memory, managers, printing, rebuilt, standard_texts, texts
from autograph_jax.operators.tracing import reach, state

Function = Callable[..., Any]
_MAKING = frozenset({  # a text, and nothing else
    pprint.pformat, pprint.saferepr, pprint.PrettyPrinter.pformat, string.Template.substitute, string.Template.safe_substitute,
    reprlib.Repr.repr, string.Formatter.format, string.Formatter.vformat,
})  # fmt: skip
_PRINTING = frozenset({pprint.pprint, pprint.pp, pprint.PrettyPrinter.pprint})
_WRITING = frozenset({csv.DictWriter.writerow, csv.DictWriter.writerows})  # by functions in C
# These look at the frame that calls them, or show nothing.
_LOOKING = frozenset("collections functools types typing abc enum inspect traceback logging warnings contextlib copy".split())


@dataclasses.dataclass(frozen=True)
class _Called:
    """A call at run time, with arguments that are built anew."""

    function: Function

    def __call__(self, arguments: rebuilt.Rebuilt) -> Any:
        positional, keywords = rebuilt.built(arguments)
        return self.function(*positional, **keywords)


def of_function(function: types.FunctionType, called: Function) -> Function:
    """What stands for a function of the standard library, which is `called`, while JAX traces."""
    if not (jax_private.tracing() or jax_private.transforming()):
        return called
    if standard_texts.is_known(function):
        return lambda value: texts.shown_by(function, value)
    if function in _MAKING:
        return lambda *arguments, **keywords: _made(function, called, arguments, keywords)
    if function in _PRINTING:
        return lambda *arguments, **keywords: _printed(function, called, arguments, keywords)
    root = (function.__module__ or "").partition(".")[0]
    if root not in sys.stdlib_module_names or root in _LOOKING:
        return called
    return lambda *arguments, **keywords: _checked(function, called, arguments, keywords)


def of_method(function: types.BuiltinMethodType) -> Function | None:
    """What stands for a method in C of a writer of tables; None for any other one."""
    if type(function.__self__).__module__ != "_csv" or not (jax_private.tracing() or jax_private.transforming()):
        return None
    return lambda *arguments: _refusing(function, arguments)


def _refusing(function: Any, arguments: Any) -> Any:
    if _holds_tracers(arguments):
        raise texts.not_shown(f"`{function.__name__}`, of the standard library, writes the text of a traced value")
    return function(*arguments)


def _holds_tracers(values: Any) -> bool:
    return reach.holds(values, texts.is_tracer)


def _made(function: Function, called: Function, arguments: Any, keywords: Any) -> Any:
    if not _holds_tracers((arguments, keywords)):
        return called(*arguments, **keywords)
    return texts.text(texts.Field(rebuilt.taken_apart((arguments, keywords)), _Called(function)))


def _printed(function: Function, called: Function, arguments: Any, keywords: Any) -> Any:
    """As `print`: at run time inside a staged block, or where a value is traced."""
    if not state.traces() and not _holds_tracers((arguments, keywords)):
        return called(*arguments, **keywords)
    own = [getattr(value, "_stream", None) for value in arguments[:1] if isinstance(value, pprint.PrettyPrinter)]
    stream = next(filter(_is_stream, (*own, *arguments, *keywords.values())), None)
    stream = None if stream is sys.stdout and own else stream
    in_memory.written_later(stream)
    managers.refuse_if_redirected(stream)
    parts = rebuilt.taken_apart((arguments, keywords), _is_stream)

    def write(known: Any) -> None:
        (first, *others), keywords = rebuilt.built(known[0])
        if own and stream is None:  # Python's own, which may be another one by then
            first._stream = sys.stdout
        function(first, *others, **keywords)

    printing.at_run_time(write, (parts,))
    return None


def _is_stream(value: Any) -> bool:
    return reach.member(type(value), "write") is not None


def _checked(function: Function, called: Function, arguments: Any, keywords: Any) -> Any:
    if function in _WRITING:
        _refusing(lambda *_: None, (arguments, keywords))
    result = called(*arguments, **keywords)
    if isinstance(result, str):
        texts.refuse_tracers(result, (arguments, keywords), function.__qualname__)
    return result
