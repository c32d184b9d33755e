"""What a test asks of the platform that it runs on."""

import os

import pytest

needs_cpu = pytest.mark.skipif(os.environ["JAX_PLATFORMS"] != "cpu", reason="looks at what loops are compiled to on CPUs")
