"""Converted text as people read it: the user's own spelling where it can stand, short lines, colours."""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import re
import textwrap
import tokenize
from collections.abc import Collection
from tokenize import TokenInfo

WIDTH = 100
_WORTH_BREAKING = 20  # characters in a bracket
_INDENT = "    "
_OPEN, _CLOSE = ("(", "[", "{"), (")", "]", "}")
_FSTRING_START, _FSTRING_END = getattr(tokenize, "FSTRING_START", -1), getattr(tokenize, "FSTRING_END", -1)
_OPERATORS = re.compile(r"ag__+")  # longer where the user has a variable `ag__`
_STATEMENTS = ("if_stmt", "while_stmt", "for_stmt", "returned", "unless")  # their parts get a line each
_STATEMENT = re.compile(rf"{_OPERATORS.pattern}\.({'|'.join(_STATEMENTS)})\($")
_VARIABLE = re.compile(r"(['\"])\w+\??\1")

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def readable(raw: str, node: FunctionNode, lines: list[str], name: str, *, drop: Collection[str] = ("autograph",)) -> str:
    """Converted text `raw` with the signature, docstring and unchanged statements as `lines` of the file spell them.

    Decorators named in `drop` are left out. The result is the same program as `raw`, which a check makes sure of.
    """
    spellings = _spellings(node, lines)
    if isinstance(node, ast.Lambda):
        return "\n".join(_line(f"{name.rpartition('.')[2]} = {raw}", {}, spellings))
    [function] = ast.parse(raw).body
    assert isinstance(function, ast.FunctionDef)
    raw_lines, start = raw.split("\n"), _after_docstring(function)
    statements, kept = _statements(node, lines), _lines_of_strings(function)
    shown = [[s] if n in kept else _line(s, statements, spellings) for n, s in enumerate(raw_lines, start=1)]
    body = [part for parts in shown[start:] for part in parts]
    decorators = _decorators(node, lines, drop)
    for header in (_header(node, lines), raw_lines[function.lineno - 1 : start]):
        candidate = "\n".join([*decorators, *header, *body])
        if _same_function(candidate, function):
            return candidate
    return raw


def original(node: FunctionNode, lines: list[str]) -> str:
    """The text of a function as the file has it, without the indentation of what it stands in."""
    assert node.end_lineno is not None
    own = lines[first_line(node) - 1 : node.end_lineno]
    return "\n".join(_dedented(own))


def first_line(node: ast.stmt | ast.Lambda) -> int:
    """The line of a statement's first decorator, or of the statement."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


def characters(line: str, utf8_offset: int) -> int:
    """`ast` counts columns in UTF-8 bytes."""
    return len(line.encode()[:utf8_offset].decode(errors="replace"))


# The user's own spelling -----------------------------------------------------------------------------


def _header(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> list[str]:
    """From `def` to the end of the docstring; empty where the body begins on the same line."""
    return _dedented(lines[node.lineno - 1 : _after_docstring(node)])


def _after_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The number of lines before the first statement that is not the docstring."""
    body = node.body
    if ast.get_docstring(node, clean=False) is not None:
        return body[0].end_lineno or body[0].lineno
    return first_line(body[0]) - 1


def _decorators(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str], drop: Collection[str]) -> list[str]:
    kept = [d for d in node.decorator_list if _called(d).rpartition(".")[2] not in drop]
    return [line for d in kept for line in _dedented(lines[d.lineno - 1 : d.end_lineno])]


def _called(decorator: ast.expr) -> str:
    """`@ag.autograph(strict=True)` -> ag.autograph"""
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)


def _dedented(lines: list[str]) -> list[str]:
    """Lines without the first one's indentation. One that is indented less keeps its text."""
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    return [line[min(indent, len(line) - len(line.lstrip(" \t"))) :] for line in lines]


def _lines_of_strings(node: ast.AST) -> set[int]:
    """Lines inside of docstrings, which nothing may change. ast.unparse breaks no other expression."""
    strings = [n for n in ast.walk(node) if isinstance(n, ast.expr) and n.end_lineno != n.lineno]
    return {line for string in strings for line in range(string.lineno, (string.end_lineno or string.lineno) + 1)}


def _statements(node: FunctionNode, lines: list[str]) -> dict[str, list[str]]:
    """Statements on one line: as ast.unparse prints them, and as they are written, with the comments above and behind.

    Of equal statements with different comments, none has one.
    """
    found: dict[str, list[str]] = {}
    body = 0 if isinstance(node, ast.Lambda) else _after_docstring(node)  # comments before that are the header's
    for statement in ast.walk(node):
        if isinstance(statement, ast.stmt) and not hasattr(statement, "body") and statement.lineno == statement.end_lineno:
            text, written = ast.unparse(statement), _segment(statement, lines)
            commented = _with_comments(statement, written, lines, body)
            found[text] = commented if found.get(text, commented) == commented else [written]
    return found


