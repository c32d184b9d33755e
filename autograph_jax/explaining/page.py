"""An explanation as one HTML page: lines coloured by cost, each opens what it became. No script, nothing from outside."""

from __future__ import annotations

import html
import math
import os

from autograph_jax.explaining.explanation import Explanation, Function, Line

_STYLE = """
.ag { font: 14px/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: #1f2328; background: #fff; }
.ag h1 { font-size: 16px; margin: 0 0 .3em; }
.ag h2 { font-size: 14px; margin: 1.4em 0 .3em; color: #59636e; }
.ag p { margin: .15em 0; }
.ag summary { cursor: pointer; list-style: none; }
.ag summary::-webkit-details-marker { display: none; }
.ag .line { display: grid; grid-template-columns: 8ch var(--code) 1fr; white-space: pre-wrap; padding: 0 .3em; }
.ag .line > span { overflow-wrap: anywhere; }
.ag .number { color: #8c959f; user-select: none; }
.ag .number::before { content: " "; color: #0969da; }
.ag summary .number::before { content: "+"; }
.ag details[open] > summary .number::before { content: "-"; }
.ag .what { white-space: normal; color: #59636e; padding-left: 2em; }
.ag .what b { font-weight: 600; }
.ag .staged .what b { color: #0550ae; }
.ag .python .what b { color: #9a6700; }
.ag pre { margin: 0 0 .4em 8ch; padding: .5em .8em; background: #f6f8fa; border-left: 3px solid #0969da; overflow-x: auto; }
.ag ul { margin: .1em 0 .3em 8ch; padding-left: 1.2em; }
.ag .key span { padding: 0 .6em; }
"""
_SHADES = ("#ffffff", "#f1f7ff", "#e3efff", "#d3e6ff", "#c0daff", "#a8ccff")  # by the order of magnitude of the cost

_MOST_WIDE = 90  # characters of code beside what it became


def page(explanation: Explanation) -> str:
    """A whole document."""
    title = html.escape(f"{explanation.name}, explained")
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{fragment(explanation)}\n</body>\n</html>\n'


def fragment(explanation: Explanation) -> str:
    """What a notebook shows."""
    first, *more = map(html.escape, explanation.answer)
    parts = [f"<style>{_STYLE}</style>", '<div class="ag">', f"<h1>{first}</h1>", *(f"<p>{line}</p>" for line in more)]
    for label in ("static", "captures"):
        if values := getattr(explanation, label):
            parts.append(f"<p>{label}: {html.escape(', '.join(values))}</p>")
    key = "".join(f'<span style="background:{shade}">{"1" if n == 0 else f"10^{n}"}</span>' for n, shade in enumerate(_SHADES))
    parts.append(f'<p class="key">operations, times the turns of the loops around them: {key}</p>')
    for function in explanation.functions:
        parts += _function(function)
    return "\n".join([*parts, "</div>"])


def _function(function: Function) -> list[str]:
    place = html.escape(f"{function.name} ({os.path.basename(function.file)})")
    width = max((len(line.text) for line in function.lines), default=0)
    style = f'style="--code: {min(width, _MOST_WIDE) + 1}ch"'
    return [f"<h2>{place}</h2>", f"<div {style}>", *map(_line, function.lines), "</div>"]


def _line(line: Line) -> str:
    kind = "staged" if line.kind in ("cond", "scan", "while") else line.kind
    what = f"<b>{html.escape(line.what)}</b>" if line.what and line.kind != "python" or line.details else html.escape(line.what)
    said = [what, *map(html.escape, line.details[:1])]
    row = (
        f'<span class="number">{line.number:>5}</span><span>{html.escape(line.text)}</span>'
        f'<span class="what">{" ".join(filter(None, said))}</span>'
    )
    style = f'class="line {kind}" style="background:{_shade(line.cost)}"'
    if not line.code and len(line.details) <= 1:
        return f"<div {style}>{row}</div>"
    more = "".join(f"<li>{html.escape(detail)}</li>" for detail in line.details[1:])
    seconds = f"<li>traced in {line.seconds:.3g} s, with what is inside</li>" if line.seconds else ""
    seconds += f"<li>compiled in {line.compile_seconds:.3g} s, apart from the rest</li>" if line.compile_seconds else ""
    listed = f"<ul>{more}{seconds}</ul>" if more or seconds else ""
    code = f"<pre>{html.escape(line.code)}</pre>" if line.code else ""
    return f"<details><summary {style}>{row}</summary>{listed}{code}</details>"


def _shade(cost: int) -> str:
    return _SHADES[min(int(math.log10(cost)) + 1, len(_SHADES) - 1)] if cost else _SHADES[0]
