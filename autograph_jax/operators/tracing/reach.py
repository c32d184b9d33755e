"""What can be reached from a value: through lists, dicts, attributes, closures and bound methods."""

from __future__ import annotations

import collections
import contextvars
import enum
import functools
import gc
import itertools
import queue
import types
import weakref
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

import jax
import jax.core
import numpy as np

from autograph_jax.operators.values import branches
from autograph_jax.operators.values.choices import VIEWS, Choice
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.porting.arrays import Buffer, MutableArray, Picked, arrays_made
from autograph_jax.porting.selections import Selection

_SLOT = types.MemberDescriptorType
_EMPTY = object()  # a slot without a value
_MOST_WAYS, _DEEPEST_WAY = 200, 6
_MOST_PARTS = 20_000  # of one value; beyond it the answer is "not found"
ATOMS = (str, bytes, bool, int, float, complex, type(None))
_CODE = (type, types.FunctionType, types.MethodType, types.ModuleType, types.BuiltinFunctionType)
_PROXIES = (weakref.ProxyType, weakref.CallableProxyType)  # of what may be gone
_NO_RECORDS = (*_CODE, jax.Array, Choice, enum.Enum)
_FOREIGN = ("builtins", "jax", "jaxlib", "numpy", "autograph_jax", "threading", "functools", "collections", "itertools")
Skip = Callable[[Any, Any], bool]
Parts = Callable[[Any], Iterable[tuple[Any, Any]]]


def holds(value: Any, test: Callable[[Any], bool], *, skip: Skip | None = None) -> bool:
    """Is a value that passes the test the value itself, or somewhere in it? `skip` leaves out what a holder has at a key."""
    return any(map(test, everything(value, skip=skip)))


def any_holds(values: Iterable[Any], test: Callable[[Any], bool], *, skip: Skip | None = None) -> bool:
    """Does one of these values hold such a value? What several of them hold is looked at once."""
    known, left = set[int](), collections.deque[Any]()
    for value in values:
        pending = collections.deque([value])
        if any(map(test, itertools.islice(_reached(pending, known, skip), _MOST_PARTS))):
            return True
        left.extend(pending)
    return any(map(test, itertools.islice(_reached(left, known, skip), 10 * _MOST_PARTS)))


def everything(value: Any, *, skip: Skip | None = None) -> Iterator[Any]:
    """A value and all that can be reached from it, each once; of large structures only the beginning.

    It is what most of the time of tracing goes into that is spent here and not in JAX.
    """
    if _parts_of(type(value)) is _nothing:  # as most are
        return iter((value,))
    return itertools.islice(_reached(collections.deque([value]), set(), skip), _MOST_PARTS)


def _reached(pending: collections.deque[Any], known: set[int], skip: Skip | None) -> Iterator[Any]:
    """What is pending and what can be reached from it, but for what is known, by its id."""
    while pending:
        value = pending.popleft()
        if id(value) in known:
            continue
        known.add(id(value))
        parts_of = _parts_of(type(value))
        if parts_of is not _nothing:
            for key, part in parts_of(value):
                if (skip is None or not skip(value, key)) and not is_no_content(part):
                    pending.append(part)
        yield value


def at_ways(value: Any, kind: type) -> Iterator[tuple[tuple[Any, ...] | None, Any]]:
    """The values of a class in a value, each with the way there; the options of a choice have one way. None: it may be any."""
    pending = collections.deque[tuple[tuple[Any, ...], Any]]([((), value)])
    is_deeper = False
    for _ in range(_MOST_WAYS):
        if not pending:
            break
        way, part = pending.popleft()
        if isinstance(part, kind):
            yield way, part
        elif type(part) is Choice:
            pending.extend((way, option) for _, option in parts(part))
        elif _parts_of(type(part)) is not _nothing:
            is_deeper |= len(way) == _DEEPEST_WAY
            pending.extend(((*way, key), inner) for key, inner in parts(part) if len(way) < _DEEPEST_WAY)
    if pending or is_deeper:
        yield from ((None, part) for part in everything(value) if isinstance(part, kind))


def is_circular(value: Any) -> bool:
    """Is there a list, tuple or dict in this one that holds itself? JAX would follow it without end."""
    return _has_circle(value, set(), set())


def _has_circle(value: Any, around: set[int], done: set[int]) -> bool:
    if not isinstance(value, list | tuple | dict) or id(value) in done:
        return False
    if id(value) in around:
        return True
    around.add(id(value))
    found = any(_has_circle(part, around, done) for part in (value.values() if isinstance(value, dict) else value))
    around.discard(id(value))
    done.add(id(value))
    return found


def is_plain(value: Any) -> bool:
    """Is it a number or an array, in which there is nothing else?"""
    return has_no_parts(type(value))


def has_no_parts(kind: type) -> bool:
    return _parts_of(kind) is _nothing


