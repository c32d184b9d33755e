"""match becomes an if chain: values are compared, and what a pattern captures is a tuple, or None."""

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
        [(0, 1), (1, 1), (2, 1), ("many", 1), (-3, 1), (7, 1), (1.0, 1), (True, 1)],
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
            return ag__.if_stmt(ag__.is_(k, None), lambda: 'none', lambda: ag__.if_stmt(ag__.matches(k, True), lambda: 'true', lambda: ag__.if_stmt(ag__.matches(k, False), lambda: 'false', lambda: ag__.if_stmt(k == 1, lambda: 'one'))))
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
        [("Failure",), ("x",)],
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
    "structure": Row(
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
            r: ...
            def then():
                nonlocal r
                r = 'empty'
            def otherwise():
                nonlocal r
                x: ...
                captured = ag__.captures(k, ag__.sequence(ag__.name('x')))
                def then_2():
                    nonlocal r, x
                    x, = captured
                    r = ag__.if_expr(x, lambda: x, lambda: 'falsy')
                def otherwise_2():
                    nonlocal r, x
                    captured_2 = ag__.captures(k, ag__.sequence(ag__.name('x'), ag__.star('rest')))
                    def then_3():
                        nonlocal r, x
                        x, rest = captured_2
                        def then_4():
                            nonlocal r
                            r = rest
                        def otherwise_4():
                            nonlocal r
                            r = x
                        ag__.if_stmt(x > 0, then_4, otherwise_4, 'r')
                    def otherwise_3():
                        nonlocal r
                        captured_3 = ag__.captures(k, ag__.mapping(('a', ag__.name('a')), rest='more'))
                        def then_4():
                            nonlocal r
                            a, more = captured_3
                            r = (a, more)
                        def otherwise_4():
                            nonlocal r
                            captured_4 = ag__.captures(k, ag__.instance(lambda: str, ag__.name('text')))
                            def then_5():
                                nonlocal r
                                text, = captured_4
                                r = text
                            def otherwise_5():
                                nonlocal r
                                def then_6():
                                    nonlocal r
                                    r = 'error'
                                ag__.if_stmt(ag__.matches(k, ag__.instance(lambda: ValueError, args=ag__.sequence(1))), then_6, None, 'r?')
                            ag__.if_stmt(captured_4, then_5, otherwise_5, 'r?')
                        ag__.if_stmt(captured_3, then_4, otherwise_4, 'r?')
                    ag__.if_stmt(captured_2, then_3, otherwise_3, 'r?')
                ag__.if_stmt(captured, then_2, otherwise_2, 'r?')
            ag__.if_stmt(ag__.matches(k, ag__.sequence()), then, otherwise, 'r?')
            return ag__.bound('r', lambda: r)
        """,  # noqa: E501
        [([],), ([0],), ([1],), ([1, 2],), ([0, 2],), ({"a": 1, "b": 2},), ("text",), (1,)],
    ),
    "exits from cases with captures": Row(
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
                x: ...
                captured = ag__.captures(k, ag__.sequence(ag__.name('x'), ag__.name('y')))
                def then_2():
                    nonlocal x
                    x, y = captured
                    return ag__.if_stmt(x, lambda: ag__.continue_, lambda: ag__.if_stmt(y, lambda: ag__.Return(k)))
                def otherwise_2():
                    nonlocal x
                    captured_2 = ag__.captures(k, ag__.sequence(ag__.name('x')))
                    def then_3():
                        nonlocal x
                        x, = captured_2
                        return ag__.if_stmt(x, lambda: ag__.break_)
                    return ag__.if_stmt(captured_2, then_3)
                left = ag__.if_stmt(captured, then_2, otherwise_2)
                def rest_2():
                    ag__.call(say)(k)
                return ag__.unless(left, rest_2)
            left = ag__.for_stmt(ks, body)
            return ag__.returned(left, lambda: 'end')
        """,
        [([(1, 0), (0, 0), (0, 1)],), ([[0], [1], [2]],), ([],)],
    ),
    "captures and guards": Row(
        """
        def f(p, limit):
            match p:
                case [x, (y, *_)] as pair if say(x) > limit:
                    return x, y, pair
                case (0 | 1) as bit if bit:
                    return bit
                case [_, [x, *rest]]:
                    return x, rest
                case [None | True, -1 | 'a' | Failure.__name__]:
                    return 'values'
            return p
        """,
        """
        def f(p, limit):
            y: ...
            x: ...
            pair: ...
            captured = ag__.captures(p, ag__.named(ag__.sequence(ag__.name('x'), ag__.sequence(ag__.name('y'), ag__.star())), 'pair'))
            def otherwise():
                bit: ...
                nonlocal x
                def otherwise_2():
                    nonlocal x
                    captured_2 = ag__.captures(p, ag__.sequence(ag__.anything, ag__.sequence(ag__.name('x'), ag__.star('rest'))))
                    def then_3():
                        nonlocal x
                        x, rest = captured_2
                        return (x, rest)
                    return ag__.if_stmt(captured_2, then_3, lambda: ag__.if_stmt(ag__.matches(p, ag__.sequence(ag__.either(None, True), ag__.either(-1, 'a', lambda: Failure.__name__))), lambda: 'values', lambda: p))
                def operand():
                    nonlocal bit
                    return [(bit := p)]
                return ag__.if_stmt(ag__.and_(ag__.or_(p == 0, lambda: p == 1), operand, lambda: bit, binds=('bit',)), lambda: bit, otherwise_2)
            def operand_2():
                nonlocal pair, x, y
                return [(x := ag__.view(captured[0], captured)), (y := ag__.view(captured[1], captured)), (pair := ag__.view(captured[2], captured))]
            return ag__.if_stmt(ag__.and_(captured, operand_2, lambda: ag__.call(say)(x) > limit, binds=('pair', 'x', 'y')), lambda: (x, y, pair), otherwise)
        """,  # noqa: E501
        [([3, (1, 2)], 2), ([1, (1, 2)], 2), (1, 0), (0, 0), ([None, "a"], 0), ([True, "Failure"], 0), ([1, -1], 0), ("ab", 0)],
    ),
    "mappings": Row(
        """
        def f(d):
            match d:
                case {}:
                    r = 'any'
            match d:
                case {'a': 1, Failure.__name__: x}:
                    r = x
                case {'a': (1 | 2) as a, **rest} | {'b': a, **rest}:
                    r = a, rest
                case {None: [a, 0]}:
                    r = a
            return r
        """,
        """
        def f(d):
            r: ...
            def then():
                nonlocal r
                r = 'any'
            ag__.if_stmt(ag__.matches(d, ag__.mapping()), then, None, 'r?')
            captured = ag__.captures(d, ag__.mapping(('a', 1), (lambda: Failure.__name__, ag__.name('x'))))
            def then():
                nonlocal r
                x, = captured
                r = x
            def otherwise():
                nonlocal r
                a: ...
                captured_2 = ag__.captures(d, ag__.either(ag__.mapping(('a', ag__.named(ag__.either(1, 2), 'a')), rest='rest'), ag__.mapping(('b', ag__.name('a')), rest='rest')))
                def then_2():
                    nonlocal a, r
                    a, rest = captured_2
                    r = (a, rest)
                def otherwise_2():
                    nonlocal a, r
                    captured_3 = ag__.captures(d, ag__.mapping((None, ag__.sequence(ag__.name('a'), 0))))
                    def then_3():
                        nonlocal a, r
                        a, = captured_3
                        r = a
                    ag__.if_stmt(captured_3, then_3, None, 'r?')
                ag__.if_stmt(captured_2, then_2, otherwise_2, 'r?')
            ag__.if_stmt(captured, then, otherwise, 'r?')
            return ag__.bound('r', lambda: r)
        """,  # noqa: E501
        [({"a": 1, "Failure": 5},), ({"a": 2, "c": 3},), ({"b": 7},), ({None: [1, 0]},), ({},), ([],), ({"a": 1},)],
    ),
    "classes": Row(
        """
        def f(o):
            match o:
                case bool() | int(0):
                    return 'small'
                case int(n) | float(n) if n > 5:
                    return n
                case ValueError(args=(code, *_)):
                    return code
                case str(text, __class__=kind):
                    return text, kind
                case [Exception() as error]:
                    return error.args
                case list(1, 2):
                    return 'never'
        """,
        """
        def f(o):
            def otherwise():
                n: ...
                captured = ag__.captures(o, ag__.either(ag__.instance(lambda: int, ag__.name('n')), ag__.instance(lambda: float, ag__.name('n'))))
                def otherwise_2():
                    captured_2 = ag__.captures(o, ag__.instance(lambda: ValueError, args=ag__.sequence(ag__.name('code'), ag__.star())))
                    def then_3():
                        code, = captured_2
                        return code
                    def otherwise_3():
                        captured_3 = ag__.captures(o, ag__.instance(lambda: str, ag__.name('text'), __class__=ag__.name('kind')))
                        def then_4():
                            text, kind = captured_3
                            return (text, kind)
                        def otherwise_4():
                            captured_4 = ag__.captures(o, ag__.sequence(ag__.named(ag__.instance(lambda: Exception), 'error')))
                            def then_5():
                                error, = captured_4
                                return error.args
                            return ag__.if_stmt(captured_4, then_5, lambda: ag__.if_stmt(ag__.matches(o, ag__.instance(lambda: list, 1, 2)), lambda: 'never'))
                        return ag__.if_stmt(captured_3, then_4, otherwise_4)
                    return ag__.if_stmt(captured_2, then_3, otherwise_3)
                def operand():
                    nonlocal n
                    return [(n := ag__.view(captured[0], captured))]
                return ag__.if_stmt(ag__.and_(captured, operand, lambda: n > 5, binds=('n',)), lambda: n, otherwise_2)
            return ag__.if_stmt(ag__.matches(o, ag__.either(ag__.instance(lambda: bool), ag__.instance(lambda: int, 0))), lambda: 'small', otherwise)
        """,  # noqa: E501
        [(True,), (0,), (7,), (6.5,), (3,), (ValueError(4, 5),), ("t",), ([TypeError(2)],), ([1],)],
    ),
    "an undefined name is only looked up when it is come to": Row(
        """
        def f(p):
            match p:
                case [0, missing.name]:
                    return 'never'
                case [1, Missing()]:
                    return 'never'
                case {missing.key: 1}:
                    return 'never'
            return p
        """,
        """
        def f(p):
            return ag__.if_stmt(ag__.matches(p, ag__.sequence(0, lambda: missing.name)), lambda: 'never', lambda: ag__.if_stmt(ag__.matches(p, ag__.sequence(1, ag__.instance(lambda: Missing))), lambda: 'never', lambda: ag__.if_stmt(ag__.matches(p, ag__.mapping((lambda: missing.key, 1))), lambda: 'never', lambda: p)))
        """,  # noqa: E501
        [([2, 3],), ([0, 3],), ([1, 3],), ({},), ({"a": 1},)],
    ),
    "the subject is no plain sequence": Row(
        """
        def f(p):
            match p:
                case [a, b]:
                    return 'two', a, b
                case [a, *_, b]:
                    return 'more', a, b
                case [*all]:
                    return 'some', all
                case _:
                    return 'none'
        """,
        """
        def f(p):
            a: ...
            b: ...
            captured = ag__.captures(p, ag__.sequence(ag__.name('a'), ag__.name('b')))
            def then():
                nonlocal a, b
                a, b = captured
                return ('two', a, b)
            def otherwise():
                nonlocal a, b
                captured_2 = ag__.captures(p, ag__.sequence(ag__.name('a'), ag__.star(), ag__.name('b')))
                def then_2():
                    nonlocal a, b
                    a, b = captured_2
                    return ('more', a, b)
                def otherwise_2():
                    captured_3 = ag__.captures(p, ag__.sequence(ag__.star('all')))
                    def then_3():
                        all, = captured_3
                        return ('some', all)
                    return ag__.if_stmt(captured_3, then_3, lambda: 'none')
                return ag__.if_stmt(captured_2, then_2, otherwise_2)
            return ag__.if_stmt(captured, then, otherwise)
        """,
        [("ab",), (b"ab",), ({1, 2},), (range(2),), (range(5),), ([],), ((1,),), ({1: 2},), (iter([1, 2]),)],
    ),
    "a subject that a guard binds": Row(
        """
        def f(k):
            match k:
                case 0 if (k := say(5)) < 3:
                    return 'never'
                case 0:
                    return k
                case _:
                    return 'other'
        """,
        """
        def f(k):
            subject = k
            def operand():
                nonlocal k
                return (k := ag__.call(say)(5)) < 3
            return ag__.if_stmt(ag__.and_(subject == 0, operand, binds=('k',)), lambda: 'never', lambda: ag__.if_stmt(subject == 0, lambda: k, lambda: 'other'))
        """,  # noqa: E501
        [(0,), (5,)],
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
    "a guard that rebinds the subject in a function": Row(
        """
        def f(x):
            y = None

            def g():
                nonlocal x
                x = 1
                return False

            match x:
                case 0 if g():
                    y = 0
                case 1:
                    y = 1
            return x, y
        """,
        None,
        [(0,), (1,)],
    ),
}


@parametrize(ROWS)
def test_text(row: Row):
    check_text(row)


@parametrize(ROWS)
def test_same_as_python(row: Row):
    check_calls(row)
