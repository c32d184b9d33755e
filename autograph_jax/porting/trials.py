"""Numbers of no meaning for functions in C, which need not check what they get: first in a copy of the process.

A search among knots that are not in order may read beyond an array, and end the process. Where the copy ends, numbers in order
are tried, and if these end it too, the function is not called at all.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

_COUNT = 12  # calls, some of which the function may refuse
_SCALES = (1.0, 1.0, 6.0, 1.0, -2.0, 60.0)
_PATIENCE = 20.0  # seconds; a copy that has not ended by then waits for a thread that it does not have

Numbers = list[np.ndarray]


def numbers(leaves: Sequence[Any], *, in_order: bool) -> Iterator[Numbers]:
    """Arrays of the shapes and dtypes of these, filled with numbers."""
    for seed in range(_COUNT):
        random, scale = np.random.default_rng(seed), _SCALES[seed % len(_SCALES)]
        arrays = [np.asarray(random.uniform(0.2, 0.9, leaf.shape)) * scale for leaf in leaves]
        arrays = [np.sort(array, axis=-1) if in_order and array.ndim else array for array in arrays]
        yield [array.astype(np.dtype(leaf.dtype)) for array, leaf in zip(arrays, leaves, strict=True)]


def outcomes(run: Callable[[Numbers], Any], leaves: Sequence[Any]) -> list[Any]:
    """What calls give; none where each has raised an error, or ends the process."""
    for in_order in (False, True):
        if not _ends_the_process(lambda in_order=in_order: _all_of(run, leaves, in_order=in_order)):
            return _all_of(run, leaves, in_order=in_order)
    return []


def _all_of(run: Callable[[Numbers], Any], leaves: Sequence[Any], *, in_order: bool) -> list[Any]:
    seen = []
    for given in numbers(leaves, in_order=in_order):
        with contextlib.suppress(Exception):  # of numbers that are none for it
            seen.append(run(given))
    return seen


def _ends_the_process(calls: Callable[[], Any]) -> bool:
    if not hasattr(os, "fork"):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the copy has no threads, and computes nothing with JAX
        child = os.fork()
    if child == 0:
        _silently(calls)
    end, pause = time.monotonic() + _PATIENCE, 1e-4
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status != 0
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return True
        time.sleep(pause)
        pause = min(2 * pause, 0.02)


def _silently(calls: Callable[[], Any]) -> None:  # pragma: no cover - in the copy, which nobody measures
    try:
        faulthandler.disable()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        calls()
    except BaseException:  # whatever it is, the copy ends here
        os._exit(0)
    os._exit(0)
