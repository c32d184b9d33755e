"""What a traced function keeps outside of itself: `self.y = x * 2` leaves a tracer, which is of no use when the trace is over.

A stand-in takes its place, which says so, with both lines, when somebody uses it. Under an eager `jax.grad` the value is known,
and takes its place instead.
"""

from __future__ import annotations

import contextlib
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import jax
import jax.core

from autograph_jax.errors import EscapedTracerError, Location, frame_location, is_user_frame, user_location
from autograph_jax.operators import jax_private
from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.tracing.places import Inside, Place
from autograph_jax.operators.values.choices import Choice
from autograph_jax.runtime.assigned import line_of_store, note_variables
from autograph_jax.runtime.notes import annotate

_HELP = "return the value, and keep what the call gives: `o.y = f(x)`"


class Escaped:
    """In place of a tracer whose trace is over: whatever is done with it is an error that names both lines."""

    __slots__ = ("name", "where")

    def __init__(self, name: str, where: Location | None) -> None:
        self.name, self.where = name, where

    def __repr__(self) -> str:
        return f"<{self.name}, a value of a trace that is over>"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    @property
    def __jax_array__(self) -> NoReturn:  # not a method: JAX and NumPy ask whether there is one
        self._refuse()

    __array__ = __jax_array__

    def _refuse(self, *operands: Any) -> NoReturn:
        raise EscapedTracerError(
            f"{self.name} holds a value of a trace that is over",
            location=user_location(),
            details=_origin(self.where),
            help=_HELP,
        )


def _origin(where: Location | None) -> list[str]:
    if where is None:
        return []
    first, *text = where.lines()
    return [f"It was kept at {first.strip()}, while JAX traced the function:", *text]


_OPERATIONS = """add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor""".split()
_OTHERS = """lt le eq ne gt ge neg pos abs invert bool int float complex index round len iter getitem contains call""".split()
for _operation in [*_OPERATIONS, *(f"r{name}" for name in _OPERATIONS), *_OTHERS]:
    setattr(Escaped, f"__{_operation}__", Escaped._refuse)
Escaped.__hash__ = object.__hash__


class Watch:
    """One run of a function under a transform. What its `result` holds is not left outside of it."""

    result: Any = None


@contextlib.contextmanager
def watched(function: Any) -> Iterator[Watch]:
    """While a transform traces a function: what it leaves outside of itself is looked through at the end."""
    written: state.Written = {}
    watch = Watch()
    around = state.swap_written(written)
    try:
        if isinstance(function, types.FunctionType):
            note_variables(function)
        yield watch
    except Exception as error:
        annotate(error)
        watch.result = error.args, vars(error)  # what it holds is raised at run time, or refused
        raise
    finally:
        state.swap_written(around)
        handed_out = _objects_in(watch.result) if written else set()
        for key, (place, where) in written.items():
            if place.target is not None and handed_out & {id(place.target), id(getattr(place.target, "__dict__", None))}:
                continue
            value = place.read()
            left = _left(value, lambda place=place, where=where: Escaped(_name(place), _location(place.name, where)))
            if left is not value:
                place.write(left)
            if around is not None:
                around[key] = place, where


def _objects_in(result: Any) -> set[int]:
    """What a result consists of, by id: containers and objects that JAX knows, and all that can be reached from others."""
    nodes: set[int] = set()
    # What is met again is a leaf, too: a list may hold itself.
    leaves = jax.tree.leaves(result, is_leaf=lambda part: id(part) in nodes or bool(nodes.add(id(part))))
    others = [leaf for leaf in leaves if not isinstance(leaf, jax.Array | int | float | str)]
    return nodes | {id(part) for other in others for part in reach.everything(other)}


def _left(value: Any, stand_in: Callable[[], Escaped]) -> Any:
    """The value with something else in place of tracers that are over; itself if it holds none."""
    if isinstance(value, frozenset):
        return frozenset(_left(part, stand_in) for part in value) if any(map(_is_over, value)) else value
    if reach.is_circular(value):
        return value
    if type(value) is dict:  # whose keys JAX puts in order, if they have one
        parts = {key: _left(part, stand_in) for key, part in value.items()}
        return parts if any(parts[key] is not part for key, part in value.items()) else value
    leaves, structure = jax.tree.flatten(value, is_leaf=lambda part: _is_choice(part) or type(part) is dict)
    if any(type(leaf) is dict for leaf in leaves):
        parts = [_left(leaf, stand_in) for leaf in leaves]
        return value if all(map(operator.is_, parts, leaves)) else structure.unflatten(parts)
    if not any(map(_is_over, leaves)):
        return value
    return structure.unflatten([_known(leaf, stand_in) if _is_over(leaf) else leaf for leaf in leaves])


def _is_choice(value: Any) -> bool:
    return type(value) is Choice


def _is_over(value: Any) -> bool:
    if type(value) is Choice:
        return _is_over(value._index)
    return issubclass(type(value), jax.core.Tracer) and jax_private.is_over_with(value)


def _known(value: Any, stand_in: Callable[[], Escaped]) -> Any:
    known = jax_private.concrete(value) if isinstance(value, jax.core.Tracer) else None
    return stand_in() if known is None else known


def _name(place: Place) -> str:
    return place.name if isinstance(place, Inside) else f"`{place.name}`"


def _location(name: str, where: tuple[types.CodeType, int | None] | None) -> Location | None:
    if where is None:
        return None
    code, line = where
    return Location(code.co_filename, line_of_store(code, name) if line is None else line, function=code.co_qualname)


def explained(error: jax.errors.UnexpectedTracerError) -> EscapedTracerError:
    """JAX's error for a tracer that was kept where nobody has looked, with the user's line."""
    trace, frame = error.__traceback__, None
    while trace is not None:
        frame = trace.tb_frame if is_user_frame(trace.tb_frame) else frame
        trace = trace.tb_next
    origin = [line.strip() for line in str(error).splitlines() if "leaked intermediate value was created" in line]
    return EscapedTracerError(
        "a value of a trace that is over is used",
        location=frame_location(frame) if frame is not None else user_location(),
        details=[line for line in origin if not line.endswith("line .")],
        help=_HELP,
    )
