"""How a block says that it leaves early: BREAK, CONTINUE, or Return with the value."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from autograph_jax.operators.values.choices import Choice


class Break:
    """`break` was reached."""

    def __repr__(self) -> str:
        return "break"


BREAK = Break()


class Continue:
    """`continue` was reached."""

    def __repr__(self) -> str:
        return "continue"


CONTINUE = Continue()


class Failed:
    """The body of a `try` was left because it has failed, by traced data."""

    def __repr__(self) -> str:
        return "failure"


FAILURE = Failed()


def turn_ended(exit: Any) -> Any:
    """How a loop's body left the loop; `continue` has only ended the turn."""
    if isinstance(exit, Choice):
        return exit._map(lambda option: None if option is CONTINUE else option)
    return None if exit is CONTINUE else exit


@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass(eq=False)
class Return:
    """`return value` was reached."""

    value: Any

    def tree_flatten(self) -> tuple[tuple[Any], None]:
        return (self.value,), None

    @classmethod
    def tree_unflatten(cls, _: None, children: tuple[Any]) -> Return:
        return cls(*children)
