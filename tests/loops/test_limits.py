"""`max_steps`: a loop that is not over by then ends in an error, or in NaN and a flag if so asked. Who gives the options."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag


def halved(x, **options):
    return ag.while_loop(lambda c: c > 1, lambda c: c / 2, x, **options)


def summed(x, n, **options):
    return ag.fori_loop(0, n, lambda i, y: y + i * x, x, **options)


@ag.autograph(max_steps=4)
def until_small(x):
    while x > 1:
        x = x / 2
    return x


@ag.autograph(max_steps=4)
def first_turns_in_python(x):
    err = 2.0
    while err > 1:
        err = x
        x = x / 2
    return x


@ag.autograph(max_steps=4)
def a_test_that_writes(x):
    while (y := x / 2) > 0.5:
        x = y
    return x


@ag.autograph
def turns_of_a_range(x, n):
    for _ in ag.stage(range(n), max_steps=4):
        x = x / 2
    return x


def over_range(x):
    return turns_of_a_range(x, jnp.ceil(jnp.log2(jnp.maximum(x, 1.0))).astype(int))


@ag.autograph(max_steps=4)
def in_an_outer_loop(x):
    for _ in range(2):
        while x > 1:
            x = x / 2
    return x


BOUNDED = {
    "ag.while_loop": lambda x: halved(x, max_steps=4),
    "ag.fori_loop": lambda x: summed(x, x.astype(int) // 4, max_steps=4),
    "while": until_small,
    "while, from the second turn on": first_turns_in_python,
    "a test that writes": a_test_that_writes,
    "for": over_range,
    "while in for": in_an_outer_loop,
}
TRANSFORMS = {
    "jit": lambda f: jax.jit(f),
    "grad": lambda f: jax.grad(f),
    "jit of grad": lambda f: jax.jit(jax.grad(f)),
    "jacfwd": lambda f: jax.jacfwd(f),
    "vmap": lambda f: lambda x: jax.vmap(f)(jnp.stack([x, x / 2])),
    "vmap of grad": lambda f: lambda x: jax.vmap(jax.grad(f))(jnp.stack([x, x / 2])),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", BOUNDED)
def test_a_bound_that_is_reached_is_an_error(name, transform):
    run = TRANSFORMS[transform](BOUNDED[name])
    jax.block_until_ready(run(jnp.float32(7.0)))
    jax.effects_barrier()
    with pytest.raises(Exception, match=r"a loop is not over after max_steps=4 turns \(.*test_limits.py:\d+\)"):
        jax.block_until_ready(run(jnp.float32(100.0)))
        jax.effects_barrier()


@pytest.mark.parametrize("name", BOUNDED)
def test_where_nothing_is_traced(name):
    BOUNDED[name](np.float32(7.0))
    with pytest.raises(RuntimeError, match="max_steps=4"):
        BOUNDED[name](np.float32(100.0))


def test_ag_jit_gives_the_error_itself():
    with pytest.raises(RuntimeError, match="max_steps=4") as caught:
        ag.jit(until_small)(100.0)
    assert type(caught.value) is RuntimeError


class TestWithoutAnError:
    @pytest.mark.parametrize("loop", [halved, lambda x, **options: summed(x, (x / 4).astype(int), **options)])
    def test_nan_and_a_flag(self, loop):
        run = jax.jit(jax.vmap(lambda x: loop(x, max_steps=4, throw=False)))
        result, reached = run(jnp.array([3.0, 100.0, 8.0]))
        assert list(reached) == [False, True, False]
        assert list(jnp.isnan(result)) == list(reached)

    def test_integers_stay(self):
        (result, count), reached = ag.while_loop(
            lambda c: c[0] > 1, lambda c: (c[0] / 2, c[1] + 1), (100.0, 0), max_steps=3, throw=False
        )
        assert reached and jnp.isnan(result) and count == 3

    def test_without_a_bound(self):
        assert halved(5.0, throw=False) == (0.625, False)

    def test_gradients(self):
        value = lambda x: halved(x, max_steps=4, throw=False)[0]
        assert (jax.grad(value)(5.0), jax.jacfwd(value)(5.0)) == (0.125, 0.125)
        assert list(jax.vmap(jax.grad(value))(jnp.array([5.0, 3.0]))) == [0.125, 0.25]


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "3"])
@pytest.mark.parametrize("name", ["checkpoints", "max_steps"])
def test_options_are_numbers(name, value):
    for use in (ag.autograph, lambda **options: ag.stage([], **options), lambda **options: halved(3.0, **options)):
        with pytest.raises(ValueError, match=f"{name} is a number of"):
            use(**{name: value})


# Who gives the options


def solve(x):
    while x > 1:
        x = jnp.sin(x) + x / 2
    return x


def calls_solve(x):
    return solve(2 * x)


@ag.autograph(checkpoints=3)
def with_its_own(x):
    while x > 1:
        x = x / 2
    return x


def calls_both(x):
    return with_its_own(x) + solve(x)


def one_loop(x):
    for _ in ag.stage(range(9), checkpoints=5):
        x = jnp.cos(x)
        if x < 0.3:
            break
    return x


OPTIONS = [
    (solve, {"checkpoints": 7}, ["7"]),
    (solve, {}, ["None"]),
    (calls_solve, {"checkpoints": 7}, ["7"]),
    (calls_both, {"checkpoints": 7}, ["3", "7"]),
    (one_loop, {"checkpoints": 7}, ["5"]),
]


@pytest.mark.parametrize("function, options, expected", OPTIONS)
def test_the_nearest_says(function, options, expected):
    text = str(jax.make_jaxpr(ag.autograph(function, **options))(3.0))
    assert [part.split(")")[0] for part in text.split("Loop(checkpoints=")[1:]] == expected


def test_options_do_not_stay_with_the_function():
    first, second, third = (ag.autograph(solve, checkpoints=n) for n in (2, 4, None))
    texts = [str(jax.make_jaxpr(f)(3.0)) for f in (first, second, third, first)]
    assert ["checkpoints=2" in t for t in texts] == [True, False, False, True]
    assert "checkpoints=4" in texts[1] and "checkpoints=None" in texts[2]


def test_methods_and_classes():
    @ag.autograph(checkpoints=6)
    class Solver:
        def solve(self, x):
            while x > 1:
                x = x / 2
            return x

    assert "checkpoints=6" in str(jax.make_jaxpr(Solver().solve)(3.0))


def test_a_range_with_a_traced_bound():
    @ag.autograph
    def f(x, n):
        for k in ag.stage(range(n), checkpoints=4):
            x = jnp.sin(x) * (k + 1)
        return x

    want = 0.5
    for k in range(3):
        want = np.sin(want) * (k + 1)
    np.testing.assert_allclose(jax.jit(f)(0.5, 3), want, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(0.5, 3), jax.jit(jax.jacfwd(f))(0.5, 3), rtol=1e-6)
