"""What the operators need of the room above them is there, whichever public name a process uses first."""

import pathlib
import subprocess
import sys

import pytest

FIRST_USES = ("autograph", "jit", "grad", "port", "vmap", "checkify", "make_jaxpr")
OF_PORTED_CODE = {"is_porting", "shown_as", "max_len"}  # what `ag.port` alone brings

PROGRAM = """
import jax.numpy as jnp
import autograph_jax as ag

def total(x):
    return x.sum()

ag.{name}(total)(jnp.ones(3))

from autograph_jax.operators import hooks

unset = {{key for key, value in vars(hooks).items() if getattr(value, "__module__", "") == hooks.__name__}}
print(*sorted(key for key in unset if not key.startswith("_")))
"""


@pytest.mark.parametrize("name", FIRST_USES)
def test_the_first_use_sets_the_hooks(name: str, tmp_path: pathlib.Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(name=name))
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == (set() if name == "port" else OF_PORTED_CODE)
