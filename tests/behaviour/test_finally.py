"""A `finally` that raises takes the place of the error that it runs for; a handler raises again what it handles."""

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


for function in (
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


@table.each_way
def test_finally(row, way, record_property):
    check(row, way, record_property)
