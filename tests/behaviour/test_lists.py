"""Lists that grow, comprehensions and generator expressions."""

import collections

import jax.numpy as jnp
import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row

VECTOR = np.array([1.0, 2.0, 3.0])


# ------------------------------------------------------------------ plain jax.jit accepts these
def append_in_a_short_loop(x):
    out = []
    for i in range(3):
        out.append(x * i)
    return jnp.stack(out)


row(append_in_a_short_loop, [2.0], [-2.0], grad=True, batch=True)


def append_by_length(v):
    out = []
    for i in range(len(v)):
        out.append(v[i] * i)
    return out


row(append_by_length, [VECTOR], [-VECTOR], grad=True, batch=True)


def append_with_a_traced_value(v):
    out = []
    for i in range(len(v)):
        if v[i] > 1.5:
            y = v[i]
        else:
            y = 0.0
        out.append(y)
    return jnp.stack(out)


row(append_with_a_traced_value, [VECTOR], [-VECTOR], staged="cond", grad=True, batch=True)


def extend_insert_and_pop(x):
    out = [x]
    out.extend([x * 2, x * 3])
    out.insert(0, 1.0)
    last = out.pop()
    out += [last, last]
    return sum(out) * len(out)


row(extend_insert_and_pop, [2.0], [-2.0], grad=True, batch=True)


def layers_in_a_list(x):
    layers = [(2.0, 1.0), (0.5, -1.0)]
    hidden = []
    for weight, bias in layers:
        x = weight * x + bias
        if x < 0:
            x = 0.0
        hidden.append(x)
    return hidden[0] + 10 * hidden[-1]


