"""JAX's errors about values that are not known keep their class and text, and get a note with the user's line and names."""

import textwrap
import traceback
from pathlib import Path
from typing import NamedTuple

import jax
import pytest

import autograph_jax as ag
from tests.messages import failure


class Row(NamedTuple):
    program: str
    call: str
    kind: type[Exception]
    note: str


ROWS = {
    "a shape": Row(
        """
        import jax.numpy as jnp

        def f(n):
            return jnp.zeros((n, 2))
        """,
        "ag.jit(f)(3)",
        TypeError,
        """
        autograph_jax: `n` (int32[]) is only known at run time
          model.py:4, in f
            return jnp.zeros((n, 2))
                   ^^^^^^^^^^^^^^^^^
          help: a size or a Python number has to be known: make it static, `ag.jit(f, static_argnames=...)`, or leave it outside of `jit`
        """,  # noqa: E501 - the text as it is shown
    ),
    "a mask": Row(
        """
        def f(x):
            mask = x > 0
            return x[mask]
        """,
        "ag.jit(f)(x3)",
        jax.errors.NonConcreteBooleanIndexError,
        """
        autograph_jax: `x` (float32[3]), `mask` (bool[3]) are only known at run time
          model.py:3, in f
            return x[mask]
                   ^^^^^^^
          help: keep the shape, and choose: `jnp.where(mask, x, 0)`; `x[mask] = v` works
        """,
    ),
    "an element of NumPy's array": Row(
        """
        import numpy as np

        def f(k):
            def at(table, k):
                return table[k]

            return at(np.arange(3.0), k)
        """,
        "ag.jit(f)(1)",
        jax.errors.TracerArrayConversionError,
        """
        autograph_jax: `k` (int32[]) is only known at run time
          model.py:5, in f.<locals>.at
            return table[k]
                   ^^^^^^^^
          help: of an array of NumPy's that is a parameter, take `jax.numpy.asarray(table)[i]`
        """,
    ),
    "a member of a set": Row(
        """
        def f(v):
            seen = {1, 2}
            seen.add(v)
            return len(seen)
        """,
        "ag.jit(f)(3)",
        TypeError,
        """
        autograph_jax: `v` (int32[]) is only known at run time
          model.py:3, in f
            seen.add(v)
            ^^^^^^^^^^^
          help: members and keys have to be known: keep flags or counts in an array, `seen[v] = True`; or compare neighbours of `jnp.sort(x)`
        """,  # noqa: E501 - the text as it is shown
    ),
    "a list repeated": Row(
        """
        def f(x, n):
            return [x] * n
        """,
        "ag.jit(f)(1.0, 2)",
        TypeError,
        """
        autograph_jax: `n` (int32[]), `x` (float32[]) are only known at run time
          model.py:2, in f
            return [x] * n
                   ^^^^^^^
          help: a size or a Python number has to be known: make it static, `ag.jit(f, static_argnames=...)`, or leave it outside of `jit`
        """,  # noqa: E501 - the text as it is shown
    ),
    "a slice": Row(
        """
        def f(x, n):
            return x[:n]
        """,
        "ag.jit(f)(x3, 2)",
        IndexError,
        """
        autograph_jax: `x` (float32[3]), `n` (int32[]) are only known at run time
          model.py:2, in f
            return x[:n]
                   ^^^^^
          help: take a part of fixed length: `jax.lax.dynamic_slice_in_dim(x, start, 3)`; `x[i:j] = v` works
        """,
    ),
    "a function in C": Row(
        """
        import statistics

        def f(x):
            return statistics.mean(x)
        """,
        "ag.jit(f)(x3)",
        TypeError,
        """
        autograph_jax: `x` (float32[3]) is only known at run time
          model.py:4, in f
            return statistics.mean(x)
                   ^^^^^^^^^^^^^^^^^^
          help: use the function of jax.numpy; or write the loop out in Python, which is converted
        """,
    ),
    "a method that JAX's arrays do not have": Row(
        """
        def f(x):
            x.fill(2.0)
            return x
        """,
        "ag.jit(f)(x3)",
        AttributeError,
        """
        autograph_jax: `x` (float32[3]) is only known at run time
          model.py:2, in f
            x.fill(2.0)
            ^^^^^^
          help: JAX's arrays have what `jax.numpy` has: `x[...] = v` for `x.fill(v)`, `jnp.floor(x) == x` for `x.is_integer()`
        """,
    ),
    "a write by a function": Row(
        """
        import operator

        def f(x):
            operator.setitem(x, 0, 1.0)
            return x
        """,
        "ag.jit(f)(x3)",
        TypeError,
        """
        autograph_jax: `x` (float32[3]) is only known at run time
          model.py:4, in f
            operator.setitem(x, 0, 1.0)
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: write `x[i] = v`, which gives the variable the new array, or `x = x.at[i].set(v)`
        """,
    ),
    "so many elements of an iterator": Row(
        """
        import itertools

        def f(x, n):
            return [v for v in itertools.islice(x, n)]
        """,
        "ag.jit(f)(x3, 2)",
        ValueError,
        """
        autograph_jax: `x` (float32[3]), `n` (int32[]) are only known at run time
          model.py:4, in f
            return [v for v in itertools.islice(x, n)]
                               ^^^^^^^^^^^^^^^^^^^^^^
          help: count in the loop: `for i in range(k): v = xs[i]`
        """,
    ),
    "a number of Python's, in a callee, under a gradient": Row(
        """
        def item(x):
            return x.sum().item()

        def f(x):
            while x.sum() > 1:
                x = x / item(x)
            return x.sum()
        """,
        "ag.jit(ag.grad(f))(x3)",
        jax.errors.ConcretizationTypeError,
        """
        autograph_jax: `x` (float32[3]) is only known at run time
          model.py:2, in item
            return x.sum().item()
                   ^^^^^^^^^^^^^^
          help: a size or a Python number has to be known: make it static, `ag.jit(f, static_argnames=...)`, or leave it outside of `jit`
        """,  # noqa: E501 - the text as it is shown
    ),
    "a branch that is not converted": Row(
        """
        import autograph_jax as ag

        @ag.do_not_convert
        def halved(x):
            return x / 2 if x > 1 else x

        def f(x):
            return halved(x)
        """,
        "ag.jit(f)(3.0)",
        jax.errors.TracerBoolConversionError,
        """
        autograph_jax: `x` (float32[]) is only known at run time
          model.py:5, in halved
            return x / 2 if x > 1 else x
                            ^^^^^
          help: decorate the function that branches: `@autograph`; a builtin or a library cannot be
        """,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_note(name: str, tmp_path: Path):
    row = ROWS[name]
    error = failure(tmp_path, textwrap.dedent(row.program).strip("\n"), row.call)
    assert isinstance(error, row.kind)
    [note] = [note for note in error.__notes__ if note.startswith("autograph_jax: ")]
    folder = str(next(tmp_path.iterdir()))
    assert note.replace(f"{folder}/", "") == textwrap.dedent(row.note).strip("\n")
    assert note in "".join(traceback.format_exception(error))


def test_an_error_that_says_nothing_of_tracing_has_no_note():
    def f(x):
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine") as raised:
        ag.jit(f)(1.0)
    assert not any(note.startswith("autograph_jax") for note in getattr(raised.value, "__notes__", ()))
