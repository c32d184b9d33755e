"""Functions that a branch or a turn has made, by what they hold: `y = x * x; f = lambda v: v * y`, `f = partial(g, y)`.

A function is taken apart into its code and what its own variables hold, those that nobody assigns any more, and made again
with what JAX gives for these. Variables that it shares with the function around the block stay shared.
"""

from __future__ import annotations

import dataclasses
import functools
import gc
import types
import weakref
from collections.abc import Container, Iterable, Sequence
from typing import Any

from autograph_jax.operators.tracing import outside, reach
from autograph_jax.operators.tracing.places import CHANGING


@dataclasses.dataclass(frozen=True, eq=False)
class Closure:
    """A function without what it has captured itself."""

    code: types.CodeType
    globals: dict[str, Any]
    own: tuple[str, ...]  # the variables that only it has
    shared: tuple[types.CellType, ...]
    count: int  # of default values
    named: tuple[str, ...]  # parameters with default values that are given by name alone
    attributes: dict[str, Any]

    def build(self, children: Sequence[Any]) -> types.FunctionType:
        own = dict(zip(self.own, children, strict=False))
        shared = iter(self.shared)
        cells = tuple(types.CellType(own[name]) if name in own else next(shared) for name in self.code.co_freevars)
        rest = list(children[len(self.own) :])
        function = types.FunctionType(self.code, self.globals, argdefs=tuple(rest[: self.count]) or None, closure=cells)
        function.__kwdefaults__ = dict(zip(self.named, rest[self.count :], strict=True)) or None
        for name, value in self.attributes.items():
            setattr(function, name, value)
        _built[function] = self
        return function

    def parts(self, function: types.FunctionType) -> list[Any]:
        cells = dict(zip(self.code.co_freevars, function.__closure__ or (), strict=True))
        named = function.__kwdefaults__ or {}
        return [*(cells[name].cell_contents for name in self.own), *(function.__defaults__ or ()), *named.values()]

    def is_changed(self, function: types.FunctionType) -> bool:
        """Has it been given attributes or other default values since it was made?"""
        defaults, named = function.__defaults__ or (), function.__kwdefaults__ or {}
        return _has_attributes(function) or len(defaults) != self.count or tuple(named) != self.named

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Closure) or self.code is not other.code or self.globals is not other.globals:
            return False
        if (self.own, self.count, self.named) != (other.own, other.count, other.named):
            return False
        return all(one is another for one, another in zip(self.shared, other.shared, strict=True))

    def __str__(self) -> str:
        return f"function {self.code.co_name} of "


@dataclasses.dataclass(frozen=True)
class Partial:
    """A `functools.partial` of a function and arguments."""

    count: int
    names: tuple[str, ...]

    def build(self, children: Sequence[Any]) -> functools.partial[Any]:
        function, *rest = children
        partial = functools.partial(function, *rest[: self.count], **dict(zip(self.names, rest[self.count :], strict=True)))
        _built[partial] = self
        return partial

    def is_changed(self, partial: functools.partial[Any]) -> bool:
        return bool(vars(partial))

    def parts(self, partial: functools.partial[Any]) -> list[Any]:
        return [partial.func, *partial.args, *partial.keywords.values()]

    def __str__(self) -> str:
        return "partial of "


# What has been made again, with its kind.
_built: weakref.WeakKeyDictionary[Any, Closure | Partial] = weakref.WeakKeyDictionary()
KINDS = (Closure, Partial)


def of_built(value: Any) -> tuple[Any, list[Any]] | None:
    """The kind and parts of one that has been made again."""
    if type(value) not in (types.FunctionType, functools.partial) or (kind := _built.get(value)) is None:
        return None
    return None if kind.is_changed(value) else (kind, kind.parts(value))


def taken(value: Any, variables: Container[int]) -> tuple[Any, list[Any]] | None:
    """The kind and parts of a function that a block has made; `variables`: the ids of the cells that the block shares.

    None where one of its own variables may still be assigned, or has no value, and where it holds a list, a dict or an object:
    who else holds that would have to see what is written to it.
    """
    found = _taken(value, variables)
    return None if found is None or any(map(_may_change, found[1])) else found


def _may_change(part: Any) -> bool:
    """Is there something in it that may be written, or, where it is called, something that the block has computed as well?"""
    if callable(part) and type(part) is not types.FunctionType and not reach.holds_tracer(part):
        return False  # as `jnp.multiply`, which JAX knows as a pytree
    return reach.holds(part, _is_container)


def _is_container(value: Any) -> bool:
    return isinstance(value, CHANGING) or reach.is_record(value) or reach.is_changing_pytree(value)


def _taken(value: Any, variables: Container[int]) -> tuple[Any, list[Any]] | None:
    if type(value) is functools.partial:
        partial = Partial(len(value.args), tuple(value.keywords))
        return (partial, partial.parts(value)) if not vars(value) else None
    if type(value) is not types.FunctionType or _has_attributes(value):
        return None
    cells = dict(zip(value.__code__.co_freevars, value.__closure__ or (), strict=True))
    own = {name: cell for name, cell in cells.items() if id(cell) not in variables}
    if any(is_assigned(name, cell) for name, cell in own.items()):
        return None
    closure = Closure(
        value.__code__,
        value.__globals__,
        tuple(own),
        tuple(cell for name, cell in cells.items() if name not in own),
        len(value.__defaults__ or ()),
        tuple(value.__kwdefaults__ or ()),
        {name: getattr(value, name) for name in functools.WRAPPER_ASSIGNMENTS if hasattr(value, name)},
    )
    return closure, closure.parts(value)


def _has_attributes(function: types.FunctionType) -> bool:
    """Has it any, but for the twins that are noted of this very function?"""
    return any(not (name.startswith("__autograph_jax") and name.endswith("twin__")) for name in vars(function))


def is_assigned(name: str, cell: types.CellType) -> bool:
    """Has a variable no value, or does a function that has it assign it?"""
    try:
        _ = cell.cell_contents
    except ValueError:
        return True
    return any(name in outside.assigned(function.__code__) for function in _functions_with(cell))


def _functions_with(cell: types.CellType) -> Iterable[types.FunctionType]:
    closures = [one for one in gc.get_referrers(cell) if type(one) is tuple]
    return [one for one in gc.get_referrers(*closures) if type(one) is types.FunctionType] if closures else []
