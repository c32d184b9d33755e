"""Programs that were once wrong: found by trying to break the package, not by its rows."""

import collections
import contextlib
import heapq

import jax.numpy as jnp
import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row

A12 = np.array([1.0, 2.0])
A120 = np.array([1, 2, 5])


def break_in_a_loop_over_a_list(n):
    s = 0.0
    for v in [0.0, 1.0, 2.0, 3.0]:
        if n < 0:
            break
        s = s + v
    return s


row(break_in_a_loop_over_a_list, [3], [-1], staged="cond")


def return_in_a_loop_over_items(x):
    rates = {"a": 1.0, "b": 2.0}
    for name, rate in rates.items():
        if x < rate:
            return x * 10
        x = x - rate
    return x


row(return_in_a_loop_over_items, [0.5], [2.0], [5.0], staged="cond")


def write_under_with_after_break(x):
    for i in range(3):
        with contextlib.nullcontext():
            if x > 1:
                break
            x = x + 1
    return x


row(write_under_with_after_break, [0.0], [3.0], staged="loop")


def state_machine_of_strings(n):
    state = "start"
    steps = 0
    while state != "done":
        if n > 3:
            state = "shrink"
        else:
            state = "done"
        if state == "shrink":
            n = n - 2
        steps += 1
    return n, steps


row(state_machine_of_strings, [9], [1], staged="loop cond")


def call_of_a_chosen_function(x):
    def double(v):
        return v * 2

    def negate(v):
        return -v

    act = double if x > 0 else negate
    return act(x)


row(call_of_a_chosen_function, [2.0], [-3.0], staged="cond", grad=True)


def iterator_beside_a_static_loop(x):
    rates = iter([1.0, 2.0, 3.0])
    for _ in range(3):
        x = x + next(rates)
    return x


row(iterator_beside_a_static_loop, [1.0], [-1.0])


def factorials_stay_exact(x):
    total, factorial = 0.0, 1
    for k in range(1, 16):
        factorial *= k
        total = total + x**k / float(factorial)
    return total


row(factorials_stay_exact, [1.0], [0.5])


def list_that_may_be_another(n):
    a = [1, 2]
    b = a
    if n > 0:
        b = [3, 4]
    b[0] = 9
    return a[0], b[0]


row(list_that_may_be_another, [1], [-1], want="either")


def object_chosen_then_written(x):
    class Point:
        def __init__(self, v):
            self.v = v

    a, b = Point(1.0), Point(2.0)
    m = a if x > 0 else b
    m.v = m.v + 10
    return a.v, b.v


row(object_chosen_then_written, [1.0], [-1.0], want="either")


def array_chosen_then_written(x):
    a, b = jnp.zeros(2), jnp.ones(2)
    m = a if x > 0 else b
    m[0] = 10.0
    return a, b


row(array_chosen_then_written, [1.0], [-1.0], want="either")


def view_of_a_view(x):
    y = x + 0
    tail = y[1:]
    last = tail[1:]
    last[0] = 9.0
    return y


row(view_of_a_view, [np.arange(4.0)], want="either")


def caught_outside_of_the_branch(x):
    try:
        r = 1.0
        if x > 0:
            raise ValueError("positive")
    except ValueError:
        r = 2.0
    return r


row(caught_outside_of_the_branch, [1.0], [-1.0], want="either")


def caught_inside_of_the_branch(x):
    r = 1.0
    if x > 0:
        try:
            raise ValueError("positive")
        except ValueError:
            r = 2.0
    return r


row(caught_inside_of_the_branch, [1.0], [-1.0], staged="cond")


def index_of_a_path_is_a_call(x):
    buffers = {"a": jnp.zeros(3)}
    buffers["a"][len(x) - 1] = 7.0
    return buffers["a"]


row(index_of_a_path_is_a_call, [np.arange(3.0)])


def order_of_several_targets(x):
    i = 0
    x[i], i = 5.0, 1
    return x, i


