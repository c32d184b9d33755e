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
