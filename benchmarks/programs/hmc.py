"""Hamiltonian Monte Carlo on a normal distribution: a leapfrog in a chain, and an `if` that takes a proposal."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program

STEP, LEAPS = 0.15, 10


def chain(q, precision, momenta, logarithms):
    samples = jnp.zeros_like(momenta)
    for i in range(momenta.shape[0]):
        p, new = momenta[i], q
        energy = 0.5 * (p @ p + q @ (precision @ q))
        p = p - 0.5 * STEP * (precision @ new)
        for _ in range(LEAPS):
            new = new + STEP * p
            p = p - STEP * (precision @ new)
        p = p + 0.5 * STEP * (precision @ new)
        if logarithms[i] < energy - 0.5 * (p @ p + new @ (precision @ new)):
            q = new
        samples[i] = q
    return samples


def chain_lax(q, precision, momenta, logarithms):
    def sample(q, given):
        p, logarithm = given
        energy = 0.5 * (p @ p + q @ (precision @ q))

        def leap(_, state):
            new, p = state
            new = new + STEP * p
            return new, p - STEP * (precision @ new)

        new, p = lax.fori_loop(0, LEAPS, leap, (q, p - 0.5 * STEP * (precision @ q)))
        p = p + 0.5 * STEP * (precision @ new)
        taken = logarithm < energy - 0.5 * (p @ p + new @ (precision @ new))
        q = jnp.where(taken, new, q)
        return q, q

    return lax.scan(sample, q, (momenta, logarithms))[1]


def chain_literal(q, precision, momenta, logarithms):
    samples = np.zeros_like(momenta)
    for i in range(momenta.shape[0]):
        p, new = momenta[i], q
        energy = 0.5 * (p @ p + q @ (precision @ q))
        p = p - 0.5 * STEP * (precision @ new)
        for _ in range(LEAPS):
            new = new + STEP * p
            p = p - STEP * (precision @ new)
        p = p + 0.5 * STEP * (precision @ new)
        if logarithms[i] < energy - 0.5 * (p @ p + new @ (precision @ new)):
            q = new
        samples[i] = q
    return samples


def distribution(n, dimensions=5):
    random = np.random.default_rng(2)
    root = random.normal(size=(dimensions, dimensions))
    precision = np.eye(dimensions) + 0.1 * root @ root.T
    return np.zeros(dimensions), precision, random.normal(size=(n, dimensions)), np.log(random.random(n))


PROGRAM = Program("HMC", chain, chain_lax, chain_literal, distribution, 500)
