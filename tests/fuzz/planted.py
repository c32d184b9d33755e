"""Bugs to plant, each for as long as a context lasts: a fuzzer that does not find them would not find real ones.

Some tamper with the tree that the converters get, some with an operator, some with what lax is asked for.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import gast
import jax
import jax.numpy as jnp

from autograph_jax.operators import conditionals
from autograph_jax.operators.effects import checks
from autograph_jax.operators.exits import Return
from autograph_jax.operators.staging import writes
from autograph_jax.operators.tracing import aliasing, holders, state
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.runtime import calls, convert
from autograph_jax.runtime.namespace import operators
from tests.fuzz.programs import CONSTRUCTS


@dataclasses.dataclass(frozen=True)
class Planted:
    """A bug, the mode that shows it, and the constructs that the programs are without."""

    mode: str
    bug: Callable[[], AbstractContextManager[None]]
    without: frozenset[str]


PLANTED: dict[str, Planted] = {}


def planted(mode: str, *, only: frozenset[str] = frozenset(CONSTRUCTS)) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def register(bug: Callable[[], Any]) -> Callable[[], Any]:
        PLANTED[bug.__name__] = Planted(mode, bug, frozenset(CONSTRUCTS) - only)
        return bug

    return register


@contextlib.contextmanager
def replaced(target: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """`target.name` is what `make` makes of it."""
    original = getattr(target, name)
    setattr(target, name, make(original))
    try:
        yield
    finally:
        setattr(target, name, original)


# ------------------------------------------------------------------ converters
def tampered(tamper: Callable[[Any], Any]) -> AbstractContextManager[None]:
    """Converters get a tree in which `tamper` has replaced nodes."""

    class Tamper(gast.NodeTransformer):
        def visit(self, node: gast.AST) -> Any:
            return tamper(self.generic_visit(node))

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        return lambda tree, *rest, **options: original(Tamper().visit(tree), *rest, **options)

    return replaced(convert, "convert_tree", make)


def without(field: str, *kinds: type) -> Callable[[Any], Any]:
    def tamper(node: Any) -> Any:
        if isinstance(node, kinds):
            setattr(node, field, [])
        return node

    return tamper


@planted("plain")
def else_is_dropped():
    return tampered(without("orelse", gast.If))


@planted("plain")
def loop_else_is_dropped():
    return tampered(without("orelse", gast.While, gast.For))


@planted("plain")
def loop_else_always_runs():
    def tamper(node: Any) -> Any:
        if not isinstance(node, gast.While | gast.For) or not node.orelse:
            return node
        rest, node.orelse = node.orelse, []
        return [node, *rest]

    return tampered(tamper)


@planted("plain")
def break_is_dropped():
    """In `for` only: `while True` would never end."""

    class Dropped(gast.NodeTransformer):
        def visit_Break(self, node: gast.Break) -> gast.AST:
            return gast.copy_location(gast.Pass(), node)

        def visit_While(self, node: gast.While) -> gast.AST:
            return node

    return tampered(lambda node: Dropped().visit(node) if isinstance(node, gast.For) else node)


@planted("plain")
def continue_is_dropped():
    return tampered(lambda node: gast.copy_location(gast.Pass(), node) if isinstance(node, gast.Continue) else node)


@planted("plain")
def finally_is_dropped():
    def tamper(node: Any) -> Any:
        return node.body if isinstance(node, gast.Try) and not node.handlers and not node.orelse else node

    return tampered(tamper)


@planted("plain")
def tuples_are_assigned_one_by_one():
    def tamper(node: Any) -> Any:
        if not isinstance(node, gast.Assign) or not isinstance(node.value, gast.Tuple):
            return node
        target = node.targets[0]
        if not isinstance(target, gast.Tuple) or len(target.elts) != len(node.value.elts):
            return node
        pairs = zip(target.elts, node.value.elts, strict=True)
        return [gast.copy_location(gast.Assign([t], v, None), node) for t, v in pairs]

    return tampered(tamper)


@planted("plain")
def chained_comparison_is_cut():
    def tamper(node: Any) -> Any:
        if isinstance(node, gast.Compare):
            node.ops, node.comparators = node.ops[:1], node.comparators[:1]
        return node

    return tampered(tamper)


@planted("plain")
def walrus_does_not_bind():
    return tampered(lambda node: node.value if isinstance(node, gast.NamedExpr) else node)


@planted("plain")
def augmented_assignment_assigns():
    """To items and attributes: a loop's counter would stand still."""

    def tamper(node: Any) -> Any:
        if not isinstance(node, gast.AugAssign) or isinstance(node.target, gast.Name):
            return node
        return gast.copy_location(gast.Assign([node.target], node.value, None), node)

    return tampered(tamper)


@planted("plain", only=frozenset(CONSTRUCTS) - {"comprehension"})
def keyword_arguments_are_swapped():
    def tamper(node: Any) -> Any:
        if isinstance(node, gast.Call) and len(node.keywords) > 1:
            first, second = node.keywords[:2]
            first.value, second.value = second.value, first.value
        return node

    return tampered(tamper)


