"""The few things of JAX's that have no public name, each behind a guard; tests/operators/test_jax_private.py notices moves."""

from __future__ import annotations

import logging
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax.interpreters import mlir

try:
    from jax._src import callback as _callback
    from jax._src import core as _core
    from jax._src import debugging as _debugging
    from jax._src import dtypes as _dtypes
    from jax._src import effects as _effects
    from jax._src import shard_map as _shard_map
    from jax._src import source_info_util as _source_info
    from jax._src.interpreters import batching as _batching
    from jax._src.interpreters import partial_eval as _partial_eval
    from jax._src.lax import lax as _lax
    from jax._src.numpy import array_methods as _array_methods

    _STAGES: tuple[type, ...] = (_partial_eval.DynamicJaxprTrace, _shard_map.ShardMapTrace)
    _STAGING: tuple[type, ...] = (_partial_eval.DynamicJaxprTrace, _batching.BatchTrace, _shard_map.ShardMapTrace)
    _to_concrete = _core.to_concrete_value
    _current = _core.trace_ctx
    _canonical = _dtypes.canonicalize_value
    _equalities = {_array_methods._operator_eq.__code__, _array_methods._operator_ne.__code__}
except (ImportError, AttributeError):  # pragma: no cover - a JAX that has moved them
    _core = _lax = _debugging = _source_info = None
    _STAGES = _STAGING = ()
    _to_concrete = _current = _canonical = None
    _equalities = set()


def tracing() -> bool:
    """Is some value abstract at present (jit, vmap, a staged block), so that trying things out costs little?

    Under an eager `jax.grad` values stay concrete: there Python runs as Python.
    """
    return _is_within(_STAGING)


def staging() -> bool:
    """Is a program made at present (jit, shard_map, a staged block), which runs later?"""
    return _is_within(_STAGES)


def transforming() -> bool:
    """Does JAX trace at all, be it for an eager `jax.grad`?"""
    return getattr(current_trace(), "parent_trace", None) is not None


def is_outermost(programs: int = 1) -> bool:
    """Is the program that is being made, or so many in each other, no part of another, and of nothing else that JAX traces?"""
    around = current_trace()
    for _ in range(programs):
        around = getattr(around, "parent_trace", None)
    return around is not None and getattr(around, "parent_trace", None) is None


def _is_within(kinds: tuple[type, ...]) -> bool:
    if _current is None:  # pragma: no cover
        return isinstance(jnp.zeros(()) + 0, jax.core.Tracer)
    trace = _current.trace
    while trace is not None:
        if isinstance(trace, kinds):
            return True
        trace = getattr(trace, "parent_trace", None)
    return False


def is_equality(frame: types.FrameType) -> bool:
    """Is this where an array compares itself with something, by `==` or `!=`?"""
    return frame.f_code in _equalities


def current_trace() -> object:
    """What JAX does with operations at present: stage them, differentiate them, run them."""
    return object() if _current is None else _current.trace


def program_of(trace: Any) -> object:
    """The program that is being made where this goes on: a trace that maps or differentiates only adds to it."""
    while trace is not None and not isinstance(trace, _STAGES):
        trace = getattr(trace, "parent_trace", None)
    return trace


def constant_of(array: np.ndarray) -> Any:
    """What JAX makes of an array of NumPy's, as a constant. It gives the same again, by identity, while any program has it."""
    return _canonical(array) if _canonical is not None else None


def constants() -> list[tuple[dict[Any, Any], Any]]:
    """Of each program that is being made here: its constants by variable, and the tracers of these, by the constants' ids."""
    return [(frame.constvar_to_val, frame.constid_to_tracer) for frame in _frames()]


def may_have_constants() -> bool:
    """Is there a constant, or an operation, in any program that is being made here?"""
    return any(frame.tracing_eqns or frame.constvar_to_val for frame in _frames())


