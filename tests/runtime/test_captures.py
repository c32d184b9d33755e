"""What a function closes over: a changed value is seen by the next call, an equal one compiles nothing."""

import dataclasses
import functools
import types
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.errors import ArgumentError, CaptureError
from autograph_jax.runtime.reads import reads_of


class Counted:
    """Counts how often its `jit` traces."""

    def __init__(self):
        self.count = 0

    def up(self):
        self.count += 1


g = 2.0
table = np.array([1.0, 2.0])
settings = types.SimpleNamespace(gain=2.0, inner=types.SimpleNamespace(offset=1.0))


def scale(x):
    return x * g


def turn(x, _):
    return x * g, None


@pytest.fixture(autouse=True)
def _globals_are_left_as_found():
    before = g, table.copy(), settings.gain, settings.inner.offset
    yield
    globals()["g"], table[:], settings.gain, settings.inner.offset = before


def give(value: Any) -> None:
    globals()["g"] = value


# ------------------------------------------------------------------ the question that this began with

DATA = [(jnp.array([1.0, 2.0]), jnp.array([2.0, 4.0]))] * 2


def loss(w, x, y):
    return jnp.mean((w * x - y) ** 2)


def fit_with_closure(w, rates):
    """The learning rate is a variable around the compiled step."""
    rate = rates[0]

    @ag.jit
    def step(w, x, y):
        return w - rate * jax.grad(loss)(w, x, y)

    path = []
    for x, y in DATA:
        for rate in rates:
            w = step(w, x, y)
            path.append(float(w))
    return path


def fit_with_argument(w, rates):
    """The learning rate is an argument."""

    @ag.jit
    def step(w, x, y, rate):
        return w - rate * jax.grad(loss)(w, x, y)

    path = []
    for x, y in DATA:
        for rate in rates:
            w = step(w, x, y, rate)
            path.append(float(w))
    return path


def fit_in_python(w, rates):
    path = []
    for x, y in DATA:
        for rate in rates:
            w = w - rate * jax.grad(loss)(w, x, y)
            path.append(float(w))
    return path


@pytest.mark.parametrize("fit", [fit_with_closure, fit_with_argument])
def test_a_learning_rate_that_changes(fit):
    assert fit(0.0, (0.1, 0.01)) == pytest.approx(fit_in_python(0.0, (0.1, 0.01)))


# ------------------------------------------------------------------ what is seen, and what costs a program


def around(value):
    """A function of a captured value, and what sets it."""

    def f(x):
        counted.up()
        return read(value) * x

    def put(new):
        nonlocal value
        value = new

    counted = Counted()
    return f, put, counted


def read(value):
    """The number in a value."""
    if callable(value):
        return value(1.0)
    if isinstance(value, tuple):
        return read(value[0])
    return value


CHANGES = {
    "a float": (0.1, 0.2, 0.1),
    "an int and a bool": (1, True, 1),
    "0.0 and -0.0": (0.0, -0.0, 0.0),
    "None to a number": (2, 3.0, 2),
    "a tuple": ((1.0, "a"), (2.0, "a"), (1.0, "a")),
    "typed in a tuple": ((1,), (True,), (1,)),
    "a function": (jnp.sin, jnp.cos, jnp.sin),
    "a lambda with a default": (lambda x, k=2: k * x, lambda x, k=3: k * x, lambda x, k=2: k * x),
    "a partial": (functools.partial(jnp.multiply, 2.0), functools.partial(jnp.multiply, 3.0), None),
    "an array": (jnp.ones(2), jnp.zeros(2), None),
    "a NumPy array": (np.ones(2), np.zeros(2), np.ones(2)),
}


@pytest.mark.parametrize("first, second, again", CHANGES.values(), ids=CHANGES.keys())
def test_a_variable_around(first, second, again):
    f, put, counted = around(first)
    step = ag.jit(f)
    for value, count in [(first, 1), (first, 1), (second, 2), (first if again is None else again, 2)]:
        put(value)
        result = step(3.0)
        assert str(result) == str(jnp.asarray(read(value) * 3.0))
        assert counted.count == count or isinstance(first, types.FunctionType) and counted.count == count + (count == 2)


