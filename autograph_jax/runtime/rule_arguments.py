"""What derivative rules see of a call's arguments, and how JAX takes what it does not know.

The arguments to differentiate by are shown one by one, those in `*rest` too. Functions among them are Partials; strings and
objects, and what a rule keeps of these, are pytrees with what they hold of a trace as leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import CustomVJPPrimal

from autograph_jax.errors import Location, RuleError
from autograph_jax.operators.values.choices import Choice
from autograph_jax.runtime.arguments import Argument
from autograph_jax.runtime.canonical import Canonical
from autograph_jax.runtime.classes import meet_all
from autograph_jax.runtime.forwarding import LeftOut
from autograph_jax.runtime.lifting import Guard, Held, as_partial, held


class RuleArguments:
    """The arguments of a function: which are nondiff, and the others as its rules see them, `*rest` one by one."""

    def __init__(self, canonical: Canonical, nondiff: Sequence[Argument]) -> None:
        self.canonical = canonical
        at = [canonical.position(argument) for argument in nondiff]
        kinds = [parameter.kind for parameter in canonical.parameters]
        rest = kinds.index(Parameter.VAR_POSITIONAL) if Parameter.VAR_POSITIONAL in kinds else None
        places = [(rest or 0, a.position or 0) if p >= len(kinds) else (p, 0) for a, p in zip(nondiff, at, strict=True)]
        self.nondiff = [position for _, position in sorted(zip(places, at, strict=True))]
        self.diff = [position for position in range(len(canonical)) if position not in self.nondiff]
        self.rest = self.diff.index(rest) if rest is not None else None

    def divided(self, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        return [values[position] for position in self.nondiff], [values[position] for position in self.diff]

    def call(self, function: Callable[..., Any], nondiff: Sequence[Any], diff: Sequence[Any]) -> Any:
        """Call a function as the user has called this one; keyword-only arguments are passed by keyword."""
        values: list[Any] = [None] * len(self.canonical)
        for position, value in zip((*self.nondiff, *self.diff), (*nondiff, *diff), strict=True):
            values[position] = value
        positional, keywords = self.canonical.spelled(values)
        meet_all((positional, keywords))
        return function(*positional, **keywords)

    def holes(self, diff: Sequence[Any]) -> tuple[bool, ...]:
        """For each element of `*rest`: is it a nondiff argument's place?"""
        return () if self.rest is None else tuple(type(value) is LeftOut for value in diff[self.rest])

    def holes_of(self, count: int) -> tuple[bool, ...]:
        """The same for a number of arguments of which none is nondiff."""
        return () if self.rest is None else (False,) * (count - len(self.diff) + 1)

    def spread(self, diff: Sequence[Any]) -> tuple[Any, ...]:
        if self.rest is None:
            return tuple(diff)
        inside = [value for value in diff[self.rest] if type(value) is not LeftOut]
        return (*diff[: self.rest], *inside, *diff[self.rest + 1 :])

    def gathered(self, spread: Sequence[Any], holes: Sequence[bool]) -> list[Any]:
        if self.rest is None:
            return list(spread)
        remaining = iter(spread)
        before = [next(remaining) for _ in range(self.rest)]
        inside = tuple(LeftOut() if hole else next(remaining) for hole in holes)
        return [*before, inside, *remaining]

    def names(self, holes: Sequence[bool]) -> tuple[str, ...]:
        parameters = self.canonical.parameters
        names: list[Any] = [parameters[position].name for position in self.diff]
        if self.rest is not None:
            names[self.rest] = tuple(LeftOut() if hole else f"{names[self.rest]}[{n}]" for n, hole in enumerate(holes))
        return self.spread(names)


# ------------------------------------------------------------------ what JAX does not know


_NUMBERS = (bool, int, float, complex)


def packed(tree: Any, package: Callable[[Any], Any]) -> Any:
    """The tree, with what `package` makes of leaves that are no arrays."""
    leaves, structure = jax.tree.flatten(tree, is_leaf=lambda leaf: isinstance(leaf, Choice))
    if all(isinstance(leaf, jax.Array) for leaf in leaves):
        return tree
    return structure.unflatten([leaf if _is_array(leaf) else package(leaf) for leaf in leaves])


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.generic) or isinstance(leaf, np.ndarray) and leaf.dtype != object


def argument(guard: Guard, leaf: Any) -> Any:
    """A part of an argument as JAX takes it: functions as Partials, what it does not know as a pytree."""
    if isinstance(leaf, _NUMBERS):
        return leaf
    return as_partial(leaf) if callable(leaf) and not isinstance(leaf, type) else held(leaf, guard)


def _is_held(value: Any) -> bool:
    return isinstance(value, Held)


def unpacked(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: plain(leaf).value if _is_held(leaf) else leaf, tree, is_leaf=_is_held)


def derivatives(tree: Any) -> Any:
    """Tangents: None for what is no array."""
    return jax.tree.map(lambda leaf: None if _is_held(leaf) else leaf, tree, is_leaf=_is_held)


def plain(package: Held) -> Held:
    """Under `symbolic_zeros`, JAX wraps each leaf."""
    leaves = [leaf.value if isinstance(leaf, CustomVJPPrimal) else leaf for leaf in package.leaves]
    return Held(package.skeleton, leaves)


def guarded(function: str, location: Location | None, leaf: Any, name: str) -> Any:
    """A traced value that is constant for the rule. To differentiate by it would give zero, and is an error instead."""
    if not jnp.issubdtype(leaf.dtype, jnp.inexact):
        return leaf

    @jax.custom_jvp
    def guard(value: Any) -> Any:
        return value

    @guard.defjvp
    def _(primals: Any, tangents: Any) -> NoReturn:
        raise RuleError(
            f"`{name}` is differentiated by, and the derivative rule of `{function}` does not see it",
            location=location,
            details=[f"`{function}`, its rule or one of its nondiff arguments closes over `{name}`."],
            help=f"pass `{name}` as an argument; a function that closes over it, as an argument that is not nondiff; or use "
            "`jax.lax.stop_gradient`",
        )

    return guard(leaf)
