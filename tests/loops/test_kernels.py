"""Loops that are one kernel: XLA still knows how, everything that may be in one compiles, and nothing else is put there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph_jax as ag
from autograph_jax.loops import kernels
from autograph_jax.loops.evaluation import programs_of
from autograph_jax.loops.kernel_calls import in_one_kernel
from tests.platforms import needs_cpu

pytestmark = [pytest.mark.usefixtures("x64"), needs_cpu]


def whole(loop):
    """A loop, given as a function, as one kernel: also one that is not known to compile."""
    return jax.jit(lambda *operands: in_one_kernel(lambda *given: jax.tree.leaves(loop(*given)), operands))


# XLA still knows how


def test_xla_makes_one_function_of_it():
    """If this fails with a new jax: see what XLA does with `kernel_calls.ATTRIBUTES` now, and until then leave `kernel` out."""

    def far(x):  # a turn touches 8 KB, more than XLA's own bound
        return lax.fori_loop(0, 50, lambda i, x: jnp.sin(x) + jnp.flip(x) * i, x)

    x = jnp.arange(500.0)
    text = whole(far).lower(x).compile().as_text() or ""
    entry = text[text.index("ENTRY") :]
    assert "xla_cpu_small_call" in entry and " while(" not in entry
    np.testing.assert_allclose(whole(far)(x)[0], far(x), rtol=1e-12)


VANISHING = {  # of these operands, XLA finds out that nothing depends on them
    "a constant": lambda n, x: lax.fori_loop(0, 5, lambda i, c: c + x * i + (n - n), x),
    "all constants": lambda n, x: lax.fori_loop(0, 3, lambda i, c: c + i * 2 + (n - n), jnp.int64(1)),
    "an array": lambda n, x: lax.fori_loop(0, 3, lambda i, c: c + i * 2 + (n - n), jnp.int64(1)) + 0 * jnp.int64(x.size),
    "what is overwritten": lambda n, x: lax.fori_loop(0, 5, lambda i, c: (c[1].sum(), c[1] + i), (n * 1.0, x)),
    "no turn": lambda n, x: lax.fori_loop(0, 0, lambda i, c: (c[1].sum(), c[1] + i), (n * 1.0, x)),
    "one turn": lambda n, x: lax.fori_loop(0, 1, lambda i, c: (c[1].sum(), c[1] + i), (n * 1.0, x)),
    "a loop that never runs": lambda n, x: lax.while_loop(lambda c: n != n, lambda c: c + x, x),
    "a dead element": lambda n, x: lax.fori_loop(0, 4, lambda i, c: (c[0] * 2, c[1] + i), (n, x))[1],
}


@pytest.mark.parametrize("name", VANISHING)
def test_operands_that_xla_simplifies_away(name):
    """XLA ends the process where a kernel's parameter is used by nothing: `kernel_calls.py` sees to it that it is."""
    loop = VANISHING[name]
    n, x = jnp.int64(3), jnp.arange(400.0)
    out = whole(loop)(n, x)
    for ours, theirs in zip(out, jax.tree.leaves(jax.jit(loop)(n, x)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_constants_as_operands():
    def f():
        one = whole(lambda a, b: lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 2), (a, b)))
        return one(jnp.zeros((), int), jnp.ones(300))

    count, values = jax.jit(f)()
    assert count == 5 and (values == 32).all()


# What may be in one compiles

N = 8


