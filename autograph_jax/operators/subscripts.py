"""What `x[i] = v`, `o.a = v`, `x[i] += v` and `del` do: in place on what is mutable, `x.at[i].set(v)` on JAX arrays.

Every write is noted in the running trace, so that a staged block finds its state. The value comes first in all of these,
because Python evaluates it first.
"""

from __future__ import annotations

import collections
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from autograph_jax.errors import AliasError, ImmutableError, user_location
from autograph_jax.operators import hooks, jax_private
from autograph_jax.operators.conditionals import if_expr, if_stmt
from autograph_jax.operators.effects import attempts
from autograph_jax.operators.sequences import moved
from autograph_jax.operators.sequences.bounded import Bounded
from autograph_jax.operators.tracing import aliasing, foreign, frozen, holders, reach, same_containers, state, views
from autograph_jax.operators.tracing.cells import standing_for
from autograph_jax.operators.tracing.frame_variables import frame_variables
from autograph_jax.operators.tracing.places import (
    BUFFERS,
    CHANGING,
    Attribute,
    Content,
    attribute_of,
    check_class,
    content_of,
    plain_methods,
)
from autograph_jax.operators.values import branches, open_keys, selection
from autograph_jax.operators.values.array_likes import opened_index
from autograph_jax.operators.values.choices import UNBOUND, Choice, Unbound, refusal
from autograph_jax.operators.values.narrowed import narrowed
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.operators.values.updated import is_mask, masked, updated
from autograph_jax.porting.refusals import not_made_by_ported_code


def set_item(value: Any, target: Any, index: Any, *aliases: Any) -> Any:
    """`target[index] = value`; gives the target, or the new array that takes its place.

    With `aliases`, the values of other variables that may be this array, gives a tuple: the target and these, where those
    that are the target are replaced too.
    """
    if aliases:
        same_containers.check_container(target, aliases)
        aliasing.check_buffers(target, aliases)
    new = changed(value, target, index)
    renewed = views.Renewed(target, new)
    if new is not target:
        holders.check_write(target, renewed=renewed)
    return (new, *(aliasing.follow(alias, target, new, renewed) for alias in aliases)) if aliases else new


def set_item_of(value: Any, before: Any, target: Any, index: Any, *aliases: Any) -> Any:
    """`set_item` for a variable that held `before` when Python came to it, and holds `target` by now: the former is written."""
    if before is target:
        return set_item(value, target, index, *aliases)
    if isinstance(before, jax.Array):
        raise replaced_meanwhile()
    put_item(value, before, index)
    return (target, *aliases) if aliases else target


def replaced_meanwhile() -> AliasError:
    return AliasError(
        "the right side of a statement that updates an item or attribute puts something else in the place of what has it",
        location=user_location(),
        help="evaluate the right side first, in a statement of its own: `v = f(); x.a[i] += v`",
    )


def marked(array: Any, mask: Any) -> Any:
    """`array[mask]`, on the right of a write by the same mask."""
    if is_traced(mask) and is_mask(mask) and isinstance(array, jax.Array | np.ndarray):
        return masked(array, mask)
    return selection.get_item(array, mask)


