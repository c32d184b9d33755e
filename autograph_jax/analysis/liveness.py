"""Which variables may still be read: x is live before `y = x`, and dead before `x = 1`.

`del x` needs a value to delete, so x is live before it. A nested function is taken to read what it captures where it is
defined; what it reads later is told by Facts.escaping.
"""

from __future__ import annotations

from collections.abc import Mapping

from autograph_jax.analysis.blocks import Block, Does, Flow

_NEEDS = frozenset({Does.READ, Does.CAPTURE, Does.DELETE})


def live_at(flow: Flow, bits: Mapping[str, int]) -> dict[Block, int]:
    """For each block the variables that are live where it starts, as a sum of `bits`."""
    blocks = flow.all()[::-1]
    gains = {block: _needed_and_replaced(block, bits) for block in blocks}
    live = dict.fromkeys(blocks, 0)
    moved = True
    while moved:  # once, and once more for each loop around a loop
        moved = False
        for block in blocks:
            needed, replaced = gains[block]
            after = 0
            for follower in block.followers:
                after |= live[follower]
            before = needed | after & ~replaced
            if block.rescue is not None:
                before |= live[block.rescue]  # an exception may come before anything was replaced
            if before != live[block]:
                live[block], moved = before, True
    return live


def _needed_and_replaced(block: Block, bits: Mapping[str, int]) -> tuple[int, int]:
    """What a block needs from before it, and what it does not let through from after it."""
    needed = replaced = 0
    for step in block.steps:
        bit = bits.get(step.name, 0)
        if step.does in _NEEDS:
            needed |= bit & ~replaced
        if step.does not in (Does.READ, Does.CAPTURE):
            replaced |= bit
    return needed, replaced
