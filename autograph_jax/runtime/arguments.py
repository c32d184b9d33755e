"""`static_argnums=-1`, `static_argnames='n'`: which argument is meant; and one spelling for every call.

    resolve(signature, (0, -1), "n", ...)   ->   the arguments, each with its position and its keyword
    forwarder(f, f, g, ...)                 ->   def f(a, /, b=LEFT_OUT, *, c): return g(a, b, c=c)
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
import keyword
import operator
import os
import types
from collections.abc import Iterable, Sequence
from inspect import Parameter, Signature
from typing import Any, NamedTuple, NoReturn, Protocol

from autograph_jax.errors import ArgumentError, user_location

Spec = int | str | Iterable[int | str] | None
_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_ANY = inspect.signature(lambda *args, **kwargs: None)


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of a function: the position and the keyword by which a call can pass it, where it has them."""

    name: str
    position: int | None
    keyword: str | None


class LeftOut(NamedTuple):
    """Passed on for an argument that the caller left out. JAX sees a pytree without leaves, its fastest kind."""

    def __repr__(self) -> str:
        return "<default>"


LEFT_OUT = LeftOut()


# ------------------------------------------------------------------ signatures


def called_signature(function: Any) -> Signature:
    """How the callable itself is called, whatever `functools.wraps` says; `(*args, **kwargs)` if Python cannot tell."""
    try:
        signature = inspect.signature(_bare(function))
    except (TypeError, ValueError):
        return _ANY
    return signature if not any(map(keyword.iskeyword, signature.parameters)) else _ANY


def naming_signature(function: Any) -> Signature:
    """The signature that arguments are named and counted by.

    It is the callable's own; but that of the wrapped function where a wrapper seems to hand on what it gets: `def
    wrapper(*args, **kwargs)`, or `def wrapper(self, *args, **kwargs)` around `def step(self, x)`.
    """
    called = called_signature(function)
    kinds = {p.kind for p in called.parameters.values()}
    if not {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD} <= kinds or Parameter.KEYWORD_ONLY in kinds:
        return called
    try:
        wrapped = inspect.signature(function)
    except (TypeError, ValueError):
        return called
    first = [p.name for p in called.parameters.values() if p.kind in _POSITIONAL]
    return wrapped if list(wrapped.parameters)[: len(first)] == first else called


def _bare(function: Any) -> Any:
    """The same callable without `__wrapped__` and `__signature__`, which `inspect` would believe."""
    match function:
        case types.FunctionType():
            bare = types.FunctionType(function.__code__, {}, "f", function.__defaults__, function.__closure__)
            bare.__kwdefaults__ = function.__kwdefaults__
            return bare
        case types.MethodType():
            return types.MethodType(_bare(function.__func__), function.__self__)
        case functools.partial():
            return functools.partial(_bare(function.func), *function.args, **function.keywords)
    return function


# ------------------------------------------------------------------ which arguments are meant


def resolve(signature: Signature, argnums: Spec, argnames: Spec, *, option: str, function: str) -> tuple[Argument, ...]:
    """The arguments that `argnums` and `argnames` mean, in the order given; numbers and names may stand in either.

    Numbers count the signature's parameters, keyword-only ones too, negative ones from the end. Where there is a
    `*rest`, a number is a position in the call, and keyword-only parameters have names only. A name may be a key in
    `**kwargs`.

    For messages, `option` is "static", "donate" or "", as in `static_argnums`, and `function` the name of the function.
    Raises ArgumentError for an unknown name, a number out of range, an argument meant twice, none at all, a wrong type.
    """
    resolver = _Resolver(signature, f"{option}_" if option else "", function)
    given = [("argnums", argnums), ("argnames", argnames)]
    found: list[Argument] = []
    for kind, spec in given:
        for entry in resolver.entries(kind, spec):
            argument = resolver.named(kind, entry) if isinstance(entry, str) else resolver.numbered(kind, entry)
            if argument in found:
                resolver.refuse(kind, spec, f"`{argument.name}` of `{function}` is meant twice", help="give it once")
            found.append(argument)
    for kind, spec in given:
        if spec is not None and not found:
            what = f"this means no argument of `{function}`"
            resolver.refuse(kind, spec, what, help=f"leave `{resolver.prefix}{kind}` out")
    return tuple(found)