row(order_of_several_targets, [np.arange(3.0)])


def heap_and_counter_beside_a_loop(x):
    heap, seen = [], collections.Counter()
    for i in range(4):
        heapq.heappush(heap, -i)
        seen.update(["a"])
        x = x + i
    return x, len(heap), seen["a"]


row(heap_and_counter_beside_a_loop, [1.0], [-1.0])


class Box:
    def __init__(self, n, v):
        self.n, self.v = n, v


def shift(box, k):
    if box.n > k:
        box.n = (box.n + 2) % 31


def whole_array_written_in_a_branch(b, r, x):
    if b:
        r[:] = x
    return r


row(whole_array_written_in_a_branch, [False, A12, 3.0], [True, A12, 3.0])


def slice_written_in_a_branch(b, r, x):
    if b:
        r[1:] = x
    return r


row(slice_written_in_a_branch, [False, A12, 3.0], [True, A12, 3.0])


def whole_array_updated_or_an_element_written(b, r, x):
    if b:
        r[:] += x
    else:
        r[0] = 7.0
    return r


row(whole_array_updated_or_an_element_written, [False, A12, 3.0], [True, A12, 3.0])


def object_changed_in_one_branch_and_replaced_in_the_other(n, j, m, y):
    o = Box(n, y)
    if 1 < o.n:
        shift(o, j)
    else:
        o = Box(m, y)
    return o.n


row(object_changed_in_one_branch_and_replaced_in_the_other, [3, 1, 5, 6], [0, 1, 5, 6], [3, 7, 5, 6])


def list_changed_in_one_branch_and_replaced_in_the_other(n, j):
    l = [n]
    k = l
    if n > 1:
        l.append(j) if False else None
        l[0] = j * 2
    else:
        l = [j]
    return (l[0], k[0])


row(list_changed_in_one_branch_and_replaced_in_the_other, [3, 4], [0, 4], want="either")


def nonlocal_of_a_function_in_a_branch(i):
    if True:

        def f1(k):
            nonlocal i
            i += k
            return i

        f1(2)
    return i


row(nonlocal_of_a_function_in_a_branch, [3])


def array_written_by_a_function_in_a_loop(a, x):
    w = 1
    while True:
        w += 1
        if not w < x:
            break

        def f1(k):
            a[:] = a * 2

        f1(1)
        e = a
    return a


row(array_written_by_a_function_in_a_loop, [A12, 3])


def unbound_in_a_branch_that_is_not_taken(b, i):
    if b:
        i, m = m, i  # noqa: F821
    return i


row(unbound_in_a_branch_that_is_not_taken, [False, 4])


def search_in_nested_loops(x, t):
    for i in range(4):
        for j in range(3, 0, -1):
            if x[j] + i == t:
                break
        else:
            continue
        break
    else:
        return -1
    return j


row(search_in_nested_loops, [np.array([1, 2, 3, 4]), 5], [np.array([1, 2, 3, 4]), 50])


def loop_reads_what_it_writes(a, i):
    for v in a:
        a[v % 3] = i
        i = v
    return i


row(loop_reads_what_it_writes, [np.array([1, 2, 0]), 5])


def enumerated_and_written(a):
    for k, v in enumerate(a):
        a[k] = v * 2
    return a


row(enumerated_and_written, [A120])


def next_element_written(a):
    for k, v in enumerate(a):
        if k < len(a) - 1:
            a[k + 1] = a[k + 1] + v
    return a


row(next_element_written, [A120])


def loop_over_an_array_written_by_another_name(a):
    e = a
    s = 0
    for v in a:
        e[2] = v + 1
        s = s * 2 + v
    return s


row(loop_over_an_array_written_by_another_name, [A120])


def loop_over_an_array_whose_variable_is_given_another(a):
    s = 0
    for v in a:
        s = s + v
        a = a * 2
    return (s, a)


row(loop_over_an_array_whose_variable_is_given_another, [A120])


