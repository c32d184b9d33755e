"""A second opinion: beniget's def-use chains, on functions of the standard library.

Left out is what beniget 0.5 does not follow: `nonlocal`, exceptions out of `try` and `with`, and variables that inner
functions capture, which it takes to be read where the inner function ends.
"""

import contextlib
import importlib
import inspect
import io
from collections.abc import Iterator

import gast
import pytest

from autograph_jax.analysis import Facts, analyse

beniget = pytest.importorskip("beniget")

MODULES = "bisect colorsys copy csv difflib fractions heapq queue random shlex statistics string textwrap".split()


@pytest.fixture(scope="module", params=MODULES)
def opinions(request: pytest.FixtureRequest):
    """A module's tree, our facts, and beniget's chains."""
    tree = gast.parse(inspect.getsource(importlib.import_module(request.param)))
    chains = beniget.DefUseChains()
    with contextlib.redirect_stdout(io.StringIO()):  # it prints what it cannot resolve
        chains.visit(tree)
    return analyse(tree), chains


def comparable(facts: dict[gast.AST, Facts]) -> Iterator[tuple[gast.AST, Facts]]:
    for function, known in facts.items():
        if not {type(node) for node in gast.walk(function)} & {gast.Nonlocal, gast.Try, gast.TryStar, gast.With}:
            yield function, known


def test_variables(opinions):
    facts, chains = opinions
    for function, known in comparable(facts):
        assert known.bound == {definition.name() for definition in chains.locals[function]}


def test_an_assigned_value_is_live_if_somebody_uses_it(opinions):
    facts, chains = opinions
    for _, known in comparable(facts):
        for statement in known.live_after:
            if isinstance(statement, gast.Assign) and isinstance(target := statement.targets[0], gast.Name):
                if target.id in known.bound - known.escaping:
                    used = bool(chains.chains[target].users())
                    assert (target.id in known.live_after[statement]) == used, f"{target.id}, line {statement.lineno}"


def test_a_read_without_a_definition_is_unbound(opinions):
    facts, chains = opinions
    definitions = beniget.UseDefChains(chains).chains
    for function, known in comparable(facts):
        in_comprehensions = {name for node in gast.walk(function) if is_comprehension(node) for name in gast.walk(node)}
        for node in set(gast.walk(function)) - in_comprehensions:
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load) and node.id in known.bound:
                assert definitions.get(node) or node in known.maybe_unbound, f"{node.id}, line {node.lineno}"


def is_comprehension(node: gast.AST) -> bool:
    """Its own variables, which may be called like the function's, are not told apart by name."""
    return isinstance(node, gast.ListComp | gast.SetComp | gast.DictComp | gast.GeneratorExp | gast.Lambda)
