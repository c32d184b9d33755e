"""Strings that hold traced values: f-strings, `str(x)`, `"{}".format(x)`, `"%d" % n`. They become strings at run time.

Until then they can be printed, raised, returned and put together. Who asks for their characters is refused.
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
import itertools
import operator
import re
import string
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import jax
import jax.core
import numpy as np

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators import hooks, jax_private
from autograph_jax.operators.effects import standard_texts
from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.values import objects
from autograph_jax.operators.values.choices import VIEWS, Choice, is_leaf, taken
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.porting.arrays import MutableArray


@dataclasses.dataclass(frozen=True)
class Field:
    """`{value!conversion:spec}` of an f-string; with the conversion `%`, the spec is one of `spec % value`.

    A conversion that is a function makes the text of the value, when the program runs.
    """

    value: Any
    conversion: str | Callable[[Any], str] = ""
    spec: Any = ""

    def text(self) -> str:
        if callable(self.conversion):
            return self.conversion(taken(self.value))
        if self.conversion == "%":
            return self.spec % (taken(self.value),)
        value = _CONVERSIONS.get(self.conversion, lambda v: v)(taken(self.value))
        return format(value, str(self.spec))


_CONVERSIONS: dict[Any, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


def _is_unknown(parts: Any) -> bool:
    try:
        leaves = jax.tree.leaves(parts, is_leaf=lambda value: type(value) in VIEWS)
    except ValueError:  # a dict whose keys have no order
        return False
    return any(issubclass(type(leaf), jax.core.Tracer) and is_traced(leaf) for leaf in leaves)


def _refusing(name: str) -> Callable[..., Any]:
    def operation(self: Text, *_: Any) -> Any:
        raise _unknown(name)

    return operation


def _unknown(use: str) -> StagingError:
    return StagingError(
        f"a string that holds traced values has its text at run time only, and is used before: `{use}`",
        location=user_location(),
        help="print it, raise it or return it; to decide something, ask the value itself: `if n == 3`",
    )


def check_known(arguments: Iterable[Any], use: str) -> None:
    """None of these is a string that holds traced values."""
    if any(isinstance(argument, Text) for argument in arguments):
        raise _unknown(use)


@dataclasses.dataclass(frozen=True, eq=False)
class Text:
    """A string that holds traced values; it becomes a str at run time, in a print, an exception or a result."""

    parts: Any  # a tuple of str, Field and Text
    is_of_text: ClassVar = True  # its numbers are not joined with others: 4 is not 4.0

    def __add__(self, other: Any) -> Text:
        return Text((*self.parts, other))

    def __radd__(self, other: Any) -> Text:
        return Text((other, *self.parts))

    def __str__(self) -> str:
        if _is_unknown(self.parts):  # Python, or a library, asks for it
            raise _unknown("str")
        return "".join(part.text() if isinstance(part, Field) else str(part) for part in self.parts)

    def __repr__(self) -> str:
        return repr(str(self))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __bool__(self) -> bool:
        if not any(part if isinstance(part, str) else _has_characters(part) for part in self.parts):
            raise _unknown("bool")
        return True

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str | Text) and other is not self:
            raise _unknown("==")
        return other is self

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and hasattr(str, name):
            raise _unknown(name)
        raise AttributeError(name)

    __hash__ = _refusing("hash")
    __len__ = _refusing("len")
    __iter__ = _refusing("iter")
    __contains__ = _refusing("in")
    __getitem__ = _refusing("[]")
    __lt__, __le__, __gt__, __ge__ = (_refusing(name) for name in ("<", "<=", ">", ">="))
    __mul__ = __rmul__ = _refusing("*")
    __mod__ = _refusing("%")


def _has_characters(part: Any) -> bool:
    return bool(part) if isinstance(part, Text) else isinstance(part.value, jax.Array)


@dataclasses.dataclass(frozen=True)
class Shown:
    """What stands in a list for an object: its text."""

    text: Any

    def __repr__(self) -> str:
        return str(self.text)


@dataclasses.dataclass(frozen=True)
class Items:
    """What stands for a dict: JAX sorts the keys of one, and Python shows them in their order."""

    keys: tuple[Any, ...]
    values: list[Any]

    def __repr__(self) -> str:
        return repr(dict(zip(self.keys, self.values, strict=True)))


@dataclasses.dataclass(frozen=True)
class Counted(Items):
    """What stands for what is in a Counter: the largest count comes first, and which one that is, is seen at run time."""

    def __repr__(self) -> str:
        counts = dict(zip(self.keys, self.values, strict=True))
        return repr(dict(collections.Counter(counts).most_common()))


@dataclasses.dataclass(frozen=True)
class Both:
    """What stands for an object in a message that has yet to be formatted: its two texts."""

    of_str: Any
    of_repr: Any

    def __str__(self) -> str:
        return str(self.of_str)

    def __repr__(self) -> str:
        return repr(self.of_repr)


jax.tree_util.register_dataclass(Items, ["values"], ["keys"])
jax.tree_util.register_dataclass(Counted, ["values"], ["keys"])
jax.tree_util.register_dataclass(Both, ["of_str", "of_repr"], [])
jax.tree_util.register_dataclass(Shown, ["text"], [])
jax.tree_util.register_dataclass(Field, ["value", "spec"], ["conversion"])
jax.tree_util.register_dataclass(Text, ["parts"], [])
field = Field


def text(*parts: str | Field | Text) -> str | Text | Choice:
    """An f-string: a str, or a Text where a value is traced; of a chosen string the text that goes with it, chosen as well."""
    parts = tuple(_with_texts(_seen(part)) if isinstance(part, Field) else part for part in parts)
    new = Text(parts)
    if not is_open(*parts):
        return str(new)
    traced = [value for value in jax.tree.leaves(new, is_leaf=_is_choice) if is_traced(value)]
    if len(traced) > 1 or not isinstance(choice := traced[0], Choice) or not all(isinstance(o, str) for o in choice._options):
        return new
    return choice._map(lambda option: text(*(_with(part, choice, option) for part in parts)))


def _seen(part: Field) -> Field:
    """A field with the value of a tracer that has one."""
    return Field(known(part.value), part.conversion, part.spec)


def known(value: Any) -> Any:
    """The values of tracers of an eager `jax.grad`, as Python shows them; anything else as it is."""
    if type(value) is dict and jax_private.transforming():
        return {key: known(part) for key, part in value.items()}
    if type(value) in (list, tuple) and jax_private.transforming():
        return type(value)(map(known, value))
    if not isinstance(value, jax.core.Tracer) or is_traced(value) or (found := jax_private.primal(value)) is None:
        return value
    return plain(found)


def plain(value: Any) -> Any:
    """A number as Python shows it: 0.1 for a float32 that is nearest to it, inside a list too."""
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biuf" and array.dtype.name != "bfloat16":
        return array
    return array.item() if array.dtype.kind in "biu" else float(str(array.astype(array.dtype)))


def _with_texts(part: Field) -> str | Field | Text:
    if type(part.value) in _ATOMS or part.conversion == "%" or callable(part.conversion):
        return part
    if part.conversion == "" and (own := _own_format(part.value)) is not None:
        return _as_part(own(part.value, part.spec))
    if part.conversion == "" and part.spec != "":
        return part
    value = of_objects(part.value, "s" if part.conversion in ("", "s") else "r")
    if value is part.value or not isinstance(value, str | Text | Choice):
        return Field(value, part.conversion, part.spec)
    if part.conversion == "a":
        return Field(Shown(value), "a", part.spec)
    return _as_part(value) if part.spec == "" else Field(value, "", part.spec)


_ATOMS = frozenset(reach.ATOMS)


def _as_part(value: Any) -> Any:
    return value if isinstance(value, str | Text) else Field(value)


def _own_format(value: Any) -> Callable[..., Any] | None:
    """The `__format__` that a class has in Python, of an object that holds something else when the program runs."""
    function = type(value).__format__
    if not isinstance(function, types.FunctionType) or _is_shown_later(value) or not _is_shown_now(value):
        return None
    return hooks.call(function)


def of_objects(value: Any, conversion: str) -> Any:
    """The value, where objects are what they are shown as, a Text: when the program runs they hold something else."""
    value = known(value.value if isinstance(value, MutableArray) else value)
    if _is_choice(value) and any(map(_is_error, value._options)):
        return value._map(lambda option: of_objects(option, conversion))
    if _is_error(value) and (state.traces() or reach.holds((value.args, vars(value)), is_tracer)):
        return _text_of_error(value, conversion)
    if isinstance(value, np.ndarray) and value.dtype.hasobject and any(map(is_tracer, value.flat)):
        raise not_shown("the text of an array of objects shows a traced value")
    if _is_shown_later(value) or not _is_shown_now(value):
        return value
    if type(value) in (list, tuple):
        parts = map(_in_container, value)
        return list(parts) if type(value) is list else tuple(parts)
    if type(value) is dict:
        return Items(tuple(value), list(map(_in_container, value.values())))
    return _text_of(value, conversion)


def _is_shown_now(value: Any) -> bool:
    """Is the text of this object made while it is traced? In a staged block it may change later; tracers are gone then."""
    return bool(state.traces()) or reach.holds(value, is_tracer)


def is_tracer(value: Any) -> bool:
    """Is this what JAX or we show in a way of our own: also a tracer of an eager `jax.grad`, which has a value."""
    return issubclass(type(value), jax.core.Tracer) or is_traced(value)


def _is_error(value: Any) -> bool:
    return isinstance(value, BaseException)


def _is_shown_later(value: Any) -> bool:
    return isinstance(value, (*reach.ATOMS, jax.Array, Choice, Text, Shown, Items))


def _in_container(value: Any) -> Any:
    found = of_objects(value, "r")
    return Shown(found) if found is not value and isinstance(found, str | Text | Choice) else found


def _text_of(value: Any, conversion: str) -> Any:
    kind = type(value)
    of_str = conversion == "s" and kind.__str__ is not object.__str__
    return by_method(kind.__str__ if of_str else kind.__repr__, value)


def by_method(function: Any, value: Any) -> Any:
    """What `function` shows a value as, a `__repr__` or `__str__`; the value itself where Python may ask for that later."""
    if (parts := standard_texts.parts(function, value)) is not None:
        return text(*map(_part, parts))
    if not jax.tree_util.all_leaves([value]):
        return _with_shown_leaves(value)
    if not isinstance(function, types.FunctionType) or not (reach.is_record(value) or reach.holds(value, is_tracer)):
        return _checked(value, function)
    made_by = getattr(function, "__wrapped__", function).__code__.co_filename
    if dataclasses.is_dataclass(value) and made_by == "<string>":  # as dataclasses makes it
        fields = [field for field in dataclasses.fields(value) if field.repr]
        texts = [text(f"{field.name}=", Field(getattr(value, field.name), "r")) for field in fields]
        return text(f"{type(value).__qualname__}(", joined(", ", texts), ")")
    shown = hooks.call(function)(value)
    if isinstance(shown, str) and not hooks.is_array_library(function.__module__):
        refuse_tracers(shown, value)
    return shown


def shown_by(function: Any, value: Any) -> Any:
    """What `function`, a `__repr__` or `__str__` in C or of a library, gives for a value."""
    shown = by_method(function, known(value))
    return shown if isinstance(shown, str | Text) else function(value)


def both(value: Any) -> Any:
    """A value, or what stands for an object in a message that is formatted at run time."""
    of_str = of_objects(value, "s")
    if of_str is value or not isinstance(of_str, str | Text):
        return of_str
    return Both(Shown(of_str), Shown(of_objects(value, "r")))


def _part(part: str | standard_texts.Asked | standard_texts.Counts) -> str | Field:
    if isinstance(part, standard_texts.Asked):
        return Field(part.value, part.conversion)
    return Field(_counted(part.value)) if isinstance(part, standard_texts.Counts) else part


def _counted(counts: dict[Any, Any]) -> Any:
    """Numbers are in an order that the program knows when it runs; of objects the user's `__lt__` would have to know it."""
    shown = list(map(_in_container, counts.values()))
    if not is_open(shown):
        counts = dict(collections.Counter(counts).most_common())
        return Items(tuple(counts), list(map(_in_container, counts.values())))
    if any(isinstance(count, Shown | Items | list | tuple) for count in shown):
        raise not_shown("a Counter shows counts in an order that is not known")
    return Counted(tuple(counts), shown)


