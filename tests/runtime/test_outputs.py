"""What a compiled function returns beside arrays comes out as itself: strings, enums, objects, lists of its own."""

import collections
import dataclasses
import enum
import threading
import types
from typing import Any, NamedTuple

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize

import autograph_jax as ag
from autograph_jax.runtime.outputs import Kept


class Method(enum.Enum):
    NEWTON = 1
    HALLEY = 2


class Order(enum.IntEnum):
    FIRST = 1


@dataclasses.dataclass
class Parameter:
    value: Any

    def __jax_array__(self):
        return self.value


@dataclasses.dataclass
class Result:
    x: Any
    method: str
    iterations: int = 3
    history: list[Any] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: Any
    note: Any = None


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Solver:
    """An object that is there before the call."""

    name = "solver"

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


class Pair(NamedTuple):
    x: Any
    label: str


SOLVER, SEEN = Solver(), {1, 2}
attributes = vars


def shown(value: Any) -> Any:
    """A value by its types and parts; arrays as numbers."""
    if isinstance(value, jax.Array | np.ndarray | int | float) and not isinstance(value, bool | enum.Enum):
        return float(value)
    if isinstance(value, list | tuple | set):
        return type(value).__name__, [shown(part) for part in value]
    if isinstance(value, dict):
        return type(value).__name__, {key: shown(part) for key, part in value.items()}
    if isinstance(value, Result | Frozen):
        return type(value).__name__, {key: shown(part) for key, part in attributes(value).items()}
    if isinstance(value, Slotted | Parameter):
        return type(value).__name__, shown(value.x if isinstance(value, Slotted) else value.value)
    return value


PROGRAMS = {
    "string": lambda x: "newton",
    "string beside an array": lambda x: (x + 1, "newton"),
    "None": lambda x: None,
    "enum": lambda x: {"method": Method.NEWTON, "x": x},
    "function": lambda x: [len, x],
    "class": lambda x: (Result, x),
    "dtype": lambda x: (x, jnp.float32),
    "bytes": lambda x: [b"ab"],
    "an enum of numbers": lambda x: (Order.FIRST, x),
    "a function of JAX's": lambda x: (jnp.sin, x),
    "JAX's objects": lambda x: (jax.P("i"), jax.tree.structure([x]), x),
    "NumPy's strings": lambda x: np.str_("a"),
    "an object with __jax_array__": lambda x: (Parameter(x), Frozen(Parameter(x))),
    "an object of 1000 parts": lambda x: Result([0] * 1000, "newton", 3, [x]),
    "range": lambda x: range(3),
    "slice": lambda x: slice(1, 2),
    "set": lambda x: {"a"},
    "frozenset": lambda x: (frozenset({1}), x),
    "dataclass": lambda x: Result(x, "newton"),
    "dataclass of numbers only": lambda x: Result(1.0, "newton", 2),
    "frozen dataclass": lambda x: Frozen(x, note="n"),
    "objects in objects": lambda x: Result(Frozen(x, Frozen(2 * x)), "newton", 3, [x, "a"]),
    "objects in containers": lambda x: {"a": [Frozen(x)], "b": (Result(x, "h"), "c")},
    "slots": lambda x: Slotted(x),
    "NamedTuple": lambda x: Pair(x, "up"),
    "scipy's result": lambda x: scipy.optimize.OptimizeResult(x=x, success=True, message="done", nit=3),
    "a dict subclass": lambda x: collections.Counter(a=1),
    "the user's own object": lambda x: (SOLVER, x),
    "a choice": lambda x: "up" if x > 0 else "down",
    "a choice in an object": lambda x: Frozen(x, note="up" if x > 0 else "down"),
    "an object chosen": lambda x: Frozen(x) if x > 0 else Frozen(-x),
    "a choice of classes": lambda x: Frozen(x) if x > 0 else Result(x, "r"),
    "a text or a string": lambda x: f"{x}" if x > 0 else "small",
    "a text or None": lambda x: {"a": f"{x:.1f}" if x > 0 else None},
    "a text in a tuple that is chosen": lambda x: (f"{x}", 1) if x > 0 else ("small", 2),
    "a text in a list or None": lambda x: [f"{x}"] if x > 0 else None,
    "texts in objects": lambda x: Frozen([f"{x}", None], f"{x:.1f}"),
    "a text or a string in an object": lambda x: [Frozen(x, note=f"{x:.1f}" if x > 0 else "none")],
    "a loop with a result": lambda x: Result(x, "sum", 2, [x for _ in range(2)]),
}


@pytest.mark.parametrize("function", PROGRAMS.values(), ids=PROGRAMS.keys())
@pytest.mark.parametrize("x", [3.0, -3.0])
def test_outputs_come_out_as_themselves(function, x):
    jitted = ag.jit(function)
    for _ in range(3):  # traced, then from the cache
        assert shown(jitted(x)) == shown(function(x))


def test_no_python_runs_again():
    runs = []

    @ag.jit
    def f(x):
        runs.append(1)
        return Result(x, "newton")

    assert [float(f(x).x) for x in (1.0, 2.0, 3.0)] == [1, 2, 3]
    assert len(runs) == 1


def test_each_program_has_its_own():
    @ag.jit(static_argnames="name")
    def f(x, name):
        return (name, x) if x.ndim else name

    assert [f(jnp.ones(()), "a"), f(jnp.ones(()), "b"), f(jnp.ones(2), "a")[0], f(jnp.ones(()), "a")] == ["a", "b", "a", "a"]


