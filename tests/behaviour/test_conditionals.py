"""if / elif / else, the ternary, and / or / not, comparisons, `in` and match, decided by a traced value."""

import jax.numpy as jnp
import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row

VECTOR = np.array([1.0, 2.0, 3.0])


# ------------------------------------------------------------------ if, elif, else
def double_or_negate(x):
    if x > 0:
        y = x * 2
    else:
        y = -x
    return y


row(double_or_negate, [-3.0], [3.0], staged="cond", grad=True, batch=True)


def absolute(x):
    y = x
    if x < 0:
        y = -x
    return y


row(absolute, [-3.0], [3.0], staged="cond", grad=True, batch=True)


def relu_in_place(x):
    if x < 0:
        x = 0.0
    return x


row(relu_in_place, [-3.0], [3.0], staged="cond", grad=True, batch=True)


def income_tax(income):
    if income > 10:
        tax = income - 10
    elif income > 5:
        tax = income * 2
    elif income > 0:
        tax = income * 3
    else:
        tax = 0.0
    return tax


row(income_tax, [3.0], [12.0], [7.0], [-1.0], staged="cond", grad=True, batch=True)


def elif_without_else(x):
    fee = 1.0
    if x > 10:
        fee = x * 0.1
    elif x > 5:
        fee = x * 0.2
    return fee + x


row(elif_without_else, [12.0], [7.0], [1.0], staged="cond", grad=True, batch=True)


def sum_or_difference(x, y):
    r = 0.0
    if x > 0:
        if y > 0:
            r = x + y
        else:
            r = x - y
    return r


row(sum_or_difference, [2.0, -1.0], [2.0, 1.0], [-2.0, 1.0], staged="cond", grad=True, batch=True)


def quadrant(x, y):
    if x >= 0:
        if y >= 0:
            q = 1
        else:
            q = 4
    elif y >= 0:
        q = 2
    else:
        q = 3
    return q


row(quadrant, [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], staged="cond", batch=True)


def three_deep(a, b, c):
    out = a
    if a > 0:
        out = out + b
        if b > 0:
            out = out * c
            if c > 0:
                out = out - 1.0
            else:
                out = out + 1.0
        out = out / 2.0
    return out


row(
    three_deep,
    [1.0, 2.0, 3.0],
    [1.0, 2.0, -3.0],
    [1.0, -2.0, 3.0],
    [-1.0, 2.0, 3.0],
    staged="cond",
    grad=True,
    batch=True,
)


def ordered(a, b):
    if a > b:
        a, b = b, a
    return a, b


row(ordered, [3.0, 1.0], [1.0, 3.0], staged="cond", grad=True, batch=True)


def two_results_of_one_branch(x):
    lo, hi = -1.0, 1.0
    if x > 0:
        lo = x / 2
        hi = x * 2
    return lo, hi, hi - lo


row(two_results_of_one_branch, [3.0], [-3.0], staged="cond", grad=True, batch=True)


def tuple_in_each_branch(x):
    if x > 0:
        pair = (x, x * 2)
    else:
        pair = (-x, 0.0)
    first, second = pair
    return first + second


row(tuple_in_each_branch, [3.0], [-3.0], staged="cond", grad=True, batch=True)


def pass_then_else(x):
    if x > 0:
        pass
    else:
        x = x * 10
    return x


row(pass_then_else, [3.0], [-3.0], staged="cond", grad=True, batch=True)


def sequence_of_ifs(x):
    if x > 1:
        x = x - 1
    if x > 1:
        x = x - 1
    if x < 0:
        x = -x
    return x


row(sequence_of_ifs, [3.5], [1.5], [-2.0], staged="cond", grad=True, batch=True)


def condition_kept_in_a_variable(x):
    is_large = x > 2
    y = x
    if is_large:
        y = y * 10
    x = 0.0
    if is_large:
        y = y + 1
    return x + y


row(condition_kept_in_a_variable, [3.0], [1.0], staged="cond", grad=True, batch=True)


def condition_of_a_reduction(v):
    if jnp.sum(v) > 5:
        v = v / jnp.sum(v)
    return v


row(condition_of_a_reduction, [VECTOR], [VECTOR * 0.5], staged="cond", grad=True, batch=True)


def condition_of_a_method(v):
    if v.max() > 2.5:
        v = v * 0.5
    return v.sum()


row(condition_of_a_method, [VECTOR], [VECTOR * 0.5], staged="cond", grad=True, batch=True)


