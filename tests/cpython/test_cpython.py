"""CPython's own tests end on converted code as they do on plain code, with the same exceptions at the same lines."""

import pytest

from tests.cpython.compare import verdict
from tests.cpython.inject import compile_decorated
from tests.cpython.modules import CORE, ROWS, Row, reason_to_omit


@pytest.mark.parametrize("name", CORE)
def test_same_as_unconverted(name: str):
    if (reason := reason_to_omit(ROWS[name])) is not None:
        pytest.skip(reason)
    found = verdict(name)
    assert not found.differences
    assert not found.other_exceptions
    assert found.identity > 0 and found.functions > 0


def test_what_is_broken_is_seen():
    if (reason := reason_to_omit(ROWS["colorsys"])) is not None:
        pytest.skip(reason)
    found = verdict("colorsys", mode="broken")
    assert found.identity == 7 and found.converted == 0
    assert len(found.differences) == 7 and "passed -> error" in found.differences[0]


def test_a_row_that_cannot_run_says_why():
    assert reason_to_omit(Row("test.test_nothing_at_all", ("heapq",))) in (
        "this Python has no such test module",
        "this Python comes without the `test` package",
    )


PROGRAM = """
class C:
    @staticmethod
    def f(x):
        return [lambda: x]


def g():
    raise ValueError
"""


def test_decorating_keeps_lines():
    seen = []
    space = {"__name__": "program", "__convert__": lambda function: seen.append(function) or function}
    exec(compile_decorated(PROGRAM, "<program>", "exec"), space)
    space["C"].f(1)
    found = [(f.__qualname__, f.__code__.co_firstlineno) for f in seen]
    assert found == [("C.f", 3), ("g", 8), ("C.f.<locals>.<lambda>", 5)]
    with pytest.raises(ValueError) as caught:
        space["g"]()
    assert caught.traceback[-1].lineno + 1 == 9
