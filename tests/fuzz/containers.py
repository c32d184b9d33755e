"""Expressions of random programs over arrays, lists, dicts, objects and functions."""

from __future__ import annotations

from tests.fuzz.expressions import of_kind
from tests.fuzz.grammar import Generator, rule


# ------------------------------------------------------------------ ints of containers and functions
@rule("int", "list", 2)
def int_of_list(g: Generator, depth: int) -> str | None:
    xs = g.variable("list")
    return xs and g.pick(("{}[0]", "{}[1]", "(sum({}) % 31)", "len({})", "{}[-1]", "sorted({})[1]", "min({})")).format(xs)


@rule("int", "traced_list_index", 1)
def int_of_traced_place(g: Generator, depth: int) -> str | None:
    xs = g.variable("list")
    return xs and f"{xs}[{g.expression('int', depth - 1)} % 3]"


@rule("int", "dict", 1)
def int_of_dict(g: Generator, depth: int) -> str | None:
    return g.variable("dict") and g.pick(("g['u']", "g['v']", "g.get('u', 3)", "(sum(g.values()) % 31)"))


@rule("int", "pair", 1)
def int_of_pair(g: Generator, depth: int) -> str | None:
    return g.variable("pair") and "p[0]"


@rule("int", "none", 2)
def int_of_maybe(g: Generator, depth: int) -> str | None:
    with g.lazily():
        other = g.expression("int", depth - 1)
    return g.variable("maybe") and g.pick((f"({other} if t is None else t)", f"(t if t is not None else {other})"))


@rule("int", "closure", 4)
def local_call(g: Generator, depth: int) -> str | None:
    if not g.functions:
        return None
    name = g.pick(sorted(g.functions))
    return f"{name}({', '.join(g.expression('int', depth - 1) for _ in range(g.functions[name]))})"


@rule("int", "lambda", 1)
def called_lambda(g: Generator, depth: int) -> str:
    return f"(lambda v: (v + {g.expression('int', 0)}) % 31)({g.expression('int', depth - 1)})"


@rule("int", "numpy", 1)
def int_of_array(g: Generator, depth: int) -> str | None:
    a = g.variable("ints")
    return a and g.pick(("(sum({}) % 31)", "int({}.max())", "(jnp.sum({}) % 31)", "len({})", "abs({}[0])", "max({})")).format(a)


@rule("int", "slice", 1)
def int_of_slice(g: Generator, depth: int) -> str | None:
    a = g.variable("ints")
    return a and g.pick((f"(sum({a}[1:]) % 31)", f"{a}[::-1][0]", f"{a}[:2][1]"))


@rule("int", "comprehension", 2)
def int_of_comprehension(g: Generator, depth: int) -> str:
    over = g.variable("ints") or g.variable("list") or "range(3)"
    each = g.pick(("v", f"(v * {g.expression('int', 0)})", f"(v if {g.expression('bool', 0)} else {g.expression('int', 0)})"))
    last = g.pick((f"[{each} for v in {over}]", f"{each} for v in {over}", f"[{each} for v in range(4) if v != 1]"))
    return f"(sum({last}) % 31)"


# ------------------------------------------------------------------ arrays
def _array_rules() -> None:
    for kind in ("ints", "floats"):
        rule(kind, "arithmetic", 4)(of_kind(array_arithmetic, kind))
        rule(kind, "numpy", 2)(of_kind(array_function, kind))
        rule(kind, "slice", 1)(of_kind(turned_array, kind))


def array_arithmetic(g: Generator, kind: str, depth: int) -> str:
    modulus, one = ("31", "int") if kind == "ints" else ("16.0", "float")
    return f"(({g.expression(kind, depth - 1)} {g.pick('+-')} {g.expression(g.pick((kind, one)), depth - 1)}) % {modulus})"


def array_function(g: Generator, kind: str, depth: int) -> str:
    first, second = g.expression(kind, depth - 1), g.expression(kind, depth - 1)
    return g.pick((f"jnp.where({first} > {second}, {first}, {second})", f"{first}.copy()", f"jnp.minimum({first}, {second})"))


def turned_array(g: Generator, kind: str, depth: int) -> str:
    return f"{g.expression(kind, 0)}[::-1].copy()"


_array_rules()
