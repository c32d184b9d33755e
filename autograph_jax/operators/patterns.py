"""What `match` does: the structure of a subject is always known, and a value in it may be traced.

`captures(p, sequence(0, name('y')))` gives what `case [0, y]` captures, as a tuple, or None where p does not match; a Choice of
the two where traced data decides. `matches` is the same for a pattern without captures, and gives a bool.

Tests, and their order, are those of CPython: https://docs.python.org/3/reference/compound_stmts.html#patterns and PEP 634.
What it finds out after a test has failed, it must not ask: a name that does not exist, an attribute with effects. Therefore
classes and dotted names are lambdas.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators import comparisons
from autograph_jax.operators.sequences import bounded, lists
from autograph_jax.operators.staging import dependence
from autograph_jax.operators.values import facts, selection, structure
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.traced import truth

Captured = dict[str, Any]
Found = tuple[Any, Captured]  # does it match (a bool or a traced one), and what it captures then
_NOT: Found = (False, {})


def matches(subject: Any, pattern: Any) -> Any:
    """Does the subject match a pattern that captures nothing?"""
    return _found(pattern, subject)[0]


def captures(subject: Any, pattern: Any) -> Any:
    """What a pattern captures, in the order in which its names first occur in it, or None where it does not match."""
    holds, captured = _found(pattern, subject)
    if holds is False:
        return None
    values = tuple(captured[name] for name in dict.fromkeys(_names(pattern)))
    if holds is True:
        return values
    found = Choice(holds.astype(jnp.int32), (None, values))
    return facts.tell(found, facts.of(holds))


# Patterns


class Pattern:
    """A pattern that is no value; `parts` are those inside it."""

    parts: Sequence[Any] = ()

    def found(self, subject: Any) -> Found:
        raise NotImplementedError


class _Anything(Pattern):
    """`_`"""

    def found(self, subject: Any) -> Found:
        return True, {}


anything = _Anything()


@dataclasses.dataclass(frozen=True)
class name(Pattern):
    """`y`"""

    captured: str

    def found(self, subject: Any) -> Found:
        return True, {self.captured: subject}


@dataclasses.dataclass(frozen=True)
class star(Pattern):
    """`*rest` in a sequence; `*_` without a name."""

    captured: str | None = None

    def found(self, subject: Any) -> Found:
        return True, {self.captured: subject} if self.captured else {}


class named(Pattern):
    """`pattern as y`"""

    def __init__(self, pattern: Any, captured: str) -> None:
        self.parts, self._captured = (pattern, name(captured)), captured

    def found(self, subject: Any) -> Found:
        return _all((part, subject) for part in self.parts)


class either(Pattern):
    """`a | b`: the first that matches."""

    def __init__(self, *patterns: Any) -> None:
        self.parts = patterns

    def found(self, subject: Any) -> Found:
        found: list[Found] = []
        for part in self.parts:
            holds, captured = _found(part, subject)
            if holds is not False:
                found.append((holds, captured))
            if holds is True:
                break
        return _first(found)


class sequence(Pattern):
    """`[a, *rest, b]`: of lists, tuples and what is registered as a Sequence, but no array and no string."""

    def __init__(self, *patterns: Any) -> None:
        self.parts = patterns
        self._star = next((n for n, part in enumerate(patterns) if isinstance(part, star)), None)

    def found(self, subject: Any) -> Found:
        _check_length(subject)
        if not structure.is_sequence(subject):
            return _NOT
        size = len(self.parts)
        if self._star is None:
            if len(subject) != size:
                return _NOT
        elif size > 1 and len(subject) < size - 1:
            return _NOT
        return _all(zip(self.parts, self._elements(subject), strict=True))

    def _elements(self, subject: Any) -> Iterable[Any]:
        """One for each part, asked for as CPython does: not at all, by indexes where all others are `*_`, or by unpacking."""
        if all(part is anything or part == star() for part in self.parts):
            return (None for _ in self.parts)
        if self._star is None:
            return structure.unpacked(subject, len(self.parts))
        if self.parts[self._star] == star():
            return self._by_index(subject, self._star)
        return structure.unpacked(subject, self._star, len(self.parts) - self._star - 1)

    def _by_index(self, subject: Any, position: int) -> Iterator[Any]:
        for number, part in enumerate(self.parts):
            if part is anything or number == position:
                yield None
            else:
                yield subject[number if number < position else len(subject) - (len(self.parts) - number)]


def _check_length(subject: Any) -> None:
    """Refuse a list whose length is only known at run time, and which is no list while it is traced."""
    lists.check_known(subject)
    if isinstance(subject, bounded.Bounded):
        raise StagingError(
            "a list of bounded length is matched, and its length is only known at run time",
            location=user_location(),
            help="ask for `len(xs)` and for elements by `xs[i]`",
        )


class mapping(Pattern):
    """`{key: pattern, **rest}`: of dicts and what is registered as a Mapping; other keys don't matter."""

    def __init__(self, *items: tuple[Any, Any], rest: str | None = None) -> None:
        self._keys = [key for key, _ in items]
        self._patterns = [pattern for _, pattern in items]
        self._rest = rest
        self.parts = [*self._patterns, *([name(rest)] if rest else [])]

    def found(self, subject: Any) -> Found:
        if not structure.is_mapping(subject) or self._keys and len(subject) < len(self._keys):
            return _NOT
        keys = [_evaluated(key) for key in self._keys]
        values = structure.values_of(subject, keys)
        if values is None:
            return _NOT
        holds, captured = _all(zip(self._patterns, values, strict=True))
        if holds is not False and self._rest:
            captured[self._rest] = structure.without(subject, keys)
        return holds, captured


