"""`autograph-jax check PATH...` says which functions stay as they are, and with `--strict` what else Python has to decide.

What it reports is what the converters leave alone and what they mark; it has no list of constructs of its own.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from autograph_jax.cli import originals, reports, targets
from autograph_jax.errors import StagingError, UnconvertibleError

DESCRIPTION = "Say what does not convert in files and folders of Python. They are parsed, never imported."
EPILOG = """\
A finding is silenced by `# ag: ignore[AG0101]` on its line.
Exit codes: 0, nothing was found; 1, something was; 2, a file cannot be read.

examples:
  autograph-jax check src
  autograph-jax check solver.py --strict --format github
"""
_IGNORE = re.compile(r"#\s*ag:\s*ignore(?:\[([\w\s,]*)\])?")
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `check`."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a Python file, or a folder")
    parser.add_argument("--strict", action="store_true", help="also what traced data may not decide, since Python has to")
    parser.add_argument("--format", choices=sorted(reports.FORMATS), default="text", help="default: text")


def run(options: argparse.Namespace) -> int:
    """Print what is found. Raises TargetError for a file that cannot be read or parsed."""
    findings = [finding for path in _files(options.paths) for finding in check(targets.read(path), strict=options.strict)]
    text = reports.FORMATS[options.format](findings)
    print(text, end="\n" if text else "")
    if options.format == "text" and sys.stderr.isatty():
        print(f"{len(findings)} found" if findings else "nothing found", file=sys.stderr)
    return 1 if findings else 0


def check(file: targets.File, *, strict: bool = False) -> list[reports.Finding]:
    """What does not convert in a file, in the order of its lines."""
    found = {*_unconvertible(file), *(_decided_by_python(file) if strict else ())}
    return sorted(finding for finding in found if not _is_ignored(finding, file))


class _Function(NamedTuple):
    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    class_name: str | None
    is_outermost: bool


def _unconvertible(file: targets.File) -> Iterator[reports.Finding]:
    from autograph_jax.converters.unsupported import WAY_OUT, reason_to_leave
    from autograph_jax.syntax.translation import to_gast

    for function in _functions(file.tree):
        if (reason := reason_to_leave(to_gast(function.node))) is not None:
            why, node = reason
            what = f"`{function.name}` stays as it is: {why}"
            yield _finding(file, node, UnconvertibleError.code, what, WAY_OUT)


# What converted text calls where Python has to decide, and what that means.
_LEFT_TO_PYTHON = {
    "decided": (
        "traced data cannot decide here, where only Python can",
        "compute a value on both paths and choose: `jnp.where(condition, a, b)`",
    ),
    "each": ("this loop of a generator stays in Python, which takes its elements one by one", "return a list or an array"),
}


def _decided_by_python(file: targets.File) -> Iterator[reports.Finding]:
    from autograph_jax.converters import convert_tree
    from autograph_jax.converters.unsupported import reason_to_leave
    from autograph_jax.syntax.translation import to_ast, to_gast

    for function in _functions(file.tree):
        tree = to_gast(function.node)
        if not function.is_outermost or reason_to_leave(tree) is not None:
            continue
        converted = convert_tree(tree, function.class_name)
        for node in ast.walk(to_ast(converted.tree)):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)) if (
                    name == converted.names.operators and attribute in _LEFT_TO_PYTHON
                ):
                    yield _finding(file, node, StagingError.code, *_LEFT_TO_PYTHON[attribute])


def _functions(tree: ast.AST, around: tuple[str, ...] = (), class_name: str | None = None) -> Iterator[_Function]:
    """Every function and lambda of a file, by its dotted name."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield _Function(".".join([*around, name]), node, class_name, not _in_function(around))
                yield from _functions(node, (*around, name, "<locals>"), class_name)
            case ast.Lambda():
                yield _Function(".".join([*around, "<lambda>"]), node, class_name, not _in_function(around))
                yield from _functions(node, (*around, "<lambda>", "<locals>"), class_name)
            case ast.ClassDef(name=name):
                yield from _functions(node, (*around, name), name)
            case _:
                yield from _functions(node, around, class_name)


def _in_function(around: Sequence[str]) -> bool:
    return "<locals>" in around


def _finding(file: targets.File, node: ast.AST, code: str, what: str, help: str) -> reports.Finding:
    line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
    return reports.Finding(file.name, line, originals.characters(file.lines[line - 1], column) + 1, code, what, help)


def _is_ignored(finding: reports.Finding, file: targets.File) -> bool:
    match = _IGNORE.search(file.lines[finding.line - 1])
    return match is not None and (match[1] is None or finding.code in map(str.strip, match[1].split(",")))


def _files(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED)
            yield from (os.path.join(folder, file) for file in sorted(files) if file.endswith(".py"))
