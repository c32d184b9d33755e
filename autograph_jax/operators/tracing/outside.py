"""What running functions read of their module, and what is in that: an array that a variable holds too may be found there.

`row = TABLES[0]`, `row[0] = x`, and then `TABLES[0]`: in NumPy that shows the write. So does what a function gives that has the
array in its closure, in a cache, or in globals of its own, and so do attributes of classes.
"""

from __future__ import annotations

import collections
import functools
import gc
import itertools
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax.core

from autograph_jax.operators import hooks
from autograph_jax.operators.tracing import bytecode, reach

_MOST_PARTS = 20_000  # of one global; beyond it the answer is "not found"
_CACHE = type(functools.lru_cache(lambda: None))
_WITHOUT_CLASS = (list, tuple, dict, set, frozenset, types.MethodType)
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
_BACK = ("JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
# Modules that hold no arrays of the user's.
_FOREIGN = (sys.stdlib_module_names | {"jax", "jaxlib", "numpy", "scipy", "autograph_jax"}) - {"__main__"}


def holder(
    array: Any, frames: Sequence[types.FrameType], variables: dict[str, Any], like: Callable[[Any], bool], skip: reach.Skip
) -> str | None:
    """What these frames of one function read that has in it what is `like` an array: a global, or one of the variables."""
    is_computed = isinstance(array, jax.core.Tracer)
    values = [(name, value, frames[0].f_code) for name, value in variables.items()]
    for frame in frames:
        # A global outlives the call, and shows the write afterwards: it need not be read later in it. What a trace has put
        # there is asked for where it is read later.
        names = _read_later(frame) if is_computed else _named_after(frame.f_code, -1)
        values += [(name, frame.f_globals[name], frame.f_code) for name in names if name in frame.f_globals]
    for name, value, code in values:
        if any(map(like, _everything(value, code, skip, named=True))):
            return name
    return None


def contents(function: types.FunctionType) -> Iterator[Any]:
    """What is in the globals that a function names. What other functions name, these are asked for.

    Of ported code only those that are globals themselves, and of classes the attributes themselves: a write to any other is
    refused in it.
    """
    return _inside(_of_names(function.__globals__, function.__code__), function.__code__)


def contents_of(owner: type | types.FunctionType) -> Iterator[Any]:
    """What is in the attributes of a class, or of a function."""
    return _inside(_of_class(owner) if isinstance(owner, type) else _attributes(owner), _NO_NAMES)


def _inside(pairs: Iterable[tuple[str, Any]], code: types.CodeType) -> Iterator[Any]:
    known = set[int]()
    for _, value in pairs:
        yield from [value] if hooks.is_porting() else _everything(value, code, known=known)


_NO_NAMES = (lambda: None).__code__


@functools.lru_cache(maxsize=4096)
def codes(code: types.CodeType) -> frozenset[types.CodeType]:
    """The code of a function, and of those inside it."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return frozenset({code}).union(*map(codes, inner))


@functools.lru_cache(maxsize=4096)
def assigned(code: types.CodeType) -> frozenset[str]:
    """The variables of functions around that a function assigns or deletes, or one inside of it."""
    instructions = (instruction for one in codes(code) for instruction in bytecode.instructions(one))
    return frozenset(one.argval for one in instructions if one.opname in ("STORE_DEREF", "DELETE_DEREF"))


def _read_later(frame: types.FrameType) -> tuple[str, ...]:
    return _named_after(frame.f_code, -1 if hooks.is_block(frame.f_code) else frame.f_lasti)


@functools.lru_cache(maxsize=4096)
def _named_after(code: types.CodeType, place: int) -> tuple[str, ...]:
    """The globals that are named after an instruction: everywhere, if Python may go back from there."""
    instructions = bytecode.instructions(code)
    if any(instruction.opname in _BACK and instruction.offset > place for instruction in instructions):
        place = -1
    later = [instruction for instruction in instructions if instruction.offset > place]
    names = [instruction.argval for instruction in later if instruction.opname in _GLOBALS]
    inner = (constant.argval for constant in later if isinstance(constant.argval, types.CodeType))
    return tuple(dict.fromkeys([*names, *(name for code in inner for name in _named(code))]))


@functools.lru_cache(maxsize=4096)
def _named(code: types.CodeType) -> tuple[str, ...]:
    """All names of a function's code that are no variables of its own: of globals and of attributes.

    In converted code `o.a = v` has the name as a text.
    """
    texts = (text for one in codes(code) for text in one.co_consts if isinstance(text, str) and text.isidentifier())
    return tuple(dict.fromkeys([*(name for one in codes(code) for name in one.co_names), *texts]))


def _everything(
    value: Any,
    code: types.CodeType,
    skip: reach.Skip | None = None,
    *,
    named: bool = False,
    known: set[int] | None = None,
) -> Iterator[Any]:
    """A value and what is in it; of modules that which the code of a function names, and of functions the same if `named`.

    Numbers and texts are left out, and what is `known` by its id, to which this is added. A global may be a large table, and
    this is asked for each block.
    """
    pending, known = collections.deque([(value, code)]), set[int]() if known is None else known
    most = len(known) + _MOST_PARTS
    while pending and len(known) < most:
        value, code = pending.popleft()
        if id(value) in known or reach.is_no_content(value):
            continue
        known.add(id(value))
        yield value
        if (parts_of := _parts_of(type(value))) is not None:
            inside = value.__code__ if isinstance(value, types.FunctionType) else code
            parts = itertools.islice(parts_of(value, code, named), _MOST_PARTS)
            pending += [
                (part, inside) for key, part in parts if type(part) not in _ATOMS and (skip is None or not skip(value, key))
            ]


PartsSeen = Callable[[Any, types.CodeType, bool], Iterable[tuple[Any, Any]]]
_ATOMS = frozenset(reach.ATOMS)


@functools.lru_cache(maxsize=4096)
def _parts_of(kind: type) -> PartsSeen | None:
    """How the parts of values of a class are found; None where there are none."""
    known = next((own for base, own in _PARTS.items() if issubclass(kind, base)), None)
    if known is not None:
        return known
    if reach.has_no_parts(kind):
        return None
    if issubclass(kind, _WITHOUT_CLASS) or _is_foreign(kind.__module__):
        return lambda value, code, named: reach.parts(value)
    return _of_object


def _of_module(value: types.ModuleType, code: types.CodeType, named: bool) -> Iterable[tuple[Any, Any]]:
    return () if _is_foreign(value.__name__) else _of_names(vars(value), code)


def _of_function(value: types.FunctionType, code: types.CodeType, named: bool) -> Iterable[tuple[Any, Any]]:
    own = _of_names(value.__globals__, value.__code__) if named and not _is_foreign(value.__module__) else ()
    return [*reach.parts(value), *own, *_attributes(value)]


def _attributes(function: types.FunctionType) -> list[tuple[str, Any]]:
    """Those that the user has given it."""
    return [pair for pair in vars(function).items() if not pair[0].startswith("__")]


def _of_object(value: Any, code: types.CodeType, named: bool) -> Iterable[tuple[Any, Any]]:
    own = list(reach.parts(value))
    names = {name for name, _ in own}
    return [*own, *(pair for pair in _of_class(type(value)) if pair[0] not in names)]


_PARTS: dict[type, PartsSeen] = {
    types.ModuleType: _of_module,
    type: lambda value, code, named: _of_class(value),
    **dict.fromkeys(
        (types.BuiltinMethodType, types.MethodWrapperType), lambda value, code, named: [("__self__", value.__self__)]
    ),
    types.FunctionType: _of_function,
    _CACHE: lambda value, code, named: enumerate(gc.get_referents(value)),
}


def _of_names(namespace: dict[str, Any], code: types.CodeType) -> list[tuple[str, Any]]:
    return [(name, namespace[name]) for name in _named(code) if name in namespace]


def _of_class(kind: type) -> list[tuple[str, Any]]:
    """The attributes of a class and of those that it inherits from."""
    return [pair for base in kind.__mro__ if not _is_foreign(base.__module__) for pair in list(vars(base).items())]


def _is_foreign(module: Any) -> bool:
    return not isinstance(module, str) or module.partition(".")[0] in _FOREIGN
