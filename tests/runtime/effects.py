"""print, assert and raise on four devices, each with a row of `XS`: the lines and error of plain Python for each row.

`python -m tests.runtime.effects shard_map` runs the table in one of MODES, and prints what differs. It needs 4 devices:
`XLA_FLAGS=--xla_force_host_platform_device_count=4`.
"""

import collections
import contextlib
import io
import sys
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import autograph_jax as ag
from autograph_jax.errors import StagingError

COUNT = 4
XS = np.arange(8.0)  # two for each device


def prints(x):
    print("starts with", x)
    for k in range(3):
        if x[0] > 3:
            print(f"turn {k}: {x[0]:.1f}")
        x = x + k
    print("ends with", x)
    return x


def raises(x):
    print("sees", x)
    if x[-1] > 4:
        raise ValueError(f"{x[-1]} is large", x.sum())
    print("goes on with", x)
    return x * 2


def asserts(x):
    assert x.sum() < 10, f"the sum is {x.sum()}"
    return x * 2


def raises_in_a_loop(x):
    for k in range(5):
        if x[-1] > 6:
            raise KeyError(k)
        x = x + 1
    print("left with", x)
    return x


def raises_in_a_callee(x):
    for _ in range(2):
        x = checked(x)
    return x


def checked(x):
    print("checks", x.sum())
    assert x.sum() < 20, "too much"
    return x + x


def two_errors(x):
    if x[-1] > 6:
        raise ValueError("first")
    if x[-1] > 2:
        raise KeyError("second")
    return x


def nothing_goes_wrong(x):
    assert x.sum() > -1
    return x


def gives_nothing(x):
    assert x.sum() < 10, "too much"


PROGRAMS = [
    prints,
    raises,
    asserts,
    raises_in_a_loop,
    raises_in_a_callee,
    two_errors,
    nothing_goes_wrong,
    gives_nothing,
]
MEANT_FOR_ONE = [gives_nothing]  # a map has to give something


def late_collective(x):
    """Those that have not failed wait for the one that has: it may not leave."""
    assert x[-1] < 6, "one device"
    y = lax.fori_loop(0, 50_000, lambda _, y: jnp.sin(y) + jnp.cos(y[::-1]), x)
    return x + 0 * lax.psum(y, "i")


# ------------------------------------------------------------------ ways to run on several devices

MESH: Any = None


def sharded(rows: Any = "i") -> Any:
    return jax.device_put(jnp.asarray(XS), jax.NamedSharding(MESH, jax.P(rows)))


def by_jit(function):
    return ag.jit(function), sharded(), None


def by_shard_map(function):
    mapped = ag.shard_map(function, mesh=MESH, in_specs={"x": jax.P("i")}, out_specs=jax.P("i"))
    return mapped, jnp.asarray(XS), COUNT


def by_jit_of_shard_map(function):
    mapped, xs, _ = by_shard_map(function)
    return ag.jit(mapped), xs, COUNT


def by_jit_of_jax_shard_map(function):
    mapped = jax.shard_map(ag.autograph(function), mesh=MESH, in_specs=jax.P("i"), out_specs=jax.P("i"), check_vma=False)
    return ag.jit(mapped), jnp.asarray(XS), COUNT


def by_pmap(function):
    return ag.pmap(function, axis_name="i"), jnp.asarray(XS).reshape(COUNT, 2), COUNT


MODES = {
    "jit": by_jit,
    "shard_map": by_shard_map,
    "jit_of_shard_map": by_jit_of_shard_map,
    "jit_of_jax_shard_map": by_jit_of_jax_shard_map,
    "pmap": by_pmap,
}


def by_jax_jit(function):
    return jax.jit(ag.autograph(function)), sharded(), None


def by_jax_jit_of_ours(function):
    return jax.jit(ag.jit(function)), sharded(), None


def by_jax_jit_of_shard_map(function):
    mapped, xs, _ = by_shard_map(function)
    return jax.jit(mapped), xs, COUNT


