"""What a loop of ours compiles to, and that it says what lax.while_loop says."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph_jax as ag

LOOPS = (ag.while_loop, lax.while_loop)


def newton(loop):
    def f(a):
        return loop(lambda c: abs(c[0] * c[0] - a) > 1e-4, lambda c: (0.5 * (c[0] + a / c[0]), c[1] + 1), (1.0 * a, 0))

    return f


def program(function, *args):
    """What XLA made, without the places in the source."""
    text = jax.jit(function).lower(*args).compile().as_text()
    return re.sub(r", metadata=\{[^}]*\}", "", text[text.index("\n%") :])


TRANSFORMS = {
    "as it is": (lambda f: f, ()),
    "vmap": (jax.vmap, (3,)),
    "vmap of vmap": (lambda f: jax.vmap(jax.vmap(f)), (3, 2)),
    "jvp": (lambda f: lambda a: jax.jvp(f, (a,), (a,)), ()),
}


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


def test_what_nobody_needs_of_it_is_not_carried():
    def f(x, loop):
        return loop(lambda c: c[0] < 9, lambda c: (c[0] + 1, jnp.sin(c[1]), jnp.cos(c[2])), (0, x, x))[1]

    assert "cosine" not in program(lambda x: f(x, ag.while_loop), 1.0)


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


def test_prints_come_once(capfd):
    def f(x):
        def body(c):
            jax.debug.print("turn {}", c[0], ordered=True)
            return c[0] + 1, jnp.sin(c[1])

        return ag.while_loop(lambda c: c[0] < 3, body, (0, x))[1]

    for run in (f, jax.jit(f), lambda x: jax.jvp(f, (x,), (x,)), jax.jit(jax.grad(f))):
        jax.block_until_ready(run(1.0))
        jax.effects_barrier()
        assert capfd.readouterr().out == "turn 0\nturn 1\nturn 2\n"


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
