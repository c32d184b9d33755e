"""What the tables of ported programs share: programs by name, and the vectors that they are run on."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph_jax as ag

VECTORS = ([1.0, 2.0, 3.0], [3.0, -2.0, 0.5], [0.0, 0.0, 0.0], [-1.0, 4.0, 2.0])


class Programs(dict[str, Callable[..., Any]]):
    """Programs by name; as a decorator, it takes one in."""

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        self[function.__name__.replace("_", " ")] = function
        return function


def check_compiled(function: Callable[[Any], Any], rows: Sequence[Any], rtol: float = 1e-12, atol: float = 1e-14) -> None:
    """The ported function, compiled once, gives what the original gives for each of these arguments."""
    run = ag.jit(ag.port(function))
    for values in rows:
        want = jax.tree.leaves(function(np.array(values)))
        found = jax.tree.leaves(run(jnp.array(values)))
        for number, (one, other) in enumerate(zip(want, found, strict=True)):
            np.testing.assert_allclose(other, one, rtol=rtol, atol=atol, err_msg=f"at {values}, number {number}")
