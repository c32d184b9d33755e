"""Pseudoinverses and singular values of matrices with up to three rows or columns, written out: one call of LAPACK for such a
matrix takes some microseconds, and `vmap` makes one for each lane.

One-sided Jacobi rotations make the columns orthogonal; their lengths are the singular values. Neither result depends on the
signs of singular vectors, which each algorithm chooses as it likes: where vectors are asked for, LAPACK's are given.
Source: G. H. Golub and C. F. Van Loan, Matrix Computations (4th edition, 2013), section 8.6.3.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

_FEWEST, _MOST = 3, 6  # of the smaller dimension, and of the larger one
_SWEEPS = {1: 0, 2: 2, 3: 6}  # by the number of columns: one sweep makes two orthogonal but for what it rounds
Column = Sequence[jax.Array]  # its entries, each for all matrices of a stack


def pinv(a: Any, rtol: Any) -> jax.Array:
    """The Moore-Penrose inverse of a[..., m, n]; singular values up to `rtol` times the largest one count as 0."""
    a = jnp.asarray(a)
    return _pinv(a, jnp.asarray(rtol, a.dtype)) if _is_small(a) else jnp.linalg.pinv(a, rtol=rtol)


def singular_values(a: Any) -> jax.Array:
    """Of a[..., m, n], the largest first."""
    a = jnp.asarray(a)
    return _singular_values(a) if _is_small(a) else jnp.linalg.svd(a, compute_uv=False)


def _is_small(a: jax.Array) -> bool:
    if a.ndim < 2 or a.dtype not in (jnp.float32, jnp.float64):
        return False
    fewer, more = sorted(a.shape[-2:])
    return 0 < fewer <= _FEWEST and more <= _MOST


@jax.custom_jvp
def _pinv(a: jax.Array, rtol: jax.Array) -> jax.Array:
    """V diag(1 / s) U^T, of columns u_i s_i."""
    columns, turned, scale = _orthogonal(a)
    lengths = [_length(column) for column in columns]
    cutoff = rtol * functools.reduce(jnp.maximum, lengths)
    inverse = []
    for column, length in zip(columns, lengths, strict=True):
        is_kept = ~(length <= cutoff)  # so that NaN stays
        by = jnp.where(is_kept, length, 1)
        inverse.append([jnp.where(is_kept, x / by / by * scale, 0) for x in column])
    rows, others = zip(*turned, strict=True), list(zip(*inverse, strict=True))
    matrix = jnp.stack([jnp.stack([_dot(row, other) for other in others], -1) for row in rows], -2)
    return jnp.swapaxes(matrix, -1, -2) if a.shape[-2] < a.shape[-1] else matrix


@_pinv.defjvp
def _pinv_jvp(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    """As JAX's: that of a matrix in which the singular values that are left out are 0. Source: G. H. Golub and V. Pereyra, SIAM
    Journal on Numerical Analysis 10 (1973), equation 4.12."""
    a, _ = primals
    change, _ = tangents
    inverse = _pinv(*primals)
    across, changed = jnp.swapaxes(inverse, -1, -2), jnp.swapaxes(change, -1, -2)
    of_rows = inverse @ across @ (changed - changed @ a @ inverse)
    of_columns = (changed - inverse @ a @ changed) @ across @ inverse
    return inverse, of_rows + of_columns - inverse @ change @ inverse


@jax.custom_jvp
def _singular_values(a: jax.Array) -> jax.Array:
    columns, _, scale = _orthogonal(a)
    return jnp.flip(jnp.sort(jnp.stack([_length(column) / scale for column in columns], -1)), -1)


@_singular_values.defjvp
def _singular_values_jvp(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    return jax.jvp(lambda a: jnp.linalg.svd(a, compute_uv=False), primals, tangents)


def _orthogonal(a: jax.Array) -> tuple[list[Column], list[Column], jax.Array]:
    """Columns of the matrix, or of its transpose if that has fewer, turned until they are orthogonal; the columns of the
    identity turned likewise; and by what the matrix was multiplied, so that squares neither overflow nor underflow."""
    entries = a if a.shape[-2] >= a.shape[-1] else jnp.swapaxes(a, -1, -2)
    scale, count = _scale(a), entries.shape[-1]
    columns = [[entries[..., i, j] * scale for i in range(entries.shape[-2])] for j in range(count)]
    turned = [[jnp.full_like(scale, i == j) for i in range(count)] for j in range(count)]
    columns, turned = jax.lax.fori_loop(0, _SWEEPS[count], lambda _, both: _swept(*both), (columns, turned))
    return columns, turned, scale


def _scale(a: jax.Array) -> jax.Array:
    """1, a power of two for entries that are very large or all very small, or NaN where one is not finite."""
    largest, exponent = jnp.abs(a).max(axis=(-2, -1)), jnp.finfo(a.dtype).maxexp
    threshold, factor = 2.0 ** int(0.4 * exponent), 2.0 ** int(0.6 * exponent)
    moderate = jnp.where(largest > threshold, 1 / factor, jnp.where(largest < 1 / threshold, factor, 1))
    return jnp.where(jnp.isfinite(largest), moderate, jnp.nan).astype(a.dtype)


def _swept(columns: list[Column], turned: list[Column]) -> tuple[list[Column], list[Column]]:
    """Each two columns turned once."""
    columns, turned = list(columns), list(turned)
    for i, j in itertools.combinations(range(len(columns)), 2):
        cosine, sine = _rotation(columns[i], columns[j])
        for matrix in (columns, turned):
            matrix[i], matrix[j] = (
                [cosine * x - sine * y for x, y in zip(matrix[i], matrix[j], strict=True)],
                [sine * x + cosine * y for x, y in zip(matrix[i], matrix[j], strict=True)],
            )
    return columns, turned


def _rotation(first: Column, second: Column) -> tuple[jax.Array, jax.Array]:
    """Cosine and sine of the smaller angle that makes two columns orthogonal."""
    product = _dot(first, second)
    apart = product == 0
    ratio = (_dot(second, second) - _dot(first, first)) / jnp.where(apart, 1, 2 * product)
    tangent = jnp.where(ratio < 0, -1, 1) / (jnp.abs(ratio) + jnp.sqrt(1 + ratio * ratio))
    tangent = jnp.where(apart, 0, tangent)
    cosine = jax.lax.rsqrt(1 + tangent * tangent)
    return cosine, cosine * tangent


def _length(column: Column) -> jax.Array:
    return jnp.sqrt(_dot(column, column))


def _dot(first: Column, second: Column) -> jax.Array:
    return functools.reduce(jnp.add, [x * y for x, y in zip(first, second, strict=True)])
