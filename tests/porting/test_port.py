"""`ag.port`: NumPy programs with control flow under jit against NumPy itself, and solvers of SciPy as they are."""

import cmath
import math
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.sparse.linalg
from scipy._lib._bunch import _make_tuple_bunch as make_bunch

import autograph_jax as ag
from autograph_jax.runtime import ported as ported_module
from tests.porting.programs import VECTORS, Programs

PROGRAMS = program = Programs()


@program
def a_write_in_a_loop(b):
    x = np.zeros(3)
    y = x
    for _ in range(10):
        x += b
        if x[0] > 5:
            return x, y
    return x, y + 1


@program
def a_scalar_that_becomes_a_vector(b):
    x, d = np.zeros(3), 0.0
    for _ in range(10):
        d = b + 0.5 * d
        x += d
        if x[0] > 5:
            break
    return x, d


@program
def calls_as_numpy_spells_them(b):
    m = np.clip(b, a_min=0.0, a_max=None), np.clip(a=b, a_max=1.0, a_min=-1.0)
    n = np.atleast_2d([b, 2 * b]), np.concatenate(([True], b[1:] > b[:-1])), np.apply_over_axes(np.sum, np.outer(b, b), 0)
    k = np.zeros((3, 3))
    k[range(3), [2, 0, 1]] = b
    return m, n, k, b.__array__() + 1


@program
def another_shape_of_the_same_elements(b):
    x = b.copy()
    y = x[:]
    x.shape = 3, 1
    x[1] = 7
    if b[0] > 1:
        z = np.zeros(4)
        z.shape = 2, 2
        z[1, 0] = b[1]
    else:
        z = np.ones((2, 2))
    return x, y, x @ x.T, z


@program
def complex_numbers_of_python(b):
    z = cmath.sqrt(b[0] - 2), cmath.log(b[1] + 3, 2), cmath.exp(1j * b[2]), cmath.acos(b[0])
    return z, cmath.phase(z[0]), cmath.polar(z[1] + z[2]), cmath.isfinite(z[0])


@program
def keywords_of_pythons_math(b):
    near = [math.isclose(b[0], b[1], rel_tol=r, abs_tol=a) for r in (1e-9, 0.5, b[2]) for a in (0.0, 2.0, b[2])]
    known = math.isclose(1.1, 1.0, rel_tol=0.2), math.prod([2, 3], start=0.5), math.isclose(a=3, b=4, abs_tol=1)
    return near, known, math.prod([b[0], b[1]], start=b[2]), cmath.isclose(1j * b[0], 1j * b[1], abs_tol=2.5)


@program
def elements_with_their_indices(b):
    table, total, doubled = np.outer(b, b), 0.0, np.zeros((3, 3))
    for (i, j), value in np.ndenumerate(table):
        if value > 1:
            total += i * value
        table[2, 2] = j
        doubled[i, j] = 2 * value
    return total, doubled, [index for index, _ in np.ndenumerate(np.ones(2))]


@program
def complex_numbers_in_order(b):
    z = b + 1j * b[::-1]
    w = np.where(b > 2, np.nan, z)
    return np.clip(z, -1, 2), z.clip(None, 0.5j), np.maximum(w, 1), w.min(), np.argmax(z), np.argmin(w), np.clip(b, -1j, None)


@program
def factorials_beyond_64_bits(b):
    return sum((-1) ** k * b[0] ** k / math.factorial(k) for k in range(30)), b[1] / int("9" * 30)


class Told(UserWarning):
    def __init__(self, text):
        self.args = (text,)


@program
def a_warning_that_writes_what_c_keeps(b):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if b[0] > 1:
            warnings.warn(Told("large"), stacklevel=2)
            b = b * 2
    return b


@program
def factorials_of_traced_numbers(b):
    n, total = 0, 0.0
    while total < b[0] + 2 and n < 9:
        total, n = total + 1 / math.factorial(n), n + 1
    return total, math.isqrt(n * 7)


@program
def none_in_the_first_turn(b):
    u, v, k = None, None, 0
    while k < 4:
        if k > 0:
            u[:] = b[:]
            u += v
            u[0] = k
        else:
            u = b.copy()
            v = b * 2
        values = [b[0], b[1], u[0] if k > 1 else None]
        if values[2] is not None and all(np.isfinite(values)) and not any(np.isclose(b[2], values[1:])):
            table = np.zeros((3, 2))
            table[:, 0] = values[:]
            v = v + table.sum()
        k = k + 1 + (b[0] > 2)
    return u, v


