"""Writes at the end of a path, `d['a'][i] = v`, `self.rows[i][j] = v`, and augmented assignments, `x[i] += v`."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import AliasError, user_location
from autograph_jax.operators import hooks, powers, storage, subscripts
from autograph_jax.operators.effects import texts
from autograph_jax.operators.sequences.bounded import Bounded
from autograph_jax.operators.tracing import aliasing, holders, reach, same_containers, standing, state, views
from autograph_jax.operators.values import selection
from autograph_jax.operators.values.array_likes import opened_index
from autograph_jax.operators.values.spans import Spanned
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.operators.values.updated import Masked, applied, check_same_mask, part_of

_ARRAYS = (jax.Array, np.ndarray)


@dataclasses.dataclass(frozen=True)
class _Attr:
    name: str

    def place(self, target: Any) -> tuple[Any, Any]:
        """The target, and the key under which it has this."""
        return target, reach.attribute_key(target, self.name)

    def updated(self, value: Any, target: Any) -> Any:
        return self.write(value, target)

    def read(self, target: Any) -> Any:
        found = getattr(target, self.name)
        return state.namespace(found, target) if self.name == "__dict__" else found

    def write(self, value: Any, target: Any) -> Any:
        subscripts.set_attr(value, target, self.name)
        return target

    def storage(self, array: Any, target: Any) -> storage.Place | None:
        return storage.of_attribute(array, target, self.name)


@dataclasses.dataclass(frozen=True)
class _Item:
    index: Any

    def place(self, target: Any) -> tuple[Any, Any]:
        return target, self.index

    def updated(self, value: Any, target: Any) -> Any:
        """What the target becomes; who else holds it is looked up by the caller, who knows where it is kept."""
        return subscripts.changed(value, target, self.index)

    def read(self, target: Any) -> Any:
        return selection.get_item(target, self.index)

    def write(self, value: Any, target: Any) -> Any:
        return subscripts.changed(value, target, self.index)

    def storage(self, array: Any, target: Any) -> storage.Place | None:
        return storage.of_item(array, target, self.index)


class _ItemLater(_Item):
    """An item whose index is evaluated once, when the path has come to it."""

    def __init__(self, index: Callable[[], Any]) -> None:
        object.__setattr__(self, "_evaluate", index)

    @functools.cached_property
    def index(self) -> Any:
        return self._evaluate()  # pyright: ignore[reportAttributeAccessIssue]


attr = _Attr
item_at = _ItemLater


class _ItemMaker:
    """`item[a:b]` is the step `[a:b]`."""

    def __getitem__(self, index: Any) -> _Item:
        return _Item(index)


class _IndexMaker:
    """`at[a:b]` is the index `slice(a, b)`."""

    def __getitem__(self, index: Any) -> Any:
        return index


item = _ItemMaker()
at = _IndexMaker()


def set_path(value: Any, root: Any, *steps: _Attr | _Item) -> Any:
    """Write at the end of a path; arrays on the way are replaced in what holds them. Gives the root."""
    return _at_end(root, steps, lambda holder, step, owner, held: step.updated(value, holder))


def _at_end(
    root: Any,
    steps: Sequence[_Attr | _Item],
    change: Callable[[Any, Any, Any, Any], Any],
    kept: tuple[holders.Kept, ...] = (),
) -> Any:
    """Walk a path, each step once, and put back what the change of its last holder gives.

    `change` is given that holder and the last step, and the holder's own owner with the step from there. `kept` are the
    arrays that the path has come by, the root among them, and where they are.
    """
    step, *rest = steps
    if storage.is_jax(root):
        _check_view(step)
    with storage.asking():
        inner = step.read(root)
    if len(rest) == 1:
        new = change(inner, rest[0], root, step)
    else:
        new = _at_end(inner, rest, change, (*kept, *_kept_there(inner, root, step)))
    if new is inner and issubclass(type(root), Bounded) and isinstance(step, _Item):  # what it gives is a copy
        return step.write(new, root)
    if new is inner:
        return root
    if isinstance(root, _ARRAYS):
        _check_view(step)
    place = step.storage(inner, root)
    if place is not None:
        _put(inner, new, place)
        return root
    holders.check_write(inner, place=step.place(root), kept=kept)
    if isinstance(root, _ARRAYS):
        holders.check_write(root, kept=kept)
    return step.write(new, root)


def _kept_there(array: Any, root: Any, step: _Attr | _Item) -> Iterator[holders.Kept]:
    """An array that a path comes by, and where it is; a row of another one is nowhere else."""
    if isinstance(array, _ARRAYS) and not isinstance(root, _ARRAYS):
        place = step.storage(array, root)
        yield array, step.place(root) if place is None else place.pair


def _put(old: Any, new: Any, place: storage.Place) -> None:
    """Put an array in the place of an old one, which is there, or is a view of what is there."""
    there, renewed = place.read(), views.Renewed(old, new)
    holders.check_write(there, place=place.pair, renewed=renewed)
    place.write(renewed(there))


def _check_view(step: _Attr | _Item) -> None:
    """What a path comes to in an array has to be a view by an index, not by an attribute; lists and arrays make a copy."""
    if isinstance(step, _Attr):
        raise AliasError(
            f"an array is written in place through its `{step.name}`",
            location=user_location(),
            help="write it by an index of its own: for `x.T[i, j] = v`, `x[j, i] = v`",
        )
    if views.copies(step.index):
        raise AliasError(
            "what an index of lists or arrays gives is written, `x[[0, 1]][0] = v`: in NumPy a copy",
            location=user_location(),
            details=["The write would have no effect on the array itself."],
            help="write it by one index, `x[[0, 1], ...] = v`, or give the copy a name: `y = x[[0, 1]]; y[0] = v`",
        )


def put_path(value: Any, root: Any, *steps: _Attr | _Item) -> None:
    """`set_path` where no variable of the function holds the root."""
    if set_path(value, root, *steps) is not root:
        raise subscripts.nobodys_variable()


# Augmented assignment: `x[i] += v`, `self.t *= h`, `d['a'][i] -= v`

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv, "//=": operator.ifloordiv,
    "%=": texts.percent_in_place, "**=": powers.power_in_place, "@=": operator.imatmul, "<<=": operator.ilshift,
    ">>=": operator.irshift, "&=": operator.iand, "|=": operator.ior, "^=": operator.ixor,
}  # fmt: skip


def augment(old: Any, symbol: str, value: Any, place: tuple[Any, Any] | None = None, aliases: tuple[Any, ...] = ()) -> Any:
    """`old symbol value`, in place where `old` is a list or the like.

    `place` is the container and the key that it is at, `aliases` are variables that the statement assigns as they are.
    """
    if isinstance(old, Masked):
        return applied(old, _OPERATIONS[symbol], _in_place(value, old))
    if isinstance(old, Spanned):
        return applied(old, _OPERATIONS[symbol], value)
    subscripts.note_content(old)
    if isinstance(old, np.ndarray):
        if state.is_frozen(old):
            new = _OPERATIONS[symbol](old.copy(), value)
        else:
            holders.check_numpy_write(old)
            new = _OPERATIONS[symbol](old, value)
        if place is not None and new is not old and not hooks.is_porting():
            holders.check_write(old, place=place, aliases=aliases)
        return new
    return _OPERATIONS[symbol](old, value)


def augment_name(old: Any, symbol: str, value: Any) -> Any:
    """`y symbol value`, where something else may hold what y does: if it is NumPy's, and would have to show it, an error."""
    new = augment(old, symbol, value)
    if new is not old and not hooks.is_porting():
        if any(standing.arrays(one) for one in (old, *views.related_to(old))):
            holders.check_write(old)
    return new


