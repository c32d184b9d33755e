"""A collective that not all devices reach would wait for the others for ever, or sum what is not there: it is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from jax.extend import source_info_util

from autograph_jax.errors import CollectiveError, user_location
from autograph_jax.loops.axes import Axes

_LOCAL = {"axis_index", "pvary", "axis_size"}  # name an axis, and exchange nothing
_NAMES = {"psum_invariant": "psum", "all_gather_invariant": "all_gather", "reduce_scatter": "psum_scatter"}


def refuse(jaxpr: Any, axes: Axes, what: str) -> None:
    """Raise CollectiveError if a collective over one of these axes is in a jaxpr that devices along them do not all run alike.

    `what` is the reason: "which branch is taken".
    """
    for equation in _equations(jaxpr) if axes else ():
        over = _exchanged_over(equation) & axes
        if over:
            name = equation.primitive.name
            place = os.path.basename(source_info_util.summarize(equation.source_info))
            along = ", ".join(sorted(map(repr, over)))
            raise CollectiveError(
                f"`{_NAMES.get(name, name)}` over {along} waits for all devices, and not all of them come to it",
                location=user_location(),
                details=[f"It is at {place}. {what[0].upper()}{what[1:]} differs between the devices along {along}."],
                help="call it where all devices do, before or after, and choose by its value; or decide by a value that is the "
                "same on all, such as `lax.pmax(condition, axis_name)`",
            )


def _exchanged_over(equation: Any) -> Axes:
    """The names of the axes over which a collective exchanges; none for anything else."""
    if equation.primitive.name in _LOCAL:
        return frozenset()
    given = [equation.params.get(key, ()) for key in ("axes", "axis_name")]
    names = [name for names in given for name in (names if isinstance(names, tuple | list) else (names,))]
    return frozenset(name for name in names if name is not None and not isinstance(name, int))


def _equations(jaxpr: Any) -> Iterator[Any]:
    """The equations of a jaxpr and of those inside."""
    for equation in jaxpr.eqns:
        yield equation
        for parameter in equation.params.values():
            for inner in parameter if isinstance(parameter, tuple | list) else (parameter,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from _equations(inner)
