"""Run one test module of CPython in this process, and tell how each of its tests ended.

    python -m tests.cpython.judge ROW identity|converted OUTPUT.json

The current directory is one that the tests may write to.
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

from tests.cpython import inject
from tests.cpython.modules import ROWS, Row

_PACKAGE = str(Path(__file__).parents[2] / "autograph_jax")
_HERE = str(Path(__file__).parent)


class _Counter:
    """The decorator that is put on each function; counts what becomes of them."""

    def __init__(self, convert: bool) -> None:
        self._convert = convert
        self.converted = self.left = 0
        self.reasons: collections.Counter[str] = collections.Counter()

    def __call__(self, function: types.FunctionType) -> types.FunctionType:
        if not self._convert or not isinstance(function, types.FunctionType):
            return function
        from autograph_jax.runtime.convert import conversion_of, convert_function

        twin = convert_function(function)
        if twin is function and (reason := conversion_of(function).reason) is not None:
            self.left += 1
            self.reasons[reason] += 1
        else:
            self.converted += 1
        return twin


class _Result(unittest.TestResult):
    """How each test ended, and as what its exceptions showed themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: dict[str, str] = {}
        self.details: dict[str, str] = {}
        self.raised: dict[str, list[Any]] = collections.defaultdict(list)
        self.current = ""

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        random.seed(1)  # test_tokenize and others take samples
        self.current = name = _clean(test.id())
        number = 1
        while self.current in self.outcomes:
            number += 1
            self.current = f"{name} ({number})"
        self.outcomes[self.current] = "passed"

    def _ended(self, how: str, detail: str = "", test: Any = None) -> None:
        if not self.current or test is not None and not hasattr(test, "_testMethodName"):
            self.current = _clean(str(test))  # setUpClass or setUpModule
        self.outcomes[self.current] = how
        self.details[self.current] = self.details.get(self.current, "") + detail

    def _failed(self, how: str, error: Any, test: Any) -> None:
        self._ended(how, "".join(traceback.format_exception(*error)), test)
        self.raised[self.current].append(shown(error[1]))

    def addError(self, test: Any, err: Any) -> None:
        self._failed("error", err, test)

    def addFailure(self, test: Any, err: Any) -> None:
        self._failed("failed", err, test)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._failed("failed", err, test)

    def addSkip(self, test: Any, reason: str) -> None:
        if self.outcomes.get(self.current) == "passed" or not hasattr(test, "_testMethodName"):
            self._ended("skipped", reason, test)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self._ended("failed as expected")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._ended("passed unexpectedly")


def shown(error: BaseException) -> list[Any]:
    """An exception's type and text, and the lines of Python code that it came through; ours are left out."""
    lines = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if not code.co_filename.startswith((_PACKAGE, _HERE)):
            lines.append([os.path.basename(code.co_filename), line, code.co_name])
    return [type(error).__qualname__, _clean(_text(error)), lines]


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as failed:
        return f"<{type(failed).__name__}>"


def _clean(text: str) -> str:
    """The text without what changes from run to run: addresses, process ids, temporary names."""
    text = re.sub(r"0x[0-9a-fA-F]+", "0x", text)
    return re.sub(r"(test_python|tmp|@test_)\w+", r"\1", text)


def _note_expected_exceptions(result: _Result) -> None:
    """What `assertRaises` catches is noted too: there are many more of these than of failures."""
    context = unittest.case._AssertRaisesContext  # type: ignore[attr-defined]
    original = context.__exit__

    def __exit__(self: Any, kind: Any, value: Any, trace: Any) -> Any:
        if isinstance(value, BaseException):
            result.raised[result.current].append(shown(value))
        return original(self, kind, value, trace)

    context.__exit__ = __exit__


def _prepare(row: Row, counter: _Counter, convert: bool) -> None:
    if convert:
        from autograph_jax.runtime import calls

        left_alone = calls.is_left_alone
        judged = frozenset(row.converted)
        # The standard library is left alone when it is called; what is judged stands for the user's own.
        calls.is_left_alone = lambda module: module not in judged and left_alone(module)
    inject.install(row.converted, counter)


def run(row: Row, convert: bool) -> dict[str, Any]:
    counter, result = _Counter(convert), _Result()
    _prepare(row, counter, convert)
    from test import support

    support.use_resources = ()  # nothing that takes long, or the network
    _note_expected_exceptions(result)
    warnings.simplefilter("default")
    suite = unittest.defaultTestLoader.loadTestsFromName(row.tests)
    suite(result)
    return {
        "outcomes": result.outcomes,
        "details": result.details,
        "raised": result.raised,
        "converted": counter.converted,
        "left": counter.left,
        "reasons": counter.reasons,
    }


def main(name: str, mode: str, output: str) -> None:
    Path(output).write_text(json.dumps(run(ROWS[name], mode == "converted")))


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # threads that a test has left behind are no concern of ours
