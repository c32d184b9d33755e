"""Functions that would notice that they are converted are left alone, and the reason says where."""

import textwrap

import gast
import pytest

from autograph_jax.converters.unsupported import reason_to_leave

FRAME = "it calls `{}()`, which looks at the function's own frame"
ROWS = {  # a function, the reason to leave it, and the line that it names
    "names its variables": ("def f(x):\n    return dir()", FRAME.format("dir"), 2),
    "reads its variables": ("def f(x):\n    return locals(), vars()", None, None),
    "reads those of a comprehension": (
        "def f(xs):\n    return [vars() for x in xs]",
        "it asks for the variables of a comprehension",
        2,
    ),
    "evaluates text": ("def f(x):\n    return x + eval('x')", FRAME.format("eval"), 2),
    "reads its frame": ("def f(x):\n    import sys\n    return sys._getframe()", FRAME.format("_getframe"), 3),
    "vars of an object": ("def f(x):\n    return vars(x)", None, None),
    "async": ("async def f(x):\n    return x", "it is an async function", 1),
    "super after its argument is deleted": (
        "def f(self):\n    del self\n    super()",
        "it deletes the argument that `super()` reads",
        3,
    ),
    "super, and another name is deleted": ("def f(self, x):\n    del x\n    super()", None, None),
    "super with arguments": ("def f(self, kind):\n    del self\n    super(kind, kind)", None, None),
    "yields where an item is written": ("def f(o):\n    o[(yield 1)] = 3", "it yields inside an expression", 2),
    "the same, annotated": ("def f(o):\n    o['a'][(yield 1)]: int = 3", "it yields inside an expression", 2),
    "frames of an inner function": ("def f(x):\n    def g():\n        return dir()\n    return g", None, None),
}


@pytest.mark.parametrize("text, reason, line", ROWS.values(), ids=ROWS)
def test_reason(text: str, reason: str | None, line: int | None):
    found = reason_to_leave(gast.parse(textwrap.dedent(text)).body[0])
    assert (found is None) == (reason is None)
    if found is not None:
        assert (found[0], found[1].lineno) == (reason, line)
