"""SciPy's linear algebra and Fourier transforms on traced values: JAX's where it has the function, BLAS and LAPACK routines by
what they compute.

SciPy's Python functions that JAX lacks are converted like any other code; what they call in the end stands here.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np

from ..errors import PortingError, user_location
from . import banded, hooks, least_squares, matrix_equations, selected_routines, small_matrices
from .arrays import MutableArray, value_of, wrap

Function = Callable[..., Any]
# How, not what: SciPy's switches of memory, of checks and of the routine that is used.
_HOW = frozenset("overwrite_a overwrite_b overwrite_c overwrite_x check_finite lapack_driver driver lwork workers plan".split())


def jax_function(function: Function) -> Function | None:
    """The function of jax.scipy.linalg or jax.numpy.linalg that does what a function of scipy.linalg does; None for none."""
    name = getattr(function, "__name__", "")
    if isinstance(function, np.ufunc):
        return _GUFUNCS.get(name) if getattr(_BEHIND_NUMPYS, name, None) is function else None
    for module, rooms in (("scipy.linalg", (jsl, jnp.linalg)), ("scipy.fft", (jnp.fft, jax.scipy.fft))):
        if getattr(sys.modules.get(module), name, None) is function:
            found = _OURS.get(name) or next((getattr(room, name) for room in rooms if hasattr(room, name)), None)
            return _with_its_arguments(function, found) if found is not None else None
    return None


def _pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: bool = False) -> Any:
    """By SciPy's cutoff, `atol + rtol` times the largest singular value."""
    singular = small_matrices.singular_values(a)
    rtol = max(a.shape[-2:]) * jnp.finfo(a.dtype).eps if rtol is None else rtol
    largest = singular[..., 0]
    share = rtol if atol is None else rtol + atol / jnp.where(largest == 0, 1, largest)
    found = small_matrices.pinv(a, share)
    return (found, jnp.sum(singular > (share * largest)[..., None], axis=-1)) if return_rank else found


def _lu(a: Any, permute_l: bool = False, *, p_indices: bool = False) -> Any:
    if permute_l or not p_indices:
        return jsl.lu(a, permute_l=permute_l)
    permutation, lower, upper = jsl.lu(a)
    return jnp.argmax(permutation, axis=-1).astype(jnp.int32), lower, upper


# ------------------------------------------------------------------ symmetric matrices of which one triangle is read


def mirrored(a: Any, lower: bool, *, conjugate: bool = True) -> jax.Array:
    """The whole matrix of which LAPACK reads one triangle: JAX would take the mean of both."""
    a = jnp.asarray(a)
    triangle = jnp.tril(a, -1) if lower else jnp.triu(a, 1)
    across = jnp.swapaxes(triangle, -1, -2)
    on_diagonal = jnp.eye(a.shape[-1], dtype=bool)
    if a.dtype.kind != "c" or not conjugate:
        return triangle + across + jnp.where(on_diagonal, a, 0)
    return triangle + across.conj() + jnp.where(on_diagonal, a.real, 0)


def _is_lower(uplo: str) -> bool:
    if uplo.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return uplo.upper() == "L"


def _cholesky(a: Any, /, *, upper: bool = False) -> jax.Array:
    return jnp.linalg.cholesky(mirrored(a, not upper), upper=bool(upper), symmetrize_input=False)


def _eigh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803 - NumPy's name
    return jnp.linalg.eigh(mirrored(a, _is_lower(UPLO)), symmetrize_input=False)


def _eigvalsh(a: Any, UPLO: str = "L") -> Any:  # noqa: N803 - NumPy's name
    return jnp.linalg.eigvalsh(mirrored(a, _is_lower(UPLO)), symmetrize_input=False)


def _numpys_pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> jax.Array:
    if rcond is None:
        rcond = 1e-15 if rtol is np._NoValue else max(a.shape[-2:]) * jnp.finfo(a.dtype).eps if rtol is None else rtol
    return jnp.linalg.pinv(a, rtol=rcond, hermitian=True) if hermitian else small_matrices.pinv(a, rcond)


def _numpys_svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if hermitian:
        return jnp.linalg.svd(a, bool(full_matrices), bool(compute_uv), hermitian=True)
    return _svd(jnp.linalg.svd, a, full_matrices, compute_uv)


def _scipys_svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    return _svd(jsl.svd, a, full_matrices, compute_uv)


