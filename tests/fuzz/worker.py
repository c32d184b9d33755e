"""Tests the programs of some seeds, in a process of its own, and prints a line of JSON about each: `python -m tests.fuzz.worker`.

A process of its own, because a program may end it, or hang in compiled code, where no exception reaches it.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import logging
import os
import sys
import warnings
from typing import Any

TIMEOUT = 120  # seconds for one program; the slowest take about five


def main() -> None:
    options = read_options(sys.argv[1:])
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    # Compiled code is run 20 times and thrown away.
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")
    import jax

    jax.config.update("jax_enable_x64", True)
    warnings.simplefilter("ignore")
    logging.getLogger("jax").setLevel(logging.CRITICAL)  # JAX logs each exception that a callback raises
    for seed in range(options.first, options.first + options.count):
        say(begin=seed)
        faulthandler.dump_traceback_later(TIMEOUT, exit=True)
        say(**tested(seed, frozenset(options.without), options.modes))
    faulthandler.cancel_dump_traceback_later()


def read_options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int)
    parser.add_argument("--count", type=int)
    parser.add_argument("--modes", nargs="+")
    parser.add_argument("--without", nargs="*", default=[])
    return parser.parse_args(arguments)


def say(**message: Any) -> None:
    print(json.dumps(message), flush=True)


def tested(seed: int, without: frozenset[str], modes: list[str]) -> dict[str, Any]:
    """What became of the program of a seed; the program, made small, if it differs."""
    from tests.fuzz import runner, shrink

    tested_ = runner.of_seed(seed, without)
    try:
        verdict = runner.check(tested_, runner.modes_of(tested_, modes))
    except runner.Unfit as error:
        return {"seed": seed, "unfit": str(error), "text": tested_.text}
    report: dict[str, Any] = {"seed": seed, "modes": verdict.modes, "refusals": verdict.refusals}
    for mismatch in verdict.mismatches:
        faulthandler.dump_traceback_later(10 * TIMEOUT, exit=True)
        text = shrink.shrink(tested_.text, shrink.fails_alike(tested_, mismatch))
        report |= {"mode": mismatch.mode, "kind": mismatch.kind, "detail": mismatch.detail, "text": text}
    return report


if __name__ == "__main__":
    main()
