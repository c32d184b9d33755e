"""Lists of ported code that have one of a few lengths, as traced data decides: `cached[:] = step(x)` on one path only."""

import numpy as np
import pytest

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
        found[:] = [x[0], "a", x]
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


@pytest.mark.parametrize("name", RIGHT)
def test_it_is_as_in_python(name: str, x64: None):
    check_compiled(RIGHT[name], VECTORS)
