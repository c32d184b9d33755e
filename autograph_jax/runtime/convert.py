"""A function becomes its converted twin: source, passes, code object, function. Conversions are kept per code object."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import operator
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import gast

from autograph_jax.converters import convert_tree
from autograph_jax.converters.base import surely_converted
from autograph_jax.converters.unsupported import WAY_OUT, reason_to_leave
from autograph_jax.errors import Location, SourceError, UnconvertibleError, node_location
from autograph_jax.operators import hooks
from autograph_jax.runtime.debuggers import is_debugged
from autograph_jax.runtime.libraries import is_porting
from autograph_jax.runtime.logs import is_logged, log
from autograph_jax.runtime.namespace import operators
from autograph_jax.runtime.spans import Position, Span, Spans
from autograph_jax.runtime.wrappers import around_twin, wrapped_in_library
from autograph_jax.syntax import emit
from autograph_jax.syntax.names import Names
from autograph_jax.syntax.source import Source, source_of


@dataclasses.dataclass(frozen=True)
class Conversion:
    """What became of a code object: its converted code, or why it stays as it is."""

    code: types.CodeType | None
    tree: gast.AST | None = None
    source: Source | None = None
    spans: Spans | None = None  # where its statements stand, and what is read after each; see position.py
    deciding: dict[Position, frozenset[str]] | None = None
    is_block: bool = False  # of a piece of a function: its code is a block's
    reason: str | None = None
    location: Location | None = None
    error: SourceError | None = None
    names: Names | None = None
    fills_tables: bool = False
    span_at: dict[int, Span] = dataclasses.field(default_factory=dict, init=False)  # those asked for, by the instruction
    told_at: dict[tuple[str, int], Any] = dataclasses.field(default_factory=dict, init=False)  # see `position.told_once`


# Module state, guarded by the lock. Both are keyed by id, since code objects compare by value and two functions of equal
# text in two files would be one; a weak reference removes an entry with its code object.
_conversions: dict[tuple[int, bool], tuple[weakref.ref[types.CodeType], Conversion]] = {}  # and whether it is ported code
_converted: dict[int, tuple[weakref.ref[types.CodeType], Conversion]] = {}
hooks.converted = _converted
lock = threading.RLock()

# Called with each function that gets a twin. Set once, when the package is imported.
after_conversion: list[Callable[[types.FunctionType], None]] = []


def convert_function(function: types.FunctionType, *, strict: bool = False) -> types.FunctionType:
    """The converted twin of a plain function, sharing its closure cells and globals; itself if it is converted already.

    A function that cannot be converted is given back as it is; with `strict` that is an error.
    """
    if id(function.__code__) in _converted:
        return function
    return _twin(function) or _make(function, strict)


# The twin is kept in the function's own `__dict__`: a table would keep a recursive closure alive for ever, whose twin holds it.
_TWIN = "__autograph_jax_twin__"
_PORTED_TWIN = "__autograph_jax_ported_twin__"


def _kept_as() -> str:
    return _PORTED_TWIN if is_porting() else _TWIN


def _twin(function: types.FunctionType) -> types.FunctionType | None:
    """The twin made before, if it is of this function (`functools.wraps` copies attributes), its present code and defaults."""
    kept = function.__dict__.get(_kept_as())
    return kept[2] if kept is not None and kept[0]() is function and all(map(operator.is_, kept[1], _state(function))) else None


def _state(function: types.FunctionType) -> tuple[Any, ...]:
    """What may be set anew in a function, and its twin has taken from it."""
    return function.__code__, function.__defaults__, function.__kwdefaults__


def _make(function: types.FunctionType, strict: bool) -> types.FunctionType:
    with lock:
        if (twin := _twin(function)) is not None:
            return twin  # another thread was faster
        if (inner := wrapped_in_library(function)) is not None:
            return _keep(function, around_twin(function, inner, convert_function(inner, strict=strict)))
        conversion = conversion_of(function)
        if conversion.code is None:
            if strict:
                raise _refusal(function, conversion)
            return function
        twin = emit.to_function(conversion.code, function)
        return _keep(function, twin)


def another_twin(twin: types.FunctionType) -> types.FunctionType:
    """The same converted function once more, with a code object of its own, by which the two can be told apart."""
    code = twin.__code__.replace()
    if (conversion := conversion_of_code(twin.__code__)) is not None:
        _remember(_converted, id(code), code, conversion)
    return emit.to_function(code, twin)


def _keep(function: types.FunctionType, twin: types.FunctionType) -> types.FunctionType:
    if twin is not function:
        for name in (_TWIN, _PORTED_TWIN):
            twin.__dict__.pop(name, None)
        function.__dict__[_kept_as()] = weakref.ref(function), _state(function), twin
        for tell in after_conversion:
            tell(function)
    return twin


def conversion_of(function: types.FunctionType) -> Conversion:
    """The conversion of a function's code, made now if it has not been."""
    code = function.__code__
    with lock:
        key = id(code), is_porting()
        known = _conversions.get(key) or _converted.get(id(code))
        if known is not None:
            return known[1]
        conversion = _convert(function)
        _remember(_conversions, key, code, conversion)
        if conversion.code is not None:
            for inner, is_block in _code_objects(conversion.code):
                _remember(_converted, id(inner), inner, dataclasses.replace(conversion, code=None, is_block=is_block))
        return conversion


