"""Views: what a staged loop takes its elements from by their number, where Python would ask for one after the other."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import StagingError, user_location
from autograph_jax.loops.axes import axes_of
from autograph_jax.operators import hooks, jax_private
from autograph_jax.operators.sequences import bounded
from autograph_jax.operators.sequences.several import Several
from autograph_jax.operators.tracing import aliasing, reach, same_containers, standing, views
from autograph_jax.operators.values import selection
from autograph_jax.operators.values.containers import flatten, unflatten
from autograph_jax.operators.values.forms import Array, Form
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.porting import numbers
from autograph_jax.porting.rows import Window
from autograph_jax.porting.selections import Selection


class View:
    """`length` elements; the k-th is `element(k, slices)`, with `slices` the k-th rows of the arrays in `arrays`."""

    length: Any
    arrays: tuple[jax.Array, ...] = ()
    traced = True  # do the elements come from traced data?
    traced_arrays = False  # does what `arrays` holds?
    one_shot = False  # is it used up by a loop, as what `zip` and `enumerate` give?
    can_begin_late = False  # may Python run the first turn, and the others be staged?
    _iterator: Iterator[Any] | None = None

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        raise NotImplementedError  # pragma: no cover - every view has its own

    def sources(self) -> tuple[Any, ...]:
        """The arrays that the elements may be views of."""
        return self.arrays

    def __iter__(self) -> Iterator[Any]:
        """Python's own loop over it, where that is wanted: `list(enumerate(x))`."""
        if is_traced(self.length):
            raise StagingError(
                "the number of elements is only known at run time, and Python needs it here",
                location=user_location(),
                help="loop over it with a `for` statement, or make the bound a static argument",
            )
        return self if self.one_shot else self.elements()

    def __len__(self) -> int:
        return int(self.length)

    def __reversed__(self) -> Iterator[Any]:
        return iter(one_shot(Reversed(self)))

    def elements(self, taken: int = 0) -> Iterator[Any]:
        """Those after so many, for Python's own loop."""
        for index in builtins.range(taken, int(self.length)):
            yield self.element(index, [array[index] for array in self.arrays])

    def __next__(self) -> Any:
        self._iterator = self._iterator or self.elements()
        return next(self._iterator)

    def is_fresh(self) -> bool:
        """Has Python taken nothing from it yet?"""
        return self._iterator is None

    def each_there(self, most: int) -> Iterator[tuple[Any, Any]]:
        """For each of so many elements at most, whether it is there, and itself."""
        for index in builtins.range(most):
            self.turn_over()
            yield self.length > index, self.element(index, [array[index] for array in self.arrays])
        self.turn_over()

    # A loop over it

    def begin(self, blocks: tuple[Callable[..., Any], ...]) -> None:
        """A loop of these blocks is about to be staged."""

    def give_up(self) -> None:
        """Python will run the loop."""

    def turn_over(self) -> None:
        """The loop's body has been traced up to its end."""

    def end(self, exit: Any) -> None:
        """The loop has been staged, and was left by `exit`; of what a `break` has left, nothing is known."""
        if not self.one_shot:
            return
        if exit is not None:
            self.lose()
        elif is_traced(self.length):
            self.use_up()
        else:
            self.advance(self.length + 1)

    def advance(self, taken: int) -> None:
        """So many elements were asked for, by a staged loop; it asks once more where there are no more."""
        if self.one_shot:
            self._iterator = self.elements(taken)

    def use_up(self) -> None:
        """All elements were taken."""
        if self.one_shot:
            self._iterator = builtins.iter(())

    def lose(self) -> None:
        """Nobody knows how many were taken."""
        if self.one_shot:
            self._iterator = _UnknownRest()


class _UnknownRest:
    """It refuses each time: a loop that cannot be staged for that reason is tried in Python."""

    def __iter__(self) -> _UnknownRest:
        return self

    def __next__(self) -> Any:
        raise StagingError(
            "an iterator over traced values is used again after a loop, `any` or `all` that may have left it early",
            location=user_location(),
            help="call `iter`, `zip` or `enumerate` again for each",
        )


class Rows(View):
    """The rows of an array."""

    can_begin_late = True

    def __init__(self, array: Any) -> None:
        self.array = array
        self.traced = self.traced_arrays = isinstance(array, jax.Array)
        self.arrays = (jnp.asarray(array),)
        self.length = array.shape[0]

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        return views.view(slices[0], self.array)


