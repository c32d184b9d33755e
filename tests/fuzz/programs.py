"""A whole random program: helpers, the function under test, and `run`, which calls it on plain values and shows all it did."""

from __future__ import annotations

import dataclasses

from tests.fuzz import compound, containers, exits, reals, statements, tables  # noqa: F401 - they register the rules
from tests.fuzz.grammar import CONSTRUCTS as CONSTRUCTS
from tests.fuzz.grammar import POOLS, Choices, Generator, Seeded

HEAD = """\
import math

import jax.numpy as jnp
import numpy as np

from tests.fuzz.prelude import LOG, Box, Scope, Stop, mixed, note, put, row, shift, smooth_step, spread
"""
PARAMETERS = (("i", "int"), ("j", "int"), ("x", "float"), ("y", "float"), ("b", "bool"), ("a", "ints"), ("r", "floats"))
PARTS = (("on", "int"), ("ov", "float"), ("oc", "ints"))  # of the object `o`
SMOOTH_PARAMETERS = (("x", "real"), ("y", "real"), ("r", "reals"), ("i", "int"), ("b", "bool"))
RESULTS = (("int",), ("int", "float"), ("int", "ints"), ("float", "ints", "bool"), ("maybe", "int"), ("floats", "int"))


@dataclasses.dataclass(frozen=True)
class Program:
    """The text of a program, and whether it is one to differentiate."""

    seed: int
    text: str
    smooth: bool = False


def program(seed: int, without: frozenset[str] = frozenset(), *, smooth: bool = False) -> Program:
    """The program of a seed."""
    return Program(seed, text_of(Seeded(seed), without, smooth=smooth), smooth)


def text_of(choices: Choices, without: frozenset[str] = frozenset(), *, smooth: bool = False) -> str:
    g = Generator(choices, without=without, smooth=smooth)
    parts = [HEAD]
    if g.has("call"):
        parts += [helper(g) for _ in range(g.below(2 if g.smooth else 3))]
    parts.append(main(g))
    parts.append(run(g))
    return "\n\n".join(parts)


def helper(g: Generator) -> str:
    """A function of the module: parameters of numbers, and a number or a pair as its result."""
    number = "real" if g.smooth else "float"
    kinds = tuple(g.pick(("int", number)) for _ in range(1 + g.below(3)))
    result = g.pick(((number,), (number,)) if g.smooth else (("int",), ("float",), ("int", "float"), ("int",)))
    name = g.fresh("h")
    parameters = [f"p{n}" for n in range(len(kinds))]
    names = [g.pick(POOLS[kind]) for kind in kinds]
    lines = [f"{variable} = {parameter}" for variable, parameter in zip(names, parameters, strict=True)]
    with g.function():
        body = function_body(g, set(names), result, size=3)
    g.helpers[name] = (kinds, result)
    return function(name, parameters, lines + body)


def main(g: Generator) -> str:
    parameters = SMOOTH_PARAMETERS if g.smooth else PARAMETERS
    names = [name for name, _ in parameters] + ([] if g.smooth else ["o"])
    returns = ("real",) if g.smooth else g.pick(RESULTS)
    size = 2 + g.below(3) if g.smooth else 3 + g.below(4)  # derivatives take long to compile
    return function("program", names, function_body(g, set(names), returns, size=size, whole=True))


def function_body(g: Generator, bound: set[str], returns: tuple[str, ...], *, size: int, whole: bool = False) -> list[str]:
    g.bound, g.returns, g.budget = bound, returns, 3 * size
    lines, leaves = g.statements(size)
    if leaves:
        return lines
    return [*lines, f"return {', '.join(end(g, kind) if whole else g.expression(kind) for kind in returns)}"]


def end(g: Generator, kind: str) -> str:
    """An expression in which many variables show."""
    if kind == "int":
        more = [f"{name}.n" for name in g.variables("box")] + [f"sum({name})" for name in g.variables("list")]
        more += [f"spread({name}[0] + 3 * {name}[1])" for name in g.variables("table")]
        more += [f"spread({name})" for name in g.variables("ints")] + [f"int({name})" for name in g.variables("bool")]
        return f"mixed({', '.join(g.variables('int') + more)})"
    if kind in ("float", "real"):
        more = [f"sum({name})" for name in g.variables("real list")]
        more += ["u['u'] * u['v']"] if g.variables("real dict") else []
        return " + ".join([*g.variables(kind), *(f"spread({name})" for name in g.variables(kind + "s")), *more]) or "0.0"
    if kind in ("ints", "floats"):
        return " + ".join(f"{n} * {name}" for n, name in enumerate(g.variables(kind), 1)) or g.expression(kind, 0)
    if kind == "maybe" and g.variable("maybe"):
        return "t"
    return g.expression("int" if kind == "maybe" else kind)


def function(name: str, parameters: list[str], body: list[str]) -> str:
    return "\n".join([f"def {name}({', '.join(parameters)}):", *("    " + line for line in body)]) + "\n"


def run(g: Generator) -> str:
    """Calls the program; some arguments are literals, so that plain and traced values meet."""
    parameters = SMOOTH_PARAMETERS if g.smooth else PARAMETERS
    passed = [name for name, _ in parameters]
    for position, (_, kind) in enumerate(parameters):
        if kind in ("int", "float", "bool") and g.chance(15):
            passed[position] = LITERALS[kind](g)
    if g.smooth:
        return function("run", [n for n, _ in parameters], [f"return program({', '.join(passed)})"])
    names = [name for name, _ in PARAMETERS + PARTS]
    lines = ["LOG.h = 0", "o = Box(on, ov, oc)", f"value = program({', '.join([*passed, 'o'])})"]
    return function("run", names, [*lines, "return value, o.n, o.v, o.c, LOG.h"])


LITERALS = {
    "int": lambda g: str(g.below(7)),
    "float": lambda g: str(g.below(16) / 4),
    "bool": lambda g: str(bool(g.below(2))),
}
