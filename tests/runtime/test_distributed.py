"""`examples/distributed_cg.py` as two processes with four devices each: the numbers of one process with eight."""

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples" / "distributed_cg.py"


def start(devices: int, *arguments: object) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}  # for web pages only
    environment |= {"XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}", "JAX_PLATFORMS": "cpu"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), environment.get("PYTHONPATH", "")])
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def results(*processes: subprocess.Popen[str]) -> list[Any]:
    """What each process has printed last. All of them end here, whatever happens."""
    try:
        outputs = [process.communicate(timeout=300) for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, (_, errors) in zip(processes, outputs, strict=True):
        assert process.returncode == 0, errors[-3000:]
    return [json.loads(printed.splitlines()[-1]) for printed, _ in outputs]


@contextlib.contextmanager
def reserved_port() -> Iterator[int]:
    """A port that nobody else is given meanwhile: it is bound already, in a way that lets JAX's coordinator bind it, too."""
    with socket.socket(socket.AF_INET) as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # as gRPC's servers do
        held.bind(("", 0))
        yield held.getsockname()[1]


def two_processes() -> list[Any]:
    with reserved_port() as port:
        return results(*(start(4, f"127.0.0.1:{port}", 2, number) for number in range(2)))


def test_two_processes_are_one():
    first, second = two_processes()
    (alone,) = results(start(8))
    assert first == second
    assert (first["devices"], first["processes"]) == (8, 2) and (alone["devices"], alone["processes"]) == (8, 1)
    del first["processes"], alone["processes"]
    for name, value in alone.items():
        assert first[name] == pytest.approx(value, rel=1e-5, abs=1e-5), name
    assert alone["residual"] < 1e-5 and alone["turns of conjugate gradients"] == 14
