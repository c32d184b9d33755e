"""Calls: helpers, closures, nonlocal, lambdas, methods, properties, partial, decorators, recursion."""

# ruff: noqa: B008, E731  users do give names to lambdas, and call functions in defaults

import functools
import types

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


row(lambda_with_a_default, [1.5], [3.0], [0.1], staged="cond", grad=True, batch=True)


row(lambda x: x * 2 if x > 0 else -x, [-2.0], [2.0], name="a_lambda_itself", staged="cond", grad=True, batch=True)


def lambda_made_before_a_loop(n):
    a = 0
    get = lambda: a
    for i in range(n):
        a = i
    return get()


row(lambda_made_before_a_loop, [3], [0], staged="loop", batch=True)


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


row(nonlocal_called_in_a_loop, [2.0, 3], [2.0, 0], staged="loop", grad=True, batch=True)


def class_that_assigns_a_variable_around_it(x):
    n = x
    if x > 1:

        class Kept:
            nonlocal n
            n = x * 3

    return n


row(class_that_assigns_a_variable_around_it, [2.5], [0.5], staged="cond", grad=True, batch=True)


def class_in_a_class_that_counts(x, n):
    total = 0.0

    def add(value):
        if value > 1:

            class Outer:
                class Inner:
                    nonlocal total
                    total = total + value

    for i in range(n):
        add(x * i)
    return total


row(class_in_a_class_that_counts, [2.0, 3], [0.4, 4], staged="cond loop", grad=True, batch=True)


@functools.singledispatch
def larger(a):
    return a * 2 if a.sum() > 0 else a


@larger.register(float)
def _(a):
    return a * 3


@larger.register
def _(a: list):
    return [larger(part) for part in a]


def functions_by_the_class_of_an_argument(x):
    first, second = larger([x, -x])
    return larger(x) + larger(1.5) + first * second


UP, DOWN = np.array([1.0, 2.0]), np.array([-1.0, -2.0])
row(functions_by_the_class_of_an_argument, [UP], [DOWN], staged="cond", grad=True, batch=True)


class Larger:
    def __init__(self):
        self.lists = 0

    @functools.singledispatchmethod
    def of(self, a):
        return a * 2 if a.sum() > 0 else a

    @of.register
    def _(self, a: list):
        self.lists += 1
        return self.of(a[0])

    @functools.singledispatchmethod
    @classmethod
    def of_class(cls, a):
        return a * 2 if a.sum() > 0 else a


def methods_by_the_class_of_an_argument(x):
    o = Larger()
    y = o.of(x) + Larger.of_class(x)
    if x[0] > 0:
        y = y + o.of([x])
    return y, o.lists


row(methods_by_the_class_of_an_argument, [UP], [DOWN], staged="cond", grad=True, batch=True)


FOUND = 0.0


def class_that_assigns_a_global_variable(x):
    global FOUND
    FOUND = x

    def find():
        if x > 1:

            class Found:
                global FOUND
                FOUND = x * 3

    find()
    found, FOUND = FOUND, 0.0
    return found


row(class_that_assigns_a_global_variable, [2.5], [0.5], staged="cond", grad=True, batch=True)


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


row(nonlocal_called_in_a_branch, [2.0], [0.5], [-2.0], staged="cond", batch=True)


def counts_evaluations(x):
    evaluations = 0

    def f(v):
        nonlocal evaluations
        evaluations += 1
        return v * v - 2.0

    while abs(f(x)) > 1e-2:
        x = x - f(x) / (2 * x)
    return x, evaluations


row(counts_evaluations, [2.0], [1.4142], staged="loop", batch=True)


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


row(global_written_in_a_loop, [2.0, 3], [2.0, 0], staged="loop", batch=True)


def global_written_in_a_branch(x):
    global COUNT
    COUNT = 1.0
    if x > 0:
        COUNT = x
    return COUNT * 2


row(global_written_in_a_branch, [2.0], [-2.0], staged="cond", batch=True)


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


row(property_of_a_traced_weight, [3.0], [1.0], staged="cond", grad=True, batch=True)


def method_of_a_local_object(x, w):
    layer = Layer(w)
    return layer(x) + layer.with_bias(x)


row(method_of_a_local_object, [2.0, 3.0], [-2.0, 3.0], staged="cond", grad=True, batch=True)


def inherited(x):
    return DeepLayer(2.0)(x) + DeepLayer(2.0).activate(x)


