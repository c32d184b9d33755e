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


def swaps_and_grows(xs: Any) -> Any:
    xs[0], xs[1] = xs[1], xs[0]
    if xs[0][0] > 1:
        xs[0][0] = 0.0
    xs[1].append(xs[0][0])


def one_in_two_places(xs: Any) -> Any:
    xs[1] = xs[0]
    xs[1][0] = xs[0][0] * 2


def a_new_key(xs: Any) -> Any:
    xs.append({"sum": xs[0][0] + xs[1][0]})
    xs[2]["last"] = np.zeros(2)


# What the caller's lists and dicts hold afterwards.
IN_PLACE = {function.__name__: function for function in (swaps_and_grows, one_in_two_places, a_new_key)}


@pytest.mark.parametrize("name", IN_PLACE)
def test_what_is_done_to_a_list_shows_in_it(name: str):
    def after(a: Any, function: Any) -> Any:
        xs = [[a], [a + 1]]
        function(xs)
        return xs

    function = IN_PLACE[name]
    found, want = jax.jit(lambda a: after(a, ag.port(function)))(2.0), after(2.0, function)
    assert jax.tree.structure(found) == jax.tree.structure(want)
    assert all(map(np.array_equal, jax.tree.leaves(found), jax.tree.leaves(want)))


def test_keys_stay_in_their_order():
    assert ag.port(list)({"b": 1, "a": 2}) == ["b", "a"]


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
