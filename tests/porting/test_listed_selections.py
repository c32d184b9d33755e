"""`list(x[x > 1])`, `x[x > 1].tolist()`, `sorted(x[x > 1])`: lists of as many elements as traced data says."""

import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .programs import VECTORS, Programs, check_compiled

pytestmark = pytest.mark.usefixtures("x64")
program = Programs()


@program
def read_and_reduced(x):
    found = list(x[x > 0])
    return len(found), sum(found), max(found, default=-1.0), [2 * v for v in found][:0] == []


@program
def looped_over(x):
    total = 0.0
    for k in list(np.nonzero(x > 0)[0]):
        total += x[k] * (k + 1)
    return total


@program
def a_stack(x):
    todo, total = list(np.flatnonzero(x > 0)), 0.0
    while todo:
        k = todo.pop()
        total += x[k] * (len(todo) + 1)
    return total


@program
def a_queue_that_is_filled_again(x):
    todo, total, n = list(np.flatnonzero(x > 0)), 0.0, 0
    while todo and n < 6:
        k = todo.pop(0)
        total = 0.5 * total + x[k]
        n += 1
        if n < 4:
            todo.append(k)
    return total, n, len(todo)


@program
def in_order(x):
    up, down = sorted(x[x > -3]), sorted(x[x > -3], reverse=True)
    return up[0], up[-1], down[0], len(up)


@program
def sorted_in_place(x):
    found = x[x > -3].tolist()
    found.sort()
    return found[0], found[1], len(found)


@program
def written_apart(x):
    y = x[x > -3]
    found = list(y)
    found[0] = 9.0
    return found[0], y[0], len(found)


@pytest.mark.parametrize("name", program)
def test_it_is_as_in_python(name):
    check_compiled(program[name], VECTORS)


def test_rows_are_no_numbers():
    with pytest.raises(ag.PortingError, match="its rows become lists"):
        ag.jit(ag.port(lambda x: x[x[:, 0] > 1].tolist()))(jnp.ones((3, 2)))


def test_the_result_is_a_list():
    found = ag.jit(ag.port(lambda x: list(x[x > 1])))(jnp.array([3.0, 0.0, 2.0]))
    assert list(map(float, found)) == [3.0, 2.0]
