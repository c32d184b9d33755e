"""Blocks become jaxprs, and these lax.cond, lax.scan and lax.while_loop."""
