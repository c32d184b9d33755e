"""Attributes that traced data sets on some paths only: their value, or Python's error at run time. Never a wrong value."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag


class Plain:
    pass


class WithDefault:
    gain = 3.0

    def gained(self, x):
        return x * self.gain


class Slotted:
    __slots__ = ("gain",)


def asked(x):
    o = Plain()
    if x > 0:
        o.gain = x
    return 1 if hasattr(o, "gain") else 0


def asked_of_the_class(x):
    class Own:
        pass

    o = Own()
    if x > 0:
        Own.gain = 5
    return 1 if hasattr(o, "gain") else 0


def asked_and_read(x):
    o = Plain()
    for k in range(3):
        if x > k:
            if hasattr(o, "gain"):
                x = x - o.gain
            o.gain = 0.5 * x
    return x


def asked_with_slots(x):
    o = Slotted()
    if x > 0:
        o.gain = x
    return (o.gain if hasattr(o, "gain") else -1.0), not hasattr(o, "gain")


def asked_for_with_a_default(x):
    o = Plain()
    if x > 0:
        o.gain = x
    return getattr(o, "gain", -7.0) + 1


def read_under_the_same_condition(x):
    o = Plain()
    if x > 0:
        o.gain = x
    if x > 0:
        return o.gain
    return -x


def read_from_the_second_turn_on(x):
    o, n = Plain(), 0
    while x < 10:
        if n > 0:
            x = x + o.gain
        o.gain = x * x + 1
        n += 1
        x = x + 1
    return x


def read_in_a_loop_of_known_length(x):
    o = Plain()
    for k in range(3):
        if x > k:
            if k > 0:
                x = x - o.gain
            o.gain = x
    return x


def of_its_class(x):
    o = WithDefault()
    if x > 0:
        o.gain = x
    return o.gain * 2 + o.gained(x)


def of_its_class_in_a_loop(x):
    o = WithDefault()
    for k in range(3):
        if x > k:
            o.gain = o.gain + x
    return o.gain


def multiplied(x):
    o = Plain()
    if x > 0:
        o.gain = x
    return o.gain * 2


def deleted(x):
    o = Plain()
    o.gain = 1.0
    if x > 0:
        del o.gain
    return o.gain * 2


def an_element_and_a_sum(x):
    o = Plain()
    if x > 0:
        o.gain = jnp.ones(3) * x
    return o.gain[0] + o.gain.sum() + jnp.sum(o.gain)


def unpacked(x):
    o = Plain()
    if x > 0:
        o.gain = (x, 2)
    a, b = o.gain
    return a + b


def called(x):
    o = Plain()
    if x > 0:
        o.gain = lambda y: y * 2
    return o.gain(x)


def compared(x):
    o = Plain()
    if x > 0:
        o.gain = x
    return o.gain == 2.5


def its_truth(x):
    o = Plain()
    if x > 0:
        o.gain = x
    return 1 if o.gain else 0


def its_truth_beside_another(x):
    o = Plain()
    if x > 0:
        o.gain = True
    return 1 if o.gain and x > 1 else 0


def its_identity(x):
    o = Plain()
    if x > 0:
        o.gain = None
    return 1 if o.gain is None else 0


def its_kind(x):
    o = Plain()
    if x > 0:
        o.gain = "two"
    return 1 if isinstance(o.gain, str) else 0


def returned(x):
    o = Plain()
    if x > 0:
        o.gain = x
    return o.gain


PROGRAMS = [
    asked, asked_of_the_class, asked_and_read, asked_with_slots, asked_for_with_a_default, of_its_class,
    read_under_the_same_condition,
    read_from_the_second_turn_on, read_in_a_loop_of_known_length, of_its_class_in_a_loop, multiplied, deleted, called,
    an_element_and_a_sum, unpacked, compared, its_truth, its_truth_beside_another, its_identity, its_kind, returned,
]  # fmt: skip


def outcome(function, x):
    try:
        return function(x)
    except AttributeError:
        return AttributeError


@pytest.mark.parametrize("way", [lambda f: f, ag.port], ids=["JAX code", "ported"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_python(program, way):
    compiled = ag.jit(way(program))
    for x in (1.0, 2.5) if program is read_from_the_second_turn_on else (1.0, -2.0, 2.5):
        want, got = outcome(program, x), outcome(compiled, x)
        if want is AttributeError or got is AttributeError:
            assert got is want
        else:
            np.testing.assert_allclose(got, want)


def test_a_handler_does_not_see_it():
    """Which would have to be staged: an error, and no value."""

    def f(x):
        o = Plain()
        if x > 0:
            o.gain = x
        try:
            return o.gain
        except AttributeError:
            return -7.0

    compiled = ag.jit(f)
    assert compiled(2.0) == 2.0
    with pytest.raises(AttributeError, match="has no value"):
        compiled(-2.0)


def test_a_handler_around_a_branch_that_may_return():
    """It would catch the KeyError that a path through a staged branch ends by."""

    def f(x):
        try:
            if x > 0:
                return 1.0
            {}["no key"]
        except KeyError:
            pass
        return 2.0

    with pytest.raises(ag.StagingError, match="an `except` of a caller would catch it"):
        ag.jit(f)(1.0)


def test_a_key_that_comes_in_a_later_turn():
    @ag.jit
    def f(x):
        d, n = {}, 0
        while x < 10:
            if n > 0:
                x = x + d["gain"]
            d["gain"] = x
            n += 1
            x = x + 1
        return x

    with pytest.raises(ag.StructureError, match="dict"):
        f(1.0)


@pytest.mark.parametrize("look", [vars, dir, lambda o: o.__dict__])
def test_all_attributes_at_once(look):
    @ag.jit
    def f(x):
        o = Plain()
        if x > 0:
            o.gain = x
        return "gain" in look(o)

    with pytest.raises(ag.StructureError, match="which attributes this Plain has"):
        f(1.0)


@pytest.mark.parametrize("turns", [0, 3])
@pytest.mark.parametrize("inherits", [False, True])
def test_the_class_is_written_afterwards(turns, inherits):
    """Where it has no gain of its own the object would follow its class."""

    class Base:
        gain = 0.0

    class Derived(Base):
        pass

    def f(x):
        o = Derived() if inherits else Base()
        if x > 0:
            o.gain = 1.0
        for _ in range(turns):
            Base.gain = Base.gain + 1
        Base.gain = 5.0
        return o.gain

    with pytest.raises(ag.StructureError, match=r"`Base.gain` is written after .*(\n.*)* `o.gain = Base.gain`"):
        ag.jit(f)(-1.0)


@pytest.mark.parametrize("turns", [0, 3])
@pytest.mark.parametrize("write_object", [True, False])
@pytest.mark.parametrize("make", [lambda x: [x, 1.0], lambda x: np.ones(2)])
def test_what_the_class_holds_is_written_afterwards(turns, write_object, make):
    """A list or array of the class is the object's on the path on which that has none of its own."""

    class Base:
        gain = make(0.0)

    def f(x):
        o = Base()
        if x > 0:
            o.gain = make(x)
        for i in range(turns):
            if x > i:
                o.gain = make(x)
        gain = o.gain if write_object else Base.gain
        gain[0] = 5.0
        return x + o.gain[0] + Base.gain[0]

    with pytest.raises(ag.AliasError, match="Python the other variable would show the write|would have to show the write"):
        ag.jit(f)(jnp.float32(-1.0))


