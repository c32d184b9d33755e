"""Progress bars in compiled loops: they show what a bar in Python shows in the end, and the loops compute what they compute."""

import functools
import io
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console
from rich.progress import track
from tqdm import tqdm, trange
from tqdm.auto import tqdm as tqdm_auto
from tqdm.auto import trange as trange_auto

import autograph_jax as ag
from autograph_jax import autograph
from autograph_jax.operators.effects import progress_bars

screen = io.StringIO()
bar = functools.partial(tqdm, file=screen, mininterval=0)


def clear() -> None:
    screen.seek(0)
    screen.truncate()


@pytest.fixture(autouse=True)
def _nothing_stays_open() -> Iterator[None]:
    clear()
    tqdm._instances.clear()
    yield
    jax.effects_barrier()
    assert progress_bars.open_bars() == 0
    assert len(tqdm._instances) == 0


def bars() -> list[str]:
    """The last state of each bar that was shown."""
    jax.effects_barrier()
    return [line.split("\r")[-1].rstrip() for line in screen.getvalue().split("\n") if line.strip()]


def counts() -> list[str]:
    return [re.findall(r"\d+/\d+|\d+it", line)[0] for line in bars()]


# ------------------------------------------------------------------ what bars show in the end


@autograph
def over_range(x, n):
    for _ in bar(range(n)):
        x = x + 0.1 * jnp.sin(x)
    return x


@autograph
def bounds(x, n):
    for i in bar(range(2, n, 3)):
        x = x + 0.1 * i
    return x


@autograph
def left_by_break(x, n):
    for _ in bar(range(n)):
        x = x + 0.5
        if x > 3:
            break
    return x


@autograph
def left_by_return(x, n):
    for i in bar(range(n)):
        x = x + 0.5
        if x > 3:
            return x + i
    return x


@autograph
def continued_with_else(x, n):
    for i in bar(range(n)):
        if x * i > 4:
            continue
        x = x + 0.5
    else:
        x = -x
    return x


@autograph
def held_by_a_variable(x, n):
    loop = bar(range(n), desc="fit")
    for _ in loop:
        x = x + 0.5
    return x


@autograph
def in_a_with(x, n):
    with bar(range(n)) as loop:
        for i in loop:
            x = x + i
    return x


@autograph
def enumerated(x, n):
    for k, i in enumerate(bar(range(n)), start=1):
        x = x + k * i
    return x


@autograph
def over_rows(x, n):
    for row in bar(jnp.arange(12.0).reshape(6, 2) * x):
        x = x + row.sum() + n
    return x


@autograph
def zipped(x, n):
    for a, b in zip(bar(x * jnp.arange(5.0)), x * jnp.arange(9.0), strict=False):
        x = x + a * b
    return x


@autograph
def of_trange(x, n):
    for _ in trange(n, file=screen):
        x = x + 0.5
    return x


@autograph
def of_trange_auto(x, n):
    for _ in trange_auto(1, n, file=screen):
        x = x + 0.5
    return x


@autograph
def of_auto(x, n):
    for _ in tqdm_auto(range(n), file=screen):
        x = x + 0.5
    return x


@autograph
def named_arguments(x, n):
    for _ in tqdm(iterable=range(n), total=2 * n, desc=f"{n} turns", file=screen):
        x = x + 0.5
    return x


@autograph
def positional_arguments(x, n):
    for _ in tqdm(range(n), "fit", None, True, screen):
        x = x + 0.5
    return x


@autograph
def moved_by_hand(x, n):
    i = 0
    with bar(total=n) as loop:
        while i < n:
            x = x + 0.5
            i += 2
            loop.update(2)
    return x


@autograph
def closed_by_hand(x, n):
    loop = bar(total=n)
    while x < n:
        x = x + 1
        if x > 3:
            loop.update(1)
    loop.close()
    return x + loop.n


@autograph
def two_in_a_row(x, n):
    for _ in bar(range(n)):
        x = x + 0.5
    for _ in bar(range(n + 2)):
        x = x + 0.5
    return x


