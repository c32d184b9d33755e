"""The command line as a whole: help, versions, exit codes, and what it does not import."""

import os
import subprocess
import sys
import types

import pytest

import autograph_jax
from autograph_jax.cli import main as command_line
from autograph_jax.cli.main import main

COMMANDS = ["show", "explain", "bench", "port", "check", "demo", "env"]
QUICK = [["--help"], *([command, "--help"] for command in COMMANDS), ["--version"]]


@pytest.mark.parametrize("arguments", QUICK, ids=" ".join)
def test_help_does_not_wait_for_jax(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: autograph-jax" if arguments[-1] == "--help" else "autograph-jax ")
    program = """if 1:
        import sys
        from autograph_jax.cli.main import main
        try:
            main(sys.argv[1:])
        finally:
            assert not {"jax", "numpy", "gast"} & sys.modules.keys()
    """
    subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True)


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"autograph-jax {autograph_jax.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["shwo"], ["show"], ["show", "f.py:f", "--raw", "--diff"]], ids=" ".join)
def test_what_is_not_understood_is_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "autograph-jax" in capsys.readouterr().err


def test_as_a_module():
    done = subprocess.run([sys.executable, "-m", "autograph_jax", "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: autograph-jax")


def test_interrupted(monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line.demo, "run", interrupted)
    assert main(["demo"]) == 130


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipe that breaks like this")
def test_a_reader_that_leaves():
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "autograph_jax", "show", f"{autograph_jax.__path__[0]}/cli/main.py:main"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


# env -------------------------------------------------------------------------------------------------


def facts(capsys):
    assert main(["env"]) == 0
    return {name: value for name, value in (line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())}


def test_env(capsys):
    import jax

    found = facts(capsys)
    assert list(found) == ["autograph_jax", "jax", "jaxlib", "numpy", "gast", "python", "platform", "devices"]
    assert found["autograph_jax"] == autograph_jax.__version__
    assert found["jax"] == jax.__version__
    assert str(jax.devices()[0]) in found["devices"]


def test_env_where_things_are_broken(capsys, monkeypatch):
    def devices():
        raise RuntimeError("no CUDA driver")

    monkeypatch.setitem(sys.modules, "jax", types.SimpleNamespace(devices=devices))
    monkeypatch.setattr(command_line, "_LIBRARIES", ("a-library-that-is-not-there",))
    found = facts(capsys)
    assert found["a-library-that-is-not-there"] == "not installed"
    assert found["devices"] == "RuntimeError: no CUDA driver"
