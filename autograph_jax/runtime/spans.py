"""Where the statements of a converted function stand, and which variables are read after each."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterator
from typing import Any

import gast

from autograph_jax.analysis import Facts, writes
from autograph_jax.syntax import emit
from autograph_jax.syntax.names import is_operator
from autograph_jax.syntax.walk import walk, walk_own

Position = tuple[int, int]
_COMPOUND = (gast.If, gast.While, gast.For, gast.With, gast.Try, gast.TryStar)


@dataclasses.dataclass(frozen=True)
class Span:
    """A statement's extent, and the variables whose present values are read after it."""

    start: Position
    end: Position
    names: frozenset[str]
    roots: frozenset[str] = frozenset()  # of `d['a'][i] = v`: d takes the result, but stays the same container
    statements: tuple[gast.stmt, ...] = ()
    in_finally: bool = False  # may a `return` be under way?
    returned: tuple[gast.expr, ...] = ()  # then, what it may return
    handlers: tuple[str, ...] = ()  # what the `try` statements around it catch, as text; "" is everything
    managers: tuple[Manager, ...] = ()  # of the `with` statements around it
    if_raised: frozenset[str] = frozenset()  # what is read after it where it raises, and a `try` or a `with` around goes on


@dataclasses.dataclass(frozen=True)
class Manager:
    """What a `with` is given, `value` or `function(*arguments)`, as text; and the attempts in it that a statement stands in.

    `variable` has it, if one does; `target` has what it gives, an ExitStack itself.
    """

    variable: str = ""
    target: str = ""
    value: str = ""
    function: str = ""
    arguments: tuple[str, ...] = ()
    keywords: frozenset[str] = frozenset()  # the names of those that are not False
    inside: frozenset[str] = frozenset()


class Spans:
    """The spans of a converted function, worked out when one of them is asked for: many programs ask for none."""

    def __init__(self, facts: dict[gast.AST, Facts]) -> None:
        self._facts = facts

    @functools.cached_property
    def all(self) -> list[Span]:
        """By their start, so that the innermost one at a position comes last."""
        return _spans_of(self._facts)


def _spans_of(facts: dict[gast.AST, Facts]) -> list[Span]:
    nodes = [node for scope in facts for node in walk(scope)]
    attempts = [name for node in nodes if isinstance(node, gast.Assign) for name in _attempt_made(node)]
    together: dict[tuple[Position, Position], list[tuple[gast.stmt, Facts]]] = {}
    for scope in facts.values():
        for statement in scope.live_after:
            # An attempt is no statement of the user's: with one in it, it would stand where that does.
            if getattr(statement, "lineno", None) is not None and not _attempt_of(statement, attempts):
                together.setdefault(_extent(statement), []).append((statement, scope))
    withs = [(node, _with_extent(node, attempts)) for node in nodes if isinstance(node, gast.With)]
    tries = [node for node in nodes if isinstance(node, gast.Try | gast.TryStar)]
    finals = [(_final(node), _returned(node)) for node in tries if node.finalbody]
    bodies = [((node.lineno, node.col_offset + 1), _end(node.body)) for node in tries]
    caught = [(body, _caught(node, attempts)) for node, body in zip(tries, bodies, strict=True)]
    going_on = [(body, _read_if_raised(node, facts)) for node, body in zip(tries, bodies, strict=True)]
    going_on += [(body, scope.live_after.get(node, frozenset())) for node, body in withs for scope in facts.values()]
    spans = []
    for (start, end), statements in together.items():
        handlers = tuple(text for body, texts in caught if _is_within(start, end, body) for text in texts)
        under_way = [returned for final, returned in finals if _is_within(start, end, final)]
        returned = tuple(value for values in under_way for value in values)
        around = [node for node, body in withs if _is_within(start, end, body)]
        managers = tuple(manager for node in around for manager in _managers(node, around, attempts))
        span = _span(start, end, statements)
        known = {"in_finally": bool(under_way), "returned": returned, "handlers": handlers, "managers": managers}
        if_raised = frozenset(name for body, names in going_on if _is_within(start, end, body) for name in names)
        spans.append(dataclasses.replace(span, **known, if_raised=if_raised))
    return sorted(spans, key=lambda span: (span.start, (-span.end[0], -span.end[1])))


