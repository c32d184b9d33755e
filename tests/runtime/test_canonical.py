"""The canonical form: whatever the signature, the call and the arguments treated apart, the function gets what it would get."""

import functools
import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograph_jax as ag
from autograph_jax.runtime.arguments import Argument
from autograph_jax.runtime.canonical import Callee
from tests.runtime.functions import Model, passes_on, seed, solve, variadic

NAMES = ["a", "b", "c", "call", "rest", "result", "self"]  # some of them are names in a forwarding function


@st.composite
def programs(draw: Any) -> tuple[str, str, list[int | str]]:
    """A function that returns what it gets, a call of it, and numbers and names of arguments to treat apart."""
    names = draw(st.permutations(NAMES))
    counts = [draw(st.integers(0, 2)) for _ in range(3)]
    groups, start = [], 0
    for count in counts:
        groups.append(names[start : start + count])
        start += count
    first_default = draw(st.integers(0, 4))
    has_rest, has_more = draw(st.booleans()), draw(st.booleans())
    text, number = [], 0
    for group in groups[:2]:
        for name in group:
            text.append(f"{name}='d{number}'" if number >= first_default else name)
            number += 1
        if group is groups[0] and group:
            text.append("/")
    positional = number
    text += ["*args"] if has_rest else ["*"] if groups[2] else []
    text += [f"{name}='{name}'" if draw(st.booleans()) else name for name in groups[2]]
    text += ["**more"] if has_more else []
    shown = ", ".join(f"'{name}': {name}" for name in [*names[:start], *["args"] * has_rest, *["more"] * has_more])
    function = f"def f({', '.join(text)}): return {{{shown}}}"
    given = [str(draw(st.integers(0, 99))) for _ in range(draw(st.integers(0, positional + 2)))]
    keys = draw(st.lists(st.sampled_from([*NAMES, "x", "y"]), unique=True))
    call = ", ".join([*given, *(f"{key}={draw(st.integers(100, 199))}" for key in keys)])
    apart = draw(st.lists(st.one_of(st.integers(0, 5), st.sampled_from([*NAMES, "x", "y"])), unique=True, max_size=4))
    return function, f"called({call})", apart


def treated(callee: Callee, apart: list[int | str]) -> list[Argument]:
    """Those of the arguments that the function has."""
    found: dict[Argument, None] = {}
    for entry in apart:
        try:
            found |= dict.fromkeys(callee.arguments("", entry, None, whole=True))
        except ag.ArgumentError:
            continue
    return list(found)


@given(programs())
def test_a_function_gets_what_it_would_get(program):
    definition, call, apart = program
    space: dict[str, Any] = {}
    exec(definition, space)
    function = space["f"]
    callee = Callee(function)
    canonical = callee.canonical(treated(callee, apart))
    forward = canonical.forwarder(canonical.body)
    assert outcome(call, forward) == outcome(call, function), (definition, call, apart)
    values = outcome(call, canonical.values)
    if not isinstance(values, str):
        assert len(values) == len(canonical)


def outcome(call: str, called: Any) -> Any:
    """The result, or the text of Python's TypeError."""
    try:
        return eval(call)
    except TypeError as error:
        return str(error)


def test_positions():
    callee = Callee(lambda a, /, b, *rest, c, **more: None)
    apart = callee.arguments("", (3, 2, "c", "k"), None)
    canonical = callee.canonical(apart)
    assert len(canonical) == 8
    assert canonical.positions(apart) == (5, 6, 3, 7)
    assert [canonical.name(position) for position in range(8)] == ["a", "b", "rest", "c", "more", "rest[1]", "rest[0]", "k"]
    assert list(inspect.signature(canonical.body).parameters) == ["a", "b", "rest", "c", "more", "rest_1", "rest_0", "k"]


def test_what_is_left_out_stays_so():
    """A default may be seen to be left out: here as an object that nobody can pass by chance."""
    no = object()
    canonical = Callee(lambda a=no, /, b=no, c=no, *, d=no: [value is no for value in (a, b, c, d)]).canonical()
    assert canonical.body(*canonical.values(c=5)) == [True, True, False, True]
    assert canonical.body(*canonical.values(7, d=6)) == [False, True, True, False]


def test_one_body_for_one_function():
    first, second = Callee(solve), Callee(solve)
    assert first.canonical().body is second.canonical().body
    assert first.canonical(first.arguments("", "n", None)).body is second.canonical().body
    assert Callee(passes_on(solve)).canonical().body is not first.canonical().body  # functools.wraps copies attributes
    assert Callee(variadic).canonical(Callee(variadic).arguments("", 2, None)).body is not Callee(variadic).canonical().body


@pytest.mark.parametrize("function", [seed, Model().step, Model(), functools.partial(solve, n=1), print, int, passes_on(solve)])
def test_every_callable_has_one(function):
    assert len(Callee(function).canonical()) >= 0


def test_a_decorator_gives_functions_that_converted_code_calls_as_they_are():
    from autograph_jax.runtime.unconverted import is_marked

    for transform in (ag.jit, ag.grad, ag.vmap, ag.checkpoint, ag.make_jaxpr, ag.hessian):
        assert is_marked(transform(solve)) and is_marked(transform()(solve))