PLACES = {
    "a global": lambda x: x * g,
    "in a callee": lambda x: scale(x),
    "in a nested function": lambda x: [x * g for _ in range(1)][0],
    "scan": lambda x: jax.lax.scan(turn, x, length=1)[0],
    "cond": lambda x: jax.lax.cond(x > 0, scale, lambda x: x, x),
    "while": lambda x: jax.lax.while_loop(lambda x: x < 1.5, scale, x),
    "jax.checkpoint": lambda x: jax.checkpoint(scale)(x),
    "ag.checkpoint": lambda x: checkpointed(x),
    "an inner ag.jit": lambda x: compiled(x),
    "an inner jax.jit": lambda x: jax.jit(scale)(x),
    "a jax.jit of the module": lambda x: jitted(x),
    "a jax.checkpoint of the module": lambda x: rematerialized(x),
    "switch": lambda x: jax.lax.switch(0, [scale, scale], x),
    "fori_loop": lambda x: jax.lax.fori_loop(0, 1, multiply, x),
    "map": lambda x: jax.lax.map(scale, x[None])[0],
    "associative_scan": lambda x: jax.lax.associative_scan(combine, jnp.stack([0 * x, x]))[1],
    "custom_root": lambda x: jax.lax.custom_root(residual, x, solve, tangent_solve),
    "custom_linear_solve": lambda x: jax.lax.custom_linear_solve(divide, x, linear_solve),
    "a callable object": lambda x: jax.lax.scan(turner, x, length=1)[0],
    "a method": lambda x: jax.lax.scan(turner.turn, x, length=1)[0],
    "a partial": lambda x: jax.lax.fori_loop(0, 1, functools.partial(multiply), x),
    "grad": lambda x: x * jax.grad(scale)(x),
    "linearize": lambda x: jax.linearize(scale, x)[0],
    "a custom rule": lambda x: with_rule(x),
    "a custom rule of jax's": lambda x: with_rule_of_jax(x),
    "vmap": lambda x: jax.vmap(scale)(jnp.stack([x, x]))[0],
    "a converted branch": lambda x: scale(x) if x > 0 else x,
}
checkpointed, compiled = ag.checkpoint(scale), ag.jit(scale)
jitted, rematerialized = jax.jit(scale), jax.checkpoint(scale)
with_rule, with_rule_of_jax = ag.custom_jvp(scale), jax.custom_jvp(scale)
for custom in (with_rule, with_rule_of_jax):
    custom.defjvp(lambda primals, tangents: (scale(*primals), scale(*tangents)))


def multiply(i, x):
    return x * g


def combine(a, b):
    return a + b * g


def residual(y):
    return y - g


def solve(f, y):
    return y - f(y)


def tangent_solve(f, y):
    return y / f(jnp.ones(()))


def divide(y):
    return y / g


def linear_solve(matvec, b):
    return b / matvec(jnp.ones_like(b))


class Turner:
    def turn(self, x, _):
        return x * g, None

    __call__ = turn


turner = Turner()


