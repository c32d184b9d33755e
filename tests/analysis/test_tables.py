"""Which functions have a loop that writes at several indices."""

import ast
import textwrap

import pytest

from autograph_jax.analysis.tables import fills_tables
from autograph_jax.syntax.translation import to_gast

FILLS = {
    "an element": "for i in x:\n    t[i, 0] = i",
    "a row": "for i in x:\n    t[i, 1:] = t[i - 1, 1:]",
    "more of it": "while x:\n    t[i, j] += 1",
    "two subscripts": "for i in x:\n    t[i][j] = 1",
    "at": "for i in x:\n    t = t.at[i, j].set(1)",
    "in an inner function": "def g():\n    for i in x:\n        t[i, 0] = i",
    "one of two targets": "for i in x:\n    y, t[i, j] = i, i",
}
DOES_NOT = {
    "one index": "for i in x:\n    t[i] = i",
    "no loop": "t[i, j] = 1",
    "only read": "for i in x:\n    y = t[i, j] + t[i][j]",
    "one index, of what is at two": "for i in x:\n    y = t[i, j]\n    u[i] = y",
}


@pytest.mark.parametrize("name", [*FILLS, *DOES_NOT])
def test_tables_are_found(name):
    body = textwrap.indent((FILLS | DOES_NOT)[name], "    ")
    (function,) = ast.parse(f"def f(x, t, i, j, u):\n{body}").body
    assert isinstance(function, ast.FunctionDef)
    assert fills_tables(to_gast(function)) == (name in FILLS)