def is_no_content(value: Any) -> bool:
    """A module's variables, which a converted function that JAX compiles keeps; what stands for an object that may be gone."""
    return type(value) is dict and "__builtins__" in value or type(value) in _PROXIES


@functools.lru_cache(maxsize=4096)
def is_inert(kind: type) -> bool:
    """Is a value of this class no object of a user's, and nothing that is changed or holds anything?"""
    return is_foreign(kind) and has_no_parts(kind) and not issubclass(kind, type | np.ndarray)


def arrays(value: Any) -> Iterator[jax.Array]:
    """The arrays in a value."""
    return (part for part in everything(value) if isinstance(part, jax.Array))


def buffers(value: Any) -> Iterator[Buffer]:
    """The memory of the arrays of ported code in a value."""
    return (part for part in everything(value) if isinstance(part, Buffer)) if arrays_made() else iter(())


def is_record(value: Any) -> bool:
    """Is this an object of a user's class, with attributes that may be written?"""
    kind = type(value)
    if isinstance(value, _NO_RECORDS) or is_foreign(kind) and not is_our_record(kind):
        return False
    if is_our_record(kind):
        return bool(attributes(value))
    # What JAX knows as a pytree (an equinox module, a flax dataclass) is a value: it is replaced, not changed.
    return bool(attributes(value)) and jax.tree_util.all_leaves([value]) and compiled_function(value) is None


def is_foreign(kind: type | types.FunctionType) -> bool:
    """Is it a class or function of Python's, JAX's, NumPy's or ours?"""
    return kind.__module__.partition(".")[0] in _FOREIGN


def is_changing_pytree(value: Any) -> bool:
    """Is this an object of a class that JAX knows as a pytree, and whose attributes may be written all the same?"""
    kind = type(value)
    if kind.__setattr__ is not object.__setattr__ or isinstance(value, (*_NO_RECORDS, Selection)):
        return False
    return bool(attributes(value)) and not jax.tree_util.all_leaves([value])


def compiled_function(value: Any) -> types.FunctionType | None:
    """The Python function that an object of Numba's has compiled. What it holds beside that is the compiler's."""
    function = attribute(value, "py_func", None)
    return function if isinstance(function, types.FunctionType) else None


def is_our_record(kind: type) -> bool:
    """Is this a class of ours that behaves as a user's does?"""
    return kind.__dict__.get("is_record") is True


def attributes(value: Any) -> list[str]:
    own = getattr(value, "__dict__", None)  # of an object that has any attribute it is asked for, this may be anything
    return list(dict.fromkeys([*_slots(type(value)), *(own if isinstance(own, dict) and own is not value else ())]))


def is_its_own_dict(value: Any) -> bool:
    """Are its attributes the items of the dict that it is, after `self.__dict__ = self`?"""
    return issubclass(type(value), dict) and getattr(value, "__dict__", None) is value  # `isinstance` asks for `__class__`


@functools.lru_cache(maxsize=4096)
def _slots(kind: type) -> tuple[str, ...]:
    bases = (base for base in kind.__mro__ if "__slots__" in vars(base))
    return tuple(name for base in bases for name in vars(base) if isinstance(member(kind, name), _SLOT))


@functools.lru_cache(maxsize=4096)
def is_in_c(kind: type) -> bool:
    """Is this a class in C? Some of these are made at run time, as Python's own classes are."""
    of_c = (types.MethodDescriptorType, types.WrapperDescriptorType)
    return not kind.__flags__ & _HEAP_TYPE or any(
        isinstance(member, of_c) and member.__objclass__ is kind for member in vars(kind).values()
    )


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def member(kind: type, name: str) -> Any:
    """What a class has under a name, itself or from a base; a descriptor is not asked for what it stands for."""
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def has_slot(value: Any, name: str) -> bool:
    return isinstance(member(type(value), name), _SLOT)


def attribute(value: Any, name: str, default: Any) -> Any:
    """An attribute as the object keeps it, past properties and other descriptors."""
    try:
        return value.__dict__[name]
    except (AttributeError, KeyError, TypeError):  # a `__getattr__` may give anything as `__dict__`
        return getattr(value, name, default) if has_slot(value, name) else default


def holds_traced(value: Any) -> bool:
    return holds(value, is_traced)


def holds_tracer(value: Any) -> bool:
    """Also one of an eager `jax.grad`, whose value is known."""
    return holds(value, lambda part: is_traced(part) or issubclass(type(part), jax.core.Tracer))


def parts(value: Any) -> Iterable[tuple[Any, Any]]:
    """What a value holds directly, with the key, attribute or variable."""
    return _parts_of(type(value))(value)


