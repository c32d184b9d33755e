"""`ag.explain(f, *args)`: trace a call once more, listen to the operators, and tell by line what became of it."""

from __future__ import annotations

import time
import types
from collections.abc import Callable, Iterable, Iterator
from inspect import Parameter, signature
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun

from autograph_jax.explaining import compiling, equations, optimized, sources
from autograph_jax.explaining.explanation import Explanation, Function, Line
from autograph_jax.operators import decisions
from autograph_jax.runtime.captures import captures
from autograph_jax.runtime.decorator import innermost
from autograph_jax.runtime.jit import jit
from autograph_jax.runtime.stages import trace_anew

_NAMES = {"cond": "if", "scan": "for", "while": "while"}
_MOST_CODE = 6000  # characters of a line's operations
_MOST_CAPTURES = 8


def explain(function: Callable[..., Any], /, *args: Any, compile: bool = True, **kwargs: Any) -> Explanation:
    """What each line of a function becomes in a call with these arguments, as `ag.jit` would compile it; it is not run.

    Of each `if` and loop: what it is staged as, what it carries with dtypes and shapes, or why Python decides it and how many
    turns it unrolls, and what it is compiled with (docs/optimizations.md); of the other lines how many operations they compute,
    and of what type; which calls are converted; what is captured; which derivatives there are; how long tracing takes, and the
    compiler, unless `compile=False`: for the whole, and for each outermost block, compiled once more as a program of its own.

    Arguments are those of the call; arrays and numbers are traced. What `jax.jit` refuses, strings and functions for example,
    is static, as are the static arguments of a function that `ag.jit` has made.

        >>> def root(a):
        ...     x = a
        ...     while abs(x * x - a) > 1e-6:
        ...         x = 0.5 * (x + a / x)
        ...     return x
        >>> explain(root, 2.0).answer[0]
        'root: 1 while staged, no loop left to Python; 8 operations'

    The result prints itself; `html()` gives a page, `data()` the same for JSON. Raises what tracing the call raises.
    """
    heard: list[decisions.Decision] = []
    trace, static = tracer(function, args, kwargs)
    with decisions.listening(heard.append):
        began = time.perf_counter()
        traced = trace(*args, **kwargs)
        trace_seconds = time.perf_counter() - began
    compile_seconds = compiling.whole(traced) if compile else None
    return _explained(_unwrapped(function), traced.jaxpr, heard, static, trace_seconds, compile_seconds)


