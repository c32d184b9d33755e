"""A loop stops at its `break`, `any` at the element that decides. Where traced data says so, all are taken: nobody may go on.

`it = iter(v)`, `any(e > 0 for e in it)`, `list(it)`: how many elements are left depends on traced data.
"""

from __future__ import annotations

import itertools
from typing import Any

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators.tracing import holders, reach
from autograph_jax.operators.tracing.positions import acts_when_closed, is_unfinished, position

Place = tuple[Any, Any]


def places(iterable: Any) -> list[tuple[Any, Place]]:
    """The iterators that give an iterable its elements, itself among them, and where each stands."""
    if isinstance(iterable, list | tuple):
        return []
    found = [part for part in reach.everything(iterable) if is_unfinished(part)]
    return [(part, _place(part)) for part in found]


def check_left(before: list[tuple[Any, Place]]) -> None:
    """Refuse to leave iterators here where traced data says so, and one of them would do something then."""
    acting = [iterator for iterator, _ in before if acts_when_closed(iterator)]
    for generator in acting:
        if not _is_read_later(generator, outside=False):  # else Python would close it when this trace is over
            generator.close()
    if acting:
        raise StagingError(
            "traced data says where a generator is left that is in a `try` or a `with` there",
            location=user_location(),
            details=["Python runs the `finally`, or what follows the `with`, as soon as nobody takes elements any more."],
            help="make it a list before: `values = list(g())`, or put the `try` around the loop",
        )


def _place(iterator: Any) -> Place:
    inner = getattr(iterator, "_iterator", None)
    return position(iterator), position(inner) if inner is not None else None


def give_up(before: list[tuple[Any, Place]], *, returned: bool = False) -> None:
    """More was taken of these than Python may have taken: what is left is unknown, and must not be asked for.

    `returned` says that the function returns where less was taken, so that what follows in it finds nothing left.
    """
    for iterator, place in before:
        if _place(iterator) == place:
            continue
        if hasattr(iterator, "lose"):
            iterator.lose()
        elif _is_read_later(iterator, outside=returned):
            raise StagingError(
                "an iterator is used after a loop, `any`, `all`, `next` or `in` that stops where traced data says",
                location=user_location(),
                details=["How many elements it has left is only known at run time."],
                help="make it a list before: `values = list(it)`",
            )


def _is_read_later(iterator: Any, *, outside: bool) -> bool:
    for running in itertools.islice(holders.running_functions(), int(outside), None):
        for name in running.names & running.variables.keys():
            if reach.holds(running.variables[name], lambda part: part is iterator):
                return True
    return False
