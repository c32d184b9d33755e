"""An index of what a branch reads, `if i > 0: x = table[i - 1, j]`, where both branches are computed and one is chosen.

In the branch it is known to be in bounds. Where the branch is not taken it may be anything, and nobody sees what is read. The
primitive says so to `rows.py` and `folds.py`; it is what it is given.
"""

from __future__ import annotations

from typing import Any

from jax.extend.core import Primitive
from jax.interpreters import mlir

within_p = Primitive("within")
within_p.def_impl(lambda index, **_: index)
within_p.def_abstract_eval(lambda index, **_: index)
mlir.register_lowering(within_p, lambda lowering, index, **_: [index])


def within(index: Any, least: int, most: int) -> Any:
    """The index, which is in this range, both ends included, wherever what is read counts."""
    return within_p.bind(index, least=least, most=most)
