"""Where the statements of a converted function stand, and which variables are read after each."""

from __future__ import annotations

import dataclasses

import gast

from autograph_jax.analysis import Facts, writes

Position = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Span:
    """A statement's extent, and the variables whose present values are read after it."""

    start: Position
    end: Position
    names: frozenset[str]
    roots: frozenset[str] = frozenset()  # of `d['a'][i] = v`: d takes the result, but stays the same container


def spans_of(facts: dict[gast.AST, Facts]) -> list[Span]:
    """The statements of a tree by their start, so that the innermost one at a position comes last."""
    spans = [
        Span((s.lineno, s.col_offset), (s.end_lineno, s.end_col_offset), _names(s, scope), _roots(s))
        for scope in facts.values()
        for s in scope.live_after
        if getattr(s, "lineno", None) is not None
    ]
    return sorted(spans, key=lambda span: (span.start, (-span.end[0], -span.end[1])))


def _names(statement: gast.stmt, facts: Facts) -> frozenset[str]:
    if isinstance(statement, gast.If | gast.While | gast.For | gast.With | gast.Try | gast.Match):
        inner = [*statement.body, *getattr(statement, "orelse", [])] if not isinstance(statement, gast.Match) else []
        after = frozenset(name for s in inner for name in facts.live_before.get(s, frozenset()))
        return facts.live_after[statement] | after | facts.escaping
    return (facts.live_after[statement] | facts.escaping) - writes(statement)


def _roots(statement: gast.stmt) -> frozenset[str]:
    function = statement.value.func if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Call) else None
    is_path = isinstance(function, gast.Attribute) and function.attr in ("set_path", "update_path")
    return writes(statement) if is_path else frozenset()
