"""A value that is one of several Python values: what may be done with it, and how it leaves."""

import collections
import enum
import math
import operator
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax import autograph
from autograph_jax.errors import AliasError, ChoiceError, PredicateError
from autograph_jax.operators.values import facts
from autograph_jax.operators.values.choices import UNBOUND, Choice, decided
from autograph_jax.operators.values.traced import is_traced, truth

index = jnp.int32(1)
strings = Choice(index, ("a", "b"))
maybe = Choice(index, (None, jnp.float32(3)))

OPERATIONS = {
    "+": lambda c: c + 1, "r+": lambda c: 1 + c, "-": lambda c: c - 1, "r-": lambda c: 1 - c, "*": lambda c: c * 2,
    "r*": lambda c: 2 * c, "/": lambda c: c / 2, "//": lambda c: c // 2, "%": lambda c: c % 2, "**": lambda c: c**2,
    "@": lambda c: c @ c, "neg": lambda c: -c, "abs": abs, "<": lambda c: c < 1, ">=": lambda c: c >= 1,
    "[]": lambda c: c[0], "len": len, "iter": iter, "call": lambda c: c(1), "bool": bool, "float": float, "int": int,
    "index": operator.index, "in": lambda c: 1 in c, "attribute": lambda c: c.upper,
    "r//": lambda c: 2 // c, "r%": lambda c: 2 % c,
    "r**": lambda c: 2**c, "complex": complex, "~": lambda c: ~c, "&": lambda c: c & 1, "|": lambda c: 1 | c,
    "<<": lambda c: c << 1, "+c": lambda c: +c, "round": round, "hash": hash, "divmod": lambda c: divmod(c, 2),
    "[]=": lambda c: operator.setitem(c, 0, 1), "attribute =": lambda c: setattr(c, "x", 1),
}  # fmt: skip


OF_NUMBERS = "+ r+ - r- * r* / // % ** @ neg abs < >= r// r% r** +c round divmod".split()


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in OF_NUMBERS])
def test_nothing_is_done_with_it_silently(name: str):
    """What Python would do with `object` (compare by identity, say) is not what the option would do."""
    with pytest.raises((ChoiceError, TypeError, AttributeError)):
        OPERATIONS[name](maybe)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_none_or_a_number_is_a_number_or_an_error_at_run_time(name: str):
    def chosen(x):
        value = None
        if x[0] > 0:
            value = x + 2
        return OPERATIONS[name](value)

    x = jnp.ones(2)
    assert jnp.all(jnp.asarray(ag.jit(chosen)(x)) == jnp.asarray(OPERATIONS[name](x + 2)))
    with pytest.raises(TypeError, match="NoneType"):
        ag.jit(chosen)(-x)


def test_where():
    assert bool(strings._where(lambda option: option == "b")) and not bool(strings._where(lambda option: option == "a"))
    assert strings._where(lambda option: isinstance(option, str)) is True
    assert strings._where(lambda option: option is None) is False


def test_only():
    assert maybe._only(lambda option: option is not None) is maybe._options[1]
    three = Choice(jnp.int32(2), (None, "a", "b"))
    two = three._only(lambda option: option is not None)
    assert two._options == ("a", "b") and two.value == "b"


def test_map():
    assert strings._map(str.upper).value == "B"
    assert strings._map(lambda option: None) is None
    three = Choice(jnp.int32(2), ("a", "b", "c"))
    merged = three._map(lambda option: None if option != "b" else option)
    assert merged._options == (None, "b") and merged.value is None


def test_decided():
    assert decided(1, ("a", "b")) == "b" and decided(jnp.int32(0), ("a", "b")) == "a"
    assert isinstance(decided(object(), ("a", "b")), Choice), "JAX puts other things into pytrees"
    kinds = []
    jax.jit(lambda i: kinds.append(type(decided(i, ("a", "b")))) or i)(0)
    assert kinds == [Choice]


def test_it_is_a_pytree():
    leaves, structure = jax.tree.flatten(Choice(index, (None, jnp.float32(3), "a", (jnp.float32(4), 1))))
    again = jax.tree.unflatten(structure, leaves)
    assert len(leaves) == 4 and again._options[0] is None and again._options[2] == "a" and again._options[3] == (4, 1)
    assert repr(UNBOUND) == "<unbound>"


# ------------------------------------------------------------------ how it leaves

LEAVES = {
    "strings": (lambda x: "up" if x > 0 else "down", "up", "down"),
    "none": (lambda x: x if x > 0 else None, 1.0, None),
    "functions": (lambda x: math.sin if x > 0 else math.cos, math.sin, math.cos),
    "in a tuple": (lambda x: (x, "up" if x > 0 else "down"), (1.0, "up"), (-1.0, "down")),
    "in a dict": (lambda x: {"way": "up" if x > 0 else None}, {"way": "up"}, {"way": None}),
    "of choices": (lambda x: ("top" if x > 5 else "up") if x > 0 else "down", "up", "down"),
    "tuples": (lambda x: (1, "up") if x > 0 else None, (1, "up"), None),
}