row(layers_in_a_list, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def list_sliced_and_reversed(x):
    items = [x, x + 1, x + 2, x + 3]
    total = 0.0
    for item in items[1:][::-1]:
        total = total * 2 + item
    return total


row(list_sliced_and_reversed, [2.0], [-2.0], grad=True, batch=True)


def list_repeated(x):
    state = [0.0] * 3
    state[1] = x
    if x > 0:
        state[2] = state[1] * 2
    return state


row(list_repeated, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def static_comprehension(v):
    parts = [v[i] * i for i in range(3) if i != 1]
    return parts[0] + 2 * parts[1]


row(static_comprehension, [VECTOR], [-VECTOR], grad=True, batch=True)


def comprehension_of_lists(x, y):
    return sum([a * b for a in (x, y) for b in (1.0, x)])


row(comprehension_of_lists, [2.0, 3.0], [-2.0, 3.0], grad=True, batch=True)


def dict_comprehension(x, y):
    d = {k: v * 2 for k, v in zip("ab", (x, y), strict=True)}
    if d["a"] > d["b"]:
        return d["a"]
    return d["b"]


row(dict_comprehension, [2.0, 3.0], [3.0, 2.0], staged="cond", grad=True, batch=True)


def comprehension_variable_stays_inside(x):
    i = 10.0
    parts = [i * x for i in range(3)]
    return parts[2] + i


row(comprehension_variable_stays_inside, [2.0], [-2.0], grad=True, batch=True)


def stack_of_a_comprehension(x):
    return jnp.stack([x**k for k in range(4)])


row(stack_of_a_comprehension, [2.0], [-0.5], grad=True, batch=True)


# ------------------------------------------------------------------ traced: issue B
def running_sum(v):
    out = []
    s = 0.0
    for e in v:
        s = s + e
        out.append(s)
    return jnp.stack(out)


row(running_sum, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def two_outputs(v):
    squares, signs = [], []
    for e in v:
        squares.append(e * e)
        signs.append(1 if e > 0 else -1)
    return jnp.array(squares), jnp.array(signs)


row(two_outputs, [VECTOR], [-VECTOR], staged="loop", batch=True)


def trajectory(x):
    path = [x]
    for _ in range(20):
        if x > 1:
            x = x * 0.9
        path.append(x)
    return jnp.stack(path)


row(trajectory, [5.0], [0.5], staged="cond", grad=True, batch=True)


def length_of_a_grown_list(v):
    out = []
    for e in v:
        out.append(e * 2)
    return len(out) + out[0] + out[-1]


row(length_of_a_grown_list, [VECTOR], [-VECTOR], grad=True, batch=True)


def append_pairs(v):
    out = []
    for i, e in enumerate(v):
        out.append((i, e))
    return out[1][1] + out[2][0]


row(append_pairs, [VECTOR], [-VECTOR], grad=True, batch=True)


def iterate_over_a_grown_list(v):
    doubled = []
    for e in v:
        doubled.append(e * 2)
    total = 0.0
    for e in doubled:
        total = total * 0.5 + e
    return total


row(iterate_over_a_grown_list, [VECTOR], [-VECTOR], grad=True, batch=True)


def append_traced_number_of_times(x, n):
    out = []
    for i in range(n):
        out.append(x * i)
    return len(out)


row(append_traced_number_of_times, [2.0, 3], [2.0, 0], want="either")


def append_in_a_branch(x):
    out = [x]
    if x > 0:
        out.append(x * 2)
    return sum(out)


row(append_in_a_branch, [-3.0], [3.0], want="either")


def append_in_a_branch_of_a_loop(v):
    large = []
    for e in v:
        if e > 1.5:
            large.append(e)
    return sum(large)


row(append_in_a_branch_of_a_loop, [VECTOR], [-VECTOR], want="either")


def append_then_break(v):
    out = []
    for e in v:
        if e > 2.5:
            break
        out.append(e)
    return sum(out)


row(append_then_break, [VECTOR], [VECTOR * 0.1], want="either")


def pop_in_a_branch(x):
    out = [x, x * 2]
    if x > 0:
        out.pop()
    return sum(out)


row(pop_in_a_branch, [-3.0], [3.0], want="either")


def list_concatenated_in_a_loop(x, n):
    out = []
    for i in range(n):
        out = out + [x * i]
    return len(out)


row(list_concatenated_in_a_loop, [2.0, 3], [2.0, 0], want="either")


def comprehension_over_an_array(v):
    return jnp.stack([e * 2 for e in v])


row(comprehension_over_an_array, [VECTOR], [-VECTOR], grad=True, batch=True)


def comprehension_with_a_ternary(v):
    return jnp.stack([e * 2 if e > 1.5 else -e for e in v])


row(comprehension_with_a_ternary, [VECTOR], [-VECTOR], staged="cond", grad=True, batch=True)


def comprehension_with_a_filter(v):
    return sum([e for e in v if e > 1])


row(comprehension_with_a_filter, [VECTOR], [-VECTOR], want="either")


def generator_expression(v):
    return sum(e * e for e in v)


row(generator_expression, [VECTOR], [-VECTOR], grad=True, batch=True)


def generator_expression_with_a_filter(v):
    return sum(e for e in v if e > 1)


row(generator_expression_with_a_filter, [VECTOR], [-VECTOR], want="either")


def comprehension_over_traced_range(n):
    return sum([i * i for i in range(n)])


row(comprehension_over_traced_range, [4], [0], want="either")


def nested_comprehension(m):
    return jnp.array([[e if e > 0 else 0.0 for e in r] for r in m])


row(nested_comprehension, [np.array([[1.0, -2.0], [-3.0, 4.0]])], [np.zeros((2, 2))], batch=True)


def set_that_branches_look_at(x):
    seen = {1, 2}
    if x > 0:
        y = x * len(seen)
    else:
        y = x if 3 in seen else -x
    return y


row(set_that_branches_look_at, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def set_that_a_loop_looks_at(x):
    seen = {1, 2}
    while x < 5 and 1 in seen:
        x = x + len(seen)
    return x


row(set_that_a_loop_looks_at, [0.5], [7.0], staged="loop")


def set_that_both_paths_change_alike(x):
    seen = {1, 2}
    if x > 0:
        seen.add(5)
        x = x + 1
    else:
        seen |= {5}
    return x * sum(seen)


row(set_that_both_paths_change_alike, [2.0], [-2.0], staged="cond")


def set_that_one_path_changes(x):
    seen = {1, 2}
    if x > 0:
        seen.add(5)
    return x * len(seen)


row(set_that_one_path_changes, [2.0], [-2.0], want="either")


NAMES = {"a", "b"}
RATES = {"a": 1.0}
STEPS = [1, [2, 3]]


def module_containers_from_both_paths(x):
    if x > 0:
        names, rates, steps = NAMES, RATES, STEPS
        x = x + 1
    else:
        names, rates, steps = NAMES, RATES, STEPS
    return x if names is NAMES and rates is RATES and steps is STEPS and steps[1] is STEPS[1] else -x


row(module_containers_from_both_paths, [2.0], [-2.0], staged="cond")


def module_list_or_another_is_read(x):
    names = STEPS if x > 0 else [4, [5, 6]]
    return x * names[0] + names[1][0] + len(names)


row(module_list_or_another_is_read, [2.0], [-2.0], staged="cond")


def module_dict_or_another_is_read(x):
    rates = RATES if x > 0 else {"a": 3.0}
    total = 0.0
    for name, rate in rates.items():
        total = total + rate * x if name in rates else 0.0
    return total + rates.get("a") + sum(rates.values())


row(module_dict_or_another_is_read, [2.0], [-2.0], staged="cond")

COARSE = [1.0]
FINE = [2.0]


def list_of_the_module_written_by_another_name(x):
    kept = COARSE[0]
    scale = COARSE if x > 0 else FINE
    scale[0] = 5.0
    result = COARSE[0]
    COARSE[0], FINE[0] = kept, 2.0
    return result * x


row(list_of_the_module_written_by_another_name, [2.0], [-2.0], want="either")


NONE_YET = []


def empty_list_of_the_module_or_a_new_one(x):
    found = NONE_YET if x > 0 else []
    found.append(x)
    result = len(NONE_YET)
    NONE_YET.clear()
    return result * x


row(empty_list_of_the_module_or_a_new_one, [2.0], [-2.0], want="either")


LOOSE, TIGHT = [1.0, 2.0], [3.0, 4.0]


def _loose():
    return LOOSE


def _tight():
    return _deeper()


def _deeper():
    return TIGHT


def module_list_that_a_callee_gives_is_written(x):
    y = LOOSE
    if x > 0:
        y = _tight()
    y[0] = 5.0
    seen = LOOSE[0], TIGHT[0]
    LOOSE[0], TIGHT[0] = 1.0, 3.0
    return seen


row(module_list_that_a_callee_gives_is_written, [1.0], [-1.0], want="either")


def module_list_that_callees_give_is_itself(x):
    y = _loose() if x > 0 else _loose()
    return y is LOOSE, y[0]


row(module_list_that_callees_give_is_itself, [1.0], [-1.0])


def module_list_that_a_callee_gives_is_read(x):
    y = _loose() if x > 0 else _tight()
    return y[0]


row(module_list_that_a_callee_gives_is_read, [1.0], [-1.0])


def reads_what_has_no_value(x, v):
    while True:
        break
        k = 1
    return sum((one if one > k else 0.5 for one in v if one < x), 0.0)


row(reads_what_has_no_value, [-1.0, np.array([1.0, 2.0])], [3.0, np.array([1.0, 2.0])], own_jit=True)


# ------------------------------------------------------------------ a traced index, of lists that come from somewhere
def multiples(x):
    return [x, 2 * x, 3 * x]


class Holder:
    def __init__(self, x):
        self.table = multiples(x)
        self.named = {"a": (x, -x, 0 * x)}

    def made(self):
        return self.table


def element_of_an_attribute(x, k):
    holder = Holder(x)
    named = holder.named["a"]
    return holder.table[k] + named[k] + holder.made()[k]


def element_of_what_a_callee_gives(x, k):
    table, (first, *others) = multiples(x), multiples(-x)
    return table[k] + multiples(x)[k] + first + others[k % 2]


def element_of_a_part(x, k):
    table = multiples(x)
    part, turned, copied = table[1:], table[::-1], table.copy()
    return part[k % 2] + turned[k] + copied[k]


def element_of_rows(x, k):
    rows = [[x, 1.0], [2 * x, 2.0], [0 * x, 4.0]]
    row_ = rows[0]
    total = row_[k % 2]
    for one in rows:
        total = total + one[k % 2]
    for _, values in {"a": multiples(x)}.items():
        total = total + values[k]
    return total


def element_of_one_of_two(x, k):
    table = multiples(x) if k > 1 else multiples(-x)
    return table[k]


def element_of_what_a_loop_has_filled(x, k):
    table = []
    for one in jnp.stack([x, 2 * x, 3 * x]):
        table.append(one)
    turned = table[::-1]
    return turned[k]


for function in (
    element_of_an_attribute,
    element_of_what_a_callee_gives,
    element_of_a_part,
    element_of_rows,
    element_of_one_of_two,
    element_of_what_a_loop_has_filled,
):
    row(function, [2.0, 1], [2.0, 2], [-1.0, 0])


# ------------------------------------------------------------------ operators of lists of which only a bound is known
def lists_put_together(x):
    large, small = [v for v in x if v > 2], [v * 2 for v in x if v < 3]
    three = [1.0, x[0]] + large + [x[1]]
    return sum(three), len(three), (large + [9.0])[-1], (large + small)[0], sum(large + small + large), max(three)


row(lists_put_together, [np.array([1.0, 3.5, 4.0])], [np.array([5.0, 1.0, 1.5])], grad=True)
row(lists_put_together, [np.array([1.0, 1.0, 1.0])], [np.array([3.0, 3.0, 3.0])], name="one_of_them_empty")


def kept_list_repeated(x):
    large = [v for v in x if v > 2]
    return sum(large * 2), sum(3 * large), len(large * 0), len(large * -1), (2 * large)[-1]


row(kept_list_repeated, [np.array([1.0, 3.0, 4.0])], [np.array([5.0, 1.0, 1.5])], grad=True)


def lists_that_are_equal(x):
    large, small = [v for v in x if v > 2], [v for v in x if v < 3]
    return large == [3.0, 4.0], large != [3.0, 4.0], large == small, large == large + [], small == (1.0,), [1.0] == small


row(lists_that_are_equal, [np.array([1.0, 3.0, 4.0])], [np.array([3.0, 4.0])], [np.array([1.0])], [np.array([3.0, 4.0, 5.0])])


def list_or_its_first_element(x):
    large = [v for v in x if v > 2]
    first = large and large[0]
    if large:
        return first * 2
    return 0.0


row(list_or_its_first_element, [np.array([1.0, 3.0, 4.0])], [np.array([1.0, 1.0])], want="either")


def lists_by_their_order(x):
    return [v for v in x if v > 2] < [3.5]


row(lists_by_their_order, [np.array([1.0, 3.0, 4.0])], want="either")


# ------------------------------------------------------------------ taken and put where traced data says


def pop_and_insert_in_a_branch(x, k):
    left = [x[0], x[1], x[2]]
    same, taken = left, 0.0
    if x[0] > 0:
        taken = left.pop(k)
        same.insert(k - 1, taken + 1)
    return taken, same


row(
    pop_and_insert_in_a_branch,
    [np.array([1.0, 2.0, 3.0]), 1],
    [np.array([-1.0, 2.0, 3.0]), 0],
    [np.array([1.0, 2.0, 3.0]), -1],
    batch=True,
)


def insert_anywhere(x, k):
    values = [x, x + 1]
    values.insert(k, 9.0)
    return values


row(insert_anywhere, [1.0, 0], [1.0, 1], [1.0, -1], [1.0, 7], [1.0, -7], batch=True)


def del_of_an_item(x, k):
    values = ["a", x, None]
    del values[k]
    return [1.0 if value is None else 2.0 if value == "a" else value for value in values]


row(del_of_an_item, [5.0, 0], [5.0, 1], [5.0, -1], batch=True)


def smallest_first(x):
    left, order = list(range(4)), []
    while left:
        best = min(left, key=lambda i: x[i])
        order.append(best)
        left.remove(best)
    return order


row(smallest_first, [np.array([3.0, 1.0, 4.0, 1.5])], [np.array([-1.0, -2.0, -2.0, 0.0])], batch=True)


def removed_where_there_is_none(x, v):
    values = [x, x * 2, 3.0]
    values.remove(v)
    values.pop(1)
    return values


row(removed_where_there_is_none, [1.0, 2.0], [1.0, 7.0], own_jit=True)


def deque_at_a_traced_place(x, k):
    last = collections.deque([x[0], x[1], x[2]], maxlen=3)
    same = last
    if x[0] > 0:
        last[k] += 5.0
        last.append(last[k])
    return list(same)


row(deque_at_a_traced_place, [np.array([1.0, 2.0, 3.0]), 1], [np.array([-1.0, 2.0, 3.0]), 0], [np.array([1.0, 2.0, 3.0]), -1])


def popped_array_is_written(x, k):
    values = [x * 2, x * 3]
    first = values[0]
    taken = values.pop(k)
    taken[0] = 100.0
    return first, taken


row(popped_array_is_written, [np.array([1.0, 2.0]), 0], [np.array([1.0, 2.0]), 1], want="error")


@table.each_way
def test_lists(row, way, record_property):
    check(row, way, record_property)
