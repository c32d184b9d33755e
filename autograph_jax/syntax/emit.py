"""A converted tree becomes a code object in the user's own file, a function around it, or text."""

from __future__ import annotations
import __future__

import ast
import inspect
import types
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import gast

from autograph_jax.syntax.translation import to_ast

_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_LAMBDA = "<lambda>"


def to_text(tree: gast.AST) -> str:
    """The tree as Python text, one statement a line."""
    return ast.unparse(to_ast(tree))


def to_code(
    tree: gast.AST, original: types.CodeType, *, namespace: str, operators: object, blocks: Collection[str] = ()
) -> types.CodeType:
    """Compile a converted function or lambda to a code object that stands where the original stands.

    Its free variables are the original's: what the tree names `namespace` is a constant, `operators`. Functions named in
    `blocks` are pieces of the user's function: they take its name, so that a traceback reads as before.
    """
    factory = _factory(to_ast(tree, {namespace: _PLACE}), original.co_freevars)
    flags = original.co_flags & _FUTURE
    module = compile(factory, original.co_filename, "exec", flags=flags, dont_inherit=True)
    outer = _find(module, "factory")
    code = _find(outer, tree.name if isinstance(tree, gast.FunctionDef) else _LAMBDA)
    # Where the user has no lambda, each lambda stands for a piece of the function too.
    own_lambda = original.co_name == _LAMBDA or any(c.co_name == _LAMBDA for c in _inside(original))
    code = _as_original(code, original, frozenset(blocks) | (frozenset() if own_lambda else {_LAMBDA}))
    awaitable = original.co_flags & inspect.CO_ITERABLE_COROUTINE  # of a generator, set by `types.coroutine`
    return _with_constant(code.replace(co_flags=code.co_flags | awaitable), operators)


# Stands for the operators while the compiler runs, which takes no objects of ours; nobody can write a frozenset like this.
_PLACE: Any = frozenset({"ag__ of autograph_jax"})


def _with_constant(code: types.CodeType, operators: object) -> types.CodeType:
    inner = [_with_constant(c, operators) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return code.replace(co_consts=tuple(operators if constant == _PLACE else constant for constant in inner))


def uses(code: types.CodeType, operators: object) -> bool:
    """Does a converted code object need any operator, or is it what it was?"""
    return any(constant is operators for inner in (code, *_inside(code)) for constant in inner.co_consts)


def _factory(node: Any, free: Sequence[str]) -> ast.Module:
    """`def factory(a, b): def f(...): ...`: the free names are parameters, so that the compiler makes cells."""
    node.args.defaults = []
    node.args.kw_defaults = [None] * len(node.args.kwonlyargs)
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    if isinstance(node, ast.Lambda):
        body: ast.stmt = ast.copy_location(ast.Expr(node), node)
    else:
        node.returns, node.type_params, body = None, [], node  # a type parameter is a variable around the function
        # A decorated function's first line is its decorator's. The factory never runs, so anything will do.
        node.decorator_list = [ast.copy_location(ast.Constant(None), d) for d in node.decorator_list[:1]]
    module = ast.parse("def factory(): pass")
    definition = module.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.args.args = [ast.copy_location(ast.arg(name), definition) for name in free]
    # Without this, `def power(x, n): return x * power(x, n - 1)` would find itself in the factory, not among the globals.
    if isinstance(node, ast.FunctionDef) and node.name not in free:
        definition.body = [ast.copy_location(ast.Global([node.name]), definition), body]
    else:
        definition.body = [body]
    return module


def _find(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)


def is_class(code: types.CodeType) -> bool:
    """Is this the body of a class statement?"""
    return not code.co_flags & inspect.CO_OPTIMIZED


def _inside(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _inside(constant)


def _as_original(code: types.CodeType, original: types.CodeType, blocks: frozenset[str]) -> types.CodeType:
    return _renamed(code, original.co_name, original.co_qualname, blocks)


def _renamed(code: types.CodeType, name: str, qualname: str, blocks: frozenset[str]) -> types.CodeType:
    """Give a code object and those inside it the names that they have in the user's source."""
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            is_block = constant.co_name in blocks
            inner_name = name if is_block else constant.co_name
            inner = qualname if is_block else _inner_qualname(constant, inner_name, code, qualname)
            constant = _renamed(constant, inner_name, inner, blocks)
        elif is_class(code) and constant == code.co_qualname:
            constant = qualname  # which the class gets as its `__qualname__`
        constants.append(constant)
    return code.replace(co_consts=tuple(constants), co_name=name, co_qualname=qualname)


def _inner_qualname(inner: types.CodeType, name: str, around: types.CodeType, qualname: str) -> str:
    if not inner.co_qualname.startswith(f"{around.co_qualname}."):
        return inner.co_qualname  # `global helper` before `def helper`
    between = inner.co_qualname.removeprefix(around.co_qualname).removesuffix(inner.co_name)  # `.` or `.<locals>.`
    return f"{qualname}{between}{name}"


def to_function(code: types.CodeType, original: types.FunctionType) -> types.FunctionType:
    """A function of converted code that shares the original's globals, closure cells, defaults and metadata."""
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars) or None
    function = types.FunctionType(code, original.__globals__, original.__name__, original.__defaults__, closure)
    function.__kwdefaults__ = original.__kwdefaults__
    function.__annotations__ = original.__annotations__
    function.__doc__, function.__module__ = original.__doc__, original.__module__
    function.__qualname__ = original.__qualname__
    function.__dict__.update(original.__dict__)
    if hasattr(original, "__type_params__"):  # Python 3.12 and later
        function.__type_params__ = original.__type_params__
    return function
