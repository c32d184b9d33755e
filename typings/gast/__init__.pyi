"""Types for pyright of gast, which makes its node classes when it is imported and so shows a type checker none of them.

Right for every Python that we run on: gast has the same nodes on all of them. Pyright finds this folder by its name.
"""

import ast
import builtins
from ast import AST as AST
from ast import TypeIgnore as TypeIgnore
from ast import boolop as boolop
from ast import cmpop as cmpop
from ast import excepthandler as excepthandler
from ast import expr as expr
from ast import expr_context as expr_context
from ast import iter_child_nodes as iter_child_nodes
from ast import iter_fields as iter_fields
from ast import mod as mod
from ast import operator as operator
from ast import pattern as pattern
from ast import slice as slice
from ast import stmt as stmt
from ast import unaryop as unaryop
from ast import walk as walk
from typing import Any
from typing import TypeVar as _TypeVar

_Node = _TypeVar("_Node", bound=AST)

# They are ast's, but ast's own stub says that `visit_Name` takes an ast.Name.
class NodeVisitor:
    def visit(self, node: AST) -> Any: ...
    def generic_visit(self, node: AST) -> Any: ...

class NodeTransformer(NodeVisitor):
    def generic_visit(self, node: AST) -> AST: ...

# Before Python 3.12, ast has none.
class type_param(AST):
    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int

class Module(mod):
    body: list[stmt]
    type_ignores: list[type_ignore]
    def __init__(self, body: list[stmt] = ..., type_ignores: list[type_ignore] = ..., **attributes: Any) -> None: ...

class Interactive(mod):
    body: list[stmt]
    def __init__(self, body: list[stmt] = ..., **attributes: Any) -> None: ...

class Expression(mod):
    body: expr
    def __init__(self, body: expr = ..., **attributes: Any) -> None: ...

class FunctionType(mod):
    argtypes: Any
    returns: Any
    def __init__(self, argtypes: Any = ..., returns: Any = ..., **attributes: Any) -> None: ...

class Suite(mod):
    body: list[stmt]
    def __init__(self, body: list[stmt] = ..., **attributes: Any) -> None: ...

class FunctionDef(stmt):
    name: str
    args: arguments
    body: list[stmt]
    decorator_list: list[expr]
    returns: Any
    type_comment: Any
    type_params: list[type_param]
    def __init__(self, name: str = ..., args: arguments = ..., body: list[stmt] = ..., decorator_list: list[expr] = ..., returns: Any = ..., type_comment: Any = ..., type_params: list[type_param] = ..., **attributes: Any) -> None: ...

class AsyncFunctionDef(stmt):
    name: str
    args: arguments
    body: list[stmt]
    decorator_list: list[expr]
    returns: Any
    type_comment: Any
    type_params: list[type_param]
    def __init__(self, name: str = ..., args: arguments = ..., body: list[stmt] = ..., decorator_list: list[expr] = ..., returns: Any = ..., type_comment: Any = ..., type_params: list[type_param] = ..., **attributes: Any) -> None: ...

class ClassDef(stmt):
    name: str
    bases: list[expr]
    keywords: list[keyword]
    body: list[stmt]
    decorator_list: list[expr]
    type_params: list[type_param]
    def __init__(self, name: str = ..., bases: list[expr] = ..., keywords: list[keyword] = ..., body: list[stmt] = ..., decorator_list: list[expr] = ..., type_params: list[type_param] = ..., **attributes: Any) -> None: ...

class Return(stmt):
    value: Any
    def __init__(self, value: Any = ..., **attributes: Any) -> None: ...

class Delete(stmt):
    targets: list[expr]
    def __init__(self, targets: list[expr] = ..., **attributes: Any) -> None: ...

class Assign(stmt):
    targets: list[expr]
    value: expr
    type_comment: Any
    def __init__(self, targets: list[expr] = ..., value: expr = ..., type_comment: Any = ..., **attributes: Any) -> None: ...

class TypeAlias(stmt):
    name: Name
    type_params: list[type_param]
    value: expr
    def __init__(self, name: Name = ..., type_params: list[type_param] = ..., value: expr = ..., **attributes: Any) -> None: ...

class AugAssign(stmt):
    target: Name | Attribute | Subscript
    op: operator
    value: expr
    def __init__(self, target: Name | Attribute | Subscript = ..., op: operator = ..., value: expr = ..., **attributes: Any) -> None: ...

