"""Where `x[i]` may look something up in a table of Python's: questions that the expressions converter asks.

`b[i] - a[i] * cp[i - 1]` on parameters is numeric code and stays as it is. `x[i]`, with an index that is no constant and no
slice, becomes `ag__.get_item(x, i)` where
- x is a display, `{'a': 1.0, 'b': 2.0}[method]`, or the element itself is called, `steps[k](x)`;
- x is no variable of the function: a table of the module, `TABLE[method]`;
- x is an element of such a table, `rows[k][i]`;
- x is an attribute, `self.rates[i]`, but for those that arrays have: `x.T[i]`, `x.at[i]`;
- i is a list, `x[[j, k]]`, or has one in it, which NumPy's arrays take as an index and JAX's do not;
- x is a variable that the function assigns an array of NumPy's, `np.linspace(0, 1, n)[i]`;
- x is NumPy's `r_` or `c_`, which make an array of what stands in the brackets;
- x is a parameter that is declared to be one, `table: list[float]`;
- i is a variable that the function assigns None, or what `next(..., None)` gives, or has one in it;
- x, or i, is a variable that the function assigns such a thing: a tuple, list or dict, a comprehension, a string,
  one of several of these (`'a' if x > 0 else 'b'`), what `+` or `*` makes of them, a part or copy of one, or another such
  variable; or what a function gives that is not of NumPy's or JAX's arrays, or what any operator makes of that.

In ported code `x[i]` may be a list's element anywhere: `self.graph[node][i]`.

A comparison with a tuple, list or dict, or with such a variable, compares parts that may be traced: `(n, 2) == (3, 2)`. So does
one with an element of such a one, `path[0] == path[1]`, and `==` of two parameters with which nothing is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import gast

from autograph_jax.analysis.collect import parameters, scope_by_node, scopes_in
from autograph_jax.syntax.names import is_operator
from autograph_jax.syntax.walk import walk

_DISPLAYS = (gast.Tuple, gast.List, gast.Dict, gast.ListComp, gast.DictComp)
_MAKERS = frozenset({"list", "tuple", "dict", "sorted", "range"})
_TABLE_TYPES = frozenset("list tuple dict List Tuple Dict Sequence MutableSequence Mapping MutableMapping".split())
_FUNCTIONS = (gast.FunctionDef, gast.Lambda)
_OF_ARRAYS = frozenset({"T", "mT", "at", "shape", "strides", "real", "imag", "flat"})
_GIVING_ARRAYS = frozenset(
    """all any argmax argmin argsort astype clip conj conjugate cumprod cumsum diagonal dot flatten item max mean min prod ptp
    ravel repeat reshape round set add multiply divide power min max apply sort squeeze std sum swapaxes take trace transpose
    var view""".split()
)
_GIVING_NUMBERS = frozenset({"abs", "float", "int", "bool", "complex", "round", "len", "sum", "pow"})
_LIBRARIES = frozenset({"jnp", "np", "numpy", "jax", "lax", "scipy", "jsp", "math"})
_NUMPY = frozenset({"np", "numpy"})
_CONCATENATING = frozenset({"r_", "c_"})
Names = frozenset[str]
Test = Callable[[gast.AST, Names], bool]


class Tables:
    """The variables of a tree that may hold a tuple, list or dict, or a string that is looked up in one."""

    def __init__(self, tree: gast.AST, *, ported: bool = False) -> None:
        self._ported = ported
        nodes = walk(tree)
        kinds = {type(node) for node in nodes}
        self._tables = self._given = self._keys = self._numpys = self._nones = self._elements = self._plain = frozenset[str]()
        if kinds.isdisjoint((gast.Subscript, gast.Compare)):
            return  # nothing will be asked
        functions = [node for node in nodes if isinstance(node, _FUNCTIONS)]
        given = [parameter for function in functions for parameter in parameters(function)]
        self._bound = {parameter.id for parameter in given}
        self._bound |= {node.id for node in nodes if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load)}
        scopes = scope_by_node(scopes_in(tree)).values()
        self._bound |= {name for scope in scopes if scope.kind != "class" for name in scope.writes}
        pairs = list(assigned(nodes))
        declared = frozenset(one.id for one in given if _declares_table(one.annotation))
        self._tables = closure(pairs, self._is_table, declared)
        if gast.Subscript in kinds:
            self._given = closure(pairs, self._is_given)
            self._keys = closure(pairs, _is_string)
            self._numpys = closure(pairs, _is_numpys)
            self._nones = closure(pairs, _is_none)
        if gast.Compare in kinds:
            self._elements = closure(pairs, self._is_element)
            computing = (node for node in nodes if type(node) in _COMPUTING)
            operands = [part.id for node in computing for part in _operands(node) if isinstance(part, gast.Name)]
            self._plain = frozenset(parameter.id for parameter in given) - frozenset(operands)

    def is_lookup(self, node: gast.Subscript) -> bool:
        """Does this read an element of a table, or may it?"""
        container = node.value
        if not isinstance(node.ctx, gast.Load):
            return False
        if _concatenates(container) or self._ported and not isinstance(node.slice, gast.Constant):
            return True
        if _has_list(node.slice) or not self._nones.isdisjoint(_variables_in(node.slice)):
            return True
        is_table = isinstance(container, gast.Name) and container.id not in self._bound or _is_numpys(container, self._numpys)
        if _is_fixed(node.slice):
            is_part = _is_tuple(node.slice) and self._is_part(container)  # `memo[i, j]`
            is_table = is_table or isinstance(container, gast.Attribute) and self._is_given(container, self._given)
            return is_part or is_table and _has_variable(node.slice)
        if is_table:
            return True
        is_key = _is_string(node.slice, self._keys) or isinstance(node.slice, gast.expr) and self.may_be_table(node.slice)
        return is_key or self._is_part(container) or self._is_given(container, self._given) or _is_string(container, self._keys)

    def may_be_table(self, node: gast.expr) -> bool:
        """Is this a tuple, list or dict, or a variable that may hold one?"""
        return self._is_table(node, self._tables)

    def may_compare_tables(self, sides: Sequence[gast.expr], *, is_equality: bool) -> bool:
        """May one of these, which are compared, be a tuple, list or dict?"""
        if any(self.may_be_table(side) or self._is_element(side, self._elements) for side in sides):
            return True
        return is_equality and all(isinstance(side, gast.Name) and side.id in self._plain for side in sides)

    def _is_element(self, node: gast.AST, known: Names) -> bool:
        """Is this an element of a table, or a variable that may hold one? Such an element may be a tuple."""
        if isinstance(node, gast.Subscript):
            is_whole = self.may_be_table(node.value) or self._is_element(node.value, known)
            return is_whole and not isinstance(node.slice, gast.Slice)
        return _one_of(node, known, self._is_element)

    def _is_part(self, node: gast.expr) -> bool:
        """Is this a table, or an element of one?"""
        if isinstance(node, gast.Subscript):
            return not isinstance(node.slice, gast.Slice) and self._is_part(node.value)
        return self.may_be_table(node)

    def _is_table(self, node: gast.AST, known: Names) -> bool:
        match node:
            case gast.Call(func=gast.Name(id=name)):
                return name in _MAKERS and name not in self._bound or name[0].isupper()  # a class, perhaps a NamedTuple
            case gast.Call(func=gast.Attribute(value=owner, attr="copy")) if self._is_table(owner, known):
                return True
            case gast.Call(func=function):
                if is_operator(function, "view", "rows"):
                    return self._is_table(node.args[0], known)
                return is_operator(function, "kept_list", "growing")
            case gast.Subscript(slice=gast.Slice()):
                return self._is_table(node.value, known)
        return isinstance(node, _DISPLAYS) or _one_of(node, known, self._is_table)

    def _is_given(self, node: gast.AST, known: Names) -> bool:
        """Is this what a function gives, or an element or part of that or of a table? It may be a table, too."""
        match node:
            case gast.Call(func=gast.Name(id=name)):
                return name in self._bound or name not in _GIVING_NUMBERS
            case gast.Call(func=function) if is_operator(function):
                return is_operator(function, "view", "view_at") and self._is_given(node.args[0], known)
            case gast.Call(func=gast.Attribute(value=owner, attr=name)):
                return name not in _GIVING_ARRAYS and _root(owner) not in _LIBRARIES
            case gast.Attribute(attr=name):
                return name not in _OF_ARRAYS and not is_operator(node)
            case gast.Subscript():
                return self._is_given(node.value, known) or self.may_be_table(node.value)
            case gast.BinOp(left=left, right=right):  # an array of NumPy's, perhaps
                return self._is_given(left, known) or self._is_given(right, known)
            case gast.UnaryOp(operand=operand):
                return self._is_given(operand, known)
        return _one_of(node, known, self._is_given)


_COMPUTING = frozenset({gast.Compare, gast.BinOp, gast.AugAssign, gast.UnaryOp})


def _operands(node: gast.AST) -> list[gast.expr]:
    """What this computes with, if it does, or tells the order of, or compares with a constant."""
    match node:
        case gast.Compare(left=left, ops=symbols, comparators=others):
            is_order = any(isinstance(symbol, gast.Lt | gast.LtE | gast.Gt | gast.GtE) for symbol in symbols)
            sides = [left, *others]
            return sides if is_order or any(isinstance(side, gast.Constant) for side in sides) else []
        case gast.BinOp(left=left, right=right) | gast.AugAssign(target=left, value=right):
            return [left, right]
        case gast.UnaryOp(operand=operand):
            return [operand]
    return []


def _root(node: gast.AST) -> str | None:
    """The name that `a.b.c` begins with."""
    while isinstance(node, gast.Attribute):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None


def _is_string(node: gast.AST, known: Names) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, str | bytes) or _one_of(node, known, _is_string)


def _is_none(node: gast.AST, known: Names) -> bool:
    """Is this a variable that is None on some path?"""
    match node:
        case gast.Constant(value=None):
            return True
        case gast.Call(func=gast.Name(id="next"), args=[_, default]):
            return _is_none(default, known)
    return _one_of(node, known, _is_none)


def _variables_in(index: gast.AST) -> list[str]:
    """The variables that are indexes, or bounds of slices."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    bounds = [bound for part in parts if isinstance(part, gast.Slice) for bound in (part.lower, part.upper, part.step)]
    return [part.id for part in (*parts, *bounds) if isinstance(part, gast.Name)]


