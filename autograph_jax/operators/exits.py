"""How a block says that it leaves early: BREAK, or Return with the value."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax


class Break:
    """`break` was reached."""

    def __repr__(self) -> str:
        return "break"


BREAK = Break()


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
