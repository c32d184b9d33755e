"""What goes wrong in converted code is shown where the user wrote it: tracebacks, warnings, pdb, coverage."""

import importlib.util
import itertools
import re
import subprocess
import sys
import textwrap
import traceback
import types
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import jax
import pytest

import autograph_jax as ag
from autograph_jax import autograph

_numbers = itertools.count()


def in_file(folder: Path, text: str) -> dict[str, Any]:
    """The names of a module with this text, and where it is."""
    path = folder / f"program_{next(_numbers)}.py"
    path.write_text(textwrap.dedent(text).lstrip("\n"))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def raised(function: Any, *arguments: Any) -> BaseException:
    with pytest.raises(Exception) as caught:
        function(*arguments)
    return caught.value


# ------------------------------------------------------------------ tracebacks

FAILING = {  # f(x, xs) fails in the line that ends with `# here`
    "branch": """
        def f(x, xs):
            if x:
                y = 1 + x / (x - x)  # here
            else:
                y = 2
            return y
    """,
    "else branch": """
        def f(x, xs):
            if not x:
                y = 1
            else:
                y = xs[x + 100]  # here
            return y
    """,
    "test of an if": """
        def f(x, xs):
            if x.unknown > 2:  # here
                x = 1
            return x
    """,
    "test of an elif": """
        def f(x, xs):
            if not x:
                x = 1
            elif x.unknown > 2:  # here
                x = 3
            return x
    """,
    "while body": """
        def f(x, xs):
            while x < 10:
                x = x + 1
                xs[x] = 1 / (x - 3)  # here
            return x
    """,
    "while test": """
        def f(x, xs):
            while xs[x]:  # here
                x = x + 10
            return x
    """,
    "for body": """
        def f(x, xs):
            for i in range(10):
                x = (x +
                     xs[i])  # here
            return x
    """,
    "for iterable": """
        def f(x, xs):
            for i in x:  # here
                x = i
            return x
    """,
    "unpacking of the element": """
        def f(x, xs):
            for i, j in xs:  # here
                x = i
            return x
    """,
    "branch in a loop in a branch": """
        def f(x, xs):
            if x:
                for i in range(5):
                    if i == 2:
                        xs.append(i).unknown  # here
            return x
    """,
    "after an early return": """
        def f(x, xs):
            if not x:
                return 0
            y = x
            return len(y)  # here
    """,
    "item write": """
        def f(x, xs):
            if x:
                xs[100] = x  # here
            return xs
    """,
    "attribute write": """
        def f(x, xs):
            for i in xs:
                x.real = i  # here
            return xs
    """,
    "augmented item": """
        def f(x, xs):
            for i in range(9):
                xs[i] += i  # here
            return xs
    """,
    "raise": """
        def f(x, xs):
            for i in xs:
                if i > 1:
                    raise ValueError(
                        i)
            return x  # not here
    """,
    "assert": """
        def f(x, xs):
            while x:
                assert x < 1, "too large"  # here
    """,
    "with": """
        import contextlib
        def f(x, xs):
            with contextlib.nullcontext(x) as y:
                if y:
                    y.unknown()  # here
            return x
    """,
    "except": """
        def f(x, xs):
            try:
                if x:
                    x / 0
            except ZeroDivisionError:
                if x:
                    x.unknown()  # here
            return x
    """,
    "return value": """
        def f(x, xs):
            if x:
                return xs.unknown  # here
            else:
                return 1
    """,
    "operand of and": """
        def f(x, xs):
            return x and xs.unknown(x)  # here
    """,
    "conditional expression": """
        def f(x, xs):
            y = 1
            return (xs.unknown(x)  # here
                    if x else y)
    """,
    "chained comparison": """
        def f(x, xs):
            return 0 < x < xs.unknown  # here
    """,
    "comprehension": """
        def f(x, xs):
            return [1 / (i - 2) for i in xs if i]  # here
    """,
    "lambda": """
        def f(x, xs):
            g = lambda y: y and y.unknown  # here
            return g(x)
    """,
    "nested function": """
        def f(x, xs):
            def g(y):
                if y:
                    return y.unknown  # here
            return g(x)
    """,
    "callee": """
        def g(y):
            while y:
                y = y.unknown  # here
        def f(x, xs):
            if x:
                g(x)
            return x
    """,
    "a variable without a value": """
        def f(x, xs):
            if not x:
                y = 1
            return y  # here
    """,
    "decorated": """
        import functools
        def decorator(f):
            return f
        def with_arguments(*_):
            return decorator
        @decorator
        @with_arguments(
            1,
            2,
        )
        def f(x, xs):
            if x:
                x = x / 0  # here
            return x
    """,
    "method": """
        class Solver:
            @property
            def size(self):
                if self:
                    return self.unknown  # here
            def step(self, x):
                for _ in range(3):
                    x += self.size
        def f(x, xs):
            Solver().step(x)
    """,
    "wide characters": """
        def f(x, xs):
            if x:
                größe = "ä" + xs.unbekannt  # here
            return größe
    """,
}