def _is_numpys(node: gast.AST, known: Names) -> bool:
    """Is this an array that NumPy makes, or a part of one? JAX's functions take a traced index of it, NumPy does not."""
    match node:
        case gast.Call(func=function) if is_operator(function):
            return is_operator(function, "view", "view_at", "call") and _is_numpys(node.args[0], known)
        case gast.Call(func=gast.Attribute() as function):
            return _root(function) in _NUMPY or _is_numpys(function.value, known)
        case gast.Subscript(value=whole) | gast.Attribute(value=whole):
            return _is_numpys(whole, known)
        case gast.BinOp(left=left, right=right):
            return _is_numpys(left, known) or _is_numpys(right, known)
        case gast.UnaryOp(operand=operand):
            return _is_numpys(operand, known)
    return _one_of(node, known, _is_numpys)


def _one_of(node: gast.AST, known: Names, test: Test) -> bool:
    """A variable that is known, or what may be one of several values: `a if c else b`, `a or b`, `a + b`."""
    match node:
        case gast.Name():
            return node.id in known
        case gast.IfExp():
            return test(node.body, known) or test(node.orelse, known)
        case gast.BoolOp():
            return any(test(value, known) for value in node.values)
        case gast.BinOp(op=gast.Add() | gast.Mult()):
            return test(node.left, known) or test(node.right, known)
        case gast.NamedExpr():
            return test(node.value, known)
    return False


