"""Which outputs of a jaxpr depend on traced data, and which of its inputs are used at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from autograph_jax.loops.evaluation import programs_of

_index = Primitive("index_of_element")  # an identity
_index.def_impl(lambda index, **_: index)
_index.def_abstract_eval(lambda index, **_: index)
mlir.register_lowering(_index, lambda _, index, **__: [index])
batching.defvectorized(_index)
ad.primitive_jvps[_index] = lambda primals, _, **params: (
    _index.bind(*primals, **params),
    ad.Zero(jax.typeof(primals[0]).to_tangent_aval()),
)


def as_index(index: jax.Array, *, of_numpys: bool = False) -> jax.Array:
    """A traced index into a list of Python's or, `of_numpys`, an array of NumPy's, marked so that `plain_indexes` finds it.

    It has no small type, as a list may be long.
    """
    is_small = index.dtype.itemsize < 4 or jnp.issubdtype(index.dtype, jnp.unsignedinteger)
    return _index.bind(index.astype(int) if is_small else index, of_numpys=of_numpys)


def note_class_asked(value: Any) -> None:
    """Of a number's class Python knows more than JAX: a counter is an int. Marked as an index is."""
    if isinstance(value, jax.core.Tracer) and value.ndim == 0 and value.weak_type:
        _index.bind(value, of_numpys=False)


def plain_indexes(closed: Any, tainted_inputs: Sequence[bool], *, of_numpys: bool) -> bool:
    """Is a list read at an index, or a number's class asked for, that depends on no tainted input: would Python know it?

    With `of_numpys`, an array of NumPy's counts as well.
    """
    return _has_index(closed.jaxpr) and _has_plain_index(closed.jaxpr, list(tainted_inputs), of_numpys)


def _has_index(jaxpr: Any) -> bool:
    return any(e.primitive is _index or any(map(_has_index, programs_of(e.params))) for e in jaxpr.eqns)


def _has_plain_index(jaxpr: Any, tainted_inputs: list[bool], of_numpys: bool) -> bool:
    tainted = {v for v, taint in zip(jaxpr.invars, tainted_inputs, strict=False) if taint} | {*jaxpr.constvars}
    for equation in jaxpr.eqns:
        taints = [_is_variable(v) and v in tainted for v in equation.invars]
        if equation.primitive is _index and not any(taints) and (of_numpys or not equation.params["of_numpys"]):
            return True
        for inner in programs_of(equation.params):
            # The inputs of a branch are the last of lax.cond's; of other primitives', where not all are.
            count = len(inner.invars)
            inside = taints[-count:] if count <= len(taints) and count else [any(taints)] * count
            if _has_plain_index(inner, inside, of_numpys):
                return True
        if any(taints):
            tainted.update(equation.outvars)
    return False


def tainted_outputs(closed: Any, tainted_inputs: Sequence[bool]) -> list[bool]:
    """For each output: does it depend on a tainted input (later inputs count as clean) or on an array from outside?"""
    jaxpr = closed.jaxpr
    tainted = {v for v, taint in zip(jaxpr.invars, tainted_inputs, strict=False) if taint}
    tainted |= {v for v, const in zip(jaxpr.constvars, closed.consts, strict=True) if isinstance(const, jax.Array)}
    for equation in jaxpr.eqns:
        if equation.effects or not tainted.isdisjoint([v for v in equation.invars if not hasattr(v, "val")]):
            tainted.update(equation.outvars)
    return [_is_variable(v) and v in tainted for v in jaxpr.outvars]


def _is_variable(atom: Any) -> bool:
    return not hasattr(atom, "val")  # a literal has one


def uses(jaxpr: Any, variable: Any) -> bool:
    """Does anything in a jaxpr read this input?"""
    return any(v is variable for equation in jaxpr.eqns for v in equation.invars) or any(v is variable for v in jaxpr.outvars)


def one_precision(jaxpr: Any, *kinds: type) -> bool:
    """Have all numbers of a jaxpr that are of a kind, `jnp.inexact` or `jnp.integer`, one dtype?"""
    variables = [*jaxpr.invars, *jaxpr.constvars, *(v for equation in jaxpr.eqns for v in equation.outvars)]
    dtypes = {v.aval.dtype for v in variables if hasattr(v.aval, "dtype")}
    dtypes |= {v.aval.dtype for equation in jaxpr.eqns for v in equation.invars if hasattr(v.aval, "dtype")}
    return all(sum(jnp.issubdtype(dtype, kind) for dtype in dtypes) <= 1 for kind in kinds)
