"""Walking and rewriting a tree is the same as with gast's own walker, over modules of the standard library."""

from __future__ import annotations

import inspect
import textwrap

import gast
import pytest

from autograph_jax.syntax.walk import Rewriter, children, walk

MODULES = (inspect, textwrap)
BY_TYPE_ALONE = (gast.expr_context, gast.operator, gast.unaryop, gast.cmpop)  # and `and`, `or`, which say what a BoolOp is


def tree_of(module):
    return gast.parse(inspect.getsource(module))


def parts(nodes):
    return [node for node in nodes if not isinstance(node, (*BY_TYPE_ALONE, gast.boolop))]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_part_of_the_program_is_walked_in_order(module):
    tree = tree_of(module)
    assert parts(walk(tree)) == parts(gast.walk(tree))
    assert all(parts(children(node)) == parts(gast.iter_child_nodes(node)) for node in gast.walk(tree))


class Doubled(Rewriter):
    """Writes each `pass` twice, drops each `del`, and turns `1` into `2`."""

    def visit_Pass(self, node):
        return [node, gast.Pass()]

    def visit_Delete(self, node):
        return None

    def visit_Constant(self, node):
        return gast.Constant(2, None) if node.value == 1 else node


def test_a_method_answers_with_what_stands_there():
    tree = gast.parse("def f(x, y=1):\n    if x:\n        pass\n    del x\n    return {**y, 'a': [1, (3, 1)]}")
    assert (
        gast.unparse(Doubled().visit(tree)).split()
        == gast.unparse(
            gast.parse("def f(x, y=2):\n    if x:\n        pass\n        pass\n    return {**y, 'a': [2, (3, 2)]}")
        ).split()
    )


def test_a_subclass_has_methods_of_its_own():
    class Names(Doubled):
        def visit_Name(self, node):
            return gast.Name("z", node.ctx, None, None)

    assert "z" in gast.unparse(Names().visit(gast.parse("x + 1")))
    assert "x" in gast.unparse(Doubled().visit(gast.parse("x + 1")))