def on_halves(f):
    return lambda x: f(x[: N // 2], x[N // 2 :])


BODIES = {
    **{name: getattr(lax, name) for name in ("abs", "ceil", "floor", "round", "sign", "neg", "exp", "exp2", "log1p", "expm1")},
    **{name: getattr(lax, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "atan", "cbrt", "square")},
    **{name: getattr(lax, name) for name in ("erf", "erfc", "logistic", "is_finite")},
    **{
        name: (lambda f: lambda x: f(jnp.abs(x) + 1))(getattr(lax, name))
        for name in ("sqrt", "rsqrt", "log", "lgamma", "digamma")
    },
    **{name: (lambda f: lambda x: f(x / 99))(getattr(lax, name)) for name in ("asin", "acos", "atanh", "erf_inv")},
    "acosh": lambda x: lax.acosh(jnp.abs(x) + 1),
    "powers": lambda x: x**3 + jnp.abs(x) ** 0.3 + jnp.arctan2(x, x + 1) + jnp.nextafter(x, x + 1),
    "comparisons": lambda x: jnp.where((x > 0) & ~(x <= 1) | (x == 2) ^ (x != 3), x, 1) + jnp.clip(x, 0, 1),
    "remainders": lambda x: x % 2 + x // 3 + lax.rem(x, jnp.full_like(x, 2)),
    "bits": lambda x: lax.population_count(x.astype(int)) + (lax.clz(x.astype(int)) << 1) + (x.astype(int) >> 1),
    "conversions": lambda x: x.astype(jnp.int8) + x.astype(jnp.float16) + lax.reduce_precision(x, 5, 10),
    "bitcast": lambda x: lax.bitcast_convert_type(x.astype(jnp.float32), jnp.int32) % 7,
    "complex": lambda x: abs(lax.complex(x, x) * jnp.conj(lax.complex(x, x + 1))) + lax.complex(x, x).imag,
    "reductions": lambda x: x.sum() + x.max() + x.min() + (x / 9).prod() + jnp.all(x > 0) + jnp.any(x > 0),
    "places": lambda x: jnp.argmax(x) + jnp.argmin(x),
    "running": lambda x: jnp.cumsum(x) + lax.cummax(x) + lax.cummin(x) + lax.cumlogsumexp(x) + jnp.cumprod(x / 9),
    "shapes": lambda x: (
        jnp.roll(x, 1) + x[::-1] + jnp.concatenate([x[1:], x[:1]]) + jnp.pad(x, 1)[:N] + x.reshape(2, -1).T.ravel()
    ),
    "elements": lambda x: x[jnp.argmax(x)] + x.at[jnp.argmax(x)].set(2.0) + x[(jnp.arange(N) * 7) % N],
    "a window": lambda x: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (jnp.argmax(x),), (2,)), (0,)),
    "products": lambda x: x @ x + on_halves(jnp.outer)(x).sum() + x[:4].reshape(2, 2) @ x[4:6] @ x[6:],
    "small matrices": lambda x: (x[:4].reshape(2, 2) @ x[4:].reshape(2, 2)).sum(),
    "branches": lambda x: lax.switch(jnp.argmax(x) % 3, [jnp.sin, jnp.cos, jnp.tan], x),
    "a loop": lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 0.5), (0, x))[1],
    "a scan": lambda x: lax.scan(lambda c, y: (c + y, c * y), 0.0, x)[1],
    "random": lambda x: jax.random.normal(jax.random.key(0), x.shape),
    "softmax": lambda x: jax.nn.softmax(x) + jax.nn.logsumexp(x) + jnp.linalg.norm(x),
    "a custom rule": lambda x: jax.nn.relu(x) + jax.nn.silu(x),
}


def turning(body, *, turns=3, n=N, dtype=jnp.float64):
    """A converted loop that runs a body on a vector, and what it starts with."""

    def f(x):
        for _ in range(turns):
            y = body(x)
            x = x + 0.5 * jnp.broadcast_to(y, x.shape).astype(x.dtype)
        return x

    return f, jnp.asarray(np.random.default_rng(0).normal(size=n) * 3).astype(dtype)