def _with_shown_leaves(value: Any) -> Any:
    """A value that JAX takes apart, and that is put together again when the program runs."""
    leaves, tree = jax.tree.flatten(value)
    shown = list(map(_in_container, leaves))
    is_same = all(one is other for one, other in zip(leaves, shown, strict=True))
    return value if is_same else jax.tree.unflatten(tree, shown)


def _checked(value: Any, function: Any) -> Any:
    """A value with a text of Python's own, or of a class in C, in which there may be no tracer's."""
    if function is not object.__repr__ and reach.holds(value, is_tracer):
        refuse_tracers(function(value), value)
    return value


def refuse_tracers(shown: str, value: Any, made_by: str = "") -> None:
    """Refuse a text in which a traced value is shown that this one holds."""
    if any(is_tracer(part) and not _is_choice(part) and repr(part) in shown for part in reach.everything(value)):
        what = f"what `{made_by}` makes" if made_by else f"the text of an object of class {type(value).__name__}"
        raise not_shown(f"{what} shows a traced value")


def not_shown(what: str) -> StagingError:
    return StagingError(
        f"{what}, which has its text at run time only",
        location=user_location(),
        details=["The text is made by code that is not converted, while JAX traces."],
        help="show the value itself, `print(x)`; or show it at run time, by a callback: `jax.debug.callback`",
    )


