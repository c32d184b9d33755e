"""Item and attribute writes of every kind; that each part is evaluated in Python's order is proven by the notes taken."""

from tests.converters.helpers import Row, check_calls, check_text, parametrize

ROWS = {
    "item": Row(
        """
        def f(y, i, x):
            y[i] = x
            return y
        """,
        None,
        [([1, 2], 0, 5), ([1], 3, 5), ({}, 'a', 1), (1, 0, 0)],
    ),
    "value, then container, then index": Row(
        """
        def f(o):
            say(o)[say(1)] = say('value')
        """,
        """
        ???
        """,
        [([1, 2],)],
    ),
    "attribute: value, then object": Row(
        """
        def f():
            o = Noted()
            say(o).a = say(1)
            return o.a
        """,
        None,
        [()],
    ),
    "slice, step, ellipsis and tuple": Row(
        """
        def f(y, d):
            y[1:3] = [0]
            y[::2] = [7] * len(y[::2])
            d[1, 2] = 3
            d[...] = 4
            d[1:2, ::3] = 5
            return y, list(d.values())
        """,
        None,
        [([1, 2, 3, 4], {})],
    ),
    "chain of items": Row(
        """
        def f(y, i, j):
            y[i][j] = say(1)
            return y
        """,
        None,
        [([[1, 2], [3]], 0, 1), ([[1]], 0, 5), ([1], 0, 0)],
    ),
    "chain of items and attributes": Row(
        """
        def f(d):
            d['a'][say(0)].b = say(1)
            d['a'][0].c[say(2)] = say(3)
            return d
        """,
        None,
        [({'a': [{}]},)],
    ),
    "chain on an object": Row(
        """
        def f():
            o = Noted('o', rows=Noted('rows'))
            o.rows[1] = say(2)
            o.rows[say(1)] += say(3)
            say(o).rows.count = say(4)
            return o
        """,
        None,
        [()],
    ),
    "starred index": Row(
        """
        def f(d, i):
            d[*i] = 1
            d[*i, 0] = 2
            return d
        """,
        """
        ???
        """,
        [({}, (1, 2)), ({}, ())],
    ),
    "swap": Row(
        """
        def f(a, i, j):
            a[i], a[j] = a[j], a[i]
            return a
        """,
        """
        ???
        """,
        [([1, 2, 3], 0, 2), ([1], 0, 1)],
    ),
    "unpacking into every kind of target": Row(
        """
        def f(y, d, xs):
            o = Noted()
            x, y[say(0)], (d[say('k')], *d['rest']), [o.a] = xs
            return x, y, d, o
        """,
        """
        ???
        """,
        [([0], {}, (1, 2, (3, 4, 5), [6])), ([0], {}, (1, 2))],
    ),
    "several targets": Row(
        """
        def f(y):
            o = Noted()
            a = y[say(0)] = o.b = b = say([1])
            return a is b, y
        """,
        """
        ???
        """,
        [([0],)],
    ),
    "a starred place": Row(
        """
        def f(d, xs):
            first, *d['rest'] = xs
            return first, d
        """,
        """
        ???
        """,
        [({}, [1, 2, 3]), ({}, [])],
    ),
    "a write that depends on the one before": Row(
        """
        def f(x, i):
            i, x[i] = 1, 5
            return i, x
        """,
        """
        ???
        """,
        [([0, 0], 0)],
    ),
    "augmented items": Row(
        """
        def f(y, i):
            y[i] += 2
            y[i] -= 1
            y[i] *= 6
            y[i] /= 2
            y[i] //= 2
            y[i] **= 3
            y[i] %= 50
            return y
        """,
        None,
        [([1, 2], 0), ([1], 4)],
    ),
    "augmented with bits and matrices": Row(
        """
        def f(y, i):
            y[i] <<= 4
            y[i] >>= 1
            y[i] |= 5
            y[i] &= 12
            y[i] ^= 3
            y[i] @= 1
            return y
        """,
        """
        ???
        """,
        [([1, 2], 0)],
    ),
    "augmented: container, index, old element, value": Row(
        """
        def f():
            o = Noted()
            say(o)[say(1)] += say(2)
            say(o).a += fail()
        """,
        None,
        [()],
    ),
    "augmented: an error in the value comes after the read": Row(
        """
        def f():
            o = Noted('o', a=1)
            o.a += fail()
        """,
        None,
        [()],
    ),
    "augmented: a list is changed in place": Row(
        """
        def f(d):
            other = d['a']
            d['a'] += [say(1)]
            return other is d['a'], other
        """,
        """
        ???
        """,
        [({'a': [0]},)],
    ),
    "augmented chain evaluates its path once": Row(
        """
        def f():
            o = Noted('o', inner=Noted('inner'))
            say(o).inner[say(1)] -= say(2)
            return o
        """,
        None,
        [()],
    ),
    "augmented with a walrus": Row(
        """
        def f(y):
            y[0] += (n := 5)
            return y, n
        """,
        """
        ???
        """,
        [([1],)],
    ),
    "augmented name": Row(
        """
        def f(y):
            other = y
            y += [1]
            return other, other is y
        """,
        """
        ???
        """,
        [([0],)],
    ),
    "annotated item and attribute": Row(
        """
        def f(y):
            o = Noted()
            y[0]: int = say(1)
            o.a: int = say(2)
            y[1]: int
            return y
        """,
        """
        ???
        """,
        [([0],)],
    ),
    "del": Row(
        """
        def f(y, d):
            o = Noted('o', a=1)
            x = 1
            del y[say(0)], d['k'], o.a, x
            del o[1]
            del y[::2]
            return y, d, x
        """,
        """
        ???
        """,
        [([1, 2, 3, 4], {'k': 0})],
    ),
    "for over a place": Row(
        """
        def f(y, xs):
            o = Noted()
            for y[say(0)] in xs:
                say(y[0])
            for i, o.a in enumerate(xs):
                y[i] = o.a
            return y
        """,
        """
        ???
        """,
        [([0, 0, 0], [1, 2]), ([0], [])],
    ),
    "with as a place": Row(
        """
        def f(d):
            with ctx(1) as d['a'], ctx(2) as d['b']:
                say(d['a'])
            return d
        """,
        """
        ???
        """,
        [({},)],
    ),
    "a global's item": Row(
        """
        def f(x):
            table[0] = x
            table.a = x
        """,
        """
        ???
        """,
        [(1,)],
    ),
    "an item of a value": Row(
        """
        def f(y):
            say(y)[0] = 1
            say(y)[0] += 1
            (y or [0])[0] = 3
            return y
        """,
        None,
        [([0],), ([],)],
    ),
    "an item of a captured variable": Row(
        """
        def f(y):
            def fill(x):
                y[0] = x
            fill(3)
            return y
        """,
        """
        ???
        """,
        [([0],)],
    ),
    "copies follow": Row(
        """
        def f(x):
            y = x
            y[0] = 1
            return x, y
        """,
        """
        ???
        """,
        [([0],)],
    ),
    "writes in branches and loops": Row(
        """
        def f(y, n):
            for i in range(n):
                if y[i] < 0:
                    y[i] = 0
                else:
                    y[i] += i
            return y
        """,
        """
        ???
        """,
        [([-1, 2, 3], 3), ([1], 2)],
    ),
    "setattr and delattr": Row(
        """
        def f():
            o = Noted()
            setattr(o, 'a', say(1))
            delattr(o, say('a'))
            return hasattr(o, 'a')
        """,
        """
        ???
        """,
        [()],
    ),
    "writes in a lambda's walrus": Row(
        """
        def f(y):
            g = lambda: (y.__setitem__(0, 1), y)[1]
            return g()
        """,
        """
        ???
        """,
        [([0],)],
    ),
    "read only": Row(
        """
        def f():
            o = (1, 2)
            o[0] = say(3)
        """,
        None,
        [()],
    ),
    "views": Row(
        """
        def f(x):
            row = x[0]
            row[1] = 5
            column = x.T
            return x, row
        """,
        """
        ???
        """,
        [([[0, 0]],)],
    ),
}


@parametrize(ROWS)
def test_text(row: Row):
    check_text(row)


@parametrize(ROWS)
def test_same_as_python(row: Row):
    check_calls(row)
