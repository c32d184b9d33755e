"""and, or, not, chained comparison, in, is, `a if c else b`, f-strings, raise and assert become operators, and calls ag__.call.

Before:
    a = x if x > 0 and g(x) else -x
    b = 0 < x < 1 or x is None

After:
    a = ag__.if_expr(ag__.and_(x > 0, lambda: ag__.call(g)(x)), lambda: x, lambda: -x)
    b = ag__.or_(ag__.compare(0, '<', x, '<', lambda: 1), lambda: ag__.is_(x, None))

What Python may leave out is handed over as a lambda.
"""

from __future__ import annotations

import gast

from autograph_jax.analysis import Facts, writes
from autograph_jax.converters.base import Pass
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names, is_operator
from autograph_jax.syntax.template import Template

_CALL = Template("ag__.call(FUNCTION)")
_IF_EXPR = Template("ag__.if_expr(TEST, THEN, OTHERWISE)")
_BOOL = Template("ag__.OPERATOR(FIRST, OTHERS)")
_NOT = Template("ag__.not_(VALUE)")
_COMPARE = Template("ag__.compare(PARTS)")
_BINARY = Template("ag__.OPERATOR(LEFT, RIGHT)")
_BOUND = Template("ag__.bound(NAME_, VALUE)")
_SYMBOLS = {
    gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">=", gast.Eq: "==", gast.NotEq: "!=",
    gast.Is: "is", gast.IsNot: "is not", gast.In: "in", gast.NotIn: "not in",
}  # fmt: skip
_SINGLE = {gast.Is: "is_", gast.IsNot: "is_not", gast.In: "in_", gast.NotIn: "not_in"}


_RAISED = Template("ag__.raised(ERROR, CAUGHT)")
_CAUGHT = Template("ag__.caught()")
_CHECKED = Template("ag__.checked(TEST, MESSAGE)")
_TEXT = Template("ag__.text(PARTS)")
_FIELD = Template("ag__.field(VALUE, CONVERSION, SPEC)")


def convert(tree: gast.AST, facts: dict[gast.AST, Facts], names: Names) -> gast.AST:
    unbound = frozenset(name for scope in facts.values() for name in scope.maybe_unbound)
    return _Expressions(unbound, names.blocks).visit(tree)


class _Expressions(Pass):
    def __init__(self, unbound: frozenset[gast.Name], blocks: set[str]) -> None:
        self._unbound, self._blocks = unbound, blocks
        # For each `try` with handlers around, innermost last: does a block begin between it and here?
        self._tries: list[bool] = []

    def function(self, node: gast.FunctionDef) -> gast.AST:
        """Only what runs when the function runs; defaults and decorators were evaluated when it was defined."""
        around = self._tries
        self._tries = [True] * len(around) if node.name in self._blocks else []
        node.body = self._suite(node.body)
        self._tries = around
        return node

    def visit_Try(self, node: gast.Try) -> gast.AST:
        self._tries.append(False) if node.handlers else None
        node.body = self._suite(node.body)
        self._tries.pop() if node.handlers else None
        for handler in node.handlers:
            # An exception of a staged block, or one of ours, must not be taken for one that the program raised.
            handler.body = [*_CAUGHT(at=handler.body[0]), *self._suite(handler.body)]
        node.orelse, node.finalbody = self._suite(node.orelse), self._suite(node.finalbody)
        return node

    def _suite(self, statements: list[gast.stmt]) -> list[gast.stmt]:
        visited = [self.visit(statement) for statement in statements]
        return [s for new in visited for s in (new if isinstance(new, list) else [new])]

    visit_TryStar = visit_Try

    def visit_With(self, node: gast.With) -> gast.AST | list[gast.AST]:
        """`with suppress(KeyError)` ends an exception too."""
        self.generic_visit(node)
        calls = [n for s in node.body for n in gast.walk(s) if isinstance(n, gast.Call) and is_operator(n.func)]
        staged = any(isinstance(call.func, gast.Attribute) and call.func.attr.endswith("_stmt") for call in calls)
        return [node, *_CAUGHT(at=node)] if staged else node

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        if is_operator(node.func) or _is_super(node.func):
            return node
        node.func = _CALL.expression(at=node, FUNCTION=node.func)
        return node

    def visit_IfExp(self, node: gast.IfExp) -> gast.AST:
        self.generic_visit(node)
        if writes([node.body, node.orelse]):
            return node  # a walrus in a lambda would bind the lambda's own variable
        then, otherwise = (template.lambda_of(part, at=node.test) for part in (node.body, node.orelse))
        return _IF_EXPR.expression(at=node.test, TEST=node.test, THEN=then, OTHERWISE=otherwise)

    def visit_BoolOp(self, node: gast.BoolOp) -> gast.AST:
        self.generic_visit(node)
        first, *others = node.values
        if writes(others):
            return node
        operator = "and_" if isinstance(node.op, gast.And) else "or_"
        thunks = [template.lambda_of(other, at=node) for other in others]
        return _BOOL.expression(at=node, OPERATOR=operator, FIRST=first, OTHERS=thunks)

    def visit_UnaryOp(self, node: gast.UnaryOp) -> gast.AST:
        self.generic_visit(node)
        return _NOT.expression(at=node, VALUE=node.operand) if isinstance(node.op, gast.Not) else node

    def visit_Compare(self, node: gast.Compare) -> gast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1:
            operator = _SINGLE.get(type(node.ops[0]))
            if operator is None:
                return node
            return _BINARY.expression(at=node, OPERATOR=operator, LEFT=node.left, RIGHT=node.comparators[0])
        if writes(node.comparators[1:]):
            return node
        parts = [node.left, *self._comparisons(node)]
        return _COMPARE.expression(at=node, PARTS=parts)

    def _comparisons(self, node: gast.Compare) -> list[gast.expr]:
        """The operators and operands after the first; from the third operand on evaluated only if needed."""
        parts: list[gast.expr] = []
        for position, (operator, operand) in enumerate(zip(node.ops, node.comparators, strict=True)):
            parts.append(template.constant(_SYMBOLS[type(operator)], at=node))
            parts.append(operand if position == 0 else template.lambda_of(operand, at=node))
        return parts

    def visit_Raise(self, node: gast.Raise) -> gast.AST:
        """What is raised and caught inside one block is Python's; out of a block, it is raised at run time."""
        self.generic_visit(node)
        if node.exc is not None and (not self._tries or self._tries[-1]):
            caught = [template.constant(True, at=node)] if self._tries else []
            node.exc = _RAISED.expression(at=node.exc, ERROR=node.exc, CAUGHT=caught)
        return node

    def visit_Assert(self, node: gast.Assert) -> gast.AST:
        self.generic_visit(node)
        if writes([node.test, *([node.msg] if node.msg else [])]):
            return node
        message = [template.lambda_of(node.msg, at=node.msg)] if node.msg else []
        node.test = _CHECKED.expression(at=node.test, TEST=node.test, MESSAGE=message)
        return node

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

    def visit_Name(self, node: gast.Name) -> gast.AST:
        if node not in self._unbound:
            return node
        name = template.constant(node.id, at=node)
        return _BOUND.expression(at=node, NAME_=name, VALUE=template.lambda_of(node, at=node))


def _is_super(function: gast.expr) -> bool:
    return isinstance(function, gast.Name) and function.id == "super"
