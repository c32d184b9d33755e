"""`static_argnums=-1`, `argnames='n'`, `in_axes={'x': 0}`: which argument is meant.

resolve(signature, (0, -1), "n", ...)   ->   the arguments, each with its position and its keyword
"""

from __future__ import annotations

import dataclasses
import difflib
import operator
from collections.abc import Container, Iterable, Mapping
from inspect import Parameter, Signature
from typing import Any, NoReturn

from autograph_jax.errors import ArgumentError, user_location
from autograph_jax.runtime.signatures import POSITIONAL

Spec = int | str | Iterable[int | str] | None


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of a function: the position and the keyword by which a call can pass it, where it has them."""

    name: str
    position: int | None
    keyword: str | None


def resolve(
    signature: Signature, argnums: Spec, argnames: Spec, *, option: str, function: str, whole: bool = False
) -> tuple[Argument, ...]:
    """The arguments that `argnums` and `argnames` mean, in the order given; numbers and names may stand in either.

    Numbers count the signature's parameters, keyword-only ones too, negative ones from the end. Where there is a
    `*rest`, a number is a position in the call, and keyword-only parameters have names only. A name may be a key in
    `**kwargs`; with `whole`, the names of `*rest` and `**kwargs` themselves mean all that they take.

    For messages, `option` is "static", "donate" or "", as in `static_argnums`, and `function` the name of the function.
    Raises ArgumentError for an unknown name, a number out of range, an argument meant twice, a wrong type; and for none at
    all, where there is no `option`.
    """
    prefix = f"{option}_" if option else ""
    resolver = _Resolver(signature, function, whole)
    given = [(f"{prefix}argnums", argnums), (f"{prefix}argnames", argnames)]
    found: list[Argument] = []
    for label, spec in given:
        for entry in resolver.entries(label, spec):
            found.append(resolver.once(found, label, spec, entry))
    for label, spec in given:
        if spec is not None and not (found or option):  # `static_argnums=()` is none, as in jax.jit
            resolver.refuse(label, spec, f"this means no argument of `{function}`", help=f"leave `{label}` out")
    return tuple(found)


def is_single(spec: Any) -> bool:
    """Is this one number or one name, not several? A NumPy array may be either."""
    return isinstance(spec, str | bytes) or hasattr(type(spec), "__index__") and getattr(spec, "ndim", 0) == 0


def resolve_entries(
    signature: Signature, entries: Mapping[Any, Any], *, option: str, function: str, whole: bool = True
) -> dict[Argument, Any]:
    """`in_axes={'x': 0, 'y': None}`: what is said of each argument, which is given by its number or its name.

    Raises ArgumentError as `resolve` does, with `option` in the message.
    """
    resolver = _Resolver(signature, function, whole)
    found: dict[Argument, Any] = {}
    for key, value in entries.items():
        found[resolver.once(found, option, key, resolver.entry(option, key, key))] = value
    return found


class _Resolver:
    """One signature, and the function's name for messages, which begin with the label of an option: `static_argnums`."""

    def __init__(self, signature: Signature, function: str, whole: bool) -> None:
        parameters = signature.parameters.values()
        self.function, self.parameters, self.whole = function, parameters, whole
        self.many = {p.kind: p.name for p in parameters if p.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)}
        self.rest = self.many.get(Parameter.VAR_POSITIONAL)
        positional = [p for p in parameters if p.kind in POSITIONAL]
        self.positional = [
            Argument(p.name, i, p.name if p.kind is Parameter.POSITIONAL_OR_KEYWORD else None) for i, p in enumerate(positional)
        ]
        keyword_only = [Argument(p.name, None, p.name) for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
        self.arguments = [*self.positional, *keyword_only]

    def once(self, found: Container[Argument], label: str, spec: Any, entry: int | str) -> Argument:
        argument = self.named(label, entry) if isinstance(entry, str) else self.numbered(label, entry)
        if argument in found:
            self.refuse(label, spec, f"`{argument.name}` of `{self.function}` is meant twice", help="give it once")
        return argument

    def entries(self, label: str, spec: Any) -> list[int | str]:
        if spec is None:
            return []
        if not is_single(spec) and not isinstance(spec, Iterable):
            self.refuse_type(label, spec, spec)
        return [self.entry(label, spec, entry) for entry in ([spec] if is_single(spec) else spec)]

    def entry(self, label: str, spec: Any, entry: Any) -> int | str:
        if isinstance(entry, str):
            return entry
        if isinstance(entry, bool) or not hasattr(type(entry), "__index__"):
            self.refuse_type(label, spec, entry)
        return operator.index(entry)

    def numbered(self, label: str, number: int) -> Argument:
        if self.rest is not None:
            return self.position(label, number)
        count = len(self.arguments)
        if not -count <= number < count:
            what = f"`{self.function}` has {count} parameter{'s' * (count != 1)}"
            count_help = f"count from 0 to {count - 1}, or from -1 to {-count}"
            self.refuse(label, number, what, help=count_help if count else f"leave `{label}` out")
        return self.arguments[number]

    def position(self, label: str, number: int) -> Argument:
        if number < 0:
            what = f"`{self.function}` takes any number of arguments (`*{self.rest}`), and has no last one"
            self.refuse(label, number, what, help="count from the front, or give the name")
        first = len(self.positional)
        return self.positional[number] if number < first else Argument(f"{self.rest}[{number - first}]", number, None)

    def named(self, label: str, name: str) -> Argument:
        for argument in self.arguments:
            if argument.name == name:
                return argument
        if self.whole and name in self.many.values():
            return Argument(name, None, None)
        if name == self.rest:
            what = f"`*{name}` of `{self.function}` is any number of arguments"
            self.refuse(label, name, what, help=f"give their numbers: {len(self.positional)} is the first of them")
        if name in self.many.values():
            what = f"`**{name}` of `{self.function}` is any number of arguments"
            self.refuse(label, name, what, help="give the names of the keywords themselves")
        if Parameter.VAR_KEYWORD in self.many and name.isidentifier():
            return Argument(name, None, name)
        close = difflib.get_close_matches(name, [argument.name for argument in self.arguments], n=1)
        help = f"did you mean `{close[0]}`?" if close else "give the name of one of its parameters"
        self.refuse(label, name, f"`{self.function}` has no parameter `{name}`", help=help)

    def refuse_type(self, label: str, spec: Any, entry: Any) -> NoReturn:
        what = f"an argument of `{self.function}` is given by its number or its name, not by {entry!r}"
        ways = [f"{label.replace('argnames', 'argnums')}=0", f"{label.replace('argnums', 'argnames')}='name'"]
        if "arg" not in label:
            ways = [f"{label}={{0: ...}}", f"{label}={{'name': ...}}"]
        self.refuse(label, spec, what, help=f"write `{ways[0]}`, or `{ways[1]}`")

    def refuse(self, label: str, spec: Any, what: str, *, help: str) -> NoReturn:
        plain = [p.replace(default=Parameter.empty, annotation=Parameter.empty) for p in self.parameters]
        details = [f"It is `{self.function}{Signature(plain)}`."]
        what = f"`{label}={spec!r}`: {what}"
        raise ArgumentError(what, location=user_location(), details=details, help=help)
