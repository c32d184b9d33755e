"""`show`: which function is found, what is printed, and that nothing of the user's is imported."""

import io
import os
import re
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax.cli import colours
from autograph_jax.cli.main import main

SOLVERS = '''\
"""Solvers."""
import functools

import jax.numpy as jnp
from autograph_jax import autograph, autograph as staged
from typing import overload
from math import sqrt as root

raise SystemExit("this file was imported")


@autograph
def bisection(f, low, high, *, tolerance: float = 1e-6, max_steps: int = 100):
    """A root of f between low and high.

    f(low) and f(high) have different signs.
    """
    f_low = f(low)
    for step in range(max_steps):  # halve
        middle = 0.5 * (low + high)
        f_middle = f(middle)
        if abs(f_middle) < tolerance:
            return middle, "found"
        if f_low * f_middle < 0:
            high = middle
        else:
            low, f_low = middle, f_middle
    return 0.5 * (low + high), "gave up"


class Ball:
    g = 9.81

    @autograph
    def step(self, h):
        """One step
        of size h."""
        self.__v = self.g * h
        return self if self.__v > 0 else None

    @property
    def height(self):
        return self.y

    @height.setter
    def height(self, value):
        self.y = value

    class Pump:
        @staged
        @functools.cache
        def stroke(self): return self


if jnp:
    def chosen(x):
        return x
else:
    def chosen(x):
        return -x

try:
    fast = True
except ImportError:
    def fast(x): return x
else:
    pass

@overload
def many(x: int) -> int: ...
def many(x):
    return x


square = staged(lambda x: x * x if x > 1e-3 else 0.0)
pair = (lambda x: x), (lambda x: -x)


def counter(n):
    for i in range(n):
        i and (yield i)


async def wait():
    pass


def frame():
    ä = 1; return [dir(), ä]


def ours(ag__):
    return abs(ag__)
'''

BISECTION = '''\
def bisection(f, low, high, *, tolerance: float = 1e-6, max_steps: int = 100):
    """A root of f between low and high.

    f(low) and f(high) have different signs.
    """
    f_low = ag__.call(f)(low)

    def body(step):
        nonlocal f_low, high, low
        middle = 0.5 * (low + high)
        f_middle = ag__.call(f)(middle)

        def otherwise_2():
            nonlocal f_low, high, low

            def then_3():
                nonlocal high
                high = middle

            def otherwise_3():
                nonlocal f_low, low
                low, f_low = middle, f_middle
            ag__.if_stmt(f_low * f_middle < 0, then_3, otherwise_3, "f_low", "high", "low")
        return ag__.if_stmt(
            ag__.call(abs)(f_middle) < tolerance,
            lambda: ag__.Return((middle, "found")),
            otherwise_2,
            "f_low", "high", "low",
        )
    left = ag__.for_stmt(ag__.call(range)(max_steps), body, "f_low", "high", "low")  # halve
    return ag__.returned(left, lambda: (0.5 * (low + high), "gave up"))
'''

