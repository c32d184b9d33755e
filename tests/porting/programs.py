"""What the tables of ported programs share: programs by name, and the vectors that they are run on."""

from collections.abc import Callable
from typing import Any

VECTORS = ([1.0, 2.0, 3.0], [3.0, -2.0, 0.5], [0.0, 0.0, 0.0], [-1.0, 4.0, 2.0])


class Programs(dict[str, Callable[..., Any]]):
    """Programs by name; as a decorator, it takes one in."""

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        self[function.__name__.replace("_", " ")] = function
        return function
