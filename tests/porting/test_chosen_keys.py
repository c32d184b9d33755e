"""`x[s]` and `x[s] = 0` where traced data has chosen the slice: as NumPy has it, whichever it is."""

import jax
import numpy as np
import pytest

import autograph_jax as ag
from tests.porting.programs import Programs, check_compiled

VALUES = [[3.0, -1.0, 2.0, 0.5], [-3.0, -1.0, 2.0, 0.5]]
PROGRAMS = program = Programs()


def half(x):
    return slice(0, 2) if x[0] > 1 else slice(2, 4)


def part(x):
    return slice(0, 1) if x[0] > 1 else slice(1, None)


@program
def read(x):
    return x[half(x)], x[part(x)].sum(), np.arange(4.0)[half(x)], np.arange(4.0)[part(x)].sum(), sum([1, 2, 3, 4][half(x)])


@program
def written(x):
    y, z = x.copy(), np.arange(4.0)
    y[half(x)] = 0
    y[part(x)] += 1
    z[half(x)] = x[:2]
    return y, z


@program
def a_view(x):
    y = x.copy()
    one, other = y[half(x)], y[part(x)]
    one += 1
    other *= 2
    y[0] -= 3
    return y, one, other.sum()


@program
def beside_other_indices(x):
    a = np.outer(x, x)
    b = a.copy()
    b[half(x), 1] = 5
    b[1:, part(x)] *= 2
    b[part(x), [0, 2]] = 7
    b[half(x), [0, 1]] -= 1
    return a[half(x), 1], a[1:, half(x)], a[half(x), half(x)], a[part(x), 1:].sum(0), b


@program
def of_a_part_that_traced_data_ends(x):
    return x[x > 0][part(x)].sum()


@program
def other_slices(x):
    from_behind = slice(-2, None) if x[0] > 1 else slice(None, -1)
    return x[from_behind].sum(), x[... if x[0] > 1 else slice(None)]


@program
def in_a_loop(x):
    y = x.copy()
    for i in range(3):
        y[half(y)] += i
        y[0] -= 1
    return y


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_numpy(name, x64):
    check_compiled(PROGRAMS[name], VALUES)


@pytest.mark.parametrize("other", [slice(None, None, -1), slice(None, None, 2), None, [0, 1]])
def test_what_has_not_one_shape_is_refused(other, x64):
    with pytest.raises(ag.PortingError, match="one of several"):
        jax.jit(ag.port(lambda x: x[other if x[0] > 1 else slice(0, 3)]))(np.array(VALUES[0]))
