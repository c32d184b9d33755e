"""Type checkers see a decorated function, method or class as what it is without the decorator.

Checked by `make types` and tests/typed/test_identity.py: each `assert_type` must hold, and each line marked `pyright: ignore`
must be an error (pyright reports an ignore that is not needed).
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator
from typing import Generic, TypeVar, assert_type

import autograph_jax as ag
from autograph_jax import autograph, do_not_convert

T = TypeVar("T")


# Functions


@autograph
def bare(x: float, n: int = 2, *, k: str = "") -> list[float]:
    return [x] * n if k else []


@autograph(strict=True)
def with_options(x: float, n: int = 2, *, k: str = "") -> list[float]:
    return [x] * n if k else []


def checked_1() -> None:
    assert_type(bare(1.0, 2, k="a"), list[float])
    assert_type(with_options(1.0, n=3), list[float])
    bare("text")  # pyright: ignore[reportArgumentType]
    bare()  # pyright: ignore[reportCallIssue]
    bare(1.0, unknown=3)  # pyright: ignore[reportCallIssue]
    with_options("text")  # pyright: ignore[reportArgumentType]
    autograph(3)  # pyright: ignore[reportArgumentType]
    autograph(strict="yes")  # pyright: ignore[reportArgumentType]
    takes_function: Callable[[float, int], list[float]] = bare


@autograph
def generic(x: T, n: int) -> tuple[T, ...]:
    return (x,) * n


def checked_2() -> None:
    assert_type(generic("a", 2), tuple[str, ...])
    assert_type(generic(1.0, 2), tuple[float, ...])


@autograph
async def asynchronous(x: int) -> str:
    return str(x)


async def caller() -> None:
    assert_type(await asynchronous(3), str)


def checked_3() -> None:
    waits: Callable[[int], Awaitable[str]] = asynchronous


@autograph
def generator(n: int) -> Iterator[int]:
    yield n


def checked_4() -> None:
    assert_type(list(generator(3)), list[int])


def factory(scale: float) -> Callable[[float], float]:
    @autograph
    def scaled(x: float) -> float:
        return x * scale

    return scaled


# Methods


class Model:
    def __init__(self, x: float) -> None:
        self.x = x

    @autograph
    def method(self, y: int) -> float:
        return self.x * y

    @classmethod
    @autograph
    def make(cls, x: float) -> Model:
        return cls(x)

    @autograph
    @classmethod
    def make_above(cls, x: float) -> Model:
        return cls(x)

    @staticmethod
    @autograph
    def static(x: int) -> str:
        return str(x)

    @autograph
    @staticmethod
    def static_above(x: int) -> str:
        return str(x)

    @property
    @autograph
    def value(self) -> float:
        return self.x

    @value.setter
    @autograph
    def value(self, new: float) -> None:
        self.x = new

    @functools.cached_property
    @autograph
    def cached(self) -> list[float]:
        return [self.x]

    @autograph
    def chain(self) -> Model:
        return self


def checked_5() -> None:
    model = Model(1.0)
    assert_type(model.method(2), float)
    assert_type(Model.method(model, 2), float)
    assert_type(Model.make(1.0), Model)
    assert_type(Model.make_above(1.0), Model)
    assert_type(Model.static(1), str)
    assert_type(Model.static_above(1), str)
    assert_type(model.value, float)
    assert_type(model.cached, list[float])
    assert_type(model.chain().chain(), Model)
    model.value = 2.0
    model.value = "text"  # pyright: ignore[reportAttributeAccessIssue]
    model.method("text")  # pyright: ignore[reportArgumentType]
    Model.static(1.5)  # pyright: ignore[reportArgumentType]


# Classes


@autograph
class Decorated(Generic[T]):
    limit: int = 3

    def __init__(self, x: T) -> None:
        self.x = x

    def get(self) -> T:
        return self.x


def checked_6() -> None:
    decorated = Decorated("a")
    assert_type(decorated, Decorated[str])
    assert_type(decorated.get(), str)
    assert_type(Decorated.limit, int)
    Decorated()  # pyright: ignore[reportCallIssue]


class Derived(Decorated[int]):
    pass


def checked_7() -> None:
    assert_type(Derived(3).get(), int)


# What else there is


@ag.jit
def jitted(x: float, n: int = 1) -> float:
    return x * n


@ag.jit(static_argnames="n")
def jitted_with_options(x: float, n: int = 1) -> float:
    return x * n


def checked_8() -> None:
    assert_type(jitted(1.0, n=2), float)
    assert_type(jitted_with_options(1.0, n=2), float)
    jitted("text")  # pyright: ignore[reportArgumentType]


@do_not_convert
def left(x: float) -> str:
    return str(x)


@do_not_convert()
def also_left(x: float) -> str:
    return str(x)


def checked_9() -> None:
    assert_type(left(1.0), str)


with do_not_convert:
    pass
with do_not_convert():
    pass


def checked_10() -> None:
    assert_type(ag.source(bare), str)


def error(problem: ag.AutographError) -> tuple[str, str]:
    return problem.code, problem.what
