"""Writes at the end of a path, `o.a[i] = v`: NumPy only reads `o.a`, and changes the array where it is."""

import collections
import dataclasses
import types

import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row

X = np.array([1.0, 2.0, 3.0])
M = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def right(*programs):
    for program in programs:
        row(program, [X])


def refused(*programs):
    for program in programs:
        row(program, [X], want="error")


# ------------------------------------------------------------------ classes
class Base:
    def add(self, v):
        self.b[0] += v

    @classmethod
    def add_to_all(cls, v):
        cls.b[1] += v


class Derived(Base):
    pass


def of_a_class(x):
    class C:
        pass

    C.b = x + 0.0
    o, p = C(), C()
    o.b[0] += 9.0
    p.b[1] = 7.0
    return p.b, o.b, C.b


def of_a_base_class(x):
    Base.b = x + 0.0
    o, p = Derived(), Derived()
    o.b[0] += 9.0
    p.add(1.0)
    Derived.b[2] = 5.0
    return p.b, o.b, Base.b, Derived.b, "b" in vars(o), "b" in vars(Derived)


def by_a_class_method(x):
    Base.b = x + 0.0
    o = Derived()
    Derived.add_to_all(3.0)
    o.add_to_all(3.0)
    return Base().b, o.b


def in_a_class_body(x):
    class C:
        b = x + 0.0

        def add(self, v):
            self.b[1] += v

    o, p = C(), C()
    o.b[0] += 9.0
    p.add(2.0)
    return p.b, o.b, C.b


def of_a_class_in_a_branch(x):
    class C:
        b = x + 0.0

    o, p = C(), C()
    if x[0] > 0:
        o.b[0] += 9.0
    for i in range(3):
        p.b[i] += x[0]
    return p.b, o.b


def its_own_beside_that_of_its_class(x):
    class C:
        b = x + 0.0

    o, p = C(), C()
    o.b = x * 2.0
    o.b[0] += 9.0
    p.b[1] = 4.0
    return p.b, o.b


right(of_a_class, of_a_base_class, by_a_class_method, in_a_class_body, of_a_class_in_a_branch, its_own_beside_that_of_its_class)


def of_its_class_and_its_own(x):
    class C:
        b = x + 0.0

        def __init__(self):
            self.a = self.b

    o = C()
    o.a[0] = 9.0
    return o.a, C.b


def added_to_that_of_a_class(x):
    class C:
        b = x + 0.0

    o, p = C(), C()
    o.b += 1.0
    return p.b, o.b


def of_the_class_of_one_of_two(x):
    class C:
        b = x + 0.0

    class D:
        b = x + 1.0

    c, d = C(), D()
    o = c if x[0] > 0 else d
    o.b[0] = 9.0
    return C.b, D.b, c.b


def of_a_class_and_a_variable(x):
    class C:
        b = x + 0.0

    o = C()
    y = C.b
    o.b[0] = 9.0
    return y, o.b


refused(of_its_class_and_its_own, added_to_that_of_a_class, of_the_class_of_one_of_two, of_a_class_and_a_variable)


# ------------------------------------------------------------------ attribute dicts
class ItemsRead(dict):
    __getattr__ = dict.__getitem__