@pytest.mark.parametrize("f", PLACES.values(), ids=PLACES.keys())
def test_a_global_that_changes_reaches_every_place(f):
    step = ag.jit(f)
    for value in (2.0, 3.0, 2.0, 5.0):
        give(value)
        assert step(1.0) == value
    if f is not PLACES["custom_root"]:  # which is for one of them
        assert ag.jit(jax.vmap(step))(jnp.ones(2)).tolist() == [5.0, 5.0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("f", PLACES.values(), ids=PLACES.keys())
def test_an_array_that_is_written(f, dtype):
    """JAX keeps what it has made of an array of NumPy's, by its identity, as long as any program has it as a constant."""
    array = np.array(2, dtype)
    give(array)
    step, other, one = ag.jit(f), ag.jit(lambda x: x - 2 * g), jnp.float32(1)
    for value in (2, 3, 2, 5):
        array[...] = value
        assert step(one) == value
        assert other(one) == 1 - 2 * value
        assert ag.jit(lambda x: x + g)(one) == 1 + value  # traced anew


@pytest.mark.parametrize("call", ["jitted", "rematerialized", "with_rule_of_jax"])
@pytest.mark.parametrize("kind", [float, np.float32, np.array])
def test_another_function_has_called_it_before(call, kind):
    """JAX keeps what a function of the module was, whoever calls it first: another compiled function, or plain Python."""
    first, second = (ag.jit(eval(f"lambda x: {call}(x) + {n}", globals())) for n in (1, 2))
    give(kind(2.0))
    assert globals()[call](1.0) == 2.0
    assert first(1.0) == 3.0
    give(kind(5.0))
    assert second(1.0) == 7.0
    assert first(1.0) == 6.0


class Calling:
    def step(self, x, k=1.0):
        return jitted(x) * k

    __call__ = step


@pytest.mark.parametrize("make", [Calling, lambda: Calling().step, lambda: functools.partial(Calling().step, k=1.0)])
def test_a_jax_jit_that_methods_partials_and_objects_call(make):
    step = ag.jit(make())
    for value in (2.0, 3.0, 2.0, 5.0):
        give(value)
        assert step(1.0) == value
    give(3.0)
    assert step(jnp.ones(2)).tolist() == [3.0, 3.0]


OUTER = {
    "vmap": lambda f: lambda x: ag.vmap(f)(x[None])[0],
    "value_and_grad": lambda f: lambda x: ag.value_and_grad(f)(x)[0],
    "jvp": lambda f: lambda x: ag.jvp(f, (x,), (x,))[0],
    "vjp": lambda f: lambda x: ag.vjp(f, x)[0],
    "linearize": lambda f: lambda x: ag.linearize(f, x)[0],
    "checkpoint": lambda f: ag.checkpoint(f),
    "make_jaxpr": lambda f: (lambda made: lambda x: jax.core.eval_jaxpr(made(x).jaxpr, made(x).consts, x)[0])(ag.make_jaxpr(f)),
    "closure_convert": lambda f: lambda x: ag.closure_convert(f, x)[0](x),
    "pmap": lambda f: (lambda made: lambda x: made(x[None])[0])(ag.pmap(f)),
    "shard_map": lambda f: ag.shard_map(f, mesh=MESH, in_specs=jax.P(), out_specs=jax.P()),
    "jit": lambda f: ag.jit(f),
    "argument": lambda f: ag.jit(f, captures="argument"),
    "lower": lambda f: (lambda made: lambda x: made.lower(x).compile()(x))(ag.jit(f)),
}
MESH = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))


@pytest.mark.parametrize("transform", OUTER.values(), ids=OUTER.keys())
@pytest.mark.parametrize("place", ["a global", "in a callee", "scan", "cond", "jax.checkpoint"])
def test_every_transform_sees_a_global_that_changes(transform, place):
    f = transform(PLACES[place])
    for value in (2.0, 3.0, 2.0, 5.0):
        give(value)
        assert f(jnp.ones(())) == value


def test_scan_with_a_body_of_the_module():
    """18.0, not 2.0: both the outer program and the body of the scan are of the new value."""
    step = ag.jit(lambda x: jax.lax.scan(turn, x, length=2)[0] * 2.0)
    assert step(1.0) == 8.0
    give(3.0)
    assert step(1.0) == 18.0


def test_scan_in_a_function_that_stays_as_it_is():
    step = ag.jit(ag.do_not_convert(lambda x: jax.lax.scan(turn, x, length=2)[0] * 2.0))
    assert step(1.0) == 8.0
    give(3.0)
    assert step(1.0) == 18.0


class Model:
    rate = 0.5

    def __init__(self):
        self.gain, self.unused = 2.0, 1.0

    @property
    def doubled(self):
        return 2 * self.gain

    def weight(self):
        return self.gain

    def step(self, x):
        return self.weight() * x

    def __call__(self, x):
        return self.gain * x


model = Model()


class Derived(Model):
    def step(self, x):
        return super().step(x)

    def call_itself(self, x):
        return self(x)

    def hand_itself_on(self, x):
        return read_gain(self, x)


def read_gain(target, x):
    return target.gain * x


derived, default_table = Derived(), np.array([2.0, 1.0])


class Shared:
    """Values of a class, and what reads them."""

    gain = 2.0

    def __init__(self, x):
        self.x = Shared.gain * x

    def scaled(self):
        return self.gain * self.x / Shared.gain

    @classmethod
    def of_class(cls, x):
        return cls.gain * x

    @staticmethod
    def of_nobody(x):
        return model.gain * x


class BelowShared(Shared):
    pass


def with_default(x, read=read_gain, target=model):
    return read(target, x)


