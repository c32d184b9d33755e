"""`check`: what it finds, what it leaves in peace, how it is told, and that nothing is imported."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import autograph_jax as ag
from autograph_jax.cli import check, targets
from autograph_jax.cli.main import main

WAY_OUT = "move its control flow into a function of its own, and decorate that"

FOUND = {  # program: line, column, code and function of each finding
    "async def f(x):\n    return x\n": ["1:1: AG0101 `f` stays as it is: it is an async function"],
    "class A:\n    def f(self):\n        return dir()\n": [
        "3:16: AG0101 `A.f` stays as it is: it calls `dir()`, which looks at the function's own frame"
    ],
    "def f(x):\n    def g(y):\n        return eval('y')\n    return g(x)\n": [
        "3:16: AG0101 `f.<locals>.g` stays as it is: it calls `eval()`, which looks at the function's own frame"
    ],
    "f = lambda ä: 'ä' and dir()\n": [
        "1:23: AG0101 `<lambda>` stays as it is: it calls `dir()`, which looks at the function's own frame"
    ],
    "def f(xs):\n    for x in xs:\n        x and (yield x)\n": [
        "3:16: AG0101 `f` stays as it is: it yields inside an expression"
    ],
    "def f(x):\n    while x > 1:\n        x = x / 2\n    return vars(x)\n": [],
    "dir()\n": [],
    "def f(xs):\n    for x in xs:\n        if x:\n            yield x\n": [],
}


@pytest.mark.parametrize("program", FOUND)
def test_found(program: str, tmp_path: Path, capsys):
    file = tmp_path / "f.py"
    file.write_text(program, encoding="utf-8")
    assert main(["check", str(file)]) == (1 if FOUND[program] else 0)
    assert capsys.readouterr().out == "".join(f"{file}:{line} [help: {WAY_OUT}]\n" for line in FOUND[program])


STRICT = {
    "def f(xs):\n    for x in xs:\n        if x:\n            yield x\n    return None\n": ["2:14", "3:12"],
    "def f(x):\n    return {v for v in (1, 2) if v > x}\n": ["2:34"],
    "def f(x):\n    try:\n        x += 1\n    finally:\n        if x:\n            return 0\n": ["5:12"],
    "def f(x):\n    if x > 0:\n        return x\n    return [v for v in x if v > 0]\n": [],
    "async def f(x):\n    return {v for v in x if v}\n": ["1:1"],
}


@pytest.mark.parametrize("program", STRICT)
def test_strict(program: str, tmp_path: Path):
    file = tmp_path / "f.py"
    file.write_text(program)
    found = check.check(targets.read(str(file)), strict=True)
    assert [f"{finding.line}:{finding.column}" for finding in found] == STRICT[program]


def test_what_it_finds_is_what_conversion_says(tmp_path: Path):
    """The reason in a finding is the one that strict conversion gives."""
    file = tmp_path / "reasons.py"
    file.write_text("def f(x):\n    return dir()\n\n\ndef g(xs):\n    for x in xs:\n        x and (yield x)\n")
    spec = importlib.util.spec_from_file_location("reasons", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for finding, function in zip(check.check(targets.read(str(file))), (module.f, module.g), strict=True):
        with pytest.raises(ag.UnconvertibleError) as raised:
            ag.autograph(function, strict=True)
        assert raised.value.what.partition(": ")[2] == finding.message.partition(": ")[2]
        assert (raised.value.code, raised.value.help) == (finding.code, finding.help)
        assert raised.value.location is not None
        assert (raised.value.location.line, raised.value.location.column) == (finding.line, finding.column - 1)


IGNORED = ["# ag: ignore[AG0101]", "#ag:ignore", "# why  # ag: ignore[AG0206, AG0101]"]


@pytest.mark.parametrize("comment", IGNORED)
def test_ignored(comment: str, tmp_path: Path, capsys):
    file = tmp_path / "f.py"
    file.write_text(f"def f(x):\n    return dir()  {comment}\n")
    assert main(["check", str(file)]) == 0
    file.write_text("def f(x):\n    return dir()  # ag: ignore[AG0206]\n")
    assert main(["check", str(file)]) == 1


PROGRAM = "def f(x):\n    return dir()\n"


def test_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a, b.py").write_text(PROGRAM)
    message = "`f` stays as it is: it calls `dir()`, which looks at the function's own frame"

    def printed(form: str) -> str:
        assert main(["check", "a, b.py", "--format", form]) == 1
        return capsys.readouterr().out

    assert json.loads(printed("json")) == [
        {"file": "a, b.py", "line": 2, "column": 12, "code": "AG0101", "message": message, "help": WAY_OUT}
    ]
    place = "file=a%2C b.py,line=2,col=12,title=AG0101"
    assert printed("github") == f"::warning {place}::{message} (help: {WAY_OUT})\n"
    [run] = json.loads(printed("sarif"))["runs"]
    [rule], [result] = run["tool"]["driver"]["rules"], run["results"]
    assert rule["id"] == result["ruleId"] == "AG0101" and rule["name"] == "UnconvertibleError"
    [place] = result["locations"]
    assert place["physicalLocation"]["region"] == {"startLine": 2, "startColumn": 12}
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "a, b.py"


def test_nothing_found_is_still_a_report(tmp_path: Path, capsys):
    assert main(["check", str(tmp_path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["check", str(tmp_path), "--format", "sarif"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"] == []
    assert main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""


def test_folders(tmp_path: Path, capsys):
    for name in ("b.py", "a/c.py", "a/notes.txt", ".hidden/d.py", "__pycache__/e.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(PROGRAM)
    assert main(["check", str(tmp_path)]) == 1
    found = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert found == [str(tmp_path / "b.py"), str(tmp_path / "a" / "c.py")]


UNREADABLE = {"missing.py": None, "broken.py": b"def f(:\n", "latin.py": b"# \xff\n"}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_2(name: str, tmp_path: Path, capsys):
    text = UNREADABLE[name]
    if text is not None:
        (tmp_path / name).write_bytes(text)
    assert main(["check", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.startswith("autograph-jax check: error: ")


def test_neither_the_file_nor_jax_is_imported(tmp_path: Path):
    file = tmp_path / "f.py"
    file.write_text(f"raise SystemExit('imported')\n{PROGRAM}")
    program = "import sys; from autograph_jax.cli.main import main; main(sys.argv[1:]); assert 'jax' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program, "check", "--strict", str(file)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "AG0101" in done.stdout


# No false alarms -------------------------------------------------------------------------------------

STANDARD = """heapq bisect statistics fractions difflib textwrap colorsys random json.decoder tokenize datetime
_pydecimal""".split()


@pytest.mark.parametrize("module", STANDARD)
def test_the_standard_library(module: str):
    assert reasons(module) == []


SCIPY = [
    "`_nonlin_wrapper` stays as it is: it calls `exec()`, which looks at the function's own frame",
]


def test_scipy_optimize():
    package = importlib.util.find_spec("scipy.optimize")
    assert package is not None and package.submodule_search_locations
    [folder] = package.submodule_search_locations
    files = sorted(Path(folder).glob("*.py"))
    assert len(files) > 40
    assert [finding.message for file in files for finding in check.check(targets.read(str(file)))] == SCIPY


def reasons(module: str) -> list[str]:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    return [finding.message for finding in check.check(targets.read(spec.origin))]
