"""A dict or list that traced data has chosen, handed to a function of a library: one pytree, and no choice."""

import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import autograph_jax as ag
from autograph_jax.errors import ChoiceError

FIRST = {"a": jnp.ones(2), "b": jnp.zeros(1)}
SECOND = {"a": jnp.full(2, 3.0), "b": jnp.ones(1)}

USES = {
    "leaves": lambda tree: sum(jnp.sum(x) for x in jax.tree.leaves(tree)),
    "how many leaves": lambda tree: len(jax.tree.leaves(tree)),
    "ravel_pytree": lambda tree: ravel_pytree(tree)[0],
    "reduce": lambda tree: jax.tree.reduce(lambda s, x: s + jnp.sum(x), tree, 0.0),
    "map of two": lambda tree: jax.tree.map(lambda x, y: x - y, tree, FIRST),
    "in a tuple": lambda tree: jax.tree.leaves((1.0, [tree])),
    "grad": lambda tree: jax.grad(lambda t: jnp.sum(t["a"] ** 2))(tree),
    "fori_loop": lambda tree: jax.lax.fori_loop(0, 3, lambda _, t: {"a": t["a"] + 1, "b": t["b"]}, tree),
    "items": lambda tree: [len(key) + jnp.sum(value) for key, value in tree.items()],
    "values": lambda tree: [value + 1 for value in tree.values()],
    "keys": lambda tree: [tree[key] * 2 for key in tree.keys()],
    "dict": lambda tree: dict(tree),
    "merged": lambda tree: {**tree, "c": 1.0},
    "as keywords": lambda tree: (lambda a, b: a.sum() + b.sum())(**tree),
    "a jitted function": lambda tree: jax.jit(lambda t: jax.tree.map(jnp.sin, t))(tree),
}

OF_DICTS = ("grad", "fori_loop", "items", "values", "keys", "dict", "merged", "as keywords")


CASES = [(name, "dict") for name in USES] + [(name, "list") for name in USES if name not in OF_DICTS]


@pytest.mark.parametrize(("name", "kind"), CASES)
@pytest.mark.parametrize("x", [1.0, -1.0])
def test_a_chosen_tree(name: str, kind: str, x: float):
    use = USES[name]
    as_list = kind == "list"
    first, second = ([*FIRST.values()], [*SECOND.values()]) if as_list else (FIRST, SECOND)
    if as_list and name == "map of two":
        use = lambda tree: jax.tree.map(lambda x, y: x - y, tree, first)  # noqa: E731

    def best_of(x):
        best = first
        if x > 0:
            best = second
        return use(best)

    expected = best_of(x)
    got = ag.jit(best_of)(x)
    assert jax.tree.structure(got) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other)


def test_none_or_a_tree_is_refused():
    def best_of(x):
        best = None
        if x > 0:
            best = FIRST
        return len(jax.tree.leaves(best))

    with pytest.raises(ChoiceError, match="as a pytree"):
        ag.jit(best_of)(1.0)


SCRIPT = """
import jax, jax.numpy as jnp, tqdm, autograph_jax as ag
class Total:
    def __init__(self): self.t = jnp.float32(0.0)
    def add(self, x): self.t = self.t + x
@ag.autograph
def count(n):
    total = Total()
    for i in range(n): total.add(i)
    return total.t
print(jax.jit(count)(4))
"""


def test_a_method_in_a_script_that_imports_tqdm(tmp_path: Path):
    pytest.importorskip("tqdm")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.stdout == "6.0\n", done.stderr[-2000:]
