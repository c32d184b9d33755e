"""`ag.jvp`, `ag.vjp`, `ag.linearize`: a function's value and its linear map at a point, for arguments passed in any way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.tree_util import Partial

from autograph_jax.errors import ArgumentError, user_location
from autograph_jax.runtime.arguments import Spec
from autograph_jax.runtime.canonical import Callee
from autograph_jax.runtime.derivatives import Captures
from autograph_jax.runtime.opened import arrays_in, structured
from autograph_jax.runtime.selections import Selection, resolved


def jvp(
    function: Callable[..., Any],
    primals: Sequence[Any] | Mapping[str, Any],
    tangents: Sequence[Any] | Mapping[Any, Any],
    /,
    *,
    captures: Captures = None,
    has_aux: bool = False,
    **keywords: Any,
) -> tuple[Any, ...]:
    """The function's value and its derivative in a direction, `(out, tangent of out)`, by `jax.jvp`.

    `primals` are the arguments, positional ones as a tuple or a list, or keyword arguments as a dict; `keywords` are further
    arguments. `tangents` has one for each of the primals, of its shape; or is a dict that gives some arguments theirs by name
    or number, and with `captures="argument"` captured values. An argument without a tangent is a constant. With
    `has_aux=True` the function returns `(out, aux)`, and the result is `(out, tangent, aux)`.

        >>> out, tangent = jvp(lambda x, *, k: k * x**2, {"x": 3.0, "k": 2.0}, {"x": 1.0})
        >>> print(out, tangent)
        18.0 12.0

    Raises ArgumentError for a tangent of an argument that is not there, and for tangents that do not match the primals.
    """
    callee = Callee(function)
    arguments, named = ((), primals) if isinstance(primals, Mapping) else (tuple(primals), {})
    directions = _directions(callee, primals, tangents, captures)
    selection = Selection(callee, tuple(directions))
    chosen, others = selection.divided(selection.canonical.values(*arguments, **named, **keywords))
    along = structured(jax.tree.structure(chosen), tuple(directions.values()))
    return jax.jvp(lambda *moving: selection.function(moving, others), chosen, along, has_aux=has_aux)


def _directions(callee: Callee, primals: Any, tangents: Any, captures: Captures) -> dict[Any, Any]:
    """Tangents by Argument, or Captured."""
    if isinstance(tangents, Mapping) and captures is not None:
        return dict(zip(resolved(callee, None, list(tangents), captures), tangents.values(), strict=True))
    if isinstance(tangents, Mapping):
        return callee.entries("tangents", tangents)
    if isinstance(primals, Mapping) or len(primals) != len(tangents):
        differ = "have names, and its tangents none"
        if not isinstance(primals, Mapping):
            differ = f"are {len(primals)}, and its tangents {len(tangents)}"
        raise ArgumentError(
            f"the primals of `{callee.name}` {differ}",
            location=user_location(),
            help="give each primal its tangent, or give tangents by name: `{'x': dx}`",
        )
    return callee.entries("tangents", dict(enumerate(tangents)))


def vjp(
    function: Callable[..., Any],
    /,
    *primals: Any,
    argnums: Spec = None,
    argnames: Spec = None,
    captures: Captures = None,
    has_aux: bool = False,
    **keywords: Any,
) -> tuple[Any, ...]:
    """The function's value and the function that takes a cotangent of it back to the arguments, by `jax.vjp`.

    Without `argnums` and `argnames` the cotangents are those of all arguments that are passed, in a tuple in the order of the
    signature. With them (and `captures`), they are put together as for `grad`: one, a dict by names, a tuple by numbers; what
    is not chosen is a constant, and may be anything. With `has_aux=True` the function returns `(out, aux)`, and the result is
    `(out, function, aux)`.

        >>> out, back = vjp(lambda x, *, k: k * x**2, 3.0, k=2.0, argnames=["k"])
        >>> print(out, back(1.0))
        18.0 {'k': Array(9., dtype=float32, weak_type=True)}
    """
    selection, chosen, others = _chosen(function, primals, keywords, argnums, argnames, captures)
    out, back, *aux = jax.vjp(lambda moving: selection.function(moving, others), chosen, has_aux=has_aux)
    return out, Partial(_only, back), *aux


def _only(back: Callable[[Any], tuple[Any]], cotangent: Any) -> Any:
    return arrays_in(back(cotangent)[0])


def linearize(
    function: Callable[..., Any],
    /,
    *primals: Any,
    argnums: Spec = None,
    argnames: Spec = None,
    captures: Captures = None,
    has_aux: bool = False,
    **keywords: Any,
) -> tuple[Any, ...]:
    """The function's value and its linear map at this point, by `jax.linearize`: computed once, applied to many tangents.

    The map takes a tangent for each of the arguments that are passed, or of those chosen by number or by name, in their
    order; or all of them by keyword. What is not chosen is a constant. With `has_aux=True` the function
    returns `(out, aux)`, and the result is `(out, map, aux)`.

        >>> out, along = linearize(lambda x, *, k: k * x**2, 3.0, k=2.0)
        >>> print(out, along(1.0, 0.0), along(x=1.0, k=1.0))
        18.0 12.0 21.0
    """
    selection, chosen, others = _chosen(function, primals, keywords, argnums, argnames, captures)
    out, along, *aux = jax.linearize(lambda moving: selection.function(moving, others), chosen, has_aux=has_aux)
    return out, Partial(Partial(_along, selection, jax.tree.structure(chosen)), along), *aux


def _along(selection: Selection, structure: Any, along: Callable[[Any], Any], *tangents: Any, **named: Any) -> Any:
    by_name = dict(zip(selection.names, tangents, strict=False)) | named
    if len(tangents) + len(named) != len(selection.names) or by_name.keys() != set(selection.names):
        names = ", ".join(f"`{name}`" for name in selection.names)
        raise ArgumentError(
            f"this map of `{selection.callee.name}` takes a tangent for each of: {names}",
            location=user_location(),
            help="pass them in this order, or by keyword",
        )
    return along(structured(structure, selection.together([by_name[name] for name in selection.names])))


def _chosen(
    function: Any, primals: tuple[Any, ...], keywords: dict[str, Any], argnums: Spec, argnames: Spec, captures: Captures
) -> tuple[Selection, Any, tuple[Any, ...]]:
    """The arguments to differentiate by (those passed, in the signature's order, unless said otherwise), and the others."""
    callee = Callee(function)
    if argnums is None and argnames is None and (primals or keywords):
        callee.canonical().values(*primals, **keywords)  # a wrong call raises Python's TypeError
        passed = callee.arguments("", range(len(primals)) if primals else None, list(keywords) or None)
        canonical = callee.canonical(passed)
        selection = Selection(callee, tuple(sorted(passed, key=canonical.position)))
    else:
        selection = Selection.of(callee, argnums, argnames, captures)
    return selection, *selection.divided(selection.canonical.values(*primals, **keywords))