def _with_comments(statement: ast.stmt, written: str, lines: list[str], body: int) -> list[str]:
    line = lines[statement.lineno - 1].encode()
    before, behind = line[: statement.col_offset].decode(), line[statement.end_col_offset :].decode()
    above = []
    for other in reversed(lines[body : statement.lineno - 1] if not before.strip() else []):
        if not other.strip().startswith("#"):
            break
        above.insert(0, other.strip())
    return [*above, written + behind.rstrip() if behind.strip().startswith("#") else written]


def _spellings(node: ast.AST, lines: list[str]) -> dict[str, str]:
    """Numbers and strings: as ast.unparse prints them, and as they are written: 1e-08 and 1e-8."""
    spellings: dict[str, str] = {}
    inside = {id(part) for f in ast.walk(node) if isinstance(f, ast.JoinedStr) for part in ast.walk(f)}
    for constant in ast.walk(node):
        if isinstance(constant, ast.Constant) and id(constant) not in inside and constant.lineno == constant.end_lineno:
            if isinstance(constant.value, int | float | complex | str | bytes):
                spellings.setdefault(ast.unparse(constant), _segment(constant, lines))
    return spellings


def _segment(node: ast.stmt | ast.expr, lines: list[str]) -> str:
    line = lines[node.lineno - 1].encode()
    return line[node.col_offset : node.end_col_offset].decode()


def _same_function(candidate: str, function: ast.stmt) -> bool:
    """Is it the same function but for decorators, and the indentation of the docstring?"""
    try:
        [other] = ast.parse(candidate).body
    except SyntaxError:
        return False
    assert isinstance(function, ast.FunctionDef)
    return isinstance(other, ast.FunctionDef) and (
        _same(function.args, other.args)
        and [ast.dump(s) for s in _without_docstring(function)] == [ast.dump(s) for s in _without_docstring(other)]
        and ast.get_docstring(function) == ast.get_docstring(other)
    )


def _same(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)


def _without_docstring(node: ast.FunctionDef) -> list[ast.stmt]:
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


# Short lines -----------------------------------------------------------------------------------------


def _line(line: str, statements: dict[str, list[str]], spellings: dict[str, str]) -> list[str]:
    """A line of ast.unparse, which is a whole statement, as it is shown."""
    stripped = line.strip()
    indent = line[: len(line) - len(stripped)]
    if stripped in statements:
        return [indent + line for line in statements[stripped]]
    pieces, end = [], 0
    for token in _tokens(stripped):
        pieces += [stripped[end : token.start[1]], spellings.get(token.string, token.string)]
        end = token.end[1]
    return _broken(indent, "".join([*pieces, stripped[end:]]))


def _broken(indent: str, code: str) -> list[str]:
    """The code on one line if it fits; else its longest bracket is opened, one element on each line.

    What is in the bracket may share a line, but not the parts of an `if` or of a loop.
    """
    if _fits(indent, code):
        return [indent + code]
    bracket = _longest_bracket(code)
    if bracket is None:
        return [indent + code]
    start, end = bracket
    deeper = indent + _INDENT
    elements = _elements(code[start:end])
    comma = "," if len(elements) > 1 else ""
    if _fits(deeper, code[start:end]) and not _STATEMENT.search(code[:start]):
        inner = [deeper + code[start:end]]
    else:
        elements, names = _without_names(elements)
        inner = [line for element in elements for line in _broken(deeper, element + comma)]
        if names:
            line = ", ".join(names) + comma
            inner += textwrap.wrap(line, WIDTH, initial_indent=deeper, subsequent_indent=deeper)
    return [indent + code[:start], *inner, indent + code[end:]]


def _fits(indent: str, code: str) -> bool:
    return len(indent) + len(code) <= WIDTH


def _longest_bracket(code: str) -> tuple[int, int] | None:
    """Where the inside of the outermost bracket with the most text starts and ends."""
    best, depth, start = None, 0, 0
    for token in _tokens(code):
        if token.string in _OPEN:
            depth += 1
            start = token.end[1] if depth == 1 else start
        elif token.string in _CLOSE:
            depth -= 1
            if depth == 0 and (best is None or token.start[1] - start > best[1] - best[0]):
                best = start, token.start[1]
    return best if best and best[1] - best[0] >= _WORTH_BREAKING else None


