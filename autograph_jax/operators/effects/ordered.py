"""A call of Python at run time, in the program's order: for print, raise and assert, on one device or on several.

On several devices each has an order of its own. None of them may be left in the middle, since others would wait for it at the
next collective, for ever: an exception is kept there, the device that has raised it is silent from then on, and a transform of
ours (`collecting`) raises it when the program is over. Where nobody would raise it, the program is refused.
So it is on one device other than a CPU, but for the refusal: an exception of a call would be raised by each later program that
has an order, too (jax-ml/jax#37587).

An order costs each call of a program some 100 microseconds, so what raises has one only behind what prints
(`ended.are_in_order`). A call costs as much: under vmap there is none where no lane has something to tell.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.interpreters import partial_eval as pe

from autograph_jax.errors import Location, StagingError, user_location
from autograph_jax.operators import jax_private

_collects = jax.make_user_context(False)  # part of the keys of JAX's caches
_CALLS_ON_SOME_AXES = jax.__version_info__ >= (0, 12)
_WHOLE = -1  # in place of a device: a call for all of them, of whole arrays
_one_at_a_time = threading.Lock()  # so that lines of several devices do not mix
# Module state: what devices have raised since somebody has looked, by their numbers. One thread at a time runs programs of
# several devices, or their collectives could wait for each other.
_kept: dict[int, BaseException] = {}


def collecting() -> AbstractContextManager[Any]:
    """Who traces a program meanwhile will call `wait` for what it gives."""
    return _collects(True)


def wait(out: Any) -> BaseException | None:
    """Wait until a program is over; gives what one of its devices has raised.

    While another program is traced around this one, that one's owner has to wait.
    """
    if jax_private.staging():
        if not _collects.value:
            _ordered.bind(call=None, raises=True, collected=False, location=user_location())
        return None
    leaves = jax.tree.leaves(out)
    try:
        if not leaves or any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            jax.effects_barrier()
        jax.block_until_ready(out)
        return _kept[min(_kept)] if _kept else None
    finally:
        _kept.clear()


def call(function: Callable[..., Any], due: Any, *operands: Any, raises: bool = False, has_order: bool = True) -> None:
    """Call a function with the values that operands have at run time. `raises`: its exceptions are meant for the caller.

    It does nothing where the first operand, `due`, is 0 or False: under vmap it is not called for lanes in which it is.
    Without an order each call of the program costs some 100 microseconds less, which JAX takes to keep it.
    """
    operands = (due, *operands)
    if _EFFECT is None:  # pragma: no cover
        jax.debug.callback(function, *operands, ordered=True)
        return
    collected = _collects.value
    axes = jax.sharding.get_abstract_mesh().manual_axes
    if collected:
        operands = (jax.lax.axis_index(axes) if axes else jnp.int32(_WHOLE), *operands)
    location = user_location() if axes or raises and not collected else None
    _ordered.bind(*operands, call=function, raises=raises, collected=collected, location=location, has_order=has_order)


def _of_one(call: Callable[..., Any], raises: bool, collected: bool, *operands: Any) -> tuple[()]:
    call(*operands[1:] if collected else operands)
    return ()


def _of_several(call: Callable[..., Any], raises: bool, collected: bool, *operands: Any) -> tuple[()]:
    number, operands = (int(operands[0]), operands[1:]) if collected else (_WHOLE, operands)
    if collected and (number in _kept or _WHOLE in _kept or number == _WHOLE and _kept):
        return ()
    try:
        with _one_at_a_time:
            call(*operands)
    except BaseException as error:
        if not (raises and collected):
            raise
        _kept[number] = error
    return ()


def _lowered(
    ctx: Any,
    *operands: Any,
    call: Callable[..., Any] | None,
    raises: bool,
    collected: bool,
    location: Location | None,
    has_order: bool = True,
    is_due: bool = False,
) -> Sequence[Any]:
    several = jax_private.device_count(ctx) > 1
    if several and raises and not collected:
        raise _nobody_raises(location)
    if call is None:
        ctx.set_tokens_out(ctx.tokens_in)
        return ()
    parameters: Any = dict(call=call, raises=raises, collected=collected, location=location, has_order=has_order)
    if axes := jax_private.axes_not_mapped(ctx):
        if not _CALLS_ON_SOME_AXES:
            raise _some_axes(location, axes)
        return mlir.lower_fun(functools.partial(_on_the_first, axes, parameters))(ctx, *operands)
    if not several and not is_due and ctx.avals_in[collected].shape:
        return mlir.lower_fun(functools.partial(_where_any_is_due, parameters))(ctx, *operands)
    keeps = several or not jax_private.is_for_cpus(ctx)
    run = functools.partial(_of_several if keeps else _of_one, call, raises, collected)
    return jax_private.call_python(ctx, lambda *values: run(*map(_copied, values)), _effect(has_order), operands)


def _some_axes(location: Location | None, axes: Sequence[str]) -> StagingError:
    return StagingError(
        f"print, assert and raise under a `shard_map` over some axes of a mesh, but not over {', '.join(map(repr, axes))}",
        location=location,
        details=[f"XLA ends the process there with jax {jax.__version__}; it works with jax 0.12."],
        help="map over all axes, use `jax.debug.print`, or return what is to be printed",
    )


def _on_the_first(axes: Sequence[str], parameters: Any, *operands: Any) -> Sequence[Any]:
    """Where some axes of a mesh are mapped over, and XLA shards along these: whole arrays, and one call."""

    def run(*operands: Any) -> list[Any]:
        first = jax.lax.axis_index(axes) == 0
        return jax.lax.cond(first, lambda: _ordered.bind(*operands, **parameters), list)

    specs = (jax.P(),) * len(operands)
    return jax.shard_map(run, in_specs=specs, out_specs=[], axis_names=set(axes), check_vma=False)(*operands)


def _where_any_is_due(parameters: Any, *operands: Any) -> Sequence[Any]:
    """One call of all lanes, where any of them has something to tell."""
    due = operands[parameters["collected"]]
    return jax.lax.cond(jnp.any(due != 0), lambda: _ordered.bind(*operands, **parameters, is_due=True), list)


def _copied(value: Any) -> np.ndarray:
    """The program's memory is its own when the call is over, and an exception keeps its values."""
    return np.array(value)


