"""`np.linalg.solve(A[:k, :k], b[:k])`: of a square block of which traced data says how large it is.

Beside an identity matrix, in a matrix of blocks, the block's inverse, its determinant, its factors and what it solves are what
they are alone. Eigenvalues are not: the identity's are among them. Singular values are what they are beside zeros.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import small_matrices
from .arrays import wrap
from .computing import together
from .probing import identity, through
from .rows import Rows, Window, refusal
from .selections import Selection, selected

_PADDED = frozenset("solve inv det slogdet cholesky solve_triangular matrix_power".split())
_MODULES = ("numpy.linalg", "scipy.linalg")


def is_for(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    return getattr(function, "__name__", "") in _PADDED and module.startswith(_MODULES)


def call(function: Any, matrix: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.linalg.solve(matrix, b)` and the like."""
    whole = square(matrix) if isinstance(matrix, Selection) else matrix

    def beside_identity(selection: Selection, given: Selection) -> jax.Array:
        axes = [axis for axis in (selection.ndim - 2, selection.ndim - 1) if axis in selection.rows]
        if given is not whole or not axes:
            return selection.values
        return jnp.where(selection.over(axes), selection.values, jnp.eye(selection.array.shape[-1], dtype=selection.dtype))

    return through(function, (whole, *args), kwargs, beside_identity, identity)


_OF_EACH = frozenset("svd svdvals eigh eigvalsh eig eigvals pinv".split())


def is_for_stacks(function: Any, matrices: Selection) -> bool:
    """Are it whole matrices that are selected, `np.linalg.svd(stack[mask])`, each of which is computed with alone?"""
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    return name in _OF_EACH and module.startswith("numpy.linalg") and max(matrices.rows) < matrices.ndim - 2


def is_for_singular_values(function: Any, kwargs: dict[str, Any]) -> bool:
    """Of zeros beside it, a matrix has no more singular values than before but zeros, which are the last."""
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__name__", "")
    alone = name == "svdvals" or name == "svd" and kwargs.get("compute_uv", True) in (False, 0)
    return alone and module.startswith(_MODULES)


def singular_values(matrix: Selection, *_: Any, **__: Any) -> Any:
    """`svdvals(A[:k, :m])`"""
    if matrix.ndim != 2:
        raise refusal("`svd` is called with several matrices")
    values = small_matrices.singular_values(matrix.filled(0))
    counts = [matrix.count(axis) if axis in matrix.rows else matrix.capacity(axis) for axis in (0, 1)]
    return Selection(wrap(values), {0: Window(0, jnp.minimum(*counts))})


def square(matrix: Selection) -> Any:
    """The matrix with the same rows and columns, or of a known size."""
    if matrix.ndim < 2:
        raise np.linalg.LinAlgError(f"{matrix.ndim}-dimensional array given. Array must be at least two-dimensional")
    axes = [axis for axis in (matrix.ndim - 2, matrix.ndim - 1) if axis in matrix.rows]
    if len(axes) == 2:
        return together([matrix], [(0, axis) for axis in axes])[1][0]
    for axis in axes:
        (other,) = {matrix.ndim - 2, matrix.ndim - 1} - {axis}
        matrix = matrix.exactly(matrix.capacity(other), axis)
    return matrix


def diagonal(matrix: Selection, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """`np.diagonal(A[:k, :m])`."""
    first, second = axis1 % matrix.ndim, axis2 % matrix.ndim
    chosen = [axis for axis in (first, second) if axis in matrix.rows]
    if offset and chosen:
        raise refusal("a diagonal beside the middle one is taken of it")
    kept = [axis for axis in range(matrix.ndim) if axis not in (first, second)]
    whole = matrix.compact(chosen)
    rows: dict[int, Rows] = {kept.index(axis): own for axis, own in whole.own().items() if axis in kept}
    if chosen:
        sizes = [whole.count(axis) if axis in chosen else whole.capacity(axis) for axis in (first, second)]
        is_square = len(chosen) == 2 and whole.rows[first].is_same(whole.rows[second])
        rows[len(kept)] = Window(0, sizes[0] if is_square else jnp.minimum(*sizes))
    return selected(jnp.diagonal(whole.values, offset, axis1, axis2), rows)


def trace(matrix: Selection, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """`np.trace(A[:k, :m])`: zeros add nothing."""
    axes = [axis % matrix.ndim for axis in (axis1, axis2)]
    whole = matrix.compact([axis for axis in axes if axis in matrix.rows])
    chosen = [axis for axis in axes if axis in whole.rows]
    value = wrap(whole.filled(0, chosen) if chosen else whole.values)
    kept = [axis for axis in range(matrix.ndim) if axis not in axes]
    rows = {kept.index(axis): own for axis, own in whole.own().items() if axis in kept}
    return selected(np.trace(value, offset, axis1, axis2, dtype), rows)


def with_diagonal(v: Selection, k: int = 0) -> Any:
    """`np.diag(x[:k])`, or a diagonal."""
    if v.ndim != 1:
        return diagonal(v, k)
    if k or not v.rows:
        raise refusal("it is put beside a diagonal")
    return Selection(wrap(jnp.diag(v.filled(0))), {0: v.rows[0].own(), 1: v.rows[0].own()})


def triangle(function: Any, matrix: Selection, k: int = 0) -> Any:
    """`np.tril(A[:k, :m])`."""
    rows = matrix.rows
    if not k and 0 in rows and 1 in rows and rows[0].is_same(rows[1]) and matrix.capacity(0) == matrix.capacity(1):
        return selected(function(wrap(matrix.values)), matrix.own())
    whole = matrix.compact((matrix.ndim - 2, matrix.ndim - 1))
    return selected(function(wrap(whole.values), k), whole.own())
