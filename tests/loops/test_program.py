"""What a loop of ours compiles to, and that it says what lax.while_loop says."""

import math
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph_jax as ag
from autograph_jax.loops import api

LOOPS = (ag.while_loop, lax.while_loop)


def newton(loop):
    def f(a):
        return loop(lambda c: abs(c[0] * c[0] - a) > 1e-4, lambda c: (0.5 * (c[0] + a / c[0]), c[1] + 1), (1.0 * a, 0))

    return f


def program(function, *args):
    """What XLA made, without the places in the source, and with its names numbered in the order in which they come."""
    text = jax.jit(function).lower(*args).compile().as_text()
    text = re.sub(r", metadata=\{[^}]*\}", "", text[re.search(r"\n(?:%|ENTRY)", text).start() :])
    names: dict[str, str] = {}
    return re.sub(r"%[\w.\-]+|\b[a-z_][\w\-]*\.\d+", lambda m: names.setdefault(m[0].lstrip("%"), f"%{len(names)}"), text)


TRANSFORMS = {
    "as it is": (lambda f: f, ()),
    "vmap": (jax.vmap, (3,)),
    "vmap of vmap": (lambda f: jax.vmap(jax.vmap(f)), (3, 2)),
    "jvp": (lambda f: lambda a: jax.jvp(f, (a,), (a,)), ()),
}


@pytest.mark.usefixtures("unoptimized")
@pytest.mark.parametrize("name", TRANSFORMS)
def test_without_reverse_mode_it_is_the_program_of_lax(name):
    transform, shape = TRANSFORMS[name]
    ours, theirs = [program(transform(newton(loop)), jnp.full(shape, 3.0)) for loop in LOOPS]
    assert ours == theirs


def test_a_loop_that_nobody_needs_is_not_run():
    def f(x):
        ag.while_loop(lambda c: c < 100, lambda c: c * 2, x)
        return x + 1

    assert "while" not in program(f, 1.0)


@pytest.mark.usefixtures("unoptimized")
def test_what_nobody_needs_of_it_is_not_carried():
    def f(x, loop):
        return loop(lambda c: c[0] < 9, lambda c: (c[0] + 1, jnp.sin(c[1]), jnp.cos(c[2])), (0, x, x))[1]

    ours, theirs = [program(lambda x: f(x, loop), 1.0) for loop in LOOPS]
    assert "cosine" not in ours and ours == theirs


@ag.autograph
def converted(x, n):
    """A while, a traced range, a loop that is left early; each with a variable that nobody reads."""
    count, unused = 0, x
    while x > 1:
        x, count, unused = x / 2, count + 1, jnp.cos(unused)
    for k in range(n):
        x, unused = jnp.sin(x) + k, jnp.cos(unused)
    for k in range(9):
        x = x + count
        if x > 100:
            break
    return x


@pytest.mark.usefixtures("unoptimized")
def test_a_converted_loop_is_the_program_of_lax(monkeypatch):
    """Line for line; in which order XLA lists the computations that loops and fusions call differs between versions."""

    def lines():
        return sorted(re.sub(r"%\d+", "%", line) for line in program(lambda x, n: converted(x, n), 5.0, 3).splitlines())

    ours = lines()
    monkeypatch.setattr(api, "while_loop", lambda cond, body, init, **_: lax.while_loop(cond, body, init))
    assert lines() == ours
    assert not any("cosine" in line for line in ours)


def test_constants_are_not_stacked():
    """A matrix that a loop reads is needed once in reverse mode, not for each turn."""
    matrix = jnp.eye(200)

    def f(x, n):
        return ag.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, jnp.tanh(matrix.T @ c[1])), (0, x))[1].sum()

    memory = jax.jit(jax.grad(f)).lower(jnp.ones(200), 5).compile().memory_analysis().temp_size_in_bytes
    assert memory < 8 * matrix.nbytes


def test_memory_does_not_grow_with_the_turns():
    def f(x, n):
        return ag.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, jnp.sin(c[1])), (0, x), checkpoints=16)[1].sum()

    state = jnp.ones(1000)
    memory = jax.jit(jax.grad(f)).lower(state, 5).compile().memory_analysis().temp_size_in_bytes
    assert memory < 4 * 16 * state.nbytes


