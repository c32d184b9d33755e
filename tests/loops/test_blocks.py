"""Lanes of mapped while loops run in blocks: with the same results, derivatives too, and only where it is worth it."""

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.loops import blocks
from tests.platforms import needs_cpu

pytestmark = [pytest.mark.usefixtures("x64"), needs_cpu]
SIZE = blocks.SIZES[0]
FEWEST = blocks._FEWEST_LANES


def escape(a, b):
    x, y, turns = 0.0, 0.0, 0
    while turns < 60 and x * x + y * y <= 4.0:
        x, y = x * x - y * y + a, 2.0 * x * y + b
        turns += 1
    return x, turns


def root(a):
    x = a
    while abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
    return x


def vector(v):
    while v.sum() < 10:
        v = v * 1.5 + jnp.arange(3.0)
    return v


def lanes(n):
    return np.linspace(-2.0, 0.5, n), np.linspace(-1.2, 1.2, n)


ROWS = {  # a function, the arguments of its lanes, and the axes that vmap is given
    "one": (escape, lanes(FEWEST), (0, 0)),
    "and a rest": (escape, lanes(FEWEST + 37), (0, 0)),
    "one that all share": (escape, (lanes(FEWEST)[0], 0.25), (0, None)),
    "in another place": (vector, (np.linspace(0.1, 3.0, 3 * FEWEST).reshape(3, FEWEST),), (1,)),
    "roots": (root, (np.linspace(0.5, 900.0, FEWEST + 1),), (0,)),
}


def is_in_blocks(function, *args):
    return f"<{SIZE}x" in jax.jit(function).lower(*args).as_text().replace("tensor<", "<")


@pytest.mark.parametrize("name", ROWS)
def test_lanes_give_what_they_gave(name):
    function, args, axes = ROWS[name]
    ours, theirs = [jax.vmap(ag.autograph(function, optimize=o), axes) for o in (True, False)]
    assert is_in_blocks(ours, *args) and not is_in_blocks(theirs, *args)
    jax.tree.map(np.testing.assert_array_equal, jax.jit(ours)(*args), jax.jit(theirs)(*args))


def flags(a):
    """A carry that is a number of Python's on every path."""
    x, flag, turns = a, 0, 0
    while turns < 20 and abs(x) > 0.1:
        x, turns = x * 0.9, turns + 1
        flag = 1 if x > 0.5 else 2
    return x, flag, turns


@pytest.mark.parametrize("function", [escape, flags])
def test_programs_of_all_lanes_are_not_traced_where_they_run_in_blocks(function):
    args = lanes(FEWEST)[: function.__code__.co_argcount]
    ours, theirs = [jax.jit(jax.vmap(ag.autograph(function, optimize=o))).trace(*args) for o in (True, False)]
    ours.lower().compile()
    (loop,) = [equation for equation in ours.jaxpr.eqns if equation.primitive.name == "while"]
    assert "closed" not in vars(loop.params["body_jaxpr"])
    assert ours.jaxpr.out_avals == theirs.jaxpr.out_avals  # by their types, too
    assert f"f64[{FEWEST}] = mul" in str(ours.jaxpr) and "closed" in vars(loop.params["body_jaxpr"])


@pytest.mark.parametrize("count", [FEWEST, FEWEST + 37])
def test_all_lanes_have_one_kernel(count):
    """The last block overlaps the one before, where their number is no multiple of a block's."""
    text = jax.jit(jax.vmap(ag.autograph(escape))).lower(*lanes(count)).as_text()
    assert text.count("xla_cpu_small_call") == 1


def test_maps_in_maps():
    args = [x.reshape(2, FEWEST) for x in lanes(2 * FEWEST)]
    ours, theirs = [jax.jit(jax.vmap(jax.vmap(ag.autograph(escape, optimize=o)))) for o in (True, False)]
    jax.tree.map(np.testing.assert_array_equal, ours(*args), theirs(*args))
    ours, theirs = [jax.jit(jax.vmap(jax.vmap(ag.autograph(escape, optimize=o), (0, None)), (1, 0))) for o in (True, False)]
    args = args[0], args[1][0]
    jax.tree.map(np.testing.assert_array_equal, ours(*args), theirs(*args))


