"""The one spelling that every call becomes."""

import functools
import inspect
import traceback
import types
from typing import Any

import pytest

from autograph_jax.runtime.arguments import Argument
from autograph_jax.runtime.forwarding import LEFT_OUT, forwarder
from autograph_jax.runtime.signatures import called_signature, name_of, naming_signature
from tests.runtime.functions import Model, adds_an_argument, anything, keywords, nothing, passes_on, seed, solve, variadic

# ------------------------------------------------------------------ one spelling of every call


class Static:
    """Marks what is treated as static."""

    def __init__(self, *arguments: Argument) -> None:
        self.arguments = arguments

    def one(self, value: Any, name: str, /) -> Any:
        return f"{name}={value!r}"


def record(*args: Any) -> Any:
    return args


def forwarding(function: Any, *static: Argument) -> Any:
    picks = [argument for argument in static if argument.name not in called_signature(function).parameters]
    return forwarder(function, function, record, picks=picks, static=Static(*static))


def shadows(call, split, recover, one, finish, pending, result): ...
def hides(call, *rest_, **one): ...
def defaulted(x, y=None, n=2, *, m=None, k=()): ...
def everything(a, /, b=1, *rest, c, d=2, **more): ...


OUT = LEFT_OUT
N = Argument("n", 2, "n")
SECOND, Z = Argument("rest[1]", 2, None), Argument("z", None, "z")
ARG_N = Argument("n", 1, "n")  # of a wrapper that passes all on
SPELLINGS = {
    "seed": (seed, (), ["1, 2, c=3", "1, b=2, c=3", "1, c=3, b=2", "1, 2, **{'c': 3}"], (1, 2, 3)),
    "left out": (defaulted, (), ["1", "x=1", "1, None"], (1, None, OUT, None, OUT)),
    "left out before one": (defaulted, (), ["1, n=5", "n=5, x=1"], (1, None, 5, None, OUT)),
    "static": (defaulted, (N,), ["1", "1, n=2", "1, None, 2"], (1, None, "n=2", None, OUT)),
    "*rest": (variadic, (), ["1, 2, 3"], (1, (2, 3), OUT)),
    "no *rest": (variadic, (), ["1", "x=1"], (1, (), OUT)),
    "one in *rest": (variadic, (SECOND,), ["1, 2, 3, 4"], (1, (2, OUT, 4), OUT, "rest[1]=3")),
    "one behind *rest": (variadic, (SECOND,), ["1, 2"], (1, (2,), OUT, "rest[1]=<default>")),
    "**options": (keywords, (), ["1, z=3, y=2", "1, 2, z=3"], (1, 2, {"z": 3})),
    "a key like a positional-only name": (keywords, (), ["1, 2, x=3"], (1, 2, {"x": 3})),
    "one in **options": (keywords, (Z,), ["1, 2, z=3", "1, z=3, y=2"], (1, 2, {}, "z=3")),
    "one that **options has not": (keywords, (Z,), ["1, 2, w=3"], (1, 2, {"w": 3}, "z=<default>")),
    "everything": (everything, (), ["1, 2, 3, c=4, z=5"], (1, 2, (3,), 4, OUT, {"z": 5})),
    "some of everything": (
        everything,
        (Argument("rest[0]", 2, None), Z),
        ["1, 2, 3, 4, c=5, z=6, d=7", "1, 2, 3, 4, z=6, d=7, c=5"],
        (1, 2, (OUT, 4), 5, 7, {}, "rest[0]=3", "z=6"),
    ),
    "names of ours": (shadows, (), ["1, 2, 3, 4, 5, 6, 7", "1, 2, 3, 4, 5, result=7, pending=6"], (1, 2, 3, 4, 5, 6, 7)),
    "more names of ours": (hides, (Z,), ["1, 2, z=3, y=4"], (1, (2,), {"y": 4}, "z=3")),
    "partial": (functools.partial(solve, n=1), (), ["1", "x=1"], (1, OUT, OUT)),
    "method": (Model().step, (), ["1, 2", "1, n=2", "n=2, x=1"], (1, 2)),
    "method of *args": (Model().collect, (), ["1, 2"], ((1, 2),)),
    "callable object": (Model(), (), ["1, n=2", "n=2, x=1"], (1, 2)),
    "wrapper": (passes_on(solve), (), ["1, n=2"], ((1,), {"n": 2})),
    "one of a wrapper's, by position": (passes_on(solve), (ARG_N,), ["1, 2"], ((1, OUT), {}, "n=2")),
    "one of a wrapper's, by keyword": (passes_on(solve), (ARG_N,), ["1, n=2", "n=2, *[1]"], ((1,), {}, "n=2")),
    "lambda": (lambda x, y=1: x, (), ["1", "x=1"], (1, OUT)),
    "builtin": (min, (), ["1, 2"], ((1, 2), {})),
}