def left_early(turns):
    @ag.autograph
    def f(x, matrix, limit):
        for _ in range(turns):
            if jnp.sum(x) > limit:
                break
            x = jnp.sin(matrix @ x) + x
        return jnp.sum(x)

    return f


STATE, MATRIX = np.ones(100), np.eye(100)
IN_LANES = {
    "alone": lambda f: f,
    "vmap": lambda f: jax.vmap(f, (None, None, 0)),
    "vmap of vmap": lambda f: jax.vmap(jax.vmap(f, (None, None, 0)), (None, None, 0)),
}


@pytest.mark.parametrize("name", IN_LANES)
def test_no_turn_is_run_again_where_a_bound_is_known(name):
    """One loop forward and one back, also where the gradient is that of one lane."""
    limit = np.ones((3, 2))[(0,) * (2 - name.count("vmap"))]
    gradient = jax.jit(IN_LANES[name](jax.grad(left_early(50))))
    assert len(re.findall(r"\bwhile\(", gradient.lower(STATE, MATRIX, limit).compile().as_text())) == 2
    batch = jax.jit(jax.grad(lambda *args: jnp.sum(IN_LANES[name](left_early(50))(*args))))
    assert len(re.findall(r"\bwhile\(", batch.lower(STATE, MATRIX, limit).compile().as_text())) == 2


def turns_made(turns, size=1, **options):
    """How many turns the gradient of a loop of so many turns makes, forward and again, with an array of that size."""
    made = []

    @jax.custom_jvp
    def seen(x):
        return jax.pure_callback(lambda x: made.append(None) or x, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    seen.defjvp(lambda primals, tangents: (seen(*primals), tangents[0]))
    body = lambda c: (c[0] + 1, jnp.sin(seen(c[1])))
    gradient = jax.grad(lambda x: api.while_loop(lambda c: c[0] < turns, body, (0, x), **options)[1].sum())
    jax.block_until_ready(jax.jit(gradient)(jnp.ones(size)))
    return len(made)


@pytest.mark.parametrize("checkpoints", [4, 8, 32])
@pytest.mark.parametrize("turns", [100, 2000])
def test_with_few_checkpoints_time_grows_as_a_logarithm(turns, checkpoints):
    assert turns_made(turns, checkpoints=checkpoints) <= turns * (1 + math.log(turns) / math.log(checkpoints))


def test_how_often_turns_are_made():
    assert turns_made(500, bound=1000) == 500
    assert turns_made(500, bound=10**9) == turns_made(500) == 500
    assert turns_made(500, 100) == 2 * 500
    assert turns_made(500, 50, bound=500) == 500


def test_memory_does_not_grow_with_a_large_bound():
    compiled = jax.jit(jax.grad(left_early(10**6))).lower(STATE, MATRIX, 1.0).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < 16 * 2**20


def test_a_branch_of_the_sweep_does_not_copy_what_it_hands_on():
    text = jax.jit(jax.grad(left_early(10**6))).lower(STATE, MATRIX, 1.0).compile().as_text()
    assert " conditional(" in text
    assert not re.search(r"= \(?[^=]*f32\[100,100\][^=]* conditional\(", text)


def printing(x):
    def body(c):
        jax.debug.print("turn {}", c[0], ordered=True)
        return c[0] + 1, jnp.sin(c[1])

    return ag.while_loop(lambda c: c[0] < 3, body, (0, x))[1]


def printing_in_a_branch(x):
    def told(x):
        jax.debug.print("turn 0", ordered=True)
        return jnp.sin(x)

    return ag.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, lax.cond(c[0] == 0, told, jnp.cos, c[1])), (0, x))[1]


def printing_in_an_inner_loop(x):
    return ag.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, printing(c[1])), (0, x))[1]


def printing_in_a_scan(x):
    def turn(x, k):
        jax.debug.print("turn {}", k, ordered=True)
        return jnp.sin(x), None

    return ag.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, lax.scan(turn, c[1], jnp.arange(3))[0]), (0, x))[1]


