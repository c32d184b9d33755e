"""Conversions are kept per code object, weakly; nothing is converted twice; threads may convert at once."""

import functools
import gc
import importlib.util
import linecache
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import pytest

import autograph_jax as ag
from autograph_jax import autograph
from autograph_jax.errors import SourceError, UnconvertibleError
from autograph_jax.runtime import convert
from autograph_jax.runtime.convert import is_converted


def in_file(path: Path, text: str) -> Any:
    path.write_text(text)
    linecache.checkcache(str(path))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that are converted from now on."""
    done, original = [], convert._convert

    def counting(function: types.FunctionType) -> Any:
        done.append(function.__qualname__)
        return original(function)

    monkeypatch.setattr(convert, "_convert", counting)
    return done


# ------------------------------------------------------------------ once


def test_converted_once(monkeypatch: pytest.MonkeyPatch):
    done = counted(monkeypatch)

    def f(x):
        return x if x else 1

    first, second = autograph(f), autograph(f)
    assert first is second and first is not f and len(done) == 1


def test_a_converted_function_stays_itself():
    @autograph
    def f(x):
        return x if x else 1

    assert autograph(f) is f and autograph(autograph(f)) is f and is_converted(f)
    assert ag.source(f) == ag.source(autograph(f))


def test_inner_functions_of_converted_ones_are_converted_already():
    @autograph
    def f(x):
        def g(y):
            return y if y else x

        return g

    g = f(3)
    assert is_converted(g) and autograph(g) is g and g(0) == 3


def test_callees_are_converted_once(monkeypatch: pytest.MonkeyPatch):
    done = counted(monkeypatch)

    def callee(x):
        return x + 1 if x else 1

    @autograph
    def f(x):
        for _ in range(5):
            x = callee(x)
        return x

    assert f(0) == 5 and f(1) == 6
    assert sum(name.endswith("callee") for name in done) == 1


# ------------------------------------------------------------------ one code, several functions


def make(scale):
    def scaled(x):
        if x > 0:
            return x * scale
        return 0

    return scaled


def test_two_closures_of_one_code(monkeypatch: pytest.MonkeyPatch):
    done = counted(monkeypatch)
    double, triple = autograph(make(2)), autograph(make(3))
    assert (double(5), triple(5)) == (10, 15)
    assert len(done) == 1 and double.__code__ is triple.__code__


def test_closures_in_converted_callers():
    @autograph
    def f(x):
        return [g(x) for g in (make(2), make(3))]

    assert f(5) == [10, 15]


def counter():
    count = 0

    def add():
        nonlocal count
        if count < 100:
            count += 1
        return count

    def reset():
        nonlocal count
        count = 0

    return add, reset


def test_rebound_cells():
    add, reset = counter()
    converted = autograph(add)
    assert (converted(), add(), converted()) == (1, 2, 3)
    reset()
    assert converted() == 1
    add.__closure__[0].cell_contents = 50
    assert converted() == 51


def test_defaults_of_one_code():
    functions = [autograph(lambda x=n: x if x else -1) for n in range(3)]
    assert [f() for f in functions] == [-1, 1, 2]


def test_globals_of_one_code():
    def f():
        return value if value else 0  # noqa: F821 - a global of the functions below

    here = types.FunctionType(f.__code__, {"value": 1, "__name__": "here"})
    there = types.FunctionType(f.__code__, {"value": 2, "__name__": "there"})
    assert (autograph(here)(), autograph(there)()) == (1, 2)


def test_rebound_globals(tmp_path: Path):
    module = in_file(tmp_path / "module.py", "value = 1\ndef f():\n    return value if value else 0\n")
    f = autograph(module.f)
    module.value = 7
    assert f() == 7


def test_two_equal_functions_in_two_files(tmp_path: Path):
    """Code objects compare by value without the file's name, but errors and breakpoints belong to one of the files."""
    text = "def f(x):\n    if x:\n        return 1 / (x - x)\n    return 0\n"
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = (in_file(tmp_path / folder / "module.py", text).f for folder in "ab")
    assert first.__code__ is not second.__code__
    converted = [autograph(first), autograph(second)]
    assert [f.__code__.co_filename for f in converted] == [first.__code__.co_filename, second.__code__.co_filename]
    for function, folder in zip(converted, "ab", strict=True):
        with pytest.raises(ZeroDivisionError) as caught:
            function(1)
        assert f"/{folder}/module.py" in str(caught.traceback[-1].path)


def test_reloaded(tmp_path: Path):
    path = tmp_path / "module.py"
    old = in_file(path, "def f(x):\n    return 'old' if x else 0\n").f
    assert autograph(old)(1) == "old"
    new = in_file(path, "# moved\ndef f(x):\n    return 'new' if x else 0\n").f
    assert autograph(new)(1) == "new" and autograph(old)(1) == "old"


def test_new_code_of_a_function():
    """IPython's autoreload does this to every function of an edited module."""

    def f(x):
        return "old" if x else 0

    def g(x):
        return "new" if x else 0

    assert autograph(f)(1) == "old"
    f.__code__ = g.__code__
    assert autograph(f)(1) == "new"


# ------------------------------------------------------------------ held weakly

TABLES = {"_conversions": convert._conversions, "_converted": convert._converted, "_functions": convert._converted}


@pytest.fixture
def uncounted() -> Iterator[None]:
    """Where coverage counts lines by sys.monitoring, it keeps all code that has started."""
    monitoring: Any = getattr(sys, "monitoring", None)  # of Python 3.12
    counts = monitoring is not None and monitoring.get_tool(monitoring.COVERAGE_ID) is not None
    events = monitoring.get_events(monitoring.COVERAGE_ID) if counts else 0
    if counts:
        monitoring.set_events(monitoring.COVERAGE_ID, 0)
    yield
    if counts:
        monitoring.set_events(monitoring.COVERAGE_ID, events)


