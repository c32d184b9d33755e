"""`ag.testing.check_parity`: does a function give the same as Python, converted, compiled, mapped and differentiated?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import jax.test_util
import numpy as np

from autograph_jax.runtime.decorator import autograph
from autograph_jax.runtime.jit import jit
from autograph_jax.runtime.mapped import vmap

TRANSFORMS = ("jit", "vmap", "grad")


class ParityError(AssertionError):
    """A converted function gives something else than the function itself."""


def check_parity(
    function: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    transforms: Sequence[str] = TRANSFORMS,
    rtol: float = 1e-5,
    atol: float = 1e-6,
) -> Any:
    """Raise ParityError unless a function gives what it gives as plain Python, in each of these ways; its value.

    Always: converted, on the arguments as they are. "jit": compiled by `ag.jit`. "vmap": two copies of the arguments, mapped
    over. "grad": its derivatives by the floating-point arguments, forward and in reverse, against finite differences, with
    JAX's tolerances for these. `function` is the undecorated one; arguments that JAX cannot trace are static.

        >>> def root(a):
        ...     x = a
        ...     while abs(x * x - a) > 1e-6:
        ...         x = 0.5 * (x + a / x)
        ...     return x
        >>> print(check_parity(root, [2.0]))
        1.4142135

    Integers, strings and structure have to be equal, floats within `rtol` and `atol`. Raises ValueError for an unknown
    transform, and what the function raises.
    """
    if unknown := set(transforms) - set(TRANSFORMS):
        raise ValueError(f"transforms={transforms}: {', '.join(sorted(unknown))} is none of {', '.join(TRANSFORMS)}")
    kwargs = dict(kwargs or {})
    expected = function(*args, **kwargs)
    converted = autograph(function)
    call = _Call(converted, tuple(args), kwargs)
    _compare("converted", expected, converted(*args, **kwargs), rtol, atol)
    if "jit" in transforms:
        _compare("compiled by ag.jit", expected, jit(call.of_traced)(*call.traced), rtol, atol)
    if "vmap" in transforms and _all(_is_numeric, expected) and call.traced:
        doubled = jax.tree.map(lambda leaf: jnp.stack([jnp.asarray(leaf)] * 2), call.traced)
        both = vmap(call.of_traced)(*doubled)
        for lane in range(2):
            _compare(f"lane {lane} under ag.vmap", expected, jax.tree.map(lambda leaf, n=lane: leaf[n], both), rtol, atol)
    if "grad" in transforms and (floats := call.floats()):
        _check_derivatives(call, floats)
    return expected


class _Call:
    """A call of a function, as one of those arguments that JAX can trace."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.places: list[int | str] = [*range(len(args)), *kwargs]
        self.places = [place for place in self.places if _all(_is_numeric, self[place])]
        self.traced = [self[place] for place in self.places]

    def __getitem__(self, place: int | str) -> Any:
        return self.args[place] if isinstance(place, int) else self.kwargs[place]

    def of_traced(self, *values: Any) -> Any:
        given = dict(zip(self.places, values, strict=True))
        args = [given.get(place, value) for place, value in enumerate(self.args)]
        return self.function(*args, **{name: given.get(name, value) for name, value in self.kwargs.items()})

    def floats(self) -> list[int]:
        """The arguments, among the traced ones, that consist of floats."""
        return [number for number, value in enumerate(self.traced) if jax.tree.leaves(value) and _all(_is_float, value)]


def _check_derivatives(call: _Call, floats: list[int]) -> None:
    compiled = jit(call.of_traced)

    def of_floats(*values: Any) -> Any:
        given = dict(zip(floats, values, strict=True))
        out = compiled(*(given.get(number, value) for number, value in enumerate(call.traced)))
        return [leaf for leaf in jax.tree.leaves(out) if _is_numeric(leaf) and _is_float(leaf)]

    values = tuple(jax.tree.map(jnp.asarray, call.traced[number]) for number in floats)
    try:
        jax.test_util.check_grads(of_floats, values, order=1, modes=("fwd", "rev"))
    except AssertionError as error:
        raise ParityError(f"the derivatives of {_name(call.function)} are not the finite differences: {error}") from None


def _compare(way: str, expected: Any, got: Any, rtol: float, atol: float) -> None:
    wanted, structure = jax.tree.flatten_with_path(expected)
    found, other = jax.tree.flatten_with_path(got)
    if structure != other:
        raise ParityError(f"{way}: the structure is {other}, in Python it is {structure}")
    for (path, one), (_, two) in zip(wanted, found, strict=True):
        if not _same(one, two, rtol, atol):
            where = f"result{jax.tree_util.keystr(path)}"
            raise ParityError(f"{way}: {where} is {two!r}, in Python it is {one!r}")


def _same(one: Any, two: Any, rtol: float, atol: float) -> bool:
    if not _is_numeric(one) or not _is_numeric(two):
        return bool(one == two)
    if np.shape(one) != np.shape(two):
        return False
    if _is_float(one) or _is_float(two):
        return np.allclose(np.asarray(two), np.asarray(one), rtol=rtol, atol=atol, equal_nan=True)
    return bool(np.array_equal(one, two))


def _all(holds: Callable[[Any], bool], tree: Any) -> bool:
    return all(map(holds, jax.tree.leaves(tree)))


def _is_numeric(leaf: Any) -> bool:
    return isinstance(leaf, bool | int | float | complex | np.ndarray | np.generic | jax.Array)


def _is_float(leaf: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(leaf), jnp.inexact)


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", repr(function))
