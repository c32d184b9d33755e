"""NumPy's ufuncs on MutableArrays: `np.add(a, b, out=c, where=m)`, `np.add.reduce`, `.accumulate`, `.outer`, `.at`.

NumPy says which dtypes come out (`ufunc.resolve_dtypes`), jax.numpy computes. What nothing traced goes
into, NumPy computes itself.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import casting, selecting
from .arrays import MutableArray, keys, result, static, value_of, wrap
from .casting import canonical, kind_of
from .names import numpy_ufunc
from .numbers import bounded
from .selections import Selection
from .views import Value, is_static


def call(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    inputs, options = _by_name(ufunc, method, inputs, options)
    if asks_for_array(options.get("out")):
        found = call(ufunc, method, inputs, {name: option for name, option in options.items() if name != "out"})
        return tuple(map(as_array, found)) if isinstance(found, tuple) else as_array(found)
    for x in inputs:
        if isinstance(x, Selection):
            return x.__array_ufunc__(ufunc, method, *inputs, **options)
    if method == "at":
        return _at(ufunc, *inputs)
    out = options.pop("out", None)
    outs = out if isinstance(out, tuple) else (out,)
    if not all(isinstance(place, MutableArray) or place is None for place in outs):
        return NotImplemented  # a NumPy array cannot hold what is traced
    if any(place is not None and not place.flags.writeable for place in outs):
        raise ValueError("output array is read-only")
    arguments = tuple(casting.nested(value_of(x)) for x in inputs)
    if method == "__call__":
        return _call(ufunc, inputs, arguments, outs, options)
    options = {name: value_of(option) for name, option in options.items()}
    if is_static((arguments, tuple(options.values()))):
        found = getattr(ufunc, method)(*arguments, **options)
    elif method == "outer":
        return _outer(ufunc, inputs, options if outs[0] is None else {**options, "out": outs[0]})
    else:
        run = {"reduce": _reduce, "accumulate": _accumulate, "reduceat": _reduceat}[method]
        found = run(ufunc, *arguments, **options)
    return stored(found, outs[0], _layout_along(ufunc, method, inputs[0], options))


def asks_for_array(out: Any) -> bool:
    """Is it the `out=...` that makes NumPy give an array, also one without dimensions?"""
    return out is ... or isinstance(out, tuple) and len(out) > 0 and all(one is ... for one in out)


def as_array(found: Any) -> Any:
    """A result as an array, where it is a scalar."""
    return wrap(np.asarray(found) if isinstance(found, np.generic) else found) if isinstance(found, Scalar) else found


Scalar = np.generic | jax.Array
_REDUCING = ("axis", "dtype", "out", "keepdims", "initial", "where")


def _by_name(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Options by their names, where they were given by position."""
    if method == "__call__" and len(inputs) > ufunc.nin:
        return inputs[: ufunc.nin], {"out": inputs[ufunc.nin :], **options}
    if method in ("reduce", "accumulate") and len(inputs) > 1:
        return inputs[:1], {**dict(zip(_REDUCING, inputs[1:], strict=False)), **options}
    return inputs, options


def stored(found: Any, out: MutableArray | None, layout: np.ndarray | None = None, rule: str = "unsafe") -> Any:
    """A result, or `out=` with the result in it."""
    if out is None:
        return result(found, layout if layout is not None and layout.shape == np.shape(found) else None)
    if np.shape(found) != out.shape:
        raise ValueError(f"output operand has shape {out.shape}, the result {np.shape(found)}")
    out.put(found, rule)
    return out


def _layout_along(ufunc: np.ufunc, method: str, array: Any, options: dict[str, Any]) -> np.ndarray | None:
    if method == "reduceat" or not isinstance(array, MutableArray) or array.flags.c_contiguous or array.ndim < 2:
        return None
    options = {name: static(option) for name, option in options.items() if name in ("axis", "keepdims")}
    made = getattr(np.logical_or, method)(array.shadow, **options)
    return made if isinstance(made, np.ndarray) else None


# ------------------------------------------------------------------ f(a, b)


def _call(ufunc: np.ufunc, inputs: Any, arguments: Any, outs: Any, options: dict[str, Any]) -> Any:
    where = value_of(options.pop("where", True))
    rule, chosen = options.pop("casting", "same_kind"), _chosen(ufunc, options)
    options = {name: value for name, value in options.items() if name not in ("order", "subok")}
    if len(outs) < ufunc.nout:
        outs = (None,) * ufunc.nout
    if is_static((arguments, where, tuple(value_of(out) for out in outs))):
        founds, layout = _by_numpy(ufunc, arguments, rule, chosen, where, outs, options), None
    else:
        founds, layout = _by_jax(ufunc, arguments, rule, chosen, outs, options), _layout(ufunc, inputs, arguments)
    results = tuple(_placed(found, out, where, layout) for found, out in zip(founds, outs, strict=True))
    return results if ufunc.nout > 1 else results[0]


