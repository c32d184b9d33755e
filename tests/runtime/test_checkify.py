"""`ag.checkify`: errors as values, in every transform, and JAX's other categories beside them."""

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import checkify

import autograph_jax as ag
from autograph_jax import autograph


def in_for(x, n):
    for i in range(n):
        x = x - 1
        assert x > 0, f"x is {x} in turn {i}"
    return x


def in_while(x, n):
    while x > -n:
        x = x - 1
        if x < 0:
            raise ValueError(f"x is {x}")
        if x > 50:
            break
    return x


def without_end(x, n):
    """After the error the loop would never end."""
    while x != 0:
        assert x > 0, f"x is {x}"
        x = x - 1
    return x + n


def in_a_static_loop(x, n):
    for i in range(4):
        x = x * 0.5
        assert x > 0.1, f"x is {x} in turn {i}"
    return x + n


def in_scan(x, n):
    def step(carry, _):
        assert carry > 0, f"x is {carry}"
        return carry - 1, None

    return jax.lax.scan(step, x, None, length=3)[0] + n


def in_a_branch(x, n):
    if x > 0:
        x = x + n
    else:
        raise KeyError("no", x)
    return x


def without_text(x, n):
    assert x > 0
    return x + n


def jitted_inside(x, n):
    return jax.jit(in_a_branch)(x, n)


PROGRAMS = {  # by program, with 1.5 and 3: what the error's text begins with
    in_for: "AssertionError: x is -0.5 in turn 1",
    in_while: "ValueError: x is -0.5",
    without_end: "AssertionError: x is -0.5",
    in_a_static_loop: "AssertionError: x is 0.09375 in turn 3",
    in_scan: "AssertionError: x is -0.5",
}


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_in_loops(function: Any):
    checked = jax.jit(ag.checkify(function))
    good = 40.0 if function is not in_while else 52.0
    error, value = checked(good, 3)
    assert error.get() is None
    assert value == autograph(function)(good, 3)
    error, _ = checked(1.5, 3)
    assert error.get().startswith(PROGRAMS[function])


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_nothing_calls_python(function: Any):
    assert "callback" not in str(jax.make_jaxpr(ag.checkify(function))(1.5, 3))


def test_in_branches():
    texts = {in_a_branch: "KeyError: ('no', -2.0)", jitted_inside: "KeyError: ('no', -2.0)", without_text: "AssertionError ("}
    for function, text in texts.items():
        error, _ = jax.jit(ag.checkify(function))(-2.0, 3)
        assert error.get().startswith(text)
        error, value = jax.jit(ag.checkify(function))(2.0, 3)
        assert (error.get(), value) == (None, 5.0)


def test_the_text_names_file_and_line():
    error, _ = jax.jit(ag.checkify(without_text))(-2.0, 3)
    place = re.search(r"\((.*):(\d+)\)", error.get())
    assert place is not None
    assert place[1] == __file__
    assert Path(__file__).read_text(encoding="utf-8").splitlines()[int(place[2]) - 1].strip() == "assert x > 0"


def test_throw_raises_as_jaxs_own():
    error, _ = jax.jit(ag.checkify(in_for))(1.5, 3)
    with pytest.raises(checkify.JaxRuntimeError, match="x is -0.5 in turn 1"):
        error.throw()
    jax.jit(ag.checkify(in_for))(40.0, 3)[0].throw()


def test_eager():
    error, _ = ag.checkify(in_for)(jnp.float32(1.5), jnp.int32(3))
    assert error.get().startswith("AssertionError: x is -0.5 in turn 1")


def test_what_python_decides_it_raises():
    with pytest.raises(ValueError, match="x is -0.5"):
        ag.checkify(in_while)(1.5, 3)


@pytest.mark.parametrize("function", [in_for, in_a_static_loop, in_a_branch], ids=lambda f: f.__name__)
def test_vmap(function: Any):
    error, value = jax.jit(jax.vmap(ag.checkify(function), in_axes=(0, None)))(jnp.array([40.0, -1.0]), 3)
    assert error.get().startswith("at mapped index 1: ")
    assert value[0] == function(40.0, 3)
    error, _ = jax.jit(ag.checkify(jax.vmap(autograph(function), in_axes=(0, None))))(jnp.array([40.0, -1.0]), 3)
    assert error.get() is not None


def test_scan():
    def step(x, _):
        error, x = ag.checkify(in_a_branch)(x, -1)
        return x, error

    errors = jax.jit(lambda x: jax.lax.scan(step, x, None, length=3)[1])(1.5)
    assert errors.get().startswith("at mapped index 2: KeyError: ('no', -0.5)")


def test_grad():
    error, slope = jax.jit(ag.checkify(jax.grad(autograph(in_a_static_loop))))(40.0, 0.0)
    assert (error.get(), slope) == (None, 0.0625)
    slope, error = jax.jit(jax.grad(lambda x: ag.checkify(in_a_static_loop)(x, 0.0)[::-1], has_aux=True))(1.5)
    assert (error.get()[:23], slope) == ("AssertionError: x is 0.", 0.0625)


def test_a_cached_program_serves_only_its_side():
    inner = ag.jit(in_a_branch)

    def outer(x):
        return inner(x, 1)

    for _ in range(2):
        error, _ = jax.jit(ag.checkify(outer))(-2.0)
        assert error.get().startswith("KeyError: ('no', -2.0)")
        with pytest.raises(KeyError, match="no"):
            ag.jit(outer)(-2.0)


def test_prints_end_with_the_error(capsys: pytest.CaptureFixture[str]):
    def f(x, n):
        for i in range(n):
            print("before", i)
            x = x - 1
            assert x > 0
            print("after", i)
        return x

    error, _ = jax.jit(ag.checkify(f))(2.0, 4)
    jax.effects_barrier()
    assert error.get().startswith("AssertionError (")
    assert capsys.readouterr().out.splitlines() == ["before 0", "after 0", "before 1"]


def test_categories():
    def root(x):
        if x < -5:
            raise ValueError("far below")
        return jnp.sqrt(x)

    nan = checkify.nan_checks
    assert jax.jit(ag.checkify(root, errors=nan))(-9.0)[0].get().startswith("nan generated by primitive: sqrt")
    assert jax.jit(ag.checkify(root))(-4.0)[0].get() is None
    both = jax.jit(ag.checkify(errors=nan | checkify.user_checks)(root))
    assert both(-9.0)[0].get().startswith("ValueError: far below")
    assert both(-4.0)[0].get().startswith("nan generated by primitive: sqrt")


def test_methods_and_keywords():
    class Model:
        limit = 2.0

        @ag.checkify
        def step(self, x, *, by=1.0):
            if x > self.limit:
                raise ValueError(f"{x} is above {self.limit}")
            return x + by

    error, value = jax.jit(lambda x: Model().step(x, by=2.0))(1.0)
    assert (error.get(), value) == (None, 3.0)
    assert jax.jit(lambda x: Model().step(x))(3.0)[0].get().startswith("ValueError: 3.0 is above 2.0")
    assert Model.step.__name__ == "step"


def test_only_functions():
    with pytest.raises(ag.NotAFunctionError):
        ag.checkify(3)