@pytest.mark.parametrize("name", FAILING)
def test_traceback_is_the_users(name: str, tmp_path: Path):
    program = in_file(tmp_path, FAILING[name])
    f, filename = program["f"], program["__file__"]
    expected, error = raised(f, 1, [1, 2, 3]), raised(autograph(f, strict=True), 1, [1, 2, 3])
    assert (type(error), str(error)) == (type(expected), str(expected))
    assert innermost(error, filename) == innermost(expected, filename)
    if "# here" in FAILING[name]:
        assert "# here" in innermost(error, filename).text


class Entry(NamedTuple):
    line: int
    text: str


def innermost(error: BaseException, filename: str) -> Entry:
    last = last_entry(error, filename)
    return Entry(last.lineno, Path(filename).read_text().splitlines()[last.lineno - 1])


def last_entry(error: BaseException, filename: str) -> traceback.FrameSummary:
    return [entry for entry in traceback.extract_tb(error.__traceback__) if entry.filename == filename][-1]


@pytest.mark.parametrize("name", FAILING)
def test_the_frame_is_called_like_the_users_function(name: str, tmp_path: Path):
    program = in_file(tmp_path, FAILING[name])
    f, filename = program["f"], program["__file__"]
    expected, error = raised(f, 1, [1, 2, 3]), raised(autograph(f), 1, [1, 2, 3])
    assert last_entry(error, filename).name == last_entry(expected, filename).name


CARETS = ["branch", "else branch", "test of an if", "while body", "for body", "branch in a loop in a branch", "except"]
CARETS += ["return value", "comprehension", "nested function", "callee", "method", "wide characters", "decorated"]
CARETS += ["after an early return", "item write", "augmented item", "chained comparison"]


@pytest.mark.parametrize("name", CARETS)
def test_carets(name: str, tmp_path: Path):
    """The line, and what is marked in it, as Python prints them."""
    program = in_file(tmp_path, FAILING[name])
    f, filename = program["f"], program["__file__"]
    expected = marked(raised(f, 1, [1, 2, 3]), filename)
    assert marked(raised(autograph(f), 1, [1, 2, 3]), filename) == expected


def marked(error: BaseException, filename: str) -> list[str]:
    """The last place of a traceback in a file, without `File ..., line ..., in ...`."""
    return traceback.StackSummary.from_list([last_entry(error, filename)]).format()[0].splitlines()[1:]


def test_the_frames_between_are_there_once_for_each_block(tmp_path: Path):
    program = in_file(tmp_path, FAILING["branch in a loop in a branch"])
    error = raised(autograph(program["f"]), 1, [1])
    entries = [e for e in traceback.extract_tb(error.__traceback__) if e.filename == program["__file__"]]
    assert [e.lineno for e in entries] == [2, 3, 4, 5] and {e.name for e in entries} == {"f"}


