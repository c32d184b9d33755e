"""if, while, for, break, continue, return, raise, try, with and match as the paths that control may take.

Any point of a `try` body may jump to its handlers, and any point of a `with` body to the code after it, since the
context manager may swallow the exception. A `finally` is laid out once for each way that its `try` is left, as
CPython's own compiler does: what follows a `return` through it does not mix with what follows its normal end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gast

from autograph_jax.analysis.blocks import Block, Does, Exits, Flow, Step
from autograph_jax.analysis.collect import FunctionNode, scopes_in
from autograph_jax.analysis.evaluation import Evaluation
from autograph_jax.analysis.scopes import Scope


def flow_of(function: FunctionNode, scopes: Mapping[gast.AST, Scope]) -> Flow:
    """The paths through the body of a function or a lambda."""
    layout = _Layout(scopes)
    end = Block()
    exits = Exits(raised=end, returned=end, broke=end, continued=end)
    if isinstance(function, gast.Lambda):
        layout.evaluation.run(function.body, layout.flow.entry).to(end)
    else:
        layout.body(function.body, layout.flow.entry, exits).to(end)
    return layout.flow


class _Layout:
    """Lays out one function. A method takes the block before a statement and gives the block after it, both empty."""

    def __init__(self, scopes: Mapping[gast.AST, Scope]) -> None:
        self.flow = Flow()
        self.evaluation = Evaluation(scopes)

    def body(self, statements: Sequence[gast.stmt], block: Block, exits: Exits) -> Block:
        for statement in statements:
            self.flow.before.setdefault(statement, []).append(block)
            block.rescue = None if isinstance(statement, _SILENT) else exits.raised
            lay = _COMPOUND.get(type(statement), _Layout._simple)
            block = lay(self, statement, block, exits)
            after = _jump_target(statement, exits) or block
            self.flow.after.setdefault(statement, []).append(after)
        return block

    def _simple(self, node: gast.stmt, block: Block, exits: Exits) -> Block:
        return _joined(self.evaluation.run(node, block))

    def _jump(self, node: gast.stmt, block: Block, exits: Exits) -> Block:
        target = _jump_target(node, exits)
        assert target is not None
        self.evaluation.run(node, block).to(target)
        return Block()  # dead code from here on

    def _assert(self, node: gast.Assert, block: Block, exits: Exits) -> Block:
        if not __debug__:  # python -O
            return block
        holds, fails = self.evaluation.branch(node.test, block)
        if node.msg is not None:
            fails = self.evaluation.run(node.msg, fails)
        fails.to(exits.raised)
        return _joined(holds)

    def _if(self, node: gast.If, block: Block, exits: Exits) -> Block:
        holds, fails = self.evaluation.branch(node.test, block)
        return _joined(self.body(node.body, holds, exits), self.body(node.orelse, fails, exits))

    def _while(self, node: gast.While, block: Block, exits: Exits) -> Block:
        head, after = self._head(node, block, exits), Block()
        turn, done = self.evaluation.branch(node.test, head)
        self.body(node.body, turn, dataclasses.replace(exits, broke=after, continued=head)).to(head)
        self.body(node.orelse, done, exits).to(after)
        return after

    def _for(self, node: gast.For, block: Block, exits: Exits) -> Block:
        block = self.evaluation.run(node.iter, block)
        head, after = self._head(node, block, exits), Block()
        turn, done = _joined(self.evaluation.run(node.target, head.next())), head.next()
        self.body(node.body, turn, dataclasses.replace(exits, broke=after, continued=head)).to(head)
        self.body(node.orelse, done, exits).to(after)
        return after

    def _head(self, node: gast.stmt, block: Block, exits: Exits) -> Block:
        head = Block(exits.raised)
        block.to(head)
        self.flow.head.setdefault(node, []).append(head)
        return head

    def _match(self, node: gast.Match, block: Block, exits: Exits) -> Block:
        after = Block()
        block = self.evaluation.run(node.subject, block)
        for case in node.cases:
            matched, block = self._case(case, block)
            self.body(case.body, matched, exits).to(after)
        block.to(after)
        return after

    def _case(self, case: gast.match_case, block: Block) -> tuple[Block, Block]:
        """Try a case: where its body starts, and where the next case does. Names are bound before the guard."""
        tried = self.evaluation.run(case.pattern, block.next())
        matched, failed = tried.next(), Block(block.rescue)
        if not _matches_anything(case.pattern):
            tried.to(failed)
        matched.steps += [Step(Does.BIND, name) for name in sorted(scopes_in(case.pattern).writes)]
        if case.guard is None:
            return _joined(matched), failed
        holds, fails = self.evaluation.branch(case.guard, matched)
        fails.to(failed)
        return holds, failed

    def _with(self, node: gast.With, block: Block, exits: Exits) -> Block:
        after = Block()
        for item in node.items:
            block = self.evaluation.run(item.context_expr, block)
            target = item.optional_vars
            if isinstance(target, gast.Name):  # that __enter__ gave a value, and a plain name can always take it
                block, target = self.evaluation.run(target, block), None
            swallowed = Block()
            swallowed.to(after, exits.raised)
            exits = dataclasses.replace(exits, raised=swallowed)
            block = _joined(block)
            block.rescue = swallowed
            block = self.evaluation.run(target, block) if target is not None else block
        self.body(node.body, _joined(block), exits).to(after)
        return after

    def _try(self, node: gast.Try, block: Block, exits: Exits) -> Block:
        if not node.finalbody:
            return self._try_except(node, block, exits)
        return self._cleaned_up(
            lambda inner: self._try_except(node, block, inner),
            lambda start: self.body(node.finalbody, start, exits),
            exits,
        )

    def _cleaned_up(self, run: Callable[[Exits], Block], clean_up: Callable[[Block], Block], exits: Exits) -> Block:
        """Lay out some code, and after each way out of it that it takes, the clean-up."""
        gates = Exits(Block(), Block(), Block(), Block())
        end = run(gates)
        gates.raised.entered = True
        for way in dataclasses.fields(Exits):
            gate: Block = getattr(gates, way.name)
            if gate.entered:
                clean_up(gate).to(getattr(exits, way.name))
        return clean_up(end)

    def _try_except(self, node: gast.Try, block: Block, exits: Exits) -> Block:
        after, caught = Block(), Block()
        inside = dataclasses.replace(exits, raised=caught) if node.handlers else exits
        end = self.body(node.body, _joined(block), inside)
        self.body(node.orelse, _joined(end), exits).to(after)
        if node.handlers:
            self._handlers(node, caught, after, exits)
        return after

    def _handlers(self, node: gast.Try, caught: Block, after: Block, exits: Exits) -> None:
        """Handlers are asked in order. After an `except*` that has run, or failed, the next one is asked, too."""
        grouped = isinstance(node, gast.TryStar)
        for handler in node.handlers:
            block, caught = self._asked(handler, caught, exits)
            inner = dataclasses.replace(exits, raised=caught) if grouped else exits
            self._handler(handler, block, inner).to(caught if grouped else after)
        caught.to(exits.raised)
        if grouped:
            caught.to(after)

    def _asked(self, handler: gast.ExceptHandler, caught: Block, exits: Exits) -> tuple[Block, Block]:
        """Does an exception fit a handler? Where it goes then, and where if not."""
        if handler.type is None:
            return caught, Block()
        caught.rescue = exits.raised
        asked = self.evaluation.run(handler.type, caught)
        return asked, _joined(asked)

    def _handler(self, handler: gast.ExceptHandler, block: Block, exits: Exits) -> Block:
        """`except E as e:` binds e, and unbinds it on every way out."""
        start, name = Block(), handler.name
        block = block.next()
        block.to(start)
        if name is None:
            return self.body(handler.body, start, exits)
        block.steps.append(Step(Does.BIND, name.id))
        return self._cleaned_up(
            lambda inner: self.body(handler.body, start, inner),
            lambda end: _unbound(name.id, end),
            exits,
        )


def _joined(*blocks: Block) -> Block:
    """A new block that follows all these, under no `rescue` yet."""
    join = Block()
    for block in blocks:
        block.to(join)
    return join


def _unbound(name: str, block: Block) -> Block:
    block.steps.append(Step(Does.UNBIND, name))
    return _joined(block)


def _jump_target(statement: gast.stmt, exits: Exits) -> Block | None:
    if isinstance(statement, gast.Return):
        return exits.returned
    if isinstance(statement, gast.Raise):
        return exits.raised
    if isinstance(statement, gast.Break):
        return exits.broke
    return exits.continued if isinstance(statement, gast.Continue) else None


def _matches_anything(pattern: gast.AST) -> bool:
    """`case _:` and `case x:`, also as `case (a | _) as x:`."""
    if isinstance(pattern, gast.MatchOr):
        return _matches_anything(pattern.patterns[-1])
    return isinstance(pattern, gast.MatchAs) and (pattern.pattern is None or _matches_anything(pattern.pattern))


# Statements that cannot raise by themselves: `try: pass` never reaches its handlers.
_SILENT = (gast.Pass, gast.Break, gast.Continue, gast.Global, gast.Nonlocal, gast.Try, gast.TryStar)

_COMPOUND: Mapping[type[gast.AST], Callable[[_Layout, Any, Block, Exits], Block]] = {
    gast.If: _Layout._if,
    gast.While: _Layout._while,
    gast.For: _Layout._for,
    gast.AsyncFor: _Layout._for,
    gast.With: _Layout._with,
    gast.AsyncWith: _Layout._with,
    gast.Try: _Layout._try,
    gast.TryStar: _Layout._try,
    gast.Match: _Layout._match,
    gast.Assert: _Layout._assert,
    gast.Return: _Layout._jump,
    gast.Raise: _Layout._jump,
    gast.Break: _Layout._jump,
    gast.Continue: _Layout._jump,
}
