"""What is done where a `with` or a generator is left: seen by the user where an error leaves it, or refused."""

import contextlib
import decimal
import io
import logging
import sys
import threading
import warnings

import jax
import numpy as np
import pytest

import autograph_jax as ag

REFUSED = "that may be left by an exception|told of exceptions"
log = logging.getLogger(__name__)


class Printing:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self

    def __exit__(self, *error):
        print("close", self.x)


class Otherwise(Printing):
    def close(self, *error):
        print("close", self.x)

    __exit__ = close


class Logging(Printing):
    def __exit__(self, *error):
        log.warning("close %s", self.x)


class Writing(Printing):
    def __exit__(self, *error):
        sys.stderr.write(f"close {self.x}")


class Telling(Printing):
    def __exit__(self, kind, error, traceback):
        if kind is None:
            print("ok")
        else:
            print("failed", error)


class TellingFailures(Printing):
    def __exit__(self, kind, error, traceback):
        if kind is not None:
            print("failed", error)


class Wrapping(Printing):
    def __exit__(self, kind, error, traceback):
        if kind is not None:
            raise RuntimeError("wrapped") from error


class Raising(Printing):
    def __exit__(self, kind, error, traceback):
        raise RuntimeError("always")


class Asserting(Printing):
    def __exit__(self, *error):
        assert self.x > 3


@contextlib.contextmanager
def printing(x):
    try:
        yield
    finally:
        print("out", x)


@contextlib.contextmanager
def around(x):
    with Printing(x):
        yield


@pytest.mark.parametrize(
    "manager",
    [Printing, Otherwise, Logging, Writing, Telling, TellingFailures, Wrapping, Raising, Asserting, printing, around],
    ids=lambda manager: manager.__name__,
)
@pytest.mark.parametrize("how", ["raise", "branch", "always", "loop", "while", "assert", "callee", "handled", "block"])
def test_what_would_be_lost_is_refused(manager, how):
    with pytest.raises(ag.StagingError, match=REFUSED):
        ag.jit(PROGRAMS[how], static_argnums=1)(-1.0, lambda x: manager(x))


def by_raise(x, make):
    with make(x):
        if x < 0:
            raise ValueError("negative")
    return x


def in_branch(x, make):
    if x < 5:
        with make(x):
            if x < 0:
                raise ValueError("negative")
    return x


def always_in_branch(x, make):
    if x < 5:
        with make(x):
            raise ValueError("small")
    return x


def in_loop(x, make):
    for i in range(3):
        with make(x):
            if x < i:
                raise ValueError("small")
            x = x + 1
    return x


def of_while(x, make):
    with make(x):
        while x < 10:
            if x < 0:
                raise ValueError("negative")
            x = x + 3
    return x


def by_assert(x, make):
    with make(x):
        assert x > 0, "negative"
    return x


def of_callee(x, make):
    with make(x), np.errstate(all="ignore"):
        return not_negative(x)


def handled_around(x, make):
    try:
        with make(x):
            if x < 0:
                raise ValueError("negative")
    except ValueError:
        x = 2.0
    return x


def around_a_block(x, make):
    with make(x):
        if x > 0:
            y = not_negative(x - 1)
        else:
            y = not_negative(x)
    return y


def not_negative(x):
    if x < 0:
        raise ValueError("negative")
    return x


PROGRAMS = {
    "raise": by_raise, "branch": in_branch, "always": always_in_branch, "loop": in_loop, "while": of_while,
    "assert": by_assert, "callee": of_callee, "handled": handled_around, "block": around_a_block,
}  # fmt: skip


def suppressing():
    return contextlib.suppress(ValueError)


@contextlib.contextmanager
def in_suppressing():
    with suppressing():
        yield


@pytest.mark.parametrize("make", [suppressing, in_suppressing])
@pytest.mark.parametrize("how", ["raise", "branch", "while", "callee"])
def test_who_may_end_an_exception_is_refused_whoever_makes_it(make, how):
    with pytest.raises(ag.StagingError, match="told of exceptions"):
        ag.jit(PROGRAMS[how], static_argnums=1)(-1.0, lambda x: make())


# ------------------------------------------------------------------ generators
def with_finally(x):
    try:
        yield x
        yield x + 1
    finally:
        print("out", x)


def with_handler(x):
    try:
        yield x
    except KeyError:
        print("no")
    finally:
        print("out", x)


def with_manager(x):
    with Printing(x):
        yield x
        yield x + 1


def that_delegates(x):
    yield from with_finally(x)