@autograph
def one_in_another(x, n):
    for _ in range(n):
        for _ in bar(range(3)):
            x = x + 0.5 * jnp.sin(x)
    return x


PROGRAMS = [
    over_range, bounds, left_by_break, left_by_return, continued_with_else, held_by_a_variable, in_a_with, enumerated,
    over_rows, zipped, of_trange, of_trange_auto, of_auto, named_arguments, positional_arguments, moved_by_hand,
    closed_by_hand, two_in_a_row, one_in_another,
]  # fmt: skip


@pytest.mark.parametrize("n", [8, 1, 0])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_ends_as_in_python(program: Callable[..., Any], n: int) -> None:
    expected = program(1.0, n)
    shown, states = counts(), [line.partition(":")[0] for line in bars()]
    jitted = jax.jit(program)
    for _ in range(2):  # the second time nothing is traced
        clear()
        assert np.allclose(jitted(1.0, n), expected)
        assert counts() == shown
        assert [line.partition(":")[0] for line in bars()] == states


STATIC = [over_range, left_by_break, continued_with_else, held_by_a_variable, of_trange, one_in_another]


@pytest.mark.parametrize("program", STATIC, ids=lambda program: program.__name__)
def test_static_bounds(program: Callable[..., Any]) -> None:
    expected = program(1.0, 8)
    shown = counts()
    clear()
    assert np.allclose(jax.jit(program, static_argnums=1)(1.0, 8), expected)
    assert counts() == shown


# ------------------------------------------------------------------ transformations


def alone(x: Any, n: int) -> Any:
    for _ in range(n):
        x = x + 0.1 * jnp.sin(x)
    return x


def fixed(function: Callable[..., Any], n: int) -> Callable[[Any], Any]:
    return lambda x: function(x, n)


TRANSFORMATIONS: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "vmap": lambda f: jax.vmap(fixed(f, 20))(jnp.arange(3.0)),
    "jit vmap": lambda f: jax.jit(jax.vmap(fixed(f, 20)))(jnp.arange(3.0)),
    "vmap vmap": lambda f: jax.vmap(jax.vmap(fixed(f, 20)))(jnp.arange(4.0).reshape(2, 2)),
    "jit grad": lambda f: jax.jit(jax.grad(fixed(f, 20)))(1.0),
    "jit grad checkpoint": lambda f: jax.jit(jax.grad(jax.checkpoint(fixed(f, 20))))(1.0),
    "jit vmap grad": lambda f: jax.jit(jax.vmap(jax.grad(fixed(f, 20))))(jnp.arange(3.0)),
    "jit hessian": lambda f: jax.jit(jax.hessian(fixed(f, 20)))(1.0),
    "jit jacrev": lambda f: jax.jit(jax.jacrev(fixed(f, 20)))(1.0),
    "jvp of jit": lambda f: jax.jvp(jax.jit(fixed(f, 20)), (1.0,), (1.0,))[1],
    "linearize": lambda f: jax.linearize(jax.jit(fixed(f, 20)), 1.0)[1](1.0),
    "in lax.map": lambda f: jax.jit(lambda xs: jax.lax.map(fixed(f, 20), xs))(jnp.arange(3.0)),
    "in lax.cond": lambda f: jax.jit(lambda x: jax.lax.cond(x > 0, fixed(f, 20), lambda x: x, x))(1.0),
}


@pytest.mark.parametrize("way", TRANSFORMATIONS)
def test_transformed(way: str) -> None:
    apply = TRANSFORMATIONS[way]
    assert np.allclose(apply(over_range), apply(alone), rtol=1e-5)
    # What jax.checkpoint computes again has a bar of its own, which may take the place of the first.
    assert set(counts()) == {"20/20"} or "checkpoint" in way and counts()[-1] == "20/20"


