"""One spelling of every call: generated functions that turn any spelling into the canonical one.

forwarder(f, f, g, ...)   ->   def f(a, /, b=LEFT_OUT, *rest, c, **more): return g(a, b, rest, c, more)
"""

from __future__ import annotations

import functools
import linecache
import os
import types
from collections.abc import Callable, Collection, Sequence
from inspect import Parameter, Signature
from typing import Any, NamedTuple

import jax

from autograph_jax.operators.effects import checks
from autograph_jax.runtime.arguments import Argument
from autograph_jax.runtime.escapes import explained
from autograph_jax.runtime.signatures import POSITIONAL, called_signature, name_of


class LeftOut(NamedTuple):
    """Passed on for an argument that the caller left out. JAX sees a pytree without leaves, its fastest kind."""

    def __repr__(self) -> str:
        return "<default>"


LEFT_OUT = LeftOut()


class Again(NamedTuple):
    """Where `call` has refused arguments (a plain TypeError or ValueError) that pass `test`, `function` is called with them."""

    test: Callable[..., bool]
    function: Callable[..., Any]

    def tried(self, error: Exception, *passed: Any) -> tuple[Any] | None:
        """Raise what the user is to see of an error; what `function` gives, if it is to be called; None: raise the error."""
        recover(error)
        return (self.function(*passed),) if type(error) in (TypeError, ValueError) and self.test(*passed) else None


def forwarder(
    function: Any,
    target: Any,
    call: Any,
    *,
    picks: Sequence[Argument] = (),
    static: Any = None,
    filled: Collection[str] = (),
    finish: types.CellType | None = None,
    again: Again | None = None,
    trims: bool = False,
) -> Any:
    """A function called as `target` is, which passes all its parameters to `call` by position, in their order.

    Where `call` is a cell, they are passed to what it holds then; results go through what `finish` holds, if that is not None.
    `*rest` is passed as a tuple, `**more` as a dict; `picks`, arguments inside these, are taken out and follow at the end. A
    default that the caller leaves out is filled in where it is None, static, or named in `filled`; for any other LEFT_OUT is
    passed, as JAX takes a left-out default as a constant: `def f(x, axis=0): return x.sum(axis)`. If `trims`, LEFT_OUT is not
    passed where nothing follows it. `static` is the `Statics` that prepares the values of static arguments. An exception that a
    check has raised at run time is raised as it was.

    Name, docstring and `__wrapped__` are those of `function`, of which `target` is the converted twin; a bound method gives a
    bound method. A wrong call raises the TypeError of a call of `target`.
    """
    method = _as_method(target)
    parameters = list(called_signature(method.__func__ if method else target).parameters.values())
    statics = {argument.name for argument in static.arguments} if static is not None else set()
    bound = 1 if method else 0
    trimmed = _trailing(parameters[bound:], {*statics, *filled}) if trims and not picks else []
    text = _Text(parameters, bound, picks, statics, trimmed, finished=finish is not None, again=again is not None)
    values = {"call": call, "split": _splitter(parameters[text.bound :], picks), "finish": finish, "left_out": LEFT_OUT}
    values |= {"recover": recover} if again is None else {"again": again.tried}
    values |= {"one": static.one} if static is not None else {}
    code = text.code()
    cells = tuple(_cell(values[text.wishes[name]]) for name in code.co_freevars)
    like = function if method is None else getattr(function, "__func__", None) or type(function).__call__
    made = types.FunctionType(code, getattr(like, "__globals__", globals()), closure=cells)
    _give_defaults(made, parameters, {*statics, *filled})
    updated = functools.WRAPPER_UPDATES if isinstance(like, types.FunctionType | types.MethodType) else ()
    made.__name__ = made.__qualname__ = name_of(function)
    functools.update_wrapper(made, like, updated=updated)
    return types.MethodType(made, method.__self__) if method else made