def tuple_of_one_or_three(b):
    found = b[0], b[1] + 1, b * 2
    if found[0] is not None and b[2] > 1:
        found = (None,)
    if found[0] is None:
        found = b[2], None, b
    if found[0] is None:
        raise ValueError
    return found


@program
def tuples_of_two_lengths(b):
    first, second, third = tuple_of_one_or_three(b)
    if second is None:
        second = 0.0
    return first, second, third


@program
def another_array_on_one_path(b):
    x = np.zeros(3)
    if b[0] == 0:
        x = b.copy()
        return x
    x += b
    return x


@program
def early_returns_before_a_loop(b):
    x = np.zeros(3)
    if np.linalg.norm(b) == 0:
        return b.copy(), -1
    for k in range(6):
        x += b
        if x[1] > 5:
            return x, k
    return x, 6


@program
def a_row_is_a_view(b):
    m = np.zeros((2, 3))
    row = m[1]
    n = b[0]
    while n > 0:
        row += b
        m[0, 0] -= 1
        n = n - 1
    return m, row


@program
def a_view_at_a_traced_place(b):
    m = np.arange(9.0).reshape(3, 3)
    k = 0
    if b[0] > 0:
        k = 2
    row = m[k]
    row[:] = b
    return m


@program
def swapped_in_a_loop(b):
    old, new = np.zeros(3), b.copy()
    n = b[1]
    while n > 0:
        old, new = new, old + 2 * new
        n = n - 1
    return old, new


@program
def called_where_it_is_there(b):
    twice = None
    for v in b:
        if v > 0:
            twice = lambda x: 2 * x  # noqa: E731
    return twice(b) if b.max() > 0 else b


@program
def swapped_and_written_in_a_loop(b):
    old, new = b.copy(), b + 1
    for _ in range(8):
        if not (new != old).any():
            break
        old[0] = new[0] * 0.5
        old[new > 2] = new[new > 2] - 1
        new, old = old, new
    return old, new


@program
def the_array_of_the_last_turn(b):
    previous = None
    total = 0.0
    for i in range(12):
        current = b * i
        if i > 0:
            total = total + (current - previous).sum()
        previous = current
        if total > 20:
            break
    return total, previous


@program
def none_until_it_is_known(b):
    rho_old, p, x = None, None, np.zeros(3)
    for i in range(20):
        rho = np.dot(b, b) + i
        if rho > 30:
            return x, i
        if i > 0:
            p = b + rho / (rho_old + 1) * p
        else:
            p = b.copy()
        x += p
        rho_old = rho
    return x, -1


@program
def elements_by_a_mask(b):
    x = b * 2.0
    m = x > 1
    x[m] -= np.sqrt(b[m]) * 3
    ok = (x[m] > 0).all()
    return x, m.any(), ok, x[m].sum()


@program
def a_mask_of_another_array(b):
    x, y = b.copy(), np.zeros(3)
    y[x > 0] = x[x > 0]
    y[y == 0] = -1
    return y


@program
def elements_moved_by_masks(b):
    y = np.zeros(3)
    y[: int((b > 0).sum() > 5)] = 1
    return y


class Solver:
    """State in attributes, some of them arrays and a string, written by methods."""

    def __init__(self, y):
        self.status, self.y, self.y_old, self.steps = "running", y, None, 0
        self.K = np.empty((2, len(y)))

    def step(self):
        self.K[0] = self.y
        self.K[1] = self.y * 0.5
        self.y_old = self.y
        self.y = self.y + self.K.T @ np.array([0.5, 0.25])
        self.steps += 1
        if self.y[0] > 10 or self.steps > 8:
            self.status = "finished"


@program
def a_solver_object(b):
    solver = Solver(b)
    while solver.status == "running":
        solver.step()
    return solver.y, solver.y_old, solver.steps, solver.K


class TooMany(Exception):
    pass


@program
def an_exception_that_ends_a_search(b):
    calls = [0]
    best = np.zeros(3)

    def f(x):
        if calls[0] >= 3 + (b[0] > 0):
            raise TooMany
        calls[0] += 1
        return (x * x).sum()

    try:
        for k in range(6):
            best[k % 3] = f(b + k)
    except TooMany:
        best[0] = -1
    return best, calls[0]


