"""`a * b + c` rounded twice, as NumPy does it. XLA's compilers make one operation of it, which rounds once.

What comes of a test on rounding errors, such as the number of turns of a solver, depends on that. XLA has no switch for a part
of a program; a product that goes through a comparison is not joined with what follows.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

_rounded = Primitive("rounded")
_rounded.def_impl(lambda x: x)
_rounded.def_abstract_eval(lambda x: x)
ad.deflinear2(_rounded, lambda cotangent, _: [cotangent])
batching.defvectorized(_rounded)


def _lowered(x: jax.Array) -> jax.Array:
    return lax.select(lax.ne(x, x), lax.full_like(x, np.nan), x)


mlir.register_lowering(_rounded, mlir.lower_fun(_lowered, multiple_results=False))


def rounded(product: Any) -> Any:
    """A product of floats as it is stored; anything else as it is."""
    if isinstance(product, Tracer) and jax.numpy.issubdtype(product.dtype, np.floating):
        return _rounded.bind(product)
    return product
