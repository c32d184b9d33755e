"""What all passes share: classes inside a function, and functions that cannot be converted, are left alone."""

from __future__ import annotations

import gast

from autograph_jax.converters.unsupported import reason_to_leave
from autograph_jax.syntax.walk import Rewriter


class Pass(Rewriter):
    """A rewriting of every function in a tree that can be converted; a pass defines `function`."""

    def visit_ClassDef(self, node: gast.ClassDef) -> gast.AST:
        return node  # its methods are converted when they are called

    def visit_AsyncFunctionDef(self, node: gast.AsyncFunctionDef) -> gast.AST:
        return node

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        return node if _is_left(node) else self.function(node)

    def function(self, node: gast.FunctionDef) -> gast.AST:
        return self.generic_visit(node)


def surely_converted(function: gast.AST) -> None:
    """Nobody need ask of a function that has been asked about, or that a pass makes of parts of one that is converted."""
    function.__dict__["is_left"] = False


def _is_left(function: gast.FunctionDef) -> bool:
    """Noted at the function the first time: what a pass makes of it is no reason to leave it, and every pass asks."""
    if "is_left" not in function.__dict__:
        function.__dict__["is_left"] = reason_to_leave(function) is not None
    return function.__dict__["is_left"]
