"""Programs in which two places may hold one object: Python's result, or one of our errors.

    python -m tests.fuzz.sharing --seed 1 --count 5000

Each is put together of five parts: what is held (`THINGS`), where it is from the start (`HOMES`), where else it may come to be
(`PLACES`), what decides about that (`PATHS`), and what is written afterwards by which of the two names.
"""

from __future__ import annotations

import functools
import random
import types
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from tests.fuzz import small


class Thing(NamedTuple):
    """Something that is held. In texts {c} is the name that has it, x the function's argument."""

    old: str
    new: str  # another one of its kind
    read: str  # a number
    writes: tuple[str, ...]


class Point:
    def __init__(self, v: Any) -> None:
        self.v = v


class Box:
    """An object whose attribute is a place."""


THINGS = {
    "list": Thing("[1., 2.]", "[3., x]", "{c}[0]", (
        "{c}[0] = 7.", "{c}[1] = x", "{c}[0] += x", "{c}[:] = [5., 6.]", "{c}.reverse()", "{c}.append({c}.pop(0))",
    )),
    "dict": Thing("{'a': 1., 'b': 2.}", "{'a': 3., 'b': x}", "{c}['a']", (
        "{c}['a'] = 7.", "{c}['b'] = x", "{c}['a'] *= 3", "{c}.update(a=4.)", "{c}['a'], {c}['b'] = {c}['b'], {c}['a']",
    )),
    "object": Thing("Point(1.)", "Point(x)", "{c}.v", ("{c}.v = 7.", "{c}.v = x", "{c}.v += 2.", "setattr({c}, 'v', 3.)")),
    "nested": Thing("[[1., 2.], 3.]", "[[x, 2.], 3.]", "{c}[0][0]", (
        "{c}[0][0] = 7.", "{c}[0] = [x, x]", "{c}[0].append({c}[0].pop(0))", "{c}[0][1], {c}[0][0] = {c}[0][0], 4.",
    )),
    "array": Thing("np.arange(2.)", "np.ones(2)", "{c}[0]", (
        "{c}[0] = 7.", "{c}[1] = x", "{c}[0] += x", "w = {c}; w += 1.", "{c}[:1], {c}[1:] = {c}[1:], {c}[:1] + 1",
    )),
    "row": Thing("np.arange(4.).reshape(2, 2)[1]", "np.ones(2)", "{c}[0]", ("{c}[0] = 7.", "{c}[1] = x", "w = {c}; w += 1.")),
    "table": Thing("np.arange(4.).reshape(2, 2)", "np.ones((2, 2))", "{c}[0].sum()", (
        "{c}[0] = 7.", "{c}[1, 0] = x", "{c}[0] += x", "w = {c}.T; w += 1.", "{c}.T[0] = x",
    )),
}  # fmt: skip

# What is outside of the function, what it begins with, and the name that has the thing {t}.
HOMES = {
    "variable": ("", "m = {t}", "m"),
    "attribute": ("", "o = Box(); o.m = {t}", "o.m"),
    "in a list": ("", "many = [{t}, 1]", "many[0]"),
    "in a tuple": ("", "many = ({t}, 1)", "many[0]"),
    "in a dict": ("", "many = dict(m={t})", "many['m']"),
    "of a class": ("class K:\n    m = {t}", "", "K.m"),
    "of an object's class": ("class K:\n    m = {t}", "k = K()", "k.m"),
    "of a base": ("class B:\n    m = {t}\nclass K(B):\n    pass", "k = K()", "k.m"),
    "by a class method": ("class K:\n    m = {t}\n    @classmethod\n    def get(cls): return cls.m", "", "K.get()"),
    "by a method": ("class K:\n    def __init__(s): s.m = {t}\n    def get(s): return s.m\nk = K()", "", "k.get()"),
    "by a property": ("class K:\n    kept = {t}\n    @property\n    def m(s): return s.kept", "k = K()", "k.m"),
    "around": ("m = {t}", "", "m"),
    "in an object around": ("o = Box(); o.m = {t}", "", "o.m"),
    "by a function": ("m = {t}\ndef get(): return m", "", "get()"),
    "of a function": ("def get(): return get.m\nget.m = {t}", "", "get.m"),
    "by a cache": ("@functools.cache\ndef get(): return {t}", "", "get()"),
    "by a partial": ("m = {t}\nget = functools.partial(lambda a: a, m)", "", "get()"),
    "global": ("global G\nG = {t}", "", "G"),
    "in a global": ("global G\nG = dict(a=[{t}])\ndef get(i): return G['a'][i]", "", "get(0)"),
    "in a namespace": ("o = types.SimpleNamespace(a=types.SimpleNamespace(m={t}))", "", "o.a.m"),
}

