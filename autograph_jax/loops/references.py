"""Loops and branches over references, `jax.new_ref`: what these hold is carried, and put back afterwards: it has derivatives,
and lanes.

References that a turn makes for itself are made values of here, as JAX does it before it compiles a program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from autograph_jax.loops.building import with_consts_given
from autograph_jax.loops.loop import split
from autograph_jax.loops.tracing import traced

try:
    from jax._src.interpreters.pxla import _discharge_internal_refs
except ImportError:  # pragma: no cover - a JAX that has moved it: such a loop is lax's then
    _discharge_internal_refs = None

Programs = tuple[ClosedJaxpr, ClosedJaxpr, tuple[int, int]]  # of a loop: the test, the turn, and how many constants each has


def are_in(*programs: ClosedJaxpr) -> bool:
    """Do programs read, write or make references?"""
    effects = frozenset().union(*(program.effects for program in programs))
    return any(hasattr(effect, "input") or type(effect).__name__ == "InternalMutableArrayEffect" for effect in effects)


are_known = _discharge_internal_refs is not None


def carried(programs: Programs, operands: Sequence[Any], bind: Callable[..., Sequence[Any]]) -> list[Any]:
    """What a loop gives; `bind` stages one of values alone, given its programs and its operands."""
    cond, body, counts = programs
    of_cond, of_body, carry = split(operands, *counts)
    references = list({id(x): x for x in (*of_cond, *of_body) if _is_reference(x)}.values())
    values = [reference[...] for reference in references]

    def of_values(closed: ClosedJaxpr, consts: Sequence[Any], *, is_turn: bool) -> ClosedJaxpr:
        plain = [x for x in consts if not _is_reference(x)]

        def run(*given: Any) -> list[Any]:
            own, state, held = split(given, len(plain), len(carry))
            made = {id(one): jax.new_ref(value) for one, value in zip(references, held, strict=True)}
            remaining = iter(own)
            out = jaxpr_as_fun(closed)(*(made[id(x)] if _is_reference(x) else next(remaining) for x in consts), *state)
            return [*out, *(one[...] for one in made.values())] if is_turn else list(out)

        return _without_references(traced(run, [*map(jax.typeof, [*plain, *carry, *values])]))

    plain = [[x for x in consts if not _is_reference(x)] for consts in (of_cond, of_body)]
    turn = of_values(body, of_body, is_turn=True)
    new = of_values(cond, of_cond, is_turn=False), turn, (len(plain[0]), len(plain[1]))
    return _put_back(bind(new, [*plain[0], *plain[1], *carry, *values]), references, [turn])


def chosen(predicate: Any, then: ClosedJaxpr, otherwise: ClosedJaxpr) -> list[Any]:
    """What one of two programs without inputs gives, whose constants are references, too."""
    references = list({id(x): x for x in (*then.consts, *otherwise.consts) if _is_reference(x)}.values())
    values = [reference[...] for reference in references]

    def of_values(closed: ClosedJaxpr) -> ClosedJaxpr:
        def run(*held: Any) -> list[Any]:
            made = {id(one): jax.new_ref(value) for one, value in zip(references, held, strict=True)}
            out = jaxpr_as_fun(with_consts_given(closed))(*(made.get(id(const), const) for const in closed.consts))
            return [*out, *(one[...] for one in made.values())]

        return _without_references(traced(run, [*map(jax.typeof, values)]))

    branches = [of_values(then), of_values(otherwise)]
    return _put_back(jax.lax.cond(predicate, *map(jaxpr_as_fun, branches), *values), references, branches)


def _put_back(out: Sequence[Any], references: Sequence[Any], programs: Sequence[ClosedJaxpr]) -> list[Any]:
    """All but the last values, which are what references hold now, where any of these programs has changed it."""
    count = len(out) - len(references)
    inputs = len(programs[0].jaxpr.invars) - len(references)
    for number, reference in enumerate(references):
        if any(one.jaxpr.outvars[count + number] is not one.jaxpr.invars[inputs + number] for one in programs):
            reference[...] = out[count + number]
    return list(out[:count])


def _is_reference(value: Any) -> bool:
    return hasattr(jax.typeof(value), "inner_aval")


def _without_references(closed: ClosedJaxpr) -> ClosedJaxpr:
    assert _discharge_internal_refs is not None
    return _discharge_internal_refs(closed) if closed.effects else closed
