"""Loops that differentiate forward and in reverse, without a bound on their number of turns."""
