"""Every benchmark runs, at sizes so small that its figures say nothing; and copies in loops are counted right."""

import importlib
import math
from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
import pytest
from jax import lax

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModuleType:
    """A module of benchmarks/, imported as the script beside which the others stand."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("JAX_ENABLE_X64", "0")  # stores.py sets it where it is not set
    return importlib.import_module(request.param)


def table(text: str) -> list[list[str]]:
    """The rows of the markdown table that was printed last, without its header."""
    lines = text[text.index("| ---") :].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("script", ["stores"], indirect=True)
def test_stores(script, capsys):
    script.main(["--sizes", "6", "--seconds", "0"])
    rows = table(capsys.readouterr().out)
    assert [row[0] for row in rows] == [program.name for program in script.PROGRAMS]
    assert all(row[1] == "6" and float(row[4]) > 0 for row in rows)


@pytest.mark.parametrize("script", ["stores"], indirect=True)
def test_stores_leaves_out_what_would_take_too_long(script, capsys):
    script.main(["--sizes", "6", "600", "--only", "recurrence", "--seconds", "0", "--longest", "0"])
    rows = [row for row in table(capsys.readouterr().out) if row[0] == "recurrence"]
    assert [row[3].startswith("left out") for row in rows] == [False, True]


@pytest.mark.parametrize("script", ["nesting"], indirect=True)
def test_nesting(script, capsys):
    script.main(["--depths", "1", "2", "--lengths", "2", "--seconds", "0"])
    rows = table(capsys.readouterr().out)
    assert len(rows) == 3 * len(script.KINDS)
    assert all(math.isfinite(float(row[6])) for row in rows)


@pytest.mark.parametrize("script", ["captures"], indirect=True)
def test_captures(script, capsys):
    script.main(["--calls", "2", "--seconds", "0"])
    rows = table(capsys.readouterr().out)
    assert [row[0] for row in rows] == list(script.CASES)
    assert all(math.isfinite(float(row[2])) for row in rows)


@pytest.mark.parametrize("script", ["checks"], indirect=True)
def test_checks(script, capsys):
    script.main(["--turns", "200", "--seconds", "0"])
    rows = table(capsys.readouterr().out)
    assert [row[0] for row in rows] == [name for name, *_ in script.LOOPS]
    assert all(math.isfinite(float(row[3])) for row in rows)


@pytest.mark.parametrize("script", ["checks"], indirect=True)
def test_what_checks_compares_computes_the_same(script):
    for _, ours, bare, by_hand, _ in script.LOOPS:
        error, value = script.checkify.checkify(by_hand)(jnp.float32(1.0), 200)
        assert error.get() is None
        assert jnp.allclose(jnp.array([ours(1.0, 200), bare(1.0, 200)]), value)


@pytest.mark.parametrize("script", ["progress"], indirect=True)
def test_progress(script, capsys):
    pytest.importorskip("tqdm")
    script.main(["--sizes", "2", "--turns", "20", "--seconds", "0"])
    rows = table(capsys.readouterr().out)
    assert len(rows) == sum(1 + static for _, static, *_ in script.LOOPS)
    assert all(math.isfinite(float(row[5])) for row in rows)


@pytest.mark.parametrize("kinds", [("if",), ("while",), ("while", "if"), ("sum",)])
@pytest.mark.parametrize("shape", ["nested", "in_a_row"])
@pytest.mark.parametrize("script", ["nesting"], indirect=True)
def test_both_of_nesting_compute_the_same(script, shape, kinds, tmp_path):
    converted, expert = script.load(getattr(script, shape)(kinds, 3), tmp_path, "blocks")
    assert jnp.allclose(jax.jit(converted)(1.0, 2.0, 3), jax.jit(expert)(1.0, 2.0, 3))


@pytest.mark.parametrize("script", ["conversion"], indirect=True)
def test_conversion(script, capsys):
    script.main(["--functions", "2", "--imports", "1"])
    rows = table(capsys.readouterr().out)
    assert len(rows) == 8


@pytest.mark.parametrize("script", ["calls"], indirect=True)
def test_calls(script, capsys):
    script.main(["--calls", "2", "--seconds", "0"])
    rows = table(capsys.readouterr().out)
    assert [row[0] for row in rows] == [name for name, *_ in script.cases()]
    assert all(float(row[3].replace(",", "")) > 0 for row in rows)


@pytest.mark.parametrize("script", ["reverse"], indirect=True)
def test_reverse(script, capsys):
    pytest.importorskip("equinox")
    script.main(["--only", "turns", "--turns", "5", "--dims", "1", "3", "--checkpoints", "4", "--seconds", "0"])
    rows = table(capsys.readouterr().out)
    assert len(rows) == 2 * 6 and all(math.isfinite(float(row[5])) for row in rows)


@pytest.mark.parametrize("script", ["reverse"], indirect=True)
def test_the_tape_has_the_gradient(script):
    a, x = script.matrix(4)
    gradient, kept = script.tape(3, a, x)
    assert jnp.allclose(gradient, jax.grad(lambda x: jnp.sum(script.by_scan(3, a, x, 3)))(x))
    assert kept >= 3 * x.nbytes


@pytest.mark.parametrize("script", ["reverse"], indirect=True)
def test_reverse_of_loops_that_are_left(script, capsys):
    script.main(["--only", "exits", "--turns", "5", "--dims", "3", "--seconds", "0"])
    rows = table(capsys.readouterr().out)
    assert len(rows) == 3 * 3 and all(float(row[4].replace(",", "")) > 0 for row in rows)


@pytest.mark.parametrize("script", ["solves"], indirect=True)
def test_solves(script, capsys, x64):
    script.main(["--only", "newton", "simpson", "--solves", "4", "--seconds", "0"])
    text = capsys.readouterr().out
    rows = table(text.partition("\n\nGeometric")[0])
    assert [row[0] for row in rows] == ["newton", "simpson"]
    assert all(float(row[3].replace(",", "")) > 0 and float(row[5]) < 1e-12 for row in rows)


@pytest.mark.parametrize("script", ["measure"], indirect=True)
class TestArrayCopies:
    def test_a_loop_that_writes_in_place_has_none(self, script):
        fill = jax.jit(lambda x: lax.fori_loop(0, 50, lambda i, x: x.at[i].set(i * 2.0), x))
        assert script.array_copies(fill, jnp.zeros(50), size=50) == 0

    def test_a_carry_that_is_kept_and_written_is_copied(self, script):
        def turn(i, carry):
            x, _ = carry
            return x.at[i].set(jnp.sum(x)), x

        keep = jax.jit(lambda x: lax.fori_loop(0, 50, turn, (x, x)))
        assert script.array_copies(keep, jnp.zeros(50), size=50) > 0
        assert script.array_copies(keep, jnp.zeros(50), size=51) == 0

    def test_only_copies_in_loops_count(self, script):
        text = """
