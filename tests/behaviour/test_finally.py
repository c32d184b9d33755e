"""A `finally` that raises takes the place of the error that it runs for; a handler raises again what it handles."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row


def always(x):
    if x > 0:
        try:
            raise ValueError(x)
        finally:
            assert x is None
    return x


def where_the_data_says(x):
    if x > 0:
        try:
            raise ValueError(x)
        finally:
            if x > 1:
                raise KeyError(x)
    return x


def after_two_errors(x):
    if x > 0:
        try:
            assert x < 1
            raise ValueError(x)
        finally:
            x = x + 1
            assert x < 3
    return x


def in_each_turn(x):
    for i in range(3):
        try:
            if x > i:
                raise ValueError(x)
        finally:
            assert x < 2
    return x


def caught_around(x):
    if x > 0:
        try:
            try:
                raise ValueError(x)
            finally:
                assert x is None
        except AssertionError:
            return x + 10
    return x


def caught_around_a_branch(x):
    try:
        try:
            if x > 2:
                raise ValueError(x)
            if x > 1:
                raise ArithmeticError(x, 2)
            y = 1 / x
        finally:
            assert x < 3
    except (ValueError, AssertionError):
        y = 10.0
    except ArithmeticError as error:
        y = 20.0 + error.args[0]
    return y


def one_of_two_again(x):
    try:
        if x > 2:
            raise ValueError(x)
        if x > 1:
            raise ArithmeticError(x, 2)
        y = 1 / x
    except Exception:
        raise
    return y


def one_of_two_again_caught_around(x):
    try:
        try:
            if x > 2:
                raise ValueError(x)
            if x > 1:
                raise ArithmeticError(x, 2)
            y = 1 / x
        except Exception:
            raise
    except ValueError:
        y = 10.0
    except ArithmeticError as error:
        y = 20.0 + error.args[0]
    return y


def after_a_return(x):
    try:
        if x > 2:
            return x
        if x > 1:
            raise ArithmeticError(x, 2)
        x = x * 2
    finally:
        assert x < 3
    return x


def after_a_break(x):
    for i in range(4):
        try:
            if x > 2.25:
                break
            if x > 1:
                raise ArithmeticError(x, 2)
            x = x * 2
        finally:
            assert x < 2.5, i
            x = x + 0.125
    return x


def after_a_loop(x):
    try:
        while x < 4:
            x = x + 1
            if x > 3:
                raise ValueError(x)
    finally:
        if x > 3.5:
            raise ArithmeticError(x)
    return x


def after_a_handler(x):
    try:
        try:
            if x > 1:
                raise ValueError(x)
        except ValueError as error:
            x = x + 100
            if x > 102:
                raise ArithmeticError(x) from error
        else:
            x = x * 3
    finally:
        if x < 0:
            raise ValueError(0)
    return x


def after_a_handler_that_raises_again(x):
    try:
        assert x > 0
        x = x + 1
    except AssertionError:
        x = x - 1
        raise
    finally:
        if x > 2:
            raise ArithmeticError(x)
    return x


def of_a_callee(x):
    def inner(x):
        if x > 1:
            raise ValueError(x)
        return x

    try:
        return inner(x) + 1
    finally:
        assert x < 2


def of_a_callee_caught_around(x):
    try:
        x = of_a_callee(x)
    except ValueError:
        x = 0.0
    return x


def check_above(x, bound):
    if x > bound:
        raise ValueError(x)


def other_check_above(x, bound):
    if x > bound:
        raise KeyError(x)


def callees_of_both(x):
    try:
        check_above(x, 0)
        x = x + 1
    finally:
        other_check_above(x, 1)
    return x


def callees_of_both_in_a_loop(x):
    for k in range(3):
        try:
            check_above(x, k)
            x = x + 1
        finally:
            other_check_above(x, 2)
    return x


def callees_of_both_caught_around(x):
    try:
        callees_of_both(x)
    except KeyError:
        return -1.0
    except ValueError:
        return -2.0
    return x


def a_callee_after_a_handler(x):
    try:
        check_above(x, 0)
    except ValueError:
        x = x + 1
    finally:
        other_check_above(x, 2)
    return x


def a_callee_in_a_finally_in_a_finally(x):
    try:
        check_above(x, 2)
    finally:
        try:
            check_above(x, 1)
        finally:
            other_check_above(x, 0)
    return x


def a_walrus_that_may_not_be_left(x):
    try:
        if (y := x + 1) > 2:
            raise ValueError(y)
    finally:
        abs(x)
    return y


for function in (
    callees_of_both,
    callees_of_both_in_a_loop,
    callees_of_both_caught_around,
    a_callee_after_a_handler,
    a_callee_in_a_finally_in_a_finally,
    a_walrus_that_may_not_be_left,
    always,
    where_the_data_says,
    after_two_errors,
    in_each_turn,
    caught_around,
    one_of_two_again,
    one_of_two_again_caught_around,
    after_a_return,
    after_a_break,
    after_a_loop,
    after_a_handler,
    after_a_handler_that_raises_again,
    of_a_callee,
    of_a_callee_caught_around,
):
    row(function, [-1.0], [0.5], [1.5], [2.5], [3.5], own_jit=True)
row(caught_around_a_branch, [-1.0], [0.5], [1.5], [2.5], [3.5], own_jit=True, want="either")


def returned_beside_a_call(x, limit):
    x = x + 0.0
    try:
        if x[-1] <= limit:
            x = x * 2.0
            return (float(1), x)
    finally:
        x[1:] = 7.0
    return (0.0, x)


def returned_by_another_name(x, limit):
    x = x + 0.0
    try:
        if x[-1] <= limit:
            x = x * 2.0
            pair = (1.0, x)
            both = [pair, pair]
            return both
    finally:
        x[1:] = 7.0
    return None


def returned_and_not_written(x, limit):
    x = x + 0.0
    other = x * 2.0
    try:
        if x[-1] <= limit:
            pair = (float(1), other)
            return pair
    finally:
        x[1:] = 7.0
    return (0.0, x)


NUMBERS = np.array([9.0, 18.0, 17.0])
row(returned_beside_a_call, [NUMBERS, 20.0], [NUMBERS, 1.0], want="either")
row(returned_by_another_name, [NUMBERS, 20.0], [NUMBERS, 1.0], want="either", own_jit=True)
row(returned_and_not_written, [NUMBERS, 20.0], [NUMBERS, 1.0])


# What is refused in the body is not what the program raises in a `finally`: it would have got there with other values.


def raised_by_a_callee_in_it(y, a):
    j = 0

    def stop(i):
        nonlocal j
        j = 1
        raise ValueError(i)

    d = jnp.arange(3.0) if y == 9.75 else a
    try:
        a[0] = 1
        w = stop(5)
    finally:
        stop(j)
        e = d


def caught_around(y, a):
    d = jnp.arange(3.0) if y == 9.75 else a
    found = 0.0
    try:
        try:
            a[0] = 1
        finally:
            {}["k"]
    except KeyError:
        found = d[0]
    return found


def caught_around_by_a_callee(y, a):
    d = jnp.arange(3.0) if y == 9.75 else a

    def write():
        try:
            a[0] = 1
        finally:
            raise KeyError

    try:
        write()
    except KeyError:
        return d[0]
    return 0.0


def rows_in_a_finally_of_a_finally(i, a):
    m = jnp.stack([a, a + i])
    try:
        pass
    finally:
        try:
            for r in m:
                r[0] -= i
                r = m.sum(0)
        finally:
            r = r.copy()
    return r


row(raised_by_a_callee_in_it, [8.75, NUMBERS], want="either", own_jit=True)
row(caught_around, [8.75, NUMBERS], [9.75, NUMBERS], want="either")


def ended_by_a_with(y, a):
    d = a

    def write():
        a[0] = 1
        raise KeyError

    with contextlib.suppress(KeyError):
        write()
        return 0.0
    return d[0]


row(ended_by_a_with, [8.75, NUMBERS], want="either")
row(caught_around_by_a_callee, [8.75, NUMBERS], [9.75, NUMBERS], want="either")
row(rows_in_a_finally_of_a_finally, [3.0, NUMBERS], want="either")


@table.each_way
def test_finally(row, way, record_property):
    check(row, way, record_property)


def test_what_is_written_in_a_finally():
    """The error after it is raised at another place, so that the write is known to give the variable its new value."""

    def f(a, n):
        for _ in a:
            try:
                check_above(n, 5)
                a[1:] = a[:2].copy()
                n = n + 1
            finally:
                a[0] = abs(n)
        return a

    np.testing.assert_array_equal(ag.jit(f)(jnp.arange(3.0), 1.0), f(np.arange(3.0), 1.0))


def test_what_is_augmented_by_a_call_in_a_body():
    """What is kept of the variable before the call is not read any more when that is written."""

    def f(a, n):
        try:
            a -= abs(n)
            a[a > 2] -= abs(n)
        finally:
            n = abs(n)
        return a, n

    got, expected = ag.jit(f)(jnp.arange(9.0), -2.0), f(np.arange(9.0), -2.0)
    np.testing.assert_array_equal(got[0], expected[0])
    assert got[1] == expected[1]


def test_prints_before_the_error(capsys):
    def f(x):
        try:
            check_above(x, 0)
        finally:
            print("over", x)
        return x

    with pytest.raises(ValueError, match="1"):
        ag.jit(f)(1.0)
    assert capsys.readouterr().out == "over 1.0\n"


def test_a_body_that_jax_scans_raises_at_once():
    """Then the `finally` must not fail too: which error is first, the compiled program could not tell."""

    def f(xs, check):
        def body(carry, x):
            check_above(x, 2)
            return carry + x, None

        try:
            total, _ = jax.lax.scan(body, 0.0, xs)
        finally:
            check(xs[0])
        return total

    with pytest.raises(ValueError, match="3"):
        ag.jit(lambda xs: f(xs, abs))(jnp.arange(4.0))
    with pytest.raises(ag.StagingError, match="and its `finally` too"):
        ag.jit(lambda xs: f(xs, lambda x: other_check_above(x, 1)))(jnp.arange(4.0))
