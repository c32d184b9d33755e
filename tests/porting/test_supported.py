"""docs/numpy.md says what ported code does with NumPy's functions, as the code has it."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest
import scipy.special

from autograph_jax.porting import supported

PAGE = Path(__file__).parents[2] / "docs" / "numpy.md"


def test_the_page_is_made_of_the_code():
    text = PAGE.read_text()
    if f"with jax {jax.__version__} and NumPy {np.__version__}." not in text:
        pytest.skip("the page is of other versions, whose functions are others")
    assert text == supported.page()


@pytest.mark.parametrize(
    "function, way",
    [
        (np.sort, "arrays that share memory or are written"),
        (np.shape, "known without the values"),
        (np.sum, "by jax.numpy or jax.scipy"),
        (np.fix, "by the library's own Python code, converted"),
        (np.busday_count, None),
        (scipy.special.airy, "by the library itself at run time, with a derivative"),
        (scipy.special.agm, "by the library itself at run time, without a derivative"),
    ],
)
def test_a_way(function, way):
    assert supported.way_of(function) == way


def test_a_function_with_two_names_stands_once():
    names = [name for name, _ in supported.functions_of("numpy")]
    assert "abs" in names and "absolute" not in names