def conversion_of_code(code: types.CodeType) -> Conversion | None:
    """The conversion that a converted code object, or one inside it, came from."""
    known = _converted.get(id(code))
    return known[1] if known is not None else None


def _remember(table: dict[Any, Any], key: Any, code: types.CodeType, conversion: Conversion) -> None:
    table[key] = (weakref.ref(code, lambda _: table.pop(key, None)), conversion)


def _code_objects(code: types.CodeType, is_block: bool = False) -> list[tuple[types.CodeType, bool]]:
    """A converted code object and those inside it, and whether each is a block: it has the name of the function around.

    The methods of a class inside are not converted yet.
    """
    found = [(code, is_block)]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and not emit.is_class(constant):
            found += _code_objects(constant, constant.co_qualname == code.co_qualname)
    return found


def _convert(function: types.FunctionType) -> Conversion:
    try:
        source = source_of(function)
    except SourceError as error:
        kept = error.with_traceback(None)  # whose frames hold what is being traced
        return Conversion(None, reason=error.what, location=error.location, error=kept)
    reason = reason_to_leave(source.tree)
    if reason is not None:
        text, node = reason
        location = node_location(source.filename, node, function.__qualname__)
        if is_logged(logging.INFO):
            log.info("%s stays as it is: %s", function.__qualname__, text)
        return Conversion(None, source=source, reason=text, location=location)
    surely_converted(source.tree)
    with deep_recursion():
        return _converted_code(function, source)


@contextlib.contextmanager
def deep_recursion(depth: int = 20_000) -> Iterator[None]:
    """Passes visit a tree recursively: 150 early returns become 150 functions inside each other."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, depth))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _converted_code(function: types.FunctionType, source: Source) -> Conversion:
    code = function.__code__
    new = convert_tree(
        source.tree, source.class_name, free=code.co_freevars, ported=is_porting(), is_debugged=is_debugged(code)
    )
    names = new.names
    code = emit.to_code(new.tree, function.__code__, namespace=names.operators, operators=operators(), blocks=names.blocks)
    if is_logged(logging.DEBUG):
        log.debug("converted %s:\n%s", function.__qualname__, emit.to_text(new.tree))
    return Conversion(code, new.tree, source, Spans(new.facts), new.deciding, names=new.names, fills_tables=new.fills_tables)


def _refusal(function: types.FunctionType, conversion: Conversion) -> UnconvertibleError | SourceError:
    if conversion.error is not None:
        return conversion.error
    return UnconvertibleError(
        f"`{function.__qualname__}` cannot be converted: {conversion.reason}",
        location=conversion.location,
        help=WAY_OUT,
    )


def is_converted(function: types.FunctionType) -> bool:
    return id(function.__code__) in _converted


def uses_operators(twin: types.FunctionType) -> bool:
    """Does a converted function need any operator, or is it what it was?"""
    return not is_converted(twin) or emit.uses(twin.__code__, operators())