def condition_of_jnp_all(v):
    if jnp.all(v > 0):
        r = jnp.min(v)
    else:
        r = jnp.max(v) * 2
    return r


row(condition_of_jnp_all, [VECTOR], [-VECTOR], staged="cond", grad=True, batch=True)


def static_shape_then_traced(v):
    if v.ndim == 1:
        if v[0] > 0:
            r = v[0]
        else:
            r = 0.0
    else:
        r = v.undefined_for_vectors
    return r


row(static_shape_then_traced, [VECTOR], [-VECTOR], staged="cond", grad=True, batch=True)


def static_if_in_a_traced_one(x, scale):
    if x > 0:
        if scale is not None:
            x = x * scale
        else:
            x = x + 100.0
    return x


row(static_if_in_a_traced_one, [2.0, 3.0], [-2.0, 3.0], [2.0, None], [-2.0, None], staged="cond", static=[1], grad=True)


def method_by_name(x, method):
    if method == "linear":
        return x * 2
    elif method == "square":
        if x < 0:
            x = -x
        return x * x
    raise ValueError(f"unknown method {method!r}")


row(
    method_by_name,
    [-3.0, "square"],
    [3.0, "square"],
    [3.0, "linear"],
    plain=[[3.0, "cubic"]],
    staged="cond",
    static=[1],
    grad=True,
)


def default_argument(x, y=None):
    if y is None:
        y = x * 2
    return x + y


row(default_argument, [2.0], [2.0, 5.0], [-2.0], grad=True)


def isinstance_decides(x):
    if isinstance(x, str):
        return float(x)
    if isinstance(x, (list, tuple)):
        return x[0] + x[1]
    return x


row(isinstance_decides, [2.0], [(1.0, 2.0)], plain=[["2.5"], [[3, 4]]], grad=True)


# ------------------------------------------------------------------ names and types that differ between branches
def bound_in_one_branch(x):
    if x > 0:
        y = x * 2
    r = 0.0
    if x > 0:
        r = y
    return r


row(bound_in_one_branch, [3.0], [-3.0], staged="cond", grad=True, batch=True)


def bound_in_one_branch_flag(x):
    found = x > 1
    if found:
        best = x * 10
        index = 7
    score = 0.0
    if found:
        score = best + index
    return score


row(bound_in_one_branch_flag, [3.0], [-3.0], staged="cond", grad=True, batch=True)


def temporary_in_a_branch(x):
    r = x
    if x > 0:
        t = x * 2
        r = t + 1
    return r


row(temporary_in_a_branch, [3.0], [-3.0], staged="cond", grad=True, batch=True)


def temporaries_of_other_types(x):
    if x > 0:
        t = x * 2
        r = t + 1
    else:
        t = (x, x)
        r = t[0] * t[1]
    return r


row(temporaries_of_other_types, [3.0], [-3.0], staged="cond", grad=True, batch=True)


def float_or_int_zero(x):
    if x > 0:
        y = x * 0.5
    else:
        y = 0
    return y


row(float_or_int_zero, [3.0], [-3.0], staged="cond", grad=True, batch=True)


def int_becomes_float(n):
    half = n
    if n % 2 == 1:
        half = n / 2
    return half


row(int_becomes_float, [3], [4], staged="cond", batch=True)


def flag_from_branches(x):
    if x > 3:
        ok = True
    else:
        ok = False
    if ok:
        x = x - 3
    return x, ok


row(flag_from_branches, [5.0], [2.0], staged="cond", batch=True)


def scalar_or_vector(v):
    if v[0] > 0:
        shift = v * 2
    else:
        shift = 0.0
    return v + shift


row(scalar_or_vector, [VECTOR], [-VECTOR], staged="cond", grad=True, batch=True)


def none_then_array(x):
    y = None
    if x > 0:
        y = x * 2
    if y is None:
        y = x - 1
    return y


row(none_then_array, [3.0], [-3.0], staged="cond", grad=True, batch=True)


def is_not_none_after(x):
    step = None
    if x > 2:
        step = x / 2
    if step is not None:
        x = x - step
    return x


row(is_not_none_after, [3.0], [1.0], staged="cond", grad=True, batch=True)


def shapes_differ(v):
    if v[0] > 0:
        y = v
    else:
        y = v[:2]
    return jnp.sum(y)


row(shapes_differ, [VECTOR], [-VECTOR], want="error")


def structures_differ(x):
    if x > 0:
        out = (x, x)
    else:
        out = (x, x, x)
    return out


row(structures_differ, [2.0], [-2.0], want="error")