@pytest.mark.parametrize("function, static, spellings, expected", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_all_spellings_of_a_call_become_one(function, static, spellings, expected):
    forward = forwarding(function, *static)
    for spelling in spellings:
        assert eval(f"forward({spelling})") == expected, spelling


def test_a_default_is_filled_in_where_it_is_wanted():
    assert forwarder(defaulted, defaulted, record, filled=["n", "k"])(1) == (1, None, 2, None, ())


FUNCTIONS = [seed, solve, variadic, keywords, anything, nothing, shadows, defaulted, Model.step, Model().step, Model()]
WRONG = ["", "1", "1, 2, 3, 4, 5, 6", "q=1", "1, x=1", "1, 2, a=1", "1, 2, 3, c=3", "1, 2", "1, n=3, c=4", "c=1"]


@pytest.mark.parametrize("call", WRONG)
@pytest.mark.parametrize("function", FUNCTIONS, ids=name_of)
def test_a_wrong_call_raises_what_the_function_would(function, call):
    forward = forwarding(function)
    assert _type_error(f"called({call})", forward) == _type_error(f"called({call})", function)


def _type_error(call: str, called: Any) -> str | None:
    try:
        eval(call)
    except TypeError as error:
        return str(error)
    return None


def test_the_result_goes_through_what_a_cell_holds_then():
    finish = types.CellType(None)
    forward = forwarder(nothing, nothing, lambda: 1, finish=finish)
    assert forward() == 1
    finish.cell_contents = repr
    assert forward() == "1"


def test_a_call_goes_through_what_a_cell_holds_then():
    running = types.CellType(lambda: 1)
    forward = forwarder(nothing, nothing, running)
    assert forward() == 1
    running.cell_contents = lambda: 2
    assert forward() == 2


def test_a_forwarder_looks_like_the_function():
    """The docstring."""
    forward = forwarding(passes_on(solve))
    assert (forward.__name__, forward.__qualname__, forward.__module__) == ("solve", "solve", solve.__module__)
    assert forward.__globals__ is passes_on(solve).__globals__  # doctest looks for it
    assert inspect.signature(forward) == inspect.signature(solve)
    assert forwarding(test_a_forwarder_looks_like_the_function).__doc__ == "The docstring."
    assert forwarding(functools.partial(solve, 1)).__name__ == "solve"
    assert inspect.signature(forwarding(Model().step)) == inspect.signature(Model().step)
    assert inspect.signature(forwarding(Model())) == inspect.signature(Model())
    assert str(LEFT_OUT) == "<default>"


def test_a_forwarder_in_a_class_is_a_method():
    class Solver:
        step = forwarding(Model.step)

    solver = Solver()
    assert solver.step(1, n=3) == (solver, 1, 3)


def test_the_signature_of_a_wrapper_is_its_own_for_calls():
    assert str(called_signature(adds_an_argument(solve))) == "(extra, *args, **kwargs)"
    assert str(called_signature(functools.partial(passes_on(solve), 1))) == "(*args, **kwargs)"
    assert str(naming_signature(passes_on(solve))) == "(x, n=3, *, tol=1e-06)"


def test_a_traceback_shows_no_line_of_the_user_for_a_generated_function():
    f = forwarder(inspect.cleandoc, inspect.cleandoc, lambda *values: int("no number"))
    with pytest.raises(ValueError) as caught:
        f("")
    (shown,) = [frame for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename.endswith("<call>")]
    assert not shown.line
