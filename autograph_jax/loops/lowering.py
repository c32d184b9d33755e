"""Where loops become XLA's: as the programs that `compiled.py` makes of them, with what was chosen and this platform has.

The scans of converted loops are lax's own, so that every transform and every tool knows them. They say what was chosen in their
`unroll`, a number that transforms hand on; so do sorts in their `num_keys` and products in their `precision`. Their lowerings
are in JAX's table; ours stand before them, and hand them all others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.core import Tracer
from jax.extend import source_info_util
from jax.extend.core import ClosedJaxpr, JaxprEqn, Var
from jax.extend.core.primitives import dot_general_p, jit_p, scan_p, sort_p
from jax.interpreters import mlir

from autograph_jax.loops import collecting, small_products, sorts
from autograph_jax.loops.axes import is_split
from autograph_jax.loops.building import Builder
from autograph_jax.loops.by_itself import for_its_platform
from autograph_jax.loops.compiled import compiled, compiled_as_a_whole
from autograph_jax.loops.evaluation import as_function
from autograph_jax.loops.nests import in_blocks
from autograph_jax.loops.optimizations import NONE, ON_CPU_ALONE, Choosing, ChoosingName, ChoosingPair, Chosen
from autograph_jax.loops.tracing import traced

try:
    from jax._src.interpreters.mlir import _lowerings, _platform_specific_lowerings

    _scan_of_lax: Any = _lowerings[scan_p].rule
    _sort_of_lax: Any = _lowerings[sort_p].rule
    _call_of_jax: Any = _lowerings[jit_p].rule
    _product_of_lax: Any = _platform_specific_lowerings["cpu"][dot_general_p].rule
except (ImportError, AttributeError, KeyError):  # pragma: no cover - a JAX that has moved it
    _scan_of_lax = _sort_of_lax = _product_of_lax = _call_of_jax = None


def unroll(chosen: Chosen) -> int:
    """For lax.scan. A JAX that checks its programs wants an int there and nothing else."""
    has_checks = jax.config.jax_enable_checks  # pyright: ignore[reportAttributeAccessIssue]
    return 1 if _scan_of_lax is None or has_checks else Choosing(1, chosen)


def available(lowering: Any, chosen: Chosen) -> Chosen:
    """What there is of it: some is for one CPU, and for programs that are compiled here and now."""
    context = lowering.module_context
    axes = context.axis_context
    devices = axes.mesh.size if hasattr(axes, "mesh") else axes.num_devices
    is_elsewhere = getattr(context.lowering_parameters, "for_export", False) or any(map(is_split, lowering.avals_in))
    if tuple(lowering.platforms or context.platforms) == ("cpu",) and devices == 1 and not is_elsewhere:
        return chosen
    return chosen - ON_CPU_ALONE


def lowering_of(run: Callable[..., list[Any]], primitive: Any = None) -> Callable[..., Any]:
    """The rule of a primitive with a parameter `loop`: what it runs, compiled with what that loop says.

    That of a loop itself may be in blocks, where the `primitive` is given.
    """

    def rule(lowering: Any, *operands: Any, loop: Any, **params: Any) -> Any:
        with collecting.seldom():
            return lowered(lowering, *operands, loop=loop, **params)

    def lowered(lowering: Any, *operands: Any, loop: Any, **params: Any) -> Any:
        chosen = available(lowering, loop.optimize)
        if primitive is not None and (found := in_blocks(loop, primitive, chosen, compiled)) is not None:
            return _lowered(lowering, found, operands)
        closed = loop.program(run, params, lowering.avals_in)
        return _lowered(lowering, compiled(closed, (), chosen), operands)

    return for_its_platform(rule)


@for_its_platform
def _lowered_scan(lowering: Any, *operands: Any, **params: Any) -> Any:
    if not isinstance(params["unroll"], Choosing):
        return _scan_of_lax(lowering, *operands, **params)
    chosen = available(lowering, params["unroll"].chosen)
    params["unroll"] = int(params["unroll"])
    closed = _of_one(lowering, scan_p, params) or traced(functools.partial(scan_p.bind, **params), lowering.avals_in)
    made = compiled(closed, (), chosen)
    if made is closed:
        return _scan_of_lax(lowering, *operands, **params)
    return _lowered(lowering, made, operands)


def _of_one(lowering: Any, primitive: Any, params: dict[str, Any]) -> ClosedJaxpr | None:
    """The program of the one equation that is lowered, of a loop without effects. None where the context doesn't tell all."""
    body = params["jaxpr"]
    if body.effects or lowering.avals_out is None or lowering.jaxpr_eqn_ctx is None:
        return None
    outputs, here = [*map(Var, lowering.avals_out)], source_info_util.current()
    builder = Builder(lowering.avals_in)
    equation = JaxprEqn(builder.inputs, outputs, primitive, params, set(), here, lowering.jaxpr_eqn_ctx)
    return builder.program(body.jaxpr, builder.again(equation, builder.inputs))


