"""and, or, not, chained comparison, in, is: Python's own on plain values, staged on traced ones, with Python's values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.errors import UnboundError, user_location
from autograph_jax.operators import facts, lists, state
from autograph_jax.operators.choices import UNBOUND, Choice
from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.values import is_traced, truth

Thunk = Callable[[], Any]
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "is": lambda a, b: is_(a, b), "is not": lambda a, b: is_not(a, b),
    "in": lambda a, b: in_(a, b), "not in": lambda a, b: not_in(a, b),
}  # fmt: skip


def and_(value: Any, *others: Thunk) -> Any:
    """`value and others...`: the first falsy operand, or the last. What follows a false one is not evaluated."""
    for position, other in enumerate(others):
        if is_traced(value):
            return _both(value, other, others[position + 1 :])
        if not lists.truth(value):
            return value
        value = other()
    return value


def _both(value: Any, other: Thunk, others: tuple[Thunk, ...]) -> Any:
    def rest() -> Any:
        return and_(other(), *others)

    decision = if_expr(value, state.standing_for(rest, other), lambda: value)
    return _told(decision, value, other, together=True)


def or_(value: Any, *others: Thunk) -> Any:
    """`value or others...`: the first truthy operand, or the last. What follows a true one is not evaluated."""
    for position, other in enumerate(others):
        if is_traced(value):
            return _either(value, other, others[position + 1 :])
        if lists.truth(value):
            return value
        value = other()
    return value


def _either(value: Any, other: Thunk, others: tuple[Thunk, ...]) -> Any:
    def rest() -> Any:
        return or_(other(), *others)

    decision = if_expr(value, lambda: value, state.standing_for(rest, other))
    return _told(decision, value, other, together=False)


def _told(decision: Any, value: Any, other: Thunk, *, together: bool) -> Any:
    """What the first operand tells also holds of the whole: of `a and b` where it is true, of `a or b` where it is false."""
    known = facts.of(value)
    if isinstance(decision, jax.Array):
        told = facts.Facts(if_true=known.if_true) if together else facts.Facts(if_false=known.if_false)
        facts.tell(decision, told)
    return decision


def not_(value: Any) -> Any:
    if not is_traced(value):
        return not lists.truth(value)
    known = facts.of(value)
    return facts.tell(jnp.logical_not(truth(value)), facts.Facts(known.if_false, known.if_true))


def compare(left: Any, symbol: str, right: Any, *more: Any) -> Any:
    """`a < b < c`: each operand evaluated once, and only as far as needed."""
    result = _COMPARISONS[symbol](left, right)
    if not more:
        return result
    symbol, operand, *more_ = more

    def rest() -> Any:
        return compare(right, symbol, operand(), *more_)

    return and_(result, state.standing_for(rest, operand))


def is_(left: Any, right: Any) -> Any:
    """`left is right`; of a value that may be None on some path, whether it is."""
    if not isinstance(left, Choice):
        if isinstance(right, Choice):
            return is_(right, left)
        return left is right
    result = left.where(lambda option: option is right)
    told = facts.Facts(
        if_true=((left, lambda option: option is right),), if_false=((left, lambda option: option is not right),)
    )
    return facts.tell(result, told) if isinstance(result, jax.Array) else result


def is_not(left: Any, right: Any) -> Any:
    if not isinstance(left, Choice) and not isinstance(right, Choice):
        return left is not right
    return not_(is_(left, right))


def in_(value: Any, container: Any) -> Any:
    """`value in container`; an array is compared with each element of a static container."""
    if not _compares_traced(value, container):
        return value in container
    result: Any = False
    for element in container:
        if element is value:
            return True
        equal = element == value
        result = equal if result is False else jnp.logical_or(result, equal)
    return result


def _compares_traced(value: Any, container: Any) -> bool:
    if isinstance(container, dict | set | frozenset | list | tuple | range):
        return isinstance(value, jax.Array | Choice) or any(is_traced(element) for element in container)
    return False


def not_in(value: Any, container: Any) -> Any:
    return not_(in_(value, container))


def bound(name: str, read: Thunk) -> Any:
    """The value of a variable that some path leaves unbound."""
    try:
        value = read()
    except NameError:
        raise UnboundLocalError(
            f"cannot access local variable '{name}' where it is not associated with a value", name=name
        ) from None
    if isinstance(value, Choice) and any(option is UNBOUND for option in value.options):
        from autograph_jax.operators import checks

        unbound = value.where(lambda option: option is UNBOUND)
        error = UnboundError(
            f"`{name}` has no value here",
            location=user_location(),
            details=["Traced data took a path that does not assign it."],
            help=f"assign `{name}` before the `if` or loop, or on every path",
        )
        checks.raise_where(unbound, error)
        return value.only(lambda option: option is not UNBOUND)
    return value