def test_traced(tmp_path: Path):
    """JAX's own error in a staged branch: the user's line is the last in the traceback that JAX shows."""
    program = in_file(
        tmp_path,
        """
        import jax.numpy as jnp
        def f(x):
            while jnp.sum(x) < 3:
                if x[0] > 0:
                    x = x + 1
                else:
                    x = x @ jnp.ones((7, 2))  # here
            return x
        """,
    )
    error = raised(jax.jit(autograph(program["f"])), jax.numpy.ones(3))
    shown = [e for e in traceback.extract_tb(error.__traceback__) if not e.filename.startswith(jax.__path__[0])]
    assert isinstance(error, TypeError)
    assert (shown[-1].filename, shown[-1].lineno, shown[-1].name) == (program["__file__"], 7, "f")
    assert not [e for e in shown if "autograph_jax" in e.filename], "frames of ours are shown"


AT_RUN_TIME = {  # f(x) fails at run time, in the line that ends with `# here`
    "raise": """
        def f(x):
            if x > 0:
                raise ValueError("no")  # here
            return x
        """,
    "raise of a class": """
        def f(x):
            if x > 0:
                raise ArithmeticError  # here
            return x
        """,
    "raise of a class that needs an argument": """
        class Lost(Exception):
            def __init__(self, place):
                self.place = place
        def f(x):
            if x > 0:
                raise Lost  # here
            return x
        """,
    "raise with a value": """
        def f(x):
            if x > 0:
                raise ValueError(x)  # here
            return x
        """,
    "assert": """
        def f(x):
            assert x < 0, "negative"  # here
            return x
        """,
    "in a loop": """
        def f(x):
            while x < 9:
                x = x + 1
                assert x != 4  # here
            return x
        """,
    "of two in a loop": """
        def f(x):
            for _ in range(5):
                if x > 7:
                    raise ValueError("seven")
                if x > 3:
                    raise ValueError("three")  # here
                x = x + 1
            return x
        """,
    "callee": """
        def check(x):
            if x > 0:
                raise ValueError("no")  # here
        def f(x):
            check(x)
            return x
        """,
    "handled elsewhere": """
        def f(x):
            try:
                if x > 0:
                    raise ValueError("no")
            except ValueError:
                raise KeyError("again")  # here
            return x
        """,
    "missing attribute": """
        class Settings:
            gain = 1.0
        def f(x):
            if x > 0:
                return Settings().gian * x  # here
            return x
        """,
    "missing key": """
        def f(x):
            table = {"a": 1.0}
            if x > 0:
                x = x * table["b"]  # here
            return x
        """,
    "attribute that a path does not set": """
        class Settings:
            pass
        def f(x):
            settings = Settings()
            if x < 0:
                settings.gain = x
            return settings.gain * 2  # here
        """,
}


@pytest.mark.parametrize("name", AT_RUN_TIME)
def test_at_run_time(name: str, tmp_path: Path):
    """The traceback of the user's error ends in the user's line; a second time, too."""
    program = in_file(tmp_path, AT_RUN_TIME[name])
    expected = raised(program["f"], 1.0)
    compiled = ag.jit(program["f"])
    for _ in range(2):
        error = raised(compiled, 1.0)
        assert type(error) is type(expected)
        assert innermost(error, program["__file__"]) == innermost(expected, program["__file__"])
        assert "# here" in innermost(error, program["__file__"]).text
        assert marked(error, program["__file__"]) == [f"    {innermost(error, program['__file__']).text.strip()}"]
        *_, last = traceback.extract_tb(error.__traceback__)
        assert (last.filename, last.name) == (program["__file__"], last_entry(expected, program["__file__"]).name)


@pytest.mark.parametrize("name", AT_RUN_TIME)
def test_at_run_time_under_jax_jit(name: str, tmp_path: Path):
    """JAX tells the user's error as text, with the traceback."""
    program = in_file(tmp_path, AT_RUN_TIME[name])
    line = innermost(raised(program["f"], 1.0), program["__file__"]).line
    error = raised(lambda x: jax.block_until_ready(jax.jit(autograph(program["f"]))(x)), 1.0)
    assert f'File "{program["__file__"]}", line {line}, in ' in str(error)


