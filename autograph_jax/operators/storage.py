"""Where the array is kept that `o.a[i] = v` comes to. NumPy writes it there, and asks no setter and no `__setitem__`."""

from __future__ import annotations

import collections
import contextlib
import functools
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import jax
import jax.core
import numpy as np

from autograph_jax.errors import AliasError, user_location
from autograph_jax.operators import subscripts
from autograph_jax.operators.sequences.bounded import Bounded
from autograph_jax.operators.tracing import reach, views
from autograph_jax.operators.tracing.places import plain_methods
from autograph_jax.operators.values.choices import Choice, Unbound
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.porting.arrays import MutableArray

_JAX = (jax.Array, jax.core.Tracer)  # the classes; an `isinstance` would ask objects of users' for their `__class__`
_ARRAYS = (*_JAX, np.ndarray)
_CONTAINERS = (list, dict, collections.deque)
_PLAIN = frozenset({*_CONTAINERS, tuple, collections.OrderedDict, collections.defaultdict})
_NO_OBJECTS = (*_ARRAYS, Choice, Bounded, MutableArray, tuple, types.ModuleType)
_OURS = ("jax", "jaxlib", "numpy", "autograph_jax")


class Place(NamedTuple):
    """An attribute, or an element of a list or dict."""

    holder: Any
    key: Any
    is_attribute: bool

    @property
    def pair(self) -> tuple[Any, Any]:
        """The holder, and the key under which it is among the parts of that."""
        return self.holder, reach.attribute_key(self.holder, self.key) if self.is_attribute else self.key

    def read(self) -> Any:
        if self.is_attribute:
            return reach.attribute(self.holder, self.key, None)
        return plain_methods(self.holder).__getitem__(self.holder, self.key)

    def write(self, value: Any) -> None:
        """Put another array there, past what the class has to say to that."""
        if self.is_attribute:
            subscripts.put_attr(value, self.holder, self.key)
        else:
            subscripts.put_element(value, self.holder, self.key)


class _Asking(threading.local):
    depth = 0


_asking = _Asking()


@contextlib.contextmanager
def asking() -> Iterator[None]:
    """A getter is asked for what is written then: whether that is a copy matters."""
    _asking.depth += 1
    try:
        yield
    finally:
        _asking.depth -= 1


def is_asking() -> bool:
    return _asking.depth > 0


def is_jax(value: Any) -> bool:
    """Is it an array of JAX's, or a traced value?"""
    return issubclass(type(value), _JAX)


def of_attribute(array: Any, root: Any, name: str) -> Place | None:
    """Where the array is that `root.name` gives, or shows; None where `root.name = new` puts another one there."""
    if type(root) is Choice:
        return _check_chosen(root, lambda option: _is_plain_attribute(option, name), f"the `{name}`")
    if issubclass(type(root), _NO_OBJECTS):
        return None
    place = _attribute(array, root, name)
    _check_once(array if place is None else place.read(), root, place or Place(root, name, True))
    return place


def of_item(array: Any, root: Any, index: Any) -> Place | None:
    """Where the array is that `root[index]` gives, or shows; None where `root[index] = new` puts another one there."""
    kind = type(root)
    if kind is Choice:
        return _check_chosen(root, lambda option: not _has_items_by_code(type(option)), "an element")
    if kind in _PLAIN or issubclass(kind, _NO_OBJECTS):
        return None
    place = _item(array, root, index)
    _check_once(array if place is None else place.read(), root, place or Place(root, index, False))
    return place


def _attribute(array: Any, root: Any, name: str) -> Place | None:
    kind = type(root)
    is_own = reach.attribute(root, name, None) is array
    if is_own and not _sets_by_code(kind, name):
        return None
    owner = None if is_own else _class_of(array, root, name)
    if owner is not None:
        return Place(owner, name, True)
    if not _is_users(root):
        return None
    if is_own:
        return Place(root, name, True)
    found = _found(array, root, reach.member(kind, name)) or next(_of_classes(array, root), None)
    if found is None and _gives_by_code(kind, name):
        raise _not_held(f"{kind.__name__}.{name}", f"y = o.{name}", f"o.{name} = y")
    return found


def _item(array: Any, root: Any, index: Any) -> Place | None:
    kind = type(root)
    if not _has_items_by_code(kind) or not _is_users(root):
        return None
    if issubclass(kind, dict) and not is_traced(index) and _is_at(array, root, index):
        return Place(root, index, False)
    found = _found(array, root)
    if found is None:
        raise _not_held(f"{kind.__name__}.__getitem__", "y = o[k]", "o[k] = y")
    return found


def _has_items_by_code(kind: type) -> bool:
    """Does code of Python's say what `o[k]` is, or what `o[k] = v` does?"""
    return any(isinstance(reach.member(kind, name), types.FunctionType) for name in _OF_ITEMS)


_OF_ITEMS = ("__getitem__", "__setitem__", "__missing__")


def _is_at(array: Any, root: dict[Any, Any], index: Any) -> bool:
    try:
        return dict.get(root, index) is array
    except TypeError:  # what the class takes as a key need not be one of a dict
        return False


