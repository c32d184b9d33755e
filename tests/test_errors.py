"""The whole text of every error that the package raises, and what Python error each is."""

import linecache
import logging
import pickle
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

import autograph_jax as ag
from autograph_jax import errors
from autograph_jax.errors import AutographError, Location
from tests.messages import Row, failure, message

ROWS = {
    "not a function": Row(
        """
        f = 3
        """,
        "autograph(f)",
        """
        NotAFunctionError: `autograph` got 3, which is not a Python function  [AG0001]
          <string>:1, in <module>
          help: decorate a function, a method or a class
        """,
    ),
    "a builtin": Row(
        """
        f = len
        """,
        "autograph(f)",
        """
        NotAFunctionError: `autograph` got <built-in function len>, which is not a Python function  [AG0001]
          <string>:1, in <module>
          help: decorate a function, a method or a class
        """,
    ),
    "a jitted function": Row(
        """
        import jax

        @jax.jit
        def f(x):
            return x
        """,
        "autograph(f)",
        """
        NotAFunctionError: `autograph` got <PjitFunction of <function f>>, whose source it cannot see  [AG0001]
          <string>:1, in <module>
          help: decorate the Python function itself: `@autograph` goes below `@jax.jit`
        """,
    ),
    "source of what is no function": Row(
        """
        f = 3
        """,
        "ag.source(f)",
        """
        NotAFunctionError: 3 is not a Python function  [AG0001]
          <string>:1, in <module>
          help: name a function or a method
        """,
    ),
    "a yield inside an expression": Row(
        """
        def f(xs):
            for x in xs:
                x and (yield x)
        """,
        "autograph(f, strict=True)",
        """
        UnconvertibleError: `f` cannot be converted: it yields inside an expression  [AG0101]
          model.py:3, in f
            x and (yield x)
                   ^^^^^^^
          help: move its control flow into a function of its own, and decorate that
        """,
    ),
    "an async function": Row(
        """
        class Client:
            async def f(self, x):
                return x

        f = Client.f
        """,
        "autograph(f, strict=True)",
        """
        UnconvertibleError: `Client.f` cannot be converted: it is an async function  [AG0101]
          model.py:2, in Client.f
            async def f(self, x):
            ^^^^^^^^^^^^^^^^^^^^^
          help: move its control flow into a function of its own, and decorate that
        """,
    ),
    "dir()": Row(
        """
        def f(x):
            y = x
            return x, y, sorted(dir())
        """,
        "autograph(f, strict=True)",
        """
        UnconvertibleError: `f` cannot be converted: it calls `dir()`, which looks at the function's own frame  [AG0101]
          model.py:3, in f
            return x, y, sorted(dir())
                                ^^^^^
          help: move its control flow into a function of its own, and decorate that
        """,  # noqa: E501 - the text as it is shown
    ),
    "exec": Row(
        """
        def f(x):
            exec("y = 1")
            return x
        """,
        "autograph(f, strict=True)",
        """
        UnconvertibleError: `f` cannot be converted: it calls `exec()`, which looks at the function's own frame  [AG0101]
          model.py:2, in f
            exec("y = 1")
            ^^^^^^^^^^^^^
          help: move its control flow into a function of its own, and decorate that
        """,  # noqa: E501 - the text as it is shown
    ),
    "the frame": Row(
        """
        import sys

        def f(x):
            return sys._getframe(0)
        """,
        "ag.source(f)",
        """
        UnconvertibleError: `f` cannot be converted: it calls `_getframe()`, which looks at the function's own frame  [AG0101]
          model.py:4, in f
            return sys._getframe(0)
                   ^^^^^^^^^^^^^^^^
          help: move its control flow into a function of its own, and decorate that
        """,  # noqa: E501 - the text as it is shown
    ),
    "no source": Row(
        """
        namespace = {}
        exec(compile("def f(x): return x", "<made>", "exec"), namespace)
        f = namespace["f"]
        """,
        "autograph(f, strict=True)",
        """
        SourceError: the source of `f` is not available: no file holds its text  [AG0002]
          <made>:1
          help: put the function into a .py file or a notebook cell and import it from there
        """,
    ),
    "a shape that changes in a while": Row(
        """
        import jax.numpy as jnp

        class Model:
            def step(self, v, err):
                while err > 1e-3:
                    v = jnp.concatenate([v, v])
                    err = err / 2
                return v

        f = Model().step
        """,
        "jit(f)(x3, 1.0)",
        """
        ShapeError: `v` has two shapes, and which one is only known at run time  [AG0201]
          model.py:5, in Model.step
            while err > 1e-3:
                  ^^^^^^^^^^
          it enters this loop as float32[3], and a turn leaves it as float32[6].
          help: give it one shape and structure on every path, for example by padding or by filling with zeros
        """,
    ),
    "a shape that changes in a for": Row(
        """
        import jax.numpy as jnp

        def f(v, n):
            for _ in range(n):
                v = v[:, None]
            return v
        """,
        "jit(f)(x3, 3)",
        """
        ShapeError: `v` has two shapes, and which one is only known at run time  [AG0201]
          model.py:4, in f
            for _ in range(n):
                     ^^^^^^^^
          it enters this loop as float32[3], and a turn leaves it as float32[3,1].
          help: give it one shape and structure on every path, for example by padding or by filling with zeros
        """,
    ),
    "two shapes of branches": Row(
        """
        import jax.numpy as jnp

        def f(x):
            if x > 0:
                y = jnp.zeros(3)
            else:
                y = jnp.zeros((4, 2), int)
            return y
        """,
        "jit(f)(1.0)",
        """
        ShapeError: `y` has two shapes, and which one is only known at run time  [AG0201]
          model.py:4, in f
            if x > 0:
               ^^^^^
          one path leaves float32[3], the other int32[4,2].
          help: give it one shape and structure on every path, for example by padding or by filling with zeros
        """,
    ),
    "two shapes of an expression": Row(
        """
        import jax.numpy as jnp

        def f(x):
            return 1 + (jnp.zeros(2) if x > 0 else jnp.zeros(3))
        """,
        "jit(f)(1.0)",
        """
        ShapeError: the value of this expression has two shapes, and which one is only known at run time  [AG0201]
          model.py:4, in f
            return 1 + (jnp.zeros(2) if x > 0 else jnp.zeros(3))
                                        ^^^^^
          one path gives float32[2], the other float32[3].
          help: give it one shape and structure on every path, for example by padding or by filling with zeros
        """,
    ),
    "two shapes of an attribute": Row(
        """
        import jax.numpy as jnp

        class State:
            pass

        def f(x):
            state = State()
            state.v = jnp.zeros(2)
            if x > 0:
                state.v = jnp.zeros(3)
            return state.v
        """,
        "jit(f)(1.0)",
        """
        ShapeError: `State.v` has two shapes, and which one is only known at run time  [AG0201]
          model.py:9, in f
            if x > 0:
               ^^^^^
          one path leaves float32[3], the other float32[2].
          help: give it one shape and structure on every path, for example by padding or by filling with zeros
        """,
    ),
    "a tuple or an array": Row(
        """
        def f(x):
            if x > 0:
                y = (x, x)
            else:
                y = x
            return y
        """,
        "jit(f)(1.0)",
        """
        StructureError: `y` has two structures, and which one is only known at run time  [AG0202]
          model.py:2, in f
            if x > 0:
               ^^^^^
          one path leaves tuple(float32[], float32[]), the other float32[].
          help: give it one shape and structure on every path, for example by padding or by filling with zeros
        """,
    ),
    "lists of different lengths": Row(
        """
        def f(x):
            steps = []
            while x > 1:
                x = x / 2
                steps.append(x)
            return steps
        """,
        "jit(f)(1.0)",
        """
        StructureError: how many elements this list has is only known at run time  [AG0202]
          model.py:3, in f
            while x > 1:
                  ^^^^^
          A branch or a loop that traced data decides about adds or takes elements.
          help: bound it: `path = ag.max_len([], 100)`; or write into an array and count: `path[n] = x; n += 1`
        """,
    ),
    "a value of two structures leaves a loop": Row(
        """
        def f(xs):
            for x in xs:
                if x > 2:
                    return x, x
            return x
        """,
        "jit(f)(x3)",
        """
        StructureError: the value that this function returns has two structures, and which one is only known at run time  [AG0202]
          model.py:2, in f
            for x in xs:
                     ^^
          one path gives float32[], the other tuple(float32[], float32[]).
          help: give it one shape and structure on every path, for example by padding or by filling with zeros
        """,  # noqa: E501 - the text as it is shown
    ),
    "a condition of several elements": Row(
        """
        def f(v):
            if v > 0:
                v = -v
            return v
        """,
        "jit(f)(x3)",
        """
        PredicateError: the truth value of an array of 3 elements is ambiguous  [AG0204]
          model.py:2, in f
            if v > 0:
               ^^^^^
          The condition is bool[3].
          help: reduce it with `.any()` or `.all()`
        """,
    ),
    "a while condition of several elements": Row(
        """
        def f(v):
            while v > 0:
                v = v - 1
            return v
        """,
        "jit(f)(x3)",
        """
        PredicateError: the truth value of an array of 3 elements is ambiguous  [AG0204]
          model.py:2, in f
            while v > 0:
                  ^^^^^
          The condition is bool[3].
          help: reduce it with `.any()` or `.all()`
        """,
    ),
    "a condition with `and` of several elements": Row(
        """
        def f(v):
            return v > 0 and v < 2
        """,
        "jit(f)(x3)",
        """
        PredicateError: the truth value of an array of 3 elements is ambiguous  [AG0204]
          model.py:2, in f
            return v > 0 and v < 2
                   ^^^^^^^^^^^^^^^
          The condition is bool[3].
          help: reduce it with `.any()` or `.all()`
        """,
    ),
    "one of two strings": Row(
        """
        def f(x):
            name = "newton" if x > 0 else "halley"
            return name * 2
        """,
        "jit(f)(1.0)",
        """
        ChoiceError: a value that may be 'newton' or 'halley', depending on traced data, is used as one of them: `mul`  [AG0205]
          model.py:3, in f
            return name * 2
                   ^^^^^^^^
          help: test for the other case first (`if value is None: ...`), or give both paths the same kind of value
        """,  # noqa: E501 - the text as it is shown
    ),
    "the number of elements": Row(
        """
        def f(n):
            return list(range(n))
        """,
        "jit(f)(3)",
        """
        StagingError: the number of elements is only known at run time, and Python needs it here  [AG0206]
          model.py:2, in f
            return list(range(n))
                   ^^^^^^^^^^^^^^
          help: loop over it with a `for` statement, or make the bound a static argument
        """,
    ),
    "a helper writes its argument": Row(
        """
        def fill(v):
            v[0] = 1.0

        def f(x):
            fill(x)
            return x
        """,
        "jit(f)(x3)",
        """
        AliasError: an array is written in place, and `x` would have to show the write  [AG0301]
          model.py:2, in fill
            v[0] = 1.0
            ^^^^
          `x` (model.py:5, in f) holds this array too, and is read later.
          help: return the new array and use that, or make a copy first: `y = x.copy()`
        """,
    ),
    "a function writes the slice that a statement updates with it": Row(
        """
        def f(x):
            def fill():
                x[0] = 1.0
                return 2.0
            try:
                x[:2] += fill()
            except ValueError:
                pass
            return x
        """,
        "jit(f)(x3)",
        """
        AliasError: an array is written in place, and what a statement has read of it would have to show the write  [AG0301]
          model.py:3, in f.<locals>.fill
            x[0] = 1.0
            ^^^^
          The statement at model.py:6, in f, goes on with it.
          help: evaluate what writes before that, in a statement of its own: `v = f(); x[1:] += v`
        """,
    ),
    "a row is written": Row(
        """
        def f(x):
            rows = [x[0]]
            row = rows[0]
            row[1] = 5.0
            return x
        """,
        "jit(f)(x33)",
        """
        AliasError: an array is written in place, and `x` would have to show the write  [AG0301]
          model.py:4, in f
            row[1] = 5.0
            ^^^^^^
          `x` (model.py:4, in f) shares its memory with this array in NumPy, and is read later.
          help: return the new array and use that, or make a copy first: `y = x.copy()`
        """,
    ),
    "a copy that an index makes": Row(
        """
        def f(m):
            m[[0, 1]][0] = 5.0
            return m
        """,
        "jit(f)(x33)",
        """
        AliasError: what an index of lists or arrays gives is written, `x[[0, 1]][0] = v`: in NumPy a copy  [AG0301]
          model.py:2, in f
            m[[0, 1]][0] = 5.0
            ^^^^^^^^^^^^
          The write would have no effect on the array itself.
          help: write it by one index, `x[[0, 1], ...] = v`, or give the copy a name: `y = x[[0, 1]]; y[0] = v`
        """,
    ),
    "a copy that a property makes": Row(
        """
        class Model:
            def __init__(self, x):
                self._x = x

            @property
            def x(self):
                return self._x.copy()

        def f(x):
            model = Model(x)
            model.x[0] = 5.0
            return model.x
        """,
        "jit(f)(x3)",
        """
        AliasError: an array is written in place that `Model.x` gives, and the object does not hold it  [AG0301]
          model.py:11, in f
            model.x[0] = 5.0
            ^^^^^^^^^^
          In NumPy that has no effect on the object if it is a copy, and has one if it is a view.
          help: write a copy, and set that if it is meant: `y = o.x.copy(); y[0] = v; o.x = y`
        """,
    ),
    "the copy of a dict": Row(
        """
        class Copies(dict):
            def __getitem__(self, key):
                return super().__getitem__(key) + 0.0

        def f(x):
            d = Copies(a=x)
            d["a"][0] = 5.0
            return d["a"]
        """,
        "jit(f)(x3)",
        """
        AliasError: an array is written in place that `Copies.__getitem__` gives, and the object does not hold it  [AG0301]
          model.py:7, in f
            d["a"][0] = 5.0
            ^^^^^^^^^
          In NumPy that has no effect on the object if it is a copy, and has one if it is a view.
          help: write a copy, and set that if it is meant: `y = o[k].copy(); y[0] = v; o[k] = y`
        """,
    ),
    "an array that an object holds twice": Row(
        """
        class Model:
            def __init__(self, x):
                self.x = self.y = x

        def f(x):
            model = Model(x + 0.0)
            model.x += 5.0
            return model.y
        """,
        "jit(f)(x3)",
        """
        AliasError: an array is written in place, and the list or object that holds it has it a second time  [AG0301]
          model.py:7, in f
            model.x += 5.0
            ^^^^^^^
          It, or its class, has it in another place too; in NumPy both would show the write.
          help: give one of the two a copy, `self.a = self.b.copy()`, or put a new array there: `self.a = self.a + v`
        """,
    ),
    "a property of one of two objects": Row(
        """
        class Model:
            def __init__(self, x):
                self._x = x

            @property
            def x(self):
                return self._x

        def f(x):
            a, b = Model(x + 0.0), Model(x + 1.0)
            model = a if x[0] > 0 else b
            model.x[0] = 5.0
            return a.x, b.x
        """,
        "jit(f)(x3)",
        """
        AliasError: an array is written in place, the `x` of one of several objects, which has it by code or a class  [AG0301]
          model.py:12, in f
            model.x[0] = 5.0
            ^^^^^^^^^^
          Traced data has chosen the object.
          help: write it where the object is known, in each branch: `if c: a.x[0] = v` and `else: b.x[0] = v`
        """,
    ),
    "a copy on one path": Row(
        """
        def f(x):
            y = x
            if x[0] > 0:
                y = x + 1
            y[0] = 5.0
            return x, y
        """,
        "jit(f)(x3)",
        """
        AliasError: an array is written in place that another variable may hold too, depending on traced data  [AG0301]
          model.py:5, in f
            y[0] = 5.0
            ^^^^
          In NumPy the other variable would show the write on one path, and not on the other.
          help: make a copy where the variable gets the array: `y = x.copy()`
        """,
    ),
    "an array in a list": Row(
        """
        def f(x):
            rows = [x, x]
            x[0] = 1.0
            return rows
        """,
        "jit(f)(x3)",
        """
        AliasError: an array is written in place, and `rows` would have to show the write  [AG0301]
          model.py:3, in f
            x[0] = 1.0
            ^^^^
          `rows` (model.py:3, in f) holds this array too, and is read later.
          help: return the new array and use that, or make a copy first: `y = x.copy()`
        """,
    ),
    "an array that a loop has yet to take": Row(
        """
        def f(x):
            for y in (x, x):
                y[0] = 1.0
            return x
        """,
        "jit(f)(x3)",
        """
        AliasError: an array is written in place, and what a loop around has yet to take would have to show the write  [AG0301]
          model.py:3, in f
            y[0] = 1.0
            ^^^^
          help: loop over indices, or over copies: `for a in (x.copy(), y.copy()): ...`
        """,
    ),
    "an array in a tuple": Row(
        """
        def f(x):
            pair = (x + 1, x)
            pair[0] = x
            return pair
        """,
        "jit(f)(x3)",
        """
        ImmutableError: an array in a tuple is written in place, and neither JAX arrays nor tuples can change  [AG0302]
          model.py:3, in f
            pair[0] = x
            ^^^^^^^
          help: keep it in a list, or build a new tuple
        """,
    ),
    "a part of a tuple": Row(
        """
        def f(x):
            pair = (x + 1, 2)
            pair[0][1] = 5.0
            return pair
        """,
        "jit(f)(x3)",
        """
        ImmutableError: an array in a tuple is written in place, and neither JAX arrays nor tuples can change  [AG0302]
          model.py:3, in f
            pair[0][1] = 5.0
            ^^^^^^^^^^
          help: keep it in a list, or build a new tuple
        """,
    ),
    "nobody's variable": Row(
        """
        def f(x):
            (x + 1)[0] = 5.0
            return x
        """,
        "jit(f)(x3)",
        """
        ImmutableError: a JAX array is written in place that no local variable holds  [AG0302]
          model.py:2, in f
            (x + 1)[0] = 5.0
            ^^^^^^^^^^
          JAX arrays don't change; a variable of this function has to take the new array.
          help: give it a name first, write, and pass the new array on: `y = f(); y[0] = 1`
        """,
    ),
    "a global array": Row(
        """
        import jax.numpy as jnp

        table = jnp.zeros(3)

        def f(x):
            table[0] = x
            return x
        """,
        "jit(f)(1.0)",
        """
        AliasError: an array is written in place, and `table` would have to show the write  [AG0301]
          model.py:6, in f
            table[0] = x
            ^^^^^^^^
          `table` (model.py:6, in f) holds this array too, and is read later.
          help: return the new array and use that, or make a copy first: `y = x.copy()`
        """,
    ),
    "an escaped tracer": Row(
        """
        class Model:
            def step(self, x):
                self.last = x * 2
                return x

        def f(jit):
            model = Model()
            jit(model.step)(1.0)
            return model.last + 1
        """,
        "f(ag.jit)",
        """
        EscapedTracerError: `Model.last` holds a value of a trace that is over  [AG0404]
          model.py:9, in f
            return model.last + 1
                   ^^^^^^^^^^^^^^
          It was kept at model.py:3, in Model.step, while JAX traced the function:
              self.last = x * 2
          help: return the value, and keep what the call gives: `o.y = f(x)`
        """,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_message(name: str, tmp_path: Path):
    assert ROWS[name].got(tmp_path) == ROWS[name].expected


def test_dicts_of_different_keys_are_told_apart(tmp_path: Path):
    program = "def f(x):\n    if x > 0:\n        return {'a': x}\n    return {'b': x}"
    text = message(tmp_path, program, "jit(f)(1.0)")
    assert text.startswith("StructureError: the value that this function returns has two structures")
    one, other = re.search(r"one path gives (.*), the other (.*)\.", text).groups()
    assert one != other


# ------------------------------------------------------------------ at run time

UNBOUND = """
def f(x):
    if x > 0:
        y = x
    return y + 1
"""
UNBOUND_MESSAGE = """\
UnboundError: `y` has no value here  [AG0203]
  model.py:4, in f
    return y + 1
           ^
  Traced data took a path that does not assign it.
  help: assign `y` before the `if` or loop, or on every path
"""


def test_unbound_under_jit(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """The error comes out of the compiled program, so that JAX wraps it in one of its own."""
    with caplog.at_level(logging.CRITICAL):
        error = failure(tmp_path, UNBOUND.strip("\n"), "jit(f)(-1.0)")
    assert isinstance(error, RuntimeError)
    text = re.sub(rf"{tmp_path}/\d+/", "", str(error))
    assert UNBOUND_MESSAGE in text + "\n"


def test_unbound_is_not_raised_where_the_variable_has_a_value(tmp_path: Path):
    with pytest.raises(AssertionError, match="no error"):
        failure(tmp_path, UNBOUND.strip("\n"), "jit(f)(1.0)")


def test_unbound_in_python_is_python_s_own(tmp_path: Path):
    error = failure(tmp_path, UNBOUND.strip("\n"), "autograph(f)(-1.0)")
    assert type(error) is UnboundLocalError
    assert str(error) == "cannot access local variable 'y' where it is not associated with a value"


# ------------------------------------------------------------------ classes

CAUGHT_AS = {
    "NotAFunctionError": ("AG0001", TypeError),
    "SourceError": ("AG0002", OSError),
    "UnconvertibleError": ("AG0101", TypeError),
    "ShapeError": ("AG0201", TypeError),
    "StructureError": ("AG0202", TypeError),
    "UnboundError": ("AG0203", UnboundLocalError),
    "PredicateError": ("AG0204", ValueError),
    "ChoiceError": ("AG0205", TypeError),
    "StagingError": ("AG0206", TypeError),
    "AliasError": ("AG0301", ValueError),
    "ImmutableError": ("AG0302", TypeError),
    "ArgumentError": ("AG0401", ValueError),
    "RuleError": ("AG0402", TypeError),
    "CaptureError": ("AG0403", RuntimeError),
    "EscapedTracerError": ("AG0404", RuntimeError),
    "CollectiveError": ("AG0405", ValueError),
    "PortingError": ("AG0501", TypeError),
}


def test_the_table_has_every_class():
    assert {cls.__name__ for cls in AutographError.__subclasses__()} == set(CAUGHT_AS)


@pytest.mark.parametrize("name", CAUGHT_AS)
def test_class(name: str):
    cls, (code, python_error) = getattr(errors, name), CAUGHT_AS[name]
    assert cls.code == code and issubclass(cls, python_error) and issubclass(cls, AutographError)
    assert cls.__module__ == "autograph_jax" and cls.__doc__


def test_codes_are_unique():
    codes = [cls.code for cls in [AutographError, *AutographError.__subclasses__()]]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("name", CAUGHT_AS)
def test_pickle(name: str):
    location = Location("model.py", 3, 4, 9, "f")
    error = getattr(errors, name)("it failed", location=location, details=["one", "two"], help="don't")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)
    assert (again.what, again.location, again.details, again.help) == ("it failed", location, ("one", "two"), "don't")


def test_raised_errors_can_be_pickled(tmp_path: Path):
    error = failure(tmp_path, textwrap.dedent(ROWS["a row is written"].program).strip("\n"), "jit(f)(x33)")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


# ------------------------------------------------------------------ layout

TEXT = "def f(x):\n    if ä(x) and x > big:\n\n\treturn (1 +\n            x)\n"
LAYOUTS = {
    Location("text.py", 2, 7, 11, "f"): ["  text.py:2, in f", "    if ä(x) and x > big:", "       ^^^^"],
    Location("text.py", 2, 7, None, "f"): ["  text.py:2, in f", "    if ä(x) and x > big:", "       ^^^^^^^^^^^^^^^^^"],
    Location("text.py", 2): ["  text.py:2", "    if ä(x) and x > big:"],
    Location("text.py", 3, 0, 2): ["  text.py:3"],
    Location("text.py", 4, 1, 7): ["  text.py:4", "    return (1 +", "    ^^^^^^"],
    Location("text.py", 99, 1, 7): ["  text.py:99"],
    Location("missing.py", 1, 1, 7): ["  missing.py:1"],
}


@pytest.mark.parametrize("location", LAYOUTS)
def test_layout(location: Location, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(linecache.cache, "text.py", (len(TEXT), None, TEXT.splitlines(keepends=True), "text.py"))
    assert location.lines() == LAYOUTS[location]


def test_message_parts_may_be_left_out():
    assert str(AutographError("it failed")) == "it failed  [AG0000]"
    assert str(AutographError("it failed", help="don't")) == "it failed  [AG0000]\n  help: don't"


def test_wide_characters_before_the_caret(tmp_path: Path):
    program = "def f(größe):\n    if 'ä' and größe > 0:\n        größe = 1\n    return größe"
    lines = message(tmp_path, program, "jit(f)(x3)").splitlines()
    assert lines[2:4] == ["    if 'ä' and größe > 0:", "       ^^^^^^^^^^^^^^^^^"]


def test_errors_are_found_in_the_public_module():
    assert ag.AutographError is AutographError
    frames: list[Any] = [errors.user_location()]
    assert frames[0].filename == __file__ and frames[0].function == "test_errors_are_found_in_the_public_module"
