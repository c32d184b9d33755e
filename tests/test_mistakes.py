"""Mistakes that users make, each with the message that it gets. What they ask about in issue threads is here first."""

from pathlib import Path

import pytest

from tests.messages import Row

ROWS = {
    "an array that grows in a loop": Row(
        """
        import jax.numpy as jnp

        def f(v, tolerance):
            while tolerance > 1e-3:
                v = jnp.append(v, tolerance)
                tolerance = tolerance / 2
            return v
        """,
        "jit(f)(x3, 1.0)",
        """
        ShapeError: `v` has two shapes, and which one is only known at run time  [AG0201]
          model.py:4, in f
            while tolerance > 1e-3:
                  ^^^^^^^^^^^^^^^^
          it enters this loop as float32[3], and a turn leaves it as float32[4].
          help: give it one shape and structure on every path, for example by padding or by filling with zeros
        """,
    ),
    "a dict that gets a key on one path": Row(
        """
        def f(x):
            out = {"x": x}
            if x > 0:
                out["root"] = x ** 0.5
            return out
        """,
        "jit(f)(1.0)",
        """
        StructureError: this dict has two structures, and which one is only known at run time  [AG0202]
          model.py:3, in f
            if x > 0:
               ^^^^^
          one path leaves dict of 'x', 'root': (float32[], float32[]), the other dict of 'x': (float32[]).
          help: give it the key 'root' on every path: put a value there before
        """,
    ),
    "a list that gets shorter in a loop": Row(
        """
        def f(xs):
            todo = [1.0, 2.0]
            while xs[0] > todo[0]:
                todo.pop()
            return todo[0]
        """,
        "jit(f)(x3)",
        """
        StructureError: how many elements this list has is only known at run time  [AG0202]
          model.py:3, in f
            while xs[0] > todo[0]:
                  ^^^^^^^^^^^^^^^
          A branch or a loop that traced data decides about adds or takes elements.
          help: bound it: `path = ag.max_len([], 100)`; or write into an array and count: `path[n] = x; n += 1`
        """,
    ),
    "a variable that is deleted on one path": Row(
        """
        def f(x):
            y = x
            if x > 0:
                del y
            return y
        """,
        "ag.jit(f)(1.0)",
        """
        UnboundError: `y` has no value here  [AG0203]
          model.py:5, in f
            return y
                   ^
          Traced data took a path that does not assign it.
          help: assign `y` before the `if` or loop, or on every path
        """,
    ),
    "an operation on one of two strings": Row(
        """
        def f(x, kinds):
            name = "a" if x > 0 else "b"
            return name.upper() * 2
        """,
        "jit(f)(2.0, 1)",
        """
        ChoiceError: a value that may be 'B' or 'A', depending on traced data, is used as one of them: `mul`  [AG0205]
          model.py:3, in f
            return name.upper() * 2
                   ^^^^^^^^^^^^^^^^
          help: test for the other case first (`if value is None: ...`), or give both paths the same kind of value
        """,
    ),
    "an attribute of one of two objects": Row(
        """
        class A: pass
        class B: pass
        def f(x):
            o = A() if x > 0 else B()
            return o.value
        """,
        "jit(f)(1.0)",
        """
        ChoiceError: a value that may be a A or a B, depending on traced data, is used as one of them: its attribute `value` is read  [AG0205]
          model.py:5, in f
            return o.value
                   ^^^^^^^
          help: test for the other case first (`if value is None: ...`), or give both paths the same kind of value
        """,  # noqa: E501 - the text as it is shown
    ),
    "a value of a trace in a global list": Row(
        """
        kept = []

        def step(x):
            kept.append(x * 2)
            return x

        def f(jit):
            jit(step)(1.0)
            return kept[0] + 1
        """,
        "f(ag.jit)",
        """
        EscapedTracerError: this list holds a value of a trace that is over  [AG0404]
          model.py:9, in f
            return kept[0] + 1
                   ^^^^^^^^^^^
          It was kept at model.py:4, in step, while JAX traced the function:
              kept.append(x * 2)
          help: return the value, and keep what the call gives: `o.y = f(x)`
        """,
    ),
    "a value of a trace in a global": Row(
        """
        last = 0.0

        def step(x):
            global last
            last = x * 2
            return x

        def f(jit):
            jit(step)(1.0)
            return last + 1
        """,
        "f(ag.jit)",
        """
        EscapedTracerError: `last` holds a value of a trace that is over  [AG0404]
          model.py:10, in f
            return last + 1
                   ^^^^^^^^
          It was kept at model.py:5, in step, while JAX traced the function:
              last = x * 2
          help: return the value, and keep what the call gives: `o.y = f(x)`
        """,
    ),
    "a generator that traced data decides about": Row(
        """
        def positive(xs):
            for x in xs:
                if x > 0:
                    yield x

        def f(xs):
            total = 0.0
            for x in positive(xs):
                total = total + x
            return total
        """,
        "jit(f)(x3)",
        """
        StagingError: traced data decides where only Python can: in a generator, in a `finally` that leaves, in a set or dict  [AG0206]
          model.py:3, in positive
            if x > 0:
               ^^^^^
          help: compute a value on both paths and choose: `jnp.where(condition, a, b)`
        """,  # noqa: E501 - the text as it is shown
    ),
    "the time in a loop": Row(
        """
        import time

        def f(x):
            end = time.time() + 1
            while x > 1 and time.time() < end:
                x = x / 2
            return x
        """,
        "jit(f)(8.0)",
        """
        StagingError: the time is asked for in a block that traced data decides about  [AG0206]
          model.py:5, in f
            while x > 1 and time.time() < end:
                            ^^^^^^^^^^^
          The block is traced once; each run of it would get the same time.
          help: ask before the block; or at run time, by a callback: `jax.experimental.io_callback`
        """,
    ),
    "an exception that a with ends": Row(
        """
        from contextlib import suppress

        def f(x):
            y = 0.0
            with suppress(ValueError):
                if x > 1:
                    raise ValueError("above 1")
                y = x
            return y
        """,
        "jit(f)(8.0)",
        """
        StagingError: ValueError is raised where traced data decides, in a `with` that is told of exceptions  [AG0206]
          model.py:7, in f
            raise ValueError("above 1")
                  ^^^^^^^^^^^^^^^^^^^^^
          f (model.py:7) is in it, and what it does then no staged program can do.
          help: write `try` and `except`, which can be staged; or return a flag instead of the exception
        """,
    ),
    "a random number of Python's in a loop": Row(
        """
        import random

        def f(x):
            while x > 1:
                x = x * random.random()
            return x
        """,
        "jit(f)(8.0)",
        """
        StagingError: a random number of Python's or NumPy's is drawn in a block that traced data decides about  [AG0206]
          model.py:5, in f
            x = x * random.random()
                    ^^^^^^^^^^^^^^^
          The block is traced once; each run of it would get the same number.
          help: use jax.random with a key that the loop splits: `key, sub = jax.random.split(key)`
        """,
    ),
    "an iterator that is advanced in a loop": Row(
        """
        def f(x):
            steps = iter([1.0, 2.0, 3.0])
            while x > 1:
                x = x - next(steps)
            return x
        """,
        "jit(f)(8.0)",
        """
        StagingError: an iterator is advanced in a block that traced data decides about  [AG0206]
          model.py:4, in f
            x = x - next(steps)
                    ^^^^^^^^^^^
          The block is traced once; each run of it would get the same element.
          help: index a sequence instead, or take the elements before: `keys = jax.random.split(key, n)`
        """,
    ),
    "recursion on a traced number": Row(
        """
        def f(n):
            return 1 if n < 2 else n * f(n - 1)
        """,
        "jit(f)(5)",
        """
        StagingError: a function calls itself where traced data decides, and the depth is only known at run time  [AG0206]
          model.py:2, in f
            return 1 if n < 2 else n * f(n - 1)
                        ^^^^^
          help: write it as a loop, or make the argument that ends the recursion static
        """,
    ),
    "an index out of bounds, handled": Row(
        """
        def f(x, k):
            rows = [1.0, 2.0]
            try:
                return rows[k]
            except IndexError:
                return x
        """,
        "jit(f)(1.0, 5)",
        """
        StagingError: IndexError is raised where traced data decides, and an `except` of a caller would catch it  [AG0206]
          model.py:4, in f
            return rows[k]
                   ^^^^^^^
          f (model.py:4) handles it, which no staged program can do.
          help: return a flag or `jnp.nan` instead of the exception, or put the `try` around the compiled function
        """,
    ),
    "a loop that Python runs, in a strict function": Row(
        """
        import autograph_jax as ag

        @ag.autograph(strict=True)
        def f(x):
            total = 0
            for k in range(3):
                total = total + k
                x = x * total
            return x
        """,
        "jax.jit(f)(1.0)",
        """
        StagingError: a loop that sees traced values runs in Python, and the function is strict  [AG0206]
          model.py:6, in f
            for k in range(3):
                     ^^^^^^^^
          The reason: a Python number is computed along the way, which would be rounded or overflow when staged.
          help: say so, `for x in ag.unroll(xs)`; or have it staged, `for x in ag.stage(xs)`
        """,
    ),
    "a misspelt static argument": Row(
        """
        def f(x, method="newton"):
            return x
        """,
        "ag.jit(f, static_argnames='metod')",
        """
        ArgumentError: `static_argnames='metod'`: `f` has no parameter `metod`  [AG0401]
          <string>:1, in <module>
          It is `f(x, method)`.
          help: did you mean `method`?
        """,
    ),
    "a static number out of range": Row(
        """
        def f(x, n):
            return x
        """,
        "ag.jit(f, static_argnums=2)",
        """
        ArgumentError: `static_argnums=2`: `f` has 2 parameters  [AG0401]
          <string>:1, in <module>
          It is `f(x, n)`.
          help: count from 0 to 1, or from -1 to -2
        """,
    ),
    "a static array": Row(
        """
        def f(x, n):
            return x
        """,
        "ag.jit(f, static_argnames='n')(x3, x3)",
        """
        ArgumentError: `n` of `f` is static, and a value of type ArrayImpl cannot be  [AG0401]
          <string>:1, in <module>
          It has to be compared with the values of earlier calls: unhashable type: 'jaxlib._jax.ArrayImpl'.
          help: pass arrays as ordinary arguments; what may be static: numbers, strings, functions, tuples, lists, dicts, NumPy arrays of up to 1000 elements
        """,  # noqa: E501 - the text as it is shown
    ),
    "a static argument of a call inside": Row(
        """
        import autograph_jax as ag

        @ag.jit(static_argnames="n")
        def power(x, n):
            return x ** n

        def f(x, n):
            return power(x, n)
        """,
        "jit(f)(2.0, 3)",
        """
        ArgumentError: `n` of `power` is static, and a value of type DynamicJaxprTracer cannot be  [AG0401]
          model.py:8, in f
            return power(x, n)
                   ^^^^^^^^^^^
          It has to be compared with the values of earlier calls: unhashable type: 'DynamicJaxprTracer'.
          help: pass arrays as ordinary arguments; what may be static: numbers, strings, functions, tuples, lists, dicts, NumPy arrays of up to 1000 elements
        """,  # noqa: E501 - the text as it is shown
    ),
    "a gradient by a name that is not there": Row(
        """
        def f(w, x):
            return w * x
        """,
        "ag.grad(f, argnames='weight')(1.0, 2.0)",
        """
        ArgumentError: `argnames='weight'`: `f` has no parameter `weight`  [AG0401]
          <string>:1, in <module>
          It is `f(w, x)`.
          help: give the name of one of its parameters
        """,
    ),
    "an axis for a name that is not there": Row(
        """
        def f(w, x):
            return w * x
        """,
        "ag.vmap(f, {'y': 0})(1.0, x3)",
        """
        ArgumentError: `in_axes='y'`: `f` has no parameter `y`  [AG0401]
          <string>:1, in <module>
          It is `f(w, x)`.
          help: give the name of one of its parameters
        """,
    ),
    "a function whose rule is not set": Row(
        """
        import autograph_jax as ag

        @ag.custom_vjp
        def f(x):
            return x * x
        """,
        "ag.grad(f)(2.0)",
        """
        RuleError: `f` has no derivative rule yet  [AG0402]
          <string>:1, in <module>
          help: set one by `f.defvjp(...)`
        """,
    ),
    "a rule that returns one cotangent of two": Row(
        """
        import autograph_jax as ag

        @ag.custom_vjp
        def f(x, y):
            return x * y

        f.defvjp(lambda x, y: (x * y, (x, y)), lambda kept, out: out * kept[1])
        """,
        "ag.grad(f)(2.0, 3.0)",
        """
        RuleError: the rule `<lambda>` of `f` returned a value of type ArrayImpl  [AG0402]
          <string>:1, in <module>
          The cotangents wanted are those of: `x`, `y`.
          help: return a tuple with a cotangent for each, None where it is zero
        """,
    ),
    "a derivative that a rule would lose": Row(
        """
        import autograph_jax as ag

        @ag.custom_vjp(nondiff_argnames="g")
        def apply(g, x):
            return g(x)

        apply.defvjp(lambda g, x: (g(x), x), lambda g, x, out: (out,))

        def f(a):
            return apply(lambda x: a * x, 2.0)
        """,
        "ag.grad(f)(2.0)",
        """
        RuleError: `a` is differentiated by, and the derivative rule of `apply` does not see it  [AG0402]
          model.py:10, in f
            return apply(lambda x: a * x, 2.0)
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^
          `apply`, its rule or one of its nondiff arguments closes over `a`.
          help: pass `a` as an argument; a function that closes over it, as an argument that is not nondiff; or use `jax.lax.stop_gradient`
        """,  # noqa: E501 - the text as it is shown
    ),
    "a global that has changed": Row(
        """
        import autograph_jax as ag

        rate = 0.1

        @ag.jit(captures="error")
        def step(x):
            return x - rate

        def f():
            global rate
            step(1.0)
            rate = 0.2
            return step(1.0)
        """,
        "f()",
        """
        CaptureError: `rate`, which `step` closes over, has changed since it was compiled  [AG0403]
          model.py:13, in f
            return step(1.0)
                   ^^^^^^^^^
          help: pass what changes as an argument
        """,
    ),
    "a NumPy function that JAX has not": Row(
        """
        import numpy as np

        def f(x):
            return np.busday_count("2020", x)
        """,
        "jax.enable_x64(True)(jax.jit(ag.port(f)))(1.0)",
        """
        PortingError: `numpy.busday_count` has no counterpart on traced values  [AG0501]
          model.py:4, in f
            return np.busday_count("2020", x)
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^
          help: compute it from functions that jax.numpy has, or call `busday_count` on values that are known
        """,
    ),
    "a result whose length depends on data": Row(
        """
        import numpy as np

        def f(x):
            return np.bincount(x)
        """,
        "jax.enable_x64(True)(jax.jit(ag.port(f)))(x3.astype(int))",
        """
        PortingError: the shape of an array depends on traced data, and an array of that length is made  [AG0501]
          model.py:4, in f
            return np.bincount(x)
                   ^^^^^^^^^^^^^^
          So it is with `x[mask]`, `x[:k]`, and an array that has another shape on another path.
          help: np.where(mask, x, 0) keeps the shape
        """,
    ),
    "an assertion": Row(
        """
        def f(x):
            assert x > 0, "x must be positive"
            return x
        """,
        "ag.jit(f)(-1.0)",
        """
        AssertionError: x must be positive
        """,
    ),
    "a loop without end": Row(
        """
        import autograph_jax as ag

        @ag.autograph(max_steps=10)
        def f(x):
            while x > 1:
                x = x + 1
            return x
        """,
        "ag.jit(f)(2.0)",
        """
        RuntimeError: a loop is not over after max_steps=10 turns (model.py:5)
        """,
    ),
    "an argument that is static and donated": Row(
        """
        def f(x, n):
            return x
        """,
        "ag.jit(f, static_argnums=1, donate_argnames='n')",
        """
        ArgumentError: `n` of `f` is both static and donated  [AG0401]
          <string>:1, in <module>
          help: do not donate it: a static argument is part of the program and has no memory to give away
        """,
    ),
    "a gradient by one argument twice": Row(
        """
        def f(w, x):
            return w * x
        """,
        "ag.grad(f, argnums=0, argnames='w')(1.0, 2.0)",
        """
        ArgumentError: `argnames='w'`: `w` of `f` is meant twice  [AG0401]
          <string>:1, in <module>
          It is `f(w, x)`.
          help: give it once
        """,
    ),
    "a write into a transposed array": Row(
        """
        def f(x):
            y = x.T
            y[0] = 1.0
            return x
        """,
        "jit(f)(x33)",
        """
        AliasError: an array is written in place, and `x` would have to show the write  [AG0301]
          model.py:3, in f
            y[0] = 1.0
            ^^^^
          `x` (model.py:3, in f) shares its memory with this array in NumPy, and is read later.
          help: return the new array and use that, or make a copy first: `y = x.copy()`
        """,
    ),
    "a slice of another length on one path": Row(
        """
        import jax.numpy as jnp
        def f(x):
            total = jnp.zeros(3)
            for row in x:
                total = total + row if row.sum() > 0 else row[:2]
            return total
        """,
        "jit(f)(x33)",
        """
        ShapeError: the value of this expression has two shapes, and which one is only known at run time  [AG0201]
          model.py:5, in f
            total = total + row if row.sum() > 0 else row[:2]
                                   ^^^^^^^^^^^^^
          one path gives float32[3], the other float32[2].
          help: give it one shape and structure on every path, for example by padding or by filling with zeros
        """,
    ),
    "a state of two kinds": Row(
        """
        def f(x, y):
            state = None
            while x > 1:
                if state is None:
                    state = (y, y)
                else:
                    state = y
                x = x - 1
            return state
        """,
        "jit(f)(8.0, 1.0)",
        """
        StructureError: `state` has two structures, and which one is only known at run time  [AG0202]
          model.py:4, in f
            if state is None:
               ^^^^^^^^^^^^^
          one path leaves tuple(float32[], float32[]), the other float32[].
          help: give it one shape and structure on every path, for example by padding or by filling with zeros
        """,
    ),
    "an object that cannot be called": Row(
        """
        class Model:
            def step(self, x):
                return x

        f = Model()
        """,
        "autograph(f)",
        """
        NotAFunctionError: `autograph` got <model.Model object>, which is not a Python function  [AG0001]
          <string>:1, in <module>
          help: decorate a function, a method or a class
        """,
    ),
    "a text of a traced number compared": Row(
        """
        def f(n):
            if f"{n}" == "3":
                return "three"
            return "another"
        """,
        "jit(f)(3)",
        """
        StagingError: a string that holds traced values has its text at run time only, and is used before: `==`  [AG0206]
          model.py:2, in f
            if f"{n}" == "3":
               ^^^^^^^^^^^^^
          help: print it, raise it or return it; to decide something, ask the value itself: `if n == 3`
        """,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_message(name: str, tmp_path: Path):
    assert ROWS[name].got(tmp_path) == ROWS[name].expected
