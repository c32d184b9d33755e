"""The canonical form of a function, which every transform works on: converted, and called one way.

    def f(a, /, b=1, *rest, c, **more)   ->   body(a, b, rest, c, more)

All parameters are passed by position in the signature's order: `*rest` as a tuple, `**more` as a dict, LEFT_OUT for a default
that the caller left out. An argument inside `*rest` or `**more` that a transform treats apart follows at the end.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

from autograph_jax.runtime.arguments import Argument, Spec, resolve, resolve_entries
from autograph_jax.runtime.classes import meet_all
from autograph_jax.runtime.decorator import autograph
from autograph_jax.runtime.escapes import watched
from autograph_jax.runtime.forwarding import LEFT_OUT, LeftOut, Place, forwarder, places
from autograph_jax.runtime.libraries import is_array_library, is_left_alone
from autograph_jax.runtime.opened import closed, inside, opened, opening
from autograph_jax.runtime.recaptured import apart
from autograph_jax.runtime.signatures import called_signature, name_of, naming_signature, shown_signature
from autograph_jax.runtime.statics import Static, Statics
from autograph_jax.runtime.unconverted import do_not_convert, is_marked


def decorate(function: Any, make: Callable[[Any], Any]) -> Any:
    """`make(function)`, which converted code calls as it is; for no function a decorator, as in `@grad(argnums=1)`."""
    if function is None:
        return lambda f: decorate(f, make)
    if isinstance(function, staticmethod | classmethod):
        return type(function)(decorate(function.__func__, make))
    made = make(function)
    do_not_convert(made)
    return made


class Callee:
    """A function of the user's, converted, whose arguments a transform is told about by number or by name."""

    def __init__(self, function: Any) -> None:
        self.function, self.target, self.name = function, _target(function), name_of(function)
        self.signature = naming_signature(self.target)
        self._own_names = list(self.signature.parameters) == list(called_signature(self.target).parameters)

    def arguments(self, option: str, argnums: Spec, argnames: Spec, *, whole: bool = False) -> tuple[Argument, ...]:
        """The arguments that `argnums` and `argnames` mean. See `resolve`."""
        whole = whole and self._own_names
        return resolve(self.signature, argnums, argnames, option=option, function=self.name, whole=whole)

    def entries(self, option: str, entries: Mapping[Any, Any]) -> dict[Argument, Any]:
        """What `entries` say of each argument. See `resolve_entries`."""
        return resolve_entries(self.signature, entries, option=option, function=self.name, whole=self._own_names)

    def default(self, argument: Argument) -> Any:
        """The argument's default; `Parameter.empty` where it has none. Where a transform has made the function, its user's."""
        for signature in (self.signature, shown_signature(self.function)):
            parameter = signature.parameters.get(argument.name)
            if parameter is not None and parameter.default is not LEFT_OUT:
                return parameter.default
        return Parameter.empty

    def canonical(self, *treated: Iterable[Argument]) -> Canonical:
        """The canonical form in which each of the arguments that are treated apart has a position of its own."""
        return Canonical(self, [argument for arguments in treated for argument in arguments])


class Canonical:
    """A function's canonical form: its `body`, and where an argument stands among the body's."""

    def __init__(self, callee: Callee, treated: Sequence[Argument]) -> None:
        self.callee = callee
        self.parameters = tuple(called_signature(callee.target).parameters.values())
        self._named = {p.name: i for i, p in enumerate(self.parameters)}
        picks = dict.fromkeys(a for a in treated if not self._has_parameter(a))
        self.picks = tuple(picks)
        self.body = _body(callee.target, self.parameters, self.picks)
        self.spelled = _speller(self.parameters, places(self.parameters, self.picks))  # the arguments of a call

    @property
    def has_defaults(self) -> bool:
        return any(parameter.default is not Parameter.empty for parameter in self.parameters)

    def _has_parameter(self, argument: Argument) -> bool:
        index = self._named.get(argument.name)
        many = index is not None and self.parameters[index].kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        return index is not None and many == (argument.position is None and argument.keyword is None)

    def body_of(self, target: Any) -> Callable[..., Any]:
        """The body for another function of the same parameters."""
        return _body(target, self.parameters, self.picks)

    def __len__(self) -> int:
        return len(self.parameters) + len(self.picks)

    def position(self, argument: Argument) -> int:
        """Where an argument stands among those of `body`."""
        if self._has_parameter(argument):
            return self._named[argument.name]
        return len(self.parameters) + self.picks.index(argument)

    def positions(self, arguments: Iterable[Argument]) -> tuple[int, ...]:
        return tuple(map(self.position, arguments))

    def name(self, position: int) -> str:
        first = len(self.parameters)
        return self.parameters[position].name if position < first else self.picks[position - first].name

    def forwarder(self, call: Any, *, opens: bool = True, **options: Any) -> Any:
        """The function that the user gets: it passes the arguments of any call to `call`, in their canonical order.

        Objects with `__jax_array__` are opened on the way, if `opens`.
        """
        call = opening(call) if opens else call
        return forwarder(self.callee.function, self.callee.target, call, picks=self.picks, **options)

    def values(self, *arguments: Any, **keywords: Any) -> tuple[Any, ...]:
        """The arguments of one call in their canonical order."""
        return opened(self.forwarder(lambda *values: values, opens=False)(*arguments, **keywords))[0]

    def statics(self, arguments: tuple[Argument, ...], *state: Callable[[Any, str], Any]) -> Statics:
        """`state` tells apart what a static object holds at different times."""
        return Statics(arguments, self.callee.name, *state)


