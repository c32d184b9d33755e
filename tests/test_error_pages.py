"""docs/errors has a page for each code, whose example fails with the message shown there; what it says instead works."""

import ast
import importlib.util
import re
from pathlib import Path

import jax
import pytest

from autograph_jax import errors
from autograph_jax.errors import AutographError

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "errors"
CLASSES = {kind.code: kind for kind in AutographError.__subclasses__()}


def run(folder: Path, program: str) -> str:
    """Run a file, and give the text of what it raises; empty where it ends well."""
    file = folder / "model.py"
    file.write_text(program)
    spec = importlib.util.spec_from_file_location("model", file)
    assert spec is not None and spec.loader is not None
    try:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    except Exception as error:
        text = f"{type(error).__name__}: {error}\n"
        return re.sub(r" at 0x\w+", "", text.replace(f"{folder}/", ""))
    return ""


def test_each_code_has_a_page_and_each_page_a_code():
    assert {page.stem for page in PAGES.glob("AG*.md")} == CLASSES.keys()


@pytest.mark.parametrize("code", CLASSES)
def test_a_page_is_true(code: str, tmp_path: Path):
    text = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    kind = CLASSES[code]
    assert text.startswith(f"# {code}: {kind.__name__}\n")
    assert f"It is a `{next(base for base in kind.__bases__ if base is not AutographError).__name__}`, too." in text
    [(_, fails), (_, message), (_, works)] = re.findall(r"```(python|text)\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "instead").mkdir()
    assert run(tmp_path, fails) == message
    assert run(tmp_path / "instead", works) == ""
    jax.effects_barrier()


def test_the_index_lists_every_page():
    text = (PAGES / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[(\w+)\]\((\w+)\.md\) \| (\w+) \| (.*) \|$", text, flags=re.MULTILINE)
    assert listed == [(code, code, kind.__name__, (kind.__doc__ or "").strip()) for code, kind in CLASSES.items()]


def test_every_error_has_a_place_and_a_way_out():
    missing = []
    for file in sorted((ROOT / "autograph_jax").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in errors.NAMES:
                lacks = {"location", "help"} - {keyword.arg for keyword in node.keywords}
                missing += [f"{file.name}:{node.lineno}: no {', '.join(sorted(lacks))}"] if lacks else []
    assert missing == []
