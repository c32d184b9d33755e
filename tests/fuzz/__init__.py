"""Random programs, run as plain Python with NumPy, then converted in every way, and compared: `python -m tests.fuzz`."""
