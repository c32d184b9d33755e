"""Would a `with` around it end what is raised where traced data decides, or do something else because of that?

`with suppress(ValueError)`, and an `__exit__` that rolls back where there is an error: Python tells it of the error. In a
compiled program it would run as if there was none.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import itertools
import sys
import textwrap
import time
import types
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from autograph_jax.errors import StagingError, frame_location, is_jax_frame, user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.effects.failures import Error
from autograph_jax.operators.tracing.bytecode import instructions
from autograph_jax.operators.tracing.frame_variables import frame_variables

Running = tuple[types.FrameType, Any]  # a converted function, and the span of it that `hooks.read_later` gives

_HOLDING_OTHERS = (contextlib.ExitStack, contextlib.AsyncExitStack)
_FROM_GENERATOR = type(contextlib.contextmanager(lambda: iter(()))())


def refuse_if_told(error: Error, attempt: Any = None, running: Sequence[Running] | None = None) -> None:
    """The exception leaves the `with` statements around, up to those around the attempt that handles it."""
    kind = error if isinstance(error, type) else type(error)
    running = functions_of_the_program() if running is None else running
    for number, (frame, later) in enumerate(running):
        variables = _variables([frame for frame, _ in running[number:]]) if later.managers else {}
        for manager in later.managers:
            if any(variables.get(name) is attempt for name in manager.inside) and attempt is not None:
                continue
            if _is_told(_given(manager, frame.f_globals, variables), kind, is_handled=attempt is not None):
                raise _told(kind, frame)
        if attempt is not None and frame is attempt.frame:
            return


def refuse_if_redirected(stream: Any) -> None:
    """What is printed at run time would not go to where a `with` around has it go while the code is traced."""
    kinds = {None: _REDIRECTING, sys.stdout: _REDIRECTING[:1], sys.stderr: _REDIRECTING[1:]}.get(stream, ())
    for frame, manager in _around_here():
        by = _class_of(_given(manager, frame.f_globals, frame_variables(frame)))
        if by in kinds:
            raise StagingError(
                "what is printed at run time is redirected where the code is traced",
                location=user_location(),
                details=[f"By the `with` in {frame_location(frame).function}, which is over when the program runs."],
                help="print into the file, `print(x, file=f)`; or return what is to be printed",
            )


def is_ignored(kind: type[Warning]) -> bool:
    """Does a `with catch_warnings` around ignore such warnings? An error where it has them be one, or be put into a list."""
    for frame, manager in _around_here():
        if _class_of(_given(manager, frame.f_globals, frame_variables(frame))) is not warnings.catch_warnings:
            continue
        action, _, ours, *_ = warnings.filters[0] if warnings.filters else ("default", None, Warning)
        if action == "error" or "record" in manager.keywords or "action" in manager.keywords:
            raise StagingError(
                "a warning that is given at run time is recorded, or made an error, where the code is traced",
                location=user_location(),
                details=[f"By the `with` in {frame_location(frame).function}, which is over when the program runs."],
                help="return whether there is something to warn of, and warn outside",
            )
        return action == "ignore" and issubclass(kind, ours)
    return False


_REDIRECTING = (contextlib.redirect_stdout, contextlib.redirect_stderr)


def _around_here() -> list[tuple[types.FrameType, Any]]:
    return [(frame, manager) for frame, later in functions_of_the_program() for manager in later.managers]


def _class_of(given: Any) -> Any:
    return given.by if isinstance(given, _Made) else type(given)


def functions_of_the_program() -> list[Running]:
    """The converted functions that run between here and where JAX began to trace, each with what is known of its statement."""
    waiting: list[types.FrameType] = []
    found: list[types.FrameType] = []
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        waiting.append(frame)
        if is_jax_frame(frame):
            found += waiting
            waiting.clear()
        frame = frame.f_back
    return [(frame, later) for frame in found if (later := hooks.read_later(frame)) is not None]


def _variables(frames: Sequence[types.FrameType]) -> dict[str, Any]:
    """The variables of the first of these frames; of a block, those of the blocks and of the function around it, too."""
    around = next((number for number, frame in enumerate(frames) if not hooks.is_block(frame.f_code)), 0)
    known: dict[str, Any] = {}
    for frame in reversed(frames[: around + 1]):
        known |= frame_variables(frame)
    return known


def _given(manager: Any, namespace: dict[str, Any], variables: dict[str, Any]) -> Any:
    """The manager itself, or the function that has made it, with its arguments; None where the text cannot tell."""
    known = variables.get(manager.variable)
    if known is not None and not isinstance(known, _FROM_GENERATOR):  # which forgets its function when it is entered
        return known
    try:
        made_by = eval(manager.function or manager.value, namespace, variables)
        if not manager.function:
            return made_by
        if made_by is contextlib.suppress:
            return contextlib.suppress(*(eval(argument, namespace, variables) for argument in manager.arguments))
        return _Made(made_by)
    except Exception:  # a name that has no value by now
        return None


class _Made:
    """What a call of this has given."""

    def __init__(self, by: Any) -> None:
        self.by = by


def _is_told(manager: Any, kind: type[BaseException], *, is_handled: bool) -> bool:
    """May it end such an exception? Where a handler goes on after it: may it do anything else than without one?"""
    if manager is None:
        return True
    if isinstance(manager, contextlib.suppress):
        return issubclass(kind, getattr(manager, "_exceptions", BaseException))
    if isinstance(manager, _FROM_GENERATOR):
        manager = _Made(getattr(manager, "func", None))
    by = manager.by if isinstance(manager, _Made) else type(manager)
    if isinstance(by, type):
        return _class_is_told(by, is_handled)
    return any(_class_is_told(p, is_handled) if isinstance(p, type) else _has_handler(p) for p in _named_by(by))


def _class_is_told(by: type, is_handled: bool) -> bool:
    if issubclass(by, _HOLDING_OTHERS):
        return True
    ending = inspect.getattr_static(by, "__exit__", None)
    if not isinstance(ending, types.FunctionType):
        return False
    return _may_end(ending) or _reads_error(ending) and (is_handled or _acts(ending))


def _named_by(function: Any) -> Iterator[Any]:
    """A user's function, the functions and classes that it names, and what these functions name: one may be the manager."""
    known, waiting = set[int](), [inspect.unwrap(function)]
    while waiting:
        part = waiting.pop()
        part = part.__func__ if isinstance(part, types.MethodType) else part
        part = inspect.unwrap(part) if isinstance(part, types.FunctionType) else part
        if id(part) in known or not isinstance(part, type | types.FunctionType):
            continue
        known.add(id(part))
        yield part
        if isinstance(part, types.FunctionType) and not _is_of_library(part):
            waiting += _named(part)