def _svd(ours: Function, a: Any, full_matrices: bool, compute_uv: bool) -> Any:
    if not compute_uv:
        return small_matrices.singular_values(a)
    try:
        return ours(a, bool(full_matrices))
    except NotImplementedError as error:  # JAX's, of derivatives
        raise PortingError(
            "all singular vectors of a matrix that is not square have no derivative",
            location=user_location(),
            help="`svd(a, full_matrices=False)` gives those that belong to singular values, and they have one",
        ) from error


def _matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> jax.Array:  # noqa: N803
    a = jnp.asarray(A)
    if a.ndim < 2:
        return jnp.any(a != 0).astype(int)
    singular = jnp.abs(_eigvalsh(a)) if hermitian else small_matrices.singular_values(a)
    if tol is None:
        share = max(a.shape[-2:]) * jnp.finfo(singular.dtype).eps if rtol is None else jnp.asarray(rtol)[..., None]
        tol = singular.max(axis=-1, keepdims=True) * share
    else:
        tol = jnp.asarray(tol)[..., None]
    return jnp.sum(singular > tol, axis=-1)


def _numpys_lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Its residual is NaN where NumPy gives an empty array as the rank says; as the shape says, it is empty."""
    x, left, rank, singular = jnp.linalg.lstsq(a, b, rcond)
    rows, columns = a.shape
    return x, jnp.where(rank == columns, left, jnp.nan) if rows > columns else left[:0], rank, singular


NUMPYS: dict[Function, Function] = {
    np.linalg.cholesky: _cholesky, np.linalg.eigh: _eigh, np.linalg.eigvalsh: _eigvalsh, np.linalg.pinv: _numpys_pinv,
    np.linalg.matrix_rank: _matrix_rank, np.linalg.svd: _numpys_svd, np.linalg.lstsq: _numpys_lstsq,
}  # fmt: skip


def _scipys_eigh(
    a: Any, b: Any = None, lower: bool = True, eigvals_only: bool = False, type: int = 1, subset_by_index: Any = None
) -> Any:
    a = mirrored(a, lower)
    values, vectors = jsl.eigh(a) if b is None else _generalized(a, mirrored(b, lower), type)
    first, last = (0, a.shape[-1] - 1) if subset_by_index is None else map(int, subset_by_index)
    kept = slice(first, last + 1)
    return values[..., kept] if eigvals_only else (values[..., kept], vectors[..., kept])


def _generalized(a: jax.Array, b: jax.Array, kind: int) -> tuple[jax.Array, jax.Array]:
    """A x = w B x, A B x = w x or B A x = w x, as LAPACK does it: by the Cholesky factor L of B."""
    factor = jnp.linalg.cholesky(b, symmetrize_input=False)
    check(np.linalg.cholesky, (b,), factor)
    across = jnp.swapaxes(factor, -1, -2).conj()
    if kind == 1:
        half = jsl.solve_triangular(factor, a, lower=True)
        reduced = jsl.solve_triangular(factor, jnp.swapaxes(half, -1, -2).conj(), lower=True)
    else:
        reduced = across @ a @ factor
    values, vectors = jsl.eigh(reduced)
    return values, factor @ vectors if kind == 3 else jsl.solve_triangular(across, vectors)


def _scipys_eigvalsh(a: Any, b: Any = None, lower: bool = True, type: int = 1, subset_by_index: Any = None) -> Any:
    return _scipys_eigh(a, b, lower, True, type, subset_by_index)


_KINDS: dict[Any, str] = {
    None: "gen", "general": "gen", "banded": "gen", "symmetric": "sym", "hermitian": "her", "positive definite": "pos",
}  # fmt: skip


def _scipys_solve(a: Any, b: Any, lower: bool = False, assume_a: Any = None, transposed: bool = False) -> jax.Array:
    a, kind = jnp.asarray(a), _kind(assume_a)
    if transposed and a.dtype.kind == "c":
        raise NotImplementedError("scipy.linalg.solve can currently not solve a^T x = b or a^H x = b for complex matrices.")
    a = _READ[kind](a, lower)
    a = jnp.swapaxes(a, -1, -2) if transposed else a
    is_stack = a.ndim > 2 or np.ndim(b) > 2
    if kind == "pos" and is_stack:
        return jnp.where((_is_indefinite(a)[..., 0] if np.ndim(b) == 1 else _is_indefinite(a)), jnp.nan, jsl.solve(a, b))
    return jsl.solve(a, b, lower=lower, assume_a="pos" if kind == "pos" else "gen")


def _is_indefinite(a: jax.Array) -> jax.Array:
    return jnp.isnan(_cholesky(a)).any((-2, -1), keepdims=True)


def _inv(a: Any, *, assume_a: Any = None, lower: bool = False) -> jax.Array:
    a, kind = jnp.asarray(a), _kind(assume_a)
    if kind == "diagonal":  # beside it SciPy leaves what there is
        return jnp.where(jnp.eye(a.shape[-1], dtype=bool), 1 / jnp.where(jnp.eye(a.shape[-1], dtype=bool), a, 1), a)
    a = _READ[kind](a, lower)
    return jnp.where(_is_indefinite(a) if kind == "pos" else False, jnp.nan, jnp.linalg.inv(a))


def _kind(assumed: Any) -> str:
    kind = str(_KINDS.get(assumed, assumed))
    if kind not in _READ:
        raise ValueError(f"{assumed} is not a recognized matrix structure")
    return kind


# The matrix, of which LAPACK's routine for such a one reads a part.
_READ: dict[str, Function] = {
    "gen": lambda a, lower: a, "pos": lambda a, lower: mirrored(a, lower), "her": lambda a, lower: mirrored(a, lower),
    "sym": lambda a, lower: mirrored(a, lower, conjugate=False), "upper triangular": lambda a, lower: jnp.triu(a),
    "lower triangular": lambda a, lower: jnp.tril(a), "tridiagonal": lambda a, lower: jnp.triu(jnp.tril(a, 1), -1),
    "diagonal": lambda a, lower: jnp.where(jnp.eye(a.shape[-1], dtype=bool), a, 0),
}  # fmt: skip


_MOST_SQUARINGS = 32
_EXACT_UP_TO = {4: 3.9, 8: 5.3}  # norms for which JAX's approximant is exact; JAX itself scales a matrix to twice that


@functools.partial(jnp.vectorize, signature="(n,n)->(n,n)")
def _expm(a: jax.Array) -> jax.Array:
    norm = jnp.abs(jax.lax.stop_gradient(a)).sum(axis=0).max()
    squarings = jnp.ceil(jnp.log2(jnp.maximum(norm / _EXACT_UP_TO[norm.dtype.itemsize], 1)))
    found = jsl.expm(a / 2**squarings)

    def squared(turn: jax.Array, x: jax.Array) -> jax.Array:
        return jax.lax.cond(turn < squarings, lambda x: x @ x, lambda x: x, x)

    found = jax.lax.fori_loop(0, _MOST_SQUARINGS, squared, found)
    return jnp.where(squarings <= _MOST_SQUARINGS, found, jnp.nan)


def _lu_solve(lu_and_piv: Any, b: Any, trans: int = 0) -> jax.Array:
    lu, pivots = map(jnp.asarray, lu_and_piv)
    return jsl.lu_solve((lu, pivots.astype(jnp.int32)), b, trans)  # whose pivots have this dtype alone


def _polar(a: Any, side: str = "right") -> tuple[jax.Array, jax.Array]:
    """By singular values, as SciPy does it: JAX's own way is a loop that has no derivative in reverse."""
    return jsl.polar(a, side, method="svd")


