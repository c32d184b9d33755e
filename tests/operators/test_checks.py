"""Errors that traced data decides about reach the caller, if the code that asks is reached."""

import logging
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autograph_jax import autograph, jit
from autograph_jax.errors import StagingError, UnboundError
from autograph_jax.operators import jax_private
from autograph_jax.operators.effects import checks


def unbound(x):
    if x > 0:
        y = x
    return y


def in_branch(x):
    if x > 0:
        y = x
    if x > -5:
        x = x + y
    return x


def in_loop(x):
    for i in range(4):
        if i < x:
            y = i
        if i > 2:
            x = x + y
    return x


def after_loop(n):
    for i in range(n):
        y = i * 2
    return y


def loop_variable(n):
    for i in range(n):
        pass
    return i


def left_early(x):
    while x > 0:
        y = x
        x = x - 1
        if x < 2:
            break
    return y


def in_while_test(x):
    if x > 0:
        limit = 3.0
    while x < limit:
        x = x + 1
    return x


def deleted(x):
    y = x
    if x > 0:
        del y
    return y


def in_an_inner_function(x):
    if x > 0:
        y = x

    def inner():
        return y

    return inner()


def handed_on_by_an_inner_function(x):
    def inner():
        return constant(y)

    def constant(value):
        return 3.0

    while x > 0:
        y = x = x - 1
    return inner()


def read_alone_by_a_lambda(x):
    for k in range(3):
        if x > k:
            y = k
    return (lambda: (y, 1.0))()[1]


def in_a_generator(x):
    if x > 0:
        y = x
    return sum(y * k for k in range(3))


def in_an_inner_function_twice(x):
    x > 0 and (y := x)

    def inner():
        def innermost():
            return [y for _ in range(2)][0]

        return innermost()

    return inner()


CASES = [  # a program, an argument with which Python gives a value, and one with which it raises
    (unbound, 1.0, -1.0),
    (in_branch, -7.0, -1.0),
    (in_loop, 2, 0),
    (after_loop, 3, 0),
    (loop_variable, 3, 0),
    (left_early, 5.0, 0.0),
    (in_while_test, 1.0, -1.0),
    (deleted, -1.0, 1.0),
    (in_an_inner_function, 1.0, -1.0),
    (handed_on_by_an_inner_function, 2.0, -1.0),
    (read_alone_by_a_lambda, 1.0, -1.0),
    (in_a_generator, 1.0, -1.0),
    (in_an_inner_function_twice, 1.0, -1.0),
]


