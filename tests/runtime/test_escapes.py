"""What a traced function keeps outside of itself: used later it is an error that names both lines."""

import types

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.errors import EscapedTracerError

box = types.SimpleNamespace()
kept, table, last = [], {}, None


@pytest.fixture(autouse=True)
def _nothing_is_kept():
    yield
    kept.clear(), table.clear()
    vars(box).clear()
    globals()["last"] = None


def in_an_attribute(x):
    box.value = x * 2  # kept
    return x


def in_a_list(x):
    kept.append(x * 2)  # kept
    return x


def in_a_dict(x):
    table["x"] = (1, [x * 2])  # kept
    return x


def in_a_global(x):
    global last
    last = x * 2  # kept
    return x


def in_a_callee(x):
    return in_a_global(in_a_list(x))


def in_a_loop(x):
    i = 0
    while i < x:  # kept
        box.value = i * 2
        i += 1
    return x


def in_a_branch(x):
    if x > 0:  # kept
        box.value = x * 2
    else:
        box.value = x * 3
    return x


def in_a_scan(x):
    def body(carry, _):
        box.value = carry * 2  # kept
        return carry, None

    return jax.lax.scan(body, x, None, length=2)[0]


def of_a_list():
    return kept[0]


def of_a_dict():
    return table["x"][1][0]


READS = {
    in_an_attribute: ("`SimpleNamespace.value`", lambda: box.value),
    in_a_list: ("this list", of_a_list),
    in_a_dict: ("this dict", of_a_dict),
    in_a_global: ("`last`", lambda: last),
    in_a_callee: ("`last`", lambda: last),
    in_a_loop: ("`SimpleNamespace.value`", lambda: box.value),
    in_a_branch: ("`SimpleNamespace.value`", lambda: box.value),
    in_a_scan: ("`SimpleNamespace.value`", lambda: box.value),
}
TRANSFORMS = {
    "jit": lambda f: ag.jit(f)(jnp.ones(())),
    "vmap": lambda f: ag.vmap(f)(jnp.ones(2)),
    "make_jaxpr": lambda f: ag.make_jaxpr(f)(1.0),
    "checkpoint": lambda f: ag.checkpoint(f)(jnp.ones(())),
    "jit of grad": lambda f: ag.jit(ag.grad(f))(1.0),
    "jit of vmap": lambda f: ag.jit(ag.vmap(f))(jnp.ones(2)),
}


def line_of(function, mark="# kept"):
    first = function.__code__.co_firstlineno
    with open(__file__) as file:
        lines = file.readlines()
    return next(n for n, line in enumerate(lines, 1) if n >= first and mark in line)


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS.keys())
@pytest.mark.parametrize("f", READS, ids=lambda f: f.__name__)
def test_both_lines(f, transform):
    name, read = READS[f]
    transform(f)
    with pytest.raises(EscapedTracerError) as error:
        read() + 1
    assert error.value.what == f"{name} holds a value of a trace that is over"
    assert error.value.location is not None and error.value.location.filename == __file__
    where = line_of(in_a_global if f is in_a_callee else f)
    assert f"{__file__}:{where}, in " in error.value.details[0]
    assert "while JAX traced the function" in error.value.details[0]


