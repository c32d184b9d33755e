"""if, while and for become functions and a call of ag__.if_stmt, ag__.while_stmt, ag__.for_stmt.

Before:
    while err > tol:
        if err > big:
            return big
        x = 0.5 * (x + a / x)
        err = f(x)
    return x

After:
    def body():
        nonlocal err, x

        def otherwise_2():
            nonlocal err, x
            x = 0.5 * (x + a / x)
            err = f(x)
        return ag__.if_stmt(err > big, lambda: ag__.Return(big), otherwise_2, 'err', 'x')
    left = ag__.while_stmt(lambda: err > tol, body, 'err', 'x')
    return ag__.returned(left, lambda: x)

The names at the end are the variables that a block writes and that are read after it; the operators find them through
the functions' closure cells. How return, break and continue leave is told in exits.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import gast

from autograph_jax.analysis import Facts, reads, writes
from autograph_jax.converters import exits, generators, walrus
from autograph_jax.converters.base import Pass, surely_converted
from autograph_jax.converters.block_context import Context
from autograph_jax.converters.block_variables import Variables, is_docstring
from autograph_jax.converters.natives import Natives
from autograph_jax.converters.unsupported import is_generator
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names, is_operator
from autograph_jax.syntax.template import Template

_BLOCK = Template("""
    def NAME_(PARAMETERS):
        global GLOBALS
        nonlocal NONLOCALS
        BODY
