"""NumPy's and Python's numerics on JAX values."""
