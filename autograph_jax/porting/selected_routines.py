"""`nrm2(L[k, :k])`, `potrs(L[:k, :k], x[:k])`: what routines of BLAS and LAPACK read of selections, by NumPy's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import squares


def _potrs(c: Any, b: Any, lower: int = 0, overwrite_b: int = 0) -> tuple[Any, int]:
    from scipy.linalg import solve_triangular  # of whose routines this is one

    first, second = (0, 1) if lower else (1, 0)
    half = squares.call(solve_triangular, c, b, trans=first, lower=bool(lower))
    return squares.call(solve_triangular, c, half, trans=second, lower=bool(lower)), 0


ROUTINES: dict[str, Callable[..., Any]] = {
    "nrm2": lambda x: np.linalg.norm(x), "asum": lambda x: np.sum(np.abs(x)), "dot": lambda x, y: np.dot(x, y),
    "dotu": lambda x, y: np.dot(x, y), "dotc": lambda x, y: np.vdot(x, y), "potrs": _potrs,
}  # fmt: skip
