"""The log `autograph_jax`, quiet unless asked: by a level of its own, or by `AUTOGRAPH_JAX_LOG=explain,convert`.

`explain` logs what each `if` and loop becomes, `convert` the text of each function that is converted, and why others are not.
"""

from __future__ import annotations

import logging
import os

from autograph_jax.operators import decisions

log = logging.getLogger("autograph_jax")
decided = logging.getLogger("autograph_jax.explain")


def is_logged(level: int) -> bool:
    """Only if the logger `autograph_jax` has a level of its own.

    A handler that the user has put on the root logger takes locks, and may itself call what another thread is converting.
    """
    return bool(log.level) and log.isEnabledFor(level)


def configure(wanted: str) -> None:
    """Send what is wanted to stderr. Raises ValueError for a word that means nothing."""
    words = {word.strip() for word in wanted.split(",")} - {""}
    if unknown := words - {"explain", "convert"}:
        raise ValueError(
            f"AUTOGRAPH_JAX_LOG={wanted}: {', '.join(sorted(unknown))} means nothing; write explain, convert or both"
        )
    for word, logger, level in (("convert", log, logging.DEBUG), ("explain", decided, logging.INFO)):
        if word in words:
            handler = logging.StreamHandler()
            handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
            logger.addHandler(handler)
            logger.setLevel(level)
            logger.propagate = False
    if "explain" in words:
        decisions.listen_always(_tell)


def _tell(decision: decisions.Decision) -> None:
    if decision.how != "python" or decision.why:  # not each turn of a loop that Python runs
        decided.info("%s", decision)


configure(os.environ.get("AUTOGRAPH_JAX_LOG", ""))
