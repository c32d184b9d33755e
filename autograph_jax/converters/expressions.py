"""and, or, not, comparisons, `a if c else b`, `table[k]`, f-strings become operators, and calls ag__.call.

Before:
    a = x if x > 0 and g(x) else -x
    b = 0 < x < 1 or x is None
    c = (x, 1) == (2, 1) and {'a': 1, 'b': 2}[x] > 1
    d = x > 1 and (y := x * 2) > 3

After:
    a = ag__.if_expr(ag__.and_(x > 0, lambda: ag__.call(g)(x)), lambda: x, lambda: -x)
    b = ag__.or_(ag__.compare(0, '<', x, '<', lambda: 1), lambda: ag__.is_(x, None))
    c = ag__.and_(ag__.compare((x, 1), '==', (2, 1)), lambda: ag__.get_item({'a': 1, 'b': 2}, x) > 1)
    def operand():
        nonlocal y
        return (y := (x * 2)) > 3
    d = ag__.and_(x > 1, operand, binds=('y',))

What Python may leave out is handed over as a lambda, or as a function before the statement where it has a walrus.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import gast

from autograph_jax.analysis import Facts, writes
from autograph_jax.analysis.collect import parameters
from autograph_jax.converters import walrus
from autograph_jax.converters.base import Pass
from autograph_jax.converters.places import index_of
from autograph_jax.converters.tables import Tables
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names, is_operator
from autograph_jax.syntax.template import Template

_CALL = Template("ag__.call(FUNCTION)")
_IF_EXPR = Template("ag__.if_expr(TEST, THEN, OTHERWISE, BINDS)")
_BOOL = Template("ag__.OPERATOR(FIRST, OTHERS)")
_NOT = Template("ag__.not_(VALUE)")
_COMPARE = Template("ag__.compare(PARTS)")
_BINARY = Template("ag__.OPERATOR(LEFT, RIGHT)")
_GET_ITEM = Template("ag__.get_item(CONTAINER, INDEX)")
_OPERAND = Template("""
    def NAME_():
        global GLOBALS
        nonlocal NONLOCALS
        BODY
