"""Lists that a staged loop makes longer by a fixed number of elements in each turn: the scan's outputs become their elements.

A turn does not know the elements that earlier turns have put in. While the loop's body is traced, the list holds stand-ins for
them (`Earlier`), and after these the last few, which are carried, so that `path[-1]` can be read. What a turn leaves before
and behind the stand-ins is new. After the loop it is an ordinary list of ordinary arrays, each of which is known to be a row of
the scan's output: `jnp.stack(path)` and a loop over the list take that output as a whole.
"""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp

from autograph_jax.errors import StagingError, StructureError, user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.tracing import state
from autograph_jax.operators.values.containers import expanded, flatten, is_mutable, unflatten
from autograph_jax.operators.values.forms import Array, Form, Mismatch, Static, Tree, array_forms
from autograph_jax.operators.values.joins import coerce, join, number_as_array

_MOST_CARRIED = 4  # elements at the end of a list that a turn may read
_MOST_FURTHER = 500  # stand-ins beyond the elements that a list starts with, one for each that the turns put in
_PERIOD = 60  # their number is one more than a multiple of this, so that `count % 10 == 0` is seen to depend on it


class Earlier:
    """Stands for an element that is not known while a turn is traced. Whoever looks at it ends the attempt to stage."""

    def __init__(self) -> None:
        self.held: list[Any] = []

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise not_known()

    __getattr__ = __getitem__ = __iter__ = __len__ = __bool__ = __float__ = __int__ = __index__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = __hash__ = __contains__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = _refuse
    __jax_array__ = __array__ = __str__ = __format__ = _refuse


def not_known() -> StagingError:
    return StagingError(
        "a list that grows in this loop is read where its elements are not known",
        location=user_location(),
        details=["The loop is traced once; what earlier turns put into the list is only known at run time."],
        help="keep what the next turn needs in a variable, or write into an array: `path[i] = x`",
    )


def truth(value: Any) -> bool:
    """Python's truth of a plain value. Whether a growing list is empty is not known."""
    check_known(value)
    return bool(value)


def check_known(value: Any) -> None:
    """Refuse to say how long a growing list is."""
    if type(value) in (list, tuple) and state.traces() and any(type(element) is Earlier for element in value):
        raise not_known()


def check_element(value: Any) -> None:
    """Refuse to say what an element of a growing list is."""
    if type(value) is Earlier:
        raise not_known()


def check_taken(element: Any) -> None:
    """Refuse a turn of a loop over a growing list, `enumerate` or `zip` of one: how many there are is not known."""
    check_element(element)
    if type(element) is tuple:
        check_known(element)


def holds_earlier(form: Form) -> bool:
    """Has an unknown element got into a value that is not its list?"""
    match form:
        case Static(value):
            return type(value) is Earlier
        case Tree(_, children):
            return any(map(holds_earlier, children))
        case Array():
            return False
        case _:
            return any(map(holds_earlier, form.forms))


def is_longer(form: Form, end: Form) -> bool:
    """Are these two a list or tuple, and one with more elements?"""
    if isinstance(form, Static) and type(form.value) is list:
        form = expanded(form.value) or form
    return (
        isinstance(form, Tree)
        and isinstance(end, Tree)
        and form.kind == end.kind
        and getattr(form.kind, "type", None) in (list, tuple)
        and len(end.children) > len(form.children)
    )


def elements(form: Form) -> tuple[Form, ...]:
    """The Forms of what is in a list."""
    form = (expanded(form.value) or form) if isinstance(form, Static) else form
    return form.children if isinstance(form, Tree) else ()


def are_alike(*forms: Form) -> bool:
    """Are the elements of these lists of one kind, which one array for each of their leaves could hold?"""
    children = [number_as_array(child) for form in forms for child in elements(form)]
    try:
        joined = functools.reduce(join, children)
    except Mismatch:
        return False
    return all(len(array_forms(child)) == len(array_forms(joined)) for child in children)


