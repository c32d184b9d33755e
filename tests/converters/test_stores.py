"""Item and attribute writes of every kind; that each part is evaluated in Python's order is proven by the notes taken."""

from tests.converters.helpers import Row, check_calls, check_text, parametrize

ROWS = {
    "item": Row(
        """
        def f(y, i, x):
            y[i] = x
            return y
        """,
        """
        def f(y, i, x):
            y = ag__.set_item(x, y, i)
            return y
        """,
        [([1, 2], 0, 5), ([1], 3, 5), ({}, "a", 1), (1, 0, 0)],
    ),
    "elements by the same mask": Row(
        """
        def f(y, x, m, i):
            small = x < 3
            y[small] = 2 * x[small] + sum(x)
            y[small] = sum(x[small]) + y[x[small]]
            y[small] = not x[small]
            y[i] = x[i]
            return y
        """,
        """
        def f(y, x, m, i):
            small = x < 3
            y = ag__.set_item(2 * ag__.marked(x, small) + ag__.call(sum)(x), y, small)
            y = ag__.set_item(ag__.call(sum)(ag__.view(x[small], x)) + y[x[small]], y, small)
            y = ag__.set_item(ag__.not_(x[small]), y, small)
            y = ag__.set_item(ag__.view(x[i], x), y, i)
            return y
        """,
        [],
    ),
    "value, then container, then index": Row(
        """
        def f(o):
            say(o)[say(1)] = say('value')
        """,
        """
        def f(o):
            ag__.put_item(ag__.call(say)('value'), ag__.call(say)(o), ag__.call(say)(1))
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
        """
        def f():
            o = ag__.call(Noted)()
            ag__.set_attr(ag__.call(say)(1), ag__.call(say)(o), 'a')
            return o.a
        """,
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
        """
        def f(y, d):
            y = ag__.set_item([0], y, ag__.at[1:3])
            y = ag__.set_item([7] * ag__.call(len)(y[::2]), y, ag__.at[::2])
            d = ag__.set_item(3, d, (1, 2))
            d = ag__.set_item(4, d, ...)
            d = ag__.set_item(5, d, ag__.at[1:2, ::3])
            return (y, ag__.call(list)(ag__.call(d.values)()))
        """,
        [([1, 2, 3, 4], {})],
    ),
    "chain of items": Row(
        """
        def f(y, i, j):
            y[i][j] = say(1)
            return y
        """,
        """
        def f(y, i, j):
            y = ag__.set_path(ag__.call(say)(1), y, ag__.item[i], ag__.item[j])
            return y
        """,
        [([[1, 2], [3]], 0, 1), ([[1]], 0, 5), ([1], 0, 0)],
    ),
    "chain of items and attributes": Row(
        """
        def f(d):
            d['a'][say(0)].b = say(1)
            d['a'][0].c[say(2)] = say(3)
            return d
        """,
        """
        def f(d):
            d = ag__.set_path(
                ag__.call(say)(1), d, ag__.item['a'], ag__.item_at(lambda: ag__.call(say)(0)), ag__.attr('b')
            )
            d = ag__.set_path(
                ag__.call(say)(3), d, ag__.item['a'], ag__.item[0], ag__.attr('c'), ag__.item_at(lambda: ag__.call(say)(2))
            )
            return d
        """,
        [({"a": [{}]},)],
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
        def f(d, i):
            d = ag__.set_item(1, d, (*ag__.rows(i),))
            d = ag__.set_item(2, d, (*ag__.rows(i), 0))
            return d
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
        def f(a, i, j):
            item, item_2 = (ag__.view(a[j], a), ag__.view(a[i], a))
            a = ag__.set_item(item, a, i)
            a = ag__.set_item(item_2, a, j)
            return a
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
        def f(y, d, xs):
            o = ag__.call(Noted)()
            item, item_2, (item_3, *item_4), [item_5] = ag__.rows(xs, (None, None, (None, ...), (None,)))
            x = item
            y = ag__.set_item(item_2, y, ag__.call(say)(0))
            d = ag__.set_item(item_3, d, ag__.call(say)('k'))
            d = ag__.set_item(item_4, d, 'rest')
            ag__.set_attr(item_5, o, 'a')
            return (x, y, d, o)
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
        def f(y):
            o = ag__.call(Noted)()
            item = item_2 = item_3 = item_4 = ag__.call(say)([1])
            a = item
            y = ag__.set_item(item_2, y, ag__.call(say)(0))
            ag__.set_attr(item_3, o, 'b')
            b = item_4
            return (ag__.is_(a, b), y)
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
        def f(d, xs):
            item, *item_2 = ag__.rows(xs)
            first = item
            d = ag__.set_item(item_2, d, 'rest')
            return (first, d)
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
        def f(x, i):
            item, item_2 = (1, 5)
            i = item
            x = ag__.set_item(item_2, x, i)
            return (i, x)
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
        """
        def f(y, i):
            y = ag__.update_item(y, i, '+=', 2)
            y = ag__.update_item(y, i, '-=', 1)
            y = ag__.update_item(y, i, '*=', 6)
            y = ag__.update_item(y, i, '/=', 2)
            y = ag__.update_item(y, i, '//=', 2)
            y = ag__.update_item(y, i, '**=', 3)
            y = ag__.update_item(y, i, '%=', 50)
            return y
        """,
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
        def f(y, i):
            y = ag__.update_item(y, i, '<<=', 4)
            y = ag__.update_item(y, i, '>>=', 1)
            y = ag__.update_item(y, i, '|=', 5)
            y = ag__.update_item(y, i, '&=', 12)
            y = ag__.update_item(y, i, '^=', 3)
            y = ag__.update_item(y, i, '@=', 1)
            return y
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
        """
        def f():
            o = ag__.call(Noted)()
            item = ag__.call(say)(o)
            item_2 = ag__.call(say)(1)
            ag__.put_item(ag__.augment(ag__.read(item, ag__.item[item_2]), '+=', ag__.call(say)(2)), item, item_2)
            item_3 = ag__.call(say)(o)
            ag__.set_attr(ag__.augment(ag__.read(item_3, ag__.attr('a')), '+=', ag__.call(fail)()), item_3, 'a')
        """,
        [()],
    ),
    "augmented: an error in the value comes after the read": Row(
        """
        def f():
            o = Noted('o', a=1)
            o.a += fail()
        """,
        """
        def f():
            o = ag__.call(Noted)('o', a=1)
            ag__.set_attr(ag__.augment(ag__.read(o, ag__.attr('a')), '+=', ag__.call(fail)()), o, 'a')
        """,
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
        def f(d):
            other = ag__.view(d['a'], d)
            d = ag__.set_item(ag__.augment(ag__.read(d, ag__.item['a']), '+=', [ag__.call(say)(1)]), d, 'a')
            return (ag__.is_(other, d['a']), other)
        """,
        [({"a": [0]},)],
    ),
    "augmented chain evaluates its path once": Row(
        """
        def f():
            o = Noted('o', inner=Noted('inner'))
            say(o).inner[say(1)] -= say(2)
            return o
        """,
        """
        def f():
            o = ag__.call(Noted)('o', inner=ag__.call(Noted)('inner'))
            ag__.update_path(
                ag__.call(say)(o),
                '-=',
                ag__.later(lambda: ag__.call(say)(2)),
                ag__.attr('inner'),
                ag__.item_at(lambda: ag__.call(say)(1)),
            )
            return o
        """,
        [()],
    ),
    "augmented with a walrus": Row(
        """
        def f(y):
            y[0] += (n := 5)
            return y, n
        """,
        """
        def f(y):
            y = ag__.set_item(ag__.augment(ag__.read(y, ag__.item[0]), '+=', (n := 5)), y, 0)
            return (y, n)
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
        def f(y):
            other = y
            y, other = ag__.update(y, "+=", [1], other)
            return (other, ag__.is_(other, y))
        """,
        [([0],)],
    ),
    "augmented name, of what the caller has": Row(
        """
        def f(y, x):
            y += x
            return y
        """,
        """
        def f(y, x):
            y = ag__.augment_name(y, '+=', x)
            return y
        """,
        [([0], [1]), (1, 2)],
    ),
    "augmented name, of what nobody else has": Row(
        """
        def f(n, x):
            y = 2 * x
            while n < 3:
                n += 1
                y += n
            return y
        """,
        """
        def f(n, x):
            y = 2 * x
            def body():
                nonlocal n, y
                n = ag__.augment_name(n, '+=', 1)
                y += n
            ag__.while_stmt(lambda: n < 3, body, 'n', 'y')
            return y
        """,
        [(0, 1), (5, 2)],
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
        def f(y):
            o = ag__.call(Noted)()
            y = ag__.set_item(ag__.call(say)(1), y, 0)
            ag__.set_attr(ag__.call(say)(2), o, 'a')
            y
            1
            return y
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
        def f(y, d):
            o = ag__.call(Noted)('o', a=1)
            x = 1
            ag__.del_item(y, ag__.call(say)(0))
            ag__.del_item(d, 'k')
            ag__.del_attr(o, 'a')
            del x
            ag__.del_item(o, 1)
            ag__.del_item(y, ag__.at[::2])
            return (y, d, ag__.bound('x', lambda: x))
        """,
        [([1, 2, 3, 4], {"k": 0})],
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
        def f(y, xs):
            item_2: ...
            item_3: ...
            o = ag__.call(Noted)()
            def body(item):
                nonlocal y
                y = ag__.set_item(item, y, ag__.call(say)(0))
                ag__.call(say)(ag__.view(y[0], y))
            ag__.for_stmt(xs, body, 'y')
            def body(element):
                nonlocal item_2, item_3, y
                item_2, item_3 = element
                i = item_2
                ag__.set_attr(item_3, o, 'a')
                y = ag__.set_item(o.a, y, i)
            ag__.for_stmt(ag__.call(enumerate)(xs), body, 'y')
            return y
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
        def f(d):
            with ag__.call(ctx)(1) as item, ag__.Told():
                d = ag__.set_item(item, d, 'a')
                with ag__.call(ctx)(2) as item_2, ag__.Told():
                    d = ag__.set_item(item_2, d, 'b')
                    ag__.call(say)(d['a'])
                ag__.ended()
            ag__.ended()
            return d
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
        def f(x):
            ag__.put_item(x, table, 0)
            ag__.set_attr(x, table, 'a')
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
        """
        def f(y):
            ag__.put_item(1, ag__.call(say)(y), 0)
            ag__.put_update(ag__.call(say)(y), 0, '+=', 1)
            ag__.put_item(3, ag__.or_(y, lambda: [0]), 0)
            return y
        """,
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
        def f(y):
            def fill(x):
                nonlocal y
                y = ag__.set_item(x, y, 0)
            ag__.call(fill)(3)
            return y
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
        def f(x):
            y = x
            y, x = ag__.set_item(1, y, 0, x)
            return (x, y)
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
        def f(y, n):
            def body(i):
                nonlocal y
                def then_2():
                    nonlocal y
                    y = ag__.set_item(0, y, i)
                def otherwise_2():
                    nonlocal y
                    y = ag__.update_item(y, i, '+=', i)
                ag__.if_stmt(y[i] < 0, then_2, otherwise_2, 'y')
            ag__.for_stmt(ag__.call(range)(n), body, 'y')
            return y
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
        def f():
            o = ag__.call(Noted)()
            ag__.call(setattr)(o, 'a', ag__.call(say)(1))
            ag__.call(delattr)(o, ag__.call(say)('a'))
            return ag__.call(hasattr)(o, 'a')
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
        def f(y):
            g = lambda: (ag__.call(y.__setitem__)(0, 1), y)[1]
            return ag__.call(g)()
        """,
        [([0],)],
    ),
    "read only": Row(
        """
        def f():
            o = (1, 2)
            o[0] = say(3)
        """,
        """
        def f():
            o = (1, 2)
            o = ag__.set_item(ag__.call(say)(3), o, 0)
        """,
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
        def f(x):
            row = ag__.view(x[0], x, 0)
            row, x = ag__.set_item(5, row, 1, x)
            column = ag__.view(x.T, x)
            return (x, row)
        """,
        [([[0, 0]],)],
    ),
    "a place before the variable in its index": Row(
        """
        def f(x, i):
            x[i], i = 5, 1
            return i, x
        """,
        None,
        [([0, 0], 0)],
    ),
    "a place before its own variable": Row(
        """
        def f(x):
            x[0] = x = [say(1)]
            return x
        """,
        None,
        [([0],)],
    ),
    "the next node": Row(
        """
        def f(n):
            class Node:
                next = None
            head = None
            for i in range(n):
                node = Node()
                node.value, node.next, head = i, head, node
            previous = None
            while head:
                head.next, previous, head = previous, head, head.next
            values = []
            while previous:
                values.append(previous.value)
                previous = previous.next
            return values
        """,
        None,
        [(0,), (3,)],
    ),
    "a place of a with before its next manager": Row(
        """
        def f(d):
            with ctx(1) as d['a'], ctx(d['a']) as d['b']:
                return d
        """,
        None,
        [({},), ({"a": 5},)],
    ),
    "value, object, its attribute, index": Row(
        """
        def f():
            o = Noted('o', rows=Noted('rows'))
            o.rows[say(1)] = say(2)
            return o
        """,
        None,
        [()],
    ),
    "value, container, indices": Row(
        """
        def f(d):
            d[say('a')][say('b')] = say(1)
            say(d)['a'][say('c')] = say(2)
            return d
        """,
        None,
        [({"a": {}},), ({},)],
    ),
    "augmented with a walrus: the old element is read first": Row(
        """
        def f():
            o = Noted()
            o[0] += (n := say(5))
            return n
        """,
        """
        def f():
            o = ag__.call(Noted)()
            o = ag__.set_item(ag__.augment(ag__.read(o, ag__.item[0]), '+=', (n := ag__.call(say)(5))), o, 0)
            return n
        """,
        [()],
    ),
    "augmented: the index is read before the value": Row(
        """
        def f(y, i):
            y[i] += (i := 1)
            return y, i
        """,
        None,
        [([10, 20], 0)],
    ),
    "the old value stays where the new one fails": Row(
        """
        def f(y):
            try:
                y[0] = fail()
            except Failure:
                y[1] = 'failed'
            return y
        """,
        """
        def f(y):
            attempt = ag__.attempt(lambda: Failure)
            exit = None
            try:
                with attempt:
                    value = ag__.call(fail)()
                    def otherwise():
                        nonlocal y
                        y = ag__.set_item(value, y, 0)
                    exit = ag__.if_stmt(ag__.failed(attempt), lambda: ag__.failure, otherwise, 'y')
            except Failure:
                ag__.caught()
                y = ag__.set_item('failed', y, 1)
            left = ag__.went_on(attempt, exit)
            def rest():
                nonlocal y
                def then_2():
                    nonlocal y
                    y = ag__.set_item('failed', y, 1)
                ag__.if_stmt(ag__.handled(attempt, 0), then_2, None, 'y')
                return y
            return ag__.returned(left, rest)
        """,
        [([0, 0],)],
    ),
    "names of ours are taken": Row(
        """
        def f(item, a, item_2):
            a[0], a[1] = item_2, item
            return a, item, item_2
        """,
        """
        def f(item, a, item_2):
            item_, item_2_ = (item_2, item)
            a = ag__.set_item(item_, a, 0)
            a = ag__.set_item(item_2_, a, 1)
            return (a, item, item_2)
        """,
        [(1, [0, 0], 2)],
    ),
}


@parametrize(ROWS)
def test_text(row: Row):
    check_text(row)


@parametrize(ROWS)
def test_same_as_python(row: Row):
    check_calls(row)
