"""Libraries whose functions are called as they are."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

# They work on tracers as they are. What these take as functions (a loss, a right-hand side) is the user's, and converted.
ARRAY_LIBRARIES = frozenset(
    """jax jaxlib flax haiku optax equinox diffrax lineax optimistix jaxopt blackjax numpyro distrax chex jraph orbax
    tensorflow_probability jaxtyping einops quax e3nn_jax brax penzai nnx objax trax rlax dm_pix scico""".split()
)
# Nothing in them is for tracers, or they look at frames and code themselves.
LEFT_ALONE = frozenset(
    """numpy scipy pandas matplotlib torch tensorflow numba cupy sympy sklearn gast ast pytest _pytest hypothesis pluggy IPython
    ipykernel beartype typeguard typing_extensions tqdm rich PIL h5py wandb tensorboard pip setuptools attr attrs
    autograph_jax""".split()
)


# In ported code everything else is converted, SciPy first of all.
_WRITTEN_FOR_THEM = "autograph_jax.porting.in_python."
_NEVER_PORTED = frozenset("numpy gast ast autograph_jax numba llvmlite pytest hypothesis warnings tensorflow torch".split())


class _Mode(threading.local):
    depth = 0
    max_len: int | None = None  # of what traced data decides how long it is


_mode = _Mode()
_lock = threading.RLock()
_porting: set[object] = set()  # one for each `port` that is running, in any thread
# Called when the first one begins, and when the last one ends. Set once, when the package is imported.
when_somebody_ports: list[Callable[[], None]] = []
when_nobody_ports: list[Callable[[], None]] = []


@contextlib.contextmanager
def porting(max_len: int | None = None) -> Iterator[None]:
    """Meanwhile, in this thread, libraries of NumPy code are converted like the user's own."""
    depth, around = _mode.depth, _mode.max_len
    own = object()
    try:  # Ctrl-C may come anywhere
        _mode.depth, _mode.max_len = depth + 1, around if max_len is None else max_len
        with _lock:
            is_first = not _porting
            _porting.add(own)
            for begin in when_somebody_ports if is_first else ():
                begin()
        yield
    finally:
        _mode.depth, _mode.max_len = depth, around
        with _lock:
            _porting.discard(own)
            if not _porting:
                for end in when_nobody_ports:
                    end()


def is_porting() -> bool:
    return _mode.depth > 0


def max_len() -> int | None:
    """The bound that `ag.port(f, max_len=...)` was given."""
    return _mode.max_len


def is_array_library(module: str | None) -> bool:
    return _root(module) in ARRAY_LIBRARIES


def takes_arrays(module: str | None) -> bool:
    """Are the functions of this module JAX's own for arrays? Those of `jax.tree` take any object."""
    return _root(module) in ("jax", "jaxlib") and "tree" not in str(module)


def may_keep_state(module: str | None) -> bool:
    """Is this a library whose functions may keep something between calls, as random keys? JAX's own do not."""
    return is_array_library(module) and _root(module) not in ("jax", "jaxlib")


def is_left_alone(module: str | None) -> bool:
    """Is this module part of the standard library or of a listed library?"""
    root = (module or "").partition(".")[0]  # calls nothing: near Python's limit of recursion few frames are left
    listed = _NEVER_PORTED if _mode.depth else LEFT_ALONE
    if root in listed:
        return root != "autograph_jax" or not str(module).startswith(_WRITTEN_FOR_THEM)
    return root in ARRAY_LIBRARIES or root in sys.stdlib_module_names and root != "__main__"


def module_of(kind: type) -> Any:
    """Where a class was made; its `__module__`, past a property of its metaclass."""
    return type.__dict__["__module__"].__get__(kind)


def writes_polynomials(module: str | None) -> bool:
    """Is it here that NumPy has classes written in Python that hold numbers: `np.poly1d`, `np.polynomial.Polynomial`?"""
    return is_porting() and (module or "").startswith(("numpy.polynomial", np.poly1d.__init__.__module__))


def _root(module: str | None) -> str:
    return (module or "").partition(".")[0]


_using_us: set[str] = set()  # packages that have decorated functions. Module state: it only grows.


def uses_us(module: str | None) -> None:
    """Remember a package that has decorated one of its functions."""
    _using_us.add(_root(module))


def is_users(module: Any) -> bool:
    """Is this module the user's own? An installed package is its author's, unless it uses `autograph` itself."""
    if not isinstance(module, str) or is_left_alone(module):
        return False
    return _root(module) in _using_us or not _is_installed(_root(module))


@functools.cache
def _is_installed(package: str) -> bool:
    found = sys.modules.get(package)
    places = [getattr(found, "__file__", None) or "", *getattr(found, "__path__", ())]
    return any(folder in place.split(os.sep) for place in places for folder in ("site-packages", "dist-packages"))