def changed(value: Any, target: Any, index: Any) -> Any:
    if isinstance(target, jax.Array | np.ndarray | list):
        index = opened_index(index)
    if isinstance(target, np.ndarray):
        state.check_not_cached(target)
    if isinstance(target, jax.Array) or isinstance(target, np.ndarray) and _becomes_jax(target, value, index):
        check_made_by_ported_code(target)
        return updated(target, index, value)
    if isinstance(target, np.ndarray) and state.is_frozen(target) and not hooks.is_porting():
        copied = target.copy()
        copied[index] = value
        return copied
    if isinstance(target, np.ndarray):
        holders.check_numpy_write(target)
    if isinstance(target, np.flatiter) and not has_array(value, index):
        holders.check_numpy_write(target.base)
    elif isinstance(target, np.flatiter | memoryview) and has_array(value, index):
        raise ImmutableError(
            "an array of NumPy's is written by what shows its memory, with a traced value or index",
            location=user_location(),
            help="write the array itself, or one of a single axis: `y = x.ravel()`, `y[i] = v`, `x = y.reshape(x.shape)`",
        )
    if issubclass(type(target), tuple) and isinstance(value, jax.Array | np.ndarray):
        raise ImmutableError(
            "an array in a tuple is written in place, and neither JAX arrays nor tuples can change",
            location=user_location(),
            help="keep it in a list, or build a new tuple",
        )
    if type(target) is Choice:
        there = selection.not_none(target) if hooks.is_porting() else target
        if there is not target and not isinstance(there, Choice):
            put_item(value, there, index)
            return target
        _write_chosen(target, lambda option: put_item(value, option, index), (list, dict), "an item of it is written")
        return target
    if type(target) is dict and isinstance(index, str) and (owner := state.owner_of(target)) is not None:
        note_attr(owner, index)
        target[index] = value
        return target
    is_open = type(target) is dict and open_keys.is_open(index)
    picked = is_open or type(target) in (list, dict, collections.deque) and _is_picked(index)
    if type(target) in (list, dict) and not picked and attempts.is_written_late(target):
        value = _unless_failed(value, lambda: target[selection.plain_index(target, index)])
        same_containers.check_container(target)
        state.note(Content(target))
    else:
        note_content(target)
    if picked:
        selection.put(value, target, index)
    else:
        target[selection.plain_index(target, index)] = views.rows(value) if isinstance(index, slice) else value
    return target


def check_made_by_ported_code(target: Any) -> None:
    """Ported code keeps traced values in arrays of its own; NumPy's are globals, or of objects from outside."""
    if isinstance(target, np.ndarray) and hooks.is_porting():
        raise not_made_by_ported_code()


def assigned(value: Any, name: str) -> Any:
    """`nonlocal name; name = value`, and so of a global: what the variable takes."""
    if not any(state.opened()):
        return value
    frame = sys._getframe(1)
    if not attempts.is_assigned_late(name, frame):
        return value
    return _unless_failed(value, lambda: frame_variables(frame).get(name, frame.f_globals.get(name, UNBOUND)))


def _unless_failed(value: Any, old: Callable[[], Any]) -> Any:
    """What a place holds after a write that Python does not come to where a `try` around it has failed: there, what it held."""
    return if_expr(attempts.unless_failed(jnp.asarray(True)), standing_for(lambda: value), standing_for(old))


def _is_picked(index: Any) -> bool:
    """Does traced data pick the element?"""
    return type(index) is Choice or isinstance(index, jax.Array) and index.ndim == 0 and is_traced(index)


def put_item(value: Any, target: Any, index: Any) -> None:
    """`target[index] = value` where no variable of the function holds the target: only what can change by itself."""
    if set_item(value, target, index) is not target:
        raise nobodys_variable()


def nobodys_variable() -> ImmutableError:
    return ImmutableError(
        "a JAX array is written in place that no local variable holds",
        location=user_location(),
        details=["JAX arrays don't change; a variable of this function has to take the new array."],
        help="give it a name first, write, and pass the new array on: `y = f(); y[0] = 1`",
    )


def _becomes_jax(target: np.ndarray, value: Any, index: Any) -> bool:
    """Does NumPy's array have to become one of JAX's? One of objects can keep an array of JAX's as an element."""
    return not numpy_takes(value, index) and (has_array(index) or target.dtype != object and has_array(value))


def numpy_takes(*values: Any) -> bool:
    """Where nothing is traced NumPy takes JAX's arrays, and whoever holds its array sees the write."""
    return not jax_private.tracing() and not has_tracer(*values)


def has_array(*values: Any) -> bool:
    return any(isinstance(leaf, jax.Array) for leaf in _leaves(values))


def has_tracer(*values: Any) -> bool:
    return any(isinstance(leaf, Tracer) for leaf in _leaves(values))


def _leaves(values: Sequence[Any]) -> list[Any]:
    leaves = [leaf for value in values for leaf in jax.tree.leaves(value)]
    return leaves + [bound for leaf in leaves if isinstance(leaf, slice) for bound in (leaf.start, leaf.stop)]


