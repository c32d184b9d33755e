"""Trees go to gast and back as gast's own translators take them, in one walk that also settles positions and constants."""

import ast
import json
import pathlib
import sys
import types

import gast
import pytest

import autograph_jax
from autograph_jax.runtime.convert import conversion_of
from autograph_jax.syntax.translation import to_ast, to_gast
from tests.behaviour.harness import TABLES, load

EVERY_KIND = """
import a.b as c
from . import d as e, f
@decorated(1)
def function(p: int, /, q=2, *rest: str, k, m: float = 3, **others) -> int:
    global g
    x: int = p[q:rest, ..., ::2]
    x += -p if not q else p @ q
    try:
        del x, k.y[0]
    except (TypeError, ValueError) as error:
        raise error from None
    except KeyError:
        pass
    else:
        assert x, f"{p!r:>{q}} and {k}"
    finally:
        return
    for (u, *v), w[0] in others.items():
        if u < v <= w is not p and q or p in [*v] or p not in {1: 2, **k} or {1, 2}:
            continue
        break
    else:
        yield (yield from v)
    while (y := u):
        with p as (z, _), q:
            print([s for s in t if s for t in {r: n for r in z}], {s for s in t}, (s for s in t), *v, key=1, **others)
    match x:
        case {"key": [1, *others, None], **rest} if x:
            return lambda p, *q, r=1, **s: p
        case Point(1, y=2) as named:
            pass
        case -1 | 1 + 2j | "a":
            pass
async def coroutine(p):
    async with p as q, r:
        async for s in q:
            await s
    return [s async for s in q]
class C(A, metaclass=M):
    def method(self):
        n = b''
        def inner(): nonlocal n
"""
NEW = "type A[T: int, *U, **V] = dict[T, U]\ndef f[T](x: T): pass\nclass C[T]: pass\n"
NEWER = "def f[T = int, *U = int, **V = int](x: T): pass\n"
SOURCES = {"every kind": EVERY_KIND, "an expression": "x if y else z"}
SOURCES |= {"type parameters": NEW} if sys.version_info >= (3, 12) else {}
SOURCES |= {"with defaults": NEWER} if sys.version_info >= (3, 13) else {}
FILES = [pathlib.Path(module.__file__ or "") for module in (ast, json, types, pathlib)]
FILES += sorted(pathlib.Path(autograph_jax.__file__).parent.glob("syntax/*.py"))
SOURCES |= {f"{path.parent.name}/{path.name}": path.read_text() for path in FILES}


def dumped(tree: ast.AST) -> str:
    return ast.dump(tree, include_attributes=True)


@pytest.mark.parametrize("name", SOURCES)
def test_both_ways_are_those_of_gast(name: str):
    tree = ast.parse(SOURCES[name])
    before = dumped(tree)
    ours, theirs = to_gast(tree), gast.ast_to_gast(tree)
    assert dumped(ours) == dumped(theirs)
    back = to_ast(ours)
    assert dumped(back) == dumped(ast.fix_missing_locations(gast.gast_to_ast(theirs)))
    assert ast.dump(back) == ast.dump(tree)
    assert dumped(tree) == before, "the tree that was given has changed"
    assert dumped(ours) == dumped(theirs), "the tree that was given has changed"
    compile(back, name, "exec", dont_inherit=True)


@pytest.mark.parametrize("table", TABLES)
def test_nodes_without_a_position_have_that_around_them(table: str):
    trees = [conversion_of(row.function).tree for row in load(table).rows if isinstance(row.function, types.FunctionType)]
    assert any(trees)
    for tree in filter(None, trees):
        assert dumped(to_ast(tree)) == dumped(ast.fix_missing_locations(gast.gast_to_ast(tree)))


def test_a_name_is_a_constant_where_it_is_read():
    tree = gast.parse("def f(ag__): return ag__.call(x, ag__)").body[0]
    function = to_ast(tree, {"ag__": frozenset({1})})
    found = [node for node in ast.walk(function) if isinstance(node, ast.Constant)]
    assert sorted((node.value, node.col_offset) for node in found) == [(frozenset({1}), 20), (frozenset({1}), 33)]
    assert function.args.args[0].arg == "ag__"
