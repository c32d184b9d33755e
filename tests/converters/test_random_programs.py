"""Random programs do the same converted: what they return or raise, and what they call with which values, in which order."""

import contextlib
import itertools
import linecache
import types
from typing import Any

import hypothesis
import hypothesis.strategies as st

from autograph_jax.runtime.convert import convert_function
from tests.analysis.test_soundness import programs

FUEL = 60
_numbers = itertools.count()


class Error(Exception):
    pass


class OutOfFuel(BaseException):
    pass


def load(program: str) -> types.FunctionType:
    filename = f"<random program {next(_numbers)}>"
    linecache.cache[filename] = (len(program), None, program.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(compile(program, filename, "exec"), namespace)
    return namespace["f"]


def seen(function: types.FunctionType, choices: list[bool]) -> list[str]:
    """What can be seen of a run: every call with its arguments, and how it ended."""
    remaining, log = list(choices), []

    def choose(*values: object) -> bool:
        log.append(f"choose{values}")
        if len(log) > FUEL:
            raise OutOfFuel
        return remaining.pop() if remaining else False

    def new() -> int:
        log.append("new")
        return len(log)

    def fail(*values: object) -> object:
        if choose(*values):
            raise Error
        return new()

    def use(*values: object) -> object:
        log.append(f"use{values}")
        return len(log)

    @contextlib.contextmanager
    def manager():
        swallows = choose()
        try:
            yield new()
        except (Error, NameError):
            if not swallows:
                raise
        finally:
            log.append("leave")

    function.__globals__.update(
        flip=choose, new=new, fail=fail, use=use, manager=manager, Error=Error, Other=KeyError,
        number=lambda: choose() + choose(), items=lambda: [len(log)] * choose(),
    )  # fmt: skip
    try:
        log.append(f"return {function('x')!r}")
    except OutOfFuel:
        log.append("out of fuel")
    except NameError:
        log.append("raise NameError")  # Python itself changes the words with its versions, for variables of comprehensions
    except Exception as error:
        log.append(f"raise {error!r}")
    return log


@hypothesis.given(programs, st.lists(st.lists(st.booleans(), min_size=5, max_size=40), min_size=3, max_size=6))
def test_same_as_python(program: str, runs: list[list[bool]]):
    function = load(program)
    converted = convert_function(function)
    for choices in runs:
        assert seen(converted, choices) == seen(function, choices)
