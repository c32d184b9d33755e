"""The numbers of Python's that loops begin with, as a turn has them: traced, and yet of no shape of their own.

`best = 0.0`, `for row in m: if f(row) < least: best = row`: in the first round of tracing, one path leaves a traced number; in
the last one it is an array. What stays a number, a counter, is no array: the loop is traced once more without.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from autograph_jax.operators import hooks
from autograph_jax.operators.values.forms import Begun, Form, Number, array_forms

Known = tuple[Number | None, tuple[Begun, ...]]

# By id, since arrays have no usable ==. Module state: an entry goes when its array goes.
_by_id: dict[int, tuple[weakref.ref[Any], Known]] = {}
_UNKNOWN: Known = (None, ())


def told(form: Form, leaves: Iterator[Any], begun: Begun | None) -> Iterator[Any]:
    """The leaves of a Form with which a turn begins; which of them are numbers is remembered. Ported code has numbers apart."""
    for own in array_forms(form):
        leaf = next(leaves)
        if begun is not None and own.carried and own.number is not None and not hooks.is_porting():
            key = id(leaf)
            gone = weakref.ref(leaf, lambda _, key=key, known=_by_id: known.pop(key, None))
            _by_id[key] = gone, (own.number, (begun, *own.carried))
        yield leaf


def known(value: Any) -> Known:
    """The number that a loop began with, if this stands for it, and the loops that are to hear of it."""
    entry = _by_id.get(id(value)) if _by_id else None
    return entry[1] if entry is not None and entry[0]() is value else _UNKNOWN
