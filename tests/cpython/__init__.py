"""Foreign judges: CPython's own tests, run on converted code. `python -m tests.cpython` prints the table of README.md."""
