"""What a function closes over: how each value is compared from call to call, and which compiled program belongs to them.

    lr = 0.1
    @ag.jit
    def step(x): return x - lr * x      # a program for lr = 0.1; after lr = 0.01 another one

`collector.py` follows the values, `snapshots.py` generates the comparison.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autograph_jax.runtime.captured_values import is_constant, is_library, is_of_user, unwrapped
from autograph_jax.runtime.collector import Collector
from autograph_jax.runtime.contents import changed_by
from autograph_jax.runtime.reads import reads_of
from autograph_jax.runtime.snapshots import Capture, Snapshot


def snapshot(function: Any, *, lift: bool = False) -> Snapshot:
    """What a function, method, partial or callable object closes over now.

    With `lift`, arrays and floats among these are not part of the key, but `lifted`.
    """
    collector = Collector(lift, changed_by(getattr(unwrapped(function), "__code__", None)))
    root = collector.root(function)
    key = collector.visit(function, {}, "", root)
    return collector.finish(key, function)


def snapshot_of_arguments(function: Any, values: Sequence[Any], name: str) -> Snapshot:
    """What a function may read of objects that are static arguments of it."""
    reading = Collector(False)
    reading.visit(function, {}, "", reading.root(function))
    collector = Collector(False)
    collector.reads_like(reading)
    for value in values:
        collector.visit(value, {}, name, collector.root(value))
    return collector.finish(None, None)


def may_change(function: Any) -> bool:
    """May another call find other values? Not where a plain function reads no variables of others."""
    if type(function) is not types.FunctionType or "__wrapped__" in function.__dict__:
        return True
    reads = reads_of(function.__code__)
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return bool(reads.free or reads.globals or reads.state or reads.imports) or not all(map(is_constant, defaults))


def captures(function: Callable[..., Any], /) -> list[Capture]:
    """What a function closes over, with the values of now: see `Capture`.

    Functions that it calls count with what they close over in turn, as `name.of.it`; so do the attributes that it reads of
    objects, and what a method reads of `self`. Modules and functions of libraries are left out, and a variable that the
    function assigns itself.

        rate = 0.1
        ag.captures(lambda x: rate * x)   ->   [Capture(name='rate', value=0.1, compared='by value')]
    """
    return list(_listed(snapshot(unwrapped(function)).captures))


def _listed(found: Sequence[Capture]) -> Iterator[Capture]:
    for capture in found:
        value = capture.value
        of_library = type(value) is not types.FunctionType and callable(value) and not is_of_user(type(value))
        if not of_library and not is_library(value):
            yield capture
