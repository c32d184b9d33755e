"""A list of ported code whose length is one of a few, as traced data decides: `cached[:] = step(x)` on one path only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators.sequences.lists import number_unknown
from autograph_jax.operators.tracing import views
from autograph_jax.operators.values.choices import Choice, renumbered, unpacked_to
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.porting.arrays import MutableArray

Change = Callable[[list[Any]], Any]
_MOST = 12  # lengths; a loop that finds another one in each turn has to end


class Several:
    """A list that holds a tuple, or a Choice of tuples of several lengths. What is done to it is done to each of these."""

    is_record = True  # what it holds is state, and may be taken apart where two paths make one each

    def __init__(self, content: Any) -> None:
        self._content = content

    # A list's methods

    def append(self, value: Any) -> None:
        """Add an element at the end."""
        self._change(lambda values: values.append(value))

    def extend(self, more: Iterable[Any]) -> None:
        """Add elements at the end."""
        given = _elements(more)
        self._change(lambda values: values.extend(given))

    def __iadd__(self, more: Iterable[Any]) -> Several:
        self.extend(more)
        return self

    def insert(self, index: Any, value: Any) -> None:
        """Put an element before another one."""
        self._change(lambda values: values.insert(index, value))

    def pop(self, index: Any = -1) -> Any:
        """Take the element at an index, the last one as a rule."""
        return self._change(lambda values: values.pop(index))

    def clear(self) -> None:
        """Take all elements out."""
        self._change(lambda values: values.clear())

    def reverse(self) -> None:
        """Turn the order round."""
        self._change(lambda values: values.reverse())

    def copy(self) -> Several:
        """Another list of the same elements."""
        return Several(self._content)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return _selection().get_item(self._content, index)
        contents = [option[index] for option in _options(self._content)]
        return Several(_together(self._content, contents))

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, jax.Array) and is_traced(index):
            error = IndexError("list assignment index out of range")
            position = _selection().position_in(self.__len__(), index, error)
            self._change(lambda values: _write_picked(values, position, value))
        else:
            given = _elements(value) if isinstance(index, slice) else value
            self._change(lambda values: values.__setitem__(index, given))

    def __delitem__(self, index: Any) -> None:
        self._change(lambda values: values.__delitem__(index))

    def __len__(self) -> Any:
        """How many elements there are: an integer, traced where that is not known."""
        return type(self._content).__len__(self._content)

    def __iter__(self) -> Iterator[Any]:
        count = unpacked_to(sys._getframe(1))
        if isinstance(self._content, Choice) and count is not None:
            return iter(_selection().unpacked(self._content, count))
        return iter(self.elements("is gone through by Python"))

    def elements(self, use: str) -> tuple[Any, ...]:
        """What it holds, where that is known."""
        if isinstance(self._content, Choice):
            raise refused(use)
        return self._content

    @property
    def is_open(self) -> bool:
        """Does traced data decide how many elements there are?"""
        return isinstance(self._content, Choice)

    @property
    def capacity(self) -> int:
        """The most elements that there may be."""
        return max(map(len, _options(self._content)))

    @property
    def content(self) -> Any:
        """The tuple, or the Choice of tuples, that it holds now; a change gives it another one."""
        return self._content

    def padded(self) -> Any:
        """As many elements on each path as on the longest: in place of those that are not there, others."""
        options = _options(self._content)
        longest = max(options, key=len)
        return _together(self._content, [(*option, *longest[len(option) :]) for option in options])

    def lists(self) -> Any:
        """The list itself, or a Choice of lists: what leaves a ported function."""
        content = self._content
        return Choice(content._index, tuple(map(list, content._options))) if isinstance(content, Choice) else list(content)

    def _change(self, change: Change) -> Any:
        """What a list's method gives, which changes it; at run time its error, of a list for which there is one."""
        left = {id(option): list(option) for option in _options(self._content)}
        if isinstance(self._content, Choice):
            result = _selection().of_choice(self._content, lambda option: change(left[id(option)]), "it is changed")
        else:
            result = change(left[id(self._content)])
        _subscripts().set_attr(_together(self._content, list(map(tuple, left.values()))), self, "_content")
        return result

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise refused("is made into an array")

    def __contains__(self, value: Any) -> bool:
        raise refused("is searched by Python")

    def __str__(self) -> str:
        raise refused("is shown")

    def _compared(self, other: Any) -> Any:
        raise refused("is compared")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_content", "dtype"):
            raise AttributeError(name)
        raise refused(f"has its `{name}` asked for")

    def __repr__(self) -> str:
        return "<a list of one of several lengths>"


def refused(use: str) -> StagingError:
    return StagingError(
        f"a list whose number of elements is only known at run time {use}",
        location=user_location(),
        help="take its elements by their indices, or unpack it where its length is known",
    )


def _options(content: Any) -> tuple[tuple[Any, ...], ...]:
    return content._options if isinstance(content, Choice) else (content,)


def _together(before: Any, contents: Sequence[tuple[Any, ...]]) -> Any:
    """The content that each of the options of another one has become: those of one length and alike are one option."""
    if not isinstance(before, Choice):
        return contents[0]
    shapes = [tuple(map(_shape, content)) for content in contents]
    kinds = list(dict.fromkeys(shapes))
    if len(kinds) > _MOST:
        raise number_unknown("this list")
    options = []
    for kind in kinds:
        places = [place for place, own in enumerate(shapes) if own == kind]
        table = [places.index(place) if place in places else 0 for place in range(len(contents))]
        options.append(_selection().pick(renumbered(before._index, table), [contents[place] for place in places]))
    index = renumbered(before._index, [kinds.index(own) for own in shapes])
    return options[0] if len(options) == 1 else Choice(index, tuple(options))


def _shape(value: Any) -> tuple[int, ...] | None:
    """That of a number or an array: two that differ are not picked from. None of anything else."""
    return np.shape(value) if isinstance(value, int | float | complex | jax.Array | MutableArray | np.ndarray) else None


def _write_picked(values: list[Any], position: jax.Array, value: Any) -> None:
    for number, old in enumerate(values):
        values[number] = _selection().pick(jnp.asarray(position == number, jnp.int32), [old, value])


def _elements(values: Any) -> tuple[Any, ...]:
    """The elements of an iterable, once for all lists that get them."""
    return tuple(views.rows(values))


# These build on lists.


def _selection() -> Any:
    from autograph_jax.operators.values import selection

    return selection


def _subscripts() -> Any:
    from autograph_jax.operators import subscripts

    return subscripts