def test_lanes_of_different_lengths_share_a_bar():
    values = jax.vmap(over_range, in_axes=(None, 0))(1.0, jnp.array([3, 7, 5]))
    assert np.allclose(values, [alone(1.0, n) for n in (3, 7, 5)])
    assert counts() == ["7/7"]


def test_each_run_of_the_loop_around_opens_a_bar_also_under_grad():
    def several(x):
        return jax.lax.fori_loop(0, 4, lambda _, x: one_in_another(x, 1), x)

    jax.jit(several)(1.0)
    assert counts() == ["3/3"] * 4
    clear()
    jax.jit(jax.grad(several))(1.0)
    assert counts() == ["3/3"] * 4


def test_a_branch_that_is_not_taken_opens_no_bar():
    @autograph
    def sometimes(x):
        if x > 0:
            for _ in bar(range(5)):
                x = x + jnp.sin(x)
        return x

    jax.jit(sometimes)(-1.0)
    jax.vmap(sometimes)(-jnp.ones(3))
    assert bars() == []
    jax.vmap(sometimes)(jnp.arange(3.0))
    assert counts() == ["5/5"]


def output_of(code: str, folder: Path) -> list[str]:
    """The words that a program of its own prints; a file, since its functions are converted."""
    file = folder / "program.py"
    file.write_text(code)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_several_devices(tmp_path):
    """The number of devices is set before JAX starts."""
    code = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import io, jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
from tqdm import tqdm
from autograph_jax import autograph
from autograph_jax.operators.effects import progress_bars
screen = io.StringIO()
@autograph
def f(x):
    for _ in tqdm(range(20), file=screen):
        x = x + jnp.sin(x)
    return x
mesh = jax.make_mesh((2,), ("i",))
x = jax.device_put(jnp.arange(4.0), NamedSharding(mesh, P("i")))
for function in (f, jax.shard_map(f, mesh=mesh, in_specs=P("i"), out_specs=P("i"))):
    y = jax.jit(function)(x)
    jax.effects_barrier()
    print(jnp.round(y).tolist(), progress_bars.open_bars(), "20/20" in screen.getvalue())
