"""Strings that hold traced values: whole in prints, errors and results; who asks for their characters before is refused."""

# ruff: noqa: UP030, UP031, UP032 - the older ways to write a string are what is tested

import contextlib
import io
import sys

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax import autograph, jit
from autograph_jax.errors import StagingError


def fields(x, n):
    return f"{x:.3f} {n!r:>4} {[n, x]} {x}"


def by_format(x, n):
    return "{:.2f}|{}|{a!r}".format(x, n, a=n)


def nested_format(x, n):
    return "{0:{1}}|{n}".format(x, ".2f", n=n)


def by_percent(x, n):
    return "%5.2f%% %s %d" % (x, n, n), "%(n)d %(x).1f" % {"n": n, "x": x}, "%d" % n


def by_functions(x, n):
    return str(x), repr(n), format(x, ".2f"), str([n, (x,)]), ""


def joined(x, n):
    return ", ".join([f"{n}", "a", str(x)]) + "!", "<" + f"{n}"


def chosen(x, n):
    kind = "many" if n > 2 else "few"
    listed = f"{[kind]} {(kind, n)}", str([kind, x]), "%s" % [kind], repr((kind,))
    return listed, f"{kind}", f"{kind:>6}!", kind + "?", "%s" % kind, f"{kind} {n}", {"many!": 1, "few!": 2}[f"{kind}!"]


def grown_in_a_loop(x, n):
    line = ""
    for k in range(3):
        line = f"{line}{k}:{n} "
    return line


def of_two_paths(x, n):
    return f"{x} large" if n > 2 else f"{n}"


def longer_on_a_path(x, n):
    text, other, kind = f"first {x}", f"{x}", "many"
    if n > 2:
        text += " and more"
        other += f" and {n:d}"
        kind = "few"
    return f"{text}!", text + "!", "<" + other, other + text, kind + other, f"{kind}: " + other, ", ".join([text, other])


def of_two_types(x, n):
    text = f"{n}"
    if n > 2:
        text = f"{x}"
    return text + "!"


def of_plain_values(x, n):
    return "%(a)d" % {"a": 1, 2: n}, f"{ {'a': 1, 2: 3} }", "{0[a]} {1}".format({"a": 1, 2: 3}, 4), str({1: 2, "b": 3})


def is_a_string(x, n):
    return isinstance(f"{n}", str), bool(f"{n}")


PROGRAMS = (
    fields, by_format, nested_format, by_percent, by_functions, joined,
    chosen, of_two_paths, longer_on_a_path, of_two_types, grown_in_a_loop, of_plain_values, is_a_string,
)  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("arguments", [(0.5, 3), (1.25, 1)], ids=["many", "few"])
def test_result(program, arguments):
    assert jit(program)(*arguments) == program(*arguments) == autograph(program)(*arguments)


@pytest.mark.parametrize("program", [fields, by_format, nested_format, grown_in_a_loop], ids=lambda program: program.__name__)
def test_print(program, capsys):
    def printing(x, n):
        print(program(x, n))

    printing(0.5, 3)
    wanted = capsys.readouterr().out
    jit(printing)(0.5, 3)
    jax.effects_barrier()
    assert capsys.readouterr().out == wanted


USES = {
    "==": lambda n: f"{n}" == "3",
    "!=": lambda n: f"{n}" != "3",
    "in a tuple": lambda n: f"{n}" in ("3", "4"),
    "str ==": lambda n: str(n) == "3",
    "repr ==": lambda n: repr(n) == "3",
    "% ==": lambda n: ("%d" % n) == "3",
    "format ==": lambda n: "{}".format(n) == "3",
    "key": lambda n: {"3": 1.0}[f"{n}"],
    "get": lambda n: {"3": 1.0}.get(f"{n}"),
    "len": lambda n: len(f"{n}"),
    "<": lambda n: f"{n}" < "4",
    "contains": lambda n: "3" in f"{n}",
    "method": lambda n: f"{n}".upper(),
    "item": lambda n: f"{n}"[0],
    "iteration": lambda n: list(f"{n}"),
    "repeated": lambda n: f"{n}" * 2,
    "hash": lambda n: hash(f"{n}"),
}


@pytest.mark.parametrize("use", USES)
def test_characters_are_refused(use):
    with pytest.raises(StagingError, match="has its text at run time only"):
        jit(USES[use])(3)


