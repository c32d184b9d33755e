"""A function body as blocks of steps: what is read and bound in a straight line, and where control goes then."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable
from typing import NamedTuple

import gast


class Does(enum.Enum):
    """What a step does to its name."""

    READ = enum.auto()
    BIND = enum.auto()
    DELETE = enum.auto()  # `del x`: raises if x has no value
    UNBIND = enum.auto()  # the end of `except E as x`: never raises
    CAPTURE = enum.auto()  # `def g(): return x`: reads x later; it is no error if x has no value yet


class Step(NamedTuple):
    does: Does
    name: str
    node: gast.Name | None = None  # the Name that would raise if it is unbound


@dataclasses.dataclass(eq=False, slots=True)
class Block:
    """Steps without a jump between them. An exception may leave for `rescue` at any point, also before the first."""

    rescue: Block | None = None
    steps: list[Step] = dataclasses.field(default_factory=list)
    followers: list[Block] = dataclasses.field(default_factory=list)
    entered: bool = False

    def to(self, *followers: Block) -> None:
        """Control may go on there at the end of this block."""
        self.followers += followers
        for follower in followers:
            follower.entered = True

    def next(self) -> Block:
        """A new block under the same `rescue`, which follows this one."""
        block = Block(self.rescue)
        self.to(block)
        return block

    def exits(self) -> list[Block]:
        return self.followers if self.rescue is None else [*self.followers, self.rescue]


@dataclasses.dataclass(frozen=True)
class Exits:
    """Where control goes that leaves a piece of code other than by its end."""

    raised: Block
    returned: Block
    broke: Block
    continued: Block


@dataclasses.dataclass(eq=False)
class Flow:
    """The blocks of one function, and where its statements stand among them.

    A statement of a `finally` stands there several times, once for each way into it.
    """

    entry: Block = dataclasses.field(default_factory=Block)
    before: dict[gast.stmt, list[Block]] = dataclasses.field(default_factory=dict)
    after: dict[gast.stmt, list[Block]] = dataclasses.field(default_factory=dict)
    head: dict[gast.stmt, list[Block]] = dataclasses.field(default_factory=dict)

    def reachable(self) -> list[Block]:
        """The blocks that control can get to; but for loops, each stands before those that follow it."""
        return _in_order([self.entry])

    def all(self) -> list[Block]:
        """As `reachable`, and the blocks of dead code."""
        starts = [block for blocks in (*self.before.values(), *self.after.values()) for block in blocks]
        return _in_order([self.entry, *starts])


def _in_order(starts: Iterable[Block]) -> list[Block]:
    """Reverse postorder of a depth-first search, without recursion."""
    seen: set[Block] = set()
    finished: list[Block] = []
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        path = [(start, iter(start.exits()))]
        while path:
            block, remaining = path[-1]
            for follower in remaining:
                if follower not in seen:
                    seen.add(follower)
                    path.append((follower, iter(follower.exits())))
                    break
            else:
                finished.append(block)
                path.pop()
    return finished[::-1]
