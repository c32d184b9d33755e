"""The arguments that a function is differentiated by: taken out of a call, and put together as the result will be.

One number or name: the argument itself. Several names: a dict. Several numbers, or both kinds: a tuple in the order given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import Parameter
from typing import Any

from autograph_jax.errors import ArgumentError, user_location
from autograph_jax.runtime.arguments import Argument, Spec, is_single
from autograph_jax.runtime.canonical import Callee
from autograph_jax.runtime.forwarding import LEFT_OUT


class Selection:
    """Some arguments of a function, and `function`, which takes these as its first argument, put together."""

    def __init__(self, callee: Callee, arguments: tuple[Argument, ...], *, single: bool = False, named: bool = False) -> None:
        self.callee, self.arguments, self.single, self.named = callee, arguments, single, named
        self.canonical = callee.canonical(arguments)
        self.positions = self.canonical.positions(arguments)

    @staticmethod
    def of(callee: Callee, argnums: Spec, argnames: Spec) -> Selection:
        argnums, argnames = _listed(argnums), _listed(argnames)
        arguments = callee.arguments("", argnums, argnames, whole=True)
        specs: list[Any] = [spec for spec in (argnums, argnames) if spec is not None]
        single = len(specs) == 1 and is_single(specs[0])
        named = not single and all(isinstance(entry, str) for spec in specs for entry in ([spec] if is_single(spec) else spec))
        return Selection(callee, arguments, single=single, named=named)

    def function(self, chosen: Any, others: tuple[Any, ...]) -> Any:
        values = list(others)
        for position, value in zip(self.positions, self.listed(chosen), strict=True):
            values[position] = value
        return self.canonical.body(*values)

    def divided(self, values: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        """The chosen arguments of a call, put together, and the others, with None in place of the chosen ones."""
        chosen = [self._given(argument, values[at]) for argument, at in zip(self.arguments, self.positions, strict=True)]
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


def _listed(spec: Any) -> Any:
    """A generator can be read once."""
    return list(spec) if isinstance(spec, Iterable) and not is_single(spec) else spec
