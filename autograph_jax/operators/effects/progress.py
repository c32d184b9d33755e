"""`for i in tqdm(range(n))`, `trange(n)`, `rich.progress.track(xs)`: in a staged loop, a live bar of the compiled loop.

While JAX traces, a `Progress` stands for the bar. If its loop is staged, the bar is opened, moved and closed at run time, once
for each execution; if Python runs the loop after all, the real bar is made then, and used. Outside of tracing there is only the
real bar.
"""

from __future__ import annotations

import functools
import sys
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from autograph_jax.operators import jax_private
from autograph_jax.operators.effects import printing, progress_bars
from autograph_jax.operators.effects.progress_state import Standing, plain
from autograph_jax.operators.sequences import iterables
from autograph_jax.operators.sequences.rows import View
from autograph_jax.operators.tracing import state
from autograph_jax.operators.tracing.cells import cells_of
from autograph_jax.operators.tracing.places import Place
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.traced import is_traced

Function = Callable[..., Any]


def bar_maker(function: Any) -> Function | None:
    """What is called in place of `tqdm`, `trange`, `tqdm.write` or `track`; None for anything else."""
    tqdm, rich = sys.modules.get("tqdm.std"), sys.modules.get("rich.progress")
    if tqdm is not None:
        if isinstance(function, type):
            return functools.partial(_tqdm, function) if issubclass(function, tqdm.tqdm) else None
        if isinstance(function, types.MethodType) and function.__func__ is tqdm.tqdm.write.__func__:
            return functools.partial(_write, function)
        if (kind := _class_of_trange(function)) is not None:
            return functools.partial(_trange, kind)
    return functools.partial(_track, function) if rich is not None and function is rich.track else None


def _class_of_trange(function: Any) -> type | None:
    """Each module of tqdm's has a function `trange` beside its class `tqdm`."""
    module = getattr(function, "__globals__", {})
    if (module.get("__package__") or "").partition(".")[0] != "tqdm":  # a script has None
        return None
    return module["tqdm"] if any(function is module.get(name) for name in ("trange", "tnrange")) else None


def _tqdm(kind: type, /, *arguments: Any, **keywords: Any) -> Any:
    iterable, *rest = arguments or (keywords.get("iterable"),)
    rows = _rows(iterable)
    if rows is None and (iterable is not None or not jax_private.tracing()):
        return kind(*arguments, **keywords)
    keywords.pop("iterable", None)
    return Progress(rows, functools.partial(kind, iterable), functools.partial(_tqdm_bar, kind), rest, keywords)


def _tqdm_bar(kind: type, length: int | None, *arguments: Any, **keywords: Any) -> progress_bars.Bar:
    return progress_bars.TqdmBar(kind, None if length is None else range(length), *arguments, **keywords)


def _trange(kind: type, *bounds: Any, **keywords: Any) -> Any:
    return _tqdm(kind, iterables.range_(*bounds), **keywords)


def _track(track: Function, /, *arguments: Any, **keywords: Any) -> Any:
    sequence, *rest = arguments or (keywords.get("sequence"),)
    rows = _rows(sequence)
    if rows is None:
        return track(*arguments, **keywords)
    keywords.pop("sequence", None)
    return Progress(rows, functools.partial(track, sequence), progress_bars.RichBar, rest, keywords)


def _rows(iterable: Any) -> View | None:
    return iterables.view(iterable) if jax_private.tracing() or isinstance(iterable, View) else None


def _write(method: Function, *values: Any, **options: Any) -> None:
    """`tqdm.write(text)`: at run time inside a staged block, or where the text holds traced values."""
    if state.traces() or any(map(is_traced, jax.tree.leaves(values))):
        printing.at_run_time(lambda known: method(*map(plain, known), **options), values)
    else:
        method(*values, **options)


