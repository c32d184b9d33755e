"""What tests of error messages share: a program in a file, a call of it that fails, and the text of the error."""

import importlib.util
import itertools
import re
import textwrap
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp

import autograph_jax as ag
from autograph_jax import autograph


class Row(NamedTuple):
    """A program with `f`, a call that fails, and the message. `model.py` is the program's file."""

    program: str
    call: str
    message: str

    @property
    def expected(self) -> str:
        return textwrap.dedent(self.message).strip("\n")

    def got(self, folder: Path) -> str:
        return message(folder, textwrap.dedent(self.program).strip("\n"), self.call)


_numbers = itertools.count()


def message(folder: Path, program: str, call: str) -> str:
    """The text of the error that a call raises, with the program's folder left out."""
    error = failure(folder, program, call)
    text = f"{type(error).__name__}: {error}"
    return re.sub(r" at 0x\w+", "", re.sub(rf"{folder}/\d+/", "", text))


def failure(folder: Path, program: str, call: str) -> BaseException:
    folder = folder / str(next(_numbers))
    folder.mkdir()
    (folder / "model.py").write_text(program + "\n")
    spec = importlib.util.spec_from_file_location("model", folder / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    values = dict(
        autograph=autograph,
        ag=ag,
        jax=jax,
        jit=lambda f: jax.jit(autograph(f)),
        x3=jnp.ones(3),
        x33=jnp.ones((3, 3)),
        f=module.f,
    )
    try:
        jax.block_until_ready(eval(call, values))
    except Exception as error:
        return error
    raise AssertionError("no error")
