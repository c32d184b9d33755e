"""A sample of the programs of `sharing.py`, and that these tell a fault."""

import random

import pytest

from autograph_jax.operators.tracing import holders

from .sharing import outcome, program
from .small import FINE

COUNT = 240
SHARES = 6


@pytest.mark.parametrize("share", range(SHARES))
def test_as_in_python_or_refused(share):
    found = {}
    for seed in range(share, COUNT, SHARES):
        text = program(random.Random(seed))
        found[seed, text] = outcome(text, seed)
    wrong = [f"seed {seed}: {told}\n{text}" for (seed, text), told in found.items() if told not in FINE]
    assert not wrong, "\n\n".join(wrong)
    assert sum(told == "right" for told in found.values()) >= COUNT // SHARES // 5


def test_that_nobody_is_asked_who_holds_an_object_is_found(monkeypatch):
    monkeypatch.setattr(holders, "holder_of", lambda *_, **__: None)
    assert any(outcome(program(random.Random(seed)), f"planted {seed}") not in FINE for seed in range(40))