class instance(Pattern):
    """`Point(0, y=y)`: the class is a lambda, positional patterns are of what `__match_args__` names."""

    def __init__(self, kind: Callable[[], Any], /, *positional: Any, **keywords: Any) -> None:
        self._kind, self._positional, self._keywords = kind, positional, keywords
        self.parts = (*positional, *keywords.values())

    def found(self, subject: Any) -> Found:
        kind = self._kind()
        if not isinstance(kind, type):
            raise TypeError("called match pattern must be a class")
        dependence.note_class_asked(subject)
        if not isinstance(subject, kind):
            return _NOT
        values = structure.attributes(subject, kind, len(self._positional), self._keywords)
        return _all(zip(self.parts, values, strict=True)) if values is not None else _NOT


# Matching


def _found(pattern: Any, subject: Any) -> Found:
    if isinstance(subject, Choice) and not isinstance(pattern, _Anything | name | star):
        return _found_in_choice(pattern, subject)
    if not isinstance(pattern, _Anything | name | star):
        lists.check_element(subject)
    if isinstance(pattern, Pattern):
        return pattern.found(subject)
    if pattern is None or pattern is True or pattern is False:
        return _is(subject, pattern), {}
    return comparisons.every([comparisons.equal(subject, _evaluated(pattern))]), {}


def _evaluated(value: Any) -> Any:
    """A literal, or what a dotted name stands for."""
    return value() if callable(value) else value


def _is(subject: Any, value: Any) -> Any:
    """`case True` asks for True itself. A comparison of arrays stands for Python's bool."""
    if isinstance(value, bool) and isinstance(subject, jax.Array) and subject.dtype == bool and subject.shape == ():
        return comparisons.every([truth(subject) == value])
    return subject is value


def _all(pairs: Iterable[tuple[Any, Any]]) -> Found:
    """Patterns with their subjects, in order; after one that surely fails no other is asked for."""
    holds: Any = True
    captured: Captured = {}
    for pattern, subject in pairs:
        also, more = _found(pattern, subject)
        if also is False:
            return _NOT
        holds = _both(holds, also)
        captured |= more
    return holds, captured


def _both(holds: Any, also: Any) -> Any:
    if holds is True or also is True:
        return also if holds is True else holds
    told = facts.Facts(if_true=facts.of(holds).if_true + facts.of(also).if_true)
    return facts.tell(jnp.logical_and(holds, also), told)


def _first(found: Sequence[Found]) -> Found:
    """The first alternative that matches."""
    if not found:
        return _NOT
    if len(found) == 1:
        return found[0]
    conditions = jnp.stack([jnp.asarray(holds) for holds, _ in found])
    first = jnp.argmax(conditions)
    captured = {key: selection.pick(first, [captured[key] for _, captured in found]) for key in found[0][1]}
    told = facts.Facts(if_false=tuple(fact for holds, _ in found for fact in facts.of(holds).if_false))
    return True if found[-1][0] is True else facts.tell(conditions.any(), told), captured


def _found_in_choice(pattern: Any, choice: Choice) -> Found:
    """Each option by itself. Where the whole matches, the subject is none of those that surely don't."""
    found = [_found(pattern, option) for option in choice._options]
    possible = [captured for holds, captured in found if holds is not False]
    if not possible:
        return _NOT
    captured = {key: selection.pick(choice._index, [c.get(key, possible[0][key]) for _, c in found]) for key in possible[0]}
    if all(holds is True for holds, _ in found):
        return True, captured
    answers = [holds for holds, _ in found]
    holds = jnp.stack([jnp.asarray(answer) for answer in answers])[choice._index]
    return facts.tell(holds, facts.by_option(choice, answers)), captured


def _names(pattern: Any) -> Iterator[str]:
    """The names that a pattern captures, as they occur in it."""
    if isinstance(pattern, name | star):
        yield from [pattern.captured] if pattern.captured else []
    elif isinstance(pattern, Pattern):
        for part in pattern.parts:
            yield from _names(part)
