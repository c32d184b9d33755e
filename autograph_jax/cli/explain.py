"""`autograph-jax explain solver.py:step --args ...` says what each line becomes. The file is imported, the call is traced."""

from __future__ import annotations

import argparse
import json

from autograph_jax.cli import running

DESCRIPTION = "Say what each line of a function becomes in a call. The file is imported and the call traced, not run."
EXAMPLES = """\
examples:
  autograph-jax explain solver.py:fit --args "zeros(3), randn(64, 3), rate=0.1"
  autograph-jax explain solver.py:fit --args "zeros(3), randn(64, 3)" --html report.html
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `explain`."""
    running.add_target(parser)
    parser.add_argument("--html", metavar="FILE", help="write one page, coloured by cost; a click opens a line's operations")
    parser.add_argument("--json", action="store_true", help="print all of it as JSON")
    parser.add_argument("--no-compile", action="store_true", help="leave out how long the compiler takes")


def run(options: argparse.Namespace) -> int:
    """Print the explanation. Raises TargetError, and what importing the file and tracing the call raise."""
    from autograph_jax.explaining.explain import explain

    function, args, kwargs = running.call(options)
    explanation = explain(function, *args, compile=not options.no_compile, **kwargs)
    if options.html:
        with open(options.html, "w", encoding="utf-8") as file:
            file.write(explanation.html())
    print(json.dumps(explanation.data(), indent=2) if options.json else explanation)
    return 0