class ItemsReadByCode(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class ItemsSet(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


def item_read_as_an_attribute(x):
    d = ItemsRead(a=x + 0.0)
    d.a[0] += 9.0
    d["a"][1] = 4.0
    return d["a"], d.a


def item_read_as_an_attribute_by_code(x):
    d = ItemsReadByCode(a=x + 0.0)
    d.a[0] += 9.0
    for i in range(2):
        if x[i] > 1:
            d.a[i] = 4.0
    return d["a"], d.a


def item_set_as_an_attribute(x):
    d = ItemsSet(a=x + 0.0)
    d.a[0] += 9.0
    d.b = d.a * 2.0
    d.b[1] = 4.0
    return d["a"], d.a, d["b"]


right(item_read_as_an_attribute, item_read_as_an_attribute_by_code, item_set_as_an_attribute)


class Settings(dict):
    pass


def attribute_beside_an_item(x):
    d = Settings(a=x + 0.0)
    d.a = d["a"] * 2.0
    d.a[0] += 9.0
    d["a"][1] = 4.0
    return d["a"], d.a


def same_as_an_attribute_and_an_item(x):
    d = Settings(a=x + 0.0)
    d.a = d["a"]
    d.a[0] += 9.0
    return d["a"], d.a


def same_as_an_item_and_an_attribute(x):
    d = Settings(a=x + 0.0)
    d.a = d["a"]
    d["a"][0] += 9.0
    return d["a"], d.a


right(attribute_beside_an_item)
refused(same_as_an_attribute_and_an_item, same_as_an_item_and_an_attribute)


# ------------------------------------------------------------------ properties
class Counting:
    def __init__(self, x):
        self._x, self.n = x, 0

    @property
    def x(self):
        return self._x

    @x.setter
    def x(self, value):
        self.n += 1
        self._x = value


class OfAnother:
    def __init__(self, x):
        self.inner, self.n = types.SimpleNamespace(rows={"x": x}), 0

    @property
    def x(self):
        return self.inner.rows["x"]

    @x.setter
    def x(self, value):
        self.n += 1


class Slotted:
    __slots__ = ("_x", "n")

    def __init__(self, x):
        self._x, self.n = x, 0

    x = Counting.x


class WithoutSetter:
    def __init__(self, x):
        self._x = x

    @property
    def x(self):
        return self._x


class CountingAttributes:
    def __init__(self, x):
        self.__dict__["n"] = 0
        self.x = x

    def __setattr__(self, name, value):
        self.__dict__["n"] += 1
        self.__dict__[name] = value


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: object


class Forwarding:
    def __init__(self, x):
        self._inner = types.SimpleNamespace(x=x)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._inner, name)


def written(make):
    def program(x):
        o = make(x + 0.0)
        o.x[0] = 9.0
        o.x[1] += 8.0
        if x[0] > 0:
            o.x[2] = 5.0
        return o.x, getattr(o, "n", 0)

    row(program, [X], name=f"written_{make.__name__}")


for kind in (Counting, OfAnother, Slotted, WithoutSetter, CountingAttributes, Frozen, Forwarding):
    written(kind)


def forwarded(x):
    o = Forwarding(x + 0.0)
    o.x[0] = 9.0
    return o._inner.x, "x" in vars(o)


def set_by_the_setter(x):
    o = Counting(x + 0.0)
    o.x += 1.0
    o.x = o.x * 2.0
    o.x[0] = 4.0
    return o.x, o.n


def in_a_loop(x):
    o = Counting(x + 0.0)
    i = 0
    while x[0] * i < 3:
        o.x[i] = 9.0 + i
        i += 1
    return o.x, o.n


right(forwarded, set_by_the_setter, in_a_loop)


class Copying(Counting):
    @property
    def x(self):
        return self._x.copy()

    @x.setter
    def x(self, value):
        self._x = value


class Computing(Copying):
    @property
    def x(self):
        return self._x + 0.0

    @x.setter
    def x(self, value):
        self._x = value


class Showing(Copying):
    @property
    def x(self):
        return self._x[1:]

    @x.setter
    def x(self, value):
        self._x = value


class Dropping(Counting):
    @property
    def x(self):
        return self._x

    @x.setter
    def x(self, value):
        self.n += 1


def copy_of_a_property(x):
    o = Copying(x + 0.0)
    o.x[0] = 9.0
    return o.x


def result_of_a_property(x):
    o = Computing(x + 0.0)
    o.x[0] += 9.0
    return o.x


def view_of_a_property(x):
    o = Showing(x + 0.0)
    o.x[0] += 9.0
    return o._x


def name_for_the_copy_of_a_property(x):
    o = Copying(x + 0.0)
    y = o.x
    y[0] = 9.0
    first = o.x
    o.x = y
    return first, o.x


def added_where_a_setter_drops_it(x):
    o = Dropping(x + 0.0)
    o.x += 1.0
    return o.x, o.n


def view_of_a_property_and_a_variable(x):
    o = Showing(x + 0.0)
    y = o.x
    o.x[0] += 9.0
    return y, o._x


def of_one_of_two_with_properties(x):
    a, b = Copying(x + 0.0), Copying(x + 1.0)
    o = a if x[0] > 0 else b
    o.x[0] = 9.0
    return a.x, b.x


refused(
    copy_of_a_property, result_of_a_property, added_where_a_setter_drops_it, view_of_a_property_and_a_variable,
    of_one_of_two_with_properties,
)  # fmt: skip
right(name_for_the_copy_of_a_property, view_of_a_property)


class OfItsClass:
    kept = None

    @property
    def x(self):
        return self.kept


class OfClasses(type):
    @property
    def x(cls):
        return cls.kept


class OfThisClass(metaclass=OfClasses):
    kept = None


def property_over_that_of_a_class(x):
    OfItsClass.kept = x + 0.0
    OfThisClass.kept = x * 2.0
    o, p = OfItsClass(), OfItsClass()
    o.x[0] = 9.0
    OfThisClass.x[0] = 9.0
    return p.x, o.x, OfThisClass.kept


class Described:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, owner, kind=None):
        return getattr(owner, self.name)

    def __set__(self, owner, value):
        owner.n += 1
        setattr(owner, self.name, value)