def _declares_table(annotation: gast.AST | None) -> bool:
    """`list`, `list[float]`, `Sequence[float] | None`, `"dict[str, float]"`"""
    match annotation:
        case gast.Name(id=name) | gast.Attribute(attr=name):
            return name in _TABLE_TYPES
        case gast.Subscript(value=inner) | gast.BinOp(left=inner):
            return _declares_table(inner)
        case gast.Constant(value=str(text)):
            return text.partition("[")[0].strip() in _TABLE_TYPES
    return False


def closure(pairs: Sequence[tuple[str, gast.expr]], test: Test, known: Names = frozenset()) -> Names:
    """The variables that are assigned what passes a test, which may ask for those known so far, and these."""
    while more := {name for name, value in pairs if test(value, known)} - known:
        known |= more
    return known


def assigned(nodes: Sequence[gast.AST]) -> Iterator[tuple[str, gast.expr]]:
    """Each variable, with what is assigned to it somewhere among all nodes. Loops are functions of an element by now."""
    blocks = [node for node in nodes if isinstance(node, gast.FunctionDef)]  # several may have one name
    for node in nodes:
        if type(node) not in _ASSIGNING:
            continue
        match node:
            case gast.Call(func=function, args=[values, gast.Name(id=name), *_]) if is_operator(function, "for_stmt"):
                elements = [parameter for block in blocks if block.name == name for parameter in parameters(block)]
                yield from ((element.id, _element(values)) for element in elements)
            case gast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _paired(target, value)
            case gast.NamedExpr(target=target, value=value):
                yield from _paired(target, value)
            case gast.For(target=target, iter=values) | gast.comprehension(target=target, iter=values):
                yield from _paired(target, _element(values))


