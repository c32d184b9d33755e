"""`@pytest.mark.parity`: a test passes if it gives as Python what it gives converted, compiled, mapped and differentiated.

pytest finds this file by the entry point `pytest11`. It imports nothing of JAX's before such a test runs.
"""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, for --markers and --strict-markers."""
    config.addinivalue_line(
        "markers",
        "parity(transforms=('jit', 'vmap', 'grad'), rtol=1e-5, atol=1e-6): run the test by autograph_jax.testing.check_parity, "
        "with its parameters and fixtures as the arguments, and compare what it returns",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a marked test; others are left to pytest."""
    marker = pyfuncitem.get_closest_marker("parity")
    if marker is None:
        return None
    from autograph_jax.testing import ParityError, check_parity

    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    difference = None
    try:
        check_parity(pyfuncitem.obj, (), given, **marker.kwargs)
    except ParityError as error:
        difference = error
    if difference is not None:  # told without our frames, and not as what happened while another error was handled
        pytest.fail(f"ParityError: {difference}", pytrace=False)
    return True
