"""What `x[i] = v`, `o.a = v`, `x[i] += v` and `del` do: in place on what is mutable, `x.at[i].set(v)` on JAX arrays.

Every write is noted in the running trace, so that a staged block finds its state. The value comes first in all of these,
because Python evaluates it first.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import AliasError, ImmutableError, user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.conditionals import if_expr, if_stmt
from autograph_jax.operators.effects import attempts
from autograph_jax.operators.tracing import aliasing, holders, same_containers, state, views
from autograph_jax.operators.tracing.cells import standing_for
from autograph_jax.operators.tracing.places import Attribute, Content
from autograph_jax.operators.values import selection
from autograph_jax.operators.values.array_likes import opened_index
from autograph_jax.operators.values.choices import Choice, Unbound, refusal
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.porting.replacing import replaced

_CONTAINERS = (list, dict, set, collections.deque)


def set_item(value: Any, target: Any, index: Any, *aliases: Any) -> Any:
    """`target[index] = value`; gives the target, or the new array that takes its place.

    With `aliases`, the values of other variables that may be this array, gives a tuple: the target and these, where those
    that are the target are replaced too.
    """
    if aliases:
        same_containers.check_container(target, aliases)
        aliasing.check_buffers(target, aliases)
    new = _set_item(value, target, index)
    renewed = views.Renewed(target, new)
    if new is not target:
        holders.check_write(target, renewed=renewed)
    return (new, *(aliasing.follow(alias, target, new, renewed) for alias in aliases)) if aliases else new


def _set_item(value: Any, target: Any, index: Any) -> Any:
    if isinstance(target, jax.Array | np.ndarray | list):
        index = opened_index(index)
    if isinstance(target, jax.Array) or isinstance(target, np.ndarray) and _has_array(value, index):
        return _updated(target, index, value)
    if issubclass(type(target), tuple) and isinstance(value, jax.Array):
        raise ImmutableError(
            "an array in a tuple is written in place, and neither JAX arrays nor tuples can change",
            location=user_location(),
            help="keep it in a list, or build a new tuple",
        )
    if type(target) is Choice:
        _write_chosen(target, lambda option: put_item(value, option, index), (list, dict), "an item of it is written")
        return target
    picked = type(target) in (list, dict) and _is_picked(index)
    if type(target) in (list, dict) and not picked and attempts.is_written_late(target):
        value = _unless_failed(value, lambda: target[selection.plain_index(target, index)])
        same_containers.check_container(target)
        state.note(Content(target))
    else:
        note_content(target)
    if picked:
        selection.put(value, target, index)
    else:
        target[selection.plain_index(target, index)] = value
    return target


def _unless_failed(value: Any, old: Callable[[], Any]) -> Any:
    """What a place holds after a write that Python does not come to where a `try` around it has failed: there, what it held."""
    return if_expr(attempts.unless_failed(jnp.asarray(True)), standing_for(lambda: value), standing_for(old))


def _is_picked(index: Any) -> bool:
    """Does traced data pick the element?"""
    return type(index) is Choice or isinstance(index, jax.Array) and index.ndim == 0 and is_traced(index)


def put_item(value: Any, target: Any, index: Any) -> None:
    """`target[index] = value` where no variable of the function holds the target: only what can change by itself."""
    if set_item(value, target, index) is not target:
        raise _nobodys_variable()


def _nobodys_variable() -> ImmutableError:
    return ImmutableError(
        "a JAX array is written in place that no local variable holds",
        location=user_location(),
        details=["JAX arrays don't change; a variable of this function has to take the new array."],
        help="give it a name first, write, and pass the new array on: `y = f(); y[0] = 1`",
    )


def _has_array(*values: Any) -> bool:
    return any(isinstance(leaf, jax.Array) for value in values for leaf in jax.tree.leaves(value))


def _updated(target: Any, index: Any, value: Any) -> jax.Array:
    """`target.at[index].set(value)` with NumPy's dtype rule: the array keeps its own."""
    array, index = jnp.asarray(target), _index(index)
    if isinstance(value, Masked):
        value = dataclasses.replace(value, values=value.values.astype(array.dtype))
    elif not isinstance(value, bool | int | float | complex):
        value = jnp.asarray(value)
        value = value if value.dtype == array.dtype else value.astype(array.dtype)
    elif isinstance(value, float) and jnp.issubdtype(array.dtype, jnp.integer):
        value = int(value)  # y[i] = 2.7 on integers, as NumPy has it
    elif array.dtype == bool:
        value = bool(value)
    if isinstance(value, Masked):
        return jnp.where(_over(value.mask, array), value.values, array)
    if _is_mask(index) and jnp.ndim(value) <= array.ndim - index.ndim:
        return jnp.where(_over(index, array), value, array)
    if _is_everything(index) and jnp.ndim(value) <= array.ndim:
        # No scatter, on which XLA's simplifier for CPUs can abort the process: "Invalid binary instruction opcode map".
        whole = jnp.broadcast_to(jnp.asarray(value, array.dtype), array.shape)
        return jax.lax.dynamic_update_slice(array, whole, (0,) * array.ndim)
    return replaced(array, index, value)