""")
_SCOPE = Template("global GLOBALS\nnonlocal NONLOCALS")
_IF = Template("ag__.if_stmt(TEST, ARGUMENTS)")
_WHILE = Template("ag__.while_stmt(ARGUMENTS)")
_FOR = Template("ag__.for_stmt(ARGUMENTS)")
_LOOP_ELSE = Template("ag__.LOOP(ARGUMENTS, orelse=ORELSE)")
_UNLESS = Template("ag__.UNLESS(EXIT, ARGUMENTS)")
_SURELY = Template("ag__.surely(REST, NAMES)")
_RETURN = Template("return VALUE")
_RETURN_VALUE = Template("ag__.Return(VALUE)")
_BREAK = Template("return ag__.break_")
_CONTINUE = Template("return")
_CONTINUE_MARK = Template("return ag__.continue_")
_TARGET = Template("TARGET = VALUE")
_WENT_ON = Template("ag__.went_on(ATTEMPT, EXIT)")


def convert(tree: gast.AST, facts: dict[gast.AST, Facts], names: Names, *, lambdas: bool = True) -> gast.AST:
    """Without `lambdas`, a branch that only returns a value is a `def` like any other: debugged.py names variables in it."""
    return _Functions(facts, names, lambdas).visit(tree)


class _Functions(Pass):
    """Converts the body of every function; lambdas have no statements, classes are left as they are."""

    def __init__(self, facts: dict[gast.AST, Facts], names: Names, lambdas: bool) -> None:
        self._facts, self._names, self.lambdas = facts, names, lambdas
        # Variables that may have no value where a function is defined, which may assign them.
        self.unsure = frozenset(
            name
            for around in facts.values()
            for statement in around.unbound_before
            if isinstance(statement, gast.FunctionDef)
            for name in around.unbound_before[statement] & around.bound
        )

    def function(self, node: gast.FunctionDef) -> gast.AST:
        _Blocks(node, self._facts[node], self._names, self).convert()
        return node


class _Blocks:
    """The blocks of one function."""

    def __init__(self, function: gast.FunctionDef, facts: Facts, names: Names, functions: _Functions) -> None:
        self._function, self._facts, self._names, self._functions = function, facts, names, functions
        self._variables = Variables(function, facts, functions.unsure & facts.declared_nonlocal)
        self._natives = Natives(self._variables, self._suite, self._exit, functions)
        self._depth = 0

    def convert(self) -> None:
        if is_generator(self._function):
            body = self._generator_suite(self._function.body)
        else:
            body = self._suite(self._function.body, Context(in_loop=False, live_out=frozenset()))
        body = [s for s in body if not isinstance(s, gast.Global | gast.Nonlocal)]
        scope = _SCOPE(
            at=self._function.body[0],
            GLOBALS=sorted(self._facts.declared_global),
            NONLOCALS=sorted(self._facts.declared_nonlocal),
        )
        body = self._variables.declared(
            body or [gast.copy_location(gast.Pass(), self._function.body[0])], self._facts.parameters
        )
        position = 1 if is_docstring(body[0]) else 0
        self._function.body = body[:position] + scope + body[position:]

    def _suite(self, statements: Sequence[gast.stmt], context: Context) -> list[gast.stmt]:
        """Statements of one block; ends where the rest has moved into another."""
        converted: list[gast.stmt] = []
        for number, statement in enumerate(statements):
            rest = list(statements[number + 1 :])
            if isinstance(statement, gast.Return | gast.Break | gast.Continue):
                return converted + self._exit(statement, context)
            if isinstance(statement, gast.If):
                if exits.may_exit(statement):
                    return converted + self._exiting_if(statement, rest, context)
                converted += self._plain_if(statement)
            elif isinstance(statement, gast.While | gast.For):
                if exits.may_exit(statement):
                    return converted + self._exiting(self._loop(statement, context), statement, rest, context)
                definitions, call = self._loop(statement, context)
                converted += [*definitions, template.expression_statement(call, at=call)]
            elif isinstance(statement, exits.NATIVE):
                if context.exit_name is not None and self._names.attempt_of(statement) is not None:
                    converted.append(self._natives.convert(statement, context))  # which is all of the body
                elif exits.exits_staged(statement):
                    return converted + self._exiting_native(statement, rest, context)
                else:
                    converted.append(self._natives.convert(statement, dataclasses.replace(context, exit_name=None)))
            else:
                converted.append(self._functions.visit(statement))
        return converted

    def _generator_suite(self, statements: Sequence[gast.stmt]) -> list[gast.stmt]:
        """Statements of a generator, outside of its blocks."""
        converted: list[gast.stmt] = []
        for statement in statements:
            if generators.stays(statement):
                converted.append(generators.with_suites(statement, self._generator_suite))
            else:
                context = Context(in_loop=False, live_out=self._facts.live_after[statement])
                converted += self._suite([statement], context)
        return converted

    # Leaving

    def _exit(self, statement: gast.Return | gast.Break | gast.Continue, context: Context) -> list[gast.stmt]:
        """`return v`, `break` or `continue` where it stands by itself."""
        if isinstance(statement, gast.Return) and statement.value is not None and is_operator(statement.value, "failure"):
            return [statement]
        if isinstance(statement, gast.Break):
            return _BREAK(at=statement)
        if isinstance(statement, gast.Continue):
            return _CONTINUE_MARK(at=statement) if context.goes_on else _CONTINUE(at=statement)
        if not context.in_loop:
            return [statement]
        value = statement.value or template.constant(None, at=statement)
        return _RETURN(at=statement, VALUE=_RETURN_VALUE.expression(at=statement, VALUE=value))

    def _exiting_if(self, node: gast.If, rest: list[gast.stmt], context: Context) -> list[gast.stmt]:
        """An `if` that may leave: what follows it moves into the path that goes on, if only one does."""
        body, orelse = list(node.body), list(node.orelse)
        if rest and exits.always_exits(body):
            orelse, rest = orelse + rest, []
        elif rest and exits.always_exits(orelse):
            body, rest = body + rest, []
        if rest:
            after = self._variables.live_before(rest, frozenset())
            branches = Context(in_loop=True, live_out=after | context.live_out, goes_on=True)
            return self._exiting(self._if(node, body, orelse, branches), node, rest, context)
        branches = context if context.exit_name is None else context.marked()
        definitions, call = self._if(node, body, orelse, branches)
        return [*definitions, *self._leave(call, context)]

    def _exiting(
        self,
        statement: tuple[list[gast.stmt], gast.expr],
        node: gast.stmt,
        rest: list[gast.stmt],
        context: Context,
    ) -> list[gast.stmt]:
        """A call that gives a marker: go on with the rest unless it says to leave."""
        definitions, call = statement
        markers = context.in_loop or context.exit_name is not None
        if not rest and markers:
            return [*definitions, *self._leave(call, context)]
        inner = context if context.exit_name is None else context.marked()
        following, reference = self._block("rest", rest, inner, node)
        names = self._variables.state_names(rest, context.live_out, node, exiting=True)
        if reference is not None and (sure := self._variables.sure_names(node, rest)):
            reference = _SURELY.expression(at=reference, REST=reference, NAMES=sure)
        arguments = [reference, *names] if reference is not None else []
        operator = "unless" if markers else "returned"
        keep = []
        if not isinstance(call, gast.Name):
            left = self._names.fresh("left")
            keep = [template.assign([template.name(left, at=call, store=True)], call, at=call)]
            call = template.name(left, at=call)
        value = _UNLESS.expression(at=call, UNLESS=operator, EXIT=call, ARGUMENTS=arguments)
        return [*definitions, *keep, *following, *self._leave(value, context)]

    def _leave(self, value: gast.expr, context: Context) -> list[gast.stmt]:
        if context.exit_name is None:
            return _RETURN(at=value, VALUE=value)
        return [template.assign([template.name(context.exit_name, at=value, store=True)], value, at=value)]

    def _exiting_native(self, statement: gast.stmt, rest: list[gast.stmt], context: Context) -> list[gast.stmt]:
        """A with or try whose inside may leave: the marker is kept until the statement has ended."""
        exit_name = self._names.fresh("exit")
        live_out = self._variables.live_before(rest, frozenset()) | context.live_out
        inner = Context(context.in_loop, live_out, exit_name, goes_on=True)
        none = template.constant(None, at=statement)
        start = template.assign([template.name(exit_name, at=statement, store=True)], none, at=statement)
        marker = template.name(exit_name, at=statement)
        native = self._natives.convert(statement, inner)
        if isinstance(statement, gast.Try | gast.TryStar) and statement.orelse:
            # `else` runs where the body came to its end, and whether it did may only be known at run time.
            setattr(native, "orelse", self._exiting(([], marker), statement, statement.orelse, inner))  # noqa: B010 - a copy
        guarded = statement.body[0] if isinstance(statement, gast.Try) else statement
        attempt = self._names.attempt_of(guarded)
        if attempt is not None and guarded is not statement:
            marker = _WENT_ON.expression(at=statement, ATTEMPT=template.name(attempt, at=statement), EXIT=marker)
        return [start, native, *self._exiting(([], marker), statement, rest, context)]

    # if, while, for

    def _plain_if(self, node: gast.If) -> list[gast.stmt]:
        context = Context(in_loop=False, live_out=self._facts.live_after[node])
        definitions, call = self._if(node, node.body, node.orelse, context)
        return [*definitions, template.expression_statement(call, at=call)]

    def _if(
        self, node: gast.If, body: list[gast.stmt], orelse: list[gast.stmt], context: Context
    ) -> tuple[list[gast.stmt], gast.expr]:
        names = self._variables.state_names(body + orelse, context.live_out, node, exiting=exits.may_exit(node))
        then_definition, then = self._block("then", body, context, node)
        else_definition, otherwise = self._block("otherwise", orelse, context, node)
        none = template.constant(None, at=node.test)
        arguments = [then or none]
        if otherwise is not None or names:
            arguments.append(otherwise or none)
        call = _IF.expression(at=node.test, TEST=node.test, ARGUMENTS=arguments + names)
        return then_definition + else_definition, call

    def _loop(self, node: gast.While | gast.For, outer: Context) -> tuple[list[gast.stmt], gast.expr]:
        live_out = self._facts.live_head[node] | self._facts.live_after[node]
        if exits.may_exit(node):
            live_out |= outer.live_out
        if isinstance(node, gast.While):
            # `while (y := f(x)) > 1: x = y`: the body reads what the test has assigned a turn before, and so does `else`.
            read = self._facts.live_before[node.body[0]] | self._variables.live_before(node.orelse, frozenset())
            live_out |= writes(node.test) & read
        context = Context(in_loop=True, live_out=live_out)
        if isinstance(node, gast.While):
            operator, at, parts = "while_stmt", node.test, [gast.Expr(node.test), *node.body]
            definitions, first = self._test(node)
            body_definition, body = self._block("body", node.body, context, node)
            body = self._with_walruses(body, node) if body is not None else None
        else:
            operator, at, parts = "for_stmt", node.iter, [gast.Expr(node.target), *node.body]
            definitions, first = [], node.iter
            body_definition, body = self._for_body(node, context)
        exiting = exits.may_exit(node)
        names = self._variables.state_names(parts, live_out, node, exiting=exiting)
        arguments = [first, body or template.constant(None, at=at), *names]
        definitions = definitions + body_definition
        if not any(not isinstance(statement, gast.Pass) for statement in node.orelse):
            template_ = _WHILE if operator == "while_stmt" else _FOR
            return definitions, template_.expression(at=at, ARGUMENTS=arguments)
        after = self._facts.live_after[node]
        orelse_context = Context(exits.may_exit(node.orelse), after | outer.live_out, goes_on=True)
        else_definition, orelse = self._block("orelse", node.orelse, orelse_context, node)
        names = self._variables.state_names([*parts, *node.orelse], live_out | outer.live_out, node, exiting=exiting)
        arguments = [first, body or template.constant(None, at=at), *names]
        call = _LOOP_ELSE.expression(at=at, LOOP=operator, ARGUMENTS=arguments, ORELSE=orelse)
        return definitions + else_definition, call

    def _with_walruses(self, body: gast.expr, node: gast.While) -> gast.expr:
        """`while x > 1 and (y := f(x)) > 2`: y may have no value before the loop and after it, but it has one in the body."""
        if not writes(node.test):
            return body
        sure = walrus.bound_where(node.test, True) - walrus.bound_by(node.test)
        names = sure & self._facts.unbound_before[node] & reads(node.body)
        constants = [template.constant(name, at=node.test) for name in sorted(names)]
        return _SURELY.expression(at=body, REST=body, NAMES=constants) if names else body

    def _test(self, node: gast.While) -> tuple[list[gast.stmt], gast.expr]:
        if not writes(node.test):
            return [], template.lambda_of(node.test, at=node.test)
        statement = gast.copy_location(gast.Return(node.test), node.test)
        live_in = self._facts.live_head[node]
        definition, reference = self._block("test", [statement], Context(False, frozenset()), node, live_in=live_in)
        assert reference is not None
        return definition, reference

    def _for_body(self, node: gast.For, context: Context) -> tuple[list[gast.stmt], gast.expr | None]:
        """The body takes the element: as its own variable where nobody else sees it, else into the target."""
        target = node.target
        live_in = self._facts.live_head[node]
        if isinstance(target, gast.Name) and self._variables.local(
            frozenset({target.id}), [gast.Expr(target), *node.body], live_in
        ):
            return self._block("body", node.body, context, node, parameter=target.id)
        element = self._names.fresh("element")
        take = _TARGET(at=target, TARGET=target, VALUE=template.name(element, at=target))
        return self._block("body", [*take, *node.body], context, node, parameter=element)

    # Blocks and their variables

    def _block(
        self,
        wish: str,
        statements: list[gast.stmt],
        context: Context,
        node: gast.stmt,
        *,
        parameter: str | None = None,
        live_in: frozenset[str] = frozenset(),
    ) -> tuple[list[gast.stmt], gast.expr | None]:
        """A function for these statements, and the expression that names it: a lambda if one value is all of it."""
        if all(isinstance(statement, gast.Pass) for statement in statements):
            return [], None
        live_in = next((self._facts.live_before[s] for s in statements if s in self._facts.live_before), live_in)
        written = self._variables.written(statements) - {parameter}
        shared = written - self._variables.local(written, statements, live_in)
        self._depth += 1
        body = self._suite(statements, dataclasses.replace(context, exit_name=None))
        self._depth -= 1
        is_value = self._functions.lambdas and parameter is None and not written
        if is_value and len(body) == 1 and isinstance(body[0], gast.Return):
            value = body[0].value or template.constant(None, at=body[0])
            return [], template.lambda_of(value, at=_header(node))
        global_names = sorted(shared & self._facts.declared_global)
        nonlocal_names = sorted(shared - self._facts.declared_global)
        body = [s for s in body if not isinstance(s, gast.Global | gast.Nonlocal | gast.Pass)] or body[:1]
        name = self._names.block(f"{wish}_{self._depth + 1}" if self._depth else wish)
        # At the header's line: a debugger stops in a branch when it runs, not when its function is made.
        header = _header(node)
        definition = _BLOCK(
            at=header,
            NAME_=name,
            PARAMETERS=[template.parameter(parameter, at=header)] if parameter else [],
            GLOBALS=global_names,
            NONLOCALS=nonlocal_names,
            BODY=self._variables.declared(body, shared | {parameter} | self._facts.escaping),
        )
        surely_converted(definition[0])
        return definition, template.name(name, at=header)


def _header(node: gast.stmt) -> gast.AST:
    """Where a compound statement begins: its test, or what it runs over."""
    if isinstance(node, gast.If | gast.While):
        return node.test
    return node.iter if isinstance(node, gast.For) else node
