"""`@autograph` on everything that can be called, `do_not_convert`, and what of a user's program is converted."""

import abc
import dataclasses
import functools
import math
import operator
import types
from typing import Any, NamedTuple

import equinox
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import autograph_jax as ag
from autograph_jax import autograph, do_not_convert
from autograph_jax.errors import NotAFunctionError
from autograph_jax.runtime.convert import is_converted
from autograph_jax.runtime.libraries import is_array_library, is_left_alone


def relu(x):
    """Only converted code can do this under jit."""
    if x > 0:
        return x
    return x * 0


def works_under_jit(function: Any, *arguments: Any) -> bool:
    try:
        jax.jit(function)(*arguments)
    except jax.errors.TracerBoolConversionError:
        return False
    return True


# ------------------------------------------------------------------ what can be decorated


class Plain:
    scale = 2

    def method(self, x):
        return relu(x) * self.scale if x < 5 else x

    @classmethod
    def class_method(cls, x):
        return x * cls.scale if x > 0 else x

    @staticmethod
    def static_method(x):
        return x if x > 0 else -x

    def __call__(self, x):
        return x if x > 0 else self.scale * x


@autograph
class Decorated:
    scale = 2

    def __init__(self, x):
        self.x = x
        if x > 100:
            self.x = x * 0

    def method(self, y):
        return self.x if y > 0 else y

    @classmethod
    def make(cls, x):
        return cls(x if x > 0 else -x)

    @staticmethod
    def static(x):
        return x if x > 0 else -x

    @property
    def sign(self):
        return 1 if self.x > 0 else -1

    @sign.setter
    def sign(self, value):
        if value > 0:
            self.x = value

    @sign.deleter
    def sign(self):
        self.x = 0 if self.x > 0 else 1

    @functools.cached_property
    def double(self):
        return self.x * 2 if self.x > 0 else 0

    def __add__(self, other):
        return self.x + other if other > 0 else self.x

    def __len__(self):
        return 3 if self.x else 0

    nothing = None


plain = Plain()
CALLABLES = {
    "function": lambda: autograph(relu),
    "lambda": lambda: autograph(lambda x: x if x > 0 else -x),
    "with options": lambda: autograph(strict=True)(relu),
    "bound method": lambda: autograph(plain.method),
    "class method": lambda: autograph(Plain.class_method),
    "static method": lambda: autograph(Plain.static_method),
    "callable object": lambda: autograph(plain),
    "partial": lambda: autograph(functools.partial(lambda y, x: x if x > y else y, 0.5)),
    "partial of a method": lambda: autograph(functools.partial(plain.method)),
    "partial of a partial": lambda: autograph(functools.partial(functools.partial(lambda a, b, x: x if x > a else b, 1), 2)),
    "wrapped": lambda: autograph(wrapper),
    "method of a decorated class": lambda: Decorated(3.0).method,
    "class method of a decorated class": lambda: lambda x: Decorated.make(x).x,
    "static method of a decorated class": lambda: Decorated.static,
}


def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        result = function(*args, **kwargs)
        return result if result > -1 else result * 0

    return inner


@logged
@logged
def wrapper(x):
    return x if x > 0 else -x


@pytest.mark.parametrize("name", CALLABLES)
def test_decorated(name: str):
    function = CALLABLES[name]()
    assert works_under_jit(function, 1.5)
    assert float(jax.jit(function)(1.5)) == float(function(1.5))


def test_wraps_chains_keep_every_link():
    converted = autograph(wrapper)
    assert converted.__name__ == "wrapper" and converted.__wrapped__ is wrapper.__wrapped__
    assert jax.jit(converted)(-2.0) == 2


def test_kinds_are_kept():
    assert type(autograph(plain.method)) is types.MethodType and autograph(plain.method).__self__ is plain
    assert type(autograph(staticmethod(relu))) is staticmethod and type(autograph(classmethod(relu))) is classmethod
    assert type(autograph(property(relu))) is property
    assert type(autograph(functools.partial(relu))) is functools.partial


def test_a_class_stays_itself():
    class A:
        pass

    assert autograph(A) is A and autograph(strict=True)(A) is A


def test_decorators_in_either_order():
    class A:
        @autograph
        @staticmethod
        def f(x):
            return x if x > 0 else -x

        @staticmethod
        @autograph
        def g(x):
            return x if x > 0 else -x

        @autograph
        @classmethod
        def h(cls, x):
            return x if x > 0 else -x

        @property
        @autograph
        def p(self):
            return 1 if self else 2

        @autograph
        @functools.cached_property
        def c(self):
            return [1] if self else 2

    for function in (A.f, A.g, A.h, A().f, A().g, A().h):
        assert jax.jit(function)(-2.0) == 2
    a = A()
    assert a.p == 1 and a.c is a.c


