"""Which argument is meant by a number or a name."""

import functools
from typing import Any, NamedTuple

import numpy as np
import pytest

from autograph_jax.errors import ArgumentError
from autograph_jax.runtime.arguments import Argument, resolve, resolve_entries
from autograph_jax.runtime.signatures import name_of, naming_signature
from tests.runtime.functions import Model, adds_an_argument, anything, keywords, nothing, passes_on, seed, solve, variadic

# ------------------------------------------------------------------ numbers and names become arguments


class Row(NamedTuple):
    function: Any
    argnums: Any = None
    argnames: Any = None
    expected: str = ""  # name:position:keyword, with - for none


ROWS = {
    "none given": Row(solve),
    "positional-only by number": Row(seed, 0, None, "a:0:-"),
    "positional-only by name": Row(seed, None, "a", "a:0:-"),
    "either way by number": Row(seed, 1, None, "b:1:b"),
    "either way by name": Row(seed, None, "b", "b:1:b"),
    "keyword-only by number": Row(seed, 2, None, "c:-:c"),
    "keyword-only by name": Row(seed, None, "c", "c:-:c"),
    "keyword-only from the end": Row(seed, -1, None, "c:-:c"),
    "positional-only from the end": Row(seed, -3, None, "a:0:-"),
    "several numbers": Row(seed, (0, 1, 2), None, "a:0:- b:1:b c:-:c"),
    "several names": Row(seed, None, ["c", "a"], "c:-:c a:0:-"),
    "numbers and names": Row(seed, 1, "c", "b:1:b c:-:c"),
    "a name among numbers": Row(seed, (0, "c"), None, "a:0:- c:-:c"),
    "a number among names": Row(seed, None, ("b", -1), "b:1:b c:-:c"),
    "a NumPy number": Row(seed, np.int64(1), None, "b:1:b"),
    "a NumPy array": Row(seed, np.array([0, 1]), None, "a:0:- b:1:b"),
    "a generator": Row(seed, (i for i in (0, 1)), None, "a:0:- b:1:b"),
    "no numbers but a name": Row(seed, (), "b", "b:1:b"),
    "defaulted": Row(solve, 1, "tol", "n:1:n tol:-:tol"),
    "before *rest": Row(variadic, 0, None, "x:0:x"),
    "in *rest": Row(variadic, (1, 3), None, "rest[0]:1:- rest[2]:3:-"),
    "keyword-only after *rest": Row(variadic, None, "c", "c:-:c"),
    "in **options": Row(keywords, None, ("y", "method"), "y:1:y method:-:method"),
    "a key like a positional-only name": Row(keywords, None, "x", "x:0:-"),
    "anything by number": Row(anything, 1, None, "args[1]:1:-"),
    "anything by name": Row(anything, None, "n", "n:-:n"),
    "method": Row(Model().step, -1, None, "n:1:n"),
    "function of a class": Row(Model.step, -1, "self", "n:2:n self:0:self"),
    "callable object": Row(Model(), 1, None, "n:-:n"),
    "method of *args": Row(Model().collect, 0, None, "args[0]:0:-"),
    "partial by position": Row(functools.partial(solve, 1.0), 0, None, "n:0:n"),
    "partial by keyword": Row(functools.partial(solve, n=1), (0, 1), None, "x:0:x n:-:n"),
    "partial of a partial": Row(functools.partial(functools.partial(seed, 1), c=2), (0, 1), None, "b:0:b c:-:c"),
    "wrapper that passes all on": Row(passes_on(solve), None, "n", "n:1:n"),
    "wrapper that passes all on, by number": Row(passes_on(solve), -1, None, "tol:-:tol"),
    "wrapper that passes self on": Row(Model.wrapped, None, "n", "n:2:n"),
    "method that passes self on": Row(Model().wrapped, None, "n", "n:1:n"),
    "wrapper with an argument of its own": Row(adds_an_argument(solve), 0, None, "extra:0:extra"),
    "name behind a wrapper's own argument": Row(adds_an_argument(solve), None, "n", "n:-:n"),
    "a builtin whose signature Python cannot tell": Row(min, 1, None, "args[1]:1:-"),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_numbers_and_names_become_arguments(row: Row):
    found = resolve(naming_signature(row.function), row.argnums, row.argnames, option="static", function="f")
    assert " ".join(f"{a.name}:{_or_dash(a.position)}:{_or_dash(a.keyword)}" for a in found) == row.expected


def _or_dash(value: object) -> object:
    return "-" if value is None else value


# ------------------------------------------------------------------ what is refused


class Refused(NamedTuple):
    function: Any
    argnums: Any
    argnames: Any
    message: str


REFUSED = {
    "unknown name, a near one": Refused(
        solve,
        None,
        "tool",
        """\
`static_argnames='tool'`: `solve` has no parameter `tool`  [AG0401]
{here}
  It is `solve(x, n, *, tol)`.
  help: did you mean `tol`?""",
    ),
    "unknown name": Refused(
        seed,
        None,
        ("a", "method"),
        """\
`static_argnames='method'`: `seed` has no parameter `method`  [AG0401]
{here}
  It is `seed(a, /, b, *, c)`.
  help: give the name of one of its parameters""",
    ),
    "out of range": Refused(
        seed,
        3,
        None,
        """\
`static_argnums=3`: `seed` has 3 parameters  [AG0401]
{here}
  It is `seed(a, /, b, *, c)`.
  help: count from 0 to 2, or from -1 to -3""",
    ),
    "out of range from the end": Refused(
        functools.partial(seed, 1, 2),
        -2,
        None,
        """\
`static_argnums=-2`: `seed` has 1 parameter  [AG0401]
{here}
  It is `seed(*, c)`.
  help: count from 0 to 0, or from -1 to -1""",
    ),
    "no parameters": Refused(
        nothing,
        0,
        None,
        """\
`static_argnums=0`: `nothing` has 0 parameters  [AG0401]
{here}
  It is `nothing()`.
  help: leave `static_argnums` out""",
    ),
    "from the end of *rest": Refused(
        variadic,
        -1,
        None,
        """\
`static_argnums=-1`: `variadic` takes any number of arguments (`*rest`), and has no last one  [AG0401]
{here}
  It is `variadic(x, *rest, c)`.
  help: count from the front, or give the name""",
    ),
    "*rest": Refused(
        variadic,
        None,
        "rest",
        """\
`static_argnames='rest'`: `*rest` of `variadic` is any number of arguments  [AG0401]
{here}
  It is `variadic(x, *rest, c)`.
  help: give their numbers: 1 is the first of them""",
    ),
    "**options": Refused(
        keywords,
        None,
        "options",
        """\
`static_argnames='options'`: `**options` of `keywords` is any number of arguments  [AG0401]
{here}
  It is `keywords(x, /, y, **options)`.
  help: give the names of the keywords themselves""",
    ),
    "no name": Refused(
        keywords,
        None,
        "",
        """\
`static_argnames=''`: `keywords` has no parameter ``  [AG0401]
{here}
  It is `keywords(x, /, y, **options)`.
  help: give the name of one of its parameters""",
    ),
    "twice by number": Refused(
        solve,
        (1, -2),
        None,
        """\
`static_argnums=(1, -2)`: `n` of `solve` is meant twice  [AG0401]
{here}
  It is `solve(x, n, *, tol)`.
  help: give it once""",
    ),
    "by number and by name": Refused(
        Model().step,
        1,
        "n",
        """\
`static_argnames='n'`: `n` of `Model.step` is meant twice  [AG0401]
{here}
  It is `Model.step(x, n)`.
  help: give it once""",
    ),
    "a float": Refused(
        Model(),
        1.0,
        None,
        """\
`static_argnums=1.0`: an argument of `Model` is given by its number or its name, not by 1.0  [AG0401]
{here}
  It is `Model(x, *, n)`.
  help: write `static_argnums=0`, or `static_argnames='name'`""",
    ),
    "True among numbers": Refused(
        solve,
        None,
        ["x", True],
        """\
`static_argnames=['x', True]`: an argument of `solve` is given by its number or its name, not by True  [AG0401]
{here}
  It is `solve(x, n, *, tol)`.
  help: write `static_argnums=0`, or `static_argnames='name'`""",
    ),
    "bytes": Refused(
        solve,
        None,
        b"x",
        """\
`static_argnames=b'x'`: an argument of `solve` is given by its number or its name, not by b'x'  [AG0401]
{here}
  It is `solve(x, n, *, tol)`.
  help: write `static_argnums=0`, or `static_argnames='name'`""",
    ),
}


@pytest.mark.parametrize("row", REFUSED.values(), ids=REFUSED.keys())
def test_what_means_no_argument_is_refused(row: Refused):
    signature, name = naming_signature(row.function), name_of(row.function)
    with pytest.raises(ArgumentError) as caught:
        resolve(signature, row.argnums, row.argnames, option="static", function=name)
    here = caught.value.location
    assert here is not None and here.filename == __file__
    assert str(caught.value) == row.message.format(here="\n".join(here.lines()))


def test_none_is_static_or_none_to_differentiate():
    assert resolve(naming_signature(solve), (), None, option="static", function="solve") == ()
    with pytest.raises(ArgumentError, match=r"^`argnums=\(\)`: this means no argument of `solve`"):
        resolve(naming_signature(solve), (), None, option="", function="solve")


def test_without_a_prefix_the_options_are_argnums_and_argnames():
    with pytest.raises(ArgumentError, match="^`argnums=4`: `solve` has 3 parameters"):
        resolve(naming_signature(solve), 4, None, option="", function="solve")


def test_whole_arguments_and_keywords_have_a_name_where_they_may():
    for function, name in [(variadic, "rest"), (keywords, "options")]:
        (found,) = resolve(naming_signature(function), None, name, option="", function="f", whole=True)
        assert found == Argument(name, None, None)


# ------------------------------------------------------------------ a value for each argument


def entries(function, given):
    return resolve_entries(naming_signature(function), given, option="in_axes", function=name_of(function))


def test_entries_by_name_and_by_number():
    assert {a.name: said for a, said in entries(seed, {"c": 2, 0: 1}).items()} == {"c": 2, "a": 1}
    assert {a.name: said for a, said in entries(variadic, {"rest": 0, 2: 1}).items()} == {"rest": 0, "rest[1]": 1}


ENTRIES_REFUSED = {
    "unknown": ({"tool": 0}, "`in_axes='tool'`: `solve` has no parameter `tool`", "did you mean `tol`?"),
    "out of range": ({3: 0}, "`in_axes=3`: `solve` has 3 parameters", "count from 0 to 2, or from -1 to -3"),
    "twice": ({"n": 0, 1: 0}, "`in_axes=1`: `n` of `solve` is meant twice", "give it once"),
    "a tuple": (
        {("x", "n"): 0},
        "`in_axes=('x', 'n')`: an argument of `solve` is given by its number or its name, not by ('x', 'n')",
        "write `in_axes={0: ...}`, or `in_axes={'name': ...}`",
    ),
}


@pytest.mark.parametrize("given, what, help", ENTRIES_REFUSED.values(), ids=ENTRIES_REFUSED.keys())
def test_entries_that_mean_no_argument_are_refused(given, what, help):
    with pytest.raises(ArgumentError) as caught:
        entries(solve, given)
    assert (caught.value.what, caught.value.help) == (what, help)