class Progress(View):
    """A bar around a view, or one that is moved by hand: `with tqdm(total=n) as bar: ... bar.update(1)`."""

    __next__ = None  # pyright: ignore - as a real bar: iterable, and no iterator

    def __init__(
        self, rows: View | None, python: Function, make: Function, arguments: Sequence[Any], keywords: dict[str, Any]
    ) -> None:
        self._rows = rows
        self._python = functools.partial(python, *arguments, **keywords)
        self._real: Any = None  # the bar itself, where Python runs the loop
        self._said: tuple[tuple[str, Any], ...] = ()
        self._standing = Standing(functools.partial(_made, make, rows), (list(arguments), keywords))
        self._silent = keywords.get("disable") is True
        if rows is None:
            self._open(state.traces()[-1].inputs if state.traces() else ())
        else:
            self.length, self.arrays = rows.length, rows.arrays
            self.traced, self.traced_arrays = rows.traced, rows.traced_arrays

    # A loop over it

    def sources(self) -> tuple[Any, ...]:
        return self._rows.sources() if self._rows is not None else ()

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        assert self._rows is not None
        self._standing.begin_turn()
        return self._rows.element(index, slices)

    def begin(self, blocks: tuple[Function, ...]) -> None:
        assert self._rows is not None
        self._rows.begin(blocks)
        self._open(list(cells_of(blocks).values()))

    def give_up(self) -> None:
        assert self._rows is not None
        self._rows.give_up()
        self._standing.give_up()

    def turn_over(self) -> None:
        assert self._rows is not None
        self._rows.turn_over()
        self._standing.advance(1)

    def _open(self, places: Sequence[Place]) -> None:
        """Open it at run time, when what is computed before is known, and each time that the loop around comes here."""
        if not self._silent:
            length = self._rows.length if self._rows is not None and is_traced(self._rows.length) else 0
            self._standing.enter(length, after=[place.read() for place in places])

    def end(self, exit: Any) -> None:
        """Close it. A turn that has left the loop does not count, as it does not in Python."""
        assert self._rows is not None
        self._rows.end(exit)
        left = exit._where(_is_exit) if isinstance(exit, Choice) else _is_exit(exit)
        self._standing.leave(without=left)

    def advance(self, taken: int) -> None:
        assert self._rows is not None
        self._rows.advance(taken)

    def __iter__(self) -> Iterator[Any]:
        """Python's own loop, over the real bar."""
        self._real = self._python()
        for name, value in self._said:
            getattr(self._real, name)(value)
        return iter(self._real)

    # What a user does with it

    def set_postfix(self, ordered_dict: Any = None, refresh: bool = True, **values: Any) -> None:
        postfix = OrderedDict(ordered_dict or {})
        postfix.update((name, values[name]) for name in sorted(values))
        self._say("set_postfix", postfix)

    def set_postfix_str(self, s: Any = "", refresh: bool = True) -> None:
        self._say("set_postfix_str", s)

    def set_description(self, desc: Any = None, refresh: bool = True) -> None:
        self._say("set_description", desc or "")

    def set_description_str(self, desc: Any = None, refresh: bool = True) -> None:
        self._say("set_description_str", desc or "")

    def _say(self, method: str, value: Any) -> None:
        if self._real is not None:
            getattr(self._real, method)(value)
        else:
            self._said = (*self._said, (method, value))
            self._standing.say(method, value)

    def update(self, n: Any = 1) -> None:
        if self._real is not None:
            self._real.update(n)
        else:
            self._standing.advance(n)

    @property
    def n(self) -> Any:
        return self._real.n if self._real is not None else self._standing.reached

    def write(self, *values: Any, **options: Any) -> None:
        _write(sys.modules["tqdm.std"].tqdm.write, *values, **options)

    def refresh(self, *_: Any, **__: Any) -> None:
        """The clock does it."""

    def close(self) -> None:
        if self._real is not None:
            self._real.close()
        elif self._rows is None:
            self._standing.leave()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        real = self.__dict__.get("_real")
        if real is None:
            raise AttributeError(f"the bar of a compiled loop has no attribute {name!r}")
        return getattr(real, name)


def _made(make: Function, rows: View | None, length: Any, options: Any) -> progress_bars.Bar:
    """At run time: the real bar."""
    arguments, keywords = options
    number = None if rows is None else int(length) if is_traced(rows.length) else rows.length
    return make(number, *map(plain, arguments), **{name: plain(value) for name, value in keywords.items()})


def _is_exit(value: Any) -> bool:
    return value is not None
