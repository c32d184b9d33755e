"""Loops differentiated in every order and under every transformation, against the same turns written out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph_jax as ag
from autograph_jax.loops import api

pytestmark = pytest.mark.usefixtures("x64")
POINTS = np.array([1.3, 2.1, 0.4])
TURNS = 5


def counted(loop):
    def f(x):
        return loop(lambda c: c[0] < TURNS, lambda c: (c[0] + 1, jnp.sin(c[1] * x) + 0.1 * x), (0, x))[1]

    return f


def closed_over(loop):
    """The factor is differentiated, and is no part of the carry."""

    def f(x):
        weights = jnp.array([x, 2 * x, jnp.exp(-x)])
        return loop(lambda c: c[0] < TURNS, lambda c: (c[0] + 1, jnp.tanh(weights * c[1] + 0.3)), (0, jnp.ones(3)))[1] @ weights

    return f


def in_the_carry(loop):
    """A factor that is handed on unchanged."""

    def f(x):
        return loop(lambda c: c[0] < TURNS, lambda c: (c[0] + 1, jnp.cos(c[1] * c[2]), c[2]), (0, 0.3 + x, x**2))[1]

    return f


def until_close(loop):
    """The number of turns depends on the value."""

    def f(x):
        x = 1.0 + x * x
        return loop(lambda c: jnp.abs(c * c - x) > 1e-14 * x, lambda c: 0.5 * (c + x / c), x)

    return f


def none(loop):
    def f(x):
        return loop(lambda c: c[0] < 0, lambda c: (c[0] + 1, c[1] * x), (0, jnp.sin(x)))[1]

    return f


def mixed_carry(loop):
    """Integers, booleans, keys, empty arrays and a float32 beside what is differentiated."""

    def f(x):
        def body(c):
            n, flag, key, empty, small, y = c
            key, sub = jax.random.split(key)
            y = jnp.where(flag, y * x + jax.random.uniform(sub), jnp.sin(y))
            return n + 1, ~flag, key, empty * 2, small * jnp.float32(0.5) + x.astype("float32"), y

        start = (0, True, jax.random.key(0), jnp.zeros((0, 2)), jnp.float32(1), x + 1)
        *_, small, y = loop(lambda c: c[0] < TURNS, body, start)
        return y + small

    return f


def in_a_loop(loop):
    def f(x):
        def body(c):
            inner = loop(lambda d: d[0] < c[0], lambda d: (d[0] + 1, jnp.sin(d[1]) * x + c[1]), (0, c[1]))[1]
            return c[0] + 1, inner * 0.5

        return loop(lambda c: c[0] < 4, body, (0, x))[1]

    return f


def with_branches(loop):
    def f(x):
        def body(c):
            return c[0] + 1, lax.cond(c[0] % 2 == 0, lambda y: y * y * x, lambda y: jnp.sqrt(y + x), c[1])

        return loop(lambda c: c[0] < TURNS, body, (0, 0.5 + x))[1]

    return f


def in_a_scan(loop):
    def f(x):
        def turn(y, k):
            return loop(lambda c: c[0] < k, lambda c: (c[0] + 1, jnp.sin(c[1] * x)), (0, y + x))[1], y

        y, ys = lax.scan(turn, x, jnp.arange(3))
        return y + jnp.sum(ys**2)

    return f


def complex_state(loop):
    def f(x):
        return jnp.abs(loop(lambda c: c[0] < TURNS, lambda c: (c[0] + 1, c[1] * (0.5 + 1j * x) + x), (0, x + 0.2j))[1])

    return f


def written_out(cond, body, init):
    """A while loop of at most 12 turns as what it means: a turn counts where the condition holds."""

    def turn(carry, _):
        return lax.cond(cond(carry), body, lambda c: jax.tree.map(jnp.asarray, c), carry), None

    init = jax.tree.map(lambda new, old: jnp.asarray(old, new.dtype), jax.eval_shape(body, init), init)
    return lax.scan(turn, init, length=12)[0]


LOOPS = (counted, closed_over, in_the_carry, until_close, none, mixed_carry, in_a_loop, with_branches, in_a_scan, complex_state)
D, F, R = jax.grad, jax.jacfwd, jax.jacrev
TRANSFORMS = {
    "value": lambda f: f,
    "grad": D,
    "value_and_grad": lambda f: lambda x: jnp.stack(jax.value_and_grad(f)(x)),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (x,))[1],
    "vjp": lambda f: lambda x: jax.vjp(f, x)[1](x)[0],
    "linearize": lambda f: lambda x: jax.linearize(f, x)[1](x),
    "many tangents": lambda f: lambda x: jax.vmap(jax.linearize(f, x)[1])(POINTS),
    "linear_transpose": lambda f: lambda x: jax.linear_transpose(jax.linearize(f, x)[1], x)(x)[0],
    "jacfwd": F,
    "jacrev": R,
    "hessian": jax.hessian,
    "jacfwd jacfwd": lambda f: F(F(f)),
    "jacrev jacrev": lambda f: R(R(f)),
    "jacrev jacfwd": lambda f: R(F(f)),
    "grad grad grad": lambda f: D(D(D(f))),
    "jacfwd jacrev jacrev": lambda f: F(R(R(f))),
    "grad of jit": lambda f: D(jax.jit(f)),
    "jit of hessian of jit": lambda f: jax.jit(jax.hessian(jax.jit(f))),
    "vmap": lambda f: lambda x: jax.vmap(f)(x + POINTS),
    "vmap of grad": lambda f: lambda x: jax.vmap(D(f))(x + POINTS),
    "grad of vmap": lambda f: lambda x: D(lambda xs: jnp.sum(jax.vmap(f)(xs) ** 2))(x + POINTS),
    "vmap of hessian": lambda f: lambda x: jax.vmap(jax.hessian(f))(x + POINTS),
    "hessian of vmap": lambda f: lambda x: jax.hessian(lambda xs: jnp.sum(jax.vmap(f)(xs) ** 2))(x + POINTS),
    "vmap of vmap of grad": lambda f: lambda x: jax.vmap(jax.vmap(D(f)))(x + np.outer(POINTS, POINTS)),
    "grad of vmap of vmap": lambda f: lambda x: D(lambda s: jnp.sum(jax.vmap(jax.vmap(f))(s + np.outer(POINTS, POINTS))))(x),
    "grad of remat": lambda f: D(jax.checkpoint(f)),
    "grad of grad of remat": lambda f: D(D(jax.checkpoint(f))),
    "grad of vmap of remat": lambda f: lambda x: D(lambda xs: jnp.sum(jax.vmap(jax.checkpoint(f))(xs)))(x + POINTS),
    "grad of cond": lambda f: D(lambda x: lax.cond(x > 0, f, jnp.sin, x)),
    "grad of scan": lambda f: D(lambda x: lax.scan(lambda y, _: (f(0.3 * y + 0.5), y), x, length=2)[0]),
    "hessian of scan": lambda f: jax.hessian(lambda x: lax.scan(lambda y, _: (f(0.3 * y + 0.5), y), x, length=2)[0]),
}
SOME = ("grad", "jacrev jacrev", "jacfwd", "jit of hessian of jit", "grad of vmap", "grad of remat")
FREE, BOUND = {}, {"bound": 12}  # where a bound is known, the residuals of all turns are kept
CASES = [(loop, name, options) for loop in (closed_over, until_close) for name in TRANSFORMS for options in (FREE, BOUND)]
CASES += [(loop, name, FREE) for loop in LOOPS if loop not in (closed_over, until_close) for name in SOME]
CASES += [(loop, name, BOUND) for loop in (mixed_carry, in_a_loop, with_branches, none) for name in SOME]
CASES += [(until_close, name, {"checkpoints": count}) for name in SOME for count in (1, 2, 5)]


@pytest.mark.parametrize("loop, name, options", CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_as_written_out(loop, name, options):
    transform = TRANSFORMS[name]
    ours = transform(loop(lambda *args: api.while_loop(*args, **options)))
    ours = (ours if loop is until_close else jax.jit(ours))(jnp.float64(0.7))
    reference = jax.jit(transform(loop(written_out)))(jnp.float64(0.7))
    np.testing.assert_allclose(ours, reference, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("checkpoints", [None, 1, 2, 3, 8, 33])
def test_any_number_of_turns_and_checkpoints(checkpoints):
    def f(x, turns):
        body = lambda c: (c[0] + 1, jnp.sin(c[1] * x + c[0]))
        return ag.while_loop(lambda c: c[0] < turns, body, (0, x), checkpoints=checkpoints)[1]

    gradient, forward, point = jax.jit(jax.grad(f)), jax.jit(jax.jacfwd(f)), jnp.float64(0.9)
    for turns in (0, 1, 2, 3, 7, 31, 100, 257, 1000):
        np.testing.assert_allclose(gradient(point, turns), forward(point, turns), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_dtypes(dtype):
    f = lambda x: ag.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x))[1]
    got = jax.grad(f)(jnp.asarray(2, dtype))
    assert got.dtype == dtype and got == 32


def test_weak_types_stay():
    f = lambda x: ag.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x))[1]
    assert jax.jit(f)(2.0).weak_type
    assert jax.grad(f)(2.0) == 32


def test_an_integer_has_no_gradient():
    f = lambda n: ag.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 2.0), (0, 1.0))[1]
    assert jax.grad(f, allow_int=True)(3).dtype == jax.dtypes.float0


def test_a_batch_may_need_more_room_than_one_loop():
    """What one lane keeps of all turns fits, and what eight keep does not: then states are kept."""

    def f(x):
        body = lambda c: (c[0] + 1, jnp.sin(c[1]) + 0.1 * x)
        return jnp.sum(api.while_loop(lambda c: c[0] < 40 * x[0], body, (0, x), bound=400)[1])

    xs = jnp.arange(1.0, 9.0)[:, None] * jnp.ones(1000)
    alone = jax.jit(jax.grad(f))
    np.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(f)))(xs), jnp.stack([alone(x) for x in xs]), rtol=1e-12)
    np.testing.assert_allclose(
        jax.jit(jax.grad(lambda xs: jnp.sum(jax.vmap(f)(xs))))(xs), jax.vmap(jax.grad(f))(xs), rtol=1e-12
    )


def test_lanes_that_are_over_do_not_poison_the_others():
    """At its end sqrt(left) is 0, where its derivative is infinite; a lane that is over would compute 0 * inf."""

    def f(x, scale):
        def body(left):
            return jnp.maximum(left - scale * (1 + jnp.sqrt(left)), 0.0)

        return ag.while_loop(lambda left: left > 0, body, x) + x * scale

    def alone(x, scale):
        return sum(f(value, scale) for value in x)

    x = jnp.array([1.0, 9.0, 0.0])
    together = lambda x, scale: jnp.sum(jax.vmap(f, (0, None))(x, scale))
    for got, want in zip(jax.grad(together, (0, 1))(x, 1.0), jax.grad(alone, (0, 1))(x, 1.0), strict=True):
        np.testing.assert_allclose(got, want)


def test_what_the_condition_alone_reads_may_have_no_derivative():
    """Where r is 0, the norm of r has none: 0 times it is no zero. Nothing that is asked for depends on it."""

    @ag.autograph
    def solve(a):
        x, left, turns = jnp.zeros(2), 1.0, 0
        while left > 1e-9 and turns < 30:
            r = a - x
            left = jnp.linalg.norm(r)
            x = x + r
            turns += 1
        return x, left

    a = jnp.array([1.0, 2.0])
    x = lambda a: solve(a)[0]
    for turned in (jax.jacrev(x), jax.jit(jax.jacrev(x)), jax.jit(jax.jacfwd(x))):
        np.testing.assert_array_equal(turned(a), np.eye(2))
    lanes = jnp.stack([a, 3 * a, 0 * a])
    np.testing.assert_array_equal(jax.jit(jax.vmap(jax.jacrev(x)))(lanes), np.stack([np.eye(2)] * 3))
    np.testing.assert_array_equal(jax.jit(jax.jacrev(lambda lanes: jax.vmap(x)(lanes).sum(0)))(lanes)[0, 1], np.eye(2)[0])
    cotangents = jnp.array([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(jax.vmap(jax.vjp(x, a)[1])(cotangents)[0], cotangents)
    assert np.isnan(jax.grad(lambda a: solve(a)[1])(a)).all()  # of this, it is asked for


def test_so_is_it_of_a_loop_that_prints_and_of_one_with_a_rule(capsys):
    @jax.custom_vjp
    def same(x):
        return x

    same.defvjp(lambda x: (x, None), lambda _, w: (w,))

    def solve(a, rule, prints):
        x, left, turns = jnp.zeros(2), 1.0, 0
        while left > 1e-9 and turns < 30:
            if prints:
                print("left", left)
            r = rule(a - x)
            left = jnp.linalg.norm(r)
            x = x + r
            turns += 1
        return x

    a = jnp.array([1.0, 2.0])
    for rule, prints in ((same, False), (lambda r: r, True)):
        function = jax.jacrev(lambda a: ag.autograph(solve)(a, rule, prints))  # noqa: B023
        np.testing.assert_array_equal(jax.jit(function)(a), np.eye(2))
        np.testing.assert_array_equal(jax.jit(jax.vmap(function))(jnp.stack([a, 3 * a])), [np.eye(2)] * 2)
    jax.effects_barrier()
    assert "left" in capsys.readouterr().out


class TestForiLoop:
    def test_traced_bounds(self):
        f = lambda x, n: ag.fori_loop(1, n, lambda i, y: y * x + i, x)
        reference = lambda x: lax.fori_loop(1, 6, lambda i, y: y * x + i, x)
        np.testing.assert_allclose(jax.jit(jax.hessian(f))(1.2, 6), jax.hessian(reference)(1.2), rtol=1e-12)

    def test_known_bounds_are_a_scan(self):
        names = [e.primitive.name for e in jax.make_jaxpr(lambda x: ag.fori_loop(0, 5, lambda i, y: y * x, x))(1.0).eqns]
        assert names == ["scan"]


def test_a_loop_that_xla_knows_never_to_run():
    """Its count of turns and the distance of its checkpoints are then constant zeros."""

    @ag.autograph
    def f(x, i):
        if i < i:
            turns = 0
            while turns != i and turns < 1:
                turns += 1
                x = jnp.sin(x)
            return x
        return -x

    assert jax.jit(jax.grad(f))(1.0, 3) == -1.0