def loop_over_an_array_written_and_replaced(a):
    s = 0
    for v in a:
        a[2] = 9
        s = s + v
        a = a * 2
    return (s, a)


row(loop_over_an_array_written_and_replaced, [A120], want="either")


def rows_written_in_a_loop_over_them(m):
    for r in m:
        r[0] = r[1]
    return m


row(rows_written_in_a_loop_over_them, [np.arange(4).reshape(2, 2)], want="either")


def reversed_and_written(a):
    for v in reversed(a):
        a[0] = a[0] + v
    return a


row(reversed_and_written, [A120])


def zipped_and_written(a, b):
    for u, v in zip(a, b, strict=True):
        a[2] = u + v
    return a


row(zipped_and_written, [A120, A120 + 1])


def view_written_by_an_inner_function(a):

    def f1():
        d = a[::-1]
        d[0] = 5

    f1()
    return sum(a)


row(view_written_by_an_inner_function, [A120], want="either")


def alias_written_by_an_inner_function(a):
    b = a

    def f1():
        b[0] = 5
        return a

    r = f1()
    return (sum(a), sum(r))


row(alias_written_by_an_inner_function, [A120], want="either")


def array_written_by_an_inner_function(a):

    def f1():
        a[0] = 5

    f1()
    return sum(a)


row(array_written_by_an_inner_function, [A120])


def object_changed_and_replaced_in_a_loop(n, x):
    o = Box(x, 1.0)
    keep = o
    for i in range(n):
        o.n = o.n + 1
        if o.n > 3:
            o = Box(0.0, 2.0)
    return (o.n, keep.n)


row(object_changed_and_replaced_in_a_loop, [4, 1.0], [6, 1.0], want="either")


def own_object_changed_and_replaced_in_a_loop(n, x):
    o = Box(x, 1.0)
    for i in range(n):
        o.n = o.n + 1
        if o.n > 3:
            o = Box(0.0, 2.0)
    return o.n


row(own_object_changed_and_replaced_in_a_loop, [4, 1.0], [6, 1.0])


def list_changed_and_replaced_in_a_loop(n, x):
    o = [x]
    k = o
    for i in range(n):
        o[0] = o[0] + 1
        if o[0] > 3:
            o = [0.0]
    return (o[0], k[0])


row(list_changed_and_replaced_in_a_loop, [4, 1.0], [6, 1.0], want="either")


def own_list_changed_and_replaced_in_a_loop(n, x):
    o = [x]
    for i in range(n):
        o[0] = o[0] + 1
        if o[0] > 3:
            o = [0.0]
    return o[0]


row(own_list_changed_and_replaced_in_a_loop, [4, 1.0], [6, 1.0])


def return_in_a_finally_that_traced_data_decides(a, i):
    try:
        pass
    finally:
        if any(a > 1):
            pass
        else:
            return i
    return i + 1


row(return_in_a_finally_that_traced_data_decides, [A120, 3], want="either")


def view_written_whose_name_then_takes_the_array(a, i):
    e = a[::-1]
    e[0] = i
    e = a
    return e


row(view_written_whose_name_then_takes_the_array, [A120, 7], want="either")


def one_of_two_written_in_a_loop(a, b, n):
    e = jnp.arange(3)
    e = a if b else e
    for k in range(1, 6):
        e[0] = n
    return a


row(one_of_two_written_in_a_loop, [A120, True, 5], [A120, False, 5], want="either")


def one_of_two_written_after_a_loop(a, b, n):
    e = jnp.arange(3)
    e = a if b else e
    for k in range(n):
        e = e + 0
    e[0] = 9
    return a


row(one_of_two_written_after_a_loop, [A120, True, 0], [A120, False, 2], want="either")


def match_with_a_guard_and_a_return_in_loops(i, j, a, v):
    x = 1.0
    match j:
        case 0:
            pass
        case 1 | 2 if True:
            w1 = 1
            while True:
                w1 += 1
                if not w1 < 1:
                    break
                k, x = (i, v)
                for i in reversed(range(k)):
                    pass
                else:
                    return (a[-1], a)
        case _:
            pass
    x -= x
    return (x, a)


