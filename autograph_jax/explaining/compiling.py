"""How long XLA takes for a program, and for each of its outermost blocks compiled apart.

XLA compiles a program as a whole and tells no times by line. A block is compiled once more, as a program of its own: what it
takes there is not what it adds to the whole, where much is done across blocks, but it says which of the lines is the dear one.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import Literal

from autograph_jax.explaining.equations import Operations

_BLOCKS = ("cond", "scan", "while")  # how the names of their primitives begin


def whole(traced: Any) -> float | None:
    """Seconds; None for a program that only compiles as a part of another, with a callback of several devices say."""
    return _seconds(lambda: traced)


def apart(operations: Operations | None) -> float:
    """Seconds for the blocks that begin on a line and are in no other block; 0 where there are none."""
    blocks = [
        operation.equation
        for operation in (operations.own if operations is not None else ())
        if not operation.is_inside and operation.equation.primitive.name.startswith(_BLOCKS)
    ]
    return sum(_seconds(functools.partial(_program, block)) or 0.0 for block in blocks)


def _program(equation: Any) -> Any:
    varying = [number for number, value in enumerate(equation.invars) if not isinstance(value, Literal)]

    def run(*values: Any) -> Any:
        given = dict(zip(varying, values, strict=True))
        operands = [given[n] if n in given else value.val for n, value in enumerate(equation.invars)]
        return equation.primitive.bind(*operands, **equation.params)

    avals = [equation.invars[number].aval for number in varying]
    return jax.jit(run).trace(*(jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals))


def _seconds(make: Callable[[], Any]) -> float | None:
    try:
        lowered = make().lower()
        began = time.perf_counter()
        lowered.compile()
        return time.perf_counter() - began
    except Exception:  # a collective without its mesh, a callback of several devices
        return None
