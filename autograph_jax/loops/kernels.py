"""Which loops are compiled as one piece of machine code, on the CPU (`kernel_calls.py` says how).

XLA's CPU backend compiles a while loop into one function by itself only where a turn touches less than about 1 KiB; otherwise
each operation of the body is a kernel of its own that an interpreter starts, some 100 ns each.

What such a loop may hold is a list of what is known to compile (XLA's emitter of whole calls has no custom calls, no sorts, no
large products, reductions or scatters), up to a size at which interpreting costs little anyway. XLA promises nothing here:
tests/loops/test_kernels.py compiles all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from jax.sharding import Sharding

from autograph_jax.loops.axes import axes_of_type
from autograph_jax.loops.caches import cached
from autograph_jax.loops.evaluation import IDENTITIES, programs_of
from autograph_jax.loops.factors import WRITTEN_OUT
from autograph_jax.loops.kernel_calls import is_known, kernel_p

_MOST_ELEMENTS = 1024  # that an operation gives, or reduces
_MOST_OF_A_MATRIX = 16384  # that a vector is multiplied by
_LARGEST_MATRIX = 6  # rows, columns or depth of a product of two matrices; from 8 on XLA calls a library
_MOST_BYTES = 32768  # that a turn writes, in loops inside of it too; numbers by themselves, in registers, do not count
_MOST_EQUATIONS = 8000
_FEW_EQUATIONS = 128
_UNROLLED_FROM = 512  # turns: a shorter loop is over soon, and takes longer to compile
_MOST_UNROLLED = 256  # operations in the turns that stand one after the other
_MOST_UNROLLED_OF_WRITES = 96  # the same, where XLA makes a function of each read and write, and takes longer to compile them
_MOST_TURNS_AT_ONCE = 8
_FEW_ELEMENTS = 16
_MANY_TURNS = 64  # of an inner loop: then it is the one that counts
_LONG_LOOP = "a loop in it has many turns, and is compiled for itself"

_TYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128"
    " key<fry>".split()
)
BY_ELEMENT = frozenset(
    "abs acos acosh add and asin asinh atan atan2 atanh bitcast_convert_type cbrt ceil clamp clz complex conj"
    " convert_element_type copy copy_p cos cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt imag integer_pow"
    " is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter not or population_count pow real"
    " reduce_precision rem round rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt square"
    " stop_gradient sub tan tanh xor add_any random_bits threefry2x32 random_wrap random_unwrap random_seed random_fold_in"
    " rounded mul_p within".split()
)
_ARITHMETIC = frozenset(
    "add sub mul div sqrt rsqrt exp log sin cos tan tanh pow integer_pow square logistic erf neg abs".split()
)
_SHAPES = frozenset(
    "broadcast_in_dim reshape squeeze expand_dims transpose rev iota pad concatenate slice dynamic_slice gather split empty"
    " optimization_barrier stack unstack".split()
)
_REDUCTIONS = frozenset(
    "reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or reduce_xor argmax argmin cumsum cumprod cummax cummin"
    " cumlogsumexp".split()
)
_TAKEN_APART = IDENTITIES | WRITTEN_OUT.keys() | {"sort", "custom_linear_solve"}
_PROGRAMS = frozenset("cond while scan jit pjit closed_call core_call custom_jvp_call custom_vjp_call checkpoint turn".split())


def why_not(equation: Any, params: dict[str, Any]) -> str | None:
    """Why a loop with these parameters is not to be one kernel; None if it may be."""
    if equation.effects:
        return "it calls Python"
    if not equation.outvars or not is_known:
        return "it gives nothing, or XLA's calls are not known"
    try:
        return _Measure().of_loop(equation.primitive.name, params)
    except _TooMuchError as error:
        return str(error)


def surely_not(programs: Sequence[Any], lanes: int = 1) -> str | None:
    """The same for programs before they are compiled, of which so many run side by side; None where it is not known yet.

    Of operations only those that compute count: what is moved may become less.
    """
    if any(map(_has_many_turns, programs)):
        return _LONG_LOOP
    work = _work(tuple(programs))
    if work.largest * lanes > _MOST_ELEMENTS:
        return f"it computes {work.largest * lanes:,} numbers at once"
    if work.operations > 3 * _MOST_EQUATIONS:  # in calls and branches, some for nothing
        return f"it has more than {_MOST_EQUATIONS:,} operations"
    written = work.bytes_of_arrays * lanes + (work.bytes_of_numbers * lanes if lanes > 1 else 0)
    return f"a turn computes {written:,} bytes" if written > 2 * _MOST_BYTES else None  # some of it twice, perhaps


def _has_many_turns(jaxpr: Any) -> bool:
    return any(_is_long(e) or any(map(_has_many_turns, programs_of(e.params))) for e in jaxpr.eqns)


def _is_long(equation: Any) -> bool:
    return equation.primitive.name == "scan" and equation.params["length"] >= _MANY_TURNS


def knows(programs: Sequence[Any]) -> bool:
    """Is all that is in these programs, before they are compiled, what a kernel may hold, or what may become that?"""
    return all(
        (equation.primitive.name in _PROGRAMS | _TAKEN_APART or _rule(equation.primitive.name) is not None)
        and not _is_placed(equation)
        and knows(programs_of(equation.params))
        for jaxpr in programs
        for equation in jaxpr.eqns
    )


def _is_placed(equation: Any) -> bool:
    """Is it a call whose arguments or results are said to be on these devices?"""
    params = equation.params
    return any(isinstance(s, Sharding) for name in ("in_shardings", "out_shardings") for s in params.get(name, ()))


def turns_at_once(params: dict[str, Any]) -> int:
    """How many turns of a scan that is a kernel stand one after the other, so that the loop itself costs less: a power of two.

    Only where they compute few numbers. XLA would copy an array that is read and written, and products of matrices take longer.
    """
    equations = params["jaxpr"].jaxpr.eqns
    if params["length"] < _UNROLLED_FROM or not all(_is_short(equation, equations) for equation in equations):
        return 1
    operations = _MOST_UNROLLED if not _writes(equations) else _MOST_UNROLLED_OF_WRITES
    most = min(operations // max(len(equations), 1), _MOST_TURNS_AT_ONCE)
    return 1 << max(most.bit_length() - 1, 0)


def may_be_unrolled(params: dict[str, Any]) -> bool:
    """Could so many turns stand one after the other, were no array read that they write?"""
    equations = params["jaxpr"].jaxpr.eqns
    return _writes(equations) and params["length"] >= _UNROLLED_FROM and len(equations) <= _MOST_UNROLLED_OF_WRITES


def _writes(equations: Sequence[Any]) -> bool:
    return any(equation.primitive.name == "dynamic_update_slice" for equation in equations)


def _is_short(equation: Any, equations: Sequence[Any]) -> bool:
    if equation.primitive.name == "dynamic_update_slice":
        readers = [other for other in equations for atom in other.invars if atom is equation.invars[0]]
        return len(readers) == 1 and equation.invars[1].aval.size <= _FEW_ELEMENTS
    is_known = equation.primitive.name in BY_ELEMENT | _SHAPES
    return is_known and all(v.aval.size <= _FEW_ELEMENTS for v in equation.outvars)


def may_be_several(jaxpr: Any, lanes: int) -> bool:
    """Could kernels of a compiled program do the same for so many lanes at once, as far as one sees before it is tried?"""
    return all(
        _bytes_written(loop, lanes) <= 2 * _MOST_BYTES  # some of them are the same for all lanes
        for equation in jaxpr.eqns
        for program in programs_of(equation.params)
        for loop in program.eqns
        if equation.primitive is kernel_p
    )


def _bytes_written(loop: Any, lanes: int) -> int:
    measure = _Measure(lanes)
    for inner in programs_of(loop.params):
        measure.look(inner)
    return measure.bytes


def are_short(programs: Iterable[Any]) -> bool:
    """Are these of so few operations that to compile them, and see, is as quick as to find out whether it is worth it?"""
    return _count(programs) <= _FEW_EQUATIONS


def _count(programs: Iterable[Any]) -> int:
    return sum(1 + _count(programs_of(equation.params)) for jaxpr in programs for equation in jaxpr.eqns)


class _Work(NamedTuple):
    """What programs compute: of how many elements the largest array is, how many operations they are, and what they write."""

    largest: int
    operations: int
    bytes_of_arrays: int
    bytes_of_numbers: int


@cached(256)
def _work(programs: tuple[Any, ...]) -> _Work:
    computed = [(aval.size, aval.size * aval.dtype.itemsize) for aval in _computed(programs)]
    largest = max((size for size, _ in computed), default=0)
    arrays, numbers = (sum(own for size, own in computed if (size > 1) == many) for many in (True, False))
    return _Work(largest, _count(programs), arrays, numbers)


def _computed(programs: Iterable[Any]) -> Iterator[Any]:
    for jaxpr in programs:
        for equation in jaxpr.eqns:
            if equation.primitive.name in _ARITHMETIC:
                yield equation.outvars[0].aval
            elif equation.primitive.name in _PROGRAMS:
                yield from _computed(programs_of(equation.params))


class _TooMuchError(Exception):
    """What a kernel may not hold."""


class _Measure:
    """Looks through a loop's programs, and raises where something in them does not belong into a kernel."""

    def __init__(self, lanes: int = 1) -> None:
        self._equations, self._lanes = 0, lanes
        self.bytes = 0

    def of_loop(self, name: str, params: dict[str, Any]) -> None:
        for inner in programs_of(params):
            self.look(inner)
        if self.bytes > _MOST_BYTES:
            raise _TooMuchError(f"a turn writes {self.bytes:,} bytes")

    def look(self, jaxpr: Any) -> None:
        for equation in jaxpr.eqns:
            self._equations += 1
            if self._equations > _MOST_EQUATIONS:
                raise _TooMuchError(f"it has more than {_MOST_EQUATIONS:,} operations")
            self._one(equation)

    def _one(self, equation: Any) -> None:
        name = equation.primitive.name
        if equation.effects or any(axes_of_type(v.aval) for v in equation.outvars):
            raise _TooMuchError(f"`{name}` has effects, or differs between devices")
        if name in _PROGRAMS:
            if _is_long(equation):
                raise _TooMuchError(_LONG_LOOP)
            for inner in programs_of(equation.params):
                self.look(inner)
            return
        rule = _rule(name)
        if rule is None:
            raise _TooMuchError(f"`{name}` cannot be in it")
        counted = rule(equation)
        for variable in counted:
            aval = variable.aval
            if str(aval.dtype) not in _TYPES:
                raise _TooMuchError(f"it holds values of type {aval.dtype}")
            if aval.size > _MOST_ELEMENTS:
                raise _TooMuchError(f"`{name}` is of {aval.size:,} elements")
            self.bytes += _bytes(aval, self._lanes)