def _is_everything(index: Any) -> bool:
    """Is this `x[:]` or `x[...]`, which writes all of an array?"""
    return index is ... or isinstance(index, slice) and index.start is index.stop is index.step is None


def _index(index: Any) -> Any:
    """NumPy takes a list as an index where JAX wants an array."""
    if isinstance(index, tuple):
        return tuple(map(_index, index))
    return jnp.asarray(index) if isinstance(index, list) else index


@dataclasses.dataclass(frozen=True)
class Masked:
    """`x[mask]` on the way to being written back: `values` where the mask holds. How many they are is not known."""

    values: jax.Array
    mask: jax.Array


def _is_mask(index: Any) -> bool:
    return isinstance(index, jax.Array) and index.dtype == bool and index.ndim > 0


def _over(mask: jax.Array, array: jax.Array) -> jax.Array:
    """A mask of the leading dimensions, for all of an array's."""
    return mask.reshape(mask.shape + (1,) * (array.ndim - mask.ndim))


def note_content(target: Any) -> None:
    if isinstance(target, _CONTAINERS):
        attempts.check_write(target)
        same_containers.check_container(target)
        state.note(Content(target))


def set_attr(value: Any, target: Any, name: str) -> None:
    """`target.name = value`."""
    if type(target) is Choice:
        return _set_attr_of_choice(value, target, name)
    member = getattr(type(target), name, None)
    if isinstance(member, property) and isinstance(member.fset, types.FunctionType):
        hooks.call(member.fset)(target, value)
        return
    if attempts.is_written_late(target) and hasattr(target, name):
        value = _unless_failed(value, lambda: getattr(target, name))
        same_containers.check_container(target)
        state.note(Attribute(target, name))
    else:
        note_attr(target, name)
    setattr(target, name, value)


def _set_attr_of_choice(value: Any, choice: Choice, name: str) -> None:
    if any(option is None or isinstance(option, _WITHOUT_ATTRIBUTES) for option in choice._options):
        raise refusal(choice, f"its attribute `{name}` is written")
    _write_chosen(choice, lambda option: set_attr(value, option, name), (object,), f"its attribute `{name}` is written")


def _write_chosen(choice: Choice, write: Callable[[Any], None], kinds: tuple[type, ...], use: str) -> None:
    """Of several objects, the one that traced data has chosen is written."""
    if not all(isinstance(option, kinds) for option in choice._options):
        raise refusal(choice, use)
    for position, option in enumerate(choice._options):
        if_stmt(choice._index == position, standing_for(lambda option=option: write(option)), None)


_WITHOUT_ATTRIBUTES = (bool, int, float, complex, str, bytes, list, dict, tuple, jax.Array, Unbound)


def del_attr(target: Any, name: str) -> None:
    note_attr(target, name)
    delattr(target, name)


def note_attr(target: Any, name: str) -> None:
    attempts.check_write(target)
    same_containers.check_container(target)
    state.note(Attribute(target, name))


def del_item(target: Any, index: Any) -> None:
    note_content(target)
    del target[index]


# Longer paths: `d['a'][i] = v`, `self.rows[i][j] = v`


@dataclasses.dataclass(frozen=True)
class _Attr:
    name: str

    @property
    def key(self) -> Any:
        return self.name

    def updated(self, value: Any, target: Any) -> Any:
        return self.write(value, target)

    def read(self, target: Any) -> Any:
        return getattr(target, self.name)

    def write(self, value: Any, target: Any) -> Any:
        set_attr(value, target, self.name)
        return target


