"""`brentq`, `brenth`, `ridder` and `bisect`, which SciPy has in C: in ported code, with counters, errors and derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy
import scipy.optimize
from scipy.optimize import _zeros

import autograph_jax as ag
from autograph_jax.porting.in_python import bracketing

pytestmark = pytest.mark.usefixtures("x64")

SOLVERS = ["brentq", "brenth", "ridder", "bisect"]
FUNCTIONS = [
    lambda x, a: x**3 - a,
    lambda x, a: np.cos(x) - a * x,
    lambda x, a: np.exp(a * x) - 2 - x,
    lambda x, a: (x - a) ** 3,
    lambda x, a: np.tanh(50 * (x - a / 3)),
    lambda x, a: 1.0 if x > a else -1.0,
]
BRACKETS = [(1.5, 0.0, 3.0), (0.7, -1.0, 4.0), (2.0, 0.0, 2.5), (1.1, -3.0, 5.0)]


def outcome(solve, *arguments):
    try:
        return solve(*arguments)
    except (ValueError, RuntimeError) as error:
        return str(error)


# Since SciPy 1.18 Ridders' method divides by f(a) first, against underflow.
AS_IN_C = [name for name in SOLVERS if name != "ridder" or scipy.__version__ < "1.18"]


@pytest.mark.parametrize("name", AS_IN_C)
@pytest.mark.parametrize("limit", [0, 1, 2, 7, 100])
def test_each_step_is_that_of_the_code_in_c(name, limit):
    for function in FUNCTIONS:
        for a, low, high in BRACKETS:
            for is_reported in (True, False):
                arguments = (function, low, high, 2e-12, 8.9e-16, limit, (a,), True, is_reported)
                want = outcome(getattr(_zeros, f"_{name}"), *arguments)
                found = outcome(bracketing.BY_NAME[f"_{name}"], *arguments)
                assert found == want


@pytest.mark.parametrize("name", SOLVERS)
def test_an_end_that_is_a_root_and_wrong_limits(name):
    solve = bracketing.BY_NAME[f"_{name}"]
    assert solve(lambda x: x - 0.3, 0.3, 1.0, 1e-12, 1e-12, 20, (), False) == 0.3
    assert solve(lambda x: x - 0.3, 0, 0.3, 1e-12, 1e-12, 20, (), True)[:2] == (0.3, 2)
    for xtol, limit in ((-1.0, 10), (1e-12, -1)):
        arguments = (lambda x: x - 0.3, 0.0, 1.0, xtol, 1e-12, limit, (), False)
        assert outcome(solve, *arguments) == outcome(getattr(_zeros, f"_{name}"), *arguments)


def cubic(x, a):
    return x * x * x - a


@pytest.mark.parametrize("name", SOLVERS)
def test_compiled_and_in_lanes(name):
    plain, solve = getattr(scipy.optimize, name), ag.port(getattr(scipy.optimize, name))

    def report(a):
        root, found = solve(cubic, 0.0, 3.0, args=(a,), full_output=True)
        return root, found.iterations, found.function_calls, found.converged

    for a in (0.0, 1.0, 2.0, 11.5):
        want, found = plain(cubic, 0.0, 3.0, args=(a,), full_output=True)
        root, iterations, calls, converged = ag.jit(report)(a)
        np.testing.assert_allclose(root, want, rtol=1e-11, atol=1e-12)
        assert converged and abs(calls - found.function_calls) <= 2
        assert a == 0.0 or abs(iterations - found.iterations) <= 1  # SciPy does not set it where an end is the root
    lanes = jnp.linspace(0.5, 20.0, 100)
    np.testing.assert_allclose(
        jax.jit(jax.vmap(lambda a: solve(cubic, 0.0, 3.0, args=(a,))))(lanes), np.cbrt(lanes), rtol=1e-11
    )


@pytest.mark.parametrize("name", SOLVERS)
def test_the_derivative_is_that_of_a_root(name):
    solve = ag.port(getattr(scipy.optimize, name))

    def root(a, b):
        return solve(lambda x: cubic(x, a * b), 0.0, 3.0)

    first, second = 4 * np.cbrt(8.0) / 24, -2 * 16 * np.cbrt(8.0) / (9 * 64)
    for way in (lambda f: f, jax.jit):
        np.testing.assert_allclose(way(jax.grad(root))(2.0, 4.0), first, rtol=1e-9)
        np.testing.assert_allclose(way(jax.jacfwd(root))(2.0, 4.0), first, rtol=1e-9)
        np.testing.assert_allclose(way(jax.hessian(root))(2.0, 4.0), second, rtol=1e-8)
    slopes = jax.vmap(jax.grad(root, argnums=1))(jnp.array([2.0, 1.0]), jnp.array([4.0, 8.0]))
    np.testing.assert_allclose(slopes, [2 / 12, 1 / 12], rtol=1e-9)


def of_a_root(a):
    def outer(x):
        return scipy.optimize.brentq(lambda y: y * y * y + y - x, -5.0, 5.0) - a

    return scipy.optimize.brentq(outer, -3.0, 10.0)


def in_a_loop(a):
    out = np.zeros(4)
    for i in range(4):
        if a > i:
            out[i] = scipy.optimize.ridder(lambda x: x * x * x - a - i, 0, 10)
        else:
            out[i] = -1
    return out


def test_roots_of_roots_and_in_branches():
    np.testing.assert_allclose(jax.jit(ag.port(of_a_root))(1.2), 1.2**3 + 1.2, rtol=1e-10)
    np.testing.assert_allclose(jax.jit(jax.grad(ag.port(of_a_root)))(1.2), 3 * 1.2**2 + 1, rtol=1e-9)
    np.testing.assert_allclose(jax.jit(ag.port(in_a_loop))(2.5), in_a_loop(2.5), rtol=1e-10)
    with jax.checking_leaks():
        np.testing.assert_allclose(ag.jit(ag.port(in_a_loop))(1.5), in_a_loop(1.5), rtol=1e-10)


def counted(a, method):
    calls = [0]

    def function(x, a):
        calls[0] += 1
        return x * x * x - a

    found = scipy.optimize.root_scalar(function, args=(a,), bracket=[0.0, 4.0], method=method)
    return found.root, found.converged, found.function_calls, calls[0]


@pytest.mark.parametrize("name", SOLVERS)
def test_a_function_that_counts_its_calls(name):
    root, converged, known, calls = ag.jit(ag.port(counted), static_argnames="method")(5.0, method=name)
    np.testing.assert_allclose(root, np.cbrt(5.0), rtol=1e-11)
    assert converged and known == calls


def failing(a, b):
    return scipy.optimize.brentq(lambda x: np.log(x - a), b, 3.0, maxiter=4)


def test_errors_are_scipys():
    compiled = ag.jit(ag.port(failing))
    with pytest.raises(ValueError, match=r"f\(a\) and f\(b\) must have different signs"):
        compiled(-1.0, 1.0)
    with pytest.raises(ValueError, match=r"The function value at x=0\.0 is NaN"):
        compiled(1.0, 0.0)
    with pytest.raises(RuntimeError, match=r"Failed to converge after 4 iterations\."):
        compiled(-1.5, -1.4999)


def handled(a):
    try:
        return scipy.optimize.brentq(lambda x: x - a, 0.0, 3.0)
    except ValueError:
        return -1.0


def test_a_handler_for_them_runs():
    assert [float(ag.jit(ag.port(handled))(a)) for a in (1.0, 5.0)] == pytest.approx([handled(1.0), -1.0])