row(match_with_a_guard_and_a_return_in_loops, [1, 0, A120, 3.0], [1, 1, A120, 3.0])


def match_with_a_guard_continue_and_break(y, n):
    t = 0
    for i in jnp.full(3, 1):
        match int(y):
            case 0:
                continue
            case 1 | 2 if True:
                pass
            case _:
                break
        t = t + i
    return t


row(match_with_a_guard_continue_and_break, [0.5, 1], [1.5, 1], [3.5, 1])


def continue_in_the_else_of_an_inner_loop(n, m):
    w1 = (n - m) % 3
    while True:
        w1 += 1
        if not w1 < 1:
            break
        for j in range(m % 4):
            pass
        else:
            continue
    return n


row(continue_in_the_else_of_an_inner_loop, [3, 2], [1, 5])


def error_in_a_while_loop(n, x):
    while x > n:
        raise ValueError("too large")
    return x


row(error_in_a_while_loop, [5, 3], plain=[[1, 3]])


class Pot:
    def __init__(self, n, c):
        self.n, self.c = n, c


def put_into_one_of_two(j, b, a, pot):
    chosen = pot if b else Pot(1, a)
    chosen.c[0] = j
    return a


def array_in_one_of_two_objects(j, b, a, n, c):
    return put_into_one_of_two(j, b, a, Pot(n, c))


row(array_in_one_of_two_objects, [9, True, A120, 4, A120 + 1], [9, False, A120, 4, A120 + 1], want="either")


def fills_its_own(p0):
    d = jnp.arange(3)

    def f1(i):
        d[0] = sum(v for v in d)

    f1(int(d.max()))


def helper_whose_inner_function_writes_its_array(a, x):
    if a[0] != sum(v for v in a) < max(a):
        k = fills_its_own(x)
    return x


row(helper_whose_inner_function_writes_its_array, [A120, 2.0], [A120 + 7, 2.0])


def array_in_a_dict_and_a_set(j):
    return (j in {1: 2, 5: 6}, j in (1, 2), j in {1, 2})


row(array_in_a_dict_and_a_set, [1], [7])


def for_left_by_return_or_break_in_a_for(i, j, a, r):
    for y in r:
        for i in range(i, -1, -1):  # noqa: B020
            if j < i:
                return (int(False), a)
            else:
                break
        pass
    return (5, a)


row(for_left_by_return_or_break_in_a_for, [2, 1, A120, A12], [2, 5, A120, A12])


def match_with_return_and_break_in_a_loop(i, j, a, r):
    for j in [j, a[0]]:  # noqa: B020
        match i:
            case 0:
                return (r[1], a, True)
            case 1 | 2:
                pass
            case _:
                break
    return (j * 1.0, a, False)


row(match_with_return_and_break_in_a_loop, [0, 1, A120, A12], [2, 1, A120, A12], [5, 1, A120, A12])


def own_dict(p0, p1):
    g = {"u": p1 % 1, "v": p1}
    for _ in range(3):
        g["u"] = int(p0)


def returned_from_a_try_with_a_dict_of_its_own(r, i, pot):
    for j, _ in enumerate(r):
        try:
            return own_dict(10.5, i), None
        finally:
            pot.c[j] = 1


def helper_with_a_dict_in_a_try(r, i, c):
    pot = Pot(1, c)
    returned_from_a_try_with_a_dict_of_its_own(r, i, pot)
    return pot.c


row(helper_with_a_dict_in_a_try, [A12, 3, A120])


def view_of_an_array_written_by_another_name(a, j):
    d = a[::-1]
    e = a
    e[1] = j
    return d


row(view_of_an_array_written_by_another_name, [A120, 5], want="either")


def loop_over_one_of_two_arrays(a, r, j, x):
    for n in a if True else jnp.array([1, 1, 1]):
        a[0] = j % 1
        r[n % 3] = x
    return (r, a)


