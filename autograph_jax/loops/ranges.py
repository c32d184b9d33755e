"""What integers of a program may be: from the number of turns of its loops, by interval arithmetic.

An index that is known to be in bounds is not looked at again: neither whether it is negative, nor whether a write is outside.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from autograph_jax.loops.caches import cached
from autograph_jax.loops.evaluation import IDENTITIES, called, is_call

Range = tuple[int, int]  # the least and the largest value, both included; of an array, of all its elements
Ranges = tuple[Range | None, ...]
_TRUE, _FALSE = (1, 1), (0, 0)
_SAME = IDENTITIES.union(
    "broadcast_in_dim convert_element_type copy expand_dims reduce_max reduce_min reshape slice squeeze transpose".split()
)


def of_literal(value: Any) -> Range | None:
    """Of a number that stands in the program."""
    if isinstance(value, bool | int | np.bool_ | np.integer):
        return int(value), int(value)
    if isinstance(value, np.ndarray) and is_whole(value) and value.size:
        return int(value.min()), int(value.max())
    return None


def of_result(equation: Any, given: Sequence[Range | None]) -> Range | None:
    """Of what an equation gives, of the ranges of its operands; None where nothing is known, or it may overflow."""
    aval = equation.outvars[0].aval if equation.outvars else None
    if aval is None or not is_whole(aval):
        return None
    name = equation.primitive.name
    if name == "within":
        return narrowed(tuple(given), ((equation.params["least"], equation.params["most"]),))[0]
    if name == "select_n":
        return _selected(given)
    if aval.dtype == bool and name in _LOGIC:
        return _LOGIC[name](*(one or (0, 1) for one in given))
    if name in ("argmax", "argmin"):
        return _of_places(equation)
    if name == "rem" and given[1] is not None:
        return _of_remainder(given[0], given[1])
    found = _computed(equation, given)
    if found is None and aval.dtype == bool:
        return 0, 1
    return found if found is not None and fits(found, aval.dtype) else None


def _computed(equation: Any, given: Sequence[Range | None]) -> Range | None:
    """What is computed, were there no end to integers."""
    name = equation.primitive.name
    if None in given:
        return None
    if equation.outvars[0].aval.dtype == bool and name in _LOGIC:
        return _LOGIC[name](*given)
    if name in ("concatenate", "stack") and given:
        return union(given)
    if name == "reduce_sum" and given[0] is not None:
        return _of_sum(equation, given[0])
    if name == "integer_pow":
        return _power(given[0], equation.params["y"]) if given[0] is not None else None
    return _RULES[name](*given) if name in _RULES else given[0] if name in _SAME else None


def overflows(equation: Any, given: Sequence[Range | None]) -> bool:
    """May an equation, of integers in these ranges, give one that its type has no room for?"""
    if len(equation.outvars) != 1 or not is_whole(equation.outvars[0].aval):
        return False
    found = _computed(equation, given)
    return found is not None and not fits(found, equation.outvars[0].aval.dtype)


def through(equation: Any, known: Ranges) -> Ranges:
    """Of what a call gives, or of the branches of a conditional together."""
    params = equation.params
    if equation.primitive.name != "cond":
        return of_jaxpr(called(equation), known)
    found = [of_jaxpr(branch, known[1:]) for branch in params["branches"]]
    return tuple(union(ends) for ends in zip(*found, strict=True))


def of_jaxpr(closed: Any, known: Sequence[Range | None]) -> Ranges:
    return _of_jaxpr(closed, tuple(known))


@cached(4096)
def _of_jaxpr(closed: Any, known: Ranges) -> Ranges:
    inputs = zip([*closed.jaxpr.constvars, *closed.jaxpr.invars], [*map(of_literal, closed.consts), *known], strict=True)
    found: dict[Any, Range | None] = dict(inputs)

    def read(atom: Any) -> Range | None:
        return of_literal(atom.val) if hasattr(atom, "val") else found.get(atom)

    for equation in closed.jaxpr.eqns:
        given = tuple(map(read, equation.invars))
        if is_call(equation) or equation.primitive.name == "cond":
            found.update(zip(equation.outvars, through(equation, given), strict=True))
        elif len(equation.outvars) == 1:
            found[equation.outvars[0]] = of_result(equation, given)
    return tuple(map(read, closed.jaxpr.outvars))


def narrowed(first: Ranges, second: Ranges) -> Ranges:
    """What two say together."""
    second = second or (None,) * len(first)
    return tuple(
        one or other if one is None or other is None else (max(one[0], other[0]), min(one[1], other[1]))
        for one, other in zip(first, second, strict=True)
    )


def is_whole(value: Any) -> bool:
    return _is_whole_type(value.dtype)


@functools.cache
def _is_whole_type(dtype: Any) -> bool:
    return jnp.issubdtype(dtype, jnp.integer) or jnp.issubdtype(dtype, jnp.bool_)


def fits(found: Range, dtype: Any) -> bool:
    least, largest = limits(dtype)
    return least <= found[0] and found[1] <= largest


@functools.cache
def limits(dtype: Any) -> Range:
    """The least and the largest value of an integer type, or of bool."""
    if jnp.issubdtype(dtype, bool):
        return 0, 1
    return int(jnp.iinfo(dtype).min), int(jnp.iinfo(dtype).max)


def union(given: Sequence[Range | None]) -> Range | None:
    known = [one for one in given if one is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if len(known) == len(given) else None


def _selected(given: Sequence[Range | None]) -> Range | None:
    return union(cases(given, given[0]))


def cases(given: Sequence[Any], which: Range | None) -> Sequence[Any]:
    """Of what `select_n` is given, that which it may select: all but the first, where nothing is known of that."""
    if which is not None and 0 <= which[0] and which[1] + 1 < len(given):
        return given[1 + which[0] : 2 + which[1]]
    return given[1:]


def _of_places(equation: Any) -> Range | None:
    shape = equation.invars[0].aval.shape
    return 0, max(shape[axis] for axis in equation.params["axes"]) - 1


def _of_sum(equation: Any, each: Range) -> Range:
    shape = equation.invars[0].aval.shape
    return _products(each, (count := math.prod(shape[axis] for axis in equation.params["axes"]), count))


def _of_remainder(value: Range | None, by: Range) -> Range | None:
    if by[0] <= 0:
        return None
    if value is not None and value[0] >= 0:
        return 0, min(value[1], by[1] - 1)
    return 1 - by[1], by[1] - 1


def _products(a: Range, b: Range) -> Range:
    found = [x * y for x in a for y in b]
    return min(found), max(found)


def _power(a: Range, exponent: int) -> Range | None:
    if exponent < 0:
        return None
    found = [edge**exponent for edge in a] + ([0] if a[0] < 0 < a[1] else [])
    return min(found), max(found)


def _shifted_left(a: Range, by: Range) -> Range | None:
    return _products(a, (1 << by[0], 1 << by[1])) if 0 <= by[0] and by[1] < _MOST_BITS else None


def _shifted_right(a: Range, by: Range) -> Range | None:
    """Of a logical one, whose operand may not be negative."""
    return _shifted_with_sign(a, by) if a[0] >= 0 else None


def _shifted_with_sign(a: Range, by: Range) -> Range | None:
    if by[0] < 0:
        return None
    found = [edge >> min(bits, _MOST_BITS) for edge in a for bits in by]
    return min(found), max(found)


def _quotients(a: Range, b: Range) -> Range | None:
    """Towards zero, as the processor divides."""
    if b[0] <= 0 <= b[1]:
        return None
    found = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x in a for y in b]
    return min(found), max(found)


def _absolute(a: Range) -> Range:
    return (min(map(abs, a)), max(map(abs, a))) if a[0] >= 0 or a[1] <= 0 else (0, max(map(abs, a)))


def _sign(a: Range) -> Range:
    least, largest = ((edge > 0) - (edge < 0) for edge in a)
    return least, largest


def _with_bits_of_both(a: Range, b: Range) -> Range | None:
    """Of `or` and `xor`."""
    return (0, (1 << max(a[1], b[1]).bit_length()) - 1) if a[0] >= 0 and b[0] >= 0 else None


def _with_bits_of_each(a: Range, b: Range) -> Range | None:
    """Of `and`: not greater than any of the two that is not negative."""
    bounds = [edges[1] for edges in (a, b) if edges[0] >= 0]
    return (0, min(bounds)) if bounds else None


_MOST_BITS = 4096


def _compared(surely: Callable[[Range, Range], bool], never: Callable[[Range, Range], bool]) -> Callable[[Range, Range], Range]:
    return lambda a, b: _TRUE if surely(a, b) else _FALSE if never(a, b) else (0, 1)


_RULES: dict[str, Callable[..., Range | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _products,
    "neg": lambda a: (-a[1], -a[0]),
    "div": _quotients,
    "abs": _absolute,
    "sign": _sign,
    "and": _with_bits_of_each,
    "or": _with_bits_of_both,
    "xor": _with_bits_of_both,
    "not": lambda a: (~a[1], ~a[0]),
    "shift_left": _shifted_left,
    "shift_right_logical": _shifted_right,
    "shift_right_arithmetic": _shifted_with_sign,
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "clamp": lambda low, x, high: (min(max(x[0], low[0]), high[0]), min(max(x[1], low[1]), high[1])),
    "lt": _compared(lambda a, b: a[1] < b[0], lambda a, b: a[0] >= b[1]),
    "le": _compared(lambda a, b: a[1] <= b[0], lambda a, b: a[0] > b[1]),
    "gt": _compared(lambda a, b: a[0] > b[1], lambda a, b: a[1] <= b[0]),
    "ge": _compared(lambda a, b: a[0] >= b[1], lambda a, b: a[1] < b[0]),
    "eq": _compared(lambda a, b: a == b and a[0] == a[1], lambda a, b: a[1] < b[0] or b[1] < a[0]),
    "ne": _compared(lambda a, b: a[1] < b[0] or b[1] < a[0], lambda a, b: a == b and a[0] == a[1]),
}
_LOGIC: dict[str, Callable[..., Range]] = {
    "and": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "or": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "not": lambda a: (1 - a[1], 1 - a[0]),
}
