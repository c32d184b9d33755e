"""What a call of a compiled function costs, `ag.jit` against `jax.jit`; and of a gradient function, which runs Python.

python benchmarks/calls.py
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import measure

import autograph_jax as ag

CALLS = 200  # in a round: one call takes some microseconds


def one(x):
    return x + 1


def four(a, b, c, d):
    return a + b + c + d


def defaulted(x, y=1.0, *, scale=2.0):
    return scale * x * y


def power(x, n=3):
    return x**n


@dataclasses.dataclass(frozen=True)
class Settings:
    order: int
    tolerance: float


def solve(x, *, settings):
    return x**settings.order + settings.tolerance


def variadic(x, *rest, **more):
    return x + sum(rest) + sum(more.values())


def named(x):
    return x + 1, "newton"


X = jnp.ones(3)
SETTINGS = Settings(2, 1e-3)
Case = tuple[str, Callable[[], Any], Callable[[], Any]]  # name, ours, JAX's


def cases() -> list[Case]:
    return [
        _case("one array", one, lambda f: f(X)),
        _case("four arrays", four, lambda f: f(X, X, X, X)),
        _case("four arrays by keyword", four, lambda f: f(a=X, b=X, c=X, d=X)),
        _case("defaults left out", defaulted, lambda f: f(X)),
        _case("a keyword-only array", defaulted, lambda f: f(X, scale=X)),
        _case("a static number", power, lambda f: f(X, 3), static_argnames="n"),
        _case("a static dataclass", solve, lambda f: f(X, settings=SETTINGS), static_argnames="settings"),
        _case("*args and **kwargs", variadic, lambda f: f(X, X, k=X)),
        ("a string beside the array", _jitted(named), _bound(jax.jit(one), lambda f: f(X))),
        ("gradient by a name", _bound(ag.grad(_loss, argnames="y"), lambda f: f(X, y=X)), _gradient()),
    ]


def _case(name: str, function: Callable[..., Any], call: Callable[..., Any], **options: Any) -> Case:
    return name, _bound(ag.jit(function, **options), call), _bound(jax.jit(function, **options), call)


def _bound(function: Callable[..., Any], call: Callable[..., Any]) -> Callable[[], Any]:
    return functools.partial(call, function)


def _jitted(function: Callable[..., Any]) -> Callable[[], Any]:
    return _bound(ag.jit(function), lambda f: f(X)[0])


def _loss(x, y):
    return jnp.vdot(x, y)


def _gradient() -> Callable[[], Any]:
    return _bound(jax.grad(_loss, argnums=1), lambda f: f(X, X))


def rows(calls: int, seconds: float) -> list[list[str]]:
    found = []
    for name, ours, theirs in cases():
        count = calls if not name.startswith("gradient") else max(1, calls // 20)
        runs = measure.repeated(ours, count), measure.repeated(theirs, count)
        own, jaxs = measure.interleaved(*runs, seconds=seconds, clock=time.thread_time)  # not what other programs took
        found.append([name, f"{jaxs / count * 1e6:.3g}", f"{own / count * 1e6:.3g}", measure.ratio(own, jaxs)])
    return found


def main(arguments: list[str] | None = None) -> None:
    options = measure.call_options(__doc__.splitlines()[0], arguments, CALLS)
    print(measure.versions() + "\n")
    header = ["call", "jax.jit, us", "ag.jit, us", "ag / jax"]
    print(measure.table(header, rows(options.calls, options.seconds)))


if __name__ == "__main__":
    main()