HloModule jit_f

%branch (p: f64[8,8]) -> f64[8,8] {
  %p = f64[8,8]{1,0} parameter(0)
  ROOT %copy.1 = f64[8,8]{1,0:T(8,128)} copy(%p)
}

%body (t: (s64[], f64[8,8])) -> (s64[], f64[8,8]) {
  %t = (s64[], f64[8,8]{1,0}) parameter(0)
  %i = s64[] get-tuple-element(%t), index=0
  %x = f64[8,8]{1,0} get-tuple-element(%t), index=1
  %copy.2 = s64[] copy(%i)
  %y = f64[8,8]{1,0} conditional(%i, %x, %x), branch_computations={%branch, %other}
  ROOT %r = (s64[], f64[8,8]{1,0}) tuple(%copy.2, %y)
}

ENTRY %main (x: f64[8,8]) -> f64[8,8] {
  %x = f64[8,8]{1,0} parameter(0)
  %copy.3 = f64[8,8]{1,0} copy(%x)
  %w = (s64[], f64[8,8]{1,0}) while(%copy.3), condition=%test, body=%body
  ROOT %o = f64[8,8]{1,0} get-tuple-element(%w), index=1
}
"""
        assert script.array_copies_in(text, 64) == 1
        assert script.array_copies_in(text, 1) == 2


@pytest.mark.parametrize("script", ["measure"], indirect=True)
def test_interleaved_gives_one_median_for_each(script):
    calls = []
    times = script.interleaved(lambda: calls.append("a"), lambda: calls.append("b"), seconds=0.0, rounds=3)
    assert calls == list("ab" + "abbaab")  # once to warm up, then forth and back
    assert len(times) == 2 and all(t >= 0 for t in times)


def programs() -> list[str]:
    return sorted(path.stem for path in (FOLDER / "programs").glob("*.py") if path.stem not in ("__init__", "program"))


@pytest.mark.parametrize("name", programs())
@pytest.mark.parametrize("script", ["suite"], indirect=True)
def test_all_forms_of_a_program_agree(script, name, x64, monkeypatch):
    monkeypatch.setattr(script, "_by_numba", lambda program: program.literal)  # which compiles the same for seconds
    program = script.load(name)
    script.check(program, script.forms(program, program.arguments(12)))


@pytest.mark.parametrize("script", ["suite"], indirect=True)
def test_forms_that_differ_are_found(script, x64):
    program = script.load("collatz")
    with pytest.raises(AssertionError, match="Collatz: NumPy and expert differ"):
        script.check(program, script.forms(program, program.arguments(12)) | {"NumPy": lambda: 8})


@pytest.mark.parametrize("script", ["suite"], indirect=True)
def test_suite(script, capsys, x64, tmp_path, monkeypatch):
    monkeypatch.setattr(script, "_by_numba", lambda program: program.literal)
    picture = tmp_path / "suite.png"
    script.main(["--only", "newton", "collatz", "--size", "8", "--seconds", "0", "--first-calls", "1", "--plot", str(picture)])
    rows = table(capsys.readouterr().out)
    assert [row[0] for row in rows] == ["Newton", "Collatz", "geometric mean", "worst"]
    assert all(float(row[3]) > 0 and float(row[4]) > 0 and float(row[6]) > 0 for row in rows)
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("script", ["devices"], indirect=True)
def test_devices(script, capsys, x64):
    script.main(["--only", "newton", "viterbi", "--size", "8", "--seconds", "0"])
    newton, viterbi, *ends = table(capsys.readouterr().out)
    assert [row[0] for row in ends] == ["geometric mean", "worst"]
    assert newton[-1].startswith("while[newton.py:") and viterbi[-1] == ""
    assert all(float(row[3]) > 0 and row[5] == "" for row in (newton, viterbi))  # a CPU has no profile of a device


@pytest.mark.parametrize("script", ["devices"], indirect=True)
def test_a_size_that_does_not_take_too_long(script, x64):
    program = script.suite.load("newton")
    assert script.size_for(program, 1e6) == program.size
    assert script.size_for(program, 0.0) == 10


@pytest.mark.parametrize("script", ["measure"], indirect=True)
def test_what_a_device_did_is_read_of_a_profile(script, monkeypatch):
    class Event:
        def __init__(self, name, duration_ns):
            self.name, self.duration_ns = name, duration_ns

    class Line:
        def __init__(self, name, *events):
            self.name, self.events = name, events

    class Plane:
        def __init__(self, name, *lines):
            self.name, self.lines = name, lines

    own = Line(
        "Stream #1", Event("fusion", 2000.0), Event("MemcpyD2H", 500.0), Event("loop_add", 1000.0), Event("MemcpyD2D", 1.0)
    )
    planes = [
        Plane("/host:CPU", Line("Stream", Event("no", 7.0))),
        Plane("/device:GPU:0", own, Line("XLA Ops", Event("fusion", 2000.0))),
    ]

    class Profile:
        def __init__(self):
            self.planes = planes

    monkeypatch.setattr(script.jax.profiler.ProfileData, "from_file", lambda path: Profile(), raising=False)
    assert script.kernels(lambda: jnp.zeros(2) + 1) == script.Kernels(3e-6, 2, 1)
    planes.pop()
    assert script.kernels(lambda: jnp.zeros(2) + 1) is None
