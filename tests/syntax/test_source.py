"""Where a function's text is found: files, cells, doctests, nested, decorated, lambdas; and the error where it is not."""

import doctest
import functools
import importlib.util
import linecache
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable
from pathlib import Path

import gast
import pytest

import autograph_jax as ag
from autograph_jax import autograph
from autograph_jax.errors import SourceError
from autograph_jax.syntax import emit
from autograph_jax.syntax.source import Source, source_of


def text_of(function: types.FunctionType) -> str:
    return emit.to_text(source_of(function).tree)


def decorator(function: Callable) -> Callable:
    return function


def decorator_with(*_: object) -> Callable:
    return decorator


# ------------------------------------------------------------------ what can be found


def test_text_lines_and_file():
    def f(x):
        # a comment
        return x

    source = source_of(f)
    assert isinstance(source, Source)
    assert (source.filename, source.first_line) == (__file__, f.__code__.co_firstlineno)
    assert textwrap.dedent(source.text) == "def f(x):\n    # a comment\n    return x\n"


def test_nodes_stand_where_the_user_wrote_them():
    def f(x):
        return x

    tree = source_of(f).tree
    [statement] = tree.body
    assert (tree.lineno, tree.col_offset) == (f.__code__.co_firstlineno, 4)
    assert (statement.lineno, statement.col_offset, statement.end_col_offset) == (tree.lineno + 1, 8, 16)


def test_decorated():
    @decorator
    @decorator_with(
        1,
        lambda x: x,
    )
    def f(x):
        return x

    assert source_of(f).text.lstrip().startswith("@decorator\n")
    assert text_of(f).endswith("def f(x):\n    return x")


def test_functions_of_one_name():
    def make():
        def f(x):
            return x

        first = f

        def f(x):
            return -x

        return first, f

    assert [text_of(f) for f in make()] == ["def f(x):\n    return x", "def f(x):\n    return -x"]


def test_nested_on_one_line():
    class A:
        def f(self): return lambda: 1  # fmt: skip

    assert text_of(A.f) == "def f(self):\n    return lambda: 1"
    assert text_of(A().f()) == "lambda: 1"


# Lambdas on one line are told apart by their positions, or else by their parameters.
plus, minus = lambda x: x + 1, lambda x: x - 1
by_name, by_other_name = lambda x: x, lambda y: y
same, twin = lambda x: (x, x), lambda x: (x, x)
inside = (lambda x: lambda y: x + y)(1)
in_call = functools.partial(lambda x, *, k: x if k else -x, k=0)
several_lines = (lambda x:
                 x + 1)  # fmt: skip
with_default, other_default = lambda x=1: x, lambda x=2: x
in_dict = {"a": lambda: 1, "b": lambda: 2}
constants = [lambda: None, lambda: None, lambda: 1]
LAMBDAS = {
    "plus": (plus, "lambda x: x + 1"),
    "minus": (minus, "lambda x: x - 1"),
    "by name": (by_name, "lambda x: x"),
    "by other name": (by_other_name, "lambda y: y"),
    "same": (same, "lambda x: (x, x)"),
    "twin": (twin, "lambda x: (x, x)"),
    "inside": (inside, "lambda y: x + y"),
    "in a call": (in_call.func, "lambda x, *, k: x if k else -x"),
    "several lines": (several_lines, "lambda x: x + 1"),
    "with default": (with_default, "lambda x=1: x"),
    "other default": (other_default, "lambda x=2: x"),
    "in dict": (in_dict["a"], "lambda: 1"),
    "in dict, second": (in_dict["b"], "lambda: 2"),
    "constant": (constants[2], "lambda: 1"),
}


@pytest.mark.parametrize("name", LAMBDAS)
def test_lambda(name: str):
    function, text = LAMBDAS[name]
    assert text_of(function) == text


def test_twins_keep_their_own_defaults():
    assert (autograph(with_default)(), autograph(other_default)()) == (1, 2)


class Shapes:
    @classmethod
    def unit(cls):
        return cls

    @staticmethod
    def area(x):
        return x

    @property
    def side(self):
        return 1

    @functools.cached_property
    def volume(self):
        return 1

    class Inner:
        def __secret(self, __x):
            return __x

        def maker(self):
            def made(__x):
                return lambda: __x

            return made


METHODS = {
    "classmethod": (Shapes.unit.__func__, "unit", "Shapes"),
    "staticmethod": (Shapes.area, "area", "Shapes"),
    "property": (Shapes.side.fget, "side", "Shapes"),
    "cached_property": (Shapes.__dict__["volume"].func, "volume", "Shapes"),
    "private method": (Shapes.Inner._Inner__secret, "__secret", "Inner"),
    "function in a method": (Shapes.Inner().maker(), "made", "Inner"),
}


@pytest.mark.parametrize("name", METHODS)
def test_method(name: str):
    function, own_name, class_name = METHODS[name]
    source = source_of(function)
    assert (source.tree.name, source.class_name) == (own_name, class_name)


def test_class_in_a_function():
    class Local:
        def f(self):
            def inner():
                return self

            return inner

    assert source_of(Local.f).class_name == "Local"
    assert source_of(Local().f()).class_name == "Local"  # as Python mangles its private names


def test_unicode_and_tabs(tmp_path: Path):
    f = in_file(tmp_path, "def f(größe):\n\tif größe > 0: return 'ä'\n\treturn größe\n", "f")
    assert autograph(f)(1) == "ä"


def test_file_with_form_feed_and_windows_line_ends(tmp_path: Path):
    f = in_file(tmp_path, "x = 1\r\n\x0c\r\ndef f(x):\r\n    if x:\r\n        return 1\r\n    return 0\r\n", "f")
    assert (autograph(f)(1), autograph(f)(0)) == (1, 0)


