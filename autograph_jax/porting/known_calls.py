"""A function in C that is called while tracing, since all that it is given is known: what it writes into that is written.

It gets copies: what a MutableArray holds may be another's too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays import MutableArray
from .copies import Copies


def called(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What the function gives, where an argument of it stands for itself. Arrays and lists that it changes are changed."""
    given = _Given()
    found = function(*given.of(args), **given.of(kwargs))
    given.take_over()
    return given.behind(found)


class _Given:
    """What stands for the arguments."""

    def __init__(self) -> None:
        self._copies = Copies()
        self._stand_ins: dict[int, tuple[Any, Any]] = {}  # by the argument: it, and what stands for it
        self._before: dict[int, Any] = {}  # by the argument: what it held

    def of(self, argument: Any) -> Any:
        """What the function is given."""
        if not isinstance(argument, (MutableArray, np.ndarray, dict, list, tuple)):
            return argument
        if id(argument) not in self._stand_ins:
            stand_in = self._stand_in(argument)
            self._stand_ins[id(argument)] = argument, stand_in
            if not isinstance(argument, (np.ndarray, tuple)):
                self._before[id(argument)] = stand_in.copy()
        return self._stand_ins[id(argument)][1]

    def _stand_in(self, argument: Any) -> Any:
        if isinstance(argument, MutableArray):
            return self._copies.of(argument, argument.value)
        if isinstance(argument, np.ndarray):  # one of NumPy's own may be read-only for now, which C refuses also to read
            return argument if argument.flags.writeable else argument.copy(order="K")
        return self._parts(argument)

    def _parts(self, container: Any) -> Any:
        """The same container, where it holds no array of ours."""
        if isinstance(container, dict):
            made: Any = {name: self.of(part) for name, part in container.items()}
            return made if any(made[name] is not part for name, part in container.items()) else container
        parts = [self.of(part) for part in container]
        if all(part is own for part, own in zip(parts, container, strict=True)):
            return container
        return type(container)(*parts) if hasattr(container, "_fields") else type(container)(parts)

    def take_over(self) -> None:
        """Change the arguments as what stands for them was."""
        for argument, stand_in in self._stand_ins.values():
            if isinstance(argument, MutableArray):
                if not _same(stand_in, self._before[id(argument)]):
                    argument.put(stand_in.copy())
            elif isinstance(argument, np.ndarray) and stand_in is not argument:
                if not _same(stand_in, argument):
                    raise ValueError("assignment destination is read-only")
            elif stand_in is not argument and isinstance(stand_in, (dict, list)):
                self._take_over_parts(argument, stand_in)

    def _take_over_parts(self, argument: Any, now: Any) -> None:
        before = self._before[id(argument)]
        names = [list(parts) if isinstance(parts, dict) else range(len(parts)) for parts in (before, now)]
        if list(names[0]) == list(names[1]) and all(before[name] is now[name] for name in names[0]):
            return
        changed = {name: self.behind(now[name]) for name in names[1]}
        argument.clear()
        argument.update(changed) if isinstance(argument, dict) else argument.extend(changed.values())

    def behind(self, found: Any) -> Any:
        """What the function gives, with its arguments in place of what stood for them."""
        for argument, stand_in in self._stand_ins.values():
            if found is stand_in:
                return argument
        if isinstance(found, (list, tuple)):
            parts = [self.behind(part) for part in found]
            return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
        return found


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    return np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")