row(loop_over_one_of_two_arrays, [A120, A120, 5, 6], want="either")


def assertion_after_an_early_return(y):
    if 3 != int(y) < 4:
        w = 4
    else:
        return 1
    assert w != 4
    return w


row(assertion_after_an_early_return, [15.0], [9.0], plain=[[2.0]])


def error_of_an_assertion_caught_beside_it(y):
    r = 0.0
    if y > 0:
        try:
            assert r == 1.0
        except AssertionError:
            r = y
    return r


row(error_of_an_assertion_caught_beside_it, [1.0], [-1.0])


def function_that_changes_the_index(i, a):
    def f():
        nonlocal i
        i = 1
        return 2

    a[i] -= f()
    return a, i


row(function_that_changes_the_index, [0, A120], [2, A120])


def parameter_assigned_in_a_branch_of_an_inner_function(j, b):
    if True:

        def f(j):
            if b:
                j, _ = (2, 1)
            return j

        if j > 3:
            j = f(j)
    return j


row(parameter_assigned_in_a_branch_of_an_inner_function, [1, True], [4, True], [4, False])


def list_in_a_branch_that_catches(i, n):
    if i >= n:
        pass
    else:
        xs = [i, 1, i - 2]
        try:
            xs[1] = 3
            raise ValueError(i)
        except ValueError:
            pass
    return i


row(list_in_a_branch_that_catches, [1, 3], [4, 3])


def none_or_a_number_in_an_early_return(b, y, j):
    def early():
        if y > 1:
            if b:
                return (1, j)
            t = None
        else:
            t = j
        return (t, 2)

    t, k = early()
    return k if t is None else t * 10 + k


row(none_or_a_number_in_an_early_return, [True, 2.0, 3], [False, 2.0, 3], [False, 0.0, 3])


def finally_that_ends_an_exception(b, n):
    try:
        if b:
            raise ValueError(1)
    except ValueError:
        n = n + 1
    finally:
        return n  # noqa: B012


row(finally_that_ends_an_exception, [True, 1], [False, 1], want="either")


def while_whose_test_writes_and_body_always_leaves(j, n):
    seen = [0]

    def limit():
        seen[0] += 1
        return 3

    while n < limit():
        match j:
            case 0:
                break
            case _:
                return seen[0] * 10 + j
    return seen[0]


row(while_whose_test_writes_and_body_always_leaves, [3, 1], [0, 1], [0, 5])


def read_after_a_break_and_overwritten_after_it(x, k):
    n = 7
    for i in range(4):
        if x > i:
            n = 5
            if k == i:
                break
        n = 0
    return n


row(read_after_a_break_and_overwritten_after_it, [2, 1], [2, 0], [0, 0], [5, 3], [2, 5])


def read_in_a_finally_after_continue(x):
    s = 0
    for _ in range(2):
        n = 0
        try:
            if x > 1:
                continue
            n = 1
        finally:
            s = s + n
    return s


row(read_in_a_finally_after_continue, [0], [2])


def read_in_finallies_after_a_return(x, k):
    n, m = 1, 0
    seen = [0]

    def leave():
        nonlocal n, m
        try:
            try:
                if x > 1:
                    n = 5
                    if k == 1:
                        return 1
                n = 0
            finally:
                m = n
        finally:
            seen[0] = n * 10 + m
        return 2

    return leave() + seen[0] * 100


row(read_in_finallies_after_a_return, [2, 1], [2, 0], [0, 1])


def read_in_a_finally_after_a_loop_that_returns(x, k):
    n = 0
    seen = [0]

    def leave():
        nonlocal n
        try:
            for i in range(3):
                n = i + 1
                if x == i:
                    return 1
            n = 0
        finally:
            seen[0] = n
        return 2

    return leave() + seen[0] * 10


row(read_in_a_finally_after_a_loop_that_returns, [1, 0], [5, 0])


