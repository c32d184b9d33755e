"""What every test shares: JAX on the CPU, hypothesis profiles, and JAX's settings put back afterwards."""

import importlib.metadata
import linecache
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # before jax is imported; JAX_PLATFORMS=cuda,cpu make test overrides it
# Compiled code is run once or twice and thrown away: a quarter of the time is saved, where this XLA has these flags.
if os.environ["JAX_PLATFORMS"] == "cpu" and importlib.metadata.version("jaxlib").startswith("0.10."):
    _QUICKLY = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true --xla_cpu_use_fusion_emitters=false"
    os.environ.setdefault("XLA_FLAGS", _QUICKLY)

import hypothesis
import jax
import pytest

from autograph_jax.operators.effects import ended
from autograph_jax.operators.tracing import state

hypothesis.settings.register_profile(
    "quick",
    deadline=None,  # the first example of a program compiles it
    derandomize=True,  # the same programs in every run, so that a failure is there for everybody
    max_examples=50,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],  # compiling is slow, not wrong
)
hypothesis.settings.register_profile("nightly", hypothesis.settings.get_profile("quick"), derandomize=False, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# A worker of pytest-xdist is started by `python -c`, and Python 3.13 keeps that text as the lines of every "<string>".
linecache.cache.pop("<string>", None)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Docstrings are tested in the package. A module beside the tests would be imported once more for them, by another name."""
    in_tests = Path(__file__).parent in collection_path.parents and collection_path.suffix == ".py"
    return True if in_tests and not collection_path.name.startswith(("test_", "conftest")) else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", default="1/1", metavar="K/N", help="run the K-th of N parts of the tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part, parts = map(int, config.getoption("--part").split("/"))
    mine: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        (mine if zlib.crc32(item.nodeid.encode()) % parts == part % parts else others).append(item)
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = mine


@pytest.fixture(autouse=os.environ["JAX_PLATFORMS"] != "cpu")
def no_errors_of_other_tests() -> Iterator[None]:
    """On a GPU, what a callback has raised stays in JAX's tokens, and later programs raise it again (jax-ml/jax#37587)."""
    yield
    from jax._src import dispatch

    try:
        jax.effects_barrier()
    except jax.errors.JaxRuntimeError:
        dispatch.runtime_tokens.clear()


@pytest.fixture
def x64() -> Iterator[None]:
    """The test runs with 64-bit types, as SciPy's users expect them."""
    with jax.enable_x64(True):
        yield


@pytest.fixture
def unoptimized(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops are compiled as lax's are."""
    monkeypatch.setenv("AUTOGRAPH_JAX_OPTIMIZE", "0")


@pytest.fixture(autouse=True)
def _x64_is_left_as_found() -> Iterator[None]:
    """A test that sets jax_enable_x64 for good would change the types in the tests after it."""
    before = jax.config.jax_enable_x64
    yield
    after = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", before)
    assert after == before, "the test left jax_enable_x64 changed; use the x64 fixture"


@pytest.fixture(autouse=True)
def _nothing_of_a_trace_is_left() -> Iterator[None]:
    """What is noted while a program is traced would change the programs after it: their loops would make no turn."""
    yield
    left = [*state.traces(), *state.attempts()], ended.has_failed()
    assert left == ([], False), f"the test left {left}"


_tests_since = 0  # JAX's caches were last emptied. Module state of a worker.


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """JAX keeps what it has compiled, about 1 MB a test. After each file it would compile the same small things again."""
    global _tests_since
    _tests_since += 1
    if _tests_since >= 500 and (nextitem is None or nextitem.path != item.path):
        jax.clear_caches()
        _tests_since = 0
