"""try and except around what traced data makes fail: the handler runs where Python runs it, with the state of that moment."""

import contextlib
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row


class Bad(Exception):
    pass


def fraction(a, b):
    if b == 0:
        raise ZeroDivisionError("no fraction", b)
    return a / b


def checked(x):
    if x > 5:
        raise Bad("too much")
    if x < 0.25:
        raise ArithmeticError("too little")
    return x * 2


def bounded_fraction(a, b):
    found = fraction(a, b) + 1
    if found > 10:
        raise Bad(found)
    return found


# ------------------------------------------------------------------ errors of callees
def returned_by_a_handler(x):
    try:
        return fraction(1.0, x)
    except ZeroDivisionError:
        return -1.0


row(returned_by_a_handler, [0.0], [1.0], [4.0], staged="cond", batch=True)
row(returned_by_a_handler, [1.0], [4.0], name="slope of returned_by_a_handler", grad=True)


def assigned_by_a_handler(x):
    try:
        y = fraction(1.0, x)
    except ZeroDivisionError:
        y = -1.0
    return y


row(assigned_by_a_handler, [0.0], [1.0], [4.0], staged="cond", batch=True)
row(assigned_by_a_handler, [1.0], [4.0], name="slope of assigned_by_a_handler", grad=True)


def ignored(x):
    y = 5.0
    try:
        y = fraction(1.0, x)
    except ZeroDivisionError:
        pass
    return y


row(ignored, [0.0], [1.0], staged="cond", batch=True)
row(ignored, [1.0], [4.0], name="slope of ignored", grad=True)


def state_where_it_failed(x):
    y, k = 5.0, 0
    try:
        k = 1
        y = bounded_fraction(1.0, x)
        k = 2
        y = y + fraction(1.0, x - 1)
        k = 3
    except ZeroDivisionError:
        y = y - 100.0
    except Bad as error:
        y = error.args[0] * 1000
    else:
        k = k + 10
    finally:
        k = k + 0.5
    return y, k


row(state_where_it_failed, [0.0], [1.0], [2.0], [4.0], [0.0625], staged="cond", batch=True)


def another_kind_of_error(x):
    try:
        return fraction(1.0, x)
    except KeyError:
        return 0.0


row(another_kind_of_error, [2.0], plain=[[0.0]], own_jit=True)


def base_class_of_the_error(x):
    try:
        return fraction(1.0, x)
    except ArithmeticError:
        return 0.0


row(base_class_of_the_error, [2.0], [0.0])


def handler_for_several(x):
    try:
        return bounded_fraction(1.0, x)
    except (Bad, ZeroDivisionError):
        return 0.0


row(handler_for_several, [2.0], [0.0], [0.0625])


def handled_one_call_further_out(x):
    try:
        return assigned_by_a_handler(x) + fraction(1.0, x - 1)
    except ZeroDivisionError:
        return 50.0


row(handled_one_call_further_out, [0.0], [1.0], [2.0], batch=True)


def in_the_arguments_of_a_call(x):
    try:
        return max(fraction(1.0, x), fraction(1.0, x - 1))
    except ZeroDivisionError:
        return 50.0


row(in_the_arguments_of_a_call, [0.0], [1.0], [4.0])


# ------------------------------------------------------------------ raised in the body itself
def raised_in_the_body(x):
    try:
        if x > 5:
            raise ValueError("large")
        y = x
    except ValueError:
        y = 0.0
    return y


row(raised_in_the_body, [3.0], [6.0], staged="cond", grad=True, batch=True)


def raised_where_traced_data_decides_already(x):
    if x > 3:
        try:
            if x > 5:
                raise ValueError("large")
            y = x
        except ValueError:
            y = 0.0
    else:
        y = 1.0
    return y


row(raised_where_traced_data_decides_already, [2.0], [4.0], [6.0], staged="cond")


def assertion(x):
    try:
        assert x > 2, "small"
        x = x * 2
    except AssertionError:
        x = x - 1
    return x


row(assertion, [1.0], [3.0], staged="cond")


def raised_again(x):
    try:
        try:
            y = bounded_fraction(1.0, x)
        except ZeroDivisionError:
            y = 3.0
            if x == 0:
                raise
        y = y + 1
    except Bad:
        y = 4.0
    except ZeroDivisionError:
        y = 8.0
    return y


row(raised_again, [0.0], [1.0], [0.0625])


class Root:
    def take(self, x):
        self.value = fraction(1.0, x)
        self.more = self.value + 1


def attributes_that_are_not_there_yet(x):
    root = Root()
    try:
        root.take(x)
    except ZeroDivisionError:
        root.more = 3.0
    return root.more * 1.0, hasattr(root, "value")


row(attributes_that_are_not_there_yet, [0.0], [2.0])


def asked_whether_they_are_there(x):
    root = Root()
    try:
        root.take(x)
        root.last = root.more * 2
    except ZeroDivisionError:
        pass
    return root.last * 1.0 if hasattr(root, "last") else -1.0


row(asked_whether_they_are_there, [0.0], [2.0])


def set_in_an_earlier_turn(x):
    root = Root()
    for i in range(2):
        try:
            root.take(x - i)
        except ZeroDivisionError:
            return root.value * 1.0 if i else 9.0
    return root.value * 1.0


row(set_in_an_earlier_turn, [0.0], [1.0], [2.0])


