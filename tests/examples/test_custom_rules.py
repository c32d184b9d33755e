"""The examples with derivative rules: each rule against finite differences, eagerly, compiled and vmapped."""

import importlib.util
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ROWS = {
    "kepler": ("fixed_point", "kepler", (1.0, 0.3), 1e-3),
    "kepler, far out": ("fixed_point", "kepler", (2.5, 0.8), 1e-3),
    "pendulum": ("odeint", "pendulum", (0.5, 1.0, 2.0), 1e-3),
    "pendulum, back in time": ("odeint", "pendulum", (0.5, 1.3, -1.0), 1e-3),
    "expit": ("logit", "expit", (0.7,), 1e-6),
    "expit, negative": ("logit", "expit", (-2.0,), 1e-6),
    "logit": ("logit", "logit", (0.3,), 1e-6),
    "logit, near 1": ("logit", "logit", (0.99,), 1e-6),
}


@pytest.mark.parametrize("module, name, point, tolerance", ROWS.values(), ids=ROWS.keys())
def test_gradient(module, name, point, tolerance, x64):
    function = getattr(example(module), name)
    numbers = tuple(range(len(point)))
    wanted = [difference(jax.jit(function), point, n) for n in numbers]
    assert jax.grad(function, numbers)(*point) == pytest.approx(wanted, rel=tolerance)
    assert jax.jit(jax.grad(function, numbers))(*point) == pytest.approx(wanted, rel=tolerance)
    assert jax.grad(jax.jit(function), numbers)(*point) == pytest.approx(wanted, rel=tolerance)
    rows = [jnp.stack([jnp.asarray(x), jnp.asarray(x)]) for x in point]
    for slope, expected in zip(jax.vmap(jax.grad(function, numbers))(*rows), wanted, strict=True):
        assert slope == pytest.approx([expected, expected], rel=tolerance)
    total = jax.grad(lambda *rows: jax.vmap(function)(*rows).sum(), numbers)(*rows)
    for slope, expected in zip(total, wanted, strict=True):
        assert slope == pytest.approx([expected, expected], rel=tolerance)


def difference(function: Any, point: tuple[float, ...], number: int, step: float = 1e-4) -> float:
    def at(change: float) -> float:
        return float(function(*(x + change * (n == number) for n, x in enumerate(point))))

    return (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)


@pytest.mark.parametrize("module", ["fixed_point", "odeint", "logit"])
def test_prints(module, capsys):
    example(module).main()
    assert len(capsys.readouterr().out.splitlines()) >= 3


def test_far_from_zero_the_rule_keeps_its_digits():
    assert jax.grad(example("logit").expit)(-80.0) == pytest.approx(1.8e-35, rel=0.01)


def test_the_guess_has_no_influence():
    module = example("fixed_point")
    assert jax.grad(lambda guess: module.fixed_point(jnp.cos, guess))(1.0) == 0.0
