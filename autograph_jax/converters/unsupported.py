"""Functions that have to stay as they are: async functions, those that look at their own frame, and some generators."""

from __future__ import annotations

from collections.abc import Sequence

import gast

from autograph_jax.syntax.source import FunctionTree
from autograph_jax.syntax.walk import children

# These read the local variables of the calling frame, and a converted block is a frame of its own.
_FRAME_READERS = frozenset({"exec", "eval", "dir", "_getframe", "currentframe", "stack"})
_NEED_ARGUMENTS = frozenset({"dir"})  # with an argument it doesn't look at the frame
LOCAL_VARIABLES = frozenset({"locals", "vars"})  # without an argument; `local_variables` converts them

WAY_OUT = "move its control flow into a function of its own, and decorate that"

_WITH_A_SCOPE = frozenset({gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef})
_WITH_A_FRAME = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_AWAITING = (gast.Await, gast.AsyncFor, gast.AsyncWith)
_MAY_BE_A_REASON = frozenset({gast.Call, *_WITH_A_FRAME, *_AWAITING})  # what `reason_to_leave` asks about where nothing yields


def reason_to_leave(function: FunctionTree) -> tuple[str, gast.AST] | None:
    """Why a function cannot be converted without being noticed, and where; None where it can."""
    if isinstance(function, gast.AsyncFunctionDef):
        return "it is an async function", function
    nodes = own_nodes(function)
    has_yields = function.__dict__["yields"] = any(map(_is_yield, nodes))
    if isinstance(function, gast.Lambda) and has_yields:
        return "it is a generator", function
    if isinstance(function, gast.Lambda) and (looking := next(filter(looks_at_variables, nodes), None)):
        return "it is a lambda that asks for its variables", looking
    if not has_yields:
        nodes = [node for node in nodes if type(node) in _MAY_BE_A_REASON]
    for node in nodes:
        if has_yields and (yielding := next(filter(yields, _evaluated_later(node)), None)):
            return "it yields inside an expression", yielding
        if isinstance(node, _AWAITING):
            return "it awaits", node
        if isinstance(node, gast.Call) and (name := _called(node)) in _FRAME_READERS:
            if name not in _NEED_ARGUMENTS or not node.args:
                return f"it calls `{name}()`, which looks at the function's own frame", node
        if isinstance(node, _WITH_A_FRAME) and (
            looking := next(filter(looks_at_variables, _outside_of_functions([node])), None)
        ):
            return "it asks for the variables of a comprehension", looking
        if _is_bare_super(node) and deletes_first(function):
            return "it deletes the argument that `super()` reads", node
    return None


def looks_at_variables(node: gast.AST) -> bool:
    """Is this `locals()`, or `vars()` without an argument?"""
    if not isinstance(node, gast.Call) or node.args or node.keywords:
        return False
    return isinstance(node.func, gast.Name) and node.func.id in LOCAL_VARIABLES


def _is_bare_super(node: gast.AST) -> bool:
    return isinstance(node, gast.Call) and not node.args and isinstance(node.func, gast.Name) and node.func.id == "super"


def deletes_first(function: FunctionTree) -> bool:
    """Does a function delete its first argument, which `super()` reads?"""
    first = next(iter([*function.args.posonlyargs, *function.args.args]), None)
    deleted = [node for node in own_nodes(function) if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Del)]
    return first is not None and any(node.id == first.id for node in deleted)


def own_nodes(function: FunctionTree) -> list[gast.AST]:
    """Every node of a function that is not inside a nested function or class."""
    return _outside_of_functions(function.body if isinstance(function.body, list) else [function.body])


def is_generator(function: FunctionTree) -> bool:
    """Noted at the function where it is none: no pass makes one of it."""
    return function.__dict__.get("yields", True) and any(map(_is_yield, own_nodes(function)))


def yields(node: gast.AST) -> bool:
    """Does a `yield` stand in a statement or expression, for the function that it is part of?"""
    return any(map(_is_yield, _outside_of_functions([node])))


def _is_yield(node: gast.AST) -> bool:
    return isinstance(node, gast.Yield | gast.YieldFrom)


def _evaluated_later(node: gast.AST) -> Sequence[gast.AST]:
    """What becomes a lambda, or is evaluated in one: no `yield` can stand in it."""
    match node:
        case gast.IfExp():
            return [node.body, node.orelse]
        case gast.BoolOp():
            return node.values[1:]
        case gast.Compare():
            return node.comparators[1:]
        case gast.Assert():
            return [node.msg] if node.msg else []
        case gast.Assign():
            return node.targets
        case gast.AnnAssign():
            return [node.target]
        case gast.AugAssign():
            return [node.target] if isinstance(node.target, gast.Name) else [node.target, node.value]
    return []


def _outside_of_functions(nodes: Sequence[gast.AST]) -> list[gast.AST]:
    found = list(nodes)
    for node in found:  # which grows meanwhile
        if type(node) not in _WITH_A_SCOPE:
            found += children(node)
    return found


def _called(node: gast.Call) -> str | None:
    function = node.func
    if isinstance(function, gast.Name):
        return function.id if function.id not in ("stack",) else None
    return function.attr if isinstance(function, gast.Attribute) and function.attr.startswith(("_get", "cur")) else None
