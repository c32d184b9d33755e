"""Variables that may hold an object that something else holds too: where that is an array of NumPy's, `y += v` shows there."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

import gast

from autograph_jax.analysis import Facts
from autograph_jax.converters.places import path_of
from autograph_jax.syntax.names import is_operator
from autograph_jax.syntax.walk import walk_own

_COMPUTED = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.JoinedStr, gast.Constant, gast.List, gast.Set, gast.Dict)
_IDENTITIES = (gast.Is, gast.IsNot, gast.In, gast.NotIn)
_KEEPING = frozenset({"append", "appendleft", "extend", "insert", "add", "put", "setdefault"})  # methods


def shared_names(function: gast.FunctionDef, facts: Facts) -> frozenset[str]:
    """Parameters, copies, what comes out of a container or a call, and what is put or handed into one. Not what counts."""
    nodes = [node for statement in function.body for node in walk_own(statement)]
    shared = {name for node in nodes for name in _shared(node, facts.bound)}
    copied = {name for name, others in facts.aliases.items() if others}
    return frozenset(shared | facts.parameters | copied).difference(*map(_numbers, nodes))


def _shared(node: gast.AST, bound: frozenset[str]) -> Iterator[str]:
    match node:
        case gast.Assign(targets=targets, value=value):
            if any(isinstance(target, gast.Attribute | gast.Subscript) for target in targets):
                yield from _names(value)
            if not _is_new(value, bound):
                yield from (name for target in targets for name in _names(target))
        case gast.AnnAssign(target=target, value=gast.AST() as value) | gast.NamedExpr(target=target, value=value):
            if isinstance(target, gast.Attribute | gast.Subscript):
                yield from _names(value)
            elif not _is_new(value, bound):
                yield from _names(target)
        case gast.For(target=target, iter=source):
            is_range = isinstance(source, gast.Call) and isinstance(source.func, gast.Name) and source.func.id == "range"
            yield from () if is_range else _names(target)
        case gast.withitem(optional_vars=gast.AST() as target):
            yield from _names(target)
        case gast.Call(args=arguments, keywords=keywords) if not _gives_new(node, bound):
            yield from (name for one in (*arguments, *(keyword.value for keyword in keywords)) for name in _names(one))
        case gast.List(ctx=gast.Load()) | gast.Set() | gast.Dict() | gast.Yield(value=gast.AST()):
            yield from _names(node)


def _names(expression: gast.AST) -> Iterator[str]:
    """The variables whose objects an expression has in it, or gives, or that a target takes."""
    match expression:
        case gast.Name(id=name):
            yield name
        case gast.Tuple(elts=parts) | gast.List(elts=parts) | gast.Set(elts=parts):
            yield from (name for part in parts for name in _names(part))
        case gast.Dict(values=parts) | gast.BoolOp(values=parts):
            yield from (name for part in parts for name in _names(part))
        case gast.IfExp(body=one, orelse=other):
            yield from (*_names(one), *_names(other))
        case gast.Starred(value=part) | gast.Yield(value=part):
            yield from _names(part)
        case gast.NamedExpr(target=target, value=value):
            yield from (*_names(target), *_names(value))


def _numbers(node: gast.AST) -> Iterator[str]:
    """The variables that can only be numbers, `while n < 9`, `range(n)`: an array is neither true nor false."""
    match node:
        case gast.If(test=test) | gast.While(test=test) | gast.IfExp(test=test) | gast.Assert(test=test):
            yield from _compared(test)
        case gast.Call(func=gast.Name(id="range"), args=arguments):
            yield from (one.id for one in arguments if isinstance(one, gast.Name))


def _compared(test: gast.AST) -> Iterator[str]:
    match test:
        case gast.BoolOp(values=parts):
            yield from (name for part in parts for name in _compared(part))
        case gast.UnaryOp(op=gast.Not(), operand=part):
            yield from _compared(part)
        case gast.Compare(left=left, ops=ops, comparators=others) if not any(isinstance(op, _IDENTITIES) for op in ops):
            yield from (part.id for part in (left, *others) if isinstance(part, gast.Name))


def _is_new(value: gast.AST, bound: frozenset[str]) -> bool:
    """Does an expression give an object that nobody has yet?"""
    match value:
        case gast.Call():
            return _gives_new(value, bound)
        case gast.IfExp(body=one, orelse=other):
            return _is_new(one, bound) and _is_new(other, bound)
        case gast.Tuple(elts=parts):
            return all(_is_new(part, bound) for part in parts)
    return isinstance(value, _COMPUTED)


def _gives_new(call: gast.Call, bound: frozenset[str]) -> bool:
    """Does a call give something new, and keep nothing? Functions of modules are taken to, and Python's own."""
    root, steps = path_of(call.func)
    if not isinstance(root, gast.Name) or root.id in bound or is_operator(call.func):
        return False
    if not steps:
        return hasattr(builtins, root.id)
    last = steps[-1]
    return isinstance(last, gast.Attribute) and last.attr not in _KEEPING
