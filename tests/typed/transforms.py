"""Type checkers see what a transform makes of a function: its parameters stay, its result is what the transform gives.

Checked like identity.py: each `assert_type` must hold, and each line marked `pyright: ignore` must be an error.
"""

from __future__ import annotations

from typing import Any, assert_type

import autograph_jax as ag


def loss(x: float, n: int = 2, *, scale: float = 1.0) -> float:
    return scale * x**n


# Called with the function


def checked_1() -> None:
    assert_type(ag.value_and_grad(loss)(1.0, n=2), tuple[float, Any])
    assert_type(ag.vmap(loss, {"x": 0})(1.0, 2), float)
    assert_type(ag.checkpoint(loss, static_argnames="n")(1.0, n=2), float)
    ag.grad(loss, argnames=["x", "scale"])(1.0, scale=2.0)
    ag.grad(loss, 0)(1.0, 2)
    ag.hessian(loss, (0, "scale"))(1.0)
    ag.jacfwd(loss)("text")  # pyright: ignore[reportArgumentType]
    ag.jacrev(loss)()  # pyright: ignore[reportCallIssue]
    ag.grad(loss)(1.0, unknown=3)  # pyright: ignore[reportCallIssue]
    ag.grad(loss, argnums=1.5)  # pyright: ignore[reportArgumentType]
    ag.make_jaxpr(loss, static_argnames="n")(1.0, n=3)
    out, back = ag.vjp(loss, 1.0, scale=2.0)
    converted, captured = ag.closure_convert(loss, 1.0)
    assert_type(captured, list[Any])


# As a decorator


@ag.grad(argnames="x")
def slope(x: float, n: int = 2) -> float:
    return x**n


@ag.vmap(in_axes={"x": 0})
def mapped(x: float, n: int = 2) -> float:
    return x**n


@ag.checkpoint
def kept(x: float) -> float:
    return x


@ag.jit(in_shardings={"x": None})
@ag.value_and_grad
def both(x: float) -> float:
    return x


class Model:
    def __init__(self, x: float) -> None:
        self.x = x

    @ag.vmap(in_axes={"y": 0})
    def method(self, y: float) -> float:
        return self.x * y

    @ag.value_and_grad(argnames="y")
    def loss(self, y: float) -> float:
        return self.x * y


def checked_2() -> None:
    slope(1.0, n=3)
    slope("text")  # pyright: ignore[reportArgumentType]
    assert_type(mapped(1.0), float)
    mapped("text")  # pyright: ignore[reportArgumentType]
    assert_type(kept(1.0), float)
    assert_type(both(1.0), tuple[float, Any])
    model = Model(1.0)
    assert_type(model.method(2.0), float)
    assert_type(model.loss(2.0), tuple[float, Any])
    model.loss("text")  # pyright: ignore[reportArgumentType]