def _text_of_error(error: BaseException, conversion: str) -> str | Text | Choice:
    """An exception as Python shows it: by the functions of its class, or by its arguments."""
    kind = type(error)
    function = kind.__str__ if conversion == "s" else kind.__repr__
    if isinstance(function, types.FunctionType):
        return hooks.call(function)(error)
    name = "" if conversion == "s" else kind.__name__
    if len(error.args) != 1:
        return text(name, Field(error.args, "r")) if name or error.args else ""
    shown = Field(error.args[0], "s" if conversion == "s" and not issubclass(kind, KeyError) else "r")
    return text(f"{name}(", shown, ")") if name else text(shown)


def _with(part: str | Field | Text, choice: Choice, option: str) -> str | Field | Text:
    if not isinstance(part, Field):
        return part
    value, spec = jax.tree.map(lambda one: option if one is choice else one, (part.value, part.spec), is_leaf=_is_choice)
    return Field(value, part.conversion, spec)


def _is_choice(value: Any) -> bool:
    return isinstance(value, Choice)


def is_open(*values: Any) -> bool:
    """Is there a traced value among these, or in a list, tuple, dict or text among them?"""
    try:
        leaves = jax.tree.leaves(values, is_leaf=is_leaf)
    except ValueError:  # a dict whose keys have no order
        return reach.holds_traced(values)
    return any(map(_is_open_leaf, leaves))