@program
def types_as_numpy_has_them(b):
    s = b[0] * 1
    assert isinstance(b, np.ndarray) and isinstance(s, float) and isinstance(s, np.floating) and np.isscalar(s)
    assert type(b) is np.ndarray and type(s) is np.float64 and not isinstance(b, list)
    assert np.issubdtype(b.dtype, np.floating) and s.item() is not None and s.dtype.char == "d"
    return np.asarray(s).reshape(1), s.copy(), np.float64(s) + 1


@program
def extremes_and_tables(b):
    low = max(min(b), -1.0, b[1])
    flag = 2 if low > 1 else 0
    return low, {0: "small", 2: "large"}.get(flag, "none"), 2 ** -int(abs(b[0]))


@program
def builtin_functions_of_rows(b):
    m = np.outer(b, b) + np.eye(3)
    total = 0.0
    for row in m:
        total = total + max(row)
    return total, sum(b), any(b > 2), all(b > -2), sorted(b)


@program
def written_through_a_list(b):
    rows = [np.zeros(3), np.ones(3)]
    first = rows[0]
    if b[0] > 0:
        rows[0][1] = 5
        rows[1] += b
    return first, rows


@program
def an_out_argument(b):
    y = np.empty(3)
    np.multiply(b, 2, out=y)
    z = np.add(y, 1, out=y)
    z[0] = 9 if b[0] > 0 else 8
    return y, z


@program
def a_factor_that_may_not_be(b):
    matrix = 2 * np.eye(3)
    try:
        known = scipy.linalg.cho_factor(matrix)
        factor, lower = scipy.linalg.cho_factor(matrix + np.diag(np.abs(b)))
    except np.linalg.LinAlgError:
        return b
    return scipy.linalg.cho_solve((factor, lower), b) + scipy.linalg.cho_solve(known, b)


@program
def a_matrix_made_definite(b):
    matrix, jitter = np.diag(b) + 0.1, 0.0
    for _ in range(20):
        try:
            factor = np.linalg.cholesky(matrix + jitter * np.eye(3))
            break
        except np.linalg.LinAlgError:
            jitter += 0.7
    return factor, jitter


@program
def arrays_without_dimensions(b):
    x, y = np.empty(()), np.zeros(())
    x[()] = b[0]
    if b[1] > 0:
        y[...] = b[1]
    z = np.reshape(np.sum(b), (1, 1))
    z[0, 0] += 1
    return x, y, z, np.transpose(z)


@program
def a_singular_system(b):
    try:
        x = np.linalg.solve(np.diag(b), np.ones(3))
    except np.linalg.LinAlgError:
        x = np.zeros(3)
    try:
        y = scipy.linalg.inv(np.diag(b))
    except np.linalg.LinAlgError:
        y = np.eye(3)
    return x, y


@program
def the_same_keys_in_another_order(b):
    if b[0] > 0:
        found = {"x": b, "count": 1}
    else:
        found = {"count": 2, "x": b - 1}
    return found["x"], found["count"]


@program
def placed(b):
    x = np.arange(6.0).reshape(2, 3)
    np.place(x, x > b[0], b[:2])
    return x


@program
def the_first_that_there_is(b):
    return next(value for value in b if value > -9), next((value * 2 for value in b if value > 2.5), -1.0)


@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")  # NumPy 2.5, of the original
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("way", ["jit", "eager", "plain"])
def test_programs(name: str, way: str, x64: None):
    function = PROGRAMS[name]
    ported = ag.port(function)
    run = ag.jit(ported) if way == "jit" else ported
    for values in VECTORS:
        with np.errstate(all="ignore"):
            want = function(np.array(values))
        found = run(np.array(values) if way == "plain" else jnp.array(values))
        assert jax.tree.structure(want) == jax.tree.structure(found)
        for one, other in zip(jax.tree.leaves(want), jax.tree.leaves(found), strict=True):
            if isinstance(one, str):
                assert one == other
            else:
                np.testing.assert_allclose(other, one, rtol=1e-12, err_msg=f"{name} at {values}")


@pytest.mark.parametrize(
    "function",
    [
        lambda b: _written(b, lambda x, b: x + 1),
        lambda b: _written(b, lambda x, b: x[::-1]),
    ],
    ids=["a new array or the old one", "a view or the old one"],
)
def test_doubtful_writes_are_refused(function: Callable[[Any], Any], x64: None):
    with pytest.raises(ag.AliasError, match="another variable may hold too"):
        jax.jit(ag.port(function))(jnp.ones(3))


