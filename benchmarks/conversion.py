"""What converting costs: the first and the second conversion of a function, the import, and how long the text gets.

python benchmarks/conversion.py
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import inspect
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measure
import stores

import autograph_jax
from autograph_jax import autograph

TEN_LINES = """
def solve_{number}(a, tolerance):
    x = a
    error = abs(x * x - a)
    while error > tolerance:
        if error > 1.0:
            x = 0.5 * (x + a / x)
        else:
            x = x - (x * x - a) / (2.0 * x)
        error = abs(x * x - a)
    return x
"""
IMPORTS = {  # what a process runs, after `import jax`
    "`import autograph_jax`": "import autograph_jax",
    "and its decorator": "from autograph_jax import autograph",
}
PROGRAMS = (
    stores.thomas, stores.edit_distance, stores.bubble_sort, stores.insertion_sort, stores.shuffle, stores.recurrence,
    stores.spend,
)  # fmt: skip


def conversions(count: int) -> list[list[str]]:
    """First conversion of ten-line functions, and what a second one costs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ten_lines.py"
        path.write_text("\n".join(TEN_LINES.format(number=number) for number in range(count)))
        os.utime(path, (0, 0))  # as a module that was there before the process: a file written since is compared with its code
        functions = _functions(path)
        first = [_conversion(f) for f in functions]
        again = [_conversion(f) for f in functions]
        once_more = [_conversion(f) for f in _functions(path)]  # the same file again: new code objects
    return [
        ["first conversion in a process", f"{first[0] * 1e3:.2f} ms"],
        ["first conversion of a function", f"{statistics.median(first[1:]) * 1e3:.2f} ms"],
        ["the same function again", f"{statistics.median(again) * 1e6:.1f} us"],
        ["the same source, imported again", f"{statistics.median(once_more) * 1e3:.2f} ms"],
    ]


def _conversion(function: types.FunctionType) -> float:
    return measure.once(lambda: autograph(function), time.thread_time)


def _functions(path: Path) -> list[types.FunctionType]:
    return [value for value in vars(_module(path)).values() if isinstance(value, types.FunctionType)]


def _module(path: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def calls() -> list[list[str]]:
    """Calls of the ten-line function without and with conversion, on Python numbers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.py"
        path.write_text(TEN_LINES.format(number=0))
        plain: Callable[..., Any] = _module(path).solve_0
        converted = autograph(plain)

        def many(function: Callable[..., Any]) -> Callable[[], None]:
            return lambda: [function(2.0, 1e-9) for _ in range(100)] and None

        own, python = measure.interleaved(many(converted), many(plain), clock=time.thread_time)
    return [["a call on Python numbers, converted / plain", measure.ratio(own, python)]]


def imports(repeats: int) -> list[list[str]]:
    """Time in fresh processes, beyond that of importing jax, where Python has the byte code of all modules."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        # Set to nothing, it counts as not set.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        for name, statement in IMPORTS.items():
            code = f"import time, jax; start = time.thread_time(); {statement}; print(time.thread_time() - start)"
            command = [sys.executable, "-c", code]
            runs = [float(subprocess.check_output(command, cwd=_root(), env=environment)) for _ in range(repeats + 1)]
            found.append([f"{name}, beyond jax", f"{statistics.median(runs[1:]) * 1e3:.1f} ms"])
    return found


def _root() -> Path:
    return Path(autograph_jax.__file__).parents[1]


def text() -> list[list[str]]:
    """Lines of the converted text to lines of the source (decorator included, comments and blank lines left out)."""
    converted = sum(_lines(autograph_jax.source(f)) for f in PROGRAMS)
    written = sum(_lines(ast.unparse(ast.parse(inspect.getsource(f)))) for f in PROGRAMS)
    return [["converted / source lines of stores.py", f"{converted} / {written} = {converted / written:.2f}"]]


def _lines(source: str) -> int:
    return sum(bool(line.strip()) for line in source.splitlines())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--functions", type=int, default=200, help="functions to convert (default: 200)")
    parser.add_argument("--imports", type=int, default=7, help="fresh processes (default: 7)")
    options = parser.parse_args(arguments)
    found = conversions(options.functions) + calls() + imports(options.imports) + text()
    print(f"{measure.versions()}\n")
    print(measure.table(["what", "measured"], found))


if __name__ == "__main__":
    main()