def _is_open_leaf(leaf: Any) -> bool:
    if isinstance(leaf, BaseException):
        return reach.holds_traced(leaf.args)
    return is_traced(leaf) or type(leaf) in VIEWS and reach.holds_traced(leaf)


# Python's own of the same names


def str_(*arguments: Any, **keywords: Any) -> Any:
    if len(arguments) != 1 or keywords:
        return builtins.str(*arguments, **keywords)
    [value] = arguments
    if isinstance(value, Text):
        return value
    value = of_objects(value, "s")
    return text(Field(value, "s")) if is_open(value) else objects.asked(value, "__str__", builtins.str)


def repr_(value: Any, /) -> Any:
    value = known(value)
    shown = of_objects(value, "r")
    if shown is not value and isinstance(shown, str | Text | Choice):
        return shown
    return text(Field(shown, "r")) if is_open(shown) else objects.asked(value, "__repr__", builtins.repr)


def ascii_(value: Any, /) -> Any:
    return text(Field(value, "a"))


def not_in_list(value: Any) -> Any:
    """What `list.index` says of a value that is not there."""
    try:
        [].index(0)
    except ValueError as error:
        said = str(error)
    return text(Field(value, "r"), said[1:]) if said.startswith("0 ") else said  # "0 is not in list", before Python 3.14


def of_integers(function: Callable[[int], str]) -> Callable[[Any], Any]:
    """What stands for `hex`, `oct`, `bin` and `chr`."""

    def written(value: Any) -> str:
        return function(int(value))

    def override(value: Any, /) -> Any:
        value = known(value)
        if not is_open(value):
            return function(value)
        if isinstance(value, jax.Array) and (value.ndim or value.dtype.kind not in "iub"):
            raise TypeError(f"'{value.dtype}' object cannot be interpreted as an integer")
        return text(Field(value, written))

    return override


def format_(value: Any, spec: Any = "", /) -> Any:
    if not isinstance(spec, str | Text | Choice):
        return builtins.format(value, spec)
    return text(Field(value, "", spec))


