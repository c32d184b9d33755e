"""What a traced condition tells about a Choice: `if best is None or v > best` may compare with best, an array by then."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import jax

from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.tracing.cells import cells_of, standing_for
from autograph_jax.operators.tracing.places import Attribute, Content, Place
from autograph_jax.operators.values.choices import UNBOUND, Choice

Test = Callable[[Any], bool]
Functions = Sequence[Callable[..., Any] | None]


@dataclasses.dataclass(frozen=True)
class Facts:
    """Which options each Choice can still have where a condition holds, and where it does not."""

    if_true: tuple[tuple[Choice, Test], ...] = ()
    if_false: tuple[tuple[Choice, Test], ...] = ()

    def where(self, holds: bool) -> tuple[tuple[Choice, Test], ...]:
        return self.if_true if holds else self.if_false


NONE = Facts()
Weak = tuple[weakref.ref[Choice], Test]


def weakly(told: Iterable[tuple[Choice, Test]]) -> list[Weak]:
    """What is told, without holding what belongs to a trace when that is over."""
    return [(weakref.ref(choice), test) for choice, test in told]


def _held(told: Iterable[Weak]) -> tuple[tuple[Choice, Test], ...]:
    return tuple((known, test) for choice, test in told if (known := choice()) is not None)


# By the condition's id, since arrays have no usable ==. Module state: an entry goes when its condition goes.
_by_id: dict[int, tuple[weakref.ref[Any], list[Weak], list[Weak]]] = {}


def tell(condition: Any, facts: Facts) -> Any:
    """Remember what a traced condition tells."""
    key = id(condition)
    gone = weakref.ref(condition, lambda _, known=_by_id: known.pop(key, None))
    _by_id[key] = gone, weakly(facts.if_true), weakly(facts.if_false)
    return condition


def of(condition: Any) -> Facts:
    """What was told of a condition; of a Choice that is one itself, which options can be true and which false."""
    entry = _by_id.get(id(condition))
    known = Facts(*map(_held, entry[1:])) if entry is not None and entry[0]() is condition else NONE
    if not isinstance(condition, Choice):
        return known
    return Facts((*known.if_true, (condition, _may_be(True))), (*known.if_false, (condition, _may_be(False))))


def by_option(choice: Choice, answers: Sequence[Any]) -> Facts:
    """What a condition tells that has an answer for each option: True, False, or one that is not known."""
    sure = {id(option): answer for option, answer in zip(choice._options, answers, strict=True) if isinstance(answer, bool)}
    return Facts(
        if_true=((choice, lambda option: sure.get(id(option)) is not False),),
        if_false=((choice, lambda option: sure.get(id(option)) is not True),),
    )


def possible(value: Any, holds: bool) -> Any:
    """A condition's value where it is known to be true, or false: `x or 0.0` is no longer None."""
    return value._only(_may_be(holds)) if isinstance(value, Choice) else value


def _may_be(holds: bool) -> Test:
    def test(option: Any) -> bool:
        return isinstance(option, jax.Array) or (option is not UNBOUND and bool(option)) is holds

    return test


def together(first: Facts, inner: Sequence[Weak], functions: Functions, binds: Sequence[str], *, holds: bool) -> Facts:
    """What `a and b` tells where it is true, or `a or b` where it is false: what a tells, and b.

    Of b, only about what its variables hold: it was evaluated apart, and may tell of what was there only. The variables
    that it binds by a walrus have values.
    """
    cells = cells_of(tuple(functions))
    values = [cell.read() for cell in cells.values()]
    known = [*first.where(holds)]
    known += [(choice, test) for choice, test in _held(inner) if _is_among(choice, values)]
    bound = [cells[name].read() for name in binds if name in cells]
    known += [(value, _is_bound) for value in bound if isinstance(value, Choice) and not all(map(_is_bound, value._options))]
    return Facts(if_true=tuple(known)) if holds else Facts(if_false=tuple(known))


def _is_among(choice: Choice, values: Sequence[Any]) -> bool:
    return any(reach.holds(value, lambda part: part is choice) for value in values)


def _is_bound(option: Any) -> bool:
    return option is not UNBOUND


def narrowed(block: Callable[[], Any], functions: Functions, facts: Facts, holds: bool) -> Callable[[], Any]:
    """A block, narrowed to what a condition tells."""
    told = facts.where(holds)
    return Narrowed(block, functions, told) if told else block


def unwritten(block: Callable[[], Any]) -> frozenset[Hashable]:
    """The keys of places that a block found narrowed, and has not written."""
    return block.unwritten if isinstance(block, Narrowed) else frozenset()


class Narrowed:
    """A block that runs with each Choice that a condition tells about narrowed to what it can be there."""

    def __init__(self, block: Callable[[], Any], functions: Functions, told: Sequence[tuple[Choice, Test]]) -> None:
        self._block, self._functions, self._told = block, functions, told
        self.unwritten: frozenset[Hashable] = frozenset()
        standing_for(self, block)

    def __call__(self) -> Any:
        places: list[tuple[Place, Any]] = []
        for choice, test in self._told:
            if any(map(test, choice._options)) and not all(map(test, choice._options)):
                places += [_put(place, choice, choice._only(test)) for place in _places_of(choice, self._functions)]
        result = self._block()
        self.unwritten = frozenset(place.key for place, value in places if _same(place.read(), value))
        return result


def _put(place: Place, choice: Choice, value: Any) -> tuple[Place, Any]:
    """Put what a Choice has become in its place. Gives the place, and what it holds now."""
    new = _with(place.read(), choice, value)
    state.write(place, new)
    return place, new


def _places_of(choice: Choice, functions: Functions) -> list[Place]:
    """Where functions have a Choice: in variables, and in the tuples, lists, dicts and objects that these hold."""
    cells = cells_of(tuple(functions)).values()
    inner = [place for cell in cells for part in reach.everything(cell.read()) for place in _places(part)]
    outer = [cell for cell in cells if isinstance(cell.read(), Choice | tuple)]
    return [place for place in {place.key: place for place in [*inner, *outer]}.values() if _holds(place.read(), choice)]


def _places(part: Any) -> list[Content] | list[Attribute]:
    if isinstance(part, list | dict):
        return [Content(part)]
    return [Attribute(part, name) for name in reach.attributes(part)] if reach.is_record(part) else []


def _same(first: Any, second: Any) -> bool:
    """Is this the same object? What a list or dict holds is copied when it is read."""
    if type(first) is not type(second) or not isinstance(first, list | dict):
        return first is second
    return len(first) == len(second) and all(a is b for a, b in zip(_parts(first), _parts(second), strict=True))


def _holds(value: Any, choice: Choice) -> bool:
    """Is this the choice, or a tuple, list or dict with it?"""
    return value is choice or any(_is_value(part) and _holds(part, choice) for part in _parts(value))


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, tuple | list) else ()


def _is_value(part: Any) -> bool:
    """No object that others may hold too: a list in a tuple is a place of its own."""
    return isinstance(part, Choice | tuple)


def _with(value: Any, choice: Choice, new: Any) -> Any:
    """A copy with something else in the choice's place."""
    if value is choice:
        return new
    parts = [_with(p, choice, new) if _is_value(p) and _holds(p, choice) else p for p in _parts(value)]
    if isinstance(value, dict):
        return dict(zip(value, parts, strict=True))
    return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)  # a NamedTuple takes them one by one