def _in_place(value: Any, masked: Masked) -> Any:
    """The elements for `x[mask] += elements`, each where it belongs; that takes a mask that is known."""
    mask = masked.mask
    if isinstance(value, Masked):
        check_same_mask(value, mask)
        return value.values
    if is_traced(mask) or jnp.ndim(value) == 0 or jnp.shape(value)[0] != int(mask.sum()):
        return value
    value = jnp.asarray(value)
    return jnp.ones(mask.shape + value.shape[1:], value.dtype).at[mask].set(value)


def read(target: Any, step: _Attr | _Item) -> Any:
    """The element or attribute that an augmented assignment starts from; of a traced mask or slice, all with what it takes."""
    if not isinstance(target, _ARRAYS) or not isinstance(step, _Item):
        return step.read(target)
    index = opened_index(step.index)
    if isinstance(target, np.ndarray):
        becomes_jax = subscripts.has_array(index) and not subscripts.numpy_takes(index)
        becomes_jax = becomes_jax and target.dtype.kind in "biufc" and not hooks.is_porting()
        return part_of(jnp.asarray(target), index) if becomes_jax else step.read(target)
    return part_of(target, index)


def update(target: Any, symbol: str, value: Any, *aliases: Any) -> Any:
    """`target symbol value` of a variable, where the function writes its array by items; with `aliases`, as `set_item`.

    An array that nobody shares takes the new value as in JAX; one that is shared is written in place, as in NumPy.
    """
    same_containers.check_container(target, aliases)
    new = augment(target, symbol, value)
    if not (isinstance(target, _ARRAYS) and isinstance(new, _ARRAYS) and target.ndim and new is not target):
        return (new, *aliases) if aliases else new
    renewed = views.Renewed(target, new)
    holders.check_write(target, renewed=renewed)
    return (new, *(aliasing.follow(alias, target, new, renewed) for alias in aliases)) if aliases else new


