"""Plain Python control flow for JAX: `@autograph` stages if, while, for, return, break and `x[i] = y` where values are traced.

The names below are the public interface. They are imported when they are first used, so that the command line and the
converters work without JAX.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from autograph_jax import errors
from autograph_jax.errors import AutographError as AutographError

if TYPE_CHECKING:
    from autograph_jax import testing as testing
    from autograph_jax.explaining.explain import explain as explain
    from autograph_jax.operators.bounded_loops import fori_loop as fori_loop
    from autograph_jax.operators.bounded_loops import while_loop as while_loop
    from autograph_jax.operators.markers import cond as cond
    from autograph_jax.operators.markers import scan as scan
    from autograph_jax.operators.markers import stack as stack
    from autograph_jax.operators.markers import stage as stage
    from autograph_jax.operators.markers import unroll as unroll
    from autograph_jax.operators.markers import while_ as while_
    from autograph_jax.operators.sequences.limits import max_len as max_len
    from autograph_jax.runtime.captures import captures as captures
    from autograph_jax.runtime.checkify import checkify as checkify
    from autograph_jax.runtime.checkpoint import checkpoint as checkpoint
    from autograph_jax.runtime.custom_rules import custom_jvp as custom_jvp
    from autograph_jax.runtime.custom_rules import custom_vjp as custom_vjp
    from autograph_jax.runtime.decorator import autograph as autograph
    from autograph_jax.runtime.decorator import source as source
    from autograph_jax.runtime.derivatives import grad as grad
    from autograph_jax.runtime.derivatives import hessian as hessian
    from autograph_jax.runtime.derivatives import jacfwd as jacfwd
    from autograph_jax.runtime.derivatives import jacrev as jacrev
    from autograph_jax.runtime.derivatives import value_and_grad as value_and_grad
    from autograph_jax.runtime.jit import jit as jit
    from autograph_jax.runtime.linearization import jvp as jvp
    from autograph_jax.runtime.linearization import linearize as linearize
    from autograph_jax.runtime.linearization import vjp as vjp
    from autograph_jax.runtime.mapped import pmap as pmap
    from autograph_jax.runtime.mapped import shard_map as shard_map
    from autograph_jax.runtime.mapped import vmap as vmap
    from autograph_jax.runtime.ported import port as port
    from autograph_jax.runtime.programs import closure_convert as closure_convert
    from autograph_jax.runtime.programs import make_jaxpr as make_jaxpr
    from autograph_jax.runtime.unconverted import do_not_convert as do_not_convert

__version__ = "0.1.0"

_HOMES = {
    "autograph": "autograph_jax.runtime.decorator",
    "source": "autograph_jax.runtime.decorator",
    "explain": "autograph_jax.explaining.explain",
    "do_not_convert": "autograph_jax.runtime.unconverted",
    "max_len": "autograph_jax.operators.sequences.limits",
    "fori_loop": "autograph_jax.operators.bounded_loops",
    "while_loop": "autograph_jax.operators.bounded_loops",
    "jit": "autograph_jax.runtime.jit",
    "captures": "autograph_jax.runtime.captures",
    "checkify": "autograph_jax.runtime.checkify",
    "checkpoint": "autograph_jax.runtime.checkpoint",
    "port": "autograph_jax.runtime.ported",
}
_HOMES |= {name: "autograph_jax.operators.markers" for name in ("cond", "scan", "stack", "stage", "unroll", "while_")}
_TRANSFORMS = {
    "custom_rules": "custom_jvp custom_vjp",
    "derivatives": "grad value_and_grad jacfwd jacrev hessian",
    "linearization": "jvp vjp linearize",
    "mapped": "vmap pmap shard_map",
    "programs": "make_jaxpr closure_convert",
}
_HOMES |= {name: f"autograph_jax.runtime.{home}" for home, names in _TRANSFORMS.items() for name in names.split()}
_HOMES |= {name: "autograph_jax.errors" for name in errors.NAMES}
_MODULES = ("testing",)
__all__ = ["__version__", *_MODULES, *_HOMES]  # pyright: ignore[reportUnsupportedDunderAll] - _HOMES has the names


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f"autograph_jax.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