@pytest.mark.usefixtures("uncounted")
def test_tables_are_empty_after_their_functions(tmp_path: Path):
    gc.collect()
    before = {name: set(table) for name, table in TABLES.items() if name != "_functions"}
    functions = len(convert._converted)
    module = in_file(
        tmp_path / "module.py",
        "def f(x):\n    def g(y):\n        while y > 0:\n            y = y - 1\n        return y\n"
        "    return g(x) if x else h(x)\n"
        "def h(x):\n    return x if x else 0\n",
    )
    converted = autograph(module.f)
    assert converted(3) == 0 and converted(0) == 0
    assert len(convert._conversions) > len(before["_conversions"])
    assert len(convert._converted) > len(before["_converted"])
    del converted, module
    gc.collect()
    for name, keys in before.items():
        assert set(TABLES[name]) <= keys, name
    assert len(convert._converted) <= functions


def test_a_new_function_at_an_old_address(tmp_path: Path):
    """Ids are used again, conversions must not be."""
    results = []
    for n in range(20):
        module = in_file(tmp_path / f"module{n}.py", f"def f(x):\n    return {n} if x else 0\n")
        results.append(autograph(module.f)(1))
        del module
        gc.collect(1)  # not of all that there is: it takes seconds where many tests have run
    assert results == list(range(20))


def test_arrays_in_closures_are_not_kept():
    class Big:
        pass

    def make():
        big = Big()
        return lambda: big if big else 0

    function = make()
    gone = weakref.ref(autograph(function)())
    del function
    gc.collect()
    assert gone() is None


def test_a_recursive_closure_is_not_kept():
    """Its twin holds the cell that holds the function."""

    def make():
        def power(x, n):
            return x * power(x, n - 1) if n else 1

        return power

    power = make()
    assert autograph(power)(2, 3) == 8
    gone = weakref.ref(power)
    del power
    gc.collect()
    assert gone() is None


# ------------------------------------------------------------------ threads


def test_threads_convert_one_function_at_once(monkeypatch: pytest.MonkeyPatch):
    done = counted(monkeypatch)

    def callee(x):
        while x > 3:
            x = x - 3
        return x

    def f(x):
        if x > 0:
            return callee(x)
        return -x

    start, results = threading.Barrier(8), []

    def work():
        start.wait()
        converted = autograph(f)
        results.append((converted, converted(10)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(converted) for converted, _ in results}) == 1 and {value for _, value in results} == {1}
    assert sorted(name.rpartition(".")[2] for name in done) == ["callee", "f"]


def test_threads_trace_at_once():
    """A trace belongs to its thread: what one writes is not found by another."""

    class Solver:
        pass

    def f(x, n):
        solver = Solver()
        solver.total = x
        while solver.total < n:
            solver.total = solver.total * 2
            solver.last = x
        return solver.total

    results: dict[int, float] = {}

    def work(n):
        results[n] = float(jax.jit(lambda x: autograph(f)(x, n))(1.0))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(2, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {2: 2, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8}


# ------------------------------------------------------------------ what stays as it is


def generator(xs):
    for x in xs:
        if x:
            yield x


def yields_inside(xs):
    for x in xs:
        x and (yield x)


async def coroutine(x):
    return x if x else 0


def own_frame(x):
    y = x if x else 0
    return dir()


def evaluates(x):
    return eval("x + 1") if x else 0


LEFT = [yields_inside, coroutine, own_frame, evaluates]


@pytest.mark.parametrize("function", LEFT, ids=lambda f: f.__name__)
def test_left_alone(function: Any):
    assert autograph(function) is function
    with pytest.raises(UnconvertibleError):
        autograph(function, strict=True)
    with pytest.raises(UnconvertibleError):
        ag.source(function)


def test_called_as_they_are():
    @autograph
    def f(x):
        return list(yields_inside([x, 0, 2])), own_frame(x), evaluates(x)

    assert f(1) == ([1, 2], ["x", "y"], 2)


def test_strict_is_for_this_function_only():
    @autograph(strict=True)
    def f(x):
        return list(generator([x]))

    assert f(1) == [1]


def test_why_is_remembered():
    conversion = convert.conversion_of(yields_inside)
    assert conversion.code is None and conversion.reason == "it yields inside an expression"
    assert conversion.location.line == yields_inside.__code__.co_firstlineno + 2
    made: dict[str, Any] = {}
    exec("def f(x):\n    return x", made)
    conversion = convert.conversion_of(made["f"])
    assert isinstance(conversion.error, SourceError) and "not available" in conversion.reason


def test_the_text_is_logged(caplog: pytest.LogCaptureFixture):
    def f(x):
        return x if x else 0

    with caplog.at_level("DEBUG", "autograph_jax"):
        autograph(f)
        autograph(functools.wraps(generator)(lambda xs: (yield)))
    assert "ag__.if_expr" in caplog.text and "it is a generator" in caplog.text


def test_nothing_is_logged_for_the_root_logger_alone(caplog: pytest.LogCaptureFixture):
    """Its handlers are the user's: one that waits for another thread, which is converting, would wait for ever."""
    with caplog.at_level("DEBUG"):
        assert autograph(lambda x: "positive" if x > 0 else "not")(1) == "positive"
    assert not [record for record in caplog.records if record.name == "autograph_jax"]
