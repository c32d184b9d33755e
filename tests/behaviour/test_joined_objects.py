"""Objects and lists that traced data has made one of two, in nested branches and in loops: a write shows, or is refused."""

import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row


class Box:
    def __init__(self, n):
        self.n = n

    def add(self, k):
        self.n += k
        return self


class Holder:
    pass


def raised(box, k):
    if box.n > k:
        box.n = box.n + k
    return box


def in_a_list(x, y, b):
    own, kept = Box(x), [None]
    if not b:
        kept[0] = own if y != x else Box(x + 1)
    else:
        kept[0] = Box(x + 7)
    own.n += 3
    return kept[0].n


def in_an_attribute(x, y, b):
    own, holder = Box(x), Holder()
    holder.kept = own if y != x else Box(x + 1)
    own.n += 3
    return holder.kept.n


def in_a_dict(x, y, b):
    own, kept = Box(x), {}
    kept["a"] = own if y != x else Box(x + 1)
    own.n += 3
    return kept["a"].n


def in_a_tuple(x, y, b):
    own = Box(x)
    kept = (own, 1) if b else (Box(x + 1), 2)
    own.n += 3
    return kept[0].n


def list_or_none(x, y, b):
    own, kept = [x, x], None
    if not b:
        kept = own if y != x else [x + 1, x]
    own[0] += 3
    return kept[0] if kept is not None else x


def variable_of_an_inner_function(x, y, b):
    def read():
        return kept.n

    own = Box(x)
    if not b:
        kept = own if y != x else Box(x + 1)
    else:
        kept = Box(x + 9)
    own.n += 3
    return read()


def nested_expressions(x, y, b):
    own = Box(x)
    kept = (own if y > x else Box(x + 1)) if b else Box(x + 2)
    own.n += 5
    return kept.n


def returned_by_a_branch_of_a_branch(x, y, b):
    def chosen():
        if y > x:
            if b:
                return own
        return Box(x + 2)

    own = Box(x)
    kept = chosen()
    own.n += 5
    return kept.n


def in_each_turn(x, y, b):
    own, kept = Box(x), Box(x + 1)
    while y > 0:
        kept = own if y > x else Box(x + 2)
        y = y - 1
    own.n += 5
    return kept.n


def in_a_branch_of_a_turn(x, y, b):
    own, kept = Box(x), None
    while y > 0:
        if b:
            kept = own if y > x else Box(x + 2)
        y = y - 1
    own.n += 5
    return kept.n if kept is not None else x


def written_in_the_next_turn(x, y, b):
    own, kept = Box(x), Box(x + 1)
    while y > 0:
        kept.n += 1
        kept = own if y > x else Box(x + 2)
        y = y - 1
    return own.n


def entered_with_and_written(x, y, b):
    own = Box(x)
    kept = own
    while y > 0:
        kept.n += 1
        if y < x:
            kept = Box(x + 2)
        y = y - 1
    return own.n


def attribute_in_a_turn(x, y, b):
    own, holder = Box(x), Holder()
    holder.kept = Box(x + 1)
    while y > 0:
        if b:
            holder.kept = own if y > x else Box(x + 2)
        y = y - 1
    own.n += 5
    return holder.kept.n


def list_in_a_turn(x, y, b):
    own, kept = [x, x], [x, x]
    while y > 0:
        if b:
            kept = own if y > x else [x + 2, x]
        y = y - 1
    own[0] += 5
    return kept[0]


def element_in_a_turn(x, y, b):
    own, kept = Box(x), [Box(x + 1)]
    while y > 0:
        if b:
            kept[0] = own if y > x else Box(x + 2)
        y = y - 1
    own.n += 5
    return kept[0].n


def appended_in_turns(x, y, b):
    own, kept = Box(x), []
    for _ in range(3):
        kept.append(own if y > x else Box(x + 1))
        y = y - 1
    own.n += 5
    return kept[0].n + kept[2].n


def replaced_list_that_another_name_has(x, y, b):
    best = [x, x]
    other = best
    while y > x:
        best = [x - y, x]
        y = y - 1
    best[0] += 1
    return other[0]


def object_in_an_object(x, y, b):
    own = Holder()
    own.inner = Box(x)
    if y > x:
        kept = own
    else:
        kept = Holder()
        kept.inner = Box(x + 1)
    own.inner.n += 3
    return kept.inner.n


def object_in_a_list_that_is_copied(x, y, b):
    own = Box(x)
    kept = [own]
    if y > x:
        kept = [Box(x + 5)]
    copied = list(kept)
    own.n += 3
    return copied[0].n