"""
    assert output_of(code, tmp_path) == ["[0.0,", "3.0,", "3.0,", "3.0]", "0", "True"] * 2


# ------------------------------------------------------------------ what a bar says


@autograph
def with_postfix(x, n):
    loop = bar(range(n))
    for i in loop:
        x = x + 0.25
        loop.set_postfix(x=x, i=i, kind="plain")
        if x > 3:
            break
    return x


@autograph
def with_ordered_postfix(x, n):
    loop = bar(range(n))
    for i in loop:
        x = x + 0.25
        loop.set_postfix({"z": x, "a": i})
    return x


@autograph
def with_description(x, n):
    loop = bar(range(n))
    loop.set_description("before")
    for i in loop:
        x = x + 0.25
        loop.set_description(f"step {i:03d}, x = {x:.2f}")
    return x


@autograph
def with_texts(x, n):
    loop = bar(range(n))
    for i in loop:
        x = x + 0.25
        loop.set_description_str("going")
        loop.set_postfix_str(f"x is {x:.1f}")
    return x


@autograph
def in_branches(x, n):
    loop = bar(range(n))
    for i in loop:
        x = x + 0.25
        if x > 2:
            loop.set_postfix(large=x)
        elif x > 1.5:
            loop.set_postfix(middle=x, at=i)
    return x


@autograph
def only_before(x, n):
    loop = bar(range(n), desc="fit")
    loop.set_postfix(rate=0.1)
    for _ in loop:
        x = x + 0.25
    return x


@autograph
def said_by_hand(x, n):
    with bar(total=n) as loop:
        while x < n:
            x = x + 1
            loop.update()
            loop.set_postfix(x=x)
    return x


@autograph
def in_every_turn_and_in_a_branch(x, n):
    loop = bar(range(n))
    for i in loop:
        x = x + 0.25
        loop.set_postfix(x=x)
        if i == 4:
            loop.set_postfix(fifth=x)
            loop.set_description("fifth")
        if i < n - 2:
            continue
        loop.set_description("last")
    return x


@autograph
def left_in_its_first_turn(x, n):
    loop = bar(range(n))
    for i in loop:
        loop.set_postfix(x=x)
        if x > 0:
            break
        loop.set_description("on")
        x = x + i
    return x


@autograph
def without_a_turn(x, n):
    loop = bar(range(n - n))
    for _ in loop:
        x = x + 0.25
        loop.set_postfix(x=x)
    return x


@autograph
def of_two_loops(x, n):
    outer = bar(range(n))
    for _ in outer:
        inner = bar(range(2))
        for j in inner:
            x = x + 0.25
            inner.set_postfix(x=x)
            outer.set_description(f"at {j}")
        outer.set_postfix(x=x)
    return x


def without_speed(line: str) -> str:
    return re.sub(r"\[[^,]*,[^,\]]*", "[", line)


SAYING = [
    with_postfix, with_ordered_postfix, with_description, with_texts, in_branches, only_before, said_by_hand,
    in_every_turn_and_in_a_branch, left_in_its_first_turn, without_a_turn,
]  # fmt: skip


@pytest.mark.parametrize("n", [12, 5])
@pytest.mark.parametrize("program", SAYING, ids=lambda program: program.__name__)
def test_says_in_the_end_what_it_says_in_python(program: Callable[..., Any], n: int) -> None:
    expected = program(1.0, n)
    shown = [without_speed(line) for line in bars()]
    clear()
    assert np.allclose(jax.jit(program)(1.0, n), expected)
    assert [without_speed(line) for line in bars()] == shown


def test_a_bar_that_an_inner_loop_describes():
    jax.jit(of_two_loops)(1.0, 5)
    last = [without_speed(line) for line in bars() if "5/5" in line][-1]
    assert last.startswith("at 1: 100%") and "x=3.5]" in last


def test_under_vmap_it_speaks_of_the_first_lane():
    jax.vmap(with_postfix, in_axes=(0, None))(jnp.array([1.0, 100.0]), 4)
    assert "x=2]" in bars()[0]


def test_lines_above_the_bar():
    @autograph
    def f(x):
        loop = bar(range(3))
        for i in loop:
            x = x + 1.0
            loop.write(f"x = {x}", file=screen)
            tqdm.write("turn", file=screen)
        return x

    jax.jit(f)(0.0)
    texts = [line for line in bars() if "/" not in line]
    assert texts == ["x = 1.0", "turn", "x = 2.0", "turn", "x = 3.0", "turn"]


def test_around_an_enumerate_it_knows_the_number_of_turns():
    @autograph
    def f(x, n):
        for k, i in bar(enumerate(range(n))):
            x = x + k * i
        return x

    assert jax.jit(f)(0.0, 5) == 30
    assert counts() == ["5/5"]


def test_its_count_can_be_read():
    @autograph
    def f(x, n):
        loop = bar(range(n))
        for _ in loop:
            x = x + loop.n
        return x

    assert jax.jit(f)(0.0, 5) == 0 + 1 + 2 + 3 + 4


def test_what_a_compiled_bar_has_not():
    @autograph
    def f(x, n):
        loop = bar(range(n))
        for _ in loop:
            x = x + loop.format_dict["rate"]
        return x

    with pytest.raises(AttributeError, match="compiled loop has no attribute 'format_dict'"):
        jax.jit(f)(0.0, 5)


# ------------------------------------------------------------------ which bars, and when


class Counted(tqdm):
    """A user's own bar, which counts what is asked of it."""

    moves = 0

    def update(self, n: Any = 1) -> Any:
        type(self).moves += 1
        return super().update(n)


def test_few_turns_report():
    @autograph
    def f(x, n):
        for _ in Counted(range(n), file=screen):
            x = x + 1.0
        return x

    assert jax.jit(f)(0.0, 20_000) == 20_000
    assert counts() == ["20000/20000"] and Counted.moves < 2_000


