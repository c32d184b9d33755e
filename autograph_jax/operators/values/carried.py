"""The numbers of Python's that loops begin with, as a turn has them: traced, and yet of no shape of their own.

`best = 0.0`, `for row in m: if f(row) < least: best = row`: in the first round of tracing, one path leaves a traced number.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from autograph_jax.operators import hooks
from autograph_jax.operators.values.forms import Form, Number, array_forms

# By id, since arrays have no usable ==. Module state: an entry goes when its array goes.
_by_id: dict[int, tuple[weakref.ref[Any], Number]] = {}


def told(form: Form, leaves: Iterator[Any]) -> Iterator[Any]:
    """The leaves of a Form with which a turn begins; which of them are numbers is remembered. Ported code has numbers apart."""
    for own in array_forms(form):
        leaf = next(leaves)
        if own.carried and own.number is not None and not hooks.is_porting():
            key = id(leaf)
            _by_id[key] = weakref.ref(leaf, lambda _, key=key, known=_by_id: known.pop(key, None)), own.number
        yield leaf


def number(value: Any) -> Number | None:
    """The number that a loop began with, if this stands for it."""
    gone, known = _by_id.get(id(value), (None, None)) if _by_id else (None, None)
    return known if gone is not None and gone() is value else None
