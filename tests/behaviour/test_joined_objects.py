"""Objects and lists that traced data has made one of two, in nested branches and in loops: a write shows, or is refused."""

from .harness import Table, check

table = Table(__name__)
row = table.row


class Box:
    def __init__(self, n):
        self.n = n


class Holder:
    pass


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


ROWS = ([2.0, 3.0, False], [2.0, 2.0, False], [3.0, 2.0, True], [2.0, 5.0, True])
for function in (
    in_a_list, in_an_attribute, in_a_dict, in_a_tuple, list_or_none, variable_of_an_inner_function, nested_expressions,
    returned_by_a_branch_of_a_branch, in_each_turn, in_a_branch_of_a_turn, written_in_the_next_turn, entered_with_and_written,
    attribute_in_a_turn, list_in_a_turn, element_in_a_turn, appended_in_turns, replaced_list_that_another_name_has,
    object_in_an_object, object_in_a_list_that_is_copied, list_in_a_tuple, element_replaced_in_some_turns,
    list_that_is_added_to,
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


for function in (best_of_several, swapped_in_turns, swapped_in_some_turns, picked_by_a_traced_index, objects_in_order):
    row(function, *ROWS)


@table.each_way
def test_joined_objects(row, way, record_property):
    check(row, way, record_property)