def _elements(inside: str) -> list[str]:
    """What the commas of a bracket separate; a comprehension is one element, a lambda's parameters are its own."""
    cuts, depth, in_lambda = [], 0, 0
    for token in _tokens(f"({inside})"):
        depth += (token.string in _OPEN) - (token.string in _CLOSE)
        if depth != 1:
            continue
        if token.string in ("for", "async"):
            return [inside]
        if token.string == "lambda":
            in_lambda += 1
        elif token.string == ":" and in_lambda:
            in_lambda -= 1
        elif token.string == "," and not in_lambda:
            cuts.append(token.start[1] - 1)
    starts = [0, *(cut + 1 for cut in cuts)]
    return [inside[start:end].strip() for start, end in zip(starts, [*cuts, len(inside)], strict=True)]


def _without_names(elements: list[str]) -> tuple[list[str], list[str]]:
    """The parts, and the names of variables at the end of `ag__.if_stmt(test, then, otherwise, 'x', 'y')`."""
    first = next((n for n in range(len(elements), 0, -1) if not _VARIABLE.fullmatch(elements[n - 1])), 0)
    return elements[:first], elements[first:]


def _tokens(code: str) -> list[TokenInfo]:
    """The tokens of one line, without what is inside of f-strings: Python 3.12 and later cut these into tokens."""
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(code).readline) if token.string]
    found, depth = [], 0
    for token in tokens:
        depth += token.type == _FSTRING_START
        if depth == 0:
            found.append(token)
        depth -= token.type == _FSTRING_END
    return found


# Colours ---------------------------------------------------------------------------------------------

RESET = "\x1b[0m"
_KEYWORD, _STRING, _NUMBER, _BUILTIN = "\x1b[35m", "\x1b[32m", "\x1b[36m", "\x1b[36m"
_NAME, _DIM = "\x1b[1;34m", "\x1b[2m"

# Operators that stand for a statement or an operator of Python's are shown as such; the others step back.
_CONTROL = frozenset(_STATEMENTS) | {"if_expr", "and_", "or_", "not_", "Return", "break_", "continue_"}


def highlighted(code: str) -> str:
    """Python with ANSI colours: keywords, strings, numbers, defined names; what the conversion added is dimmed."""
    lines = code.split("\n")
    tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    for token, style in reversed(list(zip(tokens, _styles(tokens), strict=True))):
        (first, start), (last, end) = token.start, token.end
        for row in range(last, first - 1, -1) if style and token.string.strip() else ():
            line = lines[row - 1]
            left, right = start if row == first else 0, end if row == last else len(line)
            if left < right:
                lines[row - 1] = f"{line[:left]}{style}{line[left:right]}{RESET}{line[right:]}"
    return "\n".join(lines)


def _styles(tokens: list[TokenInfo]) -> list[str]:
    """One style for each token, "" for none."""
    styles = [_style(token, before) for token, before in zip(tokens, [None, *tokens], strict=False)]
    added = {t.start[0] for t in tokens if t.string in ("nonlocal", "autograph_jax") and t.type == tokenize.NAME}
    for place, token in enumerate(tokens):
        if _OPERATORS.fullmatch(token.string):
            _style_operator(tokens, styles, place)
        elif token.start[0] in added:
            styles[place] = _DIM
    return styles


def _style(token: TokenInfo, before: TokenInfo | None) -> str:
    if token.type == tokenize.COMMENT:
        return _DIM
    if token.type == tokenize.STRING or token.type in _FSTRING_PARTS:
        return _STRING
    if token.type == tokenize.NUMBER:
        return _NUMBER
    if token.type != tokenize.NAME:
        return ""
    if keyword.iskeyword(token.string):
        return _KEYWORD
    if before is not None and before.string in ("def", "class"):
        return _NAME
    is_attribute = before is not None and before.string == "."
    return _BUILTIN if hasattr(builtins, token.string) and not is_attribute else ""


_FSTRING_PARTS = frozenset({_FSTRING_START, getattr(tokenize, "FSTRING_MIDDLE", -1), _FSTRING_END}) - {-1}


def _style_operator(tokens: list[TokenInfo], styles: list[str], place: int) -> None:
    """Dim `ag__.`, the brackets of `ag__.call( )` around what is called, and the names in `ag__.if_stmt(..., 'x')`."""
    styles[place] = _DIM
    if tokens[place + 1].string != ".":
        return
    operator = tokens[place + 2].string
    styles[place + 1 : place + 3] = [_DIM, _KEYWORD if operator in _CONTROL else _DIM]
    names_variables = operator in _STATEMENTS or operator.endswith("_attr")
    depth = 0
    for number in range(place + 3, len(tokens)):
        token = tokens[number]
        depth += (token.string in _OPEN) - (token.string in _CLOSE)
        if depth == 1 and token.type == tokenize.STRING and names_variables:
            styles[number] = _DIM
        if depth == 0:
            if operator == "call":
                styles[place + 3] = styles[number] = _DIM
            return