def _cell(value: Any) -> types.CellType:
    return value if isinstance(value, types.CellType) else types.CellType(value)


def _as_method(target: Any) -> types.MethodType | None:
    """The bound method that a method or a callable object is; a wrong call counts `self` in its message."""
    method = target
    if not isinstance(target, types.FunctionType | types.MethodType) and callable(target):
        call = getattr(type(target), "__call__", None)  # noqa: B004 - the function is wanted
        method = types.MethodType(call, target) if isinstance(call, types.FunctionType) else None
    if not isinstance(method, types.MethodType):
        return None
    parameters = list(called_signature(method.__func__).parameters.values())
    return method if parameters and parameters[0].kind in POSITIONAL else None  # None: def method(*args)


def recover(error: Exception) -> None:
    """Raise the user's exception in place of JAX's, which says that a callback raised it; ours for a tracer that is over."""
    if isinstance(error, jax.errors.UnexpectedTracerError):
        raise explained(error) from error
    if isinstance(error, jax.errors.JaxRuntimeError) and (raised := checks.take_raised()) is not None:
        raise raised.with_traceback(_innermost(raised.__traceback__)) from None
    checks.refuse_if_lost(error)


def _innermost(entry: types.TracebackType | None) -> types.TracebackType | None:
    """The user's line; around it stands how JAX calls Python."""
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    return entry


def _give_defaults(made: types.FunctionType, parameters: list[Parameter], filled: Collection[str]) -> None:
    defaults = [(p, _default(p, filled)) for p in parameters if p.default is not Parameter.empty]
    made.__defaults__ = tuple(value for p, value in defaults if p.kind is not Parameter.KEYWORD_ONLY) or None
    made.__kwdefaults__ = {p.name: value for p, value in defaults if p.kind is Parameter.KEYWORD_ONLY}


def _trailing(parameters: list[Parameter], filled: Collection[str]) -> list[str]:
    """The last parameters that are LEFT_OUT where a call leaves them out."""
    names: list[str] = []
    for parameter in reversed(parameters):
        if parameter.default is Parameter.empty or _default(parameter, filled) is not LEFT_OUT:
            break
        names.insert(0, parameter.name)
    return names


def _default(parameter: Parameter, filled: Collection[str]) -> Any:
    return parameter.default if parameter.default is None or parameter.name in filled else LEFT_OUT


# ------------------------------------------------------------------ what `*rest` and `**more` hold of picked arguments


class Place(NamedTuple):
    """Where an argument may be that has no parameter of its own: at an index in `*rest`, under a key in `**more`."""

    index: int | None
    key: str | None


def places(parameters: Sequence[Parameter], picks: Sequence[Argument]) -> list[Place]:
    first = sum(p.kind in POSITIONAL for p in parameters)
    return [Place(None if a.position is None else a.position - first, a.keyword) for a in picks]


def _splitter(parameters: Sequence[Parameter], picks: Sequence[Argument]) -> Callable[..., tuple[Any, ...]]:
    wanted = places(parameters, picks)

    def split(rest: tuple[Any, ...], more: dict[str, Any]) -> tuple[Any, ...]:
        """The two without the picked arguments, and these. In `rest`, LEFT_OUT keeps the place of one."""
        remaining, picked = list(rest), []
        for index, key in wanted:
            if index is not None and index < len(rest):
                picked.append(rest[index])
                remaining[index] = LEFT_OUT
            else:
                picked.append(more.pop(key, LEFT_OUT) if key is not None else LEFT_OUT)
        return tuple(remaining), more, *picked

    return split


# ------------------------------------------------------------------ the text of a forwarding function


