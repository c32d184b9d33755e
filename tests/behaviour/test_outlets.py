"""Files, logs and warnings in staged code: at run time, once for each time that Python would, with the values of the run."""

import contextlib
import dataclasses
import io
import logging
import sys
import warnings

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag

LOG = logging.getLogger("tests.outlets")


def run(function, *arguments):
    result = function(*arguments)
    jax.effects_barrier()
    return result


def test_a_file(tmp_path):
    with (tmp_path / "out.txt").open("w") as file:

        @ag.jit
        def f(x):
            n = 0
            while x > 1:
                if x > 3:
                    n += file.write("large\n")
                else:
                    file.writelines(["small", f" {x}\n"])
                x = x / 2
            return n

        assert run(f, 8.0) == 12
        assert run(f, 0.5) == 0
    assert (tmp_path / "out.txt").read_text() == "large\nlarge\nsmall 2.0\n"


def test_standard_output(capsys):
    @ag.jit
    def f(x):
        if x > 0:
            sys.stdout.write(f"x is {x}\n")
        return x

    run(f, -1.0)
    assert capsys.readouterr().out == ""
    run(f, 2.0)
    assert capsys.readouterr().out == "x is 2.0\n"


def test_a_log(caplog):
    @ag.jit
    def f(x):
        logging.warning("begins at %s", x)
        for i in ag.stage(range(3)):
            if i > 0:
                LOG.error("turn %d: %s", i, x)
                LOG.log(logging.WARNING, "again")
                LOG.debug("nobody reads %s", x)
            x = x * 2
        return x

    with caplog.at_level(logging.INFO):
        run(f, 1.5)
    assert caplog.messages == ["begins at 1.5", "turn 1: 3.0", "again", "turn 2: 6.0", "again"]


class Counter:
    def __init__(self):
        self.n = 1.0

    def __str__(self):
        return f"n={self.n}"


class Pair(Counter):
    def __repr__(self):
        return f"Pair({self.n!r})"


@dataclasses.dataclass
class Point:
    x: float = 1.0
    name: str = "p"


def test_objects_are_shown_as_they_are_at_that_moment(capsys, caplog):
    def f(x):
        counter, pair, point = Counter(), Pair(), Point()
        if x > 0:
            counter.n, pair.n, point.x = x * 2, x * 3, x * 4
            print(counter, pair, point, [pair, point], {"a": (pair,)}, sep="; ")
            print({"z": x, "a": {2: pair, 1: [x]}}, {2: "b", "one": (1,)})
            LOG.error(f"{ {'z': x, 'a': 1} }")
            counter.n = x * 5
            pair.n = 7.0
            print(pair)
            pair.n = 8.0
            LOG.error("%s", str(counter))
        print(f"{counter} {pair!r} {point}")
        return x

    for x in (2.0, -2.0):
        f(x)
        expected, logged = capsys.readouterr().out, caplog.messages.copy()
        caplog.clear()
        run(ag.jit(f), x)
        assert (capsys.readouterr().out, caplog.messages) == (expected, logged)
        caplog.clear()


def test_a_level_that_is_off_costs_nothing():
    def f(x):
        if x > 0:
            LOG.debug("x is %s", x)
        return x * 2

    assert "callback" not in str(jax.make_jaxpr(ag.autograph(f))(1.0))


def test_only_lanes_that_take_the_branch_log(caplog):
    def f(x):
        if x > 1:
            LOG.error("%s", x)
        return x

    run(jax.jit(jax.vmap(ag.autograph(f))), jnp.array([1.0, 2.0, 0.0, 3.0]))
    assert sorted(caplog.messages) == ["2.0", "3.0"]


def test_a_warning_has_its_line():
    @ag.jit
    def f(x):
        if x > 0:
            warnings.warn("x is large", RuntimeWarning, stacklevel=1)
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(f, -1.0)
    with pytest.warns(RuntimeWarning, match="x is large") as caught:
        run(f, 1.0)
    assert caught[0].filename == __file__ and caught[0].lineno == f.__wrapped__.__code__.co_firstlineno + 3


def test_on_plain_values_and_outside_of_blocks_it_is_pythons(tmp_path, caplog):
    with (tmp_path / "out.txt").open("w") as file:

        @ag.autograph
        def f(x):
            file.write("once\n")
            LOG.error("once")
            return x

        assert f(1) == 1
        assert jax.jit(f)(1.0) == 1.0
    assert (tmp_path / "out.txt").read_text() == "once\nonce\n"
    assert caplog.messages == ["once", "once"]


def test_a_file_in_memory_is_not_read_before_it_is_written():
    @ag.jit
    def length(x):
        file = io.StringIO()
        if x > 0:
            print("large", file=file)
        return len(file.getvalue())

    @ag.jit
    def shown(x):
        file = io.StringIO()
        print(x, file=file)
        file.seek(0)
        return file.readline()

    with pytest.raises(ag.StagingError, match=r"getvalue.*before"):
        length(1.0)
    with pytest.raises(ag.StagingError, match=r"seek.*before"):
        shown(1.0)


def test_a_file_in_memory_is_read_after_the_call():
    file = io.StringIO()

    @ag.jit
    def f(x):
        if x > 0:
            print("large", file=file)
        return x

    run(f, 1.0)
    assert ag.autograph(lambda: file.getvalue())() == "large\n"


def test_a_file_in_memory_that_is_no_traced_data_is_pythons():
    @ag.jit
    def f(x):
        file = io.StringIO()
        print("a", "b", file=file)
        return x + len(file.getvalue())

    assert f(1.0) == 5.0


def printed_into_memory(x):
    file = io.StringIO()
    with contextlib.redirect_stdout(file):
        if x > 0:
            print("large")
    return len(file.getvalue())


def errors_into_memory(x):
    file = io.StringIO()
    with contextlib.redirect_stderr(file):
        if x > 0:
            print("large", file=sys.stderr)
    return len(file.getvalue())


def warnings_that_are_counted(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if x > 0:
            warnings.warn("large", stacklevel=1)
        return len(caught)


def warnings_that_are_errors(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            if x > 0:
                warnings.warn("large", stacklevel=1)
            return 1.0
        except UserWarning:
            return 2.0


@pytest.mark.parametrize(
    "program", [printed_into_memory, errors_into_memory, warnings_that_are_counted, warnings_that_are_errors]
)
def test_what_is_watched_while_python_traces(program):
    program(1.0)
    with pytest.raises(ag.StagingError, match="where the code is traced"):
        ag.jit(program)(1.0)


def test_printed_into_memory_while_python_traces():
    def f(x):
        file = io.StringIO()
        with contextlib.redirect_stdout(file):
            print("always")
        return x + len(file.getvalue())

    assert ag.jit(f)(1.0) == 8.0


def test_warnings_that_are_ignored():
    @ag.jit
    def f(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            if x > 0:
                warnings.warn("large", stacklevel=1)
                warnings.warn("larger", RuntimeWarning, stacklevel=1)
        return x

    with pytest.warns(RuntimeWarning, match="larger") as caught:
        run(f, 1.0)
    assert len(caught) == 1


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_standard_stream_is_the_one_of_the_call(stream, monkeypatch):
    """A compiled program keeps none that was there when it was traced."""

    @ag.jit
    def f(x):
        print("v", x, file=getattr(sys, stream))
        return x

    for x in (1.0, 2.0):
        text = io.StringIO()
        monkeypatch.setattr(sys, stream, text)
        jax.block_until_ready(f(x))
        jax.effects_barrier()
        assert text.getvalue() == f"v {x}\n"
