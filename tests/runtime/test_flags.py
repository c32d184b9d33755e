"""JAX's flags: the programs of `core.py` in a process of its own for each. `make flags` runs more under the same flags."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS: dict[str, dict[str, str]] = {  # a flag, and the programs that fail under it, with the reason
    "JAX_CUSTOM_VJP3=1": {},
    "JAX_REMAT3=1": {},
    "JAX_USE_SIMPLIFIED_JAXPR_CONSTANTS=1": {},
    "JAX_ENABLE_X64=1": {},  # the other tests run with 0
    "JAX_DEBUG_NANS=1": {},
    "JAX_DISABLE_JIT=1": {},
    "JAX_CHECK_TRACER_LEAKS=1": {},  # jax.checking_leaks
}


@pytest.mark.parametrize("flag", FLAGS)
def test_flag(flag: str):
    name, value = flag.split("=")
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", name: value}
    command = [sys.executable, "-m", "tests.runtime.core"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=400)
    *failed, _ = done.stdout.splitlines() or [""]
    names = {line.partition(":")[0] for line in failed if line.partition(":")[0].isidentifier()}
    assert names == FLAGS[flag].keys(), done.stdout + done.stderr[-3000:]
