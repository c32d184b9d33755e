"""What a library keeps of a block, where nobody sees it, is refused: each turn would find what the first trace has left."""

import gc
import types

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax.errors import EscapedTracerError

KEY = jax.random.key(2)


def library() -> types.ModuleType:
    """A module that is left alone, whose random keys are an object's that only it knows."""
    module = types.ModuleType("haiku.of_a_test")
    text = """
import jax
class Keys:
    __slots__ = ("key", "waiting", "last")
    def __init__(self, key): self.key, self.waiting, self.last = key, [], None
running = []
def begin(key): running[:] = [Keys(key)]
def draw():
    own = running[0]
    own.key, taken = jax.random.split(own.key)
    return jax.random.normal(taken)
def draw_ahead():
    own = running[0]
    own.waiting = list(jax.random.split(jax.random.key(1)))
    own.waiting.append(jax.random.split(own.key)[1])
    return 1.0
functions = []
def keep_a_function(x):
    values = [x + float(n) for n in range(50)]
    functions[:] = [lambda: values]
    return values[-1]
"""
    exec(text, vars(module))
    return module


LIBRARY = library()
draw, draw_ahead = LIBRARY.draw, LIBRARY.draw_ahead


@ag.autograph
def in_a_loop(n):
    total = 0.0
    for _ in range(n):
        total = total + draw()
    return total


@ag.autograph
def in_three_turns(x):
    for _ in range(3):
        x = x + draw()
    return x


@ag.autograph
def in_a_branch(x):
    if x > 0:
        x = draw()
    return x + draw()


@ag.autograph
def in_a_list(x):
    while x < 3:
        x = x + draw_ahead()
    return x


@pytest.mark.parametrize("program", [in_a_loop, in_three_turns, in_a_branch, in_a_list])
def test_is_refused(program):
    def run(key, x):
        LIBRARY.begin(key)
        return program(x)

    with pytest.raises(EscapedTracerError, match=r"of an object of class Keys holds it(.|\n)*ag\.unroll"):
        jax.jit(run)(KEY, 2)


def test_in_python_it_is_as_by_hand():
    @ag.autograph
    def run(key, x):
        LIBRARY.begin(key)
        for _ in ag.unroll(range(3)):
            x = x + draw()
        return x

    def by_hand(key):
        total = 0.0
        for _ in range(3):
            key, taken = jax.random.split(key)
            total += jax.random.normal(taken)
        return total

    assert jnp.allclose(jax.jit(run)(KEY, 0.0), by_hand(KEY), atol=1e-6)


def test_all_values_are_looked_for_at_once(monkeypatch):
    """Each look is at all objects of the process: one for each value took most of a training loop's trace."""
    looks = []

    @ag.autograph
    def program(x):
        while x < 3:
            x = LIBRARY.keep_a_function(x)
        return x

    look = gc.get_referrers
    monkeypatch.setattr(gc, "get_referrers", lambda *values: looks.append(len(values)) or look(*values))
    assert jax.jit(program)(1.0) == 50
    assert max(looks) > 50 and len(looks) < 20