@pytest.mark.parametrize("turn", [lambda p, q, r: (q, r, q), lambda p, q, r: (q, p if r[0] > 5 else q, r)])
def test_what_may_be_one_array_after_a_turn_is_not_written(turn: Callable[..., Any], x64: None):
    def f(b: Any) -> Any:
        p, q, r = b.copy(), b + 1, b + 2
        for _ in range(6):
            p[0] += 1
            if q[0] > 100:
                break
            p, q, r = turn(p, q, r)
        return p, q, r

    with pytest.raises(ag.AliasError, match="another variable may hold too"):
        jax.jit(ag.port(f))(jnp.ones(3))


def _written(b, other):
    x = np.zeros(3)
    y = x
    if b[0] > 0:
        x = other(x, b)
    x[2] = 5
    return x, y


# ------------------------------------------------------------------ libraries, as they are

newton = ag.port(scipy.optimize.newton)


def test_what_is_written_into_an_argument(x64: None):
    @ag.port
    def fill(x: Any, v: Any) -> None:
        x[1] = v

    x = np.zeros(3)
    fill(x, 2.0)
    assert x.tolist() == [0, 2, 0]
    fill(x, jnp.float64(4.0))
    assert x.tolist() == [0, 4, 0]
    with pytest.raises(ag.PortingError, match="written into an argument that is a NumPy array"):
        jax.jit(lambda v: fill(x, v))(1.0)
    assert x.tolist() == [0, 4, 0]


def test_functions_of_jax_take_the_arrays(x64: None):
    def f(b: Any) -> Any:
        x = np.zeros(3)
        x += b
        y = jnp.sin(x) + jax.nn.relu(x)
        x[0] = 5
        return y, x, jnp.dot(x, x)

    for one, other in zip(f(np.arange(3.0)), jax.jit(ag.port(f))(jnp.arange(3.0)), strict=True):
        np.testing.assert_allclose(one, other)


def roots(a: Any) -> Any:
    return newton(lambda x: x**3 - a, 1.0)


def test_newton(x64: None):
    values = jnp.linspace(1.0, 2.0, 5)
    np.testing.assert_allclose(jax.vmap(jax.jit(roots))(values), np.cbrt(values), rtol=1e-8)
    for derivative in (jax.grad, jax.jacfwd):
        np.testing.assert_allclose(derivative(roots)(8.0), 1 / 12, rtol=1e-6)


def test_newton_that_fails_tells_so(x64: None):
    with pytest.raises(RuntimeError, match="Failed to converge after 3 iterations"):
        ag.jit(lambda a: newton(lambda x: np.exp(x) - a, 40.0, maxiter=3))(2.0)


def test_results_leave_as_themselves(x64: None):
    root, report = ag.jit(lambda a: newton(lambda x: x**3 - a, 1.0, full_output=True, disp=False))(8.0)
    assert abs(root - 2) < 1e-6 and isinstance(report, scipy.optimize.RootResults)
    assert report.converged and report.flag == "converged" and report.method == "secant"


def lorenz(t: Any, y: Any) -> Any:
    return np.array([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])


def rk45(y0: Any) -> Any:
    solver = scipy.integrate.RK45(lorenz, 0.0, y0, 0.3, rtol=1e-6)
    while solver.status == "running":
        solver.step()
    return solver.y, solver.nfev


def solved(b: Any) -> Any:
    a = np.diag(np.arange(1.0, 5.0)) + 0.1
    return scipy.sparse.linalg.cg(a, b, rtol=1e-10)


def simulated(a: Any) -> Any:
    return scipy.signal.lsim((a, np.ones((2, 1)), np.eye(2), np.zeros((2, 1))), np.ones(4), np.linspace(0, 1, 4))[1]


def cubic(x):
    return np.array([x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]])


LIBRARIES: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
    "RK45": (rk45, np.array([1.0, 2.0, 20.0])),
    "cg": (solved, np.array([1.0, -1.0, 2.0, 0.5])),
    "brent": (lambda a: scipy.optimize.brent(lambda x: np.exp(a[0] * x) - 3 * x, brack=(-1.0, 0.7, 4.0)), np.array([1.2])),
    "fminbound": (lambda a: scipy.optimize.fminbound(lambda x: (x - a[0]) ** 2 + x, 0.0, 8.0), np.array([2.0])),
    "lu": (lambda b: scipy.linalg.lu_solve(scipy.linalg.lu_factor(np.outer(b, b) + np.eye(3)), b), np.array([1.0, 2.0, 3.0])),
    "lu of other pivots": (
        lambda b: scipy.linalg.lu_solve((np.outer(b, b) + np.eye(3), np.array([0, 2, 2])), b, trans=1),
        np.array([1.0, 2.0, 3.0]),
    ),
    "polar": (lambda b: scipy.linalg.polar(np.outer(b, b[::-1]) + np.eye(3), side="left"), np.array([1.0, 2.0, 3.0])),
    "df-sane": (lambda a: scipy.optimize.root(cubic, a, method="df-sane").x, np.array([0.5, -1.0])),
    "lsim": (simulated, np.array([[-1.0, 0.5], [0.0, -2.0]])),
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_libraries(name: str, x64: None):
    function, argument = LIBRARIES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = jax.tree.leaves(function(argument.copy()))
    found = jax.tree.leaves(jax.jit(ag.port(function))(jnp.array(argument)))
    for one, other in zip(want, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-8)