ATTRIBUTES = {
    "an attribute": lambda x: model.gain * x,
    "a property": lambda x: model.doubled / 2 * x,
    "a method": lambda x: model.step(x),
    "an object that is called": lambda x: model(x),
    "an attribute of an attribute": lambda x: settings.inner.offset * x,
    "an object that is handed on": lambda x: read_gain(model, x),
    "an object of another name": lambda x: [other.gain * x for other in (model,)][0],
    "a method of the class above": lambda x: derived.step(x),
    "an object that calls itself": lambda x: derived.call_itself(x),
    "an object that hands itself on": lambda x: derived.hand_itself_on(x),
    "a default": lambda x, target=model: target.gain * x,
    "a keyword-only default": lambda x, *, target=model: target.gain * x,
    "a function as a default": lambda x, read=lambda x: model.gain * x: read(x),
    "defaults of a callee": lambda x: with_default(x),
    "a class": lambda x: Shared.gain * x,
    "a class above": lambda x: BelowShared.gain * x,
    "a class in a branch": lambda x: Shared.gain * x if x > 0 else x,
    "a class that is made": lambda x: Shared(x).x,
    "a method of what is made": lambda x: Shared(x).scaled(),
    "a class that is handed on": lambda x: read_gain(Shared, x),
    "a classmethod": lambda x: Shared.of_class(x),
    "a classmethod below": lambda x: BelowShared.of_class(x),
    "a classmethod of an object": lambda x: derived_shared.of_class(x),
    "a staticmethod": lambda x: Shared.of_nobody(x),
    "a staticmethod of an object": lambda x: derived_shared.of_nobody(x),
}
derived_shared = BelowShared(1.0)


@pytest.mark.parametrize("f", ATTRIBUTES.values(), ids=ATTRIBUTES.keys())
def test_attributes(f):
    counted = Counted()

    def counting(x):
        counted.up()
        return f(x)

    step = ag.jit(counting)
    for value in (2.0, 3.0, 2.0):
        model.gain = derived.gain = settings.inner.offset = Shared.gain = value
        model.unused += 1.0
        assert step(1.0) == value
    assert counted.count == 2


class Operated:
    """Each of its operators reads an attribute, and one that counts how often it is used."""

    def __init__(self):
        self.rate, self.used = 2.0, 0

    def value(self, *_):
        return self.rate

    def entered(self):
        self.used += 1
        return self.rate

    __add__ = __rmul__ = __getitem__ = __neg__ = __lt__ = __pow__ = __abs__ = value
    __enter__ = entered

    def __exit__(self, *_):
        self.used += 1

    def __iter__(self):
        return iter([self.rate])

    def __contains__(self, x):
        return self.rate > 2

    def __len__(self):
        return int(self.rate)

    def __float__(self):
        return self.rate


operated = Operated()


def used_by_with(x):
    with operated as rate:
        return rate * x


def used_by_a_loop(x):
    for rate in operated:
        x = rate * x
    return x


OPERATORS = {
    "+": lambda x: operated + x,
    "reflected": lambda x: 1.0 * operated * x,
    "[]": lambda x: operated[0] * x,
    "a slice": lambda x: operated[0:1] * x,
    "-": lambda x: -operated * x,
    "<": lambda x: (operated < 3) * x,
    "**": lambda x: operated**2 * x,
    "in": lambda x: 3.0 * x if 1 in operated else 2.0 * x,
    "not in": lambda x: 2.0 * x if 1 not in operated else 3.0 * x,
    "len": lambda x: len(operated) * x,
    "float": lambda x: float(operated) * x,
    "abs": lambda x: abs(operated) * x,
    "sum": lambda x: sum(operated) * x,
    "with": used_by_with,
    "for": used_by_a_loop,
    "a comprehension": lambda x: [rate * x for rate in operated][0],
    "a truth": lambda x: 2.0 * x if emptied else 3.0 * x,
}


class Emptied:
    def __bool__(self):
        return operated.rate == 2


emptied = Emptied()


@pytest.mark.parametrize("f", OPERATORS.values(), ids=OPERATORS.keys())
def test_operators_of_an_object(f):
    counted = Counted()

    def counting(x):
        counted.up()
        return f(x)

    step = ag.jit(counting)
    for value in (2.0, 3.0, 2.0):
        operated.rate = value
        assert step(1.0) == value
    assert counted.count == 2


@dataclasses.dataclass
class Progress:
    rate: float = 2.0
    steps: int = 0


def test_a_dataclass_that_is_not_compared_may_change():
    progress, counted = Progress(), Counted()

    @ag.jit
    def step(x):
        counted.up()
        return progress.rate * x if x.ndim == 0 else x

    for _ in range(3):
        progress.steps += 1
        assert step(1.0) == 2.0
    assert counted.count == 1


