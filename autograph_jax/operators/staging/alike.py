"""Do two traces of a loop's body give one program? So it is seen what a turn has asked of a list that it does not know.

However a program counts the elements of a growing list, the number is in the program of a turn, and is another one where the
list has another number of stand-ins.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Container, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from autograph_jax.loops import spread
from autograph_jax.operators.staging.blocks import Traced
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.values.forms import Array, Form, Options, Static, Tree, same_static


def alike(first: Traced, second: Traced, *, without: Container[Any]) -> bool:
    """Do they compute the same and leave the same, but in the places `without`, by key?"""
    ends = [(end, second.ends[key][1]) for key, (_, end) in first.ends.items() if key in second.ends and key not in without]
    compare = _Comparison()
    return compare.closed(first.jaxpr, second.jaxpr) and all(
        compare.forms(one, other) for one, other in [(first.result, second.result), *ends]
    )


def told_by_shape(of_arrays: Traced, of_numbers: Traced, begun: Sequence[bool], *, to_numbers: Container[Any]) -> bool:
    """Does a body compute or leave something else where it is given numbers for those of its inputs that are `begun`?

    What it leaves may be of another shape in the places `to_numbers`, by key, which were numbers before the loop.
    """
    if spread.told_by_shape(of_arrays.jaxpr, of_numbers.jaxpr, begun) or of_arrays.ends.keys() != of_numbers.ends.keys():
        return True
    ends = [(end, of_numbers.ends[key][1], key in to_numbers) for key, (_, end) in of_arrays.ends.items()]
    return not all(_of_one_kind(*given) for given in [(of_arrays.result, of_numbers.result, True), *ends])


def _of_one_kind(first: Form, second: Form, of_any_shape: bool) -> bool:
    match first, second:
        case Array(), Array():
            return of_any_shape or first.shape == second.shape
        case (Tree(_, children), Tree(_, others)) | (Options(children), Options(others)):
            return len(children) == len(others) and all(map(_of_one_kind, children, others, [of_any_shape] * len(children)))
    return _Comparison().forms(first, second)


def made_anew(first: Form, second: Form) -> bool:
    """Is there an object in what one trace has left in a place that is another one in the other trace?"""
    match first, second:
        case Static(one), Static(other):
            return not same_static(one, other)
        case (Tree(_, children), Tree(_, others)) | (Options(children), Options(others)):
            return any(map(made_anew, children, others))
    return False


class _Comparison:
    def __init__(self) -> None:
        self._known: set[tuple[int, int]] = set()  # functions, which may hold themselves

    def forms(self, first: Form, second: Form) -> bool:
        match first, second:
            case Static(one), Static(other):
                return self._values(one, other)
            case (Tree(_, children), Tree(_, others)) | (Options(children), Options(others)):
                return _all(self.forms, children, others)
        return first == second

    def closed(self, first: Any, second: Any) -> bool:
        return _all(self._constants, first.consts, second.consts) and self._jaxprs(first.jaxpr, second.jaxpr)

    def _jaxprs(self, first: Any, second: Any) -> bool:
        """The same equations, of variables that are made at the same places."""
        made: dict[Any, Any] = {}

        def makes(ours: Sequence[Any], others: Sequence[Any]) -> bool:
            made.update(zip(ours, others, strict=False))
            return _all(lambda one, other: one.aval == other.aval, ours, others)

        def atoms(one: Any, other: Any) -> bool:
            if isinstance(one, Literal) or isinstance(other, Literal):
                return type(one) is type(other) and one.aval == other.aval and self._values(one.val, other.val)
            return made.get(one) is other

        def equations(one: Any, other: Any) -> bool:
            same = one.primitive is other.primitive and _all(atoms, one.invars, other.invars)
            return same and self._values(one.params, other.params) and makes(one.outvars, other.outvars)

        inputs = (*first.constvars, *first.invars), (*second.constvars, *second.invars)
        return makes(*inputs) and _all(equations, first.eqns, second.eqns) and _all(atoms, first.outvars, second.outvars)

    def _values(self, first: Any, second: Any) -> bool:
        """The same, as far as a number would show. Of an object that each trace makes anew, the class is."""
        if same_static(first, second):
            return True
        if type(first) is not type(second) or isinstance(first, reach.ATOMS):
            return False
        match first:
            case jax.core.Tracer():
                return True
            case jax.Array() | np.ndarray() | np.generic():
                return self._constants(first, second)
            case ClosedJaxpr():
                return self.closed(first, second)
            case Jaxpr():
                return self._jaxprs(first, second)
            case tuple() | list():
                return _all(self._values, first, second)
            case dict():
                return first.keys() == second.keys() and all(self._values(first[key], second[key]) for key in first)
            case types.FunctionType():
                return self._functions(first, second)
            case functools.partial():
                return self._values((first.func, first.args, first.keywords), (second.func, second.args, second.keywords))
        names = [field.name for field in dataclasses.fields(first)] if dataclasses.is_dataclass(first) else []
        return all(self._values(getattr(first, name, None), getattr(second, name, None)) for name in names)

    def _functions(self, first: types.FunctionType, second: types.FunctionType) -> bool:
        if (pair := (id(first), id(second))) in self._known:
            return True
        self._known.add(pair)
        ours, others = ([part for _, part in reach.parts(one)] for one in (first, second))
        return first.__code__ is second.__code__ and _all(self._values, ours, others)

    def _constants(self, first: Any, second: Any) -> bool:
        if first is second or jnp.issubdtype(first.dtype, jax.dtypes.extended):
            return True
        if isinstance(first, jax.core.Tracer) or isinstance(second, jax.core.Tracer):
            return False
        same = first.shape == second.shape and first.dtype == second.dtype
        return same and np.asarray(first).tobytes() == np.asarray(second).tobytes()


def _all(same: Callable[[Any, Any], bool], first: Sequence[Any], second: Sequence[Any]) -> bool:
    return len(first) == len(second) and all(map(same, first, second))
