"""Functions that have to stay as they are: generators, async functions, and those that look at their own frame."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from autograph_jax.syntax.source import FunctionTree

# These read the local variables of the calling frame, and a converted block is a frame of its own.
_FRAME_READERS = frozenset({"locals", "exec", "eval", "vars", "dir", "_getframe", "currentframe", "stack"})
_NEED_ARGUMENTS = frozenset({"vars", "dir"})  # with an argument they don't look at the frame


def reason_to_leave(function: FunctionTree) -> tuple[str, gast.AST] | None:
    """Why a function cannot be converted without being noticed, and where; None where it can."""
    if isinstance(function, gast.AsyncFunctionDef):
        return "it is an async function", function
    for node in own_nodes(function):
        if isinstance(node, gast.Yield | gast.YieldFrom):
            return "it is a generator", node
        if isinstance(node, gast.Await | gast.AsyncFor | gast.AsyncWith):
            return "it awaits", node
        if isinstance(node, gast.Call) and (name := _called(node)) in _FRAME_READERS:
            if name not in _NEED_ARGUMENTS or not node.args:
                return f"it calls `{name}()`, which looks at the function's own frame", node
    return None


def own_nodes(function: FunctionTree) -> Iterator[gast.AST]:
    """Every node of a function that is not inside a nested function or class."""
    body = function.body if isinstance(function.body, list) else [function.body]
    pending: list[gast.AST] = list(body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda | gast.ClassDef):
            pending.extend(gast.iter_child_nodes(node))


def _called(node: gast.Call) -> str | None:
    function = node.func
    if isinstance(function, gast.Name):
        return function.id if function.id not in ("stack",) else None
    return function.attr if isinstance(function, gast.Attribute) and function.attr.startswith(("_get", "cur")) else None
