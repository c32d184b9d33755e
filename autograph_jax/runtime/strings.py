"""Methods of a string that is known, handed one of several strings that traced data has chosen: `name.startswith(mode)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from autograph_jax.operators.effects import texts
from autograph_jax.operators.values import selection
from autograph_jax.operators.values.choices import Choice


def method(function: Callable[..., Any]) -> Callable[..., Any]:
    """What stands for a method of a string: for each option its answer, of which that of the option taken is given.

    Raises StagingError where it is handed a text that is known at run time only.
    """
    use = f"str.{getattr(function, '__name__', '')}"

    def apply(*arguments: Any, **keywords: Any) -> Any:
        leaves, structure = jax.tree.flatten((arguments, keywords), is_leaf=lambda part: type(part) in (Choice, texts.Text))
        place = next((place for place, leaf in enumerate(leaves) if type(leaf) is Choice), None)
        if place is None:
            texts.check_known(leaves, use)
            return function(*arguments, **keywords)

        def of_option(option: Any) -> Any:
            given, named = structure.unflatten([*leaves[:place], option, *leaves[place + 1 :]])
            return apply(*given, **named)

        return selection.of_choice(leaves[place], of_option, f"as an argument of {use}")

    return apply
