"""match over values becomes an if chain; other matches stay, and what is in their cases is converted."""

from tests.converters.helpers import Row, check_calls, check_text, parametrize

ROWS = {
    "values": Row(
        """
        def f(k, x):
            match k:
                case 0:
                    r = x
                case 1 | 2:
                    r = x * 2
                case 'many':
                    r = x * 100
                case -3:
                    r = -3
            return r
        """,
        """
        ???
        """,
        [(0, 1), (1, 1), (2, 1), ('many', 1), (-3, 1), (7, 1), (1.0, 1), (True, 1)],
    ),
    "wildcard and capture": Row(
        """
        def f(k):
            match k:
                case 0:
                    r = 'zero'
                case other:
                    r = other
            match k:
                case 0:
                    s = 'zero'
                case _:
                    s = 'more'
            return r, s
        """,
        """
        ???
        """,
        [(0,), (5,)],
    ),
    "singletons are compared by is": Row(
        """
        def f(k):
            match k:
                case None:
                    return 'none'
                case True:
                    return 'true'
                case False:
                    return 'false'
                case 1:
                    return 'one'
        """,
        """
        ???
        """,
        [(None,), (True,), (False,), (1,), (0,)],
    ),
    "guards": Row(
        """
        def f(k, m):
            match say(k):
                case 0 if say(m) > 0:
                    r = 'zero'
                case n if say(n) < m:
                    r = ('below', n)
                case n if fail():
                    r = n
            return r
        """,
        """
        ???
        """,
        [(0, 1), (0, 0), (1, 3), (4, 3)],
    ),
    "a capture is bound although its guard fails": Row(
        """
        def f(k):
            match k:
                case n if n > 5:
                    r = 'large'
                case _:
                    r = 'small'
            return n, r
        """,
        """
        ???
        """,
        [(1,), (6,)],
    ),
    "as": Row(
        """
        def f(k):
            match k:
                case 0 | 1 as bit:
                    return ('bit', bit)
                case _ as other:
                    return other
        """,
        """
        ???
        """,
        [(1,), (1.0,), (5,)],
    ),
    "dotted names": Row(
        """
        def f(k):
            match k:
                case Failure.__name__:
                    return 'name'
                case Failure.__module__:
                    return 'module'
            return 'none'
        """,
        """
        ???
        """,
        [('Failure',), ('x',)],
    ),
    "the subject is evaluated once": Row(
        """
        def f(k):
            match say(k) + 1:
                case 1:
                    return 'one'
                case 2:
                    return 'two'
                case 3:
                    return 'three'
        """,
        """
        ???
        """,
        [(0,), (1,), (2,), (9,)],
    ),
    "a subject that a case binds": Row(
        """
        def f(k):
            match k:
                case 0:
                    k = 'zero'
                case k:
                    k = k + 1
            return k
        """,
        """
        ???
        """,
        [(0,), (1,)],
    ),
    "no case": Row(
        """
        def f(k):
            match k:
                case 0:
                    say('zero')
            return k
        """,
        """
        ???
        """,
        [(0,), (1,)],
    ),
    "return, break and continue": Row(
        """
        def f(ks):
            total = 0
            for k in ks:
                match k:
                    case 0:
                        continue
                    case 1:
                        break
                    case 2:
                        return 'two'
                    case _:
                        total += k
                say(k)
            return total
        """,
        """
        ???
        """,
        [([0, 3, 4],), ([3, 1, 5],), ([3, 2],), ([],)],
    ),
    "sequences stay": Row(
        """
        def f(k):
            match k:
                case []:
                    r = 'empty'
                case [x]:
                    r = x if x else 'falsy'
                case [x, *rest]:
                    if x > 0:
                        r = rest
                    else:
                        r = x
                case {'a': a, **more}:
                    r = a, more
                case str(text):
                    r = text
                case ValueError(args=(1,)):
                    r = 'error'
            return r
        """,
        """
        ???
        """,
        [([],), ([0],), ([1],), ([1, 2],), ([0, 2],), ({'a': 1, 'b': 2},), ('text',), (1,)],
    ),
    "exits from a match that stays": Row(
        """
        def f(ks):
            for k in ks:
                match k:
                    case (x, y):
                        if x:
                            continue
                        if y:
                            return k
                    case [x]:
                        if x:
                            break
                say(k)
            return 'end'
        """,
        """
        ???
        """,
        [([(1, 0), (0, 0), (0, 1)],), ([[0], [1], [2]],), ([],)],
    ),
    "a match in a match": Row(
        """
        def f(a, b):
            match a:
                case 0:
                    match b:
                        case 0:
                            return 'both'
                case _:
                    return 'first'
            return 'second'
        """,
        """
        ???
        """,
        [(0, 0), (0, 1), (1, 0)],
    ),
    "comparison by == of the subject": Row(
        """
        def f(k):
            match Noted('s', x=k):
                case 0:
                    return 'zero'
                case _:
                    return 'other'
        """,
        """
        ???
        """,
        [(0,)],
    ),
}


@parametrize(ROWS)
def test_text(row: Row):
    check_text(row)


@parametrize(ROWS)
def test_same_as_python(row: Row):
    check_calls(row)
