"""and, or, not, chained comparison, in, is: Python's own on plain values, staged on traced ones, with Python's values."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import UnboundError, user_location
from autograph_jax.operators import chosen_objects, comparisons, comprehensions, jax_private
from autograph_jax.operators.builtins import found_in
from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.effects import checks
from autograph_jax.operators.sequences import bounded, lists
from autograph_jax.operators.sequences.ranges import RangeMethods
from autograph_jax.operators.tracing import positions, same_containers
from autograph_jax.operators.tracing.cells import cells_of, standing_for
from autograph_jax.operators.values import bools, facts, objects, selection
from autograph_jax.operators.values.choices import UNBOUND, Choice, answered
from autograph_jax.operators.values.narrowed import narrowed
from autograph_jax.operators.values.traced import is_traced, truth
from autograph_jax.porting import products
from autograph_jax.porting.arrays import MutableArray
from autograph_jax.porting.creating import asarray
from autograph_jax.porting.selections import Selection

Thunk = Callable[[], Any]
Names = tuple[str, ...]
_ARRAYS = (jax.Array, jax.core.Tracer)
_CONTAINERS = (dict, set, frozenset, list, tuple, range)
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    **{symbol: comparisons.ordered(symbol) for symbol in ("<", "<=", ">", ">=")},
    "==": comparisons.equal, "!=": comparisons.not_equal,
    "is": lambda a, b: is_(a, b), "is not": lambda a, b: is_not(a, b),
    "in": lambda a, b: in_(a, b), "not in": lambda a, b: not_in(a, b),
}  # fmt: skip


def and_(value: Any, *others: Thunk, binds: Names = ()) -> Any:
    """`value and others...`: the first falsy operand, or the last. What follows a false one is not evaluated.

    `binds` are the variables that operands assign by a walrus; `'y?'` is one that may have no value where the whole is true.
    """
    for position, other in enumerate(others):
        condition = objects.condition(value)
        if is_traced(condition):
            return _decided(condition, value, others[position:], binds, together=True)
        if not lists.truth(condition):
            return value
        value = other()
    return value


def or_(value: Any, *others: Thunk, binds: Names = ()) -> Any:
    """`value or others...`: the first truthy operand, or the last. What follows a true one is not evaluated.

    `binds` as in `and_`; `'y?'` is one that may have no value where the whole is false.
    """
    for position, other in enumerate(others):
        condition = objects.condition(value)
        if is_traced(condition):
            return _decided(condition, value, others[position:], binds, together=False)
        if lists.truth(condition):
            return value
        value = other()
    return value


def _decided(condition: Any, value: Any, others: tuple[Thunk, ...], binds: Names, *, together: bool) -> Any:
    """`and` or `or` whose first operand is traced, or an object with a traced truth. What it tells is told of the whole."""
    on = and_ if together else or_
    inner: list[facts.Weak] = []
    known: list[bool] = []

    def rest() -> Any:
        decision = on(others[0](), *others[1:], binds=binds)
        if type(decision) is Selection and decision.dtype == bool:
            decision = objects.condition(decision)  # `x.size == 1 and x == 0`: an error of several is one of this path
        inner.extend(facts.weakly(facts.of(decision).where(together)))
        known.append(decision is (not together))
        return decision

    def keep() -> Any:
        return facts.possible(value, not together)

    rest, keep = standing_for(rest, *others), standing_for(keep)
    cells = cells_of(others)
    names = [f"{name}?" for name in (bind.rstrip("?") for bind in binds) if name in cells or name.startswith("global ")]
    decision = if_expr(condition, *((rest, keep) if together else (keep, rest)), *names)
    is_bool = value is condition and isinstance(value, _ARRAYS) and value.dtype == bool and not value.shape
    if is_bool and known and all(known):
        return not together  # `traced and False`, `traced or True`
    if isinstance(decision, jax.Array | Choice):
        facts.tell(decision, facts.together(facts.of(condition), inner, others, binds, holds=together))
    return decision


def not_(value: Any) -> Any:
    value = objects.condition(value)
    if not is_traced(value):
        return not lists.truth(value)
    known = facts.of(value)
    return facts.tell(jnp.logical_not(truth(value)), facts.Facts(known.if_false, known.if_true))


def compare(left: Any, symbol: str, right: Any, *more: Any, binds: Names = ()) -> Any:
    """`a < b < c`: each operand evaluated once, and only as far as needed."""
    result = _COMPARISONS[symbol](left, right)
    if not more:
        return result
    symbol, operand, *more_ = more

    def rest() -> Any:
        return compare(right, symbol, operand(), *more_, binds=binds)

    return and_(result, standing_for(rest, operand, *filter(callable, more_)), binds=binds)


def is_(left: Any, right: Any) -> Any:
    """`left is right`; of a value that may be None on some path, whether it is."""
    if type(left) is not Choice:  # not `isinstance`, which asks a user's object for its `__class__`
        if type(right) is Choice:
            return is_(right, left)
        if (answer := _is_member(left, right)) is not None:
            return answer
        _check_identity(left, right)
        return left is right
    if left._may_be_unbound():
        return is_(left._bound(), right)
    if type(right) is Choice:
        return True if left is right else answered(right, [is_(left, option) for option in right._options])
    for option in left._options:
        same_containers.check_identity(option, right)
    if type(right) is bool and any(map(is_traced, left._options)):
        return answered(left, [is_(option, right) for option in left._options])
    return left._where(lambda option: option is right)


def _is_member(left: Any, right: Any) -> Any:
    """`found is True`, `level is Level.HIGH`, where branches and loops have made an array of such numbers: by its value.

    So for two bools: Python and NumPy have one True and one False.
    """
    if left is not right and _is_bool(left) and _is_bool(right):
        bools.check_class(left)
        bools.check_class(right)
        return left == right
    for array, member in ((left, right), (right, left)):
        is_bool = type(member) is bool  # not `isinstance`, which asks a user's object for its `__class__`
        if is_bool or issubclass(type(member), int) and issubclass(type(member), enum.Enum):
            kind = jnp.bool_ if is_bool else jnp.integer
            if is_bool:
                bools.check_class(array)
            alike = is_traced(array) and array.shape == () and jnp.issubdtype(array.dtype, kind)
            return array == int(member) if alike else None
    return None


def _is_bool(value: Any) -> bool:
    return issubclass(type(value), _ARRAYS) and value.dtype == bool and not value.ndim


def is_not(left: Any, right: Any) -> Any:
    if type(left) is not Choice and type(right) is not Choice and _is_member(left, right) is None:
        _check_identity(left, right)
        return left is not right
    return not_(is_(left, right))


def _check_identity(left: Any, right: Any) -> None:
    for one in (left, right):
        lists.check_element(one)
    same_containers.check_identity(left, right)


def in_(value: Any, container: Any) -> Any:
    """`value in container`; an array is compared with each element of a static container."""
    if issubclass(type(container), bounded.Bounded):
        return bounded.contains(container, value)
    if issubclass(type(container), RangeMethods):
        return container.contains(value)
    if type(container) is Choice:
        by_code = chosen_objects.has_method(container._options, "__contains__", "__iter__")
        return selection.of_choice(container, lambda option: in_(value, option), "`in`", by_code=by_code)
    if jax_private.tracing() and not hasattr(type(container), "__contains__") and _is_pythons_iterator(container):
        return found_in(container, value)
    if type(container) is np.ndarray and container.dtype.kind in "biufc" and is_traced(value) and jnp.ndim(value) == 0:
        container = jnp.asarray(container).ravel()
    comparisons.check_members(container, value)
    if _compares_traced(value, container):
        return comparisons.contains(container, value)
    return objects.contains(container, selection.plain_index(container, value) if type(value) is tuple else value)


def _is_pythons_iterator(value: Any) -> bool:
    return isinstance(value, comprehensions.Kept) or positions.is_unfinished(value)


def _compares_traced(value: Any, container: Any) -> bool:
    kind = type(container)
    if not issubclass(kind, _CONTAINERS):
        return False
    if issubclass(type(value), _ARRAYS):
        return True
    if not jax_private.tracing():
        return False
    parts = [value, *(container if issubclass(kind, list | tuple) else ())]  # what is traced has no hash
    return any(map(comparisons.may_answer_traced, parts))


def rounded(product: Any) -> Any:
    """A product in ported code. Arrays have theirs rounded already."""
    return products.rounded(product)


def quotient(above: Any, below: Any) -> Any:
    """A division in ported code: `x**25 / factorial(25)` is one by a float, as NumPy has it; JAX's integers end at 64 bits."""
    is_large = type(below) is int and isinstance(above, jax.Array) and below.bit_length() > 63
    return above / (float(below) if is_large else below)