_OURS: dict[str, Function] = {
    "expm": lambda A: hooks.marked(_expm, A),
    "pinv": _pinv, "lstsq": least_squares.scipys, "eigh": _scipys_eigh, "eigvalsh": _scipys_eigvalsh, "solve": _scipys_solve,
    "lu": _lu, "inv": _inv, "lu_solve": _lu_solve, "polar": _polar, "sqrtm": matrix_equations.sqrtm,
    "svd": _scipys_svd, "svdvals": small_matrices.singular_values, "solve_sylvester": matrix_equations.solve_sylvester,
    "solve_continuous_lyapunov": matrix_equations.solve_continuous_lyapunov,
}  # fmt: skip


_SINGULAR, _INDEFINITE = "Singular matrix", "Matrix is not positive definite"
_RAISING = {"cholesky": _INDEFINITE, "cho_factor": _INDEFINITE, "solve": _SINGULAR, "inv": _SINGULAR}


def check(function: Function, args: Sequence[Any], found: Any) -> None:
    """Where NumPy and SciPy raise LinAlgError, JAX gives what is not finite: that is an error at run time."""
    name, module = getattr(function, "__name__", ""), getattr(function, "__module__", None) or ""
    if name in _RAISING and module.startswith(("numpy.linalg", "scipy.linalg")):
        given = [jnp.isfinite(arg).all() for arg in args if isinstance(arg, jax.Array | np.ndarray)]
        failed = functools.reduce(jnp.logical_and, given, ~jnp.isfinite(jax.tree.leaves(found)[0]).all())
        error = np.linalg.LinAlgError(_RAISING[name])
        if isinstance(failed, jax.core.Tracer):
            hooks.raise_where(failed, error)
        elif failed:
            raise error


