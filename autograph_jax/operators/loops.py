"""What the two kinds of loops share: when one is worth staging, and how it is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators import decisions, hooks, jax_private
from autograph_jax.operators.conditionals import unless
from autograph_jax.operators.effects import checks
from autograph_jax.operators.exits import BREAK, turn_ended
from autograph_jax.operators.tracing import positions, reach, recursion
from autograph_jax.operators.tracing.cells import bind, cells_of, standing_for
from autograph_jax.operators.values.choices import Choice

Block = Callable[..., Any]


class Marker:
    """Answers of the questions about a loop that are no values of the user's; they count as true."""


TRACED, PYTHON = Marker(), Marker()


class _Left:
    """In place of BREAK once a loop has ended by it: its `else` must not run, and nothing else is left."""


LEFT = _Left()


def nothing(*_: Any) -> None:
    """The body of `for _ in xs: pass`."""


def may_be_traced(deciding: frozenset[str] | None, functions: tuple[Block | None, ...]) -> bool:
    """Can traced data come to decide about this loop? Where it cannot, nothing is tried out: Python runs each turn once."""
    cells = cells_of(functions)
    values = [cell.read() for name, cell in cells.items() if deciding is None or name in deciding]
    return any(map(reach.holds_traced, values))


def reads_iterator(functions: tuple[Block | None, ...]) -> bool:
    """Does a variable of these blocks hold an iterator? Nothing is tried out then, since its elements could not be put back."""
    return any(positions.is_unfinished(cell.read()) for cell in cells_of(functions).values())


def is_strict(block: Block) -> bool:
    """Is this a block of a function that was decorated with `strict=True`?"""
    originals = getattr(block, "stands_for", (block,))
    return any(hooks.is_strict(original.__code__) for original in originals)


def left_to_python(body: Block, reason: str) -> None:
    """Python is about to run a loop: in a strict function, that has to be said."""
    decisions.left_to_python(reason)
    if is_strict(body):
        raise StagingError(
            "a loop that sees traced values runs in Python, and the function is strict",
            location=user_location(),
            details=[f"The reason: {reason}."],
            help="say so, `for x in ag.unroll(xs)`; or have it staged, `for x in ag.stage(xs)`",
        )


_MANY = 200  # turns, after which a program gets long


def turn_begun(turns: int, functions: tuple[Block | None, ...]) -> None:
    """Python has begun so many turns of a loop while something is traced."""
    decisions.turned(turns)
    if turns == _MANY and jax_private.staging() and may_be_traced(None, functions):
        decisions.warn_of_unrolling(turns)


def cannot_be_staged(error: Exception) -> StagingError:
    """Tracing a loop's body has failed, and the loop may not run in Python."""
    return StagingError(
        "this loop cannot be staged",
        location=user_location(),
        details=[f"Tracing its body raised {type(error).__name__}: {str(error).partition(chr(10))[0]}"],
        help="keep what the body needs as a Python value out of the loop, or unroll it: `for x in ag.unroll(xs)`",
    )


def run_turn(body: Block, *arguments: Any) -> Any:
    """Trace a turn, and give how it leaves the loop. One that raises leaves it; the error itself is raised at run time."""
    try:
        return turn_ended(body(*arguments))
    except Exception as error:
        if not checks.in_staged_branch() or not checks.raised_later(error):
            raise
        return BREAK
    except checks.Raised:
        return BREAK


def leave(exit: Any, go_on: Block, names: tuple[str, ...]) -> Any:
    """After a turn in Python that may have left: BREAK ends here, and what is only known at run time decides there."""
    if isinstance(exit, Choice):
        exit = exit._map(lambda option: LEFT if option is BREAK else option)
        recursion.expect(go_on)
        exit = unless(exit, go_on, *names)
        return exit._map(_without_mark) if isinstance(exit, Choice) else _without_mark(exit)
    return None if exit is BREAK else exit


def _without_mark(exit: Any) -> Any:
    return None if exit is LEFT else exit


def run_else(exit: Any, orelse: Block | None, functions: tuple[Block | None, ...], names: tuple[str, ...]) -> Any:
    """The loop's else runs unless it was left; then BREAK has done its work."""
    if isinstance(exit, Choice):
        exit = exit._map(lambda option: LEFT if option is BREAK else option)
    elif exit is BREAK:
        exit = LEFT
    if orelse is not None:
        exit = unless(exit, standing_for(lambda: orelse(), orelse, *functions), *names)
    bind(functions, names)
    return exit._map(_without_mark) if isinstance(exit, Choice) else _without_mark(exit)


def named(block: Block, function: Block) -> Block:
    """What lax is handed wears the user's name, so that JAX's messages say where."""
    function.__name__, function.__qualname__ = block.__name__, block.__qualname__
    return function