class AnnAssign(stmt):
    target: Name | Attribute | Subscript
    annotation: expr
    value: Any
    simple: int
    def __init__(self, target: Name | Attribute | Subscript = ..., annotation: expr = ..., value: Any = ..., simple: int = ..., **attributes: Any) -> None: ...

class Print(stmt):
    dest: Any
    values: list[expr]
    nl: Any
    def __init__(self, dest: Any = ..., values: list[expr] = ..., nl: Any = ..., **attributes: Any) -> None: ...

class For(stmt):
    target: expr
    iter: expr
    body: list[stmt]
    orelse: list[stmt]
    type_comment: Any
    def __init__(self, target: expr = ..., iter: expr = ..., body: list[stmt] = ..., orelse: list[stmt] = ..., type_comment: Any = ..., **attributes: Any) -> None: ...

class AsyncFor(stmt):
    target: expr
    iter: expr
    body: list[stmt]
    orelse: list[stmt]
    type_comment: Any
    def __init__(self, target: expr = ..., iter: expr = ..., body: list[stmt] = ..., orelse: list[stmt] = ..., type_comment: Any = ..., **attributes: Any) -> None: ...

class While(stmt):
    test: expr
    body: list[stmt]
    orelse: list[stmt]
    def __init__(self, test: expr = ..., body: list[stmt] = ..., orelse: list[stmt] = ..., **attributes: Any) -> None: ...

class If(stmt):
    test: expr
    body: list[stmt]
    orelse: list[stmt]
    def __init__(self, test: expr = ..., body: list[stmt] = ..., orelse: list[stmt] = ..., **attributes: Any) -> None: ...

class With(stmt):
    items: list[withitem]
    body: list[stmt]
    type_comment: Any
    def __init__(self, items: list[withitem] = ..., body: list[stmt] = ..., type_comment: Any = ..., **attributes: Any) -> None: ...

class AsyncWith(stmt):
    items: list[withitem]
    body: list[stmt]
    type_comment: Any
    def __init__(self, items: list[withitem] = ..., body: list[stmt] = ..., type_comment: Any = ..., **attributes: Any) -> None: ...

class Match(stmt):
    subject: expr
    cases: list[match_case]
    def __init__(self, subject: expr = ..., cases: list[match_case] = ..., **attributes: Any) -> None: ...

class Raise(stmt):
    exc: Any
    cause: Any
    def __init__(self, exc: Any = ..., cause: Any = ..., **attributes: Any) -> None: ...

class Try(stmt):
    body: list[stmt]
    handlers: list[ExceptHandler]
    orelse: list[stmt]
    finalbody: list[stmt]
    def __init__(self, body: list[stmt] = ..., handlers: list[ExceptHandler] = ..., orelse: list[stmt] = ..., finalbody: list[stmt] = ..., **attributes: Any) -> None: ...

class TryStar(stmt):
    body: list[stmt]
    handlers: list[ExceptHandler]
    orelse: list[stmt]
    finalbody: list[stmt]
    def __init__(self, body: list[stmt] = ..., handlers: list[ExceptHandler] = ..., orelse: list[stmt] = ..., finalbody: list[stmt] = ..., **attributes: Any) -> None: ...

class Assert(stmt):
    test: expr
    msg: Any
    def __init__(self, test: expr = ..., msg: Any = ..., **attributes: Any) -> None: ...

class Import(stmt):
    names: list[alias]
    def __init__(self, names: list[alias] = ..., **attributes: Any) -> None: ...

class ImportFrom(stmt):
    module: Any
    names: list[alias]
    level: Any
    def __init__(self, module: Any = ..., names: list[alias] = ..., level: Any = ..., **attributes: Any) -> None: ...

class Exec(stmt):
    body: expr
    globals: Any
    locals: Any
    def __init__(self, body: expr = ..., globals: Any = ..., locals: Any = ..., **attributes: Any) -> None: ...

class Global(stmt):
    names: list[str]
    def __init__(self, names: list[str] = ..., **attributes: Any) -> None: ...

class Nonlocal(stmt):
    names: list[str]
    def __init__(self, names: list[str] = ..., **attributes: Any) -> None: ...

class Expr(stmt):
    value: expr
    def __init__(self, value: expr = ..., **attributes: Any) -> None: ...

class Pass(stmt):
    def __init__(self, **attributes: Any) -> None: ...

class Break(stmt):
    def __init__(self, **attributes: Any) -> None: ...

