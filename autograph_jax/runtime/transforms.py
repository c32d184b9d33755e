"""`ag.jit`: a function is converted, then compiled by `jax.jit`; arguments mean the same however they are passed."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar, overload

import jax
import numpy as np

from autograph_jax.errors import ArgumentError, user_location
from autograph_jax.operators import checks
from autograph_jax.operators.choices import Choice, decided
from autograph_jax.runtime.arguments import (
    Argument,
    LeftOut,
    Spec,
    called_signature,
    forwarder,
    name_of,
    naming_signature,
    resolve,
)
from autograph_jax.runtime.classes import meet_all
from autograph_jax.runtime.decorator import autograph
from autograph_jax.runtime.libraries import is_array_library, is_left_alone
from autograph_jax.runtime.unconverted import do_not_convert, is_marked

F = TypeVar("F", bound=Callable[..., Any])


@overload
def jit(
    function: F,
    /,
    *,
    static_argnums: Spec = None,
    static_argnames: Spec = None,
    donate_argnums: Spec = None,
    donate_argnames: Spec = None,
    **options: Any,
) -> F: ...
@overload
def jit(
    *,
    static_argnums: Spec = None,
    static_argnames: Spec = None,
    donate_argnums: Spec = None,
    donate_argnames: Spec = None,
    **options: Any,
) -> Callable[[F], F]: ...
def jit(
    function: Any = None,
    /,
    *,
    static_argnums: Spec = None,
    static_argnames: Spec = None,
    donate_argnums: Spec = None,
    donate_argnames: Spec = None,
    **options: Any,
) -> Any:
    """Convert a function with `autograph` and compile it with `jax.jit`, whose other options it takes.

    Static and donated arguments are given by number or by name, whatever kind of parameter they are, and stay static or
    donated however a call passes them. Numbers count the parameters of the signature, keyword-only ones too; negative
    ones count from its end. All spellings of a call share one program.

    Static values are compared by type and value: `(1,)`, `(True,)`, `(1.0,)`, `0.0` and `-0.0` have a program each.
    Lists, dicts and sets of hashable values may be static. As in `jax.jit`, a default that a call leaves out is a
    constant of the program.

    The result is a function (a bound method for a bound method), with `lower`, `trace`, `eval_shape` and `clear_cache`.

        >>> @jit(static_argnames="n")
        ... def power(x, /, n=2):
        ...     y = 1.0
        ...     for _ in range(n):
        ...         y = y * x
        ...     return y
        >>> print(power(3.0), power(2.0, 3), power(2.0, n=3))
        9.0 8.0 8.0

    Raises NotAFunctionError for what cannot be called; ArgumentError for an argument that is not there, is meant twice,
    or is both static and donated, and, when called, for a static value that cannot be compared.
    """
    given = dict(static=(static_argnums, static_argnames), donate=(donate_argnums, donate_argnames))
    if function is None:
        return lambda f: _jit(f, given, options)
    return _jit(function, given, options)


def _jit(function: Any, given: dict[str, tuple[Spec, Spec]], options: dict[str, Any]) -> Any:
    if isinstance(function, staticmethod | classmethod):
        return type(function)(_jit(function.__func__, given, options))
    target, name = _target(function), name_of(function)
    signature = naming_signature(target)
    chosen = {option: resolve(signature, *spec, option=option, function=name) for option, spec in given.items()}
    _refuse_overlap(chosen["static"], chosen["donate"], name)
    body, choices = _body(target)
    jitted: Any = jax.jit(body, **_numbers_and_names(chosen), **options)
    statics = _Statics(chosen["static"], name)
    made = forwarder(function, target, jitted, statics=statics, finish=_finish, pending=choices, recover=_recover)
    plain = made.__func__ if isinstance(made, types.MethodType) else made
    for attribute in ("lower", "trace", "eval_shape"):
        setattr(plain, attribute, _as_spelled(getattr(jitted, attribute), statics))
    plain.clear_cache = jitted.clear_cache
    do_not_convert(plain)  # converted code calls it as it is
    return made


def _target(function: Any) -> Any:
    """The function, converted unless it is a library's, marked, or made by `ag.jit`. Raises NotAFunctionError."""
    match function:
        case functools.partial():
            return functools.partial(_target(function.func), *function.args, **function.keywords)
        case types.FunctionType() | types.MethodType() | type():
            plain: Any = getattr(function, "__func__", function)
            leave = is_array_library(function.__module__) or is_marked(plain)
        case _:
            leave = callable(function) and is_left_alone(type(function).__module__)
    return function if leave else autograph(function)


