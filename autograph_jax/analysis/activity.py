"""The names that a piece of a program reads and writes, in its own scope.

What a nested `def`, `lambda` or `class` writes is its own business; what it reads from here counts as read here. A
comprehension's targets are its own, too, but a walrus inside it binds in the function around it, and so does a class
by `nonlocal` and `global`, since its body runs at once:

    [last := x for x in xs]     reads xs, writes last
    class C: nonlocal n; n = x  reads x, writes C and n

Globals and builtins are names like any other: whoever asks knows which of them are variables of the function.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from autograph_jax.analysis.collect import bound_by, read_by, scope_by_node, scopes_in


def writes(nodes: gast.AST | Iterable[gast.AST]) -> frozenset[str]:
    """The names that these nodes bind or delete: y for `y = 1`, `y += 1`, `import y.z`, `except E as y`, `del y`."""
    roots = [nodes] if isinstance(nodes, gast.AST) else list(nodes)
    names = bound_by(roots)  # which is all that most of them need
    return scopes_in(roots, functions=False).written() if names is None else names


def reads(nodes: gast.AST | Iterable[gast.AST]) -> frozenset[str]:
    """The names that these nodes load: x for `y = x`, `x += 1`, `x[i] = 1`, `def f(): return x`; not for `del x`."""
    roots = [nodes] if isinstance(nodes, gast.AST) else list(nodes)
    names = read_by(roots)  # which is all that most of them need
    if names is not None:
        return names
    piece = scopes_in(roots)
    return frozenset(piece.reads).union(*(scope.read_outside for scope in piece.nested))


def free_names(node: gast.AST) -> frozenset[str]:
    """The names that a function, lambda, class or comprehension takes from around it when its body runs.

    Decorators, default values and annotations are evaluated around it, and do not count.
    """
    return scope_by_node(scopes_in(node))[node].free


def nonlocal_writes(node: gast.AST) -> frozenset[str]:
    """The variables of a function that functions inside it assign or delete through `nonlocal`.

    A walrus in a generator expression is such an assignment: `any((found := x) > 1 for x in xs)` writes found when the
    generator runs, and perhaps never.
    """
    scope = scope_by_node(scopes_in(node))[node]
    return scope.inner_writes() & scope.bound


def own_variables(node: gast.AST) -> frozenset[str]:
    """The variables of a function that no other function writes: `def f(x, y): ... def g(): nonlocal y; y = 1` has x and g."""
    scope = scope_by_node(scopes_in(node))[node]
    return scope.bound - scope.inner_writes()