USES = {
    "operator": lambda value: 2 - value,
    "comparison": lambda value: value > 0,
    "if": lambda value: 1 if value else 2,
    "attribute": lambda value: value.shape,
    "method": lambda value: value.sum(),
    "index": lambda value: value[0],
    "loop": lambda value: list(value),
    "float": lambda value: float(value),
    "jax.numpy": lambda value: jnp.sin(value),
    "NumPy": lambda value: np.asarray(value) + 1,
    "lax, converted": lambda value: ag.autograph(lambda x: jax.lax.add(x, 1.0))(value),
    "argument of jit": lambda value: jax.jit(lambda x: x)(value),
    "converted": lambda value: ag.autograph(lambda x: x if x > 0 else -x)(value),
    "argument of ag.jit": lambda value: ag.jit(lambda x: x)(value),
    "captured by ag.jit": lambda value: ag.jit(lambda x: x * value)(1.0),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_every_use(use):
    ag.vmap(in_an_attribute)(jnp.ones(2))
    assert repr(box.value) == "<`SimpleNamespace.value`, a value of a trace that is over>"
    assert box.value is box.value and box.value in {box.value}
    with pytest.raises(EscapedTracerError, match="box.value = x"):
        use(box.value)


def test_what_is_never_used_is_no_error():
    step = ag.jit(in_an_attribute)
    assert [step(1.0), step(2.0), step(1)] == [1.0, 2.0, 1]


class Counter:
    def __init__(self):
        self.total = 0.0

    def add(self, x):
        self.total = self.total + x
        return self.total


def test_state_that_is_read_again():
    """The second call would give 1.0 again under jax.jit."""
    add = ag.jit(Counter().add)
    assert add(1.0) == 1.0
    with pytest.raises(EscapedTracerError, match=r"`Counter.total` holds a value of a trace that is over"):
        add(1.0)


def test_an_eager_derivative_leaves_values():
    counter = Counter()
    assert ag.grad(counter.add)(2.0) == 1.0 and counter.total == 2.0
    assert ag.grad(counter.add)(3.0) == 1.0 and counter.total == 5.0
    assert type(counter.total) is not Counter and isinstance(counter.total, jax.Array)


def test_values_of_a_trace_around_go_on():
    @ag.jit
    def outer(x):
        def inner(y):
            box.outer, box.inner = x * 2, y * 2
            return y

        ag.vmap(inner)(jnp.ones(2))
        return box.outer + 1

    assert outer(1.0) == 3.0
    for read in (lambda: box.outer + 1, lambda: box.inner + 1):
        with pytest.raises(EscapedTracerError, match=r"box\.outer, box\.inner = "):
            read()


def test_values_kept_by_a_function_of_jax():
    """Nobody of ours has seen them being kept: the error has the line of their use, and JAX's of their origin."""

    def keep(x):
        box.value = x * 2
        return x

    jax.jit(keep)(1.0)
    with pytest.raises(EscapedTracerError, match="a value of a trace that is over is used") as error:
        ag.jit(lambda x: x + box.value)(1.0)
    assert "test_escapes.py" in error.value.details[0] and error.value.location is not None
    assert error.value.location.filename == __file__
    assert isinstance(error.value.__cause__, jax.errors.UnexpectedTracerError)


@jax.tree_util.register_pytree_node_class
class Known:
    """JAX knows its parts."""

    def __init__(self, value):
        self.value = value

    def tree_flatten(self):
        return (self.value,), None

    @classmethod
    def tree_unflatten(cls, _, parts):
        return cls(*parts)


class Unknown:
    def __init__(self, value):
        self.value = value


@pytest.mark.parametrize("kind", [Known, Unknown])
@pytest.mark.parametrize("transform", [ag.jit, ag.checkpoint, lambda f: lambda x: ag.jit(ag.jit(f))(x)])
def test_what_is_returned_is_no_leak(kind, transform):
    def f(x):
        made = kind(x)
        made.value = made.value * 2
        inside = [kind(x + 1)]
        inside[0].value = inside[0].value * 2
        return {"made": made, "inside": inside} if kind is Known or transform is not ag.checkpoint else made.value

    result = transform(f)(jnp.ones(()))
    assert result == 2.0 if isinstance(result, jax.Array) else (result["made"].value, result["inside"][0].value) == (2.0, 4.0)


def test_an_argument_that_is_changed_and_returned():
    def f(state, x):
        state.value = state.value + x
        return state, state.value

    state, value = ag.jit(f)(Known(jnp.ones(())), 2.0)
    assert state.value == value == 3.0
    assert ag.grad(lambda state, x: f(state, x)[1], argnums=1)(Known(1.0), 2.0) == 1.0


def test_no_leak_is_left():
    def f(x):
        return in_a_callee(x)

    with jax.checking_leaks():
        assert ag.jit(f)(1.0) == 1.0
    assert len(kept) == 1 and not isinstance(kept[0], jax.core.Tracer)


def test_with_jit_disabled_values_are_values():
    with jax.disable_jit():
        assert ag.jit(in_an_attribute)(1.0) == 1.0
    assert box.value == 2.0


@pytest.mark.parametrize("look", [vars, lambda held: held.__dict__], ids=["vars", "__dict__"])
def test_the_attributes_of_an_object_are_given_back(look):
    class Held:
        pass

    def f(x):
        held = Held()
        held.y = x * 2
        return look(held)

    assert ag.jit(f)(2.0) == {"y": 4.0} == jax.jit(ag.autograph(f))(2.0)


counted = 0


def counts_in_a_global(x):
    global counted
    if x > 0:
        counted += 1
    return x * counted


def counter():
    count = 0

    def counts_around(x):
        nonlocal count
        if x > 0:
            count += 1
        return x * count

    return counts_around


@pytest.mark.parametrize("make", [lambda: counts_in_a_global, counter], ids=["global", "nonlocal"])
def test_a_traced_counter_is_not_counted_on_with_by_a_cached_program(make):
    global counted
    counted = 0
    f = ag.jit(make())
    assert f(1.0) == 1.0
    for _ in range(2):
        with pytest.raises(ag.EscapedTracerError, match="holds a value of a trace that is over"):
            f(1.0)


def test_what_is_assigned_anew_in_each_call_is_no_reason_to_refuse():
    last = 0.0

    @ag.jit(captures="error")
    def f(x):
        nonlocal last
        last = x * 2
        return last

    assert [f(1.0), f(2.0), f(3.0)] == [2.0, 4.0, 6.0]
