"""`scipy.linalg.solve_sylvester`, `solve_continuous_lyapunov` and `sqrtm` on traced matrices, with derivatives.

JAX computes them by Schur factors, which have no derivative. That of a solution solves an equation of the same kind, with the
same matrices. Source: N. J. Higham, Functions of Matrices (SIAM, 2008), sections 6.1 and 6.2.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl


def solve_sylvester(a: Any, b: Any, q: Any) -> jax.Array:
    """The X of a X + X b = q."""
    return jnp.vectorize(_solve_sylvester, signature="(m,m),(n,n),(m,n)->(m,n)")(a, b, q)


def solve_continuous_lyapunov(a: Any, q: Any) -> jax.Array:
    """The X of a X + X a^H = q."""
    return solve_sylvester(a, jnp.swapaxes(a, -1, -2).conj(), q)


def sqrtm(A: Any) -> jax.Array:
    """The principal square root, of eigenvalues below 0 the one with a positive imaginary part. Complex, as JAX's is."""
    return jnp.vectorize(_sqrtm, signature="(n,n)->(n,n)")(A)


def _solve_sylvester(a: jax.Array, b: jax.Array, q: jax.Array) -> jax.Array:
    dtype = jnp.result_type(a, b, q, float)
    a, b, q = (jnp.asarray(part, dtype) for part in (a, b, q))
    factors = jax.lax.stop_gradient((a, b))

    def solve(_: Any, right: jax.Array) -> jax.Array:
        return jsl.solve_sylvester(*factors, right)

    def solve_transposed(_: Any, right: jax.Array) -> jax.Array:
        return jsl.solve_sylvester(*(factor.T for factor in factors), right)

    return jax.lax.custom_linear_solve(lambda x: a @ x + x @ b, q, solve, solve_transposed)


@jax.custom_jvp
def _sqrtm(A: jax.Array) -> jax.Array:
    # the Schur factors of a real matrix tell eigenvalues that are real from pairs, which those of a complex one round
    factor, vectors = jsl.rsf2csf(*jsl.schur(A)) if A.dtype.kind != "c" else jsl.schur(A, "complex")
    return vectors @ _sqrt_of_triangle(factor) @ vectors.conj().T


@_sqrtm.defjvp
def _sqrtm_jvp(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    root = _sqrtm(*primals)
    return root, _solve_sylvester(root, root, tangents[0])


def _sqrt_of_triangle(triangle: jax.Array) -> jax.Array:
    """Column by column, each from the diagonal up."""
    size, on_diagonal = len(triangle), jnp.diag(triangle)
    on_diagonal = jnp.sqrt(jax.lax.complex(on_diagonal.real, jnp.where(on_diagonal.imag == 0, 0.0, on_diagonal.imag)))

    def element(number: Any, root: jax.Array) -> jax.Array:
        column, row = number // size, size - 1 - number % size
        between = triangle[row, column] - root[row] @ jnp.where(jnp.arange(size) < column, root[:, column], 0)
        apart = on_diagonal[row] + on_diagonal[column]
        found = jnp.where(apart == 0, 0, between / jnp.where(apart == 0, 1, apart))
        return root.at[row, column].set(jnp.where(row < column, found, root[row, column]))

    return jax.lax.fori_loop(0, size * size, element, jnp.diag(on_diagonal))
