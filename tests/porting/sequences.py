"""Random sequences of views, writes and reads, which run on NumPy's arrays and on ours alike."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

DTYPES = ("f8", "f8", "f8", "f4", "i8", "i4", "c16", "?")
TOO_LARGE = 1e6  # integers would overflow soon, and casts of large floats to them are undefined
LIVE = 6


class Step(NamedTuple):
    name: str
    seed: int


class Start(NamedTuple):
    shape: tuple[int, ...]
    dtype: str
    order: str
    traced: bool

    def values(self) -> np.ndarray:
        numbers = np.arange(np.prod(self.shape, dtype=int)) * 7 % 11 - 4
        return np.array(numbers.reshape(self.shape).astype(self.dtype), order=self.order)


class World:
    """The live arrays of one side, and how that side spells a traced number."""

    def __init__(self, arrays: list[Any], traced: Callable[[Any], Any]) -> None:
        self.live, self.traced = arrays, traced

    def take(self, step: Step) -> Any:
        """Runs a step: what it returned, or the class of its error."""
        choices = random.Random(step.seed)
        array = self.live[choices.randrange(len(self.live))]
        try:
            found = STEPS[step.name](array, choices, self)
        except (ValueError, TypeError, IndexError) as error:
            return error
        for made in found if isinstance(found, (list, tuple)) else [found]:
            if getattr(made, "ndim", 0) and 0 < made.size <= 64 and not np.isscalar(made) and hasattr(made, "flat"):
                self.live.append(made)
        del self.live[:-LIVE]
        return None if found is None or isinstance(found, (list, tuple)) else found

    def other(self, array: Any, choices: random.Random) -> Any:
        """A number, an array of the same shape, a row of it, or any live array."""
        options = [other for other in self.live if other.shape == array.shape] + [choices.choice(self.live)]
        kind = choices.randrange(5)
        if kind == 0:
            return choices.choice([2, -1, 0.5, 3.0, True])
        if kind == 1:
            return self.traced(choices.choice([2, -1, 0.5, 3.0]))
        if kind == 2:
            return np.arange(array.shape[-1]) - 1 if array.ndim else 2
        return choices.choice(options)


# ------------------------------------------------------------------ keys


def basic(array: Any, choices: random.Random, world: World) -> tuple[Any, ...]:
    parts: list[Any] = []
    for size in array.shape[: choices.randint(0, array.ndim)]:
        kind = choices.randrange(6)
        if kind < 2 and size:
            index = choices.randrange(-size, size)
            parts.append(world.traced(index) if kind else index)
        else:
            start, stop = choices.choice([None, 0, 1, -2]), choices.choice([None, 2, -1, 5])
            parts.append(slice(start, stop, choices.choice([None, 1, 2, -1])))
    if choices.random() < 0.2:
        parts.insert(choices.randint(0, len(parts)), None)
    if choices.random() < 0.2:
        parts.append(...)
    return tuple(parts)


def advanced(array: Any, choices: random.Random, world: World) -> Any:
    kind = choices.randrange(4)
    if kind == 0:
        return np.arange(array.size).reshape(array.shape) % 3 == choices.randrange(3)
    places = np.array([choices.randrange(-array.shape[0], array.shape[0]) for _ in range(3)])
    if kind == 1:
        return world.traced(places)
    if kind == 2 and array.ndim > 1:
        return slice(None), np.array([choices.randrange(array.shape[1]) for _ in range(2)])
    return [int(place) for place in places]


def any_key(array: Any, choices: random.Random, world: World) -> Any:
    return (basic if choices.random() < 0.6 else advanced)(array, choices, world)


def shape_of_size(array: Any, choices: random.Random) -> tuple[int, ...]:
    size, shape = array.size, []
    while size > 1 and len(shape) < 3:
        factor = choices.choice([n for n in range(1, size + 1) if size % n == 0])
        shape.append(factor)
        size //= factor
    return (*shape, -1) if choices.random() < 0.5 or size > 1 else tuple(shape)


# ------------------------------------------------------------------ steps

Action = Callable[[Any, random.Random, World], Any]
STEPS: dict[str, Action] = {}


def step(action: Action) -> Action:
    STEPS[action.__name__] = action
    return action


def axis_of(array: Any, choices: random.Random) -> int:
    return choices.randrange(-array.ndim, array.ndim) if array.ndim else 0


MOVES: dict[str, Action] = {
    "T": lambda a, c, w: a.T,
    "swapaxes": lambda a, c, w: np.swapaxes(a, axis_of(a, c), axis_of(a, c)),
    "moveaxis": lambda a, c, w: np.moveaxis(a, axis_of(a, c), axis_of(a, c)),
    "reshape": lambda a, c, w: a.reshape(shape_of_size(a, c), order=c.choice("CFA")),
    "np.reshape": lambda a, c, w: np.reshape(a, shape_of_size(a, c)),
    "ravel": lambda a, c, w: a.ravel(c.choice("CFAK")),
    "diagonal": lambda a, c, w: a.diagonal(c.choice([0, 1, -1])),
    "flip": lambda a, c, w: np.flip(a, axis_of(a, c)),
    "squeeze": lambda a, c, w: np.squeeze(a),
    "expand_dims": lambda a, c, w: np.expand_dims(a, axis_of(a, c)),
    "real": lambda a, c, w: a.real,
    "imag": lambda a, c, w: a.imag,
    "atleast_2d": lambda a, c, w: np.atleast_2d(a),
    "split": lambda a, c, w: np.array_split(a, 2, axis_of(a, c)),
    "broadcast_to": lambda a, c, w: np.broadcast_to(a, (2, *a.shape)),
    "rot90": lambda a, c, w: np.rot90(a),
    "flatten": lambda a, c, w: a.flatten(c.choice("CF")),
    "copy": lambda a, c, w: a.copy(c.choice("CFK")),
    "astype": lambda a, c, w: a.astype(c.choice(["f8", "f4", "c16", "?"]), copy=c.random() < 0.5),
    "take": lambda a, c, w: np.take(a, [0, -1], axis=axis_of(a, c), mode="wrap"),
}
ARITHMETIC: dict[str, Action] = {
    "add": lambda a, c, w: a + w.other(a, c),
    "radd": lambda a, c, w: w.other(a, c) - a,
    "multiply": lambda a, c, w: a * w.other(a, c),
    "divide": lambda a, c, w: a / 2,
    "floor_divide": lambda a, c, w: a // 2,
    "remainder": lambda a, c, w: 5 % (abs(a) + 2),
    "power": lambda a, c, w: a**2,
    "negative": lambda a, c, w: -a,
    "sqrt": lambda a, c, w: np.sqrt(abs(a)),
    "less": lambda a, c, w: a < w.other(a, c),
    "equal": lambda a, c, w: a == w.other(a, c),
    "maximum": lambda a, c, w: np.maximum(a.real, 1),
    "where": lambda a, c, w: np.where(a.real > 0, a, w.other(a, c)),
    "sum": lambda a, c, w: a.sum(axis=c.choice([None, axis_of(a, c)]), keepdims=c.random() < 0.3),
    "max": lambda a, c, w: np.max(a.real, axis=axis_of(a, c)),
    "mean": lambda a, c, w: np.mean(a, axis=axis_of(a, c)),
    "cumsum": lambda a, c, w: np.cumsum(a, axis=c.choice([None, axis_of(a, c)])),
    "reduce": lambda a, c, w: np.add.reduce(a, axis=axis_of(a, c)),
    "accumulate": lambda a, c, w: np.maximum.accumulate(a.real, axis=axis_of(a, c)),
    "outer": lambda a, c, w: np.multiply.outer(a.ravel()[:3], a.ravel()[:3]),
    "matmul": lambda a, c, w: a.reshape(-1) @ a.reshape(-1),
    "dot": lambda a, c, w: np.dot(a, a.T),
    "concatenate": lambda a, c, w: np.concatenate([a, a]),
    "zeros_like": lambda a, c, w: np.zeros_like(a),
    "argmax": lambda a, c, w: a.real.argmax(),
    "sorted": lambda a, c, w: np.sort(a.real, axis=axis_of(a, c)),
    "len": lambda a, c, w: len(a),
    "flags": lambda a, c, w: a.flags.c_contiguous + 2 * a.flags.f_contiguous + 4 * a.flags.writeable,
}
STEPS |= MOVES | ARITHMETIC


@step
def view(array: Any, choices: random.Random, world: World) -> Any:
    return array[basic(array, choices, world)]


@step
def gather(array: Any, choices: random.Random, world: World) -> Any:
    return array[advanced(array, choices, world)]


@step
def store(array: Any, choices: random.Random, world: World) -> None:
    array[any_key(array, choices, world)] = world.other(array, choices)


@step
def store_mask(array: Any, choices: random.Random, world: World) -> None:
    array[array.real > choices.randint(-3, 3)] = choices.choice([1, world.traced(2)])


@step
def overlap(array: Any, choices: random.Random, world: World) -> None:
    array[1:] = array[:-1]


@step
def store_sum(array: Any, choices: random.Random, world: World) -> None:
    array[any_key(array, choices, world)] += choices.choice([1, world.traced(2)])


@step
def in_place(array: Any, choices: random.Random, world: World) -> None:
    operator = choices.choice(["__iadd__", "__isub__", "__imul__"])
    getattr(array, operator)(world.other(array, choices))


@step
def divide_in_place(array: Any, choices: random.Random, world: World) -> None:
    array /= 2


@step
def out(array: Any, choices: random.Random, world: World) -> None:
    np.add(array, world.other(array, choices), out=array)


@step
def out_where(array: Any, choices: random.Random, world: World) -> None:
    np.multiply(array, 2, out=array, where=array.real > 0)


@step
def out_of_function(array: Any, choices: random.Random, world: World) -> None:
    np.cumsum(array, axis=0, out=array)


@step
def copyto(array: Any, choices: random.Random, world: World) -> None:
    np.copyto(array, world.other(array, choices), casting="unsafe")


@step
def fill(array: Any, choices: random.Random, world: World) -> None:
    array.fill(world.traced(choices.randint(0, 1)))


@step
def sort(array: Any, choices: random.Random, world: World) -> None:
    array.sort(axis_of(array, choices))


@step
def flat(array: Any, choices: random.Random, world: World) -> None:
    array.flat[choices.choice([slice(None, None, 2), 0, -1])] = choices.choice([3, world.traced(1)])


@step
def at(array: Any, choices: random.Random, world: World) -> None:
    ufunc = choices.choice([np.add, np.subtract, np.multiply])
    ufunc.at(array, world.traced(np.array([0, 0, -1])), choices.choice([2, world.traced(1)]))


@step
def fill_diagonal(array: Any, choices: random.Random, world: World) -> None:
    np.fill_diagonal(array, 2)


@step
def real_part(array: Any, choices: random.Random, world: World) -> None:
    array.real = 2


@step
def imaginary_part(array: Any, choices: random.Random, world: World) -> None:
    array.imag = 2