class Continue(stmt):
    def __init__(self, **attributes: Any) -> None: ...

class BoolOp(expr):
    op: boolop
    values: list[expr]
    def __init__(self, op: boolop = ..., values: list[expr] = ..., **attributes: Any) -> None: ...

class NamedExpr(expr):
    target: Name
    value: expr
    def __init__(self, target: Name = ..., value: expr = ..., **attributes: Any) -> None: ...

class BinOp(expr):
    left: expr
    op: operator
    right: expr
    def __init__(self, left: expr = ..., op: operator = ..., right: expr = ..., **attributes: Any) -> None: ...

class UnaryOp(expr):
    op: unaryop
    operand: expr
    def __init__(self, op: unaryop = ..., operand: expr = ..., **attributes: Any) -> None: ...

class Lambda(expr):
    args: arguments
    body: expr
    def __init__(self, args: arguments = ..., body: expr = ..., **attributes: Any) -> None: ...

class IfExp(expr):
    test: expr
    body: expr
    orelse: expr
    def __init__(self, test: expr = ..., body: expr = ..., orelse: expr = ..., **attributes: Any) -> None: ...

class Dict(expr):
    keys: list[expr | None]
    values: list[expr]
    def __init__(self, keys: list[expr | None] = ..., values: list[expr] = ..., **attributes: Any) -> None: ...

class Set(expr):
    elts: list[expr]
    def __init__(self, elts: list[expr] = ..., **attributes: Any) -> None: ...

class ListComp(expr):
    elt: expr
    generators: list[comprehension]
    def __init__(self, elt: expr = ..., generators: list[comprehension] = ..., **attributes: Any) -> None: ...

class SetComp(expr):
    elt: expr
    generators: list[comprehension]
    def __init__(self, elt: expr = ..., generators: list[comprehension] = ..., **attributes: Any) -> None: ...

class DictComp(expr):
    key: expr
    value: expr
    generators: list[comprehension]
    def __init__(self, key: expr = ..., value: expr = ..., generators: list[comprehension] = ..., **attributes: Any) -> None: ...

class GeneratorExp(expr):
    elt: expr
    generators: list[comprehension]
    def __init__(self, elt: expr = ..., generators: list[comprehension] = ..., **attributes: Any) -> None: ...

class Await(expr):
    value: expr
    def __init__(self, value: expr = ..., **attributes: Any) -> None: ...

class Yield(expr):
    value: Any
    def __init__(self, value: Any = ..., **attributes: Any) -> None: ...

class YieldFrom(expr):
    value: expr
    def __init__(self, value: expr = ..., **attributes: Any) -> None: ...

class Compare(expr):
    left: expr
    ops: list[cmpop]
    comparators: list[expr]
    def __init__(self, left: expr = ..., ops: list[cmpop] = ..., comparators: list[expr] = ..., **attributes: Any) -> None: ...

class Call(expr):
    func: expr
    args: list[expr]
    keywords: list[keyword]
    def __init__(self, func: expr = ..., args: list[expr] = ..., keywords: list[keyword] = ..., **attributes: Any) -> None: ...

class Repr(expr):
    value: expr
    def __init__(self, value: expr = ..., **attributes: Any) -> None: ...

class FormattedValue(expr):
    value: expr
    conversion: int
    format_spec: Any
    def __init__(self, value: expr = ..., conversion: int = ..., format_spec: Any = ..., **attributes: Any) -> None: ...

class Interpolation(expr):
    value: expr
    str: builtins.str
    conversion: int
    format_spec: Any
    def __init__(self, value: expr = ..., str: builtins.str = ..., conversion: int = ..., format_spec: Any = ..., **attributes: Any) -> None: ...

class JoinedStr(expr):
    values: list[expr]
    def __init__(self, values: list[expr] = ..., **attributes: Any) -> None: ...

class TemplateStr(expr):
    values: list[expr]
    def __init__(self, values: list[expr] = ..., **attributes: Any) -> None: ...

class Constant(expr):
    value: Any
    kind: str | None
    def __init__(self, value: Any = ..., kind: str | None = ..., **attributes: Any) -> None: ...

class Attribute(expr):
    value: expr
    attr: str
    ctx: expr_context
    def __init__(self, value: expr = ..., attr: str = ..., ctx: expr_context = ..., **attributes: Any) -> None: ...

class Subscript(expr):
    value: expr
    slice: expr | Slice
    ctx: expr_context
    def __init__(self, value: expr = ..., slice: expr | Slice = ..., ctx: expr_context = ..., **attributes: Any) -> None: ...

