"""What a caller sees of a call, and how two calls differ."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from autograph_jax.operators.values.choices import Choice
from tests.fuzz.prelude import LOG, Box, Stop

Row = dict[str, Any]  # the arguments of `run`
Function = Callable[..., Any]


@dataclasses.dataclass
class Outcome:
    """All that a caller can see of one call."""

    value: Any = None
    error: BaseException | None = None
    arguments: Any = None


@dataclasses.dataclass(frozen=True)
class Mismatch:
    """A way in which a converted program differs from plain Python."""

    mode: str
    kind: str  # "value", "arguments", "slope", or the class of the exception
    detail: str
    row: dict[str, Any]
    instead_of: str = ""  # the class of the exception that Python raises


def observe(function: Function, arguments: Sequence[Any]) -> Outcome:
    """Call, and look at what the caller sees: the value or the exception, the arguments afterwards, the log."""
    with np.errstate(all="ignore"):
        try:
            value = function(*arguments)
            jax.block_until_ready(value)
            jax.effects_barrier()
            return Outcome(value, None, [contents(argument) for argument in arguments] + [LOG.h])
        except Exception as error:
            return Outcome(None, error, [contents(argument) for argument in arguments] + [LOG.h])
        finally:
            LOG.h = 0


def contents(value: Any) -> Any:
    """A copy of what is in a value."""
    return copy.deepcopy(vars(value)) if isinstance(value, Box) else copy.deepcopy(value)


def difference(got: Any, want: Any, *, exact: bool) -> str | None:
    """How two values differ: `exact` also in type, else in structure, shape, kind of number and value."""
    got = got.value if isinstance(got, Choice) else got  # which `ag.jit` gives decided, and a bare jax.vmap does not
    if isinstance(want, tuple | list | dict):
        if type(got) is not type(want) or len(got) != len(want):
            return f"got {shown(got)}, want {shown(want)}"
        keys = want if isinstance(want, dict) else range(len(want))
        found = (difference(got[key], want[key], exact=exact) for key in keys)
        return next((text for text in found if text), None)
    if want is None or isinstance(want, str):
        return None if got is want or got == want else f"got {shown(got)}, want {shown(want)}"
    if exact and type(got) is not type(want):
        return f"got {shown(got)} of {type(got).__name__}, want {shown(want)} of {type(want).__name__}"
    first, second = np.asarray(got), np.asarray(want)
    same = np.array_equal(first, second, equal_nan=first.dtype.kind == "f" == second.dtype.kind)
    close = same or not exact and smooth_equal(first, second)
    if first.dtype.kind != second.dtype.kind or first.shape != second.shape or not close:
        return f"got {shown(got)}, want {shown(want)}"
    return None


def smooth_equal(first: np.ndarray, second: np.ndarray) -> bool:
    """Floats that are multiples of 1/4 are equal or differ by far more; sines may differ in their last digits."""
    return first.dtype.kind == "f" and first.shape == second.shape and np.allclose(first, second, 1e-9, 1e-9, equal_nan=True)


def shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    return f"{np.asarray(value).tolist()}" if hasattr(value, "dtype") else repr(value)


def compare(
    mode: str, got: Outcome, want: Outcome, row: Row, *, exact: bool = False, contents: bool = False
) -> Mismatch | None:
    where = "at " + ", ".join(f"{name}={shown(value)}" for name, value in row.items())
    if got.error is not None or want.error is not None:
        kind, text = error_difference(got.error, want.error, exact=exact)
    elif text := difference(got.value, want.value, exact=exact):
        kind = "value"
    else:
        kind, text = "arguments", difference(got.arguments, want.arguments, exact=exact) if contents else None
    expected = type(want.error).__name__ if want.error is not None else ""
    return Mismatch(mode, kind, f"{text} {where}", row, expected) if text else None


def error_difference(got: BaseException | None, want: BaseException | None, *, exact: bool) -> tuple[str, str | None]:
    if got is None or want is None or not isinstance(got, type(want)):
        first = "" if got is None else str(got).split("\n")[0][:300]
        return type(got).__name__ if got is not None else "none raised", f"{type(got).__name__}: {first}; want {want!r}"
    # An exception that every run raises is raised while tracing, and holds what it was given then.
    known = isinstance(want, Stop) and not any(isinstance(argument, jax.core.Tracer) for argument in got.args)
    return "value", difference(got.args, want.args, exact=exact) if known else None
