"""What a function is differentiated by: taken out of a call, and put together as the result will be.

One number or name: the argument itself. Several names: a dict. Several numbers, or both kinds: a tuple in the order given. A
name may be that of a captured value, `captures="argument"`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from inspect import Parameter
from typing import Any, NamedTuple

from autograph_jax.errors import ArgumentError, user_location
from autograph_jax.runtime.arguments import Argument, Spec, is_single
from autograph_jax.runtime.canonical import Callee
from autograph_jax.runtime.captures import snapshot
from autograph_jax.runtime.forwarding import LEFT_OUT
from autograph_jax.runtime.opened import arrays_in
from autograph_jax.runtime.recaptured import holding


class Captured(NamedTuple):
    """A value that the function closes over, by the name that `ag.captures` gives it."""

    name: str


class Selection:
    """Some arguments of a function, and `function`, which takes these as its first argument, put together."""

    def __init__(
        self, callee: Callee, arguments: Sequence[Argument | Captured], *, single: bool = False, named: bool = False
    ) -> None:
        self.callee, self.arguments, self.single, self.named = callee, arguments, single, named
        passed = [argument for argument in arguments if isinstance(argument, Argument)]
        self.canonical = callee.canonical(passed)
        self.positions = [self.canonical.position(a) if isinstance(a, Argument) else None for a in arguments]

    @staticmethod
    def of(callee: Callee, argnums: Spec, argnames: Spec, captures: Any = None) -> Selection:
        argnums, argnames = _listed(argnums), _listed(argnames)
        arguments = resolved(callee, argnums, argnames, captures)
        specs: list[Any] = [spec for spec in (argnums, argnames) if spec is not None]
        single = len(specs) == 1 and is_single(specs[0])
        named = not single and all(isinstance(entry, str) for spec in specs for entry in ([spec] if is_single(spec) else spec))
        return Selection(callee, arguments, single=single, named=named)

    def function(self, chosen: Any, others: tuple[Any, ...]) -> Any:
        values, captured = list(others), {}
        for argument, position, value in zip(self.arguments, self.positions, self.listed(chosen), strict=True):
            if position is None:
                captured[argument.name] = value
            else:
                values[position] = value
        with self._holding(captured):
            return arrays_in(self.canonical.body(*values))

    def _holding(self, captured: dict[str, Any]) -> contextlib.AbstractContextManager[None]:
        if not captured:
            return contextlib.nullcontext()
        found = snapshot(self.callee.target, lift=True)
        places = [found.lifted[name] for name in captured]
        return holding(places, list(captured.values()), foreign=found.foreign)

    def divided(self, values: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """The chosen arguments of a call, put together, and the others, with None in place of the chosen ones."""
        now = snapshot(self.callee.target, lift=True).lifted if None in self.positions else {}
        pairs = zip(self.arguments, self.positions, strict=True)
        chosen = [now[a.name].read() if isinstance(a, Captured) else self._given(a, values[at or 0]) for a, at in pairs]
        return self.together(chosen), tuple(None if i in self.positions else value for i, value in enumerate(values))

    def together(self, chosen: Sequence[Any]) -> Any:
        if self.single:
            return chosen[0]
        return dict(zip(self.names, chosen, strict=True)) if self.named else tuple(chosen)

    def listed(self, chosen: Any) -> list[Any]:
        if self.single:
            return [chosen]
        return [chosen[name] for name in self.names] if self.named else list(chosen)

    @property
    def names(self) -> list[str]:
        return [argument.name for argument in self.arguments]

    def _given(self, argument: Argument, value: Any) -> Any:
        """An argument that the call leaves out has its default."""
        if value is not LEFT_OUT:
            return value
        default = self.callee.default(argument)
        if default is Parameter.empty:
            raise ArgumentError(
                f"`{argument.name}` of `{self.callee.name}` is differentiated by, and this call does not pass it",
                location=user_location(),
                help=f"pass `{argument.name}`",
            )
        return default


def resolved(callee: Callee, argnums: Any, argnames: Any, captures: Any) -> list[Argument | Captured]:
    """Arguments, and with `captures="argument"` captured values of names that no parameter has."""
    if captures is None:
        return list(callee.arguments("", argnums, argnames, whole=True))
    if captures != "argument":
        raise ArgumentError(
            f"`captures={captures!r}` of `{callee.name}`: a derivative sees captured values as they are",
            location=user_location(),
            help='leave it out; with `captures="argument"` their names may be among the `argnames`',
        )
    closed_over = snapshot(callee.target, lift=True).lifted
    names = [entry for spec in (argnums, argnames) for entry in _entries(spec)]
    captured = [name for name in names if name in closed_over and name not in callee.signature.parameters]
    passed = [_without(spec, captured) for spec in (argnums, argnames)]
    try:
        arguments = iter(callee.arguments("", *passed, whole=True))
    except ArgumentError as error:
        held = ", ".join(f"`{name}`" for name in closed_over) or "no arrays and floats"
        details = (*error.details, f"It closes over {held}.")
        raise ArgumentError(error.what, location=error.location, details=details, help=error.help) from None
    if len(set(captured)) < len(captured):
        what = f"a captured value of `{callee.name}` is meant twice: {captured}"
        raise ArgumentError(what, location=user_location(), help="name each once")
    return [Captured(name) if name in captured else next(arguments) for name in names]


def _entries(spec: Any) -> list[Any]:
    return [] if spec is None else [spec] if is_single(spec) else spec


def _without(spec: Any, names: list[str]) -> Any:
    """A spec without the names of captured values; None where nothing is left."""
    return [entry for entry in _entries(spec) if entry not in names] or None if names else spec


def _listed(spec: Any) -> Any:
    """A generator can be read once."""
    return list(spec) if isinstance(spec, Iterable) and not is_single(spec) else spec