def _chosen(ufunc: np.ufunc, options: dict[str, Any]) -> dict[str, Any]:
    """The dtypes of a loop that the caller asks for, by `dtype` or `signature`, as a `signature`."""
    dtype = options.pop("dtype", None)
    signature = options.pop("signature", options.pop("sig", None))
    if isinstance(signature, str):
        signature = tuple(map(np.dtype, signature.replace("->", "")))
    if isinstance(dtype, type) and issubclass(dtype, np.dtype):  # `dtype=type(x.dtype)`
        dtype = np.dtype(getattr(dtype, "type", dtype))
    if signature is None and dtype is not None:
        signature = (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout
    return {} if signature is None else {"signature": signature}


def _by_numpy(ufunc: Any, arguments: Any, rule: str, chosen: Any, where: Any, outs: Any, options: Any) -> tuple[Any, ...]:
    targets = tuple(None if out is None else np.array(out.value, order="K") for out in outs)
    masked = {} if where is True else {"where": where}
    out = {} if all(target is None for target in targets) else {"out": targets}
    found = ufunc(*arguments, casting=rule, **chosen, **masked, **out, **options)
    return found if ufunc.nout > 1 else (found,)


def _by_jax(ufunc: np.ufunc, arguments: Any, rule: str, chosen: dict[str, Any], outs: Any, options: Any) -> tuple[Any, ...]:
    dtypes = resolved(ufunc, arguments, outs, rule, chosen)
    if not ufunc.signature:
        np.broadcast(*(np.broadcast_to(0, np.shape(argument)) for argument in arguments))  # NumPy's error for shapes
    # NumPy computes in 32 bits for floats of 16, where each step of XLA's may be rounded.
    is_half = ufunc not in (np.nextafter, np.spacing)
    loop = [np.dtype(np.float32) if is_half and to == np.float16 else to for to in dtypes]
    cast = [_as(argument, to) for argument, to in zip(arguments, loop, strict=False)]
    found = numpy_ufunc(ufunc)(*cast, **{name: static(option) for name, option in options.items()})
    founds = found if ufunc.nout > 1 else (found,)
    return tuple(x.astype(canonical(to)) for x, to in zip(founds, dtypes[ufunc.nin :], strict=True))


def resolved(
    ufunc: np.ufunc, arguments: Any, outs: Any = (), rule: str = "same_kind", chosen: dict[str, Any] | None = None
) -> tuple[np.dtype, ...]:
    """The dtypes that NumPy computes with and gives; a Python number adapts to the arrays beside it."""
    kinds = tuple(kind if isinstance(kind, np.dtype) else type(kind) for kind in map(kind_of, arguments))
    if all(kind in (int, float, complex) for kind in kinds):
        kinds = tuple(np.dtype(kind) for kind in kinds)
    outs = tuple(None if out is None else out.dtype for out in outs) or (None,) * ufunc.nout
    return ufunc.resolve_dtypes(kinds + outs, casting=rule, **(chosen or {}))  # type: ignore[arg-type]


def _as(argument: Any, dtype: np.dtype) -> Value:
    """What is known stays known: `x**2` is no power of a traced exponent."""
    if isinstance(argument, jax.Array):
        return casting.to(argument, canonical(dtype))
    return np.asarray(np.asarray(argument, dtype=dtype if type(argument) in (int, float, complex) else None), canonical(dtype))


def _layout(ufunc: np.ufunc, inputs: Any, arguments: Any) -> np.ndarray | None:
    """Where all operands are Fortran's, so is what NumPy makes of them: `(a.T + 1).ravel()` is a copy."""
    shadows = [_shadow_of(*pair) for pair in zip(inputs, arguments, strict=True)]
    if ufunc.signature or all(shadow.flags.c_contiguous for shadow in shadows):
        return None
    flags = [["readonly"]] * len(shadows) + [["writeonly", "allocate"]]
    made = np.nditer([*shadows, None], ["zerosize_ok"], flags, [*(s.dtype for s in shadows), np.dtype(float)])  # type: ignore[list-item]
    return made.operands[-1]


def _shadow_of(operand: Any, argument: Any) -> np.ndarray:
    if isinstance(operand, MutableArray):
        return operand.shadow
    return argument if isinstance(argument, np.ndarray) else np.empty(np.shape(argument))


def _placed(found: Any, out: MutableArray | None, where: Any, layout: np.ndarray | None) -> Any:
    if out is None:
        # NumPy leaves what `where` spares unset: zero is as good as anything
        if where is not True and not is_static((found, where)):
            found = jnp.where(where, found, jnp.zeros((), found.dtype))
        return result(found, layout if layout is not None and layout.shape == np.shape(found) else None)
    if np.broadcast_shapes(np.shape(found), out.shape) != out.shape:
        raise ValueError(f"non-broadcastable output operand with shape {out.shape} doesn't match the shape {np.shape(found)}")
    if where is not True and not is_static((found, where, out.value)):
        found = jnp.where(where, found, out.value)
    out.put(found)
    return out


# ------------------------------------------------------------------ f.reduce(a), f.accumulate(a), f.outer(a, b), f.at(a, i, b)

_REDUCTIONS = {
    np.add: jnp.sum, np.multiply: jnp.prod, np.maximum: jnp.max, np.minimum: jnp.min,
    np.logical_and: jnp.all, np.logical_or: jnp.any,
}  # fmt: skip
_UNSET = object()


def _reduce(
    ufunc: np.ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: Any = False,
    initial: Any = _UNSET,
    where: Any = True,
) -> Any:
    array = jnp.asarray(array)
    axis = static(axis)
    sample = np.ones((1,) * array.ndim, array.dtype)
    into = canonical(ufunc.reduce(sample, axis=axis, dtype=dtype).dtype)
    given = {} if initial is _UNSET or initial is np._NoValue else {"initial": initial}
    masked = {} if where is True or where is np._NoValue else {"where": jnp.asarray(where)}
    is_plain = into.kind != "c" if ufunc in (np.maximum, np.minimum) else into.kind != "b" or not given
    if ufunc in _REDUCTIONS and is_plain:  # XLA's maxima of complex numbers lose what is no number
        found = _REDUCTIONS[ufunc](casting.to(array, into), axis=axis, keepdims=bool(keepdims), **given, **masked)
        is_count = ufunc is np.add and array.dtype == bool and into == canonical(int) and not given and not found.ndim
        return bounded(found, array.size) if is_count else found.astype(into)  # `np.eye(mask.sum())`
    return _jax_ufunc(ufunc).reduce(casting.to(array, into), axis=axis, keepdims=bool(keepdims), **given, **masked).astype(into)


def _accumulate(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None) -> Any:
    array = jnp.asarray(array)
    into = canonical(ufunc.accumulate(np.ones((1,) * array.ndim, array.dtype), dtype=dtype).dtype)
    array, axis = casting.to(array, into), static(axis) % array.ndim
    known = {np.add: jax.lax.cumsum, np.multiply: jax.lax.cumprod, np.maximum: jax.lax.cummax, np.minimum: jax.lax.cummin}
    return (
        known[ufunc](array, axis=axis)
        if ufunc in known and into.kind != "b"
        else _jax_ufunc(ufunc).accumulate(array, axis=axis)
    )


def _outer(ufunc: np.ufunc, inputs: Any, options: dict[str, Any]) -> Any:
    first, second = (x if isinstance(x, MutableArray) else result(_as_array(value_of(x))) for x in inputs)
    return ufunc(first[(..., *(None,) * np.ndim(value_of(second)))], second, **options)


def _as_array(x: Any) -> jax.Array:
    """A Python number, traced or not, as an array of NumPy's: it does not adapt to the other one."""
    return jnp.asarray(x, jnp.result_type(x))


def _reduceat(ufunc: np.ufunc, array: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    array = jnp.asarray(array)
    into = canonical(ufunc.reduce(np.ones((1,) * array.ndim, array.dtype), axis=axis, dtype=dtype).dtype)
    return _jax_ufunc(ufunc).reduceat(casting.to(array, into), jnp.asarray(indices), axis=static(axis)).astype(into)


def _at(ufunc: np.ufunc, array: Any, key: Any, *operand: Any) -> Any:
    """Each place is changed as often as the key names it."""
    if not isinstance(array, MutableArray):
        return NotImplemented
    value, (actual, _) = array.value, keys(key)
    selecting.check_handled(array.shape, actual)
    operands = tuple(casting.nested(value_of(x)) for x in operand)
    if is_static((value, actual, operands)):
        changed = value.copy(order="K")
        ufunc.at(changed, actual, *operands)
    else:
        dtypes = operand_dtypes(ufunc, value, operands)
        places = jnp.arange(array.size).reshape(array.shape)[actual]
        others = [jnp.broadcast_to(_as(x, dtypes[1]), places.shape).ravel() for x in operands]
        changed = repeated(ufunc, jnp.asarray(value), places.ravel(), others, dtypes[0])
    array.put(changed)


def operand_dtypes(ufunc: np.ufunc, array: Any, operands: tuple[Any, ...]) -> tuple[np.dtype, ...]:
    """What `ufunc.at` computes with."""
    return resolved(ufunc, (array, *operands), rule="unsafe")


def repeated(ufunc: np.ufunc, value: jax.Array, places: jax.Array, others: list[jax.Array], dtype: Any) -> jax.Array:
    flat = value.reshape(-1)
    if ufunc in (np.add, np.subtract) and value.dtype == dtype and dtype.kind != "b":
        flat = flat.at[places].add(others[0] if ufunc is np.add else -others[0])
        return flat.reshape(value.shape)
    function = numpy_ufunc(ufunc)

    def step(flat: jax.Array, turn: Any) -> tuple[jax.Array, None]:
        place, *operands = turn
        return flat.at[place].set(function(flat[place].astype(dtype), *operands).astype(flat.dtype)), None

    return jax.lax.scan(step, flat, (places, *others))[0].reshape(value.shape)


def _jax_ufunc(ufunc: np.ufunc) -> Any:
    return jnp.frompyfunc(numpy_ufunc(ufunc), ufunc.nin, ufunc.nout, identity=ufunc.identity)
