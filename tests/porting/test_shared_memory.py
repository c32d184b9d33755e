"""What NumPy's functions give shares memory with what they were given, or it does not: each is written, as NumPy would."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

ROWS = ([1.0, 2.0, 3.0], [-1.0, 0.5, 0.0])
PARTS: dict[str, Callable[[Any], Any]] = {
    "ascontiguousarray": lambda m: np.ascontiguousarray(m),
    "ascontiguousarray, turned": lambda m: np.ascontiguousarray(m.T),
    "asfortranarray": lambda m: np.asfortranarray(m),
    "asarray of another type": lambda m: np.asarray(m, dtype=complex).real,
    "atleast": lambda m: np.atleast_1d(m, m[0]),
    "array": lambda m: np.array(m, copy=None),
    "astype": lambda m: m.astype(float, copy=False),
    "base": lambda m: m.T[1:].base,
    "block": lambda m: np.block(m),
    "clip": lambda m: np.clip(m, None, np.inf),
    "conj": lambda m: np.conj(m),
    "conj, a method": lambda m: m.conj(),
    "conjugate, a method": lambda m: m.T.conjugate(),
    "conj of complex numbers": lambda m: m.astype(complex).conj(),
    "diag": lambda m: np.diag(m),
    "einsum, diagonal": lambda m: np.einsum("ii->i", m),
    "einsum, diagonal by numbers": lambda m: np.einsum(m, [0, 0], [0]),
    "einsum, sums": lambda m: np.einsum("ij->i", m),
    "einsum, two arrays": lambda m: np.einsum("ij,ij->ij", m, np.eye(3)),
    "einsum, turned": lambda m: np.einsum("ij->ji", m),
    "flat": lambda m: m.flat[:],
    "flatten": lambda m: m.flatten(),
    "ix_": lambda m: np.ix_(m[0], m[1]),
    "ix_ of one": lambda m: np.ix_(m[:, 1]),
    "meshgrid": lambda m: np.meshgrid(m[0], m[1], copy=False, sparse=True),
    "nan_to_num": lambda m: np.nan_to_num(m),
    "nan_to_num, in place": lambda m: np.nan_to_num(m, copy=False),
    "permute_dims": lambda m: np.permute_dims(m, (1, 0)),
    "positive": lambda m: +m,
    "ravel": lambda m: m.ravel("F"),
    "ravel, turned": lambda m: m.T.ravel("F"),
    "ravel, as in memory": lambda m: m.T.ravel("K"),
    "real_if_close": lambda m: np.real_if_close(m),
    "reduce, along nothing": lambda m: np.add.reduce(m, axis=()),
    "require": lambda m: np.require(m, requirements="C"),
    "require, in Fortran's order": lambda m: np.require(m, requirements="F"),
    "require, memory of its own": lambda m: np.require(m[1:], requirements=["O", "W"]),
    "reversed": lambda m: list(reversed(m)),
    "reshape": lambda m: np.reshape(m.T, 9),
    "reshape, in Fortran's order": lambda m: m.T.reshape(9, order="F"),
    "rot90": lambda m: np.rot90(m, 2),
    "sliding windows": lambda m: np.lib.stride_tricks.sliding_window_view(m[0], 2),
    "unstack": lambda m: np.unstack(m),
    "unstack, columns": lambda m: np.unstack(m, axis=1),
    "where": lambda m: np.where(True, m, 0),  # noqa: FBT003
}


def written(part: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Write into what it gives: what is in the array then, and in the parts."""

    def write(x: Any) -> Any:
        m = np.outer(x, np.arange(1.0, 4.0))
        found = part(m)
        parts = list(found) if isinstance(found, tuple | list) else [found]
        for one in parts:
            if one.flags.writeable:
                one[...] = one * 0 + 7.0
        return m, [one * 1.0 for one in parts]

    return write


@pytest.mark.parametrize("name", PARTS)
def test_written_as_by_numpy(name, x64):
    run = jax.jit(ag.port(written(PARTS[name])))
    for row in ROWS:
        expected, found = (jax.tree.leaves(f(np.array(row))) for f in (written(PARTS[name]), run))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_arrays_broadcast_together(x64):
    """NumPy says that those which have changed their shape will be read-only; so they are here."""

    @ag.port
    def f(x):
        m = np.outer(x, x)
        same, wide = np.broadcast_arrays(m, x)
        same += wide
        return m, np.broadcast_arrays(x, x)[1] is x

    @ag.port
    def g(x):
        np.broadcast_arrays(x, np.zeros((3, 3)))[0][0] = 1.0
        return x

    m, is_same = jax.jit(f)(jnp.arange(3.0))
    np.testing.assert_allclose(m, np.outer(np.arange(3.0), np.arange(3.0)) + np.arange(3.0))
    assert is_same
    with pytest.raises(ValueError, match="read-only"):
        jax.jit(g)(jnp.arange(3.0))
