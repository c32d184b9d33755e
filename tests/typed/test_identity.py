"""pyright accepts identity.py and transforms.py as they are, and notices when they are not true."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("identity.py")
TRANSFORMS = PROGRAM.with_name("transforms.py")
pyright = Path(sys.executable).with_name("pyright")

needs_pyright = pytest.mark.skipif(not pyright.exists(), reason="pip install -e .[lint]; `make types` runs it as well")


def errors(path: Path) -> list[str]:
    command = [str(pyright), "--outputjson", "--pythonpath", sys.executable, "--project", str(ROOT), str(path)]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout)
    assert report["summary"]["filesAnalyzed"] >= 1
    return [f"{d['range']['start']['line'] + 1}: {d['message']}" for d in report["generalDiagnostics"]]


@needs_pyright
def test_identity():
    assert errors(PROGRAM) == []


@needs_pyright
def test_transforms():
    assert errors(TRANSFORMS) == []


@needs_pyright
def test_the_test_can_fail(tmp_path: Path):
    copy = tmp_path / "wrong.py"
    shutil.copy(PROGRAM, copy)
    copy.write_text(copy.read_text().replace("assert_type(model.method(2), float)", "assert_type(model.method(2), str)"))
    assert any("assert_type" in message for message in errors(copy))
    copy.write_text(TRANSFORMS.read_text().replace('slope("text")  # pyright: ignore[reportArgumentType]', 'slope("text")'))
    assert any("cannot be assigned" in message for message in errors(copy))
