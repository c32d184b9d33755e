"""What a value is, as far as two paths have to agree on it: its Form.

unbound  <  a static Python value  <  a choice of static values  <  an array (dtype, shape)  ;  containers by structure
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from autograph_jax.loops.axes import NONE, Axes, struct_of
from autograph_jax.operators import hooks
from autograph_jax.operators.values.choices import UNBOUND

Number = bool | int | float | complex


class Mismatch(Exception):
    """Two values that no Form holds, and what each is: of another `shape` or `structure`, or a `number` beside an array.

    `keys` are those that only one of two dicts has.
    """

    def __init__(self, kind: str, first: str, second: str, keys: tuple[Any, ...] = ()) -> None:
        super().__init__(f"{first} and {second}")
        self.kind, self.first, self.second, self.keys = kind, first, second, keys


@dataclasses.dataclass(frozen=True, eq=False)
class Static:
    """A Python value that both paths share."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and same_static(self.value, other.value)

    def __str__(self) -> str:
        return "no value" if self.value is UNBOUND else repr(self.value)


@dataclasses.dataclass(eq=False)
class Begun:
    """Of the numbers that a loop begins with, in one round of tracing it: has any taken an array's shape on some path?"""

    has_spread: bool = False


@dataclasses.dataclass(frozen=True)
class Array:
    """An array leaf. `weak` as in JAX: a Python number that became traced; `axes`: those of a mesh that it varies over.

    `may_be_bool`: on some path it is one, and on another one it is not. `number` is the Python number that it still is, or that
    loops have begun with: these are `carried`, and hear of it where such a number takes an array's shape.
    """

    shape: tuple[int, ...]
    dtype: Any
    weak: bool = False
    axes: Axes = NONE
    may_be_bool: bool = False
    number: Number | None = dataclasses.field(default=None, compare=False)
    carried: tuple[Begun, ...] = dataclasses.field(default=(), compare=False)

    @property
    def has_any_shape(self) -> bool:
        """Is it a Python number, which takes the shape of what it meets where paths join?

        A 0 does, the sum of whose array is 0, too. Of any other number it is another one: only a loop may begin with it, whose
        body is looked through for what would tell. Ported code is not, and takes any.
        """
        return self.number is not None and (self.number == 0 or bool(self.carried) or hooks.is_porting())

    def aval(self) -> jax.ShapeDtypeStruct:
        return struct_of(self.shape, self.dtype, weak=self.weak, axes=self.axes)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """A container: how to build it again from children (a `_Kind`), and their Forms."""

    kind: Any
    children: tuple[Form, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and same_kind(self.kind, other.kind) and self.children == other.children

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.children))})"


@dataclasses.dataclass(frozen=True)
class Options:
    """A Choice: leaves are the index, which varies over `axes`, and each option's leaves."""

    forms: tuple[Form, ...]
    axes: Axes = NONE

    def __str__(self) -> str:
        return " or ".join(map(str, self.forms))


Form = Static | Array | Tree | Options


def same_kind(first: Any, second: Any) -> bool:
    """Are two containers built alike?"""
    try:
        return type(first) is type(second) and bool(first == second)
    except Exception:  # auxiliary data may hold arrays, whose == is no bool
        return False


def same_static(first: Any, second: Any) -> bool:
    """Are two Python values interchangeable? Numbers and strings by type and value, everything else by identity."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, float):
        return first == second and np.signbit(first) == np.signbit(second) or first != first and second != second
    if isinstance(first, str | bytes | int | complex | enum.Enum | np.dtype | range | type(...)):
        return first == second
    if isinstance(first, slice):  # of traced bounds, as a rule not
        bounds = zip((first.start, first.stop, first.step), (second.start, second.stop, second.step), strict=True)
        return all(same_static(one, other) for one, other in bounds)
    if isinstance(first, types.MethodType):
        return first.__func__ is second.__func__ and first.__self__ is second.__self__
    if isinstance(first, frozenset):
        return first == second
    return isinstance(first, types.FunctionType) and _do_the_same(first, second)


def _do_the_same(first: types.FunctionType, second: types.FunctionType) -> bool:
    """Are two functions made by one `def`, in two turns of a loop, of the same variables? Each turn makes another one."""
    defaults, other_defaults = _defaults(first), _defaults(second)
    alike = first.__code__ is second.__code__ and first.__globals__ is second.__globals__
    alike = alike and not first.__dict__ and not second.__dict__ and len(defaults) == len(other_defaults)
    if not alike or any(one is not other for one, other in zip(defaults, other_defaults, strict=True)):
        return False
    cells = zip(first.__code__.co_freevars, first.__closure__ or (), second.__closure__ or (), strict=True)
    if not all(one is other or _turns.are_joined and _hold_the_same(name, one, other) for name, one, other in cells):
        return False
    of_turns.update((first, second))
    return True


class _Turns(threading.local):
    are_joined = False


_turns = _Turns()


@contextlib.contextmanager
def joining_turns() -> Iterator[None]:
    """Functions that several turns make count as one meanwhile, also where each turn calls a function that makes them."""
    before, _turns.are_joined = _turns.are_joined, True
    try:
        yield
    finally:
        _turns.are_joined = before


def _hold_the_same(name: str, first: types.CellType, second: types.CellType) -> bool:
    """Do two variables of this name, made by two calls of a function, hold one value for good?"""
    from autograph_jax.operators.values.closures import is_assigned  # which looks at what is being traced

    try:
        alike = same_static(first.cell_contents, second.cell_contents)
    except ValueError:  # no value
        return False
    return alike and not is_assigned(name, first) and not is_assigned(name, second)


# Functions that stand for those of other turns of a loop, which do the same. Module state: they go by themselves.
of_turns: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()


def _defaults(function: types.FunctionType) -> tuple[Any, ...]:
    named = sorted((function.__kwdefaults__ or {}).items())
    return (*(function.__defaults__ or ()), *(part for item in named for part in item))


def statics(form: Form) -> Iterator[Any]:
    """The Python values in it that stay themselves."""
    match form:
        case Static(value):
            yield value
        case Tree(_, forms) | Options(forms):
            for part in forms:
                yield from statics(part)


def array_forms(form: Form) -> list[Array]:
    """The leaves' Forms, in order."""
    match form:
        case Static():
            return []
        case Array():
            return [form]
        case Tree(_, children):
            return [leaf for child in children for leaf in array_forms(child)]
        case Options(forms, axes):
            index = Array((), np.dtype("int32"), axes=axes)
            return [index, *(leaf for option in forms for leaf in array_forms(option))]


def widened(form: Form, axes: Axes) -> Form:
    """The Form of a value that varies over these axes too."""
    match form:
        case Array() if not axes <= form.axes:
            return dataclasses.replace(form, axes=form.axes | axes)
        case Tree(kind, children) if axes:
            return Tree(kind, tuple(widened(child, axes) for child in children))
        case Options(forms) if axes:
            return Options(tuple(widened(option, axes) for option in forms), form.axes | axes)
    return form
