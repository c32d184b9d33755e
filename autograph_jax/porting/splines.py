"""What SciPy's piecewise polynomials, splines and interpolation on grids call in C, on traced values.

Arguments and results as in scipy.interpolate's compiled modules. The number of coefficients, the order of the derivative and
whether to extrapolate are known; the knots, the coefficients and the points may be traced, and each has a derivative.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .arrays import value_of, wrap

Function = Callable[..., Any]


def routine(function: Any) -> Function | None:
    """What a function of scipy.interpolate's compiled modules computes; None where it is not known."""
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    return _ROUTINES.get(name) if module.startswith("scipy.interpolate.") else None


def _evaluate(c: Any, x: Any, xp: Any, dx: Any, extrapolate: Any, out: Any) -> None:
    """`_ppoly.evaluate`: the derivative of order `dx` at the points `xp` (r), into `out` (r, n).

    `c` (k, m, n) has the coefficients of n polynomials in each of the m intervals between the breakpoints `x`, highest first.
    """
    coefficients, breakpoints, points = (jnp.asarray(value_of(part)) for part in (c, x, xp))
    interval, outside = _located(breakpoints, points)
    found = _polynomial(coefficients[:, interval], (points - breakpoints[interval])[:, None], dx)
    out.put(_unless(outside, points, extrapolate, found))


def _integrate(c: Any, x: Any, a: Any, b: Any, extrapolate: Any, out: Any) -> None:
    """`_ppoly.integrate`: the integrals of the n polynomials of `_ppoly.evaluate` from `a` to `b`, into `out` (n)."""
    coefficients, breakpoints = (jnp.asarray(value_of(part)) for part in (c, x))
    ends = jnp.stack([jnp.asarray(value_of(end), breakpoints.dtype) for end in (a, b)])
    interval, outside = _located(breakpoints, ends)
    whole = _polynomial(coefficients[:, :-1], jnp.diff(breakpoints)[:-1, None], -1)
    before = jnp.concatenate([jnp.zeros_like(coefficients[0, :1]), jnp.cumsum(whole, 0)])
    found = before[interval] + _polynomial(coefficients[:, interval], (ends - breakpoints[interval])[:, None], -1)
    begin, end = _unless(outside, ends, extrapolate, found)
    out.put(end - begin)


