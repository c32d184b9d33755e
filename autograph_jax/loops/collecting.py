"""Python's garbage collector while a program is traced, or a loop lowered: it looks at all objects less often.

Tracing makes many objects that stay, and with each quarter more of them the collector goes through all that there are, those of
every imported library too: a quarter of the time that a solver of SciPy's takes to be traced.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_SELDOM = (20_000, 20, 100)  # new objects, and collections of each kind before one of the next

# Module state: how many traces are running, in all threads, and the collector's settings before the first of them.
_lock = threading.Lock()
_running = 0
_before = gc.get_threshold()


@contextlib.contextmanager
def seldom() -> Iterator[None]:
    """Meanwhile the collector runs less often, unless its settings say that it never does."""
    global _running, _before  # noqa: PLW0603 - the collector is the process's
    with _lock:
        _running += 1
        if _running == 1:
            _before = gc.get_threshold()
            if _before[0]:  # 0: never
                gc.set_threshold(*map(max, _before, _SELDOM))
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if not _running and gc.get_threshold() == tuple(map(max, _before, _SELDOM)):  # nobody has set it since
                gc.set_threshold(*_before)
