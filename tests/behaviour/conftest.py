"""Count, at the end of a run, the rows that belong to later issues and do not work yet."""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    noted = [note for report in reports for note in getattr(report, "user_properties", [])]
    # Pairs arrive from an xdist worker as lists, so they are made into tuples again.
    later, unsolved, unharmed = ({tuple(value) for key, value in noted if key == k} for k in ("later", "open", "unharmed"))
    if not later:
        return
    by_issue = ", ".join(f"{issue}: {count}" for issue, count in sorted(Counter(i for _, i in unsolved).items()))
    terminalreporter.section("behaviour rows")
    terminalreporter.line(f"{len(unsolved)} rows are open until a later issue ({by_issue or 'none'})")
    terminalreporter.line(f"{len(later - unsolved)} of the {len(later)} rows marked `later` are right already")
    terminalreporter.line(f"{sum(count for _, count in unharmed)} rows that plain jax.jit accepts were compared with it")
