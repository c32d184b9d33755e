"""The notebooks of examples/ run, and what they give is what is stored in them."""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import pytest

from tests.examples.notebooks import NOTEBOOKS, code_cells, run


def shown(outputs: list[dict[str, Any]]) -> list[str]:
    """Words; times and numbers of operations are of a machine and of a version of JAX, and how lines are broken is by these."""
    texts = ["".join(output.get("text") or output["data"]["text/plain"]) for output in outputs]
    return [" ".join(re.sub(r"[,;] traced in [\d.e-]+ s|\d+ operations?", "", text).split()) for text in texts]


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@contextlib.contextmanager
def x64_is_the_notebooks() -> Iterator[None]:
    """A notebook sets JAX's types for all that follows, as its reader would."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook(path: Path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4 and notebook["cells"][0]["cell_type"] == "markdown"
    with x64_is_the_notebooks():
        cells, outputs = code_cells(notebook), list(run(notebook))
    assert [shown(found) for found in outputs] == [shown(cell["outputs"]) for cell in cells]
    rich = [["text/html" in output.get("data", ()) for output in cell["outputs"]] for cell in cells]
    assert rich == [["text/html" in output.get("data", ()) for output in found] for found in outputs]
    assert sum(map(bool, outputs)) >= len(cells) // 2