def raised_instead_of_one_of_two(x):
    try:
        try:
            y = fraction(1.0, x) if x < 1 else checked(x)
        except (ZeroDivisionError, Bad) as error:
            raise KeyError("instead") from error
    except KeyError:
        y = 7.0
    return y


row(raised_instead_of_one_of_two, [0.0], [0.5], [2.0], [9.0])


def raised_for_what_was_kept(x):
    try:
        y, kept = checked(x), None
    except (ArithmeticError, Bad) as error:
        y, kept = 0.0, error
    try:
        if kept is not None:
            raise KeyError("later") from kept
    except KeyError:
        y = 8.0
    return y


row(raised_for_what_was_kept, [0.0], [0.5], [2.0], [9.0])


def raised_instead(x):
    try:
        try:
            y = fraction(1.0, x)
        except ZeroDivisionError as error:
            raise Bad("instead") from error
    except Bad:
        y = 7.0
    return y


row(raised_instead, [0.0], [2.0])


def inner_finally(x):
    k = 0
    try:
        try:
            y = fraction(1.0, x)
        finally:
            k = k + 1
    except ZeroDivisionError:
        y = 7.0
    return y, k


row(inner_finally, [0.0], [2.0])


def name_of_the_error(x):
    error = 3.0
    try:
        y = fraction(1.0, x)
    except ZeroDivisionError as found:
        y = found.args[1] + error
    return y


row(name_of_the_error, [0.0], [2.0])


# ------------------------------------------------------------------ loops
def try_in_a_while(x):
    n = 0
    while x < 8:
        try:
            x = x + fraction(4.0, x)
            n = n + 1
        except ZeroDivisionError:
            x = x + 1
            n = n + 100
            continue
        if x > 6:
            break
    return x, n


row(try_in_a_while, [0.0], [1.0], [9.0], staged="loop", batch=True)


def try_in_a_for(n):
    last = -1
    for i in range(6):
        try:
            if i == n:
                raise Bad(i)
            last = i
        except Bad:
            break
    return last


row(try_in_a_for, [1], [3], [9], batch=True)


def loop_in_a_try(n, xs):
    total = 0.0
    try:
        for i, x in enumerate(xs):
            if i == n:
                raise Bad(i)
            total = total + x
    except Bad:
        total = total * 100
    return total


row(loop_in_a_try, [0, jnp.arange(3.0)], [2, jnp.arange(3.0)], [7, jnp.arange(3.0)], staged="loop")


def calls_in_a_loop_in_a_try(n):
    total, k = 0.0, 0
    try:
        while k < 10:
            total = total + fraction(1.0, n - k)
            k = k + 1
    except ZeroDivisionError:
        total = -total
    return total, k


row(calls_in_a_loop_in_a_try, [3], [20], staged="loop")


def halved(x):
    turns = 0
    while x > 1:
        x = x / 2
        turns = turns + 1
        if turns > 5:
            raise RuntimeError("no convergence")
    return x


def loop_of_a_callee(x):
    try:
        return halved(x)
    except RuntimeError:
        return -1.0


row(loop_of_a_callee, [1.0], [30.0], [1000.0], staged="loop", batch=True)


def loop_of_a_callee_in_a_loop(x):
    failed = 0
    for _ in range(3):
        try:
            x = halved(x) * 40
        except RuntimeError:
            x = x / 4
            failed = failed + 1
    return x, failed


row(loop_of_a_callee_in_a_loop, [1.0], [30.0], [1000.0])


# ------------------------------------------------------------------ objects
class Counter:
    def __init__(self):
        self.calls, self.done = 0.0, 0.0

    def counted(self, x):
        self.calls = self.calls + 1
        return fraction(1.0, x)

    def counted_after(self, x):
        y = fraction(1.0, x)
        self.done = self.done + 1
        return y


def written_before_it_fails(x):
    counter = Counter()
    try:
        x = counter.counted(x)
        counter.done = 7.0
    except ZeroDivisionError:
        x = -1.0
    return x, counter.calls, counter.done


row(written_before_it_fails, [0.0], [2.0])


def written_by_a_callee_after_it_may_have_failed(x):
    counter = Counter()
    try:
        x = counter.counted_after(x)
    except ZeroDivisionError:
        x = -1.0
    return x, counter.done


row(written_by_a_callee_after_it_may_have_failed, [0.0], [2.0], want="either")


def object_that_a_callee_makes(x):
    def make(x):
        y = fraction(1.0, x)
        counter = Counter()
        counter.done = y
        return counter

    try:
        return make(x).done
    except ZeroDivisionError:
        return -1.0


row(object_that_a_callee_makes, [0.0], [2.0])


def items_written_in_the_body(xs, n):
    try:
        xs[0] = 5.0
        xs[1] = fraction(1.0, n)
        xs[2] = 7.0
    except ZeroDivisionError:
        xs[2] = -1.0
    return xs


row(items_written_in_the_body, [np.zeros(3), 0.0], [np.zeros(3), 2.0])


def appended_after_it_may_have_failed(x):
    found = []
    for v in [1.0, 2.0]:
        try:
            found.append(fraction(v, x - v))
        except ZeroDivisionError:
            found.append(0.0)
    return found


row(appended_after_it_may_have_failed, [0.0], [2.0], want="either")