def _frames() -> Iterator[Any]:
    trace = current_trace()
    while trace is not None:
        for one in (trace, getattr(trace, "tangent_trace", None)):
            if (frame := getattr(one, "frame", None)) is not None:
                yield frame
        trace = getattr(trace, "parent_trace", None)


def outermost_program() -> Any:
    """The program that is being made here and is part of no other; None where none is."""
    trace, found = current_trace(), None
    while trace is not None:
        found = trace if isinstance(trace, _STAGES) else found
        trace = getattr(trace, "parent_trace", None)
    return found


def break_off() -> None:
    """An exception ends what JAX traces at present: JAX would keep constants in it, and what was computed of them, for good."""
    invalidate = getattr(_current.trace, "invalidate", None) if _current is not None else None
    if invalidate is not None:
        invalidate()


def reference_to_trace(forget: Callable[[Any], None] | None = None) -> Callable[[], Any]:
    """Gives what JAX does at present as long as that goes on, or is kept; `forget` is called when it is gone."""
    return weakref.ref(_current.trace, forget) if _current is not None else lambda: _current


def is_over(trace: Any) -> bool:
    """Is this over, a trace of JAX's or, where it is gone, None?"""
    return _current is not None and (trace is None or bool(getattr(trace, "_invalidated", False)))


def is_lost(value: Any) -> bool:
    """Is this a tracer of a trace that is over?"""
    if _current is None or not isinstance(value, jax.core.Tracer):
        return False
    trace = _current.trace
    while trace is not None and trace is not getattr(value, "_trace", None):
        trace = getattr(trace, "parent_trace", None)
    return trace is None


def is_abstract(tracer: jax.core.Tracer) -> bool:
    """Has this tracer no concrete value behind it (as it has under an eager `jax.grad`)?"""
    if _to_concrete is not None:
        return _to_concrete(tracer) is None
    try:  # pragma: no cover
        bool(jnp.all(tracer == tracer))
    except jax.errors.ConcretizationTypeError:  # pragma: no cover
        return True
    return False  # pragma: no cover


def is_own(value: Any) -> bool:
    """Is this a tracer of the block that is being traced, not of one around it?"""
    return isinstance(value, jax.core.Tracer) and (_current is None or getattr(value, "_trace", None) is _current.trace)


def is_over_with(tracer: jax.core.Tracer) -> bool:
    """Is this a tracer of the present trace or of one inside it, of no use when that is over?"""
    if _current is None:  # pragma: no cover
        return False
    around = _current.trace if getattr(jax.config, "jax_disable_jit", False) else getattr(_current.trace, "parent_trace", None)
    while around is not None and around is not getattr(tracer, "_trace", None):
        around = getattr(around, "parent_trace", None)
    return around is None


def concrete(tracer: jax.core.Tracer) -> Any:
    """The value behind a tracer of an eager `jax.grad`; None where there is none, or another trace goes on around it."""
    if _to_concrete is None or _current is None:  # pragma: no cover
        return None
    around = getattr(_current.trace, "parent_trace", None)
    return _to_concrete(tracer) if getattr(around, "parent_trace", None) is None else None


def primal(tracer: jax.core.Tracer) -> Any:
    """The value behind a tracer of derivatives, whatever else goes on around; None where there is none."""
    return _to_concrete(tracer) if _to_concrete is not None else None


def as_weak(value: Any, dtype: np.dtype) -> jax.Array:
    """The value as a weakly typed array, which promotes as a Python number would."""
    if _lax is None:  # pragma: no cover
        return value + (0 if np.issubdtype(dtype, np.integer) else 0.0)
    return cast(jax.Array, _lax._convert_element_type(value, dtype, weak_type=True))


def effect() -> Any:
    """An effect without an order, that of `jax.debug.callback`: whatever has it stays in a program."""
    return None if _debugging is None else _debugging.debug_effect


