"""A function in C without a counterpart is called when the program runs, with NumPy's arrays: what it was, and as slow.

What it gives is seen by calling it while tracing, with numbers of no meaning in arrays of the same shapes. Arrays of integers
that are the same whatever the numbers, such as the places of a sparse matrix, stay known, which is checked at run time. To
differentiate by its arguments is an error. Integers may be indices, which C does not check: where these are traced, it is
refused, as is what takes functions, and a method, whose object may change.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from ..errors import PortingError, user_location
from . import hooks, slopes, trials
from .arrays import MutableArray, result, value_of
from .casting import canonical
from .copies import Copies

Function = Callable[..., Any]
_KNOWN = (np.ndarray, np.generic, np.dtype, bool, int, float, complex, str, type, types.NoneType)


def may_be_called(function: Any, args: Any, kwargs: Any) -> bool:
    """Can this be called at run time, with numbers in place of what is traced?"""
    owner = getattr(function, "__self__", None)
    is_nobodys = isinstance(owner, types.ModuleType | type | types.NoneType) or "pybind11" in type(owner).__module__
    leaves = jax.tree.leaves((args, kwargs), is_leaf=_is_leaf)
    return is_nobodys and all(map(_may_be_given, leaves))


def _may_be_given(leaf: Any) -> bool:
    if isinstance(value_of(leaf), jax.Array):
        return leaf.dtype.kind in "fcb"
    return isinstance(leaf, (MutableArray, *_KNOWN))


def _is_leaf(x: Any) -> bool:
    return x is None or isinstance(x, MutableArray)


def called(function: Function, args: Any, kwargs: Any) -> Any:
    """What the function gives. Arrays that it writes are written."""
    leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=_is_leaf)
    once = list({id(leaf): leaf for leaf in leaves}.values())
    arguments = list(map(_argument, once))
    traced = [leaf for leaf, argument in zip(once, arguments, strict=True) if argument.is_traced]

    def run(numbers: Sequence[Any]) -> _Outcome:
        """Call the function with these in place of what is traced."""
        remaining, copies = iter(numbers), Copies()
        given = {id(leaf): argument.given(remaining, copies) for leaf, argument in zip(once, arguments, strict=True)}
        return _outcome(function, structure, [given[id(leaf)] for leaf in leaves])

    expected = _expected(function, run, traced)
    shapes = [jax.ShapeDtypeStruct(array.shape, canonical(array.dtype)) for array in expected.traced()]

    def at_run_time(*numbers: Any) -> Any:
        try:
            found = run([np.asarray(number) for number in numbers])
            arrays = found.traced_like(expected)
        except Exception:
            arrays = None
        given = [np.zeros(s.shape, s.dtype) for s in shapes] if arrays is None else arrays
        return [np.asarray(arrays is None), *(np.asarray(a, s.dtype) for a, s in zip(given, shapes, strict=True))]

    arrays = [jnp.asarray(value_of(leaf)) for leaf in traced]
    flag = jax.ShapeDtypeStruct((), np.dtype(bool))
    lane_by_lane = _lane_by_lane(at_run_time, arrays[0].ndim)
    failed, *found = _without_derivative(function, lane_by_lane, [flag, *shapes], arrays)
    hooks.raise_where(failed, RuntimeError(f"`{_name(function)}`, a function in C, has raised an error"))
    return expected.result(found, leaves)


@dataclasses.dataclass(frozen=True)
class _Argument:
    """What is known of an argument, beside the number that a traced one has at run time."""

    is_traced: bool
    value: Any
    array: MutableArray | None = None  # which may be written
    is_python: bool = False  # a number that was Python's

    def given(self, numbers: Iterator[Any], copies: Copies) -> Any:
        """What the function gets."""
        value = next(numbers) if self.is_traced else self.value
        if self.array is not None:
            return copies.of(self.array, value, _as_meant(value.dtype))
        if not self.is_traced:
            return value.copy(order="K") if isinstance(value, np.ndarray) else value
        value = value.astype(_as_meant(value.dtype))
        return value if value.ndim else value.item() if self.is_python else value[()]


def _as_meant(dtype: np.dtype) -> np.dtype:
    """Where JAX has but 32 bits, the function in C still reads 64."""
    return dtype if jax.config.jax_enable_x64 else np.dtype(_WIDE.get(dtype.name, dtype))  # pyright: ignore[reportAttributeAccessIssue]


_WIDE = {"float32": "float64", "complex64": "complex128", "int32": "int64", "uint32": "uint64"}


def _argument(leaf: Any) -> _Argument:
    value = value_of(leaf)
    is_traced = isinstance(value, jax.Array)
    array = leaf if isinstance(leaf, MutableArray) else None
    return _Argument(is_traced, None if is_traced else value, array, is_traced and value.weak_type)


class _Outcome:
    """What a call has given and written. `kinds` tells of each part of the result what it is."""

    def __init__(self, found: Any, given: Sequence[Any], written: set[int]) -> None:
        self._parts, self._structure = jax.tree.flatten(found, is_leaf=lambda part: part is None)
        self._given, self.written = given, written
        self.fixed: dict[int, np.ndarray] = {}  # of the arrays, by number, those that are known
        self.kinds = [self._kind(part) for part in self._parts], self._structure

    def _kind(self, part: Any) -> tuple[Any, ...]:
        if isinstance(part, np.ndarray):
            same = [number for number, own in enumerate(self._given) if own is part]
            return ("argument", same[0]) if same else ("array", part.shape, part.dtype)
        if isinstance(part, bool | int | float | complex | np.generic):
            return ("array", (), np.asarray(part).dtype)
        if not isinstance(part, _KNOWN):
            raise ValueError("it gives an object")  # which may hold what differs from call to call
        return ("known", part)

    def arrays(self, written: set[int]) -> list[Any]:
        """The arrays that are made, and those that are written."""
        made = [np.asarray(part) for part, kind in zip(self._parts, self.kinds[0], strict=True) if kind[0] == "array"]
        return made + [self._given[number] for number in sorted(written)]

    def settle(self, others: Sequence[_Outcome]) -> None:
        """Which arrays are written, and which are the same in each call?"""
        self.written.update(*(other.written for other in others))
        columns = zip(*(one.arrays(self.written) for one in (self, *others)), strict=True)
        for number, (first, *rest) in enumerate(columns):
            if np.ndim(first) and first.dtype.kind in "iu" and all(_same(first, other) for other in rest):
                self.fixed[number] = first

    def traced(self) -> list[Any]:
        return [array for number, array in enumerate(self.arrays(self.written)) if number not in self.fixed]

    def traced_like(self, expected: _Outcome) -> list[Any] | None:
        """The arrays that are not known before; None where this call gives something else than is expected."""
        if self.kinds != expected.kinds or not self.written <= expected.written:
            return None
        arrays = self.arrays(expected.written)
        if not all(_same(arrays[number], fixed) for number, fixed in expected.fixed.items()):
            return None
        return [array for number, array in enumerate(arrays) if number not in expected.fixed]

    def result(self, found: Sequence[jax.Array], leaves: Sequence[Any]) -> Any:
        """The result, of what the function has given at run time."""
        remaining = iter(found)
        count = len(self.arrays(self.written))
        made = iter([self.fixed[number] if number in self.fixed else next(remaining) for number in range(count)])
        parts = [result(next(made)) if kind[0] == "array" else kind[1] for kind in self.kinds[0]]
        for number, value in zip(sorted(self.written), made, strict=True):
            if not isinstance(leaves[number], MutableArray):
                raise PortingError(
                    "a function in C writes traced values into an array of NumPy's own",
                    location=user_location(),
                    help="hand it an array that the ported code has made",
                )
            leaves[number].put(value)
        own = [leaves[part] if kind[0] == "argument" else part for part, kind in zip(parts, self.kinds[0], strict=True)]
        return jax.tree.unflatten(self._structure, own)


def _outcome(function: Function, structure: Any, given: Sequence[Any]) -> _Outcome:
    before = [np.array(value) if isinstance(value, np.ndarray) else None for value in given]
    args, kwargs = jax.tree.unflatten(structure, given)
    with np.errstate(all="ignore"):
        found = function(*args, **kwargs)
    leaves, after = jax.tree.flatten((args, kwargs), is_leaf=_is_leaf)
    if after != structure or any(leaf is not own for leaf, own in zip(leaves, given, strict=True)):
        raise ValueError("it changes a list")  # which nobody would see
    written = {
        n for n, old in enumerate(before) if old is not None and not np.array_equal(given[n], old, old.dtype.kind in "fc")
    }
    return _Outcome(found, given, written)


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    return np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")


def _expected(function: Function, run: Callable[[Sequence[Any]], _Outcome], leaves: Sequence[Any]) -> _Outcome:
    """What a call gives, as far as numbers of no meaning can tell."""
    seen = trials.outcomes(run, leaves)
    if not seen:
        raise PortingError(
            f"what `{_name(function)}`, a function in C, gives cannot be seen by calling it with numbers of no meaning",
            location=user_location(),
            help="call it on values that are known",
        )
    if any(other.kinds != seen[0].kinds for other in seen):
        raise PortingError(
            f"what `{_name(function)}`, a function in C, gives depends on the values of what is traced",
            location=user_location(),
            help="call it on values that are known",
        )
    seen[0].settle(seen[1:])
    return seen[0]


def of_ufunc(ufunc: np.ufunc) -> Function:
    """A ufunc that JAX lacks, on JAX's arrays."""

    def apply(*args: Any) -> Any:
        arrays = jnp.broadcast_arrays(*args)
        dtypes = ufunc.resolve_dtypes((*(np.dtype(array.dtype) for array in arrays), *(None,) * ufunc.nout))[ufunc.nin :]
        shapes = [jax.ShapeDtypeStruct(arrays[0].shape, canonical(dtype)) for dtype in dtypes]

        def at_run_time(*values: Any) -> Any:
            with np.errstate(all="ignore"):
                found = ufunc(*map(np.asarray, values))
            parts = found if isinstance(found, tuple) else (found,)
            return [np.asarray(part, shape.dtype) for part, shape in zip(parts, shapes, strict=True)]

        found = _without_derivative(ufunc, at_run_time, shapes, arrays)
        return found[0] if ufunc.nout == 1 else tuple(found)

    return apply