def _solved(a: jax.Array, b: jax.Array) -> jax.Array:
    found = jnp.linalg.solve(a, b)
    check(np.linalg.solve, (a, b), found)
    return found


def _inverse(a: jax.Array) -> jax.Array:
    found = jnp.linalg.inv(a)
    check(np.linalg.inv, (a,), found)
    return found


# What is behind NumPy's functions of linear algebra, and is called past these by SciPy's own: gufuncs, by their names.
_BEHIND_NUMPYS = getattr(np.linalg, "_umath_linalg", None)
_GUFUNCS: dict[str, Function] = {
    "solve": _solved,
    "solve1": lambda a, b: _solved(a, b[..., None])[..., 0],
    "inv": _inverse,
    "det": jnp.linalg.det,
}


def _with_its_arguments(function: Function, ours: Function) -> Function:
    known, signature = inspect.signature(ours).parameters, inspect.signature(function)
    called = {theirs: name for theirs, name in zip(signature.parameters, known, strict=False) if theirs not in known}

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        kept: dict[str, Any] = {}
        rest: tuple[Any, ...] = ()
        for name, value in given.items():
            kind = signature.parameters[name].kind
            ours_name = called.get(name, name)
            if kind is inspect.Parameter.VAR_POSITIONAL:
                rest = value
            elif kind is inspect.Parameter.VAR_KEYWORD:
                kept |= value
            elif ours_name in known and name not in _HOW:
                kept[ours_name] = jax.tree.map(_flag, value)
            elif name not in _HOW and value is not signature.parameters[name].default:
                raise _lacking(function, name)
        return ours(*rest, **kept) if rest else _by_position(known, ours, kept)

    return call


def _lacking(function: Function, option: str) -> PortingError:
    name = function.__name__
    error = PortingError(
        f"`{function.__module__.rpartition('.')[0]}.{name}` with `{option}` has no counterpart on traced values",
        location=user_location(),
        help=f"leave `{option}` out and compute what it says from what `{name}` gives, or call it on values that are known",
    )
    error.lacks = function  # SciPy's own Python code may do
    return error


def _flag(value: Any) -> Any:
    """SciPy from 1.18 on gives `lower` as an array, the same for each matrix of a batch; JAX takes one flag."""
    same = isinstance(value, np.ndarray) and value.dtype == bool and value.size and value.all() == value.any()
    return bool(value.flat[0]) if same else value


def _by_position(known: Any, ours: Function, kept: dict[str, Any]) -> Any:
    """The first ones by position: some of JAX's functions take no names, whatever their signature says."""
    first: list[Any] = []
    for name, parameter in known.items():
        if name not in kept or parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            break
        first.append(kept.pop(name))
    return ours(*first, **kept)


# ------------------------------------------------------------------ BLAS and LAPACK
def is_fortran(function: Any) -> bool:
    return type(function).__name__ == "fortran"


def is_lookup(function: Any) -> bool:
    """Does it choose a routine by the dtypes of arrays?"""
    return getattr(function, "__name__", "") in ("get_blas_funcs", "get_lapack_funcs") and "scipy.linalg" in function.__module__


def writes(function: Any) -> bool:
    """Does it write into its arguments?"""
    return _name(function) in ("axpy", "copy", "scal", "swap")


def routine(function: Any, *, of_selections: bool = False) -> Function | None:
    """What a routine of BLAS or LAPACK computes, on traced values; None where it is not known."""
    ours = (selected_routines.ROUTINES if of_selections else _ROUTINES).get(_name(function))
    return None if ours is None else functools.partial(_routine, function.__name__.split()[-1], ours)


_ALL_OF_IT = {"offx": 0, "offy": 0, "incx": 1, "incy": 1}  # elements from the first on, one after the other


def _routine(name: str, ours: Function, *args: Any, **options: Any) -> Any:
    known = inspect.signature(ours)
    options = {
        option: value
        for option, value in options.items()
        if option in known.parameters or not (option.startswith("overwrite_") or _ALL_OF_IT.get(option) is value)
    }
    try:
        given = known.bind(*args, **options).arguments
    except TypeError as error:
        raise _refused(name, str(error)) from error
    count = given.get("n")
    if count is not None and not (isinstance(count, int) and count == np.size(value_of(given["x"]))):
        raise _refused(name, "`n` is not how many elements there are")
    return ours(*args, **options)


