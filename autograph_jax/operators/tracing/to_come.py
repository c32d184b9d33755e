"""What the loops that run have yet to take: in `for a in (x, x): a[0] += 1` the second turn sees what the first has written.

The tuple holds the array as it was, and nobody can put another one there, so that such a write is refused. Of Python's own
iterators it is known what is left, of `itertools` and of users' classes what they hold. A function that Python calls for
each element, `sum(map(f, (x, x)))`, is asked while it runs.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
import functools
import gc
import itertools
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from autograph_jax.operators.tracing import collected, given, reach, views
from autograph_jax.operators.tracing.frame_variables import frame_variables

_ORDERED = collections.OrderedDict[Any, Any]()
_OF_CONTAINERS = tuple(
    map(type, (iter(()), iter([]), reversed(()), reversed([]), iter({}), iter({}.values()), iter({}.items()), iter(_ORDERED)))
)
_OF_ITERATORS = (enumerate, zip, map, filter)
_OF_DEQUE = type(iter(collections.deque()))
_OF_SEQUENCE = type(iter(np.zeros(1)))  # of whatever has `__getitem__`
_OF_ITERTOOLS = frozenset(kind for kind in vars(itertools).values() if isinstance(kind, type))
# Those that give again what they hold. The others have only iterators to take from, and what they have given last.
_HOLDING = frozenset({
    itertools.product, itertools.permutations, itertools.combinations, itertools.combinations_with_replacement,
    itertools.cycle, itertools.repeat, itertools.groupby, itertools.accumulate,
})  # fmt: skip
_NEVER = frozenset({*reach.ATOMS, type(iter(range(0))), itertools.count})
_DEEPEST = 20  # iterators of iterators


class _Loops(threading.local):
    def __init__(self) -> None:
        self.elements: list[Any] = []  # the iterators of the loops around, as far as they tell what is left
        self.staged: list[Any] = []  # those over lists whose elements a staged loop takes from a copy, one of them in each turn


_loops = _Loops()


@contextlib.contextmanager
def taking(*elements: Any, is_staged: bool = False) -> Iterator[None]:
    """Meanwhile a loop takes these. They need not be asked if they hold no array, as most don't."""
    asked = [one for one in elements if _may_hold(one)]
    own = _loops.staged if is_staged else _loops.elements
    own += asked
    try:
        yield
    finally:
        del own[len(own) - len(asked) :]


def meanwhile(function: Callable[..., Any], *sources: Any) -> Callable[..., Any]:
    """A function that Python calls for each element of these: while it runs, what is left of them is yet to be taken."""
    asked = [one for one in sources if _may_hold(one)]
    if not asked:
        return function
    for one in asked:
        given.pass_on(one)

    @functools.wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        with taking(*asked):
            return given.made(function(*arguments, **keywords))

    return run


def _may_hold(elements: Any) -> bool:
    kind = type(elements)
    return any(map(_holds_array, _left(elements, _NOTHING))) if kind in _OF_CONTAINERS else kind not in _NEVER


def collecting(iterable: Any) -> Iterator[Any]:
    """`[f(v) for v in iterable]`: what it goes through, until it ends."""
    elements = _elements(iterable)
    return collected.begin(elements, elements if _may_hold(elements) else None)


def giving(iterable: Any) -> Iterator[tuple[given.Given, Any]]:
    """`(f(v) for v in iterable)`: what it goes through, each with what the generator has given."""
    elements = _elements(iterable)
    return zip(itertools.repeat(given.Given(elements if _may_hold(elements) else None)), elements, strict=False)


def _elements(iterable: Any) -> Iterator[Any]:
    is_array = isinstance(iterable, jax.Array) and iterable.ndim > 0
    return views.each_row(iterable) if is_array else iter(given.by_users(iterable))


def is_any() -> bool:
    """Is a loop or a comprehension running that has yet to take what may hold an array?"""
    return bool(_loops.elements or _loops.staged) or collected.is_any()