# ------------------------------------------------------------------ classes


def test_class():
    d = Decorated(3.0)
    assert type(d) is Decorated and Decorated(200).x == 0
    assert (d.sign, d.double, d + 1, d + -1, len(d)) == (1, 6, 4, 3, 3)
    d.sign = 5
    assert d.x == 5
    d.sign = -5
    assert d.x == 5
    del d.sign
    assert d.x == 0


@pytest.mark.parametrize("member", ["__init__", "method", "make", "static", "__add__", "__len__"], ids=lambda member: member)
def test_members_are_converted(member: str):
    function = vars(Decorated)[member]
    assert is_converted(getattr(function, "__func__", function))


def test_property_parts_are_converted():
    sign = vars(Decorated)["sign"]
    assert all(is_converted(part) for part in (sign.fget, sign.fset, sign.fdel))
    assert is_converted(vars(Decorated)["double"].func)


def test_abstract_classes():
    @autograph
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self, x): ...

        @property
        @abc.abstractmethod
        def name(self): ...

        def twice(self, x):
            return 2 * self.area(x) if x > 0 else x

    with pytest.raises(TypeError, match="abstract"):
        Shape()

    class Square(Shape):
        name = "square"

        def area(self, x):
            return x * x if x > 1 else x

    assert jax.jit(Square().twice)(3.0) == 18


def test_abstract_method_below_the_decorator():
    class Shape(abc.ABC):
        @autograph
        @abc.abstractmethod
        def area(self, x):
            return x if x > 0 else 0

    assert Shape.area.__isabstractmethod__
    with pytest.raises(TypeError, match="abstract"):
        Shape()


def test_dataclasses():
    @autograph
    @dataclasses.dataclass
    class Body:
        x: float
        v: float = 1.0

        def __post_init__(self):
            self.v = self.v if self.v > 0 else 0.0

        def step(self, h):
            return Body(self.x + h * self.v if h > 0 else self.x, self.v)

    assert Body(1.0, -1.0) == Body(1.0, 0.0)
    assert jax.jit(lambda h: Body(1.0).step(h).x)(2.0) == 3


def test_named_tuples_and_enums():
    @autograph
    class Point(NamedTuple):
        x: float
        y: float

        def larger(self):
            return self.x if self.x > self.y else self.y

    assert jax.jit(lambda x: Point(x, 2.0).larger())(3.0) == 3
    assert Point(1, 2)._replace(x=3) == (3, 2)


def test_inherited_methods_are_left_to_their_class():
    class Base:
        def f(self, x):
            return x if x > 0 else -x

    @autograph
    class Derived(Base):
        def g(self, x):
            return x if x > 0 else -x

    assert not is_converted(Base.f) and is_converted(Derived.g)


def test_subclass_of_a_decorated_class():
    class Derived(Decorated):
        def method(self, y):
            return super().method(y) if y > 1 else self.x

    d = Derived(3.0)
    assert (d.method(0), d.method(2)) == (3.0, 3.0)
    assert jax.jit(autograph(d.method))(2.0) == 3


class Layer(equinox.Module):
    weight: jax.Array
    size: int = equinox.field(static=True)

    @autograph
    def __call__(self, x):
        for _ in range(self.size):
            if x > 0:
                x = x * self.weight
        return x

    @autograph
    def helper(self, x):
        return self(x) if x < 10 else x


@autograph
class Net(equinox.Module):
    layers: list[Layer]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x) if x < 100 else x
        return x


def test_equinox_modules():
    layer = Layer(jnp.float32(2), 3)
    assert equinox.filter_jit(layer)(1.0) == 8 and equinox.filter_jit(layer.helper)(1.0) == 8
    net = Net([layer, layer])
    assert equinox.filter_jit(net)(1.0) == 64
    gradient = equinox.filter_grad(lambda net: net(1.0))(net)
    assert [float(g.weight) for g in gradient.layers] == [96, 96]


def test_equinox_module_as_loop_state():
    @autograph
    def fit(layer, n):
        for _ in range(n):
            layer = equinox.tree_at(lambda m: m.weight, layer, layer.weight * 0.5)
        return layer

    assert jax.jit(fit)(Layer(jnp.float32(2), 1), 3).weight == 0.25


# ------------------------------------------------------------------ what cannot be