def list_in_a_tuple(x, y, b):
    own = [x, x]
    kept = (own,)
    if y > x:
        kept = ([x + 1, x],)
    own[0] += 2
    return kept[0][0]


def element_replaced_in_some_turns(x, y, b):
    stack = [Box(x)]
    top = stack[-1]
    while y > x:
        stack[-1] = Box(x + y)
        y = y - 1
    top.n += 3
    return stack[-1].n


def list_that_is_added_to(x, y, b):
    own = [x]
    kept = own if y > x else [x + 1]
    own += [3.0]
    return len(kept)


# The one that a branch has changed may be the other one in another branch of this branch.
def options_that_are_not_it(x, y, b):
    own, other = Box(x), Box(x + 7)
    if b:
        kept = own if y > x else other
    else:
        kept = own
        if y > x:
            kept.n += 1
        else:
            kept = Box(y)
    kept.n += 5
    return own.n + 10 * other.n


def two_of_one(x, y, b):
    own = Box(x)
    first = own if y > x else Box(y)
    second = own if b else Box(x + 1)
    first.n += 3
    return second.n


def two_of_one_in_a_branch(x, y, b):
    own = Box(x)
    if b:
        first = second = own
    else:
        first, second = Box(y), Box(x + 1)
    first.n += 3
    return second.n


def made_by_one_of_two_branches(x, y, b):
    if b:
        first = second = Box(y)
    else:
        first, second = Box(x), Box(y)
    first.n += 3
    return second.n


def in_a_list_of_a_branch(x, y, b):
    if b:
        first = Box(y)
        kept = [first]
    else:
        first, kept = Box(x), [Box(y)]
    first.n += 3
    return kept[0].n


def returned_twice(x, y, b):
    def made():
        if b:
            box = Box(y)
            return box, box
        return Box(x), Box(y)

    first, second = made()
    first.n += 3
    return second.n


def same_from_two_calls(x, y, b):
    def got():
        return own if b else Box(3.0)

    own = Box(x)
    first, second = got(), got()
    first.n += 1
    return second.n


def one_of_one_of_two(x, y, b):
    own = Box(x)
    first = own if y > x else Box(y)
    second = first if b else Box(x + 5)
    own.n += 1
    return second.n


def together_before_a_loop(x, y, b):
    first = second = Box(x)
    while y > x:
        first = second = Box(y)
        y = y - 1
    first.n += 3
    return second.n


def together_after_some_turns(x, y, b):
    first, second = Box(x), Box(x)
    while y > x:
        first = Box(y)
        if b:
            second = first
        y = y - 1
    first.n += 3
    return second.n


def apart_after_some_turns(x, y, b):
    first = second = Box(x)
    while y > x:
        if b:
            first = Box(y)
        else:
            second = Box(y)
        y = y - 1
    first.n += 3
    return second.n


def lists_together_before_a_loop(x, y, b):
    first = second = [x, 1]
    while y > x:
        first = second = [y, 2]
        y = y - 1
    first[0] += 3
    return second[0]


def without_arrays(x, y, b):
    first = Box(3)
    second = first
    if b:
        second = Box(3)
    first.n += x
    return second.n


def empty_list(x, y, b):
    first = []
    second = first if b else []
    first.append(x)
    return len(second)


def list_of_known_numbers(x, y, b):
    first = [3, 4]
    second = first if b else [3, 4]
    first[0] = x
    return second[0]


def list_made_anew_with_the_same_in_it(x, y, b):
    first = second = [3, 4]
    while y > x:
        second = [3, 4]
        y = y - 1
    first[0] = 7
    return second[0]


def attribute_made_anew_with_the_same_in_it(x, y, b):
    holder = Holder()
    first = holder.kept = []
    if b:
        holder.kept = []
    first.append(x)
    return len(holder.kept)


def made_and_kept_in_a_list(x, y, b):
    boxes, last = [], Box(x)
    for k in range(3):
        if k < y:
            last = Box(y)
        last.n += 1
        boxes.append(last)
    return boxes[0].n + 10 * boxes[2].n


def older_and_kept_in_a_list(x, y, b):
    own, boxes = Box(x), []
    for k in range(3):
        if k < y:
            own.n += 1
            boxes.append(own)
        else:
            boxes.append(Box(k * x))
    return boxes[0].n + 10 * boxes[2].n


