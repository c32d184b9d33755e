"""A `while` after an error that traced data decides about makes no turn: without a bound it might never end."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax import autograph
from autograph_jax.operators.effects import ended


def turns(v):
    """For ever where v is 0 or less, but for -1."""
    n = 0
    while v != 1:
        v = jnp.where(v % 2 == 0, v // 2, 3 * v + 1)
        n = n + 1
    return n


def check(v):
    if v <= 0:
        raise ValueError("positive", v)


def raised_before(v):
    check(v)
    return turns(v)


def asserted_before(v):
    assert v > 0, "positive"
    return turns(v)


def caught(v):
    try:
        return raised_before(v)
    except ValueError:
        return -1


def in_one_branch(v):
    n = 0
    if v < 20:
        check(v)
        n = turns(v)
    return n


def in_a_branch_before(v):
    if v < 20:
        check(v)
    elif v < 30:
        raise KeyError(v)
    return turns(v)


def in_turns(v):
    n = 0
    for i in range(3):
        check(v - i)
        n = n + turns(v - i)
    return n


def in_turns_that_print(v):
    n, i = 0, 0
    while i < v:
        check(v - 3)
        print(i)
        n = n + turns(v - 3)
        i = i + 1
    return n


def in_a_loop_before(v):
    for i in range(3):
        check(v - i)
    return turns(v)


def in_a_function_that_is_mapped(v):
    jax.vmap(autograph(check))(jnp.stack([v, v + 1]))
    return turns(v)


def in_a_function_that_is_mapped_in_a_branch(v):
    if v < 20:
        jax.vmap(autograph(check))(jnp.stack([v + 1, v]))
    return turns(v)


def in_a_function_that_is_mapped_in_turns(v):
    n = 0
    for i in range(v // 2 + 2):
        jax.vmap(autograph(check))(jnp.stack([v + 1 - i, v + 2]))
        n = n + turns(v + 1)
    return n


def in_a_function_that_is_mapped_and_mapped_in_turns(v):
    n = v
    while n < 40:
        n = jnp.max(jax.vmap(lambda k: jax.vmap(autograph(checked))(jnp.stack([k, k + n])))(jnp.stack([n, n + 3])))
    return turns(v)


def checked(v):
    if v <= 0:
        raise ValueError("positive", v)
    return v + 1


PROGRAMS = [
    in_a_function_that_is_mapped_in_a_branch,
    in_a_function_that_is_mapped_in_turns,
    in_a_function_that_is_mapped_and_mapped_in_turns,
    raised_before,
    asserted_before,
    caught,
    in_one_branch,
    in_a_branch_before,
    in_turns,
    in_turns_that_print,
    in_a_loop_before,
    in_a_function_that_is_mapped,
]


def outcome(function: Any, *arguments: Any) -> Any:
    try:
        return int(function(*arguments))
    except Exception as error:
        return type(error), [int(value) for value in error.args[1:]]


def in_python(function: Any, v: int) -> Any:
    """Plain Python, which never comes to the loop where it would be endless."""
    return outcome(function, jnp.int32(v))


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_the_error_is_pythons(function: Any):
    compiled = ag.jit(function)
    for v in (5, 0, 3, 2):
        assert outcome(compiled, jnp.int32(v)) == in_python(function, v)
    with jax.checking_leaks():
        assert outcome(jax.jit(autograph(function)), jnp.int32(5)) == in_python(function, 5)


@pytest.mark.parametrize("function", [raised_before, in_one_branch, in_a_branch_before], ids=lambda f: f.__name__)
def test_the_error_of_one_lane(function: Any):
    mapped = ag.jit(ag.vmap(function))
    assert mapped(jnp.array([5, 6])).tolist() == [function(5), function(6)]
    with pytest.raises(ValueError, match="positive"):
        mapped(jnp.array([5, 0]))
    tried: Any = ag.jit(ag.vmap(caught))
    assert tried(jnp.array([5, 0])).tolist() == [turns(5), -1]


def doubled(x):
    if x <= 0:
        raise ValueError("positive")
    while x < 2:
        x = x * 2
    return x


@pytest.mark.parametrize("of", [ag.grad, lambda f: jax.grad(jax.checkpoint(f)), lambda f: lambda x: ag.jvp(f, (x,), (1.0,))[1]])
def test_its_gradient(of: Any):
    slope = ag.jit(of(autograph(doubled)))
    assert slope(0.75) == 4.0
    with pytest.raises(ValueError, match="positive"):
        slope(-1.0)


def slopes(x):
    for _ in range(jnp.int32(x) + 2):
        x = x + jax.grad(autograph(doubled))(x)
        while x < 1:
            x = x * 2
    return x


def test_a_gradient_in_turns():
    compiled = ag.jit(slopes)
    assert compiled(0.75) == 5.75
    with pytest.raises(ValueError, match="positive"):
        compiled(-0.5)


def counted(v):
    for _ in range(v):
        while v < 4:
            v = v + 1
    return v


def test_a_function_that_is_compiled_by_itself_asks_nobody_around():
    compiled = jax.jit(autograph(counted))

    def around(v):
        if v > 1:
            jax.vmap(autograph(check))(jnp.stack([v, v + 1]))
            v = compiled(v)
        return v

    assert ag.jit(around)(2) == 4
    assert compiled(3) == 4
    assert compiled(2) == 4


def test_a_program_that_raises_nothing_asks_nothing():
    assert "ordered_callback" not in str(jax.make_jaxpr(autograph(turns))(3))
    assert "cond_nconsts=1" not in str(jax.make_jaxpr(autograph(turns))(3))
    assert "cond_nconsts=1" in str(jax.make_jaxpr(autograph(raised_before))(3))


def printed_before(v):
    print("before", v)
    check(v)
    return v


def printed_behind(v):
    check(v)
    print("behind", v)
    check(v - 5)
    return v


def of_two(v):
    check(v)
    if v > 3:
        raise KeyError(v)
    return v


@pytest.mark.parametrize("function", [printed_before, printed_behind, of_two], ids=lambda f: f.__name__)
def test_the_first_error_is_the_programs_and_nothing_is_printed_behind_it(function: Any, capsys: pytest.CaptureFixture[str]):
    compiled = ag.jit(function)
    for v in (8, 0, 2):
        found, printed = outcome(compiled, jnp.int32(v)), capsys.readouterr().out
        assert (found, printed) == (in_python(function, v), capsys.readouterr().out)


def test_an_error_has_an_order_only_behind_what_has_one():
    ordered = [str(jax.make_jaxpr(autograph(function))(3)).count("has_order=True") for function in (of_two, printed_before)]
    assert ordered == [0, 2]


def test_python_is_not_called_for_lanes_without_an_error():
    text = jax.jit(jax.vmap(autograph(check))).lower(jnp.array([5, 6])).as_text()
    assert text.index("stablehlo.case") < text.index("xla_ffi_python_cpu_callback")


def test_outside_of_programs_nothing_is_noted():
    """What a block puts back when its program is over would end all loops that come later."""
    ended._flag.write(jnp.asarray(True))
    assert ended.has_failed() is False
    assert ag.while_loop(lambda n: n < 3, lambda n: n + 1, 0) == 3