def that_raises(x):
    try:
        if x < 0:
            raise ValueError("negative")
    finally:
        print("out", x)
    yield x


class Elements:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        try:
            yield self.x
        finally:
            print("out", self.x)


def all_of(x, make):
    total = 0.0
    for v in make(x):
        total = total + not_negative(v)
    return total


def first_of(x, make):
    elements = make(x)
    for v in elements:
        if v < 0:
            raise ValueError("negative")
        x = x + v
        break
    return x


@pytest.mark.parametrize("take", [all_of, first_of])
@pytest.mark.parametrize("make", [with_finally, with_handler, with_manager, that_delegates, that_raises, Elements])
def test_what_a_generator_would_do_in_the_end_is_refused(take, make):
    with pytest.raises(ag.StagingError, match=REFUSED):
        ag.jit(take, static_argnums=1)(-1.0, lambda x: make(x))


# ------------------------------------------------------------------ what is as in Python
class Restoring(Printing):
    depth = 0

    def __enter__(self):
        Restoring.depth += 1
        return self

    def __exit__(self, *error):
        Restoring.depth -= 1


class Noting(Printing):
    def __exit__(self, kind, error, traceback):
        self.failed = isinstance(error, ValueError)


@contextlib.contextmanager
def restored(x):
    kept = Restoring.depth
    Restoring.depth = kept + 1
    try:
        yield
    finally:
        Restoring.depth = kept


QUIET = {
    "errstate": lambda x: np.errstate(all="ignore"),
    "warnings": lambda x: warnings.catch_warnings(),
    "scope": lambda x: jax.named_scope("inside"),
    "precision": lambda x: jax.default_matmul_precision("float32"),
    "trace": lambda x: jax.profiler.TraceAnnotation("inside"),
    "nothing": lambda x: contextlib.nullcontext(x),
    "lock": lambda x: threading.Lock(),
    "decimals": lambda x: decimal.localcontext(),
    "file": lambda x: io.BytesIO(),
    "restoring": lambda x: Restoring(x),
    "noting": lambda x: Noting(x),
    "generator": lambda x: restored(x),
}


@pytest.mark.parametrize("make", QUIET.values(), ids=QUIET)
@pytest.mark.parametrize("how", ["raise", "branch", "loop", "while", "assert", "callee", "block"])
def test_who_does_nothing_that_is_seen_may_be_left(make, how):
    program = PROGRAMS[how]
    with pytest.raises((ValueError, AssertionError)) as raised:
        program(-1.0, make)
    with pytest.raises(raised.type, match=str(raised.value).splitlines()[0]):
        ag.jit(program, static_argnums=1)(-1.0, make)
    assert ag.jit(program, static_argnums=1)(3.0, make) == program(3.0, make)
    assert Restoring.depth == 0


def of_a_generator(x, make):
    for v in quiet_elements(x, make):
        x = x + not_negative(v)
    return x


def quiet_elements(x, make):
    with make(x):
        yield x
        yield x + 1


def test_nor_does_a_generator():
    for make in QUIET.values():
        with pytest.raises(ValueError, match="negative"):
            ag.jit(of_a_generator, static_argnums=1)(-1.0, make)
        assert ag.jit(of_a_generator, static_argnums=1)(3.0, make) == of_a_generator(3.0, make)


def handled_inside(x):
    with Printing(x):
        try:
            y = not_negative(x)
        except ValueError:
            y = 2.0
    return y


def after_all_are_left(x):
    with Printing(x), np.errstate(all="ignore"):
        y = x
        with Printing(x + 1):
            y = y + 1
    for v in with_finally(x):
        y = y + v
    return not_negative(x) + y


def by_finally(x):
    try:
        if x < 0:
            raise ValueError("negative")
    finally:
        print("close", x)
    return x


def after_one_that_is_quiet(x):
    with np.errstate(all="ignore"):
        x = not_negative(x)
    with Printing(x):
        x = x + 1
    return x


@pytest.mark.parametrize("program", [handled_inside, after_all_are_left, by_finally, after_one_that_is_quiet])
@pytest.mark.parametrize("x", [-1.0, 2.0])
def test_what_python_does_is_done(program, x, capfd):
    wanted = _outcome(program, x, capfd)
    assert _outcome(ag.jit(program), x, capfd) == wanted


def _outcome(program, x, capfd):
    try:
        result = float(program(x))
    except ValueError as error:
        result = repr(error)
    jax.effects_barrier()
    return result, capfd.readouterr().out