class _Text:
    """The text for these parameters, the first `bound` of which are not passed on."""

    def __init__(
        self,
        parameters: list[Parameter],
        bound: int,
        picks: Sequence[Argument],
        static: Collection[str],
        trimmed: list[str],
        *,
        finished: bool,
        again: bool,
    ) -> None:
        self.parameters, self.bound, self.picks, self.static, self.trimmed = parameters, bound, picks, static, trimmed
        self.finished, self.again = finished, again
        self.taken = {p.name for p in parameters}
        self.wishes = {self._fresh(wish): wish for wish in _WISHES}
        self.name = {wish: name for name, wish in self.wishes.items()}
        self.result, self.error, self.rest, self.more = map(self._fresh, ("result", "error", "rest", "more"))
        self.picked = [self._fresh(f"pick_{number}") for number in range(len(picks))]

    def code(self) -> types.CodeType:
        plain = [p.replace(annotation=Parameter.empty, default=_placeholder(p)) for p in self.parameters]
        names = self.name
        lines = "\n            ".join(self._lines())
        if self.again:
            handler = f"{self.result} = {names['again']}({', '.join([self.error, self._all_passed()])})\n            "
            handler += f"if {self.result} is not None: return {self.result}[0]"
        else:
            handler = f"{names['recover']}({self.error})"
        return _compiled(str(Signature(plain)), lines, handler, self.error, *names.values())

    def _lines(self) -> list[str]:
        many = {p.kind: p.name for p in self.parameters}
        rest, more = many.get(Parameter.VAR_POSITIONAL), many.get(Parameter.VAR_KEYWORD)
        lines = []
        if self.picks:
            targets = ", ".join([rest or self.rest, more or self.more, *self.picked])
            lines.append(f"{targets} = {self.name['split']}({rest or '()'}, {more or '{}'})")
        lines += self._calls(f"{self.result} = " if self.finished else "return ")
        if self.finished:
            finish = self.name["finish"]
            lines.append(f"return {self.result} if {finish} is None else {finish}({self.result})")
        return lines

    def _calls(self, target: str) -> list[str]:
        """`if c is left_out: return call(a, b)`, `else: return call(a, b, c)`."""
        lines = []
        for first in range(len(self.trimmed)):
            test = " and ".join(f"{name} is {self.name['left_out']}" for name in self.trimmed[first:])
            call = f"{self.name['call']}({self._all_passed(without=len(self.trimmed) - first)})"
            lines.append(f"{'elif' if lines else 'if'} {test}: {target}{call}")
        call = f"{target}{self.name['call']}({self._all_passed()})"
        return [*lines, f"else: {call}" if lines else call]

    def _all_passed(self, without: int = 0) -> str:
        passed = [self._passed(p.name, p.name) for p in self.parameters[self.bound :]]
        passed += [self._passed(name, argument.name) for name, argument in zip(self.picked, self.picks, strict=True)]
        return ", ".join(passed[: len(passed) - without])

    def _passed(self, variable: str, name: str) -> str:
        """How one argument is passed on: `n`; if it is static, `one(n, 'n')`."""
        return f"{self.name['one']}({variable}, {name!r})" if name in self.static else variable

    def _fresh(self, wish: str) -> str:
        while wish in self.taken:
            wish += "_"
        return wish


_WISHES = ("call", "split", "recover", "one", "finish", "again", "left_out")


@functools.lru_cache(maxsize=1024)
def _compiled(header: str, lines: str, handler: str, error: str, *names: str) -> types.CodeType:
    """The text holds identifiers that `inspect.Parameter` has checked, and nothing else of the user's."""
    text = f"""
def factory({", ".join(names)}):
    def forward{header}:
        try:
            {lines}
        except Exception as {error}:
            {handler}
            raise
    return forward
"""
    space: dict[str, Any] = {}
    exec(compile(text, _FILE, "exec"), space)
    return space["factory"](*[None] * len(names)).__code__


_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "<call>")  # in our folder, for frames.hide()
# No text: its globals are the user's, from which tracebacks would take line 5 of the user's file.
linecache.cache[_FILE] = 0, None, [], _FILE


def _placeholder(parameter: Parameter) -> Any:
    return parameter.default if parameter.default is Parameter.empty else None