def test_users_error_while_tracing_keeps_type_and_line(tmp_path: Path):
    program = in_file(
        tmp_path,
        """
        import autograph_jax as ag
        class Mine(Exception):
            pass
        @ag.do_not_convert
        def check(i):
            if i == 3:
                raise Mine("i is 3")
        def f(x):
            for i in range(5):
                if x > 0:
                    check(i)  # here
                x = x + 1
            return x
        """,
    )
    error = raised(jax.jit(autograph(program["f"])), 1.0)
    assert type(error) is program["Mine"] and str(error) == "i is 3"
    entries = [e for e in traceback.extract_tb(error.__traceback__) if e.filename == program["__file__"]]
    assert [(e.lineno, e.name) for e in entries[-2:]] == [(11, "f"), (7, "check")]


def test_raise_at_run_time(tmp_path: Path):
    """`ag.jit` gives the user's exception where traced data decides that it is raised."""
    program = in_file(
        tmp_path,
        """
        class Mine(ValueError):
            pass
        def f(x):
            while x < 10:
                if x == 3:
                    raise Mine("x is", x)
                x = x + 1
            return x
        """,
    )
    f = ag.jit(program["f"])
    assert f(5.5) == 10.5
    with pytest.raises(program["Mine"]) as caught:
        f(1.0)
    assert [str(a) for a in caught.value.args] == ["x is", "3.0"]


def test_jax_names_the_users_line_for_operations(tmp_path: Path):
    program = in_file(
        tmp_path,
        """
        import jax.numpy as jnp
        def f(x):
            if x > 0:
                x = jnp.sin(x)
            return x
        """,
    )
    text = jax.jit(autograph(program["f"])).lower(1.0).as_text(debug_info=True)
    name = Path(program["__file__"]).name
    assert f'{name}":4' in text and f'{name}":3' in text
    assert "conditionals.py" not in text


# ------------------------------------------------------------------ warnings

WARNING = """
    import warnings
    def f(x):
        for _ in range(1):
            if x:
                warnings.warn("careful")
        return x

    def old(x):
        warnings.warn("old is old", stacklevel=2)
        return x

    def g(x):
        while x:
            x = x - old(1)
        return x

    def older(x):
        if x:
            warnings.warn("older is older", stacklevel=2)
        return x

    def h(x):
        return older(x)
"""
WARNED = {"f": ("careful", 5), "g": ("old is old", 14), "h": ("older is older", 23)}


@pytest.mark.parametrize("name", WARNED)
def test_warnings_point_to_the_users_line(name: str, tmp_path: Path):
    program = in_file(tmp_path, WARNING)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        autograph(program[name])(1)
    text, line = WARNED[name]
    assert [(str(w.message), w.filename, w.lineno) for w in caught] == [(text, program["__file__"], line)]


# ------------------------------------------------------------------ decorators and first lines


def test_first_line_of_a_decorated_function(tmp_path: Path):
    program = in_file(tmp_path, FAILING["decorated"])
    f = program["f"]
    assert autograph(f).__code__.co_firstlineno == f.__code__.co_firstlineno == 6


# ------------------------------------------------------------------ coverage


LINES = ["branch", "else branch", "while body", "for body", "branch in a loop in a branch", "after an early return"]
LINES += ["with", "except", "decorated", "return value", "nested function", "method"]


@pytest.mark.parametrize("name", LINES)
def test_the_same_lines_are_run(name: str, tmp_path: Path):
    """So that coverage tools report what was run."""
    program = in_file(tmp_path, FAILING[name])
    assert lines_run(autograph(program["f"]), program) == lines_run(program["f"], program)


def lines_run(function: Any, program: dict[str, Any]) -> set[int]:
    lines = set()

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename == program["__file__"] and event == "line":
            lines.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(1, [1, 2, 3])
    except Exception:
        pass
    finally:
        sys.settrace(before)
    return lines


