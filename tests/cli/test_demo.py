"""The demo: its solver and its fit against SciPy, its drawings, and the whole of it."""

import argparse
import math
import subprocess
import sys
from collections import Counter
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from autograph_jax.cli import demo, demo_drawings, demo_fits, demo_report


@pytest.fixture
def model(x64: None) -> ModuleType:
    from autograph_jax.cli import lotka_volterra

    return lotka_volterra


@pytest.fixture
def problem(model: ModuleType) -> demo_fits.Problem:
    return demo_fits.Problem.load()


# The solver ------------------------------------------------------------------------------------------


def oscillator(time, state, stiffness):
    return jnp.array([state[1], (1.0 - state[0] ** 2) * stiffness * state[1] - state[0]])


def rest(time, state):
    return 0.0 * state


EQUATIONS = {  # name: derivative, times, start, args
    "van der Pol, with rejected steps": (oscillator, np.linspace(0.0, 12.0, 9), [2.0, 0.0], (5.0,)),
    "many times in one step": (oscillator, np.linspace(0.0, 0.01, 20), [2.0, 0.0], (1.0,)),
    "forced": (lambda time, state: jnp.cos(time) - state, np.linspace(1.0, 6.0, 6), [0.5], ()),
    "at rest, where the error is zero": (rest, np.linspace(0.0, 2.0, 3), [1.0, 2.0], ()),
    "from zero": (lambda time, state: jnp.ones_like(state), np.linspace(0.0, 2.0, 3), [0.0], ()),
}


@pytest.mark.parametrize("name", EQUATIONS)
@pytest.mark.parametrize("way", ["eager", "jit"])
def test_the_solver_agrees_with_solve_ivp(model, name, way):
    derivative, times, start, args = EQUATIONS[name]

    def solve(start):
        return model.solve(derivative, jnp.asarray(times), start, args)

    solution = (jax.jit(solve) if way == "jit" else solve)(jnp.asarray(start))
    expected = solve_ivp(derivative, (times[0], times[-1]), start, args=args, t_eval=times, rtol=1e-8, atol=1e-8)
    assert solution.success
    np.testing.assert_allclose(solution.states, expected.y.T, rtol=0, atol=1e-6)


def test_the_populations_agree_with_solve_ivp(model, problem):
    solution = jax.jit(model.populations)(problem.guess, problem.times)
    expected = demo_fits.scipy_populations(problem.guess, problem.times)
    np.testing.assert_allclose(solution.states, expected, rtol=0, atol=1e-6)
    exact = demo_fits.scipy_populations(problem.guess, problem.times, method="DOP853", rtol=1e-13)
    np.testing.assert_allclose(solution.states, exact, rtol=1e-6)


def test_the_solver_returns_early_where_the_solution_ends(model):
    # y' = y**2 from 1 is 1 / (1 - t): no step is small enough to pass t = 1.
    times = jnp.array([0.0, 0.5, 2.0, 3.0])
    solution = jax.jit(lambda start: model.solve(lambda time, state: state**2, times, start))(jnp.ones(1))
    assert not solution.success
    np.testing.assert_allclose(solution.states[:, 0], [1.0, 2.0, 0.0, 0.0], rtol=1e-6)


def test_the_solver_gives_up_after_so_many_steps(model, problem):
    solution = jax.jit(lambda start: model.populations(start, problem.times, max_steps=20))(problem.guess)
    assert not solution.success
    assert solution.steps == 20


def test_the_solver_comes_back_from_outside_the_domain(model):
    # Long steps overshoot the equilibrium, 0.01, and below zero there is NaN.
    def derivative(time, state):
        return -100.0 * (jnp.sqrt(state) - 0.1)

    times, start = jnp.linspace(0.0, 4.0, 5), jnp.array([1.0])
    solution = jax.jit(lambda start: model.solve(derivative, times, start, rtol=1e-3, atol=1e-3))(start)
    assert solution.success
    np.testing.assert_allclose(solution.states[-1], 0.01, atol=1e-3)


def test_the_derivative_through_the_solver(model, problem):
    def logarithms(parameters):
        return jnp.log(model.populations(parameters, problem.times).states)

    def exact(parameters):
        return np.log(demo_fits.scipy_populations(parameters, problem.times, method="DOP853", rtol=1e-13))

    found = jax.jit(jax.jacfwd(logarithms))(problem.guess)
    guess = np.asarray(problem.guess)
    expected = [(exact(guess + step) - exact(guess - step)) / 2e-5 for step in 1e-5 * np.eye(6)]
    np.testing.assert_allclose(found, np.stack(expected, axis=-1), rtol=1e-4, atol=1e-4)


# The fit ---------------------------------------------------------------------------------------------


def test_the_fit_agrees_with_least_squares(model, problem):
    found = jax.jit(model.fit)(*problem)
    assert found.converged
    np.testing.assert_allclose(found.parameters, demo_fits.scipy_fit(*problem), atol=1e-5)
    # About 0.55, 0.028, 0.80 and 0.024 in Carpenter (2018), where priors have a say.
    np.testing.assert_allclose(np.exp(found.parameters)[:4], [0.540, 0.0272, 0.796, 0.0237], rtol=2e-3)