REFUSED = [3, "text", None, len, math.sin, np.add, jax.jit(relu), [relu], operator.itemgetter(1)]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_not_a_function(value: Any):
    if value is None:
        return  # `autograph()` is the decorator with options
    with pytest.raises(NotAFunctionError, match="autograph"):
        autograph(value)


@pytest.mark.parametrize("value", [3, len, None], ids=lambda value: type(value).__name__)
def test_no_source_of_what_is_no_function(value: Any):
    with pytest.raises(NotAFunctionError):
        ag.source(value)


SOURCES = {
    "function": (relu, "def relu"),
    "method": (plain.method, "def method"),
    "converted": (autograph(relu), "def relu"),
    "property": (vars(Decorated)["sign"], "def sign"),
    "partial": (functools.partial(plain.method), "def method"),
    "object": (plain, "def __call__"),
    "static method": (staticmethod(relu), "def relu"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_source(name: str):
    function, start = SOURCES[name]
    assert start in ag.source(function).partition("(")[0]


# ------------------------------------------------------------------ do_not_convert


def test_marked_function():
    @do_not_convert
    def left(x):
        return x if x > 0 else -x

    @do_not_convert()
    def also_left(x):
        return x if x > 0 else -x

    @autograph
    def f(x):
        return left(x)

    @autograph
    def g(x):
        return also_left(x)

    assert left.__name__ == "left" and f(-1) == g(-1) == 1
    assert not works_under_jit(f, 1.0) and not works_under_jit(g, 1.0)


def test_marked_method():
    class A:
        @do_not_convert
        def left(self, x):
            return x if x > 0 else -x

    @autograph
    def f(x):
        return A().left(x)

    assert f(-1) == 1 and not works_under_jit(f, 1.0)


def test_marked_bound_method():
    class A:
        def method(self, x):
            return x if x > 0 else -x

    a = A()
    assert do_not_convert(a.method).__self__ is a
    assert not works_under_jit(autograph(lambda x: a.method(x)), 1.0)


def test_switched_off():
    def callee(x):
        return x if x > 0 else -x

    @autograph
    def f(x):
        with do_not_convert():
            return callee(x)

    @autograph
    def g(x):
        with do_not_convert:
            y = callee(x)
        return y

    @autograph
    def h(x):
        return callee(x)

    assert f(-1) == g(-1) == 1
    assert not works_under_jit(f, 1.0) and not works_under_jit(g, 1.0)
    assert works_under_jit(h, 1.0), "it is on again"


def test_switched_off_nests_and_ends_with_errors():
    from autograph_jax.runtime.unconverted import switched_off

    with pytest.raises(KeyError), do_not_convert():
        with do_not_convert():
            pass
        assert switched_off()
        raise KeyError
    assert not switched_off()


def test_switched_off_classes_and_functions_for_jax():
    @autograph
    def f(x):
        class Made:
            def __init__(self, x):
                self.x = x if x > 0 else -x

        with do_not_convert():
            return Made(x).x

    @autograph
    def g(x):
        with do_not_convert():
            return jax.grad(relu)(x)

    assert not works_under_jit(f, 1.0) and not works_under_jit(g, 1.0)


def test_a_mark_does_not_keep_its_function():
    import gc
    import weakref

    function = do_not_convert(lambda x: x)
    gone = weakref.ref(function)
    del function
    gc.collect()
    assert gone() is None


# ------------------------------------------------------------------ what is converted on the way


class Model:
    def __init__(self, x):
        self.x = x if x > 0 else -x

    def __call__(self, y):
        return self.x if y > 0 else y

    def method(self, y):
        return self.x if y > 0 else y

    @property
    def signed(self):
        return self.x


class WithNew:
    def __new__(cls, x):
        made = object.__new__(cls)
        made.x = x
        return made

    def get(self):
        return self.x if self.x > 0 else -self.x


class Meta(type):
    pass


class WithMeta(metaclass=Meta):
    def __init__(self, x):
        self.x = x

    def get(self):
        return self.x if self.x > 0 else -self.x


step_of = functools.partial(lambda k, x: x if x > k else k, 0.5)
table = {"relu": relu}


def scanned(x):
    def body(carry, y):
        if y > 0:
            carry = carry + y
        return carry, carry

    return jax.lax.scan(body, x, jnp.arange(3.0))[0]


CALLS = {  # a function, and its value at 3
    "function": (lambda x: relu(x), 3),
    "function in a dict": (lambda x: table["relu"](x), 3),
    "method": (lambda x: Model(2.0).method(x), 2),
    "object": (lambda x: Model(2.0)(x), 2),
    "class": (lambda x: Model(x).x, 3),
    "class with __new__": (lambda x: WithNew(x).get(), 3),
    "class with a metaclass": (lambda x: WithMeta(x).get(), 3),
    "partial": (lambda x: step_of(x), 3),
    "map": (lambda x: list(map(relu, [x])), [3]),
    "max with key": (lambda x: max([x, x], key=lambda y: 1), 3),
    "functools.reduce": (lambda x: functools.reduce(lambda a, b: a if a > b else b, [x, x + 1]), 4),
    "grad": (lambda x: jax.grad(relu)(x), 1),
    "value_and_grad": (lambda x: jax.value_and_grad(relu)(x), (3, 1)),
    "vmap": (lambda x: jax.vmap(relu)(jnp.ones(2) * x), np.array([3, 3])),
    "jit": (lambda x: jax.jit(relu)(x), 3),
    "scan": (scanned, 6),
    "cond": (lambda x: jax.lax.cond(x > 5, relu, lambda y: y if y > 2 else -y, x), 3),
    "switch": (lambda x: jax.lax.switch(1, [relu, lambda y: y if y > 2 else -y], x), 3),
    "while_loop": (lambda x: jax.lax.while_loop(lambda y: y < 5, lambda y: y + 1 if y > 2 else y + 2, x), 5),
    "fori_loop": (lambda x: jax.lax.fori_loop(0, 3, lambda i, y: y + i if y > 2 else y + 2, x), 6),
    "map of lax": (lambda x: jax.lax.map(relu, jnp.ones(2) * x), np.array([3, 3])),
    "checkpoint": (lambda x: jax.checkpoint(relu)(x), 3),
    "jvp": (lambda x: jax.jvp(relu, (x,), (x,)), (3, 3)),
    "jacfwd": (lambda x: jax.jacfwd(relu)(x), 1),
    "bound method for grad": (lambda x: jax.grad(Model(2.0).method)(x), 0),
    "partial for vmap": (lambda x: jax.vmap(functools.partial(smaller, 0.5))(jnp.ones(2) * x), np.array([0.5, 0.5])),
    "by keyword": (lambda x: jax.grad(fun=relu)(x), 1),
    "lambda for grad": (lambda x: jax.grad(lambda y: y if y > 0 else -y)(x), 1),
    "grad of grad": (lambda x: jax.grad(jax.grad(lambda y: y * y if y > 0 else -y))(x), 2),
    "tree.map": (lambda x: jax.tree.map(relu, {"a": x}), {"a": 3}),
    "equinox": (lambda x: equinox.filter_grad(relu)(x), 1),
    "optax": (lambda x: optax.inject_hyperparams(optax.sgd)(relu).init(x).hyperparams["learning_rate"], 0),
}


def smaller(a, b):
    return a if a < b else b


@pytest.mark.parametrize("name", CALLS)
def test_callees_are_converted(name: str):
    function, expected = CALLS[name]
    found = jax.jit(autograph(function))(3.0)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert np.allclose(a, b)


def test_isinstance_and_type_see_the_class_itself():
    @autograph
    def f(x):
        model = Model(x)
        return type(model) is Model and isinstance(model, Model) and callable(Model)

    assert f(1.0)


def test_converted_functions_are_called_as_they_are():
    double = autograph(lambda x: x * 2 if x > 0 else x)
    assert autograph(lambda x: double(x))(3) == 6


def test_recursion():
    @autograph
    def power(x, n):
        if n == 0:
            return 1.0
        return x * power(x, n - 1)

    assert jax.jit(power, static_argnums=1)(2.0, 5) == 32 and power(2, 50) == 2.0**50


def test_deep_recursion():
    """Python's own limit is 1,000 frames; converted code needs a few for each call of the user's."""

    @autograph
    def depth(n):
        if n == 0:
            return 0
        return 1 + depth(n - 1)

    assert depth(200) == 200


# ------------------------------------------------------------------ libraries

LEFT_ALONE = ["jax", "jax.numpy", "numpy", "math", "functools", "optax._src.base", "equinox", "autograph_jax.operators.loops"]


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_left_alone(name: str):
    assert is_left_alone(name)


@pytest.mark.parametrize("name", ["__main__", "mymodel", "jaxy", "mathematics", "numpyro_extras", None, ""])
def test_the_users_own(name: str | None):
    assert not is_left_alone(name) and not is_array_library(name)


def test_array_libraries():
    assert is_array_library("jax.numpy") and not is_array_library("numpy") and not is_array_library("math")


def test_public_names():
    assert set(ag.__all__) <= set(dir(ag)) and all(getattr(ag, name) is not None for name in ag.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ag.nothing
