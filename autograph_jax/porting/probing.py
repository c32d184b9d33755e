"""What a function of NumPy makes of the axes of selections is seen by calling it on arrays of several sizes.

`A[:k, :k] @ x[:m]` works in NumPy where k is m, so the two are taken to be, which is checked at run time. Of an axis of the
result whose size is that of `A[:k]`, the same rows count.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .arrays import MutableArray, value_of, wrap
from .computing import together
from .rows import Rows, refusal
from .selections import Selection, selected

Function = Callable[..., Any]
Axis = tuple[int, int]  # the number of a selection, and an axis of it
Label = int | str  # axes of one label have as many rows: how many is not known, or a number


def of_products(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """`np.dot(a[:k], b[:k])`, `A[:, :k] @ x[:k]`: to a sum of products, rows of zeros add nothing."""
    return through(function, args, kwargs, lambda selection, _: selection.filled(0))


def through(
    function: Function, args: Any, kwargs: Any, prepared: Callable[[Selection, Selection], Any], ones: Any = np.ones
) -> Any:
    """What a function makes of all rows; of each axis of the result that grows with their number, these count."""
    from . import functions  # which call this

    selections = list({id(leaf): leaf for leaf in leaves((args, kwargs)) if isinstance(leaf, Selection)}.values())
    for labels in _labelled(selections, args, kwargs):
        grown = _grown(function, args, kwargs, selections, labels, ones)
        if grown is not None:
            break
    else:
        raise refusal(f"`np.{function.__name__}` is called with it")
    rows, ready = _brought_together(selections, labels)
    arrays = {
        id(old): _array(prepared(new, old) if isinstance(new, Selection) else new)
        for old, new in zip(selections, ready, strict=True)
    }
    given, options = (replaced(x, lambda leaf: arrays.get(id(leaf), leaf)) for x in (args, kwargs))
    found = functions.ported(function, given, options)
    parts: list[Any] = []
    for part, one in zip(found if isinstance(found, tuple) else (found,), grown, strict=True):
        own = {axis: rows[label] for axis, label in one.items()}
        parts.append(selected(part, own) if own else part)
    if not isinstance(found, tuple):
        return parts[0]
    return type(found)(*parts) if hasattr(found, "_fields") else tuple(parts)


def moved(function: Function, selection: Selection, rest: Any, kwargs: Any) -> Any:
    """What a function gives that only moves axes: a view, where NumPy gives one."""
    labels: dict[Axis, Label] = {(0, axis): axis for axis in selection.rows}
    grown = _grown(function, (selection, *rest), kwargs, [selection], labels, np.ones)
    if grown is None or sorted(map(str, grown[0].values())) != sorted(map(str, selection.rows)):
        raise refusal(f"`np.{function.__name__}` is called with it")
    found = function(selection.array, *rest, **kwargs)
    return Selection(found, {axis: selection.rows[int(label)] for axis, label in grown[0].items()})


def _array(x: Any) -> Any:
    return x if isinstance(x, MutableArray) else wrap(jnp.asarray(value_of(x)))


# ------------------------------------------------------------------ which axes have as many rows


def _labelled(selections: Sequence[Selection], args: Any, kwargs: Any) -> Iterator[dict[Axis, Label]]:
    """Which axes of the arguments may have as many rows as each other, or a known number: first what assumes least."""
    groups: list[list[Axis]] = []
    for number, selection in enumerate(selections):
        for axis, rows in selection.rows.items():
            alike = next((group for group in groups if _rows_at(selections, group[0]).is_same(rows)), None)
            if alike is None:
                groups.append([(number, axis)])
            else:
                alike.append((number, axis))
    sizes = {size for leaf in leaves((args, kwargs)) for size in _known_sizes(leaf)}
    known = [str(size) for size in sorted(sizes, reverse=True)]  # what is 1 fits beside much
    count = len(groups)
    if count > 4:
        ways: list[tuple[Label, ...]] = [(0,) * count]
    else:
        ways = sorted(_partitions(count), key=lambda way: -len(set(way)))
        ways += [
            way
            for way in itertools.product((*range(count), *known), repeat=count)
            if len(known) ** count <= 64 and any(isinstance(label, str) for label in way)
        ]
        ways = sorted(ways, key=lambda way: sum(isinstance(label, str) for label in way))
    for way in ways:
        yield {one: label for group, label in zip(groups, way, strict=True) for one in group}


def _rows_at(selections: Sequence[Selection], axis: Axis) -> Rows:
    return selections[axis[0]].rows[axis[1]]


def _known_sizes(leaf: Any) -> tuple[int, ...]:
    if isinstance(leaf, Selection):
        return tuple(size for axis, size in enumerate(leaf.array.shape) if axis not in leaf.rows)
    return leaf.shape if isinstance(leaf, MutableArray | jax.Array | np.ndarray) else ()


def _partitions(count: int) -> Iterator[tuple[int, ...]]:
    for way in itertools.product(range(count), repeat=count):
        if all(label <= max(way[:number], default=-1) + 1 for number, label in enumerate(way)):
            yield way


def _brought_together(
    selections: Sequence[Selection], labels: Mapping[Axis, Label]
) -> tuple[dict[Label, Rows], list[Selection | MutableArray]]:
    """The selections with the rows of each label one beside the other, and which of these count."""
    ready: list[Any] = list(selections)
    rows: dict[Label, Rows] = {}
    for label in dict.fromkeys(labels.values()):
        axes = [axis for axis, own in labels.items() if own == label]
        if isinstance(label, str):
            for number, axis in axes:
                ready[number] = ready[number].exactly(int(label), axis)
        else:
            rows[label], ready = together(ready, axes)
    return rows, ready


# ------------------------------------------------------------------ which axes the result has


def _grown(
    function: Function, args: Any, kwargs: Any, selections: Sequence[Selection], labels: Mapping[Axis, Label], ones: Any
) -> list[dict[int, Label]] | None:
    """Of each result the axes that are as long as the axes of one label; None where NumPy refuses, or they are not."""
    known = {size for leaf in leaves((args, kwargs)) for size in _known_sizes(leaf)} | {int(x) for x in labels.values()}
    names = [label for label in dict.fromkeys(labels.values()) if not isinstance(label, str)]
    seen: list[tuple[Mapping[Label, int], list[tuple[int, ...]]]] = []
    most = max(known, default=1) + 2
    for first in (2, most):
        numbers = [n for n in range(first, first + 4 * len(names) + 4 * len(known) + 8) if not known & {n, n + 1}]
        base: dict[Label, int] = {label: numbers[2 * place] for place, label in enumerate(names)}
        for sizes in (base, *({**base, label: base[label] + 1} for label in names)):
            shapes = _shapes(function, args, kwargs, selections, labels, sizes, ones)
            if shapes is None or seen and [len(shape) for shape in shapes] != [len(shape) for shape in seen[0][1]]:
                return None
            seen.append((sizes, shapes))
    found: list[dict[int, Label]] = []
    for number, shape in enumerate(seen[0][1]):
        found.append({})
        for axis in range(len(shape)):
            lengths = [shapes[number][axis] for _, shapes in seen]
            if len(set(lengths)) == 1:
                continue
            same = [label for label in names if lengths == [sizes[label] for sizes, _ in seen]]
            if not same:
                return None
            found[-1][axis] = same[0]
    return found


def _shapes(
    function: Function,
    args: Any,
    kwargs: Any,
    selections: Sequence[Selection],
    labels: Mapping[Axis, Label],
    sizes: Mapping[Label, int],
    ones: Any,
) -> list[tuple[int, ...]] | None:
    numbers = {id(selection): number for number, selection in enumerate(selections)}

    def probe(x: Any) -> Any:
        if isinstance(x, Selection):
            shape = list(x.array.shape)
            for axis in x.rows:
                label = labels[numbers[id(x)], axis]
                shape[axis] = sizes[label] if label in sizes else int(label)
            return ones(tuple(shape), x.dtype)
        return ones(x.shape, x.dtype) if isinstance(x, MutableArray | jax.Array) else x

    given, options = (replaced(x, probe) for x in (args, kwargs))
    try:
        found = function(*given, **options)
    except (ValueError, TypeError, IndexError, np.linalg.LinAlgError):
        return None
    return [np.shape(part) for part in (found if isinstance(found, tuple) else (found,))]


# ------------------------------------------------------------------ what stands in arguments


def replaced(x: Any, put: Callable[[Any], Any]) -> Any:
    if isinstance(x, dict):
        return {name: replaced(part, put) for name, part in x.items()}
    if isinstance(x, list | tuple) and not hasattr(x, "_fields"):
        return type(x)(replaced(part, put) for part in x)
    return put(x)


def leaves(x: Any) -> list[Any]:
    if isinstance(x, dict):
        return [leaf for part in x.values() for leaf in leaves(part)]
    if isinstance(x, list | tuple):
        return [leaf for part in x for leaf in leaves(part)]
    return [x]


def holds_selection(args: Any) -> bool:
    """Is one of these, or in a list among these, a selection?"""
    return any(isinstance(leaf, Selection) for leaf in leaves(args))


def identity(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """A matrix that has an inverse; or ones."""
    return np.array(np.broadcast_to(np.eye(*shape[-2:], dtype=dtype), shape)) if len(shape) > 1 else np.ones(shape, dtype)
