"""What a function's code reads from outside: variables it closes over, globals, and the attributes it reads of these."""

from __future__ import annotations

import dataclasses
import functools
import types
from typing import Any

from autograph_jax.runtime.origins import LOOKS, Attributes, Origins, is_name


@dataclasses.dataclass(frozen=True)
class Reads:
    """By name, with the attributes read of each: variables of functions around, globals, and a method's own object."""

    free: dict[str, Attributes]
    globals: dict[str, Attributes]
    own: Attributes
    names: frozenset[str]  # of all attributes that are read of anything
    stored: frozenset[str]  # of all that are assigned
    looked_for: frozenset[str]  # of all that may not be there: `hasattr(x, "rate")`, `except AttributeError`
    imports: frozenset[str]  # modules that it imports itself
    state: frozenset[str]  # variables around and globals that are read, and assigned
    stores: bool  # does it assign variables of functions around?
    stores_globals: bool


@functools.lru_cache(maxsize=4096)
def reads_of(code: types.CodeType) -> Reads:
    """What a code object and those inside it read. A variable that they assign too is state, and is left out."""
    finder = _Finder(code)
    finder.visit(code)
    free = {name: found for name, found in finder.free.items() if name not in finder.assigned}
    globals_ = {name: found for name, found in finder.globals.items() if name not in finder.assigned_globals}
    state = finder.free.keys() & finder.assigned | finder.globals.keys() & finder.assigned_globals
    assigns = bool(finder.assigned), bool(finder.assigned_globals)
    names, stored, looked_for, imports = map(frozenset, (finder.names, finder.stored, finder.looked_for, finder.imports))
    return Reads(free, globals_, finder.own, names, stored, looked_for, imports, frozenset(state), *assigns)


_ARITHMETIC = "add sub mul matmul truediv floordiv mod pow lshift rshift and or xor".split()
_BINARY = tuple(f"__{side}{name}__" for name in _ARITHMETIC for side in ("", "r", "i"))
_ORDER, _IN = ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"), ("__contains__", "__iter__", "__eq__")
_TURNS, _ITEM = ("__iter__", "__next__", "__getitem__"), ("__getitem__", "__missing__")
# What Python calls by itself: by the operation of the bytecode, by the operator of converted code, by the builtin function.
_SPECIAL = {
    **dict.fromkeys(("BINARY_OP", "power", "power_in_place", "inverse_power", "rounded", "quotient"), _BINARY),
    "beside_list": (*_BINARY, *_ORDER),
    **dict.fromkeys(("augment", "augment_name", "pow"), _BINARY),
    **dict.fromkeys(("BINARY_SUBSCR", "BINARY_SLICE", "get_item", "item", "item_at", "view"), _ITEM),
    **dict.fromkeys(("COMPARE_OP", "compare", "min", "max", "sorted"), _ORDER),
    **dict.fromkeys(("CONTAINS_OP", "in_", "not_in"), _IN),
    **dict.fromkeys(("GET_ITER", "for_stmt", "kept_list", "sequence", "sum", "iter", "enumerate", "zip"), _TURNS),
    **dict.fromkeys(("list", "tuple", "map", "filter", "reversed", "any", "all"), _TURNS),
    **dict.fromkeys(("UNPACK_SEQUENCE", "UNPACK_EX", "unpack"), _TURNS),
    **dict.fromkeys(("count", "index", "remove"), ("__eq__",)),
    **dict.fromkeys(("MATCH_CLASS", "instance"), ("__match_args__",)),
    "UNARY_NEGATIVE": ("__neg__",),
    "UNARY_INVERT": ("__invert__",),
    "BEFORE_WITH": ("__enter__", "__exit__"),
    "float": ("__float__",),
    "int": ("__int__", "__index__"),
    "abs": ("__abs__",),
}
SPECIAL_NAMES = frozenset({"__bool__", "__len__"}.union(*_SPECIAL.values()))
_GLOBAL, _FREE = ("LOAD_GLOBAL", "LOAD_NAME"), ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_GIVEN_NAMES = frozenset({"getattr", "hasattr", "attrgetter", "methodcaller"})  # of attributes, as strings
_ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")
_OTHER_ATTRIBUTE = ("IMPORT_FROM", "LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD")  # of what is no variable


class _Finder:
    def __init__(self, code: types.CodeType) -> None:
        self.outer = set(code.co_freevars)
        self.first = code.co_varnames[0] if code.co_argcount else None
        self.free: dict[str, Attributes] = {}
        self.globals: dict[str, Attributes] = {}
        self.own: Attributes = {}
        self.names: set[str] = set()
        self.stored: set[str] = set()
        self.looked_for: set[str] = set()
        self.imports: set[str] = set()
        self.assigned: set[str] = set()
        self.assigned_globals: set[str] = set()

    def visit(self, code: types.CodeType, inside: bool = False) -> set[str]:
        """Gives the names of the attributes that are read in this code."""
        found: set[str] = set()
        variable = self._variable if inside else self._variable_or_own
        for instruction in Origins(variable).follow(code):
            name: Any = instruction.argval
            operation = instruction.opname
            if operation in _ATTRIBUTE or operation in _OTHER_ATTRIBUTE:
                found.add(str(name))
            if operation == "IMPORT_NAME":
                self.imports.add(str(name))
            called = str(name) if operation in _ATTRIBUTE or operation in _GLOBAL else operation
            self.names.update(_SPECIAL.get(called, ()))
            if operation in ("STORE_ATTR", "DELETE_ATTR"):
                self.stored.add(str(name))
            if operation in ("STORE_DEREF", "DELETE_DEREF") and name in self.outer:
                self.assigned.add(str(name))
            if operation in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                self.assigned_globals.add(str(name))
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                found |= self.visit(constant, inside=True)
        if "__match_args__" in self.names:  # `case Point(x=0.0)`
            found.update(
                name for constant in code.co_consts if isinstance(constant, tuple) for name in filter(is_name, constant)
            )
        given = set(filter(is_name, code.co_consts))
        if not _GIVEN_NAMES.isdisjoint(code.co_names):
            found |= given
        if not LOOKS.keys().isdisjoint(code.co_names):
            self.looked_for |= given
        if "AttributeError" in code.co_names:
            self.looked_for |= found
        self.names |= found
        return found

    def _variable(self, operation: str, name: str) -> Attributes | None:
        if operation in _GLOBAL:
            return self.globals.setdefault(name, {})
        if operation not in _FREE:
            return None
        if name in self.outer:
            return self.free.setdefault(name, {})
        return self.own if name == self.first else None

    def _variable_or_own(self, operation: str, name: str) -> Attributes | None:
        return self.own if operation == "LOAD_FAST" and name == self.first else self._variable(operation, name)
