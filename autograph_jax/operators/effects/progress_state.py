"""How far a progress bar is, what it says, and when it reports next: state of the staged loop around it."""

from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators.effects import printing, texts
from autograph_jax.operators.effects.once import once
from autograph_jax.operators.effects.progress_bars import Bar, Program
from autograph_jax.operators.tracing import state
from autograph_jax.operators.tracing.places import Aside
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.traced import is_traced

Function = Callable[..., Any]

# What a user has a bar say, by the method that says it: of each kind the last counts.
_KINDS = ("description", "postfix")
METHODS = {name: kind for kind in _KINDS for name in (f"set_{kind}", f"set_{kind}_str")}


class Standing:
    """A bar while its loop is staged. Other turns than the reporting ones pay for one comparison."""

    def __init__(self, make: Callable[..., Bar], options: Any) -> None:
        form = Words.of("", options)
        self._options = arrays_of(options)
        self._program = Program(lambda length, _, *arrays: make(length, form.with_arrays(arrays)))
        self._words: tuple[Words, ...] = ()  # all that was said; no list, which would be state of the block
        self._turn: int | None = None  # how deep a turn of its loop stands
        self._steady: dict[str, int] = {}  # by kind, the words said in every turn
        self._varying: frozenset[str] = frozenset()  # kinds that are also said elsewhere, or by a branch
        self._ticket: Any = None  # of the execution; None for a bar that is not shown

    @property
    def reached(self) -> Any:
        return self._read("count")

    def enter(self, length: Any, *, after: Any) -> None:
        """Open the bar once these values are known, if the code that asks is really reached."""
        counts, active = [length, _one_of_each(arrays_of(after))], printing.active_here()
        self._ticket = once(self._program.enter, due=active, otherwise=0, counts=counts, values=self._options)
        self._write("count", jnp.int32(0))
        self._write("next", jnp.int32(1))

    def begin_turn(self) -> None:
        self._turn = len(state.traces())

    def advance(self, by: Any) -> None:
        if self._ticket is not None:
            count, next_ = self.reached + by, self._read("next")
            self._write("count", count)
            self._write("next", self._tell(self._program.report, count, due=count >= next_, turned=True))

    def give_up(self) -> None:
        """Take back `enter`. What is compiled leaves a call out whose result is not used; an eager vmap has made it."""
        if self._ticket is not None and not is_traced(self._ticket):
            self._program.give_up(int(self._ticket))
        self._ticket = None

    def leave(self, without: Any = 0) -> None:
        """Close the bar, where it is now `without` some."""
        if self._ticket is not None:
            turned = self.reached > 0
            final = self._tell(self._program.leave, self.reached - jnp.int32(without), due=True, turned=turned)
            jax.debug.callback(lambda _: None, final)  # what has no effect would be left out

    def say(self, method: str, value: Any) -> None:
        value = jax.tree.map(_simple, value)
        words = Words.of(method, value)
        if words not in self._words:
            self._words = (*self._words, words)
        number = self._words.index(words)
        kind = METHODS[method]
        if len(state.traces()) == self._turn and kind not in self._varying:
            self._steady = self._steady | {kind: number}
        else:
            self._varying |= {kind}
            self._write(kind, jnp.int32(number + 1))
        for place, array in zip(self._places(number), arrays_of(value), strict=True):
            state.write(place, jax.lax.stop_gradient(array))

    def _said(self, kind: str, turned: Any) -> Any:
        """The number of what was said last, from 1; what every turn says needs no state of the loop."""
        if kind in self._varying or kind not in self._steady:
            return self._read(kind)
        return jnp.where(turned, jnp.int32(self._steady[kind] + 1), 0)

    def _tell(self, tell: Function, count: Any, *, due: Any, turned: Any) -> jax.Array:
        """`turned`: has a turn been begun?"""
        next_, said = self._read("next"), [self._said(kind, turned) for kind in _KINDS]
        values = [place.read() for number in range(len(self._words)) for place in self._places(number)]
        call = functools.partial(_told, tell, self._words)
        return once(call, due=due, otherwise=next_, counts=[self._ticket, count, next_, *said], values=values)

    def _places(self, number: int) -> list[Aside]:
        avals = enumerate(self._words[number].avals)
        return [Aside(self, f"{number} {k}", np.zeros(aval.shape, aval.dtype)) for k, aval in avals]

    def _read(self, name: str) -> Any:
        return Aside(self, name, np.int32(0)).read()

    def _write(self, name: str, value: Any) -> None:
        state.write(Aside(self, name, np.int32(0)), value)


def _told(tell: Function, words: Sequence[Words], ticket: Any, count: Any, _: Any, *rest: Any) -> int:
    """At run time: a report, with what was said last."""
    values = iter(rest[len(_KINDS) :])
    arrays = [[next(values) for _ in form.avals] for form in words]
    said = [int(number) - 1 for number in rest[: len(_KINDS)] if number]
    return tell(int(ticket), count.item(), [(words[n].method, plain(words[n].with_arrays(arrays[n]))) for n in said])


@dataclasses.dataclass(frozen=True)
class Words:
    """A value without its arrays, as a method of the bar is told it in every turn."""

    method: str
    tree: Any
    leaves: tuple[Any, ...]
    avals: tuple[jax.ShapeDtypeStruct, ...]

    @classmethod
    def of(cls, method: str, value: Any) -> Words:
        leaves, tree = jax.tree.flatten(value)
        static = tuple(_ARRAY if isinstance(leaf, jax.Array) else leaf for leaf in leaves)
        return cls(method, tree, static, tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays_of(value)))

    def with_arrays(self, arrays: Sequence[Any]) -> Any:
        """The value, with the arrays as they are at run time: under vmap those of the first lane."""
        own = [a[(0,) * (a.ndim - aval.ndim)] for a, aval in zip(arrays, self.avals, strict=True)]
        remaining = map(texts.plain, own)
        return jax.tree.unflatten(self.tree, [next(remaining) if leaf is _ARRAY else leaf for leaf in self.leaves])


class _Array:
    """In place of an array among the leaves of a value."""


_ARRAY = _Array()


def arrays_of(value: Any) -> list[jax.Array]:
    return [leaf for leaf in jax.tree.leaves(value) if isinstance(leaf, jax.Array)]


def _one_of_each(arrays: Sequence[jax.Array]) -> jax.Array:
    """A number that cannot be computed before all of these are; its value says nothing."""
    numbers = [a for a in arrays if a.size and _is_number(a) and _is_whole(a)]
    firsts = [jax.lax.stop_gradient(a[(0,) * a.ndim]).real.astype(jnp.float32) for a in numbers]
    return jnp.stack(firsts).sum() if firsts else jnp.float32(0)


def _is_number(array: jax.Array) -> bool:
    return array.dtype == bool or jnp.issubdtype(array.dtype, jnp.number)


def _is_whole(array: jax.Array) -> bool:
    """Is it not spread over devices in a way that is part of its type?"""
    return not any(getattr(jax.typeof(array).sharding, "spec", ()))


def _simple(leaf: Any) -> Any:
    """What can be compared and kept: an array of numbers, a number, a text."""
    if isinstance(leaf, jax.Array):
        return leaf if _is_number(leaf) else str(leaf.dtype)
    return leaf if isinstance(leaf, str | bool | int | float | complex) else str(leaf)


def plain(value: Any) -> Any:
    """A value as the methods of a real bar take it."""
    if isinstance(value, OrderedDict):
        return OrderedDict((name, plain(entry)) for name, entry in value.items())
    if isinstance(value, Choice):
        return plain(value.value)
    return str(value) if isinstance(value, texts.Text) else value
