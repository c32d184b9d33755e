"""An adaptive solver of initial value problems in plain Python, staged by `@autograph`."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax import autograph

RightHandSide = Callable[..., jax.Array]

# The pair of Dormand and Prince, J. Comput. Appl. Math. 6 (1980) 19, with the continuous extension of
# Shampine, Math. Comput. 46 (1986) 135, as in SciPy's RK45.
ERROR_WEIGHTS = np.array([-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40])
DENSE_WEIGHTS = np.array(
    [
        [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0, 0, 0, 0],
        [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ]
)


class Solution(NamedTuple):
    """What `solve` found: states (n, m) at the n times; whether all were reached; steps tried."""

    states: jax.Array
    success: Any
    steps: Any


@autograph
def solve(
    derivative: RightHandSide,
    times: jax.Array,
    start: jax.Array,
    args: tuple[Any, ...] = (),
    *,
    rtol: float = 1e-8,
    atol: float = 1e-8,
    max_steps: int = 10_000,
) -> Solution:
    """Solve dy/dt = derivative(t, y, *args) by the adaptive Dormand-Prince 5(4) method.

    Steps are chosen as in SciPy's `solve_ivp(method="RK45")`, so both take the same steps.

    Args:
        derivative: called with a time (), a state (m,) and `args`; gives (m,), units of state per time.
        times: when the solution is wanted, increasing, shape (n,); the first one is the start.
        start: state at times[0], float, shape (m,).
        rtol: allowed local error relative to the state.
        atol: allowed local error in units of the state.
        max_steps: give up after this many steps, rejected ones included.

    Returns:
        `Solution`; where it gave up (`success` is false), the remaining states are zero.

    Source: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), II.4 to II.6.
    """
    time, state = times[0], start
    slope = derivative(time, state, *args)
    step = first_step(derivative, times, state, slope, args, rtol=rtol, atol=atol)
    smallest_step = 10.0 * jnp.finfo(state.dtype).eps * jnp.max(jnp.abs(times))
    steps, rejected = 0, False

    old_time, old_state = time, state  # where the last accepted step began, and the slopes along it
    slopes = jnp.zeros((7, len(state)))

    states = jnp.zeros((len(times), len(state)))
    states[0] = state
    for i in range(1, len(times)):
        while time < times[i]:
            if step < smallest_step or steps == max_steps:
                return Solution(states, False, steps)
            steps += 1
            new_time = jnp.minimum(time + step, times[-1])
            step = new_time - time
            new_state, new_slopes = dormand_prince(derivative, time, state, slope, step, args)
            scale = atol + rtol * jnp.maximum(jnp.abs(state), jnp.abs(new_state))
            error = mean_square_root(step * (ERROR_WEIGHTS @ new_slopes) / scale)
            if error < 1.0:
                growth = step_growth(error)
                if rejected:
                    growth = jnp.minimum(growth, 1.0)
                old_time, old_state, slopes = time, state, new_slopes
                time, state, slope = new_time, new_state, new_slopes[6]
                rejected = False
            else:
                # fmax passes over NaN: a step that left the domain of the model is tried again, shorter.
                growth = jnp.fmax(0.2, 0.9 * error**-0.2)
                rejected = True
            step = growth * step
        states[i] = interpolate(times[i], old_time, time, old_state, slopes)
    return Solution(states, True, steps)


@autograph
def first_step(
    derivative: RightHandSide,
    times: jax.Array,
    state: jax.Array,
    slope: jax.Array,
    args: tuple[Any, ...],
    *,
    rtol: float,
    atol: float,
) -> jax.Array:
    """A first step size, in units of time (Hairer, Norsett, Wanner, II.4, page 169)."""
    scale = atol + rtol * jnp.abs(state)
    size, speed = mean_square_root(state / scale), mean_square_root(slope / scale)
    if size < 1e-5 or speed < 1e-5:
        trial = 1e-6
    else:
        trial = 0.01 * size / speed
    trial = jnp.minimum(trial, times[-1] - times[0])
    new_slope = derivative(times[0] + trial, state + trial * slope, *args)
    bend = mean_square_root((new_slope - slope) / scale) / trial
    if speed <= 1e-15 and bend <= 1e-15:
        step = jnp.maximum(1e-6, 1e-3 * trial)
    else:
        step = (0.01 / jnp.maximum(speed, bend)) ** 0.2
    return jnp.minimum(jnp.minimum(100.0 * trial, step), times[-1] - times[0])


def dormand_prince(
    derivative: RightHandSide,
    time: jax.Array,
    state: jax.Array,
    slope: jax.Array,
    step: jax.Array,
    args: tuple[Any, ...],
) -> tuple[jax.Array, jax.Array]:
    """One step: the new state, shape (m,), and the seven slopes on the way, shape (7, m)."""
    t, y, h, k1 = time, state, step, slope
    k2 = derivative(t + h / 5, y + h * (k1 / 5), *args)
    k3 = derivative(t + 3 * h / 10, y + h * (3 / 40 * k1 + 9 / 40 * k2), *args)
    k4 = derivative(t + 4 * h / 5, y + h * (44 / 45 * k1 - 56 / 15 * k2 + 32 / 9 * k3), *args)
    k5 = derivative(
        t + 8 * h / 9,
        y + h * (19372 / 6561 * k1 - 25360 / 2187 * k2 + 64448 / 6561 * k3 - 212 / 729 * k4),
        *args,
    )
    k6 = derivative(
        t + h,
        y + h * (9017 / 3168 * k1 - 355 / 33 * k2 + 46732 / 5247 * k3 + 49 / 176 * k4 - 5103 / 18656 * k5),
        *args,
    )
    new_state = y + h * (35 / 384 * k1 + 500 / 1113 * k3 + 125 / 192 * k4 - 2187 / 6784 * k5 + 11 / 84 * k6)
    k7 = derivative(t + h, new_state, *args)
    return new_state, jnp.stack([k1, k2, k3, k4, k5, k6, k7])


@autograph
def step_growth(error: jax.Array) -> Any:
    """By what factor the next step may be longer, given the scaled error of this one."""
    if error == 0.0:
        return 10.0
    return jnp.minimum(10.0, 0.9 * error**-0.2)


def interpolate(wanted: jax.Array, old_time: jax.Array, time: jax.Array, old_state: jax.Array, slopes: jax.Array) -> jax.Array:
    """The state, shape (m,), at a wanted time inside the step from old_time to time."""
    step = time - old_time
    x = (wanted - old_time) / step
    weights = DENSE_WEIGHTS @ jnp.array([x, x**2, x**3, x**4])
    return old_state + step * (weights @ slopes)


def mean_square_root(values: jax.Array) -> jax.Array:
    """Root of the mean square of all values, the norm in which step sizes are chosen."""
    return jnp.sqrt(jnp.mean(values**2))
