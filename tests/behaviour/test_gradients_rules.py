"""Derivative rules of functions that loops and branches call; what has none, with JAX's own errors at the user's line."""

import inspect
import traceback

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax import autograph
from autograph_jax.errors import RuleError


@jax.custom_vjp
def clipped(x):
    """x, with a cotangent between -1 and 1: a rule for reverse mode alone."""
    return x


clipped.defvjp(lambda x: (x, None), lambda _, cotangent: (jnp.clip(cotangent, -1.0, 1.0),))


@ag.custom_jvp
def tripled(x):
    """3 x, with a slope of 5: a rule for both modes."""
    return 3 * x


tripled.defjvps(lambda dx, y, x: 5 * dx)


def while_(x, rule):
    while x < 50:
        x = 3 * rule(x)
    return x


def traced_range(x, rule):
    for _ in range(3 if x > 0 else 2):
        x = 3 * rule(x)
    return x


def static_range(x, rule):
    for _ in range(3):
        x = 3 * rule(x)
    return x


def left_early(x, rule):
    for _ in range(9):
        if x > 50:
            break
        x = 3 * rule(x)
    return x


def branch(x, rule):
    if x > 0:
        x = 3 * rule(x)
    return x


TURNS = {while_: 3, traced_range: 3, static_range: 3, left_early: 3, branch: 1}
POINTS = np.array([2.0, 3.0])


@pytest.mark.parametrize("function", TURNS)
def test_a_rule_for_reverse_mode(function):
    f = autograph(lambda x: function(x, clipped))
    for gradient in (jax.grad(f), jax.jit(jax.grad(f)), jax.grad(jax.jit(f))):
        assert gradient(2.0) == 1.0


@pytest.mark.parametrize("function", TURNS)
def test_a_rule_for_reverse_mode_in_a_batch(function):
    f = autograph(lambda x: function(x, clipped))
    np.testing.assert_array_equal(jax.jit(jax.vmap(jax.grad(f)))(POINTS), [1.0, 1.0])
    np.testing.assert_array_equal(jax.jit(jax.grad(lambda x: jnp.sum(jax.vmap(f)(x))))(POINTS), [1.0, 1.0])


@jax.custom_vjp
def weighted(x, weights):
    """x times a sum; the rule is off by 100, and says something also where nothing comes back."""
    return x * jnp.sum(weights)


weighted.defvjp(
    lambda x, weights: (x * jnp.sum(weights), (x, weights)),
    lambda kept, cotangent: (cotangent * jnp.sum(kept[1]), (cotangent * kept[0] + 100.0) * jnp.ones_like(kept[1])),
)


def until(x, weights, limit):
    while x < limit:
        x = weighted(x, weights)
    return x


def until_or_never(x, weights, limit):
    for _ in range(5):
        if x >= limit:
            break
        x = jnp.sin(weighted(x, weights)) + x
    return x


def twice_until(x, weights, limit):
    for _ in range(2):
        y = x
        while y < limit:
            y = weighted(y, weights)
        x, limit = y / 8, 2 * limit
    return x


LIMITS, WEIGHTS = np.array([9.0, 1.0, 30.0]), np.array([1.0, 2.0])


@pytest.mark.parametrize("function", [until, until_or_never, twice_until])
def test_lanes_with_a_rule_are_loops_with_a_rule(function):
    """One lane never makes a turn: the rule has nothing to say about it, though it would."""
    f = autograph(function)
    alone = [jax.grad(f, (0, 1))(2.0, WEIGHTS, limit) for limit in LIMITS]
    x, weights = jax.jit(jax.vmap(jax.grad(f, (0, 1)), (None, None, 0)))(2.0, WEIGHTS, LIMITS)
    np.testing.assert_allclose(x, [own for own, _ in alone], rtol=1e-5)
    np.testing.assert_allclose(weights, [own for _, own in alone], rtol=1e-5)
    together = jax.jit(jax.grad(lambda x, w: jnp.sum(jax.vmap(f, (None, None, 0))(x, w, LIMITS)), (0, 1)))(2.0, WEIGHTS)
    np.testing.assert_allclose(together[0], sum(x), rtol=1e-5)
    np.testing.assert_allclose(together[1], sum(weights), rtol=1e-5)


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("function", TURNS)
def test_forward_mode_has_no_rule(function, batch):
    f = autograph(lambda x: function(x, clipped))
    with pytest.raises(TypeError, match="can't apply forward-mode autodiff \\(jvp\\) to a custom_vjp function") as raised:
        jax.jit(jax.jacfwd(jax.vmap(f)))(POINTS) if batch else jax.jit(jax.jacfwd(f))(2.0)
    lines, first = inspect.getsourcelines(function)
    shown = [frame.lineno for frame in traceback.extract_tb(raised.value.__traceback__) if frame.filename == __file__]
    assert shown[-1] in range(first, first + len(lines))


