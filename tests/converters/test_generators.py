"""A statement of a generator that yields or leaves stays Python's; the others are converted."""

import pytest

from autograph_jax.errors import UnconvertibleError
from autograph_jax.runtime.convert import convert_function
from tests.converters.helpers import Row, check_calls, check_text, parametrize

ROWS = {
    "what does not yield is converted": Row(
        """
        def f(xs):
            def steps():
                total = 0
                for x in xs:
                    if x > 0:
                        total += x
                    while total > 5:
                        total -= 3
                        if total == 4:
                            break
                    yield total if x else -1
            return list(steps())
        """,
        """
        def f(xs):
            def steps():
                given = ag__.Given()
                total = 0
                for x in ag__.each(xs):

                    def then():
                        nonlocal total
                        total = ag__.augment_name(total, '+=', x)
                    ag__.if_stmt(x > 0, then, None, 'total')

                    def body():
                        nonlocal total
                        total = ag__.augment_name(total, '-=', 3)
                        return ag__.if_stmt(total == 4, lambda: ag__.break_)
                    ag__.while_stmt(lambda: total > 5, body, 'total')
                    yield ag__.give(given, ag__.if_expr(x, lambda: total, lambda: -1))
            return ag__.call(list)(ag__.call(steps)())
        """,
        [([1, -1, 9, 0],)],
    ),
    "what yields or leaves stays": Row(
        """
        def f(xs, n):
            def some():
                for k, x in enumerate(xs):
                    if k == n:
                        return
                    elif x < 0:
                        continue
                    try:
                        yield x
                    except Failure:
                        y = 1 if x else 2
                        yield y
                    finally:
                        say(x)
                while True:
                    yield n
                    break
                else:
                    say(n)
                if n or xs:
                    yield n
            return list(some())
        """,
        """
        def f(xs, n):
            def some():
                given = ag__.Given()
                for k, x in ag__.each(ag__.call(enumerate)(xs)):
                    if ag__.decided(k == n):
                        return
                    elif ag__.decided(x < 0):
                        continue
                    try:
                        with ag__.Told():
                            yield ag__.give(given, x)
                    except Failure:
                        ag__.caught()
                        y = ag__.if_expr(x, lambda: 1, lambda: 2)
                        yield ag__.give(given, y)
                    finally:
                        ag__.call(say)(x)
                while True:
                    yield ag__.give(given, n)
                    break
                else:
                    ag__.call(say)(n)
                if ag__.decided(ag__.or_(n, lambda: xs)):
                    yield ag__.give(given, n)
            return ag__.call(list)(ag__.call(some)())
        """,
        [([1, -1, 9, 0], 5), ([1, -1], 1), ([], 0)],
    ),
    "what is sent, and what a generator returns": Row(
        """
        def f(xs):
            def inner():
                got = yield 1
                while got:
                    got = yield got * 2
                return 'done'
            def outer():
                result = yield from inner()
                if result == 'done':
                    say(result)
                yield result
            values = outer()
            return [next(values)] + [values.send(x) for x in xs]
        """,
        None,
        [([1, 2, 0],), ([],)],
    ),
    "thrown into and closed": Row(
        """
        def f(x):
            def inner():
                for k in range(5):
                    try:
                        yield k
                    except Failure as failure:
                        if x:
                            say('caught')
                        else:
                            raise
                    finally:
                        say('left')
            values = inner()
            taken = [next(values), values.throw(Failure()), next(values)]
            values.close()
            return taken
        """,
        None,
        [(1,), (0,)],
    ),
    "with": Row(
        """
        def f(x):
            import contextlib
            @contextlib.contextmanager
            def scope(y):
                say('in') if y else say('out')
                yield y
                if y:
                    say('end')
            with scope(x) as value:
                say(value)
            return value
        """,
        None,
        [(1,), (0,)],
    ),
    "variables around a generator": Row(
        """
        def f(n):
            count = 0
            def some():
                nonlocal count
                for k in range(n):
                    if k > 1:
                        count += k
                    yield count
            values = list(some())
            return values, count
        """,
        None,
        [(4,), (0,)],
    ),
    "yields inside an expression": Row(
        """
        def f(n):
            def some():
                x = (yield 1) if n else (yield 2)
                return x
            return list(some())
        """,
        """
        def f(n):
            def some():
                x = (yield 1) if n else (yield 2)
                return x
            return ag__.call(list)(ag__.call(some)())
        """,
        [(1,), (0,)],
    ),
}


@parametrize(ROWS)
def test_text(row: Row):
    check_text(row)


@parametrize(ROWS)
def test_same_as_python(row: Row):
    check_calls(row)


# ------------------------------------------------------------------ what stays as it is, with the reason


def in_an_and(x):
    return x and (yield x)


def in_a_store(x):
    x[(yield 0)] = 1


def in_an_augmented_store(x):
    x[0] += yield 0


async def asynchronous(x):
    yield x


REASONS = {
    in_an_and: "it yields inside an expression",
    in_a_store: "it yields inside an expression",
    in_an_augmented_store: "it yields inside an expression",
    asynchronous: "it is an async function",
}


@pytest.mark.parametrize("function", REASONS, ids=lambda function: function.__name__)
def test_reasons(function):
    assert convert_function(function) is function
    with pytest.raises(UnconvertibleError, match=REASONS[function]):
        convert_function(function, strict=True)
