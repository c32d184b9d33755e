"""`ag.vmap`, `ag.pmap`, `ag.shard_map`: axes and specs by position and by name, of arguments and of results."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.errors import ArgumentError

XS = jnp.arange(4.0)
TABLE = jnp.arange(8.0).reshape(2, 4)
MESH = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
P = jax.P


def scaled(x, y=1.0, *rest, scale=1.0, **more):
    if x > 1:
        x = 10 * x
    return scale * x * y + sum(rest) + sum(more.values())


class Pair(NamedTuple):
    low: Any
    high: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Result:
    value: Any
    total: Any


# ------------------------------------------------------------------ vmap

VMAPS = {
    "all": (dict(), "f(XS)", [0, 1, 20, 30]),
    "all, by keyword": (dict(), "f(XS, scale=XS, y=XS)", [0, 1, 80, 270]),
    "a tuple": (dict(in_axes=(0, None)), "f(XS, 2.0)", [0, 2, 40, 60]),
    "a tuple, by keyword": (dict(in_axes=(0, None)), "f(y=2.0, x=XS)", [0, 2, 40, 60]),
    "a list": (dict(in_axes=[None, 0]), "f(2.0, XS)", [0, 20, 40, 60]),
    "a short tuple, as in jax.vmap": (dict(in_axes=(0,)), "f(XS, scale=XS)", [0, 1, 40, 90]),
    "a tuple that reaches into *rest": (dict(in_axes=(0, None, None, 0)), "f(XS, 1.0, 5.0, XS)", [5, 7, 27, 38]),
    "by name": (dict(in_axes={"x": 0}), "f(XS, 2.0, scale=2.0)", [0, 4, 80, 120]),
    "keyword-only by name": (dict(in_axes={"scale": 0}), "f(1.0, scale=XS)", [0, 1, 2, 3]),
    "in **more by name": (dict(in_axes={"k": 0}), "f(1.0, k=XS, m=5.0)", [6, 7, 8, 9]),
    "in *rest by number": (dict(in_axes={3: 0}), "f(1.0, 1.0, 5.0, XS)", [6, 7, 8, 9]),
    "all of *rest": (dict(in_axes={"rest": 0}), "f(1.0, 1.0, XS, XS)", [1, 3, 5, 7]),
    "each of *rest": (dict(in_axes={"rest": (None, 0)}), "f(1.0, 1.0, 5.0, XS)", [6, 7, 8, 9]),
    "all of **more": (dict(in_axes={"more": {"k": 0, "m": None}}), "f(1.0, k=XS, m=5.0)", [6, 7, 8, 9]),
    "another axis": (dict(in_axes={"x": None, "y": 1}), "f(1.0, TABLE)", [[0, 4], [1, 5], [2, 6], [3, 7]]),
    "a default left out": (dict(in_axes=(0, 0)), "f(XS)", [0, 1, 20, 30]),
    "a default with a tree, left out": (dict(in_axes={"x": 0, "y": {"a": 0}}), "f(XS)", [0, 1, 20, 30]),
    "None": (dict(in_axes=None, axis_size=2), "f(2.0)", [20, 20]),
    "a negative axis": (dict(in_axes={"y": -1}), "f(1.0, TABLE)", [[0, 4], [1, 5], [2, 6], [3, 7]]),
}


@pytest.mark.parametrize("options, call, expected", VMAPS.values(), ids=VMAPS.keys())
def test_vmap(options, call, expected):
    result = eval(call, {"f": ag.vmap(scaled, **options), "XS": XS, "TABLE": TABLE})
    assert result.tolist() == expected


def test_vmap_maps_trees_by_prefix():
    params = {"w": TABLE, "b": 1.0}
    f = ag.vmap(lambda params, x: (params["w"] * x).sum() + params["b"], {"params": {"w": 0, "b": None}, "x": None})
    assert f(x=2.0, params=params).tolist() == [13, 45]


def test_vmap_leaves_alone_what_is_not_mapped():
    f = ag.vmap(lambda x, method, *, options: x if method == "same" and options == {"a": "b"} else -x, {"x": 0})
    assert f(XS, "same", options={"a": "b"}).tolist() == XS.tolist()


def test_vmap_of_a_tree_that_is_none():
    f = ag.vmap(lambda x, extra=None: x if extra is None else x + extra["a"], {"x": 0, "extra": {"a": 0}})
    assert f(XS).tolist() == f(XS, None).tolist() == [0, 1, 2, 3]
    assert f(XS, extra={"a": XS}).tolist() == [0, 2, 4, 6]


def test_vmap_as_a_decorator():
    @ag.vmap
    def root(a, tolerance=1e-6):
        x = a
        while abs(x * x - a) > tolerance:
            x = 0.5 * (x + a / x)
        return x

    assert np.allclose(root(jnp.array([1.0, 4.0, 9.0])), [1, 2, 3])

    class Model:
        weight = 2.0

        @ag.vmap(in_axes={"x": 0})
        def at(self, x, y=1.0):
            return self.weight * x * y

    assert Model().at(XS, y=2.0).tolist() == [0, 4, 8, 12]


def test_the_axis_has_a_name():
    assert ag.vmap(lambda x: x - jax.lax.pmean(x, "i"), axis_name="i")(XS).tolist() == [-1.5, -0.5, 0.5, 1.5]


def test_a_wrong_size_names_the_argument():
    with pytest.raises(ValueError, match="axis 0 of argument scale of type"):
        ag.vmap(scaled)(XS, scale=jnp.ones(3))


# ------------------------------------------------------------------ results by name

RESULTS = {
    "a dict": (lambda x: {"a": x, "b": jnp.stack([x, x])}, {"b": 1}, {"a": (4,), "b": (2, 4)}),
    "a dict, all of it": (lambda x: {"a": x, "b": jnp.stack([x, x])}, {"a": 0, "b": 1}, {"a": (4,), "b": (2, 4)}),
    "a NamedTuple": (lambda x: Pair(x, jnp.stack([x, x])), {"high": 1}, Pair((4,), (2, 4))),
    "a dataclass": (lambda x: Result(x, 1.0), {"total": None}, Result((4,), ())),
    "a tree inside": (lambda x: Pair((x, jnp.ones(3)), x), {"low": (0, 1)}, Pair(((4,), (3, 4)), (4,))),
    "one for all": (lambda x: Pair(jnp.stack([x, x]), jnp.ones(3)), 1, Pair((2, 4), (3, 4))),
    "a prefix": (lambda x: (x, jnp.ones(3)), (0, None), ((4,), (3,))),
}


@pytest.mark.parametrize("function, out_axes, expected", RESULTS.values(), ids=RESULTS.keys())
def test_out_axes(function, out_axes, expected):
    assert jax.tree.map(jnp.shape, ag.vmap(function, out_axes=out_axes)(XS)) == expected


def test_a_result_without_the_name():
    with pytest.raises(ArgumentError) as caught:
        ag.vmap(lambda x: Pair(x, x), out_axes={"mean": None})(XS)
    assert caught.value.what == "`out_axes='mean'`: the result of `<lambda>` has no part `mean`"
    assert caught.value.details == ("Its parts are 'low', 'high'.",)
    with pytest.raises(ArgumentError, match="It has no parts with names"):
        ag.vmap(lambda x: x, out_axes={"mean": None})(XS)


# ------------------------------------------------------------------ pmap and shard_map, on one device and on four


def test_pmap():
    f = ag.pmap(scaled, in_axes={"x": 0}, static_broadcasted_argnames="scale", donate_argnums=0)
    x = jnp.array([2.0])
    assert f(x, scale=3.0).tolist() == [60] and x.is_deleted()
    assert "module" in f.lower(scale=3.0, x=jnp.array([2.0])).as_text()
    g = ag.pmap(lambda x, y: Pair(x, y), in_axes=(0, None), out_axes={"high": None})
    assert jax.tree.map(jnp.shape, g(x=jnp.ones((1, 2)), y=1.0)) == Pair((1, 2), ())


def test_shard_map():
    f = ag.shard_map(scaled, mesh=MESH, in_specs={"y": P("i")}, out_specs=P("i"))
    assert jax.jit(f)(2.0, y=XS, k=1.0).tolist() == [1, 21, 41, 61]
    assert jax.grad(lambda s: f(2.0, scale=s, y=XS).sum())(1.0) == 120
    g = ag.shard_map(lambda x, y=2.0: Pair(x, y), mesh=MESH, in_specs=P("i"), out_specs={"low": P("i")})
    assert jax.tree.map(jnp.shape, g(XS)) == Pair((4,), ())


def test_shard_map_infers_specs():
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Explicit,))
    with jax.set_mesh(mesh):
        xs = jax.reshard(XS, P("i"))
        assert ag.shard_map(lambda x, *, k: k * x, out_specs=P("i"))(xs, k=2.0).tolist() == [0, 2, 4, 6]


def test_a_tuple_of_specs_says_something_of_each_argument():
    f = ag.shard_map(scaled, mesh=MESH, in_specs=(P("i"),), out_specs=P("i"))
    with pytest.raises(ArgumentError) as caught:
        f(XS, scale=2.0)
    assert caught.value.what == "`in_specs` says nothing of `scale` of `scaled`"
    assert caught.value.help == "give it an entry, or give entries by name: `in_specs={'scale': ...}`"


MANY_DEVICES = """
import jax, jax.numpy as jnp
import autograph_jax as ag

