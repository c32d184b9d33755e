"""Derivatives of a program in every mode of JAX's: compared with each other, and with differences of plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph_jax as ag
from tests.fuzz.compare import Function, Mismatch, Outcome, Row, compare, shown

DIRECTION = np.array([1.0, 0.7, 0.4, -0.3, 0.6])  # in x, y and the three of r
FIRST_STEP, SECOND_STEP = 1e-6, 1e-4
TOLERANCE = {1: 1e-5, 2: 1e-3}  # of differences, by order
MODES_TOLERANCE = 1e-8  # between modes; sums of many large terms lose digits
LARGEST = 1e6  # steps of differences are lost in larger numbers

FAST = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}  # to compile: each is run four times

Derivatives = dict[str, Any]
ORDERS = {"grad": 1, "jacfwd": 1, "jacrev": 1, "jvp of grad": 2, "grad of jvp": 2, "grad of grad": 2, "eager grad": 1}


def moved(run: Function, values: Sequence[Any], change: Any) -> Any:
    """`run` with its floats x, y and r changed."""
    x, y, r, *others = values
    return run(x + change[0], y + change[1], r + change[2:], *others)


def finite(run: Function) -> Function:
    """`run` in NumPy, where it raises if a number leaves the range: reverse mode multiplies an infinite slope by 0."""

    def checked(*values: Any) -> Any:
        with np.errstate(over="raise", invalid="raise"):
            return run(*values)

    return checked


def derivatives(run: Function, seed: int) -> Callable[[Sequence[Any]], Derivatives]:
    """By name: gradients, and products of the Hessian with the direction, compiled as one program.

    The product in reverse mode alone takes two sweeps: forward over reverse is always there, of the others one by turns.
    """

    def converted(change: jax.Array, values: Sequence[Any]) -> jax.Array:
        return jnp.asarray(moved(ag.autograph(run), values, change), float)

    traced_once = jax.jit(converted)

    def all_modes(values: Sequence[Any]) -> Derivatives:
        change, direction = jnp.zeros(5), jnp.asarray(DIRECTION)

        def f(change: jax.Array) -> jax.Array:
            return traced_once(change, values)

        def slope(change: jax.Array) -> jax.Array:
            return jax.jvp(f, (change,), (direction,))[1]

        gradient, product = jax.jvp(lambda change: jax.grad(converted)(change, values), (change,), (direction,))
        found = {"grad": gradient, "jacfwd": jax.jacfwd(f)(change), "jacrev": jax.jacrev(f)(change), "jvp of grad": product}
        if seed % 2:
            return found | {"grad of jvp": jax.grad(slope)(change)}
        return found | {"grad of grad": jax.grad(lambda change: jax.grad(f)(change) @ direction)(change)}

    return jax.jit(all_modes, compiler_options=FAST)


def eager(run: Function, values: Sequence[Any]) -> Derivatives:
    """The gradient without jit, where Python runs as Python."""
    converted = ag.autograph(run)
    return {"eager grad": jax.grad(lambda change: jnp.asarray(moved(converted, values, change), float))(jnp.zeros(5))}


def check(got: Outcome, value: Callable[[float], Any], row: Row) -> Mismatch | None:
    """The derivatives that were computed; `value` is plain Python's along the direction, NaN where it raises."""
    if not abs(value(0.0)) < LARGEST:
        return None
    if got.error is not None:
        return compare("grad", got, Outcome(), row)
    return disagreement(got.value, row) or away_from_differences(got.value, value, row)


def disagreement(found: Derivatives, row: Row) -> Mismatch | None:
    """The first mode that says something else than another of its order."""
    first: dict[int, str] = {}
    for name, derivative in found.items():
        other = first.setdefault(ORDERS[name], name)
        scale = 1 + np.max(np.abs(found[other]))
        if not np.allclose(derivative, found[other], rtol=0, atol=MODES_TOLERANCE * scale, equal_nan=True):
            return mismatch("modes", f"{name} {shown(derivative)}, {other} {shown(found[other])}", row)
    return None


def away_from_differences(found: Derivatives, value: Callable[[float], Any], row: Row) -> Mismatch | None:
    for order, difference in ((1, slope(value)), (2, curvature(value))):
        if difference is None:  # a second derivative means nothing where there is no first one
            return None
        for name, derivative in found.items():
            along = float(np.asarray(derivative) @ DIRECTION)
            if ORDERS[name] == order and not abs(along - difference) <= 10 * TOLERANCE[order] * (1 + abs(difference)):
                return mismatch("slope" if order == 1 else "curvature", f"{name} {along}, difference {difference}", row)
    return None


def mismatch(kind: str, detail: str, row: Row) -> Mismatch:
    return Mismatch("grad", kind, f"{detail} at {shown(list(row.values()))}", row)


# ------------------------------------------------------------------ differences
def slope(value: Callable[[float], Any], step: float = FIRST_STEP) -> float | None:
    """The central difference; None where another one disagrees, at a kink or a jump."""
    central = (value(step) - value(-step)) / (2 * step)
    uneven = (value(3 * step) - value(-2 * step)) / (5 * step)
    return agreed(central, uneven, TOLERANCE[1])


def curvature(value: Callable[[float], Any], step: float = SECOND_STEP) -> float | None:
    """The second difference; None where another one disagrees."""
    middle = value(0.0)
    central = (value(step) - 2 * middle + value(-step)) / step**2
    uneven = (2 * value(3 * step) + 3 * value(-2 * step) - 5 * middle) / (15 * step**2)
    return agreed(central, uneven, TOLERANCE[2])


def agreed(first: Any, second: Any, tolerance: float) -> float | None:
    close = np.isfinite(first) and abs(first - second) <= tolerance * (1 + abs(first))
    return float(first) if close else None
