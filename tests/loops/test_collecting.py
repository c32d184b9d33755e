"""The garbage collector's settings while a program is traced, and after it."""

import gc
from collections.abc import Callable, Iterator

import jax
import pytest

import autograph_jax as ag
from autograph_jax.loops import collecting

seen: list[tuple[int, int, int]] = []


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    before = gc.get_threshold()
    seen.clear()
    yield
    gc.set_threshold(*before)


@ag.do_not_convert
def look() -> None:
    seen.append(gc.get_threshold())


@ag.autograph
def halved(x: float) -> float:
    while x > 1:
        look()
        x = x / 2
    return x


def fails(x: float) -> float:
    while x > 1:
        raise LookupError
    return x


# the settings of a user's, those while a loop is traced, and those after it
SETTINGS = {
    "as they are": ((700, 10, 10), (20_000, 20, 100), (700, 10, 10)),
    "less often": ((50_000, 30, 10), (50_000, 30, 100), (50_000, 30, 10)),
    "never": ((0, 10, 10), (0, 10, 10), (0, 10, 10)),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_it_runs_less_often_while_a_loop_is_traced(name: str):
    own, meanwhile, after = SETTINGS[name]
    gc.set_threshold(*own)
    assert jax.jit(lambda x: halved(x))(8.0) == 1  # a function of its own, which nothing has been kept of
    assert set(seen) == {meanwhile} and gc.get_threshold() == after


def test_what_is_set_meanwhile_stays():
    with collecting.seldom():
        gc.set_threshold(900, 10, 10)
    assert gc.get_threshold() == (900, 10, 10)


@pytest.mark.parametrize("port", [ag.port, ag.autograph])
def test_after_an_error_the_settings_are_as_they_were(port: Callable[..., Callable[[float], float]], x64: None):
    gc.set_threshold(700, 10, 10)
    with pytest.raises(LookupError):
        jax.block_until_ready(ag.jit(port(fails))(2.0))
    assert gc.get_threshold() == (700, 10, 10)