def _refuse_overlap(static: Sequence[Argument], donated: Sequence[Argument], function: str) -> None:
    for argument in static:
        if argument in donated:
            raise ArgumentError(
                f"`{argument.name}` of `{function}` is both static and donated",
                location=user_location(),
                help="do not donate it: a static argument is part of the program and has no memory to give away",
            )


def _numbers_and_names(chosen: dict[str, tuple[Argument, ...]]) -> dict[str, Any]:
    """Both for each: JAX infers the one from the other only where just one is given."""
    spelled: dict[str, Any] = {}
    for option, arguments in chosen.items():
        if arguments:
            spelled[f"{option}_argnums"] = tuple(a.position for a in arguments if a.position is not None)
            spelled[f"{option}_argnames"] = tuple(a.keyword for a in arguments if a.keyword is not None)
    return spelled


# ------------------------------------------------------------------ what JAX traces

_BODY = "__autograph_jax_body__"


def _body(target: Any) -> tuple[Callable[..., Any], list[bool]]:
    """What `jax.jit` gets in place of the function, and a list that is not empty once it has returned a Choice or may raise.

    Kept with the function, so that `ag.jit(f)` in a loop compiles once: JAX caches by the identity of what it gets.
    """
    kept = vars(target).get(_BODY) if isinstance(target, types.FunctionType) else None
    if kept is not None and kept[0].__wrapped__ is target:
        return kept
    made = _make_body(target)
    if isinstance(target, types.FunctionType):
        vars(target)[_BODY] = made
    return made


def _make_body(target: Any) -> tuple[Callable[..., Any], list[bool]]:
    signature, choices = called_signature(target), []
    defaults = {p.name: p.default for p in signature.parameters.values()}
    by_position = list(defaults.values())

    def body(*arguments: Any, **keywords: Any) -> Any:
        positional = [_value(value, by_position, i) for i, value in enumerate(arguments)]
        named = {name: _value(value, defaults, name) for name, value in keywords.items()}
        meet_all((positional, named))
        before = checks.made()
        out = target(*positional, **named)
        if not choices and (checks.made() > before or _has_choice(out)):
            choices.append(True)
        return out

    body.__name__ = body.__qualname__ = name_of(target)
    functools.update_wrapper(body, target, updated=())
    vars(body)["__signature__"] = signature  # which JAX names arguments by; `__wrapped__` might have another one
    return body, choices


def _value(value: Any, defaults: Any, place: int | str) -> Any:
    if type(value) is LeftOut:
        return defaults[place]
    return value.value if type(value) is _Static else value


def _has_choice(out: Any) -> bool:
    return any(map(_is_choice, jax.tree.leaves(out, is_leaf=_is_choice)))


def _is_choice(value: Any) -> bool:
    return isinstance(value, Choice)


def _finish(out: Any) -> Any:
    """The output of a program that may raise, or that gives a Choice: waited for, and decided."""
    return _decide(jax.block_until_ready(out))


def _recover(error: Exception) -> None:
    """Raise the user's exception in place of JAX's, which says that a callback has raised it."""
    if isinstance(error, jax.errors.JaxRuntimeError) and (raised := checks.take_raised()) is not None:
        raise raised from None


def _decide(out: Any) -> Any:
    """The output with each Choice replaced by the option taken, where that is known: not inside another trace."""
    leaves, structure = jax.tree.flatten(out, is_leaf=_is_choice)
    if not any(map(_is_choice, leaves)):
        return out  # as it is: an option may be a dict or list that the user knows
    return jax.tree.unflatten(structure, map(_option, leaves))


