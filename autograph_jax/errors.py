"""Every error class of the package, and how a message is laid out.

A message says what happened, shows the user's line with a caret, and gives one way to write it instead:

    `v` changes its shape in this loop  [AG0201]
      model.py:15, in Model.step
        while err > tol:
              ^^^^^^^^^
      `v` enters as float32[3] and leaves as float32[6].
      help: give `v` its final shape before the loop and write into it.

Each class also inherits the Python error that a user would catch.
"""

from __future__ import annotations

import ast
import dataclasses
import dis
import linecache
import os
import sys
import traceback
import types
from collections.abc import Sequence
from typing import Any, NoReturn

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_FOLDERS = ("operators", "loops", "runtime", "syntax", "converters", "porting", "explaining")
_ROOMS = tuple(os.path.join(_PACKAGE, room) + os.sep for room in _FOLDERS)


@dataclasses.dataclass(frozen=True)
class Location:
    """A place in the user's source: file, line (from 1), columns in characters (from 0), and the function's name."""

    filename: str
    line: int
    column: int | None = None
    end_column: int | None = None
    function: str | None = None

    def lines(self) -> list[str]:
        """The place as the lines of a message: file and line, the user's text, carets under it."""
        where = f"{self.filename}:{self.line}" + (f", in {self.function}" if self.function else "")
        text = _text_of(self.filename, self.line).rstrip("\n")
        if not text.strip():
            return [f"  {where}"]
        indent = len(text) - len(text.lstrip())
        shown = [f"  {where}", f"    {text.strip()}"]
        if self.column is not None:
            end = self.end_column if self.end_column and self.end_column > self.column else len(text)
            shown.append("    " + " " * (self.column - indent) + "^" * (end - self.column))
        return shown


class AutographError(Exception):
    """Base of every error that the package raises on its own account.

    `code` is stable and has a page in the documentation; `location` is the user's place, or None.
    """

    code = "AG0000"

    def __init__(
        self, what: str, *, location: Location | None = None, details: Sequence[str] = (), help: str | None = None
    ) -> None:
        self.what, self.location, self.details, self.help = what, location, tuple(details), help
        lines = [f"{what}  [{self.code}]"]
        lines += location.lines() if location else []
        lines += [f"  {detail}" for detail in details]
        lines += [f"  help: {help}"] if help else []
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.what, self.location, self.details, self.help)

    def __str__(self) -> str:
        return str(self.args[0])


def _rebuild(
    kind: type[AutographError], what: str, location: Location | None, details: tuple[str, ...], help: str | None
) -> AutographError:
    return kind(what, location=location, details=details, help=help)


class NotAFunctionError(AutographError, TypeError):
    """`autograph` got something that is neither a function nor a class nor a callable object."""

    code = "AG0001"


class SourceError(AutographError, OSError):
    """The source of a function cannot be read (stdin, `python -c` on 3.11, `exec`, builtins, a file changed since)."""

    code = "AG0002"


class UnconvertibleError(AutographError, TypeError):
    """A function that has to stay as it is (async, `eval`, `exec`) was to be converted strictly."""

    code = "AG0101"


class ShapeError(AutographError, TypeError):
    """A value has one shape on one path, or before a loop's turn, and another shape on the other, or after it."""

    code = "AG0201"


class StructureError(AutographError, TypeError):
    """Two paths leave values of different structure (a tuple and an array, dicts of different keys)."""

    code = "AG0202"
    # The list that is longer on one path, how long it is there, and whether its elements are alike.
    grown: tuple[object, int, bool] | None = None


class UnboundError(AutographError, UnboundLocalError):
    """A variable is read that one path leaves without a value."""

    code = "AG0203"


class PredicateError(AutographError, ValueError):
    """A condition is an array of more than one element, or no number at all."""

    code = "AG0204"


class ChoiceError(AutographError, TypeError):
    """A value that is one of several Python values, decided by traced data, was used where one of them is needed."""

    code = "AG0205"


class StagingError(AutographError, TypeError):
    """A loop or branch has to be staged and cannot be."""

    code = "AG0206"


class AliasError(AutographError, ValueError):
    """An in-place write would have to show through another name of the same array."""

    code = "AG0301"


class ImmutableError(AutographError, TypeError):
    """An in-place write into an array that nothing can take a new one for: a JAX array in a tuple, NumPy's `x.fill(0)`."""

    code = "AG0302"


class ArgumentError(AutographError, ValueError):
    """`static_argnums`, `donate_argnames` and the like name an argument that is not there, or name it twice."""

    code = "AG0401"


class RuleError(AutographError, TypeError):
    """A derivative rule is missing, returns something of another form, or would lose the derivative by a captured value."""

    code = "AG0402"


class CaptureError(AutographError, RuntimeError):
    """With `ag.jit(captures="error")`, a value that the function closes over has changed since it was compiled."""

    code = "AG0403"


class EscapedTracerError(AutographError, RuntimeError):
    """A value that a function computed while JAX traced it was kept outside of the function, and used when that was over."""

    code = "AG0404"


class CollectiveError(AutographError, ValueError):
    """A collective (`lax.psum`, ...) in a branch or loop that not all devices run alike: it would wait for ever."""

    code = "AG0405"


