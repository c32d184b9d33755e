"""Users' classes: what Python calls by itself (operators, properties, `__post_init__`, descriptors), and objects that join."""

# ruff: noqa: B015  a comparison whose value nobody needs is a program too

import contextlib
import copy
import dataclasses
import enum
import functools
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import jax
import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row

VECTOR = np.array([1.0, -2.0, 3.0])


# ------------------------------------------------------------------ properties
class Disk:
    limit = 4.0

    def __init__(self, radius):
        self.radius = radius
        self._level = radius * 0

    @property
    def area(self):
        if self.radius < 0:
            return 0.0
        return 3.0 * self.radius**2

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        if value > self.limit:
            value = self.limit
        self._level = value

    @level.deleter
    def level(self):
        self._level = -1.0 if self.radius > 0 else -2.0


class Ring(Disk):
    @property
    def area(self):
        whole = super().area
        return whole - 1.0 if whole > 5 else whole


def property_with_a_condition(x):
    return Disk(x).area


row(property_with_a_condition, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def property_of_a_base_class(x):
    return Ring(x).area


row(property_of_a_base_class, [2.0], [0.5], [-2.0], staged="cond", grad=True, batch=True)


def property_set_and_deleted(x):
    disk = Disk(x)
    disk.level = x * 3
    high = disk.level
    disk.level += 1.0
    raised = disk.level
    del disk.level
    return high, raised, disk.level


row(property_set_and_deleted, [2.0], [0.5], [-2.0], staged="cond", grad=True, batch=True)


def property_set_in_a_branch(x):
    disk = Disk(x)
    if x > 0:
        disk.level = x * 3
    return disk.level


row(property_set_in_a_branch, [2.0], [0.5], [-2.0], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ operators
class Money:
    def __init__(self, amount):
        self.amount = amount

    def __add__(self, other):
        total = self.amount + (other.amount if isinstance(other, Money) else other)
        return Money(total if total < 10 else 10.0)

    __radd__ = __add__

    def __sub__(self, other):
        if self.amount > other.amount:
            return Money(self.amount - other.amount)
        return Money(0.0)

    def __neg__(self):
        return Money(-self.amount if self.amount > 0 else self.amount)

    def __abs__(self):
        return self.amount if self.amount > 0 else -self.amount

    def __lt__(self, other):
        if other.amount > 100:
            return self.amount < 100
        return self.amount < other.amount

    def __eq__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return self.amount == other.amount and self.amount > -100

    __hash__ = None

    def __bool__(self):
        return bool(self.amount > 0)

    def __float__(self):
        return float(self.amount) if self.amount > 0 else 0.0

    def __iadd__(self, other):
        if other > 0:
            self.amount = self.amount + other
        return self

    def __call__(self, rate):
        return self.amount * rate if rate > 0 else self.amount

    def __round__(self, digits=0):
        return self.amount * 2 if self.amount > 1 else self.amount


def addition(x):
    return (Money(x) + Money(x + 1)).amount


row(addition, [2.0], [7.0], [-9.0], staged="cond", grad=True, batch=True)


def reflected_addition(x):
    return (3.0 + Money(x)).amount, sum([Money(x), Money(4.0)], 0.0).amount


row(reflected_addition, [2.0], [8.0], staged="cond", grad=True, batch=True)


def subtraction_returns_a_new_object_on_each_path(x):
    return (Money(x) - Money(1.0)).amount


row(subtraction_returns_a_new_object_on_each_path, [2.0], [0.5], staged="cond", grad=True, batch=True)


def unary_operators(x):
    return (-Money(x)).amount + abs(Money(x))


row(unary_operators, [2.0], [-3.0], staged="cond", grad=True, batch=True)


def comparison_in_an_if(x):
    if Money(x) < Money(1.0):
        return x * 2
    return x


row(comparison_in_an_if, [2.0], [-3.0], staged="cond", grad=True, batch=True)


def maximum_by_a_comparison(x):
    return max(Money(x), Money(1.0)).amount


row(maximum_by_a_comparison, [2.0], [-3.0], staged="cond", grad=True, batch=True)


def equality(x):
    return 1.0 if Money(x) == Money(2.0) else 0.0


row(equality, [2.0], [-3.0], staged="cond", batch=True)


def inequality(x):
    return 1.0 if Money(x) != Money(2.0) else 0.0


row(inequality, [2.0], [-3.0], staged="cond", batch=True)


def equality_with_another_type(x):
    return (x if Money(x) == "two" else -x), (x if Money(x) != "two" else -x)


row(equality_with_another_type, [2.0], [-3.0], grad=True, batch=True)


def truth_of_an_object(x):
    money = Money(x)
    if money:
        x = x * 2
    y = 1.0 if not money else 3.0
    return x + y, bool(money), y if money and x > 1 else 0.0


row(truth_of_an_object, [2.0], [-3.0], staged="cond", batch=True)


def truth_of_an_object_in_a_while(x):
    money = Money(x)
    while money:
        money = Money(money.amount - 1.0)
    return money.amount


row(truth_of_an_object_in_a_while, [2.5], [-3.0], staged="loop", batch=True)


def augmented_assignment_of_an_object(x):
    money = Money(x)
    same = money
    money += x
    return same.amount


row(augmented_assignment_of_an_object, [2.5], [-3.0], staged="cond", grad=True, batch=True)


def float_of_an_object(x):
    return float(Money(x))


row(float_of_an_object, [2.5], [-3.0], staged="cond", batch=True)


def round_of_an_object(x):
    return round(Money(x)), round(Money(x), 1)


row(round_of_an_object, [2.5], [-3.0], staged="cond", grad=True, batch=True)


ACCOUNT = Money(3.0)


def operator_of_a_global_object(x):
    return (ACCOUNT + x).amount


row(operator_of_a_global_object, [2.5], [9.0], staged="cond", grad=True, batch=True)


def object_called_by_a_builtin(x):
    return sum(map(ACCOUNT, [x, -x]))


row(object_called_by_a_builtin, [2.5], [-9.0], staged="cond", grad=True, batch=True)


def operator_of_an_object_around(x):
    offset = Money(3.0)

    def shifted(y):
        return offset + y

    return shifted(x).amount


row(operator_of_an_object_around, [2.5], [9.0], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ containers
class Signal:
    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, position):
        value = self.values[position]
        return value if value > 0 else -value

    def __setitem__(self, position, value):
        if value > 10:
            value = 10.0
        self.values[position] = value

    def __delitem__(self, position):
        self.values[position] = 0.0 if self.values[position] > 0 else -1.0

    def __contains__(self, value):
        for known in self.values:
            if known == value:
                return True
        return False

    def __iter__(self):
        for value in self.values:
            if value > 2:
                value = 2.0
            yield value

    def __reversed__(self):
        return iter(self.values[::-1])


def item_read(v):
    return Signal(v)[1] + Signal(v)[0]


row(item_read, [VECTOR], [-VECTOR], staged="cond", grad=True, batch=True)


def item_written(v):
    signal = Signal(v)
    signal[0] = v[1] * 10
    signal[1] += 20.0
    del signal[2]
    return signal.values


row(item_written, [VECTOR], [-VECTOR], staged="cond", grad=True, batch=True)


def item_written_in_a_branch(v):
    signal = Signal(v)
    if v[0] > 0:
        signal[0] = v[1] * 10
    return signal.values


row(item_written_in_a_branch, [VECTOR], [-VECTOR], staged="cond", grad=True, batch=True)


def membership(v, x):
    if x in Signal(v):
        return 1.0
    return 0.0 if x + 1 not in Signal(v) else 2.0


row(membership, [VECTOR, 3.0], [VECTOR, 5.0], [VECTOR, 2.0], batch=True)


def length_and_truth_of_a_container(v):
    signal = Signal(v)
    return v[0] * len(signal) if signal else v[0]


row(length_and_truth_of_a_container, [VECTOR], grad=True)


def iteration_by_a_generator(v):
    total = 0.0
    for value in Signal(v):
        total = total + value
    return total


row(iteration_by_a_generator, [VECTOR * 1.1], [-VECTOR * 1.1], staged="cond", grad=True, batch=True)


class Heights:
    """No `__contains__`: `in` goes by `__iter__`."""

    def __init__(self, values):
        self.values = values

    def __iter__(self):
        return iter([self.values[0], self.values[1]])


def membership_by_iteration(v, x):
    return 1.0 if x in Heights(v) else 0.0


row(membership_by_iteration, [VECTOR, 1.0], [VECTOR, 3.0], batch=True)


class Bag:
    """A length that is only known at run time."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count if self.count > 0 else 0


def length_known_at_run_time(n):
    bag = Bag(n)
    if bag:
        n = n + 1
    return len(bag) + n


row(length_known_at_run_time, [3], [-2], staged="cond", batch=True)


class Countdown:
    def __init__(self, start, turns):
        self.value, self.turns = start, turns

    def __iter__(self):
        return self

    def __next__(self):
        if self.turns == 0:
            raise StopIteration
        self.turns -= 1
        if self.value > 1:
            self.value = self.value - 1
        return self.value


def iterator_of_a_class(x):
    total = 0.0
    for value in Countdown(x, 3):
        total = total + value
    return total


row(iterator_of_a_class, [3.5], [0.5], grad=True, batch=True)


# ------------------------------------------------------------------ dataclasses
@dataclasses.dataclass
class Interval:
    low: Any
    high: Any
    width: Any = dataclasses.field(init=False)

    def __post_init__(self):
        if self.low > self.high:
            self.low, self.high = self.high, self.low
        self.width = self.high - self.low if self.high > 0 else 0.0


def post_init(x):
    interval = Interval(x, 1.0)
    return interval.low, interval.high, interval.width


row(post_init, [2.0], [0.5], [-1.0], staged="cond", grad=True, batch=True)


def post_init_in_a_branch(x):
    width = x * 0
    if x > 0:
        width = Interval(x, 1.0).width
    return width


row(post_init_in_a_branch, [2.0], [0.5], [-1.0], staged="cond", grad=True, batch=True)


def post_init_in_a_loop(v):
    total = 0.0
    for e in v:
        total = total + Interval(e, 1.0).width
    return total


row(post_init_in_a_loop, [VECTOR + 0.5], [-VECTOR + 0.5], staged="loop cond", grad=True, batch=True)


@dataclasses.dataclass(frozen=True)
class Weight:
    value: Any
    scale: float = 2.0

    def __post_init__(self):
        if self.value > self.scale:
            object.__setattr__(self, "value", self.scale)

    def __mul__(self, other):
        return dataclasses.replace(self, value=self.value * other if other > 0 else self.value)


def frozen_dataclass(x):
    return (Weight(x) * x).value


row(frozen_dataclass, [3.0], [0.5], [-1.0], staged="cond", grad=True, batch=True)


def frozen_dataclasses_of_two_paths(x):
    weight = Weight(x)
    if x > 0:
        weight = weight * 3.0
    return weight.value * weight.scale


row(frozen_dataclasses_of_two_paths, [3.0], [0.5], [-1.0], staged="cond", grad=True, batch=True)


def dataclass_written_in_a_branch(x):
    interval = Interval(0.0, 1.0)
    if x > 0:
        interval.high = x
        interval.width = x - interval.low
    return interval.width + interval.high


row(dataclass_written_in_a_branch, [3.0], [-1.0], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ cached properties
class Model:
    def __init__(self, weight):
        self.weight = weight
        self.evaluations = 0

    @functools.cached_property
    def norm(self):
        self.evaluations += 1
        if self.weight < 0:
            return -self.weight
        return self.weight


def cached_property(x):
    model = Model(x)
    return model.norm + model.norm, model.evaluations


row(cached_property, [3.0], [-1.0], staged="cond", batch=True)


def cached_property_first_read_in_a_branch(x):
    model = Model(x)
    r = 0.0
    if x > 0:
        r = model.norm
    return r + model.norm * 10, model.evaluations


row(cached_property_first_read_in_a_branch, [3.0], [-1.0], staged="cond", batch=True)


def cached_property_of_an_expression(x):
    model = Model(x)
    r = model.norm if x > 1 else 0.0
    return r + model.norm * 10


row(cached_property_of_an_expression, [3.0], [-1.0], staged="cond", grad=True, batch=True)


def cached_property_first_read_in_a_loop(x, n):
    model = Model(x)
    r = 0.0
    for _ in range(n):
        r = r + model.norm
    return r + model.norm * 10, model.evaluations


row(cached_property_first_read_in_a_loop, [3.0, 2], [-1.0, 0], staged="loop", batch=True)


def cached_property_emptied(x):
    model = Model(x)
    before = model.norm
    model.weight = x - 3.0
    kept = model.norm
    del model.norm
    fresh = model.norm
    model.norm = x * 7
    return before, kept, fresh, model.norm


row(cached_property_emptied, [3.5], [-1.0], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ descriptors, __getattr__, __setattr__, __new__
class Clamped:
    def __init__(self, top):
        self.top = top

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = getattr(instance, self.name)
        return value if value > 0 else 0.0

    def __set__(self, instance, value):
        if value > self.top:
            value = self.top
        setattr(instance, self.name, value)


class Throttle:
    speed = Clamped(5.0)

    def __init__(self, speed):
        self.speed = speed


def descriptor(x):
    throttle = Throttle(x)
    before = throttle.speed
    throttle.speed = x * 2
    return before, throttle.speed


row(descriptor, [2.0], [4.0], [-1.0], staged="cond", grad=True, batch=True)


def descriptor_in_a_branch(x):
    throttle = Throttle(x)
    if x > 0:
        throttle.speed = x * 2
    return throttle.speed


row(descriptor_in_a_branch, [2.0], [4.0], [-1.0], staged="cond", grad=True, batch=True)


class Units:
    """Attributes that are computed, and attributes that are checked."""

    def __init__(self, meters):
        self.meters = meters

    def __getattr__(self, name):
        if name == "feet":
            return self.meters * 3.0 if self.meters > 0 else 0.0
        raise AttributeError(name)

    def __setattr__(self, name, value):
        if value < 0:
            value = -value
        super().__setattr__(name, value)


def computed_attribute(x):
    units = Units(x)
    return units.feet, units.meters, hasattr(units, "miles")


row(computed_attribute, [2.0], [-4.0], staged="cond", batch=True)


def checked_attribute_in_a_branch(x):
    units = Units(x)
    if x > 1:
        units.meters = 1.0 - x
    return units.meters


row(checked_attribute_in_a_branch, [2.0], [-4.0], staged="cond", grad=True, batch=True)


class Hidden:
    """Keeps its attributes under other names."""

    def __setattr__(self, name, value):
        object.__setattr__(self, "_" + name, value if value > 0 else 0.0)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self, "_" + name)


def attribute_under_another_name(x):
    hidden = Hidden()
    hidden.value = x
    if x > 1:
        hidden.value = x * 2
        hidden.other = x
    else:
        hidden.other = 1.0
    return hidden.value, hidden.other


row(attribute_under_another_name, [2.0], [-4.0], [0.5], staged="cond", grad=True, batch=True)


class Positive:
    def __new__(cls, value):
        made = super().__new__(cls)
        if value > 0:
            made.value = value
        else:
            made.value = 0.0
        return made


def new_with_a_condition(x):
    return Positive(x).value


row(new_with_a_condition, [2.0], [-4.0], staged="cond", grad=True, batch=True)


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value if value > 0 else 0.0

    def __add__(self, other):
        return Slotted(self.value + other if other > 0 else self.value)


def slots(x):
    slotted = Slotted(x) + x
    if x > 1:
        slotted.value = x
    return slotted.value


row(slots, [2.0], [0.5], [-4.0], staged="cond", grad=True, batch=True)


def instance_dict_written(x):
    units = Disk(x)
    if x > 1:
        units.__dict__["radius"] = x * 2
        vars(units)["_level"] = x
    return units.radius + units._level


row(instance_dict_written, [2.0], [0.5], [-4.0], staged="cond", grad=True, batch=True)


class Stack(list):
    def push(self, value):
        super().append(value if value > 0 else 0.0)

    def __add__(self, other):
        return self[0] + other if other > 0 else self[0]


STACK = Stack([1.0])


def subclass_of_list(x):
    stack = Stack()
    stack.push(x)
    return stack + x


row(subclass_of_list, [2.0], [-4.0], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ context managers
class Scaled:
    """Scales a value while it is open."""

    def __init__(self, value, factor):
        self.value, self.factor = value, factor

    def __enter__(self):
        if self.factor > 1:
            self.value = self.value * self.factor
        return self

    def __exit__(self, *exception):
        if self.factor > 1:
            self.value = self.value / self.factor
        return False


def context_manager(x, factor):
    with Scaled(x, factor) as scaled:
        inside = scaled.value
        if x > 0:
            scaled.value = scaled.value + 1.0
    return inside, scaled.value


row(context_manager, [2.0, 3.0], [2.0, 0.5], [-2.0, 3.0], staged="cond", grad=True, batch=True)


def context_manager_in_a_branch(x, factor):
    scaled = Scaled(x, factor)
    if x > 0:
        with scaled:
            scaled.value = scaled.value + 1.0
    return scaled.value


row(context_manager_in_a_branch, [2.0, 3.0], [2.0, 0.5], [-2.0, 3.0], staged="cond", grad=True, batch=True)


@contextlib.contextmanager
def doubled(disk):
    if disk.radius > 1:
        disk.radius = disk.radius * 2
    yield disk.radius
    if disk.radius > 1:
        disk.radius = disk.radius / 2


def context_manager_by_a_generator(x):
    disk = Disk(x)
    with doubled(disk) as inside:
        area = disk.area
    return inside, area, disk.radius


row(context_manager_by_a_generator, [2.0], [0.2], [-2.0], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ kinds of classes
class Point(NamedTuple):
    x: Any
    y: Any = 1.0

    @property
    def length(self):
        return self.x + self.y if self.x > 0 else self.y

    def __add__(self, other):
        return Point(self.x + other.x if other.x > 0 else self.x, self.y)


def named_tuple(x):
    return (Point(x) + Point(x, 2.0)).length


row(named_tuple, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def named_tuples_compared(x):
    return 1.0 if Point(2.0, 3.0) == Point(2.0, 3.0) else x


row(named_tuples_compared, [2.0])


class Shape(Protocol):
    @property
    def size(self): ...


T = TypeVar("T")


class Box(Shape, Generic[T]):
    def __init__(self, side: T):
        self.side = side

    @property
    def size(self):
        return self.side**2 if self.side > 0 else 0.0


def protocol_and_generic(x):
    return Box[float](x).size


row(protocol_and_generic, [2.0], [-4.0], staged="cond", grad=True, batch=True)


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2

    @property
    def rate(self):
        return 2.0 if self is Mode.FAST else 1.0

    def __call__(self, x):
        return x * self.rate if x > 0 else x


def enum_members(x):
    return Mode.FAST(x) + Mode.SLOW(x), 1.0 if Mode.FAST == Mode.SLOW else x


row(enum_members, [2.0], [-4.0], staged="cond", grad=True, batch=True)


class Family(type):
    """A metaclass: left alone, and in the way of nothing."""

    def __call__(cls, *arguments):
        made = super().__call__(*arguments)
        made.family = cls.__name__
        return made

    def __setattr__(cls, name, value):
        raise TypeError(f"{name} of {cls.__name__} is fixed")


class Member(metaclass=Family):
    def __init__(self, age):
        self.age = age if age > 0 else 0.0

    @property
    def grown(self):
        return self.age + 10.0 if self.age > 1 else self.age


def metaclass(x):
    return Member(x).grown


row(metaclass, [2.0], [0.5], [-4.0], staged="cond", grad=True, batch=True)


class Registered:
    known: dict[str, type] = {}

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        if cls.__name__.startswith("R"):
            Registered.known[cls.__name__] = cls

    def __init__(self, value):
        self.value = value if value > 0 else 0.0


class Reader(Registered):
    pass


def registered_subclass(x):
    class Runner(Registered):
        def __add__(self, other):
            return self.value + other if other > 0 else self.value

    return Registered.known["Runner"](x) + x, Registered.known["Reader"](x).value


row(registered_subclass, [2.0], [-4.0], staged="cond", grad=True, batch=True)


@functools.total_ordering
class Grade:
    def __init__(self, points):
        self.points = points

    def __lt__(self, other):
        return self.points < other.points

    def __eq__(self, other):
        return self.points == other.points

    __hash__ = None


def total_ordering(x):
    return [1.0 if Grade(x) >= Grade(2.0) else 0.0, 1.0 if Grade(x) > Grade(2.0) else 0.0, Grade(x) <= Grade(2.0)]


row(total_ordering, [2.0], [-4.0], [3.0], staged="cond", batch=True)


class Secret:
    def __init__(self, value):
        self.__value = value

    def __add(self, other):
        return self.__value + other if other > 0 else self.__value

    def __add__(self, other):
        __sum = self.__add(other)
        if __sum > 5:
            __sum = 5.0
        return __sum


def private_names_in_an_operator(x):
    return Secret(x) + x


row(private_names_in_an_operator, [2.0], [4.0], [-4.0], staged="cond", grad=True, batch=True)


class Tagged(Money):
    def __add__(self, other):
        whole = super().__add__(other)
        return type(self)(whole.amount * 2 if whole.amount > 3 else whole.amount)

    def __eq__(self, other):
        return super().__eq__(other)

    def kind(self):
        return __class__.__name__  # noqa: F821  - the cell


def super_in_an_operator(x):
    tagged = Tagged(x) + x
    return tagged.amount, tagged.kind() == "Tagged", 1.0 if tagged == Tagged(x) else 0.0


row(super_in_an_operator, [2.0], [1.0], [-4.0], staged="cond", batch=True)


def class_with_operators_in_a_function(x):
    limit = x * 2

    class Gate:
        def __init__(self, threshold):
            self.threshold = threshold

        def __add__(self, value):
            return limit if value > self.threshold else 0.0

        @property
        def half(self):
            return self.threshold / 2 if self.threshold > limit else limit

    return Gate(x) + 1.0, Gate(x).half, len(Gate.__add__.__qualname__ + Gate(x).__class__.__qualname__)


row(class_with_operators_in_a_function, [2.0], [0.5], [-2.0], staged="cond", batch=True)


# ------------------------------------------------------------------ alternative constructors, recursion through methods
class Angle:
    def __init__(self, degrees):
        self.degrees = degrees

    @classmethod
    def folded(cls, degrees):
        if degrees > 180:
            return cls(360 - degrees)
        return cls(degrees)

    @staticmethod
    def clipped(degrees):
        return Angle(degrees) if degrees > 0 else Angle(0.0)

    @classmethod
    def right(cls):
        return cls(90.0)

    def halved(self, times):
        if times == 0:
            return self.degrees
        if self.degrees > 10:
            return Angle(self.degrees / 2).halved(times - 1)
        return self.degrees

    def sum_of_digits(self, n):
        return n if n < 10 else n % 10 + self.sum_of_digits(n // 10)

    def __truediv__(self, other):
        return Angle(self.degrees / other) / (other - 1) if other > 1 else self.degrees


def class_method_as_constructor(x):
    return Angle.folded(x).degrees + Angle.right().degrees


row(class_method_as_constructor, [20.0], [200.0], staged="cond", grad=True, batch=True)


def static_method_as_constructor(x):
    return Angle.clipped(x).degrees


row(static_method_as_constructor, [20.0], [-200.0], staged="cond", grad=True, batch=True)


def recursion_through_a_method(x):
    return Angle(x).halved(4)


row(recursion_through_a_method, [200.0], [15.0], staged="cond", grad=True, batch=True)


def recursion_through_an_operator(x):
    return Angle(x if x > 0 else -x) / 3


row(recursion_through_an_operator, [20.0], [-200.0], staged="cond", grad=True, batch=True)


def traced_recursion_through_a_method(n):
    return Angle(0.0).sum_of_digits(n)


row(traced_recursion_through_a_method, [123], [5], want="either")


# ------------------------------------------------------------------ objects that join
class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second

    def total(self):
        return self.first + self.second if self.first > 0 else self.second


class Other:
    def __init__(self, value):
        self.value = value

    def total(self):
        return self.value * 3


def new_objects_in_a_conditional_expression(x):
    pair = Pair(1.0, x) if x > 0 else Pair(x, 2.0)
    return pair.first, pair.second, pair.total()


row(new_objects_in_a_conditional_expression, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def new_objects_in_an_if(x):
    if x > 0:
        pair = Pair(1.0, x)
    else:
        pair = Pair(x, 2.0)
    pair.second = pair.second + 1.0
    return pair.total()


row(new_objects_in_an_if, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def new_objects_returned(x):
    def make(value):
        if value > 0:
            return Pair(1.0, value)
        elif value > -2:
            return Pair(value, 2.0)
        return Pair(0.0, 0.0)

    return make(x).total()


row(new_objects_returned, [2.0], [-1.0], [-4.0], staged="cond", grad=True, batch=True)


def new_objects_inside_a_tuple(x):
    pair, y = (Pair(1.0, x), 1.0) if x > 0 else (Pair(x, 2.0), 2.0)
    return pair.total() + y


row(new_objects_inside_a_tuple, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def new_objects_inside_an_object(x):
    pair = Pair(Pair(1.0, x), x) if x > 0 else Pair(Pair(x, 2.0), 3.0)
    return pair.first.total() + pair.second


row(new_objects_inside_an_object, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def new_objects_inside_a_list(x):
    pairs = []
    if x > 0:
        pairs = [Pair(1.0, x), Pair(2.0, x)]
    else:
        pairs = [Pair(x, 1.0), Pair(x, 3.0)]
    return sum(pair.total() for pair in pairs)


row(new_objects_inside_a_list, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def new_object_in_each_turn(x, n):
    pair = Pair(x, 1.0)
    for _ in range(n):
        pair = Pair(pair.second, pair.total())
    return pair.first, pair.second


row(new_object_in_each_turn, [2.0, 3], [-4.0, 3], [1.0, 0], staged="loop", grad=True, batch=True)


def new_object_in_a_while(x):
    pair = Pair(x, 1.0)
    while pair.total() > 1.5:
        pair = Pair(pair.first / 2, pair.second / 2)
    return pair.total()


row(new_object_in_a_while, [2.0], [-4.0], staged="loop", batch=True)


def old_or_new_object(x):
    pair = Pair(x, 1.0)
    if x > 0:
        pair = Pair(1.0, x)
    return pair.total()


row(old_or_new_object, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def object_or_none(x):
    pair = None
    if x > 0:
        pair = Pair(1.0, x)
    return 0.0 if pair is None else pair.total()


row(object_or_none, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def objects_of_two_classes(x):
    thing = Pair(1.0, x) if x > 0 else Other(x)
    return thing.total()


row(objects_of_two_classes, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def objects_of_two_classes_returned(x):
    if x > 0:
        return Pair(1.0, x).total()
    return Other(x).total()


row(objects_of_two_classes_returned, [2.0], [-4.0], staged="cond", grad=True, batch=True)


SHARED, SPARE = Pair(1.0, 2.0), Pair(3.0, 4.0)


def restored():
    """The two objects of the module, as they are at the beginning of each row."""
    SHARED.first, SHARED.second, SPARE.first, SPARE.second = 1.0, 2.0, 3.0, 4.0


def an_object_of_the_module_on_both_paths(x):
    restored()
    pair = SHARED if x > 0 else SHARED
    pair.first = x
    return SHARED.first, pair is SHARED


row(an_object_of_the_module_on_both_paths, [2.0], [-4.0], staged="cond", batch=True)


def one_of_two_objects_of_the_module(x):
    restored()
    pair, y = (SHARED, x) if x > 0 else (SPARE, -x)
    pair.first = pair.second + x
    return SHARED.first, SPARE.first, pair.first, 1.0 if pair is SHARED else y


row(one_of_two_objects_of_the_module, [2.0], [-4.0], staged="cond", batch=True)


def module_object_or_new_one_is_read(x):
    restored()
    pair = SHARED if x > 0 else Pair(x, 5.0)
    return pair.first + pair.second + SHARED.first


row(module_object_or_new_one_is_read, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def module_object_or_new_one_is_written(x):
    restored()
    pair = SHARED if x > 0 else Pair(x, 5.0)
    pair.first = 9.0
    return SHARED.first


row(module_object_or_new_one_is_written, [2.0], [-4.0], want="either")


def module_object_or_new_one_is_compared(x):
    pair = SHARED if x > 0 else Pair(x, 5.0)
    return 1.0 if pair is SHARED else 0.0


row(module_object_or_new_one_is_compared, [2.0], [-4.0], want="either")


def given_back_by_a_helper(x):
    restored()

    def get(shared):
        return SHARED if shared else Pair(0.0, 0.0)

    pair = get(True) if x > 0 else get(True)
    pair.second = x
    return SHARED.second


row(given_back_by_a_helper, [2.0], [-4.0], staged="cond", batch=True)


def copied_in_a_branch(x):
    pair = Pair(x, 2.0)
    other = copy.copy(pair) if x > 0 else pair
    total = other.total()
    if x > 0:
        fresh = copy.deepcopy(pair)
        fresh.first = 7.0
    else:
        fresh = Pair(1.0, x)
    fresh.second = fresh.second + 1.0
    return total, pair.first, fresh.total()


row(copied_in_a_branch, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def list_subclass_of_two_paths(x):
    stack = Stack([x, 2.0]) if x > 0 else Stack([1.0, x])
    stack.push(x)
    return stack[0], stack[1], stack[2], len(stack), type(stack) is Stack


row(list_subclass_of_two_paths, [2.0], [-4.0], staged="cond", batch=True)


class Labelled(dict):
    def __init__(self, label, **values):
        super().__init__(**values)
        self.label = label


def dict_subclass_of_two_paths(x):
    values = Labelled(1.0, a=x, b=2.0) if x > 0 else Labelled(x, a=1.0, b=x)
    values["a"] += 1.0
    return values["a"], values["b"], values.label


row(dict_subclass_of_two_paths, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def pushed_onto_an_object_of_the_module(x):
    STACK[:] = [1.0]
    if x > 0:
        STACK.push(x)
    else:
        list.append(STACK, 5.0)
    return STACK[1], len(STACK)


row(pushed_onto_an_object_of_the_module, [2.0], [-4.0], staged="cond", batch=True)


class Slots:
    __slots__ = ("__low", "high")

    def __init__(self, low, high):
        self.__low, self.high = low, high

    def lift(self, by):
        self.__low = self.__low + by

    @property
    def low(self):
        return self.__low


def slots_with_private_names(x):
    slots = Slots(x, 1.0)
    if x > 0:
        slots.lift(x)
    other = Slots(1.0, x) if x > 1 else Slots(x, 2.0)
    return slots.low, other.low + other.high


row(slots_with_private_names, [2.0], [0.5], [-4.0], staged="cond", grad=True, batch=True)


CALLS = 0.0


class Counted:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        global CALLS
        CALLS = CALLS + 1.0
        return self.value + other if other > 0 else self.value

    __radd__ = __add__

    @property
    def half(self):
        global CALLS
        CALLS = CALLS + 10.0
        return self.value / 2


def operators_that_write_a_global(x):
    global CALLS
    CALLS = 0.0
    counted = Counted(x)
    y = counted + 1.0
    if x > 0:
        y = x + counted
        y = y + counted.half + counted.__add__(x)
    return y, CALLS


row(operators_that_write_a_global, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def operator_that_writes_around_it(x):
    log = 0.0

    class Noting:
        def __add__(self, other):
            nonlocal log
            log = log + other
            return log

    noting = Noting()
    for k in range(3):
        if x > k:
            noting + x
    return log


row(operator_that_writes_around_it, [2.5], [0.5], [-4.0], staged="cond", grad=True, batch=True)


def class_with_a_computed_base(x):
    def base(wide):
        return Pair if wide else Other

    @dataclasses.dataclass
    class Tall(base(True)):
        first: Any
        second: Any = 2.0 if x is None else 3.0

        def __post_init__(self):
            if self.first > 1:
                self.first = 1.0

    return Tall(x).total()


row(class_with_a_computed_base, [2.5], [0.5], [-4.0], staged="cond", grad=True, batch=True)


def attribute_of_one_of_two_classes_is_written(x):
    thing = Pair(1.0, x) if x > 0 else Other(x)
    thing.value = x * 2
    return thing.total() + thing.value


row(attribute_of_one_of_two_classes_is_written, [2.0], [-4.0], want="either")


def attribute_of_one_of_two_objects_is_written(x):
    thing = Pair(1.0, x) if x > 0 else Tagged(x)
    thing.amount = 3.0
    other = SHARED if x > 0 else SPARE
    restored()
    other.second = x * 2
    return other.second + SHARED.second


row(attribute_of_one_of_two_objects_is_written, [2.0], [-4.0], staged="cond", grad=True, batch=True)


class Door:
    def __init__(self, x):
        self.x = x

    def close(self):
        self.__class__ = Closed

    def passes(self):
        return self.x


class Closed(Door):
    def passes(self):
        return -self.x


def class_of_an_object_changes(x):
    door = Door(x)
    if x > 0:
        door.close()
    return door.passes()


row(class_of_an_object_changes, [2.0], [-3.0], want="error")


def class_of_a_new_object_changes(x):
    passed, door = 0.0, Door(x)
    door.close()
    if x > 0:
        inner = Door(x * 2)
        setattr(inner, "__class__", Closed)  # noqa: B010
        passed = inner.passes()
    return passed, door.passes()


row(class_of_a_new_object_changes, [2.0], [-3.0], batch=True)


@jax.tree_util.register_pytree_node_class
class Dual:
    """A number and its derivative; JAX makes it again by calling the class."""

    def __init__(self, value, slope):
        self.value, self.slope = value, slope

    def tree_flatten(self):
        return (self.value, self.slope), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)

    def __mul__(self, other):
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    def __gt__(self, bound):
        return self.value > bound


def pytree_made_anew_in_a_branch_of_a_loop(x, n):
    number, product = Dual(x, 1.0), Dual(1.0, 0.0)
    for _ in range(n):
        product = product * number
        if product > 10:
            product = Dual(product.value + 1, product.slope)
    return product.value, product.slope


row(pytree_made_anew_in_a_branch_of_a_loop, [3.0, 4], [-1.0, 3], [3.0, 0], staged="loop cond", batch=True)


def pytree_written_in_a_branch_of_a_loop(x):
    number = Dual(x, 1.0)
    while x > 1:
        x = x / 2
        other = Dual(x, 0.0) if x > 2 else number
        other.slope = other.slope + 1
        number = other
    return number.value, number.slope


row(pytree_written_in_a_branch_of_a_loop, [9.0], [3.0], [0.5], staged="loop cond")


def method_replaced_in_a_branch(x):
    class Scale:
        def by(self, factor):
            return x * factor

        @staticmethod
        def twice(number):
            return 2 * number

        @property
        def half(self):
            return x / 2

    before = Scale()
    if x > 1:
        Scale.by = lambda self, factor: x + factor
        Scale.twice = staticmethod(lambda number: number + number * 3)
        Scale.half = property(lambda self: x / 4)
    return before.by(3.0), Scale().by(4.0), Scale.by(before, 1.0), Scale.twice(x), before.twice(x), before.half


row(method_replaced_in_a_branch, [3.0], [0.5], staged="cond", batch=True)


def method_of_a_base_class_replaced_in_a_branch(x):
    class Base:
        factor = 5.0

        def by(self):
            return self.factor

        @classmethod
        def of_class(cls):
            return cls.factor + 1

    class Scale(Base):
        pass

    class Other(Base):
        pass

    one, other = Scale(), Other()
    if x > 1:
        Scale.by = lambda self: self.factor * x
        Scale.factor = x
        other.by = lambda: x - 1
        other.of_class = lambda: 3.0
    return one.by(), one.factor, one.of_class(), other.by(), other.factor, other.of_class(), Base().by()


row(method_of_a_base_class_replaced_in_a_branch, [3.0], [0.5], staged="cond", batch=True)


def method_replaced_in_a_loop(x, n):
    class Scale:
        def by(self, factor):
            return factor + x

    one, total = Scale(), 0.0
    for _ in range(n):
        total = total + one.by(2.0)
        if total > 10:
            one.by = lambda factor: factor - x
    return total, one.by(4.0)


row(method_replaced_in_a_loop, [3.0, 2], [3.0, 6], [1.0, 0], batch=True)


def base_class_written_beside_its_subclass(x):
    class Base:
        factor = 0.0

        def by(self):
            return x

    class Scale(Base):
        pass

    if x > 0:
        Scale.factor = 1.0
        Scale.by = lambda self: x * 10
    else:
        Base.factor = 2.0
    Base.by = lambda self: x * 100
    return Scale.factor + Base.factor, Scale().factor, Scale().by(), Base().by()


row(base_class_written_beside_its_subclass, [3.0], [-1.0], staged="cond", batch=True)


def counter_of_each_class(x):
    class Base:
        count = 0

        def __init__(self, v):
            self.v = v
            type(self).count += 1

    class Derived(Base):
        pass

    if x > 0:
        one = Derived(x)
    else:
        one, _ = Derived(1.0), Base(2.0)
    return one.v, Base.count, Derived.count


row(counter_of_each_class, [3.0], [-1.0], staged="cond", batch=True)


def attribute_whose_name_is_chosen(x):
    disk = Disk(1.0)
    setattr(disk, "radius" if x > 0 else "level", x)
    return disk.radius, disk.level


row(attribute_whose_name_is_chosen, [5.0], [-1.0], batch=True)


def counter_without_a_branch(x):
    class Counted:
        count = 0

    Counted.count += 1
    return x * x + Counted.count


row(counter_without_a_branch, [3.0], [-1.0], grad=True, batch=True)


@table.each_way
def test_classes(row, way, record_property):
    check(row, way, record_property)
