"""Each converter's docstring shows Before and After, and running the converter proves it true."""

import importlib
import pkgutil
import re
import textwrap

import gast
import pytest

import autograph_jax.converters
from autograph_jax.syntax import emit
from tests.converters.helpers import PASSES, canonical, through

EXAMPLE = re.compile(r"^Before:\n(?P<before>(?:    .*\n|\n)+)^After:\n(?P<after>(?:    .*\n|\n)+)", re.MULTILINE)


def examples() -> dict[str, re.Match[str]]:
    """The example of each converter's docstring, by the converter's name."""
    names = [module.name for module in pkgutil.iter_modules(autograph_jax.converters.__path__)]
    documents = {name: importlib.import_module(f"autograph_jax.converters.{name}").__doc__ or "" for name in names}
    return {name: example for name, text in documents.items() if (example := EXAMPLE.search(text))}


def as_function(text: str) -> str:
    """Statements as the body of a function that gets all variables in them as parameters."""
    text = textwrap.dedent(text).strip("\n")
    tree = gast.parse(text)
    if isinstance(tree.body[0], gast.FunctionDef):
        return text
    names = {node.id for node in gast.walk(tree) if isinstance(node, gast.Name)}
    return f"def function({', '.join(sorted(names))}):\n{textwrap.indent(text, '    ')}"


def body(text: str) -> str:
    """The statements of a text that is a single function, as `as_function` makes it; other texts as they are."""
    [first, *_] = gast.parse(text).body
    return emit.to_text(gast.Module(first.body, [])) if getattr(first, "name", "") == "function" else text


def test_every_pass_has_an_example():
    assert sorted(examples()) == sorted(PASSES)


@pytest.mark.parametrize("name", PASSES)
def test_docstring(name: str):
    example = examples()[name]
    converted = emit.to_text(through(name, as_function(example["before"]), class_name="C"))
    assert canonical(body(converted)) == canonical(example["after"])


def test_the_test_can_fail():
    converted = emit.to_text(through("matches", as_function("match k:\n    case 0:\n        r = x")))
    assert canonical(body(converted)) == canonical("if k == 0:\n    r = x")
    assert canonical(body(converted)) != canonical("if k is 0:\n    r = x")
