"""Run one test module of CPython in this process, and tell how each of its tests ended.

    python -m tests.cpython.judge ROW identity|converted|broken OUTPUT.json

The current directory is one that the tests may write to. With `identity` the decorator gives back what it gets, and with
`broken` a function that does nothing, to show that the tests see it.
"""

from __future__ import annotations

import collections
import json
import os
import random
import re
import sys
import traceback
import types
import unittest
import warnings
from pathlib import Path
from typing import Any

from autograph_jax import autograph
from autograph_jax.runtime import calls, convert
from tests.cpython import inject
from tests.cpython.modules import ROWS, Row

_OURS = (str(Path(calls.__file__).parents[1]), str(Path(__file__).parent))


class Decorator:
    """What is put on each function; counts what becomes of them."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self.converted = self.left = 0

    def __call__(self, function: Any) -> Any:
        if self._mode == "identity" or not isinstance(function, types.FunctionType):
            return function
        if self._mode == "broken":
            return lambda *_, **__: None
        twin = autograph(function)
        if convert.is_converted(twin):
            self.converted += 1
        else:
            self.left += 1
        return twin


class Result(unittest.TestResult):
    """How each test ended, and what was raised in it."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: dict[str, str] = {}
        self.details: dict[str, str] = collections.defaultdict(str)
        self.raised: dict[str, list[Any]] = collections.defaultdict(list)
        self.current = ""

    def startTest(self, test: Any) -> None:
        super().startTest(test)
        random.seed(1)  # test_tokenize and others take samples
        self.current = name = _clean(test.id())
        number = 1
        while self.current in self.outcomes:
            number += 1
            self.current = f"{name} ({number})"
        self.outcomes[self.current] = "passed"

    def _ended(self, test: Any, how: str, detail: str) -> None:
        name = self.current if hasattr(test, "_testMethodName") else _clean(str(test))  # else setUpClass, setUpModule
        self.outcomes[name] = how
        self.details[name] += detail

    def addError(self, test: Any, err: Any) -> None:
        self._failed(test, "error", err)

    def addFailure(self, test: Any, err: Any) -> None:
        self._failed(test, "failed", err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._failed(test, "failed", err)

    def _failed(self, test: Any, how: str, error: Any) -> None:
        self.raised[self.current].append(shown(error[1]))
        self._ended(test, how, "".join(traceback.format_exception(*error)))

    def addSkip(self, test: Any, reason: str) -> None:
        if self.outcomes.get(self.current) == "passed" or not hasattr(test, "_testMethodName"):
            self._ended(test, "skipped", reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self._ended(test, "failed as expected", "")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._ended(test, "passed unexpectedly", "")


def shown(error: BaseException) -> list[Any]:
    """An exception's type and text, and the lines that it came through; frames of ours are left out."""
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    lines = [f"{os.path.basename(name)}:{line}" for name, line in places if not name.startswith(_OURS)]
    return [type(error).__qualname__, _clean(_text(error)), lines]


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as failed:
        return f"<{type(failed).__name__}>"


# Addresses, temporary names, open files, ports, messages of mailbox.
_CHANGING = (
    r"0x[0-9a-fA-F]+",
    r"(?<=tmp)\w+|(?<=test_python)\w+|(?<=@test_)\w+|(?<=test_empty_)\w+",
    r"(?<=fd=)\d+|(?<=FD )\d+|\d+(?= \(FD )",
    r"(?<=127\.0\.0\.1:)\d+",
    r"\d+\.M\d+P\d+Q\d+",
)
_sub = re.compile("|".join(_CHANGING)).sub  # kept, since the tests of re change that module


def _clean(text: str) -> str:
    """The text without what changes from run to run."""
    return _sub("", text)


def _note_expected_exceptions(result: Result) -> None:
    """What `assertRaises` catches is noted too: there is a thousand times more of it than of failures."""
    context = unittest.case._AssertRaisesContext  # type: ignore[attr-defined]
    leave = context.__exit__

    def __exit__(self: Any, kind: Any, value: Any, trace: Any) -> Any:
        if isinstance(value, BaseException):
            result.raised[result.current].append(shown(value))
        return leave(self, kind, value, trace)

    context.__exit__ = __exit__


def _convert_callees(modules: tuple[str, ...]) -> None:
    """The standard library is left alone when it is called; what is judged stands for the user's own."""
    left_alone = calls.is_left_alone
    calls.is_left_alone = lambda module: module not in modules and left_alone(module)


def run(row: Row, mode: str) -> dict[str, Any]:
    decorator, result = Decorator(mode), Result()
    if mode == "converted":
        _convert_callees(row.converted)
    inject.install(row.converted, decorator)
    from test import support

    support.use_resources = ()  # nothing that takes long, or the network
    warnings.simplefilter("default")
    suite = unittest.defaultTestLoader.loadTestsFromName(row.tests)
    _note_expected_exceptions(result)
    suite(result)
    found = {"outcomes": result.outcomes, "details": result.details, "raised": result.raised}
    return {**found, "converted": decorator.converted, "left": decorator.left}


def main(name: str, mode: str, output: str) -> None:
    Path(output).write_text(json.dumps(run(ROWS[name], mode)))


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)  # threads that a test has left behind are no concern of ours
