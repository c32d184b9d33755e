"""A sample of the programs of `shapes.py`, and that these tell a fault."""

import random

import pytest

from autograph_jax.operators.staging.settled import Settled
from autograph_jax.operators.values import forms

from .shapes import outcome, program
from .small import FINE

COUNT = 96
SHARES = 4


@pytest.mark.parametrize("share", range(SHARES))
def test_as_in_python_or_refused(share):
    found = {}
    for seed in range(share, COUNT, SHARES):
        text = program(random.Random(seed))
        found[seed, text] = outcome(text, seed)
    wrong = [f"seed {seed}: {told}\n{text}" for (seed, text), told in found.items() if told not in FINE]
    assert not wrong, "\n\n".join(wrong)
    assert sum(told == "right" for told in found.values()) >= COUNT // SHARES // 5


def is_told(fault, seeds):
    return any(outcome(program(random.Random(seed)), f"{fault} {seed}") not in FINE for seed in seeds)


def test_that_a_branch_takes_any_number_is_found(monkeypatch):
    monkeypatch.setattr(forms.Array, "has_any_shape", property(lambda form: form.shape == () and form.number is not None))
    assert is_told("any number", range(60))


def test_that_nobody_looks_through_a_loop_is_found(monkeypatch):
    monkeypatch.setattr(Settled, "check_numbers", lambda *_, **__: None)
    assert is_told("not looked through", range(80, 130))