""")
_RETURN = Template("return VALUE")
_DECLARE = Template("NAME_: ...")
_BOUND = Template("ag__.bound(NAME_, VALUE)")
_CAPTURED = Template("ag__.captured(NAME_, VALUE)")
_IF_BOUND = Template("ag__.if_bound(NAME_, VALUE)")
_SYMBOLS = {
    gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">=", gast.Eq: "==", gast.NotEq: "!=",
    gast.Is: "is", gast.IsNot: "is not", gast.In: "in", gast.NotIn: "not in",
}  # fmt: skip
_EQUALITIES = (gast.Eq, gast.NotEq)  # in ported code of what may be None: `alpha == cached[0]`
_SINGLE = {gast.Is: "is_", gast.IsNot: "is_not", gast.In: "in_", gast.NotIn: "not_in"}


_TEXT = Template("ag__.text(PARTS)")
_FIELD = Template("ag__.field(VALUE, CONVERSION, SPEC)")
_PERCENT = Template("ag__.percent(TEMPLATE, VALUES)")
_PERCENT_IN_PLACE = Template("ag__.percent_in_place(TEMPLATE, VALUES)")
_FORMS = (gast.Name, gast.Attribute, gast.BinOp, gast.Subscript, gast.Call)  # what may give the form of a text
_OF_OBJECT = {
    "__class__": Template("ag__.class_of(VALUE)"),
    "__dict__": Template("ag__.dict_of(VALUE)"),
    "__cause__": Template("ag__.of_error(VALUE, '__cause__')"),
    "__context__": Template("ag__.of_error(VALUE, '__context__')"),
    "__suppress_context__": Template("ag__.of_error(VALUE, '__suppress_context__')"),
    "__traceback__": Template("ag__.of_error(VALUE, '__traceback__')"),
}


def convert(tree: gast.AST, facts: dict[gast.AST, Facts], names: Names, *, ported: bool = False) -> gast.AST:
    unbound = frozenset(n for scope in facts.values() for n in scope.maybe_unbound | scope.maybe_unbound_targets)
    captured = frozenset().union(*(scope.unbound_captures for scope in facts.values()))
    return _Expressions(unbound, captured, names, Tables(tree, ported=ported), ported=ported).visit(tree)


class _Expressions(Pass):
    def __init__(
        self, unbound: frozenset[gast.Name], captured: frozenset[gast.Name], names: Names, tables: Tables, *, ported: bool
    ) -> None:
        self._unbound, self._captured = unbound, captured
        self._names, self._tables, self._ported = names, tables, ported
        # What has to stand before the statement that is visited; None where nothing can, in a lambda or comprehension.
        self._before: list[gast.stmt] | None = None
        self._depth = 0  # of functions around
        self._globals: frozenset[str] = frozenset()  # that this function declares
        self._moved: frozenset[str] = frozenset()  # variables of this function that operands now assign
        self._called: set[gast.expr] = set()
        self._numbers = itertools.count(1)

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        """The defaults and decorators of a function inside are evaluated here; those of the outermost one have been."""
        if self._depth:
            node.args.defaults = [self.visit(default) for default in node.args.defaults]
            node.args.kw_defaults = [default and self.visit(default) for default in node.args.kw_defaults]
            self._decorators(node)
        return super().visit_FunctionDef(node)

    def visit_ClassDef(self, node: gast.ClassDef) -> gast.AST:
        """The class is compiled as a class; what stands in its head is evaluated here."""
        node.bases = [self.visit(base) for base in node.bases]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        self._decorators(node)
        return node

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        """Where traced data chooses an object, we have something in its place that has a class and attributes of its own."""
        self.generic_visit(node)
        if isinstance(node.ctx, gast.Load) and node.attr in _OF_OBJECT:
            return _OF_OBJECT[node.attr].expression(at=node, VALUE=node.value)
        return node

    def _decorators(self, node: gast.FunctionDef | gast.ClassDef) -> None:
        node.decorator_list = [_CALL.expression(at=d, FUNCTION=self.visit(d)) for d in node.decorator_list]

    def function(self, node: gast.FunctionDef) -> gast.AST:
        """What runs when the function runs."""
        around = self._globals, self._moved
        self._depth += 1
        self._globals, self._moved = _declared(node, gast.Global), frozenset()
        node.body = self._suite(node.body)
        own = {parameter.id for parameter in parameters(node)} | _declared(node, gast.Nonlocal) | self._globals
        for name in sorted(self._moved - own - writes(node.body)):
            target = template.name(name, at=node.body[0], store=True)
            position = 1 if isinstance(node.body[0], gast.Expr) and isinstance(node.body[0].value, gast.Constant) else 0
            node.body[position:position] = _DECLARE(at=target, NAME_=target)  # its `nonlocal` needs a variable here
        self._globals, self._moved = around
        self._depth -= 1
        return node

    def visit_Try(self, node: gast.Try) -> gast.AST:
        node.body = self._suite(node.body)
        for handler in node.handlers:
            handler.body = self._suite(handler.body)
        node.orelse, node.finalbody = self._suite(node.orelse), self._suite(node.finalbody)
        return node

    def _suite(self, statements: list[gast.stmt]) -> list[gast.stmt]:
        around, suite = self._before, []
        for statement in statements:
            self._before = []
            new = self.visit(statement)
            suite += [*self._before, *(new if isinstance(new, list) else [new])]
        self._before = around
        return suite

    visit_TryStar = visit_Try

    def visit_With(self, node: gast.With) -> gast.AST:
        node.items = [self.visit(item) for item in node.items]
        node.body = self._suite(node.body)
        return node

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self._called.add(node.func)
        if is_operator(node.func, "local_variables"):
            return self._of_variables(node)
        self.generic_visit(node)
        if is_operator(node.func) or _is_super(node.func):
            return node
        _stand_at_method(node)
        node.func = _CALL.expression(at=node, FUNCTION=node.func)
        return node

    def _of_variables(self, node: gast.Call) -> gast.Call:
        """Each that may have no value is left to the operator to read."""
        for keyword in node.keywords:
            if isinstance(keyword.value, gast.Name) and keyword.value in self._unbound:
                keyword.value = self._read(keyword.value, _IF_BOUND)
        return node

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        called = node in self._called and not isinstance(node.slice, gast.Constant | gast.Slice | gast.Tuple)
        is_lookup = called or self._tables.is_lookup(node)
        self.generic_visit(node)
        return _GET_ITEM.expression(at=node, CONTAINER=node.value, INDEX=index_of(node.slice)) if is_lookup else node

    # What may be left out

    def _without_place(self, node: gast.AST) -> gast.AST:
        """In a lambda or a comprehension, a walrus in what may be left out stays there."""
        around, self._before = self._before, None
        self.generic_visit(node)
        self._before = around
        return node

    visit_Lambda = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _without_place

    def _thunk(self, operand: gast.expr, at: gast.AST) -> gast.expr:
        """An expression that is evaluated if it is needed: a lambda, or a function if it assigns variables of this one."""
        written = writes(operand)
        if not written:
            return template.lambda_of(self.visit(operand), at=at)
        assert self._before is not None
        self._moved |= written
        number = next(self._numbers)
        name = self._names.block("operand" if number == 1 else f"operand_{number}")
        around, self._before = self._before, []
        value = _RETURN(at=operand, VALUE=self.visit(operand))
        body, self._before = [*self._before, *value], around
        global_names, nonlocal_names = sorted(written & self._globals), sorted(written - self._globals)
        self._before += _OPERAND(at=operand, NAME_=name, GLOBALS=global_names, NONLOCALS=nonlocal_names, BODY=body)
        return template.name(name, at=operand)

    def _binds(self, operands: list[gast.expr], sure: Callable[[], frozenset[str]], at: gast.AST) -> list[gast.expr]:
        return walrus.marks(operands, sure(), self._globals, at=at) if writes(operands) else []

    def visit_IfExp(self, node: gast.IfExp) -> gast.AST:
        branches = [node.body, node.orelse]
        if self._before is None and writes(branches):
            return self.generic_visit(node)
        binds = self._binds(branches, lambda: walrus.bound_by(node.body) & walrus.bound_by(node.orelse), node)
        test = self.visit(node.test)
        then, otherwise = (self._thunk(part, node.test) for part in branches)
        return _IF_EXPR.expression(at=node.test, TEST=test, THEN=then, OTHERWISE=otherwise, BINDS=binds)

    def visit_BoolOp(self, node: gast.BoolOp) -> gast.AST:
        first, *others = node.values
        if self._before is None and writes(others):
            return self.generic_visit(node)
        every = isinstance(node.op, gast.And)
        binds = self._binds(others, lambda: walrus.bound_where(node, every), node)
        first = self.visit(first)
        thunks = [self._thunk(other, node) for other in others]
        made = _BOOL.expression(at=node, OPERATOR="and_" if every else "or_", FIRST=first, OTHERS=thunks)
        return _binding(made, binds)

    def visit_UnaryOp(self, node: gast.UnaryOp) -> gast.AST:
        self.generic_visit(node)
        return _NOT.expression(at=node, VALUE=node.operand) if isinstance(node.op, gast.Not) else node

    def visit_Compare(self, node: gast.Compare) -> gast.AST:
        if len(node.ops) == 1:
            return self._comparison(node)
        left, right, *others = [node.left, *node.comparators]
        if self._before is None and writes(others):
            return self.generic_visit(node)
        binds = self._binds(others, lambda: walrus.bound_where(node, True), node)
        symbols = [template.constant(_SYMBOLS[type(operator)], at=node) for operator in node.ops]
        operands = [self.visit(left), self.visit(right), *(self._thunk(other, node) for other in others)]
        parts = [operands[0], *(part for pair in zip(symbols, operands[1:], strict=True) for part in pair)]
        return _binding(_COMPARE.expression(at=node, PARTS=parts), binds)

    def _comparison(self, node: gast.Compare) -> gast.AST:
        [operator], [right] = node.ops, node.comparators
        sides = (node.left, right)
        is_equality = type(operator) in _EQUALITIES
        of_tables = self._tables.may_compare_tables(sides, is_equality=is_equality) or any(map(self._is_shape, sides))
        of_tables = (of_tables or self._ported and is_equality) and not any(map(_is_constant, sides))
        self.generic_visit(node)
        [right] = node.comparators
        if type(operator) in _SINGLE:
            return _BINARY.expression(at=node, OPERATOR=_SINGLE[type(operator)], LEFT=node.left, RIGHT=right)
        if not of_tables:
            return node
        symbol = template.constant(_SYMBOLS[type(operator)], at=node)
        return _COMPARE.expression(at=node, PARTS=[node.left, symbol, right])

    def _is_shape(self, node: gast.expr) -> bool:
        """In ported code a shape may be a tuple with a traced number in it."""
        return self._ported and isinstance(node, gast.Attribute) and node.attr == "shape"

    def visit_JoinedStr(self, node: gast.JoinedStr) -> gast.AST:
        """An f-string is text and fields: a traced value has its text at run time."""
        self.generic_visit(node)
        if all(isinstance(value, gast.Constant) for value in node.values):
            return node
        return _TEXT.expression(at=node, PARTS=list(node.values))

    def visit_FormattedValue(self, node: gast.FormattedValue) -> gast.AST:
        self.generic_visit(node)
        conversion = template.constant("" if node.conversion == -1 else chr(node.conversion), at=node)
        spec = node.format_spec or template.constant("", at=node)
        return _FIELD.expression(at=node, VALUE=node.value, CONVERSION=conversion, SPEC=spec)

    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        """`"%d turns" % n`, and `form % n`, where the form may be a text."""
        self.generic_visit(node)
        template = node.left
        is_text = isinstance(template, gast.Constant) and isinstance(template.value, str)
        may_be_text = isinstance(template, _FORMS) and (self._ported or not _is_number(node.right))
        if not isinstance(node.op, gast.Mod) or not (is_text or may_be_text):
            return node
        return _PERCENT.expression(at=node, TEMPLATE=template, VALUES=node.right)

    def visit_AugAssign(self, node: gast.AugAssign) -> list[gast.AST]:
        self.generic_visit(node)
        if not isinstance(node.target, gast.Name):
            return [node]
        target = template.name(node.target.id, at=node.target, store=True)
        if isinstance(node.op, gast.Mod) and not _is_number(node.value):
            old = template.name(node.target.id, at=node.target)
            old = self._bound(node.target) if node.target in self._unbound else old
            new = _PERCENT_IN_PLACE.expression(at=node, TEMPLATE=old, VALUES=node.value)
            return [template.assign([target], new, at=node)]
        if node.target not in self._unbound:
            return [node]
        return [template.assign([target], self._bound(node.target), at=node), node]

    def visit_Delete(self, node: gast.Delete) -> list[gast.AST]:
        self.generic_visit(node)
        reads = [self._checked(target) for target in node.targets]
        if not any(reads):
            return [node]
        deletions = [gast.copy_location(gast.Delete([target]), node) for target in node.targets]
        return [s for read, deletion in zip(reads, deletions, strict=True) for s in (*read, deletion)]

    def _checked(self, target: gast.expr) -> list[gast.stmt]:
        """`del x` raises what Python raises where x has no value, in a block too."""
        if not isinstance(target, gast.Name) or target not in self._unbound:
            return []
        read = self._bound(target)
        return [template.expression_statement(read, at=read)]

    def _bound(self, target: gast.Name) -> gast.expr:
        return self._read(template.name(target.id, at=target), _BOUND)

    def visit_Name(self, node: gast.Name) -> gast.expr:
        if not isinstance(node.ctx, gast.Load):
            return node
        if node in self._unbound:
            return self._read(node, _BOUND)
        return self._read(node, _CAPTURED) if node in self._captured else node

    def _read(self, node: gast.Name, operator: Template) -> gast.expr:
        name = template.constant(node.id, at=node)
        return operator.expression(at=node, NAME_=name, VALUE=template.lambda_of(node, at=node))


def _declared(function: gast.FunctionDef, kind: type[gast.Global | gast.Nonlocal]) -> frozenset[str]:
    return frozenset(name for statement in function.body if isinstance(statement, kind) for name in statement.names)


def _is_constant(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant)


def _binding(call: gast.expr, binds: list[gast.expr]) -> gast.expr:
    """`binds=('y',)` at the end of an operator's call, where its operands assign variables."""
    if binds:
        assert isinstance(call, gast.Call)
        call.keywords = [template.keyword("binds", template.tuple_of(binds, at=call), at=call)]
    return call


def _stand_at_method(call: gast.Call) -> None:
    """In a chain over several lines, a method's call stands where its name stands, as CPython's compiler has it."""
    function = call.func
    unpacks = any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    if isinstance(function, gast.Attribute) and not unpacks and function.end_lineno not in (None, call.lineno):
        assert function.end_col_offset is not None
        call.lineno, call.col_offset = function.end_lineno, function.end_col_offset - len(function.attr)


def _is_super(function: gast.expr) -> bool:
    return isinstance(function, gast.Name) and function.id == "super"


def _is_number(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, int | float)
