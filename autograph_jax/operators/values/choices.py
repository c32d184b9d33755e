"""A value that is one of several Python values, which one being decided by traced data.

`method = 'newton' if x > 0 else 'halley'` under jit gives a Choice of two strings with a traced index; a variable that is
None on one path and an array on the other is a Choice of None and that array. `ag.jit` returns the option itself; under a bare
`jax.jit` the Choice comes out, and its `value` is the option.
"""

from __future__ import annotations

import collections
import dataclasses
import dis
import enum
import functools
import operator
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import ChoiceError, user_location
from autograph_jax.operators import hooks, jax_private
from autograph_jax.operators.values import branches
from autograph_jax.porting.numbers import bounded


class Unbound:
    """What a variable without a value holds in a Choice."""

    def __repr__(self) -> str:
        return "<unbound>"


UNBOUND = Unbound()


@dataclasses.dataclass(eq=False, frozen=True)
class Choice:
    """`options[index]`, for a traced index. The options may hold traced arrays.

    It stands for a value of the user's, whose attributes it has: its own names begin with an underscore.
    """

    _index: jax.Array
    _options: tuple[Any, ...]

    @property
    def value(self) -> Any:
        """The option that was taken, once the index is known: outside of tracing. Inside, the options' own attribute."""
        return self._options[int(self._index)] if not _is_open(self._index) else self.__getattr__("value")

    def _where(self, test: Callable[[Any], bool]) -> jax.Array | bool:
        """Whether the option taken is one that passes the test: a traced bool, which tells that; a bool where all agree."""
        passing = [bool(test(option)) for option in self._options]
        if all(passing) or not any(passing):
            return passing[0]
        taken = [self._index == position for position, passes in enumerate(passing) if passes]
        return _facts().tell(functools.reduce(jnp.logical_or, taken), _facts().by_option(self, passing))

    def _only(self, test: Callable[[Any], bool]) -> Any:
        """This value where it is known that the option taken passes the test. Where none does, nobody comes here."""
        kept = [position for position, option in enumerate(self._options) if test(option)]
        if not kept:
            return self
        if len(kept) == 1:
            return self._options[kept[0]]
        table = [kept.index(p) if p in kept else 0 for p in range(len(self._options))]
        return Choice(renumbered(self._index, table), tuple(self._options[p] for p in kept))

    def _map(self, function: Callable[[Any], Any]) -> Any:
        """Each option replaced; options that become the same object are one."""
        new: list[Any] = []
        table: list[int] = []
        for option in map(function, self._options):
            same = [position for position, other in enumerate(new) if other is option]
            table.append(same[0] if same else len(new))
            new += [] if same else [option]
        if len(new) == 1:
            return new[0]
        return Choice(renumbered(self._index, table), tuple(new))

    def __eq__(self, other: object) -> Any:
        return self._compared(other, _comparisons().equal)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, _comparisons().not_equal)

    def _compared(self, other: object, compare: Callable[[Any, Any], Any]) -> Any:
        """Option by option, and the one that is taken decides."""
        if self._may_be_unbound():
            return compare(self._bound(), other)
        if isinstance(other, Choice):
            return answered(other, [self._compared(option, compare) for option in other._options])
        if _chosen_objects().has_method((*self._options, other), "__eq__", "__ne__"):
            return _chosen_objects().of_taken(self, lambda option: compare(option, other))
        return answered(self, [compare(option, other) for option in self._options])

    def __getitem__(self, index: Any) -> Any:
        return _selection().get_item(self, index)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """An attribute of a class, read: a function is bound, the getter of the property taken is called."""

        def read(option: Any) -> Any:
            return option.__get__(instance, owner) if hasattr(type(option), "__get__") else option

        if self._may_be_unbound():
            return self._map(read)
        by_code = instance is not None and any(isinstance(option, property) for option in self._options)
        return _selection().of_choice(self, read, "it is read", by_code=by_code)

    def __getattr__(self, name: str) -> Any:
        """The attribute of the option taken, where all have one."""
        if name == "__jax_array__" and self._is_array_or_none():
            if jax_private.is_equality(sys._getframe(1)):  # `x != best`, where best may be None: then it is another one
                raise AttributeError(name)
            return functools.partial(_selection().array_of, self)
        if name in ("__name__", "__qualname__") and all(hasattr(option, name) for option in self._options):
            return self._map(operator.attrgetter(name))
        if name in _OF_DICTS and self._has_keys():
            return functools.partial(_selection().entries, self, name)
        if name.startswith("__") or name in ("aval", "dtype") and self._is_array_or_none():  # JAX tells by them what this is
            raise AttributeError(name)
        return _selection().of_choice(
            self,
            lambda option: getattr(option, name),
            f"its attribute `{name}` is read",
            by_code=_chosen_objects().has_getter(self._options, name),
        )

    def _has_keys(self) -> bool:
        """Is it one of several dicts with the same keys, in one order?"""
        return all(type(option) is dict and list(option) == list(self._options[0]) for option in self._options)

    def _may_be_unbound(self) -> bool:
        """Is it of an attribute that some path does not set?"""
        return any(option is UNBOUND for option in self._options)

    def _bound(self) -> Any:
        """The value, where it is used: at run time an error, if there is none."""
        return _selection().bound(self)

    def _not_none(self) -> Any:
        """The value, where None is of no use: at run time an error, if it is that."""
        return _selection().not_none(self)

    def _is_array_or_none(self) -> bool:
        others = [option for option in self._options if option is not None and option is not UNBOUND]
        return len(others) == 1 < len(self._options) and isinstance(others[0], jax.Array)

    def __len__(self) -> Any:
        """An integer, traced where the options have several lengths."""
        if self._may_be_unbound():
            return len(self._bound())
        if not isinstance(self := self._not_none(), Choice):
            return len(self)
        if not all(isinstance(option, tuple | list | dict | str) for option in self._options):
            raise refusal(self, "`len`")
        lengths = list(map(len, self._options))
        if len(set(lengths)) == 1:
            return lengths[0]
        count = jax_private.as_weak(renumbered(self._index, lengths), jax.dtypes.canonicalize_dtype(int))
        return bounded(count, max(lengths))

    def __iter__(self) -> Iterator[Any]:
        if self._may_be_unbound():
            return iter(self._bound())
        if not isinstance(self := self._not_none(), Choice):
            return iter(self)
        first, *others = self._options
        if type(first) is dict and all(type(other) is dict and list(other) == list(first) for other in others):
            return iter(list(first))
        if not all(isinstance(option, tuple | list) for option in self._options):
            raise refusal(self, "`iter`")
        if (count := unpacked_to(sys._getframe(1))) is not None and any(len(option) != count for option in self._options):
            return iter(_selection().unpacked(self, count))
        if len(set(map(len, self._options))) > 1:
            raise refusal(self, "`iter`")
        return (self[position] for position in range(len(self)))

    def __hash__(self) -> int:
        raise refusal(self, "as a key of a dict, or in a set")

    def __str__(self) -> str:
        if self._may_be_unbound():
            return str(self._bound())
        if _is_open(self._index):
            raise refusal(self, "`str`")
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(str(self) if not spec else self.value, spec)


