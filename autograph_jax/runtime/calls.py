"""`ag__.call(f)`: what a call in converted code really calls.

The user's functions are converted on the way; libraries, builtins and what cannot be converted are called as they are. While a
block is traced, what a callee is known to change in place (its `nonlocal` variables, a list it is a method of) is noted.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import inspect
import math
import operator
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import PortingError
from autograph_jax.operators import (
    attributes,
    comprehensions,
    filtering,
    heaps,
    hooks,
    integers,
    jax_private,
    ordering,
    storage,
    subscripts,
)
from autograph_jax.operators import builtins as operator_builtins
from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.effects import domains, library_texts, outlets, printing, texts
from autograph_jax.operators.effects.progress import bar_maker
from autograph_jax.operators.sequences import iterables, lists, moved, taking
from autograph_jax.operators.tracing import cached, foreign, holders, impure, state, views
from autograph_jax.operators.tracing.places import CHANGING
from autograph_jax.operators.values import branches, selection
from autograph_jax.operators.values.choices import Choice
from autograph_jax.porting import array_classes, counterparts, creating, functions, in_python, stubs
from autograph_jax.porting.in_python import masked
from autograph_jax.porting.names import MATH, is_numeric_function, jax_function
from autograph_jax.runtime import classes, discarded, numpy_writes, own_code, ported_builtins, strict, strings, vectorized
from autograph_jax.runtime.array_likes import giving_arrays, handing_arrays, handing_containers
from autograph_jax.runtime.assigned import note_variables
from autograph_jax.runtime.bounded_arrays import with_arrays
from autograph_jax.runtime.convert import convert_function, is_converted
from autograph_jax.runtime.handed_over import entering, left
from autograph_jax.runtime.libraries import (
    is_array_library,
    is_left_alone,
    is_porting,
    is_users,
    may_keep_state,
    module_of,
    takes_arrays,
    writes_polynomials,
)
from autograph_jax.runtime.recaptured import keyed
from autograph_jax.runtime.sourceless import with_callees
from autograph_jax.runtime.unconverted import is_marked, switched_off
from autograph_jax.runtime.wrappers import is_librarys, wrapped_in_library

Function = Callable[..., Any]

_MAKING = (copy.copy, copy.deepcopy, dataclasses.replace, dataclasses.asdict, dataclasses.astuple)
_OVERRIDES: dict[Any, Function] = {
    builtins.range: iterables.range_,
    builtins.enumerate: iterables.enumerate_,
    builtins.zip: iterables.zip_,
    builtins.reversed: iterables.reversed_,
    builtins.print: printing.print_,
    builtins.str: texts.str_,
    builtins.repr: texts.repr_,
    builtins.ascii: texts.ascii_,
    builtins.format: texts.format_,
    **{function: texts.of_integers(function) for function in (hex, oct, bin, chr)},
    **outlets.OVERRIDES,
    builtins.iter: iterables.iter_,
    builtins.next: comprehensions.next_,
    builtins.setattr: lambda target, name, value: subscripts.set_attr(value, target, name),
    builtins.delattr: subscripts.del_attr,
    builtins.hasattr: attributes.has_attr,
    builtins.getattr: attributes.get_attr,
    builtins.vars: attributes.vars_,
    builtins.dir: attributes.dir_,
    builtins.id: attributes.id_,
    **{function: attributes.making(function) for function in _MAKING},
    **{function: attributes.by_option(function) for function in (ord, dataclasses.fields, dataclasses.is_dataclass)},
    **operator_builtins.OVERRIDES,
    **integers.OVERRIDES,
    **taking.TAKING,
    **filtering.OVERRIDES,
    **heaps.OVERRIDES,
}
_ALWAYS: dict[Any, Function] = {
    **operator_builtins.TAKING_FUNCTIONS,
    **taking.TAKING,
    **{function: _OVERRIDES[function] for function in (enumerate, zip, reversed, iter, next, list, tuple, pow, warnings.warn)},
}
# Under an eager `jax.grad`, whose tracers have values: what they are shown as, and what keeps their derivatives.
_OF_NUMBERS: dict[Any, Function] = {
    function: _OVERRIDES[function] for function in (print, str, repr, ascii, format, float, int, complex, round)
}
# Methods of these that change nothing; not `__getitem__`, since a defaultdict makes what is missing.
_READING = frozenset(
    """copy count difference fromkeys get index intersection isdisjoint issubset issuperset items keys symmetric_difference
    union values __contains__ __eq__ __format__ __getattribute__ __hash__ __iter__ __len__ __ne__ __new__ __repr__
    __reversed__ __str__""".split()
)


def call(function: Any) -> Function:
    """The callable to be called in place of `function`."""
    kind = type(function)
    if kind is Choice:
        return _chosen(function)
    if is_porting() and (ours := _ported(function)) is not None:
        return ours
    if kind is types.FunctionType:
        return _function(function)
    if kind is types.MethodType:
        owner = function.__self__
        if texts.is_tracer(owner) and (ours := texts.special(function, owner)) is not None:
            return functools.partial(ours, owner)
        impure.check(function)
        if (bar := bar_maker(function)) is not None:
            return bar
        if function.__func__ in _copying_methods(type(owner)):
            return functools.partial(_copying, function)
        if isinstance(function.__self__, outlets.OWNERS) and (ours := outlets.method(function)) is not None:
            return ours
        if (ours := discarded.of_sort(function)) is not None:
            return ours
        if writes_polynomials(getattr(function.__func__, "__module__", None)):
            return types.MethodType(convert_function(function.__func__), owner)
        if is_left_alone(getattr(function.__func__, "__module__", None)):
            foreign.check_method(owner, function.__name__)
        classes.meet(owner if issubclass(type(owner), type) else type(owner))
        if type(function.__func__) is cached.CachedFunction:
            return functools.partial(cached.of_cached(function.__func__), owner)
        if _is_plain_method(function):
            return types.MethodType(_function(function.__func__), function.__self__)
        return numpy_writes.guarded(function) if not is_porting() and numpy_writes.may_write(function) else function
    if issubclass(kind, types.BuiltinMethodType):  # methods in C that are handed their class have a class of their own
        if (ours := texts.special(function, function.__self__)) is not None:
            return functools.partial(ours, function.__self__)
        impure.check(function)
        if function.__self__ is builtins:
            return _in_place_of(function) or function
        if isinstance(function.__self__, CHANGING) and function.__name__ not in _READING:
            subscripts.note_content(function.__self__)
        if isinstance(function.__self__, outlets.OWNERS) and (ours := outlets.method(function)) is not None:
            return ours
        foreign.check_method(function.__self__, function.__name__)
        return _builtin(function)
    if kind is type or isinstance(function, type):
        return _in_place_of(function) or bar_maker(function) or _class(function)
    if kind is functools.partial:
        return functools.partial(call(function.func), *function.args, **function.keywords)
    if kind in _SLOT_KINDS:
        return _slot(function)
    if is_numeric_function(function):
        return _numeric(function)
    if kind is cached.CachedFunction:
        return function if is_left_alone(function.__module__) else cached.of_cached(function)
    return _viewing(function) if gives_view(function) else _callable_object(function)


@functools.lru_cache(maxsize=256)
def _copying_methods(kind: type) -> tuple[Any, ...]:
    """Those of arrays with which NumPy makes a copy each time; JAX gives the array itself, if that is what is asked for."""
    if not issubclass(kind, jax.Array | jax.core.Tracer):
        return ()
    return tuple(vars(base)[name] for name in ("astype", "flatten") for base in kind.__mro__ if name in vars(base))


def _copying(method: types.MethodType, *arguments: Any, **keywords: Any) -> Any:
    """In a getter whose array is about to be written; anywhere else an operation for nothing."""
    given = method(*arguments, **keywords)
    is_same = given is method.__self__ and keywords.get("copy", True) is not False
    return given.copy() if is_same and storage.is_asking() else given


_NEW_ARRAY = np.ndarray.__new__


def _ported(function: Any) -> Function | None:
    """What ported code calls in place of something of NumPy's, Python's or Numba's."""
    if in_python.is_of_masked(function):
        return functools.partial(_of_masked_arrays, function)
    if (kind := array_classes.of_library(function)) is not None:
        classes.meet(kind)
        return array_classes.making(kind)
    if function is _NEW_ARRAY:
        return array_classes.new_array
    if isinstance(function, type):
        return ported_builtins.of_scalar_class(function)
    if isinstance(inner := getattr(function, "py_func", None), types.FunctionType):  # compiled by Numba
        return call(inner)
    if type(function) is types.FunctionType:
        stubs.check(function)
    if isinstance(function, np.vectorize):
        return vectorized.of_vectorize(function, call)
    if function is np.frompyfunc:
        return functools.partial(vectorized.frompyfunc, call)
    if isinstance(function, types.FunctionType | types.BuiltinFunctionType) and is_numeric_function(function):
        return _numeric(function)
    if _is_compiled(function):
        return lambda *arguments, **keywords: _compiled(function, arguments, keywords)
    return ported_builtins.of_method(function)


