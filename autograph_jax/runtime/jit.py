"""`ag.jit`: a function is converted, then compiled by `jax.jit`; arguments mean the same however they are passed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import jax

from autograph_jax.loops.lowering import as_a_whole
from autograph_jax.operators.effects import checks, ordered
from autograph_jax.runtime import outputs
from autograph_jax.runtime.arguments import Spec
from autograph_jax.runtime.canonical import Callee, decorate
from autograph_jax.runtime.captures import may_change, snapshot
from autograph_jax.runtime.decorator import Optimize, autograph
from autograph_jax.runtime.forwarding import Again, recover
from autograph_jax.runtime.opened import built, holds_array_like, opened
from autograph_jax.runtime.pending import BUILD, SETTLE, WAIT, Pending, finish
from autograph_jax.runtime.recaptured import Mode, Recaptured, StaticObjects, check_mode, holding
from autograph_jax.runtime.shardings import by_argument, in_order
from autograph_jax.runtime.snapshots import Finished
from autograph_jax.runtime.stages import Compiled, stages, stages_with, with_stages
from autograph_jax.runtime.statics import refuse_overlap
from autograph_jax.runtime.wholes import is_whole, optimizations_of

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
    optimize: Optimize | None = None,
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
    optimize: Optimize | None = None,
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
    optimize: Optimize | None = None,
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

    `optimize` is that of `autograph`: what loops are compiled with.

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
    convert = (lambda f: f) if optimize is None else autograph(optimize=optimize)
    return decorate(function, lambda f: _jit(convert(f), given, options, captures))


def _jit(function: Any, given: dict[str, tuple[Spec, Spec]], options: dict[str, Any], captures: Mode) -> Any:
    callee = Callee(function)
    chosen = {option: callee.arguments(option, *spec) for option, spec in given.items()}
    refuse_overlap(chosen["static"], chosen["donate"], callee.name)
    shardings = by_argument(callee, options.get("in_shardings"), chosen["static"])
    canonical = callee.canonical(*chosen.values(), shardings or ())
    numbers: Any = {f"{option}_argnums": canonical.positions(arguments) or None for option, arguments in chosen.items()}
    sharded: Any = {} if shardings is None else {"in_shardings": in_order(canonical, shardings, chosen["static"])}
    trims = not chosen["donate"] and not sharded  # JAX counts the arguments of a call
    state = [] if captures == "freeze" else [StaticObjects(callee.target).state]
    statics = canonical.statics(chosen["static"], *state)

    def compiled(target: Any, names: tuple[str, ...] = ()) -> Compiled:
        body = canonical.body_of(target)
        body = _with_arguments(body, target, names) if names else body
        program, pending = _program(body, target)
        further: Any = {"in_shardings": (*sharded["in_shardings"], None)} if names and sharded else sharded
        jitted = jax.jit(program, **options | numbers | further)

        def staged() -> list[Any]:
            alone = _alone(body, target)
            again = jax.jit(alone, **options | numbers | further)
            if names:
                return stages_with(canonical, statics, again, lambda: programs.arguments())
            return stages(canonical, statics, alone, again, chosen, options)

        return Compiled(jitted, pending, staged)

    if captures == "freeze" or not may_change(callee.target):
        only = compiled(callee.target)
        again = _opening(lambda *values: finish(only.jitted(*values), only.pending))
        made = canonical.forwarder(
            only.jitted, static=statics, finish=only.pending.finish, again=again, opens=False, trims=trims
        )
        return with_stages(made, lambda: [only], lambda: only)
    count = None if trims and canonical.has_defaults else len(canonical)
    finished = None if captures == "argument" else lambda found: Finished(found.jitted, finish, found.pending, count)
    programs = Recaptured(callee.target, compiled, mode=captures, name=callee.name, share=True, finished=finished)

    def call_with_arguments(*values: Any) -> Any:
        found = programs.now()
        captured = programs.arguments()
        out = found.jitted(*values, captured) if captured else found.jitted(*values)
        programs.learn()
        return finish(out, found.pending)

    if finished is None:
        programs.run = call_with_arguments
    again = _opening(lambda *values: programs.run(*values))
    made = canonical.forwarder(programs.running, static=statics, again=again, opens=False, trims=trims)
    return with_stages(made, lambda: list(programs.made.values()), programs.now)


def _opening(call: Callable[..., Any]) -> Again:
    """`call` for arguments among which are objects with `__jax_array__`, which JAX refuses."""

    def again(*values: Any) -> Any:
        given, originals = opened(values)
        try:
            return built(call(*given), originals)
        except Exception as error:
            recover(error)
            raise

    return Again(holds_array_like, again)


# ------------------------------------------------------------------ what JAX traces

_PROGRAM = "__autograph_jax_program__"


def _program(body: Callable[..., Any], target: Any) -> tuple[Callable[..., Any], Pending]:
    """What `jax.jit` gets in place of the function; and what is to be done with its output, once it has returned.

    Kept with the body, so that `ag.jit(f)` in a loop compiles once: JAX caches by the identity of what it gets.
    """
    kept = vars(body).get(_PROGRAM)
    if kept is None:
        kept = vars(body)[_PROGRAM] = _make_program(body, target)
    return kept


def _make_program(body: Callable[..., Any], target: Any) -> tuple[Callable[..., Any], Pending]:
    pending = Pending()

    def program(*values: Any) -> Any:
        before = checks.made()
        with ordered.collecting():
            out = _result(body, target, values)
        if checks.made() > before:
            pending.add(SETTLE)
        elif outputs.has_choice(out):
            pending.add(WAIT)
        elif outputs.has_kept(out):
            pending.add(BUILD)
        return out

    functools.update_wrapper(program, body)
    return program, pending


def _alone(body: Callable[..., Any], target: Any) -> Callable[..., Any]:
    """The same for `lower`: nobody waits for what is compiled of it."""

    def program(*values: Any) -> Any:
        return _result(body, target, values)

    return functools.update_wrapper(program, body)


def _result(body: Callable[..., Any], target: Any, values: Sequence[Any]) -> Any:
    def result(*values: Any, programs: int = 1) -> Any:
        return outputs.packed([checks.result_of(body, *values, programs=programs)])

    if not is_whole(target):
        return result(*values)
    inner = functools.wraps(body)(functools.partial(result, programs=2))
    return as_a_whole(inner, body.__name__, optimizations_of(target))(*values)


_WITH_ARGUMENTS = "__autograph_jax_with_arguments__"


def _with_arguments(body: Any, target: Any, names: tuple[str, ...]) -> Callable[..., Any]:
    """The body with one argument more: what the function closes over and has been lifted."""
    kept = vars(body).setdefault(_WITH_ARGUMENTS, {})

    def with_arguments(*values: Any) -> Any:
        *given, captured = values
        found = snapshot(target, lift=True)
        with holding(list(found.lifted.values()), captured, foreign=found.foreign):
            return body(*given)

    if names not in kept:
        kept[names] = functools.update_wrapper(with_arguments, body, updated=())
        del with_arguments.__wrapped__
    return kept[names]