def ordered_effect() -> Any:
    """The effect of a call of Python that keeps its place in the order of the program, on several devices on each.

    To JAX it is the effect of `jax.debug.callback(ordered=True)`, so that the two are in one order.
    """
    if _debugging is None:  # pragma: no cover
        return None

    like = _debugging.ordered_debug_effect

    class Ordered(type(like)):
        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(like))

        def __hash__(self) -> int:
            return hash(like)

    _effects.shardable_ordered_effects.add_type(Ordered)
    return Ordered()


def kept_under_checkpoints() -> Any:
    """What `jax.checkpoint` does with a call of Python: what it does with `jax.debug.callback`."""
    if _debugging is None:  # pragma: no cover
        return None
    return _partial_eval.partial_eval_jaxpr_custom_rules[_debugging.debug_callback_p]


def device_count(lowering: Any) -> int:
    """On how many devices will a program run that is being lowered?"""
    axes = lowering.module_context.axis_context
    return axes.mesh.size if hasattr(axes, "mesh") else axes.num_devices


def is_for_cpus(lowering: Any) -> bool:
    """Is a program that is being lowered for CPUs alone?"""
    return tuple(lowering.platforms or lowering.module_context.platforms) == ("cpu",)


def axes_not_mapped(lowering: Any) -> tuple[str, ...]:
    """The axes of a mesh that a `shard_map` around does not map over, where it maps over others."""
    axes = lowering.module_context.axis_context
    return tuple(name for name in axes.mesh.axis_names if name not in axes.manual_axes) if hasattr(axes, "mesh") else ()


def has_order(program: Any) -> bool:
    """Holds a program that is being made something that keeps its place, as `jax.debug.callback(ordered=True)` does?"""
    equations = getattr(getattr(program, "frame", None), "tracing_eqns", None)
    if equations is None:
        return True  # as far as one knows
    effects = (effect for equation in equations for effect in getattr(equation, "effects", ()))
    return any(map(_effects.ordered_effects.contains, effects))


def call_python(lowering: Any, function: Callable[..., Any], effect: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """Lower a call of Python without results: on each device where a mesh is mapped over, else once for all.

    With an effect that has an order it keeps its place in it.
    """
    sharding = _callback._callback_op_sharding(lowering.module_context.axis_context, None, lowering.avals_out)
    is_ordered = _effects.ordered_effects.contains(effect)
    results, token, _ = _callback.emit_python_callback(
        lowering,
        function,
        lowering.tokens_in.get(effect) if is_ordered else None,
        list(operands),
        lowering.avals_in,
        lowering.avals_out,
        has_side_effect=True,
        returns_token=True,
        sharding=sharding,
    )
    if is_ordered:
        lowering.set_tokens_out(lowering.tokens_in.update_tokens(mlir.TokenSet({effect: token})))
    return results


def unlogged(is_known: Callable[[BaseException], bool]) -> None:
    """Keep JAX from logging the traceback of an exception that a callback raises on purpose; the caller gets it anyway."""

    def passes(record: logging.LogRecord) -> bool:
        return not (record.exc_info and record.exc_info[1] is not None and is_known(record.exc_info[1]))

    logging.getLogger("jax._src.debugging").addFilter(passes)


def user_frames(equation: Any) -> list[tuple[str, str, int]]:
    """Where an equation comes from, the innermost first: file, function and line; ours and JAX's own frames are left out."""
    if _source_info is None:  # pragma: no cover
        return []
    info = equation.source_info
    try:
        frames = _source_info.user_frames(info.traceback)
    except (TypeError, AttributeError):  # pragma: no cover - as older versions want it
        frames = _source_info.user_frames(info)
    return [(frame.file_name, frame.function_name, frame.start_line) for frame in frames]


def is_of_jax_itself(jaxpr: Any) -> bool:
    """Was this program traced from a function of JAX's own, which is traced once for all that call it?"""
    if _source_info is None:  # pragma: no cover
        return False
    file = str(jaxpr.debug_info.func_src_info or "").rpartition(" at ")[2].rpartition(":")[0]
    return bool(file) and not _source_info.is_user_filename(file)
