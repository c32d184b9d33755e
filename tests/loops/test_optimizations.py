"""What loops are compiled with changes no result: with all of it, with each alone, and with nothing; and the switch."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph_jax as ag
from autograph_jax.loops import optimizations
from autograph_jax.loops.optimizations import ALL, NONE, Choosing, ChoosingName, ChoosingPair
from tests.platforms import needs_cpu

X = np.random.default_rng(0).normal(size=9)


def newton(a):
    x, turns = a, 0
    while abs(x * x - a) > 1e-3 and turns < 50:
        x, turns = 0.5 * (x + a / x), turns + 1
    return x, turns


def collatz(n):
    turns = 0
    while n != 1 and turns < 500:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        turns += 1
    return turns


def thomas(x):
    c, d = jnp.zeros(len(x)), jnp.zeros(len(x))
    c[0], d[0] = 0.1, x[0]
    for i in range(1, len(x)):
        m = 4.0 - 0.5 * c[i - 1]
        c[i] = 0.7 / m
        d[i] = (x[i] - 0.5 * d[i - 1]) / m
    return c, d


def nested(x):
    total = 0.0
    for i in range(len(x)):
        j = i
        while j > 0 and x[j] > -0.5:
            total, j = total + x[j] * x[i], j - 1
        for k in range(3):
            total = total * 0.5 + k
    return total


def never(x):
    while x < -1e9:
        x = jnp.sin(x)
    for i in range(0):
        x = x + i
    return x


def booleans(x):
    seen = jnp.zeros(len(x), bool)
    for i in range(len(x)):
        seen[i] = not seen[i - 1] or x[i] > 0
    return seen


def spiral(z):
    turns = 0
    while abs(z) < 10 and turns < 40:
        z, turns = z * (1.1 + 0.3j), turns + 1
    return z, turns


def halves(x):
    y = x.astype(jnp.bfloat16)
    for _ in range(5):
        y = y * jnp.bfloat16(1.5) + jnp.bfloat16(0.25)
    return y


def printing(x):
    for i in range(3):
        jax.debug.callback(lambda _: None, x)
        x = x * 2 + i
    return x


def until_left(x):
    for i in range(len(x)):
        if x[i] > 1:
            return x[i] * i
    return x[0]


def remainders(n):
    total = 0
    for i in range(-7, 8):
        total = total * 3 + (n + i) // 8 + (n - i) % 16 + i // 2 + i % 4
    return total


def keys(x):
    key = jax.random.key(3)
    for _ in range(4):
        key, use = jax.random.split(key)
        x = x + jax.random.uniform(use)
    return x


PROGRAMS = {
    "newton": (newton, (2.0,)),
    "collatz": (collatz, (27,)),
    "thomas": (thomas, (X,)),
    "nested": (nested, (X,)),
    "no turn": (never, (2.0,)),
    "booleans": (booleans, (X,)),
    "complex": (spiral, (np.complex64(0.3 + 0.4j),)),
    "bfloat16": (halves, (np.float32(1.3),)),
    "a call of Python": (printing, (1.5,)),
    "left early": (until_left, (X,)),
    "integers": (remainders, (12345,)),
    "keys": (keys, (0.5,)),
}
NAMES = sorted(optimizations.ALL)


def results(function, args, optimize):
    return jax.tree.map(np.asarray, jax.jit(ag.autograph(function, optimize=optimize))(*args))


def assert_same(ours, theirs):
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b, strict=True), ours, theirs)


@pytest.mark.parametrize("wide", [False, True], ids=["32 bits", "64 bits"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_the_same_to_the_bit(name, wide):
    function, args = PROGRAMS[name]
    with jax.enable_x64(wide):
        plain = results(function, args, False)
        assert_same(results(function, args, True), plain)
        for one in NAMES:
            assert_same(results(function, args, one), plain)


def lanes(args):
    return jax.tree.map(
        lambda a: jnp.stack([jnp.asarray(a)] * 5) + jnp.arange(5).astype(jnp.asarray(a).dtype).reshape(5, *[1] * np.ndim(a)),
        args,
    )


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "a call of Python"])
def test_so_are_those_of_lanes(name, x64):
    function, args = PROGRAMS[name]
    ours, theirs = [jax.jit(jax.vmap(ag.autograph(function, optimize=o)))(*lanes(args)) for o in (True, False)]
    assert_same(ours, theirs)


@pytest.mark.parametrize("name", ["newton", "thomas", "nested", "left early", "keys"])
def test_derivatives_agree(name, x64):
    """XLA may round `a * b + c` once in the one program and twice in the other."""
    function, (x,) = PROGRAMS[name]
    for transform in (jax.grad, lambda f: lambda x: jax.jvp(f, (x,), (x,)), jax.hessian):
        ours, theirs = [
            jax.jit(transform(lambda x, o=o: sum(map(jnp.sum, jax.tree.leaves(ag.autograph(function, optimize=o)(x))))))(
                jnp.asarray(x)
            )
            for o in (True, False)
        ]
        jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-13), ours, theirs)


# The switch


def text(function, *args):
    return jax.jit(function).lower(*args).as_text()


@needs_cpu
def test_it_can_be_switched_off(monkeypatch):
    one = lambda optimize: text(ag.autograph(collatz, optimize=optimize), 27)
    assert "small_call" in one(True) and "shift_right" in one(True)
    assert "small_call" not in one("shifts") and "shift_right" in one("shifts")
    assert "shift_right" not in one(False) and "shift_right" not in one(["kernel", "selects"])
    monkeypatch.setenv("AUTOGRAPH_JAX_OPTIMIZE", "kernel, ranges")
    assert "shift_right" not in one(True)
    monkeypatch.setenv("AUTOGRAPH_JAX_OPTIMIZE", "0")
    assert one(True) == one(False)


def test_a_callee_decides_for_itself():
    inner = ag.autograph(collatz, optimize=False)

    @ag.autograph
    def outer(x):
        for _ in range(3):
            x = x + inner(x)
        return x

    assert "shift_right" not in text(outer, 5)
    assert "shift_right" in text(ag.autograph(lambda x: collatz(x)), 5)


@pytest.mark.parametrize("given", ["kernels", ["kernel", "fast"], 3])
def test_what_is_not_there_is_refused(given):
    unknown = {"kernels": "'kernels'", 3: "3"}.get(given, "'fast'") if not isinstance(given, list) else "'fast'"
    with pytest.raises(ValueError) as raised:
        ag.autograph(newton, optimize=given)
    names = (
        "blocks, extremes, factors, folds, forwarding, halos, kernel, products, ranges, rows, selects, shifts, sorts, unroll"
    )
    assert str(raised.value) == f"optimize is True, False, or names out of {names}; got {unknown}"


def test_the_environment_is_read_with_care(monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_JAX_OPTIMIZE", "fast")
    with pytest.raises(ValueError, match="^AUTOGRAPH_JAX_OPTIMIZE: optimize is True"):
        jax.jit(ag.autograph(newton))(2.0)


def test_what_was_chosen_comes_through_transforms():
    f = ag.autograph(lambda x: thomas(x)[1].sum(), optimize=["kernel"])
    for transform in (jax.grad, jax.vmap, jax.hessian, jax.checkpoint, lambda f: jax.vmap(jax.grad(f))):
        shape = (2, 9) if transform is jax.vmap or transform not in (jax.grad, jax.hessian, jax.checkpoint) else (9,)
        found = scans(jax.make_jaxpr(transform(f))(jnp.ones(shape)).jaxpr)
        assert found and all(isinstance(u, Choosing) and u.chosen == {"kernel"} for u in found)


def scans(jaxpr):
    from autograph_jax.loops.evaluation import programs_of

    found = [e.params["unroll"] for e in jaxpr.eqns if e.primitive.name == "scan"]
    return found + [u for e in jaxpr.eqns for inner in programs_of(e.params) for u in scans(inner)]


def test_other_scans_are_lowered_by_jax():
    step = lambda c, x: (c * 0.5 + x, c)
    assert "kernel" not in jax.jit(lambda x: lax.scan(step, 0.0, x)).lower(jnp.ones(99)).as_text()


def test_checked_programs_have_plain_scans():
    with jax.enable_checks(True):
        np.testing.assert_allclose(jax.jit(ag.autograph(nested))(X), nested(np.asarray(X)), rtol=1e-4)


@needs_cpu
def test_exported_programs_have_no_kernels():
    from jax import export

    f = jax.jit(ag.autograph(collatz))
    assert "small_call" in f.lower(27).as_text()
    assert "small_call" not in export.export(f)(27).mlir_module()


@pytest.mark.parametrize(
    ("kind", "value", "other"), [(Choosing, 3, 4), (ChoosingPair, (1, 2), (1, 3)), (ChoosingName, "f", "g")]
)
def test_a_value_with_a_choice_is_equal_to_one_without(kind: Any, value: Any, other: Any):
    made, again, without = kind(value, ALL), kind(value, ALL), kind(value, NONE)
    assert made == value and value == made and not made != value
    assert made == again and hash(made) == hash(again)
    assert made != without and not made == without
    assert made != other and made != None and made != object()  # noqa: E711 - what it is compared with


@needs_cpu
def test_jit_takes_the_option():
    lowered = [ag.jit(collatz, optimize=o).lower(27).as_text() for o in (True, False, ["shifts"])]
    assert ["small_call" in text for text in lowered] == [True, False, False]
    assert ["shift_right" in text for text in lowered] == [True, False, True]
