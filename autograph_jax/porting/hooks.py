"""What arrays need of the rooms above. The operators set this once, when they are imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax


def _as_it_is(buffer: Any, value: Any) -> Any:
    return value


# A buffer is about to be written: a staged block notes it, and gives the value to be written.
before_write: Callable[[Any, Any], Any] = _as_it_is


# The array of a buffer is about to be given another shape.
before_reshape: Callable[[Any], None] = lambda buffer: None  # noqa: E731


def _raise_where_known(condition: Any, error: Exception) -> None:
    if condition:
        raise error


# At run time, where traced data says so.
raise_where: Callable[[Any, Exception], None] = _raise_where_known

# Has the program a handler, around what runs now, that names errors of this class?
is_named: Callable[[type[Exception]], bool] = lambda kind: False  # noqa: E731

# A function of NumPy, math or SciPy is about to be computed by one of JAX's.
mapped: Callable[[Any], None] = lambda function: None  # noqa: E731

# What a function of JAX's gives that sorts or multiplies matrices, `marked(jnp.argsort, x)`: it may be compiled to less.
marked: Callable[..., Any] = lambda function, *args, **options: function(*args, **options)  # noqa: E731

# An operand that traced data has chosen among several, None one of them, as a number.
number: Callable[[Any], Any] = lambda operand: operand  # noqa: E731

# Of a value that is one of several, which one traced data says: the index, and these; None of any other.
options_of: Callable[[Any], Any] = lambda value: None  # noqa: E731

# A traced scalar that takes the place of a Python number.
python_number: Callable[[Any], Any] = lambda scalar: scalar  # noqa: E731
as_list: Callable[[Any], Any] = list  # the elements of a selection
max_len: Callable[[], int | None] = lambda: None  # noqa: E731 - of what traced data decides how long it is

# Is there anything in it that depends on traced data? A function may hold such in its closure.
holds_traced: Callable[[Any], bool] = lambda value: False  # noqa: E731

# Python's functions of whole numbers, such as `math.factorial`, of traced ones.
of_integers: dict[Any, Callable[..., Any]] = {}

# What is known of the integers that an equation gives, of what is known of its operands: each the least and the largest value.
spans_left_by: Callable[[Any, Any], Any] = lambda equation, known: ()  # noqa: E731

# The closed jaxpr of a function of arrays, of which nothing is done: `traced_aside(f, x)`.
traced_aside: Callable[..., Any] = jax.make_jaxpr
made: Callable[[Any], Any] = lambda value: value  # noqa: E731 - an object, noted as one that the block being traced makes