def taken(value: Any) -> Any:
    """A value of which all is known, with the options that were taken in the place of its choices."""

    def is_choice(part: Any) -> bool:
        return isinstance(part, Choice)

    try:
        found = any(map(is_choice, jax.tree.leaves(value, is_leaf=is_leaf)))
    except ValueError:  # a dict whose keys have no order: no traced value is in it
        return value
    return jax.tree.map(lambda part: part.value if is_choice(part) else part, value, is_leaf=is_leaf) if found else value


# The views of a dict, which JAX does not look into, and warns of.
VIEWS = tuple({type(view) for kind in ({}, collections.OrderedDict()) for view in (kind.keys(), kind.values(), kind.items())})


def is_leaf(value: Any) -> bool:
    """Is this a Choice or a view of a dict, which `jax.tree` takes as a whole?"""
    return isinstance(value, Choice) or type(value) in VIEWS


def unpacked_to(frame: types.FrameType) -> int | None:
    """How many variables `a, b = x` has, where a frame is at such a statement."""
    code = frame.f_code.co_code
    return code[frame.f_lasti + 1] if code[frame.f_lasti] == dis.opmap["UNPACK_SEQUENCE"] else None


def _is_text(value: Any) -> bool:
    options = value._options if isinstance(value, Choice) else (value,)
    return all(isinstance(option, str) or getattr(type(option), "is_of_text", False) for option in options)


# These build on this file.


def _comparisons() -> Any:
    from autograph_jax.operators import comparisons

    return comparisons


def _facts() -> Any:
    from autograph_jax.operators.values import facts

    return facts


