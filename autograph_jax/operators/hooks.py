"""What operators need of the room above them. The runtime sets these once, when it is imported."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Mapping
from typing import Any


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _nothing_known(frame: types.FrameType) -> None:
    return None


call: Callable[[Any], Callable[..., Any]] = _as_it_is  # how a callee is converted
assigned: Callable[[types.CodeType], Collection[str]] = lambda code: ()  # noqa: E731 - variables around it that a code assigns
note_variables: Callable[[types.FunctionType], None] = lambda function: None  # noqa: E731 - these, before they are assigned
Names = frozenset[str]
converted: Mapping[int, Any] = {}  # by the ids of their code objects: the functions of which `read_later` knows anything
read_later: Callable[[types.FrameType], Any] = _nothing_known  # a runtime.spans.Span; None: not converted code
operands: Callable[[types.FrameType], Any] = lambda frame: []  # noqa: E731 - what its statement has evaluated, to be used later
unread: Callable[[types.FrameType], Names] = lambda frame: frozenset()  # noqa: E731 - what it reads after the call it is at
returned: Callable[[types.FrameType], Any] = lambda frame: []  # noqa: E731 - what a `return` under way returns, in a `finally`
deciding_names: Callable[[types.FrameType], Names | None] = _nothing_known  # of the while loop that a frame is at
meet: Callable[[type], None] = lambda kind: None  # noqa: E731 - a class that converted code comes to know
is_porting: Callable[[], bool] = lambda: False  # noqa: E731 - is it NumPy code that is traced, with NumPy's arrays?
is_array_library: Callable[[str | None], bool] = lambda module: False  # noqa: E731 - does it show tracers in ways of its own?
shown_as: Callable[[Any], Any] = lambda value: value  # noqa: E731 - a value of the type that code takes it for
is_strict: Callable[[types.CodeType], bool] = lambda code: False  # noqa: E731 - of a function that may not fall back?
is_users: Callable[[types.FrameType, str], bool] = lambda frame, name: True  # noqa: E731 - a name that the user wrote?
is_block: Callable[[types.CodeType], bool] = lambda code: False  # noqa: E731 - a piece of a user's function?
max_len: Callable[[], int | None] = lambda: None  # noqa: E731 - the bound that ported code was given
