"""`autograph-jax bench`: what is timed and how it is told. Not how long anything takes."""

import builtins
import json
import sys
from pathlib import Path

import pytest

from autograph_jax.cli import bench
from autograph_jax.cli.main import main

PROGRAM = """\
import autograph_jax as ag
import jax

@ag.jit
def halved(x):
    while x > 1:
        x = x / 2
    return x

@jax.jit
def by_hand(x):
    return jax.lax.while_loop(lambda x: x > 1, lambda x: x / 2, x)

def mapped(f, x, *, name="f"):
    return f(x) if x > 0 else x

def mapped_by_hand(f, x, *, name):
    return jax.lax.cond(x > 0, f, lambda x: x, x)
"""


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a_bench.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(bench, "_SECONDS", 0.0)
    yield
    sys.modules.pop("a_bench", None)


CALL = ["bench", "a_bench.py:halved", "--args", "8.0", "--samples", "2", "--against", "a_bench.py:by_hand"]


def test_functions_and_strings_are_static(capsys: pytest.CaptureFixture[str]):
    call = ["bench", "a_bench.py:mapped", "--args", "jnp.sin, 2.0, name='g'", "--samples", "1"]
    assert main([*call, "--against", "a_bench.py:mapped_by_hand"]) == 0
    assert [row.split()[0] for row in capsys.readouterr().out.splitlines()][1:] == [
        *("Python", "converted", "compiled"),
        "a_bench.py:mapped_by_hand",
    ]


def test_the_table(capsys: pytest.CaptureFixture[str]):
    assert main(CALL) == 0
    title, *rows = capsys.readouterr().out.splitlines()
    assert title == "a_bench.py:halved, medians of 2"
    assert [row.split()[0] for row in rows] == ["Python", "converted", "compiled", "a_bench.py:by_hand"]
    assert [" of compiling" in row for row in rows] == [False, False, True, True]
    assert " 1 x " in rows[2]


def test_json_and_a_picture(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("matplotlib", reason="the picture is drawn by matplotlib")
    assert main([*CALL, "--json", "--png", "times.png"]) == 0
    timings = json.loads(capsys.readouterr().out)
    assert [timing["compile_seconds"] is None for timing in timings] == [True, True, False, False]
    assert all(timing["seconds"] > 0 for timing in timings)
    assert Path("times.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    plain = builtins.__import__

    def without(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return plain(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main([*CALL, "--png", "times.png"]) == 2
    assert "--png needs matplotlib" in capsys.readouterr().err


SHOWN = {3.0: "3 s", 0.0123: "12.3 ms", 4.56e-6: "4.56 us", 7e-9: "7 ns"}


@pytest.mark.parametrize("seconds", SHOWN)
def test_shown(seconds: float):
    assert bench._shown(seconds) == SHOWN[seconds]
