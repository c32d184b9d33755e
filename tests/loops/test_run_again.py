"""What the sweep back runs again, and saves: the part of the carry that its residuals come from, and no more."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.loops.loop import Given, loop_of
from autograph_jax.loops.sweep import run_again
from autograph_jax.loops.tracing import traced

pytestmark = pytest.mark.usefixtures("x64")
SIZE = 23


def moved_on(x, n):
    """An array that is written, and never read."""
    y = x * 1.0
    for j in range(1, n):
        y[j] = 2 * x[j] + 0.1 * x[n - j]
    return y


def added_to(x, n):
    """Linear in what it reads of the array that it writes."""
    y = x * 1.0
    for j in range(1, n):
        y[j] = 0.5 * y[j - 1] + x[j]
    return y


def multiplied(x, n):
    """The array decides what its own derivative is."""
    y = x * 1.0
    for j in range(1, n):
        y[j] = y[j - 1] * x[j]
    return y


def by_a_number(x, n):
    """A number decides, and not the array beside it."""
    y, z = x * 1.0, x[0]
    for j in range(1, n):
        z = jnp.sin(z) + x[j]
        y[j] = z * x[j] + y[j]
    return y


def in_turn(x, n):
    """Each of three variables is decided by the one before it: the last is saved as well."""
    a, b, c = x[0], x[1], x[2]
    for _ in range(n):
        a, b, c = jnp.sin(b) * c, c + 1.0, jnp.cos(c)
    return a + b


def until(x, n):
    """What the test of the loop reads is not run again: it is known how many turns there were."""
    total, k = x.sum(), 0
    y = x * 1.0
    while total > 1e-3 and k < n:
        total = total / 2
        y = y + x
        k = k + 1
    return y * total


def linear(x, n):
    """Nothing is saved: the derivative is the same at every point."""
    matrix = jnp.eye(SIZE) * 0.5 + 0.01
    for _ in range(n):
        x = matrix @ x
    return x


def in_a_triangle(x, n):
    """Levinson's recursion: the inner loop is as long as the outer one's number."""
    a, b = x * 1.0, x * 0.0
    for i in range(1, n):
        total = x[i]
        for j in range(1, i):
            total = total + a[j] * x[i - j]
        k = jnp.tanh(-total)
        for j in range(1, i):
            b[j] = a[j] + k * a[i - j]
        for j in range(1, i):
            a[j] = b[j]
        a[i] = k
    return a


def smoothed(x, n):
    """Loops in a loop, one of which ends by what it computes, whose derivatives depend on the array that they write."""
    y = x * 0.5
    for i in range(1, n):
        for j in range(1, i):
            y[j] = jnp.sin(y[j]) + 0.3 * y[j - 1] * y[j + 1]
        z = x[i]
        while jnp.abs(z) > 0.1:
            z = 0.5 * z + 0.01 * z * z
        y[i] = z + y[i - 1]
    return y


def sorted_by_insertion(x, n):
    """Where elements go depends on them, and their derivatives do not."""
    y = x * 1.0
    for i in range(1, n):
        m = i
        while m > 0 and y[m - 1] > y[m]:
            y[m - 1], y[m] = y[m], y[m - 1]
            m = m - 1
    return y


def left_early(x, n):
    y = x * 1.0
    for j in range(1, n):
        y[j] = x[j] * 0.5 + y[j]
        if x[j] > 5.0:
            break
    return y


def in_a_branch(x, n):
    y = x * 1.0
    for j in range(1, n):
        if x[j] > 0:
            y[j] = x[j] * 0.5 + y[j]
        else:
            y[j] = jnp.sin(x[j])
    return y


def printed(x, n):
    y = x * 1.0
    for j in range(1, n):
        jax.debug.callback(lambda _: None, y[j])
        y[j] = 2 * x[j] + y[j]
    return y


PROGRAMS = [
    moved_on, added_to, multiplied, by_a_number, in_turn, until, linear, in_a_triangle, smoothed, left_early, in_a_branch,
    printed, sorted_by_insertion,
]  # fmt: skip
WAYS = {
    "alone": lambda f: f,
    "in lanes": lambda f: lambda x, n: jax.vmap(f, (0, None))(jnp.stack([x, 2 * x, -x]), n),
    "in lanes of their own": lambda f: lambda x, n: jax.vmap(f)(jnp.stack([x, 2 * x]), jnp.stack([n, n // 2])),
}


def weighted(f):
    return lambda x, n: jnp.sum(jnp.sin(jnp.arange(1.0, 1 + f(x, n).size)) * f(x, n).ravel() ** 2)


def by_differences(f, x, n):
    """The derivative of a function of an array along a direction, in float64."""
    step, along = 1e-6, np.cos(np.arange(SIZE))
    return (f(x + step * along, n) - f(x - step * along, n)) / (2 * step), along


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_the_derivative(program, way):
    f = jax.jit(weighted(WAYS[way](ag.autograph(program))))
    x = np.cos(np.arange(SIZE) + 0.3)
    gradient = jax.jit(jax.grad(f))
    for n in (0, 1, 2, 17, SIZE):
        expected, along = by_differences(f, x, jnp.asarray(n))
        np.testing.assert_allclose(gradient(x, jnp.asarray(n)) @ along, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_second_derivatives(program):
    f = weighted(ag.autograph(program))
    turned = jax.jit(lambda x, n: jnp.sum(jax.grad(f)(x, n) * x))
    x, n = np.cos(np.arange(SIZE) + 0.3), jnp.asarray(9)
    expected, along = by_differences(turned, x, n)
    np.testing.assert_allclose(jax.jit(jax.grad(turned))(x, n) @ along, expected, rtol=1e-5, atol=1e-6)
    pushed = jax.jit(lambda x: jax.jvp(lambda x: turned(x, n), (x,), (jnp.asarray(along),))[1])(x)
    np.testing.assert_allclose(pushed, expected, rtol=1e-5, atol=1e-6)


SAVES_NO_ARRAY = [moved_on, added_to, by_a_number, in_turn, linear, left_early, printed]


@pytest.mark.parametrize("program", SAVES_NO_ARRAY, ids=lambda f: f.__name__)
def test_an_array_that_decides_no_residual_is_not_saved(program):
    gradient = jax.jit(jax.grad(weighted(ag.autograph(program))))
    text = gradient.lower(jnp.ones(SIZE), jnp.asarray(5)).compile().as_text()
    assert not re.search(rf"f64\[\d\d+,{SIZE}\]", text.replace(f"f64[{SIZE},{SIZE}]", "the matrix"))


def test_nothing_is_run_again_where_turns_leave_nothing():
    text = jax.jit(jax.grad(weighted(ag.autograph(linear)))).lower(jnp.ones(SIZE), jnp.asarray(5)).compile().as_text()
    assert len(re.findall(r"\bwhile\(", text)) == 2  # forward and back


def test_one_that_does_is_saved():
    text = jax.jit(jax.grad(weighted(ag.autograph(multiplied)))).lower(jnp.ones(SIZE), jnp.asarray(5)).compile().as_text()
    assert re.search(rf"f64\[\d\d+,{SIZE}\]", text)


@pytest.mark.parametrize("program", [in_a_triangle, smoothed], ids=lambda f: f.__name__)
def test_a_loop_in_a_loop_saves_what_it_began_with(program):
    """No stack of checkpoints of whole arrays for each turn of the outer loop."""
    size = 1201
    gradient = jax.jit(jax.grad(lambda x: jnp.sum(ag.autograph(program)(x, size))))
    compiled = gradient.lower(jnp.ones(size)).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < 6 * 8 * size**2  # those of the outer loop's turns
    assert not re.search(rf"f64\[257,{size}\]", compiled.as_text())


def last_of_three(x, n):
    """Of a lane that is over, what the inner loop would start from is made up: from 1 and 1 it would never end."""
    y, r = x, x + 1.0
    for _ in range(n):
        z = y
        while z < 10.0:
            z = z * r
        y = z / 8.0
        r = r + 0.1 * y
    return y


def to_the_edge(x, n):
    """Where y is 1 the square root has no derivative."""
    z = x
    for _ in range(n):
        y = x + 0 * z
        while y > 1.2:
            y = jnp.sqrt(y - 1) * x
        z = z + y
    return z


@pytest.mark.parametrize("program", [last_of_three, to_the_edge], ids=lambda f: f.__name__)
def test_a_loop_in_a_lane_that_is_over_makes_no_turn_back(program):
    gradient = jax.jit(jax.grad(ag.autograph(program)))
    xs, ns = jnp.asarray([1.0, 1.2, 0.9, 1.1]), jnp.asarray([3, 1, 2, 0])
    np.testing.assert_allclose(jax.jit(jax.vmap(gradient))(xs, ns), [gradient(x, n) for x, n in zip(xs, ns, strict=True)])


@pytest.mark.parametrize("size", [3, 1000])
@pytest.mark.parametrize("options", [{}, {"max_steps": 100}], ids=str)
def test_a_gradient_that_is_part_of_a_turn(size, options):
    """What its loop saves was said when it was taken, before anybody knew of the loop around."""

    def inner(i, y):
        return ag.while_loop(lambda d: d[0] < i, lambda d: (d[0] + 1, jnp.sin(d[1]) * y), (0, y), **options)[1].sum()

    @ag.autograph
    def f(x, n):
        y = x
        for i in range(n):
            y = y - 0.1 * jax.grad(inner, 1)(i, y)
        return y.sum()

    x = jnp.linspace(0.1, 1, size)
    np.testing.assert_allclose(jax.jit(f)(x, jnp.asarray(4)), f(x, 4), rtol=1e-12)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(x, jnp.asarray(4)), jax.grad(f)(x, 4), rtol=1e-9)


def test_loops_of_lax_in_one_another_know_it():
    """Three of them, of which the two inner ones save no states."""

    def f(x, n):
        def middle(c):
            return ag.while_loop(lambda d: d[0] < c[0], lambda d: (d[0] + 1, innermost(d)), (0, c[1]))[1]

        def innermost(d):
            return ag.while_loop(lambda e: e[0] < d[0], lambda e: (e[0] + 1, jnp.sin(e[1]) * x), (0, d[1]))[1]

        return ag.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, middle(c)), (0, x))[1].sum()

    found = []

    def look(jaxpr):
        for equation in jaxpr.eqns:
            if equation.primitive.name == "while":
                found.append(equation.params["loop"].given.is_nested)
                look(equation.params["loop"].body.jaxpr)

    look(jax.make_jaxpr(f)(jnp.ones(100), jnp.asarray(3)).jaxpr)
    assert found == [False, True, True]
    x = np.linspace(0.5, 1, SIZE)
    expected, along = by_differences(f, x, 3)
    np.testing.assert_allclose(jax.grad(f)(x, jnp.asarray(3)) @ along, expected, rtol=1e-6)


def test_a_loop_in_a_loop_saves_its_number_of_turns():
    """Not the array that its test reads."""
    size = 1201
    gradient = jax.jit(jax.grad(lambda x: jnp.sum(ag.autograph(sorted_by_insertion)(x, size) ** 2)))
    assert gradient.lower(jnp.ones(size)).compile().memory_analysis().temp_size_in_bytes < 20 * 8 * size


def test_a_loop_that_prints_and_leaves_nothing_to_keep():
    """It saves its number of turns, and the quiet loop, which is swept, would have kept all of its none."""
    seen = []

    @ag.autograph
    def f(x, xs, n):
        y = x
        for a in xs:
            j = 0
            while j < n:
                jax.debug.callback(seen.append, j)
                y = y + x * a
                j = j + 1
        return y

    assert jax.jit(jax.grad(f))(2.0, jnp.asarray([1.0, 2.0, 3.0]), 2) == 13.0
    jax.effects_barrier()
    assert sorted(map(int, seen)) == [0, 0, 0, 1, 1, 1]


def summed_up(x, turns, many, *, name):
    """Each of several lanes or devices needs what the others take back, also where it has nothing itself."""

    def inner(y):
        turn = lambda d: (d[0] + 1, jnp.sin(jax.lax.psum(d[1], name)) * 0.7 + d[1] * 0.5)
        return ag.while_loop(lambda d: d[0] < turns, turn, (0, y))[1]

    return ag.while_loop(lambda c: c[0] < many, lambda c: (c[0] + 1, inner(c[1])), (0, x))[1]


def summed_up_by_hand(x, turns, many):
    for _ in range(turns * many):
        x = jnp.sin(x.sum()) * 0.7 + x * 0.5
    return x


COLLECTIVE = {
    "lanes that share both numbers": lambda x: jax.vmap(summed_up_in_lanes, (0, None, None), axis_name="i")(x, 2, 3),
    "lanes with their own": lambda x: jax.vmap(summed_up_in_lanes, axis_name="i")(x, jnp.full(4, 2), jnp.full(4, 3)),
}


def summed_up_in_lanes(x, turns, many):
    return summed_up(x, turns, many, name="i")


@pytest.mark.parametrize("lanes", COLLECTIVE.values(), ids=COLLECTIVE)
@pytest.mark.parametrize("weights", [[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 0.0]], ids=str)
def test_lanes_that_add_up(lanes, weights):
    x, weights = jnp.asarray([0.3, 0.5, 0.8, 1.1]), jnp.asarray(weights)
    found = jax.jit(jax.grad(lambda x: jnp.vdot(weights, lanes(x))))(x)
    np.testing.assert_allclose(found, jax.grad(lambda x: jnp.vdot(weights, summed_up_by_hand(x, 2, 3)))(x), rtol=1e-9)


def masked(body, *avals):
    made = traced(body, avals)
    cond = traced(lambda *carry: carry[0] < 9, avals)
    carry = tuple(jnp.issubdtype(a.dtype, jnp.inexact) for a in avals)
    return run_again(loop_of(cond, made, (0, 0), Given()), ((), carry))


NUMBER, COUNT = jax.ShapeDtypeStruct((), np.float64), jax.ShapeDtypeStruct((), np.int64)
PARTS = {
    "nothing": (lambda i, x, y: (i + 1, 2 * x, x + y), (False, False, False)),
    "nothing but the counter": (lambda i, x, y: (i + 1, i * x, x + y), (True, False, False)),
    "what a residual comes from": (lambda i, x, y: (i + 1, jnp.sin(x), x + y), (False, True, False)),
    "what that comes from, turns later": (lambda i, x, y: (i + 1, jnp.sin(x) + y, 2 * y), (False, True, True)),
    "not what a residual goes to": (lambda i, x, y: (i + 1, 2 * x, jnp.sin(x) + y), (False, True, False)),
    "in a branch": (
        lambda i, x, y: (i + 1, *jax.lax.cond(i > 2, lambda x, y: (x, y * 2), lambda x, y: (2 * x, x), x, y)),
        (True, False, False),
    ),
}


@pytest.mark.parametrize("body, part", PARTS.values(), ids=PARTS)
def test_which_part(body, part):
    assert masked(body, COUNT, NUMBER, NUMBER) == part


def settled(y, n):
    i = 0
    while i < n:
        y = jnp.sin(y) * 1.1
        i += 1
    return y


def with_a_checkpoint(x, n):
    y, k = x, 0
    while k < n:
        y = jax.checkpoint(settled)(y, n)
        k += 1
    return y


def in_a_checkpoint(x, n):
    @jax.checkpoint
    def outer(y):
        k = 0
        while k < n:
            y = settled(y, n)
            k += 1
        return y

    return outer(x)


@pytest.mark.parametrize("function", [with_a_checkpoint, in_a_checkpoint])
def test_a_checkpoint_around_a_loop_of_lanes_with_their_own_turns(function):
    x, n, one = jnp.array([0.3, 0.5, 0.7]), jnp.array([1, 3, 2]), ag.autograph(function)
    every = jax.vmap(one)
    want = (every(x + 1e-6, n) - every(x - 1e-6, n)) / 2e-6
    np.testing.assert_allclose(jax.vmap(jax.grad(one))(x, n), want, rtol=1e-6)
    np.testing.assert_allclose(jax.grad(lambda x: every(x, n).sum())(x), want, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(jax.jacfwd(one))(x, n), want, rtol=1e-6)
    second = (jax.vmap(jax.grad(one))(x + 1e-5, n) - jax.vmap(jax.grad(one))(x - 1e-5, n)) / 2e-5
    np.testing.assert_allclose(jax.vmap(jax.hessian(one))(x, n), second, rtol=1e-5, atol=1e-8)
