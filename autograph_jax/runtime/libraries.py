"""Libraries whose functions are called as they are."""

from __future__ import annotations

import sys

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


def is_array_library(module: str | None) -> bool:
    return _root(module) in ARRAY_LIBRARIES


def is_left_alone(module: str | None) -> bool:
    """Is this module part of the standard library or of a listed library?"""
    root = _root(module)
    return root in ARRAY_LIBRARIES or root in LEFT_ALONE or root in sys.stdlib_module_names and root != "__main__"


def _root(module: str | None) -> str:
    return (module or "").partition(".")[0]
