"""`@pytest.mark.parity` in the tests of a user, whom pytest tells what differs."""

import os
import tomllib
from pathlib import Path

import pytest

from autograph_jax import pytest_plugin

pytest_plugins = ["pytester"]

PROGRAM = """
import jax
import pytest


def clipped(x, low=0.0):
    return x if x > low else low


@pytest.mark.parity
@pytest.mark.parametrize("x", [3.0, -3.0])
def test_right(x):
    y = clipped(x)
    assert y >= 0, "negative"
    return y


class TestClipped:
    @pytest.mark.parity(transforms=["jit"], rtol=1e-4)
    def test_with_fixtures(self, tmp_path, low=1.0):
        return clipped(3.0, low), tmp_path.name


@pytest.mark.parity(transforms=("jit",))
@pytest.mark.parametrize("x", [3.0])
def test_wrong(x):
    return x + isinstance(x, jax.core.Tracer)


@pytest.mark.parity
@pytest.mark.parametrize("x", [3.0])
def test_that_raises(x):
    assert x < 0, f"{x} is positive"
"""


def test_marked(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    file = pytester.makepyfile(PROGRAM)
    result = run(pytester, monkeypatch)
    result.assert_outcomes(passed=3, failed=2)
    assert "During handling" not in result.stdout.str()
    result.stdout.fnmatch_lines(
        [
            "*_ test_wrong[[]3.0[]] _*",
            "ParityError: compiled by ag.jit: result is *4.*, in Python it is 3.0",
            "E   *AssertionError: 3.0 is positive",
            f"FAILED {file.name}::test_wrong[[]3.0[]] - *ParityError: compiled by*",
        ]
    )


def test_pytest_starts_without_jax(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    pytester.makepyfile("import sys\n\n\ndef test_f():\n    assert not {'jax', 'numpy', 'gast'} & sys.modules.keys()\n")
    run(pytester, monkeypatch).assert_outcomes(passed=1)
    run(pytester, monkeypatch, "--markers").stdout.fnmatch_lines(["@pytest.mark.parity(transforms=*"])


def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, *options: str) -> pytest.RunResult:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # other plugins may import jax
    return pytester.runpytest_subprocess("-p", "autograph_jax.pytest_plugin", "--strict-markers", *options)


def test_the_package_registers_it():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    [(name, module)] = project["entry-points"]["pytest11"].items()
    # The name is the module's, so that `-p autograph_jax.pytest_plugin` is the same plugin and not a second one.
    assert name == module == pytest_plugin.__name__
