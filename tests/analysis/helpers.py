"""Programs with marks: what a line's comment says is what the analysis must find there.

    while a:            #< a b y    live before the statement
        y = b           #> a b y    live after it
    return y            #! y        y may be unbound here

`#@` is live at a loop's head. Statements are the body of `def f(a, b, c):`, unless they start with a definition of f.
"""

import re
import textwrap

import gast

from autograph_jax.analysis import Facts, analyse

MARK = re.compile(r"#([<>@!])([^#]*)")


def marks(program: str) -> dict[tuple[str, int], frozenset[str]]:
    """The names behind each mark, by the mark and its line."""
    return {
        (mark, number): frozenset(names.split())
        for number, line in enumerate(program.splitlines(), 1)
        for mark, names in MARK.findall(line)
    }


def as_function(program: str) -> str:
    program = textwrap.dedent(program).strip("\n")
    if program.startswith(("def f", "async def f", "f =")):
        return program
    return "def f(a, b, c):\n" + textwrap.indent(program, "    ")


def function_and_facts(program: str) -> tuple[gast.AST, Facts]:
    """The first function or lambda of a program, and its facts."""
    tree = gast.parse(as_function(program))
    facts = analyse(tree)
    first = next(node for node in gast.walk(tree) if node in facts)
    return first, facts[first]


def facts_of(program: str) -> Facts:
    return function_and_facts(program)[1]


def found(program: str) -> dict[tuple[str, int], frozenset[str]]:
    """What the analysis has to say at each mark of a program."""
    facts = facts_of(program)
    statements = {node.lineno: node for node in reversed(list(facts.live_before))}
    unbound = facts.maybe_unbound | facts.maybe_unbound_targets
    answers = {
        "<": lambda line: facts.live_before[statements[line]],
        ">": lambda line: facts.live_after[statements[line]],
        "@": lambda line: facts.live_head[statements[line]],
        "!": lambda line: frozenset(node.id for node in unbound if node.lineno == line),
    }
    return {(mark, line): answers[mark](line) for mark, line in marks(as_function(program))}


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())