class WithADescriptor:
    n = 0
    x = Described()


def descriptor(x):
    o = WithADescriptor()
    o.x = x + 0.0
    o.x[0] = 9.0
    o.x[1] += 9.0
    return o.x, o.n


right(property_over_that_of_a_class, descriptor)


class Two:
    def __init__(self, x):
        self.x = self.y = x

    @property
    def p(self):
        return self.x

    @p.setter
    def p(self, value):
        self.x = value

    def write(self, v):
        self.x[0] = v


def added_to_one_of_two(x):
    o = Two(x + 0.0)
    o.x += 1.0
    o.x[0] = 9.0
    return o.x, o.y


def added_to_one_of_two_by_a_property(x):
    o = Two(x + 0.0)
    o.p += 2.0
    o.write(9.0)
    return o.x, o.y


def one_of_two_by_a_property(x):
    o = Two(x + 0.0)
    o.p[0] = 9.0
    return o.x, o.y


def added_to_one_of_two_in_a_dict(x):
    d = {"a": x, "b": x}
    d["a"] += 1.0
    return d["a"], d["b"]


def added_to_one_of_two_in_a_list(x):
    rows = [x + 0.0] * 2
    rows[0] += 1.0
    return rows[0], rows[1]


def added_to_one_of_two_in_an_object(x):
    o = types.SimpleNamespace(rows=[x + 0.0] * 2)
    o.rows[0] += 1.0
    return o.rows[0], o.rows[1]


refused(
    added_to_one_of_two, added_to_one_of_two_by_a_property, one_of_two_by_a_property, added_to_one_of_two_in_a_dict,
    added_to_one_of_two_in_a_list, added_to_one_of_two_in_an_object,
)  # fmt: skip


# ------------------------------------------------------------------ dicts and lists with methods of their own
class CountingDict(dict):
    n = 0

    def __setitem__(self, key, value):
        self.n += 1
        super().__setitem__(key, value)


class LowerDict(CountingDict):
    def __getitem__(self, key):
        return super().__getitem__(key.lower())


class CopyingDict(CountingDict):
    def __getitem__(self, key):
        return super().__getitem__(key) + 0.0