@pytest.mark.parametrize(("function", "good", "bad"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_unbound(function: Any, good: Any, bad: Any, caplog: pytest.LogCaptureFixture):
    with pytest.raises(NameError):
        function(bad)
    jitted = jax.jit(autograph(function))
    assert jitted(good) == function(good)
    with caplog.at_level(logging.CRITICAL), pytest.raises(Exception, match="has no value here"):
        jax.block_until_ready(jitted(bad))
    assert jitted(good) == function(good)


LANES = [(unbound, [1.0, 2.0], [1.0, -1.0]), (in_branch, [-7.0, -6.0], [-7.0, -1.0]), (in_loop, [2, 3], [3, 0])]


@pytest.mark.parametrize(("function", "good", "bad"), LANES, ids=lambda v: getattr(v, "__name__", ""))
def test_vmap_asks_only_the_lanes_that_get_there(function: Any, good: Any, bad: Any, caplog: pytest.LogCaptureFixture):
    mapped = jax.jit(jax.vmap(autograph(function)))
    assert mapped(jnp.asarray(good)).tolist() == [function(x) for x in good]
    with caplog.at_level(logging.CRITICAL), pytest.raises(Exception, match="has no value here"):
        jax.block_until_ready(mapped(jnp.asarray(bad)))


class Stop(Exception):
    pass


def stop_after_an_assertion(x):
    assert x < 0
    raise Stop(3)


def class_after_an_assertion(x):
    def failing(v):
        assert v < 0
        raise Stop

    return failing(x) + 1


def unbound_after_an_error(x):
    if x > 0:
        m = 1
        raise Stop(m)
    return m


def assertion_after_an_assertion(x):
    assert x < 0
    assert isinstance(x, str), "no text"
    return x


def stop_after_a_loop(x):
    for k in range(3):
        assert x < k
    raise Stop(x)


def another_after_an_error_in_a_branch(x):
    if x > 0:
        if x > 1:
            raise Stop(x)
        raise KeyError(x)
    raise Stop(0)


def in_a_function_to_scan(x):
    def stop(carry, _):
        raise Stop(3)

    if x > 0:
        x, _ = jax.lax.scan(stop, x, jnp.ones(3))
    return x


def in_a_function_to_compile(x):
    @jax.jit
    def stop(v):
        raise Stop(3)

    if x > 0:
        x = stop(x)
    return x


def in_a_function_to_map_in_a_loop(x):
    def stop(v):
        raise Stop(3)

    while x > 0:
        x = jax.vmap(stop)(jnp.ones(3))[0]
    return x


def unbound_in_the_test_of_a_loop(x):
    z = x
    del z
    if x < 0:
        while z == x:  # noqa: F821 - that it has no value is the point
            pass
    return x


def deleted_in_a_loop(x):
    if x > 0:
        z = x
        while z < 5:
            del z
    return x


FIRST = [
    stop_after_an_assertion,
    class_after_an_assertion,
    unbound_after_an_error,
    assertion_after_an_assertion,
    stop_after_a_loop,
    another_after_an_error_in_a_branch,
    in_a_function_to_scan,
    in_a_function_to_compile,
    in_a_function_to_map_in_a_loop,
    unbound_in_the_test_of_a_loop,
    deleted_in_a_loop,
]


@pytest.fixture(params=["cpu", "another device"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exceptions as on a device where none may leave a call: they are kept until the program is over."""
    if request.param != "cpu":
        jax.clear_caches()
        monkeypatch.setattr(jax_private, "is_for_cpus", lambda lowering: False)


def element_that_an_inner_function_writes(x):
    if x > 0:
        e = np.arange(3.0)

    def change():
        if x > 1:
            e[1] += 1

    change()
    return e[1] + x


def number_that_an_inner_function_assigns(x):
    if x > 0:
        e = 1.0

    def change():
        nonlocal e
        if x > 1:
            e = 2.0

    change()
    return e


def number_that_a_loop_further_in_assigns(x):
    if x > 0:
        e = 1.0

    def outer():
        def change():
            nonlocal e
            for i in range(3):
                if x > i:
                    e = x - i

        change()

    outer()
    return e


UNBOUND_AROUND = [
    element_that_an_inner_function_writes,
    number_that_an_inner_function_assigns,
    number_that_a_loop_further_in_assigns,
]


@pytest.mark.parametrize("function", UNBOUND_AROUND, ids=lambda f: f.__name__)
def test_what_an_inner_function_assigns_in_a_branch_may_have_no_value(function: Any):
    compiled = jit(function)
    for argument in (0.5, 2.0):
        assert outcome(compiled, argument) == outcome(function, argument)
    with pytest.raises(UnboundLocalError):
        function(-1.0)
    with pytest.raises(UnboundError, match="`e` has no value here"):
        compiled(-1.0)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("function", FIRST, ids=lambda f: f.__name__)
def test_the_first_error_reaches_the_caller(function: Any):
    compiled = jit(function)
    for argument in (2.0, -1.0, 0.5, 2.0):
        assert outcome(compiled, argument) == outcome(function, argument)


def outcome(function: Any, argument: float) -> Any:
    try:
        return float(function(argument))
    except Exception as error:
        numbers = [value if isinstance(value, str) else float(value) for value in error.args]
        return type(error), [] if isinstance(error, AssertionError) else numbers  # pytest writes texts of its own into those


def both_ways_in_a_function_to_scan(x):
    def stop(carry, v):
        if v > 0:
            raise Stop(1)
        else:
            raise Stop(2)

    return jax.lax.scan(stop, x, jnp.ones(3))[0]


def with_a_value_of_a_function_to_scan(x):
    def stop(carry, v):
        raise Stop(carry)

    if x > 0:
        x, _ = jax.lax.scan(stop, x, jnp.ones(3))
    return x


@pytest.mark.parametrize("function", [both_ways_in_a_function_to_scan, with_a_value_of_a_function_to_scan])
def test_what_jax_traces_by_itself_does_not_raise_on_every_path(function: Any):
    with pytest.raises(StagingError, match="raises here on every path"):
        jit(function)(1.0)


def test_raise_where(caplog: pytest.LogCaptureFixture):
    @jax.jit
    def f(x):
        checks.raise_where(x > 1, ValueError("too large"))
        return x

    assert f(1.0) == 1
    with caplog.at_level(logging.CRITICAL), pytest.raises(Exception, match="ValueError: too large"):
        jax.block_until_ready(f(2.0))


def test_the_value_is_not_needed_for_the_check(caplog: pytest.LogCaptureFixture):
    """Dead code, but Python would have raised."""

    @jax.jit
    @autograph
    def f(x):
        if x > 0:
            y = x
        y  # noqa: B018
        return x

    with caplog.at_level(logging.CRITICAL), pytest.raises(Exception, match="has no value here"):
        jax.block_until_ready(f(-1.0))
        jax.effects_barrier()


def test_jax_does_not_log_what_is_raised_on_purpose(caplog):
    def positive(x):
        assert x > 0, "x must be positive"
        return x

    with pytest.raises(AssertionError, match="x must be positive"):
        jit(positive)(-1.0)
    assert caplog.records == []

    def fails(x):
        raise KeyError("not on purpose")

    def calls(x):
        jax.debug.callback(fails, x)
        return x

    with pytest.raises(jax.errors.JaxRuntimeError, match="not on purpose"):
        jax.block_until_ready(jax.jit(calls)(1.0))
        jax.effects_barrier()
    assert "failed" in caplog.text


class Record(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error


class Lazy:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        if self.x > 2:
            raise AttributeError(name)
        return 7.0


def test_an_attribute_that_is_not_there_is_python_s_answer_in_a_branch_too():
    @jit
    def f(x):
        record = Record(a=1.0)
        if x > 0:
            x = x + getattr(record, "b", 5.0) + hasattr(record, "c") + record.a
        return x

    assert (f(1.0), f(-1.0)) == (7.0, -1.0)


def test_an_attribute_that_traced_data_takes_away_is_an_error_at_run_time():
    @jit
    def f(x):
        lazy = Lazy(x)
        if x > 0:
            x = x + lazy.b
        return x

    assert (f(1.0), f(-1.0)) == (8.0, -1.0)
    with pytest.raises(AttributeError, match="b"):
        f(3.0)


def by_percent(x):
    if x > 0:
        raise ValueError("%d of %5.2f%% %s" % (x, x + 0.5, "k"))  # noqa: UP031
    return x


def by_format(x):
    if x > 0:
        raise ValueError("{0} {1:.1f} {0!r:>{width}}".format(x, x + 1, width=5))  # noqa: UP032
    return x


def by_choice(x):
    word = "low" if x < 2 else "high"
    if x > 0:
        raise ValueError("is " + word + "!")
    return x


@pytest.mark.parametrize("function", [by_percent, by_format, by_choice])
def test_texts_of_traced_values(function):
    for x in (3.0, 0.5):
        with pytest.raises(ValueError) as expected:
            function(x)
        with pytest.raises(ValueError) as found:
            jit(function)(x)
        assert str(found.value) == str(expected.value)
    assert jit(function)(-1.0) == -1.0


class Strange:
    """As a wrapper of a C library's functions: whatever it is asked for, it gives something."""

    __slots__ = ()

    def __getattr__(self, name):
        return max


STRANGE = Strange()


def test_an_object_that_answers_anything_as_its_dict():
    @jit
    def f(x):
        return x + (STRANGE is None)

    assert f(1.0) == 1.0
