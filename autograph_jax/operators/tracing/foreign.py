"""Objects of Python's standard library that keep what they hold where nobody sees it: files, queues, hashes, locks, cursors.

Their classes are in C, as a rule, so that a block that has changed one cannot be rolled back. Where a block would change one
that is older than itself it is refused, unless the method is known to read only. Where a loop may run in Python as well, the
refusal makes it do so, before anything is changed.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.tracing.places import CHANGING

# Objects of these modules are values, or known by other means: containers, iterators, functions.
_KNOWN = frozenset("builtins itertools collections _collections operator _operator functools types typing abc enum".split())
# Functions of these do nothing to what they are handed, or look at the frame that calls them.
_LOOKING = _KNOWN | frozenset(
    """sys math inspect traceback logging warnings contextlib copy weakref _weakref gc unittest pdb dataclasses
    asyncio threading _thread os posix nt time""".split()
)
# By the name of a class, the methods that change nothing; all of them where there is None.
_READING: dict[str, frozenset[str] | None] = {
    "_IOBase": frozenset("fileno flush getvalue isatty readable seekable tell writable".split()),
    "Element": frozenset("find findall findtext get items iter iterfind itertext keys".split()),
    "HASH": frozenset("copy digest hexdigest".split()),
    "Compress": frozenset(("copy",)),
    "Decompress": frozenset(("copy",)),
    "mmap": frozenset("find rfind size tell".split()),
    "SimpleQueue": frozenset("empty qsize".split()),
    "Event": frozenset(("is_set",)),
    "lock": frozenset(("locked",)),
    "Thread": frozenset(("is_alive",)),
    "Connection": frozenset(("cursor",)),
    **dict.fromkeys(("Match", "Struct", "DirEntry", "Context")),
}
_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")


def check_method(owner: Any, name: str) -> None:
    """Refuse a method that may change an object which is older than the block."""
    if not state.traces() or name.startswith("__"):
        return
    if type(owner) is set:  # whose rollback gives one with the same elements, in another order
        changes = name == "pop" and id(owner) in state.traces()[-1].older
    elif isinstance(owner, BaseException):
        changes = name == "add_note" and state.is_older(owner)
    else:
        changes = _is_hidden(type(owner)) and not _only_reads(type(owner), name) and state.is_older(owner)
    if changes:
        raise _refusal(owner, f"its method `{name}` is called")


def check_attribute(target: Any, name: str) -> None:
    """Refuse to write what an object in C keeps behind an attribute: `cell.cell_contents`, `error.args`, `f.__defaults__`."""
    if not state.traces() or isinstance(target, type):
        return
    if name == "__class__" and state.is_older(target):  # `self.__class__ = Closed`
        raise _refusal(target, "it is given another class")
    if name == "__dict__" and any(id(target) in trace.older for trace in state.traces()):
        raise _refusal(target, "its `__dict__` is replaced")
    behind = reach.member(type(target), name)
    if not (isinstance(behind, types.GetSetDescriptorType) or _root(type(behind)) == "_ctypes"):
        return
    of_python = _root(getattr(behind, "__objclass__", type(target))) in sys.stdlib_module_names or _is_hidden(type(target))
    if of_python and (name in _OF_FUNCTIONS or not name.startswith("__")) and state.is_older(target):
        raise _refusal(target, f"its attribute `{name}` is written")


def check_item(target: Any) -> None:
    """Refuse to write an item of such an object: of an array of ctypes, of a file in memory."""
    if state.traces() and _is_hidden(type(target)) and state.is_older(target):
        raise _refusal(target, "an item of it is written")


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the standard library, which may not change an object that is older; what it makes is the block's own."""
    if not state.traces() or not _may_change(function):
        return function

    def apply(*arguments: Any, **keywords: Any) -> Any:
        hidden = [value for value in (*arguments, *keywords.values()) if _is_hidden(type(value))]
        for value in filter(state.is_older, hidden):
            raise _refusal(value, f"`{function.__name__}` gets it")
        result = function(*arguments, **keywords)
        # What comes of objects that are new is new, too: `ET.SubElement(new, "b")`.
        return state.made(result) if hidden or sys.getrefcount(result) == _OF_A_NEW_ONE else result

    return apply


def _may_change(function: Any) -> bool:
    module = function.__self__ if isinstance(function, types.BuiltinFunctionType) else None
    if module is not None and not isinstance(module, types.ModuleType):
        return _is_hidden(type(module))  # a method, which may give a new object
    root = (function.__module__ or "").partition(".")[0]
    return root in sys.stdlib_module_names and root not in _LOOKING


def _references() -> int:
    result = object()
    return sys.getrefcount(result)


_OF_A_NEW_ONE = _references()


@functools.lru_cache(maxsize=4096)
def _is_hidden(kind: type) -> bool:
    """Do objects of this class keep in C what changes? Such are told apart by which they are, not by what they hold."""
    if issubclass(kind, (*CHANGING, type, types.ModuleType, BaseException)):
        return False
    if any(_root(base) == "_ctypes" for base in kind.__mro__):  # which forbids to ask for a hash in a way of its own
        return True
    return kind.__hash__ in (object.__hash__, None) and any(_is_of_library(base) for base in kind.__mro__)


def _is_of_library(kind: type) -> bool:
    root = _root(kind)
    if root == "threading":
        return True
    return root in sys.stdlib_module_names and root not in _KNOWN and reach.is_in_c(kind)


def _only_reads(kind: type, name: str) -> bool:
    known = next((_READING[base.__name__] for base in kind.__mro__ if base.__name__ in _READING), frozenset[str]())
    return known is None or name in known


def _root(kind: type) -> str:
    return str(kind.__module__).partition(".")[0]


def _refusal(owner: Any, what: str) -> StagingError:
    return StagingError(
        f"an object of class {type(owner).__name__} may change in a block that traced data decides about: {what}",
        location=user_location(),
        details=["The block is traced once, on every path, and nobody can take the change back."],
        help="do it before or after the block; or at run time, by a callback: `jax.experimental.io_callback`",
    )
