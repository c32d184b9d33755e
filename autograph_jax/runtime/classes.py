"""What Python calls by itself in a user's class is converted where it stands: operators, properties, descriptors.

    class Money:
        def __add__(self, other): ...     # called by `a + b`: converted text shows no call that could be converted

Once converted code comes to know a class, the special methods and properties of the class and its bases are replaced by
their converted twins, which do the same on plain values. Ordinary methods stay; they are converted where they are called.
"""

from __future__ import annotations

import functools
import re
import types
import typing
import weakref
from collections.abc import Iterator
from typing import Any

from autograph_jax.operators import expressions, hooks
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.cached import CachedProperty
from autograph_jax.runtime import convert, field_comparisons
from autograph_jax.runtime.assigned import noting
from autograph_jax.runtime.libraries import (
    is_left_alone,
    is_porting,
    is_users,
    module_of,
    when_nobody_ports,
    when_somebody_ports,
    writes_polynomials,
)
from autograph_jax.runtime.unconverted import is_marked, is_marked_class, switched_off
from autograph_jax.runtime.wrappers import wrapped_in_library

# Asked by tools, and in error messages; their answer has to be a Python value. `__getattribute__` would ask itself.
_LEFT = frozenset(
    f"__{name}__"
    for name in """repr str format bytes hash del dir sizeof getattribute reduce reduce_ex getstate setstate getnewargs
    getnewargs_ex instancecheck subclasscheck subclasshook""".split()
)

# Module state, guarded by the lock of conversions: the classes that have been seen to, by id while they live, for all and for
# ported code; those under way.
_known_to_all: dict[int, weakref.ref[type]] = {}
_known_to_ports: dict[int, weakref.ref[type]] = {}
_under_way: set[int] = set()


def meet(kind: type) -> None:
    """Convert what Python calls by itself in a class and its bases, in place; once."""
    known = _known()
    if id(kind) in known or switched_off():
        return
    with convert.lock:
        for base in kind.__mro__:
            if id(base) not in known and id(base) not in _under_way:
                _meet(base)


def _known() -> dict[int, weakref.ref[type]]:
    return _known_to_ports if is_porting() else _known_to_all


def _meet(kind: type) -> None:
    key = id(kind)
    _under_way.add(key)
    try:
        if _is_ported(kind):
            _ported[key] = kind, dict(vars(kind))
            _convert_members(kind)
        elif is_users(module_of(kind)) and not is_marked_class(kind):
            _convert_members(kind)
        known = _known()
        known[key] = weakref.ref(kind, lambda _, known=known: known.pop(key, None))
    finally:
        _under_way.discard(key)


# Module state, guarded by the same lock: classes of ported libraries, and what was in them; and those of objects that ported
# functions name, which are met when the functions are converted, and would not be met again.
_ported: dict[int, tuple[type, dict[str, Any]]] = {}
_ported_by_name: dict[int, weakref.ref[type]] = {}


def _is_ported(kind: type) -> bool:
    module = module_of(kind)
    if not is_porting() or not isinstance(module, str):
        return False
    if is_left_alone(module):
        return writes_polynomials(getattr(kind.__init__, "__module__", None))
    return not is_users(module)


def restore_ported() -> None:
    """Give the classes of ported libraries back what was in them: nobody is porting any more."""
    with convert.lock:
        if not _ported:
            return
        for kind, members in _ported.values():
            for name, member in list(vars(kind).items()):
                if name not in members:
                    type.__delattr__(kind, name)
                elif member is not members[name]:
                    type.__setattr__(kind, name, members[name])
        for key, known in list(_known_to_ports.items()):
            kind = known()
            if kind is None or any(id(base) in _ported for base in kind.__mro__):  # a user's that is derived from one, too
                _known_to_ports.pop(key, None)
        _ported.clear()


def meet_again() -> None:
    """Somebody is porting once more."""
    for known in list(_ported_by_name.values()):
        if (kind := known()) is not None:
            meet(kind)


def _convert_members(kind: type) -> None:
    twins: dict[int, Any] = {}
    for name, comparison in field_comparisons.of(kind).items():
        _note_original(comparison, vars(kind)[name])
        type.__setattr__(kind, name, comparison)
    for name, member in list(vars(kind).items()):
        new = converted_member(name, member)
        if new is not member and not _is_of_types(kind, name):
            twins |= {id(old): twin for old, twin in zip(_functions(member), _functions(new), strict=True)}
            for old in _functions(member):
                _note_original(twins[id(old)], old)
            type.__setattr__(kind, name, new)  # past a metaclass that forbids it
    for name, member in list(vars(kind).items()):  # `size = property(get_size)`: the two remain one function
        if id(member) in twins:
            type.__setattr__(kind, name, twins[id(member)])
    if kind.__ne__ is object.__ne__ and isinstance(vars(kind).get("__eq__"), types.FunctionType):
        type.__setattr__(kind, "__ne__", _not_equal)


_ORIGINAL = "__autograph_jax_original__"


