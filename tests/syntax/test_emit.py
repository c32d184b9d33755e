"""Converted text and code: a second printer agrees about the text, and the function keeps all that the user's had."""

import ast
import contextlib
import dis
import functools
import inspect
import io
import itertools
import pickle
import types
import typing

import astunparse
import gast
import pytest

import autograph_jax as ag
from autograph_jax import autograph
from autograph_jax.runtime.convert import conversion_of, convert_function
from autograph_jax.syntax import emit
from tests.behaviour.harness import TABLES, load

# ------------------------------------------------------------------ two printers


def canonical(text: str) -> str:
    return ast.dump(ast.parse(text))


# astunparse 1.6.3 has no method for these nodes.
UNKNOWN = tuple(getattr(ast, name) for name in ("Match", "TryStar", "TypeAlias") if hasattr(ast, name))


def second_text(tree: gast.AST) -> str | None:
    """The tree as astunparse prints it, or None where it is known to fail."""
    nodes = list(ast.walk(gast.gast_to_ast(tree)))
    starred_index = any(isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Tuple) for n in nodes)
    nested_quotes = any(isinstance(n, ast.FormattedValue | ast.JoinedStr) for n in nodes)
    if starred_index or nested_quotes or any(isinstance(n, UNKNOWN) for n in nodes):
        return None
    return astunparse.unparse(gast.gast_to_ast(tree))


@pytest.mark.filterwarnings("ignore:ast:DeprecationWarning", "ignore:Attribute n:DeprecationWarning")  # of astunparse: ast.Num
@pytest.mark.parametrize("table", TABLES)
def test_a_second_printer_gives_the_same_tree(table: str):
    printed = 0
    for row in load(table).rows:
        if not isinstance(row.function, types.FunctionType):
            continue
        with contextlib.suppress(ag.AutographError):
            text = ag.source(row.function)
            tree = conversion_of(row.function).tree
            second = second_text(tree) if tree is not None else None
            if second is not None:
                assert canonical(second) == canonical(text), row.name
                printed += 1
    assert printed > 5


# ------------------------------------------------------------------ metadata

scale, made = 3, []


@autograph
def step(x: "int", y: float = 2.0, /, *rest: int, k: int = scale, **more: str) -> float:
    """One step.

    Of any size.
    """
    if k > 2:
        return x * y + scale
    return x


def step_as_written(x: "int", y: float = 2.0, /, *rest: int, k: int = scale, **more: str) -> float:
    """One step.

    Of any size.
    """
    if k > 2:
        return x * y + scale
    return x


SAME = ("__module__", "__doc__", "__defaults__", "__kwdefaults__", "__annotations__", "__dict__", "__type_params__")


@pytest.mark.parametrize("name", SAME)
def test_attribute(name: str):
    converted = convert_function(step_as_written)
    expected = getattr(step_as_written, name, None)
    if name == "__dict__":
        expected = {key: value for key, value in expected.items() if key != "__autograph_jax_twin__"}  # where it is kept
    assert getattr(converted, name, None) == expected


CODE = """co_name co_qualname co_filename co_firstlineno co_argcount co_posonlyargcount co_kwonlyargcount co_freevars""".split()


@pytest.mark.parametrize("name", CODE[:-1])
def test_code_attribute(name: str):
    converted = convert_function(step_as_written)
    assert getattr(converted.__code__, name) == getattr(step_as_written.__code__, name)


def test_it_is_a_plain_function_with_its_name_and_signature():
    assert type(step) is types.FunctionType
    assert (step.__name__, step.__qualname__) == ("step", "step")
    assert inspect.signature(step) == inspect.signature(step_as_written)
    assert typing.get_type_hints(step) == typing.get_type_hints(step_as_written)
    assert inspect.getdoc(step) == "One step.\n\nOf any size."
    assert not hasattr(step, "__wrapped__")


def test_source_and_line_are_the_users():
    assert inspect.getsource(step).startswith("@autograph\ndef step(")
    assert step.__code__.co_firstlineno == inspect.getsourcelines(step)[1]
    assert inspect.getsourcefile(step) == __file__


def test_globals_are_shared():
    assert step.__globals__ is globals()


def test_pickled_by_reference():
    assert pickle.loads(pickle.dumps(step)) is step
    assert pickle.loads(pickle.dumps(Model.half)) is Model.half
    assert pickle.loads(pickle.dumps(Model(4).root))() == 2


class Model:
    def __init__(self, x):
        self.x = x

    @autograph
    def root(self):
        if self.x > 0:
            return self.x**0.5
        return 0

    @staticmethod
    @autograph
    def half(x):
        return x / 2 if x else x


def test_qualified_names():
    assert Model.root.__qualname__ == "Model.root"
    assert Model.half.__qualname__ == "Model.half"

    @autograph
    def local(x):
        return x if x else 1

    assert local.__qualname__ == "test_qualified_names.<locals>.local"


def counter():
    count = 0

    def add(by):
        nonlocal count
        if by > 0:
            count += by
        return count

    return add


def test_closure_cells_are_shared():
    add = counter()
    converted = autograph(add)
    assert (add(1), converted(2), add(3), converted(-1)) == (1, 3, 6, 6)
    cells = dict(zip(converted.__code__.co_freevars, converted.__closure__, strict=True))
    assert cells["count"] is add.__closure__[0]


