"""Programs a user would write, and what each must give in plain Python, converted, under jit, vmap and grad."""