def _refused(name: str, why: str) -> PortingError:
    return PortingError(
        f"`{name}` of traced data has not all the options of BLAS: {why}",
        location=user_location(),
        help="hand over the parts of the arrays that it is to see: `ddot(x[:2], y[:2])`",
    )


def _name(function: Any) -> str:
    """`axpy` of `daxpy`, whose first letter is the dtype's."""
    return function.__name__.split()[-1][1:]


def _axpy(x: Any, y: Any, n: Any = None, a: Any = 1.0) -> Any:
    new = jnp.asarray(value_of(y)) + a * jnp.asarray(value_of(x))
    if isinstance(y, MutableArray):
        y.put(new)
        return y
    return wrap(new)


def _scal(a: Any, x: Any, n: Any = None) -> Any:
    if isinstance(x, MutableArray):
        x.put(a * jnp.asarray(x.value))
        return x
    return wrap(a * jnp.asarray(x))


def _swap(x: Any, y: Any, n: Any = None) -> Any:
    first, second = jnp.asarray(value_of(x)), jnp.asarray(value_of(y))
    return _overwritten(x, second), _overwritten(y, first)


def _overwritten(x: Any, new: jax.Array) -> Any:
    """The array with new elements; a number is an array of one element to BLAS."""
    if not isinstance(x, MutableArray):
        return wrap(jnp.reshape(new, (-1,)))
    x.put(new)
    return x


def _gemv(alpha: Any, a: Any, x: Any, beta: Any = 0.0, y: Any = None, *, trans: int = 0) -> Any:
    a = _side(jnp.asarray(value_of(a)), trans)
    found = alpha * (a @ jnp.asarray(value_of(x)))
    return wrap(found if y is None else found + beta * jnp.asarray(value_of(y)))


def _gemm(alpha: Any, a: Any, b: Any, beta: Any = 0.0, c: Any = None, trans_a: int = 0, trans_b: int = 0) -> Any:
    left, right = _side(jnp.asarray(value_of(a)), trans_a), _side(jnp.asarray(value_of(b)), trans_b)
    found = alpha * hooks.marked(jnp.matmul, left, right)
    return wrap(found if c is None else found + beta * jnp.asarray(value_of(c)))


def _ger(alpha: Any, x: Any, y: Any, a: Any = 0.0) -> Any:
    return wrap(value_of(a) + alpha * jnp.outer(value_of(x), value_of(y)))


def _trmm(
    alpha: Any, a: Any, b: Any, side: int = 0, lower: int = 0, trans_a: int = 0, diag: int = 0, overwrite_b: int = 0
) -> Any:
    a = _triangle(jnp.asarray(value_of(a)), lower, diag)
    b = jnp.asarray(value_of(b))
    left, right = (b, _side(a, trans_a)) if side else (_side(a, trans_a), b)
    return wrap(alpha * hooks.marked(jnp.matmul, left, right))


def _side(a: jax.Array, trans: int) -> jax.Array:
    return a if trans == 0 else a.T if trans == 1 else a.conj().T


def _triangle(a: jax.Array, lower: int, diag: int) -> jax.Array:
    a = jnp.tril(a) if lower else jnp.triu(a)
    return a - jnp.diag(jnp.diag(a)) + jnp.eye(a.shape[0], dtype=a.dtype) if diag else a


def _lartg(f: Any, g: Any) -> Any:
    """A plane rotation: c, s, r with c f + s g = r and -s f + c g = 0, signed as LAPACK 3.10 signs them."""
    f, g = jnp.asarray(value_of(f)), jnp.asarray(value_of(g))
    size = jnp.sqrt(f * f + g * g)
    r = jnp.where(size == 0, 1.0, jnp.where(f < 0, -size, size))
    flat = g == 0
    c = jnp.where(flat, 1.0, jnp.where(f == 0, 0.0, jnp.abs(f) / jnp.where(size == 0, 1.0, size)))
    s = jnp.where(flat, 0.0, jnp.where(f == 0, jnp.sign(g), g / r))
    return c, s, jnp.where(flat, f, jnp.where(f == 0, jnp.abs(g), r))


