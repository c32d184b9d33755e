"""What a branch or loop takes from around it varies before: there all devices still run, where its derivatives are summed.

`y = w * x` with one `w` for all devices and an `x` for each has a derivative by w that is a sum over the devices. JAX sums
where w comes to vary, by `pvary`: here at the product. In a branch that not all devices take, the sum would wait for ever, or
be wrong. So a jaxpr is made anew for constants that vary from the start, and without its own `pvary`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.core
from jax.extend.core import ClosedJaxpr, Primitive, Var, jaxpr_as_fun, jaxprs_in_params
from jax.interpreters import ad, batching, mlir

from autograph_jax.errors import CollectiveError, Location, user_location
from autograph_jax.loops.axes import NONE, Axes, axes_of, axes_of_type, vary
from autograph_jax.loops.tracing import traced

_CALLS = ("jit", "pjit", "closed_call")


def varied(closed: ClosedJaxpr, axes: Axes) -> ClosedJaxpr:
    """A closed jaxpr that computes the same, of constants that vary over these axes. Arrays of no trace have no derivatives."""
    consts = [vary(const, axes) if isinstance(const, jax.core.Tracer) else const for const in closed.consts]
    if all(new is old for new, old in zip(consts, closed.consts, strict=True)):
        return closed
    return traced(lambda *operands: _evaluate(closed.jaxpr, consts, operands), closed.in_avals)


def _evaluate(jaxpr: Any, consts: Sequence[Any], operands: Sequence[Any]) -> list[Any]:
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *operands], strict=True))

    def read(atom: Any) -> Any:
        return atom.val if hasattr(atom, "val") else values[atom]

    for equation in jaxpr.eqns:
        given = [read(atom) for atom in equation.invars]
        values.update(zip(equation.outvars, _results(jaxpr, equation, given), strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _results(jaxpr: Any, equation: Any, given: list[Any]) -> Sequence[Any]:
    """What an equation gives for operands that may vary over more axes than those it was made for."""
    name = equation.primitive.name
    old = [axes_of_type(atom.aval) for atom in equation.invars]
    more = NONE.union(*(axes_of(value) - axes for value, axes in zip(given, old, strict=True)))
    if not more:
        return _run(jaxpr, equation, given)
    if name == "pvary":
        return [vary(given[0], frozenset(equation.params["axes"]))]
    if name in _CALLS:
        inner = equation.params["jaxpr"]
        return _evaluate(inner.jaxpr, inner.consts, given)
    if any(True for _ in jaxprs_in_params(equation.params)):  # a scan, a rule of somebody's: it is run as it was
        same = [_as_same(value, axes_of(value) - axes) for value, axes in zip(given, old, strict=True)]
        return [vary(result, more) for result in _run(jaxpr, equation, same)]
    return _run(jaxpr, equation, [vary(value, more) for value in given])


def _run(jaxpr: Any, equation: Any, given: Sequence[Any]) -> Sequence[Any]:
    """An equation by itself, as a jaxpr of its own, so that it keeps its line."""
    variables = [Var(atom.aval) for atom in equation.invars]
    alone = jaxpr.replace(
        constvars=[],
        invars=variables,
        eqns=[equation.replace(invars=variables)],
        outvars=equation.outvars,
        effects=equation.effects,
        debug_info=jaxpr.debug_info.with_unknown_names(),
    )
    return jaxpr_as_fun(ClosedJaxpr(alone, []))(*given)


def _as_same(value: Any, axes: Axes) -> Any:
    """The same value, typed as what it is, the same along these axes. A derivative by it would have to be summed."""
    return _same_p.bind(value, axes=axes, location=user_location()) if axes else value


def _no_transpose(cotangent: Any, value: Any, *, axes: Axes, location: Location | None) -> Any:
    if type(cotangent) is ad.Zero:
        return [None]
    along = ", ".join(sorted(map(repr, axes)))
    raise CollectiveError(
        f"a derivative is summed over {along} in a branch or loop that not all devices run alike",
        location=location,
        details=["It is by a value from outside that is the same on all devices, through a loop or rule of JAX's in there."],
        help=f"say before that each device has its own: `w = lax.pcast(w, ({along},), to='varying')`",
    )


_same_p = Primitive("same_on_all_devices")
_same_p.def_impl(lambda value, **_: value)
_same_p.def_abstract_eval(
    lambda aval, axes, location: aval.update(manual_axis_type=aval.manual_axis_type.update(varying=axes_of_type(aval) - axes))
)
mlir.register_lowering(_same_p, mlir.lower_fun(lambda value, **_: value, multiple_results=False))
batching.defvectorized(_same_p)
ad.deflinear2(_same_p, _no_transpose)
