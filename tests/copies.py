"""What XLA makes of a loop, looked at for copies of arrays."""

import re


def array_copies(program, *operands, size):
    """The lines of what XLA makes of it, but for those before and after its loops, that copy an array of this length."""
    computations = program.lower(*operands).compile().as_text().split("\n\n")
    lines = [line for one in computations if "ENTRY" not in one for line in one.splitlines()]
    return [line for line in lines if re.search(rf"= f64\[{size}\]\S* copy\(", line)]
