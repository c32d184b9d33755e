"""Which variables may have no value yet: `for i in xs: y = i` leaves y unbound if xs is empty, and so does `del y`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import gast

from autograph_jax.analysis.blocks import Block, Does, Flow


def unbound_reads(unbound: Mapping[Block, int], bits: Mapping[str, int], *, fickle: int) -> frozenset[gast.Name]:
    """The Names that some path reaches while they have no value: reads, targets of `x += 1`, and of `del x`.

    `unbound` as `unbound_at` gives it.
    """
    return frozenset(node for block, state in unbound.items() for node in _risky(block, bits, state, fickle))


def unbound_at(flow: Flow, bits: Mapping[str, int], *, at_start: int, fickle: int) -> dict[Block, int]:
    """For each reachable block the variables that may be unbound where it starts.

    `at_start`: the variables that are unbound where the function starts, all but its parameters. `fickle`: those that
    an inner function may unbind at any time. Both are sums of `bits`, and so is what is given.
    """
    blocks = flow.reachable()
    effects = {block: _effects(block, bits) for block in blocks}
    unbound = dict.fromkeys(blocks, 0)
    unbound[flow.entry] = at_start | fickle
    moved = True
    while moved:
        moved = False
        for block in blocks:
            before = unbound[block]
            bound, dropped, ever_dropped = effects[block]
            targets = [(follower, before & ~bound | dropped | fickle) for follower in block.followers]
            if block.rescue is not None:
                targets.append((block.rescue, before | ever_dropped))
            for target, state in targets:
                if state & ~unbound[target]:
                    unbound[target] |= state
                    moved = True
    return unbound


def _effects(block: Block, bits: Mapping[str, int]) -> tuple[int, int, int]:
    """What a block binds, what it leaves unbound, and what is unbound at any point in it."""
    bound = dropped = ever_dropped = 0
    for step in block.steps:
        bit = bits.get(step.name, 0)
        if step.does is Does.BIND:
            bound, dropped = bound | bit, dropped & ~bit
        elif step.does in (Does.DELETE, Does.UNBIND):
            bound, dropped, ever_dropped = bound & ~bit, dropped | bit, ever_dropped | bit
    return bound, dropped, ever_dropped


def _risky(block: Block, bits: Mapping[str, int], unbound: int, fickle: int) -> Iterator[gast.Name]:
    for step in block.steps:
        bit = bits.get(step.name, 0)
        if step.node is not None and step.does in (Does.READ, Does.DELETE) and unbound & bit:
            yield step.node
        if step.does is Does.BIND:
            unbound &= ~bit | fickle
        elif step.does in (Does.DELETE, Does.UNBIND):
            unbound |= bit
