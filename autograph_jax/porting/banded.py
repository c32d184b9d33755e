"""LAPACK's routines for systems with a banded matrix: what SciPy's `solve_banded` and `solveh_banded` call.

Arguments and results as in SciPy's wrappers (`scipy.linalg.lapack`); factors, that nobody reads, are None. A
tridiagonal system is solved as one, a wider band as a dense matrix.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .arrays import value_of, wrap


def _columns(b: jax.Array) -> jax.Array:
    return b[:, None] if b.ndim == 1 else b


def _info(x: jax.Array) -> jax.Array:
    """Of a singular matrix: not 0. What is not finite stands for a pivot that is zero."""
    return jnp.where(jnp.isfinite(x).all(), 0, 1)


def gtsv(dl: Any, d: Any, du: Any, b: Any, *_: Any, **__: Any) -> Any:
    """A tridiagonal system by its diagonals."""
    lower, middle, upper, right = (jnp.asarray(value_of(x)) for x in (dl, d, du, b))
    edge = jnp.zeros(1, middle.dtype)
    x = jax.lax.linalg.tridiagonal_solve(
        jnp.concatenate([edge, lower]), middle, jnp.concatenate([upper, edge]), _columns(right)
    )
    return None, None, None, wrap(x.reshape(right.shape)), _info(x)


def ptsv(d: Any, e: Any, b: Any, *_: Any, **__: Any) -> Any:
    """A tridiagonal system whose matrix is Hermitian and positive definite."""
    conjugated = wrap(jnp.conj(jnp.asarray(value_of(e))))
    _, _, _, x, info = gtsv(e, d, conjugated, b)
    return None, None, x, info


def gbsv(kl: int, ku: int, ab: Any, b: Any, *_: Any, **__: Any) -> Any:
    """A band of `kl` diagonals below and `ku` above the main one; `ab[kl + ku + i - j, j]` is the element (i, j)."""
    band, right = jnp.asarray(value_of(ab)), jnp.asarray(value_of(b))
    x = jnp.linalg.solve(_dense(band[kl:], ku), _columns(right)).reshape(right.shape)
    return None, None, wrap(x), _info(x)


def pbsv(ab: Any, b: Any, lower: int = 0, *_: Any, **__: Any) -> Any:
    """A band of a Hermitian positive definite matrix, of which one half is given."""
    band, right = jnp.asarray(value_of(ab)), jnp.asarray(value_of(b))
    half = _dense(band, 0 if lower else band.shape[0] - 1)
    whole = half + (jnp.tril(half, -1) if lower else jnp.triu(half, 1)).conj().T
    x = jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(whole), True), _columns(right)).reshape(right.shape)
    return None, wrap(x), _info(x)


def _dense(band: jax.Array, above: int) -> jax.Array:
    """The matrix of a band whose first row is the diagonal that is farthest `above` the main one."""
    size = band.shape[1]
    dense = jnp.zeros((size, size), band.dtype)
    for row, diagonal in enumerate(band):
        offset = above - row
        part = diagonal[offset:] if offset >= 0 else diagonal[:offset]
        dense = dense + jnp.diag(part, offset)
    return dense
