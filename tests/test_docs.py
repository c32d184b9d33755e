"""docs/: what the tutorial prints is what stands there, the table of programs has all of them, and the site each page."""

import contextlib
import importlib.util
import io
import re
from pathlib import Path

import pytest

import autograph_jax as ag
from autograph_jax import errors
from tests import mistakes_page, test_mistakes
from tests.behaviour import supported

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.DOTALL)


@pytest.mark.parametrize("page", ["tutorial.md", "debugging.md"])
def test_what_a_page_prints(page: str, tmp_path: Path):
    """All blocks are one file, so that its functions have a source; a mark is printed after each."""
    blocks = BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
    assert len(blocks) > 2
    file = tmp_path / "page.py"
    file.write_text("\n".join(f"{code}\nprint('\\0', end='')" for code, _ in blocks), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("page", file)
    assert spec is not None and spec.loader is not None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    assert printed.getvalue().split("\0")[:-1] == [text for _, text in blocks]


def test_the_table_of_programs_has_all_of_them():
    rows = re.findall(r"^\| (.*?)((?: \| \d+)+) \|$", supported.page(), re.MULTILINE)
    counts = [list(map(int, numbers.split(" | ")[1:])) for _, numbers in rows]
    assert len(rows) == len(supported.TABLES) + 1
    assert counts[-1] == [sum(column) for column in zip(*counts[:-1], strict=True)]
    assert all(programs == as_in_python + refused + either for programs, as_in_python, refused, either, *_ in counts)
    assert counts[-1][0] > 1000


def test_the_table_of_mistakes_has_all_of_them():
    text = mistakes_page.page()
    rows = re.findall(r"^\| \[(.*?)\]\(#(.*?)\) \| (\w+) \| .* \|$", text, re.MULTILINE)
    assert [name for name, _, _ in rows] == list(test_mistakes.ROWS) and len(rows) >= 30
    assert [anchor for _, anchor, _ in rows] == re.findall(r"\{#(.*?)\}", text)
    assert all(row.expected in text for row in test_mistakes.ROWS.values())


def test_the_site_has_each_page_once():
    listed = re.findall(r"([\w/]+\.md)", (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8"))
    made = {supported.PAGE.name, mistakes_page.PAGE.name}  # when the site is built
    assert sorted(listed) == sorted({page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} | made)


def test_the_reference_has_each_public_name():
    shown = re.findall(r"^::: (\S+)", (DOCS / "reference.md").read_text(encoding="utf-8"), re.MULTILINE)
    names = {"DoNotConvert" if name == "do_not_convert" else name: home for name, home in ag._HOMES.items()}
    left = {name for name, home in names.items() if home not in shown and f"{home}.{name}" not in shown}
    assert left <= set(errors.NAMES)  # which have pages