class CountingList(list):
    n = 0

    def __setitem__(self, key, value):
        self.n += 1
        super().__setitem__(key, value)

    def __getitem__(self, key):
        return super().__getitem__(key - 1)


class CountingUserDict(collections.UserDict):
    n = 0

    def __setitem__(self, key, value):
        self.n += 1
        super().__setitem__(key, value)


class Rows:
    def __init__(self, *rows):
        self.rows, self.n = list(rows), 0

    def __getitem__(self, k):
        return self.rows[k]

    def __setitem__(self, k, row):
        self.n += 1
        self.rows[k] = row


def dict_that_counts(x):
    o = CountingDict(a=x + 0.0)
    o["b"] = x * 2.0
    o["a"][0] = 9.0
    o["b"][1] += 9.0
    return o["a"], o["b"], o.n


def dict_that_asks_for_another_key(x):
    o = LowerDict(a=x + 0.0)
    o["A"][0] = 9.0
    return o["a"], len(o), o.n


def list_that_counts(x):
    o = CountingList([x + 0.0, x + 1.0])
    o[1][0] = 9.0
    return o[1], o[2], o.n


def user_dict_that_counts(x):
    o = CountingUserDict(a=x + 0.0)
    o["a"][0] = 9.0
    if x[0] > 0:
        o["a"][1] = 4.0
    return o["a"], o.n


def user_list(x):
    o = collections.UserList([x + 0.0, x + 1.0])
    o[1][0] = 9.0
    return o[0], o[1]


def object_with_rows(x):
    o = Rows(x + 0.0, x + 1.0)
    o[1][0] = 9.0
    for i in range(3):
        o[0][i] += x[i]
    return o[0], o[1], o.n


def dict_with_a_default(x):
    d, e = collections.defaultdict(lambda: x * 0.0), collections.OrderedDict(a=x + 0.0)
    d["a"][0] += 4.0
    e["a"][0] += 4.0
    return d["a"], e["a"]


def dict_that_copies(x):
    o = CopyingDict(a=x + 0.0)
    o["a"][0] = 9.0
    return o["a"], o.n


class Grid:
    def __init__(self, cells):
        self.cells, self.n = cells, 0

    def __getitem__(self, k):
        return self.cells[k]

    def __setitem__(self, k, row):
        self.n += 1
        self.cells[k] = row


def row_of_a_grid(x):
    o = Grid(x.reshape(3, 1) + np.zeros(2))
    o[1][0] = 9.0
    o[2][:] += 1.0
    o[0, 1] = 5.0
    for i in range(3):
        o[i][1] += x[i]
    return o.cells, o.n


def copied_rows_of_a_grid(x):
    o = Grid(x.reshape(3, 1) + np.zeros(2))
    o[[0, 1]][0] = 9.0
    return o.cells, o.n


def one_of_two_that_count(x):
    a, b = CountingDict(a=x + 0.0), CountingDict(a=x + 1.0)
    o = a if x[0] > 0 else b
    o["a"][0] = 9.0
    return a["a"], b["a"], a.n


right(
    row_of_a_grid, dict_that_counts, dict_that_asks_for_another_key, list_that_counts, user_dict_that_counts, user_list,
    object_with_rows, dict_with_a_default,
)  # fmt: skip
refused(dict_that_copies, copied_rows_of_a_grid, one_of_two_that_count)


# ------------------------------------------------------------------ copies by an index
def rows_by_a_list(m):
    m[[0, 1]][0] = 9.0
    return m


def rows_by_a_mask(m):
    m[m > 2][0] = 9.0
    return m


def rows_by_an_array(m):
    k = np.array([0, 1])
    m[k][1] += 2.0
    return m


def rows_by_an_array_in_a_list(m):
    rows = [m + 0.0]
    rows[0][[0, 1]][:, 0][1] += 2.0
    return rows[0]


