"""The axes of a mesh: inside jax.shard_map, those along which devices hold different values of one array."""

from __future__ import annotations

from typing import Any

import jax

Axes = frozenset[Any]  # names of axes
NONE: Axes = frozenset()


def axes_of(value: Any) -> Axes:
    """The axes that an array varies over. JAX knows inside a shard_map with `check_vma`, and gives none elsewhere."""
    return axes_of_type(jax.typeof(value))


def axes_of_type(aval: Any) -> Axes:
    return getattr(getattr(aval, "manual_axis_type", None), "varying", NONE)


def is_split(aval: Any) -> bool:
    """May its type say how an array is split among devices? Then what is written to it has to be split alike."""
    return bool(getattr(getattr(getattr(aval, "sharding", None), "mesh", None), "explicit_axes", ()))


def struct(aval: Any) -> jax.ShapeDtypeStruct:
    """The type as an argument of jax.make_jaxpr and the like, that of an array which is not weak."""
    return struct_of(aval.shape, aval.dtype, axes=axes_of_type(aval))


def struct_of(shape: tuple[int, ...], dtype: Any, *, weak: bool = False, axes: Axes = NONE) -> jax.ShapeDtypeStruct:
    if not axes:
        return jax.ShapeDtypeStruct(shape, dtype, weak_type=weak)
    mesh = jax.sharding.NamedSharding(jax.sharding.get_abstract_mesh(), jax.P())
    manual = jax.sharding.ManualAxisType(varying=axes)
    return jax.ShapeDtypeStruct(shape, dtype, weak_type=weak, sharding=mesh, manual_axis_type=manual)


def vary(value: Any, axes: Axes) -> Any:
    """The array as one that varies over these axes too. Its derivative is the sum over them, so where this stands matters."""
    missing = axes - axes_of(value) if axes else NONE
    return jax.lax.pcast(value, tuple(sorted(missing, key=str)), to="varying") if missing else value
