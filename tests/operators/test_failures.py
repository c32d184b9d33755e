"""An error in a staged loop ends it: the loop carries which error it was, and calls Python once, when it is over."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax import autograph


def in_while(x, n):
    i = 0
    while i < n:
        x = x - 1
        i += 1
        assert x > 0, f"x is {x} after {i} turns"
    return x


def in_inner_loop(x, n):
    for i in range(n):
        for j in range(3):
            x = x - 1
            if x < 0:
                raise ValueError(f"{x} in turn {i}, {j}")
        x = x + 1
    return x


def in_a_branch(x, n):
    for _ in range(n):
        if x > 3:
            x = x - 1
        else:
            if x < 2:
                raise ValueError("low", x)
            x = x - 0.5
    return x


def of_two_kinds(x, n):
    for i in range(n):
        x = x - 1
        if x < 0:
            if x < -5:
                raise ValueError(f"far below: {x}")
            else:
                raise KeyError("below", i)
    return x


def in_each_turn(x, n):
    for i in range(n):
        raise ValueError(f"{x} in turn {i}")
    return x


def root(v):
    if v < 0:
        raise ArithmeticError(f"{v:.2f} is negative")
    return v * 2


def in_a_callee(x, n):
    total = 0.0
    while n > 0:
        total = total + root(x)
        x = x - 1.0
        n = n - 1
    return total


def in_the_test(x, n):
    def small(v):
        assert v > 0, f"v is {v}"
        return v < 100

    while small(x):
        x = x * 2 - n - 2
    return x


def beside_an_else(x, n):
    while n > 0:
        n = n - 1
        x = x - 1
        assert x > 0, "negative"
    else:
        x = x + 100
    return x


def beside_a_break(x, n):
    for i in range(n):
        x = x - 1
        if x < 0.75:
            raise ValueError(f"{x} in turn {i}")
        if x < 2:
            break
    else:
        x = x + 50
    return x


def beside_a_return(x, n):
    for i in range(n):
        x = x - 1
        if x < 0.75:
            raise ValueError(f"{x} in turn {i}")
        if x < 2:
            return x * 100
    return x


def before_a_loop_without_end(x, n):
    """What comes after the error in its turn is computed from nonsense, and must come to an end."""
    for _ in range(n):
        x = x - 1
        assert x > 0, f"x is {x}"
        y = x
        while y != 0:
            y = jnp.where(y > 0, jnp.maximum(y - 1, 0.0), y)
    return x


def in_a_loop_of_a_branch(x, n):
    if x > 0:
        for _ in range(n):
            x = x - 1
            assert x > 0, f"x is {x}"
        x = x + 1
    else:
        x = x * 2
    return x


def in_two_loops(x, n):
    for _ in range(n):
        x = x - 0.25
        assert x > 1, f"first: {x}"
    for _ in range(n):
        x = x - 1
        assert x > 0, f"second: {x}"
    return x


def of_a_static_range(x, n):
    for i in range(6):
        x = x * 0.5
        assert x > 0.25, f"{x} in turn {i}"
    return x + n


def with_an_array(x, n):
    v = x * jnp.array([1.0, 2.0])
    while n > 0:
        v = v - 1
        n = n - 1
        assert v[0] > 0, f"{v} with {n} to go"
    return v[1]


class OwnError(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first}, {second}")
        self.first = first


def of_an_own_class(x, n):
    for _ in range(n):
        x = x - 1
        if x < 0:
            raise OwnError("a", 1)
    return x


LOOPS = [in_while, in_inner_loop, in_a_branch, of_two_kinds, in_each_turn, in_a_callee, in_the_test, beside_an_else]
LOOPS += [beside_a_break, beside_a_return, before_a_loop_without_end, in_a_loop_of_a_branch, in_two_loops]
LOOPS += [of_a_static_range, with_an_array, of_an_own_class]


def outcome(function: Any, x: float, n: int) -> Any:
    try:
        return float(function(x, n))
    except Exception as error:
        return type(error), first_line(error)


def first_line(error: BaseException) -> str:
    """What pytest adds to the text of an `assert` in plain Python stands below it."""
    return str(error).partition("\n")[0]


@pytest.mark.parametrize("function", LOOPS, ids=lambda f: f.__name__)
def test_the_error_is_pythons(function: Any):
    jitted = ag.jit(function)
    wanted = [outcome(function, x, n) for x in (40.0, 7.5, 2.5, 1.5) for n in (0, 3)]
    assert {type(result) for result in wanted} == {float, tuple}  # both happen
    assert [outcome(jitted, jnp.float32(x), jnp.int32(n)) for x in (40.0, 7.5, 2.5, 1.5) for n in (0, 3)] == wanted


def loops(jaxpr: Any) -> Iterator[Any]:
    """The jaxprs of all loops in a jaxpr."""
    for equation in jaxpr.eqns:
        for inner in jax.tree.leaves(list(equation.params.values()), is_leaf=lambda p: hasattr(p, "eqns")):
            inner = getattr(inner, "jaxpr", inner)
            if hasattr(inner, "eqns"):
                yield from [inner] if equation.primitive.name in ("while", "scan") else loops(inner)


@pytest.mark.parametrize("function", LOOPS, ids=lambda f: f.__name__)
def test_no_turn_calls_python(function: Any):
    jaxpr = jax.make_jaxpr(autograph(function))(1.0, 3).jaxpr
    found = list(loops(jaxpr))
    assert found
    assert "callback" in str(jaxpr)
    assert not any("callback" in str(loop) for loop in found)


@pytest.mark.parametrize("function", [in_while, in_inner_loop, of_two_kinds, of_a_static_range], ids=lambda f: f.__name__)
def test_one_lane_is_enough(function: Any):
    mapped = ag.jit(jax.vmap(autograph(function)))
    good = [function(x, n) for x, n in [(40.0, 3), (50.0, 2)]]
    assert mapped(jnp.array([40.0, 50.0]), jnp.array([3, 2])).tolist() == good
    kind, text = outcome(function, 1.5, 3)
    with pytest.raises(kind) as raised:
        mapped(jnp.array([40.0, 1.5, 50.0]), jnp.array([3, 3, 2]))
    assert first_line(raised.value) == text


def test_a_lane_that_has_ended_does_not_fail():
    def f(x, n):
        while n > 0:
            assert x > 0
            x = x - 1
            n = n - 1
        return x

    assert ag.jit(jax.vmap(autograph(f)))(jnp.array([2.0, 9.0]), jnp.array([2, 8])).tolist() == [0.0, 1.0]


def test_the_gradient_of_a_loop_with_an_assert():
    for slope in (ag.jit(jax.grad(autograph(of_a_static_range))), jax.grad(ag.jit(of_a_static_range))):
        assert slope(40.0, 1.0) == 0.5**6
        with pytest.raises(AssertionError, match=r"0.1875 in turn 2"):
            slope(1.5, 1.0)


def shown(capsys: pytest.CaptureFixture[str], function: Any, *arguments: Any) -> list[str]:
    with pytest.raises(AssertionError):
        function(*arguments)
    return capsys.readouterr().out.splitlines()


def test_prints_stay_in_order(capsys: pytest.CaptureFixture[str]):
    def f(x, n):
        for i in range(n):
            print("before", i)
            x = x - 1
            assert x > 0
            print("after", i)
        return x

    want = shown(capsys, f, 2.0, 4)
    assert want == ["before 0", "after 0", "before 1"]
    assert shown(capsys, ag.jit(f), 2.0, 4) == want


def test_prints_around_an_inner_loop_stay_in_order(capsys: pytest.CaptureFixture[str]):
    def f(x, n):
        for i in range(n):
            for _ in range(2):
                x = x - 1
                assert x > 0
            print(i, x)
        return x

    assert shown(capsys, ag.jit(f), 5.5, 4) == shown(capsys, f, 5.5, 4)


def test_nothing_of_the_users_is_called_after_the_error():
    seen = []

    def f(x, n):
        for i in range(n):
            x = x - 1
            assert x > 0
            jax.debug.callback(seen.append, i, ordered=True)
        return x

    with pytest.raises(AssertionError):
        ag.jit(f)(2.0, 4)
    assert list(map(int, seen)) == [0]


def doubled(v):
    assert v > 0, f"v is {v}"
    return v * 2


def in_jit(x, n):
    double = jax.jit(doubled)
    for _ in range(n):
        assert x < 100
        x = double(x - 1) / 2
    return x


def in_vmap(x, n):
    for _ in range(n):
        x = x - 1
        x = x + jax.vmap(doubled)(jnp.stack([x, x])).sum() * 0
        assert x < 100
    return x


def in_grad(x, n):
    for _ in range(n):
        assert x < 100
        x = x - jax.grad(doubled)(x - 1) / 2
    return x


def in_scan(x, n):
    for _ in range(n):
        assert x < 100
        x = jax.lax.scan(lambda v, _: (doubled(v) / 2, None), x - 1, None, length=2)[0]
    return x


@pytest.mark.parametrize("function", [in_jit, in_vmap, in_grad, in_scan], ids=lambda f: f.__name__)
def test_what_jax_traces_by_itself_raises_at_its_own_place(function: Any):
    jitted = ag.jit(function)
    assert jitted(9.0, 3) == 6
    with pytest.raises(AssertionError, match=r"^v is -0.5"):
        jitted(1.5, 3)


def test_a_jitted_function_that_prints_serves_all_blocks(capsys: pytest.CaptureFixture[str]):
    @jax.jit
    @autograph
    def double(v):
        if v > 3:
            print(v)
        return v * 2

    def f(x, n):
        y = 0
        for _ in range(n):
            x = double(x) - x - 1
            y = y + x
        if x > 2:
            y = double(x)
        else:
            y = double(x) + 1
        return y

    assert ag.jit(f)(7.0, jnp.int32(3)) == 8
    assert capsys.readouterr().out.split() == ["7.0", "6.0", "5.0", "4.0"]
