"""Which functions are compiled as a whole: those with loops that fill tables, of which few rows may be read afterwards.

A loop is compiled by itself, where it is lowered. What is left of its table matters only together with what reads it.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

from autograph_jax.analysis.tables import fills_tables
from autograph_jax.errors import SourceError
from autograph_jax.loops.lowering import sees_calls
from autograph_jax.loops.optimizations import Chosen
from autograph_jax.operators import loop_options
from autograph_jax.runtime.captured_values import EMPTY, content, unwrapped
from autograph_jax.runtime.convert import conversion_of_code
from autograph_jax.runtime.libraries import is_left_alone
from autograph_jax.runtime.reads import reads_of
from autograph_jax.runtime.unconverted import is_marked
from autograph_jax.syntax.source import source_of

_WRITES = dis.opmap["STORE_SUBSCR"]


def is_whole(target: Any) -> bool:
    """Does it fill tables in loops, or does a function of the user's that it names? And is `folds` chosen for it?"""
    return sees_calls and "folds" in optimizations_of(target) and any(map(_fills_tables, _named(_function(target))))


def optimizations_of(target: Any) -> Chosen:
    return loop_options.of(getattr(_function(target), "__code__", None)).optimizations


def _function(target: Any) -> Any:
    """The plain function under methods, partials, and callable objects."""
    if isinstance(target, types.MethodType | functools.partial):
        return _function(target.__func__ if isinstance(target, types.MethodType) else target.func)
    return target if isinstance(target, types.FunctionType) else getattr(type(target), "__call__", None)  # noqa: B004


def _named(function: Any) -> Iterator[types.FunctionType]:
    """A plain function, and all that it or they name: globals, and variables of functions around."""
    found, left = set[int](), [function]
    while left:
        one = left.pop()
        one = unwrapped(one) if callable(one) else None
        if isinstance(one, types.FunctionType) and id(one) not in found and not _is_left(one):
            found.add(id(one))
            yield one
            reads = reads_of(one.__code__)
            left += [one.__globals__.get(name) for name in reads.globals]
            cells = dict(zip(one.__code__.co_freevars, one.__closure__ or (), strict=True))
            left += [value for name in reads.free if (value := content(cells[name])) is not EMPTY]


def _is_left(function: types.FunctionType) -> bool:
    return is_left_alone(function.__module__) or is_marked(function)


def _fills_tables(function: types.FunctionType) -> bool:
    if (conversion := conversion_of_code(function.__code__)) is not None:
        return conversion.fills_tables
    return _writes(function.__code__) and _fills_by_its_source(function)


def _fills_by_its_source(function: types.FunctionType) -> bool:
    try:
        return fills_tables(source_of(function).tree)
    except SourceError:
        return False


def _writes(code: types.CodeType) -> bool:
    """Does it write elements of anything?"""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return _WRITES in code.co_code[::2] or "at" in code.co_names or any(map(_writes, inner))