DEFAULTS = {
    "an object": lambda x, target=model: target.gain * x,
    "by keyword": lambda x, *, target=model: target.gain * x,
    "a function": lambda x, read=lambda x: model.gain * x: read(x),
    "a class": lambda x, kind=Shared: kind.gain * x,
    "small NumPy arrays": lambda x, values=default_table: values[0] * x,
}


@pytest.mark.parametrize("f", DEFAULTS.values(), ids=DEFAULTS.keys())
def test_defaults_of_what_is_compiled(f):
    for transform in (ag.jit, ag.checkpoint):
        step = transform(f)
        for value in (2.0, 3.0, 2.0):
            model.gain = Shared.gain = default_table[0] = value
            assert step(1.0) == value


def test_bound_methods_and_callable_objects():
    local = Model()
    for step in (ag.jit(local.step), ag.jit(local)):
        for value in (2.0, 3.0, 2.0):
            local.gain = value
            assert step(1.0) == value


class Stepper:
    def __init__(self):
        self.rate, self.total, self.unused, self.traced = 2.0, 0.0, 0, 0

    @ag.jit(static_argnames="self")
    def step(self, x):
        self.traced += 1
        return read_rate(self, x)

    @ag.jit(static_argnums=0)
    def add(self, x):
        self.total = self.total + x
        return self.total

    @ag.jit(static_argnums=0, captures="freeze")
    def frozen(self, x):
        return self.rate * x


def read_rate(target, x):
    return target.rate * x


def test_attributes_of_a_static_object():
    stepper = Stepper()
    for value in (2.0, 3.0, 2.0):
        stepper.rate = value
        stepper.unused += 1
        assert stepper.step(1.0) == value and stepper.frozen(1.0) == 2.0
    assert stepper.traced == 2
    assert stepper.add(1.0) == 1.0
    with pytest.raises(ag.EscapedTracerError, match=r"`Stepper.total` holds a value of a trace that is over"):
        stepper.add(1.0)


STATIC = {
    "a function": lambda: scale,
    "a lambda": lambda: by_a_global,
    "a method": lambda: multiplied.step,
    "a partial": lambda: a_partial,
    "a function in a tuple": lambda: (scale, 1),
    "in a list": lambda: [scale],
    "in a dict": lambda: {"f": scale},
    "an object in a tuple": lambda: (multiplied, 1),
    "an object that is called": lambda: multiplied,
}
by_a_global, a_partial = (lambda x: g * x), functools.partial(multiply, 0)


class Multiplied:
    def __init__(self):
        self.rate = 2.0

    def step(self, x):
        return self.rate * x

    __call__ = step


multiplied = Multiplied()


def apply(f, x):
    """What is static is called, or what it holds first."""
    while not callable(f):
        f = f["f"] if isinstance(f, dict) else f[0]
    return f(x)


STATIC_IN = {
    "jit": lambda counted: ag.jit(counted, static_argnames="f"),
    "checkpoint": lambda counted: ag.checkpoint(counted, static_argnames="f"),
    "pmap": lambda counted: (lambda made: lambda f, x: made(f, jnp.asarray([x]))[0])(
        ag.pmap(counted, static_broadcasted_argnums=0)
    ),
}


@pytest.mark.parametrize("transform", STATIC_IN.values(), ids=STATIC_IN.keys())
@pytest.mark.parametrize("make", STATIC.values(), ids=STATIC.keys())
def test_what_static_functions_and_objects_read(make, transform):
    traced = Counted()

    def counting(f, x):
        traced.up()
        return apply(f, x)

    step = transform(counting)
    for value in (2.0, 3.0, 2.0):
        give(value)
        multiplied.rate = value
        assert step(make(), 1.0) == step(make(), 1.0) == value
    assert traced.count <= 3


def test_a_static_function_that_closes_over_a_traced_value():
    step = ag.jit(lambda f, x: f(x), static_argnums=0)
    assert ag.jit(lambda y: step(lambda x: x * y, 2.0))(3.0) == 6.0
    assert jax.vmap(lambda y: step(lambda x: x * y, 2.0))(jnp.arange(3.0)).tolist() == [0.0, 2.0, 4.0]


def test_numpy_arrays_that_are_changed_in_place():
    step = ag.jit(lambda x: table.sum() * x)
    assert step(1.0) == 3.0
    table[0] = 5.0
    assert step(1.0) == 7.0
    large = np.ones(2000)
    assert [c.compared for c in ag.captures(lambda: large.sum())] == ["by identity, contents not"]


