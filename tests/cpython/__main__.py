"""Print the table of tests/README.md: what CPython's own tests say of converted code.

python -m tests.cpython [--core] [ROW ...]
"""

from __future__ import annotations

import sys
import time

from tests.cpython.compare import RunFailed, Verdict, verdict
from tests.cpython.modules import CORE, ROWS, reason_to_omit

_LINE = "| {:24} | {:>8} | {:>9} | {:>11} | {:>10} |"


def main(arguments: list[str]) -> int:
    names = [name for name in arguments if name in ROWS]
    if unknown := [name for name in arguments if name not in ROWS and name != "--core"]:
        print(f"No such rows: {', '.join(unknown)}. There are {', '.join(ROWS)}.")
        return 2
    if not names:
        names = list(CORE if "--core" in arguments else ROWS)
    started = time.monotonic()
    print(_LINE.format("module", "identity", "converted", "differences", "exceptions"))
    print(_LINE.format(*["---"] * 5))
    verdicts, problems = {}, []
    for name in names:
        if (reason := reason_to_omit(ROWS[name])) is not None:
            print(_LINE.format(name, "-", "-", "-", "-"), reason)
            continue
        try:
            verdicts[name] = found = verdict(name)
        except RunFailed as failed:
            problems.append(str(failed))
            continue
        print(_row(name, found), flush=True)
        problems += [f"{name}: {text}" for text in found.differences + found.other_exceptions]
    print(_row("all", _sum(list(verdicts.values()))))
    functions, left = (sum(getattr(v, field) for v in verdicts.values()) for field in ("functions", "left"))
    python = ".".join(map(str, sys.version_info[:3]))
    print(f"\nPython {python}: {functions} functions converted, {left} left, {time.monotonic() - started:.0f} s")
    print("\n".join(problems))
    return 1 if problems else 0


def _row(name: str, found: Verdict) -> str:
    differences = f"{len(found.differences)} + {len(found.known)}" if found.known else len(found.differences)
    exceptions = f"{found.exceptions}" + (f" ({len(found.other_exceptions)})" if found.other_exceptions else "")
    return _LINE.format(name, found.identity, found.converted, differences, exceptions)


def _sum(verdicts: list[Verdict]) -> Verdict:
    fields = [[getattr(v, field) for v in verdicts] for field in Verdict.__dataclass_fields__]
    return Verdict(*(sum(values) if values and isinstance(values[0], int) else sum(values, []) for values in fields))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
