"""Objects with `__jax_array__`: operands, carries, arguments and results of what is converted, in every transform."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph_jax as ag


class Param:
    """A value with a name, as libraries of layers have it; it is no pytree."""

    def __init__(self, value, name="p"):
        self.value, self.name = value, name

    def __jax_array__(self):
        return self.value


class Scaled:
    """It computes its array."""

    def __init__(self, value, scale):
        self.value, self.scale = value, scale

    def __jax_array__(self):
        return self.scale * self.value


def loop_of_arrays(p):
    c = p
    while jnp.sum(c) < 5:
        c = jnp.add(c, 1.0)
    return c


def loop_of_objects(p):
    c = p
    while c.value < 5:
        c = Param(c.value + 1.0)
    return jnp.asarray(c)


def for_loop(p):
    total = p
    for x in jnp.arange(3.0):
        total = jnp.sin(total) + x
    return total


def branch_with_array(p):
    if p.value > 0:
        r = p
    else:
        r = 2.0 * p.value
    return jnp.asarray(r) + 1.0


def branch_of_two(p):
    q = Param(p.value + 1.0)
    if p.value > 2:
        r = p
    else:
        r = q
    return jnp.sin(r)


def written(p):
    y = jnp.zeros(3)
    y[0] = p
    return y.sum()


def scanned(p):
    carry, rows = lax.scan(lambda c, x: (c + x, Param(p.value + x)), p, jnp.arange(3.0))
    return carry + rows.sum()


ROWS = {
    "a function": lambda p: jnp.sin(p),
    "keywords": lambda p: jnp.clip(p, max=p),
    "an operand": lambda p: 2.0 * p.__jax_array__() + jnp.ones(()) * p,
    "lax": lambda p: lax.add(p, p),
    "in a list": lambda p: jnp.stack([p, p]).sum(),
    "a method": lambda p: jnp.ones(()).dot(p),
    "at": lambda p: jnp.zeros(3).at[0].set(p).sum(),
    "a function with a rule": lambda p: jax.nn.relu(p),
    "a compiled function": lambda p: jax.jit(lambda q: q**2)(p),
    "a condition": lambda p: lax.cond(Param(p.value > 0), lambda q: q, lambda q: 2 * q, p),
    "lax.scan": scanned,
    "lax.while_loop": lambda p: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c), p),
    "jax.grad": lambda p: jax.grad(lambda q: q**2)(p),
    "jax.vmap": lambda p: (
        jax.vmap(lambda q: p * q)(Param(jnp.arange(3.0))).sum()
        if hasattr(p, "__mul__")
        else jnp.sum(jax.vmap(jnp.sin)(Param(jnp.arange(3.0)))) * p
    ),
    "while, arrays": loop_of_arrays,
    "while, objects": loop_of_objects,
    "for": for_loop,
    "if, with an array": branch_with_array,
    "if, of two": branch_of_two,
    "y[0] = p": written,
    "its attributes": lambda p: p.value if p.name == "p" else -p.value,
}
TRANSFORMS = {
    "none": lambda f: ag.autograph(f),
    "jit": lambda f: ag.jit(f),
    "jit by keyword": lambda f: lambda p: ag.jit(lambda *, p: f(p))(p=p),
    "captured": lambda f: lambda p: ag.jit(lambda: f(p))(),
    "jax.jit, captured": lambda f: lambda p: jax.jit(lambda: ag.autograph(f)(p))(),
    "in a tree": lambda f: lambda p: ag.jit(lambda tree: f(tree["p"][0]))({"p": (p, 1.0)}),
    "vmap": lambda f: lambda p: ag.vmap(f)(Param(jnp.stack([p.value, p.value])))[0],
    "vmap, not mapped": lambda f: lambda p: ag.vmap(f, in_axes=None, axis_size=2)(p)[0],
    "checkpoint": lambda f: lambda p: ag.checkpoint(f)(p),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@pytest.mark.parametrize("f", ROWS.values(), ids=ROWS.keys())
def test_value(f, transform):
    expected = ag.autograph(f)(Param(jnp.asarray(1.5)))
    assert transform(f)(Param(jnp.asarray(1.5))) == pytest.approx(float(expected))


@pytest.mark.parametrize("f", ROWS.values(), ids=ROWS.keys())
def test_gradient(f):
    if f is ROWS["lax.scan"] or f is not loop_of_arrays:
        slope = jax.grad(lambda value: ag.autograph(f)(Param(value)))(1.5)
        assert ag.grad(f)(Param(jnp.asarray(1.5))) == pytest.approx(slope)


def test_an_array_that_is_computed():
    s = Scaled(jnp.asarray(3.0), 2.0)
    for run in (ag.autograph(jnp_sin), ag.jit(jnp_sin), ag.checkpoint(jnp_sin)):
        assert run(s) == pytest.approx(float(jnp.sin(6.0)))
    assert ag.grad(jnp_sin)(s) == pytest.approx(float(jnp.cos(6.0)))  # by the array


def jnp_sin(p):
    return jnp.sin(p)


# ------------------------------------------------------------------ results


def test_the_same_object_comes_back():
    p, other = Param(jnp.arange(3.0)), Param(jnp.ones(3), "other")
    same = ag.jit(lambda p: p)
    assert same(p) is p and same(other) is other
    first, (second, number) = ag.jit(lambda a, *, b: (b, (a, b.value)))(p, b=other)
    assert first is other and second is p and number.tolist() == [1.0, 1.0, 1.0]
    assert ag.jit(lambda: p)() is p
    assert ag.jit(lambda p, n: p, static_argnames="p")(p, 2) is p


def writes(x, p):
    y = x + 0
    y[p] = 7.0
    y[p] += 1.0
    return y


def writes_a_column(x, p):
    y = (x + 0).reshape(1, 4)
    y[:, p] = 7.0
    return y


def writes_in_a_container(x, p):
    d = {"a": x + 0}
    d["a"][p] = 3.0
    return d["a"]


def writes_a_list(x, p):
    rows = [x, x + 1, x + 2]
    rows[p] = 0 * x
    return rows


def reads_a_table(x, p):
    rows = [x, x + 1, x + 2]
    return rows[p]


@pytest.mark.parametrize("function", [writes, writes_a_column, writes_in_a_container, writes_a_list, reads_a_table])
def test_as_an_index(function):
    x = jnp.arange(4.0)
    wanted = jnp.asarray(function(np.arange(4.0), 2)).tolist()
    for run in (ag.autograph, ag.jit):
        assert jnp.asarray(run(function)(x, Param(jnp.int32(2)))).tolist() == wanted


def test_an_error_for_such_an_argument_is_the_users():
    def f(p):
        assert p.value > 0, "not positive"
        return p.value

    for p in (Param(jnp.asarray(-1.0)), jnp.asarray(-1.0)):
        with pytest.raises(AssertionError, match="not positive"):
            ag.jit(lambda p: f(p if type(p) is Param else Param(p)))(p)


def test_a_new_object_comes_out():
    p = Param(jnp.arange(3.0), "q")
    for run in (ag.jit, ag.vmap, ag.checkpoint):
        out = run(lambda p: Param(2 * p.value, p.name + "2"))(p)
        assert type(out) is Param and out.name == "q2" and out.value.tolist() == [0.0, 2.0, 4.0]
    mapped = ag.vmap(lambda p: p)(p)
    assert type(mapped) is Param and mapped.value.tolist() == [0.0, 1.0, 2.0]


def test_what_is_changed_is_not_the_same_object():
    def f(p):
        p.value = 2 * p.value
        return p

    p = Param(jnp.ones(2))
    out = ag.jit(f)(p)
    assert out is not p and out.value.tolist() == [2.0, 2.0] and p.value.tolist() == [1.0, 1.0]


def test_one_program_for_all_arrays_another_for_other_attributes():
    seen = []

    @ag.jit
    def f(p):
        seen.append(p.name)
        return jnp.sin(p)

    for p in (Param(jnp.ones(2)), Param(jnp.zeros(2)), Param(jnp.ones(2), "q"), Param(jnp.zeros(2), "q")):
        assert f(p).tolist() == jnp.sin(p.value).tolist()
    assert seen == ["p", "q"]


def test_an_error_of_the_user_is_raised_once():
    seen = []

    def f(p):
        seen.append(1)
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        ag.jit(f)(Param(jnp.ones(2)))
    with pytest.raises(TypeError, match="mine"):
        ag.jit(f)(jnp.ones(2))
    assert seen == [1, 1]


# ------------------------------------------------------------------ the other transforms


def test_derivatives_are_arrays():
    p = Param(jnp.arange(3.0))

    def f(p, q):
        return jnp.sum(jnp.sin(p) * jnp.asarray(q))

    value, slopes = ag.value_and_grad(f, argnames=["p", "q"])(p, q=p)
    assert value == pytest.approx(float((jnp.sin(p.value) * p.value).sum()))
    assert slopes["p"].tolist() == (jnp.cos(p.value) * p.value).tolist()
    assert slopes["q"].tolist() == jnp.sin(p.value).tolist()
    cos, hessian = jnp.cos(p.value), jnp.diag(-jnp.sin(p.value))
    assert jnp.allclose(ag.hessian(lambda p: jnp.sum(jnp.sin(p)))(p), hessian)
    assert jnp.allclose(ag.jacfwd(jnp_sin)(p), jnp.diag(cos)) and jnp.allclose(ag.jacrev(jnp_sin)(p), jnp.diag(cos))
    assert ag.vjp(jnp_sin, p)[1](jnp.ones(3))[0].tolist() == cos.tolist()
    assert ag.linearize(jnp_sin, p)[1](p.value).tolist() == ag.linearize(jnp_sin, p)[1](p).tolist() == (cos * p.value).tolist()
    for tangent in (p, p.value):
        assert ag.jvp(jnp_sin, (p,), (tangent,))[1].tolist() == (cos * p.value).tolist()


def test_programs():
    p = Param(jnp.arange(3.0))
    assert str(ag.make_jaxpr(jnp_sin)(p).jaxpr.eqns[0].primitive) == "sin"
    assert ag.pmap(jnp_sin)(Param(jnp.ones((1, 2)))).shape == (1, 2)
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    specs = dict(in_specs=jax.P("i"), out_specs=jax.P("i"))
    assert ag.shard_map(jnp_sin, mesh=mesh, **specs)(p).tolist() == jnp.sin(p.value).tolist()


def test_custom_rules():
    @ag.custom_vjp
    def f(p):
        return jnp.sin(p)

    f.defvjp(lambda p: (f(p), p), lambda p, cotangent: (10 * cotangent * jnp.cos(p),))
    p = Param(jnp.asarray(1.0))
    assert f(p) == jnp.sin(1.0) and ag.grad(f)(p) == 10 * jnp.cos(1.0)


def test_functions_of_trees_and_of_others_get_the_object():
    p = Param(jnp.ones(2))

    @ag.autograph
    def f(p):
        return jax.tree.map(lambda leaf: leaf.name, [p]), isinstance(p, Param)

    assert f(p) == (["p"], True)