def test_equal_values_share_a_program():
    counted = Counted()

    def count():
        counted.up()

    for _ in range(3):
        k = 2.0
        ag.jit(lambda x: (count(), x * k)[1])(1.0)
    assert counted.count == 1

    def make(k):
        return ag.jit(lambda x: (count(), x * k)[1])

    made = [make(k) for k in (2.5, 2.5, 3.5, 2.5)]
    assert [f(1.0) for f in made] == [2.5, 2.5, 3.5, 2.5] and counted.count == 3
    assert [f(jnp.ones(2)).tolist() for f in made][2] == [3.5, 3.5]


def test_programs_that_are_shared_keep_their_values():
    f, put, _ = around(0.5)
    first = ag.jit(f)
    assert first(1.0) == 0.5
    other, _, _ = around(0.5)
    second = ag.jit(other)
    assert second(1.0) == 0.5
    put(7.0)
    assert second(jnp.ones(2)).tolist() == [0.5, 0.5] and first(jnp.ones(2)).tolist() == [7.0, 7.0]


def test_what_a_function_assigns_is_state():
    calls = 0

    @ag.jit
    def f(x):
        nonlocal calls
        calls += 1
        return x

    assert [f(1.0), f(2.0)] == [1.0, 2.0] and calls == 1


def test_names_that_come_later():
    @ag.jit
    def f(x):
        return later(x)

    later = lambda x: 2 * x
    assert f(1.0) == 2.0
    later = lambda x: 3 * x
    assert f(1.0) == 3.0

    @ag.jit(static_argnames="n")
    def factorial(n, x):
        return x if n == 0 else n * factorial(n - 1, x)

    assert ag.jit(lambda x: factorial(4, x))(1.0) == 24.0


def test_tracers_are_not_kept():
    @jax.jit
    def outer(a):
        total = 0.0
        for k in (a, 2 * a):
            total = total + ag.jit(lambda x: k * x)(1.0)
        return total

    with jax.checking_leaks():
        assert outer(1.0) == 3.0
    assert jax.grad(lambda a: ag.jit(lambda x: a * x)(3.0))(1.0) == 3.0


def test_stages_are_of_the_present_value():
    step = ag.jit(lambda x: x * g)
    for value in (2.0, 3.0):
        give(value)
        assert step.lower(1.0).compile()(1.0) == value
        assert step.trace(1.0).jaxpr.eqns[0].invars[1].val == value
        assert step.eval_shape(1.0).shape == ()
    step.clear_cache()
    assert step(1.0) == 3.0


# ------------------------------------------------------------------ the other ways


def test_freeze_is_as_in_jax():
    step = ag.jit(lambda x: x * g, captures="freeze")
    assert step(1.0) == 2.0
    give(3.0)
    assert step(1.0) == 2.0


def test_warn():
    step = ag.jit(scale, captures="warn")
    assert step(1.0) == 2.0
    give(3.0)
    with pytest.warns(RuntimeWarning, match="`g`, which `scale` closes over, has changed since it was compiled") as caught:
        assert step(1.0) == 3.0
    assert caught[0].filename == __file__


def test_error():
    step = ag.jit(scale, captures="error")
    assert step(1.0) == 2.0
    give(3.0)
    with pytest.raises(CaptureError) as error:
        step(1.0)
    assert error.value.what == "`g`, which `scale` closes over, has changed since it was compiled"
    assert error.value.location is not None and error.value.location.filename == __file__
    give(2.0)
    assert step(1.0) == 2.0


def test_argument():
    counted = Counted()
    rate, weights, shape, kind = 0.5, jnp.ones(3), (3,), "sum"

    def f(x, *, n=2):
        counted.up()
        y = sum(rate * x * weights for _ in range(n)) + g * jnp.zeros(shape)
        return y.sum() if kind == "sum" else y.max()

    step = ag.jit(f, captures="argument", static_argnames="n")
    assert step(1.0) == 3.0
    rate, weights = 2.0, jnp.array([1.0, 2.0, 3.0])
    give(7.0)
    assert step(1.0) == 24.0 and step(1.0, n=2) == 24.0 and counted.count == 1
    weights = np.ones(3, np.float32)
    assert step(1.0) == 12.0
    weights[0] = 4.0
    assert step(1.0) == 24.0
    kind = "max"
    assert step(1.0) == 16.0
    assert step.eval_shape(1.0).shape == ()


