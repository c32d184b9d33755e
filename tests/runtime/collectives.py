"""Programs of eight devices, each with a row of `XS`, and their results as threads of plain Python with NumPy would give them.

`python -m tests.runtime.collectives shard_map` runs the tables in one of MODES, and prints what differs. It needs 8 devices:
`XLA_FLAGS=--xla_force_host_platform_device_count=8`.
"""

import sys
import threading
import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import autograph_jax as ag
from autograph_jax.errors import CollectiveError

COUNT = 8
XS = (np.arange(64.0).reshape(COUNT, 8) % 7 + np.arange(8.0)[:, None]) / 4  # different on each device
RING = [(k, (k + 1) % COUNT) for k in range(COUNT)]


class Threads:
    """Devices as threads: the collectives of jax.lax over one axis, on NumPy's arrays."""

    def __init__(self) -> None:
        self._barrier, self._slots, self._local = threading.Barrier(COUNT, timeout=20), [None] * COUNT, threading.local()

    def run(self, function: Any, rows: Any) -> Any:
        """What each device gives for its row."""
        names = {**function.__globals__, "lax": self, "jnp": np}
        for name, value in function.__globals__.items():
            if isinstance(value, types.FunctionType) and value.__module__ == function.__module__:
                names[name] = types.FunctionType(value.__code__, names, name, value.__defaults__)
        here = types.FunctionType(function.__code__, names, "here", function.__defaults__)
        results: list[Any] = [None] * COUNT

        def one(number: int) -> None:
            self._local.number = number
            results[number] = here(np.array(rows[number]))

        threads = [threading.Thread(target=one, args=(number,)) for number in range(COUNT)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return np.stack(results)

    def _all(self, value: Any) -> list[Any]:
        self._slots[self._local.number] = value
        self._barrier.wait()
        everything = list(self._slots)
        self._barrier.wait()
        return everything

    def axis_index(self, axis: str) -> int:
        return self._local.number

    def psum(self, value: Any, axis: str) -> Any:
        return sum(self._all(value))

    def pmean(self, value: Any, axis: str) -> Any:
        return self.psum(value, axis) / COUNT

    def pmax(self, value: Any, axis: str) -> Any:
        return np.max(self._all(value), axis=0)

    def all_gather(self, value: Any, axis: str) -> Any:
        return np.stack(self._all(value))

    def ppermute(self, value: Any, axis: str, pairs: Any) -> Any:
        source = next(a for a, b in pairs if b == self._local.number)
        return self._all(value)[source]

    def all_to_all(self, value: Any, axis: str, split: int, concat: int) -> Any:
        return np.stack([row[self._local.number] for row in self._all(value)])

    def psum_scatter(self, value: Any, axis: str) -> Any:
        return self.psum(value, axis)[self._local.number]


# ------------------------------------------------------------------ programs: right wherever lax is right


def psum_in_a_loop(x):
    s = 0.0
    for k in range(3):
        s = s + lax.psum(x * k, "i")
    return s


def pmean_decides_how_long(x):
    n = 0
    while lax.pmean((x * x).sum(), "i") > 1:
        x = x / 2
        n += 1
    return x + n


def pmax_in_both_branches(x):
    if lax.pmax(x, "i").sum() > 3:
        y = lax.pmax(x * x, "i")
    else:
        y = lax.pmax(-x, "i") + x
    return y


def all_gather_until(x):
    for k in range(6):
        everything = lax.all_gather(x, "i")
        x = everything.mean(axis=0) + x * 0.5
        if lax.pmax(everything.sum() < 200, "i"):  # JAX's types do not say that the gathered values are the same everywhere
            break
    return x


def around_the_ring_a_number_of_times(x):
    n = int(lax.pmax(x.sum(), "i")) % 5
    for k in range(n):
        x = lax.ppermute(x, "i", RING) + k
    return x


def axis_index_decides(x):
    if lax.axis_index("i") % 2 == 0:
        return x * 2
    return x - 1


def all_to_all_with_continue(x):
    for k in range(4):
        if lax.psum(x.sum(), "i") > 100 and k == 1:
            continue
        x = lax.all_to_all(x, "i", 0, 0) + k
    return x


def psum_scatter_under_a_condition(x):
    if lax.psum(x[0], "i") > 0:
        x = x + lax.psum_scatter(x, "i")
    return x


def returns_out_of_a_loop(x):
    for k in range(10):
        total = lax.psum(x.sum(), "i")
        if total < 50:
            return total + 0 * x
        x = x / 2
    return x


def in_a_callee(x):
    for _ in range(2):
        x = centred(x)
    return x


def centred(x):
    if x.sum() > 0:
        x = x + 1
    return x - lax.pmean(x, "i")


# The devices go different ways, and meet afterwards


def each_its_own_branch(x):
    if x.sum() > 10:
        y = 1.0
    elif x[0] > 1:
        y = x[1]
    else:
        y = 2
    return lax.psum(y, "i") + y + 0 * x


def each_its_own_number_of_turns(x):
    n = 0
    while x.sum() < 30:
        x = x + 1
        n += 1
    return lax.pmax(n, "i") + n + x


def each_leaves_when_it_likes(x):
    s = 0.0
    for k in range(8):
        s += x[k]
        if s > 4:
            break
    else:
        s = -1.0
    return lax.psum(s, "i") + k + 0 * x


def each_its_own_bound(x):
    s = 0.0
    for k in range(int(x.sum()) % 4):
        s += x[k] * k
    return lax.psum(s, "i") + s + 0 * x


def loops_in_branches_in_loops(x):
    s = 0.0
    for k in range(3):
        if x[k] > 1:
            while x[k] < 3:
                x = x + 1
                s += 1
                if s > 5:
                    break
        s = s + lax.pmean(x[k], "i")
    return s + x


def none_until_found(x):
    best = None
    for k in range(8):
        if x[k] > 2 and (best is None or x[k] > best):
            best = x[k]
    if best is None:
        best = -1.0
    return lax.pmax(best, "i") - best + 0 * x


def a_choice_of_two_words(x):
    word = "low" if x.sum() < 12 else "high"
    y = x
    for _ in range(3):
        if word == "low":
            y = y + 1
        else:
            word = "low"
    return y


def writes_in_place(x):
    y = jnp.zeros(8)
    for k in range(8):
        if x[k] > 1:
            y[k] = x[k]
        else:
            y[0] += 1
    return y + lax.psum(y, "i")


def a_test_with_a_walrus(x):
    n = 0
    while (total := x.sum()) < 20:
        x = x + 1
        n += 1
    return lax.psum(total, "i") + n + x


def reduces_what_is_the_same_everywhere(x):
    w = lax.pmean(x, "i")
    for k in range(3):
        if x[k] > 1:
            w = w * 2
    return w


PROGRAMS = [
    psum_in_a_loop,
    pmean_decides_how_long,
    pmax_in_both_branches,
    all_gather_until,
    around_the_ring_a_number_of_times,
    axis_index_decides,
    all_to_all_with_continue,
    psum_scatter_under_a_condition,
    returns_out_of_a_loop,
    in_a_callee,
    each_its_own_branch,
    each_its_own_number_of_turns,
    each_leaves_when_it_likes,
    each_its_own_bound,
    loops_in_branches_in_loops,
    none_until_found,
    a_choice_of_two_words,
    writes_in_place,
    a_test_with_a_walrus,
    reduces_what_is_the_same_everywhere,
]


# ------------------------------------------------------------------ derivatives by a number that all devices share


def shared_in_a_loop(x, w=1.5):
    s = 0.0
    for k in range(4):
        s = s + lax.pmean(jnp.sin(w * x[k]) + s * w / 9, "i")
    return s


def shared_in_a_branch(x, w=1.5):
    s = x[0]
    if x.sum() > 10:
        s = jnp.where(x[0] > 0.5, w, w * w) * x[1]
    return lax.psum(s, "i")


def shared_in_a_while(x, w=1.5):
    s = x[0]
    while s < 20:
        s = s * w + 1
    return lax.psum(s, "i")


def shared_in_loops_in_a_branch(x, w=1.5):
    s = 0.0
    for k in range(4):
        if x[k] > 1:
            for _ in range(3):
                s = s + jnp.sin(w) * x[k]
            if w * x[k] > 2:
                s = s * w
    return lax.psum(s, "i")


def shared_where_all_agree_in_a_branch(x, w=1.5):
    s, total = x[0], lax.psum(x.sum(), "i")
    if x.sum() > 10:
        t = w
        for _ in range(3):
            t = t * 2
        if total > 5:
            u = w * w
        else:
            u = 0.0
        s = s * t + u
    return lax.psum(s, "i")


def shared_until_all_agree(x, w=1.5):
    s = x.sum()
    while lax.psum(s, "i") < 600:
        s = s * w + lax.pmean(s, "i") / 4
    return lax.psum(s, "i")


def shared_for_a_number_of_turns(x, w=1.5):
    s = w
    for k in range(int(x.sum()) % 4):
        s = s * w + x[k]
    return lax.psum(s, "i")


def shared_until_it_is_left(x, w=1.5):
    s = x.sum() / 10
    for k in range(4):
        if s > 6:
            break
        s = s * w + x[k] / 5
    return lax.psum(s, "i")


def shared_until_all_agree_to_leave(x, w=1.5):
    s = x.sum()
    for _ in range(8):
        if lax.psum(s, "i") > 600:
            break
        s = s * w + lax.pmean(s, "i") / 4
    return lax.psum(s, "i")


DERIVATIVES = [
    shared_until_it_is_left,
    shared_until_all_agree_to_leave,
    shared_in_a_loop,
    shared_in_a_branch,
    shared_in_a_while,
    shared_in_loops_in_a_branch,
    shared_where_all_agree_in_a_branch,
    shared_until_all_agree,
    shared_for_a_number_of_turns,
]


# ------------------------------------------------------------------ refused where JAX says what varies: lax would wait for ever


def psum_in_one_branch(x):
    if x[0] > 1:
        x = x - lax.psum(x, "i")
    return x


def pmax_in_a_while(x):
    while x.sum() < 30:
        x = x + lax.pmax(x, "i")
    return x


def psum_in_the_test(x):
    while x[0] < lax.psum(x[0], "i"):
        x = x + 1
    return x


def all_gather_until_each_likes(x):
    for k in range(8):
        x = x + lax.all_gather(x, "i").sum()
        if x[0] > 3:
            break
    return x


def ppermute_for_a_bound(x):
    for _ in range(int(x[0])):
        x = lax.ppermute(x, "i", RING)
    return x


def all_to_all_in_a_loop_in_a_branch(x):
    if x[0] > 1:
        for _ in range(3):
            x = lax.all_to_all(x, "i", 0, 0)
    return x


def all_gather_decides(x):
    for k in range(6):
        everything = lax.all_gather(x, "i")
        x = everything.mean(axis=0) + x * 0.5
        if everything.sum() < 200:  # the same everywhere, which JAX's types do not say
            break
    return x


def psum_scatter_of_a_callee(x):
    return scattered(x) if x[0] > 1 else x


def scattered(x):
    return x + lax.psum_scatter(x, "i")


REFUSED = {
    psum_in_one_branch: ("`psum` over 'i' waits", "Which branch is taken differs", "if x[0] > 1:"),
    pmax_in_a_while: ("`pmax` over 'i' waits", "How often this loop turns differs", "while x.sum() < 30:"),
    psum_in_the_test: ("`psum` over 'i' waits", "How often this loop turns differs", 'while x[0] < lax.psum(x[0], "i"):'),
    all_gather_until_each_likes: ("`all_gather` over 'i' waits", "How often this loop turns differs", "for k in range(8):"),
    ppermute_for_a_bound: ("`ppermute` over 'i' waits", "How often this loop turns differs", "for _ in range(int(x[0])):"),
    all_to_all_in_a_loop_in_a_branch: ("`all_to_all` over 'i' waits", "Which branch is taken differs", "if x[0] > 1:"),
    all_gather_decides: ("`all_gather` over 'i' waits", "How often this loop turns differs", "for k in range(6):"),
    psum_scatter_of_a_callee: ("`psum_scatter` over 'i' waits", "Which branch is taken differs", "return scattered(x)"),
}


# ------------------------------------------------------------------ ways to map

MESH = None
ROWS, WHOLE = jax.P("i"), jax.P()


def by_vmap(function, outputs_differ=True):
    return jax.jit(ag.vmap(function, {"x": 0}, axis_name="i"))


def by_pmap(function, outputs_differ=True):
    return ag.pmap(function, axis_name="i", in_axes={"x": 0})


def by_shard_map(function, outputs_differ=True, *, jit=True, **options):
    """A row for each device; a number that is the same on all is given once."""
    function = ag.autograph(function)

    def of_row(x, w):
        result = function(x[0]) if w is None else function(x[0], w)
        return result[None] if outputs_differ else result

    specs = (ROWS, WHOLE)
    mapped = jax.shard_map(of_row, mesh=MESH, in_specs=specs, out_specs=ROWS if outputs_differ else WHOLE, **options)
    run = jax.jit(mapped) if jit else mapped
    return lambda x, w=None: run(x, w)


MODES = {
    "vmap": by_vmap,
    "pmap": by_pmap,
    "shard_map": by_shard_map,
    "eager_shard_map": lambda function, outputs_differ=True: by_shard_map(function, outputs_differ, jit=False),
    "unchecked_shard_map": lambda function, outputs_differ=True: by_shard_map(function, outputs_differ, check_vma=False),
}


def check_program(function: Any, way: Any) -> None:
    np.testing.assert_allclose(way(function)(jnp.asarray(XS)), Threads().run(function, XS), rtol=1e-5)


def check_derivative(function: Any, way: Any) -> None:
    mapped, step = way(function, outputs_differ=False), 1e-6

    def by_hand(w: float) -> Any:
        return Threads().run(types.FunctionType(function.__code__, function.__globals__, argdefs=(w,)), XS)[0]

    loss = lambda w: jnp.mean(mapped(jnp.asarray(XS), w))
    np.testing.assert_allclose(loss(1.5), by_hand(1.5), rtol=1e-5)
    difference = (by_hand(1.5 + step) - by_hand(1.5 - step)) / (2 * step)
    np.testing.assert_allclose(jax.jit(jax.grad(loss))(1.5), difference, rtol=1e-4)
    np.testing.assert_allclose(jax.jit(jax.jacfwd(loss))(1.5), difference, rtol=1e-4)


def check_refused(function: Any, way: Any) -> None:
    try:
        way(function)(jnp.asarray(XS))
    except CollectiveError as error:
        for part in REFUSED[function]:
            assert part in str(error), f"{part!r} is not in {error}"
    else:
        raise AssertionError("not refused")


def main(mode: str) -> int:
    global MESH
    MESH = jax.make_mesh((COUNT,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    rows = [(check_program, row) for row in PROGRAMS]
    rows += [(check_derivative, row) for row in DERIVATIVES] if mode != "eager_shard_map" else []
    rows += [(check_refused, row) for row in REFUSED] if mode in ("shard_map", "eager_shard_map") else []
    failed = 0
    for check, row in rows:
        try:
            check(row, MODES[mode])
        except Exception as error:
            failed += 1
            print(f"{row.__name__}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(rows) - failed} of {len(rows)} rows as expected")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
