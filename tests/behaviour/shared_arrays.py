"""Tables of programs that write arrays which others hold: in ported code and in JAX code as in NumPy, or refused."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph_jax as ag

Program = Callable[[Any], Any]
VECTORS = ([1.0, 2.0, -1.0], [-1.0, 2.0, 3.0], [1.0, -2.0, -1.0])
WAYS: dict[str, tuple[Callable[[Program], Program], Callable[[Any], Any]]] = {
    "jit": (ag.autograph, jnp.array),
    "port": (ag.port, np.array),
}


class Holder:
    pass


class Table:
    """Programs by name: those that have to be `right`, and those that may be refused."""

    def __init__(self) -> None:
        self._right: dict[str, Program] = {}
        self._either: dict[str, Program] = {}

    def right(self, function: Program) -> Program:
        self._right[function.__name__] = function
        return function

    def either(self, function: Program) -> Program:
        self._either[function.__name__] = function
        return function

    @property
    def names(self) -> list[str]:
        return [*self._right, *self._either]

    def check(self, name: str, way: str) -> None:
        """The converted program, compiled once, gives what NumPy gives, or one of our errors about arrays that are written."""
        function = self._right.get(name) or self._either[name]
        convert, array = WAYS[way]
        run = jax.jit(convert(function))
        for values in VECTORS:
            want = jax.tree.leaves(function(np.array(values)))
            try:
                found = jax.tree.leaves(run(array(values)))
            except (ag.AliasError, ag.ImmutableError):
                assert name not in self._right
                continue
            for one, other in zip(found, want, strict=True):
                np.testing.assert_allclose(one, other)
