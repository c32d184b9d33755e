"""Walruses in what Python may leave out: questions about expressions that the expressions and blocks converters ask.

if x > 1 and (y := x * 2) > 3:      y surely has a value where this holds, and perhaps none where it does not
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import gast

from autograph_jax.analysis import writes
from autograph_jax.syntax import template
from autograph_jax.syntax.walk import children

_LATE = (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
Names = frozenset[str]


def bound_where(test: gast.AST, holds: bool) -> Names:
    """The variables that have been assigned by a walrus where a test has been evaluated and is true, or false."""
    match test:
        case gast.UnaryOp(op=gast.Not()):
            return bound_where(test.operand, not holds)
        case gast.BoolOp():
            return _bound_by_parts(test.values, isinstance(test.op, gast.And), holds)
        case gast.IfExp():
            paths = [
                bound_where(test.test, taken) | bound_where(branch, holds)
                for taken, branch in ((True, test.body), (False, test.orelse))
            ]
            return paths[0] & paths[1]
        case gast.Compare() if not holds and len(test.ops) > 1:
            return _bound([test.left, test.comparators[0]])
        case gast.NamedExpr():
            return bound_where(test.value, holds) | {test.target.id}
    return _bound(children(test)) if not isinstance(test, _LATE) else frozenset()


def bound_by(expression: gast.AST) -> Names:
    """The variables that have been assigned by a walrus where an expression has been evaluated."""
    return bound_where(expression, True) & bound_where(expression, False)


def _bound(parts: Iterable[gast.AST]) -> Names:
    return frozenset().union(*map(bound_by, parts))


def _bound_by_parts(values: Sequence[gast.expr], every: bool, holds: bool) -> Names:
    """`a and b` is true after all its parts, and false after one that is; so `a or b`, the other way round."""
    through = frozenset[str]()
    ends: list[Names] = []
    for value in values:
        ends.append(through | bound_where(value, not every))
        through |= bound_where(value, every)
    return through if holds is every else ends[0].intersection(*ends[1:])


def marks(parts: Sequence[gast.expr], sure: Names, global_names: Names, *, at: gast.AST) -> list[gast.expr]:
    """The variables that parts of an expression assign, as string constants: `'y?'` where that is not sure."""
    names = sorted(writes(parts))
    texts = [f"global {name}" if name in global_names else name if name in sure else f"{name}?" for name in names]
    return [template.constant(text, at=at) for text in texts]