SHOWN = {  # name: what is printed below the header
    "bisection": BISECTION,
    "Ball.step": '''\
def step(self, h):
    """One step
    of size h."""
    ag__.set_attr(self.g * h, self, '_Ball__v')
    return ag__.if_expr(self._Ball__v > 0, lambda: self, lambda: None)
''',
    "Ball.height": """\
@property
def height(self):
    return self.y


@height.setter
def height(self, value):
    ag__.set_attr(value, self, 'y')
""",
    "Ball.Pump.stroke": "@functools.cache\ndef stroke(self):\n    return self\n",
    "chosen": "def chosen(x):\n    return x\n\n\ndef chosen(x):\n    return -x\n",
    "fast": "def fast(x):\n    return x\n",
    "many": "def many(x):\n    return x\n",
    "square": "square = lambda x: ag__.if_expr(x > 1e-3, lambda: x * x, lambda: 0.0)\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of the user's, which is the current one."""
    monkeypatch.chdir(tmp_path)
    for name in ("solvers.py", "package/deep/solvers.py", "package/plain/solvers.py"):
        tmp_path.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        tmp_path.joinpath(name).write_text(SOLVERS, encoding="utf-8")
    tmp_path.joinpath("package/__init__.py").write_text("raise SystemExit('this package was imported')")
    tmp_path.joinpath("package/deep/__init__.py").write_text(SOLVERS, encoding="utf-8")
    return tmp_path


def printed(capsys, *arguments):
    assert main(["show", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", SHOWN)
def test_shown(name, folder, capsys):
    first, _, body = printed(capsys, f"solvers.py:{name}").partition("ag__ = operators()\n\n")
    assert body == SHOWN[name]
    assert re.match(r"# solvers.py:\d+, converted by autograph_jax [\d.]+\n", first)


PLACES = {
    "a file": "solvers.py",
    "a path": os.path.join("package", "deep", "solvers.py"),
    "a module": "solvers",
    "a module of a package": "package.deep.solvers",
    "a module of a folder without __init__.py": "package.plain.solvers",
    "a package": "package.deep",
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_found_by(place, folder, capsys):
    assert printed(capsys, f"{place}:bisection").endswith(BISECTION)


def test_an_installed_module(capsys):
    assert "def dedent(" in printed(capsys, "textwrap:dedent")
    assert "def main(" in printed(capsys, "autograph_jax.cli.main:main")


def test_the_raw_text_is_the_compiled_one(capsys):
    from autograph_jax.cli import dormand_prince, lotka_volterra

    for function in (dormand_prince.solve, lotka_volterra.levenberg_marquardt, dormand_prince.first_step):
        assert printed(capsys, f"{function.__code__.co_filename}:{function.__name__}", "--raw") == ag.source(function) + "\n"


def test_the_text_can_be_pasted_and_staged(folder, capsys):
    program: dict[str, Any] = {"jnp": jnp}
    exec(printed(capsys, "solvers.py:bisection"), program)
    root = jax.jit(lambda high: program["bisection"](lambda x: x * x - 2.0, 0.0, high)[0])
    assert abs(root(3.0) - 2**0.5) < 1e-5
    exec(printed(capsys, "solvers.py:square"), program)
    assert jax.jit(program["square"])(3.0) == 9.0


def test_a_variable_called_as_the_operators_are(folder, capsys):
    code = printed(capsys, "solvers.py:ours")
    assert "\nag___ = operators()\n" in code
    assert code.endswith("\ndef ours(ag__):\n    return ag___.call(abs)(ag__)\n")
    assert "<- ag___><- .><- call>" in marked(colours.highlighted(code))


def test_diff(folder, capsys):
    lines = printed(capsys, "solvers.py:Ball.step", "--diff").splitlines()
    assert lines == [
        "--- solvers.py:34",
        "+++ solvers.py:34, converted",
        "@@ -1,6 +1,5 @@",
        "-@autograph",
        " def step(self, h):",
        '     """One step',
        '     of size h."""',
        "-    self.__v = self.g * h",
        "-    return self if self.__v > 0 else None",
        "+    ag__.set_attr(self.g * h, self, '_Ball__v')",
        "+    return ag__.if_expr(self._Ball__v > 0, lambda: self, lambda: None)",
    ]


def test_side_by_side(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "63")
    lines = printed(capsys, "solvers.py:Ball.step", "--side-by-side").splitlines()
    assert lines == [
        "@autograph                     <",
        "def step(self, h):               def step(self, h):",
        '    """One step                      """One step',
        '    of size h."""                    of size h."""',
        "    self.__v = self.g * h      |     ag__.set_attr(self.g * h,",
        "                               |         self, '_Ball__v')",
        "    return self if self.__v >  |     return ag__.if_expr(self._",
        "        0 else None            |         Ball__v > 0, lambda: s",
        "                               |         elf, lambda: None)",
    ]


HALVED = """\
def halved(x):
    while x > 1:
        x = x * 0.5
    return x
"""


@pytest.mark.parametrize("form", ["--jaxpr", "--hlo"])
def test_programs(form, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    (tmp_path / "halved.py").write_text(HALVED)
    text = printed(capsys, "halved.py:halved", form, "--args", "8.0")
    sys.modules.pop("halved")
    comment = "#" if form == "--jaxpr" else "//"
    multiplied = r"= mul \w+ 0.5:f\w+\[\].*" if form == "--jaxpr" else r"= stablehlo\.multiply .*"
    assert re.search(rf"while.*  {comment} halved\.py:2" if form == "--jaxpr" else r"stablehlo\.while", text)
    assert re.search(rf"{multiplied} +{comment} halved\.py:3  x = x \* 0\.5$", text, re.MULTILINE)
    assert "loc(" not in text and set(re.findall(r"(\w+\.py):\d+", text)) == {"halved.py"}


STAYS = {  # name: what is said, and the user's line
    "counter": ("it yields inside an expression", "i and (yield i)", "       ^^^^^^^"),
    "wait": ("it is an async function", "async def wait():", "^" * 17),
    "frame": (
        "it calls `dir()`, which looks at the function's own frame",
        "ä = 1; return [dir(), ä]",
        "               ^^^^^",
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_a_function_that_stays_as_it_is(name, folder, capsys):
    reason, line, carets = STAYS[name]
    assert main(["show", f"solvers.py:{name}"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    number = 1 + next(n for n, text in enumerate(SOLVERS.splitlines()) if line in text)
    assert output.err.splitlines() == [
        f"autograph_jax.UnconvertibleError: `{name}` cannot be converted: {reason}  [AG0101]",
        f"  solvers.py:{number}, in {name}",
        f"    {line}",
        f"    {carets}",
        "  help: move its control flow into a function of its own, and decorate that",
    ]


UNKNOWN = {  # target: what is said
    "solvers.py": "`solvers.py` names no function: write file.py:function or package.module:function",
    "solvers": "`solvers` names no function: write file.py:function or package.module:function",
    "solvers:": "`solvers:` names no function: write file.py:function or package.module:function",
    "solvers.py:bisect": "there is no function `bisect` in solvers.py; did you mean bisection?",
    "solvers.py:step": "there is no function `step` in solvers.py; did you mean Ball.step?",
    "solvers.py:Ball": "`Ball` is a class in solvers.py: name one of its methods, Ball.step, Ball.height, Ball.Pump.stroke",
    "solvers.py:root": "`root` is not defined in solvers.py, which imports it from math",
    "solvers.py:qqq": "there is no function `qqq` in solvers.py, which has bisection, Ball.step, Ball.height, "
    "Ball.Pump.stroke, chosen, fast, many, square and 4 more",
    "solvers.py:pairs": "there is no function `pairs` in solvers.py, which has bisection, Ball.step, Ball.height, "
    "Ball.Pump.stroke, chosen, fast, many, square and 4 more",
    "nowhere.py:f": "nowhere.py cannot be read: No such file or directory",
    "nowhere:f": "there is no module nowhere in this folder or on Python's path",
    "package.nowhere.deep:f": "there is no module package.nowhere in this folder or on Python's path",
    "package.plain:f": "the module package.plain has no Python source",
    "__main__:f": "there is no module __main__ in this folder or on Python's path",
    "math:sin": "the module math has no Python source",
    "not-a-module:f": "`not-a-module` is neither a .py file nor the name of a module",
    "broken.py:f": "broken.py:2: not valid Python: invalid syntax",
    "latin.py:f": "latin.py cannot be read: 'utf-8' codec can't decode",
    "empty.py:f": "there is no function `f` in empty.py",
}


@pytest.mark.parametrize("target", UNKNOWN)
def test_an_unknown_target(target, folder, capsys):
    folder.joinpath("broken.py").write_text("x = 1\nx = = 2\n")
    folder.joinpath("latin.py").write_bytes("x = 1\ny = 2\nname = 'ä'\n".encode("latin-1"))
    folder.joinpath("empty.py").write_text("")
    assert main(["show", target]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"autograph-jax show: error: {UNKNOWN[target]}")
    assert output.err.count("\n") == 1


def test_nothing_of_the_user_and_no_jax_is_imported(folder):
    program = """if 1:
        import sys
        from autograph_jax.cli.main import main
        assert main(["show", "package.deep.solvers:bisection"]) == 0
        assert not {"jax", "jaxlib", "numpy", "package", "package.deep"} & sys.modules.keys()
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(BISECTION)


# Colours ---------------------------------------------------------------------------------------------


def marked(code):
    """Highlighted code with readable marks for the colours."""
    marks = {colours._KEYWORD: "<k ", colours._STRING: "<s ", colours._NUMBER: "<n ", colours._NAME: "<f ", colours._DIM: "<- "}
    for escape, mark in marks.items():
        code = code.replace(escape, mark)
    return code.replace(colours.RESET, ">")


COLOURS = {  # code: marked
    "x = 1 + f('a')  # c": "x = <n 1> + f(<s 'a'>)  <- # c>",
    "def f(x):\n    nonlocal y, z": "<k def> <f f>(x):\n    <- nonlocal> <- y><- ,> <- z>",
    "y = ag__.call(abs)(x)": "y = <- ag__><- .><- call><- (><n abs><- )>(x)",
    "ag__.while_stmt(test, body, 'x')": "<- ag__><- .><k while_stmt>(test, body, <- 'x'>)",
    "ag__.set_attr(x, y, 'z')": "<- ag__><- .><- set_attr>(x, y, <- 'z'>)",
    "ag__.Return(g('x', o.abs))": "<- ag__><- .><k Return>(g(<s 'x'>, o.abs))",
    'def f():\n    """A\n\n    b"""': '<k def> <f f>():\n    <s """A>\n\n<s     b""">',
}


@pytest.mark.parametrize("code", COLOURS)
def test_colours(code):
    assert marked(colours.highlighted(code)) == COLOURS[code]


class Terminal(io.StringIO):
    def isatty(self):
        return True


CHOICES = [  # --color, NO_COLOR, TERM, terminal, coloured
    ("auto", "", "xterm", True, True),
    ("auto", "", "xterm", False, False),
    ("auto", "1", "xterm", True, False),
    ("auto", "", "dumb", True, False),
    ("always", "1", "dumb", False, True),
    ("never", "", "xterm", True, False),
]


@pytest.mark.parametrize("color, no_color, term, terminal, coloured", CHOICES)
@pytest.mark.parametrize("form", [[], ["--diff"]], ids=["text", "diff"])
def test_when_there_are_colours(color, no_color, term, terminal, coloured, form, folder, monkeypatch):
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", term)
    written = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", written)
    assert main(["show", "solvers.py:bisection", "--color", color, *form]) == 0
    assert ("\x1b[" in written.getvalue()) == coloured
    plain = io.StringIO()
    monkeypatch.setattr(sys, "stdout", plain)
    assert main(["show", "solvers.py:bisection", "--color", "never", *form]) == 0
    assert re.sub(r"\x1b\[[\d;]*m", "", written.getvalue()) == plain.getvalue()


def test_raw_is_never_coloured(folder, capsys):
    assert "\x1b" not in printed(capsys, "solvers.py:bisection", "--raw", "--color", "always")
