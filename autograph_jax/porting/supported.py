"""The functions of NumPy, math and SciPy that ported code may call on traced values, as a page: docs/numpy.md.

python -m autograph_jax.porting.supported > docs/numpy.md
"""

from __future__ import annotations

import importlib
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any, get_args

import jax
import numpy as np

from .functions import Way, way_of

MODULES = ("numpy", "numpy.linalg", "numpy.fft", "math", "scipy.linalg", "scipy.fft", "scipy.special")
_REFUSED = "refused, with a PortingError"
_HEADER = """\
# NumPy's functions in ported code

What `ag.port` does with each function where an argument is traced; where none is, NumPy itself computes. The methods of arrays,
and `reduce`, `accumulate`, `outer` and `at` of the functions that have them, go the same ways. Of what is converted, a part may
be refused in the end, with the line. Made by `python -m autograph_jax.porting.supported`, with jax {jax} and NumPy {numpy}.
"""


def page() -> str:
    """The text of docs/numpy.md."""
    parts = [_HEADER.format(jax=jax.__version__, numpy=np.__version__)]
    for module in MODULES:
        found = {name: way_of(function) or _REFUSED for name, function in functions_of(module)}
        parts.append(f"## {module}\n")
        for way in (*get_args(Way), _REFUSED):
            names = [f"`{name}`" for name in found if found[name] == way]
            if names:
                text = f"- **{way[0].upper()}{way[1:]}** ({len(names)}): {', '.join(names)}"
                parts.append(textwrap.fill(text, 128, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))
        parts.append("")
    return "\n".join(parts)


def functions_of(module: str) -> Iterator[tuple[str, Any]]:
    """The public functions of a module, by name; a function with two names once."""
    room = importlib.import_module(module)
    names = sorted(getattr(room, "__all__", None) or vars(room))
    seen: set[int] = set()
    for name in names:
        value = getattr(room, name)
        if name.startswith("_") or not callable(value) or inspect.isclass(value) or id(value) in seen:
            continue
        seen.add(id(value))
        yield name, value


if __name__ == "__main__":
    print(page(), end="")
