"""How the statements of a block are left, and what is read after them."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Context:
    """What a suite is converted for.

    `in_loop`: this is a loop's body, where an exit is a marker; else the function's own end, where it is the value.
    `exit_name`: the marker goes into this variable, since the statements stand in a `with` or `try` that goes on.
    `goes_on`: other statements of the loop's body follow, so that `continue` needs a marker too.
    """

    in_loop: bool
    live_out: frozenset[str]
    exit_name: str | None = None
    goes_on: bool = False

    def marked(self) -> Context:
        return dataclasses.replace(self, in_loop=True, exit_name=None, goes_on=True)
