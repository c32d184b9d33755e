"""Expressions of the programs that are differentiated: floats that change smoothly."""

from __future__ import annotations

from tests.fuzz.expressions import index
from tests.fuzz.grammar import Generator, rule


@rule("simple real", "literal")
def real_literal(g: Generator) -> str:
    return str((1 + g.below(15)) / 8)


rule("simple real", "variable", 9)(lambda g: g.variable("real"))
rule("real", "variable", 2)(lambda g, _: g.variable("real"))


@rule("real", "arithmetic", 8)
def real_arithmetic(g: Generator, depth: int) -> str:
    left, right = g.expression("real", depth - 1), g.expression("real", depth - 1)
    return g.pick((f"({left} + {right})", f"({left} - {right})", f"({left} * {right})", f"(0.5 * {left})", f"(-{left})"))


@rule("real", "numpy", 5)
def real_function(g: Generator, depth: int) -> str:
    value = g.expression("real", depth - 1)
    return g.pick(("jnp.sin({})", "jnp.tanh({})", "math.cos({})", "smooth_step({})", "(1 / (2 + {}**2))")).format(value)


@rule("real", "index", 2)
def real_element(g: Generator, depth: int) -> str | None:
    r = g.variable("reals")
    return r and f"{r}[{index(g, depth) if depth else 0}]"


@rule("simple reals", "variable", 5)
def reals_variable(g: Generator) -> str | None:
    return g.variable("reals")


@rule("simple reals", "literal", 2)
def reals_literal(g: Generator) -> str:
    return g.pick(("jnp.zeros(3)", f"jnp.array([{', '.join(g.expression('real', 0) for _ in range(3))}])"))


@rule("reals", "arithmetic", 4)
def reals_arithmetic(g: Generator, depth: int) -> str:
    first, second = g.expression("reals", depth - 1), g.expression(g.pick(("real", "reals")), depth - 1)
    return g.pick((f"({first} + {second})", f"({first} * {second})", f"jnp.sin({first})", f"({first} - 0.5)"))
