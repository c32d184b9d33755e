"""What is logged and warned of, and that nothing is unless somebody asks."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax import autograph
from autograph_jax.runtime import logs

PROGRAM = """\
import jax
from autograph_jax import autograph

@autograph
def f(x):
    while x > 1:
        x = x / 2
    for name in ("a", "b"):
        x = x + len(name)
    return x

jax.jit(f)(8.0)
"""
LOGGED = {
    "": "",
    "explain": """\
autograph_jax.explain: model.py:6: lax.while_loop; carries x float32[]
autograph_jax.explain: model.py:8: Python; Python takes the elements of a tuple one by one
""",
    "convert": """\
autograph_jax: converted f:
@autograph
def f(x):
""",
}


@pytest.mark.parametrize("wanted", LOGGED)
def test_logged(wanted: str, tmp_path: Path):
    (tmp_path / "model.py").write_text(PROGRAM)
    root = str(Path(ag.__file__).parents[1])
    environment = os.environ | {"AUTOGRAPH_JAX_LOG": wanted, "PYTHONPATH": root}
    done = subprocess.run([sys.executable, "model.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    text = done.stderr.replace(f"{tmp_path}/", "")
    assert done.returncode == 0 and (text.startswith(LOGGED[wanted]) if wanted == "convert" else text == LOGGED[wanted])


def test_a_word_that_means_nothing():
    with pytest.raises(ValueError, match="AUTOGRAPH_JAX_LOG=explian: explian means nothing; write explain, convert or both"):
        logs.configure("explian")


def long_tuple(x):
    for name in 150 * ("a", "b"):
        x = x + len(name)
    return x


def long_while(x):
    n = 250
    while n > 0:
        n -= 1
        x = x + n
    return x


@pytest.mark.parametrize("function", [long_tuple, long_while])
def test_a_long_loop_that_is_unrolled_is_warned_of_once(function):
    line = function.__code__.co_firstlineno + (1 if function is long_tuple else 2)
    with pytest.warns(UserWarning, match="this loop is unrolled: Python has run 200 turns of it") as caught:
        jax.jit(autograph(function))(1.0)
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, line)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jax.jit(autograph(lambda x: function(x) + 1))(1.0)


def test_what_is_not_warned_of():
    def plain(x):
        total = 0
        for name in 300 * ("a",):
            total += len(name)
        return x + total

    def meant(x):
        for name in ag.unroll(300 * ("a",)):
            x = x + len(name)
        return x

    def eager(x):
        for name in 300 * ("a",):
            x = x + len(name)
        return x

    def table(x):
        rows = [name for name in 300 * ("a",)]
        return x + len(rows)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jax.jit(autograph(plain))(1.0)
        jax.jit(autograph(meant))(1.0)
        jax.vmap(autograph(eager))(jnp.ones(2))
        jax.jit(autograph(table))(1.0)


def test_profilers_see_the_lines_of_staged_blocks():
    @autograph
    def f(x):
        while x > 1:
            x = x / 2
        if x > 0:
            x = -x
        for k in range(3):
            x = x * k
        return x

    text = jax.jit(f).lower(8.0).as_text(debug_info=True)
    first = f.__code__.co_firstlineno
    for name in (f"while[test_logs.py:{first + 2}]", f"if[test_logs.py:{first + 4}]", f"for[test_logs.py:{first + 6}]"):
        assert name in text
