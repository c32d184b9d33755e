"""`autograph-jax port scipy.optimize:brent --args ...` ports a function, and compares a call of it with the original's."""

from __future__ import annotations

import argparse
import contextlib
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from autograph_jax.cli import running

DESCRIPTION = """\
Port a function of NumPy code: what was converted, which functions of NumPy are computed by JAX's, whether a compiled call gives
what the original gives, and how fast 1,000 of them are at once. Floats and arrays of floats in the arguments are traced."""
EXAMPLES = """\
examples:
  autograph-jax port scipy.optimize:brent --args "lambda x: (x - 2)**2, brack=(0.0, 1.0)"
  autograph-jax port solver.py:fit --args "np.zeros(3), rtol=1e-8" --solves 100
"""
_SPREAD = 1e-3  # the arguments of the last solve are by so much greater than those of the first
_ORIGINALS = 20  # calls of the original by which its time is taken
_WIDTH = 100


class Ported(NamedTuple):
    """What was found: qualified names, how far the results are apart, and seconds."""

    converted: list[str]
    mapped: list[str]
    difference: float
    first_call: float
    original: float  # of a call
    batch: float | None  # of `solves` calls at once; None where no argument is a float
    solves: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `port`."""
    running.add_target(parser)
    parser.add_argument("--solves", type=int, default=1000, help="at once; default: 1000")
    parser.add_argument("--max-len", type=int, help="the greatest length of what traced data decides how long it is")


def run(options: argparse.Namespace) -> int:
    """Print what was found. Raises TargetError, PortingError, and what the original raises."""
    import jax

    with jax.enable_x64(True):
        function, args, kwargs = running.call(options)
        found = port(function, args, kwargs, solves=options.solves, max_len=options.max_len)
    print(f"{options.target}, ported")
    print("\n".join(_report(found)))
    return 0 if found.difference <= 1e-6 else 1


def port(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], *, solves: int = 1000, max_len: int | None = None
) -> Ported:
    """Port a function and call it, compiled and for a batch. A difference is relative to the value where that is above 1."""
    import jax
    import numpy as np

    from autograph_jax.runtime.jit import jit
    from autograph_jax.runtime.ported import port as ported

    leaves, tree = jax.tree.flatten((tuple(args), kwargs))
    leaves = [np.asarray(leaf) if isinstance(leaf, jax.Array) else leaf for leaf in leaves]
    traced = [n for n, leaf in enumerate(leaves) if isinstance(leaf, float) or getattr(leaf, "dtype", None) == np.float64]
    own = ported(function, max_len=max_len)

    def call(called: Callable[..., Any], values: Sequence[Any]) -> Any:
        given = dict(zip(traced, values, strict=True))
        args, kwargs = jax.tree.unflatten(tree, [given.get(n, leaf) for n, leaf in enumerate(leaves)])
        return called(*args, **kwargs)

    given = [leaves[n] for n in traced]
    original, expected = _timed(lambda: call(function, given))
    with _recorded() as (converted, mapped):
        compiled = jit(lambda *values: call(own, values))
        first, result = _timed(lambda: compiled(*given))
    times = [_timed(lambda: call(function, given))[0] for _ in range(_ORIGINALS)]
    batch = _batch(lambda values: call(own, values), given, solves) if traced else None
    return Ported(converted, mapped, _difference(expected, result), first, min(original, *times), batch, solves)


@contextlib.contextmanager
def _recorded() -> Iterator[tuple[list[str], list[str]]]:
    """Meanwhile, the functions that are converted, and those of NumPy that JAX's are called for."""
    from autograph_jax.porting import hooks
    from autograph_jax.runtime import convert

    converted, mapped = dict[str, None](), dict[str, None]()
    hear, before = lambda function: converted.setdefault(_name(function)), hooks.mapped
    convert.after_conversion.append(hear)
    hooks.mapped = lambda function: mapped.setdefault(_name(function))
    names: tuple[list[str], list[str]] = [], []
    try:
        yield names
    finally:
        convert.after_conversion.remove(hear)
        hooks.mapped = before
        names[0][:] = (name for name in converted if not name.startswith("autograph_jax."))
        names[1][:] = sorted(mapped)


def _name(function: Any) -> str:
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function)
    return f"{getattr(function, '__module__', None) or 'numpy'}.{name}"


def _batch(call: Callable[[Sequence[Any]], Any], given: Sequence[Any], solves: int) -> float:
    """Seconds of so many calls at once, whose arguments are a little apart."""
    import jax
    import jax.numpy as jnp

    def one(factor: Any) -> Any:
        return [leaf for leaf in jax.tree.leaves(call([value * factor for value in given])) if isinstance(leaf, jax.Array)]

    several = jax.jit(jax.vmap(one))
    factors = jnp.linspace(1.0, 1.0 + _SPREAD, solves)
    _timed(lambda: several(factors))
    return min(_timed(lambda: several(factors))[0] for _ in range(3))


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    import jax

    began = time.perf_counter()
    result = run()
    jax.block_until_ready([leaf for leaf in jax.tree.leaves(result) if isinstance(leaf, jax.Array)])
    return time.perf_counter() - began, result


def _difference(expected: Any, result: Any) -> float:
    """The largest difference of numbers, infinite where something else differs."""
    import jax
    import numpy as np

    wanted, found = (_parts(value) for value in (expected, result))
    if len(wanted) != len(found):
        return float("inf")
    largest = 0.0
    for one, two in zip(wanted, found, strict=True):
        if not isinstance(one, bool | int | float | complex | np.ndarray | np.generic | jax.Array):
            largest = largest if one is two or one == two or callable(one) else float("inf")
        elif np.shape(one) != np.shape(two):
            return float("inf")
        elif np.size(one):
            apart = np.where(np.isnan(one) & np.isnan(two), 0.0, abs(np.subtract(one, two, dtype=complex)))
            largest = max(largest, float(np.max(apart / np.maximum(1.0, abs(np.asarray(one))))))
    return largest


def _parts(value: Any) -> list[Any]:
    """What a result consists of: also of result objects of libraries, which are dicts."""
    import jax

    return [part for leaf in jax.tree.leaves(value) for part in (_parts(dict(leaf)) if isinstance(leaf, dict) else [leaf])]


def _report(found: Ported) -> list[str]:
    rows = [f"  converted  {len(found.converted)} functions"]
    rows += _listed(found.converted)
    rows.append(f"  by JAX     {len(found.mapped)} functions of NumPy, math and SciPy")
    rows += _listed(found.mapped)
    agrees = "the same" if found.difference == 0 else f"within {found.difference:.1g}"
    rows.append(f"  result     {agrees}" if found.difference <= 1e-6 else f"  result     DIFFERS by {found.difference:.3g}")
    rows.append(
        f"  one call   {found.original * 1e3:.3g} ms by the original; the first one ported took {found.first_call:.3g} s"
    )
    if found.batch is None:
        return [*rows, "  no argument is a float: there is nothing to make a batch of"]
    loop = found.original * found.solves
    speed = f"{loop / found.batch:,.0f} times as fast as a loop of the original, {loop * 1e3:,.0f} ms"
    return [*rows, f"  {found.solves:,} solves {found.batch * 1e3:.3g} ms, compiled and batched: {speed}"]


def _listed(names: list[str]) -> list[str]:
    return textwrap.wrap(", ".join(names), _WIDTH, initial_indent=" " * 13, subsequent_indent=" " * 13, break_on_hyphens=False)