@planted("plain")
def operands_are_evaluated_backwards():
    def tamper(node: Any) -> Any:
        if isinstance(node, gast.BoolOp):
            node.values = node.values[::-1]
        return node

    return tampered(tamper)


# ------------------------------------------------------------------ operators
def operator(name: str, make: Callable[[Any], Any]) -> AbstractContextManager[None]:
    return replaced(operators(), name, make)


@planted("plain")
def ternary_is_swapped():
    return operator("if_expr", lambda original: lambda test, then, otherwise: original(test, otherwise, then))


@planted("plain")
def return_in_a_loop_is_forgotten():
    def make(original: Any) -> Any:
        return lambda exit, rest=None, *names: original(None if isinstance(exit, Return) and rest else exit, rest, *names)

    return operator("returned", make)


@planted("eager", only=frozenset(CONSTRUCTS) - {"view"})
def holders_are_not_looked_for():
    return replaced(holders, "check_write", lambda _: lambda *_, **__: None)


@planted("eager")
@contextlib.contextmanager
def alias_is_lost():
    """And nobody looks who holds the array."""
    with replaced(aliasing, "follow", lambda _: lambda alias, old, new, renewed: alias), holders_are_not_looked_for():
        yield


@planted("eager", only=frozenset(CONSTRUCTS) - {"closure", "except", "list", "match", "try", "while", "with"})
def rows_are_no_views():
    return operator("view", lambda original: lambda value, base, index=None: value)


_STRAIGHT = """
alias arithmetic assign attribute augmented comparison else if index item_write literal log number pass return
ternary variable view
"""


@planted("jit", only=frozenset(_STRAIGHT.split()))
def doubtful_aliases_are_forgotten():
    return replaced(aliasing, "doubt", lambda _: lambda first, second: None)


@planted("jit")
def operands_are_always_evaluated():
    def make(original: Any) -> Any:
        def evaluated(value: Any, *others: Any) -> Any:
            for other in others:
                other()
            return original(value, *others)

        return evaluated

    return operator("and_", make)


@planted("jit")
def exits_are_ignored_where_traced():
    def make(original: Any) -> Any:
        return lambda exit, rest=None, *names: original(None if is_traced(exit) and rest else exit, rest, *names)

    return operator("unless", make)


@planted("jit")
def writes_of_a_branch_stay():
    return replaced(state.Trace, "roll_back", lambda _: lambda self: None)


@planted("jit")
def variables_of_callees_are_not_state():
    return replaced(calls, "note_variables", lambda _: lambda function: None)


@planted("jit")
def a_branch_that_does_not_write_writes_zero():
    def make(original: Any) -> Any:
        def operands(self: Any, branch: int, values: Any) -> Any:
            indices, *rest = original(self, branch, values)
            return [jnp.where(indices > 1000, 0, indices), *rest]

        return operands

    return replaced(writes.Slot, "operands", make)


@planted("jit")
def exceptions_are_dropped():
    return replaced(checks, "raise_where", lambda _: lambda condition, error: None)


# ------------------------------------------------------------------ lax, and what stands for its cond
@planted("jit")
def branches_are_swapped():
    def make(original: Any) -> Any:
        return lambda test, then, otherwise: original(test, otherwise, then)

    return replaced(conditionals, "conditional", make)


@planted("jit")
def carry_is_shadowed():
    """One variable is after a loop what it was before."""

    def make(original: Any) -> Any:
        return lambda test, body, start: _last_kept(start, original(test, body, start))

    return replaced(jax.lax, "while_loop", make)


@planted("jit")
def last_row_is_left_out():
    def make(original: Any) -> Any:
        def scan(body: Any, start: Any, xs: Any, length: int | None = None, **rest: Any) -> Any:
            return original(body, start, jax.tree.map(lambda x: x[:-1], xs), length and length - 1, **rest)

        return scan

    return replaced(jax.lax, "scan", make)


def _last_kept(start: Any, end: Any) -> Any:
    before, structure = jax.tree.flatten(start)
    after = copy.copy(jax.tree.leaves(end))
    after[-1] = before[-1]
    return jax.tree.unflatten(structure, after)


@planted("vmap")
def first_lane_decides_for_all():
    def make(original: Any) -> Any:
        def conditional(test: Any, *branches: Any) -> Any:
            lanes = getattr(test, "val", test) if type(test).__name__ == "BatchTracer" else test
            return original(lanes[0] if getattr(lanes, "ndim", 0) else lanes, *branches)

        return conditional

    return replaced(conditionals, "conditional", make)


@planted("grad")
def gradients_end_at_branches():
    return replaced(conditionals, "conditional", lambda original: lambda *given: jax.lax.stop_gradient(original(*given)))


@planted("grad")
def gradients_end_at_loops():
    return replaced(jax.lax, "scan", lambda original: lambda *a, **k: jax.lax.stop_gradient(original(*a, **k)))
