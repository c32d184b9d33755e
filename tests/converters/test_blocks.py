"""if, while, for, with, try: blocks become functions, and early exits move the rest into the other path."""

import sys

from tests.converters.helpers import Row, check_calls, check_text, parametrize

ROWS = {
    "if without else": Row(
        """
        def f(x):
            if x > 0:
                x = -x
            return x
        """,
        """
        def f(x):
            def then():
                nonlocal x
                x = -x
            ag__.if_stmt(x > 0, then, None, 'x')
            return x
        """,
        [(1,), (-1,)],
    ),
    "if with else": Row(
        """
        def f(x):
            if x > 0:
                y = x
            else:
                y = -x
            return y
        """,
        """
        def f(x):
            y: ...
            def then():
                nonlocal y
                y = x
            def otherwise():
                nonlocal y
                y = -x
            ag__.if_stmt(x > 0, then, otherwise, 'y')
            return y
        """,
        [(1,), (-1,)],
    ),
    "elif": Row(
        """
        def f(x):
            if say(x) > 1:
                y = 2
            elif say(x) > 0:
                y = 1
            else:
                y = 0
            return y
        """,
        """
        def f(x):
            y: ...
            def then():
                nonlocal y
                y = 2
            def otherwise():
                nonlocal y
                def then_2():
                    nonlocal y
                    y = 1
                def otherwise_2():
                    nonlocal y
                    y = 0
                ag__.if_stmt(ag__.call(say)(x) > 0, then_2, otherwise_2, 'y')
            ag__.if_stmt(ag__.call(say)(x) > 1, then, otherwise, 'y')
            return y
        """,
        [(2,), (1,), (0,)],
    ),
    "a variable without a value": Row(
        """
        def f(x):
            if x:
                y = 1
            return y
        """,
        """
        def f(x):
            y: ...
            def then():
                nonlocal y
                y = 1
            ag__.if_stmt(x, then, None, 'y?')
            return ag__.bound('y', lambda: y)
        """,
        [(1,), (0,)],
    ),
    "a temporary stays in its block": Row(
        """
        def f(x):
            if x > 0:
                half = x / 2
                x = half * half
            return x
        """,
        """
        def f(x):
            def then():
                nonlocal x
                half = x / 2
                x = half * half
            ag__.if_stmt(x > 0, then, None, 'x')
            return x
        """,
        [(1,), (-1,)],
    ),
    "values alone become lambdas": Row(
        """
        def f(x):
            if say(x):
                return say(1)
            else:
                return say(2)
        """,
        """
        def f(x):
            return ag__.if_stmt(ag__.call(say)(x), lambda: ag__.call(say)(1), lambda: ag__.call(say)(2))
        """,
        [(1,), (0,)],
    ),
    "the rest moves into the path that goes on": Row(
        """
        def f(x):
            if x < 0:
                return -1
            x = x + 1
            say(x)
            return x
        """,
        """
        def f(x):
            def otherwise():
                nonlocal x
                x = x + 1
                ag__.call(say)(x)
                return x
            return ag__.if_stmt(x < 0, lambda: -1, otherwise)
        """,
        [(1,), (-1,)],
    ),
    "an else that leaves": Row(
        """
        def f(x):
            if x < 0:
                x = -x
            else:
                return x
            x = x + 1
            return x
        """,
        """
        def f(x):
            def then():
                nonlocal x
                x = -x
                x = x + 1
                return x
            return ag__.if_stmt(x < 0, then, lambda: x)
        """,
        [(1,), (-1,)],
    ),
    "both paths may leave": Row(
        """
        def f(x, y):
            if x:
                if y:
                    return 'both'
                say('x')
            else:
                if y:
                    return 'y'
                say('none')
            return 'end'
        """,
        """
        def f(x, y):
            def then():
                def otherwise_2():
                    ag__.call(say)('x')
                return ag__.if_stmt(y, lambda: ag__.Return('both'), otherwise_2)
            def otherwise():
                def otherwise_2():
                    ag__.call(say)('none')
                return ag__.if_stmt(y, lambda: ag__.Return('y'), otherwise_2)
            left = ag__.if_stmt(x, then, otherwise)
            return ag__.returned(left, lambda: 'end')
        """,
        [(0, 0), (0, 1), (1, 0), (1, 1)],
    ),
    "return without a value": Row(
        """
        def f(x):
            if x:
                return
            say(x)
        """,
        """
        def f(x):
            def otherwise():
                ag__.call(say)(x)
            return ag__.if_stmt(x, lambda: None, otherwise)
        """,
        [(0,), (1,)],
    ),
    "raise in a branch": Row(
        """
        def f(x):
            if x < 0:
                raise Failure('negative')
            return x ** 0.5
        """,
        """
        def f(x):
            def then():
                raise ag__.raised(ag__.call(Failure)('negative'))
            ag__.if_stmt(x < 0, then)
            return x ** 0.5
        """,
        [(4,), (-4,)],
    ),
    "while": Row(
        """
        def f(n):
            i = 0
            while i < n:
                i += 1
            return i
        """,
        """
        def f(n):
            i = 0
            def body():
                nonlocal i
                i += 1
            ag__.while_stmt(lambda: i < n, body, 'i')
            return i
        """,
        [(0,), (3,)],
    ),
    "while with a walrus in its test": Row(
        """
        def f(n):
            total = 0
            while (n := n - 1) > 0:
                total += n
            return total, n
        """,
        """
        def f(n):
            total = 0
            def test():
                nonlocal n
                return (n := (n - 1)) > 0
            def body():
                nonlocal total
                total += n
            ag__.while_stmt(test, body, 'n', 'total')
            return (total, n)
        """,
        [(0,), (4,)],
    ),
    "break and continue": Row(
        """
        def f(xs):
            total = 0
            for x in xs:
                if x < 0:
                    continue
                if x > 10:
                    break
                total += x
            return total
        """,
        """
        def f(xs):
            total = 0
            def body(x):
                nonlocal total
                def otherwise_2():
                    nonlocal total
                    def otherwise_3():
                        nonlocal total
                        total += x
                    return ag__.if_stmt(x > 10, lambda: ag__.break_, otherwise_3, 'total')
                return ag__.if_stmt(x < 0, lambda: None, otherwise_2, 'total')
            ag__.for_stmt(xs, body, 'total')
            return total
        """,
        [([1, -1, 2],), ([1, 11, 5],), ([],)],
    ),
    "break at the end of a branch that goes on": Row(
        """
        def f(xs):
            last = None
            for x in xs:
                last = x
                if x > 1:
                    say(x)
                    break
            return last
        """,
        """
        def f(xs):
            last = None
            def body(x):
                nonlocal last
                last = x
                def then_2():
                    ag__.call(say)(x)
                    return ag__.break_
                return ag__.if_stmt(x > 1, then_2)
            ag__.for_stmt(xs, body, 'last')
            return last
        """,
        [([0, 1, 2, 3],), ([0],)],
    ),
    "return in a loop": Row(
        """
        def f(xs, x):
            for i, other in enumerate(xs):
                if other == x:
                    return i
            return -1
        """,
        """
        def f(xs, x):
            i: ...
            other: ...
            def body(element):
                nonlocal i, other
                i, other = element
                return ag__.if_stmt(other == x, lambda: ag__.Return(i))
            left = ag__.for_stmt(ag__.call(enumerate)(xs), body)
            return ag__.returned(left, lambda: -1)
        """,
        [([3, 4], 4), ([3], 4), ([], 0)],
    ),
    "return in a loop in a loop": Row(
        """
        def f(rows):
            for row in rows:
                for x in row:
                    if x:
                        return x
                say(row)
            return None
        """,
        """
        def f(rows):
            def body(row):
                def body_2(x):
                    return ag__.if_stmt(x, lambda: ag__.Return(x))
                left = ag__.for_stmt(row, body_2)
                def rest_2():
                    ag__.call(say)(row)
                return ag__.unless(left, rest_2)
            left = ag__.for_stmt(rows, body)
            return ag__.returned(left, lambda: None)
        """,
        [([[0, 0], [0, 5]],), ([[0]],), ([],)],
    ),
    "for and else": Row(
        """
        def f(xs):
            for x in xs:
                if x:
                    found = x
                    break
            else:
                found = 'none'
            return found
        """,
        """
        def f(xs):
            found: ...
            def body(x):
                nonlocal found
                def then_2():
                    nonlocal found
                    found = x
                    return ag__.break_
                return ag__.if_stmt(x, then_2, None, 'found?')
            def orelse():
                nonlocal found
                found = 'none'
            ag__.for_stmt(xs, body, 'found', orelse=orelse)
            return found
        """,
        [([0, 3],), ([0],), ([],)],
    ),
    "while and else, with a return in each": Row(
        """
        def f(n, stop):
            while n > 0:
                if n == stop:
                    return 'stopped'
                n -= 1
            else:
                if n < 0:
                    return 'below'
                say(n)
            return 'end'
        """,
        """
        def f(n, stop):
            def body():
                nonlocal n
                def otherwise_2():
                    nonlocal n
                    n = ag__.augment_name(n, '-=', 1)
                return ag__.if_stmt(n == stop, lambda: ag__.Return('stopped'), otherwise_2, 'n')
            def orelse():
                def otherwise_2():
                    ag__.call(say)(n)
                return ag__.if_stmt(n < 0, lambda: ag__.Return('below'), otherwise_2)
            left = ag__.while_stmt(lambda: n > 0, body, 'n', orelse=orelse)
            return ag__.returned(left, lambda: 'end')
        """,
        [(3, 2), (3, 9), (-1, 0)],
    ),
    "continue in an else of an inner loop": Row(
        """
        def f(rows):
            for row in rows:
                for x in row:
                    if x:
                        break
                else:
                    continue
                say(row)
            return rows
        """,
        """
        def f(rows):
            def body(row):
                def body_2(x):
                    return ag__.if_stmt(x, lambda: ag__.break_)
                left = ag__.for_stmt(row, body_2, orelse=lambda: ag__.continue_)
                def rest_2():
                    ag__.call(say)(row)
                return ag__.unless(left, rest_2)
            ag__.for_stmt(rows, body)
            return rows
        """,
        [([[0, 1], [0], [2]],), ([],)],
    ),
    "the loop variable is read after the loop": Row(
        """
        def f(xs):
            for x in xs:
                pass
            return x
        """,
        """
        def f(xs):
            x: ...
            def body(element):
                nonlocal x
                x = element
            ag__.for_stmt(xs, body, 'x?')
            return ag__.bound('x', lambda: x)
        """,
        [([1, 2],), ([],)],
    ),
    "unpacking targets": Row(
        """
        def f(pairs):
            total = 0
            for i, (a, *b) in pairs:
                total += i * a + len(b)
            return total, b
        """,
        """
        def f(pairs):
            b: ...
            total = 0
            def body(element):
                nonlocal b, total
                i, (a, *b) = ag__.rows(element, (None, (None, ...)))
                total += i * a + ag__.call(len)(b)
            ag__.for_stmt(pairs, body, 'b?', 'total')
            return (total, ag__.bound('b', lambda: b))
        """,
        [([(1, [2, 3, 4])],), ([],), ([(1, 2)],)],
    ),
    "a loop with pass": Row(
        """
        def f(xs):
            for x in xs:
                pass
            while xs.pop():
                pass
            return xs
        """,
        """
        def f(xs):
            ag__.for_stmt(xs, None)
            ag__.while_stmt(lambda: ag__.call(xs.pop)(), None)
            return xs
        """,
        [([1, 0, 2, 3],)],
    ),
    "with that ends with a return": Row(
        """
        def f(x):
            with ctx('a') as a, ctx('b'):
                if x:
                    return a
                say(x)
            say('after')
            return x
        """,
        """
        def f(x):
            exit = None
            with ag__.call(ctx)('a') as a, ag__.call(ctx)('b'), ag__.Told():
                def otherwise():
                    ag__.call(say)(x)
                exit = ag__.if_stmt(x, lambda: ag__.Return(a), otherwise)
            ag__.ended()
            def rest():
                ag__.call(say)('after')
                return x
            return ag__.returned(exit, rest)
        """,
        [(0,), (1,)],
    ),
    "a bare return in a with stays": Row(
        """
        def f(x):
            with ctx(x):
                return say(x)
        """,
        """
        def f(x):
            with (manager := ag__.call(ctx)(x)), ag__.Told():
                return ag__.call(say)(x)
            ag__.ended()
        """,
        [(1,)],
    ),
    "with that swallows the error of a branch": Row(
        """
        def f(x):
            y = 0
            with ctx('kept', Failure):
                y = 1
                if x:
                    y = 2
                    fail()
                y = 3
            return y
        """,
        """
        def f(x):
            y = 0
            with (manager := ag__.call(ctx)('kept', Failure)), ag__.Told():
                y = 1
                def then():
                    nonlocal y
                    y = 2
                    ag__.call(fail)()
                ag__.if_stmt(x, then, None, 'y')
                y = 3
            ag__.ended()
            return y
        """,
        [(0,), (1,)],
    ),
    "try, except, else, finally": Row(
        """
        def f(x):
            y = 'none'
            try:
                if x == 1:
                    fail()
                if x == 2:
                    return 'body'
                y = 'body went on'
            except Failure as error:
                y = str(error)
                if x == 1:
                    return y
            else:
                if x == 3:
                    return 'else'
                y = say(y)
            finally:
                say('finally')
            return y
        """,
        """
        def f(x):
            y = 'none'
            attempt_2 = ag__.final()
            exit = None
            try:
                with attempt_2:
                    attempt = ag__.attempt(lambda: Failure)
                    exit = None
                    try:
                        with attempt:
                            def then():
                                ag__.call(fail)()
                                return ag__.if_stmt(ag__.failed(attempt), lambda: ag__.failure)
                            left = ag__.if_stmt(x == 1, then)
                            def rest():
                                nonlocal y
                                def otherwise_2():
                                    nonlocal y
                                    def then_3():
                                        ag__.unchecked(attempt)
                                        return ag__.Return('body')
                                    def otherwise_3():
                                        nonlocal y
                                        ag__.unchecked(attempt)
                                        y = 'body went on'
                                    return ag__.if_stmt(x == 2, then_3, otherwise_3, 'y')
                                return ag__.if_stmt(ag__.failed(attempt), lambda: ag__.failure, otherwise_2, 'y')
                            exit = ag__.unless(left, rest, 'y')
                    except Failure as error:
                        ag__.caught()
                        value = ag__.call(str)(error)
                        def otherwise():
                            nonlocal y
                            y = value
                            def then_2():
                                ag__.unchecked(attempt_2)
                                return ag__.Return(y)
                            def otherwise_2():
                                ag__.unchecked(attempt_2)
                            return ag__.if_stmt(x == 1, then_2, otherwise_2)
                        exit = ag__.if_stmt(ag__.failed(attempt_2), lambda: ag__.failure, otherwise, 'y')
                    else:
                        def rest():
                            nonlocal y
                            def then_2():
                                nonlocal y
                                def then_3():
                                    ag__.unchecked(attempt_2)
                                    return ag__.Return('else')
                                def otherwise_3():
                                    nonlocal y
                                    ag__.unchecked(attempt_2)
                                    value_2 = ag__.call(say)(y)
                                    def otherwise_4():
                                        nonlocal y
                                        y = value_2
                                    return ag__.if_stmt(ag__.failed(attempt_2), lambda: ag__.failure, otherwise_4, 'y')
                                return ag__.if_stmt(x == 3, then_3, otherwise_3, 'y')
                            left = ag__.if_stmt(ag__.not_(ag__.failed(attempt)), then_2, None, 'y')
                            return ag__.unless(left, lambda: ag__.if_stmt(ag__.failed(attempt_2), lambda: ag__.failure))
                        exit = ag__.unless(exit, rest, 'y')
                    left = ag__.went_on(attempt, exit)
                    def rest():
                        nonlocal error, y
                        def otherwise_2():
                            nonlocal error, y
                            def then_3():
                                nonlocal error, y
                                error = ag__.error_of(attempt, 0)
                                value_3 = ag__.call(str)(error)
                                def otherwise_4():
                                    nonlocal error, y
                                    y = value_3
                                    def then_5():
                                        ag__.unchecked(attempt_2)
                                        return ag__.Return(y)
                                    def otherwise_5():
                                        nonlocal error
                                        ag__.unchecked(attempt_2)
                                        error = None
                                        del error
                                    return ag__.if_stmt(x == 1, then_5, otherwise_5)
                                return ag__.if_stmt(ag__.failed(attempt_2), lambda: ag__.failure, otherwise_4, 'y')
                            return ag__.if_stmt(ag__.handled(attempt, 0), then_3, None, 'y')
                        return ag__.if_stmt(ag__.failed(attempt_2), lambda: ag__.failure, otherwise_2, 'y')
                    exit = ag__.unless(left, rest, 'y')
            finally:
                ag__.call(say)('finally')
            left = ag__.went_on(attempt_2, exit)
            def rest():
                def then_2():
                    raise ag__.raised(ag__.error_of(attempt_2, 0))
                ag__.if_stmt(ag__.fails(attempt_2), then_2)
                return y
            return ag__.returned(left, rest)
        """,
        [(0,), (1,), (2,), (3,)],
    ),
    "break in a try in a loop": Row(
        """
        def f(xs):
            total = 0
            for x in xs:
                try:
                    if x == 0:
                        break
                    if x == 1:
                        continue
                    total += 6 / (x - 2)
                except ZeroDivisionError:
                    total += 100
                finally:
                    say(x)
                total += 1000
            return total
        """,
        """
        def f(xs):
            total = 0
            def body(x):
                nonlocal total
                exit = None
                try:
                    with ag__.Told():
                        def otherwise_2():
                            nonlocal total
                            def otherwise_3():
                                nonlocal total
                                total = ag__.augment_name(total, '+=', 6 / (x - 2))
                            return ag__.if_stmt(x == 1, lambda: ag__.continue_, otherwise_3, 'total')
                        exit = ag__.if_stmt(x == 0, lambda: ag__.break_, otherwise_2, 'total')
                except ZeroDivisionError:
                    ag__.caught()
                    total = ag__.augment_name(total, '+=', 100)
                finally:
                    ag__.call(say)(x)
                def rest_2():
                    nonlocal total
                    total = ag__.augment_name(total, '+=', 1000)
                return ag__.unless(exit, rest_2, 'total')
            ag__.for_stmt(xs, body, 'total')
            return total
        """,
        [([1, 3, 2, 0, 9],), ([5],), ([],)],
    ),
    "return in finally wins": Row(
        """
        def f(x):
            try:
                if x:
                    return 'body'
                fail()
            finally:
                if x < 2:
                    return 'finally'
            return 'end'
        """,
        None,
        [(0,), (1,), (2,)],
    ),
    "continue in a with in a loop": Row(
        """
        def f(xs):
            for x in xs:
                with ctx(x):
                    if x % 2:
                        continue
                    say(x)
                say(-x)
            return xs
        """,
        """
        def f(xs):
            def body(x):
                exit = None
                with (manager := ag__.call(ctx)(x)), ag__.Told():
                    def otherwise_2():
                        ag__.call(say)(x)
                    exit = ag__.if_stmt(x % 2, lambda: ag__.continue_, otherwise_2)
                ag__.ended()
                def rest_2():
                    ag__.call(say)(-x)
                return ag__.unless(exit, rest_2)
            ag__.for_stmt(xs, body)
            return xs
        """,
        [([1, 2, 3],)],
    ),
    "except* keeps Python's own": Row(
        """
        def f(x):
            y = 0
            try:
                if x:
                    raise ExceptionGroup('two', [ValueError(1), TypeError(2)])
            except* ValueError as group:
                y += len(group.exceptions)
            except* TypeError:
                y += 10
            return y
        """,
        """
        def f(x):
            y = 0
            try:
                def then():
                    raise ag__.raised(ag__.call(ExceptionGroup)('two', [ag__.call(ValueError)(1), ag__.call(TypeError)(2)]), True)
                ag__.if_stmt(x, then)
            except* ValueError as group:
                ag__.caught()
                y += ag__.call(len)(group.exceptions)
            except* TypeError:
                ag__.caught()
                y += 10
            return y
        """,  # noqa: E501
        [(0,), (1,)],
    ),
    "nested function": Row(
        """
        def f(x):
            def g(y):
                if y > x:
                    return y
                return x
            x = say(x) + 1
            return g(1) + g(10)
        """,
        """
        def f(x):
            def g(y):
                return ag__.if_stmt(y > x, lambda: y, lambda: x)
            x = ag__.call(say)(x) + 1
            return ag__.call(g)(1) + ag__.call(g)(10)
        """,
        [(0,), (20,)],
    ),
    "nonlocal in a nested function": Row(
        """
        def f(xs):
            total = 0
            def add(x):
                nonlocal total
                if x > 0:
                    total += x
            for x in xs:
                add(x)
            return total
        """,
        """
        def f(xs):
            x: ...
            total = 0
            def add(x):
                nonlocal total
                def then():
                    nonlocal total
                    total = ag__.assigned(ag__.augment_name(total, '+=', x), 'total')
                ag__.if_stmt(x > 0, then, None, 'total')
            def body(element):
                nonlocal x
                x = element
                ag__.call(add)(x)
            ag__.for_stmt(xs, body)
            return total
        """,
        [([1, -2, 3],)],
    ),
    "global": Row(
        """
        def f(x):
            global counter
            counter = 0
            while counter < x:
                counter += 1
            return counter
        """,
        """
        def f(x):
            global counter
            counter = ag__.assigned(0, 'counter')
            def body():
                global counter
                counter = ag__.assigned(ag__.augment_name(counter, '+=', 1), 'counter')
            ag__.while_stmt(lambda: counter < x, body, 'global counter')
            return counter
        """,
        [(3,), (0,)],
    ),
    "a name that only blocks bind is declared": Row(
        """
        def f(x):
            if x:
                def g():
                    return 1
            else:
                def g():
                    return 2
            return g()
        """,
        """
        def f(x):
            g: ...
            def then():
                nonlocal g
                def g():
                    return 1
            def otherwise():
                nonlocal g
                def g():
                    return 2
            ag__.if_stmt(x, then, otherwise, 'g')
            return ag__.call(g)()
        """,
        [(0,), (1,)],
    ),
    "a closure is made in each turn": Row(
        """
        def f(n):
            fs = []
            for i in range(n):
                fs.append(lambda: i)
            return [g() for g in fs]
        """,
        """
        def f(n):
            i: ...
            fs = []
            def body(element):
                nonlocal i
                i = element
                ag__.call(fs.append)(lambda: i)
            ag__.for_stmt(ag__.call(range)(n), body, 'i?')
            return [ag__.collect(ag__.call(g)()) for g in ag__.collecting(fs)]
        """,
        [(0,), (3,)],
    ),
    "docstring stays first": Row(
        """
        def f(x):
            "What f does."
            if x:
                y = 1
            else:
                y = 2
            return y
        """,
        '''
        def f(x):
            """What f does."""
            y: ...
            def then():
                nonlocal y
                y = 1
            def otherwise():
                nonlocal y
                y = 2
            ag__.if_stmt(x, then, otherwise, 'y')
            return y
        ''',
        [(0,), (1,)],
    ),
    "del in a branch": Row(
        """
        def f(x):
            y = 1
            if x:
                del y
            return y
        """,
        """
        def f(x):
            y = 1
            def then():
                nonlocal y
                del y
            ag__.if_stmt(x, then, None, 'y?')
            return ag__.bound('y', lambda: y)
        """,
        [(0,), (1,)],
    ),
    "import in a branch": Row(
        """
        def f(x):
            if x:
                import math as library
            else:
                import cmath as library
            return library.sqrt(x).real
        """,
        """
        def f(x):
            library: ...
            def then():
                nonlocal library
                import math as library
            def otherwise():
                nonlocal library
                import cmath as library
            ag__.if_stmt(x, then, otherwise, 'library')
            return ag__.get_attr(ag__.call(library.sqrt)(x), 'real')
        """,
        [(0,), (4,)],
    ),
    "a class in a branch": Row(
        """
        def f(x):
            if x:
                class A:
                    value = x
            else:
                A = None
            return A and A.value
        """,
        """
        def f(x):
            A: ...
            def then():
                nonlocal A
                class A:
                    value = x
            def otherwise():
                nonlocal A
                A = None
            ag__.if_stmt(x, then, otherwise, 'A')
            return ag__.and_(A, lambda: A.value)
        """,
        [(0,), (4,)],
    ),
    "comprehensions have variables of their own": Row(
        """
        def f(xs):
            x = 'outer'
            if xs:
                xs = [x * 2 for x in xs if x > 0]
            return x, xs
        """,
        None
        if sys.version_info >= (3, 12)  # there the comprehension's is called x_ (test_docstrings.py)
        else """
        def f(xs):
            x = 'outer'
            def then():
                nonlocal xs
                xs = ag__.kept_list([ag__.kept(ag__.and_(there, lambda: x > 0), lambda: x * 2) for there, x in ag__.each_there(xs)])
            ag__.if_stmt(xs, then, None, 'xs')
            return (x, xs)
        """,  # noqa: E501
        [([],), ([1, -1],)],
    ),
    "walrus in a branch's test": Row(
        """
        def f(x):
            if (y := x + 1) > 1:
                y = y * 2
            return y
        """,
        """
        def f(x):
            def then():
                nonlocal y
                y = y * 2
            ag__.if_stmt((y := (x + 1)) > 1, then, None, 'y')
            return y
        """,
        [(0,), (1,)],
    ),
    "walrus in a comprehension": Row(
        """
        def f(xs):
            if xs:
                xs = [last := x for x in xs]
            return xs, last
        """,
        """
        def f(xs):
            last: ...
            def then():
                nonlocal last, xs
                xs = [(last := x) for x in ag__.rows(xs)]
            ag__.if_stmt(xs, then, None, 'last?', 'xs')
            return (xs, ag__.bound('last', lambda: last))
        """,
        [([1, 2],), ([],)],
    ),
    "an exception's name is unbound after its handler": Row(
        """
        def f(x):
            e = 'before'
            try:
                if x:
                    fail()
            except Failure as e:
                say(str(e))
            return e
        """,
        """
        def f(x):
            e = 'before'
            attempt = ag__.attempt(lambda: Failure)
            try:
                with attempt:
                    def then():
                        ag__.call(fail)()
                    ag__.if_stmt(x, then)
            except Failure as e:
                ag__.caught()
                ag__.call(say)(ag__.call(str)(e))
            def then():
                nonlocal e
                e = ag__.error_of(attempt, 0)
                ag__.call(say)(ag__.call(str)(e))
                e = None
                del e
            ag__.if_stmt(ag__.handled(attempt, 0), then, None, 'e?')
            return ag__.bound('e', lambda: e)
        """,
        [(0,), (1,)],
    ),
    "assert in a branch": Row(
        """
        def f(x):
            if x > 0:
                assert x < 10, f'{x} is large'
            return x
        """,
        """
        def f(x):
            def then():
                assert ag__.checked(x < 10, lambda: ag__.text(ag__.field(x, '', ''), ' is large')), ag__.text(ag__.field(x, '', ''), ' is large')
            ag__.if_stmt(x > 0, then)
            return x
        """,  # noqa: E501
        [(1,), (11,)],
    ),
    "variables of the user's called like ours": Row(
        """
        def f(x, body, then, ag__):
            if x:
                body = then
                while body < ag__:
                    body += 1
            rest = exit = otherwise = body
            return rest
        """,
        """
        def f(x, body, then, ag__):
            def then_():
                nonlocal body
                body = then
                def body_2():
                    nonlocal body
                    body = ag___.augment_name(body, '+=', 1)
                ag___.while_stmt(lambda: body < ag__, body_2, 'body')
            ag___.if_stmt(x, then_, None, 'body')
            rest = exit = otherwise = body
            return rest
        """,
        [(1, 2, 3, 5), (0, 1, 2, 3)],
    ),
    "code after return is gone": Row(
        """
        def f(x):
            return x
            x = unknown
        """,
        """
        def f(x):
            return x
        """,
        [(1,)],
    ),
    "star args and defaults": Row(
        """
        def f(x, /, *rest, scale=2, **more):
            if rest:
                scale = rest[0]
            return x * scale + len(more)
        """,
        """
        def f(x, /, *rest, scale=2, **more):
            def then():
                nonlocal scale
                scale = ag__.view(rest[0], rest)
            ag__.if_stmt(rest, then, None, 'scale')
            return x * scale + ag__.call(len)(more)
        """,
        [(3,), (3, 4)],
    ),
    "try in try, with exits in both": Row(
        """
        def f(a, b, c):
            try:
                try:
                    if a:
                        return say('inner')
                finally:
                    say('inner finally')
                if b:
                    return say('outer')
            finally:
                say('outer finally')
            with ctx(1):
                with ctx(2):
                    if c:
                        return 'with'
                say(3)
            return 'end'
        """,
        """
        def f(a, b, c):
            attempt_2 = ag__.final()
            exit = None
            try:
                with attempt_2:
                    attempt = ag__.final()
                    exit = None
                    try:
                        with attempt:
                            def then():
                                value = ag__.call(say)('inner')
                                return ag__.if_stmt(ag__.failed(attempt), lambda: ag__.failure, lambda: ag__.Return(value))
                            exit = ag__.if_stmt(a, then)
                    finally:
                        ag__.unguarded(attempt_2, True)
                        ag__.call(say)('inner finally')
                        ag__.unguarded(attempt_2, False)
                    left = ag__.went_on(attempt, exit)
                    def rest():
                        def otherwise_2():
                            def then_3():
                                def otherwise_4():
                                    raise ag__.raised(ag__.error_of(attempt, 0))
                                return ag__.if_stmt(ag__.noted(attempt_2, lambda: ag__.error_of(attempt, 0)), lambda: ag__.failure, otherwise_4)
                            def otherwise_3():
                                def otherwise_4():
                                    def then_5():
                                        value_2 = ag__.call(say)('outer')
                                        return ag__.if_stmt(ag__.failed(attempt_2), lambda: ag__.failure, lambda: ag__.Return(value_2))
                                    return ag__.if_stmt(b, then_5)
                                return ag__.if_stmt(ag__.failed(attempt_2), lambda: ag__.failure, otherwise_4)
                            return ag__.if_stmt(ag__.fails(attempt), then_3, otherwise_3)
                        return ag__.if_stmt(ag__.failed(attempt_2), lambda: ag__.failure, otherwise_2)
                    exit = ag__.unless(left, rest)
            finally:
                ag__.call(say)('outer finally')
            left = ag__.went_on(attempt_2, exit)
            def rest():
                def then_2():
                    raise ag__.raised(ag__.error_of(attempt_2, 0))
                ag__.if_stmt(ag__.fails(attempt_2), then_2)
                exit = None
                with ag__.call(ctx)(1), ag__.Told():
                    exit = None
                    with ag__.call(ctx)(2), ag__.Told():
                        exit = ag__.if_stmt(c, lambda: ag__.Return('with'))
                    ag__.ended()
                    def rest_2():
                        ag__.call(say)(3)
                    exit = ag__.unless(exit, rest_2)
                ag__.ended()
                return ag__.returned(exit, lambda: 'end')
            return ag__.returned(left, rest)
        """,  # noqa: E501
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
    ),
    "raise again": Row(
        """
        def f(x):
            try:
                fail()
            except Failure:
                if x:
                    raise
                say('kept')
            return x
        """,
        """
        def f(x):
            attempt = ag__.attempt(lambda: Failure)
            try:
                with attempt:
                    ag__.call(fail)()
            except Failure:
                ag__.caught()
                def then():
                    ag__.raised_anew()
                    raise
                ag__.if_stmt(x, then)
                ag__.call(say)('kept')
            def then():
                def then_2():
                    raise ag__.raised(ag__.error_of(attempt, 0))
                ag__.if_stmt(x, then_2)
                ag__.call(say)('kept')
            ag__.if_stmt(ag__.handled(attempt, 0), then)
            return x
        """,
        [(0,), (1,)],
    ),
    "raise from": Row(
        """
        def f(x):
            try:
                fail()
            except Failure as error:
                if x:
                    raise ValueError(x) from error
            return x
        """,
        """
        def f(x):
            attempt = ag__.attempt(lambda: Failure)
            try:
                with attempt:
                    ag__.call(fail)()
            except Failure as error:
                ag__.caught()
                def then():
                    raise ag__.raised(ag__.call(ValueError)(x)) from ag__.cause(error)
                ag__.if_stmt(x, then)
            def then():
                nonlocal error
                error = ag__.error_of(attempt, 0)
                def then_2():
                    raise ag__.raised(ag__.call(ValueError)(x)) from ag__.cause(error)
                ag__.if_stmt(x, then_2)
                error = None
                del error
            ag__.if_stmt(ag__.handled(attempt, 0), then)
            return x
        """,
        [(0,), (1,)],
    ),
    "a default of a nested function": Row(
        """
        def f(x):
            def g(y=1 if x else 2, *, z=not x):
                return y, z
            return g()
        """,
        """
        def f(x):
            def g(y=ag__.if_expr(x, lambda: 1, lambda: 2), *, z=ag__.not_(x)):
                return (y, z)
            return ag__.call(g)()
        """,
        [(0,), (1,)],
    ),
    "a decorator of a nested function": Row(
        """
        def f(x):
            if x:
                @say
                def g():
                    return x
            else:
                g = None
            return g and g()
        """,
        """
        def f(x):
            g: ...
            def then():
                nonlocal g
                @ag__.call(say)
                def g():
                    return x
            def otherwise():
                nonlocal g
                g = None
            ag__.if_stmt(x, then, otherwise, 'g')
            return ag__.and_(g, lambda: ag__.call(g)())
        """,
        [(0,), (1,)],
    ),
    "recursion": Row(
        """
        def f(n):
            if n < 2:
                return n
            return f(n - 1) + f(n - 2)
        """,
        """
        def f(n):
            return ag__.if_stmt(n < 2, lambda: n, lambda: ag__.call(f)(n - 1) + ag__.call(f)(n - 2))
        """,
        [(10,)],
    ),
    "a generator inside": Row(
        """
        def f(xs):
            def positive():
                for x in xs:
                    if x > 0:
                        yield x
            total = 0
            for x in positive():
                total += x
            return total
        """,
        """
        def f(xs):
            x: ...
            def positive():
                given = ag__.Given()
                for x in ag__.each(xs):
                    if ag__.decided(x > 0):
                        yield ag__.give(given, x)
            total = 0
            def body(element):
                nonlocal total, x
                x = element
                total += x
            ag__.for_stmt(ag__.call(positive)(), body, 'total')
            return total
        """,
        [([1, -1, 2],)],
    ),
    "iterating over what changes": Row(
        """
        def f(xs):
            for x in xs:
                if x < 4:
                    xs.append(x + 1)
            return xs
        """,
        """
        def f(xs):
            def body(x):
                def then_2():
                    ag__.call(xs.append)(x + 1)
                ag__.if_stmt(x < 4, then_2)
            ag__.for_stmt(xs, body)
            return xs
        """,
        [([1],)],
    ),
    "an iterator is taken from by the body": Row(
        """
        def f(xs):
            it = iter(xs)
            for x in it:
                if x:
                    say(next(it, 'end'))
            return list(it)
        """,
        """
        def f(xs):
            it = ag__.call(iter)(xs)
            def body(x):
                def then_2():
                    ag__.call(say)(ag__.call(next)(it, 'end'))
                ag__.if_stmt(x, then_2)
            ag__.for_stmt(it, body)
            return ag__.call(list)(it)
        """,
        [([1, 2, 0, 3],)],
    ),
    "the loop variable is written by the body": Row(
        """
        def f(xs):
            for x in xs:
                x += 1
                if x > 2:
                    x = say(0)
            return x
        """,
        """
        def f(xs):
            x: ...
            def body(element):
                nonlocal x
                x = element
                x = ag__.augment_name(x, '+=', 1)
                def then_2():
                    nonlocal x
                    x = ag__.call(say)(0)
                ag__.if_stmt(x > 2, then_2, None, 'x')
            ag__.for_stmt(xs, body, 'x?')
            return ag__.bound('x', lambda: x)
        """,
        [([1, 2],), ([],)],
    ),
    "not iterable": Row(
        """
        def f(x):
            for y in x:
                say(y)
        """,
        """
        def f(x):
            def body(y):
                ag__.call(say)(y)
            ag__.for_stmt(x, body)
        """,
        [(1,)],
    ),
    "the same name in block after block": Row(
        """
        def f(x):
            y = 0
            if x > 0:
                y = 1
            if x > 1:
                z = y
                y = z + 1
            if x > 2:
                z = y + 5
                return z
            return y
        """,
        """
        def f(x):
            z: ...
            y = 0
            def then():
                nonlocal y
                y = 1
            ag__.if_stmt(x > 0, then, None, 'y')
            def then():
                nonlocal y, z
                z = y
                y = z + 1
            ag__.if_stmt(x > 1, then, None, 'y')
            def then():
                nonlocal z
                z = y + 5
                return z
            return ag__.if_stmt(x > 2, then, lambda: y)
        """,
        [(0,), (1,), (2,), (3,)],
    ),
    "infinite loop with break inside a branch": Row(
        """
        def f(n):
            while True:
                n -= 1
                if n < 0:
                    if n < -5:
                        return 'far'
                    break
            else:
                return 'never'
            return n
        """,
        """
        def f(n):
            def body():
                nonlocal n
                n = ag__.augment_name(n, '-=', 1)
                return ag__.if_stmt(n < 0, lambda: ag__.if_stmt(n < -5, lambda: ag__.Return('far'), lambda: ag__.break_))
            left = ag__.while_stmt(lambda: True, body, 'n', orelse=lambda: ag__.Return('never'))
            return ag__.returned(left, lambda: n)
        """,
        [(3,), (-5,)],
    ),
    "a long loop": Row(
        """
        def f(n):
            i = 0
            while True:
                i += 1
                if i % 7 == 3:
                    continue
                if i > n:
                    break
            return i
        """,
        """
        def f(n):
            i = 0
            def body():
                nonlocal i
                i += 1
                return ag__.if_stmt(i % 7 == 3, lambda: None, lambda: ag__.if_stmt(i > n, lambda: ag__.break_))
            ag__.while_stmt(lambda: True, body, 'i')
            return i
        """,
        [(5000,)],
    ),
    "return in a loop of a finally in a loop": Row(
        """
        def f(xs):
            for x in xs:
                try:
                    say(x)
                finally:
                    for y in [1, 2]:
                        if y > x:
                            return y
                        say('y')
                say('after')
            return x
        """,
        None,
        [([3, 1, 0],), ([3, 4],), ([],)],
    ),
    "continue in a handler of a finally": Row(
        """
        def f(xs):
            for x in xs:
                try:
                    say(x)
                finally:
                    try:
                        1 / x
                    except ZeroDivisionError:
                        continue
                say('after')
            return x
        """,
        None,
        [([0, 1],), ([1],)],
    ),
    "break in a loop of a finally": Row(
        """
        def f(xs):
            for x in xs:
                try:
                    say(x)
                finally:
                    while True:
                        if x > 1:
                            break
                        x += 1
                        for y in [x]:
                            if y == 0:
                                continue
                    else:
                        break
                    if x > 2:
                        break
                say('after')
            return x
        """,
        None,
        [([0, 1],), ([1, 3, 4],)],
    ),
    "a function in a finally that leaves": Row(
        """
        def f(xs):
            for x in xs:
                try:
                    say(x)
                finally:
                    def g(v):
                        if v:
                            return 'inner'
                        return 'outer'
                    if g(x) == 'inner':
                        return x
            return g(0)
        """,
        None,
        [([0, 1, 2],), ([0],)],
    ),
}


@parametrize(ROWS)
def test_text(row: Row):
    check_text(row)


@parametrize(ROWS)
def test_same_as_python(row: Row):
    check_calls(row)
