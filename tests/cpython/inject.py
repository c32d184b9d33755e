"""Modules named here are compiled with `@autograph` on every function that they define, as if their author had written it."""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import sys
import types
from collections.abc import Callable, Collection
from typing import Any

_NAME = "__convert__"  # what the decorator is called in the modules; not private, so that classes do not mangle it
Decorate = Callable[[types.FunctionType], types.FunctionType]


def install(modules: Collection[str], decorate: Decorate) -> None:
    """From now on these modules, imported anew, have each function decorated; so have the examples of doctests."""
    setattr(builtins, _NAME, decorate)
    for name in modules:  # before `tokenize` is imported anew: Python reads source through it
        if (origin := _origin(name)) is not None:
            linecache.getlines(origin)
    for name in [name for name in sys.modules if any(_together(name, module) for module in modules)]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder(frozenset(modules)))
    for name in modules:
        if not name.startswith("test.") and importlib.util.find_spec(name) is not None:
            importlib.import_module(name)  # doctests look modules up by name
    import doctest

    doctest.compile = compile_decorated  # type: ignore[attr-defined] - a global of the module hides the builtin


def _origin(name: str) -> str | None:
    spec = importlib.util.find_spec(name)
    return spec.origin if spec is not None else None


def _together(name: str, module: str) -> bool:
    """Are these of one package, whose modules hold what others of them define?"""
    root = module.partition(".")[0]
    return name == module or root != "test" and name.startswith(f"{root}.") or name == root != "test"


class _Finder(importlib.abc.MetaPathFinder):
    """Finds what Python's own finder finds, with our loader."""

    def __init__(self, modules: frozenset[str]) -> None:
        self._modules = modules

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._modules:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(fullname, spec.loader.path)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles the source each time: a .pyc holds the functions as they were written."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        return compile_decorated(self.get_data(path), path, "exec", dont_inherit=True)


def compile_decorated(source: Any, filename: str, mode: str, flags: int = 0, dont_inherit: bool = True) -> Any:
    """`compile`, with the decorator written to each function and lambda; lines and columns stay those of the source."""
    tree = compile(source, filename, mode, flags | ast.PyCF_ONLY_AST, dont_inherit)
    return compile(_Decorating().visit(tree), filename, mode, flags, dont_inherit)


class _Decorating(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.decorator_list.append(_name(node))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.generic_visit(node)
        return ast.copy_location(ast.Call(_name(node), [node], []), node)


def _name(at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(_NAME, ast.Load()), at)
