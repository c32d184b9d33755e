"""Converted code in IPython: a cell is a file like any other, and what is defined again is converted again."""

import json
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("IPython", reason="IPython is not installed")

SESSION = """
    import json, sys
    from IPython.core.interactiveshell import InteractiveShell

    shell, found = InteractiveShell.instance(), []
    for cell in json.load(sys.stdin):
        done = shell.run_cell(cell)
        error = done.error_in_exec or done.error_before_exec
        said = f"{type(error).__name__}: {error}" if error else ""
        found.append([repr(done.result), said, hasattr(done.result, "_repr_html_")])
    print(json.dumps(found))
"""
START = "import jax\nimport autograph_jax as ag"
HALVED = "@ag.autograph\ndef f(x):\n    while x > 1:\n        x = x / 2\n    return x"


def run(*cells: str) -> list[tuple[str, str, bool]]:
    """Of each cell its value, its error, and whether a notebook would show it as HTML."""
    command = [sys.executable, "-c", textwrap.dedent(SESSION)]
    done = subprocess.run(command, input=json.dumps([START, *cells]), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [tuple(found) for found in json.loads(done.stdout.splitlines()[-1])][1:]


def test_cells():
    again = HALVED.replace("x / 2", "x / 4")
    growing = HALVED.replace("x / 2", "jax.numpy.append(x, 0.0)").replace("x >", "x.sum() >")
    defined, halved, explained, _, quartered, _, refused = run(
        HALVED,
        "float(jax.jit(f)(8.0))",
        "ag.explain(f, 8.0, compile=False)",
        again,
        "float(jax.jit(f)(8.0))",
        growing,
        "jax.jit(f)(jax.numpy.ones(3))",
    )
    assert defined == ("None", "", False)
    assert halved == ("1.0", "", False) and quartered == ("0.5", "", False)
    assert "lax.while_loop" in explained[0] and explained[2]
    assert refused[1].startswith("ShapeError: `x` has two shapes") and "    while x.sum() > 1:\n" in refused[1]


def test_a_breakpoint_in_a_cell():
    """`breakpoint` stops in the cell's frame, with its variables."""
    hook = "import sys\nsys.breakpointhook = lambda: seen.append(sorted(sys._getframe(1).f_locals.items()))\nseen = []"
    stopping = "@ag.autograph\ndef f(x, rate):\n    if x > 0:\n        breakpoint()\n        x = 2 * x\n    return x"
    *_, seen = run(hook, stopping, "f(3, 0.5)", "seen")
    assert seen[0] == "[[('rate', 0.5), ('x', 3)]]"
