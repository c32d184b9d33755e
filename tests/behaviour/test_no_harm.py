"""What plain jax.jit accepts, it accepts converted, with the same arrays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .harness import TABLES, load, unharmed


@pytest.mark.parametrize("name", TABLES)
def test_no_harm(name: str, record_property: Callable[[str, object], None]) -> None:
    table = load(name)
    accepted = [row.name for row in table.rows if row.calls and unharmed(row)]
    record_property("unharmed", (name, len(accepted)))
    print(f"{name}: plain jax.jit accepts {len(accepted)} of {len(table.rows)} rows: {', '.join(accepted)}")
    assert accepted, "no row is accepted by plain jax.jit: this test proves nothing"