def one_of_a_list_in_turns(x, y, b):
    own, boxes = Box(x), []
    for k in range(3):
        boxes.append(own if k < y else Box(k * x))
    own = None
    boxes[0].n += 1
    return boxes[0].n + 10 * boxes[1].n


def whether_it_is_the_same(x, y, b):
    own = Box(x)
    first = own if b else Box(y)
    second = own if y > x else Box(y)
    return first is second


def whether_it_is_the_same_as_one_of_two(x, y, b):
    own, other = Box(x), Box(y)
    first = own if b else Box(y)
    second = first if y > x else other
    return second is own


def whether_it_is_in_a_list(x, y, b):
    own = Box(x)
    kept = own if b else Box(y)
    return kept in [own, Box(y)]


def that_holds_itself(x, y, b):
    own = Box(x)
    if b:
        own.next = own
    else:
        own.next = Box(y)
    own.next.n += 1
    return own.n


ROWS = ([2.0, 3.0, False], [2.0, 2.0, False], [3.0, 2.0, True], [2.0, 5.0, True])
for function in (
    in_a_list, in_an_attribute, in_a_dict, in_a_tuple, list_or_none, variable_of_an_inner_function, nested_expressions,
    returned_by_a_branch_of_a_branch, in_each_turn, in_a_branch_of_a_turn, written_in_the_next_turn, entered_with_and_written,
    attribute_in_a_turn, list_in_a_turn, element_in_a_turn, appended_in_turns, replaced_list_that_another_name_has,
    object_in_an_object, object_in_a_list_that_is_copied, list_in_a_tuple, element_replaced_in_some_turns,
    list_that_is_added_to, options_that_are_not_it, two_of_one, two_of_one_in_a_branch, made_by_one_of_two_branches,
    in_a_list_of_a_branch, returned_twice, same_from_two_calls, one_of_one_of_two, together_before_a_loop,
    together_after_some_turns, apart_after_some_turns, lists_together_before_a_loop, without_arrays, empty_list,
    list_of_known_numbers, list_made_anew_with_the_same_in_it, attribute_made_anew_with_the_same_in_it, made_and_kept_in_a_list,
    older_and_kept_in_a_list, one_of_a_list_in_turns, whether_it_is_the_same, whether_it_is_the_same_as_one_of_two,
    whether_it_is_in_a_list, that_holds_itself,
):  # fmt: skip
    row(function, *ROWS, want="either")


# What stays known is right, and not refused.
def best_of_several(x, y, b):
    best = Box(x)
    for k in range(4):
        candidate = Box(x - k * y)
        if candidate.n < y:
            best = candidate
    best.n += 1
    return best.n


def swapped_in_turns(x, y, b):
    first, second = Box(x), Box(x + 1)
    while y > 0:
        first, second = second, first
        first.n += 1
        y = y - 1
    return second.n + 10 * first.n


def swapped_in_some_turns(x, y, b):
    first, second = Box(x), Box(x + 1)
    while y > 0:
        if y > x:
            first, second = second, first
        first.n += 1
        y = y - 1
    return second.n + 10 * first.n


def picked_by_a_traced_index(x, y, b):
    first, second = Box(x), Box(x + 1)
    picked = [first, second][(y > x) * 1]
    picked.n += 5
    return first.n + 10 * second.n


def objects_in_order(x, y, b):
    first, second = Box(x), Box(2 * y)
    least = sorted([first, second], key=lambda box: box.n * y)[0]
    least.n += 7
    return first.n + 10 * second.n


# A loop in a branch gives a variable another object or none; the other branch changes the one that it has.
def written_after_a_loop_in_a_branch(x, y, b):
    def write(box, y):
        if b:
            other = Box(y)
            while y > x:
                box = other
                y = y - 1
        else:
            box.n += x
        box.n += 3
        return box.n

    own = Box(x)
    return write(own, y) + 100 * own.n


def written_by_a_function_after_a_loop_in_a_branch(x, y, b):
    def write(box, y):
        if b:
            other = Box(y)
            while y > x:
                box = other
                y = y - 1
        else:
            box.n += x
        return raised(box, 2).n + box.n

    own = Box(x)
    return write(own, y) + 100 * own.n


def loop_in_the_other_branch(x, y, b):
    def write(box, y):
        if b:
            box.n += x
        else:
            other = Box(y)
            while y > x:
                box = other
                y = y - 1
        box.n = box.n + 3
        return box.n

    own = Box(x)
    return write(own, y) + 100 * own.n


