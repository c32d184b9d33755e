"""Special methods and properties of users' classes are converted in place, once converted code comes to know the class."""

import abc
import copy
import dataclasses
import enum
import functools
import gc
import inspect
import pickle
import sys
import threading
import types
import weakref
from typing import Any, NamedTuple, Protocol

import equinox
import jax
import pytest

import autograph_jax as ag
from autograph_jax import autograph, do_not_convert
from autograph_jax.runtime import classes, libraries
from autograph_jax.runtime.convert import is_converted
from tests.converters.helpers import Row, check_calls


def converted(kind: type) -> set[str]:
    """The members of a class that have been converted."""
    found = set()
    for name, member in vars(kind).items():
        inner = getattr(member, "__func__", member)
        inner = member.fget if isinstance(member, property) else inner
        inner = member.func if isinstance(member, functools.cached_property) else inner
        if isinstance(inner, types.FunctionType) and is_converted(inner):
            found.add(name)
    return found


def fresh() -> type:
    """A class that nobody has met."""

    class Money:
        """So much."""

        rate = 0.5

        def __init__(self, amount):
            self.amount = amount if amount > 0 else -amount

        def __add__(self, other: float = 2.0) -> "Money":
            """Some more."""
            return Money(self.amount + other if other > 0 else self.amount)

        __radd__ = __add__

        def __getitem__(self, position):
            return self.amount

        def __repr__(self):
            return "Money" if self.amount > 0 else "no money"

        @property
        def doubled(self):
            """Twice as much."""
            return self.amount * 2 if self.amount < 10 else self.amount

        @property
        def plain(self):
            return self.amount

        @classmethod
        def __class_getitem__(cls, item):
            return cls if item is int else None

        def spend(self, amount):
            return self.amount - amount if amount > 0 else self.amount

    return Money


SPECIAL = {"__init__", "__add__", "__radd__", "doubled", "__class_getitem__"}


# ------------------------------------------------------------------ what is replaced


def test_only_what_python_calls_by_itself():
    Money = fresh()
    before = dict(vars(Money))
    classes.meet(Money)
    assert converted(Money) == SPECIAL
    stay = before.keys() - SPECIAL
    assert stay >= {"spend", "__repr__", "__getitem__", "plain", "rate"}
    assert all(vars(Money)[name] is before[name] for name in stay)


def test_once():
    Money = fresh()
    classes.meet(Money)
    after = dict(vars(Money))
    classes.meet(Money)
    assert dict(vars(Money)) == after
    assert Money.__add__ is Money.__radd__


def test_what_a_user_sees_stays():
    Money, original = fresh(), fresh()
    classes.meet(Money)
    for name in ("__init__", "__add__"):
        new, old = getattr(Money, name), getattr(original, name)
        assert inspect.signature(new) == inspect.signature(old) and inspect.getsource(new) == inspect.getsource(old)
        assert (new.__name__, new.__qualname__, new.__doc__, new.__defaults__, new.__module__) == (
            old.__name__,
            old.__qualname__,
            old.__doc__,
            old.__defaults__,
            old.__module__,
        )
    assert Money.doubled.__doc__ == "Twice as much." and Money.doubled.fset is None
    assert (Money(-3.0) + 1.0).amount == 4.0 and Money(3.0).doubled == 6.0 and Money[int] is Money


def test_generated_methods_stay_but_for_comparisons():
    @dataclasses.dataclass(order=True)
    class Interval:
        low: float
        high: float

        def __post_init__(self):
            if self.low > self.high:
                self.low, self.high = self.high, self.low

    class Point(NamedTuple):
        x: float

        def __neg__(self):
            return Point(-self.x if self.x > 0 else self.x)

    generated, compared = (Interval.__init__, Point.__new__), (Interval.__eq__, Interval.__lt__)
    classes.meet(Interval)
    classes.meet(Point)
    assert (Interval.__init__, Point.__new__) == generated
    assert tuple(map(inspect.unwrap, (Interval.__eq__, Interval.__lt__))) == compared  # these compare traced fields
    assert converted(Interval) == {"__post_init__"} and converted(Point) == {"__neg__"}
    assert Interval(3.0, 1.0) == Interval(1.0, 3.0) and -Point(2.0) == Point(-2.0)


