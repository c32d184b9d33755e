"""Converted text is at most twice as long as its source, over all programs of tests/behaviour."""

import ast
import types
from typing import NamedTuple

import autograph_jax as ag
from autograph_jax.errors import AutographError
from autograph_jax.syntax import emit
from autograph_jax.syntax.source import source_of
from tests.behaviour.harness import TABLES, load

BUDGET = 2.0


class Length(NamedTuple):
    """Lines without blank ones, comments and docstrings, by which both texts are counted alike."""

    name: str
    source: int
    converted: int

    @property
    def ratio(self) -> float:
        return self.converted / self.source


def lines(text: str) -> int:
    """The lines that `ast.unparse` needs, so that a user's line breaks and comments count for nothing."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                body[0:1] = [] if len(body) > 1 else [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
    return sum(bool(line.strip()) for line in ast.unparse(tree).splitlines())


def measured(name: str, function: types.FunctionType) -> Length | None:
    """The lengths of a function, or None for one that stays as it is."""
    try:
        converted = ag.source(function)
    except AutographError:
        return None
    return Length(name, lines(emit.to_text(source_of(function).tree)), lines(converted))


def test_converted_text_is_at_most_twice_as_long():
    rows = [row for table in TABLES for row in load(table).rows if isinstance(row.function, types.FunctionType)]
    found = [length for row in rows if (length := measured(row.name, row.function)) is not None]
    source, converted = sum(length.source for length in found), sum(length.converted for length in found)
    worst = sorted(found, key=lambda length: length.converted - BUDGET * length.source, reverse=True)[:10]
    print(f"{converted} lines converted from {source} in {len(found)} functions: {converted / source:.2f} times")
    for length in worst:
        print(f"  {length.ratio:.2f}  {length.source:3} -> {length.converted:3}  {length.name}")
    assert len(found) > 100
    assert converted / source <= BUDGET


COUNTED = {  # text: lines
    "def f(x):\n    return x\n": 2,
    'def f(x):\n    """A\n\n    B"""\n\n    # C\n    return g(\n        x,\n    )\n': 2,
    '@autograph\ndef f(x):\n    """A"""\n': 2,
    "lambda x: x": 1,
}


def test_what_is_counted():
    for text, expected in COUNTED.items():
        assert lines(text) == expected