def _lowered(lowering: Any, closed: ClosedJaxpr, operands: Sequence[Any]) -> Any:
    """What a program gives. It is not traced again for that where it is plain: an equation takes a tenth of the time so."""
    if closed.effects or closed.consts or getattr(closed.jaxpr, "is_high", False):
        return mlir.lower_fun(as_function(closed), multiple_results=True)(lowering, *operands)
    module = lowering.module_context
    module = module if lowering.platforms is None else module.replace(platforms=lowering.platforms)
    results, tokens = mlir.jaxpr_subcomp(
        module, closed.jaxpr, lowering.name_stack, lowering.tokens_in, (), *operands,
        dim_var_values=lowering.dim_var_values, const_lowering=lowering.const_lowering, outer_traceback=lowering.traceback,
    )  # fmt: skip
    lowering.set_tokens_out(tokens)
    return results


def as_a_whole(function: Callable[..., Any], name: str, chosen: Chosen) -> Callable[..., Any]:
    """A function whose loops are compiled together with what is around them in it: a call of it, where it is staged."""

    @functools.wraps(function)
    def call(*values: Any) -> Any:
        traced = [[isinstance(leaf, Tracer) for leaf in jax.tree.leaves(value)] for value in values]
        is_given = [bool(leaves) and all(leaves) for leaves in traced]

        @functools.wraps(function)
        def run(*given: Any) -> Any:
            left = iter(given)
            return function(*(next(left) if is_one else value for is_one, value in zip(is_given, values, strict=True)))

        run.__name__ = ChoosingName(name, chosen)
        return jax.jit(run)(*(value for is_one, value in zip(is_given, values, strict=True) if is_one))

    return call


sees_calls = _call_of_jax is not None  # else a function cannot be compiled as a whole


def _lowered_call(lowering: Any, *operands: Any, **params: Any) -> Any:
    name = params["name"]
    rule = _lowered_whole if isinstance(name, ChoosingName) else _call_of_jax
    return rule(lowering, *operands, **params)


@for_its_platform
def _lowered_whole(lowering: Any, *operands: Any, **params: Any) -> Any:
    closed = params["jaxpr"]
    made = compiled_as_a_whole(closed, available(lowering, params["name"].chosen))
    if made is closed:
        return _call_of_jax(lowering, *operands, **params)
    return _lowered(lowering, made, operands)


def _lowered_sort(lowering: Any, *operands: Any, num_keys: int, **params: Any) -> Any:
    chosen = available(lowering, num_keys.chosen) if isinstance(num_keys, Choosing) else NONE
    if "sorts" not in chosen or not sorts.are_few(lowering.avals_in, num_keys=num_keys, **params):
        return _sort_of_lax(lowering, *operands, num_keys=int(num_keys), **params)

    def run(*values: Any) -> list[Any]:
        return sorts.by_counting(*values, **params)

    return mlir.lower_fun(run, multiple_results=True)(lowering, *operands)


def _lowered_product(lowering: Any, *operands: Any, precision: Any, **params: Any) -> Any:
    """On the CPU."""
    if isinstance(precision, ChoosingPair):
        is_chosen = "products" in available(lowering, precision.chosen)
        if is_chosen and small_products.are_small(lowering.avals_in, precision=precision, **params):
            run = functools.partial(small_products.written_out, **params)
            return mlir.lower_fun(run, multiple_results=False)(lowering, *operands)
        precision = tuple(precision)
    return _product_of_lax(lowering, *operands, precision=precision, **params)


if _scan_of_lax is not None:
    mlir.register_lowering(sort_p, _lowered_sort)
    mlir.register_lowering(scan_p, _lowered_scan)
    mlir.register_lowering(jit_p, _lowered_call, cacheable=False)
    mlir.register_lowering(dot_general_p, _lowered_product, platform="cpu")
