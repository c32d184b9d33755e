"""Whatever is viewed, written and read, in any order: all live arrays hold what NumPy's hold."""

import os
import warnings
from typing import Any

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autograph_jax.porting.arrays import MutableArray, value_of, wrap
from tests.porting.sequences import DTYPES, STEPS, TOO_LARGE, Start, Step, World

SEQUENCES = int(os.environ.get("PORTING_SEQUENCES", "200"))  # PORTING_SEQUENCES=5000 for more than a change needs

shapes = st.sampled_from([(4,), (3, 4), (2, 3, 2), (3, 3), (1, 3), (6,), (2, 2, 3)])
starts = st.builds(Start, shapes, st.sampled_from(DTYPES), st.sampled_from("CCF"), st.sampled_from([True, True, False]))
steps = st.builds(Step, st.sampled_from(sorted(STEPS)), st.integers(0, 2**32))
FAST = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


@pytest.mark.usefixtures("x64")
@hypothesis.settings(max_examples=SEQUENCES)
@hypothesis.given(st.lists(starts, min_size=1, max_size=2), st.lists(steps, min_size=3, max_size=12))
def test_a_sequence_does_what_numpy_does(starts: list[Start], sequence: list[Step]):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # complex to real, and divisions by zero: NumPy warns, we follow
        compare(starts, sequence)


def compare(starts: list[Start], sequence: list[Step]) -> None:
    expected = by_numpy(starts, sequence)
    errors: list[Any] = []
    traces = traced(starts, sequence[: len(expected)], errors)
    for number, (wanted, found) in enumerate(zip(expected, traces, strict=True)):
        where = f"after step {number} of {starts} {sequence[: number + 1]}"
        error, seen = wanted[0], errors[number]
        if isinstance(error, Exception) or isinstance(seen, Exception):
            same = isinstance(error, type(seen)) or isinstance(seen, type(error))
            if "read-only" in str(seen) and not isinstance(error, Exception):
                return  # np.add.at writes into read-only arrays, np.copyto copies one onto itself: we refuse
            # Which of two errors comes first differs from ufunc to ufunc.
            assert same or "read-only" in str(seen), f"{error!r} against {seen!r} {where}"
            wanted, found = wanted[1:], found if isinstance(seen, Exception) else found[1:]
        assert len(wanted) == len(found), where
        for one, other in zip(wanted, found, strict=True):
            agree(one, other, where)


def agree(wanted: Any, found: Any, where: str) -> None:
    if wanted is None or found is None:
        assert wanted is found, where
        return
    if not isinstance(wanted, (int, float)):
        assert np.asarray(found).dtype == wanted.dtype, where
    single = np.asarray(wanted).dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(found, wanted, rtol=1e-4 if single else 1e-9, atol=1e-4 if single else 1e-9, err_msg=where)


def by_numpy(starts: list[Start], sequence: list[Step]) -> list[list[Any]]:
    world, states = World([start.values() for start in starts], lambda x: np.asarray(x)[()]), []
    for step in sequence:
        found = world.take(step)
        states.append([found.copy() if isinstance(found, np.ndarray) else found, *(array.copy() for array in world.live)])
        if any(not np.all(abs(array) < TOO_LARGE) for array in world.live):
            states.pop()
            break
    return states


def traced(starts: list[Start], sequence: list[Step], errors: list[Any]) -> list[list[Any]]:
    """The same under jit, with those starts traced that say so, and each traced number an argument."""
    values = [start.values() for start in starts]

    def run(known: list[Any], zero: Any) -> list[list[Any]]:
        arrays = [
            wrap(one if start.traced else value, np.empty_like(value))
            for one, value, start in zip(known, values, starts, strict=True)
        ]
        world, states = World(arrays, lambda x: number(x, zero)), []
        for step in sequence:
            found = world.take(step)
            errors.append(found)
            state = [] if isinstance(found, Exception) else [value_of(found)]
            states.append([*state, *(value_of(array) for array in world.live)])
        assert all(isinstance(array, MutableArray) for array in world.live)
        return states

    arguments = [jnp.asarray(value) for value in values], jnp.zeros((), int)
    return jax.jit(run).lower(*arguments).compile(compiler_options=FAST)(*arguments)


def number(x: Any, zero: Any) -> Any:
    """`x` as a number that came out of an array, traced."""
    return jnp.asarray(x) + zero.astype(np.asarray(x).dtype)
