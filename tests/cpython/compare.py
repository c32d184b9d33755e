"""The two runs of a row, in processes of their own, and what is different between them."""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.cpython.differs import DIFFERS

_ROOT = str(Path(__file__).parents[2])


class RunFailed(Exception):
    """A run gave no result: it was killed, or it took too long."""


@dataclasses.dataclass(frozen=True)
class Verdict:
    """How many tests pass in each run, and what is different in the converted one."""

    identity: int
    converted: int
    others: int  # skipped, or failed in both runs
    functions: int  # converted
    left: int  # functions that cannot be converted without being noticed
    exceptions: int  # compared
    differences: list[str]  # tests that end in another way
    known: list[str]  # those that differs.py has a reason for
    other_exceptions: list[str]  # of another type or text, or raised elsewhere


def verdict(name: str, *, mode: str = "converted", limit: float = 600) -> Verdict:
    """Run a row as it is and in another mode. Raises RunFailed."""
    before, after = _run(name, "identity", limit), _run(name, mode, limit)
    changed = [test for test in before["outcomes"] if before["outcomes"][test] != after["outcomes"].get(test)]
    changed += [test for test in after["outcomes"] if test not in before["outcomes"]]
    counts = [collections.Counter(run["outcomes"].values()) for run in (before, after)]
    return Verdict(
        identity=counts[0]["passed"],
        converted=counts[1]["passed"],
        others=counts[0].total() - counts[0]["passed"],
        functions=after["converted"],
        left=after["left"],
        exceptions=sum(map(len, before["raised"].values())),
        differences=[_told(test, before, after) for test in changed if test not in DIFFERS],
        known=[test for test in changed if test in DIFFERS],
        other_exceptions=list(_other_exceptions(before, after, without=changed)),
    )


def _run(name: str, mode: str, limit: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return _run_in(Path(folder), name, mode, limit)


def _run_in(folder: Path, name: str, mode: str, limit: float) -> dict[str, Any]:
    output, place = folder / "outcome.json", folder / "place"
    place.mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("COV", "PYTHON", "PYTEST"))}
    environment |= {"PYTHONPATH": _ROOT, "PYTHONHASHSEED": "0", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "tests.cpython.judge", name, mode, str(output)]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,  # tests leave processes behind, which go with their session
        )
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            raise RunFailed(f"{name}, {mode}: longer than {limit:g} s") from None
        finally:
            _end_session(process)
        errors.seek(0)
        if not output.exists():
            raise RunFailed(f"{name}, {mode}: no result (exit status {process.returncode})\n{errors.read()[-2000:]}")
    return json.loads(output.read_text())


def _end_session(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _told(test: str, before: dict[str, Any], after: dict[str, Any]) -> str:
    detail = after["details"].get(test, "").strip().splitlines()
    ends = f"{before['outcomes'].get(test, 'not run')} -> {after['outcomes'].get(test, 'not run')}"
    return f"{test}: {ends}: {detail[-1] if detail else ''}"


def _other_exceptions(before: dict[str, Any], after: dict[str, Any], without: list[str]) -> Iterator[str]:
    for test, raised in before["raised"].items():
        again = after["raised"].get(test, [])
        if test in without or test in DIFFERS:
            continue
        if len(raised) != len(again):
            yield f"{test}: {len(raised)} exceptions -> {len(again)}"
        for old, new in zip(raised, again, strict=False):
            if not _is_same(old, new):
                yield f"{test}: {old} -> {new}"


def _is_same(old: list[Any], new: list[Any]) -> bool:
    """The same type, text and last line; and all lines of before, between which blocks of a function bring more."""
    if old[0] == new[0] == "RecursionError":
        return True  # where it strikes depends on what Python was about to do
    lines = iter(new[2])
    return old[:2] == new[:2] and old[2][-1:] == new[2][-1:] and all(line in lines for line in old[2])
