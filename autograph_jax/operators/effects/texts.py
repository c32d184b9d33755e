"""Strings that hold traced values: f-strings, `str(x)`, `"{}".format(x)`, `"%d" % n`. They become strings at run time.

Until then they can be printed, raised, returned and put together. Who asks for their characters is refused.
"""

from __future__ import annotations

import builtins
import dataclasses
import itertools
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
from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.values import objects
from autograph_jax.operators.values.choices import Choice, taken
from autograph_jax.operators.values.traced import is_traced


@dataclasses.dataclass(frozen=True)
class Field:
    """`{value!conversion:spec}` of an f-string; with the conversion `%`, the spec is one of `spec % value`."""

    value: Any
    conversion: str = ""
    spec: Any = ""

    def text(self) -> str:
        if self.conversion == "%":
            return self.spec % (taken(self.value),)
        value = {"s": str, "r": repr, "a": ascii}.get(self.conversion, lambda v: v)(taken(self.value))
        return format(value, str(self.spec))


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


jax.tree_util.register_dataclass(Items, ["values"], ["keys"])
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
    if part.conversion not in ("", "s", "r") or part.spec != "":
        return part
    value = of_objects(part.value, part.conversion or "s")
    if value is not part.value and isinstance(value, str | Text | Choice):
        return Field(value) if isinstance(value, Choice) else value
    return Field(value, part.conversion)


def of_objects(value: Any, conversion: str) -> Any:
    """The value, where objects are what they are shown as, a Text: when the program runs they hold something else."""
    value = known(value)
    if _is_choice(value) and any(map(_is_error, value._options)):
        return value._map(lambda option: of_objects(option, conversion))
    if _is_error(value) and (state.traces() or reach.holds_traced((value.args, vars(value)))):
        return _text_of_error(value, conversion)
    if _is_shown_later(value) or not (state.traces() or reach.holds_traced(value)):
        return value
    if type(value) in (list, tuple):
        return type(value)(map(_in_container, value))
    if type(value) is dict:
        return Items(tuple(value), list(map(_in_container, value.values())))
    return _text_of(value, conversion) if jax.tree_util.all_leaves([value]) else value


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
    function = kind.__str__ if of_str else kind.__repr__
    if not isinstance(function, types.FunctionType) or not reach.is_record(value):
        return value
    made_by = getattr(function, "__wrapped__", function).__code__.co_filename
    if dataclasses.is_dataclass(kind) and made_by == "<string>":  # as dataclasses makes it
        fields = [field for field in dataclasses.fields(kind) if field.repr]
        texts = [text(f"{field.name}=", Field(getattr(value, field.name), "r")) for field in fields]
        return text(f"{kind.__qualname__}(", joined(", ", texts), ")")
    return hooks.call(function)(value)


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
        leaves = jax.tree.leaves(values, is_leaf=_is_choice)
    except ValueError:  # a dict whose keys have no order
        return reach.holds_traced(values)
    return any(is_traced(leaf) or isinstance(leaf, BaseException) and reach.holds_traced(leaf.args) for leaf in leaves)


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


def format_(value: Any, spec: Any = "", /) -> Any:
    return text(Field(value, "", spec)) if is_open(value, spec) else builtins.format(known(value), spec)


def method(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """What stands for `"{}".format` or `", ".join`, given traced values; None for other methods of a str."""
    own = {"format": _formatted, "join": joined}.get(function.__name__)
    if own is None:
        return None

    def apply(*arguments: Any, **keywords: Any) -> Any:
        if function.__name__ == "join" and len(arguments) == 1:
            arguments = (list(arguments[0]),)
        if not is_open(arguments, keywords):
            arguments = tuple(map(known, arguments))
            return function(*arguments, **{name: known(value) for name, value in keywords.items()})
        return own(function.__self__, *arguments, **keywords)

    return apply


def _formatted(template: str, /, *arguments: Any, **keywords: Any) -> Any:
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


_PERCENT = re.compile(r"%(?:\((?P<key>[^)]*)\))?(?P<how>[#0\- +]*\d*(?:\.\d*)?)[hlL]?(?P<kind>[diouxXeEfFgGcrsa%])")


def percent(template: Any, values: Any) -> Any:
    """`"%5.2f of %s" % values`; of what is no str, what Python's operator gives."""
    values = tuple(map(known, values)) if type(values) is tuple else known(values)
    if not isinstance(template, str) or not is_open(values):
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
        shown = of_objects(value, found["kind"]) if found["kind"] in "rs" else value
        kind = found["kind"] if shown is value else "s"
        parts.append(Field(shown, "%", f"%{found['how']}{kind}"))
    return text(*parts, template[end:])