@pytest.mark.parametrize("x, expected", [(1.0, 13.0), (-1.0, 7.0)])
def test_the_class_is_written_where_the_object_has_its_own(x, expected):
    class Base:
        gain = 0.0

    class Derived(Base):
        gain = 2.0

    def f(x):
        o, other = Base(), Derived()
        o.gain = Base.gain
        if x > 0:
            o.gain = 1.0
            other.gain = 7.0
        Base.gain = 5.0
        return o.gain + Base.gain + other.gain

    assert ag.jit(f)(x) == expected


class Holder:
    pass


def set_on_one_path(x):
    o = Holder()
    if x > 0:
        o.v = x
    return {"v": o.v, "pair": (o.v, 3)}


@pytest.mark.parametrize("transform", [jax.jit, jax.vmap])
def test_jax_is_handed_the_value_and_not_a_choice_of_it_or_none(transform):
    function, x = transform(ag.autograph(set_on_one_path)), jnp.full(2, 2.0) if transform is jax.vmap else 2.0
    np.testing.assert_array_equal(function(x)["v"], x)
    np.testing.assert_array_equal(function(x)["pair"][0], x)
    with pytest.raises((AttributeError, jax.errors.JaxRuntimeError), match="an attribute has no value here"):
        jax.block_until_ready(function(-x))


def test_ag_jit_returns_an_attribute_or_raises():
    result = ag.jit(set_on_one_path)(2.0)
    assert (float(result["v"]), result["pair"][1]) == (2.0, 3)
    with pytest.raises(AttributeError, match="returned that has no value"):
        ag.jit(set_on_one_path)(-1.0)
