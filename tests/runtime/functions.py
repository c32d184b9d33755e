"""Functions with every kind of parameter, and wrappers around them."""

import functools


def seed(a, /, b, *, c): ...
def solve(x, n=3, *, tol=1e-6): ...
def variadic(x, *rest, c=0): ...
def keywords(x, /, y=1, **options): ...
def anything(*args, **kwargs): ...
def nothing(): ...


def passes_on(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def passes_self_on(method):
    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        return method(self, *args, **kwargs)

    return wrapper


def adds_an_argument(function):
    @functools.wraps(function)
    def wrapper(extra, *args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


class Model:
    def step(self, x, n=2): ...
    def __call__(self, x, *, n): ...
    def collect(*args): ...

    @passes_self_on
    def wrapped(self, x, n): ...
