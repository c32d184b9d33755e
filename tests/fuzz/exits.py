"""How random programs leave a suite: break, continue, return, raise, assert."""

from __future__ import annotations

from tests.fuzz.grammar import Block, Generator, rule
from tests.fuzz.statements import maybe


@rule("statement", "break", 12)
def break_(g: Generator) -> Block | None:
    return left(g, "break") if g.loops else None


@rule("statement", "continue", 10)
def continue_(g: Generator) -> Block | None:
    return left(g, "continue") if g.loops else None


@rule("statement", "return", 4)
def return_(g: Generator) -> Block | None:
    return left(g, returned(g)) if g.depth else None


@rule("statement", "raise", 1)
def raise_(g: Generator) -> Block | None:
    return left(g, f"raise Stop({g.expression('int', 1)})") if g.depth and not g.smooth and g.chance(40) else None


@rule("statement", "assert", 1)
def assert_(g: Generator) -> list[str] | None:
    return [f"assert {g.expression('int', 1)} != {g.below(31)}"] if not g.smooth and g.chance(50) else None


def left(g: Generator, statement: str) -> Block | None:
    """The end of a suite; a suite directly in a function or a loop would end for all, so that is rare."""
    if g.finals and not (g.has("exit_in_finally") and g.chance(10)):  # most are refused
        return None
    return Block([statement], g.bound, exits=True) if g.guarded or g.chance(10) else None


def returned(g: Generator) -> str:
    values = [maybe(g) if kind == "maybe" else g.expression(kind) for kind in g.returns or ()]
    return f"return {', '.join(values)}" if values else "return"