# ------------------------------------------------------------------ variables of others, which a callee assigns
def variable_of_the_caller(x):
    total = 0.0

    def f(v):
        nonlocal total
        total = total + 1
        if v < 0:
            raise Bad
        total += 10
        if v > 2:
            total = total + 100
        for _ in range(3):
            total = total + 1000

    try:
        f(x)
        f(x - 2)
    except Bad:
        pass
    return total


row(variable_of_the_caller, [-1.0], [1.0], [3.0], staged="cond", batch=True)

assigned_last = 0.0


def module_variable(x):
    global assigned_last
    assigned_last = 0.0
    try:
        assign_last(x)
    except AssertionError:
        pass
    return assigned_last


def assign_last(x):
    global assigned_last
    assigned_last = x
    assert x > 0
    assigned_last = assigned_last * 10


row(module_variable, [-1.0], [1.0])


def text_and_tuple_of_the_caller(x):
    text, pair = "none", (1.0, 2.0)

    def f(v):
        nonlocal text, pair
        if v < 0:
            raise Bad
        text = "some"
        pair = (v, v)

    try:
        f(x)
    except Bad:
        pass
    return (1.0 if text == "some" else 0.0), pair


row(text_and_tuple_of_the_caller, [-1.0], [1.0])


def target_of_a_loop_and_of_a_with(x):
    k = step = 0.0

    def f(v):
        nonlocal k, step
        checked(v)
        for k in range(3):
            pass
        with contextlib.nullcontext(5.0) as step:
            pass
        k, other = k + 1, step

    try:
        f(x)
    except (Bad, ArithmeticError):
        pass
    return k, step


row(target_of_a_loop_and_of_a_with, [0.0], [1.0], [9.0])


def variable_of_the_callee(x):
    def f(v):
        count = 0

        def step():
            nonlocal count
            count = count + 1

        step()
        checked(v)
        step()
        return [10.0, 20.0, 30.0][count]

    r = 5.0
    try:
        r = f(x)
    except Bad:
        pass
    return r


row(variable_of_the_callee, [1.0], [9.0])


def iterator_of_the_caller(x):
    elements = iter([1.0, 2.0, 3.0])

    def f(v):
        if v < 0:
            raise Bad
        next(elements)

    try:
        f(x)
    except Bad:
        pass
    return next(elements)


row(iterator_of_the_caller, [-1.0], [1.0], want="either")


# ------------------------------------------------------------------ `+=`: the target is read first
def unbound_target_of_an_update(x):
    log = []

    def noted():
        log.append(1)
        return fraction(1.0, x)

    try:
        y += noted()  # noqa: F821, F841 - unbound
    except ZeroDivisionError:
        pass
    except UnboundLocalError:
        return len(log)
    return -1


row(unbound_target_of_an_update, [0.0], [1.0])


def update_of_what_the_value_changes(x):
    counts, y = {"n": 1.0}, 1.0

    def counted():
        nonlocal y
        counts["n"] = 10.0
        y = 10.0
        return fraction(1.0, x)

    try:
        counts["n"] += counted()
        y += counted()
    except ZeroDivisionError:
        y = y + 100
    return counts["n"], y


row(update_of_what_the_value_changes, [1.0], [4.0])


def update_of_an_element(x):
    a = jnp.zeros(3)
    b = a
    try:
        a[0] += 1.0
        a[index_of_one()] += fraction(1.0, x)
        a[2] += 5.0
    except ZeroDivisionError:
        a[0] += 10.0
    return a, b


def index_of_one():
    return 1


row(update_of_an_element, [0.0], [1.0])


# ------------------------------------------------------------------ bodies that always leave
def break_or_return(x, a):
    for k in range(3):
        try:
            if x > k:
                break
            else:
                return sum(a[1:]), a  # a call, which might have failed
        except ZeroDivisionError:
            x = x + 100
    return k + x, a


row(break_or_return, [0.0, jnp.arange(3.0)], [2.0, jnp.arange(3.0)])


# ------------------------------------------------------------------ a key that is not there
PRICES = {1: 10.0, 2: 20.0, "none": 3.0}


def a_key_or_another_one(k):
    try:
        price = PRICES[k]
    except KeyError:
        price = PRICES["none"]
    return price


row(a_key_or_another_one, [0], [1], [2])


def keys_of_a_loop(k):
    total = 0.0
    for i in range(4):
        try:
            total += PRICES[k + i] + 1
        except LookupError:
            total -= 1
        else:
            total *= 2
        finally:
            total += 0.5
    return total


row(keys_of_a_loop, [0], [2], [7])


def a_key_before_a_write(k):
    a = [0.0] * 4
    try:
        a[0] = 5.0
        a[1] = PRICES[k]
        a[2] = 7.0
    except KeyError:
        a[3] = 1.0
    return a


row(a_key_before_a_write, [0], [2])


def an_array_that_each_part_writes(x):
    y = np.zeros(4)
    try:
        y[1] = fraction(1.0, x)
    except ZeroDivisionError:
        y[2] = 30.0
    else:
        y[3] = 40.0
    return y


row(an_array_that_each_part_writes, [0.0], [2.0])


# ------------------------------------------------------------------ other handlers, and what errors hold
def raised_by_a_handler(x):
    try:
        try:
            return fraction(1.0, x)
        except ZeroDivisionError as error:
            raise KeyError("none") from error
    except KeyError:
        return -1.0


row(raised_by_a_handler, [0.0], [4.0])


