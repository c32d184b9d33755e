"""Statements that are too long for a line: their longest bracket is opened, one element on each line."""

from __future__ import annotations

import io
import re
import textwrap
import tokenize
from tokenize import TokenInfo

WIDTH = 100
OPEN, CLOSE = ("(", "[", "{"), (")", "]", "}")
FSTRING_START, FSTRING_END = getattr(tokenize, "FSTRING_START", -1), getattr(tokenize, "FSTRING_END", -1)
OPERATORS = re.compile(r"ag__+")  # longer where the user has a variable `ag__`
STATEMENTS = ("if_stmt", "while_stmt", "for_stmt", "returned", "unless")  # their parts get a line each
_WORTH_BREAKING = 20  # characters in a bracket
_INDENT = "    "
_STATEMENT = re.compile(rf"{OPERATORS.pattern}\.({'|'.join(STATEMENTS)})\($")
_VARIABLE = re.compile(r"(['\"])\w+\??\1")


def broken(indent: str, code: str) -> list[str]:
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
        inner = [line for element in elements for line in broken(deeper, element + comma)]
        if names:
            line = ", ".join(names) + comma
            inner += textwrap.wrap(line, WIDTH, initial_indent=deeper, subsequent_indent=deeper)
    return [indent + code[:start], *inner, indent + code[end:]]


def _fits(indent: str, code: str) -> bool:
    return len(indent) + len(code) <= WIDTH


def _longest_bracket(code: str) -> tuple[int, int] | None:
    """Where the inside of the outermost bracket with the most text starts and ends."""
    best, depth, start = None, 0, 0
    for token in tokens(code):
        if token.string in OPEN:
            depth += 1
            start = token.end[1] if depth == 1 else start
        elif token.string in CLOSE:
            depth -= 1
            if depth == 0 and (best is None or token.start[1] - start > best[1] - best[0]):
                best = start, token.start[1]
    return best if best and best[1] - best[0] >= _WORTH_BREAKING else None


def _elements(inside: str) -> list[str]:
    """What the commas of a bracket separate; a comprehension is one element, a lambda's parameters are its own."""
    cuts, depth, in_lambda = [], 0, 0
    for token in tokens(f"({inside})"):
        depth += (token.string in OPEN) - (token.string in CLOSE)
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


def tokens(code: str) -> list[TokenInfo]:
    """The tokens of one line, without what is inside of f-strings: Python 3.12 and later cut these into tokens."""
    found, depth = [], 0
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        depth += token.type == FSTRING_START
        if depth == 0 and token.string:
            found.append(token)
        depth -= token.type == FSTRING_END
    return found
