"""A function that calls itself where traced data decides is traced for ever: under tracing both branches always are.

Recursion that plain values end is another matter, and nests blocks of one kind in each other: `power(x, n - 1)` inside of
`if x > 0`. A block that comes to itself again with all that it can see as it was, up to the values of arrays, never ends.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators.tracing import state
from autograph_jax.operators.tracing.cells import cells_of
from autograph_jax.operators.tracing.places import Place
from autograph_jax.operators.tracing.state import Trace
from autograph_jax.operators.values.containers import flatten, flatten_inside

_MOST_NESTED = 48  # times that one block is traced inside itself
_MOST_TURNS = 128  # of a loop that Python counts, each of which may leave it: the rest is traced in a branch of each


def check(block: Callable[..., Any]) -> None:
    """Refuse a block that surely, or as far as one can wait to see, is traced inside itself without end."""
    code = _code(block)
    around = [trace for trace in state.traces() if code is not None and _code(trace.block) is code]
    if len(around) >= _MOST_NESTED or any(_comes_again(block, trace) for trace in around):
        raise StagingError(
            "a function calls itself where traced data decides, and the depth is only known at run time",
            location=user_location(),
            help="write it as a loop, or make the argument that ends the recursion static",
        )


def expect(block: Callable[..., Any]) -> None:
    """The rest of a loop's turns, which Python counts, may be traced inside itself: once for each turn.

    Not without end: `for i in itertools.count(): if f(i) > x: break` never comes to one.
    """
    block.ends_by_itself = True
    around = [trace for trace in state.traces() if _is_rest(trace.block) and _originals(trace.block) == _originals(block)]
    if len(around) >= _MOST_TURNS:
        raise StagingError(
            f"a loop whose turns Python runs may be left by traced data, and goes on after {_MOST_TURNS} turns",
            location=user_location(),
            details=["The turns that are left are traced once more after each turn that may leave."],
            help="loop over a range or an array, which can be staged: `for i in range(10**6): ...`, or count in a `while`",
        )


def _is_rest(block: Any) -> bool:
    return getattr(block, "ends_by_itself", False)


def _originals(block: Any) -> list[Any]:
    return [getattr(original, "__code__", None) for original in getattr(block, "stands_for", (block,))]


def _code(block: Callable[..., Any] | None) -> Any:
    return None if _is_rest(block) else _originals(block)[0] if _originals(block) else None


def _comes_again(block: Callable[..., Any], earlier: Trace) -> bool:
    """Does the block see what its code saw when the earlier trace of it began?"""
    before = {place.name: _held_before(place, earlier) for place in cells_of((earlier.block,)).values()}
    now = {place.name: place.read() for place in cells_of((block,)).values()}
    if before.keys() != now.keys() or any(flatten(before[name])[0] != flatten(now[name])[0] for name in now):
        return False
    return not any(_changed(place, old) for place, old in _noted_since(earlier).values())


def _held_before(place: Place, trace: Trace) -> Any:
    return trace.log[place.key][1] if place.key in trace.log else place.read()


def _noted_since(earlier: Trace) -> dict[Hashable, tuple[Place, Any]]:
    """The places outside the block's variables that were noted in a trace and those inside it, with what they held first."""
    traces = state.traces()
    noted: dict[Hashable, tuple[Place, Any]] = {}
    for trace in reversed(traces[traces.index(earlier) :]):
        noted.update({key: entry for key, entry in trace.log.items() if entry[0].found})
    return noted


def _changed(place: Place, old: Any) -> bool:
    def stays(_: Any) -> bool:
        return False

    return flatten_inside(old, stays)[0] != flatten_inside(place.read(), stays)[0]