def failing_where_nothing_has_failed(x):
    try:
        y = fraction(1.0, x)
    except ZeroDivisionError:
        y = 0.0
    else:
        y = y + fraction(1.0, x - 1)
    return y


row(failing_where_nothing_has_failed, [0.0], [4.0])


class Negative(ValueError):
    def __init__(self, value, places):
        super().__init__(f"{value} is negative")
        self.value, self.places = value, places


def root(x, k):
    if x < 0:
        raise Negative(x, [k, x])
    return x**0.5


def attributes_of_an_error(x):
    total = 0.0
    try:
        for k in range(6):
            total += root(x - k, k)
    except Negative as error:
        total += 1000 * error.value + error.places[0]
    return total


row(attributes_of_an_error, [3.5], [9.0])


# ------------------------------------------------------------------ try in try: what fails leaves what is inside, too
def positive(x):
    if x < 0:
        raise Negative(x, [])
    return 2 * x


def finally_inside(x):
    y, z = 7.0, 1.0
    try:
        try:
            z = positive(x)
            y = y + z
        finally:
            z = z + 0.5
    except Negative:
        pass
    return y, z


row(finally_inside, [1.0], [-1.0])


def failing_handler_with_finally(x, z):
    v = 1.0
    try:
        try:
            return fraction(1.0, x)
        except ZeroDivisionError:
            c = positive(z)
            return c
        finally:
            v += 0.5
    except Negative as error:
        v += 100 * error.value
    return v


row(failing_handler_with_finally, [1.0, 2.0], [0.0, 2.0], [0.0, -2.0], [1.0, -2.0])


def error_for_another_handler(x, z):
    try:
        y = positive(x)
        try:
            y = fraction(1.0, z)
        except Bad:
            y = 5.0
    except Negative as error:
        y = error.value
    return y


row(error_for_another_handler, [1.0, 2.0], [-1.0, 2.0])


def declared_in_the_body(x):
    y = 7.0
    try:
        y: float = positive(x)
    except Negative:
        y += 1
    return y


row(declared_in_the_body, [1.0], [-1.0])


def walrus_in_the_body(x):
    y = 7.0
    try:
        if (y := positive(x)) > 3:
            y += 1
    except Negative:
        pass
    return y


row(walrus_in_the_body, [2.0], [-1.0], want="either")


def failing_in_finally(x):
    y = 7.0
    try:
        try:
            y = 1.0
        finally:
            y = positive(x)
            y = y + 1
    except Negative:
        y += 1
    return y


row(failing_in_finally, [1.0], [-1.0], want="either")


def last_assignment_of_a_body_inside(x):
    y = 7.0
    try:
        try:
            y = positive(x)
        except Bad:
            y = 0.0
    except Negative:
        pass
    return y


row(last_assignment_of_a_body_inside, [1.0], [-1.0])


def last_assignment_that_a_handler_calls_for(x):
    y = 7.0

    def before():
        return y

    try:
        y = positive(x)
    except Negative:
        y = before()
    return y


row(last_assignment_that_a_handler_calls_for, [1.0], [-1.0])


def updated_in_an_else(x):
    try:
        if x < 0:
            raise ValueError("negative")
        r = x**0.5
    except ValueError:
        r = 0.0
    else:
        r += 1
    finally:
        x = x * 2
    return r + x


row(updated_in_an_else, [3.0], [-1.0])


def raised_past_a_handler_of_its_branch(x):
    if x > 1:
        try:
            raise ValueError("large")
        except KeyError:
            x = x + 1
    return x


row(raised_past_a_handler_of_its_branch, [0.5], [2.0], own_jit=True)


def raised_anew_in_a_branch(x):
    if x > 1:
        try:
            raise ValueError("large")
        except ValueError:
            raise
    return x


row(raised_anew_in_a_branch, [0.5], [2.0], own_jit=True)


def lookup_that_fails_beside_a_return(x, z):
    try:
        if int(z) != x:
            return 5
        {}["no key"]  # noqa: B018
    except (ValueError, KeyError):
        pass
    finally:
        z = z + 1
    return 0


row(lookup_that_fails_beside_a_return, [1, 1.0], [2, 7.0], want="either")


def lookup_that_fails_beside_a_chain(z, m=1):
    for k in range(2):
        try:
            if m != int(z) == m + k:
                return m, k
            {}["no key"]  # noqa: B018
        except KeyError:
            m = m + 1
    return 0, m


row(lookup_that_fails_beside_a_chain, [1.0], [3.0], [7.0], want="either")


def lookup_after_what_may_fail(x, i):
    vs = [x]
    try:
        vs[i % 1] = math.cos(x)
        {}["no key"]  # noqa: B018
    except KeyError:
        pass
    finally:
        x = x + sum(v for v in vs)
    return x, vs


row(lookup_after_what_may_fail, [1.0, 3])


def above_zero(x):
    if x <= 0:
        raise ValueError("not positive")
    return x


def lookup_in_an_inner_try(x):
    try:
        y = above_zero(x + 1)
        try:
            z = above_zero(x)
            {}["no key"]  # noqa: B018
        except LookupError:
            z = 2.0
    except ValueError:
        y = z = -1.0
    return y, z


row(lookup_in_an_inner_try, [1.0], [-1.0], [0.0], want="either")


def break_beside_a_lookup(b, n):
    while n > 0:
        n = n - 1
        try:
            if b:
                break
            {}["no key"]  # noqa: B018
        except KeyError:
            n = n - int(above_zero(n + 1))
        finally:
            b = bool(above_zero(n + 3))
    return n, b


