"""Objects that hold traced values, taken apart while JAX traces and built anew at run time, with the values of then."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from autograph_jax.operators.effects import texts
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.values import containers, forms


@dataclasses.dataclass(frozen=True)
class Rebuilt:
    """What stands for an object until then: its Form and the arrays in it."""

    form: Any
    leaves: list[Any]


jax.tree_util.register_dataclass(Rebuilt, ["leaves"], ["form"])


def taken_apart(value: Any, whole: Callable[[Any], bool] = lambda part: False) -> Rebuilt:
    """A value as it is now; what passes `whole` is no part of it, and the same object at run time."""
    form, leaves = containers.flatten(value, is_new=lambda part: not whole(part))
    if any(map(reach.holds_traced, forms.statics(form))):
        texts.refuse_tracers(repr(value), value)
    return Rebuilt(form, leaves)


def is_rebuilt(value: Any) -> bool:
    return isinstance(value, Rebuilt)


def built(value: Any) -> Any:
    return containers.unflatten(value.form, iter(value.leaves)) if isinstance(value, Rebuilt) else value
