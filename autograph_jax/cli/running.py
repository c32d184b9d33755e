"""Functions that a command calls: the file is imported, and `--args` evaluated with its names and those of jax.numpy."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any

from autograph_jax.cli.targets import TargetError, is_path, split

ARGS_HELP = (
    "the arguments of the call, as Python: \"zeros(3), rate=0.1\"; names are the file's and jax.numpy's, and randn(*shape)"
)


def add_target(parser: argparse.ArgumentParser) -> None:
    """Declare the function and its arguments."""
    parser.add_argument("target", metavar="TARGET", help="module:function, module:Class.method, or file.py:function")
    parser.add_argument("--args", default="", metavar="ARGS", help=ARGS_HELP)


def load(target: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Import what a target names: the function, and the names of its module. Raises TargetError where it is not there."""
    place, name = split(target)
    module = _module(place)
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise TargetError(f"there is no `{name}` in {place}")
        value = getattr(value, part)
    if not callable(value):
        raise TargetError(f"`{name}` in {place} is not a function")
    return value, vars(module)


def _module(place: str) -> Any:
    if not is_path(place):
        sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{place}.".startswith(f"{error.name}."):
                raise
            raise TargetError(f"there is no module {error.name} in this folder or on Python's path") from None
    if not os.path.isfile(place):
        raise TargetError(f"{place} cannot be read: there is no such file")
    sys.path.insert(0, os.path.dirname(os.path.abspath(place)))
    name = os.path.splitext(os.path.basename(place))[0]
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(options: argparse.Namespace) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """The function that the options name, and the arguments of the call. Raises TargetError where these do not fit."""
    function, names = load(options.target)
    args, kwargs = arguments(options.args, names)
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise TargetError(
            f"--args {options.args!r} does not fit {options.target}{inspect.signature(function)}: {error}"
        ) from None
    return function, args, kwargs


def arguments(text: str, names: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Evaluate `1.0, n=3` with these names and those of jax.numpy. Raises TargetError for what is no list of arguments."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def randn(*shape: int) -> jax.Array:
        return jax.random.normal(jax.random.key(0), shape)

    try:
        ast.parse(f"_({text})", mode="eval")
        known = {**vars(jnp), "jax": jax, "jnp": jnp, "np": np, "randn": randn, **names, "_": lambda *a, **k: (a, k)}
        return eval(f"_({text})", known)
    except Exception as error:
        raise TargetError(f"--args {text!r}: {type(error).__name__}: {error}") from None
