"""What is computed from an array and written into it, where XLA on the CPU would read what it has just written."""

import jax
import jax.numpy as jnp
import jax.test_util
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.porting.replacing import is_made_of, replaced

X = np.array([3.0, 1.0, 2.0, 5.0, 4.0, 8.0, 7.0, 6.0])


def largest_so_far(x):
    return np.maximum.accumulate(x) if isinstance(x, np.ndarray) else jax.lax.cummax(x)


MADE = {
    "cumsum": lambda x: x.cumsum(),
    "cummax": largest_so_far,
    "permuted": lambda x: x[np.array([3, 1, 2, 0, 5, 4, 7, 6])],
    "doubled": lambda x: x * 2,
    "given": lambda x: x,
    "times one": lambda x: x.cumsum() * 1.0,
}


def shifted(y):
    y[1:] = y[:-1]
    return y


def shifted_to_the_left(y):
    y[:-1] = y[1:]
    return y


def added_to(y):
    y[1:] += y[:-1]
    return y


def stencil(y):
    y[1:-1] = 0.5 * (y[2:] + y[:-2])
    return y


def reversed_in_part(y):
    y[:5] = y[:5][::-1]
    return y


def first_of_them(y):
    y[:4] = y[0] * 2
    return y


def scaled_by_an_element(y):
    y[:4] /= y[1]
    return y


def row_reversed(y):
    m = y.reshape(2, 4) + 0.0
    m[0] = m[0][::-1]
    return m


def columns_shifted(y):
    m = (y * 3).reshape(2, 4).copy()
    m[:, 1:] = m[:, :-1]
    return m


def with_an_ellipsis(y):
    y[..., 1:] = y[..., :-1]
    y[...] = y[None, ::-1][0]
    return y


def twice(y):
    y[1:4] = y[:3]
    y[4:7] = y[3:6]
    return y


def in_a_loop(y):
    for _ in range(3):
        z = y.cumsum()
        z[1:] = z[:-1]
        y = z / 2
    return y


def in_a_branch(y):
    if y[0] > 0:
        y[1:] = y[:-1]
    else:
        y[:4] = y[:4][::-1]
    return y


WRITTEN = [
    shifted, shifted_to_the_left, added_to, stencil, reversed_in_part, first_of_them, scaled_by_an_element, row_reversed,
    columns_shifted, twice, in_a_loop, in_a_branch, with_an_ellipsis,
]  # fmt: skip


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("written", WRITTEN, ids=lambda function: function.__name__)
@pytest.mark.parametrize("convert", [ag.autograph, ag.port])
def test_all_is_read_before_it_is_written(convert, written, made: str, x64: None):
    def program(x):
        return written(MADE[made](x))

    want = program(X.copy())
    np.testing.assert_allclose(jax.jit(convert(program))(jnp.array(X)), want, rtol=1e-15)
    np.testing.assert_allclose(jax.jit(jax.vmap(convert(program)))(jnp.array([X, X]))[1], want, rtol=1e-15)


@pytest.mark.parametrize("written", WRITTEN, ids=lambda function: function.__name__)
def test_derivatives(written, x64: None):
    program = ag.autograph(lambda x: written(MADE["cumsum"](x) * x))
    jax.test_util.check_grads(jax.jit(program), (jnp.array(X),), order=2, modes=("fwd", "rev"), rtol=1e-4)


def test_what_an_array_is_made_of():
    """`parent` and `in_tracers` are JAX's own: where they have moved, each of these is False."""
    found = []

    def program(x):
        y = jnp.cumsum(x)
        found.extend([is_made_of(y[:-1] + 1, y), is_made_of(y[0], y * 1.0), is_made_of(jnp.sin(x), y), is_made_of(x[1:], x)])
        return y

    jax.jit(program)(X)
    assert found == [True, True, False, False]


def test_an_argument_is_written_in_place():
    def turn(x):
        x[1:] = x[:-1]
        return x

    text = str(jax.make_jaxpr(ag.autograph(turn))(X))
    assert "scatter" in text
    assert "select" not in text


@pytest.mark.parametrize("kind", ["int8", "int32", "uint8", "weak"])
@pytest.mark.parametrize("index", [(2,), (-1,), (9,), (1, -2), (-7, 3)])
def test_an_element_is_written_by_the_equations_of_jaxs_own_write(index, kind):
    array, value = jnp.zeros((5, 4)[: len(index)]), jnp.ones(())
    parts = [one if kind == "weak" else jnp.asarray(one % 256 if kind == "uint8" else one, kind) for one in index]

    def programs(write):
        known = jax.make_jaxpr(lambda x, v, *i: write(x, (index[0], *i), v))(array, value, *parts[1:])
        return str(jax.make_jaxpr(lambda x, v, *i: write(x, i, v))(array, value, *parts)), str(known)

    assert programs(replaced) == programs(lambda x, i, v: x.at[i].set(v))