@pytest.mark.parametrize("function", TURNS)
def test_a_rule_for_both_modes(function):
    f = autograph(lambda x: function(x, tripled))
    for derivative in (jax.grad, jax.jacfwd, jax.jacrev):
        assert jax.jit(derivative(f))(0.25) == 15.0 ** TURNS[function]  # 9 times larger in each turn


@jax.custom_jvp
def scaled(x, s):
    """x, with a slope of s: a rule that is no derivative, and has none that are symmetric."""
    return x


scaled.defjvp(lambda point, moved: (scaled(*point), moved[0] * point[1]))


def while_scaled(x, s, n):
    i = 0
    while i < n:
        x, s = jnp.sin(scaled(x, s) * s), s + 0.1 * scaled(x, x)
        i += 1
    return x * s


TWICE = {f"{a.__name__} of {b.__name__}": (a, b) for a in (jax.jacfwd, jax.jacrev) for b in (jax.jacfwd, jax.jacrev)}


@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives_by_rules(name, x64):
    first, second = TWICE[name]
    ours, plain = [first(second(f, (0, 1)), (0, 1)) for f in (autograph(while_scaled), while_scaled)]
    want = np.array(plain(0.5, 0.7, 3))
    np.testing.assert_allclose(np.array(jax.jit(ours)(0.5, 0.7, 3)), want)
    lanes = jax.jit(jax.vmap(ours))(jnp.array([0.5, 0.5]), jnp.array([0.7, 0.7]), jnp.array([3, 2]))
    np.testing.assert_allclose(np.array(lanes)[..., 0], want)
    np.testing.assert_allclose(np.array(lanes)[..., 1], np.array(plain(0.5, 0.7, 2)))


@pytest.mark.parametrize("last", [jax.jacfwd, jax.jacrev])
@pytest.mark.parametrize("name", TWICE)
def test_third_derivatives_by_rules(name, last, x64):
    first, second = TWICE[name]
    ours, plain = [last(first(second(f, (0, 1)), (0, 1)), (0, 1)) for f in (autograph(while_scaled), while_scaled)]
    np.testing.assert_allclose(np.array(jax.jit(ours)(0.5, 0.7, 2)), np.array(plain(0.5, 0.7, 2)))


@pytest.mark.parametrize("compiled", [lambda f: f, jax.jit])
def test_a_rule_for_reverse_mode_differentiated_again(compiled):
    def f(x):
        return ag.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, jnp.sin(clipped(c[1]))), (0, x))[1]

    with pytest.raises(RuleError, match="differentiated twice") as raised:
        compiled(jax.jacrev(jax.jacrev(f)))(0.5)
    assert "test_gradients_rules.py" in str(raised.value) and "custom_jvp" in str(raised.value)


def counted(x):
    n = 0
    while x < 50:
        x = 3 * x
        n += 1
    return n


def named(x):
    return x**3 if x > 0 else x**2, "cube" if x > 0 else "square"


def test_a_count_has_no_gradient():
    with pytest.raises(TypeError, match="grad requires real-valued outputs .*, but got int32"):
        jax.jit(jax.grad(autograph(counted)))(2.0)
    assert jax.jit(jax.jacfwd(autograph(counted)))(2.0) == 0


def test_by_an_integer():
    with pytest.raises(TypeError, match="grad requires real- or complex-valued inputs"):
        jax.jit(jax.grad(autograph(counted)))(2)


def test_a_word_beside_the_value():
    gradient = ag.jit(ag.grad(named, has_aux=True))
    assert gradient(2.0) == (12.0, "cube") and gradient(-2.0) == (-4.0, "square")


def test_a_word_has_no_gradient():
    with pytest.raises(TypeError, match="is not a valid JAX type"):
        ag.grad(lambda x: named(x)[1])(2.0)
    with pytest.raises(ag.ChoiceError, match="'cube' or 'square'"):
        ag.jit(ag.grad(lambda x: named(x)[1]))(2.0)


def test_what_is_stopped_is_a_constant():
    @autograph
    def f(x):
        y = x
        while y < 50:
            y = y * x * jax.lax.stop_gradient(y)
        return y

    # Two turns: 2 x^2, and 8 times x times that.
    assert jax.jit(jax.grad(f))(2.0) == jax.jit(jax.jacfwd(f))(2.0) == 48 * 2.0**2
