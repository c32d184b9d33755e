"""A Kalman filter that follows a point in the plane: four numbers of state, two measured, one inverse a turn."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def track(move, noise, sees, blur, measured):
    x = jnp.zeros(4)
    p = jnp.eye(4)
    means = jnp.zeros((measured.shape[0], 4))
    for t in range(measured.shape[0]):
        x = move @ x
        p = move @ p @ move.T + noise
        gain = p @ sees.T @ jnp.linalg.inv(sees @ p @ sees.T + blur)
        x = x + gain @ (measured[t] - sees @ x)
        p = p - gain @ sees @ p
        means[t] = x
    return means


def track_lax(move, noise, sees, blur, measured):
    def update(carry, seen):
        x, p = carry
        x = move @ x
        p = move @ p @ move.T + noise
        gain = p @ sees.T @ jnp.linalg.inv(sees @ p @ sees.T + blur)
        x = x + gain @ (seen - sees @ x)
        return (x, p - gain @ sees @ p), x

    return lax.scan(update, (jnp.zeros(4), jnp.eye(4)), measured)[1]


def track_literal(move, noise, sees, blur, measured):
    x = np.zeros(4)
    p = np.eye(4)
    means = np.zeros((measured.shape[0], 4))
    across, seen_across = np.ascontiguousarray(move.T), np.ascontiguousarray(sees.T)
    for t in range(measured.shape[0]):
        x = move @ x
        p = move @ p @ across + noise
        gain = p @ seen_across @ np.linalg.inv(sees @ p @ seen_across + blur)
        x = x + gain @ (measured[t] - sees @ x)
        p = p - gain @ sees @ p
        means[t] = x
    return means


def flight(n):
    move = np.eye(4) + 0.1 * np.eye(4, k=2)
    walk = np.cumsum(np.random.default_rng(5).normal(size=(n, 2)), axis=0)
    return move, 0.01 * np.eye(4), np.eye(2, 4), 0.5 * np.eye(2), walk


PROGRAM = Program("Kalman filter", track, track_lax, track_literal, flight, 300)