def _read_if_raised(node: gast.Try | gast.TryStar, facts: dict[gast.AST, Facts]) -> frozenset[str]:
    """What the handlers of a `try` and its `finally` read, and what follows them."""
    suites = [*(handler.body for handler in node.handlers), node.finalbody]
    return frozenset().union(*(_first_read(suites, scope) for scope in facts.values()))


def _first_read(suites: list[list[gast.stmt]], facts: Facts) -> frozenset[str]:
    """What is read where these suites begin: of what we have put there nothing is known."""
    known = ([facts.live_before[one] for one in suite if one in facts.live_before] for suite in suites)
    return frozenset().union(*(first for first, *_ in filter(None, known)))


def _extent(node: Any) -> tuple[Position, Position]:
    start = (node.lineno, node.col_offset)
    return start, (node.end_lineno or start[0], node.end_col_offset or start[1])


def _end(statements: list[gast.stmt]) -> Position:
    """Where statements end; what has moved into functions stands inside of these."""
    return max(_ends(statements))


def _ends(statements: list[gast.stmt]) -> Iterator[Position]:
    nodes = (node for statement in statements for node in walk(statement))
    return (_extent(node)[1] for node in nodes if getattr(node, "lineno", None) is not None)


def _final(node: gast.Try | gast.TryStar) -> tuple[Position, Position]:
    """The extent of a `finally`: from the end of what is before it. What we have put there may stand for the whole `try`."""
    end = _end(node.finalbody)
    return max((own for own in _ends(_before_finally(node)) if own < end), default=_extent(node)[0]), end


def _before_finally(node: gast.Try | gast.TryStar) -> list[gast.stmt]:
    return [*node.body, *(statement for handler in node.handlers for statement in handler.body), *node.orelse]


def _is_within(start: Position, end: Position, extent: tuple[Position, Position]) -> bool:
    return extent[0] <= start and end <= extent[1]


def _returned(node: gast.Try | gast.TryStar) -> list[gast.expr]:
    """What is returned out of a `try`, so that its `finally` runs with that under way; of variables also what they got."""
    suites = [node.body, node.orelse, *(handler.body for handler in node.handlers)]
    nodes = [inner for suite in suites for statement in suite for inner in walk(statement)]
    found = [inner.value for inner in nodes if isinstance(inner, gast.Return) and inner.value is not None]
    assigns = [inner for inner in nodes if isinstance(inner, gast.Assign)]
    assigned = [(name.id, assign.value) for assign in assigns for name in _names_in(assign.targets)]
    known: frozenset[str] = frozenset()
    new = found
    while more := frozenset(name.id for name in _names_in(new)) - known:
        known |= more
        new = [value for name, value in assigned if name in more]
        found = [*found, *new]
    return found


def _names_in(values: list[gast.expr]) -> Iterator[gast.Name]:
    return (inner for value in values for inner in walk(value) if isinstance(inner, gast.Name))


def _caught(node: gast.Try | gast.TryStar, attempts: Collection[str]) -> list[str]:
    """What the handlers of a `try` catch. A `finally` that leaves ends every exception. An attempt knows itself."""
    if _attempt_of(node.body[0], attempts):
        return []
    everything = [""] if any(_leaves(inner) for s in node.finalbody for inner in walk_own(s)) else []
    return [emit.to_text(handler.type) if handler.type is not None else "" for handler in node.handlers] + everything


def _attempt_made(node: gast.Assign) -> Iterator[str]:
    """The variable of an attempt, where this is the statement that makes it."""
    if is_operator(getattr(node.value, "func", node), "attempt", "final"):
        yield from (target.id for target in node.targets if isinstance(target, gast.Name))


