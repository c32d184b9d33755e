"""What can be reached from a value: through lists, dicts, attributes, closures and bound methods."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable, Iterator
from typing import Any

import jax

from autograph_jax.operators.choices import Choice
from autograph_jax.operators.values import is_traced

_MOST_PARTS = 500  # of one value; beyond it the answer is "not found"
Part = tuple[Any, Any]


def holds(value: Any, test: Callable[[Any], bool], *, skip: Callable[[Any, Any], bool] = lambda holder, key: False) -> bool:
    """Is a value that passes the test the value itself, or somewhere in it? `skip` leaves out what a holder has at a key."""
    pending, known = collections.deque([value]), set[int]()
    while pending and len(known) < _MOST_PARTS:
        value = pending.popleft()
        if test(value):
            return True
        if id(value) not in known:
            known.add(id(value))
            pending.extend(part for key, part in _parts(value) if not skip(value, key))
    return False


def holds_traced(value: Any) -> bool:
    return holds(value, is_traced)


def _parts(value: Any) -> Iterator[Part]:
    """What a value holds directly, with the key, attribute or variable."""
    if isinstance(value, list | tuple | set | frozenset | collections.deque):
        yield from enumerate(value)
    elif isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, types.FunctionType):
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            if _is_filled(cell):
                yield name, cell.cell_contents
    elif isinstance(value, types.MethodType):
        yield "__self__", value.__self__
        yield "__func__", value.__func__
    elif hasattr(value, "__dict__") and not isinstance(value, type | types.ModuleType | jax.Array | Choice):
        yield from vars(value).items()


def _is_filled(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True