def _nobody_raises(location: Location | None) -> StagingError:
    return StagingError(
        "an exception that traced data decides about, on several devices",
        location=location,
        details=["None of them can be left in the middle, where others may wait for it, and nobody raises it at the end."],
        help="compile with `ag.jit` in place of `jax.jit`, which raises it when the program is over",
    )


def _lanes(
    operands: Sequence[Any], axes: Sequence[Any], *, call: Callable[..., Any], collected: bool, **parameters: Any
) -> Any:
    """Under vmap: one call of all lanes."""
    moved = [o if axis is None else jnp.moveaxis(o, axis, 0) for o, axis in zip(operands, axes, strict=True)]
    mapped = tuple(axis is not None for axis in (axes[1:] if collected else axes))
    _ordered.bind(*moved, call=functools.partial(_each, call, mapped), collected=collected, **parameters)
    return [], []


def _each(call: Callable[..., Any], mapped: Sequence[bool], due: Any, *operands: Any) -> None:
    """Call a function for each lane in which something is due."""
    first, *rest = mapped
    size = len(next(operand for operand, is_mapped in zip((due, *operands), mapped, strict=True) if is_mapped))
    for lane in np.flatnonzero(_is_due(due)) if first else range(size):
        own = (o[lane] if is_mapped else o for o, is_mapped in zip(operands, rest, strict=True))
        call(due[lane] if first else due, *own)


def _is_due(due: Any) -> Any:
    """For each lane, where that is one of another vmap: in any lane of that?"""
    return due.reshape(len(due), -1).any(axis=1)


def _run(*operands: Any, call: Callable[..., Any] | None, collected: bool, **_: Any) -> list[Any]:
    if call is not None:
        _of_one(call, True, collected, *operands)
    return []


def _effect(has_order: bool) -> Any:
    return _EFFECT if has_order else _WITHOUT_ORDER


_EFFECT, _WITHOUT_ORDER = jax_private.ordered_effect(), jax_private.effect()
_ordered = Primitive("ordered_callback")
_ordered.multiple_results = True
_ordered.def_impl(_run)
_ordered.def_effectful_abstract_eval(lambda *_, has_order=True, **__: ([], {_effect(has_order)}))
batching.primitive_batchers[_ordered] = _lanes
ad.primitive_jvps[_ordered] = lambda primals, _, **parameters: (_ordered.bind(*primals, **parameters), [])
ad.primitive_transposes[_ordered] = lambda _, *operands, **__: [None] * len(operands)
pe.partial_eval_jaxpr_custom_rules[_ordered] = jax_private.kept_under_checkpoints()
mlir.register_lowering(_ordered, _lowered, cacheable=False)
