"""The program that JAX makes of a call, as a jaxpr or as StableHLO, with the user's lines beside it."""

from __future__ import annotations

import argparse
import linecache
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from autograph_jax.cli import running

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_WIDTH = 76  # of the program, before the user's lines begin
_SOURCE_INFO = re.compile(r"^(.*?)\s+# (?:(.*):(\d+):\d+ \(.*\))?$")
_LOCATION = re.compile(r"\s*loc\((#loc\d*|unknown|\"[^\"]*\"(?:\(#loc\d*\))?)\)(?=\)|,|$| )")
_DEFINITION = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_FILE = re.compile(r'^"(.*)":(\d+):\d+')


class _Line(NamedTuple):
    """A line of a program, and where in the user's files it comes from."""

    text: str
    place: tuple[str, int] | None = None


def text(options: argparse.Namespace) -> str:
    """The program of the call that the options name. The file is imported, and the call traced."""
    from autograph_jax.explaining.explain import tracer

    function, args, kwargs = running.call(options)
    trace, _ = tracer(function, args, kwargs)
    traced = trace(*args, **kwargs)
    return "\n".join(_marked(_hlo(traced), "//") if options.hlo else _marked(_jaxpr(traced), "#"))


def _jaxpr(traced: Any) -> Iterator[_Line]:
    for line in traced.jaxpr.jaxpr.pretty_print(source_info=True).split("\n"):
        match = _SOURCE_INFO.match(line)
        if match is None:
            yield _Line(line)
        else:
            yield _Line(match[1], (match[2], int(match[3])) if match[2] else None)


def _hlo(traced: Any) -> Iterator[_Line]:
    lines = traced.lower().as_text(debug_info=True).split("\n")
    locations = {match[1]: match[2] for line in lines if (match := _DEFINITION.match(line))}
    for line in lines:
        if line and not _DEFINITION.match(line):
            found = _LOCATION.findall(line)
            yield _Line(_LOCATION.sub("", line), _place(found[-1], locations) if found else None)


def _place(location: str, locations: dict[str, str]) -> tuple[str, int] | None:
    """The innermost file and line of a location: `"mul"(callsite(#loc8 at #loc6))`."""
    if match := _FILE.match(location):
        return match[1], int(match[2])
    inner = re.search(r"#loc\d*", location)
    return _place(locations.get(inner[0], ""), locations) if inner is not None else None


def _marked(lines: Iterator[_Line], comment: str) -> Iterator[str]:
    """The text of the user's line stands where it begins."""
    last = None
    for text, place in lines:
        if place is None or place[0].startswith(_PACKAGE):  # our call of what is compiled
            yield text
            continue
        file, number = place
        said = f"{comment} {os.path.basename(file)}:{number}"
        said += f"  {linecache.getline(file, number).strip()}" if place != last else ""
        last = place
        yield f"{text:{_WIDTH}}  {said}".rstrip()
