"""`examples/distributed_cg.py` as two processes with four devices each: the numbers of one process with eight."""

import json
import os
import socket
import subprocess
import sys
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


def two_processes() -> list[Any]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    return results(*(start(4, address, 2, number) for number in range(2)))


def test_two_processes_are_one():
    try:
        first, second = two_processes()
    except AssertionError:  # somebody else may have taken the port in between
        first, second = two_processes()
    (alone,) = results(start(8))
    assert first == second
    assert (first["devices"], first["processes"]) == (8, 2) and (alone["devices"], alone["processes"]) == (8, 1)
    del first["processes"], alone["processes"]
    for name, value in alone.items():
        assert first[name] == pytest.approx(value, rel=1e-5, abs=1e-5), name
    assert alone["residual"] < 1e-5 and alone["turns of conjugate gradients"] == 14
