"""The notebooks of examples/: their cells are run as in a notebook, and what they print is stored in them.

python -m tests.examples.notebooks      # runs all of them, and stores the outputs anew
"""

import ast
import contextlib
import io
import json
import linecache
import os
import unittest.mock
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(notebook: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """The outputs of each cell: what it prints, and the value of its last line, in nbformat's form."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(code_cells(notebook), 1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = _run_cell("".join(cell["source"]), f"<ipython-input-{number}>", names)
        outputs: list[dict[str, Any]] = []
        if text := printed.getvalue():
            outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(text)})
        if value is not None:
            data = {"text/plain": _lines(_shown(value))}
            if hasattr(value, "_repr_html_"):
                data["text/html"] = _lines(value._repr_html_())
            outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
        yield outputs


def _shown(value: Any) -> str:
    """In as many columns on every machine."""
    with unittest.mock.patch.dict(os.environ, COLUMNS="120"):
        return repr(value)


def _run_cell(source: str, file: str, names: dict[str, Any]) -> Any:
    """IPython's way: a cell is a file of its own, whose text linecache has."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    tree = ast.parse(source, file)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec"), names)
    return eval(compile(ast.Expression(last.value), file, "eval"), names) if isinstance(last, ast.Expr) else None


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def store(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for number, (cell, outputs) in enumerate(zip(code_cells(notebook), list(run(notebook)), strict=True), 1):
        cell["execution_count"], cell["outputs"] = number, outputs
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for path in NOTEBOOKS:
        store(path)