class Starred(expr):
    value: expr
    ctx: expr_context
    def __init__(self, value: expr = ..., ctx: expr_context = ..., **attributes: Any) -> None: ...

class Name(expr):
    id: str
    ctx: expr_context
    annotation: expr | None
    type_comment: Any
    def __init__(self, id: str = ..., ctx: expr_context = ..., annotation: expr | None = ..., type_comment: Any = ..., **attributes: Any) -> None: ...

class List(expr):
    elts: list[expr]
    ctx: expr_context
    def __init__(self, elts: list[expr] = ..., ctx: expr_context = ..., **attributes: Any) -> None: ...

class Tuple(expr):
    elts: list[expr]
    ctx: expr_context
    def __init__(self, elts: list[expr] = ..., ctx: expr_context = ..., **attributes: Any) -> None: ...

class Load(expr_context):
    def __init__(self, **attributes: Any) -> None: ...

class Store(expr_context):
    def __init__(self, **attributes: Any) -> None: ...

class Del(expr_context):
    def __init__(self, **attributes: Any) -> None: ...

class AugLoad(expr_context):
    def __init__(self, **attributes: Any) -> None: ...

class AugStore(expr_context):
    def __init__(self, **attributes: Any) -> None: ...

class Param(expr_context):
    def __init__(self, **attributes: Any) -> None: ...

class Slice(slice):
    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None
    lower: Any
    upper: Any
    step: Any
    def __init__(self, lower: Any = ..., upper: Any = ..., step: Any = ..., **attributes: Any) -> None: ...

class And(boolop):
    def __init__(self, **attributes: Any) -> None: ...

class Or(boolop):
    def __init__(self, **attributes: Any) -> None: ...

class Add(operator):
    def __init__(self, **attributes: Any) -> None: ...

class Sub(operator):
    def __init__(self, **attributes: Any) -> None: ...

class Mult(operator):
    def __init__(self, **attributes: Any) -> None: ...

class MatMult(operator):
    def __init__(self, **attributes: Any) -> None: ...

class Div(operator):
    def __init__(self, **attributes: Any) -> None: ...

class Mod(operator):
    def __init__(self, **attributes: Any) -> None: ...

class Pow(operator):
    def __init__(self, **attributes: Any) -> None: ...

class LShift(operator):
    def __init__(self, **attributes: Any) -> None: ...

class RShift(operator):
    def __init__(self, **attributes: Any) -> None: ...

class BitOr(operator):
    def __init__(self, **attributes: Any) -> None: ...

class BitXor(operator):
    def __init__(self, **attributes: Any) -> None: ...

class BitAnd(operator):
    def __init__(self, **attributes: Any) -> None: ...

class FloorDiv(operator):
    def __init__(self, **attributes: Any) -> None: ...

class Invert(unaryop):
    def __init__(self, **attributes: Any) -> None: ...

class Not(unaryop):
    def __init__(self, **attributes: Any) -> None: ...

class UAdd(unaryop):
    def __init__(self, **attributes: Any) -> None: ...

class USub(unaryop):
    def __init__(self, **attributes: Any) -> None: ...

class Eq(cmpop):
    def __init__(self, **attributes: Any) -> None: ...

class NotEq(cmpop):
    def __init__(self, **attributes: Any) -> None: ...

class Lt(cmpop):
    def __init__(self, **attributes: Any) -> None: ...

class LtE(cmpop):
    def __init__(self, **attributes: Any) -> None: ...

class Gt(cmpop):
    def __init__(self, **attributes: Any) -> None: ...

class GtE(cmpop):
    def __init__(self, **attributes: Any) -> None: ...

class Is(cmpop):
    def __init__(self, **attributes: Any) -> None: ...

class IsNot(cmpop):
    def __init__(self, **attributes: Any) -> None: ...

class In(cmpop):
    def __init__(self, **attributes: Any) -> None: ...

class NotIn(cmpop):
    def __init__(self, **attributes: Any) -> None: ...

class comprehension(AST):
    target: expr
    iter: expr
    ifs: list[expr]
    is_async: int
    def __init__(self, target: expr = ..., iter: expr = ..., ifs: list[expr] = ..., is_async: int = ..., **attributes: Any) -> None: ...

class ExceptHandler(excepthandler):
    type: expr | None
    name: Name | None
    body: list[stmt]
    def __init__(self, type: expr | None = ..., name: Name | None = ..., body: list[stmt] = ..., **attributes: Any) -> None: ...