def local_read_in_a_finally_after_a_loop_that_returns(x, out):
    n = 0
    try:
        for i in range(3):
            n = i + 1
            if x == i:
                return out
        n = 0
    finally:
        out[0] = n
    return out


row(local_read_in_a_finally_after_a_loop_that_returns, [1, A12], [5, A12], want="either")


def finally_that_ends_what_its_body_raises(n):
    if n != 1:
        try:
            raise ValueError(1)
        finally:
            return n  # noqa: B012
    return 5


row(finally_that_ends_what_its_body_raises, [0], [1], staged="cond")


def finally_that_ends_an_assertion(n):
    k = 0
    try:
        assert n != 0
        k = 1
    finally:
        return n + k  # noqa: B012


row(finally_that_ends_an_assertion, [1], [0], want="either")


def assertion_that_is_handled(n):
    try:
        assert n != 0
    except AssertionError:
        n = 7
    return n


row(assertion_that_is_handled, [0], [1], want="either")


def assertion_beside_another_handler(n):
    try:
        assert n >= 0
        k = n + 1
    except ValueError:
        k = 7
    return k


row(assertion_beside_another_handler, [0], [1])


def unbound_in_an_augmented_assignment(n):
    try:
        for i in range(2):
            z += n  # noqa: F821
    except UnboundLocalError:
        return i
    return 5


row(unbound_in_an_augmented_assignment, [3], want="either")


def fraction(a, b):
    if b == 0:
        raise ZeroDivisionError("no fraction")
    return a / b


def error_of_a_callee_that_is_handled(x):
    try:
        return fraction(1.0, x)
    except ZeroDivisionError:
        return 0.0


row(error_of_a_callee_that_is_handled, [2.0], [0.0], want="either")


def error_of_a_callee_beside_another_handler(x):
    try:
        return fraction(1.0, x)
    except KeyError:
        return 0.0


row(error_of_a_callee_beside_another_handler, [2.0], plain=[[0.0]])


class Pair:
    def __init__(self, low, high):
        self.low, self.high = low, high


def loop_that_makes_an_object(n):
    for k in jnp.full(3, n):
        made = Pair(k, 1)
    return made.low


row(loop_that_makes_an_object, [2])


def moved(pair, k):
    for m in [k, 1]:
        while pair.low < 0:
            pair = Pair(m, 1)
    pair.low += k


def object_that_two_loops_may_replace(n, k):
    pair = Pair(n, 2)
    moved(pair, k)
    return pair.low


row(object_that_two_loops_may_replace, [7, 2], [-1, 2], want="either")


def written(pair, k, n):
    if k == 0:
        pass
    elif k < 3:
        taken = pair if n != 1 else Pair(n, 1)
    taken.low = 6


def object_chosen_in_a_branch(k, n):
    pair = Pair(n, 2)
    written(pair, k, n)
    return pair.low


row(object_chosen_in_a_branch, [1, 1], [2, 5], want="either")


def object_replaced_in_turns_of_a_branch(i, j):
    pair = Pair(3, 1.0)
    if i > 0:
        for n in [1, 1, 2]:
            pair.low = pair.low + j * n
            pair = pair if j >= 0 else Pair(0, 2.0)
    return pair.low, pair.high


row(object_replaced_in_turns_of_a_branch, [1, 2], [1, -2], [-1, 2])


def loop_left_in_a_try_whose_else_leaves(n):
    done = []
    for k in range(3):
        try:
            while True:
                break
            else:
                break
        finally:
            done.append(k * n)
        done.append(-k * n)
    return done


row(loop_left_in_a_try_whose_else_leaves, [2])


def for_left_in_a_with_whose_else_goes_on(n):
    total = 0
    for k in range(5):
        with contextlib.nullcontext():
            for j in range(4):
                if j * n > k:
                    break
            else:
                continue
        total += 10 * k + j
    return total


row(for_left_in_a_with_whose_else_goes_on, [0], [1], [3])


