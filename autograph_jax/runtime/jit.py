"""`ag.jit`: a function is converted, then compiled by `jax.jit`; arguments mean the same however they are passed."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from inspect import Signature
from typing import Any, TypeVar, overload

import jax

from autograph_jax.operators.effects import checks
from autograph_jax.runtime import outputs
from autograph_jax.runtime.arguments import Argument, Spec
from autograph_jax.runtime.canonical import Callee, Canonical, decorate
from autograph_jax.runtime.captures import may_change
from autograph_jax.runtime.forwarding import Finish
from autograph_jax.runtime.recaptured import Mode, Recaptured, check_mode, substituted
from autograph_jax.runtime.statics import Statics, refuse_overlap

F = TypeVar("F", bound=Callable[..., Any])


@overload
def jit(
    function: F,
    /,
    *,
    static_argnums: Spec = None,
    static_argnames: Spec = None,
    donate_argnums: Spec = None,
    donate_argnames: Spec = None,
    captures: Mode = "retrace",
    **options: Any,
) -> F: ...
@overload
def jit(
    *,
    static_argnums: Spec = None,
    static_argnames: Spec = None,
    donate_argnums: Spec = None,
    donate_argnames: Spec = None,
    captures: Mode = "retrace",
    **options: Any,
) -> Callable[[F], F]: ...
def jit(
    function: Any = None,
    /,
    *,
    static_argnums: Spec = None,
    static_argnames: Spec = None,
    donate_argnums: Spec = None,
    donate_argnames: Spec = None,
    captures: Mode = "retrace",
    **options: Any,
) -> Any:
    """Convert a function with `autograph` and compile it with `jax.jit`, whose other options it takes.

    Static and donated arguments are given by number or by name, whatever kind of parameter they are, and stay static or
    donated however a call passes them. Numbers count the parameters of the signature, keyword-only ones too; negative
    ones count from its end. All spellings of a call share one program.

    Static values are compared by type and value: `(1,)`, `(True,)`, `(1.0,)`, `0.0` and `-0.0` have a program each.
    Lists, dicts and sets of hashable values may be static. As in `jax.jit`, a default that a call leaves out is a
    constant of the program.

    A value that the function closes over (a global, a variable around it, an attribute that it reads) is a constant of the
    program; when it has changed, the next call compiles another one, `captures="retrace"`. `"warn"` says so, `"error"` refuses
    it, and `"freeze"` keeps the value of the first call, as `jax.jit` does. With `"argument"`, variables that hold floats and
    arrays are inputs of the program, which is then for all their values. `ag.captures` lists what is closed over.

    The result is a function (a bound method for a bound method), with `lower`, `trace`, `eval_shape` and `clear_cache`.

        >>> @jit(static_argnames="n")
        ... def power(x, /, n=2):
        ...     y = 1.0
        ...     for _ in range(n):
        ...         y = y * x
        ...     return y
        >>> print(power(3.0), power(2.0, 3), power(2.0, n=3))
        9.0 8.0 8.0

    Raises NotAFunctionError for what cannot be called; ArgumentError for an argument that is not there, is meant twice,
    or is both static and donated, and, when called, for a static value that cannot be compared.
    """
    given = dict(static=(static_argnums, static_argnames), donate=(donate_argnums, donate_argnames))
    check_mode(captures)
    return decorate(function, lambda f: _jit(f, given, options, captures))


def _jit(function: Any, given: dict[str, tuple[Spec, Spec]], options: dict[str, Any], captures: Mode) -> Any:
    callee = Callee(function)
    chosen = {option: callee.arguments(option, *spec) for option, spec in given.items()}
    refuse_overlap(chosen["static"], chosen["donate"], callee.name)
    shardings = _by_argument(callee, options.get("in_shardings"), chosen["static"])
    canonical = callee.canonical(*chosen.values(), shardings or ())
    numbers: Any = {f"{option}_argnums": canonical.positions(arguments) or None for option, arguments in chosen.items()}
    ordered: Any = {} if shardings is None else {"in_shardings": _in_order(canonical, shardings, chosen["static"])}
    statics = canonical.statics(chosen["static"])

    def compiled(target: Any, names: tuple[str, ...] = ()) -> _Compiled:
        body = canonical.body_of(target)
        program, pending = _program(_with_arguments(canonical, body, target, names) if names else body)
        further: Any = {"in_shardings": (*ordered["in_shardings"], None)} if names and ordered else ordered
        jitted = jax.jit(program, **options | numbers | further)
        if names:
            return _Compiled(jitted, pending, lambda: _stages_with(canonical, statics, jitted, lambda: programs.arguments()))
        return _Compiled(jitted, pending, lambda: _stages(canonical, statics, program, jitted, chosen, options))

    if captures == "freeze" or not may_change(callee.target):
        only = compiled(callee.target)
        finish = Finish(lambda out: _finish(out, only.pending), only.pending)
        made = canonical.forwarder(only.jitted, static=statics, finish=finish)
        return _with_stages(made, lambda: [only], lambda: only)
    programs = Recaptured(callee.target, compiled, mode=captures, name=callee.name, share=True)

    def call(*values: Any) -> Any:
        found = programs.check() or programs.look()
        out = found.jitted(*values)
        return _finish(out, found.pending) if found.pending else out

    def call_with_arguments(*values: Any) -> Any:
        found = programs.now()
        captured = programs.arguments()
        out = found.jitted(*values, captured) if captured else found.jitted(*values)
        return _finish(out, found.pending)

    made = canonical.forwarder(call_with_arguments if captures == "argument" else call, static=statics)
    return _with_stages(made, lambda: list(programs.made.values()), programs.now)


class _Compiled:
    """A function as `jax.jit` compiles it, what is to be done with its output, and its `lower`, `trace` and `eval_shape`."""

    def __init__(self, jitted: Any, pending: set[str], stages: Callable[[], list[Any]]) -> None:
        self.jitted, self.pending, self._stages = jitted, pending, stages

    @functools.cached_property
    def stages(self) -> dict[str, Any]:
        return dict(zip(_STAGES, self._stages(), strict=True))


def _with_stages(made: Any, every: Callable[[], list[_Compiled]], now: Callable[[], _Compiled]) -> Any:
    plain = getattr(made, "__func__", made)

    def clear_cache() -> None:
        for one in every():
            one.jitted.clear_cache()

    def stage(name: str) -> Callable[..., Any]:
        @functools.wraps(getattr(jax.jit(_nothing), name))
        def staged(*arguments: Any, **keywords: Any) -> Any:
            return now().stages[name](*arguments, **keywords)

        return staged

    plain.clear_cache, plain.lower, plain.trace, shapes = clear_cache, *map(stage, _STAGES)
    plain.eval_shape = functools.wraps(shapes)(lambda *args, **kwargs: outputs.unpacked(shapes(*args, **kwargs)))
    return made


def _nothing() -> None: ...


def _by_argument(callee: Callee, shardings: Any, static: Sequence[Argument]) -> dict[Argument, Any] | None:
    """`in_shardings` for each argument; None for one that holds for all. In a tuple, static arguments have no place."""
    if isinstance(shardings, Mapping):
        entries = callee.entries("in_shardings", shardings)
        refuse_overlap(static, entries, callee.name, what="sharded", help="leave it out of `in_shardings`: it is no array")
        return entries
    if type(shardings) not in (tuple, list):
        return None
    arguments = (next(iter(callee.entries("in_shardings", {n: None}))) for n in itertools.count())
    dynamic = (argument for argument in arguments if argument not in static)
    return {next(dynamic): sharding for sharding in shardings}


def _in_order(canonical: Canonical, shardings: dict[Argument, Any], static: Sequence[Argument]) -> tuple[Any, ...]:
    ordered: list[Any] = [None] * len(canonical)
    for argument, sharding in shardings.items():
        ordered[canonical.position(argument)] = sharding
    left_out = canonical.positions(static)
    return tuple(sharding for position, sharding in enumerate(ordered) if position not in left_out)


# ------------------------------------------------------------------ what JAX traces

_PROGRAM = "__autograph_jax_program__"


def _program(body: Callable[..., Any]) -> tuple[Callable[..., Any], set[str]]:
    """What `jax.jit` gets in place of the function; and a set that says, once it has returned, what to do with its output.

    Kept with the body, so that `ag.jit(f)` in a loop compiles once: JAX caches by the identity of what it gets.
    """
    kept = vars(body).get(_PROGRAM)
    if kept is None:
        kept = vars(body)[_PROGRAM] = _make_program(body)
    return kept


def _make_program(body: Callable[..., Any]) -> tuple[Callable[..., Any], set[str]]:
    pending: set[str] = set()

    def program(*values: Any) -> Any:
        before = checks.made()
        out = outputs.packed([checks.result_of(body, *values)])
        if checks.made() > before or outputs.has_choice(out):
            pending.add(_WAIT)
        elif outputs.has_kept(out):
            pending.add(_BUILD)
        return out

    functools.update_wrapper(program, body)
    return program, pending


_WITH_ARGUMENTS = "__autograph_jax_with_arguments__"


def _with_arguments(canonical: Canonical, body: Any, target: Any, names: tuple[str, ...]) -> Callable[..., Any]:
    """The body with one argument more: the values of variables that the function closes over."""
    kept = vars(body).setdefault(_WITH_ARGUMENTS, {})

    def with_arguments(*values: Any) -> Any:
        *given, captured = values
        return canonical.body_of(substituted(target, dict(zip(names, captured, strict=True))))(*given)

    if names not in kept:
        kept[names] = functools.update_wrapper(with_arguments, body, updated=())
        del with_arguments.__wrapped__
    return kept[names]


_WAIT, _BUILD = "wait", "build"


def _finish(out: Any, pending: set[str]) -> Any:
    """The output of a program that may raise, or that gives a Choice, waited for; objects and choices as themselves."""
    return outputs.unpacked(jax.block_until_ready(out) if _WAIT in pending else out)


# ------------------------------------------------------------------ lower, trace, eval_shape


def _stages(
    canonical: Canonical, statics: Statics, program: Any, jitted: Any, chosen: Mapping[str, Sequence[Argument]], options: Any
) -> list[Any]:
    """`lower`, `trace` and `eval_shape`.

    They keep the caller's spelling, because what they compile must be called with the same one; but not where there are
    `in_shardings`, beside which JAX takes no keywords.
    """
    if "in_shardings" in options:
        return [canonical.forwarder(getattr(jitted, stage), static=statics) for stage in _STAGES]
    as_spelled = jax.jit(_as_spelled(canonical, program), **_spelled(chosen), **options)
    return [_stage(getattr(as_spelled, stage), statics) for stage in _STAGES]


def _stages_with(canonical: Canonical, statics: Statics, jitted: Any, captured: Callable[[], Any]) -> list[Any]:
    """The same where captured values are arguments, which what is compiled takes as its last one, in canonical order."""

    def stage(name: str) -> Callable[..., Any]:
        method = getattr(jitted, name)
        return canonical.forwarder(lambda *values: method(*values, captured()), static=statics)

    return [stage(name) for name in _STAGES]


_STAGES = ("lower", "trace", "eval_shape")


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