THREE = "turn 0\nturn 1\nturn 2\n"
PRINTS = [
    (printing, THREE),
    (printing_in_a_branch, "turn 0\n"),
    (printing_in_an_inner_loop, 2 * THREE),
    (printing_in_a_scan, THREE),
]


@pytest.mark.parametrize("function, expected", PRINTS)
def test_prints_come_once(function, expected, capfd):
    forward = lambda x: jax.jvp(function, (x,), (x,))
    for run in (function, jax.jit(function), forward, jax.grad(function), jax.jit(jax.grad(function))):
        jax.block_until_ready(run(1.0))
        jax.effects_barrier()
        assert capfd.readouterr().out == expected


REFUSED = {
    "types": (lambda c: c < 3, lambda c: c + 1.5, np.int32(0)),
    "structure": (lambda c: c < 3, lambda c: (c, c), 0),
    "predicate": (lambda c: c, lambda c: c + 1, 0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_are_those_of_lax(name):
    with pytest.raises(TypeError) as ours:
        ag.while_loop(*REFUSED[name])
    with pytest.raises(TypeError) as theirs:
        lax.while_loop(*REFUSED[name])
    assert str(ours.value) == str(theirs.value)


def test_checkpoints_are_a_number():
    with pytest.raises(ValueError, match="checkpoints is a number of states"):
        ag.while_loop(lambda c: c < 3, lambda c: c + 1, 0, checkpoints=0)


def test_without_jit():
    with jax.disable_jit():
        assert ag.while_loop(lambda c: c < 3, lambda c: c + 1, 0) == 3


def test_custom_rules_in_the_body():
    @jax.custom_vjp
    def doubled(x):
        return 2 * x

    doubled.defvjp(lambda x: (2 * x, None), lambda _, ct: (10 * ct,))
    f = lambda x: ag.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, doubled(c[1])), (0, x))[1]
    assert jax.grad(f)(1.0) == 100
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(f, (1.0,), (1.0,))


def test_checkpoints_of_a_staged_loop():
    @ag.autograph
    def f(x):
        for k in ag.stage(range(9), checkpoints=4):
            x = jnp.sin(x) * (k + 1)
            if x < -2:
                break
        return x

    assert "checkpoints=4" in str(jax.make_jaxpr(f)(0.5))
    assert jnp.allclose(jax.jit(jax.grad(f))(0.5), jax.jacfwd(f)(0.5), rtol=1e-4)


def primitives(jaxpr):
    """The names of the primitives of a jaxpr, also of those in its parameters."""
    found = set()
    for equation in jaxpr.eqns:
        inner = [getattr(value, "jaxpr", value) for value in equation.params.values()]
        found |= {equation.primitive.name}.union(*(primitives(part) for part in inner if hasattr(part, "eqns")))
    return found


@pytest.mark.parametrize("transform", [jax.grad, jax.jacfwd, jax.hessian, lambda f: jax.vmap(jax.grad(f))])
def test_whoever_searches_a_jaxpr_finds_the_loop_and_its_body(transform):
    def f(x):
        return ag.while_loop(lambda x: x > 1e-3, lambda x: x * jnp.sin(x), x)

    argument = 0.5 if transform in (jax.grad, jax.jacfwd, jax.hessian) else jnp.ones(3)
    assert {"while", "sin", "gt"} <= primitives(jax.make_jaxpr(transform(f))(argument).jaxpr)


def test_what_jax_takes_apart_only_when_it_compiles():
    """jnp.searchsorted, in newer versions of JAX."""
    grid = jnp.linspace(0, 1, 7)

    def f(x):
        i = 0
        while x < 1:
            x = x * 1.3
            i = i + jnp.searchsorted(grid, x)
            if i > 20:
                break
        return x * i

    converted = ag.autograph(f)
    assert jnp.allclose(jax.jit(converted)(0.1), f(jnp.float32(0.1)))
    for derivative in (jax.grad, jax.jacfwd):
        assert jnp.allclose(jax.jit(derivative(converted))(0.1), f(jnp.float32(0.1)) / 0.1, rtol=1e-5)
    starts = jnp.array([0.1, 0.2])
    assert jnp.allclose(jax.vmap(jax.grad(converted))(starts), jnp.stack([f(x) / x for x in starts]), rtol=1e-5)