def test_argument_has_no_constants_and_takes_tracers():
    large = jnp.arange(5000.0)
    step = ag.jit(lambda x: (x * large).sum(), captures="argument")
    assert step(2.0) == 2.0 * large.sum()
    assert "%arg1: tensor<5000xf32>" in step.lower(2.0).as_text()
    assert "%arg1" not in ag.jit(lambda x: (x * large).sum()).lower(2.0).as_text()

    @jax.jit
    def outer(a):
        return ag.jit(lambda x: a * x, captures="argument")(3.0)

    assert outer(2.0) == 6.0 and jax.grad(outer)(2.0) == 3.0


class Net:
    def __init__(self):
        self.w, self.bias = jnp.arange(3.0), 2.0

    def __call__(self, x):
        return jnp.sum(self.w * x) + self.bias

    def loss(self, x):
        return self(x) ** 2


net = Net()


def deep(x):
    """What callees and objects hold: g, net.w, net.bias."""
    return net.loss(scale(x)) + jax.lax.scan(turn, 1.0, length=2)[0] + jitted(1.0)


def by_hand(x, g, w, bias):
    return (jnp.sum(w * x * g) + bias) ** 2 + g**2 + g


def test_argument_lifts_what_callees_and_objects_hold():
    counted = Counted()

    def f(x):
        counted.up()
        return deep(x)

    step, x = ag.jit(f, captures="argument"), jnp.array([1.0, 2.0, 3.0])
    for value in (2.0, 3.0, 0.5):
        give(value)
        net.w, net.bias = net.w + value, value
        assert step(x) == pytest.approx(float(by_hand(x, g, net.w, net.bias)))
    assert counted.count == 1
    assert isinstance(net.w, jax.Array) and not isinstance(net.w, jax.core.Tracer)


GRADIENTS = {
    "grad": lambda x, names: ag.grad(deep, argnames=names, captures="argument")(x),
    "jit of grad": lambda x, names: ag.jit(ag.grad(deep, argnames=names, captures="argument"))(x),
    "grad of jit": lambda x, names: ag.grad(ag.jit(deep), argnames=names, captures="argument")(x),
    "value_and_grad": lambda x, names: ag.value_and_grad(deep, argnames=names, captures="argument")(x)[1],
    "jacfwd": lambda x, names: ag.jacfwd(deep, argnames=names, captures="argument")(x),
    "jacrev": lambda x, names: ag.jacrev(deep, argnames=names, captures="argument")(x),
    "vjp": lambda x, names: ag.vjp(deep, x, argnames=names, captures="argument")[1](1.0),
    "vmap of grad": lambda x, names: jax.tree.map(
        lambda leaf: leaf[0], ag.vmap(ag.grad(deep, argnames=names, captures="argument"))(x[None])
    ),
}


@pytest.mark.parametrize("gradient", GRADIENTS.values(), ids=GRADIENTS.keys())
def test_gradients_by_captured_names(gradient):
    x, names = jnp.array([1.0, 2.0, 3.0]), ["net.w", "scale.g", "x", "net.bias"]
    for value in (2.0, 3.0):
        give(value)
        net.w, net.bias = jnp.arange(3.0), value
        slopes = jax.grad(by_hand, argnums=(2, 1, 0, 3))(x, g, net.w, net.bias)
        expected = dict(zip(names, slopes, strict=True))
        assert jax.tree.all(jax.tree.map(lambda a, b: jnp.allclose(a, b), gradient(x, names), expected))
        assert jnp.allclose(gradient(x, "net.w"), expected["net.w"])
    assert g == 3.0 and net.bias == 3.0  # what they were, no tracers


def test_gradients_by_what_a_method_and_an_object_hold():
    x, net = jnp.array([1.0, 2.0, 3.0]), Net()
    assert ag.grad(net.loss, argnames="self.bias", captures="argument")(x) == 2 * net(x)
    assert ag.grad(net, argnames="self.w", captures="argument")(x).tolist() == x.tolist()
    hessian = ag.hessian(net.loss, argnames=["self.w"], captures="argument")(x)
    assert jnp.allclose(hessian["self.w"]["self.w"], 2 * jnp.outer(x, x))
    assert ag.linearize(net, x, argnames="self.w", captures="argument")[1](x) == x @ x
    assert ag.jvp(net, (x,), {"self.w": x, "x": x}, captures="argument")[1] == x @ x + net.w @ x


