"""`ag.vmap`, `ag.pmap`, `ag.shard_map`: axes and specs by position or by name, however an argument is passed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

import jax

from autograph_jax.errors import ArgumentError, user_location
from autograph_jax.operators.effects import checks
from autograph_jax.runtime.arguments import Argument, Spec
from autograph_jax.runtime.array_likes import containers_of
from autograph_jax.runtime.canonical import Callee, Canonical, decorate
from autograph_jax.runtime.forwarding import LEFT_OUT
from autograph_jax.runtime.recaptured import Recaptured, StaticObjects
from autograph_jax.runtime.results import ByName, by_name
from autograph_jax.runtime.statics import refuse_overlap

F = TypeVar("F", bound=Callable[..., Any])


@overload
def vmap(function: F, /, in_axes: Any = 0, out_axes: Any = 0, **options: Any) -> F: ...
@overload
def vmap(*, in_axes: Any = 0, out_axes: Any = 0, **options: Any) -> Callable[[F], F]: ...
def vmap(function: Any = None, /, in_axes: Any = 0, out_axes: Any = 0, **options: Any) -> Any:
    """Convert a function with `autograph` and map it over axes of its arguments with `jax.vmap`, whose other options it takes.

    `in_axes` is, for each argument, the axis to map over, None where there is none, or a tree of these that is a prefix of the
    argument's: one for all arguments; a tuple, which counts the parameters of the signature, keyword-only ones too; or a
    dict by name (or number), such as `{"x": 0, "params": {"w": 1, "b": None}}`. Arguments that a tuple does not reach are
    mapped over axis 0, as `jax.vmap` does with keyword arguments; those that a dict does not name are not mapped. `*args` and
    `**kwargs` have their own names, and what is in them a number or a name. A default that a call leaves out is not mapped.

    `out_axes` is the same for the result: one for all of it, a tree that is a prefix of it, or a dict by the names of its parts
    (keys, fields of a NamedTuple or a dataclass), where parts that are not named get axis 0.

        >>> import jax.numpy as jnp
        >>> @vmap(in_axes={"x": 0})
        ... def clipped(x, *, limit):
        ...     return x if x < limit else limit
        >>> print(clipped(jnp.arange(4.0), limit=2.0))
        [0. 1. 2. 2.]

    Raises ArgumentError for an argument that is not there or is meant twice; ValueError, as `jax.vmap` does, for sizes that
    differ.
    """

    def make(function: Any) -> Any:
        axes = _PerArgument(Callee(function), "in_axes", in_axes, rest=0, not_named=None)
        canonical = axes.canonical()

        parts = by_name(canonical.body, "out_axes", out_axes, rest=0)

        def call(*values: Any) -> Any:
            body, own = _giving_containers(parts.body), axes.of(canonical, values)
            mapped = jax.vmap(body, in_axes=own, out_axes=parts.said, **options)
            return parts.together(mapped(*values))

        return canonical.forwarder(call)

    return decorate(function, make)


@overload
def pmap(function: F, /, axis_name: Any = None, **options: Any) -> F: ...
@overload
def pmap(*, axis_name: Any = None, **options: Any) -> Callable[[F], F]: ...
def pmap(
    function: Any = None,
    /,
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: Spec = None,
    static_broadcasted_argnames: Spec = None,
    donate_argnums: Spec = None,
    donate_argnames: Spec = None,
    **options: Any,
) -> Any:
    """Convert a function with `autograph` and run it on several devices with `jax.pmap`, whose other options it takes.

    `in_axes` and `out_axes` are as for `vmap`; static and donated arguments are given by number or name as for `jit`.

    Raises ArgumentError for an argument that is not there, is meant twice, or is both static and donated.
    """

    def make(function: Any) -> Any:
        callee = Callee(function)
        static = callee.arguments("static_broadcasted", static_broadcasted_argnums, static_broadcasted_argnames)
        donated = callee.arguments("donate", donate_argnums, donate_argnames)
        refuse_overlap(static, donated, callee.name)
        axes = _PerArgument(callee, "in_axes", in_axes, rest=0, not_named=None)
        if isinstance(in_axes, Mapping):
            mapped_ones = [argument for argument, axis in (axes.by_argument or {}).items() if axis is not None]
            refuse_overlap(static, mapped_ones, callee.name, what="mapped", help="leave it out of `in_axes`: it is no array")
        canonical = axes.canonical(static, donated)
        numbers: Any = dict(
            in_axes=axes.of(canonical),
            static_broadcasted_argnums=canonical.positions(static),
            donate_argnums=canonical.positions(donated),
        )

        def mapped(target: Any, names: tuple[str, ...]) -> tuple[ByName, Any]:
            parts = by_name(canonical.body_of(target), "out_axes", out_axes, rest=0)
            return parts, jax.pmap(_giving_containers(parts.body), axis_name, out_axes=parts.said, **numbers, **options)

        def call(*values: Any) -> Any:
            parts, run = programs.now()
            return parts.together(checks.settled(run, *values))

        def lower(*values: Any) -> Any:
            return programs.now()[1].lower(*values)

        programs = Recaptured(callee.target, mapped, mode="retrace", name=callee.name, share=False)
        statics = canonical.statics(static, StaticObjects(callee.target).state)
        made = canonical.forwarder(call, static=statics)
        getattr(made, "__func__", made).lower = canonical.forwarder(lower, static=statics)
        return made

    return decorate(function, make)


@overload
def shard_map(function: F, /, *, in_specs: Any = ..., out_specs: Any, **options: Any) -> F: ...
@overload
def shard_map(*, in_specs: Any = ..., out_specs: Any, **options: Any) -> Callable[[F], F]: ...
def shard_map(function: Any = None, /, *, in_specs: Any = ..., out_specs: Any, **options: Any) -> Any:
    """Convert a function with `autograph` and map it over shards of its arguments with `jax.shard_map`, whose options it takes.

    `in_specs` is, for each argument, a `jax.P` or a tree of these that is a prefix of the argument's: one for all arguments; a
    tuple, which counts the parameters of the signature; or a dict by name (or number). Arguments that a dict does not
    name are not sharded: each shard sees the whole of them, as `jax.P()` says; so it is with a default that a call leaves out.
    `out_specs` may also be a dict by the names of the result's parts, where `jax.P()` holds for those that are not named.

    Raises ArgumentError for an argument that is not there or is meant twice, or that a call passes and a tuple does not reach.
    """

    def make(function: Any) -> Any:
        specs = _PerArgument(Callee(function), "in_specs", in_specs, rest=jax.P(), not_named=jax.P())
        canonical = specs.canonical()
        given = {} if in_specs is ... else {"in_specs": specs.of(canonical)}  # JAX can infer them
        parts = by_name(canonical.body, "out_specs", out_specs, rest=jax.P())
        mapped = jax.shard_map(parts.body, out_specs=parts.said, **given, **options)

        def call(*values: Any) -> Any:
            specs.check_reaches(canonical, values)
            return parts.together(checks.settled(mapped, *values))

        return canonical.forwarder(call)

    return decorate(function, make)


def _giving_containers(body: Callable[..., Any]) -> Callable[..., Any]:
    """What is mapped gives for each lane the list or dict that the lane has chosen, `rows[k]`."""

    @functools.wraps(body)
    def giving(*values: Any) -> Any:
        return containers_of(body(*values))

    return giving


class _PerArgument:
    """What an option such as `in_axes` says of each argument."""

    def __init__(self, callee: Callee, option: str, given: Any, *, rest: Any, not_named: Any) -> None:
        self.callee, self.option, self.for_all = callee, option, given
        self.by_argument: dict[Argument, Any] | None = None
        if isinstance(given, Mapping):
            self.by_argument, self.rest = callee.entries(option, given), not_named
        elif type(given) in (tuple, list):
            self.by_argument, self.rest = callee.entries(option, dict(enumerate(given))), rest

    def canonical(self, *treated: tuple[Argument, ...]) -> Canonical:
        return self.callee.canonical(*treated, self.by_argument or ())

    def of(self, canonical: Canonical, values: tuple[Any, ...] | None = None) -> Any:
        """In canonical order; None for a value that the call has left out."""
        if self.by_argument is None:
            return self.for_all
        ordered = [self.rest] * len(canonical)
        for argument, said in self.by_argument.items():
            ordered[canonical.position(argument)] = said
        if values is None:
            return tuple(ordered)
        return tuple(None if value is None or value is LEFT_OUT else said for said, value in zip(ordered, values, strict=True))

    def check_reaches(self, canonical: Canonical, values: tuple[Any, ...]) -> None:
        """Refuse an argument that the call passes and a tuple says nothing of."""
        if type(self.for_all) not in (tuple, list):
            return
        reached = canonical.positions(self.by_argument or ())
        for position, value in enumerate(values):
            if position not in reached and jax.tree.leaves(value):
                name = canonical.name(position)
                raise ArgumentError(
                    f"`{self.option}` says nothing of `{name}` of `{self.callee.name}`",
                    location=user_location(),
                    help=f"give it an entry, or give entries by name: `{self.option}={{{name!r}: ...}}`",
                )
