"""What a comprehension collects is remembered where what it calls next may write that, and nowhere else."""

from tests.converters.helpers import Row, check_calls, check_text, parametrize

ROWS = {
    "a call may write what was collected": Row(
        """
        def f(xs):
            done = []
            def add(v):
                done.append(v)
                return len(done)
            return [add(x) for x in xs], {x: add(x) for x in xs}, [(x, y) for x in xs for y in [add(x)]]
        """,
        """
        def f(xs):
            done = []
            def add(v):
                ag__.call(done.append)(v)
                return ag__.call(len)(done)
            return (
                [ag__.collect(ag__.call(add)(x)) for x in ag__.collecting(xs)],
                {x: ag__.collect(ag__.call(add)(x)) for x in ag__.collecting(xs)},
                [ag__.collect((x, y)) for x in ag__.collecting(xs) for y in [ag__.call(add)(x)]])
        """,
        [([],), ([1, 2],)],
    ),
    "a generator gives": Row(
        """
        def f(xs, given):
            return tuple(str(x) + given for x in xs), tuple(given.upper() for x in xs for y in (lower(y) for y in x))
        """,
        """
        def f(xs, given):
            return (
                ag__.call(tuple)((ag__.call(str)(x) + given for x in xs)),
                ag__.call(tuple)((
                    ag__.give(given_, ag__.call(given.upper)())
                    for given_, x in ag__.giving(xs)
                    for y in (ag__.give(given_, ag__.call(lower)(y)) for given_, y in ag__.giving(x)))))
        """,
        [([], "a"), (["a"], "b")],
    ),
    "all is new, or nothing is kept": Row(
        """
        def f(xs):
            return (
                [say(x) + 1 for x in xs], [len(say([x])) for x in xs], [-x if say(x) else 0 for x in xs],
                sum(say(x) for x in xs),
            )
        """,
        """
        def f(xs):
            return (
                [ag__.call(say)(x) + 1 for x in ag__.collecting(xs)],
                [ag__.call(len)(ag__.call(say)([x])) for x in ag__.collecting(xs)],
                [ag__.if_expr(ag__.call(say)(x), lambda: -x, lambda: 0) for x in ag__.collecting(xs)],
                ag__.call(sum)((ag__.call(say)(x) for given, x in ag__.giving(xs))))
        """,
        [([],), ([1, 2],)],
    ),
    "nothing is called": Row(
        """
        def f(xs, d):
            return [x for x in xs if x], {k: v for k, v in d.items()}, [y for y in list(zip(xs, xs))], sum(z for z in xs)
        """,
        """
        def f(xs, d):
            return (
                ag__.kept_list([ag__.kept(x, lambda: x) for x in ag__.rows(xs)]),
                {k: v for k, v in ag__.call(d.items)()},
                [y for y in ag__.call(list)(ag__.call(zip)(xs, xs))],
                ag__.call(sum)((z for z in xs)))
        """,
        [([], {}), ([1, 2], {1: 2})],
    ),
    "a condition": Row(
        """
        def f(xs):
            y = [say(x) for x in xs if x]
            return y, list(say(x) for x in xs if x > 1)
        """,
        """
        def f(xs):
            y = ag__.kept_list([ag__.collect(ag__.kept(x, lambda: ag__.call(say)(x))) for x in ag__.collecting(xs)])
            return y, ag__.call(list)(
                ag__.kept_ones((ag__.give(given, ag__.kept(x > 1, lambda: ag__.call(say)(x))) for given, x in ag__.giving(xs))))
        """,
        [([],), ([0, 1, 2],)],
    ),
}


@parametrize(ROWS)
def test_text(row):
    check_text(row)


@parametrize(ROWS)
def test_calls(row):
    check_calls(row)
