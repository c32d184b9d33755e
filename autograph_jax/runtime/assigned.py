"""The variables around a function, and the globals, that it assigns: noted when it is called while something is traced."""

from __future__ import annotations

import dataclasses
import functools
import types
import weakref
from typing import Any

from autograph_jax.operators import hooks
from autograph_jax.operators.tracing import state
from autograph_jax.operators.tracing.bytecode import instructions
from autograph_jax.operators.tracing.cells import cells_of
from autograph_jax.operators.tracing.places import Global


def note_variables(function: types.FunctionType) -> None:
    """Note the variables around a function, and the globals, that it assigns."""
    state.entered(function)
    outer, global_names = _assigned(function.__code__)
    if outer:
        cells = cells_of((function,))
        for name in outer:
            state.note(dataclasses.replace(cells[name], found=True), function)
    for name in global_names:
        state.note(Global(function.__globals__, name), function)


def noting(function: types.FunctionType) -> Any:
    """A function that is called by Python itself, and notes what it assigns; itself where it assigns nothing outside."""
    if not any(_assigned(function.__code__)):
        return function

    @functools.wraps(function)
    def noted(*arguments: Any, **keywords: Any) -> Any:
        if state.noting():
            note_variables(function)
        return function(*arguments, **keywords)

    return noted


_assigned_cache: dict[int, tuple[Any, tuple[tuple[str, ...], tuple[str, ...]]]] = {}  # by code id, while the code lives


def _assigned(code: types.CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    known = _assigned_cache.get(id(code))
    if known is None:
        outer, global_names = _stores(code)
        found = tuple(sorted(outer & set(code.co_freevars))), tuple(sorted(global_names))
        key = id(code)
        known = _assigned_cache[key] = (weakref.ref(code, lambda _, cache=_assigned_cache: cache.pop(key, None)), found)
    return known[1]


def _stores(code: types.CodeType) -> tuple[set[str], set[str]]:
    """Names that a code object, or the functions inside it, store into cells and globals."""
    cells, global_names = set(), set()
    for instruction in instructions(code):
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF"):
            cells.add(instruction.argval)
        elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            global_names.add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner, inner_globals = _stores(constant)
            cells |= inner & set(constant.co_freevars)
            global_names |= inner_globals
    return cells, global_names


def _assigned_around(code: types.CodeType) -> tuple[str, ...]:
    return _assigned(code)[0]


def line_of_store(code: types.CodeType, name: str) -> int:
    """The last line on which a code object, or a function inside it, assigns a variable that is not its own."""
    line = code.co_firstlineno
    for instruction in instructions(code):
        if instruction.opname.startswith("STORE") and instruction.argval == name and instruction.positions is not None:
            line = instruction.positions.lineno or line
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType) and name in _stores(c)[0] | _stores(c)[1]]
    return line_of_store(inner[-1], name) if inner else line


hooks.note_variables = note_variables
hooks.assigned = _assigned_around
