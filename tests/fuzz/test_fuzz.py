"""Random programs do the same converted, in every way; and the bugs of planted.py are found, each within some programs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from tests.fuzz.compare import Mismatch
from tests.fuzz.planted import PLANTED
from tests.fuzz.programs import HEAD, Program, text_of
from tests.fuzz.runner import SMOOTH_EVERY, Comparison, check, modes_of, of_seed
from tests.fuzz.shrink import fails_alike, shrink

ROOT = Path(__file__).parents[2]

PROGRAMS, PARTS = 300, 6  # all of them, in so many tests, so that workers share them
MOST_REFUSED = 0.1  # of all
PROGRAMS_OF_A_BUG = 200  # within so many it is found


@pytest.mark.usefixtures("x64")
@pytest.mark.filterwarnings("ignore")  # programs that nobody wrote may divide by zero, or compare with a literal by `is`
@pytest.mark.parametrize("part", range(PARTS))
def test_programs(part: int, tmp_path_factory: pytest.TempPathFactory):
    refused = 0
    for seed in range(part, PROGRAMS, PARTS):
        tested = of_seed(seed)
        verdict = check(tested, modes_of(tested))
        assert not verdict.mismatches, small(tested, verdict.mismatches[0])
        refused += bool(verdict.refusals)
    counts = counts_of_all_parts(part, refused, tmp_path_factory)
    assert len(counts) < PARTS or sum(counts) <= MOST_REFUSED * PROGRAMS


@pytest.mark.usefixtures("x64")
@pytest.mark.filterwarnings("ignore")
def test_ported_programs():
    """The same programs as NumPy code that is ported: arrays are references, and hardly anything is refused."""
    refused = 0
    for seed in range(40):
        verdict = check(of_seed(seed), ["port"])
        assert not verdict.mismatches, verdict.mismatches[0].detail
        refused += bool(verdict.refusals)
    assert refused <= 4


def counts_of_all_parts(part: int, refused: int, factory: pytest.TempPathFactory) -> list[int]:
    """How many were refused in each part that has ended, whichever worker ran it: the last one sees them all."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "refused"
    folder.mkdir(exist_ok=True)
    (folder / f"{part}.part").write_text(str(refused))
    (folder / f"{part}.part").rename(folder / f"{part}.count")
    return [int(count.read_text()) for count in folder.glob("*.count")]


def small(tested: Program, mismatch: Mismatch) -> str:
    return f"seed {tested.seed}: {mismatch.detail}\n{shrink(tested.text, fails_alike(tested, mismatch))}"


class Drawn:
    """Choices that hypothesis makes, and makes smaller."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def below(self, n: int) -> int:
        return self._draw(st.integers(0, n - 1))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    return Program(0, text_of(Drawn(draw)))


@hypothesis.given(programs())
@hypothesis.settings(suppress_health_check=list(hypothesis.HealthCheck))  # a program is many choices
def test_programs_of_hypothesis_on_plain_values(tested: Program):
    assert check(tested, ["plain"]).mismatches == ()


@pytest.mark.usefixtures("x64")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PLANTED)
def test_planted_bugs_are_found(name: str):
    planted = PLANTED[name]
    mode, bug = planted.mode, planted.bug
    step = SMOOTH_EVERY if mode == "grad" else 1
    for seed in range(step - 1, PROGRAMS_OF_A_BUG * step, step):
        tested = of_seed(seed, planted.without)
        with bug():
            wrong = check(tested, [mode]).mismatches
        if wrong and not check(tested, [mode]).mismatches:
            return
    pytest.fail(f"{name} was not found in {PROGRAMS_OF_A_BUG} programs")


LONG = f"""{HEAD}

def h1(p0):
    return p0 * 2

def program(i, j, x, y, b, a, r, o):
    m = h1(i) % 31
    for k in range(3):
        a[k] = m
        if b:
            x += 0.25
        else:
            if j > 100 or i >= 0:
                y -= 0.25
            m = (m + k) % 31
    while m > 30:
        m -= 1
    try:
        o.n = j if b else m
    finally:
        n = note(3, i)
    return m, x + y, spread(a)

def run(i, j, x, y, b, a, r, on, ov, oc):
    o = Box(on, ov, oc)
    return program(i, j, x, y, b, a, r, o), o.n
"""


def test_a_program_is_made_small():
    """Down to what shows a planted bug."""
    mode, bug = PLANTED["else_is_dropped"].mode, PLANTED["else_is_dropped"].bug
    tested = Program(0, LONG)
    with bug():
        (mismatch,) = check(tested, [mode]).mismatches
        text = shrink(LONG, fails_alike(tested, mismatch))
        assert check(Program(0, text), [mode]).mismatches
    assert check(tested, [mode]).mismatches == ()
    start, end = text.index("def program"), text.index("def run")
    assert len(text[start:end].strip().splitlines()) <= 9, text
    assert "h1" not in text


CHAOTIC = """
import jax.numpy as jnp

def run(x, y, r, i, b):
    for _ in range(4):
        y += r[0] - y * y * (3.0 - 2.0 * y)
    return jnp.sin(-y)
"""


def test_rows_in_which_rounding_decides_are_left_out():
    tame, wild = (dict(x=1.0, y=y, r=np.array([1.08, 0.8, 1.3]), i=0, b=True) for y in (0.3, 1.634879762351487))
    comparison = Comparison(Program(0, CHAOTIC, smooth=True), [tame, wild])
    assert [row["y"] for row in comparison.rows] == [0.3]


def test_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--count", "3", "--modes", "plain"], capture_output=True, text=True, cwd=ROOT
    )
    last = done.stdout.splitlines()[-1]
    assert re.fullmatch(r"fuzz: 3 programs \(3 plain\), 0.0 % refused, 0 mismatches, \d+ s", last), done
    assert done.returncode == 0
