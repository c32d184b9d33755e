"""Every import in the package follows the arrows of ARCHITECTURE.md, and this check can fail."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "autograph_jax"


class Arrows(NamedTuple):
    """What a room may import beside itself and the standard library."""

    rooms: frozenset[str]
    libraries: frozenset[str] | None  # None: any


def arrows(rooms: str = "", libraries: str | None = "") -> Arrows:
    return Arrows(frozenset(rooms.split()), None if libraries is None else frozenset(libraries.split()))


PUBLIC = "__init__"  # the public names: `from autograph_jax import jit`
ROOMS = {
    "errors": arrows(),
    "syntax": arrows("errors", "gast"),
    "analysis": arrows("errors syntax", "gast"),
    "converters": arrows("errors syntax analysis", "gast"),  # names operators only by the text `ag__`
    "porting": arrows("errors", "jax jaxlib numpy scipy"),
    "loops": arrows("errors", "jax jaxlib numpy"),
    "operators": arrows("errors loops porting", "jax jaxlib numpy"),
    "runtime": arrows("errors syntax analysis converters operators loops porting", None),
    "testing": arrows("runtime", "jax numpy"),
    "pytest_plugin": arrows("testing", "pytest"),
    "explaining": arrows("errors operators runtime", "jax numpy"),
    "cli": arrows("errors syntax analysis converters operators loops porting runtime explaining __init__", None),
    PUBLIC: arrows("errors syntax analysis converters operators loops porting runtime explaining testing", None),
    "__main__": arrows("cli", None),
}


class Import(NamedTuple):
    line: int
    name: str  # dotted and absolute: autograph_jax.syntax.names.fresh


def violations(path: str, source: str) -> list[str]:
    """The imports in `source`, the file at `path` inside the package, that no arrow allows."""
    room = room_of_file(path)
    complaints = []
    for line, name in imports(path, source):
        library, *rest = name.split(".")
        if library == "autograph_jax":
            target = rest[0] if rest and rest[0] in ROOMS else PUBLIC
            allowed = target == room or target in ROOMS[room].rooms
        else:
            libraries = ROOMS[room].libraries
            allowed = libraries is None or library in libraries or library in sys.stdlib_module_names
        if not allowed:
            complaints.append(f"autograph_jax/{path}:{line}: {room} may not import {name}")
    return complaints


def room_of_file(path: str) -> str:
    """`errors.py` -> `errors`; `operators/loops.py` -> `operators`."""
    return path.split("/")[0].removesuffix(".py")


def imports(path: str, source: str) -> Iterator[Import]:
    """All imports of a file: also those inside functions, under TYPE_CHECKING, and by name through importlib."""
    package = ["autograph_jax", *path.split("/")[:-1]]
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (Import(node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = package[: len(package) - level + 1] if level else []
                prefix = ".".join(base + ([module] if module else []))
                yield from (Import(node.lineno, f"{prefix}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Attribute(attr="import_module") | ast.Name(id="import_module" | "__import__"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                level = len(name) - len(name.lstrip("."))
                base = package[: len(package) - level + 1] if level else []
                yield Import(node.lineno, ".".join([*base, name.lstrip(".")]))


def test_the_package_follows_the_arrows():
    found = [
        complaint
        for path in sorted(PACKAGE.rglob("*.py"))
        for complaint in violations(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_every_file_is_in_a_room():
    strangers = {room_of_file(path.relative_to(PACKAGE).as_posix()) for path in PACKAGE.rglob("*.py")} - ROOMS.keys()
    assert not strangers, f"give {sorted(strangers)} a line in ROOMS and in ARCHITECTURE.md"


FORBIDDEN = {
    "jax in a converter": ("converters/loops.py", "import jax.numpy as jnp"),
    "jax in a function of a converter": ("converters/loops.py", "def convert(tree, facts):\n    from jax import lax"),
    "operators from a converter": ("converters/loops.py", "from ..operators import loops"),
    "gast in an operator": ("operators/loops.py", "import gast"),
    "a converter from an operator": ("operators/loops.py", "from autograph_jax.converters.loops import convert"),
    "a room by relative import of the package": ("operators/loops.py", "from .. import syntax"),
    "a room from two folders down": ("operators/staging/scan.py", "from ...runtime.calls import call"),
    "a room for annotations only": (
        "analysis/flow.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..converters import loops",
    ),
    "a room through importlib": (
        "analysis/flow.py",
        "import importlib\nimportlib.import_module('autograph_jax.runtime')",
    ),
    "a relative name through importlib": (
        "syntax/emit.py",
        "from importlib import import_module\nimport_module('..operators', __package__)",
    ),
    "the public names from below": ("runtime/calls.py", "from autograph_jax import jit"),
    "the command line from below": ("runtime/convert.py", "from ..cli.main import main"),
    "anything of ours in errors": ("errors.py", "from .syntax import source"),
    "a library in errors": ("errors.py", "import gast"),
    "operators from porting": ("porting/arrays.py", "from ..operators.loops import while_stmt"),
}


@pytest.mark.parametrize("path, source", FORBIDDEN.values(), ids=FORBIDDEN.keys())
def test_a_forbidden_import_is_found(path: str, source: str):
    assert len(violations(path, source)) == 1


ALLOWED = {
    "own room": ("operators/loops.py", "from . import values\nfrom ..operators import join"),
    "standard library": ("errors.py", "from __future__ import annotations\nimport os.path, linecache"),
    "with the arrows": ("converters/loops.py", "import gast\nfrom .. import errors\nfrom ..analysis import facts"),
    "jax in an operator": ("operators/loops.py", "import jax.numpy as jnp\nfrom ..porting import arrays"),
    "everything in runtime": ("runtime/convert.py", "from .. import converters, operators\nimport gast, jax"),
    "everything in cli": ("cli/main.py", "from autograph_jax import jit\nfrom ..runtime import convert\nimport rich"),
}


@pytest.mark.parametrize("path, source", ALLOWED.values(), ids=ALLOWED.keys())
def test_an_allowed_import_passes(path: str, source: str):
    assert violations(path, source) == []


@pytest.mark.parametrize("module", ["autograph_jax", "autograph_jax.converters", "autograph_jax.cli.main"])
def test_jax_is_not_imported_by(module: str):
    program = f"import sys, {module}; print(sorted({{'jax', 'jaxlib'}} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert (done.stdout, done.stderr) == ("[]\n", "")
