"""Plain Python loops over all devices of all processes: conjugate gradients on a vector in pieces, and data-parallel training.

On the devices of this machine, and as two processes of which each has some:

    XLA_FLAGS=--xla_force_host_platform_device_count=8 python examples/distributed_cg.py
    XLA_FLAGS=--xla_force_host_platform_device_count=4 python examples/distributed_cg.py 127.0.0.1:12345 2 0 &
    XLA_FLAGS=--xla_force_host_platform_device_count=4 python examples/distributed_cg.py 127.0.0.1:12345 2 1

The functions are what one device does with its piece. Sums over the devices decide when a loop ends, so that all end together.
"""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import autograph_jax as ag

AXIS = "devices"


def laplacian(x):
    """The second differences of a vector in pieces, with zeros beyond its ends: a device needs an element of each neighbour."""
    count = lax.axis_size(AXIS)
    left = lax.ppermute(x[-1:], AXIS, [(k, k + 1) for k in range(count - 1)])
    right = lax.ppermute(x[:1], AXIS, [(k + 1, k) for k in range(count - 1)])
    padded = jnp.concatenate([left, x, right])
    return 2 * x - padded[:-2] - padded[2:]


def dot(x, y):
    return lax.psum(x @ y, AXIS)


def conjugate_gradients(b, tolerance=1e-5, most=1000):
    """Solve (1 + laplacian) x = b by the method of Hestenes and Stiefel (1952): x, and the number of turns."""
    x = 0 * b
    r = p = b
    rr = dot(r, r)
    turns = 0
    for _ in range(most):
        if rr <= tolerance**2:
            break
        q = p + laplacian(p)
        step = rr / dot(p, q)
        x = x + step * p
        r = r - step * q
        before, rr = rr, dot(r, r)
        p = r + rr / before * p
        turns += 1
    return x, turns


def loss(weights, inputs, outputs):
    """Huber's mean error of a linear model, of the samples that this device has."""
    total = 0.0
    for x, y in zip(inputs, outputs, strict=True):
        error = abs(x @ weights - y)
        if error < 1:
            total += error * error / 2
        else:
            total += error - 0.5
    return lax.pmean(total / len(outputs), AXIS)


def train(weights, inputs, outputs, tolerance=1e-3, most=200):
    """Gradient descent that halves its step until the loss falls: the weights, the loss, and the number of turns.

    All devices have the same weights. So a gradient by them is the sum over all devices, and nobody has to say so.
    """
    value, gradient = ag.value_and_grad(loss)(weights, inputs, outputs)
    turns = 0
    while gradient @ gradient > tolerance**2 and turns < most:
        step = 1.0
        new = weights - step * gradient
        while loss(new, inputs, outputs) > value - step / 2 * (gradient @ gradient):
            step = step / 2
            new = weights - step * gradient
        weights = new
        value, gradient = ag.value_and_grad(loss)(weights, inputs, outputs)
        turns += 1
    return weights, value, turns


def run():
    """Both on all devices there are: numbers that every process comes to know."""
    mesh = jax.make_mesh((jax.device_count(),), (AXIS,), axis_types=(jax.sharding.AxisType.Auto,))
    pieces, whole = jax.P(AXIS), jax.P()

    def sharded(array):
        return jax.make_array_from_callback(array.shape, jax.NamedSharding(mesh, pieces), lambda index: array[index])

    solve = ag.shard_map(conjugate_gradients, mesh=mesh, in_specs={"b": pieces}, out_specs=(pieces, whole))
    b = sharded(np.cos(np.arange(64, dtype=np.float32) ** 2))
    x, turns = jax.jit(solve)(b)

    def checked(x, b):
        return lax.pmax(jnp.max(abs(x + laplacian(x) - b)), AXIS), dot(x, x)

    check = ag.shard_map(checked, mesh=mesh, in_specs=pieces, out_specs=whole)
    residual, squares = jax.jit(check)(x, b)

    random = np.random.default_rng(0)
    inputs = random.normal(size=(128, 3)).astype(np.float32)
    outputs = inputs @ np.array([1, -2, 3], np.float32) + random.standard_t(2, size=128).astype(np.float32)
    fit = ag.shard_map(train, mesh=mesh, in_specs={"inputs": pieces, "outputs": pieces}, out_specs=whole)
    weights, error, epochs = jax.jit(fit)(jnp.zeros(3), sharded(inputs), sharded(outputs))
    return {
        "devices": jax.device_count(),
        "processes": jax.process_count(),
        "turns of conjugate gradients": int(turns),
        "residual": float(residual),
        "squares of the solution": float(squares),
        "turns of training": int(epochs),
        "weights": np.asarray(weights).tolist(),
        "loss": float(error),
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        address, count, number = sys.argv[1:]
        jax.distributed.initialize(address, int(count), int(number), initialization_timeout=60)
    print(json.dumps(run()))
