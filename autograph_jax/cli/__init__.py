"""The command line. Nothing here imports jax before a command needs it."""