def _potrf(a: Any, lower: int = 0, clean: int = 1, overwrite_a: int = 0) -> Any:
    a = jnp.asarray(value_of(a))
    whole = jnp.tril(a) + jnp.tril(a, -1).conj().T if lower else jnp.triu(a) + jnp.triu(a, 1).conj().T
    bad = jnp.isnan(jnp.linalg.cholesky(jax.lax.stop_gradient(whole))).any()
    factor, info = jax.lax.cond(bad, _as_far_as_positive, lambda whole: (jnp.linalg.cholesky(whole), jnp.zeros((), int)), whole)
    factor = factor if lower else factor.conj().T
    return wrap(factor if clean else jnp.where((jnp.tril if lower else jnp.triu)(jnp.ones_like(a, bool)), factor, a)), info


def _as_far_as_positive(whole: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The factor's columns, and of what follows the rows, before the first leading block that is not positive definite."""
    rows = jnp.arange(len(whole))

    def column(j: jax.Array, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        factor, info = state
        rest = whole[:, j] - factor @ factor[j].conj()
        is_positive = (info == 0) & (rest[j].real > 0)
        scaled = rest / jnp.sqrt(jnp.where(is_positive, rest[j].real, 1.0))
        new = jnp.where(is_positive & (rows >= j), scaled, factor[:, j])
        return factor.at[:, j].set(new), jnp.where((info == 0) & ~is_positive, j + 1, info)

    return jax.lax.fori_loop(0, len(whole), column, (jnp.zeros_like(whole), jnp.zeros((), int)))


def _potrs(c: Any, b: Any, lower: int = 0, overwrite_b: int = 0) -> Any:
    return wrap(jsl.cho_solve((jnp.asarray(value_of(c)), bool(lower)), jnp.asarray(value_of(b)))), 0


def _getrf(a: Any, overwrite_a: int = 0) -> Any:
    lu, pivots = jsl.lu_factor(jnp.asarray(value_of(a)))
    return wrap(lu), wrap(pivots), _first_zero(lu)


def _first_zero(lu: jax.Array) -> jax.Array:
    """LAPACK's `info`: which pivot is the first zero, from one; 0 for none."""
    zero = jnp.diagonal(lu) == 0
    return jnp.where(zero.any(), jnp.argmax(zero) + 1, 0)


def _getrs(lu: Any, piv: Any, b: Any, trans: int = 0, overwrite_b: int = 0) -> Any:
    return wrap(_lu_solve((value_of(lu), value_of(piv)), jnp.asarray(value_of(b)), trans)), 0


def _gesv(a: Any, b: Any) -> Any:
    lu, pivots = jsl.lu_factor(jnp.asarray(value_of(a)))
    return wrap(lu), wrap(pivots), wrap(jsl.lu_solve((lu, pivots), jnp.asarray(value_of(b)))), _first_zero(lu)


def _trtrs(a: Any, b: Any, lower: int = 0, trans: int = 0, unitdiag: int = 0) -> Any:
    a, b = jnp.asarray(value_of(a)), jnp.asarray(value_of(b))
    found = jsl.solve_triangular(a, b, trans=trans, lower=bool(lower), unit_diagonal=bool(unitdiag))
    return wrap(found), 0 if unitdiag else _first_zero(a)


_ROUTINES: dict[str, Function] = {
    "axpy": _axpy, "scal": _scal, "swap": _swap, "gemv": _gemv, "gemm": _gemm, "trmm": _trmm, "lartg": _lartg,
    "potrf": _potrf, "potrs": _potrs, "getrf": _getrf, "getrs": _getrs, "gesv": _gesv, "trtrs": _trtrs,
    "gtsv": banded.gtsv, "ptsv": banded.ptsv, "gbsv": banded.gbsv, "pbsv": banded.pbsv,
    "dot": lambda x, y, n=None: jnp.dot(value_of(x), value_of(y)),
    "dotu": lambda x, y, n=None: jnp.dot(value_of(x), value_of(y)),
    "dotc": lambda x, y, n=None: jnp.vdot(value_of(x), value_of(y)),
    "nrm2": lambda x, n=None: jnp.linalg.norm(jnp.asarray(value_of(x))),
    "asum": lambda x, n=None: jnp.sum(jnp.abs(jnp.asarray(value_of(x)))),
    "iamax": lambda x, n=None: jnp.argmax(jnp.abs(jnp.asarray(value_of(x)))),
    "copy": lambda x, y, n=None: _overwritten(y, jnp.asarray(value_of(x))),
    "ger": _ger,
}  # fmt: skip
