"""`autograph-jax explain`: how a call is spelt, and what is printed and written."""

import json
import sys
from pathlib import Path

import pytest

from autograph_jax.cli.main import main

SOLVER = """\
import jax.numpy as jnp

start = jnp.ones(3)


def halved(x, *, rate=0.5):
    while x.sum() > 1:
        x = x * rate
    return x


class Model:
    @staticmethod
    def step(x):
        return x + 1


number = 3
"""


@pytest.fixture
def solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "a_solver.py").write_text(SOLVER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.delitem(sys.modules, "a_solver", raising=False)
    yield "a_solver.py"
    sys.modules.pop("a_solver", None)


CALLS = {
    "a_solver.py:halved": "start",
    "a_solver:halved": "ones(3), rate=0.25",
    "a_solver.py:Model.step": "randn(2, 2)",
}


@pytest.mark.parametrize("target", CALLS)
def test_calls(target: str, solver: str, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", target, "--args", CALLS[target], "--no-compile"]) == 0
    text = " ".join(capsys.readouterr().out.split())  # how long tracing took decides where a line is broken
    assert text.startswith(target.rpartition(":")[2]) and "forward mode: yes; reverse mode: yes" in text
    assert ("carries x float32[3]" in text) == ("halved" in target)


def test_files(solver: str, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", f"{solver}:halved", "--args", "start", "--no-compile", "--json", "--html", "page.html"]) == 0
    assert json.loads(capsys.readouterr().out)["functions"][0]["lines"][1]["kind"] == "while"
    assert Path("page.html").read_text().startswith("<!doctype html>")


WRONG = {
    "a_solver.py:halve": ("", "there is no `halve` in a_solver.py"),
    "a_solver.py:number": ("", "`number` in a_solver.py is not a function"),
    "b_solver.py:halved": ("", "b_solver.py cannot be read: there is no such file"),
    "b_solver:halved": ("", "there is no module b_solver in this folder or on Python's path"),
    "a_solver.py": ("", "`a_solver.py` names no function: write file.py:function or package.module:function"),
    "a_solver.py:halved": ("missing", "--args 'missing': NameError: name 'missing' is not defined"),
    "a_solver:halved": ("1, 2", "--args '1, 2' does not fit a_solver:halved(x, *, rate=0.5): too many positional arguments"),
}


@pytest.mark.parametrize("target", WRONG)
def test_what_is_not_understood_is_2(target: str, solver: str, capsys: pytest.CaptureFixture[str]):
    args, message = WRONG[target]
    assert main(["explain", target, "--args", args]) == 2
    assert capsys.readouterr().err == f"autograph-jax explain: error: {message}\n"