PLACES = {
    "variable": ("", "g"),
    "attribute": ("p = Box(); p.m = None", "p.m"),
    "of a class": ("p = Own()", "p.m"),
    "in a list": ("q = [0, 0]", "q[1]"),
    "in a dict": ("e = {}", "e['g']"),
}

# How {g} may come to be the old thing {m} or a new one {n}; {s} is one of STARTS.
STARTS = ("{m}", "{n}", "{m} if x > 0 else {n}", "[{m}, {n}][jnp.int32(x > 0)]")
PATHS = (
    "{g} = {s}",
    "if x > 0:\n    {g} = {s}",
    "if x > 0:\n    {g} = {s}\nelse:\n    {g} = {n}",
    "for i in range(3):\n    if x > i:\n        {g} = {s}",
    "for i in range(3):\n    {g} = {s}\n    t = x * i",
    "i = 0\nwhile i < x:\n    {g} = {s}\n    i = i + 1",
    "if x > 0:\n    {g} = {s}\nfor i in range(3):\n    if x > i:\n        {g} = {n}",
    "for i in range(3):\n    if x > i:\n        {g} = {s}\nif x > 0:\n    {g} = {n}",
    "for i in range(3):\n    if x < i:\n        break\n    {g} = {s}",
    "if x > -3:\n    if x > 0:\n        {g} = {s}",
    "def pick(a):\n    if x > 0:\n        return {s}\n    return a\n{g} = pick({g})",
    "def pick(a, b):\n    return a if x > 0 else b\n{g} = pick({g}, {m})",
    "try:\n    if x > 0:\n        raise ValueError\nexcept ValueError:\n    {g} = {s}",
    "h = {n}\nif x > 0:\n    {g}, h = h, {g}",
    "h = {n}\nfor i in range(3):\n    if x > i:\n        {g}, h = h, {g}",
    "if x > 0:\n    h = {g}\nelse:\n    h = {n}\n{g} = h",
)

WRITTEN = (
    "{w}",
    "if x > 1:\n    {w}",
    "for i in range(2):\n    {w}",
    "for i in range(3):\n    if x > i:\n        {w}",
    "def work(c):\n    {of_argument}\nwork({c})",
)


def program(draw: random.Random) -> str:
    """The text of a function f(x), with what is outside of it."""
    thing = THINGS[draw.choice(list(THINGS))]
    outside, begin, m = HOMES[draw.choice(list(HOMES))]
    made, g = PLACES[draw.choice(list(PLACES))]
    parts = {"m": m, "n": thing.new, "g": g}
    first, then = (draw.choice(STARTS).format(**parts) for _ in range(2))
    written = draw.choice((m, g))
    how = draw.choice(thing.writes)
    last = draw.choice(WRITTEN).format(w=how.format(c=written), of_argument=how.format(c="c"), c=written)
    result = f"return x + {thing.read.format(c=m)} + 10 * {thing.read.format(c=g)}"
    steps = [begin.replace("{t}", thing.old), made, f"{g} = {first}", draw.choice(PATHS).format(s=then, **parts), last, result]
    body = "\n".join(step for step in steps if step)
    kept = f"class Own:\n    m = {thing.old}"
    return "\n".join([kept, outside.replace("{t}", thing.old), "def f(x):", small.indented(body)])


_NAMES = {"np": np, "jnp": jnp, "functools": functools, "types": types, "Box": Box, "Point": Point}


CALLS = ((1.5,), (-1.5,))


def outcome(text: str, number: Any) -> str:
    return small.outcome(text, number, _NAMES, CALLS)


if __name__ == "__main__":
    small.main(__doc__, program, outcome)