class arguments(AST):
    args: list[Name]
    posonlyargs: list[Name]
    vararg: Name | None
    kwonlyargs: list[Name]
    kw_defaults: list[expr | None]
    kwarg: Name | None
    defaults: list[expr]
    def __init__(self, args: list[Name] = ..., posonlyargs: list[Name] = ..., vararg: Name | None = ..., kwonlyargs: list[Name] = ..., kw_defaults: list[expr | None] = ..., kwarg: Name | None = ..., defaults: list[expr] = ..., **attributes: Any) -> None: ...

class keyword(AST):
    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None
    arg: Any
    value: expr
    def __init__(self, arg: Any = ..., value: expr = ..., **attributes: Any) -> None: ...

class alias(AST):
    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None
    name: str
    asname: Any
    def __init__(self, name: str = ..., asname: Any = ..., **attributes: Any) -> None: ...

class withitem(AST):
    context_expr: expr
    optional_vars: Any
    def __init__(self, context_expr: expr = ..., optional_vars: Any = ..., **attributes: Any) -> None: ...

class match_case(AST):
    pattern: ast.pattern
    guard: expr | None
    body: list[stmt]
    def __init__(self, pattern: ast.pattern = ..., guard: expr | None = ..., body: list[stmt] = ..., **attributes: Any) -> None: ...

class MatchValue(pattern):
    value: expr
    def __init__(self, value: expr = ..., **attributes: Any) -> None: ...

class MatchSingleton(pattern):
    value: Any
    def __init__(self, value: Any = ..., **attributes: Any) -> None: ...

class MatchSequence(pattern):
    patterns: list[pattern]
    def __init__(self, patterns: list[pattern] = ..., **attributes: Any) -> None: ...

class MatchMapping(pattern):
    keys: list[expr]
    patterns: list[pattern]
    rest: Any
    def __init__(self, keys: list[expr] = ..., patterns: list[pattern] = ..., rest: Any = ..., **attributes: Any) -> None: ...

class MatchClass(pattern):
    cls: expr
    patterns: list[pattern]
    kwd_attrs: list[str]
    kwd_patterns: list[pattern]
    def __init__(self, cls: expr = ..., patterns: list[pattern] = ..., kwd_attrs: list[str] = ..., kwd_patterns: list[pattern] = ..., **attributes: Any) -> None: ...

class MatchStar(pattern):
    name: Any
    def __init__(self, name: Any = ..., **attributes: Any) -> None: ...

class MatchAs(pattern):
    pattern: Any
    name: Any
    def __init__(self, pattern: Any = ..., name: Any = ..., **attributes: Any) -> None: ...

class MatchOr(pattern):
    patterns: list[pattern]
    def __init__(self, patterns: list[pattern] = ..., **attributes: Any) -> None: ...

class type_ignore(TypeIgnore):
    def __init__(self, **attributes: Any) -> None: ...

class TypeVar(type_param):
    name: str
    bound: Any
    default_value: Any
    def __init__(self, name: str = ..., bound: Any = ..., default_value: Any = ..., **attributes: Any) -> None: ...

class ParamSpec(type_param):
    name: str
    default_value: Any
    def __init__(self, name: str = ..., default_value: Any = ..., **attributes: Any) -> None: ...

class TypeVarTuple(type_param):
    name: str
    default_value: Any
    def __init__(self, name: str = ..., default_value: Any = ..., **attributes: Any) -> None: ...

def parse(source: str | bytes, filename: str = ..., mode: str = ..., **options: Any) -> Module: ...
def ast_to_gast(node: ast.AST) -> Any: ...
def gast_to_ast(node: AST) -> Any: ...
def unparse(gast_obj: AST) -> str: ...
def dump(
    node: AST,
    annotate_fields: bool = ...,
    include_attributes: bool = ...,
    indent: int | str | None = ...,
    show_empty: bool = ...,
) -> str: ...
def literal_eval(node_or_string: str | AST) -> Any: ...
def get_docstring(node: AST, clean: bool = ...) -> str | None: ...
def get_source_segment(source: str, node: AST, *, padded: bool = ...) -> str | None: ...
def copy_location(new_node: _Node, old_node: AST) -> _Node: ...
def fix_missing_locations(node: _Node) -> _Node: ...
def increment_lineno(node: _Node, n: int = ...) -> _Node: ...
