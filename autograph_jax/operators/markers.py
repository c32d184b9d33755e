"""Explicit control flow: `ag.stage(xs)`, `ag.unroll(xs)`, `ag.scan(xs)`, `ag.stack(ys)`, `ag.cond(p)`, `ag.while_(p)`.

In plain Python they hand on what they are given. In converted code under tracing they say how a statement has to run; what
cannot run so is an error. They follow the proposal of https://github.com/jax-ml/jax/issues/5273 .
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators import jax_private
from autograph_jax.operators.bounded_loops import not_over
from autograph_jax.operators.loop_options import NONE, Options
from autograph_jax.operators.sequences import bounded, lists
from autograph_jax.operators.values.traced import is_traced, truth


class Marked:
    """An iterable, and how a `for` has to run over it: "stage", "unroll" or "scan"."""

    def __init__(self, iterable: Any, how: str, options: Options = NONE) -> None:
        self.iterable, self.how, self.options = iterable, how, options

    def __iter__(self) -> Iterator[Any]:
        elements = iter(_steps(self.iterable) if self.how == "scan" else self.iterable)
        return elements if self.options.max_steps is None else _bounded(elements, self.options.max_steps)

    def __len__(self) -> int:
        return len(self.iterable)


def stage(iterable: Iterable[Any], *, checkpoints: int | None = None, max_steps: int | None = None) -> Any:
    """`for x in ag.stage(xs)`: the loop is staged, as lax.scan or lax.while_loop, or an error says why it cannot be.

    Takes what a `for` takes: an array, a range, zip or enumerate of these; and a list or tuple of elements that are alike,
    arrays of one shape or pytrees of such, which are stacked. Of a loop whose number of turns is not known beforehand,
    reverse mode keeps so many `checkpoints`, as in `ag.while_loop`. More than `max_steps` turns are a RuntimeError.

        >>> import jax, autograph_jax as ag
        >>> @ag.autograph
        ... def power(x):
        ...     y = 1.0
        ...     for _ in ag.stage(range(3)):
        ...         y = y * x
        ...     return y
        >>> [str(e.primitive) for e in jax.make_jaxpr(power)(2.0).eqns]
        ['scan']
    """
    return Marked(iterable, "stage", Options(checkpoints, max_steps))


def _bounded(elements: Iterator[Any], max_steps: int) -> Iterator[Any]:
    yield from itertools.islice(elements, max_steps)
    for _ in elements:
        raise not_over(max_steps)


def unroll(iterable: Iterable[Any]) -> Any:
    """`for x in ag.unroll(xs)`: Python runs the loop, and each turn is traced anew, as plain `jax.jit` does it."""
    return Marked(iterable, "unroll")


def scan(xs: Any) -> Any:
    """`for x in ag.scan(xs)`: one lax.scan over an array, a range, or a list of elements that are alike.

    Of any other pytree, a tuple or a dict of arrays, it runs over the leading axis of these, as lax.scan does. A loop that
    may be left early is an error, since a scan runs to its end.

        >>> import jax, jax.numpy as jnp, autograph_jax as ag
        >>> @ag.autograph
        ... def sums(xs):
        ...     total, ys = 0.0, []
        ...     for x in ag.scan(xs):
        ...         total = total + x
        ...         ys.append(total)
        ...     return ag.stack(ys)
        >>> print(jax.jit(sums)(jnp.arange(4.0)))
        [0. 1. 3. 6.]
    """
    return Marked(xs, "scan")


def _steps(xs: Any) -> Any:
    """What a scan runs over, for Python: the rows of an array, or of each array of a pytree."""
    leaves, tree = jax.tree.flatten(xs)
    if isinstance(xs, range | list) or len(leaves) == 1 and leaves[0] is xs:
        return xs
    return [jax.tree.unflatten(tree, row) for row in zip(*leaves, strict=True)]


def stack(values: Any) -> Any:
    """The elements of a list as one array, along a new first axis; of lists of pytrees, a pytree of such arrays.

    Of a list that a staged loop has filled this is the scan's output itself. Raises ValueError for an empty list, and for
    elements of different shapes.
    """
    if isinstance(values, bounded.Bounded):
        return jnp.stack(values)  # pyright: ignore[reportArgumentType] - which refuses, and says what there is instead
    plain = not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(values))
    make = np.stack if plain else lists.stack
    return jax.tree.map(lambda *leaves: make(leaves), *values) if values else make(values)


def cond(predicate: Any) -> Any:
    """`if ag.cond(p):` stages both branches under tracing, also where p is known by then."""
    return _open(predicate)


def while_(predicate: Any) -> Any:
    """`while ag.while_(p):` stages the loop under tracing, also where p is known at first."""
    return _open(predicate)


def _open(predicate: Any) -> Any:
    """A predicate that Python cannot decide; the predicate itself where nothing is traced."""
    if is_traced(predicate) or not jax_private.tracing():
        return predicate
    return jnp.logical_or(truth(jnp.asarray(predicate)), False)
