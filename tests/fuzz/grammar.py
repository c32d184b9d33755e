"""The frame of the generator: choices, typed variables, switches for constructs, and rules that are drawn by weight."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """Where a program's choices come from: a seed, or hypothesis. 0 is the simplest."""

    def below(self, n: int) -> int: ...


class Seeded:
    """Choices that a seed decides."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)

    def below(self, n: int) -> int:
        return self._random.randrange(n)


# A variable's type shows in its name, so that every program is typed. Integers are kept modulo 31 and floats are multiples of
# 1/4 modulo 16: NumPy and JAX then agree to the bit. "real" is the smooth float of the programs that are differentiated.
POOLS = {
    "int": ("i", "j", "k", "m", "n"),
    "float": ("x", "y", "z"),
    "bool": ("b", "c"),
    "ints": ("a", "d", "e"),
    "floats": ("r", "s"),
    "box": ("o", "q"),
    "table": ("mm", "nn"),
    "list": ("xs", "ys"),
    "pair": ("p",),
    "dict": ("g",),
    "maybe": ("t",),
    "text": ("w",),
    "number": ("h",),
    "real": ("x", "y", "z"),
    "reals": ("r", "s"),
    "real list": ("us", "vs"),
    "real dict": ("u",),
}
EXACT = ("int", "int", "int", "float", "float", "bool", "ints", "ints", "floats")
EXACT += ("box", "list", "pair", "dict", "maybe", "text", "number", "table")
SMOOTH = ("real", "real", "real", "real", "int", "bool", "reals", "reals", "real list", "real dict")

# Switches; rules add theirs.
CONSTRUCTS = {"elif", "else", "exit_in_finally", "keyword_call", "lazy_walrus", "loop_else", "nonlocal", "unbound"}


@dataclasses.dataclass(frozen=True)
class Rule:
    """One way to make an expression of a type, or a statement; it gives None where it does not apply."""

    construct: str
    weight: int
    make: Callable[..., Any]


RULES: dict[str, list[Rule]] = {}  # by type, and under "statement" and "compound"


def rule(kind: str, construct: str, weight: int = 4) -> Callable[[T], T]:
    """Register a rule; `construct` is the switch that turns it off."""

    def register(make: Any) -> Any:
        RULES.setdefault(kind, []).append(Rule(construct, weight, make))
        CONSTRUCTS.add(construct)
        return make

    return register


@dataclasses.dataclass
class Block:
    """Lines of a suite, the variables that surely have values at its end, and whether that end is never reached."""

    lines: list[str]
    bound: set[str]
    exits: bool = False

    def indented(self) -> list[str]:
        return indented(self.lines)


def indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]


_OF_FUNCTION = {"bound", "frozen", "counters", "functions", "returns", "loops", "depth", "budget", "guarded", "finals"}


class Generator:
    """Draws one program. Rules get it as their first argument, and find in it what may be read and written at their place."""

    def __init__(self, choices: Choices, *, without: frozenset[str] = frozenset(), smooth: bool = False) -> None:
        self._choices, self.without = choices, without
        self.smooth = smooth
        self.types = SMOOTH if smooth else EXACT
        self.bound: set[str] = set()  # variables that surely have a value
        self.frozen: set[str] = set()  # variables that may not be assigned here: those of the function around
        self.counters: list[str] = []  # of while loops, so that these end: read, and never assigned
        self.functions: dict[str, int] = {}  # local functions of one int that may be called here: their parameters
        self.helpers: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}  # by name: types of parameters and result
        self.returns: tuple[str, ...] | None = None
        self.loops = 0  # loops around, within the function
        self.depth = 0  # compound statements around
        self.budget = 0  # statements that are left
        self.lazy = 0  # expressions around that Python may leave out
        self.finals = 0  # `finally` suites around, within the function
        self.guarded = False  # inside an `if`, within the function or loop
        self._numbers: dict[str, int] = {}

    # Choices

    def below(self, n: int) -> int:
        return self._choices.below(n)

    def chance(self, percent: int) -> bool:
        return self.below(100) >= 100 - percent

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def has(self, construct: str) -> bool:
        return construct not in self.without

    def fresh(self, prefix: str) -> str:
        self._numbers[prefix] = self._numbers.get(prefix, 0) + 1
        return f"{prefix}{self._numbers[prefix]}"

    def make(self, kind: str, *arguments: Any) -> Any:
        """What a rule of this kind makes, drawn by weight among those that are switched on and apply."""
        rules = [r for r in RULES[kind] if r.construct not in self.without]
        while rules:
            position = self.below(sum(r.weight for r in rules))
            for drawn in rules:
                position -= drawn.weight
                if position < 0:
                    break
            made = drawn.make(self, *arguments)
            if made is not None:
                return made
            rules.remove(drawn)
        raise ValueError(f"no rule for {kind} applies")

    def expression(self, kind: str, depth: int = 2) -> str:
        """An expression of a type, nested at most so deep."""
        return self.make(kind, depth) if depth > 0 else self.make(f"simple {kind}")

    # Variables

    def variables(self, kind: str) -> list[str]:
        """Those of a type that surely have a value."""
        return [name for name in (*POOLS[kind], *(self.counters if kind == "int" else ())) if name in self.bound]

    def variable(self, kind: str) -> str | None:
        names = self.variables(kind)
        return self.pick(names) if names else None

    def target(self, kind: str) -> str | None:
        """A variable of a type to assign to. The caller binds it, after what is read."""
        names = [name for name in POOLS[kind] if name not in self.frozen]
        return self.pick(names) if names else None

    def bind(self, *names: str) -> None:
        self.bound.update(names)

    @contextlib.contextmanager
    def lazily(self) -> Iterator[None]:
        self.lazy += 1
        yield
        self.lazy -= 1

    # Suites

    def suite(self, *, most: int = 3) -> Block:
        """One to `most` statements, one level deeper. What is bound around is left as it was."""
        before, functions = set(self.bound), dict(self.functions)
        self.depth += 1
        lines, exits = self.statements(1 + self.below(most))
        self.depth -= 1
        block = Block(lines, self.bound, exits)
        self.bound, self.functions = before, functions
        return block

    def statements(self, count: int) -> tuple[list[str], bool]:
        """So many statements, and whether the last one leaves."""
        lines: list[str] = []
        for _ in range(count):
            deep = self.depth >= 3 or self.budget <= 0
            self.budget -= 1
            made = self.make("statement" if deep or self.below(5) < 3 else "compound")
            lines += made.lines if isinstance(made, Block) else made
            if isinstance(made, Block) and made.exits:
                return lines, True
        return lines, False

    @contextlib.contextmanager
    def guard(self, guarded: bool = True) -> Iterator[None]:
        """Inside an `if`, an exit does not end the suite around for all."""
        around, self.guarded = self.guarded, guarded
        yield
        self.guarded = around

    @contextlib.contextmanager
    def loop(self) -> Iterator[None]:
        self.loops += 1
        with self.guard(False):
            yield
        self.loops -= 1

    @contextlib.contextmanager
    def function(self) -> Iterator[None]:
        """The body of another function; afterwards everything is as it was around it."""
        kept = {name: value for name, value in vars(self).items() if name in _OF_FUNCTION}
        around = copy.deepcopy(kept)
        self.loops, self.finals, self.guarded = 0, 0, False
        self.functions, self.counters = {}, list(self.counters)
        yield
        vars(self).update(around)

    def join(self, *blocks: Block) -> None:
        """After a statement: bound is what all paths bind that come to their end."""
        ends = [block.bound for block in blocks if not block.exits]
        meet = set.union if self.has("unbound") and self.chance(3) else set.intersection
        self.bound = meet(*ends) if ends else self.bound
