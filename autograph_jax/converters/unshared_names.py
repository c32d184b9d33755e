"""Variables whose object nothing else holds: numbers and results of arithmetic, with which a function only computes.

`y += v` of any other variable has to show in what else holds y's object, where that is an array of NumPy's.
"""

from __future__ import annotations

import gast

from autograph_jax.converters.places import path_of
from autograph_jax.syntax.walk import children, walk

_COMPUTED = (gast.Constant, gast.BinOp, gast.UnaryOp, gast.Compare)
_COMPUTING = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.AugAssign, gast.If, gast.While, gast.Assert, gast.FormattedValue)
_GIVING_NUMBERS = frozenset({"abs", "all", "any", "bool", "complex", "float", "int", "len", "pow", "round"})
_FUNCTIONS = _GIVING_NUMBERS | {"print", "range"}
_MODULES = frozenset({"jax", "jnp", "lax", "math"})  # whose functions keep nothing, and give no views of NumPy's


def unshared_names(function: gast.FunctionDef) -> frozenset[str]:
    """Those of a function and of the functions inside it."""
    nodes = walk(function)
    found = _Found(ends_by_return=not any(isinstance(node, gast.Try) for node in nodes))
    for node in nodes:
        found.look(node)
    return frozenset(found.computed - found.shared)


class _Found:
    def __init__(self, *, ends_by_return: bool) -> None:
        returns = (gast.Return,) if ends_by_return else ()  # nothing is done after it
        self._computing = (*_COMPUTING, *returns, gast.Delete)
        self._plain: set[int] = set()  # by id: tuples and keywords that stand where a variable may
        self.computed: set[str] = set()
        self.shared: set[str] = set()

    def look(self, node: gast.AST) -> None:
        """What stands in a node, which comes before those in it."""
        if isinstance(node, gast.arguments):
            several = [one for one in (node.vararg, node.kwarg) if one is not None]
            self.shared.update(name.id for name in (*node.args, *node.posonlyargs, *node.kwonlyargs, *several))
        for part in children(node):
            if not isinstance(part, gast.Name):
                if isinstance(part, gast.Tuple | gast.Slice | gast.keyword) and self._is_plain(node, part):
                    self._plain.add(id(part))
            elif self._is_plain(node, part):
                self.computed.update(() if isinstance(part.ctx, gast.Load) else (part.id,))
            else:
                self.shared.add(part.id)

    def _is_plain(self, node: gast.AST, part: gast.AST) -> bool:
        """Is what stands here only computed with, or given to the caller at the end; or takes it something new?"""
        match node:
            case gast.Assign(targets=targets, value=value) if part is not value:
                return _is_new(value) and all(isinstance(one, gast.Name) or _fits(one, value) for one in targets)
            case gast.AnnAssign(value=value) if part is not value:
                return value is None or _is_new(value)
            case gast.For(target=target, iter=gast.Call(func=gast.Name(id="range"))):
                return part is target
            case gast.Call(func=function):
                root, steps = path_of(function)
                return part is not function and isinstance(root, gast.Name) and root.id in (_MODULES if steps else _FUNCTIONS)
            case gast.Subscript(value=container):
                return part is not container
            case gast.IfExp(test=test):
                return part is test
        return id(node) in self._plain or isinstance(node, self._computing)


def _is_new(value: gast.AST) -> bool:
    """Does an expression give a number, or what arithmetic makes?"""
    if isinstance(value, gast.Tuple):
        return all(map(_is_new, value.elts))
    if isinstance(value, gast.Call):
        return isinstance(value.func, gast.Name) and value.func.id in _GIVING_NUMBERS
    return isinstance(value, _COMPUTED)


def _fits(target: gast.AST, value: gast.AST) -> bool:
    """`a, b = 0, 1`"""
    return isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple) and len(target.elts) == len(value.elts)
