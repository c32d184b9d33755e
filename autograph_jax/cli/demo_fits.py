"""The tasks of the demo: solve once, fit once, fit from many starts; and the same in SciPy."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # jax is imported in functions, so that `--help` does not wait for it
    import jax
    import numpy as np

PERTURBATION = 0.3  # standard deviation of the logarithm of a perturbed start
REACHED = 1e-4  # a fit has reached the best optimum if its cost is within this fraction
SCIPY_SAMPLE = 10  # so many of the perturbed fits are timed in SciPy
RTOL = 1e-8


class Problem(NamedTuple):
    """What `fit` takes: log guess (6,); times (n,), years since 1900; pelts (n, 2), thousands."""

    guess: jax.Array
    times: jax.Array
    pelts: jax.Array

    @classmethod
    def load(cls) -> Problem:
        import jax.numpy as jnp

        from autograph_jax.cli import lotka_volterra as model

        times = jnp.asarray(model.YEARS - model.YEARS[0])
        return cls(jnp.log(jnp.asarray(model.GUESS)), times, jnp.asarray(model.PELTS))


class Timing(NamedTuple):
    """Seconds that one task took: to compile, then each run; None where it was not run."""

    task: str
    compiling: float
    jitted: float
    eager: float | None
    scipy: float
    remark: str


class Solved(NamedTuple):
    """The model solved at the best parameters; differences are the largest ones, in thousands."""

    timing: Timing
    difference: float
    difference_exact: float
    steps: int


def solve_once(problem: Problem, parameters: jax.Array, *, repetitions: int) -> Solved:
    """Solve the model jitted, eagerly and by SciPy."""
    import numpy as np

    from autograph_jax.cli import lotka_volterra as model

    arguments = parameters, problem.times
    compiled, compiling = timed(compile_for, model.populations, arguments)
    solution, jitted = timed(compiled, *arguments, repetitions=repetitions)
    _, eager = timed(model.populations, *arguments)
    scipy_states, scipy = timed(scipy_populations, *arguments, repetitions=min(repetitions, 10))
    exact = scipy_populations(*arguments, method="DOP853", rtol=1e-13)
    return Solved(
        Timing("solve once", compiling, jitted, eager, scipy, "RK45"),
        float(np.max(np.abs(solution.states - scipy_states))),
        float(np.max(np.abs(solution.states - exact))),
        int(solution.steps),
    )


def scipy_populations(parameters: Any, times: Any, *, method: str = "RK45", rtol: float = RTOL) -> np.ndarray:
    """What a SciPy user writes: hares and lynxes, thousands, shape (n, 2), zero where it failed."""
    import numpy as np
    from scipy.integrate import solve_ivp

    alpha, beta, gamma, delta, hare, lynx = np.exp(np.asarray(parameters)).tolist()

    def derivative(_: float, state: np.ndarray) -> tuple[float, float]:
        hare, lynx = state
        return (alpha - beta * lynx) * hare, (delta * hare - gamma) * lynx

    times = np.asarray(times)
    span = times[0], times[-1]
    found = solve_ivp(derivative, span, (hare, lynx), method=method, t_eval=times, rtol=rtol, atol=rtol)
    states = np.zeros((len(times), 2))
    states[: len(found.t)] = found.y.T
    return states


class Fitted(NamedTuple):
    """One fit: log parameters (6,) and half the sum of squares, as found by us; difference from SciPy's."""

    timing: Timing
    parameters: jax.Array
    cost: float
    converged: bool
    iterations: int
    difference: np.ndarray


def fit_once(problem: Problem, *, repetitions: int, eager: bool) -> Fitted:
    """Fit from the guess, jitted and by SciPy, and eagerly on request."""
    import numpy as np

    from autograph_jax.cli import lotka_volterra as model

    compiled, compiling = timed(compile_for, model.fit, problem)
    found, jitted = timed(compiled, *problem, repetitions=repetitions)
    eager_time = timed(model.fit, *problem)[1] if eager else None
    expected, scipy = timed(scipy_fit, *problem, repetitions=min(repetitions, 3))
    return Fitted(
        Timing("fit", compiling, jitted, eager_time, scipy, "least_squares"),
        found.parameters,
        float(found.cost),
        bool(found.converged),
        int(found.iterations),
        np.asarray(found.parameters) - expected,
    )


def scipy_fit(start: Any, times: Any, pelts: Any) -> np.ndarray:
    """The same fit by SciPy's Levenberg-Marquardt, differentiated by differences: log parameters (6,)."""
    import numpy as np
    from scipy.optimize import least_squares

    logarithms = np.log(np.asarray(pelts))

    def residuals(parameters: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):  # a wild trial step may leave the domain of the model
            states = np.log(scipy_populations(parameters, times))
        return np.nan_to_num(states - logarithms, nan=1e3, posinf=1e3, neginf=-1e3).ravel()

    return least_squares(residuals, np.asarray(start), method="lm").x


class FittedMany(NamedTuple):
    """Fits from many starts: parameters (fits, 6), costs (fits,); `reached` is true at the best optimum."""

    timing: Timing
    starts: jax.Array
    parameters: jax.Array
    costs: np.ndarray
    reached: np.ndarray


def fit_many(problem: Problem, count: int, *, best: Fitted) -> FittedMany:
    """Fit from `count` perturbed guesses under one vmap, and a few of them by SciPy."""
    import jax
    import numpy as np

    from autograph_jax.cli import lotka_volterra as model

    noise = jax.random.normal(jax.random.key(1900), (count, len(problem.guess)))
    starts = problem.guess + PERTURBATION * noise
    batched = jax.vmap(model.fit, in_axes=(0, None, None))
    arguments = starts, problem.times, problem.pelts
    compiled, compiling = timed(compile_for, batched, arguments)
    found, jitted = timed(compiled, *arguments)
    sample = starts[:SCIPY_SAMPLE]
    _, scipy = timed(lambda: [scipy_fit(start, problem.times, problem.pelts) for start in sample])
    costs = np.asarray(found.cost)
    remark = f"{len(sample)} run, x {count / len(sample):g}"
    return FittedMany(
        Timing(f"{count:,} fits, vmap", compiling, jitted, None, scipy * count / len(sample), remark),
        starts,
        found.parameters,
        costs,
        costs < best.cost * (1 + REACHED),
    )


def timed(function: Callable[..., Any], *arguments: Any, repetitions: int = 1) -> tuple[Any, float]:
    """The value of function(*arguments), and the seconds of the fastest of some runs."""
    import jax

    fastest = math.inf
    for _ in range(repetitions):
        start = time.perf_counter()
        value = jax.block_until_ready(function(*arguments))
        fastest = min(fastest, time.perf_counter() - start)
    return value, fastest


def compile_for(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """What jit makes of a function for such arguments: traced, lowered and compiled now."""
    import jax

    return jax.jit(function).lower(*arguments).compile()