class _Resolver:
    """One signature and how its messages begin."""

    def __init__(self, signature: Signature, prefix: str, function: str) -> None:
        parameters = signature.parameters.values()
        self.prefix, self.function, self.parameters = prefix, function, parameters
        self.many = {p.kind: p.name for p in parameters if p.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)}
        self.rest = self.many.get(Parameter.VAR_POSITIONAL)
        positional = [p for p in parameters if p.kind in _POSITIONAL]
        self.positional = [
            Argument(p.name, i, p.name if p.kind is Parameter.POSITIONAL_OR_KEYWORD else None)
            for i, p in enumerate(positional)
        ]
        keyword_only = [Argument(p.name, None, p.name) for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
        self.arguments = [*self.positional, *keyword_only]

    def entries(self, kind: str, spec: Any) -> list[int | str]:
        if spec is None:
            return []
        single = isinstance(spec, str | bytes) or hasattr(type(spec), "__index__") and getattr(spec, "ndim", 0) == 0
        if not single and not isinstance(spec, Iterable):
            self.refuse_type(kind, spec, spec)
        return [self.entry(kind, spec, entry) for entry in ([spec] if single else spec)]

    def entry(self, kind: str, spec: Any, entry: Any) -> int | str:
        if isinstance(entry, str):
            return entry
        if isinstance(entry, bool) or not hasattr(type(entry), "__index__"):
            self.refuse_type(kind, spec, entry)
        return operator.index(entry)

    def numbered(self, kind: str, number: int) -> Argument:
        if self.rest is not None:
            return self.position(kind, number)
        count = len(self.arguments)
        if not -count <= number < count:
            what = f"`{self.function}` has {count} parameter{'s' * (count != 1)}"
            count_help = f"count from 0 to {count - 1}, or from -1 to {-count}"
            self.refuse(kind, number, what, help=count_help if count else f"leave `{self.prefix}{kind}` out")
        return self.arguments[number]

    def position(self, kind: str, number: int) -> Argument:
        if number < 0:
            what = f"`{self.function}` takes any number of arguments (`*{self.rest}`), and has no last one"
            self.refuse(kind, number, what, help="count from the front, or give the name")
        first = len(self.positional)
        return self.positional[number] if number < first else Argument(f"{self.rest}[{number - first}]", number, None)

    def named(self, kind: str, name: str) -> Argument:
        for argument in self.arguments:
            if argument.name == name:
                return argument
        if name == self.rest:
            what = f"`*{name}` of `{self.function}` is any number of arguments"
            self.refuse(kind, name, what, help=f"give their numbers: {len(self.positional)} is the first of them")
        if name in self.many.values():
            what = f"`**{name}` of `{self.function}` is any number of arguments"
            self.refuse(kind, name, what, help="give the names of the keywords themselves")
        if Parameter.VAR_KEYWORD in self.many and name.isidentifier():
            return Argument(name, None, name)
        close = difflib.get_close_matches(name, [argument.name for argument in self.arguments], n=1)
        help = f"did you mean `{close[0]}`?" if close else "give the name of one of its parameters"
        self.refuse(kind, name, f"`{self.function}` has no parameter `{name}`", help=help)

    def refuse_type(self, kind: str, spec: Any, entry: Any) -> NoReturn:
        what = f"an argument of `{self.function}` is given by its number or its name, not by {entry!r}"
        self.refuse(kind, spec, what, help=f"write `{self.prefix}argnums=0`, or `{self.prefix}argnames='name'`")

    def refuse(self, kind: str, spec: Any, what: str, *, help: str) -> NoReturn:
        plain = [p.replace(default=Parameter.empty, annotation=Parameter.empty) for p in self.parameters]
        details = [f"It is `{self.function}{Signature(plain)}`."]
        what = f"`{self.prefix}{kind}={spec!r}`: {what}"
        raise ArgumentError(what, location=user_location(), details=details, help=help)


# ------------------------------------------------------------------ one spelling of every call


class Statics(Protocol):
    """How a forwarding function prepares the arguments that are static."""

    @property
    def arguments(self) -> Sequence[Argument]: ...
    def one(self, value: Any, name: str, /) -> Any: ...
    def positional(self, values: tuple[Any, ...], first: int, /) -> tuple[Any, ...]: ...
    def keywords(self, values: dict[str, Any], /) -> dict[str, Any]: ...


def forwarder(
    function: Any,
    target: Any,
    call: Any,
    *,
    statics: Statics,
    finish: Any,
    pending: Sequence[Any],
    recover: Any = lambda error: None,
) -> Any:
    """A function called as `target` is, which passes keyword-only arguments to `call` by keyword, others by position.

    A default that the caller leaves out is filled in where it is static or None; for any other LEFT_OUT is passed, as
    JAX takes a left-out default as a constant: `def f(x, axis=0): return x.sum(axis)`. Once `pending` is not empty,
    results go through `finish`; what is raised goes through `recover` first. Name, docstring and `__wrapped__` are those
    of `function`, of which `target` is the converted twin; a bound method gives a bound method. A wrong call raises the
    TypeError of a call of `target`.
    """
    method = _as_method(target)
    parameters = list(called_signature(method.__func__ if method else target).parameters.values())
    code, names = _forwarding_code(parameters, 1 if method else 0, statics.arguments)
    values = dict(zip(names, (call, statics, finish, pending, recover), strict=True))
    like = function if method is None else getattr(function, "__func__", None) or type(function).__call__
    cells = tuple(types.CellType(values[name]) for name in code.co_freevars)
    made = types.FunctionType(code, getattr(like, "__globals__", globals()), closure=cells)
    _give_defaults(made, parameters, {argument.name for argument in statics.arguments})
    updated = functools.WRAPPER_UPDATES if isinstance(like, types.FunctionType | types.MethodType) else ()
    made.__name__ = made.__qualname__ = name_of(function)
    functools.update_wrapper(made, like, updated=updated)
    return types.MethodType(made, method.__self__) if method else made


def _as_method(target: Any) -> types.MethodType | None:
    """The bound method that a method or a callable object is; a wrong call counts `self` in its message."""
    method = target
    if not isinstance(target, types.FunctionType | types.MethodType) and callable(target):
        call = getattr(type(target), "__call__", None)  # noqa: B004 - the function is wanted
        method = types.MethodType(call, target) if isinstance(call, types.FunctionType) else None
    if not isinstance(method, types.MethodType):
        return None
    parameters = list(called_signature(method.__func__).parameters.values())
    return method if parameters and parameters[0].kind in _POSITIONAL else None  # None: def method(*args)


def _forwarding_code(
    parameters: list[Parameter], bound: int, static: Sequence[Argument]
) -> tuple[types.CodeType, tuple[str, ...]]:
    """The code object for these parameters, the first `bound` of which are not passed on, and the names it needs."""
    taken = {p.name for p in parameters}
    names = tuple(_fresh(wish, taken) for wish in ("call", "statics", "finish", "pending", "recover", "result", "error"))
    plain = [p.replace(annotation=Parameter.empty, default=_placeholder(p)) for p in parameters]
    passed = ", ".join(_passed(p, i, static, names[1]) for i, p in enumerate(parameters[bound:]))
    return _compiled(str(Signature(plain)), passed, names), names[:5]


def _passed(parameter: Parameter, index: int, static: Sequence[Argument], statics: str) -> str:
    """How one parameter is passed on, as text: `n`, `c=c`, `*rest`; for a static one `statics.one(n, 'n')`."""
    name = parameter.name
    value = f"{statics}.one({name}, {name!r})" if any(a.name == name for a in static) else name
    match parameter.kind:
        case Parameter.VAR_POSITIONAL:
            reached = any(a.position is not None and a.position >= index for a in static)
            return f"*{statics}.positional({name}, {index})" if reached else f"*{name}"
        case Parameter.VAR_KEYWORD:
            return f"**{statics}.keywords({name})" if any(a.keyword for a in static) else f"**{name}"
        case Parameter.KEYWORD_ONLY:
            return f"{name}={value}"
    return value


@functools.lru_cache(maxsize=1024)
def _compiled(header: str, passed: str, names: tuple[str, ...]) -> types.CodeType:
    """The text holds identifiers that `inspect.Parameter` has checked, and nothing else of the user's."""
    call, _, finish, pending, recover, result, error = names
    text = f"""
def factory({", ".join(names[:5])}):
    def forward{header}:
        try:
            {result} = {call}({passed})
            return {finish}({result}) if {pending} else {result}
        except Exception as {error}:
            {recover}({error})
            raise
    return forward
"""
    space: dict[str, Any] = {}
    exec(compile(text, _FILE, "exec"), space)
    return space["factory"](None, None, None, None, None).__code__


_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "<call>")  # in our folder, for frames.hide()


def _fresh(wish: str, taken: set[str]) -> str:
    return wish if wish not in taken else _fresh(wish + "_", taken)


def _placeholder(parameter: Parameter) -> Any:
    return parameter.default if parameter.default is Parameter.empty else None


def _give_defaults(made: types.FunctionType, parameters: list[Parameter], static: set[str]) -> None:
    defaults = [(p, _default(p, static)) for p in parameters if p.default is not Parameter.empty]
    made.__defaults__ = tuple(value for p, value in defaults if p.kind is not Parameter.KEYWORD_ONLY) or None
    made.__kwdefaults__ = {p.name: value for p, value in defaults if p.kind is Parameter.KEYWORD_ONLY}


def _default(parameter: Parameter, static: set[str]) -> Any:
    return parameter.default if parameter.default is None or parameter.name in static else LEFT_OUT


def name_of(function: Any) -> str:
    """A callable's name as messages give it: `solve`, `Model.step`, the class of a callable object."""
    if isinstance(function, functools.partial):
        return name_of(function.func)
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return name.rpartition("<locals>.")[2]
