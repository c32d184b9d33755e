"""Factorisations of matrices of up to 3x3, and what is solved with them, written out: each call of LAPACK costs a microsecond.

The same algorithms with the same pivots (Golub and Van Loan 2013, Matrix Computations, algorithms 3.4.1 and 4.2.1); LAPACK
may add and divide in another order: an entry differs by some units of rounding, times the matrix's condition number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_LARGEST = 3
_MOST_COLUMNS = 4
_MOST_ELEMENTS = 1 << 16
Entries = list[list[jax.Array]]


def is_small(equation: Any) -> bool:
    """Is this one of these operations, on real matrices so small?"""
    name = equation.primitive.name
    if name not in WRITTEN_OUT:
        return False
    avals = [v.aval for v in (*equation.invars, *equation.outvars)]
    if any(aval.size > _MOST_ELEMENTS or aval.size == 0 for aval in avals):
        return False
    first = avals[0]
    if name == "lu_pivots_to_permutation":
        return first.shape[-1] <= _LARGEST and equation.params["permutation_size"] == first.shape[-1]
    is_square = first.ndim >= 2 and first.shape[-1] == first.shape[-2] <= _LARGEST
    is_narrow = name != "triangular_solve" or max(avals[1].shape[-2:]) <= _MOST_COLUMNS
    return is_square and is_narrow and first.dtype in (np.float32, np.float64)


def _lu(a: jax.Array, **_: Any) -> list[jax.Array]:
    """Its factors in one matrix, the rows that were exchanged, and the permutation that this is."""
    rows, n = _entries(a), a.shape[-1]
    shape = a.shape[:-2]
    order = [lax.full(shape, i, jnp.int32) for i in range(n)]
    pivots = []
    for k in range(n):
        pivot, largest = lax.full(shape, k, jnp.int32), lax.abs(rows[k][k])
        for i in range(k + 1, n):
            is_larger = lax.gt(lax.abs(rows[i][k]), largest)
            pivot = lax.select(is_larger, lax.full(shape, i, jnp.int32), pivot)
            largest = lax.select(is_larger, lax.abs(rows[i][k]), largest)
        pivots.append(pivot)
        for i in range(k + 1, n):
            is_it = lax.eq(pivot, lax.full(shape, i, jnp.int32))
            rows[k], rows[i] = _exchanged(is_it, rows[k], rows[i])
            (order[k],), (order[i],) = _exchanged(is_it, [order[k]], [order[i]])
        is_zero = lax.eq(rows[k][k], lax.full(shape, 0, a.dtype))  # LAPACK leaves such a column as it is
        for i in range(k + 1, n):
            factor = lax.select(is_zero, rows[i][k], lax.div(rows[i][k], rows[k][k]))
            rows[i] = [*rows[i][:k], factor, *(lax.sub(rows[i][j], lax.mul(factor, rows[k][j])) for j in range(k + 1, n))]
    return [_matrix(rows), _vector(pivots), _vector(order)]


def _exchanged(
    is_it: jax.Array, one: Sequence[jax.Array], other: Sequence[jax.Array]
) -> tuple[list[jax.Array], list[jax.Array]]:
    pairs = list(zip(one, other, strict=True))
    return [lax.select(is_it, b, a) for a, b in pairs], [lax.select(is_it, a, b) for a, b in pairs]


def _permutation(pivots: jax.Array, **_: Any) -> list[jax.Array]:
    n, shape = pivots.shape[-1], pivots.shape[:-1]
    order = [lax.full(shape, i, pivots.dtype) for i in range(n)]
    for k in range(n):
        pivot = lax.index_in_dim(pivots, k, -1, keepdims=False)
        for i in range(k + 1, n):
            is_it = lax.eq(pivot, lax.full(shape, i, pivots.dtype))
            (order[k],), (order[i],) = _exchanged(is_it, [order[k]], [order[i]])
    return [_vector(order)]


def _solve(
    a: jax.Array, b: jax.Array, *, left_side: bool, lower: bool, transpose_a: bool, unit_diagonal: bool, **_: Any
) -> list[jax.Array]:
    """`x` of `a x = b`, or of `x a = b`: row by row of x, or column by column."""
    entries, n = _entries(a), a.shape[-1]
    if transpose_a:
        entries, lower = [list(column) for column in zip(*entries, strict=True)], not lower
    if not left_side:
        entries, lower = [list(column) for column in zip(*entries, strict=True)], not lower
    axis = b.ndim - (2 if left_side else 1)
    parts = [lax.index_in_dim(b, i, axis, keepdims=False) for i in range(n)]
    spread = [[lax.broadcast_in_dim(e, parts[0].shape, tuple(range(e.ndim))) for e in row] for row in entries]
    for i in range(n) if lower else reversed(range(n)):
        for j in range(i) if lower else range(i + 1, n):
            parts[i] = lax.sub(parts[i], lax.mul(spread[i][j], parts[j]))
        if not unit_diagonal:
            parts[i] = lax.div(parts[i], spread[i][i])
    return [jnp.stack(parts, axis)]


def _cholesky(a: jax.Array, **_: Any) -> list[jax.Array]:
    """The lower factor; NaN all over where the matrix is not positive definite."""
    rows, n = _entries(a), a.shape[-1]
    zero = lax.full(a.shape[:-2], 0, a.dtype)
    factor = [[zero] * n for _ in range(n)]
    is_positive = lax.full(a.shape[:-2], True)
    for k in range(n):
        left = rows[k][k]
        for j in range(k):
            left = lax.sub(left, lax.mul(factor[k][j], factor[k][j]))
        is_positive = lax.bitwise_and(is_positive, lax.gt(left, zero))
        factor[k][k] = lax.sqrt(left)
        for i in range(k + 1, n):
            left = rows[i][k]
            for j in range(k):
                left = lax.sub(left, lax.mul(factor[i][j], factor[k][j]))
            factor[i][k] = lax.div(left, factor[k][k])
    nan = lax.full(a.shape[:-2], np.nan, a.dtype)
    return [
        _matrix([[lax.select(is_positive, e, nan) if j <= i else e for j, e in enumerate(row)] for i, row in enumerate(factor)])
    ]


def _entries(a: jax.Array) -> Entries:
    rows = [lax.index_in_dim(a, i, a.ndim - 2, keepdims=False) for i in range(a.shape[-2])]
    return [[lax.index_in_dim(row, j, row.ndim - 1, keepdims=False) for j in range(a.shape[-1])] for row in rows]


def _vector(parts: Sequence[jax.Array]) -> jax.Array:
    return jnp.stack(parts, -1)


def _matrix(rows: Entries) -> jax.Array:
    return jnp.stack([_vector(row) for row in rows], -2)


WRITTEN_OUT: dict[str, Callable[..., list[jax.Array]]] = {
    "lu": _lu,
    "lu_pivots_to_permutation": _permutation,
    "triangular_solve": _solve,
    "cholesky": _cholesky,
}
