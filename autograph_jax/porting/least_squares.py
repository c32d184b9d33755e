"""`lstsq` and `qr` of traced matrices, also of some rows or columns that traced data picks: the others are zero.

The solution of least norm has zeros where the matrix has columns of zeros, and a Householder reflection for a column of zeros
is none. By the pseudo-inverse, whose derivative holds while the rank stays what it is
(Golub, Pereyra: The differentiation of pseudo-inverses, SIAM J. Numer. Anal. 10, 1973).
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import PortingError, user_location
from . import hooks, small_matrices
from .arrays import value_of, wrap
from .casting import canonical
from .computing import together
from .creating import asarray
from .rows import Window, refusal
from .selections import Selection, selected


def numpys(a: Any, b: Any, rcond: Any = None) -> tuple[Any, Any, Any, Any]:
    """`numpy.linalg.lstsq`."""
    shape = _shape(a)
    cutoff = jnp.finfo(_matrix(a).dtype).eps * (jnp.maximum(*shape) if rcond is None else 1)
    given = cutoff if rcond is None else jnp.where(jnp.asarray(rcond) < 0, cutoff, rcond)
    x, left, rank, singular = _solved(a, b, given)
    sums = jnp.atleast_1d(jnp.sum(jnp.abs(left) ** 2, axis=0))
    is_full = (rank == shape[1]) & (jnp.asarray(shape[0]) > shape[1])
    return x, Selection(wrap(sums), {0: Window(0, jnp.where(is_full, len(sums), 0))}), rank, singular


def scipys(a: Any, b: Any, cond: Any = None, *_: Any, **__: Any) -> tuple[Any, Any, Any, Any]:
    """`scipy.linalg.lstsq`; its residual is nan where SciPy gives an empty array, for a matrix that has not the full rank."""
    shape = _shape(a)
    if len(shape) > 2:
        raise PortingError(
            "`scipy.linalg.lstsq` of a stack of matrices has no counterpart on traced values",
            location=user_location(),
            help="solve for one matrix after the other",
        )
    x, left, rank, singular = _solved(a, b, jnp.finfo(_matrix(a).dtype).eps if cond is None else cond)
    is_tall = shape[0] > shape[1]
    if not isinstance(is_tall, jax.Array) and not is_tall:
        return x, wrap(np.zeros(0, canonical(float))), rank, singular
    sums = jnp.where(is_tall & (rank == shape[1]), jnp.sum(jnp.abs(left) ** 2, axis=0), jnp.nan)
    return x, wrap(sums) if sums.ndim else sums, rank, singular


def _shape(a: Any) -> tuple[Any, Any]:
    return a.shape if isinstance(a, Selection) else np.shape(value_of(a))


def _matrix(a: Any) -> jax.Array:
    """A matrix of floats, with zeros in the rows or columns that do not count."""
    value = a.filled(0) if isinstance(a, Selection) else jnp.asarray(asarray(a).value)
    return value if value.dtype.kind in "fc" else value.astype(canonical(float))


def _solved(a: Any, b: Any, rcond: Any) -> tuple[Any, jax.Array, jax.Array, Any]:
    """The solution, what is left of the right-hand side, the rank and the singular values."""
    a, b = _rows_alike(a, b)
    matrix, right = _matrix(a), _matrix(b)
    inverse = small_matrices.pinv(matrix, rcond)
    x = inverse @ right
    singular = small_matrices.singular_values(jax.lax.stop_gradient(matrix))
    rank = jnp.sum(singular > rcond * singular[0]) if singular.size else jnp.zeros((), int)
    left = right - matrix @ x
    if not isinstance(a, Selection):
        return wrap(x), left, rank, wrap(singular)
    rows = {0: a.rows[1].own()} if 1 in a.rows else {}
    rows |= {1: b.rows[1].own()} if isinstance(b, Selection) and 1 in b.rows else {}
    count = functools.reduce(jnp.minimum, map(a.count, a.rows), len(singular))
    return selected(x, rows), left, rank, Selection(wrap(singular), {0: Window(0, count)})


def _rows_alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Where traced data picks rows, both have the same ones."""
    of_a, of_b = (isinstance(x, Selection) and 0 in x.rows for x in (a, b))
    if of_b and not of_a:
        b = b.exactly(a.array.shape[0] if isinstance(a, Selection) else len(a), 0)
    elif of_a and not of_b:
        a = a.exactly(b.array.shape[0] if isinstance(b, Selection) else len(b), 0)
    elif of_a:
        _, (a, b) = together([a, b], [(0, 0), (1, 0)])
    return a, b


def of_selection(name: str, a: Any, *rest: Any, **options: Any) -> Any:
    """`qr(a)` where traced data picks rows or columns of a."""
    mode = options.get("mode", rest[-1] if rest else "full" if name == "scipy.linalg" else "reduced")
    if a.ndim != 2 or options.get("pivoting") or mode in ("r", "raw"):
        raise refusal("`qr` is called with it in another way than for Q and R")
    whole = a.compact()
    is_full = mode in ("full", "complete")
    if is_full and 0 in whole.rows:
        raise refusal("`qr` gives a square matrix of which it is not known how large it is")
    q, r = jnp.linalg.qr(_matrix(whole), mode="complete" if is_full else "reduced")
    counts = [whole.count(axis) if axis in whole.rows else whole.capacity(axis) for axis in (0, 1)]
    if 0 in whole.rows:
        hooks.raise_where(counts[0] < counts[1], ValueError("fewer rows than columns"))
    of_q, of_r = ({axis: whole.rows[axis]} if axis in whole.rows else {} for axis in (0, 1))
    if 1 in whole.rows and not is_full:
        of_q[1] = of_r[0] = Window(0, jnp.minimum(*counts))
    return selected(q, of_q), selected(r, of_r)
