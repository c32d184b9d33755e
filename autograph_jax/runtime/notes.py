"""JAX's errors about values that are not known while tracing get a note: which of the user's names these are, and a way out."""

from __future__ import annotations

import ast
import linecache
from typing import Any

import jax
import jax.core

from autograph_jax.errors import AutographError, Location, frame_location, is_user_frame
from autograph_jax.runtime.libraries import is_left_alone

_UNCONVERTED = "decorate the function that branches: `@autograph`; a builtin or a library cannot be"
_MASK = "keep the shape, and choose: `jnp.where(mask, x, 0)`; `x[mask] = v` works"
_NUMPY = "use the function of jax.numpy, or `ag.port` for a whole NumPy program"
_STATIC = (
    "a size or a Python number has to be known: make it static, `ag.jit(f, static_argnames=...)`, or leave it outside of `jit`"
)
_INDEX = "of a list or tuple that is a parameter, say so: `def f(table: list, i)`, or take `jax.numpy.asarray(table)[i]`"
_ELEMENT = "of an array of NumPy's that is a parameter, take `jax.numpy.asarray(table)[i]`"
_FIXED_LENGTH = "take a part of fixed length: `jax.lax.dynamic_slice_in_dim(x, start, 3)`; `x[i:j] = v` works"
_KEY = (
    "members and keys have to be known: keep flags or counts in an array, `seen[v] = True`; "
    "or compare neighbours of `jnp.sort(x)`"
)
_ATTRIBUTE = "JAX's arrays have what `jax.numpy` has: `x[...] = v` for `x.fill(v)`, `jnp.floor(x) == x` for `x.is_integer()`"
_FUNCTION = "use the function of jax.numpy; or write the loop out in Python, which is converted"
_WRITE = "write `x[i] = v`, which gives the variable the new array, or `x = x.at[i].set(v)`"
_WAYS_OUT: list[tuple[type[Exception], str, str]] = [  # class, part of the message, help
    (jax.errors.TracerBoolConversionError, "", _UNCONVERTED),
    (jax.errors.NonConcreteBooleanIndexError, "", _MASK),
    (jax.errors.TracerArrayConversionError, "", _NUMPY),
    (jax.errors.TracerIntegerConversionError, "", _INDEX),
    (jax.errors.ConcretizationTypeError, "", _STATIC),
    (TypeError, "Shapes must be 1D sequences of concrete values", _STATIC),
    (TypeError, "unhashable type: 'DynamicJaxprTracer'", _KEY),
    (TypeError, "unhashable type: 'BatchTracer'", _KEY),
    (TypeError, "for *: 'list' and 'DynamicJaxprTracer'", _STATIC),
    (IndexError, "Slice entries must be static integers", _FIXED_LENGTH),
    (IndexError, "Array slice indices must have static start/stop/step", _FIXED_LENGTH),  # as newer versions of JAX say it
    (TypeError, "JAX arrays are immutable", _WRITE),
    (AttributeError, "Tracer has no attribute", _ATTRIBUTE),
    (AttributeError, "Tracer' object has no attribute", _ATTRIBUTE),
    (TypeError, "Tracer", _FUNCTION),  # of a function in C, or of one that asks for the class
    (ValueError, "argument for islice() must be", "count in the loop: `for i in range(k): v = xs[i]`"),
]
_MARK = "autograph_jax: "


def annotate(error: BaseException) -> None:
    """Add the note to an error that leaves a traced function, unless it has one."""
    said = _said(error)
    ways = [help for kind, part, help in _WAYS_OUT if isinstance(error, kind) and part in said]
    if not ways or any(note.startswith(_MARK) for note in getattr(error, "__notes__", ())):
        return
    frame = _users_frame(error)
    if frame is None:
        return
    location = frame_location(frame)
    tree = _tree_at(location)
    names = _traced_names(tree, {**frame.f_globals, **frame.f_locals})
    if not names and isinstance(error, ValueError):  # which known values raise too
        return
    what = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} only known at run time" if names else "it was raised here"
    way = _ELEMENT if isinstance(error, jax.errors.TracerArrayConversionError) and _is_element(tree) else ways[0]
    error.add_note("\n".join([_MARK + what, *location.lines(), f"  help: {way}"]))


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except AutographError:  # a text of the user's that holds traced values, which JAX has never written
        return ""


def _users_frame(error: BaseException) -> Any:
    """The innermost frame of the user's that the error has come through; only if there is none, one of a library."""
    found, traceback = [], error.__traceback__
    while traceback is not None:
        found += [traceback.tb_frame] if is_user_frame(traceback.tb_frame) else []
        traceback = traceback.tb_next
    own = [frame for frame in found if not is_left_alone(frame.f_globals.get("__name__"))]
    return next(reversed(own or found), None)


def _tree_at(location: Location) -> ast.Module | None:
    text = linecache.getline(location.filename, location.line).rstrip("\n")[location.column or 0 : location.end_column]
    try:
        return ast.parse(text.strip())
    except SyntaxError:  # an expression of several lines
        return None


def _traced_names(tree: ast.Module | None, known: dict[str, Any]) -> list[str]:
    """The names in an expression whose values are tracers, with their types."""
    nodes = ast.walk(tree) if tree is not None else ()
    names = dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name))
    return [f"`{name}` ({_shown(known[name])})" for name in names if isinstance(known.get(name), jax.core.Tracer)]


def _is_element(tree: ast.Module | None) -> bool:
    """Is it `table[k]`?"""
    return tree is not None and any(isinstance(one, ast.Expr) and isinstance(one.value, ast.Subscript) for one in tree.body)


def _shown(tracer: Any) -> str:
    return f"{tracer.dtype}[{','.join(map(str, tracer.shape))}]"
