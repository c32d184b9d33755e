"""One place that two paths leave in two forms: their join, or an error in the user's words."""

from __future__ import annotations

import itertools
from typing import Any

from autograph_jax.errors import ShapeError, StructureError, user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.sequences import lists
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.places import Aside, Content, Inside, Place
from autograph_jax.operators.values.containers import Record, expanded
from autograph_jax.operators.values.forms import Form, Mismatch, Options, Static, Tree
from autograph_jax.operators.values.joins import is_reordered, join


def joined(name: str, first: Form, second: Form, *, before: str, after: str, place: Place | None = None) -> Form:
    """`join`, with a Mismatch told in the user's words. `before` and `after` say where each of the two comes from.

    `place` is what holds one or the other, if it is known.
    """
    target = None if place is None else place.target
    try:
        if isinstance(target, dict) and is_reordered(first, second) and not hooks.is_porting():
            raise Mismatch("structure", str(first), str(second))  # the user's own doing: d["a"] = d.pop("a")
        return join(first, second)
    except Mismatch as mismatch:
        if lists.is_longer(first, second) or lists.is_longer(second, first):
            raise number_unknown(name, first, second, _changed_in(place)) from None
        error = mismatch_error(name, mismatch, before, after)
        inner = _longer_in(first, second, _changed_in(place)) if hooks.is_porting() else None
        if inner is not None and isinstance(error, StructureError):
            error.grown = _grown(*inner)
        raise error from None


def number_unknown(place: str, first: Form, second: Form, target: Any) -> StructureError:
    """The error of a list that two paths, or the turns of a loop, leave with different numbers of elements."""
    error = lists.number_unknown(place)
    if hooks.is_porting():
        error.grown = _grown(first, second, target)
    return error


def _grown(first: Form, second: Form, values: Any) -> tuple[Any, int, bool]:
    return values, max(map(len, map(lists.elements, (first, second)))), lists.are_alike(first, second)


def _longer_in(first: Form, second: Form, value: Any) -> tuple[Form, Form, Any] | None:
    """The list, somewhere in a value, that two paths leave with different numbers of elements; and its two Forms."""
    first, second = _taken_apart(first), _taken_apart(second)
    for one, other in itertools.product(_options(first), _options(second)) if type(value) is list else ():
        if lists.is_longer(one, other) or lists.is_longer(other, one):
            return one, other, value
    forms = [_attributes(first), _attributes(second)]
    parts = ((forms[0][name], forms[1][name], reach.attribute(value, name, None)) for name in forms[0] if name in forms[1])
    return next((inner for part in parts if (inner := _longer_in(*part)) is not None), None)


def _attributes(form: Form) -> dict[str, Form]:
    """The Forms of what an object's attributes hold."""
    if not isinstance(form, Tree) or not isinstance(form.kind, Record):
        return {}
    return dict(zip(form.kind.names, form.children, strict=True))


def _options(form: Form) -> tuple[Form, ...]:
    return form.forms if isinstance(form, Options) else (form,)


def _taken_apart(form: Form) -> Form:
    """The Form of the parts of an object that is kept whole."""
    return expanded(form.value) or form if isinstance(form, Static) else form


def _changed_in(place: Place | None) -> Any:
    """The object that is changed there: what a variable or attribute holds, or what has its contents changed."""
    if place is None:
        return None
    return place.target if isinstance(place, Content) else place.read()


def mismatch_error(name: str, mismatch: Mismatch, before: str, after: str) -> ShapeError | StructureError:
    kind, what = (ShapeError, "shapes") if mismatch.kind in ("shape", "number") else (StructureError, "structures")
    return kind(
        f"{name} has two {what}, and which one is only known at run time",
        location=user_location(),
        details=[f"{before} {mismatch.first}, {after} {mismatch.second}."],
        help=_put_in_before(mismatch.keys) or _HELP[mismatch.kind],
    )


_ONE_SHAPE = "give it one shape and structure on every path, for example by padding or by filling with zeros"
_HELP = {
    "shape": _ONE_SHAPE,
    "structure": _ONE_SHAPE,
    "number": "make the number an array of that shape too: `jnp.full(x.shape, 1.0)`",
}


def _put_in_before(keys: tuple[Any, ...]) -> str:
    """What to do about a dict that gets keys on one path."""
    if not keys:
        return ""
    shown = " and ".join(map(repr, keys))
    return f"give it the {'key' if len(keys) == 1 else 'keys'} {shown} on every path: put a value there before"


def longer_error(name: str) -> ShapeError:
    return ShapeError(
        f"{name} gets longer in each turn of this loop",
        location=user_location(),
        details=["How many rows it will have is only known at run time."],
        help="make it as long as it can get before the loop, and count: `y = np.zeros(100)`, `y[n] = v; n += 1`",
    )


def is_users(place: Place) -> bool:
    """Is this a place of the user's, and not where we note errors or how far a progress bar has come?"""
    return not isinstance(place, Aside) and not type(place.target).__module__.startswith("autograph_jax")


def shown(place: Place) -> str:
    if isinstance(place, Inside):
        return place.name
    return f"`{place.name}`" if is_users(place) else "this list"
