"""Calls: helpers, closures, nonlocal, lambdas, methods, properties, partial, decorators, recursion."""

# ruff: noqa: E731  users do give names to lambdas

import functools

import jax.numpy as jnp
import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row

VECTOR = np.array([1.0, 2.0, 3.0])
SCALE = 3.0
TABLE = {"slope": 2.0, "steps": [1.0, 0.5]}
COUNT = 0.0


# ------------------------------------------------------------------ helpers
def positive_part(x):
    if x > 0:
        return x
    return 0.0


def weighted(x, weight=2.0, *, shift=0.0):
    if x > shift:
        return (x - shift) * weight
    return shift


def halvings(x):
    n = 0
    while x > 1:
        x = x / 2
        n += 1
    return n


def helper_called_twice(x):
    return positive_part(x) - positive_part(-x)


row(helper_called_twice, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def helper_with_defaults_and_keywords(x):
    return weighted(x) + weighted(x, 3.0) + weighted(x, shift=1.0) + weighted(weight=0.5, x=x)


row(helper_with_defaults_and_keywords, [2.5], [-2.0], staged="cond", grad=True, batch=True)


def helper_with_a_loop(v):
    return halvings(v[0]) + 10 * halvings(v[2])


row(helper_with_a_loop, [VECTOR], [VECTOR * 20], staged="loop", batch=True)


def helper_in_a_loop(v):
    total = 0.0
    for e in v:
        total = total + positive_part(e - 1.5)
    return total


row(helper_in_a_loop, [VECTOR], [-VECTOR], staged="loop cond", grad=True, batch=True)


def helper_in_a_while_test(x):
    def far(value):
        if value > 100:
            return False
        return value > 1

    while far(x):
        x = x / 2
    return x


row(helper_in_a_while_test, [37.0], [0.5], [400.0], staged="loop", grad=True, batch=True)


def helper_in_a_branch(x):
    if x > 5:
        n = halvings(x)
    else:
        n = -1
    return n


row(helper_in_a_branch, [37.0], [2.0], staged="cond loop", batch=True)


def star_arguments(*values):
    total = 0.0
    for value in values:
        if value > 0:
            total = total + value
    return total


row(star_arguments, [1.0, -2.0, 3.0], [-1.0, -2.0, -3.0], staged="cond", grad=True, batch=True)


def keyword_arguments(x, **options):
    if options.get("twice", False):
        x = x * 2
    if x > options.get("limit", 10.0):
        x = options.get("limit", 10.0)
    return x


def passes_star_arguments(x):
    args = (x, 3.0)
    options = {"shift": 1.0}
    return weighted(*args, **options) + keyword_arguments(x, limit=4.0, twice=True)


row(passes_star_arguments, [1.5], [3.0], [-1.0], staged="cond", grad=True, batch=True)


def apply(function, x, times):
    for _ in range(times):
        x = function(x)
    return x


def callback(x):
    def shrink(value):
        if value > 1:
            return value * 0.5
        return value

    return apply(shrink, x, 4)


row(callback, [37.0], [2.1], [0.5], staged="cond", grad=True, batch=True)


def callback_traced_times(x, n):
    return apply(lambda value: value + 1.5 if value < 4 else value, x, n)


row(callback_traced_times, [1.2, 3], [1.2, 0], staged="loop cond", grad=True, batch=True)


def functions_in_a_dict(x, name):
    actions = {"double": lambda v: v * 2, "relu": positive_part}
    return actions[name](x)


row(functions_in_a_dict, [-2.0, "relu"], [2.0, "relu"], [2.0, "double"], staged="cond", static=[1], grad=True)


def composed(x):
    def compose(f, g):
        return lambda v: f(g(v))

    return compose(positive_part, lambda v: v - 1.0)(x)


row(composed, [2.0], [0.5], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ lambdas
def lambda_with_a_ternary(x):
    g = lambda v: v * 2 if v > 0 else -v
    return g(x)


row(lambda_with_a_ternary, [-2.0], [2.0], staged="cond", grad=True, batch=True)


def two_lambdas_on_a_line(x):
    low, high = (lambda v: v if v < 1 else 1.0), (lambda v: v if v > -1 else -1.0)
    return low(high(x))


row(two_lambdas_on_a_line, [-2.0], [2.0], [0.3], staged="cond", grad=True, batch=True)


def lambda_with_and(x):
    inside = lambda v: v > 0 and v < 2
    return 1.0 if inside(x) else 0.0


row(lambda_with_and, [1.0], [3.0], [-1.0], staged="cond", batch=True)


def lambda_with_a_default(x):
    steps = [lambda v, k=k: v * k if v > k else v for k in (1.0, 2.0)]
    for step in steps:
        x = step(x)
    return x


row(lambda_with_a_default, [1.5], [3.0], [0.1], staged="cond", later="B", grad=True, batch=True)


row(lambda x: x * 2 if x > 0 else -x, [-2.0], [2.0], name="a_lambda_itself", staged="cond", grad=True, batch=True)


def lambda_made_before_a_loop(n):
    a = 0
    get = lambda: a
    for i in range(n):
        a = i
    return get()


row(lambda_made_before_a_loop, [3], [0], staged="loop", later="B", batch=True)


def lambda_made_in_a_branch(x):
    k = 2.0
    if x > 0:
        k = 5.0
    g = lambda v: v * k
    return g(x)


row(lambda_made_in_a_branch, [3.0], [-3.0], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ nested functions, closures, nonlocal
def nested_function(x):
    def inner(v):
        if v > 1:
            return v - 1
        return v * x

    return inner(x) + inner(2 * x)


row(nested_function, [0.75], [3.0], [-2.0], staged="cond", grad=True, batch=True)


def two_levels_of_nesting(x):
    def outer(a):
        def inner(b):
            if a > b:
                return a - b
            return x

        return inner(1.0)

    return outer(x) * 2


row(two_levels_of_nesting, [0.75], [3.0], staged="cond", grad=True, batch=True)


def closure_reads_a_later_value(x):
    def scaled():
        return x * factor

    factor = 2.0
    if x > 0:
        factor = 3.0
    return scaled()


row(closure_reads_a_later_value, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def make_clipper(limit):
    def clip(x):
        if x > limit:
            return limit
        return x

    return clip


CLIP = make_clipper(2.0)


def factory_made_outside(x):
    return CLIP(x)


row(factory_made_outside, [3.0], [1.0], staged="cond", grad=True, batch=True)
row(make_clipper(2.0), [3.0], [1.0], name="a_closure_itself", staged="cond", grad=True, batch=True)


def factory_with_a_traced_limit(x, limit):
    clip = make_clipper(limit)
    return clip(x) + clip(-x)


row(factory_with_a_traced_limit, [3.0, 2.0], [1.0, 2.0], staged="cond", grad=True, batch=True)


def nonlocal_in_a_branch(x):
    k = 0.0

    def bump():
        nonlocal k
        if x > 0:
            k = k + x
        else:
            k = k - 1

    bump()
    bump()
    return k


row(nonlocal_in_a_branch, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def nonlocal_called_in_a_loop(x, n):
    k = 0.0

    def bump():
        nonlocal k
        k = k + x

    for _ in range(n):
        bump()
    return k


row(nonlocal_called_in_a_loop, [2.0, 3], [2.0, 0], staged="loop", later="B", grad=True, batch=True)


def nonlocal_called_in_a_branch(x):
    hits = 0

    def hit():
        nonlocal hits
        hits += 1

    if x > 0:
        hit()
    if x > 1:
        hit()
    return hits


row(nonlocal_called_in_a_branch, [2.0], [0.5], [-2.0], staged="cond", later="B", batch=True)


def counts_evaluations(x):
    evaluations = 0

    def f(v):
        nonlocal evaluations
        evaluations += 1
        return v * v - 2.0

    while abs(f(x)) > 1e-2:
        x = x - f(x) / (2 * x)
    return x, evaluations


row(counts_evaluations, [2.0], [1.4142], staged="loop", later="B", batch=True)


# ------------------------------------------------------------------ globals
def global_read(x):
    if x > 0:
        x = x * SCALE
    return x


row(global_read, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def global_collections_read(x):
    if x > 1:
        x = x * TABLE["slope"]
    for step in TABLE["steps"]:
        x = x + step
    return x


row(global_collections_read, [2.0], [0.5], staged="cond", grad=True, batch=True)


def global_written_in_a_loop(x, n):
    global COUNT
    COUNT = 0.0
    for _ in range(n):
        COUNT = COUNT + x
    return COUNT


row(global_written_in_a_loop, [2.0, 3], [2.0, 0], staged="loop", later="B", batch=True)


def global_written_in_a_branch(x):
    global COUNT
    COUNT = 1.0
    if x > 0:
        COUNT = x
    return COUNT * 2


row(global_written_in_a_branch, [2.0], [-2.0], staged="cond", later="B", batch=True)


# ------------------------------------------------------------------ classes
class Layer:
    bias = 0.5

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, x):
        if x > 0:
            return x * self.weight
        return x

    def with_bias(self, x):
        return self.activate(x) + self.bias

    @staticmethod
    def activate(x):
        return x if x > 0 else 0.1 * x

    @classmethod
    def shifted(cls, x):
        if x > cls.bias:
            return x - cls.bias
        return x

    @property
    def clipped(self):
        if self.weight > 2:
            return 2.0
        return self.weight


class DeepLayer(Layer):
    bias = 1.5

    def with_bias(self, x):
        y = super().with_bias(x)
        if y > 3:
            y = y / 2
        return y


class Money:
    def __init__(self, amount):
        if amount < 0:
            self.amount = -amount
        else:
            self.amount = amount

    def __add__(self, other):
        total = self.amount + other.amount
        if total > 10:
            total = total * 0.9
        return Money(total)

    def __getitem__(self, k):
        return self.amount * k if k > 1 else self.amount


class Account:
    def __init__(self, rate):
        self.__rate = rate

    def interest(self, x):
        if x > 0:
            return x * self.__rate
        return x


LAYER = Layer(3.0)


def callable_object(x):
    return LAYER(x)


row(callable_object, [2.0], [-2.0], staged="cond", grad=True, batch=True)
row(Layer(3.0), [2.0], [-2.0], name="a_callable_object_itself", staged="cond", grad=True, batch=True)


def method(x):
    return LAYER.with_bias(x)


row(method, [2.0], [-2.0], staged="cond", grad=True, batch=True)
row(Layer(3.0).with_bias, [2.0], [-2.0], name="a_bound_method_itself", staged="cond", grad=True, batch=True)


def bound_method_as_a_value(x):
    step = LAYER.with_bias
    for _ in range(3):
        x = step(x)
    return x


row(bound_method_as_a_value, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def static_method(x):
    return Layer.activate(x) + LAYER.activate(-x)


row(static_method, [2.0], [-2.0], staged="cond", grad=True, batch=True)
row(Layer.activate, [2.0], [-2.0], name="a_static_method_itself", staged="cond", grad=True, batch=True)


def class_method(x):
    return Layer.shifted(x) + DeepLayer.shifted(x)


row(class_method, [2.0], [1.0], [-2.0], staged="cond", grad=True, batch=True)


def property_of_a_traced_weight(w):
    return Layer(w).clipped


row(property_of_a_traced_weight, [3.0], [1.0], staged="cond", later="B", grad=True, batch=True)


def method_of_a_local_object(x, w):
    layer = Layer(w)
    return layer(x) + layer.with_bias(x)


row(method_of_a_local_object, [2.0, 3.0], [-2.0, 3.0], staged="cond", grad=True, batch=True)


def inherited(x):
    return DeepLayer(2.0)(x) + DeepLayer(2.0).activate(x)


row(inherited, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def super_call(x):
    return DeepLayer(2.0).with_bias(x)


row(super_call, [2.5], [0.5], [-2.0], staged="cond", later="B", grad=True, batch=True)


def condition_in_init(x):
    return Money(x).amount


row(condition_in_init, [2.0], [-2.0], staged="cond", later="B", grad=True, batch=True)


def operators_of_a_class(x):
    return (Money(x) + Money(x + 1)).amount + Money(x)[2]


row(operators_of_a_class, [2.0], [7.0], [-9.0], staged="cond", later="B", grad=True, batch=True)


def mangled_name(x):
    return Account(2.0).interest(x)


row(mangled_name, [2.0], [-2.0], staged="cond", later="B", grad=True, batch=True)


def class_in_a_function(x):
    class Gate:
        def __init__(self, threshold):
            self.threshold = threshold

        def open(self, value):
            return value if value > self.threshold else 0.0

    return Gate(1.0).open(x)


row(class_in_a_function, [2.0], [0.5], staged="cond", later="B", grad=True, batch=True)


# ------------------------------------------------------------------ partial, wraps, caches
def scaled_positive(scale, x):
    if x > 0:
        return scale * x
    return x


TRIPLE = functools.partial(scaled_positive, 3.0)


def partial(x):
    return TRIPLE(x)


row(partial, [2.0], [-2.0], staged="cond", grad=True, batch=True)
row(
    functools.partial(scaled_positive, 3.0),
    [2.0],
    [-2.0],
    name="a_partial_itself",
    staged="cond",
    grad=True,
    batch=True,
)


def partial_made_inside(x, y):
    g = functools.partial(weighted, shift=y)
    return g(x) + g(x, weight=3.0)


row(partial_made_inside, [2.0, 1.0], [0.5, 1.0], staged="cond", grad=True, batch=True)


def twice(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(function(x))

    return wrapper


@twice
def doubled_if_positive(x):
    if x > 0:
        return x * 2
    return x


def decorated_helper(x):
    return doubled_if_positive(x)


row(decorated_helper, [2.0], [-2.0], staged="cond", grad=True, batch=True)
row(doubled_if_positive, [2.0], [-2.0], name="a_decorated_function_itself", staged="cond", grad=True, batch=True)


def decorated_inside(x):
    @twice
    def step(v):
        if v > 1:
            return v / 2
        return v

    return step(x)


row(decorated_inside, [5.0], [1.5], [0.5], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ recursion and generators
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def recursion_to_a_static_depth(x):
    return power(x, 4)


row(recursion_to_a_static_depth, [2.0], [-0.5], grad=True, batch=True)


def recursion_with_a_traced_if(x, n):
    if n == 0:
        return x
    if x > 1:
        x = x / 2
    return recursion_with_a_traced_if(x, n - 1)


row(recursion_with_a_traced_if, [9.0, 3], [0.5, 3], staged="cond", static=[1], grad=True, batch=True)


def traced_recursion(n):
    if n <= 1:
        return 1
    return n * traced_recursion(n - 1)


row(traced_recursion, [5], want="either", later="B")


def squares(n):
    for k in range(n):
        yield k * k


def generator_feeds_a_loop(x):
    total = 0.0
    for k in squares(4):
        total = total + x * k
    return total


row(generator_feeds_a_loop, [2.0], [-1.0], later="B", grad=True, batch=True)


def generator_of_traced_values(v):
    def positive():
        for i in range(3):
            yield v[i] if v[i] > 0 else 0.0

    return sum(positive())


row(generator_of_traced_values, [VECTOR], [-VECTOR], later="B", grad=True, batch=True)


def iterator_object(x):
    items = iter([x, x + 1, x + 2])
    first = next(items)
    for item in items:
        first = first + item
    return first


row(iterator_object, [2.0], grad=True)


def library_function_with_a_callback(v):
    return jnp.apply_along_axis(lambda r: r * 2.0, 0, v)


row(library_function_with_a_callback, [VECTOR], batch=False)


@table.each_way
def test_functions(row, way, record_property):
    check(row, way, record_property)
