"""Products of small matrices, a pair for each of many lanes, are written out as sums of products of their elements.

XLA multiplies such pairs on the CPU one by one, in calls of some 100 ns each: 1,000 pairs of 4x4 doubles take 0.12 ms by it and
0.01 written out, pairs of 8x8 0.06 and 0.03; vectors and 2x2 it computes as fast itself. The terms of each sum are added in
their order.

A product outside of loops is lax's own, which every transform and every tool knows. It says in its `precision`, a pair that
transforms hand on, that it is converted code's (`lowering.py`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from autograph_jax.loops.optimizations import ChoosingPair, Chosen

_LARGEST = 8
_FEWEST_LANES = 8
_DEFAULT = (lax.Precision.DEFAULT, lax.Precision.DEFAULT)
_FEWEST_TERMS = 27  # of one pair: 3x3 by 3x3


def are_small(avals: Sequence[Any], *, dimension_numbers: Any, precision: Any, preferred_element_type: Any, **_: Any) -> bool:
    """Are these operands of `lax.dot_general` small matrices of many lanes?"""
    left, right = avals
    (contracted, _), (batched, _) = dimension_numbers
    depth, lanes = (math.prod(left.shape[d] for d in axes) for axes in (contracted, batched))
    if lanes < _FEWEST_LANES or not 2 <= depth <= _LARGEST or not left.size or not right.size:
        return False
    rows, columns = (aval.size // (depth * lanes) for aval in avals)
    is_one_kind = left.dtype == right.dtype and preferred_element_type in (None, left.dtype)
    is_between = 2 <= rows <= _LARGEST and 2 <= columns <= _LARGEST and rows * columns * depth >= _FEWEST_TERMS
    return is_between and is_one_kind and _is_pair(precision) and left.dtype in (np.float32, np.float64)


def is_small(equation: Any) -> bool:
    """Is this such a product?"""
    return equation.primitive.name == "dot_general" and are_small([v.aval for v in equation.invars], **equation.params)


def marked(equation: Any, chosen: Chosen) -> dict[str, Any] | None:
    """The parameters of a product that says what it is compiled with; None of anything else."""
    params = equation.params
    if equation.primitive.name != "dot_general" or not _is_pair(params["precision"]):
        return None
    return params | {"precision": ChoosingPair(params["precision"] or _DEFAULT, chosen)}


def _is_pair(precision: Any) -> bool:
    """All these are the same on the CPU, of floats of 32 or 64 bits."""
    return precision is None or isinstance(precision, tuple) and all(isinstance(one, lax.Precision) for one in precision)


def written_out(left: jax.Array, right: jax.Array, *, dimension_numbers: Any, **_: Any) -> jax.Array:
    """What `lax.dot_general` gives."""
    (contracted_left, contracted_right), (lanes_left, lanes_right) = dimension_numbers
    rows = [d for d in range(left.ndim) if d not in (*contracted_left, *lanes_left)]
    columns = [d for d in range(right.ndim) if d not in (*contracted_right, *lanes_right)]
    left = lax.transpose(left, (*contracted_left, *lanes_left, *rows))
    right = lax.transpose(right, (*contracted_right, *lanes_right, *columns))
    depth, lanes = len(contracted_left), len(lanes_left)
    shape = (*left.shape[depth:], *right.shape[depth + lanes :])
    places_of_left = range(lanes + len(rows))
    places_of_right = (*range(lanes), *range(lanes + len(rows), len(shape)))
    total = None
    for place in itertools.product(*map(range, left.shape[:depth])):
        one = lax.broadcast_in_dim(_at(left, place), shape, places_of_left)
        term = lax.mul(one, lax.broadcast_in_dim(_at(right, place), shape, places_of_right))
        total = term if total is None else lax.add(total, term)
    assert total is not None  # there are two terms or more
    return total


def _at(array: jax.Array, place: tuple[int, ...]) -> jax.Array:
    for number in place:
        array = lax.index_in_dim(array, number, keepdims=False)
    return array