def _selection() -> Any:
    from autograph_jax.operators.values import selection

    return selection


def _chosen_objects() -> Any:
    from autograph_jax.operators import chosen_objects

    return chosen_objects


def _texts() -> Any:
    from autograph_jax.operators.effects import texts

    return texts


def answered(choice: Choice, answers: list[Any]) -> Any:
    """The answer of the option taken: True or False itself where all options agree."""
    if all(isinstance(answer, bool) and answer is answers[0] for answer in answers):
        return answers[0]
    if len({jnp.shape(answer) for answer in answers}) > 1:
        raise refusal(choice, "`==`, which of an array is one too")
    result = jnp.stack([jnp.asarray(answer) for answer in answers])[choice._index]
    return _facts().tell(result, _facts().by_option(choice, answers))


def refusal(choice: Choice, use: str) -> ChoiceError:
    names = " or ".join(map(_shown, choice._options))
    return ChoiceError(
        f"a value that may be {names}, depending on traced data, is used as one of them: {use}",
        location=user_location(),
        help="test for the other case first (`if value is None: ...`), or give both paths the same kind of value",
    )


def _shown(option: Any) -> str:
    if isinstance(option, jax.Array):
        return "an array"
    if callable(option) and hasattr(option, "__name__"):
        return f"the {'class' if isinstance(option, type) else 'function'} {option.__name__}"
    simple = isinstance(option, str | bytes | int | float | Unbound | type(None))
    return repr(option) if simple else f"a {type(option).__name__}"


def is_of_ordered(value: Any) -> bool:
    """Is it one of several objects of classes that define an order, or tuples, or lists?"""
    return type(value) is Choice and all(
        type(option) in (tuple, list) or isinstance(getattr(type(option), "__lt__", None), types.FunctionType)
        for option in value._options
    )


_ORDER = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _refusing(name: str) -> Callable[..., Any]:
    def operation(self: Choice, *others: Any) -> Any:
        if name in _ORDER and is_of_ordered(self):
            return _comparisons().ordered(_ORDER[name])(self, *others)
        if self._may_be_unbound() and name in _OPERATORS:
            return _OPERATORS[name](self._bound(), *others)
        if name in ("add", "radd") and all(map(_is_text, (self, *others))):
            return _texts().joined("", (self, *others) if name == "add" else (*others, self))
        if name in _OF_FLAGS and all(isinstance(one, enum.Flag) for one in (*self._options, *others)):
            return self._map(lambda option: _OPERATORS[name](option, *others))
        if name in _OPERATORS and all(isinstance(_method(option, name), types.FunctionType) for option in self._options):
            return _by_methods(self, name, *others)
        number = self._not_none() if name in _OPERATORS else self
        if isinstance(number, Choice):
            raise refusal(self, f"`{name}`")
        return _OPERATORS[name](number, *others)

    return operation


def _in_place(name: str) -> Callable[..., Any]:
    def operation(self: Choice, other: Any) -> Any:
        value = self._not_none()  # `p = None` before a loop
        if not isinstance(value, Choice):
            return getattr(operator, f"i{name}")(value, other)
        own = [isinstance(_method(option, f"i{name}"), types.FunctionType) for option in value._options]
        if any(own) and not all(own):
            raise refusal(value, f"`i{name}`")
        return _by_methods(value, f"i{name}", other) if all(own) else _OPERATORS[name](value, other)

    return operation


def _by_methods(choice: Choice, name: str, *others: Any) -> Any:
    """What the methods of users' classes give, that of the option taken."""
    result = hooks.call(choice._map(lambda option: types.MethodType(_method(option, name), option)))(*others)
    if result is NotImplemented or type(result) is Choice and any(option is NotImplemented for option in result._options):
        raise refusal(choice, f"`{name}`")
    return result


def _method(option: Any, name: str) -> Any:
    """What Python calls for an operator: of the class."""
    return getattr(type(option), f"__{name}__", None)