FRESH = {
    "list": lambda x: [x, "a"],
    "empty list": lambda x: ["a", []],
    "dict": lambda x: {"a": "b"},
    "set": lambda x: {"a"},
    "object": lambda x: Result(x, "newton"),
    "object without arrays": lambda x: Result(1, "newton"),
    "object in a tuple": lambda x: (Result(1, "newton"), x),
    "bytearray": lambda x: bytearray(b"ab"),
    "deque": lambda x: collections.deque(["a"]),
    "an array of strings": lambda x: np.array(["a", "b"]),
}


@pytest.mark.parametrize("function", FRESH.values(), ids=FRESH.keys())
def test_what_the_function_made_is_made_for_each_call(function):
    jitted = ag.jit(function)
    results = [jitted(1.0) for _ in range(3)]
    parts = [result[0] if isinstance(result, tuple) else result for result in results]
    assert len({id(part) for part in parts}) == 3


def test_what_cannot_be_copied_is_itself():
    f = ag.jit(lambda x: (threading.Lock(), x))
    assert f(1.0)[0] is f(1.0)[0]


def test_a_result_may_be_changed():
    f = ag.jit(lambda x: Result(1, "newton", history=["start"]))
    first = f(1.0)
    first.history.append("changed")
    first.method = "halley"
    assert f(1.0) == Result(1, "newton", history=["start"])
    g = ag.jit(lambda x: ({"a"}, x))
    g(1.0)[0].add("b")
    assert g(1.0)[0] == {"a"}


def test_what_was_there_before_is_itself():
    f = ag.jit(lambda x: [SOLVER, x, SEEN])
    assert all(f(1.0)[0] is SOLVER and f(1.0)[2] is SEEN for _ in range(3))
    inside = ag.jit(lambda x: Frozen(x, note=SOLVER))
    assert inside(1.0).note is SOLVER and inside(2.0).note is SOLVER


def test_inside_another_trace():
    inner = ag.jit(lambda x: Result(2 * x, "newton", history=["a"]))

    @ag.jit
    def outer(x):
        result = inner(x)
        assert isinstance(result.x, jax.core.Tracer) and result.history == ["a"]
        return result

    assert shown(outer(1.0)) == shown(Result(2.0, "newton", history=["a"]))
    assert jax.grad(lambda x: inner(x).x)(1.0) == 2
    assert jax.vmap(lambda x: inner(x).x)(jnp.ones(3)).tolist() == [2, 2, 2]


def test_without_jit():
    with jax.disable_jit():
        assert shown(ag.jit(lambda x: Result(x, "newton"))(1.0)) == shown(Result(1.0, "newton"))


def test_out_shardings():
    here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    assert ag.jit(lambda x: (x, "a"), out_shardings=here)(1.0) == (1.0, "a")


def test_what_is_compiled_ahead_gives_the_value():
    out = ag.jit(lambda x: (x, "a")).lower(1.0).compile()(1.0)
    assert isinstance(out[1], Kept) and out[1].value == "a"
    shapes = ag.jit(lambda x: (x, "a")).eval_shape(1.0)
    assert shapes[0].shape == () and shapes[1] == "a"


def test_a_result_is_not_waited_for():
    waits = []
    f = ag.jit(lambda x: Result(x, "newton"))
    original = jax.block_until_ready
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax, "block_until_ready", lambda value: waits.append(1) or original(value))
        f(1.0), f(2.0)
    assert waits == []


def holds_itself(x):
    result = Result(x, "newton")
    result.history.append(result)
    return result


REFUSED = {
    "an object that holds itself": holds_itself,
    "an iterator": lambda x: iter([1, 2]),
    "a closure over a traced value": lambda x: lambda: x,
    "an object that cannot be taken apart": lambda x: types.SimpleNamespace(x=x),
}


@pytest.mark.parametrize("function", REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.filterwarnings("ignore:Python iterable type")  # by JAX, for the iterator
def test_what_a_later_call_could_not_give_is_refused_as_by_jax(function):
    with pytest.raises(TypeError, match="valid JAX type|not a valid"):
        ag.jit(function)(1.0)


class Log:
    def __init__(self):
        self.names, self.inner = ["a"], Slotted(0)


class Logged:
    def __init__(self, x, log):
        self.x, self.log = x, log


def test_each_call_gives_an_object_with_parts_of_its_own():
    f = ag.jit(lambda x: Logged(2 * x, Log()))
    for x in (1.0, 2.0, 3.0):
        logged = f(x)
        assert (logged.x, logged.log.names, logged.log.inner.x) == (2 * x, ["a"], 0)
        logged.log.names.append("b")
        logged.log.inner.x += 1


def test_a_part_that_others_hold_is_that_object():
    log, traced = Log(), []
    f = ag.jit(lambda x: (traced.append(x), Logged(2 * x, log))[1])
    assert [f(x).log is log for x in (1.0, 2.0, 3.0)] == [True] * 3 and len(traced) == 1


def test_numbers_of_two_texts_keep_their_types():
    @ag.jit
    def shown(n, x, first):
        return f"n={n}" if first else f"x={x}"

    assert [shown(4, 2.5, True), shown(4, 2.5, False)] == ["n=4", "x=2.5"]
