"""Programs as people write them, each in its own file: the Python, an expert's lax, and the loops in NumPy."""
