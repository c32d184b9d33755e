"""print, assert and raise on several devices: the tables of `effects.py`, in each way to run a program on them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.effects import MODES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mode", [*MODES, "refused"])
def test_on_four_devices(mode: str):
    """In a process of its own, which has the devices. A row that hangs ends it after a while."""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "tests.runtime.effects", mode]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
