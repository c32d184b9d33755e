"""if, while, for, with, try: blocks become functions, and early exits move the rest into the other path."""

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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
        """,
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
        ???
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
        ???
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
        ???
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
        ???
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
        ???
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
        """
        ???
        """,
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
        ???
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
        ???
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
        ???
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
        """
        ???
        """,
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
        ???
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
        ???
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
        ???
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
        ???
        """,
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
        ???
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
        ???
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
        ???
        """,
        [(3,), (3, 4)],
    ),
}


@parametrize(ROWS)
def test_text(row: Row):
    check_text(row)


@parametrize(ROWS)
def test_same_as_python(row: Row):
    check_calls(row)