P = jax.P
mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
xs = jnp.arange(8.0)

@ag.shard_map(mesh=mesh, in_specs={"x": P("i")}, out_specs=P("i"))
def halve(x, *, steps=1, weight):
    for _ in range(steps):
        x = x / 2
    return x * weight.sum()

assert halve(weight=xs, x=xs).tolist() == (xs / 2 * 28).tolist()

@ag.pmap(axis_name="i", in_axes={"x": 0}, static_broadcasted_argnames="n", out_axes={"total": None})
def summed(x, *, n, shift=1.0):
    return {"total": jax.lax.psum(x, "i"), "own": x * n + shift}

out = summed(n=3, x=jnp.arange(4.0))
assert out["total"] == 6 and out["own"].tolist() == [1, 4, 7, 10]

sharded = jax.sharding.NamedSharding(mesh, P("i"))
f = ag.jit(lambda x, *, y: (x, y), in_shardings={"y": sharded})
assert f(xs, y=xs)[1].sharding == sharded
g = ag.jit(lambda x, n, y: (x, y), static_argnums=1, in_shardings=(None, sharded))
assert g(xs, y=xs, n=2)[1].sharding == sharded

whole = jax.sharding.NamedSharding(mesh, P())
params = {"w": xs, "layers": [xs, {"b": xs}]}