row(break_beside_a_lookup, [True, 3], [False, 3], want="either")


def found_or_one(b):
    try:
        if b:
            return 1
        {}["no key"]  # noqa: B018
    except KeyError:
        return 2


def lookup_handled_by_what_is_called(b, x):
    n = 0
    try:
        n = found_or_one(b)
    finally:
        x = above_zero(x)
    return n, x


row(lookup_handled_by_what_is_called, [True, 3.0], [False, 3.0], want="either")


def raised_with_a_value_in_loops(n, m):
    total = 0
    for i in range(n):
        for j in range(1, m):
            if i * j > 5:
                raise ValueError(i, j)
            total = total + i * j
    return total


row(raised_with_a_value_in_loops, [3, 3], [5, 2], [4, 4], own_jit=True)


def raised_in_a_callee_beside_a_return(x, z):
    try:
        if z > x:
            return 5
        above_zero(z - 100)
    except ValueError:
        pass
    finally:
        z = z + 1
    return 0


row(raised_in_a_callee_beside_a_return, [1.0, 2.0], [2.0, 1.0], staged="cond")


def lookup_before_more(b, x):
    d = {}
    try:
        x = above_zero(x)
        if b:
            d["k"]  # noqa: B018
        x = x + 1
    except (ValueError, KeyError):
        x = x + 5
    return x


row(lookup_before_more, [True, 3.0], [False, 3.0], want="either")


def no_such_item_on_a_path(x):
    table, values = {1: {0: 1.0}}, [5.0, 6.0]
    if x > 5:
        table[1][0] = table[1][3]
    if x > 6:
        values[0] = values[3]
    if x > 7:
        values[3] = values[0]
    if x > 8:
        del table[4]
    return table[1][0] + values[0] + x


row(no_such_item_on_a_path, [2.0], [5.5], [6.5], [7.5], [8.5], own_jit=True)


def raises_either_way(x):
    if x > 5:
        raise Bad(x)
    raise ValueError("not above five")


def a_test_that_raises_on_every_path(x):
    turns = 0
    while turns < raises_either_way(x):
        turns += 1
    return turns


def a_test_that_writes_and_raises_on_every_path(x):
    seen = [0.0]

    def asked():
        seen[0] += x
        if seen[0] > 5:
            raise Bad("above")
        raise ValueError("below")

    if x > 0:
        while seen[0] < asked():
            seen[0] += 1
    return seen


def division_by_a_known_zero_on_a_path(x):
    step, y = 0, x
    if x > 5:
        y = x + 1 / step
    return y


row(division_by_a_known_zero_on_a_path, [2.0], [7.0], own_jit=True)


def overflow_on_a_path(x):
    return x + math.exp(1000) if x > 5 else x


row(overflow_on_a_path, [2.0], [7.0], own_jit=True)


def no_such_item_in_a_try(x):
    values = [5.0, 6.0]
    try:
        if x > 5:
            values[1] = values[7]
    except IndexError:
        values[0] = 100.0
    return values


row(no_such_item_in_a_try, [2.0], [7.0], want="either")


def first_above(v):
    try:
        found = next(element for element in v if element > 1)
    except StopIteration:
        found = -5.0
    return found


row(first_above, [jnp.array([0.0, 2.0, 3.0])], [jnp.array([0.0, 0.5, 0.2])])


def first_above_or_an_error(v):
    try:
        return next(element for element in v if element > 1)
    except StopIteration as error:
        raise ValueError("nothing above 1") from error


row(first_above_or_an_error, [jnp.array([0.0, 2.0, 3.0])], [jnp.array([0.0, 0.5, 0.2])], own_jit=True)


def first_above_asked_by_a_caller(v):
    try:
        return first_above_or_an_error(v)
    except ValueError:
        return -7.0


row(first_above_asked_by_a_caller, [jnp.array([0.0, 2.0, 3.0])], [jnp.array([0.0, 0.5, 0.2])])


def error_of_a_loop_around(x):
    try:
        while x < 4:
            x = x + 1
            try:
                raise
            except AssertionError:
                x = x + 2
    except Exception:
        x = x + 50
    return x


row(error_of_a_loop_around, [0.5], want="either")


# ------------------------------------------------------------------ with, which is told of exceptions
class Rolling:
    """Puts its number back where there is an error."""

    def __init__(self, n):
        self.n = n

    def __enter__(self):
        self.old = self.n
        return self

    def __exit__(self, kind, error, traceback):
        if kind is not None:
            self.n = self.old
        return False


class Closing:
    def __init__(self):
        self.closed = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.closed += 1


class Ending(Rolling):
    def __exit__(self, kind, error, traceback):
        return kind is ValueError


@contextlib.contextmanager
def quiet():
    try:
        yield
    except ValueError:
        pass


@contextlib.contextmanager
def scaled(d, k):
    old = d["s"]
    d["s"] = old * k
    try:
        yield d["s"]
    finally:
        d["s"] = old


def not_above_2(v):
    if v > 2:
        raise ValueError("above 2")
    return v


def suppressed(x):
    y = 0.0
    with contextlib.suppress(ValueError):
        y = 1.0
        if x > 2:
            raise ValueError
        y = 2.0
    return y


row(suppressed, [3.0], want="error")


