"""The variables of a block: closure cells of the functions that converters have made of it, found by name."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from autograph_jax.operators import hooks
from autograph_jax.operators.tracing import positions, reach
from autograph_jax.operators.tracing.places import CHANGING, Attribute, Cell, Global, Place, content_of
from autograph_jax.operators.tracing.state import freeze, meet_attributes, meet_globals, note, note_all, traces, write
from autograph_jax.operators.values.choices import UNBOUND, Choice


def variables(functions: tuple[Callable[..., Any] | None, ...], names: tuple[str, ...]) -> list[Place]:
    """The places of named variables, among the closure cells of the block's functions.

    `y?` names the variable y, and says that some path leaves it without a value; `global y` one of the user's module.
    """
    cells = cells_of(functions)
    return [_variable(name.rstrip("?"), cells, functions) for name in names]


def _variable(name: str, cells: dict[str, Cell], functions: tuple[Callable[..., Any] | None, ...]) -> Place:
    if not name.startswith("global "):
        return cells[name]
    module = next(function.__globals__ for function in originals_of(functions))
    return Global(module, name.removeprefix("global "))


def standing_for(function: Callable[..., Any], *originals: Callable[..., Any] | None) -> Callable[..., Any]:
    """Let a function of ours stand for blocks of the user's: their variables are its variables, their name its name."""
    blocks = tuple(originals_of(originals))
    function.stands_for = blocks
    if blocks:
        function.__name__, function.__qualname__ = blocks[0].__name__, blocks[0].__qualname__
    return function


def originals_of(functions: Sequence[Callable[..., Any] | None]) -> Iterator[Any]:
    for function in functions:
        if function is not None:
            yield from getattr(function, "stands_for", (function,))


def cells_of(functions: tuple[Callable[..., Any] | None, ...]) -> dict[str, Cell]:
    """Every closure cell of some functions by name."""
    found: dict[str, Cell] = {}
    for function in originals_of(functions):
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name not in found:
                found[name] = Cell(cell, name)
    return found


def values_held(functions: Sequence[Callable[..., Any] | None], places: Iterable[Place]) -> list[Any]:
    """What a block's variables and these places hold."""
    return [cell.read() for cell in cells_of(tuple(functions)).values()] + [place.read() for place in places]


def bind(functions: tuple[Callable[..., Any] | None, ...], names: tuple[str, ...]) -> None:
    """After a statement that surely gives its variables values: they are no longer a choice of a value and none.

    `for v in xs: if v > t: r = v; break` / `else: r = 0` binds r on every path; how the loop was left tells which.
    """
    sure = tuple(name for name in names if not name.endswith("?"))
    for place in variables(functions, sure) if sure else ():
        value = place.read()
        if isinstance(value, Choice) and any(option is UNBOUND for option in value._options):
            write(place, value._only(lambda option: option is not UNBOUND))


def noted(functions: tuple[Callable[..., Any] | None, ...]) -> set[int]:
    """Note all variables of a block's functions: whatever tracing them writes is rolled back.

    So are the lists, dicts and attributes that can be reached from them, since `total += [x]`, a context manager or a
    library may change them without an operator. Gives the ids of these, which are older than the block. Arrays of NumPy's are
    read-only in it, and where iterators stand is noted.
    """
    older: set[int] = set()
    iterators, pytrees = traces()[-1].iterators, traces()[-1].pytrees
    for function in originals_of(functions):
        meet_globals(function)
    for cell in cells_of(functions).values():
        note(cell)
        for value in reach.everything(cell.read()):
            if reach.is_inert(type(value)):  # as most are
                continue
            hooks.meet(type(value))
            if isinstance(value, CHANGING):
                older.add(id(value))
                note(content_of(value))
            elif isinstance(value, np.ndarray):
                freeze(value)
            elif positions.is_unfinished(value):
                iterators.append((value, positions.position(value)))
            elif reach.is_record(value):
                older.add(id(value))
                meet_attributes(type(value))
                note_all(value, (Attribute(value, attribute) for attribute in reach.attributes(value)))
            elif isinstance(value, type | types.FunctionType):
                meet_attributes(value)
            elif not reach.has_no_parts(type(value)):
                meet_attributes(type(value))
                pytrees.update([id(value)] if reach.is_changing_pytree(value) else ())
    return older
