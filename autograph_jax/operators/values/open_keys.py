"""A tuple as a key of a dict, where traced data decides about a part of it: `probabilities[best, 2]`, `memo[i, j]`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.operators.staging import dependence
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.traced import is_traced


def is_open(key: Any) -> bool:
    """Does it depend on traced data which key this tuple is?"""
    return type(key) is tuple and any(is_traced(part) or is_open(part) for part in key)


def among(container: Mapping[Any, Any], key: tuple[Any, ...]) -> dict[Any, jax.Array]:
    """The keys of a dict that it may be, and for each whether it is that one."""
    found = {own: _is_same(key, own) for own in container}
    return {own: jnp.asarray(same) for own, same in found.items() if same is not False}


def _is_same(part: Any, own: Any) -> Any:
    if type(part) is tuple:
        if type(own) is not tuple or len(own) != len(part):
            return False
        answers = [_is_same(one, other) for one, other in zip(part, own, strict=True)]
        return False if any(answer is False for answer in answers) else functools.reduce(jnp.logical_and, answers, True)
    if isinstance(part, Choice):
        return part._where(lambda option: option == own)
    if is_traced(part):
        return dependence.as_index(part) == own if isinstance(own, int | float) else False
    return bool(part == own)
