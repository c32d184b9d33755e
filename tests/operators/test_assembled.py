"""A while loop that is put together of programs is the one that lax would have traced."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.operators.staging import assembled

TABLE, KEY = np.arange(6.0), jax.random.key(7)
made: list[bool] = []


@pytest.fixture(autouse=True)
def heard(monkeypatch: pytest.MonkeyPatch) -> None:
    own = assembled.while_loop

    def while_loop(*arguments: Any) -> Any:
        found = own(*arguments)
        made.append(found is not None)
        return found

    made.clear()
    monkeypatch.setattr(assembled, "while_loop", while_loop)


def halved(x: Any, a: Any) -> Any:
    while x > a:
        x = x / 2
    return x


def with_numbers_that_are_known(x: Any, a: Any) -> Any:
    step, most, n = 0.5, 7, 0
    while x > a and n < most:
        x = x - step
        n += 1
    return x, n, most


def what_is_read_alone(x: Any, a: Any) -> Any:
    rows, other, n = jnp.arange(9.0) * a, x, 0
    while rows[n] < x:
        n = n + 1
    return n, other, rows


def what_is_handed_on(x: Any, a: Any) -> Any:
    first, second, third = x, a, 1.0 * a
    while first + second < 20 * a:
        first, second, third = second, first + third, second
    return first, second, third


def one_array_in_two_variables(x: Any, a: Any) -> Any:
    y = z = x
    while y < 9 * a:
        y = y + z + x
    return y, z


def an_array_that_the_test_reads_by_another_name(x: Any, a: Any) -> Any:
    y = z = jnp.arange(3.0) + x
    n = 0
    while z[1] < 40 * a and n < 9:
        y[:] = 2 * y + a
        n += 1
    return y, z, n


def random_numbers(x: Any, a: Any) -> Any:
    key = jax.random.key(3)
    while x > a:
        x = x / (1.5 + jax.random.uniform(key)) - jax.random.uniform(KEY)
    return x


def constants_and_branches(x: Any, a: Any) -> Any:
    last = jnp.zeros(6)
    x = x * a
    while x > 0:
        if x > a:
            x = x - TABLE[2] * a
            last = last + TABLE
        else:
            x = x - 1
    return x, last


def flags(x: Any, a: Any) -> Any:
    going = True
    seen = False
    while going:
        x = x * 0.5
        seen = True
        going = x > a
    return x, seen, going


def loops_in_loops(x: Any, a: Any) -> Any:
    total, n = 0.0 * x, 0
    while n < a + 2:
        k = 0
        while k < n:
            total = total + x * k - a
            k += 1
        n += 1
    return total


def writes_in_place(x: Any, a: Any) -> Any:
    y, n = jnp.zeros(5) * a, 1
    while n < 5 and y[n - 1] < x:
        y[n] = y[n - 1] + a
        n += 1
    return y


def writes_beside_loops(x: Any, a: Any) -> Any:
    y, n, b = jnp.arange(5.0) * a, 0, x * a
    while n < a:
        k = 0
        while k < a:
            b = x + b
            k += 1
        for v in y:
            if v > b:
                break
        y[0] = b
        n += 1
    return y


class Walker:
    def __init__(self, place: Any) -> None:
        self.place, self.steps = place, 0


def in_an_object(x: Any, a: Any) -> Any:
    walker, dictionary = Walker(x), {"left": x, "kept": (a, 1)}
    while dictionary["left"] > a:
        walker.place = walker.place + a
        walker.steps += 1
        dictionary["left"] = dictionary["left"] - a
    return walker.place, walker.steps, dictionary


def left_in_the_middle(x: Any, a: Any) -> Any:
    while x > 0:
        x = x - 1
        if x < a:
            break
    return x


def with_an_assertion(x: Any, a: Any) -> Any:
    while x > a:
        x = x / 2
        assert x > -1
    return x


def weak_numbers_that_become_strong(x: Any, a: Any) -> Any:
    y = 1.0
    while y < x:
        y = y * a + jnp.asarray(x)
    return y


def a_number_that_becomes_a_vector(x: Any, a: Any) -> Any:
    y, n = 0.0, 0
    while n < 3 * a:
        y = y + jnp.ones(2) * x
        n += 1
    return y


PROGRAMS: dict[Callable[..., Any], bool] = {
    halved: True, with_numbers_that_are_known: True, what_is_read_alone: True, what_is_handed_on: True,
    an_array_that_the_test_reads_by_another_name: True, random_numbers: True,
    one_array_in_two_variables: True, constants_and_branches: True, flags: False, loops_in_loops: True, writes_in_place: True,
    writes_beside_loops: True,
    in_an_object: True, left_in_the_middle: False, with_an_assertion: False, a_number_that_becomes_a_vector: True,
    weak_numbers_that_become_strong: False,
}  # fmt: skip


def _by_lax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembled, "while_loop", lambda *_: None)


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_is_the_loop_of_lax(program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, x64: None):
    converted = ag.autograph(program)
    text = str(jax.make_jaxpr(lambda *given: converted(*given))(np.float64(8.0), np.float64(1.5)))
    assert any(made) == PROGRAMS[program]
    values = jax.jit(converted)(8.0, 1.5)
    tangents = jax.jit(lambda x, a: jax.jvp(converted, (x, a), (1.0, 0.5)))(8.0, 1.5)
    lanes = jax.jit(jax.vmap(converted))(jnp.array([8.0, 3.0]), jnp.array([1.5, 2.0]))
    _by_lax(monkeypatch)
    assert str(jax.make_jaxpr(lambda *given: converted(*given))(np.float64(8.0), np.float64(1.5))) == text
    writes = (writes_in_place, writes_beside_loops, an_array_that_the_test_reads_by_another_name)
    wanted = program(np.float64(8.0), np.float64(1.5)) if program not in writes else converted(8.0, 1.5)
    assert_same(values, wanted)
    assert_same(tangents, jax.jit(lambda x, a: jax.jvp(lambda *g: converted(*g), (x, a), (1.0, 0.5)))(8.0, 1.5))
    assert_same(lanes, jax.jit(jax.vmap(lambda *g: converted(*g)))(jnp.array([8.0, 3.0]), jnp.array([1.5, 2.0])))


def assert_same(found: Any, wanted: Any) -> None:
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        if getattr(one, "dtype", None) != jax.dtypes.float0:
            np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float))


def test_what_else_is_asked_for_is_traced_by_lax():
    bounded = ag.autograph(max_steps=5)(halved)
    assert jax.jit(bounded)(8.0, 1.5) == 1
    mapped = jax.jit(jax.vmap(lambda x: ag.autograph(in_a_branch)(x, 1.5)))
    assert [*mapped(jnp.array([8.0, 1.0]))] == [1.0, 1.0]
    assert made and not any(made)


def in_a_branch(x: Any, a: Any) -> Any:
    if x > 2:
        while x > a:
            x = x / 2
    return x


def test_gradients():
    converted = ag.autograph(what_is_handed_on)
    gradient = jax.jit(jax.grad(lambda x, a: sum(converted(x, a)), (0, 1)))(1.0, 2.0)
    step = 2**-10
    slope = (sum(what_is_handed_on(1.0 + step, 2.0)) - sum(what_is_handed_on(1.0, 2.0))) / step
    np.testing.assert_allclose(gradient[0], slope, rtol=1e-3)
    assert all(made)


def test_a_test_that_fails_before_it_compares():
    def divided(n: Any) -> Any:
        k = 0
        while 1 // k > n:
            k = k + 1
        return k

    with pytest.raises(ZeroDivisionError):
        ag.jit(divided)(1)