def test_derivatives_of_lanes():
    x = jnp.linspace(0.5, 9.0, FEWEST)
    for transform in (jax.grad, lambda f: lambda a: jax.jvp(f, (a,), (1.0,))[1]):
        ours, theirs = [jax.jit(jax.vmap(transform(ag.autograph(root, optimize=o)))) for o in (True, False)]
        np.testing.assert_allclose(ours(x), theirs(x), rtol=1e-12)
        np.testing.assert_allclose(ours(x), 0.5 / np.sqrt(x), rtol=1e-6)


def test_programs_that_tell_of_devices_do_not_wait():
    """JAX looks for them in a program before it is compiled."""
    placed = jax.sharding.NamedSharding(jax.make_mesh((1,), ("x",)), jax.sharding.PartitionSpec())
    double = jax.jit(lambda x: x * 2, in_shardings=placed)

    def program(a):
        while a < 10:
            a = double(a)
        return a

    x = lanes(FEWEST)[1] + 2
    ours = jax.jit(jax.vmap(ag.autograph(program))).trace(x)
    (loop,) = [equation for equation in ours.jaxpr.eqns if equation.primitive.name == "while"]
    assert isinstance(loop.params["body_jaxpr"], jax.extend.core.ClosedJaxpr)
    np.testing.assert_allclose(ours.lower().compile()(x), jax.vmap(ag.autograph(program, optimize=False))(x))


def times(x):
    t = 0.0
    while t < abs(x):
        t = t + 0.1
    return t * x, t


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("count", [10, FEWEST])
def test_a_number_of_pythons_adapts_in_lanes_as_in_one(count, optimize):
    x = jnp.linspace(0.1, 3.0, count, dtype=jnp.float32)
    one, many = [
        jax.eval_shape(f, a) for f, a in ((ag.autograph(times), x[0]), (jax.vmap(ag.autograph(times, optimize=optimize)), x))
    ]
    for single, lanes_of_it in zip(one, many, strict=True):
        assert (single.dtype, single.weak_type) == (lanes_of_it.dtype, lanes_of_it.weak_type)
    assert many[0].dtype == jnp.float32


def by_sort(v):
    while v.sum() < 10 and v[0] < 99:
        v = jnp.sort(jnp.concatenate([v, v, v]))[:3] * 1.5 + 0.1
    return v


def over_lanes(a):
    x = a
    while x < 10:
        x = x + jax.lax.pmean(abs(a), "lanes")
    return x


def printing(a):
    x = a
    while x < 1:
        jax.debug.callback(lambda _: None, x)
        x = x + 1
    return x


WHOLE = {
    "few lanes": lambda: (jax.vmap(ag.autograph(root)), lanes(FEWEST - 1)[1] + 2),
    "no kernel": lambda: (jax.vmap(ag.autograph(by_sort)), jnp.ones((FEWEST, 3))),
    "lanes that know each other": lambda: (jax.vmap(ag.autograph(over_lanes), axis_name="lanes"), lanes(FEWEST)[0]),
    "large arrays": lambda: (jax.vmap(ag.autograph(root)), jnp.ones(blocks._MOST_BYTES // 8 + 8)),
    "a call of Python": lambda: (jax.vmap(ag.autograph(printing)), lanes(FEWEST)[0]),
    "no kernels": lambda: (jax.vmap(ag.autograph(root, optimize="blocks")), lanes(FEWEST)[1] + 2),
}


@pytest.mark.parametrize("name", WHOLE)
def test_others_stay_whole(name):
    function, x = WHOLE[name]()
    assert not is_in_blocks(function, x)


def weiszfeld(v):
    """More in a turn than a kernel of many lanes takes, and most of it in branches; their turns differ."""
    m = v * 0.5
    for k in range(40):
        d = jnp.sqrt((v - m) ** 2 + 1e-3)
        if jnp.any(d > 50):
            m = jnp.where(d > 50, v, m)
            while jnp.max(abs(v - m)) > 25:
                m = m + 0.5 * (v - m)
        elif v[0] > 0:
            w = 1 / (d + 0.1 * k)
            new = jnp.sum(w * v) / jnp.sum(w) + 0.01 * jnp.sin(v) + 0.02 * jnp.cos(d) - 0.003 * jnp.tanh(m)
            if jnp.max(abs(new - m)) < 1e-3:
                return new
            m = new
        else:
            m = m - 0.1 * jnp.sin(d) * jnp.exp(-(m**2))
            if m[0] < -1:
                break
    return m


def vectors(n):
    return np.random.default_rng(0).normal(size=(n, 6)) * np.geomspace(1, 100, n)[:, None]


def is_one_by_one(function, *args):
    """Is there a loop over the lanes?"""
    text = jax.jit(function).lower(*args).as_text()
    return f"dense<{len(args[0])}> : tensor<i" in text


def test_lanes_that_part_run_one_after_the_other():
    args = (vectors(FEWEST + 3),)
    ours, theirs = [jax.vmap(ag.autograph(weiszfeld, optimize=o)) for o in (True, False)]
    assert is_one_by_one(ours, *args) and not is_one_by_one(theirs, *args)
    np.testing.assert_allclose(jax.jit(ours)(*args), jax.jit(theirs)(*args), rtol=1e-9)


def power_method(a):
    """Hardly more in a turn than a product, which XLA takes lane by lane."""
    v, before = jnp.ones(4), 0.0
    for _ in range(60):
        w = a @ v
        v, size = w / jnp.sqrt(w @ w), w @ v
        if abs(size - before) < 1e-9:
            break
        before = size
    return v


def test_lanes_that_multiply_matrices_run_one_after_the_other():
    a = np.random.default_rng(0).normal(size=(FEWEST, 4, 4))
    args = (np.einsum("bij,bkj->bik", a, a) + np.eye(4),)
    ours, theirs = [jax.vmap(ag.autograph(power_method, optimize=o)) for o in (True, False)]
    assert is_one_by_one(ours, *args) and not is_one_by_one(theirs, *args)
    np.testing.assert_allclose(jax.jit(ours)(*args), jax.jit(theirs)(*args), rtol=1e-9)


def larger(v):
    """A turn of 128 lanes writes too much for a kernel; one of 32 does not."""
    turns = 0
    while turns < 60 and abs(v[0]) < 100:
        v = v * 1.01 + 0.1 * v[::-1]
        v = v + 0.01 / (1 + v * v)
        turns += 1
    return v, turns


def test_blocks_are_as_large_as_a_kernel_takes():
    args = (np.random.default_rng(0).normal(size=(FEWEST + 70, 8)),)
    ours, theirs = [jax.vmap(ag.autograph(larger, optimize=o)) for o in (True, False)]
    assert "tensor<32x8xf64>" in jax.jit(ours).lower(*args).as_text()
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), jax.jit(ours)(*args), jax.jit(theirs)(*args))


