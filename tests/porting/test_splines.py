"""SciPy's piecewise polynomials and splines, ported: values as SciPy's own at and beyond the knots, and derivatives."""

from typing import Any

import jax
import numpy as np
import pytest
import scipy.interpolate

import autograph_jax as ag

KNOTS = np.array([0.0, 0.3, 1.0, 1.2, 2.0])
POINTS = np.array([-0.5, 0.0, 0.1, 0.3, 0.9, 1.0, 1.1, 2.0, 2.5, np.nan])
VALUES = np.array([0.3, -1.0, 0.4, 2.0, 1.5])


def coefficients(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


def piecewise(c: Any, x: Any, points: Any, order: int, extrapolate: bool) -> Any:
    return scipy.interpolate.PPoly(c, x)(points, order, extrapolate)


def integrated(c: Any, x: Any, points: Any, order: int, extrapolate: bool) -> Any:
    return scipy.interpolate.PPoly(c, x).antiderivative(2)(points, order, extrapolate)


def bernstein(c: Any, x: Any, points: Any, order: int, extrapolate: bool) -> Any:
    return scipy.interpolate.BPoly(c, x)(points, order, extrapolate)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("extrapolate", [True, False])
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("function", [piecewise, integrated, bernstein])
def test_piecewise_polynomials(function: Any, order: int, extrapolate: bool):
    ported = ag.port(function)
    for x in (KNOTS, KNOTS[::-1].copy()) if function is piecewise else (KNOTS,):
        for count in (2, 4):
            c = coefficients(count, 4, 2)
            found = jax.jit(lambda c, x, points: ported(c, x, points, order, extrapolate))(c, x, POINTS)
            np.testing.assert_allclose(found, function(c, x, POINTS, order, extrapolate), rtol=1e-11, atol=1e-12)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("extrapolate", [True, False])
@pytest.mark.parametrize("degree", [0, 1, 3])
def test_splines_with_repeated_knots(degree: int, extrapolate: bool):
    t = np.sort(np.r_[[0.0] * (degree + 1), [0.4, 0.4, 0.9, 1.5], [2.0] * (degree + 1)])
    c = coefficients(len(t) - degree - 1, 2)

    def f(t: Any, c: Any, points: Any, order: int) -> Any:
        return scipy.interpolate.BSpline(t, c, degree)(points, order, extrapolate)

    for order in range(degree + 3):
        found = jax.jit(lambda *arrays, order=order: ag.port(f)(*arrays, order))(t, c, POINTS)
        np.testing.assert_allclose(found, f(t, c, POINTS, order), rtol=1e-11, atol=1e-12)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("ends", [(0.0, 2.0), (0.1, 1.1), (1.5, 0.2), (-1.0, 0.5), (0.4, 3.0)])
def test_integrals(ends: tuple[float, float]):
    def f(c: Any, a: Any, b: Any) -> Any:
        return scipy.interpolate.PPoly(c, KNOTS).integrate(a, b)

    c = coefficients(4, 4, 2)
    np.testing.assert_allclose(jax.jit(ag.port(f))(c, *ends), f(c, *ends), rtol=1e-11)


def natural(y: Any, x: Any) -> Any:
    return scipy.interpolate.CubicSpline(KNOTS, y, bc_type="natural")(x)


def monotone(y: Any, x: Any) -> Any:
    return scipy.interpolate.PchipInterpolator(KNOTS, y)(x)


def akima(y: Any, x: Any) -> Any:
    return scipy.interpolate.Akima1DInterpolator(KNOTS, y)(x)


def through_the_values(y: Any, x: Any) -> Any:
    return scipy.interpolate.make_interp_spline(KNOTS, y, k=3)(x)


def on_a_grid(y: Any, x: Any) -> Any:
    return scipy.interpolate.RegularGridInterpolator((KNOTS, KNOTS), y[:, None] * y)(np.stack([x, x[::-1]], -1))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("function", [natural, monotone, akima, through_the_values, on_a_grid])
def test_derivatives_by_values_and_points(function: Any):
    points, step = np.array([0.2, 0.7, 1.1, 1.6]), 1e-6
    ported = ag.port(function)
    np.testing.assert_allclose(jax.jit(ported)(VALUES, points), function(VALUES, points), rtol=1e-11)
    for number in (0, 1):
        arguments = [VALUES, points]
        for mode in (jax.jacfwd, jax.jacrev):
            found = mode(ported, number)(VALUES, points)
            for place in range(len(arguments[number])):
                move = np.zeros(len(arguments[number]))
                move[place] = step
                sides = [
                    function(*(a + sign * move if n == number else a for n, a in enumerate(arguments))) for sign in (1, -1)
                ]
                np.testing.assert_allclose(found[:, place], (sides[0] - sides[1]) / (2 * step), rtol=1e-5, atol=1e-6)