def suppressed_of_a_callee(x):
    y = -1.0
    suppressing = contextlib.suppress(LookupError, ValueError)
    with suppressing:
        y = not_above_2(x)
    return y


row(suppressed_of_a_callee, [3.0], want="error")


def suppressed_assertion(x):
    with contextlib.suppress(AssertionError):
        assert x > 2
        return x
    return 0.0


row(suppressed_assertion, [1.0], want="error")


def suppressed_in_a_stack(x):
    y = 0.0
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(ValueError))
        y = not_above_2(x)
    return y


row(suppressed_in_a_stack, [3.0], want="error")


def suppressed_before_a_handler(x):
    y = 0.0
    try:
        with contextlib.suppress(ValueError):
            y = not_above_2(x)
    except ValueError:
        y = 9.0
    return y


row(suppressed_before_a_handler, [3.0], want="error")


def ended_by_exit(x):
    y = 0.0
    with Ending(x):
        y = not_above_2(x)
    return y


row(ended_by_exit, [3.0], want="error")


def ended_by_a_generator(x):
    y = 0.0
    with quiet():
        y = not_above_2(x)
    return y


row(ended_by_a_generator, [3.0], want="error")


@contextlib.contextmanager
def torn_down(log):
    try:
        yield
    finally:
        try:
            log.append(1)
        except TypeError:
            log.clear()


def handlers_in_what_is_done_finally(x):
    y, log = 0.0, []
    try:
        with torn_down(log):
            y = not_above_2(x)
    except ValueError:
        y = -1.0
    return y


row(handlers_in_what_is_done_finally, [3.0], [1.0])


def rolled_back_before_a_handler(x):
    rolling = Rolling(x)
    for k in range(3):
        try:
            with rolling:
                rolling.n = rolling.n + 5
                if x > k:
                    raise Bad
        except Bad:
            continue
        rolling.n = rolling.n + 0.5
    return rolling.n


row(rolled_back_before_a_handler, [1.0], want="error")


def rolled_back_in_a_callee(x):
    rolling = Rolling(x)

    def changed(v):
        with rolling:
            rolling.n = v + 1
            return not_above_2(v)

    try:
        y = changed(x)
    except ValueError:
        y = -1.0
    return y, rolling.n


row(rolled_back_in_a_callee, [3.0], want="error")


def error_of_pythons_after_a_with(x):
    closing = Closing()

    def found(v):
        if v > 2:
            raise KeyError(v)
        return v

    try:
        with closing:
            y = found(x)
    except KeyError:
        y = -1.0
    return y


row(error_of_pythons_after_a_with, [3.0], want="error")


def closed_before_a_handler(x, y):
    closing, d, total = Closing(), {"s": y}, 0.0
    for v in (x, y):
        try:
            with closing, scaled(d, 2.0), contextlib.suppress(KeyError):
                total = total + not_above_2(v) * d["s"]
        except ValueError:
            total = total - 1
    return total, closing.closed, d["s"]


row(closed_before_a_handler, [3.0, 1.0], [1.0, 2.0], [1.0, 5.0])


def handled_in_a_with(x):
    y = 0.0
    with contextlib.suppress(ValueError), Rolling(x):
        try:
            y = not_above_2(x)
        except ValueError:
            y = 2.5
    return y


row(handled_in_a_with, [3.0], [1.0], staged="cond")


def raised_out_of_a_with(x):
    with Rolling(x) as rolling, contextlib.suppress(KeyError):
        rolling.n = not_above_2(x)
    return rolling.n


row(raised_out_of_a_with, [3.0], [1.0], own_jit=True)


# ------------------------------------------------------------------ what a callee does after its own error
def finally_of_a_callee(x):
    counter, ends = Counter(), [0.0]

    def f():
        counter.calls += 1
        try:
            if x > 0:
                raise Bad
            counter.done += 1000
        finally:
            counter.calls += 10
            ends[0] += 1
        counter.calls += 100

    try:
        f()
    except Bad:
        pass
    return counter.calls, counter.done, ends


row(finally_of_a_callee, [2.0], [-1.0], batch=True)


def finally_in_finally_of_callees(x):
    steps, last = [0.0], 0.0

    def check(v):
        if v > 0:
            raise Bad
        steps[0] += 10000

    def inner():
        try:
            check(x - 3)
            steps[0] += 1
            check(x)
            steps[0] += 2
        finally:
            steps[0] += 10
        steps[0] += 100

    def outer():
        nonlocal last
        try:
            inner()
        finally:
            last = steps[0]
            steps[0] += 1000

    try:
        outer()
    except Bad:
        pass
    return steps, last


row(finally_in_finally_of_callees, [2.0], [-1.0], [5.0])


def handler_of_a_callee_that_raises(x):
    steps = [0.0]

    def f():
        try:
            checked(x)
            steps[0] += 5
        except Bad as error:
            steps[0] += 1
            raise ArithmeticError from error
        finally:
            steps[0] += 7
        steps[0] += 100

    try:
        f()
    except ArithmeticError:
        pass
    return steps


row(handler_of_a_callee_that_raises, [9.0], [1.0], [0.0])


def finally_in_a_loop_of_a_callee(x):
    steps = [0.0]

    def f():
        for i in range(3):
            try:
                if x > i:
                    raise Bad
                steps[0] += 1
            finally:
                steps[0] += 10

    try:
        f()
    except Bad:
        pass
    return steps