class LiveRows(View):
    """The rows of an array that the loop writes, each as it is when its turn begins."""

    can_begin_late = True

    def __init__(self, array: Any, read: Callable[[], Any]) -> None:
        self._read, self.length = read, array.shape[0]
        self.traced = self.traced_arrays = jax_private.tracing() and isinstance(array, jax.Array)

    def sources(self) -> tuple[Any, ...]:
        return (self._read(),)

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        array = self._read()
        if isinstance(array, np.ndarray):
            return array[index] if not is_traced(index) else standing.note(jnp.asarray(array)[index], array)
        return views.view(jax.lax.dynamic_index_in_dim(array, index, keepdims=False), array)


class ListRows(Rows):
    """A list whose elements are the rows of one array, as a staged loop makes them. Python could count its elements."""

    traced_arrays = True

    def __init__(self, array: jax.Array, elements: Sequence[Any]) -> None:
        super().__init__(array)
        self.traced = False
        for element in elements:
            views.view(element, array)  # what is written to an element in the loop would show in the list


class Stacked(View):
    """A list of elements that are alike, or the arrays of a pytree, by the rows of its leaves."""

    traced = traced_arrays = can_begin_late = True

    def __init__(self, form: Form, columns: Sequence[jax.Array], length: int, elements: Sequence[Any] = ()) -> None:
        self._form, self.arrays, self.length, self._elements = form, tuple(columns), length, elements

    def sources(self) -> tuple[Any, ...]:
        return (*self.arrays, *(array for array in reach.arrays(self._elements) if array.ndim))

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        element = unflatten(self._form, iter(slices))
        same_containers.doubt_all(element, self._elements)
        aliasing.doubt_arrays(element, self._elements)
        return element


def stacked(values: Any) -> View:
    """A view of a list or tuple of elements that are alike; of any other pytree, the view of its arrays' rows."""
    if isinstance(values, list):
        form, columns = bounded.columns_of(values)
        return Stacked(form, columns, len(values), values)
    leaves, tree = jax.tree.flatten(values)
    arrays = [jnp.asarray(leaf) for leaf in leaves]
    form, _ = flatten(jax.tree.unflatten(tree, [array[0] for array in arrays]))
    return Stacked(form, arrays, len(arrays[0]))


class BoundedRows(View):
    """A list of which only a bound is known. A loop has its elements from the beginning, so that nothing may change them."""

    traced_arrays = True

    def __init__(self, values: bounded.Bounded) -> None:
        self.values, self.arrays = values, values.leaves()
        self.length = numbers.bounded(values.length, values.capacity) if values.has_elements else 0
        self._before = values.now

    def begin(self, blocks: tuple[Callable[..., Any], ...]) -> None:
        self.turn_over()

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        self._before = self.values.now
        return self.values.element(slices)

    def turn_over(self) -> None:
        if any(one is not other for one, other in zip(self._before, self.values.now, strict=True)):
            raise bounded.refused("is changed while a loop goes through it")


class SeveralRows(View):
    """A list whose length is one of a few, which nothing may change meanwhile."""

    def __init__(self, values: Several) -> None:
        self._values, self._before, self._padded = values, values.content, values.padded()
        self.length = numbers.bounded(values.__len__(), values.capacity)  # `len` takes no traced number

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        return selection.get_item(self._padded, index)

    def turn_over(self) -> None:
        if self._values.content is not self._before:
            raise bounded.refused("is changed while a loop goes through it")


class SelectedRows(View):
    """`x[mask]` and `x[:k]` of ported code along their first axis, as they are when a turn takes one."""

    traced_arrays = True

    def __init__(self, selection: Selection) -> None:
        self.rows = selection if isinstance(selection.rows[0], Window) else selection.compact((0,))
        self.length = selection.count(0)

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        first, *others = self.rows.rows.items()
        place = index + first[1].start
        row = self.rows.array[min(place, len(self.rows.array) - 1) if isinstance(place, int) else place]
        return Selection(row, {axis - 1: own for axis, own in others}) if others else row


class Indexed(View):
    """A list, a tuple or an array of ported code by the index, beside what traced data decides the length of."""

    def __init__(self, values: Any) -> None:
        self._values, self.length = values, len(values)

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        return selection.get_item(self._values, index)

    def turn_over(self) -> None:
        if len(self._values) != self.length:
            raise bounded.refused("is changed while a loop goes through it")


class Rest(View):
    """The rows of a view of known length after the first."""

    can_begin_late = True

    def __init__(self, rows: View) -> None:
        self._rows, self.length = rows, rows.length - 1
        self.arrays = tuple(views.view(array[1:], array) for array in rows.arrays)
        self.traced, self.traced_arrays = rows.traced, rows.traced_arrays

    def sources(self) -> tuple[Any, ...]:
        return (*self.arrays, *self._rows.sources())

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        return self._rows.element(index + 1, slices)

    def turn_over(self) -> None:
        self._rows.turn_over()

    def end(self, exit: Any) -> None:
        self._rows.end(exit)

    def lose(self) -> None:
        self._rows.lose()


