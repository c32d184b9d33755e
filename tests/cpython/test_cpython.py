"""CPython's own tests end on converted code as they do on plain code, with the same exceptions at the same lines."""

import pytest

from tests.cpython.compare import verdict
from tests.cpython.modules import CORE, ROWS, reason_to_omit


@pytest.mark.parametrize("name", CORE)
def test_same_as_unconverted(name: str):
    if (reason := reason_to_omit(ROWS[name])) is not None:
        pytest.skip(reason)
    found = verdict(name)
    assert not found.differences
    assert not found.other_exceptions
    assert found.identity > 0 and found.functions > 0
