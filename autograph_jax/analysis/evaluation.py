"""In which order Python evaluates an expression or a simple statement: `(y := f(x)) and y > z` reads f, x, binds y, ...

Each method takes the block that the evaluation starts in and gives the block that it ends in. Only `and`, `or`,
`if else`, chained comparisons and comprehensions make new blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gast

from autograph_jax.analysis.blocks import Block, Does, Step
from autograph_jax.analysis.collect import evaluated_at_definition, imported
from autograph_jax.analysis.scopes import Scope
from autograph_jax.syntax.names import is_operator
from autograph_jax.syntax.walk import children


class Evaluation:
    """Evaluates pieces of one function; `scopes` knows the functions and comprehensions inside it."""

    def __init__(self, scopes: Mapping[gast.AST, Scope]) -> None:
        self._scopes = scopes
        self._hidden: frozenset[str] = frozenset()  # targets of the comprehensions around the current expression

    def run(self, node: gast.AST, block: Block) -> Block:
        """Evaluate the node: an expression, a target, or a simple statement."""
        special = _SPECIAL.get(type(node))
        if special is not None:
            return special(self, node, block)
        for child in children(node):
            block = self.run(child, block)
        return block

    def branch(self, test: gast.expr, block: Block) -> tuple[Block, Block]:
        """Evaluate a condition; where control goes on if it holds, and where if not."""
        if isinstance(test, gast.Constant):  # `while True:` ends by break only
            taken, dead = block.next(), Block(block.rescue)
            return (taken, dead) if test.value else (dead, taken)
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            holds, fails = self.branch(test.operand, block)
            return fails, holds
        if isinstance(test, gast.BoolOp):
            return self._branch_of_parts(test, block)
        block = self.run(test, block)
        return block.next(), block.next()

    def _branch_of_parts(self, test: gast.BoolOp, block: Block) -> tuple[Block, Block]:
        """`if x > 0 and (y := f(x)):` y is bound where the whole condition holds."""
        every = isinstance(test.op, gast.And)
        decided = Block(block.rescue)
        for value in test.values:
            holds, fails = self.branch(value, block)
            block, early = (holds, fails) if every else (fails, holds)
            early.to(decided)
        return (block, decided) if every else (decided, block)

    def _name(self, node: gast.Name, block: Block) -> Block:
        if node.id not in self._hidden:
            block.steps.append(Step(_CONTEXTS[type(node.ctx)], node.id, node))
        return block

    def _walrus(self, node: gast.NamedExpr, block: Block) -> Block:
        block = self.run(node.value, block)
        block.steps.append(Step(Does.BIND, node.target.id))
        return block

    def _bool_op(self, node: gast.BoolOp, block: Block) -> Block:
        return self._one_by_one(node.values, block)

    def _compare(self, node: gast.Compare, block: Block) -> Block:
        block = self.run(node.left, block)
        if len(node.comparators) == 1:
            return self.run(node.comparators[0], block)
        return self._one_by_one(node.comparators, block)  # a < b < c: c is evaluated if a < b

    def _one_by_one(self, values: list[gast.expr], block: Block) -> Block:
        """Evaluate the first value, and after each, go on to the next one or leave."""
        end = Block(block.rescue)
        for value in values:
            block = self.run(value, block)
            block.to(end)
            block = block if value is values[-1] else block.next()
        return end

    def _if_else(self, node: gast.IfExp, block: Block) -> Block:
        holds, fails = self.branch(node.test, block)
        end = Block(block.rescue)
        self.run(node.body, holds).to(end)
        self.run(node.orelse, fails).to(end)
        return end

    def _dict(self, node: gast.Dict, block: Block) -> Block:
        for key, value in zip(node.keys, node.values, strict=True):
            block = self.run(value, self.run(key, block) if key is not None else block)
        return block

    def _comprehension(self, node: Any, block: Block) -> Block:
        """A loop in a scope of its own, which runs at once."""
        outside = self._hidden
        block = self.run(node.generators[0].iter, block)
        self._hidden = outside | self._scopes[node].bound
        end = Block(block.rescue)
        parts = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
        self._generators(node.generators, parts, block, end)
        self._hidden = outside
        return end

    def _generators(self, generators: list[gast.comprehension], parts: list[gast.expr], block: Block, end: Block) -> None:
        """`for x in xs if c for y in ys`: the end of a loop, or a condition that fails, leads back to a loop."""
        back = end
        for generator in generators:
            if generator is not generators[0]:
                block = self.run(generator.iter, block)
            head = block.next()
            head.to(back)
            back, block = head, self.run(generator.target, head.next())
            for condition in generator.ifs:
                block, fails = self.branch(condition, block)
                fails.to(head)
        for part in parts:
            block = self.run(part, block)
        block.to(back)

    def _generator(self, node: gast.GeneratorExp, block: Block) -> Block:
        """Only the first iterable is evaluated now; the rest when somebody asks for elements."""
        block = self.run(node.generators[0].iter, block)
        return self._capture(node, block)

    def _call(self, node: gast.Call, block: Block) -> Block:
        """A lambda that converters have made of an expression is evaluated in the call: `ag__.later(lambda: f(x))`."""
        for child in children(node):
            if isinstance(child, gast.Lambda) and is_operator(node.func):
                block = self.run(child.body, block)
            block = self.run(child, block)
        return block

    def _lambda(self, node: gast.Lambda, block: Block) -> Block:
        for default in evaluated_at_definition(node):
            block = self.run(default, block)
        return self._capture(node, block)

    def _function(self, node: gast.FunctionDef, block: Block) -> Block:
        for part in (*node.type_params, *evaluated_at_definition(node)):
            block = self.run(part, block)
        # Without a decorator, nobody can call the function before it has its name: def f(n): return n and f(n - 1)
        self._capture(node, block, but=frozenset() if node.decorator_list else frozenset({node.name}))
        return self._bind(node.name, block)

    def _class(self, node: gast.ClassDef, block: Block) -> Block:
        for part in (*node.decorator_list, *node.type_params, *node.bases, *node.keywords):
            block = self.run(part, block)
        return self._bind(node.name, self._capture(node, block))

    def _type_alias(self, node: gast.TypeAlias, block: Block) -> Block:
        return self._bind(node.name.id, self._capture(node, block))

    def _capture(self, node: gast.AST, block: Block, *, but: frozenset[str] = frozenset()) -> Block:
        names = self._scopes[node].read_outside - self._hidden - but
        block.steps += [Step(Does.CAPTURE, name) for name in sorted(names)]
        return block

    def _bind(self, name: str, block: Block) -> Block:
        block.steps.append(Step(Does.BIND, name))
        return block

    def _import(self, node: gast.Import | gast.ImportFrom, block: Block) -> Block:
        for name in imported(node):
            self._bind(name, block)
        return block

    def _assign(self, node: gast.Assign, block: Block) -> Block:
        for part in (node.value, *node.targets):
            block = self.run(part, block)
        return block

    def _augmented(self, node: gast.AugAssign, block: Block) -> Block:
        if not isinstance(node.target, gast.Name):
            return self.run(node.value, self.run(node.target, block))
        block.steps.append(Step(Does.READ, node.target.id, node.target))
        return self.run(node.target, self.run(node.value, block))

    def _annotated(self, node: gast.AnnAssign, block: Block) -> Block:
        if node.value is not None:
            block = self.run(node.value, block)
        if node.value is not None or not isinstance(node.target, gast.Name):
            block = self.run(node.target, block)
        return block


_CONTEXTS = {gast.Load: Does.READ, gast.Store: Does.BIND, gast.Del: Does.DELETE}

_SPECIAL: Mapping[type[gast.AST], Callable[[Evaluation, Any, Block], Block]] = {
    gast.Name: Evaluation._name,
    gast.NamedExpr: Evaluation._walrus,
    gast.BoolOp: Evaluation._bool_op,
    gast.Compare: Evaluation._compare,
    gast.IfExp: Evaluation._if_else,
    gast.Dict: Evaluation._dict,
    gast.ListComp: Evaluation._comprehension,
    gast.SetComp: Evaluation._comprehension,
    gast.DictComp: Evaluation._comprehension,
    gast.GeneratorExp: Evaluation._generator,
    gast.Call: Evaluation._call,
    gast.Lambda: Evaluation._lambda,
    gast.FunctionDef: Evaluation._function,
    gast.AsyncFunctionDef: Evaluation._function,
    gast.ClassDef: Evaluation._class,
    gast.TypeAlias: Evaluation._type_alias,
    gast.Import: Evaluation._import,
    gast.ImportFrom: Evaluation._import,
    gast.Assign: Evaluation._assign,
    gast.AugAssign: Evaluation._augmented,
    gast.AnnAssign: Evaluation._annotated,
}