# ------------------------------------------------------------------ pdb

DEBUGGED = """\
import ag
import jax


@ag.autograph
def f(x, n):
    if x > 0:
        y = x * 2
        x = y + 1
    else:
        y = 0
        x = -1
    for i in range(n):
        part = x * i
        x = x + part
    while x > 50:
        x = x / 2
    return x


def main():
    print("result", f(3, 3))
    print("jitted", float(jax.jit(f, static_argnums=1)(3.0, 3)))


main()
"""
CONVERTS = "from autograph_jax import autograph\n"  # ag.py
SESSIONS = {  # what is typed; pdb must answer as it does for the program without the decorator
    "branch": ["b 8", "c", "p x", "c"],
    "branch not taken": ["b 11", "c"],
    "branch, twice": ["b 8", "b 9", "c", "p x", "c", "p x, y"],
    "loop": ["b 14", "c", "p i, x", "c", "p i, x", "c", "p i, x"],
    "end of a loop's body": ["b 15", "c", "p i, part", "c", "p i, part"],
    "while body": ["b 17", "c", "p x"],
    "condition": ["b 15, i == 2", "c", "p i, part"],
    "temporary": ["tbreak 18", "c", "p x"],
    "step into": ["b 22", "c", "s"],
    "a variable that the branch does not mention": ["b 8", "c", "p n, x"],
    "variables that the loop's body does not mention": ["b 14", "c", "p n, y", "c", "p n, y"],
}


@pytest.mark.parametrize("name", SESSIONS)
def test_pdb(name: str, tmp_path: Path):
    (tmp_path / "program.py").write_text(DEBUGGED.replace('    print("jitted"', '    # print("jitted"'))
    (tmp_path / "ag.py").write_text("def autograph(f):\n    return f\n")
    expected = pdb(tmp_path, *SESSIONS[name])
    (tmp_path / "ag.py").write_text(CONVERTS)
    assert pdb(tmp_path, *SESSIONS[name]) == expected


INSIDE = """\
import ag
import jax


def make(rate):
    @ag.autograph
    def f(x, low):
        def half(z):
            if z > low:
                w = z / 2
                z = w
            return z

        kept = rate + 1
        while x > low:
            y = x
            if y > 10:
                x = half(x)
                continue
            if y > 8:
                return y
            x = x - 1
        return x

    return f


print("result", make(0.5)(17.0, 3.0))
with jax.disable_jit():
    print("compiled", float(jax.jit(make(0.5))(17.0, 3.0)))
"""
SEEN = {  # the line of a stop, the argument that leads there, and what `p` is asked
    "a branch in a loop": ("x = half(x)", 17.0, "x, y, low, rate, kept"),
    "a branch that only returns": ("return y", 17.0, "x, y, low, rate, kept"),
    "after a branch that leaves": ("x = x - 1", 7.0, "x, y, low, rate, kept"),
    "a function inside": ("z = w", 17.0, "z, w, low"),
}


@pytest.mark.parametrize("name", SEEN)
def test_pdb_shows_every_variable(name: str, tmp_path: Path):
    """Eagerly, and in what is compiled under jax.disable_jit."""
    text, start, variables = SEEN[name]
    program = INSIDE.replace("17.0", str(start))
    number = {line.strip(): n for n, line in enumerate(program.splitlines(), 1)}
    (tmp_path / "program.py").write_text(program)
    stop = [f"b {number[text]}", "c", f"p [*map(float, ({variables},))]"]
    commands = [*stop, f"b {number['with jax.disable_jit():']}", "cl 1", "c", *stop]
    (tmp_path / "ag.py").write_text("def autograph(f):\n    return f\n")
    expected = pdb(tmp_path, *commands)
    (tmp_path / "ag.py").write_text(CONVERTS)
    assert pdb(tmp_path, *commands) == expected
    assert len(re.findall(r"\(Pdb\) \[\d", expected)) == 2, expected