def special(function: Any, target: Any) -> Callable[..., Any] | None:
    """What stands for `x.__repr__`, `object.__str__` or `"%d".__mod__`; None where this is no such method."""
    name = function.__name__
    if name not in _SPECIAL or not (jax_private.tracing() or jax_private.transforming()):
        return None
    if name == "__mod__":
        return percent if isinstance(target, str) else None
    if is_tracer(target):
        return {"__repr__": repr_, "__str__": str_, "__format__": format_}[name]
    if _is_shown_later(target) or not _is_shown_now(target):
        return None
    if name == "__format__":
        return lambda value, spec: str_(value) if spec == "" else function(spec)
    owner = getattr(function, "__objclass__", None)
    if owner is object:
        return repr_ if name == "__str__" else None
    return lambda value: shown_by(getattr(owner, name), value)


_SPECIAL = ("__repr__", "__str__", "__format__", "__mod__")


def method(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """What stands for `"{}".format` or `", ".join`, given traced values; None for other methods of a str."""
    own = _METHODS.get(function.__name__)
    if own is None:
        return None

    def apply(*arguments: Any, **keywords: Any) -> Any:
        if function.__name__ == "join" and len(arguments) == 1:
            arguments = (list(arguments[0]),)
        if not is_open(arguments, keywords) and not _is_shown_now((arguments, keywords)):
            arguments = tuple(map(known, arguments))
            return function(*arguments, **{name: known(value) for name, value in keywords.items()})
        return own(function.__self__, *arguments, **keywords)

    return apply


def _formatted(template: str, /, *arguments: Any, **keywords: Any) -> Any:
    return _filled(template, arguments, keywords)


def _filled(template: str, arguments: Any, keywords: Any) -> Any:
    numbers = itertools.count()

    def made(template: str) -> Any:
        parts: list[Any] = []
        for literal, name, spec, conversion in string.Formatter().parse(template):
            parts += [literal] if literal else []
            if name is None:
                continue
            if not name or name[0] in ".[":
                name = f"{next(numbers)}{name}"
            value, _ = string.Formatter().get_field(name, arguments, keywords)
            parts.append(Field(value, conversion or "", made(spec) if spec else ""))
        return text(*parts)

    return made(template)


def joined(separator: str, values: Iterable[Any]) -> Any:
    """`separator.join(values)`; of strings and texts that a branch chooses between, the one that is taken."""
    parts: list[Any] = []
    for value in values:
        parts += [separator] if parts else []
        parts.append(Field(value) if isinstance(value, Choice) else value)
    return text(*parts)


def percent_in_place(template: Any, values: Any) -> Any:
    """What `template %= values` leaves in the variable."""
    return percent(template, values) if issubclass(type(template), str | Text) else operator.imod(template, values)


_METHODS: dict[str, Callable[..., Any]] = {
    "format": _formatted,
    "format_map": lambda template, mapping: _filled(template, (), mapping),
    "join": joined,
}
_PERCENT = re.compile(r"%(?:\((?P<key>[^)]*)\))?(?P<how>[#0\- +]*\d*(?:\.\d*)?)[hlL]?(?P<kind>[diouxXeEfFgGcrsa%])")


def percent(template: Any, values: Any) -> Any:
    """`"%5.2f of %s" % values`; of what is no str, what Python's operator gives."""
    if not issubclass(type(template), str):
        return template % values
    values = tuple(map(known, values)) if type(values) is tuple else known(values)
    if not (is_open(values) or _is_shown_now(values)):
        return template % values
    given = iter(values if isinstance(values, tuple) else (values,))
    parts: list[Any] = []
    end = 0
    for found in _PERCENT.finditer(template):
        parts += [template[end : found.start()]]
        end = found.end()
        if found["kind"] == "%":
            parts.append("%")
            continue
        value = values[found["key"]] if found["key"] is not None and isinstance(values, Mapping) else next(given)
        shown = of_objects(value, "s" if found["kind"] == "s" else "r") if found["kind"] in "rsa" else value
        kind = found["kind"]
        if shown is not value and isinstance(shown, str | Text | Choice):
            shown, kind = (Shown(shown), "a") if kind == "a" else (shown, "s")
        parts.append(Field(shown, "%", f"%{found['how']}{kind}"))
    return text(*parts, template[end:])