@pytest.mark.parametrize("dtype", [jnp.float64, jnp.float32, jnp.bfloat16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", BODIES)
def test_what_may_be_in_one_compiles(name, dtype):
    if name in ("a scan", "complex") and dtype == jnp.bfloat16:
        pytest.skip("lax has no such thing of bfloat16")
    f, x = turning(BODIES[name], dtype=dtype)
    ours, theirs = [jax.jit(ag.autograph(f, optimize=o)) for o in ("kernel", False)]
    assert "xla_cpu_small_call" in ours.lower(x).as_text()
    rtol = 1e-12 if dtype == jnp.float64 else 1e-4 if dtype == jnp.float32 else 0.05
    np.testing.assert_allclose(*(np.asarray(g(x), np.float64) for g in (ours, theirs)), rtol=rtol, atol=rtol)


MATRIX = np.random.default_rng(2).normal(size=(2 * kernels._MOST_OF_A_MATRIX // 128, 128))
LIMITS = {  # bodies, and from which number of elements on they are left alone
    "elements": (lambda x: jnp.sin(x), kernels._MOST_ELEMENTS),
    "a sum": (lambda x: jnp.sum(x), kernels._MOST_ELEMENTS),
    "a scalar product": (lambda x: x @ x, kernels._MOST_ELEMENTS),
    "places": (lambda x: jnp.argmax(x), kernels._MOST_ELEMENTS // 2),
}


@pytest.mark.parametrize("name", LIMITS)
def test_the_largest_compile_and_larger_ones_are_left_alone(name):
    body, most = LIMITS[name]
    for n, expected in ((most, True), (2 * most, False)):
        f, x = turning(body, n=n)
        lowered = jax.jit(ag.autograph(f, optimize="kernel")).lower(x)
        assert ("xla_cpu_small_call" in lowered.as_text()) == expected
        lowered.compile()


@pytest.mark.parametrize("rows, expected", [(len(MATRIX) // 2, True), (len(MATRIX), False)])
def test_a_matrix_and_a_vector(rows, expected):
    f, x = turning(lambda x: (jnp.asarray(MATRIX[:rows]) @ x).sum(), n=128)
    lowered = jax.jit(ag.autograph(f, optimize="kernel")).lower(x)
    assert ("xla_cpu_small_call" in lowered.as_text()) == expected
    lowered.compile()


@pytest.mark.parametrize(
    "shape",
    [
        (5, 5, 5),
        (6, 6, 6),
        (2, 6, 3),
        (1, 64, 64),
        (64, 64, 1),
        (2, 7, 9),
        (60, 2, 1),
        (2, 1, 64),
        (128, 1, 1),
        (1, 128, 1),
        (3, 3, 7),
    ],
)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_products_of_matrices(shape, batch):
    """Those that are put into a kernel compile there."""
    rows, inner, columns = shape
    a, b = (
        np.random.default_rng(1).normal(size=(*batch, rows, inner)) / inner,
        np.random.default_rng(0).normal(size=(*batch, inner, columns)),
    )

    def f(a, b):
        total = jnp.zeros((*batch, rows, columns))
        for i in range(4):
            total = total * 0.5 + i * (a @ b) * total.sum() + 1
        return total

    ours, theirs = [jax.jit(ag.autograph(f, optimize=o)) for o in ("kernel", False)]
    is_one = "xla_cpu_small_call" in ours.lower(a, b).as_text()
    assert is_one == (max(shape) <= kernels._LARGEST_MATRIX or min(rows, columns) == 1)
    np.testing.assert_allclose(ours(a, b), theirs(a, b), rtol=1e-10)


# And nothing else is


def why_not(function, *args):
    """What `explain` says of the loop."""
    lines = ag.explain(ag.autograph(function), *args, compile=False).functions[0].lines
    (said,) = [detail for line in lines for detail in line.details if detail.startswith("kernel")]
    return said


def by_sort(x):
    for _ in range(3):
        x = jnp.sort(jnp.concatenate([x, x, x]))[:4] * 0.5
    return x


def by_fft(x):
    for _ in range(3):
        x = jnp.fft.fft(x).real
    return x


def by_solve(x):
    for _ in range(3):
        x = jnp.linalg.solve(jnp.eye(4) + jnp.outer(x, x), x)
    return x


def by_scatter(x):
    for _ in range(3):
        x = x.at[jnp.array([0, 1, 1])].add(x[:3])
    return x


def by_print(x):
    for _ in range(3):
        jax.debug.callback(lambda _: None, x)
        x = x * 2
    return x


def by_matrices(x):
    for _ in range(3):
        x = (jnp.outer(x, x) @ jnp.outer(x, x) @ jnp.outer(x, x) @ jnp.ones((4, 9)) @ jnp.ones((9, 4))).sum(0)
    return x


NOT = {
    "sort": (by_sort, "kernel: no kernel of its own: `sort` cannot be in it"),
    "fft": (by_fft, "kernel: no kernel of its own: `fft` cannot be in it"),
    "solve": (by_solve, "kernel: no kernel of its own: `lu` cannot be in it"),
    "scatter": (by_scatter, "kernel: no kernel of its own: `scatter-add` cannot be in it"),
    "matrices": (by_matrices, "kernel: no kernel of its own: it multiplies matrices, 4x4 by 4x9"),
}


@pytest.mark.parametrize("name", NOT)
def test_why_not(name):
    function, said = NOT[name]
    x = jnp.arange(1.0, 5.0)
    assert why_not(function, x) == said
    assert "small_call" not in jax.jit(ag.autograph(function)).lower(x).as_text()


def test_a_loop_that_calls_python_is_as_it_was():
    x = jnp.arange(1.0, 5.0)
    assert "small_call" not in jax.jit(ag.autograph(by_print)).lower(x).as_text()
    np.testing.assert_array_equal(jax.jit(ag.autograph(by_print))(x), 8 * x)


def test_of_nested_loops_the_one_that_turns():
    def f(x):
        for _ in range(100):
            for _ in range(100):
                x = jnp.sin(x)
        return x

    text = jax.jit(ag.autograph(f)).lower(jnp.ones(300)).as_text()
    assert text.count("xla_cpu_small_call") == 1
    assert text.index("stablehlo.while") < text.index("xla_cpu_small_call")


def test_a_nest_around_a_loop_of_many_turns_is_none_before_it_is_compiled():
    def f(x):
        for _ in range(3):
            for _ in range(100):
                x = jnp.sin(x)
        return x

    (loop,) = jax.make_jaxpr(ag.autograph(f))(1.0).jaxpr.eqns
    told = kernels.surely_not(programs_of(loop.params))
    assert told == kernels.why_not(loop, loop.params) == "a loop in it has many turns, and is compiled for itself"


def test_gradients_are_kernels_too():
    def f(x):
        while x.sum() < 100:
            x = x * 1.1 + 0.1
        return x.sum()

    text = jax.jit(jax.grad(ag.autograph(f))).lower(jnp.ones(9)).as_text()
    assert text.count("xla_cpu_small_call") >= 2


def test_numbers_are_in_registers():
    """A turn of 2,200 numbers is a kernel, one of as many arrays none."""

    def turning(x):
        y = x
        while jnp.sum(y) < 50.0:
            for k in ag.unroll(range(1100)):
                y = y * 1.0001 + x * (k * 1e-6)
        return y

    one, lanes = (jax.jit(ag.autograph(turning)).lower(x) for x in (1.0, jnp.ones(4)))
    assert "xla_cpu_small_call" in one.as_text() and "xla_cpu_small_call" not in lanes.as_text()
    np.testing.assert_allclose(one.compile()(1.0), jax.jit(ag.autograph(turning, optimize=False))(1.0), rtol=1e-12)


def of_a_list(x):
    """The list is one of Python's: an index into it is marked, so that it is seen whether Python would know it."""
    table, k = [jnp.sin(x), jnp.cos(x), x, 1 - x], 0
    while x < 50.0:
        x = x + abs(table[k % 4]) + 0.1
        k += 1
    return x


def with_a_rule_of_its_own(x):
    @jax.custom_jvp
    def halves(n):
        return n // 8 + n % 8

    halves.defjvp(lambda primals, _: (halves(*primals), jnp.zeros((), jax.dtypes.float0)))
    n = 3
    while x < 50.0:
        x, n = x + halves(n) * 0.5, n + 5
    return x


@pytest.mark.parametrize("function", [of_a_list, with_a_rule_of_its_own])
def test_what_only_transforms_ask_for_is_gone(function):
    x = np.linspace(0.0, 3.0, 600)
    for mapped in (lambda f: f, jax.vmap):
        ours, theirs = (jax.jit(mapped(ag.autograph(function, optimize=o))) for o in (True, False))
        given = x if mapped is jax.vmap else x[3]
        text = ours.lower(given).as_text()
        assert "xla_cpu_small_call" in text and "stablehlo.remainder" not in text
        np.testing.assert_allclose(ours(given), theirs(given), rtol=1e-13)
