"""The instructions of code objects, which much of what looks at running functions goes by."""

from __future__ import annotations

import dis
import functools
import types


@functools.lru_cache(maxsize=1024)
def instructions(code: types.CodeType) -> tuple[dis.Instruction, ...]:
    """Those of `dis`, which takes a tenth of a trace to list them again for each question."""
    return tuple(dis.get_instructions(code))


def instruction_at(frame: types.FrameType) -> str:
    """The name of the instruction that a frame is at."""
    return next((one.opname for one in instructions(frame.f_code) if one.offset == frame.f_lasti), "")


_ARITHMETIC = frozenset(
    "RESUME COPY_FREE_VARS LOAD_DEREF LOAD_CONST LOAD_SMALL_INT BINARY_OP UNARY_NEGATIVE COMPARE_OP RETURN_VALUE".split()
)


@functools.lru_cache(maxsize=1024)
def compares_numbers(code: types.CodeType) -> bool:
    """Is it one comparison, of variables around, numbers and what is computed of these: `high - low > 1e-12`?"""
    several = instructions(code)
    constants = [one.argval for one in several if one.opname == "LOAD_CONST"]
    is_comparison = [one.opname for one in several[-2:]] == ["COMPARE_OP", "RETURN_VALUE"]
    has_numbers = all(type(constant) in (int, float) for constant in constants)
    never_fails = all(one.argrepr in ("+", "-", "*") for one in several if one.opname == "BINARY_OP")
    return is_comparison and has_numbers and never_fails and all(one.opname in _ARITHMETIC for one in several)
