"""An `if` of a generator is cut at its yields where both branches have as many."""

import textwrap

from autograph_jax.syntax import emit
from tests.converters.helpers import Row, canonical, check_calls, parametrize, through

ROWS = {
    "a yield in each branch": Row(
        """
        def g(xs):
            for x in xs:
                if x > 0:
                    n = x
                    yield n
                else:
                    yield
        """,
        """
        def g(xs):
            for x in xs:
                if x > 0:
                    n = x
                    value = n
                else:
                    value = None
                yield value
        """,
        [([1, -1],)],
    ),
    "something after the yields": Row(
        """
        def g(x):
            n = 0
            if x:
                yield 1
                n = 2
                yield n
            else:
                yield 3
                yield 4
                n = 5
            yield n
        """,
        """
        def g(x):
            n = 0
            chosen = not not x
            if chosen:
                value = 1
            else:
                value = 3
            yield value
            if chosen:
                n = 2
                value = n
            else:
                value = 4
            yield value
            if chosen:
                pass
            else:
                n = 5
            yield n
        """,
        [(0,), (1,)],
    ),
    "a branch that begins the next turn": Row(
        """
        def g(xs):
            for x in xs:
                if x > 0:
                    yield x
                    continue
                y = -x
                yield y
        """,
        """
        def g(xs):
            for x in xs:
                if x > 0:
                    value = x
                else:
                    y = -x
                    value = y
                yield value
        """,
        [([1, -1],)],
    ),
    "elif, where one goes on": Row(
        """
        def g(xs):
            for x in xs:
                if x > 2:
                    yield x
                    continue
                elif x < 0:
                    t = 7
                else:
                    yield 5
                    continue
                yield t
        """,
        """
        def g(xs):
            for x in xs:
                if x > 2:
                    value = x
                elif x < 0:
                    t = 7
                    value = t
                else:
                    value = 5
                yield value
        """,
        [([3, -1, 1],)],
    ),
    "an if in an if": Row(
        """
        def g(x, y):
            if x:
                if y:
                    yield 1
                    print(x)
                else:
                    yield 2
            else:
                yield 3
        """,
        """
        def g(x, y):
            chosen_2 = not not x
            if chosen_2:
                chosen = not not y
                if chosen:
                    value = 1
                else:
                    value = 2
            else:
                value = 3
            yield value
            if chosen_2:
                if chosen:
                    print(x)
        """,
        [(0, 1), (1, 0)],
    ),
}

SAME = {
    "one branch yields more often": Row(
        """
        def g(x):
            if x:
                yield 1
                yield 2
            else:
                yield 3
        """,
        None,
        [(0,), (1,)],
    ),
    "no other branch": Row(
        """
        def g(x):
            if x:
                yield 1
            yield 2
        """,
        None,
        [(0,), (1,)],
    ),
    "a yield in a loop of a branch": Row(
        """
        def g(x):
            if x:
                for k in range(2):
                    yield k
            else:
                yield 3
        """,
        None,
        [(0,), (1,)],
    ),
    "a branch that leaves": Row(
        """
        def g(x):
            if x:
                yield 1
                return
            else:
                yield 3
            yield 4
        """,
        None,
        [(0,), (1,)],
    ),
    "a value that is sent": Row(
        """
        def g(x):
            if x:
                y = yield 1
            else:
                yield 3
        """,
        None,
        [(0,), (1,)],
    ),
    "continue past what follows the if around": Row(
        """
        def g(xs):
            for x in xs:
                if x > 2:
                    t = 5
                elif x > 1:
                    yield 1
                    continue
                elif x > 0:
                    yield 2
                    continue
                else:
                    t = 6
                yield t
                yield t
        """,
        None,
        [([0, 1, 2, 3],)],
    ),
    "continue past what follows the try around": Row(
        """
        def g(xs):
            for x in xs:
                try:
                    if x > 1:
                        yield 1
                        continue
                    yield 2
                finally:
                    x = 0
                yield 3
        """,
        None,
        [([0, 1, 2, 3],)],
    ),
    "no generator": Row(
        """
        def g(x):
            def inner():
                yield x
            if x:
                y = 1
            else:
                y = 2
            return y, list(inner())
        """,
        None,
        [(0,), (1,)],
    ),
    "continue in no loop of its own": Row(
        """
        def g(xs):
            for x in xs:
                if x > 1:
                    continue
                if x:
                    yield x
                    yield x
                    continue
                yield 0
        """,
        None,
        [([0, 1, 2],)],
    ),
}


def _program(generator: str) -> str:
    """A function that gives all that a generator yields."""
    return f"def f(*a):\n{textwrap.indent(textwrap.dedent(generator), '    ')}\n    return list(g(*a))\n"


@parametrize(ROWS)
def test_text(row):
    assert emit.to_text(through("yielding", _program(row.before))).strip() == canonical(_program(row.after))


@parametrize(SAME)
def test_what_stays(row):
    assert emit.to_text(through("yielding", _program(row.before))).strip() == canonical(_program(row.before))


@parametrize(ROWS | SAME)
def test_calls(row):
    check_calls(row._replace(before=_program(row.before)))


def test_many_branches_that_begin_the_next_turn():
    """Each looks at what follows once: twice would take 2 ** 40 steps."""
    branch = "        if x:\n            yield 1\n            yield 2\n            continue\n"
    text = "def f(xs):\n    for x in xs:\n" + 40 * branch + "        yield 3\n"
    assert emit.to_text(through("yielding", text)).count("yield") == 81
