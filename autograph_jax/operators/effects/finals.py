"""`try: ... finally: ...` whose body may fail by traced data: the `finally` runs, and the error is raised after it.

    attempt = ag__.final()
    try:
        with attempt:
            x = f(x)
            if ag__.failed(attempt):
                return ag__.failure
    finally:
        print(g(x))
    if ag__.fails(attempt):
        raise ag__.error_of(attempt, 0)

So what the `finally` prints is seen, and an error of its own is the one that the caller gets. Where the body's error cannot be
noted, in code that JAX maps or scans by itself, it is raised at once; then the `finally` must not raise as well.
"""

from __future__ import annotations

from typing import Any

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators.effects import checks
from autograph_jax.operators.effects.attempts import Attempt, handled


class Final(Attempt):
    """The body of a `try` with a `finally`. It takes every error that it can note."""

    is_record = False  # like every attempt

    def __init__(self) -> None:
        super().__init__(None)
        self._lets_pass = False  # has an error been raised at once?
        self._checks_before = 0  # how many checks there were when the `finally` began

    def __exit__(self, *raised: Any) -> bool:
        self._checks_before = checks.made()
        return super().__exit__(*raised)

    def is_for(self, kind: type[BaseException]) -> bool:
        return False  # it raises again what it takes

    def takes(self, by_python: bool) -> bool:
        taken = not by_python and self.can_note()
        self._lets_pass |= not taken
        return taken

    def fails(self) -> Any:
        """Has the body failed? Asked after the `finally`."""
        if self._lets_pass and checks.made() > self._checks_before:
            raise StagingError(
                "the body of a `try` may fail, and its `finally` too, where traced data decides",
                location=user_location(),
                details=["Python raises the second error, a compiled program would raise the first."],
                help="move the check out of the `finally`, or what is mapped or scanned out of the body",
            )
        return handled(self, 0)


def final() -> Final:
    return Final()


def fails(attempt: Final) -> Any:
    return attempt.fails()