def loop_with_break_in_a_branch(x, y, b):
    def write(box, y):
        if b:
            other = Box(y)
            for k in range(3):
                if k > y - x:
                    break
                box = other
        else:
            box.n += x
        box.add(3)
        return box.n

    own = Box(x)
    return write(own, y) + 100 * own.n


def loop_in_a_branch_of_a_branch(x, y, b):
    def write(box, y):
        if b:
            if y < 4:
                other = Box(y)
                while y > x:
                    box = other
                    y = y - 1
            else:
                box.n += 1
        else:
            box.n += x
        box.n += 3
        return box.n

    own = Box(x)
    return write(own, y) + 100 * own.n


def loop_in_a_branch_that_writes_a_list(x, y, b):
    own, other = Box(x), Box(y)
    kept = [own]
    if b:
        while y > x:
            kept[0] = other
            y = y - 1
    else:
        kept[0].n += x
    kept[0].n += 3
    return own.n + 10 * kept[0].n


def loop_in_a_branch_that_writes_an_attribute(x, y, b):
    own, other, holder = Box(x), Box(y), Holder()
    holder.kept = own
    if b:
        while y > x:
            holder.kept = other
            y = y - 1
    else:
        holder.kept.n += x
    holder.kept.n += 3
    return own.n + 10 * holder.kept.n


# A branch changes an older object and gives it; the other one gives a new one.
def changed_and_given(x, y, b):
    own = Box(x)
    if b:
        kept = own
        own.n += 1
    else:
        kept = Box(y)
    return kept.n


def changed_and_returned(x, y, b):
    def got():
        if b:
            own.n += 1
            return own
        return Box(y)

    own = Box(x)
    return got().n


def changed_by_a_method_that_returns_it(x, y, b):
    own = Box(x)
    kept = own.add(1) if b else Box(y)
    return kept.n


def changed_and_given_in_a_list(x, y, b):
    own = Box(x)
    if b:
        kept = [own]
        own.n += 1
    else:
        kept = [Box(y)]
    return kept[0].n


def changed_inside_and_given(x, y, b):
    own, kept = Holder(), Holder()
    own.inner = Box(x)
    if b:
        kept = own
        own.inner.n += 4
    else:
        kept.inner = Box(y)
    return kept.inner.n


def changed_list_that_is_returned(x, y, b):
    def got():
        if b:
            own[0] = y
            return own
        return [x, x]

    own = [x, 1]
    return got()[0]


def changed_in_an_attribute(x, y, b):
    holder = Holder()
    holder.kept = Box(x)
    if b:
        holder.kept = Box(y)
    else:
        holder.kept.n += x
    return holder.kept.n


def changed_in_a_list(x, y, b):
    kept = [Box(x)]
    if b:
        kept[0] = Box(y)
    else:
        kept[0].n += x
    return kept[0].n


def changed_in_a_tuple(x, y, b):
    kept = (Box(x), 1)
    if b:
        kept = (Box(y), 1)
    else:
        kept[0].n += x
    return kept[0].n


def changed_and_given_in_turns(x, y, b):
    own, kept = Box(x), Box(y)
    while y > x:
        if b:
            kept = own
            own.n += 1
        else:
            kept = Box(y)
        y = y - 1
    return kept.n


def changed_and_given_in_turns_of_a_for(x, y, b):
    own, kept = Box(x), Box(0.0)
    for k in range(3):
        if k < y:
            own.n += 1
            kept = own
        else:
            kept = Box(k * x)
    return kept.n


# What both branches make and give to two variables is one object.
def together_in_both_branches(x, y, b):
    if b:
        first = second = Box(y)
    else:
        first = second = Box(x)
    first.n += 3
    return second.n


def lists_together_in_both_branches(x, y, b):
    if b:
        first = second = [1, y]
    else:
        first = second = [1, x]
    first[0] += 3
    return second[0]


def attributes_together_in_both_branches(x, y, b):
    holder = Holder()
    if b:
        holder.first = holder.second = Box(y)
    else:
        holder.first = holder.second = Box(x)
    holder.first.n += 3
    return holder.second.n


def one_each_in_two_branches(x, y, b):
    own = Box(x)
    if b:
        first, second = own, Box(y)
    else:
        first, second = Box(y), own
    first.n += 3
    return second.n


def one_of_two_older_ones(x, y, b):
    own, other, kept = Box(x), Box(y), Box(x + 1)
    before = kept
    if b:
        kept = own
    else:
        kept = other
    before.n += 1
    kept.n += 3
    return own.n + 10 * other.n + 100 * before.n


