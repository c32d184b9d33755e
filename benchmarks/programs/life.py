"""Conway's game of life on a torus."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def life(board, turns):
    for _ in range(turns):
        rows = jnp.roll(board, 1, 0) + board + jnp.roll(board, -1, 0)
        count = jnp.roll(rows, 1, 1) + rows + jnp.roll(rows, -1, 1) - board
        board = jnp.where((count == 3) | ((count == 2) & (board == 1)), 1, 0)
    return board


def life_lax(board, turns):
    def turn(_, board):
        rows = jnp.roll(board, 1, 0) + board + jnp.roll(board, -1, 0)
        count = jnp.roll(rows, 1, 1) + rows + jnp.roll(rows, -1, 1) - board
        return ((count == 3) | ((count == 2) & (board == 1))).astype(board.dtype)

    return lax.fori_loop(0, turns, turn, board)


def life_literal(board, turns):
    height, width = board.shape
    for _ in range(turns):
        new = np.zeros_like(board)
        for i in range(height):
            for j in range(width):
                count = 0
                for k in range(-1, 2):
                    for m in range(-1, 2):
                        if k != 0 or m != 0:
                            count += board[(i + k) % height, (j + m) % width]
                if count == 3 or (count == 2 and board[i, j] == 1):
                    new[i, j] = 1
        board = new
    return board


def life_numpy(board, turns):
    for _ in range(turns):
        rows = np.roll(board, 1, 0) + board + np.roll(board, -1, 0)
        count = np.roll(rows, 1, 1) + rows + np.roll(rows, -1, 1) - board
        board = np.where((count == 3) | ((count == 2) & (board == 1)), 1, 0)
    return board


def boards(n):
    return np.random.default_rng(6).integers(0, 2, (n, n)), 50


PROGRAM = Program("game of life", life, life_lax, life_literal, boards, 64, numpy=life_numpy, static=(1,), unrolls=True)