def _is_of_library(function: types.FunctionType) -> bool:
    root = str(function.__module__).partition(".")[0]
    return root in sys.stdlib_module_names and root != "__main__" or "-packages" in function.__code__.co_filename


def _named(function: types.FunctionType) -> list[Any]:
    """What the names in a function stand for, also `module.name`."""
    variables = inspect.getclosurevars(function)
    values = [*variables.nonlocals.values(), *variables.globals.values()]
    modules = [vars(value) for value in values if isinstance(value, types.ModuleType)]
    return values + [module[name] for module in modules for name in function.__code__.co_names if name in module]


def _has_handler(generator: Any) -> bool:
    """Does a generator of `contextlib.contextmanager` catch what is raised at its `yield`? A `finally` runs anyway."""
    if not isinstance(generator, types.FunctionType):
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(generator)))
    except (OSError, TypeError, SyntaxError):
        return _catches(generator)
    return any(_yields_guarded(node) for node in ast.walk(tree) if isinstance(node, ast.Try | ast.TryStar))


def _yields_guarded(guard: ast.Try | ast.TryStar) -> bool:
    """Not where the handlers stand in a `finally`, say, and guard what is done there."""
    inside = (node for statement in guard.body for node in ast.walk(statement))
    return bool(guard.handlers) and any(isinstance(node, ast.Yield | ast.YieldFrom) for node in inside)


def _catches(generator: types.FunctionType) -> bool:
    """Does it catch anything at all, as far as its bytecode tells?"""
    return any(
        one.opname == "CHECK_EXC_MATCH" or one.opname == "PUSH_EXC_INFO" and after.opname == "POP_TOP"
        for one, after in itertools.pairwise(instructions(generator.__code__))
    )


def _may_end(ending: types.FunctionType) -> bool:
    """May this `__exit__` give anything but None and False?"""
    steps = [one for one in instructions(ending.__code__) if one.opname not in ("NOP", "CACHE")]
    returned = [before for before, one in itertools.pairwise(steps) if one.opname == "RETURN_VALUE"]
    returned += [one for one in steps if one.opname == "RETURN_CONST"]
    return any(one.opname not in ("LOAD_CONST", "RETURN_CONST") or one.argval not in (None, False) for one in returned)


def _reads_error(ending: types.FunctionType) -> bool:
    """Does it read what it is told, its arguments?"""
    code = ending.__code__
    told = set(code.co_varnames[1 : code.co_argcount + bool(code.co_flags & inspect.CO_VARARGS)])
    loads = [one.argval for one in instructions(code) if one.opname.startswith("LOAD")]
    names = (name for load in loads for name in (load if isinstance(load, tuple) else (load,)))
    return any(isinstance(name, str) and name in told for name in names)


def _acts(ending: types.FunctionType) -> bool:
    """May a user's `__exit__` raise, or call what somebody sees? One of a library's runs while the code is traced."""
    of_user = vars(ending).get("__autograph_jax_original__")
    if of_user is None:
        return False
    original = of_user[1]
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(original)))
    except (OSError, TypeError, SyntaxError):
        return True
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    raises = any(isinstance(node, ast.Raise | ast.Assert) for node in ast.walk(tree))
    return raises or not all(_is_quiet(call, original.__globals__) for call in calls)


_QUIET = frozenset({"isinstance", "issubclass", "type", "len", "bool", "getattr", "hasattr", "setattr", "str", "repr"})


def _is_quiet(function: ast.expr, namespace: dict[str, Any]) -> bool:
    """Is it one of Python's functions that only look, or the clock?"""
    match function:
        case ast.Name(id=name):
            return name in _QUIET and name not in namespace
        case ast.Attribute(value=ast.Name(id=name)):
            return namespace.get(name) is time
    return False


def _told(kind: type[BaseException], frame: types.FrameType) -> StagingError:
    place = frame_location(frame)
    return StagingError(
        f"{kind.__name__} is raised where traced data decides, in a `with` that is told of exceptions",
        location=user_location(),
        details=[f"{place.function} ({place.filename}:{place.line}) is in it, and what it does then no staged program can do."],
        help="write `try` and `except`, which can be staged; or return a flag instead of the exception",
    )
