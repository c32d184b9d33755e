"""`python -m autograph_jax`: the command line."""

import sys

from autograph_jax.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
