"""Branches that each lane takes for itself: written out once, they give what JAX's own rule gives, derivatives too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.loops.mapped import is_mapped
from autograph_jax.loops.tracing import traced
from autograph_jax.loops.written_out import over_lanes

pytestmark = pytest.mark.usefixtures("x64")


def two_branches(x, w):
    return jax.lax.cond(x > 0, lambda: jnp.sqrt(x) * w, lambda: w - x)


def nested(x, w):
    def inner():
        return jax.lax.cond(x < 1, lambda: jnp.log(x) * w, lambda: x * x)

    return jax.lax.cond(x > 0, inner, lambda: -x + w)


def several(x, w):
    index = jnp.clip(x, 0, 2).astype(int)
    return jax.lax.switch(index, [lambda: x, lambda: x * w, lambda: jnp.sin(x) + w])


def of_integers(x, w):
    n = x.astype(int)
    return jax.lax.cond(x > 0, lambda: n * 2, lambda: n - 1) + w


def same_for_all(x, w):
    return jax.lax.cond(w > 0, lambda: x * w, lambda: x)


def handed_on(x, w):
    a, b = jax.lax.cond(x > 0, lambda: (x, w), lambda: (w, x))
    return a - 2 * b


def a_loop_inside(x, w):
    def turns():
        return jax.lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + abs(x) + 1, c[1] * w), (x, w))[1]

    return jax.lax.cond(x > 0.5, turns, lambda: x)


def keys(x, w):
    key = jax.random.key(0)
    other = jax.random.fold_in(key, 1)
    return jax.random.uniform(jax.lax.cond(x > 0, lambda: key, lambda: other)) + w * x


def a_shared_one_inside(x, w):
    def inner():
        return jax.lax.cond(w > 0, lambda: jnp.sqrt(x), lambda: x)

    return jax.lax.cond(x > 0, inner, lambda: -x)


@jax.custom_jvp
def halved(x):
    return x / 2


halved.defjvp(lambda primals, tangents: (halved(*primals), 3 * tangents[0]))


@jax.custom_vjp
def doubled(x):
    return 2 * x


doubled.defvjp(lambda x: (2 * x, None), lambda _, cotangent: (5 * cotangent,))


def with_a_rule(x, w):
    return jax.lax.cond(x > 0, lambda: halved(x) * w, lambda: x)


def with_a_rule_for_reverse_mode(x, w):
    return jax.lax.cond(x > 0, lambda: doubled(x) * w, lambda: x)


ONLY_BACKWARD = (with_a_rule_for_reverse_mode,)
PROGRAMS = [
    *(two_branches, nested, several, of_integers, same_for_all, handed_on, a_loop_inside, keys, a_shared_one_inside),
    *(with_a_rule, with_a_rule_for_reverse_mode),
]
X, W = np.array([-1.5, 0.0, 0.3, 1.0, 2.5]), np.float64(0.7)


def by_lanes(function, axes=(0, None)):
    def run(x, w):
        closed = traced(function, [jax.typeof(x[0]) if axes[0] == 0 else jax.typeof(x), jax.typeof(w)])
        return jax.vmap(over_lanes(closed), axes)(x, w)[0]

    return run


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_values(function):
    np.testing.assert_array_equal(by_lanes(function)(X, W), jax.vmap(function, (0, None))(X, W))


@pytest.mark.parametrize("function", [f for f in PROGRAMS if f is not a_loop_inside], ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", [jax.jacrev, jax.jacfwd])
def test_derivatives(function, mode):
    """sqrt and log of what no lane computes have infinite slopes: nothing of that comes out."""
    if mode is jax.jacfwd and function in ONLY_BACKWARD:
        with pytest.raises(TypeError, match="custom_vjp"):
            mode(by_lanes(function))(X, W)
        return
    for argument in (0, 1):
        found = mode(by_lanes(function), argument)(X, W)
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found, mode(jax.vmap(function, (0, None)), argument)(X, W), rtol=1e-15)


def test_a_shared_predicate_stays_a_conditional():
    names = {e.primitive.name for e in jax.make_jaxpr(by_lanes(same_for_all))(X, W).eqns}
    assert "cond" in names
    assert "cond" not in {e.primitive.name for e in jax.make_jaxpr(by_lanes(nested))(X, W).eqns}


def test_what_all_lanes_agree_on_stays_a_conditional():
    """Of both branches the loop in one would not end."""

    def agreed(x):
        def turns():
            return jax.lax.while_loop(lambda y: y < 50, lambda y: y * 2, x)

        return jax.lax.cond(jax.lax.psum(x, "i") > 100, turns, lambda: x + 1)

    def looped(x):
        return jax.lax.while_loop(lambda c: c[0] < 3 + x, lambda c: (c[0] + 1, agreed(c[1])), (0.0, x))[1]

    @ag.autograph
    def converted(x):
        i, s = 0.0, x
        while i < 3 + x:
            if jax.lax.psum(x, "i") > 100:
                y = x
                while y < 50:
                    y = y * 2
                s = y
            else:
                s = s + x
            i = i + 1
        return s

    x = jnp.array([-1.0, 2.0])
    np.testing.assert_array_equal(jax.vmap(looped, axis_name="i")(x), [1.0, 7.0])
    np.testing.assert_array_equal(jax.vmap(converted, axis_name="i")(x), [-3.0, 12.0])


def test_mapped():
    seen = []

    def look(x, y):
        seen.append((is_mapped(x), is_mapped(y), is_mapped(x + y)))
        jax.make_jaxpr(lambda z: seen.append((is_mapped(z), is_mapped(x))) or z)(x)
        return x + y

    jax.vmap(look, (0, None))(jnp.ones(2), 1.0)
    assert seen == [(True, False, True), (False, False)]
    seen.clear()
    jax.vmap(lambda y: jax.vmap(look, (0, None))(jnp.ones(2), y))(jnp.ones(3))
    assert seen == [(True, False, True), (False, False)]  # y is another number for each lane of the one around


def test_effects_are_left_to_jax(capfd):
    def printing(x, w):
        return jax.lax.cond(x > 0, lambda: (jax.debug.print("positive"), x * w)[1], lambda: x)

    found = by_lanes(printing)(X, W)
    jax.effects_barrier()
    np.testing.assert_array_equal(found, np.where(X > 0, X * W, X))
    assert "positive" in capfd.readouterr().out


def test_lanes_in_lanes():
    x, y = X, np.array([1.0, -2.0])

    def one(x, y):
        return by_lanes(nested)(x, y) * y

    expected = [[float(nested(jnp.array(a), jnp.array(b)) * b) for a in x] for b in y]
    np.testing.assert_allclose(jax.vmap(one, (None, 0))(x, y), expected, rtol=1e-15)


def equations(jaxpr):
    inside = [getattr(p, "jaxpr", p) for e in jaxpr.eqns for v in e.params.values() for p in (v if type(v) is tuple else (v,))]
    return len(jaxpr.eqns) + sum(equations(inner) for inner in inside if hasattr(inner, "eqns"))


def deep(depth):
    """As many early returns."""
    lines = [f"    if x > {depth - n}.5:\n        return jnp.sqrt(x) * {n}.0\n    x = x + 1.0\n" for n in range(depth)]
    return "def f(x):\n" + "".join(lines) + "    return x\n"


@pytest.mark.parametrize("depth", [4, 12])
def test_converted_code_gives_what_each_lane_gives(depth, tmp_path):
    function = module_of(tmp_path / f"deep_{depth}.py", "import jax.numpy as jnp\n\n\n" + deep(depth)).f
    converted = ag.autograph(function)
    x = jnp.linspace(0.2, depth + 1.0, 9)
    np.testing.assert_allclose(jax.vmap(converted)(x), [function(float(v)) for v in x], rtol=1e-15)
    slopes = jax.grad(lambda x: jax.vmap(converted)(x).sum())(x)
    np.testing.assert_allclose(slopes, [jax.grad(converted)(v) for v in x], rtol=1e-14)


def module_of(path, text):
    import importlib.util

    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_operations_grow_with_the_depth(tmp_path):
    """JAX's rule traces an operation once for each branch around it."""
    traced_at = {}
    for depth in (5, 10, 20):
        f = ag.autograph(module_of(tmp_path / f"deep_{depth}.py", "import jax.numpy as jnp\n\n\n" + deep(depth)).f)
        traced_at[depth] = equations(jax.make_jaxpr(jax.vmap(f))(jnp.ones(3)).jaxpr)
    assert traced_at[20] - traced_at[10] <= 2.2 * (traced_at[10] - traced_at[5])
