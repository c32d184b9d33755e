"""Stencils: an array with its ends continued, of which several windows are read, is made once.

`jnp.roll(x, 1) + jnp.roll(x, -1)` joins two pairs of slices, and so does `jnp.pad(x, 1, mode="wrap")`, of which `w[2:]` and
`w[:-2]` are read. XLA on the CPU makes such a join anew in each operation that reads it, and asks for each element from which
of the parts it comes: the loop over them is no vector code, and what is computed before is computed for each roll again. Of one
copy in memory the windows are plain reads. Zeros around an array (`jnp.pad(x, 1)`), XLA has in memory anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from jax import lax
from jax.extend.core import ClosedJaxpr

from autograph_jax.loops import told
from autograph_jax.loops.axes import is_split
from autograph_jax.loops.building import Atom, Builder, is_variable

_FEWEST_ELEMENTS = 1024  # below, the loop is one kernel as a rule, in which a copy costs more than it saves
_FEWEST_OF_PLAIN_ROLLS = 16384  # where XLA's loop over a few rolls of what is in memory is vector code nevertheless
_MANY_ROLLS = 6
_SHORTEST_ROWS = 16


class _Roll(NamedTuple):
    """`jnp.roll(array, shift, axis)`, of a shift that is positive and less than the axis is long."""

    array: Any
    axis: int
    shift: int


class _Halo(NamedTuple):
    """Of an array the elements that are before its first and after its last along an axis, as its other end has them."""

    before: int
    after: int


def is_part(equation: Any) -> bool:
    """Might this be a part of a stencil?"""
    return equation.primitive.name in ("concatenate", "slice") and equation.outvars[0].aval.size >= _FEWEST_ELEMENTS


def _is_join(equation: Any) -> bool:
    return equation.primitive.name == "concatenate" and is_part(equation)


def with_halos(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with one copy for all windows of an array; itself where there is none of which several are read."""
    if not any(map(_is_join, closed.jaxpr.eqns)):
        return closed
    rolls = _rolls(closed.jaxpr)
    halos = _halos(rolls, closed.jaxpr)
    rolls = {made: roll for made, roll in rolls.items() if (roll.array, roll.axis) in halos}
    joins = _joins_read_in_windows(closed.jaxpr, rolls)
    if not halos and not joins:
        return closed

    builder = Builder(closed.in_avals)
    copies: dict[tuple[Any, int], Atom] = {}
    sliced: dict[Any, Atom] = {}  # by a slice, of what it is one

    def each(equation: Any, operands: list[Atom]) -> Sequence[Atom]:
        made = equation.outvars[0] if equation.outvars else None
        if made in rolls:
            return window(equation, rolls[made])
        if _is_slice(equation):
            sliced[made] = operands[0]
        again = builder.again(equation, operands)
        if made not in joins:
            return again
        told.tell(equation, "halos", "what several windows are read of is made once")
        return builder.of(lax.optimization_barrier, again, equation)

    def window(equation: Any, roll: _Roll) -> Sequence[Atom]:
        halo = halos[key := (roll.array, roll.axis)]
        if key not in copies:
            told.tell(equation, "halos", "rolls of one array are windows of one copy")
            array = sliced[equation.invars[0]]
            (copies[key],) = builder.of(lambda array: _continued(array, roll.axis, halo), [array], equation)
        return builder.of(lambda copy: _window(copy, roll, halo), [copies[key]], equation)

    return builder.program(closed.jaxpr, builder.of_program(closed, builder.inputs, each))


def _rolls(jaxpr: Any) -> dict[Any, _Roll]:
    """By what it makes, each roll of the program."""
    makers = {v: equation for equation in jaxpr.eqns for v in equation.outvars}
    found = ((equation.outvars[0], _roll(equation, makers)) for equation in filter(_is_join, jaxpr.eqns))
    return {made: roll for made, roll in found if roll is not None and _is_read(made, jaxpr)}


def _is_read(roll: Any, jaxpr: Any) -> bool:
    """Is more of it read than some elements?"""
    readers = [equation for equation in jaxpr.eqns if any(atom is roll for atom in equation.invars)]
    return any(atom is roll for atom in jaxpr.outvars) or not all(
        _is_slice(reader) and 2 * reader.outvars[0].aval.size < roll.aval.size for reader in readers
    )