def _attempt_of(node: gast.AST, attempts: Collection[str]) -> str | None:
    context = node.items[0].context_expr if isinstance(node, gast.With) else None
    return context.id if isinstance(context, gast.Name) and context.id in attempts else None


def _with_extent(node: gast.With, attempts: Collection[str]) -> tuple[Position, Position]:
    """The extent of its body, from behind its first word: an attempt begins where its first statement does."""
    return (node.lineno, node.col_offset + (_attempt_of(node, attempts) is None)), _end(node.body)


def _managers(node: gast.With, around: list[gast.With], attempts: Collection[str]) -> Iterator[Manager]:
    """Those of a user's `with`; `around` are all around the statement."""
    if _attempt_of(node, attempts):
        return
    within = set(map(id, walk(node)))
    inside = frozenset(name for other in around if id(other) in within and (name := _attempt_of(other, attempts)))
    for item in node.items:
        match item.context_expr:
            case gast.Call(func=function) if is_operator(function, "Told"):
                continue
            case gast.NamedExpr(target=gast.Name(id=variable), value=value):
                manager = dataclasses.replace(_manager(value), variable=variable)
            case value:
                manager = _manager(value)
        target = item.optional_vars.id if isinstance(item.optional_vars, gast.Name) else ""
        yield dataclasses.replace(manager, target=target, inside=inside)


def _manager(value: gast.expr) -> Manager:
    match value:
        case gast.Call(func=gast.Call(func=function, args=[called])) as call if is_operator(function, "call"):
            arguments = tuple(map(emit.to_text, call.args))
            keywords = frozenset(k.arg for k in call.keywords if k.arg and getattr(k.value, "value", None) is not False)
            return Manager(function=emit.to_text(called), arguments=arguments, keywords=keywords)
        case gast.Name(id=variable):
            return Manager(variable, value=variable)
    return Manager(value=emit.to_text(value))


def _leaves(node: gast.AST) -> bool:
    """Is it a `return` of the user's? Of ours leaves what has failed."""
    return isinstance(node, gast.Return) and not (node.value is not None and is_operator(node.value, "failure"))


def _span(start: Position, end: Position, statements: list[tuple[gast.stmt, Facts]]) -> Span:
    """One statement of the user's; `y[0] = z[2] = x` has become three, which share its place."""
    # The first of several only takes the values: in a swap of rows, what it takes are views of what the others write.
    stores = statements[1:] or statements
    written = frozenset(name for statement, _ in stores for name in _rebound(statement))
    names = frozenset(name for statement, scope in statements for name in _names(statement, scope))
    roots = frozenset(name for statement, _ in statements for name in _roots(statement))
    return Span(start, end, names - written, roots, tuple(statement for statement, _ in statements))


def _rebound(statement: gast.stmt) -> frozenset[str]:
    return frozenset() if isinstance(statement, _COMPOUND) else writes(statement)


def _names(statement: gast.stmt, facts: Facts) -> frozenset[str]:
    if isinstance(statement, gast.For):  # it takes the next element before its body reads that
        after = _first_read([statement.body, statement.orelse], facts) - {name.id for name in _names_in([statement.target])}
        return facts.live_after[statement] | after | facts.escaping
    if isinstance(statement, _COMPOUND):
        inner = [*statement.body, *getattr(statement, "orelse", [])]
        after = frozenset(name for s in inner for name in facts.live_before.get(s, frozenset()))
        return facts.live_after[statement] | after | facts.escaping
    return facts.live_after[statement] | facts.escaping


def _roots(statement: gast.stmt) -> frozenset[str]:
    function = statement.value.func if isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Call) else None
    is_path = isinstance(function, gast.Attribute) and function.attr in ("set_path", "update_path")
    return writes(statement) if is_path else frozenset()