@pytest.mark.parametrize("name", LEAVES)
def test_ag_jit_gives_the_option(name: str):
    function, positive, negative = LEAVES[name]
    assert ag.jit(function)(1.0) == positive and ag.jit(function)(-1.0) == negative


@pytest.mark.parametrize("name", ["strings", "none", "functions", "of choices"])
def test_jax_jit_gives_the_choice(name: str):
    function, positive, negative = LEAVES[name]
    jitted = jax.jit(autograph(function))
    assert (jitted(1.0).value, jitted(-1.0).value) == (positive, negative)


USES = {
    "compared": lambda x: ("a" if x > 0 else "b") == "a",
    "is None": lambda x: (x if x > 0 else None) is None,
    "is not None": lambda x: (x if x > 0 else None) is not None,
    "truth of strings": lambda x: 1 if ("a" if x > 0 else "") else 2,
    "truth of None": lambda x: 1 if (x if x > 0 else None) else 2,
    "not": lambda x: not (x if x > 0 else None),
    "in": lambda x: ("a" if x > 0 else "b") in ("b", "c"),
    "and": lambda x: 1 if ("a" if x > 0 else None) and x > 0.5 else 2,
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("x", [1.0, 0.25, -1.0])
def test_questions_that_all_options_answer(name: str, x: float):
    function = USES[name]
    assert ag.jit(function)(x) == function(x)


# ------------------------------------------------------------------ attributes


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Indexed:
    index = 7

    def where(self):
        return self.index + 1


class Plain:
    rate = 2.0


class Clashing:
    rate = 2.0
    _index = 3


def test_value_is_the_options_own_while_traced():
    """`value` is also how the option is taken out, once it is known."""
    f = autograph(lambda x: (Colour.RED if x > 0 else Colour.GREEN).value * 10)
    assert jax.jit(f)(1.0) == 10 and jax.jit(f)(-1.0) == 20


def test_attributes_that_are_called_like_ours():
    first, second = Indexed(), Indexed()
    second.index = 8
    f = autograph(lambda x: (first if x > 0 else second).index * 100 + (first if x > 0 else second).where())
    assert jax.jit(f)(1.0) == 708 and jax.jit(f)(-1.0) == 809


@pytest.mark.parametrize("use", [lambda m: m._index, lambda m: m.rate])
def test_an_attribute_of_the_same_name_as_ours_is_no_silent_mistake(use: Any):
    first, second = Indexed(), Clashing()
    with pytest.raises(ChoiceError, match="`_index` has the name of one"):
        jax.jit(autograph(lambda x: use(first if x > 0 else second)))(1.0)


def test_an_attribute_of_only_one_option():
    first, second = Plain(), object()
    with pytest.raises(ChoiceError, match="its attribute `rate` is read"):
        jax.jit(autograph(lambda x: (first if x > 0 else second).rate))(1.0)


def test_an_attribute_of_what_may_be_none():
    first, second = Plain(), None
    f = ag.jit(lambda x: (first if x > 0 else second).rate)
    assert f(1.0) == first.rate
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'rate'"):
        f(-1.0)


def test_attributes_of_what_may_be_none_are_not_written():
    first = Plain()

    def f(x):
        chosen = first if x > 0 else None
        chosen.rate = 3.0

    with pytest.raises(ChoiceError, match="`rate` is written"):
        jax.jit(autograph(f))(1.0)
    with pytest.raises(ChoiceError, match="setattr"):
        setattr(maybe, "rate", 3.0)  # noqa: B010 - as a library would


def test_what_is_called_has_to_be_a_function():
    function = ag.jit(lambda x: (jnp.sin if x > 0 else None)(x))
    assert function(1.0) == jnp.sin(1.0)
    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        function(-1.0)
    with pytest.raises(ChoiceError, match="the function sin or 'sin'.*it is called"):
        ag.jit(lambda x: (math.sin if x > 0 else "sin")(x))(1.0)


# ------------------------------------------------------------------ elements


def test_elements_are_joined():
    assert Choice(index, ((1, 2), (3, 4)))[0] == 3
    assert list(Choice(index, ((1, "a"), [3, "b"]))) == [3, "b"]
    assert len(Choice(index, ("ab", "cd"))) == 2
    assert len(Choice(index, ("ab", "c"))) == 1
    with pytest.raises(ChoiceError):
        len(Choice(index, ("ab", 3)))
    assert list(Choice(jnp.int32(0), ((1, 2), None))) == [1, 2]
    with pytest.raises(jax.errors.JaxRuntimeError, match="NoneType"):
        list(Choice(index, ((1, 2), None)))


def test_an_element_that_is_no_integer_is_not_looked_up():
    with pytest.raises(TypeError):
        jax.jit(autograph(lambda x: [1, 2][x]))(1.0)
    with pytest.raises(TypeError):
        jax.jit(autograph(lambda x: [1, 2][x]))(jnp.array([0, 1]))


class Noting(dict):
    def __getitem__(self, key):
        return super().__getitem__(key)


@pytest.mark.parametrize("table", [collections.defaultdict(int), collections.Counter(), Noting(a=1, b=2)])
def test_a_table_that_does_something_when_it_is_read(table: Any):
    before = dict(table)
    with pytest.raises(ChoiceError, match="as a key"):
        jax.jit(autograph(lambda x: table["a" if x > 0 else "b"]))(1.0)
    assert dict(table) == before


OUT_OF_RANGE = {
    "list": lambda k: [1, 2][k],
    "tuple": lambda k: (1, 2)[k],
    "bytes": lambda k: b"ab"[k],
    "range": lambda k: range(2)[k],
    "string": lambda k: "ab"[k],
    "none of a dict": lambda k: {0: 1, 1: 2}[k],
    "an empty list": lambda k: [[], [1]][0][k],
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
@pytest.mark.parametrize("k", [2, -3])
def test_no_such_element(name: str, k: int):
    with pytest.raises(LookupError) as python:
        OUT_OF_RANGE[name](k)
    with pytest.raises(type(python.value)) as raised:
        ag.jit(OUT_OF_RANGE[name])(jnp.int32(k))
    assert str(raised.value) == str(python.value)


@pytest.mark.parametrize("nested", [False, True])
def test_a_picked_array_is_the_one_in_the_table(nested: bool):
    """In NumPy, a write to it would show in `first`."""

    def f(x, k):
        first, second = x * 1, x * 2
        table = [(first, 0), (second, 0)] if nested else [first, second]
        picked = table[k][0] if nested else table[k]
        picked[0] = 5.0
        return first, picked

    with pytest.raises(AliasError, match="`first` would have to show the write"):
        ag.jit(f)(jnp.arange(3.0), jnp.int32(0))


def test_a_loop_that_counts_through_a_list_is_unrolled():
    """As under plain jax.jit: each turn knows its element."""

    def f(x):
        functions = [jnp.sin, jnp.cos, lambda v: v * 2]
        for k in range(3):
            x = functions[k](x)
        return x

    assert "scan" not in str(jax.make_jaxpr(autograph(f))(1.0))
    assert ag.jit(f)(0.5) == pytest.approx(f(0.5))


# ------------------------------------------------------------------ truth

TRUTHS = [(0, False), (3, True), (0.0, False), (-0.5, True), (math.nan, True), (True, True), (1j, True), (0j, False)]


@pytest.mark.parametrize(("value", "expected"), TRUTHS)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_truth(value: Any, expected: bool, shape: tuple[int, ...]):
    assert jax.jit(truth)(jnp.full(shape, value)) == expected == bool(jnp.full(shape, value))


@pytest.mark.parametrize("shape", [(2,), (0,), (2, 3)])
def test_ambiguous(shape: tuple[int, ...]):
    with pytest.raises(PredicateError, match=r"elements is ambiguous"):
        jax.jit(truth)(jnp.zeros(shape))


@pytest.mark.parametrize("options", [("", "a"), (None, 1), ((), (0,))])
@pytest.mark.parametrize("taken", [0, 1])
def test_truth_of_a_choice(options: tuple[Any, ...], taken: int):
    assert bool(truth(Choice(jnp.int32(taken), options))) == bool(taken)


@pytest.mark.parametrize("value", [0.0, 2.0])
@pytest.mark.parametrize("taken", [0, 1])
def test_truth_of_none_or_an_array(value: float, taken: int):
    assert bool(truth(Choice(jnp.int32(taken), (None, jnp.float32(value))))) == bool(taken and value)


def test_is_traced():
    seen = []
    note = lambda x: seen.append(is_traced(x)) or x  # noqa: E731
    jax.jit(note)(1.0)
    jax.vmap(note)(jnp.ones(2))
    jax.grad(note)(1.0)
    assert seen == [True, True, False]
    assert is_traced(strings) and not is_traced(1) and not is_traced(jnp.ones(3)) and not is_traced(None)


# ------------------------------------------------------------------ what a condition tells

TOLD = {
    "is None or": lambda best, v: v if best is None or v > best else best,
    "is not None and": lambda best, v: best + v if best is not None and best > v else v,
    "not (is None)": lambda best, v: best + v if best is not None else v,
    "is not None": lambda best, v: best * v if best is not None else v,
    "is None": lambda best, v: v if best is None else best - v,
}


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("x", [1.0, 5.0, -1.0])
def test_narrowing(name: str, x: float):
    told = TOLD[name]

    def f(x):
        best = None
        if x > 0:
            best = x
        return told(best, 3.0)

    assert ag.jit(f)(x) == f(x)


def test_facts_go_with_their_condition():
    condition = jnp.asarray(True)
    told = facts.tell(condition, facts.Facts(if_true=((maybe, bool),)))
    assert facts.of(told).if_true and id(condition) in facts._by_id
    key = id(condition)
    del condition, told
    assert key not in facts._by_id
    assert facts.of(jnp.asarray(True)) == facts.NONE