def _unwrapped(function: Any) -> Any:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def tracer(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """What traces a call of a function, and the arguments that are static because JAX takes no such values."""
    if (anew := trace_anew(function)) is not None:
        return anew, ()
    if isinstance(function, jax.stages.Wrapped):
        function = _unwrapped(function)
    static = static_arguments(function, args, kwargs)
    anew = trace_anew(jit(function, **as_options(static)))
    assert anew is not None
    return anew, tuple(f"{place}={_short(value)}" for place, value in static.items())


def static_arguments(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[int | str, Any]:
    """The arguments that JAX takes no tracers for, strings and functions for example, by name; those in `*args` by number."""
    return {place: value for place, value in _places(function, args, kwargs) if not _all_traceable(value)}


def as_options(static: Iterable[int | str]) -> dict[str, Any]:
    """How `jit` is told of them."""
    numbers, names = ([place for place in static if isinstance(place, kind)] for kind in (int, str))
    return {"static_argnums": numbers or None, "static_argnames": names or None}


def _places(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[int | str, Any]]:
    """The arguments of a call, by name; those in `*args` by their number."""
    bound = signature(function).bind(*args, **kwargs)
    for name, value in bound.arguments.items():
        match bound.signature.parameters[name].kind:
            case Parameter.VAR_POSITIONAL:
                yield from enumerate(value, len(bound.args) - len(value))
            case Parameter.VAR_KEYWORD:
                yield from value.items()
            case _:
                yield name, value


def _all_traceable(value: Any) -> bool:
    return all(map(_is_traceable, jax.tree.leaves(value)))


def _is_traceable(leaf: Any) -> bool:
    return isinstance(
        leaf, bool | int | float | complex | np.generic | np.ndarray | jax.Array | jax.ShapeDtypeStruct
    ) or hasattr(leaf, "__jax_array__")


def _explained(
    function: Any,
    closed: Any,
    heard: list[decisions.Decision],
    static: tuple[str, ...],
    trace_seconds: float,
    compile_seconds: float | None,
) -> Explanation:
    name, first = _first_place(function)
    found = equations.by_line(closed.jaxpr, first)
    decided = {d.location.filename: {} for d in heard}
    for decision in heard:
        lines = decided[decision.location.filename]
        lines.setdefault(decision.location.line, []).append(decision)
    made = optimized.by_line(closed.jaxpr, first)
    places = [first, *found, *((file, line) for file, lines in decided.items() for line in lines)]
    spans = _spans(first, places)
    is_compiled = compile_seconds is not None
    functions = tuple(
        _function(span, found, decided.get(span.file, {}), made, _own(function, span), is_compiled) for span in spans
    )
    count = sum(len(line.own) for line in found.values())
    derivatives = _derivatives(closed)
    summary = _answer(name, functions, count, derivatives, trace_seconds, compile_seconds)
    return Explanation(
        name, summary, functions, static, _captured(function), derivatives, count, trace_seconds, compile_seconds
    )


def _spans(first: equations.Place, places: list[equations.Place]) -> list[sources.Span]:
    """The functions of these lines, each with what is inside of it; the one that was asked for comes first."""
    asked = sources.span_at(*first)
    found = [asked] if asked is not None else []
    for file, line in places:
        is_inside = asked is not None and file == asked.file and asked.first <= line <= asked.last
        if not is_inside and (span := sources.span_of(file, line)) is not None:
            found.append(span)
    return list(dict.fromkeys(found))


def _first_place(function: Any) -> tuple[str, tuple[str, int]]:
    plain = innermost(function)
    return plain.__qualname__.rpartition(".<locals>.")[2], (plain.__code__.co_filename, plain.__code__.co_firstlineno)


def _own(function: Any, span: sources.Span) -> types.FunctionType | None:
    plain = innermost(function)
    is_it = plain.__code__.co_filename == span.file and span.first <= plain.__code__.co_firstlineno <= span.last
    return plain if is_it else None


def _function(
    span: sources.Span,
    found: dict[equations.Place, equations.Operations],
    decided: dict[int, list[decisions.Decision]],
    made: dict[equations.Place, list[str]],
    function: types.FunctionType | None,
    is_compiled: bool,
) -> Function:
    calls = sources.calls_of(span, function)

    def further(number: int) -> tuple[str, ...]:
        return (*calls.get(number, ()), *made.get((span.file, number), ()))

    lines = [
        _line(number, text, found.get((span.file, number)), decided.get(number, []), further(number), is_compiled)
        for number, text in span.lines()
    ]
    return Function(span.name, span.file, tuple(lines))


def _line(
    number: int,
    text: str,
    operations: equations.Operations | None,
    decided: list[decisions.Decision],
    calls: tuple[str, ...],
    is_compiled: bool,
) -> Line:
    count, cost = (operations.count, operations.cost) if operations else (0, 0)
    code = _code(operations) if operations else ""
    staged = [decision for decision in decided if decision.how != "python"]
    if staged:
        # A loop that may return is told of before the branch that follows it, and stands on the same line.
        last = ([decision for decision in staged if decision.how != "cond"] or staged)[-1]
        what = "select, of both branches" if _is_selected(operations) else last.what
        apart = compiling.apart(operations) if is_compiled else 0.0
        return Line(number, text, last.how, what, (*last.details, *calls), count, cost, code, last.seconds, apart)
    if decided:
        turns = max((decision.turns or 0 for decision in decided), default=0)
        why = [decision.why for decision in decided if decision.why]
        what = f"Python, unrolled x{turns}" if turns else "Python"
        return Line(number, text, "python", what, (*dict.fromkeys(why), *calls), count, cost, code)
    if operations is None:
        return Line(number, text, details=calls)
    what = f"{_counted(count)}, {operations.result}"
    return Line(number, text, "traced", what, calls, count, cost, code)


def _counted(operations: int) -> str:
    return f"{operations} operation{'' if operations == 1 else 's'}"


def _is_selected(operations: equations.Operations | None) -> bool:
    """Has `vmap` made both branches run, and choose by element?"""
    names = {operation.equation.primitive.name for operation in operations.own} if operations else set()
    return "select_n" in names and not names & {"cond", "scan", "while"}


def _code(operations: equations.Operations) -> str:
    """A line's operations as JAX prints them; of one with a program inside that program, too."""
    text = "\n".join(str(operation.equation) for operation in operations.own)
    return text if len(text) <= _MOST_CODE else f"{text[:_MOST_CODE]}\n... {len(text) - _MOST_CODE} more characters"


# The answer ------------------------------------------------------------------------------------------


def _answer(
    name: str,
    functions: tuple[Function, ...],
    operations: int,
    derivatives: dict[str, str],
    trace_seconds: float,
    compile_seconds: float | None,
) -> tuple[str, ...]:
    lines = [line for function in functions for line in function.lines]
    counts = [(len([line for line in lines if line.kind == kind]), _NAMES[kind]) for kind in ("while", "scan", "cond")]
    staged = ", ".join(f"{count} {kind}" for count, kind in counts if count) or "nothing"
    left = [line for line in lines if line.kind == "python" and line.what.startswith("Python, unrolled")]
    python = f"{len(left)} loop{'s' * (len(left) > 1)} unrolled by Python" if left else "no loop left to Python"
    took = f"traced in {trace_seconds:.3g} s" + (f", compiled in {compile_seconds:.3g} s" if compile_seconds else "")
    differentiates = "; ".join(f"{mode} mode: {said}" for mode, said in derivatives.items())
    if derivatives["reverse"] == "yes" and any(line.kind == "while" for line in lines):
        differentiates += ", with checkpoints in loops of an unknown number of turns"
    return f"{name}: {staged} staged, {python}; {_counted(operations)}", f"{differentiates}; {took}"


def _derivatives(closed: Any) -> dict[str, str]:
    """Whether the program differentiates by its floating-point inputs, forward and in reverse, and if not, why."""
    run, avals = jaxpr_as_fun(closed), closed.in_avals
    chosen = [number for number, aval in enumerate(avals) if jnp.issubdtype(aval.dtype, jnp.inexact)]
    if not chosen or not any(jnp.issubdtype(aval.dtype, jnp.inexact) for aval in closed.out_avals):
        return {"forward": "no floats to differentiate", "reverse": "no floats to differentiate"}

    def of_floats(floats: list[Any], others: list[Any]) -> list[Any]:
        given = dict(zip(chosen, floats, strict=True))
        remaining = iter(others)
        out = run(*(given[n] if n in given else next(remaining) for n in range(len(avals))))
        return [value for value in out if jnp.issubdtype(value.dtype, jnp.inexact)]

    def forward(floats: list[Any], others: list[Any]) -> Any:
        return jax.jvp(lambda *values: of_floats(list(values), others), tuple(floats), tuple(floats))

    def reverse(floats: list[Any], others: list[Any]) -> Any:
        out, pull = jax.vjp(lambda *values: of_floats(list(values), others), *floats)
        return pull(out)

    shapes = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]
    floats = [shapes[n] for n in chosen]
    others = [shape for n, shape in enumerate(shapes) if n not in chosen]
    return {name: _tried(mode, floats, others) for name, mode in (("forward", forward), ("reverse", reverse))}


def _tried(mode: Any, *shapes: Any) -> str:
    try:
        jax.eval_shape(mode, *shapes)
    except Exception as error:
        return f"no, {type(error).__name__}: {str(error).partition(chr(10))[0][:100]}"
    return "yes"


def _captured(function: Any) -> tuple[str, ...]:
    try:
        found = captures(function)
    except Exception:  # an object that cannot be looked into
        return ()
    shown = [
        f"{capture.name}={_short(capture.value)}" for capture in found if not isinstance(capture.value, types.FunctionType)
    ]
    more = [f"and {len(shown) - _MOST_CAPTURES} more"] if len(shown) > _MOST_CAPTURES else []
    return (*shown[:_MOST_CAPTURES], *more)


def _short(value: Any) -> str:
    if isinstance(value, jax.Array | np.ndarray):
        return f"{value.dtype}[{','.join(map(str, value.shape))}]"
    text = getattr(value, "__qualname__", None) or repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
