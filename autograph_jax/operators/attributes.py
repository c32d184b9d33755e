"""What Python is asked about the attributes of an object, where traced data has chosen the object, or decides which it has."""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable
from typing import Any

from autograph_jax.errors import StructureError, user_location
from autograph_jax.operators import chosen_objects, hooks
from autograph_jax.operators.builtins import taken_for, type_
from autograph_jax.operators.sequences import lists
from autograph_jax.operators.tracing import reach, state, views
from autograph_jax.operators.tracing.places import names_taken
from autograph_jax.operators.values import selection
from autograph_jax.operators.values.choices import UNBOUND, Choice, answered, refusal


def has_attr(target: Any, name: str) -> Any:
    """`hasattr(target, name)`; where some path does not set it, a traced bool."""
    if type(name) is Choice:
        return answered(name, [has_attr(target, option) for option in name._options])
    target = target._bound() if type(target) is Choice else target
    if type(target) is Choice:
        if chosen_objects.has_getter(target._options, name):
            return chosen_objects.of_taken(target, lambda option: has_attr(option, name))
        return answered(target, [has_attr(option, name) for option in target._options])
    value = _not_on_every_path(target, name)
    return hasattr(target, name) if value is None else value._where(_is_set)


def get_attr(target: Any, name: str, *default: Any) -> Any:
    """`getattr(target, name, default)`; and `rows[1].T`, which may be kept."""
    if type(name) is Choice:
        return selection.of_choice(name, lambda option: get_attr(target, option, *default), "as the name of an attribute")
    target = target._bound() if type(target) is Choice else target
    if type(target) is Choice and default:
        return selection.of_choice(
            target,
            lambda option: get_attr(option, name, *default),
            f"its attribute `{name}` is read",
            by_code=chosen_objects.has_getter(target._options, name),
        )
    value = _not_on_every_path(target, name) if default else None
    if value is None:
        found = getattr(target, name, *default)
        return views.view(found, target) if name in _VIEWS else found
    return selection.pick(value._index, [option if _is_set(option) else default[0] for option in value._options])


_VIEWS = frozenset({"T", "mT", "real", "imag"})


def view_by(base: Any, name: str, *arguments: Any, **keywords: Any) -> Any:
    """`rows[1].reshape(-1)`, which may be kept."""
    return views.view(hooks.call(getattr(base, name))(*arguments, **keywords), base)


def class_of(value: Any) -> Any:
    """`value.__class__`."""
    lists.check_element(value)
    return type_(value) if type(value) is Choice else taken_for(value).__class__


def dict_of(value: Any) -> Any:
    """`value.__dict__`."""
    _check_set(value)
    return state.namespace(value.__dict__, value)


def vars_(*values: Any) -> Any:
    for value in values:
        _check_set(value)
    found = builtins.vars(*values)
    return state.namespace(found, *values) if values else found


def dir_(*values: Any) -> Any:
    for value in values:
        _check_set(value)
    return builtins.dir(*values)


def _not_on_every_path(target: Any, name: str) -> Choice | None:
    """The attribute of an object, or of its class, that some path does not set; None where it is another one."""
    if not isinstance(name, str):
        return None
    value = reach.attribute(target, name, None)
    if isinstance(reach.member(type(target), name), functools.cached_property):  # reading it says what it is on each path
        return None
    if value is None:
        value = inspect.getattr_static(target, name, None)
    return value if type(value) is Choice and value._may_be_unbound() else None


def _is_set(option: Any) -> bool:
    return option is not UNBOUND


def id_(value: Any) -> int:
    lists.check_element(value)
    if type(value) is Choice:
        raise refusal(value, "`id`")
    return builtins.id(value)


def by_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Python's that looks into an object, or copies it: of a choice, what it gives for the option taken."""

    def apply(*arguments: Any, **options: Any) -> Any:
        if not arguments or type(arguments[0]) is not Choice:
            return function(*arguments, **options)
        value, *rest = arguments
        return selection.of_choice(value, lambda option: function(option, *rest, **options), "it is looked into")

    return apply


def making(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes an object of another one."""
    return by_option(lambda *arguments, **options: state.made(function(*arguments, **options)))


def _check_set(target: Any) -> None:
    if type(target) is Choice:
        raise refusal(target, "its attributes are listed")
    from_class = names_taken(target)
    for name in reach.attributes(target):
        if name in from_class or _not_on_every_path(target, name) is not None:
            raise StructureError(
                f"which attributes this {type(target).__name__} has is only known at run time",
                location=user_location(),
                details=[f"Traced data decides whether `{name}` is set."],
                help=f"set `{name}` on every path, for example to zero before the `if` or loop",
            )
