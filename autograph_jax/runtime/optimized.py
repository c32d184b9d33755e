"""What the loops of a program are compiled with: they are compiled once more, while somebody listens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr

from autograph_jax.loops import told
from autograph_jax.loops.compiled import compiled, compiled_as_a_whole
from autograph_jax.loops.evaluation import programs_of
from autograph_jax.loops.optimizations import ON_CPU_ALONE, ChoosingName, Chosen, own_choice


def told_of(jaxpr: Any) -> Iterator[tuple[Any, told.Told]]:
    """Of each outermost loop of ours what is done with it, and why it is no kernel; where it is compiled for one device."""
    for equation in jaxpr.eqns:
        if (chosen := own_choice(equation)) is not None:
            with told.listening() as heard:
                compiled(_alone(jaxpr, equation), (), _available(chosen))
            yield from ((equation, one) for one in heard)
        elif heard := _of_a_whole(equation):
            yield from ((one.equation, one) for one in heard)
        else:
            for inner in programs_of(equation.params):
                yield from told_of(inner)


def _of_a_whole(equation: Any) -> list[told.Told]:
    """What is told of a call that is compiled as a whole; nothing where its loops are compiled by themselves."""
    name = equation.params.get("name")
    if not isinstance(name, ChoosingName):
        return []
    with told.listening() as heard:
        compiled_as_a_whole(equation.params["jaxpr"], _available(name.chosen))
    return heard


def _available(chosen: Chosen) -> Chosen:
    return chosen if jax.default_backend() == "cpu" else chosen - ON_CPU_ALONE


def _alone(jaxpr: Any, equation: Any) -> ClosedJaxpr:
    """The program of this one equation."""
    inputs = list(dict.fromkeys(v for v in equation.invars if not hasattr(v, "val")))
    outputs = [v for v in equation.outvars if type(v).__name__ != "DropVar"]
    names = jaxpr.debug_info.with_unknown_names()
    new = jaxpr.replace(
        constvars=[], invars=inputs, outvars=outputs, eqns=[equation], effects=equation.effects, debug_info=names
    )
    return ClosedJaxpr(new, [])
