"""`ag.testing.check_parity` passes what is right, and says what is not."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag


def clipped(x, *, low=0.0, kind="soft"):
    if x < low:
        x = low + 0.1 * (x - low) if kind == "soft" else low
    return x, {"kind": kind}


def counted(xs):
    n = 0
    for x in xs:
        if x > 1:
            n += 1
    return n


def integrated(state, h):
    t = 0.0
    while t < 1:
        state = state + h * jnp.sin(state)
        t = t + h
    return state


RIGHT = {
    "numbers and strings": (clipped, (-3.0,), {"kind": "hard"}, (0.0, {"kind": "hard"})),
    "no floats": (counted, (np.arange(4),), {}, 2),
    "nothing": (lambda: None, (), {}, None),
    "arrays": (lambda v: v[v.argmax()], (jnp.array([1.0, 3.0, 2.0]),), {}, 3.0),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str):
    function, args, kwargs, expected = RIGHT[name]
    assert ag.testing.check_parity(function, args, kwargs) == expected


def test_a_solver():
    ag.testing.check_parity(
        integrated, (jnp.array([0.5, 1.0]), 0.3)
    )  # t never stands on the bound, where a derivative by h jumps


def traced(x: Any) -> bool:
    return isinstance(x, jax.core.Tracer)


@jax.custom_jvp
def wrong_rule(x):
    return x * x


wrong_rule.defjvp(lambda primals, tangents: (primals[0] ** 2, 3.0 * primals[0] * tangents[0]))


class Wrong(NamedTuple):
    function: Any
    message: str
    transforms: tuple[str, ...] = ("jit", "vmap", "grad")


WRONG = {
    "a value": Wrong(lambda x: x + 1 if traced(x) else x, "compiled by ag.jit: result is .*4.*, in Python it is 3.0"),
    "a part": Wrong(
        lambda x: {"y": [x + 1 if traced(x) else x]}, r"lane 0 under ag.vmap: result\['y'\]\[0\] is .*4.*, in Python", ("vmap",)
    ),
    "a structure": Wrong(lambda x: (x, x) if traced(x) else [x, x], "compiled by ag.jit: the structure is PyTreeDef"),
    "a string": Wrong(lambda x: "a" if traced(x) else "b", "compiled by ag.jit: result is 'a', in Python it is 'b'"),
    "a derivative": Wrong(wrong_rule, "the derivatives of .* are not the finite differences"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str):
    row = WRONG[name]
    with pytest.raises(ag.testing.ParityError, match=row.message):
        ag.testing.check_parity(row.function, [3.0], transforms=row.transforms)


def test_only_what_is_asked_for():
    ag.testing.check_parity(wrong_rule, [3.0], transforms=["jit", "vmap"])
    with pytest.raises(ValueError, match="transforms=.*: pmap is none of jit, vmap, grad"):
        ag.testing.check_parity(wrong_rule, [3.0], transforms=["pmap"])