@pytest.mark.parametrize("way", ["eager", "jit"])
def test_levenberg_marquardt_on_a_curved_valley(model, way):
    def residuals(point):
        return jnp.array([10.0 * (point[1] - point[0] ** 2), 1.0 - point[0]])

    def minimise(start):
        return model.levenberg_marquardt(residuals, start, max_iterations=100)

    found = (jax.jit(minimise) if way == "jit" else minimise)(jnp.array([-1.2, 1.0]))
    assert found.converged
    np.testing.assert_allclose(found.parameters, [1.0, 1.0], atol=1e-5)


def test_levenberg_marquardt_stops_after_so_many_turns(model):
    def residuals(point):
        return jnp.array([10.0 * (point[1] - point[0] ** 2), 1.0 - point[0]])

    found = jax.jit(lambda start: model.levenberg_marquardt(residuals, start, max_iterations=3))(jnp.array([-1.2, 1.0]))
    assert not found.converged
    assert found.iterations == 3


def test_fits_from_many_starts(model, problem):
    best = jax.jit(model.fit)(*problem)
    starts = problem.guess + 0.05 * jax.random.normal(jax.random.key(0), (5, 6))
    found = jax.jit(jax.vmap(model.fit, in_axes=(0, None, None)))(starts, problem.times, problem.pelts)
    assert found.converged.all()
    np.testing.assert_allclose(found.parameters, jnp.tile(best.parameters, (5, 1)), atol=1e-4)


# What it prints --------------------------------------------------------------------------------------


def series(**changes):
    curve = [(time / 10.0, 40.0 + 30.0 * math.sin(time / 10.0)) for time in range(101)]
    example = demo_drawings.Series("wave", "●", 33, False, curve, [(0.0, 0.0), (10.0, 80.0)])
    return example._replace(**changes)


def test_the_plot_has_its_size_and_its_points_in_the_corners():
    lines = demo_drawings.terminal_plot([series()], columns=40, rows=9, step=(5.0, 40.0))
    assert len(lines) == 9 + 2
    assert max(map(len, lines)) <= 40 + 6 + 2
    assert lines[0].startswith("   80┤") and lines[0].endswith("●") and len(lines[0]) == 6 + 40
    assert lines[8].startswith("    0┤●")
    assert lines[-2].startswith("     └┬") and lines[-2].endswith("┬") and lines[-2].count("┬") == 3
    assert lines[-1].split() == ["0", "5", "10"]


def test_the_curve_has_a_dot_in_every_column():
    lines = demo_drawings.terminal_plot([series(points=[(0.0, 80.0)])], columns=20, rows=8, step=(5.0, 40.0))
    columns = zip(*(line[6:].ljust(20) for line in lines[:8]), strict=True)
    assert all(any(0x2800 < ord(letter) <= 0x28FF for letter in column) for column in columns)


def test_colors_only_where_wanted():
    plain = demo_drawings.terminal_plot([series()], columns=20, rows=8, step=(5.0, 40.0))
    painted = demo_drawings.terminal_plot([series()], columns=20, rows=8, step=(5.0, 40.0), color=True)
    assert not any("\033" in line for line in plain)
    assert "\033[33m●\033[0m" in painted[0]


def test_a_plain_terminal_gets_plain_letters():
    lines = demo_drawings.terminal_plot([series()], columns=20, rows=8, step=(5.0, 40.0))
    assert all(demo_drawings.plain(line).isascii() for line in lines)
    assert demo_drawings.encodes("●", "utf-8") and not demo_drawings.encodes("●", "ascii")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (12.34, "12.3 s"),
        (407.2, "407 s"),
        (1.0, "1.00 s"),
        (0.0123, "12.3 ms"),
        (0.00009, "90.0 us"),
        (4000.0, "4000 s"),
    ],
)
def test_durations(seconds, text):
    assert demo_report.duration(seconds) == text


def test_staged_lines_are_found_inside_other_primitives():
    @jax.jit
    def inner(x):
        return jax.lax.while_loop(lambda x: x < 9, lambda x: jax.lax.cond(x > 3, lambda: x + 1, lambda: x + 2), x)

    staged = demo_report.staged_lines(jax.make_jaxpr(lambda x: inner(x) + inner(x + 1))(1).jaxpr)
    total = sum(staged.values(), Counter())
    assert total == {"while": 2, "cond": 2}
    assert {file for file, _ in staged} == {__file__}
    assert demo_report.primitive_counts(total) == "2 while, 2 cond"


# The whole -------------------------------------------------------------------------------------------


def options(*arguments):
    parser = argparse.ArgumentParser()
    demo.add_arguments(parser)
    return parser.parse_args(arguments)


def test_the_whole_demo(capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="--png draws with matplotlib, which is an extra")
    figure = tmp_path / "fit.png"
    assert demo.run(options("--quick", "--png", str(figure))) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Lotka-Volterra fitted")
    assert any("while" in line and "while time < times[i]:" in line for line in lines)
    assert any("of 20 fits" in line for line in lines)
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_png_without_matplotlib(monkeypatch, capsys):
    monkeypatch.setattr(demo, "_has_matplotlib", lambda: False)
    assert demo.run(options("--png", "fit.png")) == 2
    assert "pip install matplotlib" in capsys.readouterr().err


@pytest.mark.parametrize("count", ["0", "-3", "many"])
def test_a_number_of_fits_is_positive(count, capsys):
    with pytest.raises(SystemExit):
        options("--fits", count)
    assert "--fits" in capsys.readouterr().err


def test_help_does_not_wait_for_jax():
    program = "import runpy, sys; runpy.run_path(sys.argv[1]); assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", program, demo.__file__], check=True)
