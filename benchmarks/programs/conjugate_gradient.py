"""Conjugate gradients for a symmetric system, until the residual is small or the turns are used up."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def solve(matrix, right):
    x = jnp.zeros_like(right)
    residual = right
    direction = residual
    square = residual @ residual
    turns = 0
    while square > 1e-20 and turns < 1000:
        image = matrix @ direction
        length = square / (direction @ image)
        x = x + length * direction
        residual = residual - length * image
        new = residual @ residual
        direction = residual + new / square * direction
        square = new
        turns += 1
    return x


def solve_lax(matrix, right):
    def going(carry):
        return (carry[3] > 1e-20) & (carry[4] < 1000)

    def turn(carry):
        x, residual, direction, square, turns = carry
        image = matrix @ direction
        length = square / (direction @ image)
        residual = residual - length * image
        new = residual @ residual
        return x + length * direction, residual, residual + new / square * direction, new, turns + 1

    return lax.while_loop(going, turn, (jnp.zeros_like(right), right, right, right @ right, 0))[0]


def solve_literal(matrix, right):
    x = np.zeros_like(right)
    residual = right
    direction = residual
    square = residual @ residual
    turns = 0
    while square > 1e-20 and turns < 1000:
        image = matrix @ direction
        length = square / (direction @ image)
        x = x + length * direction
        residual = residual - length * image
        new = residual @ residual
        direction = residual + new / square * direction
        square = new
        turns += 1
    return x


def system(n):
    random = np.random.default_rng(3)
    root = random.normal(size=(n, n))
    return root @ root.T / n + np.eye(n), random.normal(size=n)


PROGRAM = Program("conjugate gradient", solve, solve_lax, solve_literal, system, 100)