def _bytes(aval: Any, lanes: int) -> int:
    return aval.size * lanes * aval.dtype.itemsize if aval.size * lanes > 1 else 0


Rule = Callable[[Any], Sequence[Any]]  # which variables of an equation count as what it takes


def _rule(name: str) -> Rule | None:
    if name in BY_ELEMENT or name in _SHAPES:
        return lambda equation: equation.outvars
    if name in _REDUCTIONS:
        return lambda equation: [v for v in equation.invars if not hasattr(v, "val")]
    return _RULES.get(name)


def _written(equation: Any) -> Sequence[Any]:
    return [v for v in equation.invars[1:2] if not hasattr(v, "val")]


def _scattered(equation: Any) -> Sequence[Any]:
    """One element, or one window: XLA makes a write at a place of it."""
    _, indices, update = equation.invars
    numbers = equation.params["dimension_numbers"]
    if math.prod(indices.aval.shape[:-1]) != 1 or len(numbers.update_window_dims) < len(update.aval.shape) - 1:
        raise _TooMuchError("it writes to many places at once")
    return [v for v in (update,) if not hasattr(v, "val")]


def _multiplied(equation: Any) -> Sequence[Any]:
    left, right = (atom.aval for atom in equation.invars)
    (contracted, _), (batched, _) = equation.params["dimension_numbers"]
    depth = math.prod(left.shape[d] for d in contracted)
    batch = math.prod(left.shape[d] for d in batched)
    rows, columns = (max(aval.size // max(depth * batch, 1), 1) for aval in (left, right))
    if min(rows, columns) > 1 and max(rows, columns, depth) > _LARGEST_MATRIX:
        raise _TooMuchError(f"it multiplies matrices, {rows}x{depth} by {depth}x{columns}")
    if max(left.size, right.size) > (_MOST_OF_A_MATRIX if max(rows, columns) > 1 else _MOST_ELEMENTS):
        raise _TooMuchError(f"it multiplies by a matrix of {max(left.size, right.size):,} elements")
    return equation.outvars


_RULES: dict[str, Rule] = {
    "dynamic_update_slice": _written,
    "scatter": _scattered,
    "dot_general": _multiplied,
}
