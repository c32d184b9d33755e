"""Names for generated functions and variables that collide with nothing that the user wrote."""

from __future__ import annotations

import gast

from autograph_jax.syntax.walk import walk

OPERATORS = "ag__"  # how templates call the operators; the user's own variable of that name goes before
_USERS = "ag__ of the user"


class Names:
    """Hands out names that do not occur in a tree; the same wish gives the same name, blocks may share it."""

    def __init__(self, tree: gast.AST) -> None:
        self._taken = frozenset(_every_name(tree))
        self.blocks: set[str] = set()
        self.attempts: set[str] = set()  # variables that stand for the bodies of `try` statements
        self.operators = self.fresh(OPERATORS)

    def fresh(self, wish: str) -> str:
        name = wish
        while name in self._taken:
            name += "_"
        return name

    def is_users(self, name: str) -> bool:
        """Did the user write this name, or was it made here?"""
        return name in self._taken

    def block(self, wish: str) -> str:
        """A name for a function that stands for a block of the user's; tracebacks show the user's function instead."""
        name = self.fresh(wish)
        self.blocks.add(name)
        return name

    def attempt(self, number: int) -> str:
        """A variable for the body of a `try` that traced data may make fail."""
        name = self.fresh("attempt" if number == 1 else f"attempt_{number}")
        self.attempts.add(name)
        return name

    def attempt_of(self, node: gast.AST) -> str | None:
        """The variable, if this is the body of such a `try`, `with attempt:`."""
        context = node.items[0].context_expr if isinstance(node, gast.With) else None
        return context.id if isinstance(context, gast.Name) and context.id in self.attempts else None


def _every_name(tree: gast.AST) -> set[str]:
    names: set[str] = set()
    for node in walk(tree):
        kind = type(node)
        if kind is gast.Name:  # as most are
            names.add(node.id)
        if kind in _WITHOUT_NAMES:
            continue
        for value in vars(node).values():
            if isinstance(value, str):
                names.add(value)
            elif isinstance(value, list):
                names.update(v for v in value if isinstance(v, str))
    return names


_WITHOUT_NAMES = frozenset({
    gast.Name, gast.arguments, gast.Assign, gast.AugAssign, gast.Expr, gast.If, gast.For, gast.While, gast.Return,
    gast.BinOp, gast.BoolOp, gast.Call, gast.Compare, gast.IfExp, gast.List, gast.Slice, gast.Starred, gast.Subscript,
    gast.Tuple, gast.UnaryOp,
})  # fmt: skip


def mangled(name: str, class_name: str | None) -> str:
    """`__k` inside class `C` is `_C__k`, as the compiler has it."""
    if not class_name or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name


def hide_operators(tree: gast.AST, names: Names) -> None:
    """Where the user has a variable called `ag__`, keep it apart from the operators that templates bring in."""
    _rename(tree, {OPERATORS: _USERS} if names.operators != OPERATORS else {})


def restore_operators(tree: gast.AST, names: Names) -> None:
    _rename(tree, {OPERATORS: names.operators, _USERS: OPERATORS} if names.operators != OPERATORS else {})


def _rename(tree: gast.AST, new: dict[str, str]) -> None:
    for node in walk(tree) if new else ():
        for field, value in gast.iter_fields(node):
            if isinstance(value, str) and not isinstance(node, gast.Constant | gast.Attribute | gast.keyword):
                setattr(node, field, new.get(value, value))
            elif isinstance(value, list) and all(isinstance(v, str) for v in value):
                setattr(node, field, [new.get(v, v) for v in value])
            elif isinstance(node, gast.Constant) and isinstance(value, str) and value.rstrip("?") in new:
                node.value = value.replace(value.rstrip("?"), new[value.rstrip("?")])


def is_operator(function: gast.AST, *names: str) -> bool:
    """Is this an operator of ours, `ag__.call`? With names: is it one of those?"""
    return (
        isinstance(function, gast.Attribute)
        and isinstance(function.value, gast.Name)
        and function.value.id == OPERATORS
        and (not names or function.attr in names)
    )
