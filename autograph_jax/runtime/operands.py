"""What a statement under way has read already, and holds while a call in it runs; and what it will read after the call.

s = x + fill(y) + z        x has been read while `fill` runs, and z will be
x -= fill(y)               x has been read
return (x, y), o.n         x, y and o.n, while a `finally` runs
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import gast

from autograph_jax.converters.views import VIEWS
from autograph_jax.operators import hooks
from autograph_jax.operators.tracing.bytecode import instruction_at
from autograph_jax.operators.tracing.operands import ELEMENT, OF_ITS_OWN, SLICE, Attr, Item, Operand, Result, Step, Variable
from autograph_jax.runtime.new_results import is_new
from autograph_jax.runtime.position import calls_after, extent_at, read_later, told_once
from autograph_jax.runtime.spans import Position
from autograph_jax.syntax.names import is_operator
from autograph_jax.syntax.walk import children, walk

_Extent = tuple[Position, Position]


@told_once
def operands(frame: types.FrameType) -> Sequence[Operand | Result]:
    """What the statement that a converted function is at has evaluated, and not used yet."""
    span, extent = read_later(frame), extent_at(frame)
    statements = span.statements if span is not None else ()
    roots = [node for statement in statements for node in children(statement) if isinstance(node, gast.expr)]
    is_taking = instruction_at(frame) == "FOR_ITER"
    found = [operand for root in roots for operand in _waiting(root, extent, is_taking=is_taking)]
    for statement in statements:
        if isinstance(statement, gast.AugAssign) and extent != _extent(statement):
            found += _value(statement.target)
    return found


@told_once
def unread(frame: types.FrameType) -> frozenset[str]:
    """The variables that the statement a converted function is at may read after the call that it is at."""
    span, extent = read_later(frame), extent_at(frame)
    statements = span.statements if span is not None else ()
    if any(_extent(statement) == extent for statement in statements):
        return frozenset()
    if made := _staged_around(statements, extent, frame):
        return frozenset().union(*(_reads(branch) for call in made for branch in call.args[1:]))
    return _read_after(statements, extent) or frozenset()


def _staged_around(statements: Iterable[gast.AST], extent: _Extent, frame: types.FrameType) -> list[Any]:
    """The `x[0] if f(x) else 0.0` whose test is the call that a frame is at: the operator stands there too, and comes later."""
    calls = (node for statement in statements for node in walk(statement) if isinstance(node, gast.Call))
    made = [call for call in calls if is_operator(call.func, "if_expr") and _own_extent(call) == extent]
    return made if made and calls_after(frame) else []


def _read_after(nodes: Iterable[gast.AST], extent: _Extent) -> frozenset[str] | None:
    """Of parts in the order of their evaluation: what is read after the call at this extent, None if it is in none of them."""
    found: frozenset[str] | None = None
    for node in nodes:
        if found is not None:
            found |= _reads(node)
        elif extent in (_extent(node), _own_extent(node)):
            found = frozenset()
        elif (found := _read_after(_evaluated(node), extent)) is not None:
            # What the loops of a comprehension take they give anew; what they have yet to take may be the same once more.
            again = [_targets(node), *map(_reads, children(node))] if _is_repeated(node, extent) else []
            found = found.union(*again) if again else found - _targets(node)
    return found


def _evaluated(node: Any) -> Iterable[gast.AST]:
    """The parts of a node in the order in which they are evaluated; no statements, which have spans of their own."""
    match node:
        case gast.Assign():
            return [node.value, *node.targets]
        case gast.Dict():
            return [part for pair in zip(node.keys, node.values, strict=True) for part in pair if part is not None]
        case gast.ListComp() | gast.SetComp() | gast.GeneratorExp():
            return [*node.generators, node.elt]
        case gast.DictComp():
            return [*node.generators, node.key, node.value]
        case gast.comprehension():
            return [node.iter, *node.ifs]
        case _:
            return [child for child in children(node) if not isinstance(child, gast.stmt)]


def _is_repeated(node: gast.AST, extent: _Extent) -> bool:
    """May the call run more than once while the node is evaluated?"""
    if isinstance(node, gast.ListComp | gast.SetComp | gast.DictComp | gast.GeneratorExp):
        return _read_after([node.generators[0].iter], extent) is None
    return isinstance(node, gast.While)


def _targets(node: Any) -> frozenset[str]:
    targets = (inner for generator in getattr(node, "generators", ()) for inner in walk(generator.target))
    return frozenset(inner.id for inner in targets if isinstance(inner, gast.Name))


def _reads(node: gast.AST) -> frozenset[str]:
    """The variables that are read in it; what a comprehension's own loops take are none."""
    if isinstance(node, gast.Name):
        return frozenset({node.id}) if isinstance(node.ctx, gast.Load) else frozenset()
    return frozenset().union(*map(_reads, children(node))) - _targets(node)


