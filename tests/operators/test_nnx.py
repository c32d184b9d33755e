"""flax.nnx's variables and modules as state of staged blocks: what Python does with them, and no more than flax allows."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autograph_jax import autograph

nnx: Any = pytest.importorskip("flax.nnx")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:flax")


class Model(nnx.Module):
    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.count = nnx.Variable(jnp.zeros((), jnp.int32))
        self.total = jnp.zeros(2)
        self.norm = nnx.BatchNorm(2, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)
        self.parts = nnx.List([nnx.Variable(jnp.zeros(2)) for _ in range(150)])


@autograph
def variable_in_while(model, x):
    while jnp.sum(x) > 1:
        x = x / 2
        model.count[...] += 1
    return x


@autograph
def variable_in_if(model, x):
    if x[0] > 0:
        model.count[...] = model.count[...] + 5
    return x


@autograph
def attribute(model, x):
    for _ in range(4):
        model.total = model.total + x
    return x


@autograph
def nested(model, x):
    while jnp.sum(x) > 1:
        x = x / 2
        for i in range(3):
            if x[0] > i:
                model.count[...] += 1
    return x


@autograph
def changed_by_flax(model, x):
    """Batch statistics and the count of random numbers."""
    for _ in range(4):
        x = model.norm(model.dropout(x)[None])[0] + x
    return x


@autograph
def the_last_of_many_parts(model, x):
    while jnp.sum(x) > 1:
        x = x / 2
        model.parts[149][...] += x
    return x


@autograph
def decided_by_a_variable(model, x):
    while model.count[...] < 3:
        model.count[...] += 1
        x = 2 * x
    return x


@autograph
def made_in_the_block(model, x):
    while jnp.sum(x) > 1:
        halves = nnx.Variable(x)
        halves[...] = halves[...] / 2
        x = halves[...]
    return x


PROGRAMS = [
    variable_in_while, variable_in_if, attribute, nested, changed_by_flax, the_last_of_many_parts, decided_by_a_variable,
    made_in_the_block,
]  # fmt: skip


def state_after(run: Callable[..., Any]) -> list[Any]:
    model = Model()
    result = run(model, jnp.array([4.0, 2.0]))
    held = [leaf for leaf in jax.tree.leaves(nnx.state(model)) if not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)]
    assert not any(isinstance(leaf, jax.core.Tracer) for leaf in held)
    model.count[...] += 1  # it still belongs to nobody's trace
    return [result, model.total, *held]


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_python(program: Callable[..., Any]) -> None:
    for ours, python in zip(state_after(nnx.jit(program)), state_after(program), strict=True):
        np.testing.assert_allclose(ours, python, rtol=1e-5)


def test_flax_still_refuses_what_it_refuses():
    """A model from outside of `jax.jit` would keep a tracer."""
    model = Model()

    def closed_over(x):
        return variable_in_while(model, x)

    with pytest.raises(Exception, match="different trace level"):
        jax.jit(closed_over)(jnp.array([4.0, 2.0]))
    assert model.count[...] == 0