def by_jax_pmap(function):
    return jax.pmap(ag.autograph(function)), jnp.asarray(XS).reshape(COUNT, 2), COUNT


def by_lower(function):
    xs = sharded()
    return lambda x: ag.jit(function).lower(x).compile()(x), xs, None


NOBODY_RAISES = [by_jax_jit, by_jax_jit_of_ours, by_jax_jit_of_shard_map, by_jax_pmap, by_lower]


# ------------------------------------------------------------------ plain Python against several devices


def outcome(run: Any, *values: Any) -> tuple[list[str], Any, Any]:
    """The lines that are printed, the result, and the exception."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result, error = jax.block_until_ready(run(*values)), None
        except (ValueError, KeyError, AssertionError) as raised:
            result, error = None, raised
        jax.effects_barrier()
    return printed.getvalue().splitlines(), result, error


def check(function: Any, way: Any) -> None:
    run, xs, rows = way(function)
    parts: Sequence[Any] = [XS] if rows is None else XS.reshape(rows, -1)
    alone = [outcome(function, part.astype("float32")) for part in parts]
    for _ in range(2):  # what has failed once leaves nothing behind
        lines, result, error = outcome(run, xs)
        assert collections.Counter(lines) == collections.Counter(line for own, _, _ in alone for line in own), lines
        for own, _, _ in alone:  # each in its order
            remaining = iter(lines)
            assert all(line in remaining for line in own), lines
        wanted = next((own for _, _, own in alone if own is not None), None)
        assert type(error) is type(wanted) and getattr(error, "args", None) == getattr(wanted, "args", None), repr(error)
        if wanted is None:
            np.testing.assert_allclose(np.ravel(result), np.concatenate([np.ravel(own) for _, own, _ in alone]))
    harmless = outcome(run, xs * 0)
    assert harmless[2] is None, harmless


def check_refused(function: Any, way: Any) -> None:
    try:
        run, xs, _ = way(function)
        run(xs)
    except StagingError as error:
        assert "on several devices" in str(error) and "ag.jit" in str(error), error
        assert error.location is not None and error.location.filename == __file__, error
    else:
        raise AssertionError("not refused")


def check_late(function: Any, way: Any) -> None:
    run, xs, _ = way(function)
    _, _, error = outcome(run, xs)
    assert str(error) == "one device", repr(error)


def check_some_axes(function: Any, way: Any) -> None:
    """XLA shards along the other axis: a call for each part of the one, or an error of ours where XLA would end the process."""
    mesh = jax.make_mesh((2, 2), ("i", "j"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    mapped = ag.shard_map(function, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P("i"), axis_names={"i"})
    try:
        lines, _, _ = outcome(way(mapped), jnp.asarray(XS))
    except StagingError as error:
        assert "but not over 'j'" in str(error) and jax.__version_info__ < (0, 12), error
    else:
        wanted = [outcome(function, part)[0] for part in XS.astype("float32").reshape(2, -1)]
        assert collections.Counter(lines) == collections.Counter(sum(wanted, [])), lines


def main(mode: str) -> int:
    global MESH
    MESH = jax.make_mesh((COUNT,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    if mode == "refused":
        rows = [(check_refused, asserts, way) for way in NOBODY_RAISES]
        rows += [(check_some_axes, prints, way) for way in (ag.jit, jax.jit)]
        rows += [(check, prints, by_jax_jit), (check, prints, by_jax_jit_of_shard_map), (check, prints, by_jax_pmap)]
    else:
        programs = [p for p in PROGRAMS if mode == "jit" or p not in MEANT_FOR_ONE]
        rows = [(check, program, MODES[mode]) for program in programs]
        rows += [(check_late, late_collective, MODES[mode])] if mode != "jit" else []
    failed = 0
    for test, function, way in rows:
        try:
            test(function, way)
        except Exception as error:
            failed += 1
            print(f"{function.__name__}, {way.__name__}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(rows) - failed} of {len(rows)} rows as expected")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
