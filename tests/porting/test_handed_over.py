"""What is written into an argument, a NumPy array of the caller's: refused under jit, but for one made for the call."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

TABLE = np.zeros(3)


@ag.port
def fill(f: Any, x: Any, v: Any, **_: Any) -> Any:
    x[1] = f(v)
    return x


def same(v: Any) -> Any:
    return v


class Holder:
    pass


def in_an_attribute(v: Any) -> Any:
    holder = Holder()
    holder.arguments = same, np.zeros(3), v
    return fill(*holder.arguments), holder


def in_a_tuple(v: Any) -> Any:
    arguments = same, np.zeros(3), v
    return fill(*arguments), arguments


def in_a_variable(v: Any) -> Any:
    x = np.zeros(3)
    fill(same, x, **{"v": v, "more": 1})
    return x


MADE_FOR_THE_CALL = {
    "position": lambda v: fill(same, np.zeros(3), v),
    "name": lambda v: fill(f=same, x=np.zeros(3), v=v),
    "options": lambda v: fill(same, np.zeros(3), v, **{}),
    "more options": lambda v: fill(same, np.zeros(3), **{"v": v, "more": 1}),
}
HELD = {
    "global": lambda v: fill(same, TABLE, v),
    "global and options": lambda v: fill(same, TABLE, v, **{}),
    "by name": lambda v: fill(f=same, x=TABLE, v=v),
    "attribute": in_an_attribute,
    "tuple": in_a_tuple,
    "variable": in_a_variable,
}


@pytest.mark.parametrize("name", MADE_FOR_THE_CALL)
def test_what_is_made_for_the_call_is_written(name: str):
    assert jax.jit(MADE_FOR_THE_CALL[name])(2.0).tolist() == [0, 2, 0]


@pytest.mark.parametrize("name", HELD)
def test_what_somebody_holds_is_refused(name: str):
    with pytest.raises(ag.PortingError, match="written into an argument that is a NumPy array"):
        jax.jit(HELD[name])(2.0)
    assert TABLE.tolist() == [0, 0, 0]


def test_polynomials_leave_with_their_coefficients():
    def f(x: Any) -> Any:
        return np.poly1d(x[::-1])

    assert jax.jit(lambda x: ag.port(f)(x).coeffs)(jnp.arange(1.0, 4.0)).tolist() == [3, 2, 1]
    with pytest.raises(ag.PortingError, match="would take zeros away"):
        jax.block_until_ready(ag.jit(lambda x: ag.port(f)(x).coeffs)(jnp.array([1.0, 0.0])))


class Result(dict[str, Any]):
    """As SciPy's, whose `message` a solver chooses."""


def test_a_dict_of_a_class_leaves_as_itself():
    def f(x: Any) -> Any:
        return Result(x=x * 2, message="small" if x < 1 else "large")

    def g(x: Any) -> Any:
        found = ag.port(f)(x)
        assert type(found) is Result
        return found["x"]

    assert jax.jit(g)(2.0) == 4