def first_and_all(params, x, *rest, **more):
    return params["w"], {"params": params, "x": x, "rest": rest, "more": more}

def shardings(tree):
    return [leaf.sharding for leaf in jax.tree.leaves(tree)]

prefixes = [  # what is said of the arguments by name, and of `layers[0]`, `layers[1]`, w, x, `rest`, `more`
    ({"params": sharded}, [sharded, sharded, sharded, None, None, None]),
    ({"params": {"w": whole, "layers": sharded}}, [sharded, sharded, whole, None, None, None]),
    ({"params": {"w": None, "layers": [whole, {"b": sharded}]}, 1: sharded}, [whole, sharded, None, sharded, None, None]),
    ({"rest": sharded, "x": whole}, [None, None, None, whole, sharded, None]),
    ({"more": {"k": sharded}}, [None, None, None, None, None, sharded]),
    ({"k": sharded, "params": whole}, [whole, whole, whole, None, None, sharded]),
    ({2: sharded}, [None, None, None, None, sharded, None]),
]
for said, wanted in prefixes:
    h = ag.jit(first_and_all, in_shardings=said)
    _, out = h(params, xs, xs, k=xs)
    found = shardings([out["params"]["layers"], out["params"]["w"], out["x"], out["rest"], out["more"]])
    for one, other in zip(found, wanted, strict=True):
        assert other is None or one.is_equivalent_to(other, 1), (said, found)

