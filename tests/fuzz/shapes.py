"""Programs whose variables are numbers on some paths and arrays on others: Python's result, or one of our errors.

    python -m tests.fuzz.shapes --seed 1 --count 1000

No number in them is 0, which takes an array's shape and is told from it by `jnp.sum(jnp.cos(p))` alone.
"""

from __future__ import annotations

import random
from typing import Any

import jax.numpy as jnp
import numpy as np

from tests.fuzz import small

VARIABLES = ("p", "q", "s")
NUMBERS = ("1.0", "0.5", "2.0", "3", "True")
TESTS = ("t > 0", "t > 1", "c", "jnp.sum({v}) > 1")
EXPRESSIONS = {  # of what parts, and how often they are drawn
    "jnp.cos({e})": 3,
    "({e} + {e})": 3,
    "({e} * {e})": 3,
    "x * jnp.sum({e})": 3,
    "jnp.sum({e})": 1,
    "({e} if {c} else {e})": 2,
    "jnp.where({c}, {e}, {e})": 2,
}


def program(draw: random.Random) -> str:
    """The text of a function f(x, m, t, c, n, k): a vector, a matrix of such rows, a number, a bool, a count and an index."""
    begins = [f"{v} = {draw.choice(('x', 'm[0]', 'x + 1', 'm[1]', draw.choice(NUMBERS)))}" for v in VARIABLES]
    last = " + ".join(f"jnp.sum({draw.choice(('jnp.cos({0})', 'jnp.sin({0})', '{0}')).format(v)})" for v in VARIABLES)
    body = "\n".join([*begins, *_block(draw, 2 + draw.randrange(3)), f"return {last}"])
    return f"def f(x, m, t, c, n, k):\n{small.indented(body)}"


def _block(draw: random.Random, count: int, depth: int = 0) -> list[str]:
    return [line for _ in range(count) for line in _statement(draw, depth)]


def _statement(draw: random.Random, depth: int) -> list[str]:
    v = draw.choice(VARIABLES)
    kinds = ("assign", "assign", "pick", "rows") + ("if", "if", "for", "while") * (depth < 3)
    match draw.choice(kinds):
        case "assign":
            return [f"{v} = {_expression(draw)}"]
        case "pick":
            return [f"{v} = [{_expression(draw, 1)}, {_expression(draw, 1)}][k]"]
        case "rows":
            return ["for row in m:", f"    {v} = {draw.choice(VARIABLES)} {draw.choice('+*')} row"]
        case "if":
            otherwise = ["else:", *_inside(draw, depth)] if draw.random() < 0.5 else []
            return [f"if {_test(draw)}:", *_inside(draw, depth), *otherwise]
        case "for":
            leaves = [f"    if {_test(draw)}:", "        break"] if draw.random() < 0.3 else []
            return [f"for _ in range({draw.choice(('n', '2', '3'))}):", *_inside(draw, depth), *leaves]
    counter = f"i{depth}"
    more = f" and {_test(draw)}" if draw.random() < 0.3 else ""
    return [f"{counter} = 0", f"while {counter} < n{more}:", *_inside(draw, depth), f"    {counter} = {counter} + 1"]


def _inside(draw: random.Random, depth: int) -> list[str]:
    return ["    " + line for line in _block(draw, 1 + draw.randrange(2), depth + 1)]


def _test(draw: random.Random) -> str:
    return draw.choice(TESTS).format(v=draw.choice(VARIABLES))


def _expression(draw: random.Random, depth: int = 2) -> str:
    if depth == 0 or draw.random() < 0.3:
        return draw.choice((*VARIABLES, "x", "x", draw.choice(("t", *NUMBERS))))
    (text,) = draw.choices(list(EXPRESSIONS), list(EXPRESSIONS.values()))
    while "{e}" in text:
        text = text.replace("{e}", _expression(draw, depth - 1), 1)
    return text.replace("{c}", _test(draw))


X, M = np.array([1.0, 2.0, 3.0], np.float32), np.array([[1.0, 0.5, 2.0], [0.25, 1.0, 1.0]], np.float32)
CALLS = ((X, M, 2.0, True, 2, 0), (X, M, -1.0, False, 0, 1), (X, M, 1.5, True, 0, 1))


def outcome(text: str, number: Any) -> str:
    return small.outcome(text, number, {"jnp": jnp}, CALLS)


if __name__ == "__main__":
    small.main(__doc__, program, outcome)
