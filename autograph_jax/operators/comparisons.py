"""==, <, in and the like: of tuples, lists and dicts part by part where a part is traced; else Python's own."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.operators import jax_private
from autograph_jax.operators.tracing import same_containers
from autograph_jax.operators.values.choices import Choice, answered, is_of_ordered
from autograph_jax.operators.values.traced import is_traced, truth
from autograph_jax.porting.mathematics import wide

_ORDER: dict[str, Callable[[Any, Any], Any]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Comparing:
    """One of ours that says, by a traced bool, whether it is equal to something. Its `==` is about which object it is."""

    def equals(self, other: Any) -> Any:
        raise NotImplementedError  # pragma: no cover - each has its own


def equal(left: Any, right: Any) -> Any:
    """`left == right`."""
    if type(right) is Choice and type(left) is not Choice:  # which an array would take for the array that it may be
        return right == left
    if _is_comparing(left) or _is_comparing(right):
        return left.equals(right) if _is_comparing(left) else right.equals(left)
    kind = _same_container(left, right)
    if kind is None:
        _check_identity(left, right)
        return left == right
    if len(left) != len(right) or kind is dict and left.keys() != right.keys():
        return False
    pairs = [(left[key], right[key]) for key in left] if kind is dict else zip(left, right, strict=True)
    return every(same(a, b) for a, b in pairs)


def not_equal(left: Any, right: Any) -> Any:
    """`left != right`."""
    if type(right) is Choice and type(left) is not Choice:
        return right != left
    if _is_comparing(left) or _is_comparing(right):
        return _negated(equal(left, right))
    if _same_container(left, right) is None:
        _check_identity(left, right)
        return left != right
    return _negated(equal(left, right))


def _is_comparing(value: Any) -> bool:
    return issubclass(type(value), Comparing)  # not `isinstance`, which asks a user's object for its `__class__`


def _negated(result: Any) -> Any:
    return not result if isinstance(result, bool) else jnp.logical_not(result)


def ordered(symbol: str) -> Callable[[Any, Any], Any]:
    """`<`, `<=`, `>`, `>=`: the first elements that differ decide about two tuples or lists."""
    compare = _ORDER[symbol]

    def compared(left: Any, right: Any) -> Any:
        if is_of_ordered(left):
            return _of_options(left, lambda option: compared(option, right))
        if is_of_ordered(right):
            return _of_options(right, lambda option: compared(left, option))
        if _same_container(left, right) not in (tuple, list):
            return compare(left, right)
        result, undecided = None, []
        for a, b in zip(left, right, strict=False):
            equality = same(a, b)
            if equality is False:  # nothing that follows is looked at
                result = compared(a, b)
                break
            if equality is not True:
                undecided.append((equality, compared(a, b)))
        else:
            result = compare(len(left), len(right))
        for equality, differing in reversed(undecided):
            result = jnp.where(equality, result, differing)
        return result

    return compared


def _of_options(choice: Choice, compare: Callable[[Any], Any]) -> Any:
    from autograph_jax.operators.chosen_objects import has_method, of_taken  # which builds on this file

    if has_method(choice._options, "__lt__", "__le__", "__gt__", "__ge__"):
        return of_taken(choice, compare)
    return answered(choice, list(map(compare, choice._options)))


def contains(container: Any, value: Any) -> Any:
    """`value in container`, where the container is a static one, and the value or an element is traced."""
    if isinstance(container, range) and len(container) > 0:
        low, high = sorted((container[0], container[-1]))
        value, step = wide(value) if isinstance(value, jax.Array) else value, abs(container.step)
        return every((low <= value, value <= high, value % step == low % step))
    result: Any = False
    for element in container:
        equality = same(value, element)
        if equality is True:
            return True
        result = equality if result is False else result if equality is False else jnp.logical_or(result, equality)
    return result


def same(left: Any, right: Any) -> Any:
    """How containers compare their elements: `left is right or left == right`, as a bool or a traced bool."""
    return True if left is right else _as_bool(equal(left, right))


def every(conditions: Iterable[Any]) -> Any:
    """`all`, as a bool or a traced bool. What follows one that is False is not asked for."""
    result: Any = True
    for condition in map(_as_bool, conditions):
        if condition is False:
            return False
        result = condition if result is True else result if condition is True else jnp.logical_and(result, condition)
    return result


def has_traced_parts(value: Any) -> bool:
    """Is this traced, or a tuple, list or dict with something traced in it?"""
    return _any_part(value, is_traced)


def may_answer_traced(value: Any) -> bool:
    """May `==` give a traced bool: of something traced, of an object that says itself what it is equal to, or of parts?"""
    return _any_part(value, lambda part: is_traced(part) or isinstance(type(part).__eq__, types.FunctionType))


def _any_part(value: Any, test: Callable[[Any], bool]) -> bool:
    """Does a value pass the test, or in a tuple, list or dict any part?"""
    kind = type(value)  # not `isinstance`, which asks a user's object for its `__class__`
    if issubclass(kind, tuple | list):
        return any(_any_part(part, test) for part in value)
    return any(_any_part(part, test) for part in value.values()) if issubclass(kind, dict) else test(value)


def check_members(container: Any, value: Any) -> None:
    """Refuse to say whether an object is in a list or tuple, where it depends on traced data which one it is."""
    for element in container if type(container) in (list, tuple) and same_containers.is_doubtful(value) else ():
        _check_identity(element, value)


def _check_identity(left: Any, right: Any) -> None:
    """Objects of a class without an `__eq__` are equal where they are one."""
    if type(left).__eq__ is object.__eq__ and type(right).__eq__ is object.__eq__:
        same_containers.check_identity(left, right)


def _as_bool(condition: Any) -> Any:
    return truth(condition) if is_traced(condition) else bool(condition)


def _same_container(left: Any, right: Any) -> type | None:
    """tuple, list or dict, if both are one and a part is traced; Python compares a tuple and a list without looking inside."""
    if not jax_private.tracing():
        return None  # and a list that holds itself is not gone through
    for kind in (tuple, list, dict):
        if issubclass(type(left), kind) and issubclass(type(right), kind):
            plain = type(left).__eq__ is kind.__eq__ and type(right).__eq__ is kind.__eq__
            return kind if plain and (may_answer_traced(left) or may_answer_traced(right)) else None
    return None
