"""and, or, not, comparison chains, in, is, conditional expressions and calls keep Python's values and order."""

from tests.converters.helpers import Row, check_calls, check_text, parametrize

ROWS = {
    "and, or": Row(
        """
        def f(a, b, c):
            return say(a) and say(b) or say(c)
        """,
        """
        def f(a, b, c):
            return ag__.or_(ag__.and_(ag__.call(say)(a), lambda: ag__.call(say)(b)), lambda: ag__.call(say)(c))
        """,
        [(0, 1, 2), (1, 0, 2), (1, [], None), (1, 2, 3), ("", 0, [])],
    ),
    "and with more operands": Row(
        """
        def f(a, b, c):
            return say(a) and say(b) and say(c), say(a) or say(b) or say(c)
        """,
        """
        def f(a, b, c):
            return (ag__.and_(ag__.call(say)(a), lambda: ag__.call(say)(b), lambda: ag__.call(say)(c)), ag__.or_(ag__.call(say)(a), lambda: ag__.call(say)(b), lambda: ag__.call(say)(c)))
        """,  # noqa: E501
        [(0, 1, 2), (1, 0, 2), (1, 2, 3), (0, 0, 0)],
    ),
    "not": Row(
        """
        def f(a):
            return not say(a), not not a
        """,
        """
        def f(a):
            return (ag__.not_(ag__.call(say)(a)), ag__.not_(ag__.not_(a)))
        """,
        [(0,), ([],), ("x",)],
    ),
    "comparison": Row(
        """
        def f(a, b):
            return a < b, a == b, a != b
        """,
        """
        def f(a, b):
            return (a < b, a == b, a != b)
        """,
        [(1, 2), (1, "a")],
    ),
    "chained comparison": Row(
        """
        def f(a, b, c):
            return say(a) < say(b) <= say(c) != say(0)
        """,
        """
        def f(a, b, c):
            return ag__.compare(ag__.call(say)(a), '<', ag__.call(say)(b), '<=', lambda: ag__.call(say)(c), '!=', lambda: ag__.call(say)(0))
        """,  # noqa: E501
        [(1, 2, 3), (2, 1, 3), (1, 2, 0), (1, 5, 5), (1, 2, "a")],
    ),
    "chain with in and is": Row(
        """
        def f(a, b, c):
            return a is b in c, a not in c is not None, a in c == 1
        """,
        """
        def f(a, b, c):
            return (ag__.compare(a, 'is', b, 'in', lambda: c), ag__.compare(a, 'not in', c, 'is not', lambda: None), ag__.compare(a, 'in', c, '==', lambda: 1))
        """,  # noqa: E501
        [(1, 1, [1]), (1, 2, [3]), (1, 1, 1)],
    ),
    "in": Row(
        """
        def f(a, xs):
            return a in xs, a not in xs
        """,
        """
        def f(a, xs):
            return (ag__.in_(a, xs), ag__.not_in(a, xs))
        """,
        [(1, [1]), ("a", "abc"), (1, {}), (1, 5), ([], {1})],
    ),
    "is": Row(
        """
        def f(a, b):
            return a is b, a is not b, a is None
        """,
        """
        def f(a, b):
            return (ag__.is_(a, b), ag__.is_not(a, b), ag__.is_(a, None))
        """,
        [(1, 1), (None, None), ([], [])],
    ),
    "conditional expression": Row(
        """
        def f(a, b, c):
            return say(b) if say(a) else say(c)
        """,
        """
        def f(a, b, c):
            return ag__.if_expr(ag__.call(say)(a), lambda: ag__.call(say)(b), lambda: ag__.call(say)(c))
        """,
        [(0, 1, 2), (1, 1, 2), ([], None, 2)],
    ),
    "walrus in a condition": Row(
        """
        def f(a):
            r = b if (b := say(a)) else 'none'
            return r, b
        """,
        """
        def f(a):
            r = ag__.if_expr((b := ag__.call(say)(a)), lambda: b, lambda: 'none')
            return (r, b)
        """,
        [(0,), (3,)],
    ),
    "walrus in what may be left out": Row(
        """
        def f(a):
            b = c = 'unset'
            r = a and (b := say(1))
            s = (c := say(2)) if a else 0
            t = 0 < a < (b := say(5))
            return r, s, t, b, c
        """,
        """
        def f(a):
            b = c = 'unset'
            def operand():
                nonlocal b
                return (b := ag__.call(say)(1))
            r = ag__.and_(a, operand, binds=('b',))
            def operand_2():
                nonlocal c
                return (c := ag__.call(say)(2))
            s = ag__.if_expr(a, operand_2, lambda: 0, 'c?')
            def operand_3():
                nonlocal b
                return (b := ag__.call(say)(5))
            t = ag__.compare(0, '<', a, '<', operand_3, binds=('b',))
            return (r, s, t, b, c)
        """,
        [(0,), (3,)],
    ),
    "walrus in a condition with and": Row(
        """
        def f(a, c):
            'Has a docstring.'
            if a > 1 and (b := say(a * 2)) > 3 and (c or (d := say(b)) > 5):
                return b, c
            return b
        """,
        """
        def f(a, c):
            'Has a docstring.'
            d: ...
            b: ...
            def operand():
                nonlocal b
                return (b := ag__.call(say)(a * 2)) > 3
            def operand_2():
                nonlocal d
                def operand_3():
                    nonlocal d
                    return (d := ag__.call(say)(b)) > 5
                return ag__.or_(c, operand_3, binds=('d',))
            return ag__.if_stmt(ag__.and_(a > 1, operand, operand_2, binds=('b', 'd?')), lambda: (b, c), lambda: ag__.bound('b', lambda: b))
        """,  # noqa: E501
        [(0, 0), (1.2, 0), (2, 0), (2, 1), (3, 0)],
    ),
    "walrus in the test of a loop": Row(
        """
        def f(a):
            while a > 1 and (b := say(a / 2)) > 0.3:
                a = b
            return a
        """,
        """
        def f(a):
            b: ...
            def test():
                nonlocal b
                def operand():
                    nonlocal b
                    return (b := ag__.call(say)(a / 2)) > 0.3
                return ag__.and_(a > 1, operand, binds=('b',))
            def body():
                nonlocal a
                a = b
            ag__.while_stmt(test, ag__.surely(body, 'b'), 'a', 'b?')
            return a
        """,
        [(0,), (5,), (1.2,)],
    ),
    "walrus of a global and of a function around": Row(
        """
        def f(a):
            n = 0
            def g():
                global m
                nonlocal n
                return a and (n := say(a)) and (m := n + 1)
            return g(), n, m if a else 0
        """,
        """
        def f(a):
            n = 0
            def g():
                global m
                nonlocal n
                def operand():
                    nonlocal n
                    return (n := ag__.call(say)(a))
                def operand_2():
                    global m
                    return (m := (n + 1))
                return ag__.and_(a, operand, operand_2, binds=('global m', 'n'))
            return (ag__.call(g)(), n, ag__.if_expr(a, lambda: m, lambda: 0))
        """,
        [(0,), (5,)],
    ),
    "walrus in a lambda's condition stays there": Row(
        """
        def f(a):
            g = lambda x: x and (y := x + 1) and y * 2
            return g(a)
        """,
        """
        def f(a):
            g = lambda x: x and (y := (x + 1)) and (y * 2)
            return ag__.call(g)(a)
        """,
        [(0,), (5,)],
    ),
    "assertion with a walrus": Row(
        """
        def f(x):
            assert x and (y := say(x)) < 5, 'large'
            return y
        """,
        """
        def f(x):
            assert ag__.checked(x, lambda: 'large'), 'large'
            assert ag__.checked((y := ag__.call(say)(x)) < 5, lambda: 'large'), 'large'
            return y
        """,
        [(1,), (0,), (7,)],
    ),
    "lookups in tables": Row(
        """
        def f(k, i):
            table = {'a': 1, 'b': 2}
            names = ['x', *'yz']
            word = 'text'
            key = 'a' if k else 'b'
            return table[key], names[i], names[-1], names[1:], word[i], ('p', 'q')[k], {0: len, 1: max}[k]([5]), i[key] if k > 1 else 0
        """,  # noqa: E501
        """
        def f(k, i):
            table = {'a': 1, 'b': 2}
            names = ['x', *'yz']
            word = 'text'
            key = ag__.if_expr(k, lambda: 'a', lambda: 'b')
            return (ag__.view(ag__.get_item(table, key), table), ag__.view(ag__.get_item(names, i), names), ag__.view(names[-1], names), ag__.view(names[1:], names), ag__.view(ag__.get_item(word, i), word), ag__.get_item(('p', 'q'), k), ag__.call(ag__.get_item({0: len, 1: max}, k))([5]), ag__.if_expr(k > 1, lambda: ag__.view(ag__.get_item(i, key), i), lambda: 0))
        """,  # noqa: E501
        [(0, 1), (1, 2), (1, -1), (1, 3), (2, 0)],
    ),
    "lookups in what is from outside, and calls of elements": Row(
        """
        def f(k, steps):
            def g(j):
                return steps[j](k), steps[0](k)
            return Failure.__name__[k], TABLE[k] if k > 1 else 0, g(k)
        """,
        """
        def f(k, steps):
            def g(j):
                return (ag__.call(ag__.get_item(steps, j))(k), ag__.call(steps[0])(k))
            return (ag__.view_at(Failure.__name__, k), ag__.if_expr(k > 1, lambda: ag__.view(ag__.get_item(TABLE, k), TABLE), lambda: 0), ag__.call(g)(k))
        """,  # noqa: E501
        [(0, [str, abs]), (1, [str, abs]), (2, [str, abs])],
    ),
    "numeric code keeps its subscripts": Row(
        """
        def f(a, b, i):
            c = a * 2
            for j in range(2):
                c[j] = b[i] - a[j] * c[j - 1] + b[i + 1]
            return c[i], a[i, j] if i > 5 else 0
        """,
        """
        def f(a, b, i):
            j: ...
            c = a * 2
            def body(element):
                nonlocal c, j
                j = element
                c = ag__.set_item(b[i] - a[j] * c[j - 1] + b[i + 1], c, j)
            ag__.for_stmt(ag__.call(range)(2), body, 'c', 'j?')
            return (ag__.view(c[i], c), ag__.if_expr(i > 5, lambda: ag__.view(a[i, ag__.bound('j', lambda: j)], a), lambda: 0))
        """,
        [([1, 2], [3, 4], 0), ([1, 2], [3, 4], 1)],
    ),
    "comparisons with tuples, lists and dicts": Row(
        """
        def f(a, b):
            pair = (a, b)
            return pair == (1, 2), [a] < [b], a == b, {'x': a} != b, (a,) == b != 5
        """,
        """
        def f(a, b):
            pair = (a, b)
            return (ag__.compare(pair, '==', (1, 2)), ag__.compare([a], '<', [b]), a == b, ag__.compare({'x': a}, '!=', b), ag__.compare((a,), '==', b, '!=', lambda: 5))
        """,  # noqa: E501
        [(1, 2), (2, 1), (1, "a")],
    ),
    "walrus in a comprehension's condition": Row(
        """
        def f(xs):
            return [y for x in xs if (y := x * 2) > 2 and y < 9], y
        """,
        """
        def f(xs):
            return (ag__.kept_list([ag__.kept(ag__.and_((y := (x * 2)) > 2, lambda: y < 9), lambda: y) for x in xs]), ag__.bound('y', lambda: y))
        """,  # noqa: E501
        [([1, 2, 3, 9],), ([],)],
    ),
    "calls": Row(
        """
        def f(g, xs, d):
            return say(max)(*say(xs), say(4), **say(d))
        """,
        """
        def f(g, xs, d):
            return ag__.call(ag__.call(say)(max))(*ag__.rows(ag__.call(say)(xs)), ag__.call(say)(4), **ag__.call(say)(d))
        """,
        [(None, [1, 2], {}), (None, [1], {"key": 5}), (None, 5, {})],
    ),
    "calls of methods": Row(
        """
        def f(s, xs):
            xs.append(say(s).upper().lower())
            return xs
        """,
        """
        def f(s, xs):
            ag__.call(xs.append)(ag__.call(ag__.call(ag__.call(say)(s).upper)().lower)())
            return xs
        """,
        [("aB", []), (1, [])],
    ),
    "a call in a decorator and a default": Row(
        """
        def f(x):
            @say
            def g(y=say(x) or 5):
                return y and x
            return g(), g(1)
        """,
        """
        def f(x):
            @ag__.call(say)
            def g(y=ag__.or_(ag__.call(say)(x), lambda: 5)):
                return ag__.and_(y, lambda: x)
            return (ag__.call(g)(), ag__.call(g)(1))
        """,
        [(0,), (2,)],
    ),
    "lambdas": Row(
        """
        def f(x):
            g = lambda y, *rest, k=say(x): y and k or rest
            return g(0), g(1), g(1, k=0), g(0, 7)
        """,
        """
        def f(x):
            g = lambda y, *rest, k=ag__.call(say)(x): ag__.or_(ag__.and_(y, lambda: k), lambda: rest)
            return (ag__.call(g)(0), ag__.call(g)(1), ag__.call(g)(1, k=0), ag__.call(g)(0, 7))
        """,
        [(0,), (2,)],
    ),
    "comprehensions": Row(
        """
        def f(xs):
            a = [x and 1 for x in xs if not x or x > 1]
            b = {x: y for x in xs for y in xs if x < y < 4}
            c = {x if x else None for x in xs}
            d = sum(x for x in xs if x in (1, 2))
            return a, b, c, d
        """,
        """
        def f(xs):
            a = ag__.kept_list([ag__.kept(ag__.or_(ag__.not_(x), lambda: x > 1), lambda: ag__.and_(x, lambda: 1)) for x in ag__.rows(xs)])
            b = {x: y for x in xs for y in ag__.rows(xs) if ag__.decided(ag__.compare(x, '<', y, '<', lambda: 4))}
            c = {ag__.if_expr(x, lambda: x, lambda: None) for x in xs}
            d = ag__.call(sum)(ag__.kept_ones((ag__.kept(ag__.in_(x, (1, 2)), lambda: x) for x in xs)))
            return (a, b, c, d)
        """,  # noqa: E501
        [([0, 1, 2, 3],), ([],)],
    ),
    "f-strings": Row(
        """
        def f(x, width):
            return f'{x and 1!r:>{width or 3}} {not x=}'
        """,
        """
        def f(x, width):
            return ag__.text(ag__.field(ag__.and_(x, lambda: 1), 'r', ag__.text('>', ag__.field(ag__.or_(width, lambda: 3), '', ''))), ' not x=', ag__.field(ag__.not_(x), 'r', ''))
        """,  # noqa: E501
        [(0, 4), (2, 0)],
    ),
    "a generator expression is lazy": Row(
        """
        def f(xs):
            g = (say(x) and fail() for x in say(xs))
            return next(g)
        """,
        """
        def f(xs):
            g = (ag__.give(given, ag__.and_(ag__.call(say)(x), lambda: ag__.call(fail)())) for given, x in ag__.giving(ag__.call(say)(xs)))
            return ag__.call(next)(g)
        """,  # noqa: E501
        [([0, 1],), ([1],), ([],)],
    ),
    "isinstance, super-like names, print": Row(
        """
        def f(x):
            if isinstance(x, int) and callable(print):
                return type(x)(say(x) + 1)
            return str(x)
        """,
        """
        def f(x):
            return ag__.if_stmt(ag__.and_(ag__.call(isinstance)(x, int), lambda: ag__.call(callable)(print)), lambda: ag__.call(ag__.call(type)(x))(ag__.call(say)(x) + 1), lambda: ag__.call(str)(x))
        """,  # noqa: E501
        [(1,), ("a",), (True,)],
    ),
    "order in a large expression": Row(
        """
        def f(a, b):
            return {say('k'): say(a) or say(b)}, [say(1) < say(2) < say(0), *(say(b) if a else say('n'),)], say(a)[say(0):say(1)]
        """,  # noqa: E501
        """
        def f(a, b):
            return ({ag__.call(say)('k'): ag__.or_(ag__.call(say)(a), lambda: ag__.call(say)(b))}, [ag__.compare(ag__.call(say)(1), '<', ag__.call(say)(2), '<', lambda: ag__.call(say)(0)), *(ag__.if_expr(a, lambda: ag__.call(say)(b), lambda: ag__.call(say)('n')),)], ag__.view_at(ag__.call(say)(a), ag__.at[ag__.call(say)(0):ag__.call(say)(1)]))
        """,  # noqa: E501
        [([1], "b"), ([], "b"), ("", "")],
    ),
    "a variable that may be unbound": Row(
        """
        def f(x):
            if x > 0:
                y = x
            return [y, (lambda: y)()] if x else y + 1
        """,
        """
        def f(x):
            y: ...
            def then():
                nonlocal y
                y = x
            ag__.if_stmt(x > 0, then, None, 'y?')
            return ag__.if_expr(x, lambda: [ag__.bound('y', lambda: y), ag__.call(lambda: ag__.captured('y', lambda: y))()], lambda: ag__.bound('y', lambda: y) + 1)
        """,  # noqa: E501
        [(1,), (0,), (-1,)],
    ),
    "an error keeps its place": Row(
        """
        def f(x):
            y = 1
            return (x and
                    y / (x - 1) or
                    fail(x))
        """,
        """
        def f(x):
            y = 1
            return ag__.or_(ag__.and_(x, lambda: y / (x - 1)), lambda: ag__.call(fail)(x))
        """,
        [(0,), (1,), (2,)],
    ),
    "assertions": Row(
        """
        def f(x):
            assert x and x < 5, say('message')
            return x
        """,
        """
        def f(x):
            assert ag__.checked(ag__.and_(x, lambda: x < 5), lambda: ag__.call(say)('message')), ag__.call(say)('message')
            return x
        """,
        [(1,), (0,), (7,)],
    ),
    "subscripts and slices are read as before": Row(
        """
        def f(x, i):
            return x[i], x[i or 0:not i or None], x[-1]
        """,
        """
        def f(x, i):
            return (ag__.view(x[i], x), ag__.view(x[ag__.or_(i, lambda: 0):ag__.or_(ag__.not_(i), lambda: None)], x), ag__.view(x[-1], x))
        """,  # noqa: E501
        [([1, 2], 0), ([1, 2], 1), ([], 0)],
    ),
    "star expressions": Row(
        """
        def f(xs):
            first, *rest = *xs, *say(xs)
            return first, rest
        """,
        """
        def f(xs):
            first, *rest = (*ag__.rows(xs), *ag__.rows(ag__.call(say)(xs)))
            return (first, rest)
        """,
        [([1, 2],), ([],)],
    ),
    "a chain of methods over several lines": Row(
        """
        def f(x):
            return (str(x)
                    .upper()
                    .index(x,
                           1))
        """,
        """
        def f(x):
            return ag__.call(ag__.call(ag__.call(str)(x).upper)().index)(x, 1)
        """,
        [(1,), ("a",)],
    ),
    "a chain of methods that unpacks its arguments": Row(
        """
        def f(x):
            return (str(x)
                    .upper(**{})
                    .index(*[x]))
        """,
        None,
        [(1,)],
    ),
    "methods in C with too few arguments": Row(
        """
        def f(method):
            return method()
        """,
        """
        def f(method):
            return ag__.call(method)()
        """,
        [(set.add,), (object.__setattr__,), (list.append,), ([].__setitem__,), (dict.update,)],
    ),
}


@parametrize(ROWS)
def test_text(row: Row):
    check_text(row)


@parametrize(ROWS)
def test_same_as_python(row: Row):
    check_calls(row)
