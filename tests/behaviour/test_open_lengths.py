"""Lists of open length, put together at random: comprehensions, map, filter, sorted, slices and sums of such, as in Python."""

import linecache
import random

import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

LISTS = [
    "[2 * v for v in {0}]", "[v for v in {0} if v > 0]", "sorted({0})", "sorted({0}, key=lambda v: (v - 1) ** 2)", "({0})[1:]",
    "({0})[::-1]", "({0})[-2:]", "list(reversed({0}))", "list(filter(lambda v: v < 1, {0}))", "list(map(lambda v: v + 1, {0}))",
    "({0} + {1})", "[i * v for i, v in enumerate({0})]", "[u + w for u, w in zip({0}, {1})]",
]  # fmt: skip
SIMPLE = ["a", "b", "[v for v in x if v > 0]", "ag.max_len([1.0, 2.0], 6)"]
VALUES = [
    "sum({0})", "len({0})", "max({0}, default=-9.0)", "any(v > 1 for v in {0})",
    "all(v > 0 for v in {0})", "sum(1 for v in {0})",
    "max({0}, key=lambda v: -v * v, default=-7.0)", "sum(v * v for v in {0} if v > 0)",
    "next((v for v in {0} if v > 0.5), -3.0)",
    "min((v for v in {0} if v > 0), key=lambda v: (v - 1) ** 2, default=5.0)",
]  # fmt: skip


def some_list(choose, depth):
    if depth == 0:
        return choose(SIMPLE)
    return choose(LISTS).format(some_list(choose, depth - 1), choose(SIMPLE))


def program(seed):
    choose = random.Random(seed).choice
    values = ", ".join(choose(VALUES).format(some_list(choose, choose([1, 2, 2, 3]))) for _ in range(3))
    lines = ["def f(x):", "    a = [v for v in x if v > 0]", "    b = [v * v for v in x if v < 1]", f"    return {values}"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(24))
def test_as_in_python(seed, x64):
    name, text, scope = f"<lists {seed}>", program(seed), {"ag": ag}
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), scope)
    function = scope["f"]
    compiled = ag.jit(function)
    for x in np.random.default_rng(seed).normal(size=(3, 4)).round(2) * 1.5:
        np.testing.assert_allclose(
            np.array(compiled(jnp.asarray(x)), float), np.array(function(x), float), rtol=1e-12, err_msg=text
        )