@dataclasses.dataclass(frozen=True)
class _Item:
    index: Any

    @property
    def key(self) -> Any:
        return self.index

    def updated(self, value: Any, target: Any) -> Any:
        """What the target becomes; who else holds it is looked up by the caller, who knows where it is kept."""
        return _set_item(value, target, self.index)

    def read(self, target: Any) -> Any:
        return selection.get_item(target, self.index)

    def write(self, value: Any, target: Any) -> Any:
        return _set_item(value, target, self.index)


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
    return _at_end(root, steps, lambda holder, step: step.updated(value, holder))


def _at_end(root: Any, steps: Sequence[_Attr | _Item], change: Callable[[Any, Any], Any]) -> Any:
    """Walk a path, each step once, and put back what the change of its last holder gives."""
    step, *rest = steps
    inner = step.read(root)
    new = change(inner, rest[0]) if len(rest) == 1 else _at_end(inner, rest, change)
    if new is inner:
        return root
    holders.check_write(inner, place=(root, step.key))
    if isinstance(root, jax.Array):
        holders.check_write(root)
    return step.write(new, root)


def put_path(value: Any, root: Any, *steps: _Attr | _Item) -> None:
    """`set_path` where no variable of the function holds the root."""
    if set_path(value, root, *steps) is not root:
        raise _nobodys_variable()


# Augmented assignment: `x[i] += v`, `self.t *= h`, `d['a'][i] -= v`

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv, "//=": operator.ifloordiv,
    "%=": operator.imod, "**=": operator.ipow, "@=": operator.imatmul, "<<=": operator.ilshift, ">>=": operator.irshift,
    "&=": operator.iand, "|=": operator.ior, "^=": operator.ixor,
}  # fmt: skip


def augment(old: Any, symbol: str, value: Any) -> Any:
    """`old symbol value`, in place where `old` is a list or the like."""
    if isinstance(old, Masked):
        return dataclasses.replace(old, values=_OPERATIONS[symbol](old.values, value))
    note_content(old)
    return _OPERATIONS[symbol](old, value)


def read(target: Any, step: _Attr | _Item) -> Any:
    """The element or attribute that an augmented assignment starts from; of a traced mask, all with the mask beside."""
    if isinstance(target, jax.Array) and isinstance(step, _Item):
        index = opened_index(step.index)
        return Masked(target, index) if _is_mask(index) else target[_index(index)]
    return step.read(target)


def update_item(target: Any, index: Any, symbol: str, value: Any, *aliases: Any) -> Any:
    """`target[index] symbol value`, as `set_item`."""
    return set_item(augment(read(target, _Item(index)), symbol, value), target, index, *aliases)


def put_update(target: Any, index: Any, symbol: str, value: Any) -> None:
    """`update_item` where no variable of the function holds the target."""
    if update_item(target, index, symbol, value) is not target:
        raise _nobodys_variable()


def update_attr(target: Any, name: str, symbol: str, value: Any) -> None:
    """`target.name symbol value`."""
    set_attr(augment(getattr(target, name), symbol, value), target, name)


@dataclasses.dataclass(frozen=True)
class later:
    """A value that is evaluated when the old one has been read: `o.rows[i] += f()`."""

    evaluate: Callable[[], Any]


def update_path(root: Any, symbol: str, value: Any, *steps: _Attr | _Item) -> Any:
    """Augmented assignment at the end of a path; gives the root."""

    def change(holder: Any, step: Any) -> Any:
        old = read(holder, step)
        with holders.in_use((holder,), _written_meanwhile):
            new = value.evaluate() if isinstance(value, later) else value
        return step.updated(augment(old, symbol, new), holder)

    return _at_end(root, steps, change)


def _written_meanwhile() -> AliasError:
    return AliasError(
        "an array is written in place by the right side of a statement that updates it",
        location=user_location(),
        help="evaluate the right side first, in a statement of its own: `v = f(); x.a[i] += v`",
    )


def put_update_path(root: Any, symbol: str, value: Any, *steps: _Attr | _Item) -> None:
    """`update_path` where no variable of the function holds the root."""
    if update_path(root, symbol, value, *steps) is not root:
        raise _nobodys_variable()
