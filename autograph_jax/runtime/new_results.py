"""Is what a function gives new, or may it be what others hold: an argument, a part of one, what its closure keeps?

Asked where a statement has called a function, and a later call in the same statement writes an array in place.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Mapping
from typing import Any

import gast
import jax.numpy as jnp

from autograph_jax.converters.views import KEEP_NOTHING, VIEWS
from autograph_jax.errors import SourceError
from autograph_jax.runtime.calls import gives_view
from autograph_jax.runtime.convert import conversion_of_code
from autograph_jax.runtime.libraries import is_array_library
from autograph_jax.syntax.source import source_of
from autograph_jax.syntax.walk import walk

_HANDS_ON = frozenset({jnp.asarray, jnp.nan_to_num, jnp.array})  # they may give their argument itself


def is_new(function: Any) -> bool:
    """Does a call of this function surely give something that nobody else holds?"""
    if isinstance(function, types.MethodType):
        return is_new(function.__func__)
    if isinstance(function, types.BuiltinFunctionType | type):
        return getattr(function, "__module__", None) == "builtins" and function.__name__ in KEEP_NOTHING
    if is_array_library(getattr(function, "__module__", None)):
        return not (gives_view(function) or function in _HANDS_ON)
    return isinstance(function, types.FunctionType) and _returns_new(function)


def _returns_new(function: types.FunctionType) -> bool:
    conversion = conversion_of_code(function.__code__)
    try:
        source = conversion.source if conversion is not None else source_of(function)
    except SourceError:
        return False
    return source is not None and _Returns(source.tree, function.__globals__).new


class _Returns:
    """What the `return` statements of a function give."""

    def __init__(self, tree: Any, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace
        self._bindings: dict[
            str, list[Any]
        ] = {}  # what a variable is assigned; None where that is not an expression of its own
        self._pending: set[str] = set()
        for node in walk(tree):
            if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
                self._bindings.setdefault(node.id, []).append(None)
        for node in walk(tree):
            if isinstance(node, gast.Assign | gast.AugAssign | gast.AnnAssign):
                for target in node.targets if isinstance(node, gast.Assign) else [node.target]:
                    if isinstance(target, gast.Name) and node.value is not None:
                        bindings = self._bindings[target.id]
                        bindings[bindings.index(None)] = target if isinstance(node, gast.AugAssign) else node.value
        gives = [tree.body] if isinstance(tree, gast.Lambda) else [n.value for n in walk(tree) if isinstance(n, gast.Return)]
        yields = any(isinstance(node, gast.Yield | gast.YieldFrom | gast.Await) for node in walk(tree))
        self.new = not yields and all(value is None or self._is_new(value) for value in gives)

    def _is_new(self, value: Any) -> bool:
        match value:
            case gast.BinOp() if any(map(self._is_list, (value.left, value.right))):
                return False
            case gast.Constant() | gast.BinOp() | gast.UnaryOp() | gast.Compare() | gast.JoinedStr():
                return True
            case gast.Tuple() | gast.List() | gast.Set():
                return all(map(self._is_new, value.elts))
            case gast.IfExp():
                return self._is_new(value.body) and self._is_new(value.orelse)
            case gast.BoolOp():
                return all(map(self._is_new, value.values))
            case gast.Subscript() | gast.Attribute():
                return self._is_new(value.value)
            case gast.Name():
                return self._variable_is_new(value.id)
            case gast.Call():
                return self._call_is_new(value)
        return False

    def _is_list(self, value: Any) -> bool:
        """Is it surely a list or tuple, which keeps what it is made of?"""
        bindings = self._bindings.get(value.id, []) if isinstance(value, gast.Name) else [value]
        return any(isinstance(binding, gast.List | gast.Tuple | gast.ListComp) for binding in bindings)

    def _variable_is_new(self, name: str) -> bool:
        if name in self._pending:  # `s = s + x`: what else it is assigned decides
            return True
        self._pending.add(name)
        bindings = self._bindings.get(name, [None])
        return all(self._is_new(value) and not isinstance(value, gast.List | gast.Set) for value in bindings)  # `s.append(x)`

    def _call_is_new(self, call: gast.Call) -> bool:
        """Only of Python's functions and of array libraries: others may call each other."""
        function: Any = call.func
        if isinstance(function, gast.Attribute) and function.attr in VIEWS:
            return self._is_new(function.value)
        names: list[str] = []
        while isinstance(function, gast.Attribute):
            names.insert(0, function.attr)
            function = function.value
        if not isinstance(function, gast.Name) or function.id in self._bindings:
            return False
        found = self._namespace.get(function.id, getattr(builtins, function.id, None))
        for name in names:
            found = getattr(found, name, None) if isinstance(found, types.ModuleType) else None
        module = getattr(found, "__module__", None)
        return (module == "builtins" or is_array_library(module)) and is_new(found)
