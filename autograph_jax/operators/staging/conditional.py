"""One lax.cond of two finished programs: `jax.lax.cond` traces what it is given once more, 2 ms for a branch of a solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Var, jaxpr_as_fun
from jax.extend.core.primitives import cond_p

from autograph_jax.loops import references
from autograph_jax.loops.mapped import is_mapped
from autograph_jax.loops.tracing import traced
from autograph_jax.loops.written_out import branches_over_lanes, may_be_for_all


def conditional(predicate: jax.Array, then: ClosedJaxpr, otherwise: ClosedJaxpr) -> list[jax.Array]:
    """What one of two programs without inputs gives. What both give of what was there before stays that."""
    branches = otherwise, then
    effects = frozenset().union(*(branch.effects for branch in branches))
    has_references = references.are_in(*branches)
    if has_references and references.are_known:
        return references.chosen(predicate, then, otherwise)
    if has_references or any(map(_has_constants_twice, branches)):
        return list(jax.lax.cond(predicate, jaxpr_as_fun(then), jaxpr_as_fun(otherwise)))
    consts = list({id(const): const for branch in branches for const in branch.consts}.values())
    numbers = {id(const): number for number, const in enumerate(consts)}
    given = [{v: numbers[id(const)] for v, const in zip(b.jaxpr.constvars, b.consts, strict=True)} for b in branches]
    pairs = list(zip(otherwise.jaxpr.outvars, then.jaxpr.outvars, strict=True))
    handed_on = [_common([_number(atom, known) for known, atom in zip(given, pair, strict=True)]) for pair in pairs]
    wanted = [number for number, common in enumerate(handed_on) if common is None]
    avals = [jax.typeof(const) for const in consts]
    programs = tuple(_with_operands(b, avals, known, wanted, effects) for b, known in zip(branches, given, strict=True))
    index = jax.lax.convert_element_type(predicate, jnp.int32)
    if is_mapped(predicate) and may_be_for_all(programs):
        computed = iter(branches_over_lanes(programs, [index, *consts]))
    else:
        computed = iter(cond_p.bind(index, *consts, branches=programs))
    return [next(computed) if common is None else jnp.asarray(consts[common]) for common in handed_on]


def _has_constants_twice(branch: ClosedJaxpr) -> bool:
    return len({id(const) for const in branch.consts}) < len(branch.consts)


def _number(atom: Any, known: dict[Any, int]) -> int | None:
    return None if hasattr(atom, "val") else known.get(atom)


def _common(numbers: Sequence[int | None]) -> int | None:
    return numbers[0] if len(set(numbers)) == 1 else None


def _with_operands(
    branch: ClosedJaxpr, avals: Sequence[Any], known: dict[Any, int], wanted: Sequence[int], effects: frozenset[Any]
) -> ClosedJaxpr:
    """A program with these operands in place of its constants, of which it reads some, and with the outputs that are wanted."""
    own = {number: variable for variable, number in known.items()}
    jaxpr = branch.jaxpr
    new = jaxpr.replace(
        constvars=[],
        invars=[own[number] if number in own else Var(aval) for number, aval in enumerate(avals)],
        outvars=[jaxpr.outvars[number] for number in wanted],
        effects=effects,
        debug_info=jaxpr.debug_info.with_unknown_names(),
    )
    return ClosedJaxpr(new, [])


def followed_by(closed: ClosedJaxpr, outputs: Sequence[Any], function: Callable[..., Any]) -> ClosedJaxpr:
    """A program, and then what a function gives of these values in it."""
    jaxpr = closed.jaxpr
    known = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    variables = list(dict.fromkeys(atom for atom in outputs if not hasattr(atom, "val") and atom not in known))

    def run(*values: Any) -> Any:
        given = known | dict(zip(variables, values, strict=True))
        return function([_as_array(atom.val if hasattr(atom, "val") else given[atom]) for atom in outputs])

    more = traced(run, [variable.aval for variable in variables])
    before = {id(const): variable for variable, const in known.items()}
    instead = dict(zip(more.jaxpr.invars, variables, strict=True))
    new = []
    for variable, const in zip(more.jaxpr.constvars, more.consts, strict=True):
        if id(const) in before:
            instead[variable] = before[id(const)]
        else:
            new.append((variable, const))

    def read(atoms: Sequence[Any]) -> list[Any]:
        return [atom if hasattr(atom, "val") else instead.get(atom, atom) for atom in atoms]

    changed = jaxpr.replace(
        constvars=[*jaxpr.constvars, *(variable for variable, _ in new)],
        eqns=[*jaxpr.eqns, *(equation.replace(invars=read(equation.invars)) for equation in more.jaxpr.eqns)],
        outvars=read(more.jaxpr.outvars),
        effects=jaxpr.effects | more.effects,
        debug_info=jaxpr.debug_info.with_unknown_names(),
    )
    return ClosedJaxpr(changed, [*closed.consts, *(const for _, const in new)])


def _as_array(value: Any) -> Any:
    """A literal comes as a scalar of NumPy's, which some classes take for no leaf of theirs."""
    return value if isinstance(value, jax.Array) else jnp.asarray(value)