def test_bases_too():
    class Base:
        def __neg__(self):
            return 1 if self else 0

        @property
        def kind(self):
            return "base" if self else "none"

    class Middle(Base, dict):
        pass

    class Top(Middle):
        @property
        def kind(self):
            return super().kind + "!" if self else "no"

    classes.meet(Top)
    assert converted(Base) == {"__neg__", "kind"} and converted(Top) == {"kind"}
    assert dict.__getitem__ is vars(dict)["__getitem__"]
    assert Top(a=1).kind == "base!" and -Top() == 0


def test_a_function_with_two_names_stays_one():
    class Disk:
        def area(self):
            return 1.0 if self else 2.0

        size = property(area)

        def neg(self):
            return 3.0 if self else 4.0

        __neg__ = neg

    classes.meet(Disk)
    assert vars(Disk)["size"].fget is Disk.area and Disk.__neg__ is Disk.neg and converted(Disk) == {*vars(Disk)} & {
        "area", "size", "neg", "__neg__"
    }  # fmt: skip


def test_a_metaclass_that_forbids_it():
    class Fixed(type):
        def __setattr__(cls, name, value):
            raise TypeError("fixed")

        def __call__(cls, *arguments):
            return super().__call__(*arguments) if arguments else None

        def __eq__(cls, other):
            raise AssertionError("nobody asks")

    class Made(metaclass=Fixed):
        def __init__(self, x):
            self.x = x if x > 0 else 0

    meta = dict(vars(Fixed))
    classes.meet(Made)
    assert converted(Made) == {"__init__"} and dict(vars(Fixed)) == meta
    assert type.__call__(Made, -1).x == 0


class Color(enum.Enum):
    RED = 1
    BLUE = 2

    @property
    def warm(self):
        return True if self is Color.RED else False

    def __invert__(self):
        return Color.BLUE if self is Color.RED else Color.RED


class Shape(abc.ABC):
    @property
    @abc.abstractmethod
    def size(self):
        return 1.0 if self else 2.0

    @abc.abstractmethod
    def __neg__(self):
        return 1.0 if self else 2.0


class Sized(Protocol):
    @property
    def size(self): ...


class Square(Shape, Sized):
    __slots__ = ("side",)

    def __init__(self, side):
        self.side = side if side > 0 else 0

    @property
    def size(self):
        return self.side**2 if self.side < 10 else super().size

    def __neg__(self):
        return super().__neg__() + 1


def test_enum_abc_protocol_and_slots():
    classes.meet(Color)
    classes.meet(Square)
    assert converted(Color) == {"warm", "__invert__"} and converted(Shape) == {"size", "__neg__"}
    assert Color.RED.warm and ~Color.RED is Color.BLUE and Color(1) is Color.RED and list(Color) == [Color.RED, Color.BLUE]
    assert Shape.__abstractmethods__ == {"size", "__neg__"} and Shape.size.__isabstractmethod__
    with pytest.raises(TypeError, match="abstract"):
        Shape()  # pyright: ignore
    assert Square(3).size == 9 and Square(20).size == 1.0 and -Square(1) == 2.0


def test_objects_are_pickled_and_copied_as_before():
    square = Square(3)
    classes.meet(Square)
    for other in (pickle.loads(pickle.dumps(square)), copy.copy(square), copy.deepcopy(square)):
        assert type(other) is Square and other.size == 9


def test_total_ordering_gets_comparisons_that_give_arrays():
    @functools.total_ordering
    class Grade:
        def __init__(self, points):
            self.points = points

        def __lt__(self, other):
            return self.points < other.points

        def __eq__(self, other):
            return self.points == other.points

    classes.meet(Grade)
    assert {"__gt__", "__ge__", "__le__"} <= converted(Grade) and Grade.__hash__ is None

    @jax.jit
    @autograph
    def at_least(x):
        return Grade(x) >= Grade(2.0), Grade(x) != Grade(2.0)

    assert at_least(3.0) == (True, True) and at_least(2.0) == (True, False)


