"""Is a debugger going to stop in a function? Then its blocks show all of its variables: see converters/debugged.py."""

from __future__ import annotations

import sys
import types

_STOPS = frozenset({"breakpoint", "set_trace"})


def is_debugged(code: types.CodeType) -> bool:
    """Where a debugger traces as the function is converted, or where its code calls one. Coverage tools are no debuggers."""
    return _is_traced() or _calls_debugger(code)


def _is_traced() -> bool:
    if "pydevd" in sys.modules:  # of VS Code and PyCharm
        return True
    base = getattr(sys.modules.get("bdb"), "Bdb", None)  # of pdb, ipdb, pudb
    monitoring = getattr(sys, "monitoring", None)  # Python 3.12 and later
    if monitoring is not None and monitoring.get_tool(monitoring.DEBUGGER_ID) is not None:
        return True
    return base is not None and isinstance(getattr(sys.gettrace(), "__self__", None), base)


def _calls_debugger(code: types.CodeType) -> bool:
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return not _STOPS.isdisjoint(code.co_names) or any(map(_calls_debugger, inner))
