"""What random programs import: an object with methods, a log of the order of evaluation, an exception, a context manager."""

from __future__ import annotations

from typing import Any

import numpy as np


class Log:
    """The order in which marked expressions were evaluated, as one number that a traced program can keep as well."""

    h: Any = 0


LOG = Log()


def note(k, value):
    """`value`; evaluating it is seen in the log."""
    LOG.h = (LOG.h * 5 + k) % 8191
    return value


class Box:
    """A mutable object with a number of each kind and an array."""

    def __init__(self, n, v, c):
        self.n = n
        self.v = v
        self.c = c

    def bump(self, k):
        self.n = (self.n + k) % 31
        return self.n

    def lower(self):
        if self.v > 4.0:
            self.v -= 4.0
        else:
            self.n = 0
        return self.v

    def fill(self, k):
        self.c[k % 3] = self.n
        return self


class Stop(Exception):
    """Raised by programs, with a number."""


class Scope:
    """`with Scope(k) as n`. It writes nothing: methods that Python calls by itself run as plain Python, also when traced."""

    def __init__(self, k):
        self.k = k

    def __enter__(self):
        return self.k

    def __exit__(self, kind, error, trace):
        return False


def put(a, k, value):
    """Writes an array that somebody else holds."""
    a[k] = value


def row(a, k):
    """A row, which is a view of what somebody else holds."""
    return a[k]


def shift(box, k=1, *, by=2):
    """Writes an object that somebody else holds; keyword arguments of both kinds."""
    if box.n > k:
        box.n = (box.n + by) % 31
    return box


def smooth_step(x):
    return x * x * (3.0 - 2.0 * x)


def spread(a):
    """A number in which each element of an array shows."""
    return a[0] + 2 * a[1] + 4 * a[2]


def mixed(*numbers):
    """A number that changes with each of its arguments, and with their order."""
    total = np.int64(0)
    for weight, number in enumerate(numbers):
        total = (total + (weight + 2) * number) % 31
    return total