def test_a_polar_decomposition_is_differentiated_in_reverse(x64: None):
    def total(a: Any) -> Any:
        return (scipy.linalg.polar(a)[0] * np.arange(4.0).reshape(2, 2)).sum()

    at, along = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([[0.3, -1.0], [0.7, 0.2]])
    found = (jax.grad(ag.port(total))(jnp.array(at)) * along).sum()
    np.testing.assert_allclose(found, (total(at + 1e-6 * along) - total(at - 1e-6 * along)) / 2e-6, rtol=1e-6)


def test_a_library_is_as_it_was(x64: None):
    kinds = [scipy.integrate.RK45, scipy.integrate.RK45.__mro__[1], scipy.sparse.linalg.LinearOperator]
    before = [dict(vars(kind)) for kind in kinds]
    code = scipy.optimize.newton.__code__
    jax.jit(ag.port(rk45))(jnp.array([1.0, 2.0, 20.0]))
    jax.jit(ag.port(solved))(jnp.ones(4))
    assert [dict(vars(kind)) for kind in kinds] == before and scipy.optimize.newton.__code__ is code


Fit = make_bunch("Fit", ["slope", "offset"], ["error"])
SPACE: dict[str, Any] = {"newton": scipy.optimize.newton, "Fit": Fit}
exec("def solve(f, start): return newton(f, start)", SPACE)  # noqa: S102 - a function without source text


def test_a_function_without_source_text_calls_what_is_converted(x64: None):
    solve = ag.port(lambda a: SPACE["solve"](lambda x: x**3 - a, 1.0))
    np.testing.assert_allclose(jax.jit(solve)(8.0), 2.0)


def test_a_named_tuple_with_attributes(x64: None):
    def fitted(a: Any) -> Any:
        fit = Fit(slope=a, offset=a + 1, error=a * 2)
        if a < 0:
            fit = Fit(slope=-a, offset=a, error=0.0)
        return fit

    for a in (2.0, -3.0):
        found, want = jax.jit(ag.port(fitted))(a), fitted(a)
        assert tuple(found) == tuple(want) and found.error == want.error and type(found) is Fit


def test_what_has_no_counterpart_is_named(x64: None):
    with pytest.raises(ag.PortingError, match="odeint. has no counterpart on traced values"):
        jax.jit(ag.port(lambda x: scipy.integrate.odeint(lambda y, t: -y, x, [0.0, 1.0])))(1.0)


def test_numpys_own_python_is_converted_where_jax_has_no_counterpart(x64: None):
    def f(b: Any) -> Any:
        return np.ma.isMaskedArray(b), np.ediff1d(b)

    masked, differences = ag.jit(ag.port(f))(jnp.array([1.0, 4.0, 9.0]))
    assert not masked and differences.tolist() == [3, 5]


def test_32_bits_are_told_of_once():
    ported_module._warn_of_32_bits.cache_clear()
    doubled = ag.port(lambda x: np.multiply(x, 2.0))
    with pytest.warns(UserWarning, match="jax_enable_x64") as told:
        doubled(1.0)
        doubled(2.0)
    assert [warning.filename for warning in told] == [__file__]


@pytest.mark.usefixtures("x64")
def test_64_bits_are_not_told_of():
    ported_module._warn_of_32_bits.cache_clear()
    with warnings.catch_warnings(action="error"):
        assert ag.port(lambda x: np.multiply(x, 2.0))(1.0) == 2.0


@pytest.mark.usefixtures("x64")
def test_random_numbers_are_drawn_while_the_code_is_traced():
    @ag.port
    def noisy(x):
        noise = np.random.default_rng(0).normal(size=3)
        noise[0] = x
        return noise

    expected = np.random.default_rng(0).normal(size=3)
    expected[0] = 2.0
    np.testing.assert_array_equal(jax.jit(noisy)(2.0), expected)