class Growth:
    """How one list or tuple grows: what a turn finds in it, and how many elements it puts before and behind."""

    def __init__(self, entry: Sequence[Any], turns: int) -> None:
        self.entry = entry
        self.front = 0
        self.items: tuple[Form, ...] = ()  # Forms of the elements that a turn puts in
        self._carried = _readable_end(entry)
        further = -(-min(turns, _MOST_FURTHER) // _PERIOD) * _PERIOD + 1
        self._stand_ins = tuple(Earlier() for _ in range(len(entry) - len(self._carried) + further))
        self.earlier = self._entered = self._stand_ins[:-further]

    @property
    def holder(self) -> list[Any]:
        """Where arrays are kept while a turn is traced that earlier turns may have put into the list, for `aliasing`."""
        return self._stand_ins[0].held

    @property
    def is_as_entered(self) -> bool:
        return self.earlier is not self._stand_ins

    def lengthen(self, *, as_entered: bool = False) -> None:
        """Let the list be as a later turn finds it, where an index from the front meets a stand-in, or as the first turn."""
        self.earlier = self._entered if as_entered else self._stand_ins

    def start(self, kind: Any) -> Form:
        """The list as the first trace of the body finds it."""
        return Tree(kind, (*map(Static, self.earlier), *self._carried))

    def entered(self) -> list[Any]:
        """What the loop enters with, in the same form."""
        count = len(self._carried)
        return [*self.earlier, *(self.entry[-count:] if count else ())]

    def next(self, end: Form, found: Sequence[Any], left: Sequence[Any]) -> Form:
        """The list as the next trace of the body finds it, after a turn has left `end`.

        `found` and `left` are the variables of what the turn found in it and of what it left: earlier elements stay the same.
        """
        children = end.children if isinstance(end, Tree) else ()
        front = self._front(children, found, left)
        behind = children[front + len(self.earlier) :]
        count = len(self._carried)
        stand_ins = zip(children[front : front + len(self.earlier)], self.earlier, strict=False)
        whole = len(children) >= front + len(self.earlier) + count
        if not whole or not all(_is(child, own) for child, own in stand_ins):
            raise _changed()
        skipped, kept = _leaf_count(children[:front]), _leaf_count(behind[:count])
        if kept != len(found) or not _begins_with(left[skipped:], found):
            raise _changed()
        self.front, self.items = front, (*children[:front], *behind[count:])
        last = behind[-count:] if count else ()
        self._carried = tuple(join(a, b) for a, b in zip(self._carried, last, strict=True))
        return self.start(cast(Tree, end).kind)

    def _front(self, children: Sequence[Form], found: Sequence[Any], left: Sequence[Any]) -> int:
        """How many elements a turn has put before those that it found."""
        if self.earlier:
            return next((n for n, child in enumerate(children) if _is(child, self.earlier[0])), len(children))
        starts = (n for n in range(len(children)) if _begins_with(left[_leaf_count(children[:n]) :], found))
        return next(starts, len(children)) if found else 0

    def new_items(self, end: Form) -> list[Form]:
        """Of the list as a turn leaves it, the elements that it has put in."""
        children, behind = elements(end), len(self.items) - self.front
        return [*children[: self.front], *children[len(children) - behind :]]

    def new_leaves(self) -> list[int]:
        """Where among the leaves that a turn leaves in the list those of the new elements are."""
        before = _leaf_count(self.items[: self.front])
        carried, behind = _leaf_count(self._carried), _leaf_count(self.items[self.front :])
        return [*range(before), *range(before + carried, before + carried + behind)]

    def split(self, value: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What a turn leaves: the list as the next turn finds it, and the new elements."""
        count = len(self._carried)
        behind = value[self.front + len(self.earlier) :]
        last = behind[-count:] if count else ()
        return [*self.earlier, *last], [*value[: self.front], *behind[count:]]

    def leaves(self, items: Sequence[Any]) -> list[jax.Array]:
        """The leaves of a turn's new elements, the scan's outputs."""
        return [leaf for item, form in zip(items, self.items, strict=True) for leaf in coerce(item, form)]

    def finished(self, stacked: Sequence[jax.Array], turns: int) -> Any:
        """The whole list, of what the loop entered with and the stacked outputs of its turns."""
        remaining = iter(stacked)
        columns = [_elements(form, [next(remaining) for _ in array_forms(form)], turns) for form in self.items]
        if self.front:
            before = [column[turn] for turn in reversed(range(turns)) for column in columns[: self.front]]
        else:
            before = []
        behind = [column[turn] for turn in range(turns) for column in columns[self.front :]]
        whole = [*before, *self.entry, *behind]
        return tuple(whole) if isinstance(self.entry, tuple) else whole


def _is(form: Form, value: Any) -> bool:
    return isinstance(form, Static) and form.value is value


def _begins_with(variables: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(variables) >= len(others) and all(a is b for a, b in zip(variables, others, strict=False))


def _leaf_count(forms: Sequence[Form]) -> int:
    return sum(len(array_forms(form)) for form in forms)


def _readable_end(entry: Sequence[Any]) -> tuple[Form, ...]:
    """The Forms of the elements at the end that can be carried: arrays and numbers, also in tuples."""
    forms: list[Form] = []
    for element in reversed(entry[-_MOST_CARRIED:]):
        form = number_as_array(flatten(element, is_mutable)[0])
        if not array_forms(form) or holds_earlier(form):
            break
        forms.insert(0, form)
    return tuple(forms)


def _changed() -> StructureError:
    return StructureError(
        "a list grows in this loop, and its earlier elements change too",
        location=user_location(),
        details=["A staged loop can put new elements before or behind the others, the same number in each turn."],
        help="write into an array instead: `path = jnp.zeros(n)`, `path[i] = x`",
    )


def objects_made() -> StructureError:
    return StructureError(
        "each turn of this loop puts an object of its own into a list, and a staged loop would put the same one in each time",
        location=user_location(),
        details=["A set, an iterator, a function with variables of its own: no array can stand for it."],
        help="let Python run the loop: `for x in ag.unroll(xs)`",
    )


def number_unknown(name: str) -> StructureError:
    return StructureError(
        f"how many elements {name} has is only known at run time",
        location=user_location(),
        details=["A branch or a loop that traced data decides about adds or takes elements."],
        help="`ag.port(f, max_len=100)` bounds the lists of ported code"
        if hooks.is_porting()
        else "bound it: `path = ag.max_len([], 100)`; or write into an array and count: `path[n] = x; n += 1`",
    )


# Rows of one array

# Module state: by id of a row, the row, its array and its place. An entry goes when its row goes.
_rows: dict[int, tuple[weakref.ref[Any], jax.Array, int]] = {}


def _elements(form: Form, stacks: Sequence[jax.Array], turns: int) -> list[Any]:
    """One element per turn, of its leaves' stacks."""
    rows = [_remembered(_unstacked(stack), stack) for stack in stacks]
    return [unflatten(form, iter([row[turn] for row in rows])) for turn in range(turns)]


@jax.jit
def _unstacked(stack: jax.Array) -> list[jax.Array]:
    return list(jnp.unstack(stack)) if stack.shape[0] else []


def _remembered(rows: Sequence[jax.Array], stack: jax.Array) -> Sequence[jax.Array]:
    for number, row in enumerate(rows):
        key = id(row)
        _rows[key] = weakref.ref(row, functools.partial(_forget, key)), stack, number
    return rows


def _forget(key: int, _: Any) -> None:
    _rows.pop(key, None)


def _row(value: Any) -> tuple[jax.Array, int] | None:
    entry = _rows.get(id(value))
    return (entry[1], entry[2]) if entry is not None and entry[0]() is value else None


@dataclasses.dataclass
class _Run:
    """Elements that follow each other in one array, from its row `first` on; or one element that is no row."""

    array: jax.Array
    first: int
    count: int

    def stacked(self) -> jax.Array:
        whole = self.first == 0 and self.count == self.array.shape[0]
        return self.array if whole else self.array[self.first : self.first + self.count]


def _runs(values: Sequence[Any]) -> list[_Run]:
    runs: list[_Run] = []
    for value in values:
        array, number = _row(value) or (jnp.asarray(value)[None], 0)
        last = runs[-1] if runs else None
        if last is not None and last.array is array and last.first + last.count == number:
            last.count += 1
        else:
            runs.append(_Run(array, number, 1))
    return runs


def stack(values: Any, *, make: Any = jnp.stack) -> Any:
    """`jnp.stack(values)` (or `make`), where rows that lie beside each other in one array are taken as a whole."""
    if not isinstance(values, list | tuple) or not any(_row(value) for value in values):
        return make(values)
    if any(isinstance(value, list | tuple) for value in values):
        return make([stack(value, make=make) for value in values])
    parts = [run.stacked() for run in _runs(values)]
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


def _whole(make: Any) -> Any:
    """`jnp.stack`, `jnp.array` and `jnp.asarray`, for lists of rows; anything else is theirs."""

    @functools.wraps(make)
    def apply(*arguments: Any, **keywords: Any) -> Any:
        if len(arguments) != 1 or keywords:
            return make(*arguments, **keywords)
        return stack(arguments[0], make=make)

    return apply


STACKING: dict[Any, Any] = {make: _whole(make) for make in (jnp.stack, jnp.array, jnp.asarray)}


def rows_of_one(values: Any) -> jax.Array | None:
    """The array whose rows, all of them in order, a list consists of; None for any other list."""
    if not isinstance(values, list | tuple) or len(values) < 2 or not all(_row(value) for value in values):
        return None
    run, *others = _runs(values)
    return run.stacked() if not others else None
