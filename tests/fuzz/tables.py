"""Parts of random programs over arrays of two rows: rows that are read, written, returned, kept and iterated over."""

from __future__ import annotations

from tests.fuzz.compound import loop
from tests.fuzz.expressions import index
from tests.fuzz.grammar import Block, Generator, rule
from tests.fuzz.statements import VALUES


def made(g: Generator) -> str:
    """A table; rows of its own, so that most programs are not refused."""
    known = g.variable("table")
    stacked = f"jnp.stack([{g.expression('ints', 0)}, {g.expression('ints', 0)}])"
    if known is None or g.chance(60):
        return stacked
    return g.pick((known, f"{known}.copy()", f"(({known} + {g.expression('ints', 0)}) % 31)", f"{known}[::-1]"))


VALUES["table"] = made


def row_of(g: Generator) -> str | None:
    """A row, which is a view of its table."""
    table = g.variable("table")
    if table is None:
        return None
    number = g.pick(("0", "1", f"{g.expression('int', 0)} % 2"))
    ways = ("{0}[{1}]", "{0}[{1}]", "row({0}, {1})", "Box(1, 2.0, {0}[{1}]).c", "[v for v in {0}][{1}]", "list({0})[{1}]")
    return g.pick(ways).format(table, number)


@rule("int", "table", 2)
def int_of_table(g: Generator, depth: int) -> str | None:
    table = g.variable("table")
    place = g.pick(("[1, {}]", "[0][{}]", "[:, {}][1]")).format(index(g, depth - 1))
    return table and g.pick((f"{table}{place}", f"(sum(row({table}, 0)) % 31)"))


@rule("ints", "table", 2)
def ints_of_table(g: Generator, depth: int) -> str | None:
    table = g.variable("table")
    return table and g.pick((f"{table}[{g.below(2)}].copy()", f"({table}.sum(0) % 31)", f"(row({table}, 1) + 0)"))


@rule("statement", "table", 1)
def row(g: Generator) -> list[str] | None:
    """A variable takes a row, which is written at times: both show it, or it is refused."""
    taken, name = row_of(g), g.target("ints")
    if g.smooth or taken is None or name is None:
        return None
    g.bind(name)
    return [f"{name} = {taken}", *([f"{name}[{index(g, 0)}] = {g.expression('int', 1)}"] if g.chance(40) else [])]


@rule("statement", "table", 2)
def table_write(g: Generator) -> list[str] | None:
    table = g.variable("table")
    if g.smooth or table is None:
        return None
    if g.chance(40):
        place = g.pick(("[0]", "[1]", f"[{g.expression('int', 1)} % 2]", "[:]"))
        return [f"{table}{place} = {g.expression('ints', 1)}"]
    if g.has("tuples") and g.chance(10):
        return [f"{table}[0], {table}[1] = {table}[1].copy(), {table}[0].copy()"]
    place = g.pick(("[1, {}]", "[0][{}]", "[:, {}]", "[1][{}]")).format(index(g, 1))
    return [f"{table}{place} = {g.expression('int')}"]


@rule("compound", "table", 1)
def for_rows(g: Generator) -> Block | None:
    """Over the rows of a table."""
    table, name = g.variable("table"), g.target("ints")
    return loop(g, [f"for {name} in {table}:"], [name]) if table and name and not g.smooth else None
