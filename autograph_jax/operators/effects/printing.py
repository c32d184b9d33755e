"""print and f-strings of traced values: the text is made at run time, once for each time that the branch is taken.

Under vmap a branch runs for every lane; only lanes that took it print.
"""

from __future__ import annotations

import builtins
import dataclasses
import itertools
import re
import string
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators.effects import ordered
from autograph_jax.operators.tracing import kept, state
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.traced import is_traced


@dataclasses.dataclass(frozen=True)
class Field:
    """`{value!conversion:spec}` of an f-string; with the conversion `%`, the spec is one of `spec % value`."""

    value: Any
    conversion: str = ""
    spec: Any = ""

    def text(self) -> str:
        if self.conversion == "%":
            return self.spec % (self.value,)
        value = {"s": str, "r": repr, "a": ascii}.get(self.conversion, lambda v: v)(self.value)
        return format(value, str(self.spec))


@dataclasses.dataclass(frozen=True)
class Text:
    """A string that holds traced values; it becomes a str at run time, in a print or an exception."""

    parts: tuple[Any, ...]

    def __add__(self, other: Any) -> Text:
        return Text((*self._own(), other))

    def __radd__(self, other: Any) -> Text:
        return Text((other, *self._own()))

    def _own(self) -> tuple[Any, ...]:
        return (self,) if isinstance(self.parts, Choice) else self.parts  # of texts that two paths have made

    def __str__(self) -> str:
        parts: Any = self.parts.value if isinstance(self.parts, Choice) else self.parts
        return "".join(part.text() if isinstance(part, Field) else str(part) for part in parts)


jax.tree_util.register_dataclass(Field, ["value", "spec"], ["conversion"])
jax.tree_util.register_dataclass(Text, ["parts"], [])
field = Field


def text(*parts: str | Field) -> str | Text:
    """An f-string: a str, or a Text where a value is traced."""
    new = Text(parts)
    return new if _is_open(new) else str(new)


def formatted(template: str, *args: Any, **kwargs: Any) -> str | Text:
    """`template.format(...)`: a str, or a Text where a value is traced."""
    if not _is_open((args, kwargs)):
        return template.format(*args, **kwargs)
    formatter, count, parts = string.Formatter(), itertools.count(), []
    for literal, name, spec, conversion in formatter.parse(template):
        parts.append(literal)
        if name is not None:
            name = f"{next(count)}{name}" if not name or name[0] in ".[" else name
            value, _ = formatter.get_field(name, args, kwargs)
            parts.append(Field(value, conversion or "", (spec or "").format(*args, **kwargs)))
    return text(*parts)


def percent(template: Any, values: Any) -> Any:
    """`template % values`: a str, or a Text where a value is traced; of what is no str, what Python's operator gives."""
    if not isinstance(template, str) or not _is_open(values):
        return template % values
    remaining = iter(values if isinstance(values, tuple) else (values,))
    parts, end = [], 0
    for found in _PERCENT.finditer(template):
        parts += [template[end : found.start()]]
        end = found.end()
        if found["kind"] == "%":
            parts.append("%")
        else:
            value = values[found["name"]] if found["name"] is not None else next(remaining)
            parts.append(Field(value, "%", "%" + found["how"] + found["kind"]))
    return text(*parts, template[end:])


_PERCENT = re.compile(r"%(?:\((?P<name>[^)]*)\))?(?P<how>[#0\- +]*\d*(?:\.\d*)?)[hlL]?(?P<kind>[diouxXeEfFgGcrsa%])")


def _is_open(values: Any) -> bool:
    return any(map(is_traced, jax.tree.leaves(values, is_leaf=_is_choice)))


def _is_choice(value: Any) -> bool:
    return isinstance(value, Choice)


def print_(*values: Any, **options: Any) -> None:
    """Python's print; at run time inside a staged block, or where a value is traced."""
    if not state.traces() and not _is_open(values):
        builtins.print(*values, **options)
        return
    at_run_time(lambda known: builtins.print(*known, **options), values)


def at_run_time(action: Any, values: Sequence[Any]) -> None:
    """Call `action` with the values that traced ones have at run time, if the code that asks is really reached."""
    leaves, tree = jax.tree.flatten(values, is_leaf=lambda value: value is None)
    traced = [position for position, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]

    def run(active: Any, *known: Any) -> None:
        if not np.all(active):
            return
        for position, value in zip(traced, known, strict=True):
            leaves[position] = plain(value)
        action(jax.tree.unflatten(tree, leaves))

    ordered.call(run, active_here(), *(leaves[position] for position in traced))


def active_here() -> jax.Array:
    """Whether this code is really reached: by the conditions of all staged blocks around it, and without an error before."""
    active = jnp.asarray(True)
    for trace in state.traces():
        if trace.active is not None:
            active = jnp.logical_and(active, trace.active)
    for attempt in state.attempts():
        active = jnp.logical_and(active, jnp.logical_not(attempt.has_failed()))
    kept.asked()
    error = loop.code.read() if (loop := state.failures()) is not None else 0
    return jnp.logical_and(active, error == 0) if isinstance(error, jax.Array) else active


def plain(value: Any) -> Any:
    """A number as Python shows it: 0.1 for a float32 that is nearest to it, inside a list too."""
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biuf" and array.dtype.name != "bfloat16":
        return array
    return array.item() if array.dtype.kind in "biu" else float(str(array.astype(array.dtype)))