_ASSIGNING = frozenset({gast.Call, gast.Assign, gast.NamedExpr, gast.For, gast.comprehension})


def _paired(target: gast.expr, value: gast.expr) -> Iterator[tuple[str, gast.expr]]:
    match target:
        case gast.Name(id=name):
            yield name, value
        case gast.Starred(value=gast.Name(id=name)):
            yield name, gast.List([], gast.Load())
        case gast.Tuple(elts=parts) | gast.List(elts=parts):
            known = value.elts if isinstance(value, gast.Tuple | gast.List) else [_element(value)] * len(parts)
            for part, own in zip(parts, known, strict=False):
                yield from _paired(part, own)


def _element(values: gast.expr) -> gast.expr:
    """Any element of something."""
    return gast.Subscript(values, gast.Constant(0, None), gast.Load())


def _is_fixed(index: gast.AST) -> bool:
    """A constant, a slice, or several indexes: what arrays have."""
    inner = index.operand if isinstance(index, gast.UnaryOp) else index
    return isinstance(inner, gast.Constant | gast.Slice | gast.Tuple)


def _has_variable(index: gast.AST) -> bool:
    """Is there anything but constants among several indexes: `table[:, k]`?"""
    parts = index.elts if isinstance(index, gast.Tuple) else []
    return any(not isinstance(part, gast.Slice) and not _is_fixed(part) for part in parts)


def _is_tuple(index: gast.AST) -> bool:
    return isinstance(index, gast.Tuple) and not any(isinstance(part, gast.Slice) for part in index.elts)


def _has_list(index: gast.AST) -> bool:
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return any(isinstance(part, gast.List | gast.ListComp) for part in parts)


def _concatenates(node: gast.expr) -> bool:
    name = node.id if isinstance(node, gast.Name) else node.attr if isinstance(node, gast.Attribute) else ""
    return name in _CONCATENATING