results = [  # a prefix of the result, and of w, `more`, `layers[0]`, `layers[1]`, w, `rest`, x
    (sharded, [sharded] * 7),
    ((whole, sharded), [whole] + [sharded] * 6),
    ((sharded, {"params": {"w": whole, "layers": sharded}, "x": whole, "rest": sharded, "more": whole}),
     [sharded, whole, sharded, sharded, whole, sharded, whole]),
]
for said, wanted in results:
    out = ag.jit(first_and_all, out_shardings=said, in_shardings={"x": whole})(params, x=xs, k=xs) if False else \
        ag.jit(first_and_all, out_shardings=said, in_shardings={"x": whole})(params, xs, xs, k=xs)
    for one, other in zip(shardings(out), wanted, strict=True):
        assert one.is_equivalent_to(other, 1), (said, shardings(out))
print("done")
"""


def test_on_four_devices(tmp_path):
    program = tmp_path / "devices.py"
    program.write_text(MANY_DEVICES)
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    root = Path(__file__).parents[2]
    environment["PYTHONPATH"] = os.pathsep.join([str(root), environment.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment)
    assert done.stdout == "done\n", done.stderr


# ------------------------------------------------------------------ errors

WRONG = {
    "unknown": ({"tool": 0}, "`{}='tool'`: `solve` has no parameter `tool`", "did you mean `tol`?"),
    "too many": ((0, 0, 0, 0), "`{}=3`: `solve` has 3 parameters", "count from 0 to 2, or from -1 to -3"),
    "twice": ({"x": 0, -3: 0}, "`{}=-3`: `x` of `solve` is meant twice", "give it once"),
}
MAPPING: dict[str, Any] = {
    "vmap": ("in_axes", ag.vmap),
    "pmap": ("in_axes", ag.pmap),
    "shard_map": ("in_specs", lambda f, in_specs: ag.shard_map(f, mesh=MESH, in_specs=in_specs, out_specs=P())),
    "jit": ("in_shardings", ag.jit),
}


def solve(x, n=3, *, tol=1e-6):
    return x


@pytest.mark.parametrize("given, what, help", WRONG.values(), ids=WRONG.keys())
@pytest.mark.parametrize("option, transform", MAPPING.values(), ids=MAPPING.keys())
def test_wrong_entries_are_refused_at_once(option, transform, given, what, help):
    with pytest.raises(ArgumentError) as caught:
        transform(solve, **{option: given})
    assert (caught.value.what, caught.value.help) == (what.format(option), help)
    assert caught.value.location is not None and caught.value.location.filename == __file__


def test_pmap_checks_what_is_static_and_donated():
    with pytest.raises(ArgumentError, match="`static_broadcasted_argnums=4`: `solve` has 3 parameters"):
        ag.pmap(solve, static_broadcasted_argnums=4)
    with pytest.raises(ArgumentError, match="`n` of `solve` is both static and donated"):
        ag.pmap(solve, static_broadcasted_argnums=1, donate_argnames="n")
    with pytest.raises(ArgumentError, match="`n` of `solve` is both static and mapped"):
        ag.pmap(solve, static_broadcasted_argnums=1, in_axes={"x": 0, "n": 0})
    ag.pmap(solve, static_broadcasted_argnums=1, in_axes={"x": 0, "n": None})


def test_each_lane_gives_the_list_that_it_has_chosen():
    def chosen(x, k):
        rows = [[4.0, 1.0], [5.0, x], [x, 2.0]]
        tables = {"a": {"n": 1.0, "v": x}, "b": {"n": x, "v": 3.0}}
        return rows[k], max([[x, 1.0], [2.0, 3.0]], key=sum), tables["a" if k > 0 else "b"]

    found = ag.vmap(chosen)(jnp.arange(3.0), jnp.array([0, 2, 1]))
    np.testing.assert_array_equal(found[0], [[4.0, 1.0, 5.0], [1.0, 2.0, 2.0]])
    np.testing.assert_array_equal(found[1], [[2.0, 2.0, 2.0], [3.0, 3.0, 3.0]])
    np.testing.assert_array_equal(found[2]["n"], [0.0, 1.0, 1.0])
