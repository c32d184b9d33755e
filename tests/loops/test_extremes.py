"""`argmax` and `argmin` in loops: the same place as XLA's search for pairs, with NaN, zeros of both signs and ties too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.loops import extremes
from autograph_jax.loops.optimizations import ALL
from tests.platforms import needs_cpu

pytestmark = [pytest.mark.usefixtures("x64"), needs_cpu]
KINDS = {
    "double": np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.5]),
    "without NaN": np.array([0.0, -0.0, 1.0, -1.0, 1.0, -1.0]),
    "infinities": np.array([-np.inf, np.inf], np.float32),
    "NaN alone": np.array([np.nan, -np.nan]),
    "single": np.array([0.5, 0.25, np.nan, -3.0, 7.0], np.float32),
    "signed": np.array([-128, 127, 0, 5], np.int8),
    "unsigned": np.array([0, 2**64 - 1, 3], np.uint64),
    "bool": np.array([False, False, False, True]),
    "all false": np.array([False]),
}


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_same_place(kind, name):
    search = getattr(jax.lax, name)
    for seed, shape in enumerate([(8,), (40,), (7, 40), (40, 7), (3, 9, 5)]):
        array = jnp.asarray(np.random.default_rng(seed).choice(KINDS[kind], size=shape))
        for axis in range(len(shape)):
            for index in (np.int32, np.int64, np.uint8):
                found = extremes.first_place(name, array, axes=(axis,), index_dtype=index)
                expected = search(array, axis, index)
                assert found.dtype == expected.dtype
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(5000,), (64, 64), (100, 101), (70, 3, 40)])
def test_no_place_of_a_NaN_is_lost_in_large_arrays(shape):
    def last(x):
        place = jnp.zeros(x.shape[:-1], int)
        for _ in range(2):
            place = jnp.argmax(x, axis=-1) + 1000 * jnp.argmin(x, axis=-1)
        return place

    array = np.random.default_rng(0).normal(size=shape)
    array[..., 5] = array[..., shape[-1] // 2] = np.nan
    assert _searches(ag.jit(last, optimize=False).lower(array).as_text())
    assert not _searches(ag.jit(last).lower(array).as_text())
    np.testing.assert_array_equal(ag.jit(last)(array), np.full(shape[:-1], 5005))


def test_the_largest_element_is_what_it_would_be():
    def both(x):
        place, largest = 0, 0.0
        for _ in range(2):
            place, largest = x.argmax(), x.max()
        return place, largest

    array = np.random.default_rng(0).normal(size=5000)
    array[3000] = np.nan
    (place, largest), (there, expected) = (ag.jit(both, optimize=o)(array) for o in (True, False))
    assert place == there == 3000
    np.testing.assert_array_equal(largest, expected)


def pursuit(atoms, signal):
    """Matching pursuit: the atom that is nearest to what is left."""
    picked = jnp.zeros(6, int)
    for k in range(6):
        scores = jnp.abs(atoms @ signal)
        picked[k] = jnp.argmax(scores)
        signal = signal - (atoms[picked[k]] @ signal) * atoms[picked[k]]
    return picked, signal


def viterbi(score, moves):
    came_from = jnp.zeros((20, score.shape[0]), int)
    for t in range(20):
        scores = score[:, None] + moves
        came_from[t] = jnp.argmax(scores, axis=0)
        score = jnp.max(scores, axis=0) - 1.0
    return came_from, score


def nearest(points, centres):
    """A few turns of k-means."""
    which = jnp.zeros(points.shape[0], int)
    for _ in range(4):
        which = jnp.argmin(jnp.abs(points[:, None] - centres), axis=1)
        counts = jnp.zeros(centres.shape[0]).at[which].add(1.0)
        sums = jnp.zeros(centres.shape[0]).at[which].add(points)
        centres = jnp.where(counts > 0, sums / jnp.maximum(counts, 1.0), centres)
    return which, centres


def until_none_is_left(x):
    turns = 0
    while x.max() > 0.5 and turns < 50:
        x[x.argmax()] = 0.0
        turns += 1
    return turns, x


random = np.random.default_rng(7)
PROGRAMS = {
    "pursuit": (pursuit, random.normal(size=(50, 12)) / 3, random.normal(size=12)),
    "viterbi": (viterbi, random.normal(size=10), random.normal(size=(10, 10))),
    "nearest": (nearest, random.normal(size=60), random.normal(size=40)),
    "until none is left": (until_none_is_left, random.random(64)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_give_the_same_to_the_bit(name):
    program, *arguments = PROGRAMS[name]
    arguments = [jnp.asarray(a) for a in arguments]
    mapped = [jnp.stack([a, -a, 2 * a]) for a in arguments]
    for transform, given in ((lambda f: f, arguments), (jax.vmap, mapped)):
        functions = [jax.jit(transform(ag.autograph(program, optimize=o))) for o in (True, ALL - {"extremes"})]
        ours, theirs = (jax.tree.leaves(f(*given)) for f in functions)
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
        texts = [f.lower(*given).as_text() for f in functions]
        assert [_searches(text) for text in texts] == [0, 1]


def _searches(text):
    """Is a reduction of pairs in it, of values and places?"""
    return int("stablehlo.reduce" in text and "across dimensions" in text and "reducer(" in text)


def test_derivatives_go_past_the_places():
    program, score, moves = PROGRAMS["viterbi"]
    functions = [ag.autograph(program, optimize=o) for o in (True, ALL - {"extremes"})]
    slopes = (jax.jit(jax.jacrev(lambda s, f=f: f(s, jnp.asarray(moves))[1]))(jnp.asarray(score)) for f in functions)
    np.testing.assert_array_equal(*slopes)


def short_rows(x):
    for _ in range(5):
        x = x + 0.01 * jnp.argmax(x, axis=1)[:, None]
    return x


def test_short_rows_stay_as_they_are():
    assert _searches(ag.jit(short_rows).lower(jnp.ones((30, 10))).as_text())


def test_explain_says_so():
    program, *arguments = PROGRAMS["pursuit"]
    text = " ".join(str(ag.explain(program, *map(jnp.asarray, arguments))).split())
    assert "extremes: `argmax` looks for the value first, then for its place" in text