def test_message():
    def compared(n):
        return f"{n}" == "3"

    with pytest.raises(StagingError) as caught:
        jit(compared)(3)
    text = str(caught.value)
    assert text.startswith("a string that holds traced values has its text at run time only, and is used before: `==`")
    assert 'return f"{n}" == "3"' in text and "ask the value itself" in text


class Shown(Exception):
    def __str__(self):
        return f"shown {self.args[0]}"


def caught(x, n):
    try:
        if n > 5:
            raise ValueError(f"bad {x}")
        if n > 4:
            raise KeyError(x)
        if n > 3:
            raise ValueError("bad", n)
        if n > 2:
            raise ValueError
        raise Shown(n)
    except (ValueError, KeyError, Shown) as error:
        print("caught", error, repr(error), [error], f"{error}|{error!r}", str(error), "%s" % error, "{}".format(error))


def caught_alone(x, n):
    try:
        if n > 3:
            raise ValueError(f"bad {x}")
    except ValueError as error:
        print("caught", error, repr(error), [error], f"{error}|{error!r}", str(error), "%s|%r" % (error, error))


def ends_and_separators(x, n):
    print(x, end=f"<{x}>\n")
    print(x, n, sep=f"-{n}-")
    if n > 3:
        print(x, n, sep=f"-{n}-", end="!" if n > 4 else "?")


def texts_in_texts(x, n):
    text = f"n={n}" if n > 3 else f"m={n}"
    print(f"[{text:>8}]", f"{text!r}", [text], repr(text), (text,), "%6s|%r" % (text, text), "{:<9}|".format(text))


def into_the_stream(x, n):
    sys.stdout.write(f"{n};")
    sys.stdout.writelines([f"{x}", "\n"])


@pytest.mark.parametrize("function", [caught, caught_alone, ends_and_separators, texts_in_texts, into_the_stream])
def test_what_is_printed(function):
    def printed(function, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            function(*arguments)
            jax.effects_barrier()
        return out.getvalue()

    compiled = jit(function)
    for n in range(2, 7):
        assert printed(compiled, 1.5, n) == printed(function, 1.5, n)


DERIVED = {
    "grad": lambda f, x: ag.grad(f)(x),
    "jvp": lambda f, x: ag.jvp(f, (x,), (1.0,)),
    "jacfwd": lambda f, x: ag.jacfwd(f)(x),
    "hessian": lambda f, x: ag.hessian(f)(x),
    "grad of vmap": lambda f, x: ag.grad(lambda y: ag.vmap(lambda z: f(x) * z)(jnp.ones(2)).sum() + f(y))(x),
}


@pytest.mark.parametrize("way", DERIVED)
def test_an_eager_derivative_shows_values(way, capsys):
    def shown(x):
        print(x, f"{x:.2f}", str(x), "%.3f" % x, "{:.1f} {n}".format(x, n=x), repr(x), format(x, ".1f"), [x, (x,)], {"a": x})
        return x * x

    DERIVED[way](shown, 2.5)
    expected = "2.5 2.50 2.5 2.500 2.5 2.5 2.5 2.5 [2.5, (2.5,)] {'a': 2.5}"
    assert set(capsys.readouterr().out.splitlines()) == {expected}


@pytest.mark.parametrize("way", DERIVED)
def test_an_eager_derivative_raises_with_values(way):
    def checked(x):
        if x < 5:
            raise ValueError(f"{x:.2f} is too small")
        return x

    with pytest.raises(ValueError, match=r"^2\.50 is too small"):
        DERIVED[way](checked, 2.5)


def test_an_eager_derivative_of_python_numbers():
    def scaled(x):
        try:
            known = float(x)
        except (TypeError, ValueError):
            known = -1.0
        return known * x + round(x) * int(x)

    value, slope = ag.value_and_grad(scaled)(3.0)
    assert (value, slope) == (18.0, 6.0) == tuple(map(float, ag.jit(ag.value_and_grad(scaled))(3.0)))


def test_a_text_that_grows_in_a_loop():
    """What it holds would double with each turn: Python runs the loop."""

    @jit
    def f(x):
        signs, numbers = "", ""
        for i in range(4):
            signs += "+" if x > i else "-"
            numbers += f"{x},"
            x = x + 1
        return signs + numbers

    assert f(-1.5) == "----" + "-1.5,-0.5,0.5,1.5,"
    assert f(0.5) == "++++" + "0.5,1.5,2.5,3.5,"
