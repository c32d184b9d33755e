"""Converted text in a terminal's colours."""

from __future__ import annotations

import builtins
import io
import keyword
import tokenize
from tokenize import TokenInfo

from autograph_jax.cli.layout import CLOSE, FSTRING_END, FSTRING_START, OPEN, OPERATORS, STATEMENTS

RESET = "\x1b[0m"
_KEYWORD, _STRING, _NUMBER, _BUILTIN = "\x1b[35m", "\x1b[32m", "\x1b[36m", "\x1b[36m"
_NAME, _DIM = "\x1b[1;34m", "\x1b[2m"

# Operators that stand for a statement or an operator of Python's are shown as such; the others step back.
_CONTROL = frozenset(STATEMENTS) | {"if_expr", "and_", "or_", "not_", "Return", "break_", "continue_"}


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
        if OPERATORS.fullmatch(token.string):
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


_FSTRING_PARTS = frozenset({FSTRING_START, getattr(tokenize, "FSTRING_MIDDLE", -1), FSTRING_END}) - {-1}


def _style_operator(tokens: list[TokenInfo], styles: list[str], place: int) -> None:
    """Dim `ag__.`, the brackets of `ag__.call( )` around what is called, and the names in `ag__.if_stmt(..., 'x')`."""
    styles[place] = _DIM
    if tokens[place + 1].string != ".":
        return
    operator = tokens[place + 2].string
    styles[place + 1 : place + 3] = [_DIM, _KEYWORD if operator in _CONTROL else _DIM]
    names_variables = operator in STATEMENTS or operator.endswith("_attr")
    depth = 0
    for number in range(place + 3, len(tokens)):
        token = tokens[number]
        depth += (token.string in OPEN) - (token.string in CLOSE)
        if depth == 1 and token.type == tokenize.STRING and names_variables:
            styles[number] = _DIM
        if depth == 0:
            if operator == "call":
                styles[place + 3] = styles[number] = _DIM
            return