def test_not_equal():
    """`object.__ne__` asks for a plain bool; one's own takes its place where a class defines `__eq__`."""

    class Plain:
        pass

    class Equal:
        def __eq__(self, other):
            return NotImplemented if other is None else other == 1

        __hash__ = object.__hash__

    class Both(Equal):
        def __ne__(self, other):
            return "own"

    for kind in (Plain, Equal, Both):
        classes.meet(kind)
    assert "__ne__" not in vars(Plain) and Both() != 1 and (Both() != 2) == "own"  # noqa: SIM300
    assert (Equal() != 1) is False and (Equal() != 2) is True and (Equal() != None) is True  # noqa: E711
    assert len({Equal(), Equal()}) == 2


# ------------------------------------------------------------------ what is left


def test_classes_of_libraries_stay():
    import decimal

    before = dict(vars(decimal.Decimal)), dict(vars(equinox.Module))
    for kind in (decimal.Decimal, equinox.Module, jax.Array, int, type, object):
        classes.meet(kind)
    assert (dict(vars(decimal.Decimal)), dict(vars(equinox.Module))) == before


def test_an_installed_package_is_its_authors(monkeypatch: pytest.MonkeyPatch):
    """Unless it decorates functions of its own."""
    package = types.ModuleType("someones_package")
    package.__file__ = "/usr/lib/python3/site-packages/someones_package/__init__.py"
    monkeypatch.setitem(sys.modules, "someones_package", package)
    monkeypatch.setattr(libraries, "_using_us", set())
    first, second = fresh(), fresh()
    first.__module__ = second.__module__ = "someones_package.money"
    classes.meet(first)
    assert converted(first) == set()
    libraries.uses_us("someones_package.solver")
    classes.meet(second)
    assert converted(second) == SPECIAL


def test_marked_classes_and_methods():
    @do_not_convert
    class Left:
        def __init__(self, x):
            self.x = x if x > 0 else 0

        def method(self, x):
            return x if x > 0 else 0

        @staticmethod
        def static(x):
            return x if x > 0 else 0

    class Mixed(Left):
        @do_not_convert
        def __add__(self, other):
            return other if other > 0 else 0

        def __sub__(self, other):
            return other if other > 0 else 0

    classes.meet(Mixed)
    assert converted(Left) == set() and converted(Mixed) == {"__sub__"}
    for f in (lambda x: Left(x).x, lambda x: Left.static(x), lambda x: Mixed(1.0).method(x), lambda x: Mixed(1.0) + x):
        with pytest.raises(jax.errors.TracerBoolConversionError):
            jax.jit(autograph(f))(1.0)
    assert jax.jit(autograph(lambda x: Mixed(1.0) - x))(-1.0) == 0


def test_while_conversion_is_switched_off():
    Money = fresh()
    with do_not_convert():
        classes.meet(Money)
    assert converted(Money) == set()
    classes.meet(Money)
    assert converted(Money) == SPECIAL


def test_a_class_can_be_forgotten():
    Money = fresh()
    classes.meet(Money)
    key, dead = id(Money), weakref.ref(Money)
    assert key in classes._known_to_all
    del Money
    gc.collect()
    assert dead() is None and key not in classes._known_to_all


# ------------------------------------------------------------------ when a class is known


class Vector:
    def __init__(self, x):
        self.x = x

    def __neg__(self):
        return Vector(-self.x if self.x > 0 else self.x)

    @property
    def size(self):
        return self.x if self.x > 0 else -self.x

    def flipped(self):
        return -self


def made() -> Any:
    """A vector of a class of its own, of which only the object is known."""

    class Own(Vector):
        def __abs__(self):
            return self.x if self.x > 0 else -self.x

    return Own(-3.0)


