"""Python's builtins in ported code, where arrays and scalars of NumPy are something else underneath, and should not look it."""

from __future__ import annotations

import builtins
import collections
import functools
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators import builtins as operator_builtins
from autograph_jax.operators import ordering
from autograph_jax.operators.effects.texts import Text
from autograph_jax.operators.sequences.bounded import Bounded, as_python_int
from autograph_jax.operators.sequences.deques import BoundedDeque
from autograph_jax.operators.sequences.several import Several
from autograph_jax.operators.tracing import impure, state
from autograph_jax.operators.values import selection
from autograph_jax.operators.values.choices import Choice
from autograph_jax.porting import array_classes, creating, functions, hooks
from autograph_jax.porting.arrays import MutableArray, result, value_of, wrap
from autograph_jax.porting.computing import reduced
from autograph_jax.porting.in_python import masked
from autograph_jax.porting.mathematics import own_type
from autograph_jax.porting.names import lacking
from autograph_jax.porting.numbers import bounded
from autograph_jax.porting.rows import greatest, least, refusal
from autograph_jax.porting.selections import Selection
from autograph_jax.runtime import libraries

Function = Callable[..., Any]
_TRACED_KINDS = (MutableArray, Selection, jax.Array)


def shown_as(value: Any) -> Any:
    """What NumPy would have where there is a traced scalar or an array of ours: of the same type, shape and dtype.

    A weakly typed scalar has been a Python number.
    """
    if not libraries.is_porting():
        return value
    if isinstance(value, jax.Array) and not value.ndim and getattr(jax.typeof(value), "weak_type", False):
        return {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}[value.dtype.kind]
    if isinstance(value, array_classes.ArrayObject):
        return array_classes.shown(value)
    if isinstance(value, BoundedDeque):
        return collections.deque(maxlen=value.maxlen)
    if isinstance(value, Bounded | Several):
        return []
    return creating.layouts(value) if isinstance(value, _TRACED_KINDS) else value


def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **options: Any) -> None:
    """A warning; none where traced data decides whether there is one, since at run time nobody listens."""
    if not state.traces() and not isinstance(message, Text | Choice):
        impure.warn(message, category, stacklevel + 1, source, **options)


def _number(value: Any) -> Any:
    """An array of one element, where Python takes it as a number."""
    if isinstance(value, MutableArray) and value.size == 1:
        return value.value.reshape(())
    return value.item() if isinstance(value, Selection) else value


def python_number(scalar: jax.Array) -> jax.Array:
    """A traced scalar in the place of a Python number: it adapts to what it is computed with."""
    kind = {"i": int, "u": int, "f": float, "c": complex}.get(scalar.dtype.kind)
    return scalar if kind is None else operator_builtins.as_number(scalar, kind)


def _of_numbers(function: Function) -> Function:
    return lambda *arguments, **keywords: function(
        *(_number(selection.not_none(argument)) for argument in arguments), **keywords
    )


def _row(value: Any) -> Any:
    return value.value if isinstance(value, MutableArray) and value.ndim == 1 else value


def len_(value: Any) -> Any:
    value = selection.not_none(value)
    return value.shape[0] if isinstance(value, Selection) else operator_builtins.len_(value)


def _of_sequence(function: Function, name: str) -> Function:
    def apply(*arguments: Any, **keywords: Any) -> Any:
        if arguments and isinstance(arguments[0], Selection):
            if name not in _OF_SELECTIONS or arguments[0].ndim != 1:
                raise refusal(f"Python's `{name}` is called with it")
            return _OF_SELECTIONS[name](*arguments, **keywords)
        rows = [_row(selection.not_none(argument)) for argument in arguments]
        found = function(*rows, **keywords)
        of_bools = isinstance(rows[0], jax.Array) and rows[0].dtype == bool if rows else False
        is_count = name == "sum" and len(rows) == 1 and not keywords and of_bools
        return bounded(found, rows[0].size) if is_count else found  # `np.zeros(sum(x > 1))`

    return apply


def _extreme(largest: bool, elements: Selection, *others: Any, key: Any = None, **default: Any) -> Any:
    """Python's rule: a NaN stays where it is the first one, and never is better than what came before."""
    name = "max" if largest else "min"
    if others or key is not None or elements.dtype.kind == "c":
        raise refusal(f"Python's `{name}` is called with it and more than a default")
    count = elements.count(0)
    if not default:
        hooks.raise_where(count == 0, ValueError(f"{name}() iterable argument is empty"))
    values = elements.compact().filled((least if largest else greatest)(elements.dtype))
    found = ordering.extreme_of_array(values, jnp.nanmax if largest else jnp.nanmin) if values.size else 0
    return jnp.where(count == 0, default["default"], found) if default else jnp.asarray(found)


def as_list(elements: Selection) -> Bounded:
    """`list(x[x > 1])`: a list of as many elements as there are, which are one array's."""
    return Bounded(elements.compact().values, as_python_int(elements.count(0)), elements.capacity(0))


def _list(elements: Any = (), *rest: Any) -> Any:
    elements = selection.not_none(elements)
    if isinstance(elements, Selection) and elements.ndim == 1 and not rest:
        return as_list(elements)
    return operator_builtins.OVERRIDES[builtins.list](elements, *rest)


def _sum(elements: Selection, start: Any = 0) -> Any:
    """In the type of element added to element: NumPy's own sum of int8 is an int64."""
    found = reduced(elements, "sum", axis=0, dtype=own_type(elements, start))
    return found if isinstance(start, int) and start == 0 else start + found