def in_file(folder: Path, text: str, name: str) -> types.FunctionType:
    path = folder / "module.py"
    path.write_bytes(text.encode())
    spec = importlib.util.spec_from_file_location("module", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def test_ipython_cell():
    """IPython puts a cell's text into linecache, with None for the time, under a name that is no file."""
    text = "def f(x):\n    while x < 5:\n        x += 1\n    return x\n"
    name = "<ipython-input-1-0123456789ab>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), namespace)
    assert autograph(namespace["f"], strict=True)(1) == 5


def test_doctest():
    example = """
    >>> import autograph_jax as ag
    >>> @ag.autograph(strict=True)
    ... def f(x):
    ...     if x > 0:
    ...         return "positive"
    ...     return "not"
    >>> f(1), f(0)
    ('positive', 'not')
    >>> print(ag.source(lambda x: not x))
    lambda x: ag__.not_(x)
    """
    test = doctest.DocTestParser().get_doctest(example, {}, "example", "example.txt", 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_module_from_a_zip_or_another_loader():
    """`__loader__.get_source` holds the text of what is no file; linecache asks it."""

    class Loader:
        def get_source(self, name: str) -> str:
            return "def f(x):\n    return x if x else 1\n"

    namespace = {"__name__": "loaded", "__loader__": Loader()}
    exec(compile(Loader().get_source("loaded"), "/nowhere/loaded.py", "exec"), namespace)
    assert autograph(namespace["f"], strict=True)(0) == 1


# ------------------------------------------------------------------ what cannot


def message_of(function: object) -> str:
    with pytest.raises(SourceError) as caught:
        autograph(function, strict=True)
    return str(caught.value)


HELP = "  help: put the function into a .py file or a notebook cell and import it from there"


def test_exec(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(linecache.cache, "<string>", raising=False)  # text of `-c`, which Python 3.13 keeps
    namespace = {"__name__": "made"}
    exec("def f(x):\n    return x", namespace)
    assert message_of(namespace["f"]).splitlines() == [
        "the source of `f` is not available: no file holds its text  [AG0002]",
        "  <string>:1",
        HELP,
    ]
    assert autograph(namespace["f"]) is namespace["f"]


def test_code_without_lines():
    def f(x):
        return x

    f.__code__ = f.__code__.replace(co_linetable=b"")
    assert message_of(f).startswith("the source of `test_code_without_lines.<locals>.f` is not available: another tool wrote")


OTHER_TEXT = "the file has changed since it was imported, or another tool wrote this function"
CHANGED = {
    "other function": ("def g(x):\n    return x\n", OTHER_TEXT),
    "other parameters": ("def f(y):\n    return y\n", OTHER_TEXT),
    "moved": ("\n\ndef f(x):\n    return x\n", OTHER_TEXT),
    "no Python": ("def f(x:\n", "the file no longer parses"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_changed_file(name: str, tmp_path: Path):
    text, reason = CHANGED[name]
    f = in_file(tmp_path, "def f(x):\n    return x\n", "f")
    (tmp_path / "module.py").write_text(text)
    assert message_of(f).splitlines()[0] == f"the source of `f` is not available: {reason}  [AG0002]"


def test_a_changed_body_is_noticed(tmp_path: Path):
    """Same name, line and parameters, but another body: converting it would run what was never imported."""
    f = in_file(tmp_path, "def f(x):\n    return x\n", "f")
    (tmp_path / "module.py").write_text("def f(x):\n    return -x + 1000\n")
    assert "the file has changed" in message_of(f)


def test_deleted_file(tmp_path: Path):
    f = in_file(tmp_path, "def f(x):\n    return x\n", "f")
    (tmp_path / "module.py").unlink()
    assert "no file holds its text" in message_of(f)


def test_a_loader_that_fails():
    class Loader:
        def get_source(self, name: str) -> str:
            raise AttributeError("not yet")

    namespace = {"__name__": "loaded", "__loader__": Loader()}
    exec(compile("def f(x):\n    return x\n", "/nowhere/failing.py", "exec"), namespace)
    assert "no file holds its text" in message_of(namespace["f"])


PROGRAM = """
import autograph_jax as ag

def f(x):
    if x > 0:
        return x
    return -x

try:
    print(ag.autograph(f, strict=True)(-2))
except ag.AutographError as error:
    print(type(error).__name__, error)
print(ag.autograph(f)(-2))
"""
NO_SOURCE = f"SourceError the source of `f` is not available: no file holds its text  [AG0002]\n  {{}}:4\n{HELP}\n2\n"


def run(*arguments: str, stdin: str | None = None) -> str:
    done = subprocess.run([sys.executable, *arguments], input=stdin, capture_output=True, text=True, check=True)
    return done.stdout


def test_dash_c():
    out = run("-c", PROGRAM)
    # Python 3.13 keeps the text of `-c` in linecache
    assert out == ("2\n2\n" if sys.version_info >= (3, 13) else NO_SOURCE.format("<string>"))


def test_stdin():
    assert run("-", stdin=PROGRAM) == NO_SOURCE.format("<stdin>")


def test_script(tmp_path: Path):
    (tmp_path / "script.py").write_text(PROGRAM)
    assert run(str(tmp_path / "script.py")) == "2\n2\n"


def test_a_name_that_the_passes_would_take_for_the_class():
    """`<lambda>` and `<locals>` are no classes whose private names are mangled."""

    def f(__x):
        return __x if __x else 0

    assert autograph(f)(3) == 3 and isinstance(source_of(f).tree, gast.FunctionDef)
    assert ag.source(f).startswith("def f(__x):")
