"""How the writes of a turn wait for its arithmetic, by what a program is lowered for. For GPUs it is lowered here, not run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag


@ag.autograph
def two_arrays(x, a):
    for i in range(1, len(x)):
        w = a[i] / (2 + x[i - 1])
        a[i] = a[i] - w * a[i - 1]
        x[i] = x[i] * w + x[i - 1]
    return x * a


def summed(x, a):
    return jnp.sum(two_arrays(x, a))


FORMS = {"values": two_arrays, "mapped": jax.vmap(two_arrays), "gradient": jax.grad(summed), "not optimised": None}
FORMS["not optimised"] = ag.autograph(two_arrays, optimize=False)


def text_for(form, *platforms):
    x = jnp.ones((3, 9) if form == "mapped" else 9)
    return jax.jit(FORMS[form]).trace(x, x).lower(lowering_platforms=platforms).as_text()


def ways(text):
    return 'inlineable = "false"' in text, "optimization_barrier" in text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("platform", ["cuda", "rocm", "tpu"])
def test_behind_a_barrier(form, platform):
    assert ways(text_for(form, platform)) == (False, True)


@pytest.mark.parametrize("form", ["values", "mapped", "not optimised"])
@pytest.mark.parametrize("platforms", [("cpu",), ("cpu", "cuda")])
def test_in_a_call_of_its_own(form, platforms):
    assert ways(text_for(form, *platforms))[0]


def test_one_after_the_other():
    """Nothing that was made for one platform is taken for another."""
    texts = [text_for("not optimised", platform) for platform in ("cpu", "cuda", "cpu", "cuda")]
    assert texts[:2] == texts[2:]
    assert [ways(text)[0] for text in texts] == [True, False, True, False]


def test_a_barrier_changes_no_value(monkeypatch):
    x, a = np.linspace(0.5, 1.5, 9), np.linspace(1.0, 2.0, 9)
    by_call = two_arrays(jnp.asarray(x), jnp.asarray(a))
    monkeypatch.setattr("autograph_jax.loops.by_itself.are_by_a_call", lambda: False)
    behind = jax.jit(ag.autograph(two_arrays, optimize=False))(jnp.asarray(x), jnp.asarray(a))
    np.testing.assert_allclose(behind, by_call, rtol=1e-6)