def _sets_by_code(kind: type, name: str) -> bool:
    """Does `o.name = v` do anything but put v into the object's own attribute?"""
    member = reach.member(kind, name)
    is_asked = hasattr(type(member), "__set__") and not isinstance(member, types.MemberDescriptorType)
    return is_asked or kind.__setattr__ not in _PLAIN_SETTERS


_PLAIN_SETTERS = (object.__setattr__, type.__setattr__)


def _gives_by_code(kind: type, name: str) -> bool:
    """Does code of Python's say what `o.name` is?"""
    member = reach.member(kind, name)
    asked = [(kind, "__getattribute__"), (type(member), "__get__") if member is not None else (kind, "__getattr__")]
    is_descriptor = isinstance(member, property | functools.cached_property)
    return is_descriptor or any(isinstance(reach.member(*one), types.FunctionType) for one in asked)


def _class_of(array: Any, root: Any, name: str) -> type | None:
    """The class that has the attribute, of an object that has none itself."""
    owner = next((base for base in _classes(root) if name in vars(base)), None)
    return owner if owner is not None and vars(owner)[name] is array else None


def _classes(root: Any) -> tuple[type, ...]:
    own = root.__mro__ if issubclass(type(root), type) else ()
    return (*own, *type(root).__mro__)


def _is_users(root: Any) -> bool:
    """May this be written past its setters? What JAX knows as a pytree is a value, or does more than that where it is set."""
    if type(root).__module__.partition(".")[0] in _OURS:
        return False
    is_object = issubclass(type(root), (*_CONTAINERS, type))
    return is_object or jax.tree_util.all_leaves([root]) or reach.is_changing_pytree(root)


def _found(array: Any, *roots: Any) -> Place | None:
    """The first place in these that has this array, or else the one that it is a view of."""
    places = (place for root in roots for holder in reach.everything(root) for place in _places(array, holder))
    place = next(places, None)
    return _found(whole, *roots) if place is None and (whole := views.whole_of(array)) is not None else place


def _places(array: Any, holder: Any) -> Iterator[Place]:
    """Where a list, dict or object itself has this array."""
    if issubclass(type(holder), _CONTAINERS):
        yield from (Place(holder, key, False) for key, part in _elements(holder) if part is array)
    if type(holder) not in _PLAIN and not reach.has_no_parts(type(holder)):
        names = reach.attributes(holder)
        yield from (Place(holder, name, True) for name in names if reach.attribute(holder, name, None) is array)


def _elements(holder: Any) -> Iterable[tuple[Any, Any]]:
    methods = plain_methods(holder)
    return list(dict.items(holder)) if issubclass(methods, dict) else enumerate(methods.__iter__(holder))


def _of_classes(array: Any, root: Any) -> Iterator[Place]:
    """Where the classes of an object have this array."""
    for base in _classes(root):
        if base.__module__ != "builtins":
            yield from (Place(base, name, True) for name, part in list(vars(base).items()) if part is array)


def _check_once(array: Any, root: Any, place: Place) -> None:
    """An array is written: it may not also be where nobody looks for it, in a class, or an attribute of a list or dict."""
    others = [*_of_classes(array, root), *(_places(array, root) if issubclass(type(root), _CONTAINERS) else ())]
    if any(not _is_same(other, place) for other in others):
        raise _held_twice()


def _is_same(one: Place, other: Place) -> bool:
    is_one_kind = one.is_attribute == other.is_attribute or reach.is_its_own_dict(one.holder)
    return one.holder is other.holder and is_one_kind and one.key == other.key


def check_replaced(old: Any, new: Any, root: Any) -> None:
    """`o.a += v` has put a new array where the old one was, which NumPy changes: the object may have that nowhere else."""
    if new is old or not is_jax(old) or not old.ndim or issubclass(type(root), _NO_OBJECTS):
        return
    if any(True for _ in _places(old, root)) or type(root) not in _PLAIN and any(True for _ in _of_classes(old, root)):
        raise _held_twice()


def _check_chosen(choice: Choice, is_plain: Callable[[Any], bool], what: str) -> None:
    """Of objects that traced data has chosen, the one that is taken is set: in each the array must be where that puts it."""
    if not all(map(is_plain, choice._options)):
        raise AliasError(
            f"an array is written in place, {what} of one of several objects, which has it by code or a class",
            location=user_location(),
            details=["Traced data has chosen the object."],
            help="write it where the object is known, in each branch: `if c: a.x[0] = v` and `else: b.x[0] = v`",
        )


def _is_plain_attribute(root: Any, name: str) -> bool:
    has_none = root is None or type(root) is Unbound
    return has_none or reach.attribute(root, name, root) is not root and not _sets_by_code(type(root), name)


def _held_twice() -> AliasError:
    return AliasError(
        "an array is written in place, and the list or object that holds it has it a second time",
        location=user_location(),
        details=["It, or its class, has it in another place too; in NumPy both would show the write."],
        help="give one of the two a copy, `self.a = self.b.copy()`, or put a new array there: `self.a = self.a + v`",
    )


def _not_held(what: str, read: str, put: str) -> AliasError:
    return AliasError(
        f"an array is written in place that `{what}` gives, and the object does not hold it",
        location=user_location(),
        details=["In NumPy that has no effect on the object if it is a copy, and has one if it is a view."],
        help=f"write a copy, and set that if it is meant: `{read}.copy(); y[0] = v; {put}`",
    )
