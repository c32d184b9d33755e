"""Ctrl-C while a program is traced is not one of the user's errors, and the next program is traced as if nothing had been."""

from __future__ import annotations

import inspect
import random
import sys
import types
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.operators.tracing import state

Function = Callable[..., Any]


def settle(a):
    x = a
    try:
        while x > 1.0:
            if x < -5.0:
                raise ValueError("too small")
            x = x * 0.5
    except ValueError:
        x = -1.0
    return x


def porting(a):
    values = np.zeros(3)
    try:
        for i in range(3):
            if a > 7.0:
                raise ArithmeticError
            values[i] = a if a > i else i
    except ArithmeticError:
        values[0] = 5.0
    return values


class Interrupting:
    """Raises KeyboardInterrupt at the n-th of the places in the package where Python looks for signals.

    These are the begin of a function and the return from one in C. Not the begin of an `__exit__`, which nothing written in
    Python can guard, nor a generator's: where it goes on because it is closed, Python ignores an error.
    """

    def __init__(self, number: int) -> None:
        self.number, self.met = number, 0

    def __call__(self, frame: types.FrameType, event: str, argument: Any) -> None:
        is_unguarded = frame.f_code.co_name == "__exit__" or frame.f_code.co_flags & inspect.CO_GENERATOR
        is_place = event == "c_return" or event == "call" and not is_unguarded
        if is_place and "autograph_jax" in frame.f_code.co_filename:
            self.met += 1
            if self.met == self.number:
                sys.setprofile(None)
                raise KeyboardInterrupt


def traced(function: Function, argument: float, profile: Interrupting) -> Any:
    """What a program gives that is traced anew."""
    program = jax.jit(lambda a: function(a))
    sys.setprofile(profile)
    try:
        return program(argument)
    finally:
        sys.setprofile(None)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # what Python has ignored
@pytest.mark.parametrize(("function", "convert"), [(settle, ag.autograph), (porting, ag.port)], ids=["autograph", "port"])
def test_ctrl_c(function: Function, convert: Function):
    converted = convert(function)
    counted = Interrupting(0)
    with jax.enable_x64(True):
        traced(converted, 6.0, counted)  # which also converts
        counted = Interrupting(0)
        traced(converted, 6.0, counted)
        limit = sys.getrecursionlimit()
        places = random.Random(1).sample(range(1, counted.met), 30)
        interrupted = 0
        for number in places:
            try:
                result = traced(converted, 6.0, Interrupting(number))
            except KeyboardInterrupt:
                interrupted += 1
            else:  # Python has ignored it, in what an object does when it goes
                np.testing.assert_array_equal(result, function(6.0))
            assert sys.getrecursionlimit() == limit
            assert not state.traces() and not state.attempts()
        assert interrupted > 27
        for argument in (0.5, 6.0):
            np.testing.assert_array_equal(traced(converted, argument, Interrupting(0)), function(argument))
