"""How reverse mode takes a primitive apart that computes values and their tangents at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jax.extend.core import Primitive
from jax.interpreters import partial_eval

Split = Callable[..., tuple[list[Any], Primitive, list[Any], dict[str, Any]]]


def register(
    primitive: Primitive,
    counts: Callable[..., tuple[int, int]],
    split: Split,
    keep: Callable[..., tuple[Primitive, dict[str, Any]]],
) -> None:
    """`counts` gives how many operands, and how many results, are no tangents; these come first.

    `split` runs what is known, and gives its results and the linear primitive with its known operands; `keep` gives the
    primitive that computes the values alone.
    """

    def rule(trace: Any, *tracers: Any, **params: Any) -> list[Any]:
        count, _ = counts(**params)
        known = [tracer.pval.get_known() for tracer in tracers[:count]]
        if any(value is None for value in known) or all(tracer.is_known() for tracer in tracers[count:]):
            return trace.default_process_primitive(primitive, tracers, params)
        out, linear, operands, more = split(*known, **params)
        waiting = [*map(trace.to_jaxpr_tracer, operands), *tracers[count:]]
        return [*map(trace.to_jaxpr_tracer, out), *trace.default_process_primitive(linear, waiting, more)]

    def custom(saveable: Any, unknown: Sequence[bool], instantiated: Sequence[bool], equation: Any) -> Any:
        """Under jax.checkpoint: the values are computed, and all of it once more with the tangents."""
        count, results = counts(**equation.params)
        more = [v for v, there in zip(equation.invars, instantiated, strict=True) if not there and not hasattr(v, "val")]
        if any(unknown[:count]):
            everything = [True] * len(equation.outvars)
            return None, equation, everything, everything, more
        value_primitive, params = keep(**equation.params)
        outvars = equation.outvars[:results]
        effects = value_primitive.abstract_eval(*(v.aval for v in equation.invars[:count]), **params)[1]
        known = equation.replace(
            invars=equation.invars[:count], outvars=outvars, primitive=value_primitive, params=params, effects=effects
        )
        is_unknown = [False] * results + [True] * (len(equation.outvars) - results)
        return known, equation, is_unknown, [True] * len(equation.outvars), more

    partial_eval.custom_partial_eval_rules[primitive] = rule
    partial_eval.partial_eval_jaxpr_custom_rules[primitive] = custom