def _of_masked_arrays(function: Function, *arguments: Any, **keywords: Any) -> Any:
    """A function of `numpy.ma`: NumPy's own on what only NumPy has made."""
    if (ours := in_python.of_masked_module(function, (*arguments, *keywords.values()))) is None:
        return function(*arguments, **keywords)
    return call(ours)(*arguments, **keywords)


def _compiled(function: Function, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if (written := in_python.written(function)) is not None:
        return convert_function(written)(*arguments, **keywords)
    ours = counterparts.in_python(function, arguments, keywords)
    return functions.of_compiled(function, arguments, keywords) if ours is None else call(ours)(*arguments, **keywords)


_PYTHONS = (types.FunctionType, types.MethodType, functools.partial, cached.CachedFunction, Choice)


def _is_compiled(function: Any) -> bool:
    """Is it a function in C of a library that is ported? Those of NumPy and of Python itself are known."""
    method = getattr(type(function), "__call__", None)  # noqa: B004 - the function is wanted
    if isinstance(function, _PYTHONS) or isinstance(method, types.FunctionType):
        return False
    module = getattr(function, "__module__", None)
    return isinstance(module, str) and not is_left_alone(module) and not isinstance(getattr(function, "__self__", None), type)


def _in_place_of(function: Any) -> Function | None:
    """What is called in place of one of Python's: an operator while something is traced, else as a rule Python's own."""
    if is_porting() and (ours := ported_builtins.OVERRIDES.get(function)) is not None:
        return ours
    if jax_private.tracing():
        return _OVERRIDES.get(function)
    return _ALWAYS.get(function) or (_OF_NUMBERS.get(function) if jax_private.transforming() else None)


# jax.numpy's functions whose NumPy twins give views.
_VIEWS = """array_split atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to diag diagonal dsplit expand_dims flip
fliplr flipud hsplit imag matrix_transpose moveaxis permute_dims ravel real reshape rollaxis rot90 split squeeze swapaxes
transpose trim_zeros unstack vsplit ix_ einsum nan_to_num""".split()
_VIEWING = {id(function) for function in (*(getattr(jnp, name) for name in _VIEWS), operator.getitem)}


def _only_moves(*operands: Any, **options: Any) -> bool:
    """Does `jnp.einsum` of this one array add nothing up?"""
    arrays = [operand for operand in operands if isinstance(operand, jax.Array)]
    if len(arrays) != 1:
        return False
    shadow = np.empty(arrays[0].shape)
    given: Any = (shadow if operand is arrays[0] else operand for operand in operands)
    return np.may_share_memory(np.einsum(*given), shadow)


# Those that give a view for some arguments only.
_IS_VIEW: dict[Any, Function] = {jnp.einsum: _only_moves, jnp.nan_to_num: lambda x, copy=True, *_, **options: not copy}


def gives_view(function: Any) -> bool:
    """Does this function give a view of what it gets: the NumPy twin of one of jax.numpy's, or Python's own?"""
    return id(function) in _VIEWING or isinstance(function, operator.itemgetter | operator.attrgetter)


def _viewing(function: Function) -> Function:
    """It gives a view of its first argument, or several; `jnp.broadcast_arrays` one of each."""

    def apply(*arguments: Any, **keywords: Any) -> Any:
        given = function(*arguments, **keywords)
        if (is_view := _IS_VIEW.get(function)) is not None and not is_view(*arguments, **keywords):
            return given
        for value in given if isinstance(given, list | tuple) else (given,):
            for base in arguments or keywords.values():
                views.view(value, base)
        return given

    return apply


def _chosen(choice: Choice) -> Function:
    """Call the function that traced data has chosen: one lax.cond for each further option."""

    def apply(*arguments: Any, **keywords: Any) -> Any:
        function = selection.callable_of(choice)
        if not isinstance(function, Choice):
            return call(function)(*arguments, **keywords)
        run = functools.partial(_one_of_several, function, 0, arguments, keywords)
        for position in range(1, len(function._options)):
            run = functools.partial(_either, function, position, run, arguments, keywords)
        return run()

    return apply


def _either(choice: Choice, position: int, otherwise: Function, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    is_taken = choice._index == position
    return if_expr(is_taken, lambda: _one_of_several(choice, position, arguments, keywords), lambda: otherwise())


def _one_of_several(choice: Choice, position: int, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The call, in the branch of this one: what it assigns is noted where `call` looks it up."""
    with branches.taken(choice._index, position):
        return call(choice._options[position])(*arguments, **keywords)


_OF_LISTS: dict[str, Function] = {
    "count": operator_builtins.count_of,
    "index": operator_builtins.index_of,
    "sort": ordering.sort,
}
_OF_CHANGING_LISTS: dict[str, Function] = {"pop": moved.pop, "insert": moved.insert, "remove": moved.remove}


def _builtin(function: types.BuiltinMethodType) -> Function:
    if function.__name__ == "get" and isinstance(function.__self__, dict):
        return functools.partial(selection.get_of, function.__self__)
    if type(function.__self__) in (list, tuple) and function.__name__ in _OF_LISTS and jax_private.tracing():
        return functools.partial(_OF_LISTS[function.__name__], function.__self__)
    if type(function.__self__) is list and function.__name__ in _OF_CHANGING_LISTS and jax_private.tracing():
        return functools.partial(_OF_CHANGING_LISTS[function.__name__], function.__self__)
    if function in _OVERRIDES:
        return _in_place_of(function) or function
    if isinstance(function.__self__, str):
        return texts.method(function) or (strings.method(function) if jax_private.tracing() else function)
    if isinstance(function.__self__, list | collections.deque) and function.__name__ == "extend":
        return lambda values: function(views.rows(values))
    if gives_view(function):
        return _viewing(function)
    if not is_porting() and numpy_writes.may_write(function):
        return numpy_writes.guarded(function)
    if is_numeric_function(function):
        return _numeric(function)
    if (ours := library_texts.of_method(function)) is not None:
        return ours
    return foreign.guarded(function) if state.traces() else function


def _numeric(function: Function) -> Function:
    """A function of math or NumPy: on traced values, the one of jax.numpy."""

    def apply(*arguments: Any, **keywords: Any) -> Any:
        if is_porting():
            if function in MATH:
                return domains.checked(function, lambda *given: _ported_call(function, given, keywords), arguments)
            return _ported_call(function, arguments, keywords)
        if function is math.fsum:  # which takes a generator
            return operator_builtins.fsum(*arguments)
        traced = any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves((arguments, keywords)))
        ours = jax_function(function) if traced else None
        if ours is not None and function in MATH:
            compute = operator_builtins.of_python_numbers(function, ours)
            return domains.checked(function, lambda *given: compute(*given, **keywords), arguments)
        numpy_writes.check(function, arguments, keywords)
        ours = ours or function
        ours = _viewing(ours) if gives_view(ours) else lists.STACKING.get(ours, ours)
        return ours(*arguments, **keywords)

    return apply


def _ported_call(function: Function, arguments: Any, keywords: dict[str, Any]) -> Any:
    objects = [one for one in (*arguments, *keywords.values()) if isinstance(one, array_classes.ArrayObject)]
    if objects:
        options = {name: array_classes.data_of(value) for name, value in keywords.items()}
        found = _ported_call(function, tuple(map(array_classes.data_of, arguments)), options)
        return array_classes.like(objects[0], found) if isinstance(function, np.ufunc) else found
    arguments = with_arrays(function, tuple(map(_numbers, arguments)))
    if not isinstance(arguments, tuple):
        return arguments
    keywords = {name: selection.not_none(value) for name, value in keywords.items()}
    if (place := _of_several_kinds(function, arguments, keywords)) is not None:
        before, choice, after = arguments[:place], arguments[place], arguments[place + 1 :]
        return selection.of_choice(
            choice,
            lambda option: _ported_call(function, (*before, option, *after), keywords),
            f"`{function.__name__}` is called",
        )
    if (of_masked := in_python.of_masked_arguments(function, arguments)) is not None:
        return call(of_masked)(*arguments, **keywords)
    arguments = tuple(map(masked.data_of, arguments))
    if any(map(own_code.stands_for_array, arguments)):
        if own_code.is_there(function):
            return own_code.run(function, arguments, keywords)
        arguments = tuple(map(own_code.as_array, arguments))
    given, options = tuple(map(_handed_over, arguments)), {name: _handed_over(value) for name, value in keywords.items()}
    try:
        return functions.ported(function, given, options)
    except PortingError as error:
        if error.lacks is not function or not own_code.is_there(function):
            raise
    return own_code.run(function, arguments, keywords)


def _of_several_kinds(function: Function, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> int | None:
    """Which argument may be an array or a list, say, where the function can be called with each: it writes none."""
    if function in functions.WRITING or keywords.get("out") is not None:
        return None
    of_kinds = (place for place, one in enumerate(arguments) if type(one) is Choice and not any(map(callable, one._options)))
    return next(of_kinds, None)


def _numbers(argument: Any) -> Any:
    """An argument of NumPy's functions, with no None in it, nor in its lists: at run time an error, where there is one."""
    if type(argument) in (list, tuple) and any(isinstance(part, list | tuple | Choice) for part in argument):
        return type(argument)(map(_numbers, argument))
    return selection.not_none(argument)


def _handed_over(argument: Any) -> Any:
    """An argument of one of NumPy's functions: a function, one of several that traced data has chosen, or a list of such."""
    if type(argument) in (list, tuple) and any(map(_is_python_function, argument)):
        return type(argument)(map(_handed_over, argument))
    return _with_arrays(argument) if _is_python_function(argument) else argument


def _is_python_function(value: Any) -> bool:
    return type(value) is types.FunctionType or type(value) is Choice and any(map(callable, value._options))


def _with_arrays(function: Any) -> Function:
    """A function of ported code that is handed to one of JAX's, which gives it JAX's arrays and takes such."""

    def run(*arguments: Any, **keywords: Any) -> Any:
        return left(_in_one_piece(call(function)(*jax.tree.map(entering, arguments), **keywords)))

    return run


def _in_one_piece(found: Any) -> Any:
    """What a function has given that NumPy makes an array of: an array on one path, and a tuple of numbers on the other."""
    if type(found) is Choice and any(isinstance(option, list | tuple) for option in found._options):
        return selection.of_choice(found, creating.asarray, "as an array")
    return found


hooks.call = call
hooks.is_array_library = is_array_library


_SLOT_KINDS = (types.WrapperDescriptorType, types.MethodWrapperType, types.MethodDescriptorType)


def _slot(function: Any) -> Function:
    """`object.__setattr__`, `super().__setitem__`, `list.append`: methods in C, which may change their object."""

    def apply(*arguments: Any, **keywords: Any) -> Any:
        # Not `isinstance`, which may ask the object for its `__class__`.
        target, *rest = (function.__self__, *arguments) if type(function) is types.MethodWrapperType else arguments or (None,)
        if function.__name__ in ("__setattr__", "__delattr__") and rest:
            subscripts.note_attr(target, rest[0])
        elif function.__name__ in ("__setitem__", "__delitem__") or _changes_content(target, function):
            subscripts.note_content(target)
        if (ours := texts.special(function, target)) is not None:
            return ours(target, *rest)
        foreign.check_method(target, function.__name__)
        numpy_writes.check_slot(function, target)
        return function(*arguments, **keywords)

    return apply


def _changes_content(target: Any, function: Any) -> bool:
    return issubclass(type(target), CHANGING) and function.__name__ not in _READING


def _is_plain_method(method: types.MethodType) -> bool:
    return type(method.__func__) is types.FunctionType


_MANAGER_OF_GENERATOR = contextlib.contextmanager(lambda: iter(())).__code__


def _function(function: types.FunctionType) -> Function:
    if not is_converted(function):
        if switched_off() or is_marked(function):
            return function
        inner = wrapped_in_library(function)
        if inner is not None and not is_marked(inner):
            if state.noting():
                note_variables(inner)
            converted = convert_function(function)
            if function.__code__ is _MANAGER_OF_GENERATOR:
                return lambda *arguments, **keywords: holders.with_generator_in_view(converted(*arguments, **keywords))
            return handing_arrays(converted) if takes_arrays(function.__globals__.get("__name__")) else converted
        if is_left_alone(function.__module__) or is_left_alone(function.__globals__.get("__name__")):
            if gives_view(function):
                return _viewing(function)
            if function in lists.STACKING:
                return handing_arrays(lists.STACKING[function])
            ours = _in_place_of(function) or bar_maker(function)
            if ours is not None:
                return ours
            if is_array_library(function.__module__):
                return _taking_functions(function)
            impure.check(function)
            return library_texts.of_function(function, foreign.guarded(function))
        converted = convert_function(function)
        if converted is function:
            strict.check_callee(sys._getframe(2).f_code, function)
            return with_callees(function, call) if is_porting() else function
        function = converted
    if state.noting():
        note_variables(function)
    if function.__code__.co_flags & inspect.CO_GENERATOR:
        return _making(lambda *arguments, **keywords: holders.keep_in_view(function(*arguments, **keywords)))
    return function


def _taking_functions(function: Function) -> Function:
    """A library's function that is handed the user's functions converted: `jax.grad(loss)`, `lax.scan(step, ...)`."""

    staging = "lax.control_flow" in function.__module__
    handed = _for_lax if staging else _converted

    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        if may_keep_state(function.__module__):
            state.library_called()
        return function(*map(handed, arguments), **{name: handed(value) for name, value in keywords.items()})

    return handing_arrays(wrapper) if takes_arrays(function.__module__) else handing_containers(wrapper)


def _for_lax(value: Any) -> Any:
    """As `_converted`; a body of the user's gives lax arrays, in place of objects with `__jax_array__`."""
    if type(value) in (list, tuple) and any(map(callable, value)):
        return type(value)(map(_for_lax, value))
    kind = type(value)
    method = getattr(kind, "__call__", None)  # noqa: B004 - the function is wanted
    if type(method) is types.FunctionType and is_users(module_of(kind)) and jax.tree_util.all_leaves([value]):
        value = types.MethodType(method, value)  # an object with `__call__` that is no pytree
    converted = _converted(value)
    is_body = type(converted) is types.FunctionType and not is_left_alone(converted.__module__)
    return giving_arrays(converted) if is_body else converted


def _converted(value: Any) -> Any:
    """A function of the user's, converted, also in a list or tuple (`lax.switch`); anything else as it is."""
    if type(value) in (list, tuple) and any(map(callable, value)):
        return type(value)(map(_converted, value))
    if type(value) is types.FunctionType and not is_left_alone(value.__module__):
        is_ready = switched_off() or is_marked(value) or is_librarys(value) and wrapped_in_library(value) is None
        return value if is_ready else keyed(convert_function(value))
    if type(value) is types.MethodType and type(value.__func__) is types.FunctionType:
        return types.MethodType(_converted(value.__func__), value.__self__)
    if type(value) is functools.partial:
        return functools.partial(_converted(value.func), *value.args, **value.keywords)
    return value


def _class(kind: type) -> Function:
    """A class, with `__new__` and `__init__` converted. What it makes while a block is traced is the block's own."""
    classes.meet(kind)
    if issubclass(kind, enum.Enum) and _has_members_only(kind):
        return functools.partial(selection.member_of, kind)
    made = _made_by_new(kind) if _is_made_in_two_steps(kind) else kind
    return _making(made) if state.traces() else made


def _has_members_only(kind: type[enum.Enum]) -> bool:
    """Does it know of no number but its members'? Flags are combined."""
    return getattr(kind._missing_, "__func__", None) is getattr(enum.Enum._missing_, "__func__", kind)


def _is_made_in_two_steps(kind: type) -> bool:
    """Its `__new__` may give an object of another class, which has not been met when Python calls its `__init__`.

    An exception's `__init__` may write what C keeps, `self.args = (text,)`: by then it has to be known that it is new.
    """
    if issubclass(kind, BaseException):
        return isinstance(kind.__init__, types.FunctionType) and bool(state.traces())
    return isinstance(kind.__new__, types.FunctionType) and is_porting()


def _made_by_new(kind: type) -> Function:
    """A class, called as Python does it."""
    if type(kind).__call__ is not type.__call__:
        return kind

    def make(*arguments: Any, **keywords: Any) -> Any:
        new = state.made(kind.__new__(kind, *arguments, **keywords))
        if isinstance(new, kind):
            classes.meet(type(new))
            type(new).__init__(new, *arguments, **keywords)
        return new

    return make


def _making(function: Function) -> Function:
    return lambda *arguments, **keywords: state.made(function(*arguments, **keywords))


def _callable_object(target: Any) -> Function:
    """An object with `__call__`: a model, a solver. Objects of libraries (jitted functions, ufuncs) are called as they are."""
    kind = type(target)
    classes.meet(kind)
    module = module_of(kind)
    if is_array_library(module) and isinstance(getattr(target, "__func__", None), types.FunctionType):
        return call(types.MethodType(target.__func__, target.__self__))  # equinox has bound methods of its own
    method = getattr(kind, "__call__", None)  # noqa: B004 - the function is wanted
    if is_left_alone(module) or type(method) is not types.FunctionType:
        if takes_arrays(module):
            return handing_arrays(target)
        return handing_containers(target) if is_array_library(module) else target
    return types.MethodType(_function(method), target)
