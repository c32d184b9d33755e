"""The files and functions that a command names: `solver.py:step`, `package.module:Solver.step`. Nothing is imported."""

from __future__ import annotations

import ast
import difflib
import os
import sys
import tokenize
from collections.abc import Iterator
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, PathFinder, SourceFileLoader
from typing import NamedTuple

from autograph_jax.cli import originals


class TargetError(Exception):
    """There is no such file, module or function."""


class Definition(NamedTuple):
    """A function or lambda in a file, by its dotted name."""

    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    class_name: str | None

    @property
    def first_line(self) -> int:
        return originals.first_line(self.node)


class File(NamedTuple):
    """A parsed file."""

    name: str
    lines: list[str]
    tree: ast.Module

    @property
    def autograph_names(self) -> frozenset[str]:
        """What the decorator is called here: `from autograph_jax import autograph as staged`."""
        imports = [node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom)]
        aliases = [alias for node in imports if node.module == "autograph_jax" for alias in node.names]
        return frozenset(["autograph", *(a.asname for a in aliases if a.name == "autograph" and a.asname)])


def find(target: str) -> tuple[File, list[Definition]]:
    """The file that a target names, and the definitions of that name in it."""
    place, name = split(target)
    file = read(place if is_path(place) else _module_file(place))
    known = list(definitions(file.tree.body))
    found = [d for d in known if d.name == name and not _is_overload(d.node)]
    if not found:
        raise TargetError(_unknown(name, file, [d.name for d in known]))
    return file, found


def split(target: str) -> tuple[str, str]:
    """The file or module that a target names, and the function's dotted name in it."""
    place, colon, name = target.rpartition(":")
    if not colon or not name or not place or name.endswith(".py"):
        raise TargetError(f"`{target}` names no function: write file.py:function or package.module:function")
    return place, name


def is_path(place: str) -> bool:
    return place.endswith(".py") or os.sep in place or os.path.isfile(place)


def read(filename: str) -> File:
    try:
        with tokenize.open(filename) as stream:  # in the encoding that the file declares
            source = stream.read()
        return File(filename, source.split("\n"), ast.parse(source, filename))
    except OSError as error:
        raise TargetError(f"{filename} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TargetError(f"{filename} cannot be read: {error}") from None
    except SyntaxError as error:
        raise TargetError(f"{filename}:{error.lineno or 1}: not valid Python: {error.msg}") from None


def definitions(statements: list[ast.stmt], classes: tuple[str, ...] = ()) -> Iterator[Definition]:
    """Functions, methods and named lambdas, also those under `if` and `try`; not those inside functions."""
    for statement in statements:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield Definition(".".join([*classes, name]), statement, classes[-1] if classes else None)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):  # square = autograph(lambda x: x * x)
                lambdas = [node for node in ast.walk(value) if isinstance(node, ast.Lambda)]
                if len(lambdas) == 1:
                    yield Definition(".".join([*classes, name]), lambdas[0], classes[-1] if classes else None)
            case ast.ClassDef(name=name):
                yield from definitions(statement.body, (*classes, name))
            case _:
                for part in ("body", "orelse", "finalbody"):
                    yield from definitions(getattr(statement, part, []), classes)
                for part in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
                    yield from definitions(part.body, classes)


def _is_overload(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any(ast.unparse(decorator).rpartition(".")[2] == "overload" for decorator in decorators)


def _unknown(name: str, file: File, names: list[str]) -> str:
    """What to say about a name that is not there, with names that may have been meant."""
    methods = [other for other in names if other.startswith(f"{name}.")]
    if methods:
        return f"`{name}` is a class in {file.name}: name one of its methods, {_listed(methods)}"
    for node in file.tree.body:
        if isinstance(node, ast.ImportFrom) and any(name in (a.asname, a.name) for a in node.names):
            module = "." * node.level + (node.module or "")
            return f"`{name}` is not defined in {file.name}, which imports it from {module}"
    near = [other for other in names if other.rpartition(".")[2] == name]
    near = near or difflib.get_close_matches(name, names)
    if near:
        return f"there is no function `{name}` in {file.name}; did you mean {_listed(near)}?"
    return f"there is no function `{name}` in {file.name}" + (f", which has {_listed(names)}" if names else "")


def _listed(names: list[str], most: int = 8) -> str:
    names = list(dict.fromkeys(names))
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _module_file(module: str) -> str:
    """The file of a module. A parent is looked up too, but never run, as importlib.util.find_spec would."""
    first, *rest = module.split(".")
    if not all(part.isidentifier() for part in [first, *rest]):
        raise TargetError(f"`{module}` is neither a .py file nor the name of a module")
    specs = [PathFinder.find_spec(first, [os.getcwd()]), *(f.find_spec(first, None) for f in sys.meta_path)]
    spec, done = next(filter(None, specs), None), first
    for part in rest:
        folders = list(spec.submodule_search_locations or ()) if spec else []
        specs = [FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(part) for folder in folders]
        done += f".{part}"
        spec = next((s for s in specs if s and s.origin), next((s for s in specs if s), None))
        if spec is None:
            break
    if spec is None:
        raise TargetError(f"there is no module {done} in this folder or on Python's path")
    if not spec.origin or not spec.origin.endswith(".py"):
        raise TargetError(f"the module {module} has no Python source")
    return os.path.relpath(spec.origin) if spec.origin.startswith(os.getcwd() + os.sep) else spec.origin
