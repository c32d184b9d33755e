"""Small programs of every kind, for JAX's flags: `JAX_ENABLE_X64=1 python -m tests.runtime.core` prints what differs.

Each is run as plain Python, and converted on arrays, under jit, vmap, grad and jacfwd. Derivatives are compared with
differences.
"""

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph_jax as ag


def branches(x):
    if x > 1:
        return x * x
    elif x > 0:
        y = 2 * x
    else:
        y = 0
    return y + 1


def newton(a):
    x = a
    while abs(x * x - a) > 1e-5 * a:
        x = (x + a / x) / 2
    return x


def leaves_early(x):
    s = 0
    for k in range(20):
        s = s + x * k
        if s > 10:
            break
        if k % 2 == 0:
            continue
        s += 1
    else:
        s = -1.0
    return s


def none_until_found(x):
    best = None
    for k in range(4):
        y = (k - x) ** 2
        if best is None or y < best:
            best = y
    return best


def collects(x):
    path = []
    for _ in range(4):
        x = x / 2 + 1
        path.append(x)
    return sum(path)


def writes_in_place(x):
    a = [0.0, 1.0, 2.0]
    a[1] = x
    for k in range(2):
        if a[k] < a[k + 1]:
            a[k], a[k + 1] = a[k + 1], a[k]
    return a[0] - 2 * a[1]


class Counter:
    def __init__(self, start):
        self.value, self.steps = start, 0

    def add(self, x):
        self.value = self.value + x
        self.steps += 1


def changes_an_object(x):
    counter = Counter(0.0)
    while counter.value < 3.1 and counter.steps < 50:
        counter.add(x)
    return counter.value * counter.steps


def one_of_two_words(x):
    word = "square" if x > 1 else "half"
    return x * x if word == "square" else x / 2


def checks(x):
    assert x > -100, f"{x} is low"
    return x * 2


@ag.custom_vjp
def cubed(x):
    if x > 0:
        return x * x * x
    return -(x * x * x)


def cubed_forward(x):
    return cubed(x), x


def cubed_backward(x, cotangent):
    return (3 * x * x * cotangent if x > 0 else -3 * x * x * cotangent,)


cubed.defvjp(cubed_forward, cubed_backward)


def has_a_rule(x):
    return cubed(x) + cubed(-x / 2)


@ag.custom_jvp
def softened(x):
    return x if x > 1 else x * x


softened.defjvp(lambda primals, tangents: (softened(*primals), (1.0 if primals[0] > 1 else 2 * primals[0]) * tangents[0]))


def has_a_forward_rule(x):
    s = 0.0
    for _ in range(3):
        s = s + softened(x)
    return s


@ag.checkpoint
def recomputed(x):
    while x < 10:
        x = x * x + 1
    return x


def is_recomputed(x):
    return recomputed(x) + 1


TABLE = np.linspace(0.0, 1.0, 9)


def reads_a_table(x):
    s = 0.0
    for value in TABLE:
        if value < x:
            s += value * x
    return s


PROGRAMS = [
    branches,
    newton,
    leaves_early,
    none_until_found,
    collects,
    writes_in_place,
    changes_an_object,
    one_of_two_words,
    checks,
    has_a_rule,
    has_a_forward_rule,
    is_recomputed,
    reads_a_table,
]
POINTS = [0.3, 1.4]
STEP = 1e-3  # a rule's function gives single precision, on plain numbers too
NO_FORWARD_MODE = {has_a_rule}  # as in JAX, where there is only a rule for reverse mode


def check(function: Any) -> None:
    wanted = [function(x) for x in POINTS]
    converted = ag.autograph(function)
    xs = jnp.asarray(POINTS)
    compare([converted(x) for x in xs], wanted)
    compare([jax.jit(converted)(x) for x in xs], wanted)
    compare(jax.jit(jax.vmap(converted))(xs), wanted)
    slopes = [(function(x + STEP) - function(x - STEP)) / (2 * STEP) for x in POINTS]
    compare([jax.jit(jax.grad(converted))(x) for x in xs], slopes, tolerance=2e-3)
    if function not in NO_FORWARD_MODE:
        compare(jax.jit(jax.vmap(jax.jacfwd(converted)))(xs), slopes, tolerance=2e-3)


def compare(found: Any, wanted: Any, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted, float), rtol=tolerance, atol=1e-5)


def main() -> int:
    failed = 0
    for function in PROGRAMS:
        try:
            check(function)
        except Exception as error:
            failed += 1
            print(f"{function.__name__}: {type(error).__name__}: {str(error)[:1500]}", flush=True)
    print(f"{len(PROGRAMS) - failed} of {len(PROGRAMS)} programs as expected")
    return failed


if __name__ == "__main__":
    sys.exit(main())
