"""coverage.py reports the same lines of a converted program as of the program without the decorator."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("coverage", reason="coverage is not installed")

PROGRAM = """\
import ag
import contextlib


@ag.autograph
def f(x, xs):
    if x > 0:
        y = 1
    else:
        y = 2
    if x > 100: return x
    for v in xs:
        if v == 2:
            continue
        if v > 5:
            break
        y += v
    else:
        y = -y
    while y > 1:
        y -= 3
        if y == -50:
            return None
    try:
        y = 1 // (y - y)
    except ZeroDivisionError:
        y = 3
    except KeyError:
        y = 4
    finally:
        x += 1
    with contextlib.suppress(TypeError):
        xs[0] = y
        len(y)
        y = 0
    match x:
        case 0:
            y = 10
        case 2:
            y = (
                20 +
                x
            )
    kept = [w for w in xs if w > 2]
    low = (lambda: y) if x < 0 else (
        lambda: x)
    return kept, low()


@ag.autograph
def g(n):
    for k in range(n):
        if k % 2:
            yield k
        else:
            n -= 1


f(1, [1, 2, 3])
f(-1, [7])
list(g(3))
"""


def lines(folder: Path, decorator: str) -> dict[str, list[int]]:
    (folder / "program.py").write_text(PROGRAM)
    (folder / "ag.py").write_text(decorator)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    for command in (["run", "--include=program.py", "program.py"], ["json", "-q", "-o", "lines.json"]):
        done = subprocess.run(
            [sys.executable, "-m", "coverage", *command], cwd=folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    found = json.loads((folder / "lines.json").read_text())["files"]["program.py"]
    return {name: found[name] for name in ("executed_lines", "missing_lines")}


def test_the_same_lines(tmp_path: Path):
    expected = lines(tmp_path, "def autograph(f):\n    return f\n")
    assert len(expected["executed_lines"]) > 40 and len(expected["missing_lines"]) > 3
    assert lines(tmp_path, "from autograph_jax import autograph\n") == expected