_OPERATIONS = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv},
    **{"**": operator.pow, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
}


def beside_list(symbol: str, left: Any, right: Any) -> Any:
    """`[a, b] / s` in ported code: a list beside an array or a scalar of NumPy's is an array, as NumPy makes it one."""
    if type(left) is list and _takes_list(symbol, right):
        left = asarray(left)
    elif type(right) is list and _takes_list(symbol, left):
        right = asarray(right)
    return _OPERATIONS[symbol](left, right)


def _takes_list(symbol: str, other: Any) -> bool:
    """A whole number of NumPy's repeats a list; any other scalar refuses it: `[1, 2] * np.float64(2)` is a TypeError."""
    if isinstance(other, jax.Array):
        return symbol != "*" and not other.weak_type
    return isinstance(other, MutableArray | Selection | np.ndarray) or symbol != "*" and isinstance(other, np.generic)


def not_in(value: Any, container: Any) -> Any:
    return not_(in_(value, container))


def bound(name: str, read: Thunk) -> Any:
    """The value of a variable that some path leaves unbound."""
    try:
        value = read()
    except NameError:
        error = UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value", name=name)
        raise checks.raised(error) from None
    return _with_value(name, value)


def captured(name: str, read: Thunk) -> Any:
    """The same for a variable of the function around."""
    try:
        value = read()
    except NameError:
        text = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        raise checks.raised(NameError(text, name=name)) from None
    return _with_value(name, value)


def _with_value(name: str, value: Any) -> Any:
    if not isinstance(value, Choice) or not value._may_be_unbound():
        return value

    def error() -> UnboundError:
        return UnboundError(
            f"`{name}` has no value here",
            location=user_location(),
            details=["Traced data took a path that does not assign it."],
            help=f"assign `{name}` before the `if` or loop, or on every path",
        )

    return narrowed(value, lambda option: option is not UNBOUND, error)


def if_bound(name: str, read: Thunk) -> Any:
    """The value of a variable for `local_variables`; UNBOUND where it has none."""
    try:
        read()
    except NameError:
        return UNBOUND
    return bound(name, read)


def local_variables(**values: Any) -> dict[str, Any]:
    """`locals()` of a function: those of its variables that have a value. A new dict each time, as from Python 3.13 on."""
    return {name: value for name, value in values.items() if value is not UNBOUND}
