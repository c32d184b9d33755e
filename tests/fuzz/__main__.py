"""`python -m tests.fuzz --seconds N --seed S`: random programs, converted and compared, until the time is up.

Prints each program that differs from plain Python, made small, and at the end one line:

    fuzz: 20000 programs (20000 plain, 20000 eager, 20000 jit, 6667 vmap, 2500 grad), 4.1 % refused, 0 mismatches, 7200 s

The programs of a seed are the same everywhere, for the same version of this folder. Exits with 1 if there was a mismatch.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

from tests.fuzz.programs import CONSTRUCTS

CHUNK = 200  # programs for one process; its caches go with it
MODES = ("plain", "eager", "jit", "vmap", "grad")


@dataclasses.dataclass
class Totals:
    """What has been seen so far."""

    programs: int = 0
    refused: int = 0
    mismatches: int = 0
    modes: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    refusals: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def add(self, report: dict[str, Any]) -> None:
        self.programs += 1
        self.modes.update(report.get("modes", ()))
        self.refusals.update(set(report.get("refusals", ())))
        differs = "text" in report
        self.mismatches += differs
        self.refused += bool(report.get("refusals")) and not differs

    def summary(self, seconds: float) -> str:
        modes = ", ".join(f"{self.modes[mode]} {mode}" for mode in MODES if self.modes[mode])
        share = 100 * self.refused / max(self.programs, 1)
        return f"fuzz: {self.programs} programs ({modes}), {share:.1f} % refused, {self.mismatches} mismatches, {seconds:.0f} s"


def main() -> int:
    options = read_options(sys.argv[1:])
    start, totals = time.monotonic(), Totals()
    try:
        for report in reports(options, until=start + options.seconds):
            totals.add(report)
            if "text" in report:
                print(shown(report), flush=True)
            elif options.verbose and report["refusals"]:
                print(f"seed {report['seed']}: {', '.join(report['refusals'])}", flush=True)
    except KeyboardInterrupt:
        pass
    for name, count in totals.refusals.most_common():
        print(f"{name}: refused {count} programs, {100 * count / totals.programs:.1f} %")
    seconds = time.monotonic() - start
    print(f"{totals.programs / seconds:.2f} programs a second")
    print(totals.summary(seconds))
    return 1 if totals.mismatches else 0


def read_options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Random programs, converted and compared.")
    parser.add_argument("--seconds", type=float, default=60.0, help="when to stop (60)")
    parser.add_argument("--count", type=int, default=10**9, help="stop after so many programs")
    parser.add_argument("--seed", type=int, default=0, help="the first program (0); the others follow")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument(
        "--modes", nargs="+", default=list(MODES), choices=(*MODES, "port"), help="all but port, where it is a program's turn"
    )
    parser.add_argument("--without", nargs="*", default=[], choices=sorted(CONSTRUCTS), help="constructs to switch off")
    parser.add_argument("--verbose", action="store_true", help="also name the seeds that are refused")
    return parser.parse_args(arguments)


def shown(report: dict[str, Any]) -> str:
    """A program that differs: its seed, how, and its text."""
    return f"{'-' * 100}\nseed {report['seed']}, {report.get('mode')}, {report['kind']}: {report['detail']}\n\n{report['text']}"


# ------------------------------------------------------------------ processes
def reports(options: argparse.Namespace, until: float) -> Iterator[dict[str, Any]]:
    """What the workers say, as it comes."""
    said: queue.Queue[dict[str, Any] | None] = queue.Queue()
    chunks = iter(range(options.seed, options.seed + options.count, CHUNK))
    lock, running = threading.Lock(), set()

    def work() -> None:
        while time.monotonic() < until:
            with lock:
                first = next(chunks, None)
            if first is None:
                break
            run_chunk(first, min(CHUNK, options.seed + options.count - first), options, said, running)
        said.put(None)

    for _ in range(options.jobs):
        threading.Thread(target=work, daemon=True).start()
    ended = 0
    try:
        while ended < options.jobs and time.monotonic() < until:
            try:
                report = said.get(timeout=1)
            except queue.Empty:
                continue
            ended += report is None
            if report is not None:
                yield report
    finally:
        for process in list(running):
            process.kill()


def run_chunk(
    first: int, count: int, options: argparse.Namespace, said: queue.Queue[dict[str, Any] | None], running: set[Any]
) -> None:
    """A worker for so many seeds. If it dies, that is a mismatch of the seed it was at, and another one goes on after it."""
    while count > 0:
        command = [sys.executable, "-m", "tests.fuzz.worker", "--first", str(first), "--count", str(count)]
        command += ["--modes", *options.modes, "--without", *options.without]
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
            running.add(process)
            seed, last = listen(process, said)
            running.discard(process)
            if process.wait() == 0:
                return
            errors.seek(0)
            detail = "\n".join(errors.read().splitlines()[-30:])
        died = {"mode": "process", "kind": f"exit {process.returncode}", "detail": detail, "text": ""}
        said.put({"seed": seed, **(died if last is None else last)})
        first, count = seed + 1, first + count - seed - 1


def listen(process: Any, said: queue.Queue[dict[str, Any] | None]) -> tuple[int, dict[str, Any] | None]:
    """Pass on what a worker reports. Gives the seed it was at last, and the smallest program that it told about it."""
    seed, last = 0, None
    for line in process.stdout:
        message = json.loads(line)
        if "begin" in message:
            seed, last = message["begin"], None
        elif "smaller" in message:
            last = {**message, "text": message["smaller"]}
        else:
            said.put(message)
    return seed, last


if __name__ == "__main__":
    sys.exit(main())