def test_captured_names_that_are_not_there():
    for names, message in {
        "q": "`deep` has no parameter `q`",
        "scale": "`deep` has no parameter `scale`",
        ("net.w", "net.w"): "meant twice",
        (): "this means no argument",
    }.items():
        with pytest.raises(ArgumentError, match=message):
            ag.grad(deep, argnames=names, captures="argument")
    with pytest.raises(ArgumentError, match=r"It closes over .*`net.w`"):
        ag.grad(deep, argnames="q", captures="argument")
    with pytest.raises(ArgumentError, match="captures='retrace'"):
        ag.grad(deep, captures="retrace")  # pyright: ignore


def test_an_unknown_way():
    with pytest.raises(ArgumentError, match="captures='thaw'"):
        ag.jit(scale, captures="thaw")  # pyright: ignore


# ------------------------------------------------------------------ what is closed over


@dataclasses.dataclass
class Settings:
    order: int = 2


def test_the_list():
    def listed(x):
        return helper(x) * settings.gain + table.sum() + np.pi + jnp.sin(x) + len(names) + weights.sum()

    def helper(x):
        return x * g

    names, weights = ["a"], jnp.ones(2)
    assert {c.name: c.compared for c in ag.captures(listed)} == {
        "helper": "by code",
        "helper.g": "by value",
        "settings": "by identity",
        "settings.gain": "by value",
        "table": "by value",
        "names": "by contents",
        "weights": "by identity",
    }
    assert ag.captures(ag.jit(listed)) == ag.captures(ag.autograph(listed)) == ag.captures(listed)
    assert [c.name for c in ag.captures(Model().step)] == ["self.gain"]
    assert ag.captures(lambda x: x + 1) == []


def test_reads():
    def f(self, x):
        nonlocal state
        state = x

        def inner():
            return self.a.b + g + settings.gain + outer.c + x.d

        return inner()

    state, outer = 0, settings
    found = reads_of(f.__code__)
    assert found.free == {"outer": {"c": {}}} and found.own == {"a": {"b": {}}} and found.stores
    assert found.globals == {"g": {}, "settings": {"gain": {}}}


# ------------------------------------------------------------------ wrappers and partials that are compiled or called
def wrapped_by_the_user(keeps_the_name):
    held = {"rate": 2.0}

    def decorate(function):
        def wrapper(*args):
            return function(*args) * held["rate"]

        return functools.wraps(function)(wrapper) if keeps_the_name else wrapper

    @decorate
    def step(x):
        return x + 1 if x > 0 else x

    return step, lambda value: held.update(rate=value)


@pytest.mark.parametrize("keeps_the_name", [True, False])
def test_what_the_wrapper_that_is_compiled_closes_over(keeps_the_name):
    function, change = wrapped_by_the_user(keeps_the_name)
    compiled = ag.jit(function)
    assert (compiled(1.0), compiled(-1.0)) == (4.0, -2.0)
    change(5.0)
    assert (compiled(1.0), compiled(-1.0)) == (10.0, -5.0)


def test_the_keywords_of_a_partial():
    partial = functools.partial(lambda x, by=1.0: x * by if x > 0 else by, by=2.0)
    compiled = ag.jit(lambda x: partial(x))
    assert (compiled(3.0), compiled(-1.0)) == (6.0, 2.0)
    partial.keywords["by"] = 5.0
    assert (compiled(3.0), compiled(-1.0)) == (15.0, 5.0)
    partial.keywords.clear()
    assert (compiled(3.0), compiled(-1.0)) == (3.0, 1.0)


class Wrapping:
    def __init__(self):
        self.rate = 2.0

    @functools.wraps(multiply)
    def step(self, x):
        return x * self.rate if x > 0 else self.rate


def test_a_method_with_another_functions_name():
    walker = Wrapping()
    compiled = ag.jit(walker.step)
    assert (compiled(3.0), compiled(-1.0)) == (6.0, 2.0)
    walker.rate = 5.0
    assert (compiled(3.0), compiled(-1.0)) == (15.0, 5.0)


class Scaled:
    """A decorator that is a class."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function, self.scale = function, 2.0

    def __call__(self, x):
        return self.function(x) * self.scale


@pytest.mark.parametrize("compile", [ag.jit, lambda f: ag.jit(lambda x: f(x))], ids=["compiled", "called"])
def test_an_object_that_wraps_a_function(compile):
    scaled = Scaled(lambda x: x if x > 0 else -x)
    compiled = compile(scaled)
    assert compiled(-1.0) == 2.0
    scaled.scale = 5.0
    assert compiled(-1.0) == 5.0