def _roll(equation: Any, makers: dict[Any, Any]) -> _Roll | None:
    """What a join of two slices is, if they are the end and the beginning of one array."""
    axis, parts = equation.params["dimension"], equation.invars
    if len(parts) != 2 or not all(map(is_variable, parts)):
        return None
    end, beginning = (makers.get(part) for part in parts)
    if end is None or beginning is None or not _is_slice(end) or not _is_slice(beginning):
        return None
    array = end.invars[0]
    if array is not beginning.invars[0] or not is_variable(array) or array.aval.shape != equation.outvars[0].aval.shape:
        return None
    split = end.params["start_indices"][axis]
    whole = list(array.aval.shape)
    starts, limits = [0] * len(whole), list(whole)
    starts[axis] = limits[axis] = split
    is_end = list(end.params["start_indices"]) == starts and list(end.params["limit_indices"]) == whole
    is_beginning = not any(beginning.params["start_indices"]) and list(beginning.params["limit_indices"]) == limits
    shift = whole[axis] - split
    return _Roll(array, axis, shift) if is_end and is_beginning and 0 < shift < whole[axis] else None


def _is_slice(equation: Any) -> bool:
    return equation.primitive.name == "slice" and set(equation.params["strides"] or (1,)) == {1}


def _halos(rolls: dict[Any, _Roll], jaxpr: Any) -> dict[tuple[Any, int], _Halo]:
    """What each array that is rolled by several shifts along an axis needs for all of them."""
    computed = {v for equation in jaxpr.eqns for v in equation.outvars}
    is_much = len(rolls) >= _MANY_ROLLS or any(roll.array in computed for roll in rolls.values())
    shifts: dict[tuple[Any, int], set[int]] = {}
    for roll in rolls.values():
        shape = roll.array.aval.shape
        is_large = is_much or len(shape) == 1 or roll.array.aval.size >= _FEWEST_OF_PLAIN_ROLLS
        is_long = roll.axis < len(shape) - 1 or shape[-1] >= _SHORTEST_ROWS
        if is_large and is_long and not is_split(roll.array.aval):
            shifts.setdefault((roll.array, roll.axis), set()).add(roll.shift)
    found = {}
    for (array, axis), several in shifts.items():
        length = array.aval.shape[axis]
        before = max((shift for shift in several if shift <= length // 2), default=0)
        after = max((length - shift for shift in several if shift > length // 2), default=0)
        if len(several) > 1:
            found[array, axis] = _Halo(before, after)
    return found


def _joins_read_in_windows(jaxpr: Any, rolls: dict[Any, _Roll]) -> set[Any]:
    """What is put together, and of which several large windows are read."""
    joins = {equation.outvars[0] for equation in jaxpr.eqns if _is_join(equation)} - rolls.keys()
    windows: dict[Any, set[Any]] = {}
    for equation in filter(_is_slice, jaxpr.eqns):
        array = equation.invars[0]
        is_large = 2 * equation.outvars[0].aval.size > array.aval.size  # no end of it, as the next join takes one, of `jnp.pad`
        if is_variable(array) and array in joins and is_large and not is_split(array.aval):
            windows.setdefault(array, set()).add((equation.params["start_indices"], equation.params["limit_indices"]))
    return {array for array, several in windows.items() if len(several) > 1}


def _continued(array: Any, axis: int, halo: _Halo) -> Any:
    """The array with what comes before and after it."""
    length = array.shape[axis]
    before = lax.slice_in_dim(array, length - halo.before, length, axis=axis)
    after = lax.slice_in_dim(array, 0, halo.after, axis=axis)
    return lax.optimization_barrier(lax.concatenate([before, array, after], axis))


def _window(copy: Any, roll: _Roll, halo: _Halo) -> Any:
    length = copy.shape[roll.axis] - halo.before - halo.after
    shift = roll.shift if roll.shift <= length // 2 else roll.shift - length
    return lax.slice_in_dim(copy, halo.before - shift, halo.before - shift + length, axis=roll.axis)
