"""heapq and bisect of traced elements. A list in order is a heap, and the one that is kept here: what is popped is the same.

Where a heap's further elements lie is not: `heap[0]` is the smallest, and `heap[1]` the second smallest.
"""

from __future__ import annotations

import bisect
import heapq
import types
from collections.abc import Callable, Iterable
from typing import Any

from autograph_jax.operators import comparisons, hooks
from autograph_jax.operators.ordering import is_compared_at_run_time, sort, sorted_
from autograph_jax.operators.sequences.bounded import Bounded, as_python_int
from autograph_jax.operators.values.traced import is_traced


def heapify(heap: Any) -> None:
    heap.sort() if isinstance(heap, Bounded) else sort(heap)


def heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    heapify(heap)


def heappop(heap: Any) -> Any:
    heapify(heap)
    return heap.pop(0)


def heapreplace(heap: Any, item: Any) -> Any:
    smallest = heappop(heap)
    heappush(heap, item)
    return smallest


def heappushpop(heap: Any, item: Any) -> Any:
    heap.append(item)
    return heappop(heap)


def nsmallest(n: int, iterable: Iterable[Any], key: Any = None) -> Any:
    return sorted_(iterable, key=key)[: max(n, 0)]


def nlargest(n: int, iterable: Iterable[Any], key: Any = None) -> Any:
    return sorted_(iterable, key=key, reverse=True)[: max(n, 0)]


def _bisecting(side: str) -> Callable[..., Any]:
    before = comparisons.ordered("<" if side == "left" else "<=")

    def place(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> Any:
        """How many elements x has its place behind."""
        if lo < 0:
            raise ValueError("lo must be non-negative")
        values = a[lo:hi]
        keys = values if key is None else [hooks.call(key)(value) for value in values]
        behind = [before(element, x) for element in keys]
        return lo + sum(as_python_int(one) if is_traced(one) else one for one in behind)

    return place


def insort_left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    a[lo:hi] = sorted_([x, *a[lo:hi]], key=key)


def insort_right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    if isinstance(a, Bounded) and key is None and lo == 0 and hi is None:
        heappush(a, x)  # an order is stable
    else:
        a[lo:hi] = sorted_([*a[lo:hi], x], key=key)


def _where_traced(function: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*arguments: Any, **keywords: Any) -> Any:
        parts = (*arguments, *keywords.values())
        is_plain = not any(isinstance(part, Bounded | types.FunctionType) or is_compared_at_run_time(part) for part in parts)
        return (function if is_plain else ours)(*arguments, **keywords)

    return apply


OVERRIDES: dict[Any, Callable[..., Any]] = {
    function: _where_traced(function, ours)
    for function, ours in {
        heapq.heapify: heapify,
        heapq.heappush: heappush,
        heapq.heappop: heappop,
        heapq.heapreplace: heapreplace,
        heapq.heappushpop: heappushpop,
        heapq.nsmallest: nsmallest,
        heapq.nlargest: nlargest,
        bisect.bisect_left: _bisecting("left"),
        bisect.bisect_right: _bisecting("right"),
        bisect.insort_left: insort_left,
        bisect.insort_right: insort_right,
    }.items()
}
