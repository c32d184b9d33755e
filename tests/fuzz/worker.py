"""Tests the programs of some seeds in a process of its own, and prints a line of JSON about each.

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

TIMEOUT = 240  # seconds for one program; three loops in each other, differentiated twice, take a minute to compile


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
    from tests.fuzz import runner

    program = runner.of_seed(seed, without, smooth=modes == ["grad"])
    try:
        verdict = runner.check(program, runner.modes_of(program, modes))
    except runner.Unfit as error:
        return {"seed": seed, "kind": "unfit", "detail": str(error), "text": program.text}
    report: dict[str, Any] = {"seed": seed, "modes": verdict.modes, "refusals": verdict.refusals}
    return report | smallest(program, verdict.mismatches[0]) if verdict.mismatches else report


def smallest(program: Any, mismatch: Any) -> dict[str, Any]:
    """The mismatch, and a small program that shows it. One on the way may hang: the parent is told of each smaller one."""
    from tests.fuzz import shrink

    how = {"mode": mismatch.mode, "kind": mismatch.kind, "detail": mismatch.detail}
    say(**how, smaller=program.text)
    still_fails = shrink.fails_alike(program, mismatch)

    def fails(text: str) -> bool:
        faulthandler.dump_traceback_later(TIMEOUT, exit=True)
        return still_fails(text)

    return how | {"text": shrink.shrink(program.text, fails, lambda text: say(**how, smaller=text))}


if __name__ == "__main__":
    main()
