"""What Python's and NumPy's functions say of a plain value that they are not for, in a branch: an error where that is taken."""

import math
import types

import jax
import numpy as np
import pytest

import autograph_jax as ag

CALLS = {
    "log": (lambda n: math.log(n), ValueError),
    "root": (lambda n: math.sqrt(n - 1), ValueError),
    "factorial": (lambda n: math.factorial(n - 1), ValueError),
    "power": (lambda n: math.exp(1e4 + n), OverflowError),
    "division": (lambda n: 1 / n, ZeroDivisionError),
    "text of no number": (lambda n: float("a" * (1 - n)), ValueError),
    "place in a list": (lambda n: [1, 2].index(n), ValueError),
    "place in a tuple": (lambda n: (1, 2).index(n), ValueError),
    "place in a text": (lambda n: "abc".index("z" * (n + 1)), ValueError),
    "largest of none": (lambda n: max([k for k in range(n)]), ValueError),
    "pop of none": (lambda n: [*range(n)].pop(), IndexError),
    "place to pop": (lambda n: [1].pop(n + 1), IndexError),
    "step of a range": (lambda n: len(range(0, 10, n)), ValueError),
    "step of a slice": (lambda n: [1, 2][::n][0], ValueError),
    "integer of no number": (lambda n: int(math.nan * (1 - n)), ValueError),
    "shift": (lambda n: 1 << (n - 1), ValueError),
    "largest of an empty array": (lambda n: np.max(np.zeros(n)), ValueError),
    "place in an empty array": (lambda n: np.argmax(np.zeros(n)), ValueError),
    "inverse": (lambda n: np.linalg.inv(np.zeros((2, 2)) + n)[0, 0], np.linalg.LinAlgError),
}


@pytest.mark.parametrize("name", CALLS)
def test_it_is_raised_where_python_raises_it(name):
    call, error = CALLS[name]

    def in_a_branch(x, n=0):
        if x > 0:
            y = call(n) + x
        else:
            y = 2 * x
        return y

    def in_a_loop(x, n=0):
        while x < 9.0:
            if x > 3.0:
                x = x - call(n)
            x = 2 * x + 10.0
        return x

    for function, without, with_it in ((in_a_branch, -1.0, 1.0), (in_a_loop, 2.0, 5.0)):
        staged = ag.jit(function)
        assert staged(without) == function(without)
        with pytest.raises(error) as raised:
            staged(with_it)
        with pytest.raises(error) as expected:
            function(with_it)
        assert str(raised.value).splitlines()[0] == str(expected.value)
    assert jax.grad(ag.autograph(in_a_branch))(-1.0) == 2.0


def test_what_a_library_raises_is_raised_when_it_is_traced():
    library = types.ModuleType("library")
    exec("def check(kind):\n    raise ValueError(f'{kind!r} is not in list')", vars(library))  # no source: it is not converted

    def checked(x, kind="sum"):
        if x > 0:
            y = library.check(kind)
        else:
            y = 2 * x
        return y

    with pytest.raises(ValueError, match="'sum' is not in list"):
        ag.jit(checked)(-1.0)


def test_it_is_handled_where_python_handles_it():
    @ag.jit
    def handled(x, n=0):
        y = 0.0
        if x > 0:
            try:
                y = math.log(n)
            except ValueError:
                y = -x
        return y

    assert handled(2.0) == -2.0 and handled(-2.0) == 0.0


def bandit(counts, sums, t):
    best, where = -np.inf, 0
    for arm in range(3):
        if counts[arm] == 0:
            where = arm
            break
        score = sums[arm] / counts[arm] + math.sqrt(2 * math.log(t) / counts[arm])
        if score > best:
            best, where = score, arm
    return where


def test_a_bandit_that_has_not_tried_all_arms():
    for counts, t in (([1, 0, 1], 2), ([1, 2, 3], 6), ([0, 0, 0], 0)):
        arguments = np.array(counts), np.ones(3, np.float32), t
        assert ag.jit(bandit, static_argnums=2)(*arguments) == bandit(*arguments)
