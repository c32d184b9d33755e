"""Facts about whole functions: their variables, what escapes, what may be the same object; and how fast they come."""

import dataclasses
import sys
import time

import gast
import pytest

from autograph_jax.analysis import Facts, analyse
from tests.analysis.helpers import facts_of, function_and_facts, names

# program, bound, escaping
VARIABLES = {
    "parameters": ("def f(a, /, b, *c, d=1, **e): return g", "a b c d e", ""),
    "everything that binds": (
        """
        def f(a):
            for b in a: c: int = 1
            with a as d: import e.f as g, h.i
            try: pass
            except E as j: pass
            match a:
                case [k, *l], {'m': m, **n}, (1 as o): pass
            def p(): q = 1
            class r: s = 1
            (t := 1)
            u: int
            del v
            [w for w in a if (x := w)]
        """,
        "a b c d g h j k l m n o p r t u v x",
        "",
    ),
    "global and nonlocal": ("global a1, b1\nnonlocal c1, d1\na1 = c1 = x = 1", "a b c x", "a1 c1"),
    "a def captures": ("x = y = 1\ndef g(): return x", "a b c x y g", "x"),
    "a def in a def captures": ("x = 1\ndef g():\n  def h(): return x", "a b c x g", "x"),
    "a def has its own": ("x = 1\ndef g(x):\n  def h(): return x", "a b c x g", ""),
    "a def writes": ("x = 1\ndef g():\n  nonlocal x\n  x = 2", "a b c x g", "x"),
    "default values are read now": ("x = 1\ndef g(y=x): return y", "a b c x g", ""),
    "a lambda captures": ("g = lambda: a", "a b c g", "a"),
    "a generator captures, but for its first iterable": ("g = (x + a for x in b)", "a b c g", "a"),
    "comprehensions run at once": ("[x + a for x in b], {a for _ in b}, {a: a for _ in b}", "a b c", ""),
    "a lambda in a comprehension captures": ("[lambda: x + a for x in b]", "a b c", "a"),
    "a generator in a comprehension captures": ("[(a for y in x) for x in b]", "a b c", "a"),
    "a class captures": ("class A(a):\n  k = b\n  def g(self): return c", "a b c A", "b c"),
    "a method does not see the class": ("class A:\n  a = 1\n  def g(self): return a", "a b c A", "a"),
    "a walrus in a generator": ("any((x := y) for y in a)", "a b c x", "x"),
    "lambda": ("f = lambda a: (b := a) + (lambda: a)()", "a b", "a"),
}


@pytest.mark.parametrize("program, bound, escaping", VARIABLES.values(), ids=VARIABLES.keys())
def test_variables(program: str, bound: str, escaping: str):
    facts = facts_of(program)
    assert facts.bound == names(bound)
    assert facts.escaping == names(escaping)


def test_declarations_and_parameters():
    facts = facts_of("def f(a, *b):\n  global c\n  nonlocal d\n  def g():\n    nonlocal a\n    a = b = 1")
    assert (facts.parameters, facts.bound) == ({"a", "b"}, {"a", "b", "g"})
    assert (facts.declared_global, facts.declared_nonlocal) == ({"c"}, {"d"})
    assert facts.nonlocal_writes == {"a"}


# body of f(a, b, c), the groups of names that may hold the same object
ALIASES = {
    "copy": ("y = a", "a y"),
    "chain": ("y = a; z = y", "a y z"),
    "no copy": ("y = a + 0; z = f(a); w = a[0]; v = a.T; y += b; u = [a]; t = -b", ""),
    "one value for two": ("y = z = f(a)", "y z"),
    "one copy for two": ("y = z = a", "a y z"),
    "swap": ("a, b = b, a", "a b"),
    "tuple to tuple": ("x, (y, z) = a, (b, c)", "a x, b y, c z"),
    "tuple from elsewhere": ("x, y = a", ""),
    "two tuples for one value": ("(x, y) = (z, w) = f(a)", "x z, y w"),
    "starred target": ("x, *y, z = a, b, b, c", "a x, c z"),
    "starred value": ("x, y, z = a, *b, c", "a x, c z"),
    "list display": ("[x, y] = [a, b]", "a x, b y"),
    "conditional": ("y = a if c else b", "a b y"),
    "conditional tuple": ("x, y = (a, b) if c else (b, a)", "a b x y"),
    "or": ("y = a or b", "a b y"),
    "and": ("y = a and b and f(c)", "a b y"),
    "walrus": ("f(y := a)", "a y"),
    "walrus in an assignment": ("z = (y := f(a))", "y z"),
    "walrus in a comprehension": ("[y := a for x in b]", "a y"),
    "annotated": ("y: T = a; z: T", "a y"),
    "a loop over a display": ("for x in (a, b): pass", "a b x"),
    "a loop over pairs": ("for x, y in [(a, b)]: pass", "a x, b y"),
    "a loop over an array": ("for x in a: pass", ""),
    "match": ("match a:\n  case 1 as x: pass\n  case y: pass", "a x y"),
    "match a tuple": ("match a, b:\n  case (x, y) | (x, [*y]): pass\n  case _: pass", "a x, b y"),
    "match a part": ("match a:\n  case [x, *y]: pass", ""),
    "through an inner function": ("y = 1\ndef g():\n  nonlocal y\n  t = a\n  y = t", "a y"),
    "an inner function's own": ("y = 1\ndef g(a):\n  y = a", ""),
    "an inner class": ("class A:\n  y = a\n  def g(self): return y", ""),
    "from outside": ("y = TABLE; z = TABLE", "TABLE y z"),
    "global": ("global g\ng = a\ndef h():\n  global g\n  y = g\n  a", "a g"),
    "a global in a function inside": ("def h():\n  global g\n  def i():\n    nonlocal a\n    a = g", "a g"),
    "comprehension's own": ("[y for y in (a, b)]", "a b"),
}