def _fix_continuity(c: Any, x: Any, order: Any) -> None:
    """`_ppoly.fix_continuity`: let each polynomial go on where the one before ends, up to the derivative of this order."""
    coefficients, breakpoints = (jnp.asarray(value_of(part)) for part in (c, x))

    def step(last: jax.Array, this: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        own, width = this
        for degree in range(order, -1, -1):
            end = _polynomial(last, width, degree) / math.factorial(degree)
            own = own.at[len(own) - degree - 1].set(end)
        return own, own

    columns = jnp.moveaxis(coefficients, 1, 0)
    _, rest = jax.lax.scan(step, columns[0], (columns[1:], jnp.diff(breakpoints)[:-1]))
    c.put(jnp.moveaxis(jnp.concatenate([columns[:1], rest]), 0, 1))


def _evaluate_bernstein(c: Any, x: Any, xp: Any, nu: Any, extrapolate: Any, out: Any) -> None:
    """`_ppoly.evaluate_bernstein`: as `_ppoly.evaluate`, with coefficients in the Bernstein basis."""
    coefficients, breakpoints, points = (jnp.asarray(value_of(part)) for part in (c, x, xp))
    if nu > len(coefficients):
        raise ValueError("negative dimensions are not allowed")  # SciPy's own
    interval, outside = _located(breakpoints, points)
    width = (breakpoints[interval + 1] - breakpoints[interval])[:, None]
    s = (points - breakpoints[interval])[:, None] / width
    own = coefficients[:, interval]
    for order in range(nu):
        own = (own[1:] - own[:-1]) * (len(coefficients) - 1 - order) / width
    degree = len(own) - 1
    terms = [math.comb(degree, number) * s**number * (1 - s) ** (degree - number) * own[number] for number in range(degree + 1)]
    found = functools.reduce(jnp.add, terms, jnp.zeros((len(points), coefficients.shape[2]), coefficients.dtype))
    out.put(_unless(outside, points, extrapolate, found))


def _polynomial(coefficients: jax.Array, s: jax.Array, order: int) -> jax.Array:
    """The derivative of this order, or the integral where it is negative, of polynomials, their highest coefficients first."""
    found = jnp.zeros(jnp.broadcast_shapes(coefficients.shape[1:], jnp.shape(s)), jnp.result_type(coefficients, s))
    power = functools.reduce(lambda power, _: power * s, range(max(0, -order)), jnp.ones_like(s))
    for degree, own in enumerate(coefficients[::-1]):
        if degree >= order:
            found = found + own * power * _factor(degree, order)
            power = power * s
    return found


def _located(breakpoints: jax.Array, points: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The interval in which each point is, and whether it is outside of all. Breakpoints ascend or descend."""
    sign = jnp.where(breakpoints[-1] >= breakpoints[0], 1, -1)
    breakpoints, points = sign * breakpoints, sign * points
    outside = ~((points >= breakpoints[0]) & (points <= breakpoints[-1]))
    return _interval(breakpoints, points, 0, len(breakpoints) - 2), outside


def _factor(degree: int, order: int) -> float:
    """What differentiating x**degree so often puts before the power; integrating it, where the order is negative."""
    if order >= 0:
        return float(math.prod(range(degree - order + 1, degree + 1)))
    return 1.0 / math.prod(range(degree + 1, degree - order + 1))


def _evaluate_spline(t: Any, c: Any, k: Any, xp: Any, nu: Any, extrapolate: Any) -> Any:
    """`_dierckx.evaluate_spline`: the derivative of order `nu` at the points `xp` (s), as (s, m).

    `t` has the knots, `c` (n, m) the coefficients of m splines of degree k. By de Boor's recursion over the B-splines that are
    not zero at a point.
    """
    knots, coefficients, points = (jnp.asarray(value_of(part)) for part in (t, c, xp))
    count = len(knots) - k - 1
    if nu > k + 1:
        return wrap(jnp.zeros((len(points), coefficients.shape[1]), jnp.result_type(coefficients, points)))
    interval = _interval(knots, points, k, count - 1)
    if nu > k:
        basis = [jnp.zeros_like(points)] * (k + 1)
    else:
        basis = [jnp.ones_like(points)]
        for degree in range(1, k + 1):
            basis = _of_next_degree(basis, knots, points, interval, degree, is_derivative=degree > k - nu)
    terms = (own[:, None] * coefficients[interval + number - k] for number, own in enumerate(basis))
    found = functools.reduce(jnp.add, terms)
    outside = ~((points >= knots[k]) & (points <= knots[count]))
    return wrap(_unless(outside, points, extrapolate, found))


def _of_next_degree(
    basis: list[jax.Array], knots: jax.Array, x: jax.Array, interval: jax.Array, degree: int, *, is_derivative: bool
) -> list[jax.Array]:
    """The B-splines that are not zero in an interval, or their derivatives, from those of one degree less."""
    new = [jnp.zeros_like(x) for _ in range(degree + 1)]
    for number, own in enumerate(basis, 1):
        right, left = knots[interval + number], knots[interval + number - degree]
        width = jnp.where(right == left, 1.0, right - left)
        share = jnp.where(right == left, 0.0, own / width)
        if is_derivative:
            new[number - 1] = new[number - 1] - degree * share
            new[number] = new[number] + degree * share
        else:
            new[number - 1] = new[number - 1] + share * (right - x)
            new[number] = new[number] + share * (x - left)
    return new


def _find_indices(grid: Any, xi: Any) -> Any:
    """`_rgi_cython.find_indices`: for points `xi` (d, r) the cells of a grid, and how far in them they are, from 0 to 1."""
    cells, distances = [], []
    for axis, points in zip(grid, jnp.asarray(value_of(xi)), strict=True):
        lines = jnp.asarray(value_of(axis))
        if len(lines) == 1:
            cells.append(jnp.full(points.shape, -1))
            distances.append(jnp.zeros_like(points))
            continue
        cell = _interval(lines, points, 0, len(lines) - 2)
        width = lines[cell + 1] - lines[cell]
        cells.append(cell)
        distances.append(jnp.where(width == 0, 0.0, (points - lines[cell]) / jnp.where(width == 0, 1.0, width)))
    return wrap(jnp.stack(cells)), wrap(jnp.stack(distances))


def _evaluate_linear_2d(values: Any, indices: Any, norm_distances: Any, grid: Any, out: Any) -> Any:
    """`_rgi_cython.evaluate_linear_2d`: between the four `values` around each point, into `out` (r)."""
    table, (row, column), (down, right) = (jnp.asarray(value_of(part)) for part in (values, indices, norm_distances))
    below, beside = (jnp.minimum(cell + 1, size - 1) for cell, size in zip((row, column), table.shape, strict=True))
    corners = [
        table[row, column] * (1 - down) * (1 - right),
        table[row, beside] * (1 - down) * right,
        table[below, column] * down * (1 - right),
        table[below, beside] * down * right,
    ]
    out.put(functools.reduce(jnp.add, corners))
    return out


def _coordinates(points: Any, ndim: Any = None) -> Any:
    """`interpnd._ndim_coords_from_arrays`: points (..., d), of an array for each coordinate or of one for all."""
    parts: list[Any] = list(points) if isinstance(points, tuple) else [points]
    arrays = [jnp.asarray(value_of(part)) for part in parts]
    if len(arrays) > 1:
        return wrap(jnp.stack(jnp.broadcast_arrays(*arrays), -1))
    array = arrays[0]
    return wrap(array.reshape(-1, 1 if ndim is None else ndim) if array.ndim == 1 else array)


def _interval(ascending: jax.Array, points: jax.Array, first: int, last: int) -> jax.Array:
    """The number of the interval in which each point is, the outermost for those beyond."""
    return jnp.clip(jnp.searchsorted(ascending, points, side="right") - 1, first, last)


def _unless(outside: jax.Array, points: jax.Array, extrapolate: Any, found: jax.Array) -> jax.Array:
    """NaN for the points outside, unless that is extrapolated; NaN where the point is."""
    return jnp.where((jnp.isnan(points) if extrapolate else outside)[:, None], jnp.nan, found)


_ROUTINES: dict[str, Function] = {
    "evaluate": _evaluate,
    "integrate": _integrate,
    "fix_continuity": _fix_continuity,
    "evaluate_bernstein": _evaluate_bernstein,
    "evaluate_spline": _evaluate_spline,
    "find_indices": _find_indices,
    "evaluate_linear_2d": _evaluate_linear_2d,
    "_ndim_coords_from_arrays": _coordinates,
}