row(finally_in_a_loop_of_a_callee, [2.0], [-1.0], [5.0])


def exit_in_a_callee(x):
    closing = Closing()

    def f():
        with closing:
            not_above_2(x)

    try:
        f()
    except ValueError:
        pass
    return closing.closed


row(exit_in_a_callee, [3.0], [1.0], want="either")


def exit_of_a_generator_in_a_callee(x):
    d = {"s": 1.0}
    doubled = scaled(d, 2.0)

    def f():
        with doubled:
            not_above_2(x)

    try:
        f()
    except ValueError:
        pass
    return d["s"]


row(exit_of_a_generator_in_a_callee, [3.0], [1.0], want="either")


def exit_of_what_a_callee_makes(x):
    def f():
        with Closing() as closing:
            y = not_above_2(x)
        return y + closing.closed

    y = 0.0
    try:
        y = f()
    except ValueError:
        pass
    return y


row(exit_of_what_a_callee_makes, [3.0], [1.0])


def loops_of_a_callee(x):
    d, count = {"c": 0.0}, 0.0

    def f():
        nonlocal count
        for _ in range(2):
            d["c"] += 1000
            for i in range(3):
                if i == x:
                    raise Bad
                d["c"] += 10
                count += 1
            d["c"] += 1
        count += 100

    try:
        f()
    except Bad:
        pass
    return d["c"], count


row(loops_of_a_callee, [0.0], [2.0], [9.0], staged="loop", batch=True)


def while_loops_of_a_callee(x, m):
    steps = [0.0]

    def f():
        for _ in range(m):
            i = x * 0
            while i < 3:
                if i == x:
                    raise Bad
                steps[0] += 10
                i += 1
            steps[0] += 1

    for _ in range(2):
        try:
            f()
        except Bad:
            steps[0] += 1000
    return steps


row(while_loops_of_a_callee, [0.0, 2], [2.0, 2], [9.0, 2], [0.0, 0], batch=True)


def loop_in_a_callee_of_a_loop(x):
    steps = [0.0]

    def f():
        for i in range(3):
            if i == x:
                raise Bad
            steps[0] += 10

    def g():
        for _ in range(2):
            f()
            steps[0] += 1

    try:
        g()
    except Bad:
        pass
    return steps


row(loop_in_a_callee_of_a_loop, [0.0], [2.0], [9.0])


# ------------------------------------------------------------------ what Python calls by itself
class Level:
    def __init__(self, value):
        self.value = value

    @property
    def checked(self):
        return not_above_2(self.value)

    def __add__(self, other):
        return not_above_2(self.value) + other


def property_that_fails(x):
    level, y = Level(x), 0.0
    try:
        y = level.checked
        y = y + not_above_2(1.0)
    except ValueError:
        y = y - 1
    return y


row(property_that_fails, [1.0], [3.0], want="either")


def operator_that_fails(x):
    level, y = Level(x), 0.0
    try:
        if level + 1 > 0:
            y = 5.0
        not_above_2(y - 4)
    except ValueError:
        pass
    return y


row(operator_that_fails, [1.0], [3.0], want="either")


def operator_in_a_return(x):
    level = Level(x)
    try:
        not_above_2(1.0)
        return level + 1
    except ValueError:
        return -1.0


row(operator_in_a_return, [1.0], [3.0], want="either")


def elements_that_fail(x):
    y, count = 0.0, 0
    try:
        for v in map(not_above_2, [2.0, x, 1.0]):
            y = y + v
            count = count + 1
        y = y + 100
    except ValueError:
        count = count + 10
    return y, count


row(elements_that_fail, [1.0], [3.0], [-5.0], batch=True)


# ------------------------------------------------------------------ values of what is caught
def value_of_an_error(x):
    try:
        if x > 3:
            raise Bad(x * x)
        return x
    except Bad as error:
        return error.args[0] * 2.0


row(value_of_an_error, [5.0], [1.0], grad=True, batch=True)


def squared_until_4(x):
    while x < 10:
        x = x * x + 0.5
        if x > 4:
            raise Bad(x)
    return x


def value_of_an_error_of_a_loop(x):
    try:
        return squared_until_4(x)
    except Bad as error:
        return error.args[0] * 2.0


row(value_of_an_error_of_a_loop, [1.5], [1.0], [20.0], grad=True, batch=True)


class Coded(Exception):
    def __init__(self, code):
        self.code = code


def attribute_without_traced_values(x):
    try:
        if x > 3:
            raise Coded(7)
        if x > 2:
            raise Coded(8)
        return 1
    except Coded as error:
        return error.code


row(attribute_without_traced_values, [5.0], [2.5], [1.0], batch=True)


# ------------------------------------------------------------------ one name in two handlers, of which each takes it away
def one_name_twice(x):
    try:
        if x < 1:
            raise Bad("first")
    except Bad as error:
        try:
            raise Bad("second")
        except Bad as error:
            x = x + 5
    return x


row(one_name_twice, [0.5], [2.0], staged="cond", batch=True)


def one_name_twice_where_data_decides(x):
    found = 0
    try:
        if x < 1:
            raise Bad("first")
        found = 1
    except Bad as error:
        for k in range(2):
            try:
                if x < k - 1:
                    raise Bad("second")
                found = found + 10
            except Bad as error:
                found = found + 100
    return found


row(one_name_twice_where_data_decides, [-2.0], [-0.5], [0.5], [2.0], staged="cond", batch=True)