def _turned(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda option, other: operation(other, option)


_OPERATORS: dict[str, Callable[..., Any]] = {
    name: getattr(operator, f"__{name}__")
    for name in "add sub mul truediv floordiv mod pow matmul and or xor neg pos abs invert lt le gt ge".split()
}
_OPERATORS |= {"divmod": divmod, "rdivmod": _turned(divmod), "round": round}
_TWO_SIDED = "add sub mul truediv floordiv mod pow matmul and or xor".split()
_OPERATORS |= {f"r{name}": _turned(_OPERATORS[name]) for name in _TWO_SIDED}

_OF_FLAGS = ("and", "or", "xor", "rand", "ror", "rxor", "invert")
for _name in """add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow divmod rdivmod matmul
    rmatmul neg pos abs round lt le gt ge and rand or ror xor rxor invert setitem setattr delattr call bool float int index
    contains enter exit""".split():
    setattr(Choice, f"__{_name}__", _refusing(_name))
for _name in _TWO_SIDED:
    setattr(Choice, f"__i{_name}__", _in_place(_name))


_OWN = tuple("_index _options _where _only _map _may_be_unbound _bound _not_none _is_array_or_none _has_keys".split())


_OF_DICTS = ("keys", "values", "items")


def _is_open(index: Any) -> bool:
    return isinstance(index, jax.core.Tracer) and jax_private.is_abstract(index)


def decided(index: Any, options: tuple[Any, ...]) -> Any:
    """A Choice, or the option itself where the index is concrete."""
    if _is_open(index):
        choice = Choice(index, options)
        for option in options:
            _check_attributes(choice, option)
        return choice
    if isinstance(index, jax.Array | np.integer | int) and getattr(index, "ndim", 0) == 0:
        return options[int(index)]
    return Choice(cast(jax.Array, index), options)  # JAX puts other things into pytrees: shapes, axes, specs


def _check_attributes(choice: Choice, option: Any) -> None:
    """Refuse an object of a user's class whose attribute would be read as one of the Choice's own."""
    kind = type(option)
    if isinstance(option, type | types.FunctionType) or kind.__module__.partition(".")[0] in _KNOWN:
        return
    for name in _OWN:
        if hasattr(kind, name) or name in getattr(option, "__dict__", ()):
            raise refusal(choice, f"its attribute `{name}` has the name of one that a choice has itself")


_KNOWN = ("builtins", "jax", "jaxlib", "numpy", "autograph_jax", "functools", "enum")


def _is_ours(frame: types.FrameType | None) -> bool:
    """Does code of this package look through a tree, with functions of JAX's for that?"""
    while frame is not None and any(frame.f_globals is own for own in _OF_TREES):
        frame = frame.f_back
    return frame is not None and str(frame.f_globals.get("__name__")).startswith("autograph_jax.")


_OF_TREES = [getattr(function, "__globals__", None) for function in (jax.tree.leaves, jax.tree_util.tree_leaves)]


def _flatten(choice: Choice) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    if choice._may_be_unbound() and not _is_ours(sys._getframe(1)):
        return (choice._bound(),), (_ALONE,)  # JAX is handed an attribute, which in Python is an error where it is not set
    dynamic = tuple(option for option in choice._options if _is_dynamic(option))
    static = tuple(_DYNAMIC if _is_dynamic(option) else option for option in choice._options)
    return (choice._index, *dynamic), static


def _unflatten(static: tuple[Any, ...], children: tuple[Any, ...]) -> Any:
    if static[0] is _ALONE:
        return children[0]
    index, *dynamic = children
    remaining = iter(dynamic)
    return Choice(index, tuple(next(remaining) if option is _DYNAMIC else option for option in static))


class _Dynamic:
    """Stands in a Choice's static description where an option has traced parts."""


_DYNAMIC, _ALONE = _Dynamic(), _Dynamic()


def _is_dynamic(option: Any) -> bool:
    return any(hasattr(leaf, "dtype") for leaf in jax.tree.leaves(option))


# A Choice passes through jax.jit as a Choice; `ag.jit` gives the option instead. Deciding here, in unflattening, would hand
# jit's fast path fewer arrays than the program has, and jaxlib 0.10.2 then ends the process.
jax.tree_util.register_pytree_node(Choice, _flatten, _unflatten)


def renumbered(index: Any, table: Sequence[int]) -> Any:
    """`table[index]`, by comparisons: in a loop's body XLA makes a lookup a call that takes longer than they do.

    It is what nested branches ask most, so that it is spelled as lax does, without jax.numpy's functions around.
    """
    first = table[0]
    if all(number == first + position for position, number in enumerate(table)):
        return index if first == 0 else branches.note(jax.lax.add(index, np.int32(first)), index, table)
    new = jnp.int32(first)
    for position, number in enumerate(table):
        if number != first:
            new = jax.lax.select(jax.lax.eq(index, np.int32(position)), np.int32(number), new)
    return branches.note(new, index, table)
