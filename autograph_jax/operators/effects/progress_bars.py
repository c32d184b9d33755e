"""Progress bars that compiled programs report to: opened when a loop begins, moved by the clock, closed at its end."""

from __future__ import annotations

import inspect
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

_PER_SECOND = 10  # reports that a running loop makes; each takes some 0.1 ms
_AT_MOST = 2**31 - 1  # a count that no loop reaches: no more reports
Message = Sequence[tuple[str, Any]]


class Bar(Protocol):
    """A bar on the screen."""

    silent: bool

    def show(self, more: int, message: Message) -> None:
        """Move on by `more`, after calls of methods of the bar: `("set_postfix", {"loss": 0.5})`."""
        ...

    def close(self, *, keep: bool = True) -> None:
        """Show the end, or with `keep=False` nothing of it."""
        ...


class TqdmBar:
    """An object of tqdm's class or of a class made of it."""

    def __init__(self, kind: type, /, *arguments: Any, **keywords: Any) -> None:
        self._bar: Any = kind(*arguments, **keywords)
        self.silent = bool(self._bar.disable)

    def show(self, more: int, message: Message) -> None:
        for method, value in message:
            getattr(self._bar, method)(value, refresh=False)
        self._bar.update(more)

    def close(self, *, keep: bool = True) -> None:
        self._bar.leave = self._bar.leave and keep
        self._bar.close()


class RichBar:
    """What `rich.progress.track` shows."""

    def __init__(self, length: int, *arguments: Any, **keywords: Any) -> None:
        rich: Any = sys.modules["rich.progress"]
        given = inspect.signature(rich.track).bind(range(length), *arguments, **keywords)
        given.apply_defaults()
        options = given.arguments
        self.silent = bool(options["disable"])
        names = ("auto_refresh", "console", "transient", "get_time", "refresh_per_second", "disable")
        self._progress = rich.Progress(*_columns(rich, options), **{name: options[name] for name in names})
        total = length if options["total"] is None else options["total"]
        self._task = self._progress.add_task(options["description"], total=total, completed=options["completed"])
        self._progress.start()

    def show(self, more: int, message: Message) -> None:
        self._progress.update(self._task, advance=more)

    def close(self, *, keep: bool = True) -> None:
        self._progress.live.transient = self._progress.live.transient or not keep
        self._progress.stop()


def _columns(rich: Any, options: dict[str, Any]) -> Iterator[Any]:
    if options["description"]:
        yield rich.TextColumn("[progress.description]{task.description}")
    styles = ("style", "complete_style", "finished_style", "pulse_style")
    yield rich.BarColumn(**{name: options[name] for name in styles})
    yield rich.TaskProgressColumn(show_speed=options["show_speed"])
    yield rich.TimeRemainingColumn(elapsed_when_finished=True)


class _Run:
    """One execution of a loop with a bar."""

    def __init__(self, program: Program, bar: Bar) -> None:
        self.program, self.bar = program, bar
        self.count, self.time = 0, time.perf_counter()

    def move(self, count: int, message: Message) -> int:
        """Show a count, and give the one to report next."""
        now = time.perf_counter()
        turns, seconds = count - self.count, max(now - self.time, 1e-9)
        self.bar.show(turns, message)
        self.count, self.time = count, now
        # The first turns say little about the speed.
        ahead = min(turns / seconds / _PER_SECOND, 10 * max(count, 1))
        return min(count + max(int(ahead), 1), _AT_MOST)


# Module state: the executions that are running, by ticket. Callbacks come from any thread.
_running: dict[int, _Run] = {}
_lock = threading.RLock()
_tickets = itertools.count(1)


class Program:
    """A bar of a compiled program, which each execution opens anew."""

    def __init__(self, make: Callable[..., Bar]) -> None:
        self._make = make

    def enter(self, *given: Any) -> int:
        """Open a bar; gives its ticket. One that an execution has left open, because it failed, is closed."""
        with _lock:
            close_all(lambda run: run.program is self)
            ticket = next(_tickets)
            _running[ticket] = _Run(self, self._make(*given))
            return ticket

    def report(self, ticket: int, count: int, message: Message) -> int:
        """Move the bar; gives the count to report next. A body that is run again, for a derivative, finds it closed."""
        with _lock:
            run = _running.get(ticket)
            return _AT_MOST if run is None or run.bar.silent else run.move(count, message)

    def leave(self, ticket: int, count: int, message: Message) -> int:
        with _lock:
            run = _running.pop(ticket, None)
            if run is not None:
                run.move(count, message)
                run.bar.close()
            return ticket

    def give_up(self, ticket: int) -> None:
        with _lock:
            _running.pop(ticket).bar.close(keep=False)


def close_all(which: Callable[[_Run], bool] = lambda run: True) -> None:
    """Close the bars of executions that will not come to their end: an exception ends them."""
    with _lock:
        for ticket in [ticket for ticket, run in _running.items() if which(run)]:
            _running.pop(ticket).bar.close()


def open_bars() -> int:
    return len(_running)
