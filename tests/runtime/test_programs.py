"""`ag.checkpoint`, `ag.make_jaxpr`, `ag.closure_convert`."""

import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax.errors import ArgumentError


def tower(x, n=2, *, shift=0.0, **more):
    for _ in range(n):
        x = jnp.sin(x)
    if x > 0:
        x = x + shift
    return x * more.get("k", 1.0)


# ------------------------------------------------------------------ checkpoint

CHECKPOINTS = {
    "static by name": (dict(static_argnames="n"), ["f(x)", "f(x, 2)", "f(n=2, x=x)"]),
    "static by number": (dict(static_argnums=1), ["f(x)", "f(x, 2)", "f(x, n=2)"]),
    "static in **more": (dict(static_argnames=("n", "k")), ["f(x, k=1.0)", "f(x, 2, k=1.0)"]),
    "keyword arguments are traced": (dict(static_argnums=1), ["f(x, k=1.0)", "f(x, shift=0.0)"]),
}


@pytest.mark.parametrize("options, calls", CHECKPOINTS.values(), ids=CHECKPOINTS.keys())
def test_checkpoint(options, calls):
    f = ag.checkpoint(tower, **options)
    for call in calls:
        assert abs(jax.grad(lambda x: eval(call, {"f": f, "x": x}))(1.0) - jnp.cos(jnp.sin(1.0)) * jnp.cos(1.0)) < 1e-6, call


def test_checkpoint_keeps_nothing():
    def sines(f):
        return str(jax.make_jaxpr(lambda x: jax.vjp(f, x)[1](1.0))(1.0)).count(" sin ")

    def twice(x):
        return jnp.sin(jnp.sin(x))

    assert (sines(ag.autograph(twice)), sines(ag.checkpoint(twice))) == (2, 3)  # the inner one is computed again
    every = ag.checkpoint(tower, static_argnames="n", policy=jax.checkpoint_policies.everything_saveable)
    assert jax.grad(every)(1.0) == jax.grad(ag.checkpoint(tower, static_argnames="n"))(1.0)


def test_checkpoint_traces_once():
    runs = []

    def f(x, mode):
        runs.append(mode)
        return x**2

    for mode in ("a", "a", "b", "b"):
        jax.grad(ag.checkpoint(f, static_argnames="mode"))(1.0, mode=mode)
    assert runs == ["a", "b"]


def test_checkpoint_in_a_class():
    class Model:
        weight = 2.0

        @ag.checkpoint(static_argnames=["self", "n"])
        def run(self, x, *, n):
            for _ in range(n):
                x = x * self.weight
            return x

    assert jax.grad(lambda x: Model().run(x, n=3))(1.0) == 8


# ------------------------------------------------------------------ make_jaxpr


def program(*arguments: Any, **options: Any) -> str:
    call = options.pop("call", {})
    made = ag.make_jaxpr(lambda x, /, y=2.0, *rest, k: x * y + k + sum(rest), **options)(*arguments, **call)
    return re.sub(r"\s+", " ", str(made)).replace("f64", "f32")  # where 64 bits are switched on


def test_make_jaxpr():
    assert program(1.0, 2.0, call={"k": 3.0}) == program(1.0, call={"k": 3.0, "y": 2.0})
    assert program(1.0, call={"k": 3.0}).startswith("{ lambda ; a:f32[] b:f32[]. let")  # a default is a constant
    assert "lambda ; a:f32[]. let" in program(1.0, 5.0, call={"k": 3.0}, static_argnames=["y", "k"])
    assert "lambda ; a:f32[] b:f32[] c:f32[]. let" in program(1.0, 5.0, 6.0, call={"k": 3.0}, static_argnums=2)


def test_make_jaxpr_options():
    _, shape = ag.make_jaxpr(tower, static_argnames="n", return_shape=True)(1.0, n=1)
    assert shape.shape == ()

    @ag.make_jaxpr(static_argnames="n")
    def f(x, n):
        return x if x > n else -x

    assert "cond" in str(f(1.0, n=2))


# ------------------------------------------------------------------ closure_convert


def test_closure_convert():
    def slope(a, x):
        def f(x, *rest, k=1.0):
            if x > 0:
                return k * a * x + sum(rest)
            return x

        converted, captured = ag.closure_convert(f, x, 1.0, k=2.0)
        assert len(captured) == 1
        return converted(x, 5.0, *captured, k=2.0)

    assert jax.value_and_grad(slope)(2.0, 3.0) == (17, 6)
    assert jax.jit(jax.grad(slope))(2.0, 3.0) == 6


def test_closure_convert_without_captures():
    converted, captured = ag.closure_convert(tower, 1.0, n=1)
    assert captured == [] and converted(1.0, n=1) == tower(1.0, n=1)


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize("transform", [ag.checkpoint, ag.make_jaxpr, ag.jit])
def test_wrong_arguments_are_refused_at_once(transform):
    for spec, what in [
        (dict(static_argnames="shifts"), "`static_argnames='shifts'`: `solve` has no parameter `shifts`"),
        (dict(static_argnums=3), "`static_argnums=3`: `solve` has 3 parameters"),
        (dict(static_argnums=(1, -2)), "`static_argnums=(1, -2)`: `n` of `solve` is meant twice"),
        (dict(static_argnums=1, static_argnames="n"), "`static_argnames='n'`: `n` of `solve` is meant twice"),
    ]:
        with pytest.raises(ArgumentError) as caught:
            transform(solve, **spec)
        assert caught.value.what == what
        assert caught.value.location is not None and caught.value.location.filename == __file__


@pytest.mark.parametrize("option", ["static_argnums", "static_argnames"])
def test_no_argument_may_be_static(option):
    """As in jax.jit, where `()` means none."""
    assert ag.jit(tower, **{option: ()})(2.0, n=3) == ag.checkpoint(tower, **{option: ()})(2.0, n=3) == tower(2.0, n=3)
    assert ag.make_jaxpr(tower, **{option: ()})(2.0).in_avals == ag.make_jaxpr(tower)(2.0).in_avals


@pytest.mark.parametrize("transform", [ag.checkpoint, ag.make_jaxpr, ag.jit])
def test_a_static_value_that_cannot_be_compared(transform):
    with pytest.raises(ArgumentError, match="`n` of `solve` is static, and a value of type"):
        transform(solve, static_argnames="n")(1.0, n=jnp.ones(3))


def solve(x, n=3, *, shift=0.0):
    return x