@dataclasses.dataclass(frozen=True)
class Written:
    """What a write is put into, which shows it: a list, dict or object, and what to skip there."""

    holder: Any = None
    skip: reach.Skip = lambda holder, key: False


_NOTHING = Written()


def holds(arrays: Iterable[Any], doubted: Iterable[Any], written: Written, generators: Iterable[given.Given]) -> bool:
    """Is one of these in what is yet to be taken, also by the generators that run?

    Nor may it be one of those that are `doubted`; a staged loop's variable may be any of those that the loop takes.
    """
    known = frozenset(map(id, arrays))
    if _loops.staged and _is_in(known, _loops.staged, written):
        return True
    others = (one.left for one in (*collected.running(), *generators) if one.left is not None)
    return _is_in(known.union(map(id, doubted)), (*_loops.elements, *others), written)


def _is_in(known: frozenset[int], sources: Iterable[Any], written: Written) -> bool:
    for element in itertools.chain.from_iterable(_left(elements, written) for elements in sources):
        if id(element) in known:
            return True
        if not reach.is_plain(element) and reach.holds(element, lambda part: id(part) in known, skip=written.skip):
            return True
    return False


def _holds_array(element: Any) -> bool:
    return type(element) not in reach.ATOMS and any(_is_array(part) for part in reach.everything(element))


def _is_array(part: Any) -> bool:
    """Is it an array? An object of a user's is not asked, which `isinstance` would."""
    return reach.is_plain(part) and isinstance(part, jax.Array)


def _left(elements: Any, written: Written, around: tuple[Any, ...] = ()) -> Iterator[Any]:
    """What iterators have yet to give, or to take themselves: of `map(f, xs)`, what is left of xs.

    `around` are those that have led here: generators may hold each other.
    """
    kind = type(elements)
    if kind in _OF_CONTAINERS or kind is _OF_DEQUE:
        containers = gc.get_referents(elements)
        is_users = kind is reversed and any(type(one) is not tuple for one in containers)  # which would be asked
        if not is_users and all(one is not written.holder for one in containers):
            with contextlib.suppress(RuntimeError):  # a dict that has another size by now: its loop is about to say so
                yield from list(copy.copy(elements))
        return
    if kind in (list, tuple):
        yield from elements
        return
    sources, holds_them = _sources(elements, written)
    for source in sources:
        if hasattr(type(source), "__next__"):
            if len(around) < _DEEPEST and all(source is not one for one in (elements, *around)):
                yield from _left(source, written, (elements, *around))
        elif holds_them and source is not written.holder:
            yield source


def _sources(elements: Any, written: Written) -> tuple[Sequence[Any], bool]:
    """What an iterator takes its elements of; and is it all yet to be taken, what is no iterator as well?"""
    kind = type(elements)
    if kind in _OF_ITERATORS:
        return elements.__reduce__()[1], False
    if kind is types.GeneratorType:
        if elements.gi_frame is None:
            return (), False
        # Those of loops in it are where only the collector sees them, unless it is running.
        held = (*frame_variables(elements.gi_frame).values(), *gc.get_referents(elements))
        return held, elements.gi_code is views.each_row.__code__
    if kind is itertools.pairwise:
        return gc.get_referents(elements)[:2], True  # the third is what it has given
    if kind is _OF_SEQUENCE:
        return [one for one in gc.get_referents(elements) if type(one) is not np.ndarray], True  # NumPy's own shows its writes
    if kind in _OF_ITERTOOLS:
        return gc.get_referents(elements), kind in _HOLDING
    if hasattr(kind, "each_there"):  # one of our views, whose rows are those of its arrays
        return elements.arrays, True
    if kind.__module__ == "itertools":  # what `tee` keeps for others
        return gc.get_referents(elements), False
    if not hasattr(kind, "__next__"):
        return (elements,), True
    return [part for key, part in reach.parts(elements) if not written.skip(elements, key)], True