@pytest.mark.parametrize("program, groups", ALIASES.values(), ids=ALIASES.keys())
def test_aliases(program: str, groups: str):
    aliases = facts_of(program).aliases
    expected = {name: group - {name} for group in map(names, groups.split(",")) for name in group}
    assert {name: others for name, others in aliases.items() if others} == expected
    assert aliases.keys() >= names("a b c")


def test_aliases_of_an_outer_variable_in_an_inner_function():
    tree = gast.parse("def f(a):\n  def g():\n    y = a\n    return y")
    outer, inner = analyse(tree).values()
    assert inner.aliases["y"] == {"a"} and inner.aliases["a"] == {"y"}
    assert outer.aliases["a"] == frozenset()


def test_each_function_has_facts():
    tree = gast.parse("def f():\n  async def g(): pass\n  return lambda x: x\nclass A:\n  def h(self): pass")
    functions = [n for n in gast.walk(tree) if isinstance(n, gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda)]
    assert analyse(tree).keys() == set(functions) and len(functions) == 4


def test_facts_of_a_function_alone():
    function, facts = function_and_facts("y = a")
    assert analyse(function)[function] == dataclasses.replace(facts, maybe_unbound=frozenset())


def test_type_parameters_and_aliases_of_python_3_12():
    """Built by hand: def f(a, b): def g[T: a](): return T, b; type X = b"""
    tree = gast.parse("def f(a, b):\n  def g(): return T, b\n  return g, X")
    function = tree.body[0]
    function.body[0].type_params = [gast.TypeVar("T", gast.Name("a", gast.Load(), None, None), None)]
    value, name = gast.Name("b", gast.Load(), None, None), gast.Name("X", gast.Store(), None, None)
    alias = gast.TypeAlias(name, [], value)
    function.body.insert(1, alias)
    facts = analyse(tree)[function]
    assert (facts.bound, facts.escaping) == ({"a", "b", "g", "X"}, {"a", "b"})
    assert facts.live_before[function.body[0]] == {"a", "b"}
    assert (facts.live_before[alias], facts.live_after[alias]) == ({"b", "g"}, {"g", "X"})
    assert not facts.maybe_unbound


def test_facts_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        facts_of("pass").bound = frozenset()  # type: ignore[misc]


def test_nothing_is_written_on_the_tree():
    tree = gast.parse("def f(a):\n  while a: b = a")
    before = {node: dict(vars(node)) for node in gast.walk(tree)}
    analyse(tree)
    assert {node: vars(node) for node in gast.walk(tree)} == before


def long_function(blocks: int) -> str:
    block = """
    for i{k} in a:
        while x:
            x = i{k} + y{k}
            if x > {k}: break
        else:
            y{k} = x
    try: z{k} = a({k})
    except E as e: z{k} = e
    finally: w = z{k} if x else w
"""
    return "def f(a, x, w):" + "".join(block.format(k=k) for k in range(blocks))


def test_ten_thousand_lines():
    tree = gast.parse(long_function(1100))
    start = time.process_time()
    (facts,) = analyse(tree).values()
    assert time.process_time() - start < 10  # about one second on the machine this was written on
    assert len(facts.bound) == 3 * 1100 + 4
    assert len(facts.live_before) > 9000


DEEP = {
    "elif": "def f(x):\n if x == 0: y = 0\n" + "".join(f" elif x == {i}: y = {i}\n" for i in range(200)),
    "blocks": "def f(x):\n" + "".join(" " * i + "if x:\n" for i in range(1, 99)) + " " * 99 + "y = x",
    "sums": "def f(x):\n return " + " + ".join(["x"] * 400),
    "functions": "".join(" " * i + f"def f{i}(x):\n" for i in range(90)) + " " * 90 + "return z",
    "lambdas": "f = " + "lambda: " * 90 + "x",
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP.keys())
def test_deep_trees(source: str):
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20 * limit)  # gast.parse itself takes six frames a level
    try:
        tree = gast.parse(source)
    finally:
        sys.setrecursionlimit(limit)
    assert all(isinstance(facts, Facts) for facts in analyse(tree).values())
