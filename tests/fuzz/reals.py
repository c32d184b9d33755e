"""Parts of the programs that are differentiated: floats that change smoothly, and arrays, lists and dicts of them."""

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


@rule("real", "real list", 2)
def real_of_list(g: Generator, depth: int) -> str | None:
    us = g.variable("real list")
    return us and g.pick((f"{us}[0]", f"{us}[-1]", f"sum({us})", f"{us}[{g.expression('int', depth - 1)} % 3]"))


@rule("real", "real dict", 1)
def real_of_dict(g: Generator, depth: int) -> str | None:
    return g.variable("real dict") and g.pick(("u['u']", "u['v']", "sum(u.values())"))


@rule("real", "comprehension", 1)
def real_of_comprehension(g: Generator, depth: int) -> str | None:
    over = g.variable("reals") or g.variable("real list")
    each = g.pick((f"v * {g.expression('real', 0)}", f"(v if {g.expression('bool', 0)} else {g.expression('real', 0)})"))
    kept = g.pick(("", f" if v < {g.expression('real', 0)}"))
    filtered = f"({each} for v in {over}{kept}), 0.0" if kept else f"{each} for v in {over}"  # the sum of nothing is a float
    return over and f"sum({g.pick((f'[{each} for v in {over}]', filtered))})"


@rule("statement", "recurrence", 6)
def recurrence(g: Generator) -> list[str] | None:
    """A value that each turn of a loop makes from that of the turn before."""
    x = g.variable("real")
    if not g.smooth or not g.loops or x is None or x in g.frozen:
        return None
    forms = "jnp.sin({} + {})", "0.5 * {} + {}", "jnp.tanh({} * {})", "{} / (1 + {} ** 2)"
    return [f"{x} = {g.pick(forms).format(x, g.expression('real', 1))}"]


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
