"""Quote a piece of Python once, then fill its UPPER_CASE holes by name.

    >>> import gast
    >>> wait = Template("while TEST: BODY")
    >>> node = gast.parse("f(x)").body[0]
    >>> [while_] = wait(at=node, TEST=node.value, BODY=[node])

An expression hole takes an expression, a statement hole (a name alone on its line) a list of statements, a hole in
`def HOLE`, `nonlocal HOLE`, or a parameter takes a name or a list of names; an empty list removes the place.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import gast

from autograph_jax.syntax.walk import walk

_POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")


class Template:
    """A piece of Python with holes, parsed when it is first used; calling it gives new statements at the user's position."""

    def __init__(self, source: str) -> None:
        self._source = source

    @functools.cached_property
    def _body(self) -> list[gast.stmt]:
        source = self._source
        return gast.parse(source.strip("\n") if "\n" not in source.strip() else _dedent(source)).body

    @functools.cached_property
    def holes(self) -> frozenset[str]:
        return frozenset(name for statement in self._body for name in _names(statement) if name.isupper() and len(name) > 1)

    def __call__(self, *, at: gast.AST, **holes: Any) -> list[gast.stmt]:
        if holes.keys() != self.holes:
            raise TypeError(f"template holes are {sorted(self.holes)}, got {sorted(holes)}")
        return _fill_list(self._body, holes, _position(at))

    def expression(self, *, at: gast.AST, **holes: Any) -> gast.expr:
        """The filled template where it is a single expression."""
        [statement] = self(at=at, **holes)
        assert isinstance(statement, gast.Expr)
        return statement.value


def _dedent(source: str) -> str:
    """As textwrap's, which may itself be what is being converted."""
    lines = source.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[indent:] for line in lines)


def _names(node: gast.AST) -> list[str]:
    found = []
    for child in walk(node):
        for _, value in gast.iter_fields(child):
            found += [value] if isinstance(value, str) else []
            found += [v for v in value if isinstance(v, str)] if isinstance(value, list) else []
    return found


def _position(at: Any) -> dict[str, int]:
    if getattr(at, "lineno", None) is None:
        return {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}
    word = _WORDS.get(type(at))
    if word is not None:  # of a statement over several lines CPython takes the last one for a call `ag__.f()`
        line, column = at.lineno, at.col_offset
        return dict(zip(_POSITION, (line, column, line, column + len(word)), strict=True))
    return {name: getattr(at, name) for name in _POSITION}


_WORDS = {gast.Try: "try", gast.TryStar: "try", gast.ExceptHandler: "except", gast.With: "with"}


def _fill(node: Any, holes: dict[str, Any], position: dict[str, int]) -> Any:
    """A copy of a template node with its holes filled; every copied node gets the user's position."""
    if isinstance(node, str):
        return holes.get(node, node)
    if isinstance(node, list):
        return _fill_list(node, holes, position)
    if not isinstance(node, gast.AST):
        return node
    if isinstance(node, gast.Name) and isinstance(holes.get(node.id), gast.AST):
        return holes[node.id]
    kind = type(node)
    copy = kind.__new__(kind)  # its __init__ would look at each argument
    attributes = copy.__dict__
    for name in node._fields:
        part = getattr(node, name)
        attributes[name] = part if part is None or name == "ctx" else _fill(part, holes, position)
    if "lineno" in node._attributes:
        attributes.update(position)
    return copy


def _fill_list(nodes: Sequence[Any], holes: dict[str, Any], position: dict[str, int]) -> list[Any]:
    filled: list[Any] = []
    for node in nodes:
        hole = _hole_in_list(node, holes)
        if hole is not None:
            filled += hole
            continue
        new = _fill(node, holes, position)
        if isinstance(new, gast.Nonlocal | gast.Global) and not new.names:
            continue
        filled.append(new)
    return filled


def _hole_in_list(node: Any, holes: dict[str, Any]) -> list[Any] | None:
    """A list filled into a list: statements for `BODY`, arguments for `*f(ARGUMENTS)`, names for `nonlocal NAMES`."""
    inner = node.value if isinstance(node, gast.Expr) else node
    name = inner.id if isinstance(inner, gast.Name) else inner if isinstance(inner, str) else None
    value = holes.get(name) if name else None
    return value if isinstance(value, list) else None


def name(identifier: str, *, at: gast.AST, store: bool = False) -> gast.Name:
    return _placed(gast.Name(identifier, gast.Store() if store else gast.Load(), None, None), at)


def constant(value: object, *, at: gast.AST) -> gast.Constant:
    return _placed(gast.Constant(value, None), at)


def tuple_of(elements: list[gast.expr], *, at: gast.AST, store: bool = False) -> gast.Tuple:
    return _placed(gast.Tuple(elements, gast.Store() if store else gast.Load()), at)


def keyword(argument: str, value: gast.expr, *, at: gast.AST) -> gast.keyword:
    return _placed(gast.keyword(argument, value), at)


def assign(targets: list[gast.expr], value: gast.expr, *, at: gast.AST) -> gast.Assign:
    return _placed(gast.Assign(targets, value, None), at)


def expression_statement(value: gast.expr, *, at: gast.AST) -> gast.Expr:
    return _placed(gast.Expr(value), at)


def lambda_of(body: gast.expr, *, at: gast.AST) -> gast.Lambda:
    """`lambda: body`."""
    return _placed(gast.Lambda(gast.arguments([], [], None, [], [], None, []), body), at)


def parameter(identifier: str, *, at: gast.AST) -> gast.Name:
    return _placed(gast.Name(identifier, gast.Param(), None, None), at)


def _placed(node: Any, at: gast.AST) -> Any:
    for attribute, value in _position(at).items():
        setattr(node, attribute, value)
    return node