def rows_of_a_column_by_a_list(m):
    m[:, [0, 1]][0][1] = 2.0
    return m


def all_rows_by_a_bool(m):
    m[True][0] = 9.0
    return m


def rows_by_a_traced_bool(m):
    m[m[0, 0] > 0][0] = 9.0
    return m


for program in (
    all_rows_by_a_bool,
    rows_by_a_traced_bool,
    rows_by_a_list,
    rows_by_a_mask,
    rows_by_an_array,
    rows_by_an_array_in_a_list,
    rows_of_a_column_by_a_list,
):
    row(program, [M], want="error")


def rows_by_a_slice_or_at_once(m):
    m[1:][0] = 9.0
    m[0][1] = 8.0
    m[[0, 1]] += 1.0
    m[m > 8] *= 2.0
    d = {(0, 1): m * 2.0}
    d[0, 1][0] = 3.0
    y = m[[0, 1]]
    y[0] = 5.0
    return m, d[0, 1], y


row(rows_by_a_slice_or_at_once, [M])


class Sheet:
    def __init__(self, values):
        self.values, self.shown = values + 0.0, None

    def put(self, i, j, v):
        self.values[i][j] = v

    def add(self, i, j, v):
        self.values[i][j] += v


def rows_of_an_attribute(m):
    grid, named, listed = Sheet(m), {"m": m + 0.0}, [m * 2.0]
    grid.put(0, 1, 9.0)
    for i in range(2):
        grid.add(i, i, 3.0)
    named["m"][0][1] = 5.0
    listed[0][1:][0][1] = 2.0
    return grid.values, named["m"], listed[0]


def rows_of_an_attribute_that_is_held_twice(m):
    grid = Sheet(m)
    grid.shown = grid.values
    grid.put(0, 1, 9.0)
    return grid.values, grid.shown


def row_of_an_attribute_that_is_held(m):
    grid = Sheet(m)
    first = grid.values[0]
    grid.put(0, 1, 9.0)
    return grid.values, first


def transposed_in_a_path(m):
    grid = Sheet(m)
    grid.values.T[0, 1] = 9.0
    return grid.values


row(rows_of_an_attribute, [M])
row(rows_of_an_attribute_that_is_held_twice, [M], want="either")
row(row_of_an_attribute_that_is_held, [M], want="either")
row(transposed_in_a_path, [M], want="error")


class Casting:
    def __init__(self, values):
        self.values = values

    @property
    def as_floats(self):
        return self.values.astype(self.values.dtype)

    @property
    def flat(self):
        return self.values.flatten()


def copies_of_an_attribute(x):
    o = Casting(x + 0.0)
    o.flat[1] = 7.0
    o.as_floats[0] = 9.0
    return o.values


def copies_that_are_written(x):
    y = x.astype(x.dtype)
    z = x.flatten()
    y[0] = 9.0
    z[1] = 8.0
    return x, y, z


row(copies_of_an_attribute, [X], want="either")
row(copies_that_are_written, [X], want="either")


class ItsOwnDict(dict):
    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


def dict_that_is_its_own_attributes(x):
    d = ItsOwnDict(a=x + 0.0)
    d.a[0] = 9.0
    d["a"][1] += 3.0
    return d["a"], d.a


row(dict_that_is_its_own_attributes, [X])


class CountingReads:
    """A property that counts how often it is read."""

    def __init__(self, values):
        self.reads, self._values = 0, values

    @property
    def values(self):
        self.reads += 1
        return self._values


def reads_of_a_property(x):
    o = CountingReads(x + 0.0)
    o.values[0] = 9.0
    tail = o.values[1:]
    parts = [o.values[0], o.values.T]
    total = np.sum(o.values[1:])
    first, *rest = o.values
    return tail * 1.0, parts[0], total, first, len(rest), o.reads


row(reads_of_a_property, [X])


@table.each_way
def test_paths(row, way, record_property):
    check(row, way, record_property)
