"""Names that pieces of programs read and write."""

import gast
import pytest

from autograph_jax.analysis import free_names, nonlocal_writes, own_variables, reads, writes
from tests.analysis.helpers import names

# program, reads, writes
PIECES = [
    ("y = x", "x", "y"),
    ("y += x", "x y", "y"),
    ("x[i] = v", "x i v", ""),
    ("x[i] += v", "x i v", ""),
    ("x.a = v", "x v", ""),
    ("x.a.b[i:j, ::k] = v", "x i j k v", ""),
    ("y: float = x", "x", "y"),
    ("y: T", "", ""),
    ("(y): T", "", ""),
    ("o.y: T = x", "o x", ""),
    ("o[i]: T", "o i", ""),
    ("a, (b, *c) = x", "x", "a b c"),
    ("[a, b[i]] = x", "b i x", "a"),
    ("a = b = x", "x", "a b"),
    ("for i, j in xs: y = i", "xs i", "i j y"),
    ("for x[i] in xs: pass", "x i xs", ""),
    ("while x: y = 1\nelse: z = 2", "x", "y z"),
    ("with f(x) as y, g(y) as (z, w): pass", "f x g y", "y z w"),
    ("async def f():\n  async with x as y: pass", "x", "f"),
    ("try: x\nexcept E as e: y = e\nelse: z = 1\nfinally: w = 2", "x E e", "e y z w"),
    ("try: x\nexcept* E as e: y = e", "x E e", "e y"),
    ("try: x\nexcept: y = 1", "x", "y"),
    ("import a", "", "a"),
    ("import a.b.c", "", "a"),
    ("import a.b as c, d", "", "c d"),
    ("from a.b import c, d as e", "", "c e"),
    ("from a import *", "", ""),
    ("del x, y.z, w[i]", "y w i", "x"),
    ("del (x, [y])", "", "x y"),
    ("assert x, y", "x y", ""),
    ("raise x from y", "x y", ""),
    ("return x", "x", ""),
    ("global x\nx = x + 1", "x", "x"),
    ("f(x, *y, k=z, **w)", "f x y z w", ""),
    ("f'{x:{y}} {z!r}'", "x y z", ""),
    ("(y := x)", "x", "y"),
    ("x if c else z", "x c z", ""),
    ("{**x, k: v}", "x k v", ""),
    # match
    ("match x:\n  case [1, *rest]: y = rest", "x rest", "rest y"),
    ("match x:\n  case {'k': v, K.k: w, **rest}: pass", "x K", "v w rest"),
    ("match x:\n  case C(p, q=r) as s if p > t: pass", "x C p t", "p r s"),
    ("match x:\n  case (1 | 2) as y: pass\n  case M.v: pass\n  case None: pass\n  case _: pass", "x M", "y"),
    # comprehensions keep their targets, not their walruses
    ("[x for x in xs]", "xs", ""),
    ("[x for x in x]", "x", ""),
    ("[y := x for x in xs]", "xs", "y"),
    ("{x: y for x, y in xs if x > z}", "xs z", ""),
    ("{f(x) for x in xs for y in x}", "f xs", ""),
    ("{f(x) for x in xs for y in y}", "f xs", ""),
    ("any((hit := x) > z for x in xs)", "any xs z", "hit"),
    ("[[(y := i + j) for i in js] for j in js]", "js", "y"),
    ("[lambda: x + y for x in xs]", "xs y", ""),
    ("[(lambda x: x)(x) for x in xs]", "xs", ""),
    # nested scopes
    ("def f(x, *, y=z): return x + y + w", "z w", "f"),
    ("@d(e)\ndef f(): pass", "d e", "f"),
    ("def f(x: A, *y: B, **z: C) -> D: pass", "A B C D", "f"),
    ("def f(x, /, y, *z, w=1, **k): return x, y, z, w, k", "", "f"),
    ("def f():\n  x = 1\n  return x", "", "f"),
    ("def f():\n  x += 1", "", "f"),
    ("def f():\n  nonlocal x\n  x = 1", "", "f"),
    ("def f():\n  nonlocal x\n  x += 1", "x", "f"),
    ("def f():\n  global x\n  x = x + 1", "", "f"),
    ("def f():\n  global x\n  def g(): return x", "", "f"),
    ("def f():\n  def g(): return x\n  x = 1", "", "f"),
    ("def f():\n  def g(): return x, y\n  x = 1", "y", "f"),
    ("def f():\n  y: T = x", "x", "f"),
    ("def f():\n  for i in xs: del i", "xs", "f"),
    ("def f():\n  import x\n  return x.y", "", "f"),
    ("def f(): return f()", "f", "f"),
    ("async def f(x): await x(y)", "y", "f"),
    ("g = lambda x, y=z: x + y + w", "z w", "g"),
    ("g = lambda: (x := y) + x", "y", "g"),
    ("def f(): return [y := x for x in xs] + y", "xs", "f"),
    # methods do not see the names of their class
    ("class A(B, metaclass=M):\n  k = x\n  def g(self): return k + self.k", "B M x k", "A"),
    ("class A:\n  k = 1\n  l = k", "", "A"),
    ("class A:\n  k: T = v", "T v", "A"),
    ("class A:\n  k: T", "T", "A"),
    ("class A:\n  nonlocal x\n  x = 1", "", "A x"),
    ("class A:\n  class B:\n    global x\n    x = y = 1", "", "A x"),
    ("class A:\n  def g(self): return __class__, x", "x", "A"),
    ("class A:\n  k = 1\n  l = [k for _ in k]", "k", "A"),
    ("@d\nclass A: pass", "d", "A"),
]


