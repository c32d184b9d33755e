"""The errors of a staged loop: it carries which one has ended it, and the values of its message, and raises it when it is over.

A call of Python in each turn would make a small loop twenty times as slow, even behind a condition that never holds. A loop
that calls Python anyway (print, a callback of the user's) raises at the place itself: so the order of what is seen stays.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import Location
from autograph_jax.operators.effects import rebuilt, texts
from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.tracing.places import Aside
from autograph_jax.operators.values.choices import Choice

Error = BaseException | type[BaseException]


_as_values = jax.make_user_context(False)  # part of the keys of JAX's caches


def errors_as_values() -> AbstractContextManager[Any]:
    """What is traced meanwhile gives its errors as values, and raises nothing: `ag.checkify`."""
    return _as_values(True)


def errors_are_values() -> bool:
    return _as_values.value


class Failure:
    """An error that the program may raise, without the traced values among its arguments and attributes."""

    def __init__(self, error: Error, location: Location | None = None) -> None:
        self.error, self.location = error, location
        self.kind, kept = (error, ((), {})) if isinstance(error, type) else (type(error), (error.args, vars(error)))
        leaves, self._tree = jax.tree.flatten(_taken_apart(kept), is_leaf=lambda value: value is None)
        self.values = [_numbers(leaf) for leaf in leaves if isinstance(leaf, jax.Array)]
        self._leaves = [_TRACED if isinstance(leaf, jax.Array) else leaf for leaf in leaves]
        self._is_made_anew = bool(self.values) or bool(kept[1]) and bool(state.traces())
        if self._is_made_anew:  # the error itself holds tracers, or its attributes are gone when the running block is over
            self.error = self.kind
        self.slots: list[int] = list(range(len(self.values)))  # where its values are among those that are handed over

    def with_values(self, given: Sequence[Any]) -> Error:
        """The user's exception with the values that its arguments have at run time."""
        if not self._is_made_anew:
            return self.error
        arguments, attributes = self._filled(texts.plain(given[slot]) for slot in self.slots)
        return _made(self.kind, tuple(map(_plain_text, arguments)), {k: _plain_text(v) for k, v in attributes.items()})

    def with_traced(self, given: Sequence[Any]) -> Error:
        """The user's exception with the values that its arguments have while JAX traces."""
        return _made(self.kind, *self._filled(given[slot] for slot in self.slots)) if self._is_made_anew else self.error

    def _filled(self, values: Iterable[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        known = iter(values)
        filled = jax.tree.unflatten(self._tree, [next(known) if leaf is _TRACED else leaf for leaf in self._leaves])
        return jax.tree.map(rebuilt.built, filled, is_leaf=rebuilt.is_rebuilt)

    def text(self, given: Sequence[Any]) -> str:
        """The error as text: its type, what it says, and where."""
        error = self.with_values(given)
        said = "" if isinstance(error, type) else str(error)
        return f"{self.kind.__name__}{': ' * bool(said)}{said}{self._place()}"

    def described(self) -> str:
        """The same without the values."""
        return f"{self.kind.__name__} {self._leaves}{self._place()}"

    def _place(self) -> str:
        return f" ({self.location.filename}:{self.location.line})" if self.location else ""


def _made(kind: type[BaseException], arguments: tuple[Any, ...], attributes: dict[str, Any]) -> BaseException:
    """An exception with these arguments and attributes. Its class's own constructor may take others, so that is not called."""
    error = kind.__new__(kind, *arguments)
    builtin = next(base for base in kind.__mro__ if not isinstance(base.__init__, types.FunctionType))
    builtin.__init__(error, *arguments)  # fills what is no attribute of Python's: StopIteration.value, OSError.errno
    error.args = arguments
    error.__dict__.update(attributes)
    return error


def _taken_apart(kept: Any) -> Any:
    """The arguments and attributes of an error, without the objects that hold something else when the program runs."""
    return jax.tree.map(_parts_of, kept, is_leaf=lambda value: isinstance(value, texts.Text | Choice))


def _parts_of(value: Any) -> Any:
    if isinstance(value, jax.Array | texts.Text | Choice | types.FunctionType) or not reach.holds_traced(value):
        return value
    return rebuilt.taken_apart(value)


def _plain_text(value: Any) -> Any:
    return str(value) if isinstance(value, texts.Text) else value


def _numbers(array: jax.Array) -> jax.Array:
    """What a loop can carry, and a callback take: of a random key its data."""
    return jax.random.key_data(array) if jnp.issubdtype(array.dtype, jax.dtypes.prng_key) else array


class CheckText(str):
    """The text of a check that stands for several errors, formatted with the error's number and the values."""

    known: Sequence[Failure]

    def __new__(cls, known: Sequence[Failure]) -> CheckText:
        new = super().__new__(cls, "; ".join(failure.described() for failure in known))
        new.known = known
        return new

    def format(self, code: Any, *values: Any) -> str:
        return self.known[int(code) - 1].text(values)


class _Traced:
    """In place of a traced value among the arguments of an error."""


_TRACED = _Traced()


class Carried(Aside):
    """What a loop carries for its errors. A block that raises leaves these, though nothing else."""

    ends_with_its_loop = True  # which tells by an error of its own what it has left there


class Failures:
    """The errors of a loop and of the loops in it, or of a `try`: state, of which only one error counts, the first."""

    def __init__(self, place: type[Aside] = Carried) -> None:
        self._place = place
        self.known: list[Failure] = []
        self._values: dict[str, Aside] = {}  # shared by all errors: as many of each kind as the longest message needs

    @property
    def code(self) -> Aside:
        """0, or the number of the error."""
        return self._place(self, "code", np.int32(0))

    def begin(self) -> None:
        """Forget the errors of an earlier trace of the loop."""
        self.known, self._values = [], {}

    def note(self, condition: Any, failure: Failure, *, is_caught: bool = False) -> None:
        """The loop ends by this error where the condition holds, unless one has ended it already.

        Of one that is caught the program goes on with the values; of others only a message is made.
        """
        self.known.append(failure)
        before = self.code.read()
        first = _and_none_before(condition, before)
        state.write(self.code, jax.lax.select(first, np.int32(len(self.known)), jnp.asarray(before)))
        failure.slots = []
        for value in failure.values:
            name, slot = self._free(value, failure.slots)
            failure.slots.append(list(self._values).index(name))
            value = value if is_caught else jax.lax.stop_gradient(value)
            state.write(slot, jnp.where(first, value, slot.read()))
        failure.values = []

    def _free(self, value: jax.Array, taken: Sequence[int]) -> tuple[str, Aside]:
        kind = f"{value.dtype}{list(value.shape)}"
        names = list(self._values)
        number = sum(names[position].startswith(kind) for position in taken)
        name = f"{kind} {number}"
        return name, self._values.setdefault(name, self._place(self, name, np.zeros(value.shape, value.dtype)))

    def values(self, after: dict[Any, Any]) -> list[Any]:
        """All values, of which some are given by the keys of their places."""
        return [after[slot.key] if slot.key in after else slot.read() for slot in self._values.values()]


def _and_none_before(condition: Any, code: Any) -> jax.Array:
    """As lax spells it: each `raise` that traced data decides about asks it."""
    condition = jnp.asarray(condition, bool)
    return jax.lax.bitwise_and(condition, jax.lax.eq(code, np.int32(0))) if isinstance(code, jax.Array) else condition


def notes_errors_and_calls_python(jaxpr: Any, ends: dict[Any, Any], failures: Failures | None) -> bool:
    """Does a loop's body note errors although it calls Python in its turns?"""
    return failures is not None and failures.code.key in ends and _calls_python(jaxpr) and not errors_are_values()


def _calls_python(jaxpr: Any) -> bool:
    return any("callback" in name or name == "debug_print" for name in _primitives(jaxpr))


def _primitives(jaxpr: Any) -> list[str]:
    names = []
    for equation in jaxpr.eqns:
        names.append(equation.primitive.name)
        for parameter in jax.tree.leaves(list(equation.params.values()), is_leaf=lambda p: hasattr(p, "eqns")):
            inner = getattr(parameter, "jaxpr", parameter)
            names += _primitives(inner) if hasattr(inner, "eqns") else []
    return names
