"""A function's gast tree at its true file, line and column.

The whole file is parsed (once), and the function is picked out by position: nothing has to be dedented, lambdas on one
line are told apart, and every node carries the user's own line and column.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import functools
import linecache
import os
import time
import types

import gast

from autograph_jax.errors import Location, SourceError
from autograph_jax.syntax.translation import to_gast

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FunctionTree = gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda


@dataclasses.dataclass(frozen=True)
class Source:
    """A function's tree, the text that it was written as, and where that stands."""

    tree: FunctionTree
    text: str
    filename: str
    first_line: int
    class_name: str | None


def source_of(function: types.FunctionType) -> Source:
    """The tree of a plain Python function or lambda. Raises SourceError where its text is not to be had."""
    code = function.__code__
    if all(line is None for _, _, line in code.co_lines()):
        raise _no_source(code, "another tool wrote this function")
    lines = _lines(code.co_filename, function.__globals__)
    if not lines:
        raise _no_source(code, "no file holds its text")
    try:
        functions = _functions("".join(lines))
    except SyntaxError:
        raise _no_source(code, "the file no longer parses") from None
    candidates = [node for node in functions.get(code.co_firstlineno, ()) if _fits(node, code)]
    if not candidates:
        raise _no_source(code, "the file has changed since it was imported, or another tool wrote this function")
    node = min(candidates, key=_extent)
    if _written_lately(code.co_filename) and not _same_code(node, code):
        raise _no_source(code, "the file has changed since it was imported")
    first = code.co_firstlineno
    assert node.end_lineno is not None
    text = "".join(lines[first - 1 : node.end_lineno])
    return Source(to_gast(node), text, code.co_filename, first, _class_name(code.co_qualname))


def _lines(filename: str, module_globals: dict[str, object]) -> list[str]:
    """The file's lines as inspect finds them: also IPython cells and doctests, which put their text into linecache."""
    try:
        linecache.checkcache(filename)
        return linecache.getlines(filename, module_globals)
    except Exception:  # of the module's own loader, or while Python is still importing `tokenize`, which reads the file
        return []


@functools.lru_cache(maxsize=64)
def _functions(text: str) -> dict[int, list[FunctionNode]]:
    """Every function and lambda of a file by the line that its code object calls its first."""
    found: dict[int, list[FunctionNode]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, FunctionNode):
            found.setdefault(_first_line(node), []).append(node)
    return found


def _first_line(node: FunctionNode) -> int:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _fits(node: FunctionNode, code: types.CodeType) -> bool:
    """Does this node compile to that code object, as far as name, parameters and positions tell?"""
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    if name != code.co_name or _parameters(node) != _unmangled_parameters(code):
        return False
    if not isinstance(node, ast.Lambda):
        return True
    # Several lambdas on one line: `f, g = lambda x: x, lambda x: -x`. The prologue's positions are empty.
    start, end = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
    spans = [(line, column) for line, _, column, last in code.co_positions() if line and last]
    return all(start <= position <= end for position in spans if position[1] is not None)


_STARTED = time.time()


def _written_lately(filename: str) -> bool:
    """Was the file written after this package was imported, so that what is in it may never have been?"""
    try:
        return os.path.getmtime(filename) > _STARTED
    except OSError:  # a notebook cell
        return False


def _same_code(node: FunctionNode, code: types.CodeType) -> bool:
    """Does the text compile to what was imported? Compared by names and constants; a tool may have added to the code."""
    if any(name.startswith("@") for name in code.co_names + code.co_varnames):  # pytest has rewritten its asserts
        return True
    copied = copy.deepcopy(node)
    if not isinstance(copied, ast.Lambda):
        copied.decorator_list = []
    body: list[ast.stmt] = [ast.Expr(copied)] if isinstance(copied, ast.Lambda) else [copied]
    if not isinstance(copied, ast.Lambda) and copied.name not in code.co_freevars:
        body.insert(0, ast.Global([copied.name]))  # a function that calls itself finds itself among the globals
    around = ast.parse(f"class {_class_name(code.co_qualname) or '_'}:\n def factory(): pass").body[0]
    factory = around.body[0]  # type: ignore[attr-defined]
    factory.args.args = [ast.arg(name) for name in code.co_freevars]
    factory.body = body
    module = ast.fix_missing_locations(ast.Module([around], []))
    found = compile(module, code.co_filename, "exec", dont_inherit=True)
    for _ in range(3):
        found = next(c for c in found.co_consts if isinstance(c, types.CodeType))
        if found.co_name == code.co_name and found.co_argcount == code.co_argcount:
            break
    return _facts(found) == _facts(code)


def _facts(code: types.CodeType) -> tuple[object, ...]:
    constants = [repr(c) for c in code.co_consts if not isinstance(c, types.CodeType)]
    return code.co_names, code.co_varnames, code.co_cellvars, constants


def _parameters(node: FunctionNode) -> list[str]:
    a = node.args
    named = [*a.posonlyargs, *a.args, *a.kwonlyargs]
    return [p.arg for p in named] + [p.arg for p in (a.vararg, a.kwarg) if p]


def _unmangled_parameters(code: types.CodeType) -> list[str]:
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    class_name = _class_name(code.co_qualname)
    prefix = f"_{class_name.lstrip('_')}__" if class_name and class_name.strip("_") else None
    return [n[len(prefix) - 2 :] if prefix and n.startswith(prefix) else n for n in code.co_varnames[:count]]


def _extent(node: FunctionNode) -> tuple[int, int]:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return node.end_lineno - node.lineno, node.end_col_offset - node.col_offset


def _class_name(qualname: str) -> str | None:
    """The class that a function's names are mangled for: `C` for `outer.<locals>.C.method`, and for functions inside of it."""
    around = (part.split(".") for part in reversed(qualname.split(".<locals>.")))
    return next((parts[-2] for parts in around if len(parts) > 1), None)


def _no_source(code: types.CodeType, reason: str) -> SourceError:
    return SourceError(
        f"the source of `{code.co_qualname}` is not available: {reason}",
        location=Location(code.co_filename, code.co_firstlineno),
        help="put the function into a .py file or a notebook cell and import it from there",
    )
