"""What a branch or a turn leaves in a variable must not hide traced values: `f = partial(g, x)`, `f = lambda x=x: x * 2`.

JAX hands on arrays. Inside an object that cannot be taken apart they would be of no use after the block.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

from autograph_jax.errors import StructureError, user_location
from autograph_jax.operators import jax_private
from autograph_jax.operators.staging.mismatches import shown
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.cells import cells_of
from autograph_jax.operators.tracing.places import Cell, Place
from autograph_jax.operators.values.forms import Form, statics


class KeptInside:
    """Refuses such a value of one block, which may write the variables and objects that were there before it."""

    def __init__(self, functions: tuple[Callable[..., Any] | None, ...], written: set[int]) -> None:
        self._written = written  # the ids of the cells and objects that will hold other values again
        self._is_variable = reach.is_variable_of({id(place.cell) for place in cells_of(functions).values()} | written)

    def check(self, place: Place, form: Form) -> None:
        """Raise StructureError if a variable is left with a traced value of the block inside an object."""
        if isinstance(place, Cell):
            self._check(shown(place), statics(form))

    def check_result(self, form: Form) -> None:
        """Raise StructureError if the block returns a function that closes over a traced value of it."""
        functions = (value for value in statics(form) if isinstance(value, types.FunctionType | types.MethodType))
        self._check("the value that a block returns", functions)

    def _check(self, name: str, values: Iterable[Any]) -> None:
        for value in values:
            if self._holds_own(value):
                raise StructureError(
                    f"{name} is a {type(value).__name__} that holds a traced value of a branch or of a loop's turn",
                    location=user_location(),
                    details=[
                        "JAX hands on arrays, also in lists, dicts and objects, but not what is inside of such an object."
                    ],
                    help="keep the value in a variable of its own, and make the object after the `if` or the loop",
                )

    def _holds_own(self, value: Any) -> bool:
        return reach.holds(value, jax_private.is_own, skip=self._is_left_out)

    def _is_left_out(self, holder: Any, key: Any) -> bool:
        return id(holder) in self._written or self._is_variable(holder, key)