def test_pdb_while_a_branch_is_traced(tmp_path: Path):
    (tmp_path / "ag.py").write_text(CONVERTS)
    (tmp_path / "program.py").write_text(DEBUGGED)
    out = pdb(tmp_path, "b 9, not isinstance(x, int)", "c", "p type(y).__name__", "up")
    assert "program.py(9)f()" in out and "Tracer'" in out


RULES = """\
import ag
import jax


@ag.custom_vjp
def bent(x):
    if x > 0:
        y = x * x
    else:
        y = -x
    return y


def forward(x):
    kept = 2 * x
    return bent(x), kept


def backward(kept, g):
    if kept > 3:
        slope = kept * g
    else:
        slope = -g
    return (slope,)


bent.defvjp(forward, backward)
print("slope", jax.grad(bent)(2.0))
"""


def test_pdb_in_derivative_rules(tmp_path: Path):
    """An eager derivative runs a rule in Python, on values."""
    (tmp_path / "ag.py").write_text("from autograph_jax import custom_vjp\n")
    (tmp_path / "program.py").write_text(RULES)
    stops = ["b 8", "b 16", "b 21"]
    out = pdb(tmp_path, *stops, "c", "p float(kept) + 16", "c", "p float(x) + 8", "c", "p float(kept * g) + 21", "c")
    assert re.findall(r"program\.py\((\d+)\)(?!<module>)", out)[:3] == ["16", "8", "21"], out
    assert re.findall(r"\(Pdb\) ([\d.]+)$", out, re.MULTILINE) == ["20.0", "10.0", "25.0"], out
    assert "slope 4.0" in out


def pdb(folder: Path, *commands: str) -> str:
    """What pdb prints when it is given these commands, and then told to quit."""
    lines = "\n".join([*commands, "q", "y"]) + "\n"
    done = subprocess.run(
        [sys.executable, "-m", "pdb", "program.py"], input=lines, capture_output=True, text=True, cwd=folder, timeout=300
    )
    return done.stdout


def test_breakpoint_is_in_the_users_frame(tmp_path: Path):
    text = DEBUGGED.replace("        y = x * 2\n", "        y = x * 2; breakpoint()\n")
    (tmp_path / "ag.py").write_text(CONVERTS)
    (tmp_path / "program.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "program.py"], input="p y\nc\nq\n", capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    assert "f()" in done.stdout and "6" in done.stdout


def test_breakpoint_shows_every_variable(tmp_path: Path):
    """No debugger looks on yet when the function is converted, but its code calls one."""
    text = DEBUGGED.replace("        y = x * 2\n", "        y = x * 2; breakpoint()\n")
    (tmp_path / "ag.py").write_text(CONVERTS)
    (tmp_path / "program.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "program.py"], input="p n + 39\nc\nq\n", capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    assert "(Pdb) 42\n" in done.stdout


def test_uncaught(tmp_path: Path):
    """The whole report of a program that ends with an error, apart from our own frames."""
    (tmp_path / "program.py").write_text(
        "import autograph_jax as ag\n\n\n"
        "@ag.autograph\ndef f(x):\n    while x:\n        x = 1 / (x - x)\n    return x\n\n\nf(3)\n"
    )
    done = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path)
    *_, where, line, carets, error = done.stderr.splitlines()
    assert where.endswith('program.py", line 7, in f') and error == "ZeroDivisionError: division by zero"
    assert line == "    x = 1 / (x - x)"
    assert carets.strip(" ") in ("~~^~~~~~~~~", "~~^~~~~~~~~") and carets.index("~") == 8


def test_do_not_convert_leaves_no_frames(tmp_path: Path):
    program = in_file(tmp_path, FAILING["callee"])
    ag.do_not_convert(program["g"])
    error = raised(autograph(program["f"]), 1, [])
    entries = [e for e in traceback.extract_tb(error.__traceback__) if e.filename == program["__file__"]]
    assert [(e.name, e.lineno) for e in entries] == [("f", 5), ("f", 6), ("g", 3)]
