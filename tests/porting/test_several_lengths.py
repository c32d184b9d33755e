"""Lists of ported code that have one of a few lengths, as traced data decides: `cached[:] = step(x)` on one path only."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from tests.porting.programs import VECTORS, Programs, check_compiled

RIGHT = Programs()


@RIGHT
def a_cache_that_a_function_fills(x):
    cached = [None]

    def step(a):
        return a, x * a, x[0] + a

    def accepts(a):
        cached[:] = step(a)
        a, y, total = cached
        return total > 1

    a = x[1]
    if x[2] > 0 and not accepts(a):
        a = a / 2
    if a == cached[0]:
        a, y, total = cached
    else:
        a, y, total = step(a)
    return a, y, total, len(cached)


@RIGHT
def a_cache_in_each_turn(x):
    total, k = 0.0, 0
    while k < 4:
        cached = [None]

        def accepts(a):
            cached[:] = a, x * a
            return a < 2

        if k < x[0]:
            a = k * x[1]
            if not accepts(a):
                a = 1.0
        else:
            a = x[2]
        if cached[0] == a:
            a, y = cached
            total = total + y.sum()
        else:
            total = total - a
        k += 1
    return total


@RIGHT
def lengths_of_elements_that_differ(x):
    found = [None]
    if x[0] > 0:
        found[:] = ["up", x, x[1]]
    return len(found), found[-1], found[0] is None, bool(found)


@RIGHT
def written_after_the_join(x):
    found = [None]
    if x[0] > 0:
        found[:] = [x[0], "a", x[2]]
    found.append(x[1])
    found.insert(0, 2.0)
    last = found.pop()
    found += [x[2]]
    found[-1] = found[-1] + 1
    found[0] = last
    del found[1]
    return len(found), found[-1], found[0], found[-2] is None


@RIGHT
def slices_after_the_join(x):
    found = [None]
    if x[0] > 0:
        found[:] = [x[0], "a", x]
    rest = found[1:]
    rest.append(x[1])
    found[1:] = [x[2], x[2]]
    found.reverse()
    return len(rest), rest[-1], len(found), found[0], found[1]


@RIGHT
def emptied_and_filled(x):
    found = [x, None]
    if x[0] > 0:
        found.clear()
    if found:
        found.append(x[1])
    else:
        found.extend((x[1], "b", x[2], x[0]))
    if x[1] > 0:
        found[:] = [x[1]]
    return len(found), found[-1]


@RIGHT
def an_array_that_is_written_through_the_list(x):
    y, found = np.zeros(3), [None]
    if x[0] > 0:
        found[:] = [1.0, y]
    y[1] = x[1]
    if len(found) == 2:
        found[1][0] = x[2]
    return y, found[-1] is None


@RIGHT
def in_a_loop(x):
    found, total = [None], 0.0
    for k in range(5):
        if found[0] is not None:
            a, b = found
            total = total + a * b
        if x[0] * k > 2:
            found[:] = [x[1], k * x[2]]
    return total, len(found)


@RIGHT
def turned_over_in_a_loop(x):
    found, k = [None], 0
    while k < x[0]:
        if len(found) == 1:
            found[:] = [x[1], "b", k]
        else:
            found[:] = [None]
        k += 1
    return len(found), found[0] is None


@RIGHT
def taken_from_until_short(x):
    found, k = [None, "a", 2.0, x], 0
    while len(found) > abs(x[0]) + 1.5:
        found.pop()
        k += 1
    return len(found), k, len(found[1:]), found[0] is None


@RIGHT
def at_a_traced_index(x):
    found, k = [None], 0
    if x[0] > 0:
        found[:] = [x[1], 4.0, x[2]]
    while k < x[1] and k < 2:
        k += 1
    if len(found) == 3:
        found[k] = 9.0
        return found[0] + 10 * found[k - 3] + 100 * found[2]
    return 3.0


@RIGHT
def written_in_a_try(x):
    found = [None]

    def fill():
        found.append("a")
        if x[1] > 0:
            raise ValueError
        found.append(x[0])

    if x[2] > 0:
        found[:] = [1.0, "b", x[1]]
    try:
        fill()
    except ValueError:
        found.append(2.0)
    return len(found), found[-1] is None


@RIGHT
def a_list_of_numbers_written_in_a_try(x):
    found = []
    if x[0] > 0:
        found.append(x[0])

    def fill():
        found.append(1.0)
        if x[2] > 0:
            raise ValueError
        found.append(2.0)

    try:
        fill()
    except ValueError:
        found.append(10.0)
    return len(found), sum(found)


@RIGHT
def tuples_of_several_lengths(x):
    found = (None,)
    if x[0] > 0:
        found = (x[1], 2.0)
    if x[1] > 0:
        found = (x[2], "a", 3.0)
    return len(found), found[0] is None, found[-1] is None


@RIGHT
def numbers_beside_none(x):
    best = x[1] if x[0] > 0 else None
    other = x[1]
    return other == best, other != best, best == other


@RIGHT
def deleted_from(x):
    found = [1.0, 2.0, 3.0]
    if x[0] > 0:
        found.append(x[1])
    del found[0]
    count = len(found)
    if x[1] > 0:
        del found[1:]
    for position, one in enumerate(found):
        count = count + position * one
    return count, len(found), found[-1]


@RIGHT
def given_itself(x):
    found, other = [None], (x, 2 * x)
    if x[0] > 0:
        found[:] = [x[1], x, 3.0]
        other = (x + 1,)
    return {"found": found, "all": (found, x[2])}, other


@RIGHT
def all_elements_replaced(x):
    found = [None]
    if x[0] > 0:
        found[:] = [x[1], x[2], x[0]]
    else:
        found[:] = [x[1], x[2]]
    total = sum(v * 2 for v in found) + sum([v * k for k, v in enumerate(found)])
    for v, w in zip(found[1:], x[1:], strict=False):
        total = total + v * w
    for v in reversed(found):
        total = total * 2 + v
        if total > 20:
            break
    return total, len(found)


@RIGHT
def a_number_that_a_loop_makes_a_selection(x):
    found = x[1]
    for _ in range(2):
        found = x[x > 0] * np.sum(found)
    return np.sum(found)


@RIGHT
def comprehensions_of_elements_that_differ(x):
    found = [None]
    if x[0] > 0:
        found[:] = [x[1], x, x[2] + 1]
    else:
        found[:] = [x[1], x]
    return sum(np.sum(v) for v in found), sum([np.sum(v) * k for k, v in enumerate(found)])


@pytest.mark.parametrize("name", RIGHT)
def test_it_is_as_in_python(name: str, x64: None):
    check_compiled(RIGHT[name], VECTORS)


REFUSED = Programs()


@REFUSED
def held_by_another_name(x):
    found = [None]
    other = found
    if x[0] > 0:
        found[:] = [x[1], "a"]
    return len(other)


@REFUSED
def it_may_be_another_one(x):
    found = [None]
    if x[0] > 0:
        found[:] = [x[1], "a"]
    other = found
    if x[1] > 0:
        other = found[:]
    other.append(x[2])
    return len(found), len(other)


@REFUSED
def compared(x):
    found = ["z"]
    if x[0] > 0:
        found[:] = ["a", None]
    return found == ["z"]


@REFUSED
def shown(x):
    found = ["z"]
    if x[0] > 0:
        found[:] = ["a", None]
    return len(f"{found}")


@REFUSED
def an_element_more_in_each_turn(x):
    found, k = [None], 0
    while k < x[0]:
        found.append("a" if k > 1 else x)
        k += 1
    return len(found)


@REFUSED
def changed_while_a_loop_goes_through_it(x):
    found, total = [1.0, 2.0], 0.0
    if x[0] > 0:
        found.append(3.0)
    for one in found:
        total = total + one
        if 1 < one < 4:
            found.append(one + 2)
    return total


@REFUSED
def changed_before_a_loop_goes_through_it(x):
    found, total = [1.0, 2.0], 0.0
    if x[0] > 0:
        found.append(3.0)
    pairs = zip(found, found, strict=False)
    found[0] = 9.0
    for one, other in pairs:
        total = total + one * other
    return total


@REFUSED
def a_number_or_an_array(x):
    found = x[1] if x[0] > 0 else x
    return np.sum(found)


@REFUSED
def a_number_or_a_selection(x):
    found = x[1:][x[1:] > 1] if x[0] > 0 else x[1]
    return np.sum(found)


@REFUSED
def a_number_or_an_array_at_a_place(x):
    return np.sum([x[1], x][np.int64(x[0])])


@REFUSED
def a_loop_over_elements_that_differ(x):
    found, total = [None], 0.0
    if x[0] > 0:
        found[:] = [x[1], x, x[2] + 1]
    else:
        found[:] = [x[1], x]
    for v in found:
        total = total + np.sum(v)
    return total


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str, x64: None):
    with pytest.raises((ag.StructureError, ag.StagingError, ag.AliasError, ag.ShapeError)):
        jax.jit(ag.port(REFUSED[name]))(jnp.array([1.0, 2.0, 3.0]))