HELD = made()
MODULE = types.ModuleType("users_module")
MODULE.HELD = made()  # pyright: ignore
ANNOTATED, QUOTED, INSIDE = (type(made()) for _ in range(3))


def by_a_global():
    return abs(HELD)


def by_a_module():
    return abs(MODULE.HELD)  # pyright: ignore


def by_an_annotation(v: ANNOTATED):  # pyright: ignore
    return v


def by_a_quoted_annotation(v: "QUOTED | None"):  # pyright: ignore
    return v


def by_an_annotation_inside(v: dict[str, list[INSIDE]]):  # pyright: ignore
    return v


NAMED = {
    by_a_global: lambda: type(HELD),
    by_a_module: lambda: type(MODULE.HELD),  # pyright: ignore
    by_an_annotation: lambda: ANNOTATED,
    by_a_quoted_annotation: lambda: QUOTED,
    by_an_annotation_inside: lambda: INSIDE,
}


@pytest.mark.parametrize("function", NAMED, ids=lambda f: f.__name__)
def test_named_by_a_function(function: Any):
    autograph(function)
    assert converted(NAMED[function]()) == {"__abs__"}


def test_around_a_function_and_in_its_defaults():
    around, default, deep = made(), made(), made()
    table = {"key": [deep]}

    @autograph
    def f(x, y=default):
        def inner():
            return abs(around), abs(table["key"][0])

        return inner(), abs(y)

    assert all(converted(type(v)) == {"__abs__"} for v in (around, default, deep))


def test_created_and_called():
    kinds = [type(made()) for _ in range(2)]

    @autograph
    def create(make):
        return abs(make(2.0))

    @autograph
    def call(v):
        v.flipped()
        return abs(v)

    objects = [kind(-1.0) for kind in kinds]
    jax.jit(lambda x: create(kinds[0]))(1.0)
    assert converted(kinds[0]) == {"__abs__"} and converted(kinds[1]) == set()
    call(objects[1])
    assert converted(kinds[1]) == {"__abs__"}


def test_in_the_variables_of_a_block():
    v = made()

    @autograph
    def f(x, v):
        y = 0.0
        if x > 0:
            y = abs(v)
        return y

    assert jax.jit(f, static_argnums=1)(2.0, v) == 3.0
    assert converted(type(v)) == {"__abs__"}


def test_as_an_argument_of_ag_jit():
    @jax.tree_util.register_pytree_node_class
    class Own(Vector):
        def __abs__(self):
            return self.x if self.x > 0 else -self.x

        def tree_flatten(self):
            return (self.x,), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    f = ag.jit(lambda pair: abs(pair[0]) + abs(pair[1]))
    assert f((Own(2.0), Own(-3.0))) == 5.0


def test_a_descriptors_class():
    class Positive:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, instance, owner=None):
            return getattr(instance, self.name) if instance is not None else self

        def __set__(self, instance, value):
            setattr(instance, self.name, value if value > 0 else 0.0)

    class Holder:
        level = Positive()

    @jax.jit
    @autograph
    def f(x):
        holder = Holder()
        holder.level = x
        return holder.level

    assert f(2.0) == 2.0 and f(-2.0) == 0.0 and {"__set__", "__get__"} <= converted(Positive)


