"""What libraries compute in C with functions that they are given, in Python: converted like the code of the libraries."""

from __future__ import annotations

import types
from typing import Any

from . import bracketing, quadrature

_IN_C = {"scipy.optimize._zeros": bracketing.BY_NAME, "scipy.integrate._quadpack": quadrature.BY_NAME}


def written(function: Any) -> types.FunctionType | None:
    """What computes the same as a function in C; None where it is not known."""
    module = getattr(function, "__module__", None)
    return _IN_C[module].get(function.__name__) if module in _IN_C else None