_OF_SELECTIONS: dict[str, Function] = {
    "max": functools.partial(_extreme, True),
    "min": functools.partial(_extreme, False),
    "sum": _sum,
    "any": lambda elements: elements.any(axis=0),
    "all": lambda elements: elements.all(axis=0),
    "sorted": lambda elements, **options: ordering.sorted_(as_list(elements), **options),
}


def ndenumerate(arr: Any) -> Any:
    """The elements with their indices, each read when its turn comes."""
    if isinstance(arr, np.ndarray):
        return np.ndenumerate(arr)
    array = creating.asarray(arr)
    return ((index, array[index]) for index in np.ndindex(array.shape))


def nditer(op: Any, *arguments: Any, **keywords: Any) -> Any:
    if any(isinstance(one, _TRACED_KINDS) for one in (op if isinstance(op, list | tuple) else (op,))):
        raise lacking(np.nditer)
    return np.nditer(op, *arguments, **keywords)


_NUMBERS = (builtins.bool, builtins.int, builtins.float, builtins.complex, builtins.round)
_SEQUENCES = (builtins.max, builtins.min, builtins.sum, builtins.any, builtins.all, builtins.sorted)
OVERRIDES: dict[Any, Function] = {
    **{function: operator_builtins.OVERRIDES[function] for function in (builtins.isinstance, builtins.type)},
    builtins.len: len_,
    builtins.list: _list,
    warnings.warn: warn,
    np.ndenumerate: ndenumerate,
    np.nditer: nditer,
    **{function: _of_numbers(operator_builtins.OVERRIDES[function]) for function in _NUMBERS},
    **{function: _of_sequence(operator_builtins.OVERRIDES[function], function.__name__) for function in _SEQUENCES},
}


def of_scalar_class(kind: type) -> Function | None:
    """`np.float64(x)`: a scalar of NumPy's, or an array, also where x is traced; `np.ndarray(shape)`, which is `np.empty`."""
    if kind is np.ndarray:
        return _array_of_shape
    if not issubclass(kind, np.generic):
        return None

    def apply(*arguments: Any, **keywords: Any) -> Any:
        if len(arguments) != 1 or keywords or not isinstance(value_of(arguments[0]), jax.Array | list | tuple):
            return kind(*(_known(argument) for argument in arguments), **keywords)
        made = creating.asarray(arguments[0], kind)
        return made if made.ndim else made.value

    return apply


def _array_of_shape(shape: Any, dtype: Any = float, buffer: Any = None, *rest: Any, order: Any = None, **options: Any) -> Any:
    if buffer is not None or rest or options:
        return np.ndarray(shape, dtype, buffer, *rest, order=order, **options)
    return functions.ported(np.empty, (shape, dtype), {"order": order or "C"})


def _known(value: Any) -> Any:
    return value_of(value)


def of_method(method: Any) -> Function | None:
    """What stands for a method of a traced scalar, of an array that is not one of ours, or of a generator of NumPy's."""
    owner = getattr(method, "__self__", None)
    if isinstance(owner, MutableArray) and method.__name__ == "__array__":
        return functools.partial(creating.asarray, owner)
    if isinstance(owner, MutableArray) and method.__name__ == "astype":
        return functools.partial(_astype, owner)
    if isinstance(owner, MutableArray | Selection) and method.__name__ == "put":  # whose own writes all elements
        return lambda indices, values, mode="raise": functions.ported(np.put, (owner, indices, values), {"mode": mode})
    if isinstance(owner, impure.GENERATORS):
        impure.check(method)
        return functools.partial(_of_generator, method)
    if isinstance(owner, np.ndarray) and hasattr(MutableArray, method.__name__):
        return lambda *arguments, **keywords: _of_known(owner, method, arguments, keywords)
    name = _method_names(type(owner)).get(getattr(method, "__func__", None)) if isinstance(owner, jax.Array) else None
    if name is None:
        return None
    return lambda *arguments, **keywords: _given(getattr(wrap(owner), name)(*arguments, **keywords))


def _astype(owner: MutableArray, dtype: Any, *arguments: Any, **keywords: Any) -> Any:
    """`r.astype(kind)`, where traced data may have chosen the kind: of both that there may be, the one that holds all."""
    if type(dtype) is Choice:
        return selection.of_choice(dtype, lambda kind: owner.astype(kind, *arguments, **keywords), "as a dtype")
    return owner.astype(dtype, *arguments, **keywords)


def _of_generator(method: Any, *arguments: Any, **keywords: Any) -> Any:
    """Random numbers of NumPy's, for what is known: drawn while the code is traced, and so the same in each run of it."""
    return functions.of_compiled(method, arguments, keywords)


@functools.lru_cache(maxsize=64)
def _method_names(kind: type) -> dict[Any, str]:
    """The methods of JAX's arrays that NumPy's have too, by their functions, which have other names."""
    shared = ((name, getattr(kind, name, None)) for name in dir(MutableArray) if not name.startswith("_"))
    return {method: name for name, method in shared if callable(method)}


def _of_known(owner: np.ndarray, method: Any, arguments: Any, keywords: Any) -> Any:
    """A method of an array of NumPy's own: what it makes is one of ours, which can be written."""
    arguments = tuple(array_classes.data_of(masked.data_of(argument)) for argument in arguments)
    arrays = [part for part in (*arguments, *keywords.values()) if isinstance(part, _TRACED_KINDS)]
    if arrays:
        return getattr(wrap(owner), method.__name__)(*arguments, **keywords)
    found = method(*arguments, **keywords)
    return wrap(found) if type(found) is np.ndarray and found.base is None else found


def _given(value: Any) -> Any:
    return result(value.value) if isinstance(value, MutableArray) and not value.ndim else value
