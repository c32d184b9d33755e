"""A function of arithmetic alone is left as it is without running the passes: it has to be what they would make of it."""

import gast
import pytest

from autograph_jax.converters import _Kinds, convert_tree
from autograph_jax.syntax import emit

ALONE = {
    "field": "def field(x, y, z):\n    return 10.0 * (y - x), x * (28.0 - z) - y, +x * y - 8.0 / 3.0 * z",
    "variables": "def f(x):\n    'Twice.'\n    y = z = -x\n    x = y + z\n    return x",
    "nothing": "def f(x, y=1): ...",
    "a lambda": "lambda x, *rest: (x + 1) * 2",
    "no value": "def f(x):\n    y = w + x\n    return y",
}
NOT_ALONE = {
    "power": "def f(x): return x ** 2",
    "remainder": "def f(x): return x % 2",
    "not": "def f(x): return 1 + (not x)",
    "a call": "def f(x): return g(x)",
    "an item": "def f(x): return x[0]",
    "an attribute": "def f(x): return x.T",
    "a comparison": "def f(x): return x < 1",
    "unpacked": "def f(x):\n    a, b = x\n    return b",
    "an update": "def f(x):\n    x += 1\n    return x",
    "two functions": "def f(x):\n    return lambda: x",
    "annotated": "def f(x):\n    y: float = x\n    return y",
    "a branch": "def f(x):\n    return 1 if x else 2",
    "never reached": "def f(x):\n    return x\n    y = x",
    "deleted": "def f(x):\n    del x",
    "a global": "def f(x):\n    global y\n    y = x",
}


def parsed(text: str) -> gast.AST:
    (statement,) = gast.parse(text).body
    return statement.value if isinstance(statement, gast.Expr) else statement


@pytest.mark.parametrize("name", ALONE)
def test_passes_would_make_the_same_of_it(name: str, monkeypatch: pytest.MonkeyPatch):
    text = emit.to_text(parsed(ALONE[name]))
    assert _Kinds(parsed(ALONE[name])).arithmetic_alone
    assert emit.to_text(convert_tree(parsed(ALONE[name])).tree) == text
    monkeypatch.setattr(_Kinds, "arithmetic_alone", False)
    assert emit.to_text(convert_tree(parsed(ALONE[name])).tree) == text


@pytest.mark.parametrize("name", NOT_ALONE)
def test_other_functions_are_not(name: str):
    assert not _Kinds(parsed(NOT_ALONE[name])).arithmetic_alone


def test_private_names_of_a_class():
    text = "def f(self, x): return __scale * x"
    assert emit.to_text(convert_tree(parsed(text), "C").tree).endswith("return _C__scale * x")
    assert emit.to_text(convert_tree(parsed(text)).tree).endswith("return __scale * x")