def returned(frame: types.FrameType) -> list[Operand | Result]:
    """What a `return` that is under way may return, where a converted function is at a `finally`."""
    span = read_later(frame)
    return [operand for value in (span.returned if span is not None else ()) for operand in _value(value)]


def _waiting(node: gast.AST, extent: _Extent, *, is_taking: bool = False) -> Iterator[Operand | Result]:
    """What of an expression has been evaluated when the call at this extent runs.

    `is_taking`: it is a comprehension in the frame itself, as from Python 3.12 on, which takes its next element there.
    """
    own = _extent(node)
    if own is None or own == extent or not _contains(own, extent):
        return
    if isinstance(node, gast.ListComp | gast.SetComp | gast.DictComp | gast.GeneratorExp):
        first = node.generators[0].iter
        if (place := _extent(first)) is not None and _contains(place, extent):  # the elements come after it
            yield from _waiting(first, extent)
            if is_taking and isinstance(made := getattr(node, "elt", None), gast.Name | gast.Tuple | gast.List):
                yield from _value(made)  # the one before
            return
        yield from _value(first)
    for child in children(node):
        place = _extent(child)
        if place is not None and place[1] <= extent[0]:
            yield from _value(child)
        else:
            yield from _waiting(child.value if isinstance(child, gast.keyword) else child, extent, is_taking=is_taking)


def _value(node: gast.AST) -> Iterator[Operand | Result]:
    """The variables, attributes and elements that the value of an expression is or contains."""
    match node:
        case gast.Name() | gast.Attribute() | gast.Subscript() if (operand := _path(node)) is not None:
            yield operand
        case gast.Attribute(attr=name) if name in OF_ITS_OWN:
            pass
        case gast.Attribute() | gast.Subscript():  # a part of what a call or a display gives
            yield from _value(node.value)
        case gast.Tuple() | gast.List() | gast.Set():
            for element in node.elts:
                yield from _value(element)
        case gast.Dict():
            for element in node.values:
                yield from _value(element)
        case gast.Starred() | gast.NamedExpr() | gast.keyword():
            yield from _value(node.value)
        case gast.IfExp():
            yield from _value(node.body)
            yield from _value(node.orelse)
        case gast.BoolOp():
            for value in node.values:
                yield from _value(value)
        case gast.Lambda():
            yield from _value(node.body)
        case gast.Call() if is_operator(node.func):  # what converters have put around the user's expression
            for argument in node.args:
                yield from _value(argument)
        case gast.Call():
            yield from _result(node)


def _result(call: gast.Call) -> Iterator[Operand | Result]:
    function: Any = call.func
    if isinstance(function, gast.Call) and is_operator(function.func, "call"):
        [function] = function.args
    if isinstance(function, gast.Attribute) and function.attr in VIEWS:
        yield from _value(function.value)
    given = [operand for argument in (*call.args, *call.keywords) for operand in _value(argument)]
    adds_lists = any(isinstance(argument, gast.List | gast.Tuple) for argument in call.args)  # whose sum has their elements
    yield Result(_path(function), tuple(given), (lambda _: False) if adds_lists else is_new)


def _path(node: gast.AST) -> Operand | None:
    steps: list[Step] = []
    while not isinstance(node, gast.Name):
        match node:
            case gast.Attribute():
                steps.append(Attr(node.attr))
            case gast.Subscript():
                steps += reversed(list(_indices(node.slice)))
            case _:
                return None
        node = node.value
    return Operand(node.id, tuple(reversed(steps)))


def _indices(index: gast.AST) -> Iterator[Step]:
    match index:
        case gast.Tuple():
            for part in index.elts:
                yield from _indices(part)
        case gast.Slice() | gast.Constant(value=None) | gast.Starred():
            yield SLICE
        case gast.Constant():
            yield SLICE if index.value is ... else Item(index.value)
        case gast.Name():
            yield Variable(index.id)
        case _:
            yield ELEMENT


def _contains(outer: _Extent, inner: _Extent) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _extent(node: Any) -> Any:
    """From where to where an expression of the user's stands; an operator around it stands where it does."""
    if isinstance(node, gast.keyword):
        return _extent(node.value)
    if isinstance(node, gast.Call) and is_operator(node.func):
        parts = [extent for argument in node.args if (extent := _extent(argument)) is not None]
        return (min(start for start, _ in parts), max(end for _, end in parts)) if parts else None
    return _own_extent(node)


def _own_extent(node: Any) -> Any:
    end = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
    return ((node.lineno, node.col_offset), end) if None not in end else None


hooks.operands = operands
hooks.unread = unread
hooks.returned = returned