def note_content(target: Any) -> None:
    if isinstance(target, CHANGING):
        attempts.check_write(target)
        same_containers.check_container(target)
        if isinstance(target, BUFFERS):
            holders.check_numpy_write(np.asarray(memoryview(target)))  # `np.frombuffer(target)` shows what is written
        state.note(content_of(target))
    else:
        foreign.check_item(target)


def set_attr(value: Any, target: Any, name: str) -> None:
    """`target.name = value`, and `setattr(target, name, value)`, where traced data may choose the name."""
    if type(target) is Choice:
        return _set_attr_of_choice(value, target, name)
    if type(name) is Choice:
        return _by_option(name, lambda option: set_attr(value, target, option))
    member = reach.member(type(target), name)
    if isinstance(member, property) and isinstance(member.fset, types.FunctionType):
        hooks.call(member.fset)(target, value)
        return None
    if issubclass(type(target), np.ndarray) and state.is_frozen(target):  # `x.shape = 3, 1`
        raise frozen.written(user_location())
    setattr(target, name, _noted(value, target, name, lambda: getattr(target, name, UNBOUND)))
    return None


def put_attr(value: Any, target: Any, name: str) -> None:
    """`target.name = value`, past properties and `__setattr__`."""
    place = Attribute(target, name)
    place.write(_noted(value, target, name, place.read))


def _noted(value: Any, target: Any, name: str, old: Callable[[], Any]) -> Any:
    """An attribute is about to be written: what it takes."""
    if not attempts.is_written_late(target):
        note_attr(target, name)
        return value
    value = _unless_failed(value, old)
    same_containers.check_container(target)
    state.note(attribute_of(target, name))
    return value


def put_element(value: Any, target: Any, key: Any) -> None:
    """`target[key] = value` of a list or dict, past the methods of its class."""
    if type(target) in (list, dict):
        changed(value, target, key)
    else:
        note_content(target)
        plain_methods(target).__setitem__(target, key, value)


def _set_attr_of_choice(value: Any, choice: Choice, name: str) -> None:
    if not all(map(_has_attributes, choice._options)):
        raise refusal(choice, f"its attribute `{name}` is written")
    _write_chosen(choice, lambda option: set_attr(value, option, name), (object,), f"its attribute `{name}` is written")


def _write_chosen(choice: Choice, write: Callable[[Any], None], kinds: tuple[type, ...], use: str) -> None:
    """Of several objects, the one that traced data has chosen is written."""
    if not all(isinstance(option, kinds) for option in choice._options):
        raise refusal(choice, use)
    _by_option(choice, write)


def _by_option(choice: Choice, write: Callable[[Any], None]) -> None:
    def write_one(position: int) -> None:
        with branches.taken(choice._index, position):
            write(choice._options[position])

    for position in range(len(choice._options)):
        # Not as if it stood for nothing of the user's: what is written was there before the branch.
        if_stmt(choice._index == position, lambda position=position: write_one(position), None)


def _has_attributes(value: Any) -> bool:
    is_extended = isinstance(value, list | dict) and hasattr(value, "__dict__")
    return is_extended or value is not None and not isinstance(value, _WITHOUT_ATTRIBUTES)


_WITHOUT_ATTRIBUTES = (bool, int, float, complex, str, bytes, list, dict, tuple, jax.Array, Unbound)


def del_attr(target: Any, name: str) -> None:
    note_attr(target, name)
    delattr(target, name)


def note_attr(target: Any, name: str) -> None:
    attempts.check_write(target)
    foreign.check_attribute(target, name)
    if issubclass(type(target), type):
        check_class(target, name)
    same_containers.check_container(target)
    state.note(attribute_of(target, name))


_NOT_DELETED = "'NoneType' object doesn't support item deletion"


def del_item(target: Any, index: Any) -> None:
    if type(target) is Choice:
        choice = narrowed(target, lambda option: option is not None, lambda: TypeError(_NOT_DELETED))
        if type(choice) is not Choice:
            return del_item(choice, index)
        return _write_chosen(choice, lambda option: del_item(option, index), (list, dict, Bounded), "an item of it is deleted")
    note_content(target)
    if type(target) is list and moved.is_place(index):
        moved.delete(target, index)
    else:
        del target[index]
    return None
