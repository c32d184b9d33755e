"""The private names of JAX that the package uses are where they were, and mean what they did."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import callback, core, debugging, effects, shard_map, traceback_util
from jax._src.checkify import error_checks
from jax._src.interpreters import batching, partial_eval
from jax._src.lax import lax

import autograph_jax as ag
from autograph_jax.loops import caches, checked, compiled, kernel_calls, lowering, references
from autograph_jax.operators import jax_private
from autograph_jax.operators.values.traced import is_traced


def test_none_has_moved():
    """A guard that fell back would work, but more slowly, or show frames of ours."""
    assert jax_private._core is core and jax_private._lax is lax
    assert jax_private._STAGING == (partial_eval.DynamicJaxprTrace, batching.BatchTrace, shard_map.ShardMapTrace)
    assert callable(core.to_concrete_value) and hasattr(core.trace_ctx, "trace")
    assert checked._rules is error_checks
    assert (
        callable(lowering._scan_of_lax) and callable(lowering._call_of_jax) and kernel_calls.is_known and references.are_known
    )
    assert callable(callback._callback_op_sharding) and callable(callback.emit_python_callback)
    assert callable(lax._convert_element_type) and callable(traceback_util.register_exclusion)


def test_caches_are_emptied_with_those_of_jax():
    ag.jit(total)(jnp.arange(3.0), 2)
    assert caches.register_cache is not None and compiled._compiled.cache_info().currsize
    jax.clear_caches()
    assert not compiled._compiled.cache_info().currsize
    assert ag.jit(total)(jnp.arange(3.0), 2) == 4.0


def total(x, n):
    for _ in range(n):
        x = x + x[0] + 1.0
    return x[1] if n > 1 else x[0]


def test_there_are_no_others():
    """Each use of `jax._src` stands behind a guard, in one of seven files."""
    import pathlib

    import autograph_jax

    package = pathlib.Path(autograph_jax.__file__).parent
    users = {p.relative_to(package).as_posix() for p in package.rglob("*.py") if "jax._src" in p.read_text()}
    assert users <= {
        "loops/caches.py",
        "loops/checked.py",
        "loops/lowering.py",
        "loops/mapped.py",
        "loops/references.py",
        "operators/jax_private.py",
        "runtime/frames.py",
    }


def test_ordered_calls_are_in_one_order_with_those_of_jax():
    effect, like = jax_private.ordered_effect(), debugging.ordered_debug_effect
    assert effect == like and like == effect and {effect: 1}[like] == 1
    assert effects.ordered_effects.contains(effect) and effects.shardable_ordered_effects.contains(effect)
    assert not effects.shardable_ordered_effects.contains(like)


def test_programs_of_jax_itself():
    def ours(x):
        return jnp.where(x > 0, x, 0.0)

    [call] = jax.make_jaxpr(jax.jit(ours))(1.0).jaxpr.eqns
    [*_, where] = call.params["jaxpr"].jaxpr.eqns
    assert not jax_private.is_of_jax_itself(call.params["jaxpr"].jaxpr)
    assert jax_private.is_of_jax_itself(where.params["jaxpr"].jaxpr)


def seen(transform, x=1.0):
    """Whether a transform makes values abstract, and says that it traces."""
    answers = []

    def f(x):
        answers.append((is_traced(x), jax_private.tracing()))
        return x * 2

    transform(f)(x)
    return answers[0]


TRANSFORMS = {
    "none": (lambda f: f, (False, False)),
    "jit": (jax.jit, (True, True)),
    "grad": (jax.grad, (False, False)),
    "jit of grad": (lambda f: jax.jit(jax.grad(f)), (True, True)),
    "grad of jit": (lambda f: jax.grad(jax.jit(f)), (True, True)),
    "grad of grad": (lambda f: jax.grad(jax.grad(f)), (False, False)),
    "jvp": (lambda f: lambda x: jax.jvp(f, (x,), (x,)), (False, False)),
    "linearize": (lambda f: lambda x: jax.linearize(f, x), (False, False)),
    "checkpoint": (jax.checkpoint, (True, True)),
    "make_jaxpr": (jax.make_jaxpr, (True, True)),
    "eval_shape": (lambda f: lambda x: jax.eval_shape(f, x), (True, True)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_tracing(name: str):
    transform, expected = TRANSFORMS[name]
    assert seen(transform) == expected


def test_is_own():
    """A tracer of the innermost trace is its own, one from around is not, and no array is."""
    answers, array = [], jnp.ones(2)

    def outer(x):
        def inner(y):
            answers.append([jax_private.is_own(value) for value in (y, x + y, x, array, 1.0)])
            return y

        jax.make_jaxpr(inner)(x)
        return x

    jax.make_jaxpr(outer)(1.0)
    assert answers == [[True, True, False, False, False]]


def test_vmap():
    assert seen(jax.vmap, jnp.ones(3)) == (True, True)
    assert seen(lambda f: jax.vmap(jax.grad(f)), jnp.ones(3)) == (True, True)


def test_scan_body():
    answers = []

    def body(carry, x):
        answers.append((is_traced(carry), jax_private.tracing()))
        return carry + x, None

    jax.lax.scan(body, 0.0, jnp.ones(3))
    assert answers[0] == (True, True)


def test_as_weak():
    weak = jax_private.as_weak(jnp.float32(1), jnp.dtype("float32"))
    assert weak.weak_type and weak.dtype == "float32"
    assert (weak + jnp.float16(1)).dtype == "float16"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_constants(dtype):
    """The constant of an array is the same one as long as a program has it; programs that are being made show theirs."""
    array, seen = np.zeros(3, dtype), []

    def f(x):
        y = x + array
        [(constants, tracers)] = jax_private.constants()
        seen.append(any(value is jax_private.constant_of(array) for value in constants.values()))
        assert id(jax_private.constant_of(array)) in tracers
        return y

    program = jax.make_jaxpr(f)(1.0)
    assert seen == [True] and program.consts[0] is jax_private.constant_of(array)


def test_constants_of_a_linear_part():
    seen = []

    def f(x):
        y = x * np.ones(3, "float32")
        seen.extend(value for constants, _ in jax_private.constants() for value in constants.values())
        return y.sum()

    jax.grad(f)(1.0)
    assert any(np.shape(value) == (3,) for value in seen)
