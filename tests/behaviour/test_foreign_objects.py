"""Objects of the standard library that hold their state in C, changed where traced data decides: right or refused."""

import atexit
import ctypes
import decimal
import hashlib
import io
import json
import mmap
import os
import queue
import random
import re
import secrets
import sqlite3
import tempfile
import threading
import types
import uuid
import xml.etree.ElementTree as ET
import zlib

import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row


def changed(name, make, change, read):
    """The rows of one kind of object."""

    def in_a_branch(x):
        h, z = make(), 0.0
        if x > 0:
            z = change(h) or 1
        return z, read(h)

    def in_a_loop(x):
        h, total = make(), 0.0
        for i in range(3):
            total = total + x * (change(h) or 1) * i
        return total, read(h)

    def in_a_staged_loop(x):
        h, i, total = make(), 0, 0.0
        while total < 3 * x:
            total = total + x * (change(h) or 1)
            i = i + 1
        return total, i, read(h)

    row(in_a_branch, [1.0], [-1.0], want="either", name=f"{name}_in_a_branch")
    row(in_a_loop, [1.0], name=f"{name}_in_a_loop")
    row(in_a_staged_loop, [1.0], [-1.0], want="either", name=f"{name}_in_a_staged_loop")


DATABASE = sqlite3.connect(":memory:")
DATABASE.execute("create table t(a)")
DATABASE.executemany("insert into t values(?)", [(i,) for i in range(1, 7)])
atexit.register(DATABASE.close)


def cursor():
    return DATABASE.execute("select a from t")


def text_file():
    return io.TextIOWrapper(io.BytesIO(b"1\n2\n3\n4\n5\n6\n"))


def filled_queue():
    q = queue.SimpleQueue()
    for i in range(1, 7):
        q.put(i)
    return q


def function_with_default():
    return types.FunctionType((lambda a=0: a).__code__, {}, argdefs=(0,))


def set_default(h):
    h.__defaults__ = (h() + 1,)


def set_cell(h):
    h.cell_contents = h.cell_contents + 1


def set_precision(h):
    h.prec = h.prec + 1


def set_arguments(h):
    h.args = (h.args[0] + 1,)


def set_value(h):
    h.value = h.value + 1


def set_first(h):
    h[0] = h[0] + 1


class Numbered(queue.SimpleQueue):
    """A class of the user's over one in C."""


changed("event", threading.Event, lambda h: h.set(), lambda h: int(h.is_set()))
changed("semaphore", threading.Semaphore, lambda h: h.release(), lambda h: h._value)
changed("text_file", text_file, lambda h: int(h.readline()), lambda h: len(h.read()))
changed("queue", filled_queue, lambda h: h.get(), lambda h: h.qsize())
changed("queue_put", queue.SimpleQueue, lambda h: h.put(1), lambda h: h.qsize())
changed("queue_by_its_class", queue.SimpleQueue, lambda h: queue.SimpleQueue.put(h, 1), lambda h: h.qsize())
changed("queue_of_the_users", Numbered, lambda h: h.put(1), lambda h: h.qsize())
changed("cursor", cursor, lambda h: h.fetchone()[0], lambda h: len(h.fetchall()))
changed("hash", hashlib.sha256, lambda h: h.update(b"a"), lambda h: int(h.hexdigest()[:5], 16))
changed("compressor", zlib.compressobj, lambda h: 1 + len(h.compress(b"a")), lambda h: len(h.flush()))
changed("element", lambda: ET.Element("a"), lambda h: 1 + len(ET.SubElement(h, "b")), len)
changed("element_set", lambda: ET.Element("a", k=""), lambda h: h.set("k", h.get("k") + "a"), lambda h: len(h.get("k")))
changed("mapped_memory", lambda: mmap.mmap(-1, 8), lambda h: h.write_byte(1), lambda h: h.tell())
changed("number_in_c", lambda: ctypes.c_int(0), set_value, lambda h: h.value)
changed("array_in_c", lambda: (ctypes.c_int * 2)(), set_first, lambda h: h[0])
changed("array_in_c_by_its_method", lambda: (ctypes.c_int * 2)(), lambda h: h.__setitem__(0, h[0] + 1), lambda h: h[0])
changed("arguments_of_an_error", lambda: ValueError(0), set_arguments, lambda h: h.args[0])
changed("notes_of_an_error", lambda: ValueError(0), lambda h: h.add_note("a"), lambda h: len(getattr(h, "__notes__", ())))
changed("precision", lambda: decimal.Context(prec=1), set_precision, lambda h: h.prec)
changed("cell", lambda: types.CellType(0), set_cell, lambda h: h.cell_contents)
changed("default_value", function_with_default, set_default, lambda h: h())
changed("file_of_json", lambda: io.TextIOWrapper(io.BytesIO()), lambda h: json.dump([1], h), lambda h: h.tell())
changed("element_of_a_set", lambda: {1, 2, 3, 4, 5, 6}, lambda h: h.pop(), len)


# ------------------------------------------------------------------ something else each time
def different(name, make):
    def in_a_loop(xs):
        made = []
        for x in xs:
            made.append((x, make()))
        return len({value for _, value in made})

    def in_a_branch(xs):
        made = [make()]
        for _ in range(2):
            if xs[0] > 0:
                made.append(make())
        return len(set(made))

    row(in_a_loop, [np.array([1.0, 2.0, 3.0])], name=f"{name}_in_a_loop")
    row(in_a_branch, [np.array([1.0])], want="either", name=f"{name}_in_a_branch")


different("uuid", lambda: uuid.uuid4().int)
different("random_bytes", lambda: os.urandom(8))
different("secret", lambda: secrets.token_hex(8))
different("temporary_name", lambda: tempfile.mktemp())


# ------------------------------------------------------------------ what needs no care
def objects_that_are_only_read(x):
    element, event, match = ET.Element("a", k="2"), threading.Event(), re.match("(a)b", "ab")
    if x > 0:
        x = x * float(element.get("k")) + event.is_set() + len(match.group(1)) + hashlib.sha256(b"a").digest_size
    return x


row(objects_that_are_only_read, [1.0], [-1.0], staged="cond", grad=True)


def objects_of_the_branch_itself(x):
    if x > 0:
        waiting, digest, element = queue.SimpleQueue(), hashlib.sha256(b"a"), ET.Element("a")
        waiting.put(2.0)
        digest.update(b"b")
        inner = ET.SubElement(element, "b")
        inner.set("k", "3")
        x = x * waiting.get() + len(digest.hexdigest()) + float(inner.get("k"))
    return x


row(objects_of_the_branch_itself, [1.0], [-1.0], staged="cond", grad=True)


class Noisy(random.Random):
    scale = 2.0


def objects_over_a_class_in_c(x):
    if x > 0:
        noise = Noisy(0)
    else:
        noise = Noisy(1)
    kept = []
    for _ in range(3):
        kept.append(Noisy(2))
        x = x + 1
    return x, len(kept)


row(objects_over_a_class_in_c, [1.0], [-1.0], want="either")


def generator_in_a_list(x):
    generators = []
    for v in x:
        generators.append((v, random.Random(0)))
    return len(generators), generators[0][1].random() < 1


row(generator_in_a_list, [np.array([1.0, 2.0])])


@table.each_way
def test_foreign_objects(row, way, record_property):
    check(row, way, record_property)