def update_item(target: Any, index: Any, symbol: str, value: Any, *aliases: Any) -> Any:
    """`target[index] symbol value`, as `set_item`."""
    place = None if isinstance(target, _ARRAYS) else (target, index)
    old = read(target, _Item(index))
    new = augment(old, symbol, value, place, aliases)
    written = subscripts.set_item(new, target, index, *aliases)
    storage.check_replaced(old, new, target)
    return written


def put_update(target: Any, index: Any, symbol: str, value: Any) -> None:
    """`update_item` where no variable of the function holds the target."""
    if update_item(target, index, symbol, value) is not target:
        raise subscripts.nobodys_variable()


def update_attr(target: Any, name: str, symbol: str, value: Any) -> None:
    """`target.name symbol value`."""
    old = getattr(target, name)
    new = augment(old, symbol, value, _Attr(name).place(target))
    subscripts.set_attr(new, target, name)
    storage.check_replaced(old, new, target)


@dataclasses.dataclass(frozen=True)
class later:
    """A value that is evaluated when the old one has been read: `o.rows[i] += f()`."""

    evaluate: Callable[[], Any]


def update_path(root: Any, symbol: str, value: Any, *steps: _Attr | _Item) -> Any:
    """Augmented assignment at the end of a path; gives the root."""

    def change(holder: Any, step: Any, owner: Any, held: Any) -> Any:
        old = read(holder, step)
        with holders.in_use((holder,), _written_meanwhile):
            new = value.evaluate() if isinstance(value, later) else value
        place = None if isinstance(holder, _ARRAYS) else step.place(holder)
        new = augment(old, symbol, new, place)
        changed = step.updated(new, holder)
        storage.check_replaced(old, new, holder)
        if isinstance(value, later) and changed is not holder:  # which is put where the holder was
            check_kept(holder, owner, held)
        return changed

    return _at_end(root, steps, change)


def check_kept(value: Any, owner: Any, step: _Attr | _Item) -> None:
    """Python writes what it found before it evaluated the right side of `x.a[i] += f()`, also if f has put another in there.

    So it must be there still, if an object or a list holds it; what a property gives, or an array as a view, may be anew.
    """
    if isinstance(step, _Attr):
        now = reach.attribute(owner, step.name, value)
    else:
        now = step.read(owner) if type(owner) in (list, dict, tuple) else value
    if now is not value:
        raise subscripts.replaced_meanwhile()


def _written_meanwhile() -> AliasError:
    return AliasError(
        "an array is written in place by the right side of a statement that updates it",
        location=user_location(),
        help="evaluate the right side first, in a statement of its own: `v = f(); x.a[i] += v`",
    )


def put_update_path(root: Any, symbol: str, value: Any, *steps: _Attr | _Item) -> None:
    """`update_path` where no variable of the function holds the root."""
    if update_path(root, symbol, value, *steps) is not root:
        raise subscripts.nobodys_variable()