def _note_original(new: Any, old: Any) -> None:
    if new is not old:
        vars(new)[_ORIGINAL] = weakref.ref(new), old


def original_of(function: Any) -> Any:
    """The user's function of which this is what stands in the class now; else what it is given."""
    kept = vars(function).get(_ORIGINAL) if type(function) is types.FunctionType else None
    return kept[1] if kept is not None and kept[0]() is function else function


def _is_of_types(kind: type, name: str) -> bool:
    """Would setting this name on the class set one of `type`'s own: `__bases__`, `__class__`, `__module__`, `__doc__`?"""
    meta: type = type(kind)
    return any(hasattr(type(vars(base)[name]), "__set__") for base in meta.__mro__ if name in vars(base))


def _functions(member: Any) -> list[Any]:
    if type(member) is property:
        return [member.fget, member.fset, member.fdel]
    return [getattr(member, "__func__", getattr(member, "func", member))]


def converted_member(name: str, member: Any) -> Any:
    """A special method, or a property, with the converted functions in it; anything else as it is."""
    if type(member) is property:
        parts = (member.fget, member.fset, member.fdel)
        fget, fset, fdel = map(_twin, parts)
        return member if (fget, fset, fdel) == parts else property(fget, fset, fdel, member.__doc__)
    if type(member) is functools.cached_property:
        return CachedProperty.of(member, _twin(member.func))
    if name in _LEFT or not (name.startswith("__") and name.endswith("__")):
        meet(type(member))  # a descriptor
        return member
    if isinstance(member, staticmethod | classmethod):
        twin = _twin(member.__func__)
        return member if twin is member.__func__ else type(member)(twin)
    return _twin(member)


def _twin(function: Any) -> Any:
    """The converted twin of a user's function, or the function itself where there is nothing to convert."""
    if not isinstance(function, types.FunctionType) or convert.is_converted(function):
        return function
    inner = wrapped_in_library(function) or function
    module = inner.__globals__.get("__name__")
    is_left = is_left_alone(module) and module not in _WRITES_METHODS and not writes_polynomials(module)
    if is_left or is_marked(function) or is_marked(inner):
        return function
    twin = convert.convert_function(function)
    return noting(twin if convert.uses_operators(twin) else function)


_WRITES_METHODS = ("functools",)  # total_ordering puts comparisons into users' classes, which ask for a plain bool


def _not_equal(self: Any, other: Any) -> Any:
    """`a != b` as `object` has it, `not a == b`, which Python can only answer by a plain bool."""
    equal: Any = type(self).__eq__(self, other)  # pyright: ignore[reportCallIssue] - of the user's class
    return equal if equal is NotImplemented else expressions.not_(equal)


# ------------------------------------------------------------------ the classes that a function names


def meet_named(function: types.FunctionType) -> None:
    """Meet the classes that a function names, or has objects of: among its globals, around it, in defaults, annotations.

    A ported library's class is met where an object is made of it, or has come in: most that are named a solver never uses.
    """
    if switched_off() or is_left_alone(function.__globals__.get("__name__")):
        return
    for value in _named(function):
        if isinstance(value, type):
            if not _is_ported(value):
                meet(value)
        elif not isinstance(value, _NO_OBJECTS):
            for kind in meet_all(value):
                if any(id(base) in _ported for base in kind.__mro__):
                    _ported_by_name[id(kind)] = weakref.ref(kind, functools.partial(_forget, id(kind)))


def _forget(key: int, _: Any) -> None:
    _ported_by_name.pop(key, None)


def meet_all(value: Any) -> list[type]:
    """Meet the classes of a value and of what can be reached from it: these."""
    kinds = {id(type(part)): type(part) for part in reach.everything(value)}  # a metaclass may have no hashes
    for kind in kinds.values():
        meet(kind)
    return [*kinds.values()]


_NO_OBJECTS = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType)


def _named(function: types.FunctionType) -> Iterator[Any]:
    names = _names(function.__code__)
    spaces = [function.__globals__]
    for name in names:
        value = function.__globals__.get(name)
        yield value
        if isinstance(value, types.ModuleType) and not is_left_alone(value.__name__):
            spaces.append(vars(value))
    yield from (space[name] for space in spaces[1:] for name in names if name in space)
    yield from (value for _, value in reach.parts(function))
    for annotation in function.__annotations__.values():
        yield from _in_annotation(annotation, function.__globals__)


def _names(code: types.CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _in_annotation(annotation: Any, names: dict[str, Any]) -> Iterator[Any]:
    """`Vec`, `'Vec'`, `list[Vec] | None`: the classes in it."""
    if isinstance(annotation, str):
        yield from (names.get(name) for name in re.findall(r"\w+", annotation))
    elif isinstance(annotation, type):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _in_annotation(argument, names)


convert.after_conversion.append(meet_named)
when_somebody_ports.append(meet_again)
when_nobody_ports.append(restore_ported)
hooks.meet = meet
