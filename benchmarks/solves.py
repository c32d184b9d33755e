"""A thousand solves by a solver of SciPy's: ported and batched, against a Python loop of the original.

python benchmarks/solves.py [--only newton cg] [--solves 1000]
"""

from __future__ import annotations

import argparse
import os
import statistics
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_ENABLE_X64", "1")  # SciPy computes with 64 bits

import jax
import jax.numpy as jnp
import measure
import numpy as np
import scipy.integrate
import scipy.optimize
import scipy.sparse.linalg

import autograph_jax as ag

Solver = Callable[[Any], Any]
SOLVERS: dict[str, Solver] = {}


def solver(function: Solver) -> Solver:
    SOLVERS[function.__name__.replace("_", " ")] = function
    return function


# Roots


@solver
def newton(a):
    return scipy.optimize.newton(lambda x: x**3 - a, 1.0, fprime=lambda x: 3 * x**2)


@solver
def secant(a):
    return scipy.optimize.newton(lambda x: x**3 - a, 1.0)


@solver
def halley(a):
    return scipy.optimize.newton(lambda x: x**3 - a, 1.0, fprime=lambda x: 3 * x**2, fprime2=lambda x: 6 * x)


# Minima


def quartic(a):
    return lambda x: (x - a) ** 2 * (1 + 0.1 * x**2)


@solver
def brent(a):
    return scipy.optimize.brent(quartic(a), brack=(0.0, 1.0))


@solver
def golden(a):
    return scipy.optimize.golden(quartic(a), brack=(0.0, 1.0))


@solver
def fminbound(a):
    return scipy.optimize.fminbound(quartic(a), 0.0, 5.0)


# Differential equations


def lorenz(t, y):
    return np.array([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])


def integrated(method, a, end):
    state = method(lorenz, 0.0, np.array([1.0, 2.0, 20.0]) * a, end, rtol=1e-5)
    while state.status == "running":
        state.step()
    return state.y


@solver
def RK23(a):
    return integrated(scipy.integrate.RK23, a, 0.1)


@solver
def RK45(a):
    return integrated(scipy.integrate.RK45, a, 0.3)


# Linear systems

DIAGONALLY_DOMINANT = np.diag(np.arange(1.0, 7.0)) + 0.1


@solver
def cg(a):
    return scipy.sparse.linalg.cg(DIAGONALLY_DOMINANT, a * np.arange(1.0, 7.0), rtol=1e-10)[0]


@solver
def bicgstab(a):
    return scipy.sparse.linalg.bicgstab(DIAGONALLY_DOMINANT, a * np.arange(1.0, 7.0), rtol=1e-10)[0]


# Integrals


@solver
def simpson(a):
    x = np.linspace(0.0, 1.0, 31)
    return scipy.integrate.simpson(np.exp(-a * x), x=x)


IN_A_ROW = 5  # batches, as the loop's solves come one after the other: the first after other work waits for threads to wake


def compare(solve: Solver, count: int, seconds: float) -> tuple[list[str], float]:
    """One row of the table, and how many times faster the batch is."""
    arguments = np.linspace(1.0, 2.0, count)
    every = max(1, count // 50)  # with these alone, Python's loop is as slow for each solve
    batched = jax.jit(jax.vmap(ag.port(solve)))
    first = measure.once(lambda: batched(arguments))
    found, expected = np.asarray(batched(arguments)), [solve(a) for a in arguments[::every]]
    difference = float(np.max(np.abs(found[::every] - np.asarray(expected))))
    batches = measure.repeated(lambda: jax.block_until_ready(batched(jnp.asarray(arguments))), IN_A_ROW)
    python, compiled = measure.interleaved(lambda: [solve(a) for a in arguments[::every]] and None, batches, seconds=seconds)
    python, compiled = python * count / len(expected), compiled / IN_A_ROW
    times = [f"{python * 1e3:,.0f}", measure.milliseconds(compiled), measure.ratio(python, compiled)]
    return [*times, f"{first:.1f}", f"{difference:.0e}"], python / compiled


HEADER = ["solver", "loop of the original, ms", "ported, ms", "times faster", "first call, s", "largest difference"]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SOLVERS, default=list(SOLVERS), metavar="SOLVER")
    parser.add_argument("--solves", type=int, default=1000, help="in a batch (default: 1000)")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each row (default: 2)")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # some of the originals warn of a slow start
    rows, factors = [], []
    for name in options.only:
        row, factor = compare(SOLVERS[name], options.solves, options.seconds)
        rows.append([name, *row])
        factors.append(factor)
    print(f"{measure.versions()}, {options.solves} solves\n")
    print(measure.table(HEADER, rows))
    print(f"\nGeometric mean: {statistics.geometric_mean(factors):.0f} times faster.")


if __name__ == "__main__":
    main()
