"""What the fuzzers of one question have in common: a program gives a number, as Python's or one of our errors."""

from __future__ import annotations

import argparse
import collections
import linecache
import random
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph_jax as ag

FINE = ("right", "refused", "no program")


def indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


def made(text: str, number: Any, names: Mapping[str, Any]) -> Callable[..., Any]:
    """The function `f` of such a text, with everything around it new."""
    source, name = f"def outer():\n{indented(text)}\n    return f\n", f"<program {number}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    space: dict[str, Any] = {"__name__": "program", **names}
    exec(compile(source, name, "exec"), space)
    return space["outer"]()


def outcome(text: str, number: Any, names: Mapping[str, Any], calls: Sequence[Sequence[Any]]) -> str:
    """What became of a program: "right", "refused", "no program" (Python has an error), or how it differs."""
    found = []
    for call in calls:
        try:
            expected = float(made(text, number, names)(*call))
        except Exception:  # which one is all the same: the program is left out
            return "no program"
        try:
            value = float(ag.jit(made(text, number, names))(*jax.tree.map(jnp.asarray, call)))
        except ag.AutographError:
            found.append("refused")
        except Exception as error:
            return f"f{tuple(call)}: {type(error).__name__}: {error}"
        else:
            if not np.isclose(value, expected, rtol=1e-3, atol=1e-3, equal_nan=True):
                return f"f{tuple(call)} is {value} where Python has {expected}"
            found.append("right")
    return "refused" if "refused" in found else "right"


def main(description: str | None, program: Callable[[random.Random], str], outcome: Callable[[str, Any], str]) -> None:
    """Run the programs of seeds, print those that differ, and count."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(options.seed, options.seed + options.count):
        text = program(random.Random(seed))
        found = outcome(text, seed)
        counts[found if found in FINE else "mismatch"] += 1
        if found not in FINE:
            print(f"---- seed {seed}: {found}\n{text}", flush=True)
    print(dict(counts))
