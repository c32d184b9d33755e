"""`ag.jit(f).lower(x)`, `trace`, `eval_shape` and `clear_cache`, of the program for the captured values of now."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from inspect import Signature
from typing import Any

import jax

from autograph_jax.runtime import outputs
from autograph_jax.runtime.arguments import Argument
from autograph_jax.runtime.canonical import Canonical
from autograph_jax.runtime.pending import Pending
from autograph_jax.runtime.statics import Statics

STAGES = ("lower", "trace", "eval_shape")


class Compiled:
    """A function as `jax.jit` compiles it, what is to be done with its output, and its `lower`, `trace` and `eval_shape`."""

    def __init__(self, jitted: Any, pending: Pending, stages: Callable[[], list[Any]]) -> None:
        self.jitted, self.pending, self._stages = jitted, pending, stages

    @functools.cached_property
    def stages(self) -> dict[str, Any]:
        return self.anew()

    def anew(self) -> dict[str, Any]:
        """The same, of a program of which nothing has been traced yet."""
        return dict(zip(STAGES, self._stages(), strict=True))


_ANEW = "__autograph_jax_trace_anew__"


def trace_anew(function: Any) -> Callable[..., Any] | None:
    """`trace` of what `ag.jit` has made, of a program of which nothing is cached; None for other functions."""
    kept = vars(getattr(function, "__func__", function)) if hasattr(function, "__dict__") else {}
    return kept[_ANEW]() if _ANEW in kept else None


def with_stages(made: Any, every: Callable[[], list[Compiled]], now: Callable[[], Compiled]) -> Any:
    plain = getattr(made, "__func__", made)

    def clear_cache() -> None:
        for one in every():
            one.jitted.clear_cache()

    def stage(name: str) -> Callable[..., Any]:
        @functools.wraps(getattr(_example(), name))
        def staged(*arguments: Any, **keywords: Any) -> Any:
            return now().stages[name](*arguments, **keywords)

        return staged

    vars(plain)[_ANEW] = lambda: now().anew()["trace"]
    plain.clear_cache, plain.lower, plain.trace, shapes = clear_cache, *map(stage, STAGES)
    plain.eval_shape = functools.wraps(shapes)(lambda *args, **kwargs: outputs.unpacked(shapes(*args, **kwargs)))
    return made


@functools.cache
def _example() -> Any:
    """Something jitted, whose methods have the names and the documentation of all others."""
    return jax.jit(lambda: None)


def stages(
    canonical: Canonical, statics: Statics, program: Any, jitted: Any, chosen: Mapping[str, Sequence[Argument]], options: Any
) -> list[Any]:
    """`lower`, `trace` and `eval_shape`.

    They keep the caller's spelling, because what they compile must be called with the same one; but not where there are
    `in_shardings`, beside which JAX takes no keywords.
    """
    if "in_shardings" in options:
        return [canonical.forwarder(getattr(jitted, stage), static=statics) for stage in STAGES]
    as_spelled = jax.jit(_as_spelled(canonical, program), **_spelled(chosen), **options)
    return [_stage(getattr(as_spelled, stage), statics) for stage in STAGES]


def stages_with(canonical: Canonical, statics: Statics, jitted: Any, captured: Callable[[], Any]) -> list[Any]:
    """The same where captured values are arguments, which what is compiled takes as its last one, in canonical order."""

    def stage(name: str) -> Callable[..., Any]:
        method = getattr(jitted, name)
        return canonical.forwarder(lambda *values: method(*values, captured()), static=statics)

    return [stage(name) for name in STAGES]


def _as_spelled(canonical: Canonical, program: Callable[..., Any]) -> Callable[..., Any]:
    """The program, called in any way."""
    forward = canonical.forwarder(program)

    @functools.wraps(program)
    def spelled(*arguments: Any, **keywords: Any) -> Any:
        return forward(*arguments, **keywords)

    vars(spelled)["__signature__"] = Signature(canonical.parameters)
    return spelled


def _spelled(chosen: Mapping[str, Sequence[Argument]]) -> dict[str, Any]:
    """Numbers and names for each: JAX infers the one from the other only where just one is given."""
    spelled: dict[str, Any] = {}
    for option, arguments in chosen.items():
        if arguments:
            spelled[f"{option}_argnums"] = tuple(a.position for a in arguments if a.position is not None)
            spelled[f"{option}_argnames"] = tuple(a.keyword for a in arguments if a.keyword is not None)
    return spelled


def _stage(method: Callable[..., Any], statics: Statics) -> Callable[..., Any]:
    if not statics.arguments:
        return method

    @functools.wraps(method)
    def spelled(*arguments: Any, **keywords: Any) -> Any:
        return method(*statics.positional(arguments), **statics.keywords(keywords))

    return spelled