@pytest.mark.parametrize("program, read, written", PIECES, ids=[row[0] for row in PIECES])
def test_reads_and_writes(program: str, read: str, written: str):
    statements = gast.parse(program).body
    assert reads(statements) == names(read)
    assert writes(statements) == names(written)


def test_one_node_or_several():
    tree = gast.parse("y = x; z = y")
    assert writes(tree) == writes(tree.body) == writes(iter(tree.body)) == {"y", "z"}
    assert writes(tree.body[0]) == {"y"}
    assert reads([]) == writes([]) == frozenset()


def test_a_function_writes_its_name_only():
    assert writes(gast.parse("def f(x): y = 1").body[0]) == {"f"}


# program, name of the function or class (f by default), what it takes from outside
FREE = [
    ("def f(x, y=z): return x + w", "w"),
    ("@d\ndef f(x: A) -> B: pass", ""),
    ("def f(): return (lambda x: x + y)(1)", "y"),
    ("f = lambda x: x + y", "y"),
    ("class f(B):\n  k = x\n  def g(self): return k", "x k"),
    ("def f():\n  class A:\n    nonlocal x\n    x = 1", "x"),
    ("def f():\n  global x\n  x = 1", ""),
    ("f = (x + y for x in xs)", "y"),
    ("f = [x + y for x in xs]", "y"),
    ("def f():\n  try: pass\n  except E as e: e", "E"),
    ("def f(x):\n  match x:\n    case [y, z]: return y + w", "w"),
]
SCOPES = (gast.FunctionDef, gast.ClassDef, gast.Lambda, gast.GeneratorExp, gast.ListComp)


@pytest.mark.parametrize("program, free", FREE, ids=[row[0] for row in FREE])
def test_free_names(program: str, free: str):
    first = next(node for node in gast.walk(gast.parse(program)) if isinstance(node, SCOPES))
    assert free_names(first) == names(free)


# body of f(a), the variables of f that inner scopes assign
NONLOCAL = [
    ("def g():\n  nonlocal a\n  a = 1", "a"),
    ("def g():\n  nonlocal a\n  return a", ""),
    ("def g():\n  nonlocal a\n  del a", "a"),
    ("def g():\n  nonlocal a\n  a += 1", "a"),
    ("def g():\n  nonlocal a\n  for a in b: pass", "a"),
    ("def g():\n  def h():\n    nonlocal a\n    a = 1", "a"),
    ("def g(a):\n  def h():\n    nonlocal a\n    a = 1", ""),
    ("def g():\n  a = 2\n  def h():\n    nonlocal a\n    a = 1", ""),
    ("def g():\n  nonlocal a\n  def h():\n    nonlocal a\n    a = 1", "a"),
    ("def g():\n  a = 1", ""),
    ("def g():\n  global a\n  a = 1", ""),
    ("class A:\n  def g(self):\n    nonlocal a\n    a = 1", "a"),
    ("class A:\n  a = 1\n  def g(self):\n    nonlocal a\n    a = 1", "a"),
    ("any((a := x) for x in b)", "a"),
    ("[(a := x) for x in b]", ""),
    ("([(a := y) for y in x] for x in b)", "a"),
    ("[list((a := y) for y in x) for x in b]", "a"),
    ("lambda: (a := 1)", ""),
    ("nonlocal b\ndef g():\n  nonlocal b\n  b = 1", ""),
]


@pytest.mark.parametrize("body, written", NONLOCAL, ids=[row[0] for row in NONLOCAL])
def test_nonlocal_writes(body: str, written: str):
    function = gast.parse("def f(a):\n  " + body.replace("\n", "\n  ")).body[0]
    assert nonlocal_writes(function) == names(written)


def test_type_parameters_and_aliases_of_python_3_12():
    """Built by hand, Python 3.11 cannot parse them: `def f[T: B](x: T, y=T)`, `class C[*T](T)`, `type X[**T] = v`."""
    function, klass = gast.parse("def f(x: T, y=T) -> A: return T + w\nclass C(T): k = T").body
    function.type_params = [gast.TypeVar("T", gast.Name("B", gast.Load(), None, None), None)]
    klass.type_params = [gast.TypeVarTuple("T", None)]
    right = gast.parse("T, v").body[0].value
    alias = gast.TypeAlias(gast.Name("X", gast.Store(), None, None), [gast.ParamSpec("T", None)], right)
    assert reads(function) == {"T", "A", "B", "w"}  # the default value is evaluated outside
    assert free_names(function) == {"T", "w"}
    assert (reads(klass), writes(klass)) == (frozenset(), {"C"})
    assert (reads(alias), writes(alias), free_names(alias)) == ({"v"}, {"X"}, {"v"})


def test_own_variables():
    body = "global h; y = 1; h = 2\n  def g():\n    nonlocal y; y = 2; z = 3\n  return z"
    assert own_variables(gast.parse(f"def f(x):\n  {body}").body[0]) == names("x g")
