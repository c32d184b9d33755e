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
        def f(k, x):
            r: ...
            def then():
                nonlocal r
                r = x
            def otherwise():
                nonlocal r
                def then_2():
                    nonlocal r
                    r = x * 2
                def otherwise_2():
                    nonlocal r
                    def then_3():
                        nonlocal r
                        r = x * 100
                    def otherwise_3():
                        nonlocal r
                        def then_4():
                            nonlocal r
                            r = -3
                        ag__.if_stmt(k == -3, then_4, None, 'r?')
                    ag__.if_stmt(k == 'many', then_3, otherwise_3, 'r?')
                ag__.if_stmt(ag__.or_(k == 1, lambda: k == 2), then_2, otherwise_2, 'r?')
            ag__.if_stmt(k == 0, then, otherwise, 'r?')
            return ag__.bound('r', lambda: r)
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
        def f(k):
            r: ...
            s: ...
            def then():
                nonlocal r
                r = 'zero'
            def otherwise():
                nonlocal r
                other = k
                r = other
            ag__.if_stmt(k == 0, then, otherwise, 'r')
            def then():
                nonlocal s
                s = 'zero'
            def otherwise():
                nonlocal s
                s = 'more'
            ag__.if_stmt(k == 0, then, otherwise, 's')
            return (r, s)
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
        def f(k):
            return ag__.if_stmt(ag__.is_(k, None), lambda: 'none', lambda: ag__.if_stmt(ag__.is_(k, True), lambda: 'true', lambda: ag__.if_stmt(ag__.is_(k, False), lambda: 'false', lambda: ag__.if_stmt(k == 1, lambda: 'one'))))
        """,  # noqa: E501
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
        def f(k, m):
            r: ...
            subject = ag__.call(say)(k)
            def then():
                nonlocal r
                r = 'zero'
            def otherwise():
                nonlocal r
                n = subject
                def then_2():
                    nonlocal r
                    r = ('below', n)
                def otherwise_2():
                    nonlocal n, r
                    n = subject
                    def then_3():
                        nonlocal r
                        r = n
                    ag__.if_stmt(ag__.call(fail)(), then_3, None, 'r?')
                ag__.if_stmt(ag__.call(say)(n) < m, then_2, otherwise_2, 'r?')
            ag__.if_stmt(ag__.and_(subject == 0, lambda: ag__.call(say)(m) > 0), then, otherwise, 'r?')
            return ag__.bound('r', lambda: r)
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
        def f(k):
            r: ...
            n = k
            def then():
                nonlocal r
                r = 'large'
            def otherwise():
                nonlocal r
                r = 'small'
            ag__.if_stmt(n > 5, then, otherwise, 'r')
            return (n, r)
        """,
        [(1,), (6,)],
    ),
    "as": Row(
        """
        def f(k):
            match k:
                case 0 | 1 as bit:
                    return ('bit', bit)
                case other:
                    return other
        """,
        """
        def f(k):
            def then():
                bit = k
                return ('bit', bit)
            def otherwise():
                other = k
                return other
            return ag__.if_stmt(ag__.or_(k == 0, lambda: k == 1), then, otherwise)
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
        def f(k):
            return ag__.if_stmt(k == Failure.__name__, lambda: 'name', lambda: ag__.if_stmt(k == Failure.__module__, lambda: 'module', lambda: 'none'))
        """,  # noqa: E501
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
        def f(k):
            subject = ag__.call(say)(k) + 1
            return ag__.if_stmt(subject == 1, lambda: 'one', lambda: ag__.if_stmt(subject == 2, lambda: 'two', lambda: ag__.if_stmt(subject == 3, lambda: 'three')))
        """,  # noqa: E501
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
        def f(k):
            subject = k
            def then():
                nonlocal k
                k = 'zero'
            def otherwise():
                nonlocal k
                k = subject
                k = k + 1
            ag__.if_stmt(subject == 0, then, otherwise, 'k')
            return k
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
        def f(k):
            def then():
                ag__.call(say)('zero')
            ag__.if_stmt(k == 0, then)
            return k
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
        def f(ks):
            total = 0
            def body(k):
                nonlocal total
                def otherwise_2():
                    nonlocal total
                    def otherwise_3():
                        nonlocal total
                        def otherwise_4():
                            nonlocal total
                            total += k
                            ag__.call(say)(k)
                        return ag__.if_stmt(k == 2, lambda: ag__.Return('two'), otherwise_4, 'total')
                    return ag__.if_stmt(k == 1, lambda: ag__.break_, otherwise_3, 'total')
                return ag__.if_stmt(k == 0, lambda: None, otherwise_2, 'total')
            left = ag__.for_stmt(ks, body, 'total')
            return ag__.returned(left, lambda: total)
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
        def f(k):
            match k:
                case []:
                    r = 'empty'
                case [x]:
                    r = ag__.if_expr(x, lambda: x, lambda: 'falsy')
                case [x, *rest]:
                    def then():
                        nonlocal r
                        r = rest
                    def otherwise():
                        nonlocal r
                        r = x
                    ag__.if_stmt(x > 0, then, otherwise, 'r')
                case {'a': a, **more}:
                    r = (a, more)
                case str(text):
                    r = text
                case ValueError(args=[1]):
                    r = 'error'
            return ag__.bound('r', lambda: r)
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
        def f(ks):
            def body(k):
                exit = None
                match k:
                    case [x, y]:
                        exit = ag__.if_stmt(x, lambda: ag__.continue_, lambda: ag__.if_stmt(y, lambda: ag__.Return(k)))
                    case [x]:
                        exit = ag__.if_stmt(x, lambda: ag__.break_)
                def rest_2():
                    ag__.call(say)(k)
                return ag__.unless(exit, rest_2)
            left = ag__.for_stmt(ks, body)
            return ag__.returned(left, lambda: 'end')
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
        def f(a, b):
            return ag__.if_stmt(a == 0, lambda: ag__.if_stmt(b == 0, lambda: 'both', lambda: 'second'), lambda: 'first')
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
        def f(k):
            subject = ag__.call(Noted)('s', x=k)
            return ag__.if_stmt(subject == 0, lambda: 'zero', lambda: 'other')
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