@pytest.mark.usefixtures("x64")
def test_random_numbers_of_a_traced_distribution_are_refused():
    with pytest.raises(ag.PortingError, match="normal` has no counterpart"):
        jax.jit(ag.port(lambda x: np.random.default_rng(0).normal(x, 1.0)))(2.0)
    with pytest.raises(ag.StagingError, match="random number"):
        jax.jit(ag.port(until_three))(2.0)


def until_three(x):
    generator = np.random.default_rng(0)
    while x < 3:
        x = x + generator.uniform()
    return x


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("method, options", [("newton", {"fprime": lambda x: 3 * x**2}), ("secant", {"x1": 1.5})])
def test_root_scalar(method, options):
    def root(a):
        found = scipy.optimize.root_scalar(lambda x: x**3 - a, x0=1.0, method=method, **options)
        return found.root, found.iterations, found.converged

    ported = jax.jit(ag.port(root))
    for a in (0.5, 2.0, 9.0):
        np.testing.assert_allclose(ported(a), root(a), rtol=1e-12)


class Found(dict):
    """As SciPy's results are: a dict whose keys are attributes."""

    __getattr__ = dict.__getitem__


def halved_with_a_message(x):
    n = 0
    while x > 1:
        x, n = x / 2, n + 1
    return Found(x=x, message="done" if n < 3 else f"{n} turns" if n > 9 else "long")


@pytest.mark.usefixtures("x64")
def test_a_result_with_a_message_is_still_what_it_is():
    found = ag.port(halved_with_a_message)
    np.testing.assert_allclose(jax.jit(lambda x: found(x).x)(7.0), 0.875)


class Dispatched:
    """As networkx dispatches: a function that `exec` has made calls an object."""

    def __init__(self, function):
        self.function = function

    def __call__(self, x):
        return self.function(x)


def halved_until_below_one(x):
    while x > 1:
        x = x / 2
    return x


@pytest.mark.usefixtures("x64")
def test_an_object_that_a_function_without_source_calls_is_converted():
    space = {"target": Dispatched(halved_until_below_one)}
    exec("def made(x):\n    return target(x) + 1", space)
    np.testing.assert_allclose(jax.jit(ag.port(space["made"]))(7.0), 1.875)
    np.testing.assert_allclose(jax.jit(ag.port(lambda x: space["made"](x)))(9.0), 1.5625)


class Compiled:
    """As Numba compiles: beside the function there is much else, such as what stands for objects that are gone."""

    def __init__(self, function):
        self.py_func = function
        self.target = weakref.proxy(Dispatched(function))

    def __call__(self, x):
        raise AssertionError("it is the Python function that is converted")


@pytest.mark.usefixtures("x64")
def test_beside_the_function_that_is_compiled_nothing_is_looked_at():
    def solve(x, compiled):
        total = 0.0
        while total < 3:
            total = total + compiled(x)
        return total

    compiled = Compiled(halved_until_below_one)
    np.testing.assert_allclose(jax.jit(lambda x: ag.port(solve)(x, compiled))(6.0), 3.0)


def checked_with_a_text(x):
    x = np.asarray(x) * 2
    if np.any(x < 0):
        raise ValueError(f"bad x = {x}, {x[0]} in {[x]}")
    print(f"good x = {x}")
    return x.sum()


def test_an_array_in_a_text_is_the_one_of_the_run(capsys):
    ported = ag.jit(ag.port(checked_with_a_text))
    for values in (np.array([1.0, 2.0]), np.array([3.0, 0.5])):
        assert ported(values) == checked_with_a_text(values)
        jax.effects_barrier()
        shown = capsys.readouterr().out.splitlines()
        assert len(shown) == 2 and shown[0] == shown[1]
    with pytest.raises(ValueError, match=r"bad x = \[-2\.  4\.\], -2\.0 in \[array\(\[-2\.,  4\.\]"):
        ported(np.array([-1.0, 2.0]))


def stack_machine(ops):
    depth = 0
    for op in ops:
        match op, depth:
            case 1, n if n >= 2:
                depth -= 1
            case _:
                depth += 1
    return depth


def test_a_pattern_of_several_values_with_a_guard():
    for ops in ([0, 0, 1, 0, 2], [1, 1, 1, 1, 1], [0, 1, 0, 1, 1]):
        assert jax.jit(ag.port(stack_machine))(np.array(ops)) == stack_machine(ops)