def parting(x):
    """A turn of 64 lanes writes too much for a kernel, one of 32 does not, and most of it is in branches."""
    turns = 0
    while turns < 40 and abs(x) < 50:
        if x > 1:
            for c in (1.0, 2.0, 3.0, 5.0, 7.0, 11.0):
                x = x + 0.1 * jnp.sin(c * x) / (c + x * x)
            x = x - 0.3
        else:
            for c in (1.0, 2.0, 3.0, 5.0, 7.0, 11.0):
                x = x * 1.05 - 0.01 * jnp.cos(c + x) * x
        turns += 1
    return x, turns


def test_lanes_that_part_are_no_block_of_few():
    args = (np.linspace(-3.0, 30.0, FEWEST + 70),)
    ours, theirs = [jax.vmap(ag.autograph(parting, optimize=o)) for o in (True, False)]
    text = jax.jit(ours).lower(*args).as_text()
    assert is_one_by_one(ours, *args) and "tensor<32xf64>" not in text and not is_in_blocks(ours, *args)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), jax.jit(ours)(*args), jax.jit(theirs)(*args))


def test_derivatives_of_lanes_one_after_the_other():
    args = (vectors(FEWEST),)
    for transform in (lambda f: jax.grad(lambda v: f(v).sum()), lambda f: lambda v: jax.jvp(f, (v,), (v,))[1]):
        ours, theirs = [jax.jit(jax.vmap(transform(ag.autograph(weiszfeld, optimize=o)))) for o in (True, False)]
        np.testing.assert_allclose(ours(*args), theirs(*args), rtol=1e-6, atol=1e-9)
        # Checkpoints of so many lanes are fewer than those of one.
        alone = jax.jit(transform(ag.autograph(weiszfeld, optimize=False)))
        np.testing.assert_allclose(ours(*args)[::100], [alone(v) for v in args[0][::100]], rtol=1e-6, atol=1e-9)


def test_lanes_without_branches_stay_in_lock_step():
    def ode(v):
        t = 0.0
        while t < 1.0:
            for _ in range(12):
                v = v + 0.01 * (jnp.sin(v) - jnp.cos(v[::-1]) * jnp.exp(-(v**2)))
            t = t + 0.1
        return v

    assert not is_one_by_one(jax.vmap(ag.autograph(ode)), vectors(FEWEST))