@pytest.mark.parametrize("disable", [True, 1, None])
def test_disabled(disable: Any) -> None:
    @autograph
    def f(x, n):
        for _ in tqdm(range(n), file=screen, disable=disable):  # None: unless it is a terminal
            x = x + 1.0
        return x

    assert jax.jit(f)(0.0, 300) == 300
    assert bars() == []


def test_outside_of_tracing_there_is_the_real_bar():
    @autograph
    def f(x):
        loop = bar(range(3))
        for _ in loop:
            x = x + 1
        return x, type(loop)

    assert f(0) == (3, tqdm)
    assert jax.grad(lambda x: f(x)[0])(1.0) == 1 and counts() == ["3/3", "3/3"]


def test_a_loop_that_python_runs_shows_the_real_bar_while_it_is_traced():
    @autograph
    def f(x):
        total = 0
        loop = bar(range(4))
        loop.set_description("sum")
        for i in loop:
            total += i
            loop.set_postfix(total=total)
        for name in bar(["a", "b"]):
            total += len(name)
        return x * total

    assert jax.jit(f)(1.0) == 8
    assert counts() == ["4/4", "2/2"] and bars()[0].startswith("sum: ") and "total=6" in bars()[0]
    clear()
    assert jax.vmap(f)(jnp.ones(2)).tolist() == [8, 8]
    assert counts() == ["4/4", "2/2"]


def test_a_function_of_the_users_with_the_name():
    def tqdm(values):
        return [value + 1 for value in values]

    @autograph
    def f(x):
        for i in tqdm([1, 2]):
            x = x + i
        return x

    assert jax.jit(f)(0.0) == 5


def test_rich_track():
    @autograph
    def f(x, n):
        for i in track(range(n), "working", console=Console(file=screen)):
            x = x + i
        return x

    assert f(0.0, 5) == 10 and jax.jit(f)(0.0, 5) == 10
    lines = bars()
    assert len(lines) == 2 and all(line.startswith("working ") and "100%" in line for line in lines)


def test_rich_track_with_options():
    @autograph
    def f(x, n):
        for i in track(sequence=range(n), description="", total=10, disable=True):
            x = x + i
        for i in track(range(n), description=f"{n} steps", total=2 * n, console=Console(file=screen)):
            x = x + i
        return x

    assert jax.jit(f)(0.0, 5) == 20
    assert bars()[0].startswith("5 steps ") and "50%" in bars()[0]


def test_a_loop_that_raises_closes_its_bar():
    @autograph
    def f(x, n):
        for _ in bar(range(n)):
            x = x - 1
            assert x > 0, "too far"
        return x

    with pytest.raises(AssertionError, match="too far"):
        ag.jit(f)(3.0, 10)
    assert progress_bars.open_bars() == 0
    assert ag.jit(f)(11.0, 10) == 1
    assert counts()[-1] == "10/10"


def test_a_bar_left_open_is_closed_by_the_next_run():
    fail = [True]

    def sometimes(x):
        if fail[0]:
            raise ValueError("not today")
        return x

    @autograph
    def f(x, n):
        for _ in bar(range(n)):
            x = jax.pure_callback(sometimes, jax.ShapeDtypeStruct((), x.dtype), x)
        return x

    jitted = jax.jit(f)
    with pytest.raises(jax.errors.JaxRuntimeError):
        jax.block_until_ready(jitted(jnp.float32(1), 5))
    fail[0] = False
    assert jitted(jnp.float32(1), 5) == 1
    assert counts()[-1] == "5/5"


def test_the_package_imports_neither(tmp_path):
    code = """
import sys, jax
from autograph_jax import autograph
@autograph
def f(x, n):
    for i in range(n):
        x = x + i
    return x
jax.jit(f)(1.0, 3)
print(any(name in sys.modules for name in ("tqdm", "rich")))
"""
    assert output_of(code, tmp_path) == ["False"]