def test_an_empty_cell_stays_empty_until_it_is_bound():
    def outer():
        @autograph
        def inner(x):
            return later if x else 0

        with pytest.raises(NameError, match="later"):
            inner(1)
        later = 5
        return inner(1)

    assert outer() == 5


def test_attributes_are_copied():
    def tagged(x):
        return x

    tagged.tag = ["a"]
    converted = autograph(tagged)
    assert converted.tag is tagged.tag and converted is not tagged


def test_defaults_are_the_same_objects_and_evaluated_once():
    def default():
        made.append(1)
        return []

    @autograph
    def f(x, xs=default(), *, ys=default()):  # noqa: B008 - the same list in every call is what is tested
        xs.append(x)
        return xs, ys

    assert f(1)[0] is f(2)[0] and len(made) == 2
    assert f.__defaults__[0] == [1, 2]
    f.__defaults__ = ([9],)
    assert f(3)[0] == [9, 3]


def test_decorators_are_applied_once():
    @functools.lru_cache
    @autograph
    def square(x):
        made.append("called")
        return x * x if x else 0

    made.clear()
    assert (square(3), square(3)) == (9, 9) and made == ["called"]


def test_future_annotations_stay_text():
    namespace: dict[str, typing.Any] = {"__name__": "future"}
    text = "from __future__ import annotations\ndef f(x: unknown) -> also:\n    return x if x else 1\n"
    f = define(text, namespace)["f"]
    assert autograph(f).__annotations__ == {"x": "unknown", "return": "also"}
    assert autograph(f).__code__.co_flags & 0x1000000


def define(text: str, namespace: dict[str, typing.Any]) -> dict[str, typing.Any]:
    import linecache

    filename = f"<define {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec", dont_inherit=True), namespace)
    return namespace


_numbers = itertools.count()

NAMES = {  # a function, and the names of the frames in it
    "def f(x):\n    if x:\n        y = g(x)\n        return y\n": ["f", "f"],
    "def f(x):\n    while x:\n        x = g(x)\n": ["f", "f"],
    "def f(x):\n    for _ in [1]:\n        if x:\n            x = g(x)\n": ["f", "f", "f"],
    "def f(x):\n    def inner(y):\n        if y:\n            y = g(y)\n            return y\n    return inner(x)\n": [
        "f",
        "f.<locals>.inner",
        "f.<locals>.inner",
    ],
}


@pytest.mark.parametrize("text", NAMES, ids=range(len(NAMES)))
def test_blocks_are_called_like_the_function_around(text: str):
    seen = []

    def g(x):
        frame = inspect.currentframe().f_back
        while frame is not None:
            if frame.f_code.co_filename.startswith("<define"):
                seen.append(frame.f_code.co_qualname)
            frame = frame.f_back
        return 0

    autograph(define(text, {"__name__": "program", "g": ag.do_not_convert(g)})["f"])(1)
    assert seen[::-1] == NAMES[text]


def test_closure_is_the_users():
    def outer(n):
        def scaled(x):
            return x * n if x else n

        def plain(x):
            while x > 10:
                x = x / 2
            return x

        return scaled, plain

    for scaled, plain in (outer(2), autograph(outer)(2), map(autograph, outer(2))):
        assert scaled.__code__.co_freevars == ("n",) and [cell.cell_contents for cell in scaled.__closure__] == [2]
        assert plain.__closure__ is None


def test_code_can_be_hashed_compared_and_printed():
    code = convert_function(step_as_written).__code__
    assert hash(code) == hash(code.replace()) and code == code.replace()
    assert "(ag__)" in dis.Bytecode(code).dis()


def test_a_generator_that_can_be_awaited_stays_one():
    @types.coroutine
    def answer(x):
        yield
        return x if x else 1

    async def wait(f, x):
        return await f(x)

    for f in both(answer):
        waiting = wait(f, 2)
        waiting.send(None)
        with pytest.raises(StopIteration) as stopped:
            waiting.send(None)
        assert stopped.value.value == 2


QUALNAMES = """
def f(x):
    global Shared, shared
    for _ in range(x):
        class Shared:
            def method(self):
                return lambda: self

        def shared():
            def inner(): return 1
            return inner

    class Own:
        class Inner:
            def method(self): return [lambda: y for y in [self]][0]

    return Shared, Shared.method, Shared().method(), shared, shared(), Own, Own.Inner, Own.Inner.method, Own.Inner().method()
"""


def test_qualified_names_of_what_a_function_defines():
    found = [[made.__qualname__ for made in run(1)] for run in both(define(QUALNAMES, {"__name__": "program"})["f"])]
    assert found[0] == found[1]
    assert found[0][3:6] == ["shared", "shared.<locals>.inner", "f.<locals>.Own"]


def both(function):
    return function, autograph(function)


def test_type_parameters():
    if not hasattr(types.FunctionType, "__type_params__"):
        pytest.skip("Python 3.12 and later")
    f = define("def f[T](x: T, n=1) -> T:\n    return x if n else x\n", {"__name__": "program"})["f"]
    assert autograph(f).__type_params__ == f.__type_params__
    assert autograph(f)(3) == 3


def test_text_is_one_statement_a_line():
    tree = gast.parse("x = [1,\n 2]; y = 2")
    assert emit.to_text(tree) == "x = [1, 2]\ny = 2"


def test_printing_in_the_function_is_not_touched():
    @autograph
    def f(x):
        if x:
            print("x is", x)

    with contextlib.redirect_stdout(io.StringIO()) as out:
        f(2)
    assert out.getvalue() == "x is 2\n"
