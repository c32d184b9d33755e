"""Places that are written and are no variables, `o.a` and `x[i]`: their parts, and whether evaluating them has effects."""

from __future__ import annotations

import gast

from autograph_jax.analysis import writes
from autograph_jax.syntax import template
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_AT = Template("ag__.at[INDEX]")
_STEP_ATTR = Template("ag__.attr(NAME_)")
_STEP_LATER = Template("ag__.item_at(INDEX)")
_STEP_ITEM = Template("ag__.item[INDEX]")
_OLD = Template("ag__.read(OBJECT, PLACE)")
_CHECK_KEPT = Template("ag__.check_kept(BEFORE, OWNER, PLACE)")
_AUGMENT = Template("ag__.augment(OLD, SYMBOL, VALUE)")
_SYMBOLS = {
    gast.Add: "+=", gast.Sub: "-=", gast.Mult: "*=", gast.Div: "/=", gast.FloorDiv: "//=", gast.Mod: "%=",
    gast.Pow: "**=", gast.MatMult: "@=", gast.LShift: "<<=", gast.RShift: ">>=", gast.BitAnd: "&=",
    gast.BitOr: "|=", gast.BitXor: "^=",
}  # fmt: skip
Place = gast.Attribute | gast.Subscript


def places_of(target: gast.expr) -> list[Place]:
    return [n for n in walk(target) if isinstance(n, gast.Attribute | gast.Subscript) and isinstance(n.ctx, gast.Store)]


def has_effects(place: Place) -> bool:
    """Does a path of several steps assign a variable on the way? `d[(k := f())][k] = v`"""
    _, steps = path_of(place)
    return len(steps) > 1 and any(writes(step.slice) for step in steps if isinstance(step, gast.Subscript))


def is_pure_value(expression: gast.AST) -> bool:
    """Nothing is called in it, so that it can be evaluated a moment earlier or twice."""
    effects = (gast.Call, gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom, gast.Lambda)
    return not any(isinstance(node, effects) for node in walk(expression))


def is_fixed(index: gast.expr | gast.Slice) -> bool:
    """Names and numbers alone: evaluated once more it gives the same objects, whatever has been called meanwhile."""
    match index:
        case gast.Slice(lower=lower, upper=upper, step=step):
            return all(part is None or is_fixed(part) for part in (lower, upper, step))
        case gast.Tuple(elts=elements):
            return all(map(is_fixed, elements))
        case gast.UnaryOp(operand=operand):
            return isinstance(operand, gast.Constant)
    return isinstance(index, gast.Name | gast.Constant)


def is_pure(expression: gast.expr) -> bool:
    """A name, or attributes and constant items of one: evaluating it twice changes nothing."""
    if isinstance(expression, gast.Attribute):
        return is_pure(expression.value)
    if isinstance(expression, gast.Subscript):
        return is_pure(expression.value) and isinstance(expression.slice, gast.Name | gast.Constant)
    return isinstance(expression, gast.Name)


def writes_places(target: gast.expr) -> bool:
    return any(isinstance(node, gast.Attribute | gast.Subscript) and isinstance(node.ctx, gast.Store) for node in walk(target))


def path_of(target: gast.expr) -> tuple[gast.expr, list[Place]]:
    """`d['a'][i]` -> (d, [d['a'], d['a'][i]]): the root, and each step from it."""
    steps: list[Place] = []
    while isinstance(target, gast.Attribute | gast.Subscript):
        steps.append(target)
        target = target.value
    return target, steps[::-1]


def index_of(index: gast.expr | gast.Slice) -> gast.expr:
    """An index as an expression; `a:b` can only stand in brackets, so it is written `ag__.at[a:b]`."""
    if isinstance(index, gast.Slice) or any(isinstance(node, gast.Slice) for node in walk(index)):
        return _AT.expression(at=with_position(index), INDEX=index)
    return index


def with_position(index: gast.AST) -> gast.AST:
    return next((node for node in walk(index) if getattr(node, "lineno", None) is not None), index)


def as_load(expression: gast.expr) -> gast.expr:
    """A copy of a pure target expression, to be read."""
    if isinstance(expression, gast.Attribute):
        copy = gast.Attribute(as_load(expression.value), expression.attr, gast.Load())
    elif isinstance(expression, gast.Subscript):
        copy = gast.Subscript(as_load(expression.value), expression.slice, gast.Load())
    else:
        return expression
    return gast.copy_location(copy, expression)


def step_of(place: gast.expr) -> gast.expr:
    """The last step to a place, as a value: `ag__.attr('a')`, `ag__.item[i]`."""
    if isinstance(place, gast.Attribute):
        return _STEP_ATTR.expression(at=place, NAME_=template.constant(place.attr, at=place))
    assert isinstance(place, gast.Subscript)
    if is_pure_value(place.slice):
        return _STEP_ITEM.expression(at=place, INDEX=place.slice)
    # Evaluated when the path has come to it: `o.rows[f()] = v` reads o.rows before it calls f.
    return _STEP_LATER.expression(at=place, INDEX=template.lambda_of(index_of(place.slice), at=place))


def old_value(place: Place) -> gast.expr:
    """What an augmented assignment to a place starts from."""
    return _OLD.expression(at=place, OBJECT=as_load(place.value), PLACE=step_of(place))


def check_kept(before: gast.expr, now: gast.expr, node: gast.AST) -> gast.stmt:
    """A check that what was read of a place before is still there."""
    assert isinstance(now, Place)
    check = _CHECK_KEPT.expression(at=before, BEFORE=before, OWNER=as_load(now.value), PLACE=step_of(now))
    return template.expression_statement(check, at=node)


def augmented(old: gast.expr, node: gast.AugAssign, value: gast.expr) -> gast.expr:
    """What it leaves in the place."""
    return _AUGMENT.expression(at=old, OLD=old, SYMBOL=symbol_of(node), VALUE=value)


def symbol_of(node: gast.AugAssign) -> gast.expr:
    return template.constant(_SYMBOLS[type(node.op)], at=node)