row(inherited, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def super_call(x):
    return DeepLayer(2.0).with_bias(x)


row(super_call, [2.5], [0.5], [-2.0], staged="cond", grad=True, batch=True)


def condition_in_init(x):
    return Money(x).amount


row(condition_in_init, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def operators_of_a_class(x):
    return (Money(x) + Money(x + 1)).amount + Money(x)[2]


row(operators_of_a_class, [2.0], [7.0], [-9.0], staged="cond", grad=True, batch=True)


def mangled_name(x):
    return Account(2.0).interest(x)


row(mangled_name, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def class_in_a_function(x):
    class Gate:
        def __init__(self, threshold):
            self.threshold = threshold

        def open(self, value):
            return value if value > self.threshold else 0.0

    return Gate(1.0).open(x)


row(class_in_a_function, [2.0], [0.5], staged="cond", grad=True, batch=True)


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


row(traced_recursion, [5], want="either")


def squares(n):
    for k in range(n):
        yield k * k


def generator_feeds_a_loop(x):
    total = 0.0
    for k in squares(4):
        total = total + x * k
    return total


row(generator_feeds_a_loop, [2.0], [-1.0], grad=True, batch=True)


def generator_of_traced_values(v):
    def positive():
        for i in range(3):
            yield v[i] if v[i] > 0 else 0.0

    return sum(positive())


row(generator_of_traced_values, [VECTOR], [-VECTOR], grad=True, batch=True)


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


# ------------------------------------------------------------------ what is evaluated where a function is defined
def default_with_a_condition(x):
    def shifted(y, by=x if x > 0 else 0.5, *, times=2.0 if x > 1 else 3.0):
        return (y + by) * times

    return shifted(x) + shifted(x, 1.0) + shifted(x, times=1.0)


row(default_with_a_condition, [2.0], [0.5], [-2.0], staged="cond", grad=True, batch=True)


def default_of_a_lambda(x):
    shifted = lambda y, by=(x if x > 0 and x < 3 else 0.5): y + by
    return shifted(x) + shifted(x, 1.0)


row(default_of_a_lambda, [2.0], [4.0], [-2.0], staged="cond", grad=True, batch=True)


def default_is_evaluated_once(x):
    calls = []

    def note(value):
        calls.append(value)
        return value if value > 0 else -value

    def shifted(y, by=note(x)):
        return y + by

    return shifted(1.0) + shifted(2.0), len(calls)


row(default_is_evaluated_once, [2.0], [-2.0], staged="cond", batch=True)


def default_keeps_its_value(x):
    k = 1.0

    def scaled(y, k=k):
        return y * k

    if x > 0:
        k = 5.0
    return scaled(x) + k


row(default_keeps_its_value, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def times(factor):
    def decorate(function):
        def wrapper(x):
            return function(x) * factor

        return wrapper

    return decorate


def decorator_with_a_condition(x):
    @times(2.0 if x > 0 else 3.0)
    @times(x if x > 1 else 1.0)
    def step(v):
        return v + 1.0

    return step(x)


row(decorator_with_a_condition, [2.0], [0.5], [-2.0], staged="cond", grad=True, batch=True)


def function_defined_in_a_branch(x):
    if x > 0:

        def step(v):
            return v * x
    else:

        def step(v):
            return v - x

    return step(3.0)


row(function_defined_in_a_branch, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def docstring_and_name_of_a_nested_function(x):
    def step(v):
        """Half."""
        return v / 2 if v > 1 else v

    return step(x), len((step.__doc__ or "") + step.__name__ + step.__qualname__)


row(docstring_and_name_of_a_nested_function, [2.0], [0.5], staged="cond", batch=True)


# ------------------------------------------------------------------ closures in loops and branches
def closures_see_the_last_value(x):
    functions = []
    for k in (1.0, 2.0, 3.0):
        functions.append(lambda v: v * k if v > k else k)
    return functions[0](x) + functions[2](x)


row(closures_see_the_last_value, [4.0], [2.5], [0.5], staged="cond", grad=True, batch=True)


def closures_with_their_own_value(x):
    functions = []
    for k in (1.0, 2.0, 3.0):

        def step(v, k=k):
            return v * k if v > k else k

        functions.append(step)
    return functions[0](x) + functions[2](x)


row(closures_with_their_own_value, [4.0], [2.5], [0.5], staged="cond", grad=True, batch=True)


def closure_made_and_called_in_a_loop(v):
    total = 0.0
    for e in v:

        def above(limit):
            return e if e > limit else limit

        total = total + above(1.5)
    return total


row(closure_made_and_called_in_a_loop, [VECTOR], [-VECTOR], staged="loop cond", grad=True, batch=True)


def closure_over_a_loop_that_breaks(v):
    for e in v:
        if e > 1.5:
            break
    found = lambda: e * 2
    return found()


row(closure_over_a_loop_that_breaks, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def deleted_in_a_branch(x):
    y = x * 2
    if x > 0:
        z = y
        del y
    else:
        z = -y
        del y
    return z


row(deleted_in_a_branch, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def deleted_on_one_path(x):
    y = x * 2
    if x > 0:
        del y
    return y


row(deleted_on_one_path, plain=[[2.0], [-2.0]])


def deleted_and_bound_again(x, n):
    y = x
    for _ in range(n):
        z = y + 1.0
        del y
        y = z if z < 4 else 0.0
    return y


row(deleted_and_bound_again, [2.5, 3], [-2.5, 3], [1.0, 0], staged="loop cond", grad=True, batch=True)


def global_written_by_a_helper_in_a_branch(x):
    global COUNT
    COUNT = 1.0

    def bump():
        global COUNT
        COUNT = COUNT + x if x < 5 else 7.0

    if x > 0:
        bump()
    bump()
    return COUNT


row(global_written_by_a_helper_in_a_branch, [2.0], [6.0], [-2.0], staged="cond", grad=True, batch=True)


def global_first_bound_in_a_branch(x):
    global FRESH
    if x > 0:
        FRESH = x
    else:
        FRESH = 1.0
    result = FRESH * 2
    del FRESH
    return result


row(global_first_bound_in_a_branch, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def nonlocal_two_levels_up(x):
    k = 1.0

    def middle():
        def inner():
            nonlocal k
            if x > 0:
                k = k + x
            else:
                k = 0.0

        inner()
        return k

    return middle() + k


row(nonlocal_two_levels_up, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def nonlocal_in_a_while(x):
    steps = 0.0

    def shrink():
        nonlocal x, steps
        x = x / 2
        if x > 3:
            steps = steps + 1.0

    while x > 1:
        shrink()
    return x, steps


row(nonlocal_in_a_while, [20.0], [0.5], staged="loop cond", batch=True)


def nonlocal_written_through_a_default(x):
    seen = []

    def note(value, into=seen):
        into.append(value if value > 0 else 0.0)
        return into

    note(x)
    return note(x + 1.0)[1] + len(seen)


row(nonlocal_written_through_a_default, [2.0], [-4.0], staged="cond", grad=True, batch=True)


def a_partial_of_a_branch(x):
    if x > 0:
        f = functools.partial(weighted, x * 2)
    else:
        f = functools.partial(weighted, x * 3)
    return f()


row(a_partial_of_a_branch, [2.5], [-1.0], want="either")


def a_default_of_a_branch(x):
    if x > 0:
        f = lambda y=x * 2: y + 1
    else:
        f = lambda y=x * 3: y - 1
    return f()


row(a_default_of_a_branch, [2.5], [-1.0], want="either")


def a_namespace_of_a_branch(x):
    a = types.SimpleNamespace(v=0.0)
    if x > 0:
        a = types.SimpleNamespace(v=x * 2)
    return a.v


row(a_namespace_of_a_branch, [2.5], [-1.0], want="either")


def a_partial_of_a_turn(x):
    f = functools.partial(weighted, x)
    while x < 10:
        x = x * 2
        f = functools.partial(weighted, x)
    return f()


row(a_partial_of_a_turn, [2.5], want="either")


def a_closure_of_a_branch_over_what_it_writes(x):
    y = 0.0
    if x > 0:
        y = x * 2
        f = lambda: y + 1
    else:
        y = x * 3
        f = lambda: y - 1
    return f()


row(a_closure_of_a_branch_over_what_it_writes, [2.5], [-1.0], staged="cond", grad=True)


def a_partial_of_each_turn(v):
    f = functools.partial(weighted, v[0])
    steps = []
    for e in v:
        f = functools.partial(weighted, e * 2)
        steps.append(lambda e=e: e * 3)
    return f() + sum([step() for step in steps])


row(a_partial_of_each_turn, [VECTOR], [-VECTOR])


# ------------------------------------------------------------------ generators
def gaps(x):
    level = x
    for k in range(3):
        if level > 1:
            level = level - 1
        else:
            level = level * 2
        yield level if level < 5 else 5.0


def generator_with_a_traced_if(x):
    total = 0.0
    for level in gaps(x):
        total = total + level
    return total


row(generator_with_a_traced_if, [2.2], [7.3], [-1.0], staged="cond", grad=True, batch=True)


def generator_with_a_traced_loop(x):
    def shrunken(value):
        for limit in (8.0, 2.0):
            while value > limit:
                value = value / 2
            yield value

    return list(shrunken(x))


row(generator_with_a_traced_loop, [37.0], [1.5], staged="loop", batch=True)


def generator_that_takes_and_returns(x):
    def running():
        total = 0.0
        while True:
            given = yield total
            if given is None:
                return total
            if given > 0:
                total = total + given

    def whole():
        result = yield from running()
        yield result * 10

    values = whole()
    next(values)
    first = values.send(x)
    second = values.send(2.0 - x)
    return first, second, values.send(None)


row(generator_that_takes_and_returns, [1.5], [3.0], [-1.0], staged="cond", grad=True, batch=True)


def generator_left_by_a_plain_condition(x):
    def some(n):
        for k in range(10):
            if k == n:
                return
            if k % 2:
                continue
            y = x * k
            if y > 3:
                y = 3.0
            yield y

    return sum(some(5))


row(generator_left_by_a_plain_condition, [1.6], [-1.0], staged="cond", grad=True, batch=True)


def generator_that_yields_in_each_branch(v):
    def some():
        n = 0
        for k in range(3):
            if v[k] > 1:
                n += 1
                yield v[k]
                yield v[k] * 2
                n += 1
            elif v[k] < 0:
                yield -v[k]
                yield n
            else:
                yield 1.0
                yield 2.0
        yield n

    return [1.0 * y for y in some()]


row(generator_that_yields_in_each_branch, [1.1 * VECTOR], [-1.1 * VECTOR], staged="cond", grad=True, batch=True)


def generator_that_yields_and_goes_on(v):
    def some():
        for k in range(3):
            if v[k] > 2:
                yield v[k] * 3
                continue
            y = v[k] - 1
            if y < -1:
                yield y * y
                continue
            yield 0.5

    total = 0.0
    for k, y in enumerate(some()):
        if y > 3:
            total += k
        total += y
    return total


row(generator_that_yields_and_goes_on, [1.1 * VECTOR], [-1.1 * VECTOR], staged="cond", grad=True, batch=True)


def generator_of_names(v):
    def some():
        for k in range(3):
            if v[k] > 1:
                yield v[k], "large"
            else:
                yield -v[k], "small"

    return sum(2.0 * y if name == "large" else y for y, name in some())


row(generator_of_names, [1.1 * VECTOR], [-1.1 * VECTOR], staged="cond", grad=True, batch=True)


def generator_that_traced_data_would_leave(x):
    def some():
        for k in range(4):
            if x > k:
                yield x * k

    return sum(some())


row(generator_that_traced_data_would_leave, [2.5], [-1.0], want="error")


def generator_that_traced_data_would_end(x):
    def some():
        while x > 0:
            yield x
            return

    return sum(some())


row(generator_that_traced_data_would_end, [2.5], [-1.0], want="error")


def generator_with_cleanup(x):
    log = []

    def some():
        try:
            y = x if x > 0 else -x
            yield y
            yield y * 2
        finally:
            log.append(1.0)

    values = some()
    first = next(values)
    values.close()
    return first + len(log)


row(generator_with_cleanup, [2.5], [-1.0], staged="cond", grad=True, batch=True)


def generator_made_in_a_branch(x):
    total = 0.0
    if x > 0:
        for level in gaps(x):
            total = total + level
    return total


row(generator_made_in_a_branch, [2.5], [-1.0], staged="cond", grad=True, batch=True)


def generator_in_a_traced_loop(v):
    total = 0.0
    for e in v:
        for level in gaps(e):
            total = total + level
    return total


row(generator_in_a_traced_loop, [VECTOR], [-VECTOR], staged="loop cond", batch=True)


def generator_older_than_the_branch(x):
    levels = gaps(x)
    first = next(levels)
    if x > 0:
        first = next(levels)
    return first


row(generator_older_than_the_branch, [2.5], [-1.0], want="error")


def iterator_of_a_turn_in_its_branch(v):
    total = 0.0
    for e in v:
        levels = iter([1.0, 2.0, 3.0])
        if e > 0:
            next(levels)
        total = total + next(levels)
    return total


row(iterator_of_a_turn_in_its_branch, [VECTOR], [-VECTOR], want="error")


def waiting_generator_would_see_a_write(v):
    def rows(array):
        for k in range(2):
            yield array[k]

    v = v * 1.0
    total = 0.0
    for e in rows(v):
        v[1] = v[1] + 1.0
        total = total + e
    return total


row(waiting_generator_would_see_a_write, [VECTOR], want="either")


def generator_with_state_of_an_object(x):
    class Walk:
        def __init__(self, at):
            self.at = at

        def steps(self, n):
            for _ in range(n):
                if self.at > 2:
                    self.at = self.at - 2
                yield self.at

    walk = Walk(x)
    return list(walk.steps(3)), walk.at


row(generator_with_state_of_an_object, [7.5], [1.0], staged="cond", grad=True, batch=True)


def function_made_in_each_turn(x):
    total = 0.0
    while x > 1:

        def halved(v):
            return v / 2 - total / 100

        def quartered(v):
            return halved(halved(v))

        x = quartered(x)
        total = total + halved(x)
    return total


row(function_made_in_each_turn, [9.0], [40.0], [0.5], staged="loop", grad=True, batch=True)


def functions_of_two_turns(x):
    count, last, before = 0, None, None
    while x > 1:

        def halved(v):
            return v / 2 + count

        x = x / 2
        count += 1
        before, last = last, halved
    return count + 100 * (before is last)


row(functions_of_two_turns, [9.0], [0.5], want="either")


# ------------------------------------------------------------------ a captured array that a function inside writes
def with_counter(use):
    """What `use` makes of a function that writes an array captured here, and the array."""

    def program(v):
        c = v * 1.0

        def add(k):
            c[0] += k
            return c.sum()

        return use(add), c * 1.0

    program.__name__ = f"counter_{use.__name__}"
    return program


def called_by(function, k):
    return function(k)


def in_a_list(add):
    return [add(k) for k in range(3)]


def in_a_dict(add):
    return {k: add(k) for k in range(3)}


def in_a_generator(add):
    return list(add(k) for k in range(3))  # noqa: C400


def by_a_helper(add):
    first = called_by(add, 1.0)
    return first, called_by(add, 2.0)


def by_a_lambda(add):
    twice = lambda k: add(2.0 * k)  # noqa: E731
    first = twice(1.0)
    return first, twice(2.0)


def by_a_partial(add):
    one = functools.partial(add, 1.0)
    first = one()
    return first, called_by(lambda k: one(), 0.0)


def in_a_list_of_a_branch(add):
    first = add(0.0)
    if first > 1.0:
        return [add(k) for k in range(2)]
    return [add(k) for k in range(2, 4)]


for use in (in_a_list, in_a_dict, in_a_generator, by_a_helper, by_a_lambda, by_a_partial, in_a_list_of_a_branch):
    row(with_counter(use), [VECTOR], [-VECTOR])


def counter_in_this_function(v):
    c = v * 1.0

    def add(k):
        c[0] += k
        return c.sum()

    def nested(k):
        def inner(j):
            c[1] += j
            return add(j)

        return called_by(inner, k)

    first = [add(k) for k in range(2)]
    second = called_by(nested, 2.0)
    return first, second, list(map(add, (1.0, 2.0))), c * 1.0


def counter_that_another_variable_holds(v):
    c = v * 1.0
    d = c

    def add(k):
        c[0] += k
        return c.sum()

    return [add(k) for k in range(2)], d * 1.0


def variable_of_this_name_elsewhere(v):
    def sees(c, function):
        function(1.0)
        return c * 1.0

    c = v * 1.0

    def add(k):
        c[0] += k

    return sees(c, add), c * 1.0


def variable_of_this_name_in_an_earlier_call(v):
    def made(c, before):
        def add(k):
            c[0] += k

        if before is not None:
            before(1.0)
        return add, c * 1.0

    y = v * 1.0
    add, _ = made(y, None)
    _, seen = made(y, add)
    return seen, y * 1.0


def counter_of_an_earlier_call(v):
    def made(c, before):
        def add(k):
            c[0] += k
            return c.sum()

        if before is not None:
            before(1.0)
        return add, c * 1.0

    first, _ = made(v * 1.0, None)
    _, seen = made(v * 2.0, first)
    return seen, first(1.0)


row(counter_in_this_function, [VECTOR])
row(counter_of_an_earlier_call, [VECTOR])
for function in (
    counter_that_another_variable_holds, variable_of_this_name_elsewhere, variable_of_this_name_in_an_earlier_call,
):  # fmt: skip
    row(function, [VECTOR], want="error")


@table.each_way
def test_functions(row, way, record_property):
    check(row, way, record_property)