@functools.lru_cache(maxsize=4096)
def _parts_of(kind: type) -> Parts:
    """How the parts of values of a class are found: asked for each value that is met, so by its class once."""
    if issubclass(kind, (*ATOMS, type, types.ModuleType, jax.Array, jax.core.Tracer, np.ndarray, np.generic)):
        return _nothing
    known = next((own for base, own in _PARTS.items() if issubclass(kind, base)), None)
    if known is not None:
        return _with_attributes(known) if issubclass(kind, _EXTENDED) and kind.__dictoffset__ else known
    return _nothing if kind.__dict__.get("is_record") is False else _of_object


def _nothing(value: Any) -> Iterable[tuple[Any, Any]]:
    return ()


def _with_attributes(parts_of: Parts) -> Parts:
    """Of classes that a user derives from Python's: the elements, and attributes, whose keys are those of no element."""

    def parts_and_attributes(value: Any) -> Iterator[tuple[Any, Any]]:
        yield from parts_of(value)
        yield from (((_ATTRIBUTE, name), part) for name, part in _of_object(value))

    return parts_and_attributes


def attribute_key(value: Any, name: str) -> Any:
    """The key under which an attribute is among the parts of a value."""
    kind = type(value)
    is_beside = issubclass(kind, _EXTENDED) and kind.__dictoffset__ and not is_its_own_dict(value)
    return (_ATTRIBUTE, name) if is_beside else name


def _of_error(value: BaseException) -> Iterator[tuple[Any, Any]]:
    yield from enumerate(value.args)
    yield from _of_object(value)


def _of_context(value: contextvars.ContextVar[Any]) -> Iterable[tuple[Any, Any]]:
    return [] if (held := value.get(_EMPTY)) is _EMPTY else [("value", held)]


def _of_function(value: types.FunctionType) -> Iterator[tuple[Any, Any]]:
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        if _is_filled(cell):
            yield name, cell.cell_contents
    yield from enumerate(value.__defaults__ or ())
    yield from (value.__kwdefaults__ or {}).items()


def _of_object(value: Any) -> Iterable[tuple[Any, Any]]:
    if (function := compiled_function(value)) is not None:
        return [("py_func", function)]
    kept = ((name, attribute(value, name, _EMPTY)) for name in attributes(value))
    return ((name, part) for name, part in kept if part is not _EMPTY)


_EXTENDED = (list, tuple, dict, set, frozenset, collections.deque, functools.partial)  # classes of users' may derive from these
_ATTRIBUTE = "attribute"
# What Python takes elements from one by one holds its source where only the garbage collector sees it.
_ITERATORS = (
    *(kind for kind in vars(itertools).values() if isinstance(kind, type)),
    *map(type, (iter([]), iter(()), iter({}), iter({}.values()), iter({}.items()), iter(set()), iter(collections.deque()))),
    type(iter(np.zeros(1))),  # of whatever has `__getitem__`
    *(enumerate, filter, map, reversed, zip),
)
_PARTS: dict[type, Parts] = {
    **dict.fromkeys((list, tuple, set, frozenset, collections.deque), enumerate),
    dict: lambda value: list(value.items()),
    types.FunctionType: _of_function,
    BaseException: _of_error,
    contextvars.ContextVar: _of_context,
    types.MethodType: lambda value: (("__self__", value.__self__), ("__func__", value.__func__)),
    functools.partial: lambda value: enumerate([value.func, *value.args, *value.keywords.values()]),
    Choice: branches.options,
    MutableArray: lambda value: (("_buffer", value._buffer),),
    Buffer: lambda value: (("value", value.value),),
    Picked: lambda value: (("index", value.index), *enumerate(value.arrays)),
    **dict.fromkeys(
        (*_ITERATORS, *VIEWS, types.MappingProxyType, types.CellType, queue.SimpleQueue),
        lambda value: enumerate(gc.get_referents(value)),
    ),
    types.GeneratorType: lambda value: () if value.gi_running else enumerate(gc.get_referents(value)),  # its frame is asked
    np.flatiter: lambda value: (("base", value.base),),
    slice: lambda value: (("start", value.start), ("stop", value.stop), ("step", value.step)),
    memoryview: lambda value: _of_released(lambda: [value.obj]),
    np.nditer: lambda value: _of_released(lambda: value.operands),
}


def _of_released(parts: Callable[[], Iterable[Any]]) -> Iterable[tuple[Any, Any]]:
    """What shows an array until it is released, or closed."""
    try:
        return enumerate(parts())
    except ValueError:
        return ()


def is_variable_of(cells: Container[int]) -> Skip:
    """Leaves out what functions have in these cells, named by their ids."""

    def is_one(holder: Any, key: Any) -> bool:
        if not isinstance(holder, types.FunctionType) or not isinstance(key, str) or key not in holder.__code__.co_freevars:
            return False
        return id(cell(holder, key)) in cells

    return is_one


def cell(function: types.FunctionType, name: str) -> types.CellType:
    """The cell of a variable that a function captures."""
    return (function.__closure__ or ())[function.__code__.co_freevars.index(name)]


def _is_filled(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True
