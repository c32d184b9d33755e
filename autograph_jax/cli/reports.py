"""What `check` found, as text for people, JSON, SARIF 2.1.0, or annotations of GitHub's."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autograph_jax import __version__
from autograph_jax.errors import AutographError


class Finding(NamedTuple):
    """A place in a file, with lines and columns from 1."""

    file: str
    line: int
    column: int
    code: str
    message: str
    help: str


def _as_text(findings: Sequence[Finding]) -> str:
    return "\n".join(f"{f.file}:{f.line}:{f.column}: {f.code} {f.message} [help: {f.help}]" for f in findings)


def _as_json(findings: Sequence[Finding]) -> str:
    return json.dumps([finding._asdict() for finding in findings], indent=2)


def _as_github(findings: Sequence[Finding]) -> str:
    """https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands"""
    return "\n".join(map(_annotation, findings))


def _annotation(finding: Finding) -> str:
    place = f"file={_property(finding.file)},line={finding.line},col={finding.column},title={finding.code}"
    return f"::warning {place}::{_data(f'{finding.message} (help: {finding.help})')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _as_sarif(findings: Sequence[Finding]) -> str:
    """https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html"""
    driver = {
        "name": "autograph-jax",
        "version": __version__,
        "rules": [_rule(code) for code in sorted({f.code for f in findings})],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": list(map(_result, findings))}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def _rule(code: str) -> dict[str, Any]:
    kind = next(kind for kind in AutographError.__subclasses__() if kind.code == code)
    return {"id": code, "name": kind.__name__, "shortDescription": {"text": (kind.__doc__ or "").strip()}}


def _result(finding: Finding) -> dict[str, Any]:
    region = {"startLine": finding.line, "startColumn": finding.column}
    place = {"artifactLocation": {"uri": finding.file.replace("\\", "/")}, "region": region}
    message = {"text": f"{finding.message}. Help: {finding.help}"}
    return {"ruleId": finding.code, "level": "warning", "message": message, "locations": [{"physicalLocation": place}]}


FORMATS: dict[str, Callable[[Sequence[Finding]], str]] = {
    "text": _as_text,
    "json": _as_json,
    "github": _as_github,
    "sarif": _as_sarif,
}