def _option(value: Any) -> Any:
    if not isinstance(value, Choice):
        return value
    option = decided(value.index, value.options)
    return option if isinstance(option, Choice) and option.index is value.index else _decide(option)


# ------------------------------------------------------------------ static arguments


class _Static:
    """A static value as JAX's caches see it: equal to another one if type and value are, all the way down."""

    __slots__ = ("hash", "key", "value")

    def __init__(self, value: Any) -> None:
        self.value, self.key = value, _key(value)
        self.hash = hash(self.key)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Static) and self.key == other.key

    def __repr__(self) -> str:
        return repr(self.value)


# Compared by JAX as they should be: by type, then by value.
_PLAIN = frozenset({int, bool, str, bytes, type(None), type, types.FunctionType, types.BuiltinFunctionType})


def _key(value: Any) -> Any:
    kind: Any = type(value)
    if kind in _PLAIN:
        return kind, value
    if isinstance(value, float):
        return kind, float.hex(value)  # tells 0.0 from -0.0, and nan from nothing but nan
    if isinstance(value, complex):
        return kind, float.hex(value.real), float.hex(value.imag)
    if isinstance(value, np.generic):
        return kind, value.dtype, value.tobytes()
    if kind in (tuple, list) or isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind, *map(_key, value)
    if isinstance(value, dict) and kind in (dict, OrderedDict):
        return kind, *((_key(name), _key(entry)) for name, entry in value.items())
    if kind in (set, frozenset):
        return kind, frozenset(map(_key, value))
    if isinstance(value, functools.partial):
        return kind, _key(value.func), _key(value.args), _key(value.keywords)
    if dataclasses.is_dataclass(kind) and kind.__eq__ is not object.__eq__:
        return kind, value, _fields_key(value)
    return kind, value


def _fields_key(value: Any) -> Any:
    """The fields of a dataclass by type; nothing where it has a hash of its own that leaves some of them out."""
    key = tuple(_key(getattr(value, field.name)) for field in dataclasses.fields(value) if field.compare)
    try:
        hash(key)
    except TypeError:
        return ()
    return key


class _Statics:
    """A function's static arguments, and how their values are handed to JAX."""

    def __init__(self, arguments: tuple[Argument, ...], function: str) -> None:
        self.arguments, self._function = arguments, function
        self._positions = {a.position: a.name for a in arguments if a.position is not None}
        self._names = frozenset(a.keyword for a in arguments if a.keyword is not None)

    def one(self, value: Any, name: str, /) -> Any:
        if type(value) in _PLAIN:
            return value
        try:
            return _Static(value)
        except TypeError as error:
            self._refuse(value, name, error)

    def positional(self, values: tuple[Any, ...], first: int = 0, /) -> tuple[Any, ...]:
        names = self._positions
        return tuple(self.one(v, names[i]) if i in names else v for i, v in enumerate(values, first))

    def keywords(self, values: dict[str, Any], /) -> dict[str, Any]:
        return {name: self.one(v, name) if name in self._names else v for name, v in values.items()}

    def _refuse(self, value: Any, name: str, error: TypeError) -> NoReturn:
        raise ArgumentError(
            f"`{name}` of `{self._function}` is static, and a value of type {type(value).__name__} cannot be",
            location=user_location(),
            details=[f"It has to be compared with the values of earlier calls: {error}."],
            help="pass arrays as ordinary arguments; numbers, strings, functions, tuples, lists, dicts may be static",
        ) from error


def _as_spelled(method: Callable[..., Any], statics: _Statics) -> Callable[..., Any]:
    """`f.lower(x, n=3)`: as the caller spells it, because what it compiles must be called with the same spelling."""
    if not statics.arguments:
        return method

    @functools.wraps(method)
    def spelled(*arguments: Any, **keywords: Any) -> Any:
        return method(*statics.positional(arguments), **statics.keywords(keywords))

    return spelled
