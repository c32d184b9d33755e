"""Which functions are compiled as a whole: those with loops that fill tables, of which few rows may be read afterwards.

A loop is compiled by itself, where it is lowered. What is left of its table matters only together with what reads it.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from typing import Any

from autograph_jax.loops.optimizations import Chosen
from autograph_jax.operators import loop_options
from autograph_jax.runtime.captured_values import EMPTY, content, unwrapped
from autograph_jax.runtime.convert import conversion_of, conversion_of_code, is_converted
from autograph_jax.runtime.libraries import is_left_alone
from autograph_jax.runtime.reads import reads_of
from autograph_jax.runtime.unconverted import is_marked

_WRITES = dis.opmap["STORE_SUBSCR"]


def is_whole(target: Any) -> bool:
    """Does it fill tables in loops, or does a function of the user's that it names? And is `folds` chosen for it?"""
    return "folds" in optimizations_of(target) and any(map(_fills_tables, _named(_function(target))))


def optimizations_of(target: Any) -> Chosen:
    return loop_options.of(getattr(_function(target), "__code__", None)).optimizations


def _function(target: Any) -> Any:
    """The plain function under methods and partials."""
    while not isinstance(target, types.FunctionType) and hasattr(target, "__func__") | hasattr(target, "func"):
        target = target.__func__ if hasattr(target, "__func__") else target.func
    return target


def _named(function: Any) -> Iterator[types.FunctionType]:
    """A plain function, and all that it or they name: globals, and variables of functions around."""
    found, left = set[int](), [function]
    while left:
        one = unwrapped(left.pop())
        if (
            isinstance(one, types.FunctionType)
            and id(one) not in found
            and not is_left_alone(one.__module__)
            and not is_marked(one)
        ):
            found.add(id(one))
            yield one
            reads = reads_of(one.__code__)
            left += [one.__globals__.get(name) for name in reads.globals]
            cells = dict(zip(one.__code__.co_freevars, one.__closure__ or (), strict=True))
            left += [value for name in reads.free if (value := content(cells[name])) is not EMPTY]


def _fills_tables(function: types.FunctionType) -> bool:
    code = function.__code__
    if not is_converted(function):
        return _writes(code) and conversion_of(function).fills_tables
    conversion = conversion_of_code(code)
    return conversion is not None and conversion.fills_tables


def _writes(code: types.CodeType) -> bool:
    """Does it write elements of anything?"""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return _WRITES in code.co_code[::2] or "at" in code.co_names or any(map(_writes, inner))