def taken_away_in_the_handler(x):
    try:
        if x < 1:
            raise Bad("first")
    except Bad as error:
        del error
        x = 3.0
    return x


row(taken_away_in_the_handler, [0.5], [2.0], staged="cond", batch=True)


# ------------------------------------------------------------------ calls that write, and are not come to
def not_added_where_it_fails(x):
    d = {"k": 0.0, "l": 0.0}
    try:
        d.update(k=checked(x))
    except (Bad, ArithmeticError):
        d["l"] = 1.0
    else:
        d["l"] = 2.0
    return d["k"], d["l"]


row(not_added_where_it_fails, [0.0], [1.0], [7.0], staged="cond", batch=True)


def not_appended_where_it_fails(x):
    found = []
    try:
        found.append(checked(x))
    except (Bad, ArithmeticError):
        pass
    return len(found)


row(not_appended_where_it_fails, [0.0], [1.0], [7.0], staged="cond", want="either")


def the_first_of_several_arguments_that_fails(x):
    found = [0.0, 0.0]
    try:
        put_both(found, fraction(1.0, x), checked(x), last=fraction(2.0, x - 1))
    except ZeroDivisionError:
        found[1] = -1.0
    except (Bad, ArithmeticError):
        found[1] = -2.0
    return found[0], found[1]


def put_both(found, first, second, last):
    found[0], found[1] = first + last, second


row(the_first_of_several_arguments_that_fails, [0.0], [1.0], [7.0], [2.0], [0.125], staged="cond", batch=True)


class Ledger:
    def __init__(self):
        self.items, self.n = [0.0, 0.0], 1.0

    def put(self, first, second, last=0.0):
        self.items = [first + last, second]

    def raised(self, x):
        if x < 0:
            raise Bad("below")
        self.n = self.n + 10
        return x


def arguments_in_their_order(x):
    ledger = Ledger()
    try:
        ledger.put(ledger.n, ledger.raised(x), last=ledger.n)
    except Bad:
        ledger.n = -1.0
    return ledger.items, ledger.n


row(arguments_in_their_order, [2.0], [-1.5], staged="cond", batch=True)


def arguments_of_all_kinds(x):
    seen = [0.0]

    def note(v, *rest, **named):
        seen[0] = seen[0] + v + sum(rest) + sum(named.values())

    try:
        note(checked(x), *[checked(x + 1), 2.0], k=checked(x + 2))
    except (Bad, ArithmeticError):
        seen[0] = seen[0] - 100
    return seen[0]


row(arguments_of_all_kinds, [0.0], [1.0], [3.5], [4.5], staged="cond", batch=True)


@table.each_way
def test_attempts(row, way, record_property):
    check(row, way, record_property)


class Watching:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.failed = kind is not None
        return False


def either_way(x, known):
    """Its frames are at one place in memory, one after the other."""
    watching = Watching()
    try:
        if known < 0:
            raise ValueError
    except ValueError:
        return -1.0
    try:
        with watching:
            if x > 0:
                raise Bad
    except Bad:
        return 2.0
    return 4.0


@pytest.mark.parametrize("asked", ["__cause__", "__context__", "__suppress_context__", "__traceback__"])
def test_what_python_adds_to_an_exception_that_it_raises(asked):
    """A staged handler has an exception that nobody has raised. Where Python raises, it is Python's."""
    reads = {
        "__cause__": lambda e: isinstance(e.__cause__, KeyError),
        "__context__": lambda e: isinstance(e.__context__, KeyError),
        "__suppress_context__": lambda e: e.__suppress_context__,
        "__traceback__": lambda e: e.__traceback__ is not None,
    }[asked]

    def f(x, known):
        try:
            try:
                if x > 0 or known:
                    raise KeyError("k")
            except KeyError as e:
                raise ValueError("v") from e
        except ValueError as e:
            return reads(e)
        return False

    assert ag.jit(f, static_argnums=0)(1.0, True) == f(1.0, True) == 1
    with pytest.raises(ag.StagingError, match=f"`{asked}` of an exception"):
        ag.jit(f, static_argnums=1)(1.0, False)


def test_what_was_refused_is_not_that_of_the_next_call():
    converted = ag.autograph(either_way)
    for _ in range(3):
        with pytest.raises(ag.StagingError, match="told of exceptions"):
            jax.jit(lambda x: converted(x, 1))(1.0)
        assert converted(1.0, -1) == -1.0


def wrong_in_a_branch(x, known):
    try:
        if known < 0:
            raise ValueError
    except ValueError:
        return -1.0
    if x > 0:
        return math.floor("a" + str(known))
    return 4.0


def test_what_has_left_a_branch_is_not_that_of_the_next_call():
    converted = ag.autograph(wrong_in_a_branch)
    for _ in range(3):
        with pytest.raises(TypeError):
            jax.jit(lambda x: converted(x, 1))(1.0)
        assert jax.jit(lambda x: converted(x, -1))(1.0) == -1.0


@pytest.mark.parametrize("function", [a_test_that_raises_on_every_path, a_test_that_writes_and_raises_on_every_path])
def test_a_loop_whose_test_raises_on_every_path(function):
    run = ag.jit(function)
    for x, error in ((2.0, ValueError), (7.0, Bad)):
        for call in (function, ag.autograph(function), run):
            with pytest.raises(error):
                call(x)