def _target(function: Any) -> Any:
    """The function, converted unless it is a library's, marked, or made by a transform. Raises NotAFunctionError."""
    match function:
        case functools.partial():
            return functools.partial(_target(function.func), *function.args, **function.keywords)
        case types.FunctionType() | types.MethodType() | type():
            plain: Any = getattr(function, "__func__", function)
            leave = is_array_library(function.__module__) or is_marked(plain)
        case _:
            leave = callable(function) and is_left_alone(type(function).__module__)
    return function if leave else autograph(function)


# ------------------------------------------------------------------ what a transform gets in place of the function

_BODIES = "__autograph_jax_bodies__"


def _body(target: Any, parameters: tuple[Parameter, ...], picks: tuple[Argument, ...]) -> Callable[..., Any]:
    """The function with canonical arguments.

    Kept with the function, so that `ag.jit(f)` in a loop compiles once: JAX caches by the identity of what it gets.
    """
    if not isinstance(target, types.FunctionType):
        return _make_body(target, parameters, picks)
    owner, bodies = vars(target).get(_BODIES, (None, {}))
    if owner is not target:  # functools.wraps copies attributes
        _, bodies = vars(target)[_BODIES] = target, {}
    if picks not in bodies:
        bodies[picks] = _make_body(target, parameters, picks)
    return bodies[picks]


def _make_body(target: Any, parameters: tuple[Parameter, ...], picks: tuple[Argument, ...]) -> Callable[..., Any]:
    spelled = _speller(parameters, places(parameters, picks))

    count = len(parameters) + len(picks)

    def body(*values: Any) -> Any:
        values = (*values, *[LEFT_OUT] * (count - len(values)))
        values, made = inside(values)
        positional, keywords = spelled(values)
        meet_all((positional, keywords))
        with apart(target), watched(target) as watch:
            result = watch.result = target(*positional, **keywords)
        return closed(result, made)

    functools.update_wrapper(body, target, updated=())
    body.__name__ = body.__qualname__ = name_of(target)
    body.__wrapped__ = target
    vars(body)["__signature__"] = _signature(parameters, picks)  # which JAX names arguments by
    return body


def _signature(parameters: tuple[Parameter, ...], picks: tuple[Argument, ...]) -> Signature:
    names = [p.name for p in parameters]
    for argument in picks:
        name = argument.keyword or argument.name.replace("[", "_").rstrip("]")
        while name in names:
            name += "_"
        names.append(name)
    optional = len(names)  # from here on
    while optional and not picks and parameters[optional - 1].default is not Parameter.empty:
        optional -= 1
    defaults = [LEFT_OUT if position >= optional else Parameter.empty for position in range(len(names))]
    pairs = zip(names, defaults, strict=True)
    return Signature([Parameter(name, Parameter.POSITIONAL_ONLY, default=default) for name, default in pairs])


def _speller(parameters: Sequence[Parameter], wanted: Sequence[Place]) -> Callable[..., Any]:
    """How canonical values become the arguments of a call: what its caller left out is left out, and what stands in `*rest` or
    `**more` is spelled as its caller has done.
    """

    def spelled(values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        skipped = False
        picked = dict(zip(wanted, values[len(parameters) :], strict=True))
        for parameter, value in zip(parameters, values, strict=False):
            if parameter.kind is Parameter.VAR_POSITIONAL:
                at = {place.index: place for place in picked if place.index is not None and place.index < len(value)}
                positional += [_plain(picked.pop(at[i])) if i in at else part for i, part in enumerate(value)]
            elif parameter.kind is Parameter.VAR_KEYWORD:
                given = {place.key: value for place, value in picked.items() if type(value) is not LeftOut}
                keywords |= value | {key: _plain(part) for key, part in given.items() if key is not None}
                keywords = dict(sorted(keywords.items()))  # as JAX orders the rest
            elif type(value) is LeftOut:
                skipped = True
            elif skipped or parameter.kind is Parameter.KEYWORD_ONLY:
                keywords[parameter.name] = _plain(value)
            else:
                positional.append(_plain(value))
        return positional, keywords

    return spelled


def _plain(value: Any) -> Any:
    return value.value if type(value) is Static else value