def _lane_by_lane(run: Function, ndim: int) -> Function:
    """All lanes of `jax.vmap` in one call: JAX's own way takes a call of Python from the compiled program for each.

    `ndim` is the number of dimensions of the first argument in a lane.
    """

    def apply(*given: Any) -> Any:
        numbers = list(map(np.asarray, given))  # JAX's arrays take apart slowly
        lanes = np.shape(numbers[0])[: np.ndim(numbers[0]) - ndim]
        if not lanes:
            return run(*numbers)
        rows = (np.reshape(number, (-1, *np.shape(number)[len(lanes) :])) for number in numbers)
        parts = zip(*(run(*row) for row in zip(*rows, strict=True)), strict=True)
        return [np.reshape(np.stack(part), (*lanes, *np.shape(part[0]))) for part in parts]

    return apply


def _without_derivative(function: Any, run: Function, shapes: Any, arrays: Sequence[Any]) -> Any:
    """Call NumPy's function at run time, for all lanes at once; an error where somebody wants its derivative."""

    @jax.custom_jvp
    def call(*numbers: Any) -> Any:
        return jax.pure_callback(run, shapes, *numbers, vmap_method="broadcast_all")

    def derivative(primals: Any, tangents: Any) -> Any:
        found = call(*primals)
        if all(isinstance(tangent, SymbolicZero) for tangent in tangents):
            return found, [SymbolicZero.from_primal_value(part) for part in found]
        changes = slopes.tangents(function, primals, found, tangents, of_ufunc) if isinstance(function, np.ufunc) else None
        if changes is None:
            raise PortingError(
                f"`{_name(function)}`, a function in C without a counterpart in JAX, has no derivative",
                location=place,
                help="give the solver's result a derivative of its own, by `jax.custom_jvp`",
            )
        return found, changes

    place = user_location()
    call.defjvp(derivative, symbolic_zeros=True)
    hooks.mapped(function)
    return call(*arrays)


def _name(function: Any) -> str:
    return getattr(function, "__name__", repr(function))