class Count(View):
    """start, start + 1, ... beside the rows of another view, as many as there are: its length is None."""

    can_begin_late = True

    def __init__(self, start: Any) -> None:
        self.start, self.length, self.traced = start, None, is_traced(start)

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        is_known = isinstance(self.start, int)
        number = index if is_known and self.start == 0 else self.start + index
        return numbers.natural(number) if is_known and self.start >= 0 else number

    def elements(self, taken: int = 0) -> Iterator[Any]:
        return (self.element(index, ()) for index in itertools.count(taken))


class Zip(View):
    """What `zip` gives, and `enumerate`. It takes the elements of its one-shot parts, which variables may hold as well."""

    def __init__(self, views: Sequence[View], *, strict: bool = False) -> None:
        self.views = views
        self._strict = strict
        self.traced = any(view.traced for view in views)
        self.can_begin_late = all(view.can_begin_late for view in views)
        self.traced_arrays = any(view.traced_arrays for view in views)
        self.length = _shortest([view.length for view in views if view.length is not None])
        cut = None if is_traced(self.length) else self.length
        self.arrays = tuple(array[:cut] for view in views for array in view.arrays)

    def sources(self) -> tuple[Any, ...]:
        return (*self.arrays, *(array for view in self.views for array in view.sources()))

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        remaining = iter(slices)
        return tuple(view.element(index, [next(remaining) for _ in view.arrays]) for view in self.views)

    def elements(self, taken: int = 0) -> Iterator[Any]:
        parts = [iter(part) if part.one_shot else part.elements(taken) for part in self.views]
        yield from builtins.zip(*parts, strict=self._strict)

    def is_fresh(self) -> bool:
        return super().is_fresh() and all(part.is_fresh() for part in self.views)

    def begin(self, blocks: tuple[Callable[..., Any], ...]) -> None:
        for part in self.views:
            part.begin(blocks)

    def give_up(self) -> None:
        for part in self.views:
            part.give_up()

    def turn_over(self) -> None:
        for part in self.views:
            part.turn_over()

    def end(self, exit: Any) -> None:
        for part in self.views:
            part.end(exit)
        super().end(exit)

    def advance(self, taken: int) -> None:
        """In a round that has no tuple, the parts up to the first that is over have been asked."""
        super().advance(taken)
        for part in self.views:
            part.advance(taken)
            if part.length == self.length:
                taken = min(taken, self.length)

    def use_up(self) -> None:
        super().use_up()
        for part in self.views:
            part.use_up() if part.length is self.length else part.lose()

    def lose(self) -> None:
        super().lose()
        for part in self.views:
            part.lose()


def _shortest(lengths: Sequence[Any]) -> Any:
    if all(length is lengths[0] for length in lengths):
        return lengths[0]
    if not any(is_traced(length) for length in lengths):
        return min(lengths)
    shortest = lengths[0]
    for length in lengths[1:]:
        shortest = jnp.minimum(shortest, length)
    return at_most(shortest, min((most for most in map(most_of, lengths) if most is not None), default=None))


def most_of(number: Any) -> int | None:
    """What a number never exceeds, as far as ported code asks: for the lengths of its arrays and lists."""
    if is_traced(number):
        return numbers.bound_of(number) if hooks.is_porting() else None
    return number


def at_most(number: Any, most: int | None) -> Any:
    """The number, of which is noted that it is not more; under `jax.vmap` a number does not show what it is computed of."""
    return number if most is None else numbers.bounded(number, most)


class Reversed(View):
    def __init__(self, view: View) -> None:
        self.view, self.length = view, view.length
        self.traced, self.traced_arrays, self.can_begin_late = view.traced, view.traced_arrays, view.can_begin_late
        self.arrays = tuple(jnp.flip(array[: self.length], 0) for array in view.arrays)

    def sources(self) -> tuple[Any, ...]:
        return (*self.arrays, *self.view.sources())

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        return self.view.element(self.length - 1 - index, slices)


def one_shot(view: View) -> View:
    """The view as an iterator, which a loop uses up."""
    view.one_shot = True
    return view


def row_forms(rows: View) -> list[Form]:
    """The Forms of the slices that one element takes."""
    return [Array(array.shape[1:], array.dtype, False, axes_of(array)) for array in rows.arrays]