def variable_that_the_test_of_a_loop_writes(i, j, n):
    if j > 1:

        def step(k):
            nonlocal i
            i = i + k
            return n

        while step(1) > 0:
            break
        while step(2) > i:
            j = j - 1
    return i, j


row(variable_that_the_test_of_a_loop_writes, [0, 18, 4], [0, 0, 4], [2, 5, 9], staged="cond loop")


def variable_that_an_inner_try_binds_and_an_inner_function_names_too(x, y, b):
    try:
        try:
            n = int(x)
        finally:
            pass

        def other(n):
            return n

    finally:
        y -= int(b)
    return (lambda v: v + y)(n)


row(variable_that_an_inner_try_binds_and_an_inner_function_names_too, [1.0, 2.0, False], [3.5, 2.0, True])


def returned_in_a_tuple_and_written_by_the_finally_of_a_handled_try(i, j, a):
    try:
        return a, any(a > 1)
    except (ValueError, KeyError):
        pass
    finally:
        a[i] = j // 1


row(returned_in_a_tuple_and_written_by_the_finally_of_a_handled_try, [1, 0, A120], [0, 7, A120], want="either")


def object_chosen_in_a_branch_that_may_leave_it_unset(x, y, b):
    own = Box(0, x + 18)
    if not b:
        other = own if y != x else Box(0, y)
    own.v = own.v + 3
    return other.v


row(object_chosen_in_a_branch_that_may_leave_it_unset, [1.0, 2.0, False], [2.0, 2.0, False], want="either")


def dict_that_a_key_was_deleted_from_iterated_and_written(x):
    rates = {"z": x, "a": x, "b": 2 * x, "c": 3 * x}
    del rates["z"]
    s = 0.0
    for name in rates:
        if rates[name] > 1:
            rates[name] = rates[name] - 1
        s = s * 10 + rates[name]
    return s, rates


row(dict_that_a_key_was_deleted_from_iterated_and_written, [1.0], [0.4], [-1.0], staged="cond")


def ordered_dict_iterated_and_written(x):
    rates = collections.OrderedDict(b=x, a=2 * x)
    rates.move_to_end("b")
    s = 0.0
    for i, (name, rate) in enumerate(rates.items()):
        if rate > 1:
            rates[name] = rate - 1
            s = s * 10 + i + rates[name]
    return s, list(rates.values())


row(ordered_dict_iterated_and_written, [1.0], [0.4], [3.0], staged="cond")


def deque_iterated_and_written(x):
    window = collections.deque([x, 2 * x, 3 * x], maxlen=3)
    for i, v in enumerate(window):
        if v > 1:
            window[i] = v - 1
    return list(window)


row(deque_iterated_and_written, [1.0], [0.4], [3.0], staged="cond")


def set_iterated_in_a_branch_that_adds_what_it_has(x):
    names = {"one", "two", "three", "four"}
    names.discard("one")
    n = 0
    for name in names:
        if x > 1:
            names.add(name)
            n = n + len(name)
    return n


row(set_iterated_in_a_branch_that_adds_what_it_has, [1.0], [2.0])


def array_looped_over_and_written_in_a_finally_of_a_finally(r):
    y = 0.0
    try:
        pass
    finally:
        try:
            for k, y in enumerate(r):
                r[True] -= r[k]
        finally:
            r = r + sum([v for v in range(2) if v != 1])
    return y, r


row(array_looped_over_and_written_in_a_finally_of_a_finally, [np.array([12.75, 11.5, 15.75])])


def array_looped_over_and_written_in_a_try(x, r):
    try:
        if x > 100:
            raise KeyError
        for v in r:
            r[2] -= 1
            x = v + x * 2
    except KeyError:
        x = x - 100
    return x


row(array_looped_over_and_written_in_a_try, [3.0, np.array([1.0, 2.0, 3.0])], [105.0, np.array([1.0, 2.0, 3.0])])


@table.each_way
def test_found(row, way, record_property):
    check(row, way, record_property)