def whether_two_choices_are_one(x, y, b):
    own, other = Box(x), Box(y)
    first = own if b else other
    second = own if y > x else other
    return (first is second) + 2 * (first is first) + 4 * (first is not own)


def list_given_in_some_turns(x, y, b):
    first, second = [3, 4], [3, 4]
    while y > x:
        second = first
        y = y - 1
    first[0] = x
    return second[0]


def emptied_in_a_branch(x, y, b):
    kept = []
    if b:
        kept = []
    kept.append(x)
    kept.append(y)
    return kept[0] + len(kept)


for function in (
    best_of_several, swapped_in_turns, swapped_in_some_turns, picked_by_a_traced_index, objects_in_order,
    written_after_a_loop_in_a_branch, written_by_a_function_after_a_loop_in_a_branch, loop_in_the_other_branch,
    loop_with_break_in_a_branch, loop_in_a_branch_of_a_branch, loop_in_a_branch_that_writes_a_list,
    loop_in_a_branch_that_writes_an_attribute, changed_and_given, changed_and_returned, changed_by_a_method_that_returns_it,
    changed_and_given_in_a_list, changed_inside_and_given, changed_list_that_is_returned, changed_in_an_attribute,
    changed_in_a_list, changed_in_a_tuple, changed_and_given_in_turns, changed_and_given_in_turns_of_a_for,
    together_in_both_branches, lists_together_in_both_branches, attributes_together_in_both_branches, one_each_in_two_branches,
    one_of_two_older_ones, whether_two_choices_are_one, list_given_in_some_turns, emptied_in_a_branch,
):  # fmt: skip
    row(function, *ROWS)


# ------------------------------------------------------------------ what holds itself
def dict_that_holds_itself(x):
    d = {"v": 0.0}
    d["self"] = d
    if x > 0:
        d["self"]["v"] = x
    return d["v"]


def list_that_holds_itself_by_a_dict(x):
    values = [0.0]
    values.append({"a": values})
    while x > 0:
        values[1]["a"][0] += x
        x = x - 1
    return values[0]


def list_that_holds_itself_in_a_static_loop(x):
    values = [0.0]
    values.append(values)
    for i in range(3):
        values[1][0] += x * i
    return values[0]


for function in (dict_that_holds_itself, list_that_holds_itself_by_a_dict, list_that_holds_itself_in_a_static_loop):
    row(function, [1.5], [-1.0], grad=True)


def one_of_two_that_hold_themselves(x):
    if x > 0:
        values = [x]
        values.append(values)
    else:
        values = [x + 1]
        values.append(values)
    return values[1][0]


row(one_of_two_that_hold_themselves, [1.5], [-1.0], want="either")


def put_into_one_of_two_and_written(x):
    p, q, held = Box(x), Box(3.0), [5.0]
    r = p if x > 0 else q
    r.held = held
    r.held[0] = 33.0
    return held[0]


row(put_into_one_of_two_and_written, [1.5], [-1.0], want="either")


def put_into_one_of_two_lists_and_written(x):
    p, q, held = [[x]], [[3.0]], [5.0]
    r = p if x > 0 else q
    r[0] = held
    r[0][0] = 33.0
    return held[0], p[0][0], q[0][0]


row(put_into_one_of_two_lists_and_written, [1.5], [-1.0], want="either")


class Row(list):
    pass


class Two:
    def __init__(self, a, b):
        self.a, self.b = a, b


def second_part_of_a_list_class(x):
    held, row = [1.0], Row([[2.0], [3.0]])
    for k in range(3):
        row = Row([[x], held]) if x > k else Row([[5.0], [6.0]])
    held[0] = 9.0
    return row[1][0], row[0][0]


row(second_part_of_a_list_class, [0.5], [9.0], want="either")


def second_part_of_an_object(x):
    held, two = [1.0], Two([2.0], [3.0])
    for k in range(3):
        two = Two([x], held) if x > k else Two([5.0], [6.0])
    held[0] = 9.0
    return two.b[0], two.a[0]


row(second_part_of_an_object, [0.5], [9.0], want="either")


@table.each_way
def test_joined_objects(row, way, record_property):
    check(row, way, record_property)


def test_what_holds_itself_is_not_returned():
    def circle(x):
        values = [x]
        values.append(values)
        return values

    with pytest.raises(ag.StructureError, match="holds itself is returned"):
        ag.jit(circle)(1.0)
