"""docs/mistakes.md, the mistakes of test_mistakes.py with their messages. `make docs` writes it by this file."""

import re
import textwrap
from pathlib import Path

from tests.messages import Row
from tests.test_mistakes import ROWS

PAGE = Path(__file__).parents[1] / "docs" / "mistakes.md"
HEAD = """\
# Mistakes, and what is said

Programs that cannot be right as they stand, many of them out of threads in issue trackers, each with the whole message that it
gets. A test runs them all. In the calls, `jit(f)` is `jax.jit(autograph(f))`, and `x3` an array of three ones.

| mistake | error | what is said |
|---|---|---|
"""


def page() -> str:
    return HEAD + "".join(_line(name, row) for name, row in ROWS.items()) + "".join(_section(*item) for item in ROWS.items())


def _line(name: str, row: Row) -> str:
    kind, _, said = row.expected.split("\n")[0].partition(": ")
    said = said.replace("|", "\\|").replace("<", "&lt;")
    return f"| [{name}](#{_anchor(name)}) | {kind} | {said} |\n"


def _section(name: str, row: Row) -> str:
    program = textwrap.dedent(row.program).strip("\n")
    return f"""
## {name[0].upper()}{name[1:]} {{#{_anchor(name)}}}

```py
{program}


{row.call}
```

```text
{row.expected}
```
"""


def _anchor(name: str) -> str:
    return re.sub(r"\W+", "-", name.lower()).strip("-")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
