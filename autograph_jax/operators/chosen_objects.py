"""What code of the user's does for an object that traced data has chosen: properties and special methods of the one taken.

    shape = Disc(x) if x > 0 else Square(x)
    shape.area      # a property

That of Square prints, counts or raises where a Square is taken, and nowhere else.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import jax

from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.values import facts
from autograph_jax.operators.values.choices import Choice

_HARMLESS = sys.stdlib_module_names | {__name__.partition(".")[0], "jax", "jaxlib", "numpy"}


def of_taken(choice: Choice, ask: Callable[[Any], Any]) -> Any:
    """`ask(option)` for the option that is taken, and for no other: a branch for each."""
    asking = _Asking(choice, ask)
    result = asking.up_to(len(choice._options) - 1)
    if isinstance(result, jax.Array) and result.dtype == bool:
        known = dict(asking.plain_answers)
        facts.tell(result, facts.by_option(choice, [known.get(position) for position in range(len(choice._options))]))
    return result


class _Asking:
    """Asks the options, and keeps the answers that are plain ones: in no dict or list, which the branches would write."""

    def __init__(self, choice: Choice, ask: Callable[[Any], Any]) -> None:
        self._choice, self._ask = choice, ask
        self.plain_answers: tuple[tuple[int, bool], ...] = ()

    def up_to(self, position: int) -> Any:
        if position == 0:
            return self._of(0)
        return if_expr(self._choice._index == position, lambda: self._of(position), lambda: self.up_to(position - 1))

    def _of(self, position: int) -> Any:
        answer = self._ask(self._choice._options[position])
        if isinstance(answer, bool):
            self.plain_answers += ((position, answer),)
        return answer


def has_method(values: Iterable[Any], *names: str) -> bool:
    """Does the class of any of these define one of these special methods in Python? Not one that dataclasses writes."""
    return any(_is_code(getattr(type(value), name, None)) for value in values for name in names)


def has_getter(values: Iterable[Any], name: str) -> bool:
    """Does reading this attribute of any of these run code: a property, a descriptor, `__getattr__`?"""
    return any(map(functools.partial(_is_got_by_code, name=name), values))


def _is_got_by_code(value: Any, *, name: str) -> bool:
    kind = type(value)
    if _is_code(getattr(kind, "__getattribute__", None)):
        return True
    member = inspect.getattr_static(kind, name, None)
    if isinstance(member, functools.cached_property) or _is_code(getattr(member, "fget", None)):
        return True
    if member is None:
        return _is_code(getattr(kind, "__getattr__", None)) and name not in getattr(value, "__dict__", ())
    return _is_code(getattr(type(member), "__get__", None))


def _is_code(method: Any) -> bool:
    """Is this a function of somebody's, not one of Python's library or JAX?"""
    if not isinstance(method, types.FunctionType) or method.__code__.co_filename == "<string>":
        return False
    return str(method.__globals__.get("__name__")).partition(".")[0] not in _HARMLESS
