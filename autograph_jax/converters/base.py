"""What all passes share: classes inside a function, and functions that cannot be converted, are left alone."""

from __future__ import annotations

import gast

from autograph_jax.converters.unsupported import reason_to_leave


class Pass(gast.NodeTransformer):
    """A rewriting of every function in a tree that can be converted; a pass defines `function`."""

    def visit_ClassDef(self, node: gast.ClassDef) -> gast.AST:
        return node  # its methods are converted when they are called

    def visit_AsyncFunctionDef(self, node: gast.AsyncFunctionDef) -> gast.AST:
        return node

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        return self.function(node) if reason_to_leave(node) is None else node

    def function(self, node: gast.FunctionDef) -> gast.AST:
        return self.generic_visit(node)