def test_threads_meet_a_class_at_once():
    for _ in range(5):
        Money, results = fresh(), []
        start = threading.Barrier(4)

        def use(kind=Money, start=start, results=results):
            start.wait()
            results.append(jax.jit(autograph(lambda x: (kind(x) + x).doubled))(2.0))

        threads = [threading.Thread(target=use) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [8.0] * 4 and converted(Money) == SPECIAL


def test_a_class_that_names_itself_and_another():
    class First:
        def __neg__(self):
            return Second() if self else First()

    class Second:
        def __neg__(self):
            return First() if self else Second()

    classes.meet(First)
    assert converted(First) == {"__neg__"} and converted(Second) == {"__neg__"}
    assert type(-First()) is Second


# ------------------------------------------------------------------ libraries' base classes


def test_equinox():
    class Model(equinox.Module):
        weight: jax.Array

        def __post_init__(self):
            if self.weight > 5:
                self.weight = self.weight * 0

        @property
        def norm(self):
            return self.weight if self.weight > 0 else -self.weight

        def __add__(self, other):
            return self.norm + other if other > 0 else self.norm

        def step(self, x):
            return x * self.norm if x > 0 else x

    class Own(equinox.Module):
        weight: jax.Array

        def __init__(self, weight):
            self.weight = weight if weight > 0 else -weight

    @jax.jit
    @autograph
    def f(x):
        model = Model(x)
        return model + x, model.step(-x), Own(x).weight

    assert f(3.0) == (6.0, -3.0, 3.0) and f(-3.0) == (3.0, 9.0, 3.0) and f(6.0) == (6.0, -6.0, 6.0)


def test_flax():
    nnx, struct = pytest.importorskip("flax.nnx"), pytest.importorskip("flax.struct")

    class Layer(nnx.Module):
        def __init__(self, weight):
            self.weight = weight if weight > 0 else -weight

        @property
        def doubled(self):
            return self.weight * 2 if self.weight < 5 else self.weight

    @struct.dataclass
    class State:
        level: Any

        def __post_init__(self):
            if isinstance(self.level, jax.Array) and self.level > 5:
                object.__setattr__(self, "level", self.level * 0)

        def __add__(self, other):
            return self.replace(level=self.level + other if other > 0 else self.level)

    @jax.jit
    @autograph
    def f(x):
        return Layer(x).doubled, (State(x) + x).level

    assert f(3.0) == (6.0, 0.0) and f(-4.0) == (8.0, -4.0) and f(2.0) == (4.0, 4.0)


def test_a_decorated_class_and_its_bases():
    class Base:
        def __neg__(self):
            return 1 if self else 0

    @autograph
    class Decorated(Base):
        def method(self, x):
            return x if x > 0 else -x

        @functools.cached_property
        def once(self):
            return 1 if self else 0

        def __repr__(self):
            return "yes" if self else "no"

    assert converted(Base) == {"__neg__"} and converted(Decorated) == {"method", "once", "__repr__"}
    assert Decorated().once == 1 and "once" in vars(Decorated)


UNUSUAL = {
    "an object that is asked for its attributes": Row(
        """
        class C:
            def __getattribute__(self, name):
                say(name)
                return super().__getattribute__(name)

        def f(x):
            c = C()
            c.y = x
            c.y += 1
            if c.y:
                c.z = [c]
            c.z[0].y = 5
            return c.y, c is c, c is not c, c == c, c in [c], c not in {c}, (c, 1) < (c, 2), not c, [c][0].y
        """,
        None,
        [(1,)],
    ),
    "an object that names another class": Row(
        """
        class C:
            @property
            def __class__(self):
                say('asked')
                return int

        def f(x):
            c = C()
            if c:
                d = [c]
            for e in d:
                pass
            d.append(c)
            e = {1: c}
            e[2] = c
            c.x = 1
            return c is c, c == 1, not c, c and c, c.x
        """,
        None,
        [(1,)],
    ),
    "a metaclass whose classes have no module": Row(
        """
        class M(type):
            @property
            def __module__(self):
                return 1 / 0

        C = M('C', (), {'__call__': lambda self: 1})

        def f(x):
            return C()()
        """,
        None,
        [(1,)],
    ),
    "properties with names of type's own": Row(
        """
        class C:
            __bases__ = property(lambda self: (1,) if self else 0)
            __name__ = property(lambda self: 'mine' if self else '')

        def f(x):
            return C().__bases__, C().__name__, C.__name__
        """,
        None,
        [(1,)],
    ),
}


@pytest.mark.parametrize("row", UNUSUAL.values(), ids=UNUSUAL)
def test_unusual_classes_are_pythons(row: Row):
    check_calls(row)
