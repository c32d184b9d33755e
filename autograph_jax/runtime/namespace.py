"""`ag__`: every operator by the name that converted code uses."""

from __future__ import annotations

import functools
import types

from autograph_jax.operators import (
    attributes,
    comprehensions,
    conditionals,
    exits,
    expressions,
    for_loops,
    paths,
    patterns,
    powers,
    subscripts,
    while_loops,
)
from autograph_jax.operators import builtins as operator_builtins
from autograph_jax.operators.effects import attempts, checks, finals, swallowed, texts
from autograph_jax.operators.sequences import iterables, limits
from autograph_jax.operators.tracing import collected, given, to_come, views
from autograph_jax.operators.values import selection

_MODULES = (attributes, conditionals, while_loops, for_loops, expressions, paths, patterns, powers, subscripts)


class Operators(types.SimpleNamespace):
    """A constant of converted code, so it needs a hash and a short text."""

    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType] - a namespace has none

    def __repr__(self) -> str:
        return "ag__"


@functools.cache
def operators() -> Operators:
    """The operators, and `call`. Whatever converts comes by here first, so that the hooks of converted code are set here."""
    from autograph_jax.runtime import frames
    from autograph_jax.runtime import operands as operands
    from autograph_jax.runtime import position as position
    from autograph_jax.runtime.calls import call

    frames.hide()
    names = {n: v for module in _MODULES for n, v in vars(module).items() if _is_operator(n, v, module.__name__)}
    exit_values = {"break_": exits.BREAK, "continue_": exits.CONTINUE, "Return": exits.Return, "failure": exits.FAILURE}
    names |= {"raised": checks.raised, "raised_here": checks.raised_here, "cause": checks.cause}
    names |= {"raised_anew": checks.raised_anew, "checked": checks.checked, "caught": checks.caught}
    names |= {
        "Given": given.Given,
        "give": given.give,
        "giving": to_come.giving,
        "collect": collected.collect,
        "collecting": to_come.collecting,
        "Told": swallowed.Told,
        "ended": swallowed.ended,
    }
    names |= {
        name: getattr(attempts, name) for name in ("attempt", "failed", "handled", "noted", "error_of", "went_on", "unguarded")
    }
    names |= {name: getattr(attempts, name) for name in ("has_just_failed", "unchecked", "of_error")}
    names |= {"final": finals.final, "fails": finals.fails}
    names |= {"live": iterables.live, "growing": limits.growing}
    names |= {name: getattr(comprehensions, name) for name in ("kept", "kept_list", "kept_ones", "each_there", "ones_there")}
    names |= {"number": operator_builtins.number, "text": texts.text, "field": texts.field, "percent": texts.percent}
    names |= {"percent_in_place": texts.percent_in_place}
    names |= {"view": views.view, "rows": views.rows, "view_at": selection.view_at, "get_item": selection.get_item}
    return Operators(**names, **exit_values, call=call)


def _is_operator(name: str, value: object, module: str) -> bool:
    return not name.startswith("_") and getattr(value, "__module__", module) == module