def unbound_on_one_path(x):
    if x > 0:
        y = x * 2
    return y


# Right where it has a value; for -2.0 it is an error at run time, see tests/operators/test_checks.py.
row(unbound_on_one_path, [2.0], plain=[[-2.0]], staged="cond")


def unbound_in_elif(x):
    if x > 1:
        rate = 0.1
    elif x < -1:
        rate = 0.2
    return rate * x


row(unbound_in_elif, [2.0], [-2.0], plain=[[0.0]], staged="cond")


def same_text_in_both(x):
    if x > 0:
        kind = "real"
        x = x + 1
    else:
        kind = "real"
    if kind == "real":
        x = x * 2
    return x


row(same_text_in_both, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def text_chosen_by_a_traced_value(x):
    if x > 0:
        method = "newton"
    else:
        method = "halley"
    steps = {"newton": 2.0, "halley": 3.0}
    return x * steps[method]


row(text_chosen_by_a_traced_value, [2.0], [-2.0], grad=True, batch=True)


def function_chosen_by_a_traced_value(x):
    step = jnp.sin if x > 0 else jnp.cos
    return step(x)


row(function_chosen_by_a_traced_value, [2.0], [-2.0], grad=True, batch=True)


def dict_in_each_branch(x):
    if x > 0:
        state = {"value": x, "count": 1}
    else:
        state = {"value": -x, "count": 0}
    return state["value"] * 2 + state["count"]


row(dict_in_each_branch, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def list_in_each_branch(x):
    bounds = [0.0, 1.0]
    if x > 1:
        bounds = [1.0, x]
    return bounds[1] - bounds[0]


row(list_in_each_branch, [2.0], [-2.0], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ the ternary
def ternary(x):
    return x * 2 if x > 0 else -x


row(ternary, [-3.0], [3.0], staged="cond", grad=True, batch=True)


def heaviside(x):
    return 1.0 if x > 1 else (0.5 if x > 0 else x)


row(heaviside, [-3.0], [2.0], [0.7], staged="cond", grad=True, batch=True)


def ternary_as_argument(x, y):
    return jnp.sqrt(x if x > 0 else -x) + jnp.maximum(y if y < 1 else 1.0, 0.0)


row(ternary_as_argument, [4.0, 0.5], [-9.0, 3.0], staged="cond", grad=True, batch=True)


def ternary_in_arithmetic(x):
    return 2 * (x if x > 0 else 0.1 * x) + (1 if x > 5 else 0)


row(ternary_in_arithmetic, [-3.0], [3.0], [6.0], staged="cond", grad=True, batch=True)


def ternary_of_int_and_float(x):
    return 1 if x > 0 else 0.5


row(ternary_of_int_and_float, [-3.0], [3.0], staged="cond", batch=True)


def ternary_in_a_tuple(x, y):
    return (x if x < y else y), (y if x < y else x)


row(ternary_in_a_tuple, [1.0, 2.0], [2.0, 1.0], staged="cond", grad=True, batch=True)


def ternary_of_tuples(x, y):
    low, high = (x, y) if x < y else (y, x)
    return high - low


row(ternary_of_tuples, [1.0, 3.0], [2.0, 1.0], staged="cond", grad=True, batch=True)


def ternary_in_an_index(v, c):
    return v[0 if c > 0 else 2]


row(ternary_in_an_index, [VECTOR, 1.0], [VECTOR, -1.0], staged="cond", batch=True)


def ternary_takes_only_one_side(x):
    return jnp.log(x) if x > 0 else 0.0


row(ternary_takes_only_one_side, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def ternary_with_static_none(x, scale=None):
    factor = 1.0 if scale is None else scale
    return x * factor


row(ternary_with_static_none, [2.0], [2.0, 3.0], grad=True)


# ------------------------------------------------------------------ and, or, not
def sum_if_both_positive(x, y):
    if x > 0 and y > 0:
        r = x + y
    else:
        r = 0.0
    return r


row(sum_if_both_positive, [2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], staged="cond", grad=True, batch=True)


def sum_if_either_positive(x, y):
    if x > 0 or y > 0:
        r = x + y
    else:
        r = 0.0
    return r


row(sum_if_either_positive, [-2.0, 1.0], [2.0, -1.0], [-2.0, -1.0], staged="cond", grad=True, batch=True)


def operand_of_and(x, y):
    return x and y


row(operand_of_and, [2.0, 5.0], [0.0, 5.0], batch=True)


def operand_of_or(x):
    y = x or 7.0
    return y


row(operand_of_or, [0.0], [2.0], batch=True)


def first_that_is_not_zero(a, b, c):
    return a or b or c


row(first_that_is_not_zero, [0, 0, 3], [0, 2, 3], [1, 2, 3], [0, 0, 0], batch=True)


def and_then_or(x, y):
    return (x and y) or 9.0


row(and_then_or, [2.0, 5.0], [0.0, 5.0], [2.0, 0.0], batch=True)


def or_of_int_and_float(n):
    return n or 0.5


row(or_of_int_and_float, [0], [3], batch=True)


def negated(x):
    if not x > 0:
        x = -x
    return x


row(negated, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def not_both(x, y):
    if not (x > 0 and y > 0):
        return x - y
    return x + y


row(not_both, [2.0, 1.0], [2.0, -1.0], [-2.0, -1.0], staged="cond", grad=True, batch=True)


def not_returns_a_bool(k):
    return not k


row(not_returns_a_bool, [0], [3], batch=True)


def guarded_index(v, i):
    n = len(v)
    if i < n and v[i] > 1:
        r = v[i]
    else:
        r = -1.0
    return r


row(guarded_index, [VECTOR, 5], [VECTOR, 1], [VECTOR, 0], staged="cond", batch=True)


def guarded_division(a, b):
    if b != 0 and a / b > 2:
        return a / b
    return 0.0


row(guarded_division, [6.0, 2.0], [6.0, 0.0], [1.0, 2.0], staged="cond", batch=True)


def guarded_from_the_other_side(v, i):
    if i >= len(v) or v[i] < 0:
        return -1.0
    return v[i]


row(guarded_from_the_other_side, [VECTOR, 5], [VECTOR, 1], [-VECTOR, 0], staged="cond", batch=True)


def static_flag_and_traced(x, flag):
    if flag and x > 0:
        r = x
    else:
        r = -x
    return r


row(static_flag_and_traced, [2.0, True], [-2.0, True], staged="cond", static=[1], grad=True, batch=True)


def static_flag_skips_the_rest(x, options):
    if options is None or options["limit"] > x:
        return x
    return options["limit"]


row(static_flag_skips_the_rest, [2.0, None], plain=[[2.0, {"limit": 1.0}]], static=[1])


def mixed_and_or_not(a, b, c):
    if (a > 0 or b > 0) and not c > 0:
        r = 1.0
    elif a > 0 and (b > 0 or c > 0):
        r = 2.0
    else:
        r = 3.0
    return r * a


row(mixed_and_or_not, [1.0, 1.0, -1.0], [1.0, -1.0, 1.0], [-1.0, -1.0, 1.0], staged="cond", grad=True, batch=True)


def boolean_flags_as_arguments(p, q):
    if p and not q:
        return 1
    if p or q:
        return 2
    return 3


row(boolean_flags_as_arguments, [True, False], [True, True], [False, True], [False, False], staged="cond", batch=True)


# ------------------------------------------------------------------ comparison and truth
def inside_the_unit_interval(x):
    if 0 < x < 1:
        r = x
    else:
        r = -1.0
    return r


row(inside_the_unit_interval, [2.0], [0.5], [-1.0], staged="cond", grad=True, batch=True)


def ascending(a, b, c):
    return 1.0 if a <= b < c != 9 else 0.0


row(ascending, [1, 1, 2], [1, 2, 2], [1, 2, 9], [3, 2, 9], staged="cond", batch=True)


def chain_as_a_value(x):
    inside = -1 <= x <= 1
    return inside


row(chain_as_a_value, [0.0], [2.0], [-2.0], batch=True)


def chain_evaluates_once(x):
    calls = []

    def middle():
        calls.append(1)
        return x

    r = x
    if 0 < middle() < 5:
        r = -x
    return r, len(calls)


row(chain_evaluates_once, [2.0], [7.0], [-1.0], staged="cond", batch=True)


def nonzero_int(k):
    if k:
        r = 1.0
    else:
        r = 2.0
    return r


row(nonzero_int, [3], [0], [-1], staged="cond", batch=True)


def nonzero_float(x):
    return 1.0 / x if x else 0.0


row(nonzero_float, [4.0], [0.0], staged="cond", batch=True)


def even_by_remainder(n):
    if not n % 2:
        return n // 2
    return 3 * n + 1


row(even_by_remainder, [6], [7], [0], staged="cond", batch=True)


def member_of_a_tuple(k):
    if k in (1, 2, 3):
        r = 1.0
    else:
        r = 2.0
    return r


row(member_of_a_tuple, [2], [5], [3], staged="cond", batch=True)


def not_in_a_list(k):
    return 10 if k not in [2, 4, 6] else k


row(not_in_a_list, [2], [5], [6], staged="cond", batch=True)


def member_of_a_set(k):
    if k in {1, 3, 5}:
        return k * 10
    return k


row(member_of_a_set, [3], [4], staged="cond", batch=True)


def member_of_a_range(k):
    if k in range(2, 10, 3):
        return 1
    return 0


row(member_of_a_range, [5], [6], [10], staged="cond", batch=True)


def static_key_in_a_dict(x, options):
    if "scale" in options and x > 0:
        x = x * options["scale"]
    return x


row(static_key_in_a_dict, [2.0, {"scale": 3.0}], [-2.0, {"scale": 3.0}], staged="cond")


def member_of_traced_values(k, a, b):
    if k in (a, b):
        return 1.0
    return 0.0


row(member_of_traced_values, [1.0, 1.0, 2.0], [2.0, 1.0, 2.0], [3.0, 1.0, 2.0], staged="cond", batch=True)


def sign(x):
    return (x > 0) * 1 - (x < 0) * 1


row(sign, [2.0], [-2.0], [0.0], batch=True)


# ------------------------------------------------------------------ walrus and match
def walrus_in_a_test(x):
    if (y := x * 2) > 1:
        r = y
    else:
        r = -y
    return r


row(walrus_in_a_test, [3.0], [-3.0], staged="cond", grad=True, batch=True)


def walrus_read_after(x):
    total = 0.0
    if (half := x / 2) > 1:
        total = total + half
    return total + half


row(walrus_read_after, [3.0], [1.0], staged="cond", grad=True, batch=True)


def walrus_behind_and(x):
    y = 1.0
    if x > 0 and (y := x * 2) > 3:
        return y
    return -y


row(walrus_behind_and, [3.0], [1.0], [-1.0], staged="cond", batch=True)


def walrus_in_elif(x):
    if x > 10:
        return 0.0
    elif (root := jnp.sqrt(jnp.abs(x))) > 2:
        return root
    return root * 10


row(walrus_in_elif, [12.0], [9.0], [1.0], staged="cond", batch=True)


def match_numbers(k, x):
    match k:
        case 0:
            r = x
        case 1 | 2:
            r = x * 2
        case _:
            r = -x
    return r


row(match_numbers, [2, 3.0], [0, 3.0], [1, 3.0], [7, 3.0], staged="cond", batch=True)


def match_text(kind, x):
    match kind:
        case "double":
            r = x * 2
        case _:
            r = -x
    if r > 1:
        r = r + 1
    return r


row(match_text, ["double", 3.0], ["double", -3.0], ["other", 3.0], staged="cond", static=[0])


def match_around_an_if(kind, x):
    match kind:
        case "positive":
            if x > 0:
                r = x
            else:
                r = 0.0
        case _:
            r = -x
    return r


row(match_around_an_if, ["positive", 3.0], ["positive", -3.0], staged="cond", static=[0])


def match_with_a_guard(x):
    match x:
        case v if v > 1:
            return v - 1
        case v if v < -1:
            return v + 1
    return 0.0


row(match_with_a_guard, [3.0], [-3.0], [0.5], staged="cond", batch=True)


def match_a_pair(x, y):
    match (x, y):
        case (0, other):
            r = other
        case (first, 0):
            r = first * 10
        case (first, second):
            r = first + second
    return r


row(match_a_pair, [0, 4], [3, 0], [3, 4], staged="cond", batch=True)


def match_returns(k):
    match k:
        case 1:
            return 10.0
        case 2:
            return 20.0
    return -1.0


row(match_returns, [1], [2], [3], staged="cond", batch=True)


def updated_where_it_has_a_value(x):
    if x > 0:
        r = x * 2
    s = 0.0
    if x > 0:
        r += 1
        s = r
    return s


row(updated_where_it_has_a_value, [3.0], [-1.0])


def updated_where_it_may_have_none(x):
    if x > 0:
        r = x * 2
    r += 1
    return r


row(updated_where_it_may_have_none, [3.0])


def list_updated_where_it_has_a_value(x):
    if x > 0:
        r = [x, 1.0]
        s = r
        r += [2.0]
    else:
        s = [0.0, x, x]
    return s


row(list_updated_where_it_has_a_value, [3.0], [-1.0])


@table.each_way
def test_conditionals(row, way, record_property):
    check(row, way, record_property)
