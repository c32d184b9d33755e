"""From which variable the operands of an instruction come: bytecode is followed with a stack of origins instead of values.

options["rates"].append(1)      # LOAD_GLOBAL, LOAD_CONST, BINARY_SUBSCR, LOAD_ATTR: options -> ["rates"] -> append
"""

from __future__ import annotations

import dis
import keyword
import re
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from autograph_jax.operators.tracing.bytecode import instructions

Attributes = dict[str, Any]  # what is read of a value, by name; of each, what is read of it in turn
CHANGED, ANY_ITEM = "[]=", "[]"  # among the names: an item is assigned; an item is read whose index is no constant

_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")
_ITEM = ("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR")
_TAKES = ("STORE", "POP", "DELETE", "LIST", "SET", "MAP", "DICT", "RETURN", "RAISE", "YIELD")  # gives nothing back
_NOTHING = ("NOP", "RESUME", "CACHE", "PRECALL", "KW_NAMES", "COPY_FREE_VARS", "MAKE_CELL", "EXTENDED_ARG", "SETUP_ANNOTATIONS")
_ENDS = ("RETURN_", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD")  # nothing goes on from there
# Operators of converted code that assign items, with the position of the list or dict among their operands.
_ASSIGNS = {"set_item": 1, "put_item": 1, "set_path": 1, "put_path": 1, "del_item": 0}
_ASSIGNS |= dict.fromkeys(("update", "update_item", "put_update", "update_path", "put_update_path"), 0)
# Functions that are given the name of an attribute, and whether they give its value.
LOOKS = {"getattr": True, "hasattr": False}
_DICTS = ("vars", "dict_of")  # in converted code `x.__dict__` is `ag__.dict_of(x)`
_NAMED = (*LOOKS, "vars")


def item_of(key: Any) -> str:
    """How an item is named among what is read."""
    return f"[{key!r}]" if isinstance(key, int | str) else ANY_ITEM


class Constant(NamedTuple):
    value: Any


class _Called(NamedTuple):
    """The method of converted code's operators that stands on the stack, or `getattr`."""

    name: str


class Origins:
    """`variable` gives the origin of a variable that is loaded, by the operation and its name; or None.

    What is read and assigned of a value is noted in its origin. Where the paths of a branch meet, the first one counts.
    """

    def __init__(self, variable: Callable[[str, str], Attributes | None]) -> None:
        self._variable = variable
        self._stack: list[Any] = []
        self._locals: dict[str, Any] = {}
        self._at: dict[int, list[Any]] = {}  # stacks, by the offset to which jumps lead

    def follow(self, code: types.CodeType) -> Iterator[dis.Instruction]:
        self._stack, self._locals, self._at = [], {}, {}
        for instruction in instructions(code):
            self._stack = self._at.get(instruction.offset, self._stack)
            self._step(instruction)
            yield instruction
            if instruction.opname.startswith(_ENDS) and instruction.opname != "RETURN_GENERATOR":
                self._stack = []

    def _step(self, instruction: dis.Instruction) -> None:
        operation, name = instruction.opname, instruction.argval
        if operation in _ATTRIBUTE:
            self._attribute(instruction, str(name))
        elif operation in _ITEM:
            self._item(operation)
        elif operation == "LOAD_CONST":
            self._stack.append(Constant(name))
        elif operation in ("PUSH_NULL", "COPY"):  # COPY of `self.count += 1`, which reads what it assigns: that is state
            self._stack.append(None)
        elif operation == "SWAP":
            self._swap(instruction.arg or 1)
        elif operation == "CALL":
            self._call(instruction.arg or 0)
        elif "_FAST" in operation and isinstance(name, str | tuple):
            names = name if isinstance(name, tuple) else (name,)  # two at once, from Python 3.13 on
            for part, each in zip(re.findall("LOAD_FAST|STORE_FAST|DELETE_FAST", operation), names, strict=True):
                self._local(part, each)
        elif operation not in _NOTHING:
            self._other(instruction)

    # ---------------------------------------------------------------- instructions

    def _local(self, operation: str, name: str) -> None:
        if operation == "LOAD_FAST":
            self._stack.append(self._locals[name] if name in self._locals else self._variable(operation, name))
        elif operation == "STORE_FAST":
            self._locals[name] = self._pop()
        else:
            self._locals.pop(name, None)

    def _attribute(self, instruction: dis.Instruction, name: str) -> None:
        target = self._pop()
        found = target.setdefault(name, {}) if isinstance(target, dict) else None
        self._stack.append(_Called(name) if found is None and (name in _ASSIGNS or name in _DICTS) else found)
        if _effect(instruction):
            self._stack.append(None)

    def _item(self, operation: str) -> None:
        key, target = self._pop(), self._pop()
        if operation == "BINARY_SUBSCR":
            at = item_of(key.value) if isinstance(key, Constant) else ANY_ITEM
            self._stack.append(target.setdefault(at, {}) if isinstance(target, dict) else None)
            return
        if operation == "STORE_SUBSCR":
            self._pop()
        _change(target)

    def _call(self, count: int) -> None:
        operands = [self._pop() for _ in range(count)][::-1]
        found = operands[0] if count == 1 and isinstance(operands[0], _Called) else None  # `ag__.call(getattr)`
        for called in (self._pop(), self._pop()):
            if isinstance(called, _Called) and called.name in _DICTS:
                found = _looked_up(operands[0], Constant("__dict__")) if count == 1 else None
            elif isinstance(called, _Called) and called.name in LOOKS:
                found = _looked_up(*operands) if count > 1 and LOOKS[called.name] else None
            elif isinstance(called, _Called) and (position := _ASSIGNS[called.name]) < count:
                _change(operands[position])
        self._stack.append(found)

    def _swap(self, depth: int) -> None:
        while len(self._stack) < depth:
            self._stack.insert(0, None)
        self._stack[-1], self._stack[-depth] = self._stack[-depth], self._stack[-1]

    def _other(self, instruction: dis.Instruction) -> None:
        """Of any other instruction only the number of operands is known, and of a variable the name."""
        operation, effect = instruction.opname, _effect(instruction)
        jumps = "JUMP" in operation or operation in ("FOR_ITER", "SEND")
        if jumps:
            there = dis.stack_effect(instruction.opcode, instruction.arg, jump=True)
            self._at.setdefault(instruction.argval, [*self._stack, *[None] * max(there, 0)][: max(len(self._stack) + there, 0)])
        for _ in range(-effect):
            self._pop()
        if operation.startswith("LOAD_") and isinstance(instruction.argval, str):
            self._stack += [None] * (effect - 1)
            origin = self._variable(operation, instruction.argval)
            is_look = operation == "LOAD_GLOBAL" and instruction.argval in _NAMED
            self._stack.append(_Called(instruction.argval) if is_look else origin)
            return
        if self._stack and not jumps and not operation.startswith(_TAKES):
            self._stack[-1] = None
        self._stack += [None] * effect

    # ---------------------------------------------------------------- the stack

    def _pop(self) -> Any:
        return self._stack.pop() if self._stack else None


def _effect(instruction: dis.Instruction) -> int:
    return dis.stack_effect(instruction.opcode, instruction.arg, jump=False)


def _looked_up(target: Any, name: Any, *default: Any) -> Any:
    """What `getattr(target, "name")` gives."""
    is_known = isinstance(target, dict) and isinstance(name, Constant) and is_name(name.value)
    return target.setdefault(name.value, {}) if is_known else None


def is_name(constant: Any) -> bool:
    return isinstance(constant, str) and constant.isidentifier() and not keyword.iskeyword(constant)


def _change(target: Any) -> None:
    if isinstance(target, dict):
        target[CHANGED] = {}