class PortingError(AutographError, TypeError):
    """Ported NumPy code needs what JAX has not: a function, or a shape that depends on data."""

    code = "AG0501"
    lacks: object = None  # the function that has no counterpart on traced values, where it is that


_CLASSES = [AutographError, *AutographError.__subclasses__()]
NAMES = tuple(_class.__name__ for _class in _CLASSES)
for _class in _CLASSES:
    _class.__module__ = "autograph_jax"  # what a traceback prints before the name


def user_location() -> Location | None:
    """Where the user's code is now: the innermost frame that is neither ours nor JAX's."""
    frame = _user_frame()
    return frame_location(frame) if frame is not None else None


def user_line() -> Location | None:
    """The same without columns, which take longer to find."""
    frame = _user_frame()
    return Location(frame.f_code.co_filename, frame.f_lineno, function=frame.f_code.co_qualname) if frame is not None else None


def _user_frame() -> types.FrameType | None:
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and not is_user_frame(frame):
        frame = frame.f_back
    return frame


def line_of(error: BaseException | type[BaseException]) -> Location | None:
    """Where the user's code has raised an exception; None before it has."""
    found = None
    for frame, line in traceback.walk_tb(None if isinstance(error, type) else error.__traceback__):
        if is_user_frame(frame):
            found = Location(frame.f_code.co_filename, line, function=frame.f_code.co_qualname)
    return found


def is_raised_by_user(error: BaseException) -> bool:
    """Has the user's own code raised this, and not something that it calls in here or in JAX?"""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return is_user_frame(frame)


def is_raised_by_a_builtin(error: BaseException) -> bool:
    """Has a function in C raised this, or one of NumPy's, and not a `raise` of somebody else's?"""
    last = error.__traceback__
    assert last is not None  # it has been caught
    while last.tb_next is not None:
        last = last.tb_next
    code = last.tb_frame.f_code.co_code
    is_numpys = (last.tb_frame.f_globals.get("__name__") or "").startswith("numpy.")
    return is_numpys or dis.opname[code[last.tb_lasti]] != "RAISE_VARARGS"


_FOR_ITEMS = ("get_item", "changed", "del_item", "MutableArray.__getitem__", "MutableArray.__setitem__")


def is_raised_for_item(error: BaseException) -> bool:
    """Has a list, dict or array raised this where one of our operators comes to its items for the user's code, `d[k]`?"""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return (frame.f_globals.get("__package__") or "").startswith("autograph_jax") and frame.f_code.co_qualname in _FOR_ITEMS


def raise_at(error: BaseException, location: Location | None) -> NoReturn:
    """Raise an error at run time: its traceback ends in the line that asks for it, as if Python had run that."""
    if location is None:
        raise error
    tree = ast.parse("raise error")
    text = _text_of(location.filename, location.line).rstrip().encode()
    start, end = len(text) - len(text.lstrip()), len(text)  # all of the line is marked, so that Python marks nothing
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno = node.end_lineno = location.line
            node.col_offset, node.end_col_offset = start, end
    code = compile(tree, location.filename, "exec")
    name = location.function or "<module>"
    exec(code.replace(co_name=name.rpartition(".")[2], co_qualname=name), {"error": error})
    raise AssertionError


def is_user_frame(frame: types.FrameType) -> bool:
    filename = frame.f_code.co_filename
    module = frame.f_globals.get("__name__", "")
    library = module.partition(".")[0] in ("jax", "jaxlib", "numpy", "contextlib", "functools", "importlib")
    return not (filename.startswith(_ROOMS) or library or filename.startswith("<frozen"))


def is_jax_frame(frame: types.FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] in ("jax", "jaxlib")


def frame_location(frame: types.FrameType) -> Location:
    """The place that a frame is at, with the columns of the expression that it is evaluating."""
    code = frame.f_code
    line, column, end = frame.f_lineno, None, None
    positions = list(code.co_positions())
    index = frame.f_lasti // 2
    if 0 <= index < len(positions):
        first, last, start_column, end_column = positions[index]
        if first == line and start_column is not None:
            column = _characters(code.co_filename, line, start_column)
            end = _characters(code.co_filename, line, end_column) if last == first and end_column is not None else None
    return Location(code.co_filename, line, column, end, code.co_qualname)


def node_location(filename: str, node: Any, function: str) -> Location:
    """The place of a node of a syntax tree; the carets end with its first line."""
    column = _characters(filename, node.lineno, node.col_offset)
    whole = node.end_lineno == node.lineno
    end = _characters(filename, node.lineno, node.end_col_offset) if whole else None
    return Location(filename, node.lineno, column, end, function)


def _characters(filename: str, line: int, utf8_offset: int) -> int:
    """CPython counts columns in UTF-8 bytes, a caret in characters: `if ä > x:`."""
    return len(_text_of(filename, line).encode()[:utf8_offset].decode(errors="replace"))


def _text_of(filename: str, line: int) -> str:
    """A line of a file; empty where it is not to be had, whatever a loader of the user's raises."""
    try:
        return linecache.getline(filename, line)
    except Exception:
        return ""
