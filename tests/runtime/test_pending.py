"""What a call of a compiled program does with its output."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

HERE = jax.sharding.SingleDeviceSharding(jax.devices()[0])


def root(x: Any) -> Any:
    if x < 0:
        raise ValueError(f"no root of {x}")
    return jnp.sqrt(x)


def asked(x: Any) -> None:
    if x < 0:
        raise ValueError(f"{x} is negative")


def named_root(x: Any) -> Any:
    return {"root": (root(x), x), "name": "newton" if x > 1 else "halley"}


def rows(x: Any) -> Any:
    """Vectors may fail, numbers do not."""
    if x.ndim:
        asked(x[0])
    return x, [x + 1]


@pytest.mark.parametrize("shardings", [HERE, {"root": HERE, "name": HERE}, {"root": (HERE, HERE), "name": HERE}])
def test_shardings_of_the_output_are_those_of_what_the_function_returns(shardings: Any):
    compiled = ag.jit(named_root, out_shardings=shardings)
    for _ in range(2):  # the second call runs no Python
        assert compiled(4.0) == {"root": (2, 4), "name": "newton"}
        assert compiled(0.25) == {"root": (0.5, 0.25), "name": "halley"}
        with pytest.raises(ValueError, match=r"no root of -1\.0"):
            compiled(-1.0)


def test_a_function_that_returns_nothing_raises():
    compiled = ag.jit(asked)
    for _ in range(2):
        assert compiled(1.0) is None
        with pytest.raises(ValueError, match=r"-1\.0 is negative"):
            compiled(-1.0)


def test_each_program_has_an_output_of_its_own():
    compiled, numbers = ag.jit(rows), jnp.array([2.0, 3.0])
    for _ in range(2):
        assert compiled(-1.0) == (-1, [0])
        np.testing.assert_array_equal(compiled(numbers)[1][0], [3, 4])
        with pytest.raises(ValueError, match=r"-2\.0 is negative"):
            compiled(-numbers)


FOUR, TWO = jnp.array(4.0), jnp.array([4.0, 9.0])


@pytest.mark.parametrize(
    ("around", "x"), [(jax.jit, FOUR), (ag.jit, FOUR), (jax.vmap, TWO), (lambda f: jax.jit(jax.vmap(f)), TWO)]
)
def test_in_another_program_what_is_not_known_is_left_as_it_is(around: Any, x: Any):
    inner = ag.jit(named_root)
    np.testing.assert_array_equal(around(lambda x: inner(x)["root"][0])(x), jnp.sqrt(x))


def test_without_compilation_the_output_is_finished_too():
    with jax.disable_jit():
        assert ag.jit(named_root)(4.0) == {"root": (2, 4), "name": "newton"}
        with pytest.raises(ValueError, match=r"no root of -1\.0"):
            ag.jit(root)(-1.0)


def test_a_choice_is_decided_in_each_call():
    compiled = ag.jit(lambda x: (x + 1, x if x > 1 else None))
    assert [compiled(x) for x in (4.0, 0.25, 4.0, 0.5)] == [(5, 4), (1.25, None), (5, 4), (1.5, None)]
