"""`ag__.call(f)`: what a call in converted code really calls.

The user's functions are converted on the way; libraries, builtins and what cannot be converted are called as they are. While a
block is traced, what a callee is known to change in place (its `nonlocal` variables, a list it is a method of) is noted.
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
import dis
import functools
import inspect
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.operators import aliasing, hooks, impure, iterables, printing, state, subscripts
from autograph_jax.operators import builtins as operator_builtins
from autograph_jax.operators.choices import Choice
from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.state import Global
from autograph_jax.porting.names import is_numeric_function, jax_function
from autograph_jax.runtime.convert import convert_function, is_converted
from autograph_jax.runtime.libraries import is_array_library, is_left_alone
from autograph_jax.runtime.unconverted import is_marked, switched_off
from autograph_jax.runtime.wrappers import wrapped_in_library

Function = Callable[..., Any]

_OVERRIDES: dict[Any, Function] = {
    builtins.range: iterables.range_,
    builtins.enumerate: iterables.enumerate_,
    builtins.zip: iterables.zip_,
    builtins.reversed: iterables.reversed_,
    builtins.isinstance: operator_builtins.isinstance_,
    builtins.print: printing.print_,
    warnings.warn: impure.warn,
    builtins.iter: impure.iter_,
    builtins.next: impure.next_,
    builtins.setattr: lambda target, name, value: subscripts.set_attr(value, target, name),
    builtins.delattr: subscripts.del_attr,
    **operator_builtins.OVERRIDES,
}
_CONTAINERS = (list, dict, set, collections.deque)


def call(function: Any) -> Function:
    """The callable to be called in place of `function`."""
    kind = type(function)
    if kind is types.FunctionType:
        return _function(function)
    if kind is types.MethodType:
        impure.check_random(function)
        return types.MethodType(_function(function.__func__), function.__self__) if _is_plain_method(function) else function
    if kind is types.BuiltinMethodType:
        impure.check_random(function)
        if type(function.__self__) in _CONTAINERS:
            subscripts.note_content(function.__self__)
        return _builtin(function)
    if kind is type or isinstance(function, type):
        return _OVERRIDES.get(function) or _class(function)
    if kind is functools.partial:
        return functools.partial(call(function.func), *function.args, **function.keywords)
    if kind is Choice:
        return _chosen(function)
    if is_numeric_function(function):
        return _numeric(function)
    return _viewing(function) if id(function) in _VIEWING else _callable_object(function)


# jax.numpy's functions whose NumPy twins give views.
_VIEWS = "reshape ravel transpose swapaxes moveaxis squeeze expand_dims real imag".split()
_VIEWING = {id(getattr(jnp, name)) for name in _VIEWS}


def _viewing(function: Function) -> Function:
    return lambda array, *more, **keywords: aliasing.view(function(array, *more, **keywords), array)


def _chosen(choice: Choice) -> Function:
    """Call the function that traced data has chosen: one lax.cond for each further option."""

    def apply(*arguments: Any, **keywords: Any) -> Any:
        first, *others = choice.options
        run = functools.partial(call(first), *arguments, **keywords)
        for position, option in enumerate(others, start=1):
            run = functools.partial(_either, choice.index == position, option, run, arguments, keywords)
        return run()

    return apply


def _either(taken: Any, option: Any, otherwise: Function, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    return if_expr(taken, lambda: call(option)(*arguments, **keywords), lambda: otherwise())


def _builtin(function: types.BuiltinMethodType) -> Function:
    if function.__self__ is builtins or function in (functools.reduce, warnings.warn):
        return _OVERRIDES.get(function, function)
    return _numeric(function) if is_numeric_function(function) else function


def _numeric(function: Function) -> Function:
    """A function of math or NumPy: on traced values, the one of jax.numpy."""

    def apply(*arguments: Any, **keywords: Any) -> Any:
        traced = any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves((arguments, keywords)))
        ours = jax_function(function) if traced else None
        return (ours or function)(*arguments, **keywords)

    return apply


hooks.call = call


def _is_plain_method(method: types.MethodType) -> bool:
    return type(method.__func__) is types.FunctionType


def _function(function: types.FunctionType) -> Function:
    if not is_converted(function):
        if switched_off() or is_marked(function):
            return function
        inner = wrapped_in_library(function)
        if inner is not None and not is_marked(inner):
            if state.traces():
                _note_variables(inner)
            return convert_function(function)
        if is_left_alone(function.__module__) or is_left_alone(function.__globals__.get("__name__")):
            if id(function) in _VIEWING:
                return _viewing(function)
            return _taking_functions(function) if is_array_library(function.__module__) else function
        function = convert_function(function)
    if state.traces():
        _note_variables(function)
        if function.__code__.co_flags & inspect.CO_GENERATOR:
            return lambda *arguments, **keywords: impure.made(function(*arguments, **keywords))
    return function


def _note_variables(function: types.FunctionType) -> None:
    """Note the variables around a function, and the globals, that it assigns."""
    outer, global_names = _assigned(function.__code__)
    if outer:
        cells = state.cells_of((function,))
        for name in outer:
            state.note(dataclasses.replace(cells[name], found=True))
    for name in global_names:
        state.note(Global(function.__globals__, name))


_assigned_cache: dict[int, tuple[Any, tuple[tuple[str, ...], tuple[str, ...]]]] = {}  # by code id, while the code lives


def _assigned(code: types.CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    known = _assigned_cache.get(id(code))
    if known is None:
        outer, global_names = _stores(code)
        found = tuple(sorted(outer & set(code.co_freevars))), tuple(sorted(global_names))
        key = id(code)
        known = _assigned_cache[key] = (weakref.ref(code, lambda _: _assigned_cache.pop(key, None)), found)
    return known[1]


def _stores(code: types.CodeType) -> tuple[set[str], set[str]]:
    """Names that a code object, or the functions inside it, store into cells and globals."""
    cells, global_names = set(), set()
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF"):
            cells.add(instruction.argval)
        elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            global_names.add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner, inner_globals = _stores(constant)
            cells |= inner & set(constant.co_freevars)
            global_names |= inner_globals
    return cells, global_names


def _taking_functions(function: Function) -> Function:
    """A library's function that is handed the user's functions converted: `jax.grad(loss)`, `lax.scan(step, ...)`."""

    @functools.wraps(function)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        return function(*map(_converted, arguments), **{name: _converted(value) for name, value in keywords.items()})

    return wrapper


def _converted(value: Any) -> Any:
    """A function of the user's, converted, also in a list or tuple (`lax.switch`); anything else as it is."""
    if type(value) in (list, tuple) and any(map(callable, value)):
        return type(value)(map(_converted, value))
    if type(value) is types.FunctionType and not is_left_alone(value.__module__):
        return value if switched_off() or is_marked(value) else convert_function(value)
    if type(value) is types.MethodType and type(value.__func__) is types.FunctionType:
        return types.MethodType(_converted(value.__func__), value.__self__)
    if type(value) is functools.partial:
        return functools.partial(_converted(value.func), *value.args, **value.keywords)
    return value


def _class(kind: type) -> Function:
    """A class whose `__init__` is converted when it is called; metaclasses and `__new__` are left alone."""
    initialise = kind.__init__
    plain = type(kind) is type and kind.__new__ is object.__new__
    if not plain or not isinstance(initialise, types.FunctionType):
        return kind
    if is_left_alone(kind.__module__) or is_left_alone(initialise.__module__) or switched_off():
        return kind
    converted = _function(initialise)
    if converted is initialise:
        return kind

    @functools.wraps(kind, updated=())
    def make(*arguments: Any, **keywords: Any) -> Any:
        made = object.__new__(kind)
        converted(made, *arguments, **keywords)
        return made

    return make


def _callable_object(target: Any) -> Function:
    """An object with `__call__`: a model, a solver. Objects of libraries (jitted functions, ufuncs) are called as they are."""
    kind = type(target)
    method = getattr(kind, "__call__", None)  # noqa: B004 - the function is wanted
    if is_left_alone(kind.__module__) or type(method) is not types.FunctionType:
        return target
    return types.MethodType(_function(method), target)
