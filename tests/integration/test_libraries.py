"""Programs with other people's libraries inside: each gives what the same program gives that is written with lax by hand.

A row is a program as its user writes it, the same by hand, and arguments. What is written with Python control flow must need
conversion: plain `jax.jit` refuses it.
"""

import importlib
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax

pytestmark = pytest.mark.filterwarnings("ignore")  # what libraries say about each other is none of our business

Function = Callable[..., Any]


class Program(NamedTuple):
    written: Function
    by_hand: Function
    arguments: tuple[Any, ...]
    jit: Function = jax.jit
    tolerance: float = 1e-4


def library(name: str) -> Any:
    """A library, or a skip with the reason that it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(name)
        return importlib.import_module(name)


def optax(autograph: Function) -> Program:
    """A dict of parameters and an optimizer's state as loop state."""
    optimizer = library("optax").adam(1e-1)
    apply = library("optax").apply_updates
    inputs = jax.random.normal(jax.random.key(0), (64, 3))
    targets = inputs @ jnp.array([1.0, -2.0, 0.5]) + 0.3

    def loss_of(params):
        return jnp.mean((inputs @ params["w"] + params["b"] - targets) ** 2)

    @autograph
    def fit(params, tolerance):
        state = optimizer.init(params)
        loss = loss_of(params)
        steps = 0
        while loss > tolerance and steps < 500:
            updates, state = optimizer.update(jax.grad(loss_of)(params), state, params)
            params = apply(params, updates)
            loss = loss_of(params)
            steps += 1
        return params, steps

    def by_hand(params, tolerance):
        def step(carry):
            params, state, steps = carry
            updates, state = optimizer.update(jax.grad(loss_of)(params), state, params)
            return apply(params, updates), state, steps + 1

        def going(carry):
            return (loss_of(carry[0]) > tolerance) & (carry[2] < 500)

        params, _, steps = jax.lax.while_loop(going, step, (params, optimizer.init(params), 0))
        return params, steps

    return Program(fit, by_hand, ({"w": jnp.zeros(3), "b": jnp.zeros(())}, jnp.float32(1e-2)), tolerance=1e-3)


def equinox(autograph: Function) -> Program:
    """A module's method: a static loop over layers, then one of a traced bound that is left early."""
    eqx = library("equinox")

    class Net(eqx.Module):
        layers: tuple
        cell: Any
        limit: float = eqx.field(static=True)

        def __init__(self, key):
            first, second, third = jax.random.split(key, 3)
            self.layers = (eqx.nn.Linear(4, 4, key=first), eqx.nn.Linear(4, 4, key=second))
            self.cell = eqx.nn.Linear(4, 4, key=third)
            self.limit = 4.0

        @autograph
        def __call__(self, x, n):
            for layer in self.layers:
                x = jnp.tanh(layer(x))
            for _ in range(n):
                x = x + 0.5 * jnp.abs(self.cell(x))
                if jnp.sum(x) > self.limit:
                    break
            return x

    def by_hand(net, x, n):
        for layer in net.layers:
            x = jnp.tanh(layer(x))

        def turn(carry):
            i, x = carry
            return i + 1, x + 0.5 * jnp.abs(net.cell(x))

        def going(carry):
            return (carry[0] < n) & ((carry[0] == 0) | (jnp.sum(carry[1]) <= net.limit))

        return jax.lax.while_loop(going, turn, (0, x))[1]

    return Program(lambda net, x, n: net(x, n), by_hand, (Net(jax.random.key(0)), jnp.ones(4), 20), eqx.filter_jit)


def flax_nnx(autograph: Function) -> Program:
    """A module that changes a variable of its own in a loop, and decides by it afterwards."""
    nnx = library("flax.nnx")

    class Cell(nnx.Module):
        def __init__(self):
            self.linear = nnx.Linear(4, 4, rngs=nnx.Rngs(0))
            self.count = nnx.Variable(jnp.zeros((), jnp.int32))

        @autograph
        def __call__(self, x, tolerance):
            while jnp.linalg.norm(x) > tolerance:
                x = 0.5 * jnp.tanh(self.linear(x))
                self.count[...] += 1
            if self.count[...] > 2:
                x = 2 * x
            return x

    def written(cell, x, tolerance):
        return cell(x, tolerance), cell.count[...]

    def by_hand(cell, x, tolerance):
        def turn(carry):
            return 0.5 * jnp.tanh(cell.linear(carry[0])), carry[1] + 1

        x, count = jax.lax.while_loop(lambda carry: jnp.linalg.norm(carry[0]) > tolerance, turn, (x, cell.count[...]))
        return jnp.where(count > 2, 2 * x, x), count

    return Program(written, by_hand, (Cell(), 3 * jnp.ones(4), jnp.float32(0.05)), nnx.jit)


def diffrax(autograph: Function) -> Program:
    """A solve in each branch of an if, and one that is repeated until it is good enough."""
    dfx = library("diffrax")

    def solve(y, rate, tolerance):
        term, steps = dfx.ODETerm(lambda t, y, rate: -rate * y), dfx.PIDController(rtol=tolerance, atol=1e-6)
        return dfx.diffeqsolve(term, dfx.Tsit5(), 0.0, 1.0, 0.1, y, args=rate, stepsize_controller=steps).ys[-1]

    @autograph
    def decay(y, rate, stiff):
        if stiff > 0.5:
            y = solve(y, 10 * rate, 1e-5)
        else:
            y = solve(y, rate, 1e-3)
        times = 0
        while jnp.max(y) > 0.1:
            y = solve(y, rate, 1e-3)
            times += 1
        return y, times

    def by_hand(y, rate, stiff):
        y = jax.lax.cond(stiff > 0.5, lambda y: solve(y, 10 * rate, 1e-5), lambda y: solve(y, rate, 1e-3), y)
        again = lambda carry: (solve(carry[0], rate, 1e-3), carry[1] + 1)
        return jax.lax.while_loop(lambda carry: jnp.max(carry[0]) > 0.1, again, (y, 0))

    return Program(decay, by_hand, (jnp.ones(3), jnp.float32(1.0), jnp.float32(0.0)), tolerance=1e-3)


def optimistix(autograph: Function) -> Program:
    """A root to be found in every step of implicit Euler, with an early return."""
    optx = library("optimistix")
    newton = optx.Newton(rtol=1e-6, atol=1e-6)

    @jax.jit
    def step(y, h):
        return optx.root_find(lambda z, _: z - y + h * z**3, newton, y, max_steps=50).value

    @autograph
    def euler(y, h, n):
        for _ in range(n):
            y = step(y, h)
            if jnp.all(jnp.abs(y) < 0.2):
                return y
        return y

    def by_hand(y, h, n):
        def going(carry):
            return (carry[0] < n) & ((carry[0] == 0) | ~jnp.all(jnp.abs(carry[1]) < 0.2))

        return jax.lax.while_loop(going, lambda carry: (carry[0] + 1, step(carry[1], h)), (0, y))[1]

    return Program(euler, by_hand, (jnp.array([1.0, 0.5]), jnp.float32(0.5), 40))


def blackjax(autograph: Function) -> Program:
    """A chain: a loop over keys, whose states are appended to a list."""
    sampler = library("blackjax").hmc(
        lambda x: -0.5 * jnp.sum(x**2), step_size=1.6, inverse_mass_matrix=jnp.ones(2), num_integration_steps=5
    )

    @autograph
    def chain(start, keys):
        state = sampler.init(start)
        positions = []
        accepted = 0
        for key in keys:
            state, info = sampler.step(key, state)
            positions.append(state.position)
            if info.is_accepted:
                accepted += 1
        return jnp.stack(positions), accepted

    def by_hand(start, keys):
        def turn(carry, key):
            state, info = sampler.step(key, carry[0])
            return (state, carry[1] + info.is_accepted), state.position

        (_, accepted), positions = jax.lax.scan(turn, (sampler.init(start), 0), keys)
        return positions, accepted

    return Program(chain, by_hand, (jnp.zeros(2), jax.random.split(jax.random.key(1), 12)))


def jaxopt(autograph: Function) -> Program:
    """A solver moved by hand: a field of its state is in the loop's test."""
    solver = library("jaxopt").LBFGS(lambda w, A, b: 0.5 * jnp.mean((A @ w - b) ** 2), maxiter=100, linesearch="zoom")
    matrix = jax.random.normal(jax.random.key(0), (20, 3))

    @autograph
    def solve(w, A, b, tolerance):
        w, state = solver.update(w, solver.init_state(w, A, b), A, b)
        while state.error > tolerance and state.iter_num < 100:
            w, state = solver.update(w, state, A, b)
        return w

    def by_hand(w, A, b, tolerance):
        start = solver.update(w, solver.init_state(w, A, b), A, b)
        going = lambda carry: (carry[1].error > tolerance) & (carry[1].iter_num < 100)
        return jax.lax.while_loop(going, lambda carry: solver.update(*carry, A, b), start)[0]

    return Program(solve, by_hand, (jnp.zeros(3), matrix, matrix @ jnp.arange(3.0), jnp.float32(1e-2)), tolerance=1e-2)


def lineax(autograph: Function) -> Program:
    """`while True` with a return; an operator is made anew in every turn."""
    lx = library("lineax")

    def equations(x):
        return jnp.array([x[0] ** 2 + x[1] - 3.0, x[0] - x[1] ** 2 + 1.0])

    def newton_step(x):
        jacobian = lx.MatrixLinearOperator(jax.jacfwd(equations)(x))
        return x - lx.linear_solve(jacobian, equations(x), solver=lx.LU()).value

    @autograph
    def root(x, tolerance):
        steps = 0
        while True:
            if jnp.linalg.norm(equations(x)) < tolerance:
                return x, steps
            x = newton_step(x)
            steps += 1

    def by_hand(x, tolerance):
        going = lambda carry: jnp.linalg.norm(equations(carry[0])) >= tolerance
        return jax.lax.while_loop(going, lambda carry: (newton_step(carry[0]), carry[1] + 1), (x, 0))

    return Program(root, by_hand, (jnp.array([2.0, 2.0]), jnp.float32(1e-5)))


def einops(autograph: Function) -> Program:
    """Shapes that change inside of a turn and are restored at its end."""
    rearrange, reduce = library("einops").rearrange, library("einops").reduce
    split, joined = "(h a) (w b) -> h w (a b)", "h w (a b) -> (h a) (w b)"

    @autograph
    def sort_blocks(x, n):
        for _ in range(n):
            x = rearrange(jnp.sort(rearrange(x, split, a=2, b=2)), joined, a=2, b=2)
            if reduce(x, "h w -> ", "max") > 0.9:
                x = 0.9 * x
        return x

    def by_hand(x, n):
        def turn(_, x):
            x = rearrange(jnp.sort(rearrange(x, split, a=2, b=2)), joined, a=2, b=2)
            return jnp.where(x.max() > 0.9, 0.9 * x, x)

        return jax.lax.fori_loop(0, n, turn, x)

    return Program(sort_blocks, by_hand, (jax.random.uniform(jax.random.key(0), (8, 8)), 5))


def jaxtyping_and_beartype(autograph: Function) -> Program:
    """A type checker above and below the decorator, and around a helper that is converted on the way."""
    jaxtyping, beartype = library("jaxtyping"), library("beartype").beartype
    checked = jaxtyping.jaxtyped(typechecker=beartype)
    matrix, vector, number = (jaxtyping.Float[jax.Array, shape] for shape in ("n d", "d", ""))
    count = jaxtyping.Int[jax.Array, ""]

    @checked
    @autograph
    def total(x: matrix, k: count, *, scale: float = 0.5) -> vector:
        sums: vector = jnp.zeros(x.shape[1])
        for i in range(k):
            if jnp.any(x[i] > 1.0):
                continue
            sums += scale * x[i]
        return sums

    @beartype
    def halved(v: vector) -> vector:
        if jnp.max(v) > 0:
            return v / 2
        return v

    @autograph
    @checked
    def size(v: vector) -> number:
        if jnp.sum(v) > 0:
            return jnp.sum(halved(v))
        return -jnp.sum(halved(v))

    def by_hand(x, k):
        add = lambda i, sums: jnp.where(jnp.any(x[i] > 1.0), sums, sums + 0.25 * x[i])
        sums = jax.lax.fori_loop(0, k, add, jnp.zeros(x.shape[1]))
        return jnp.abs(jnp.sum(jnp.where(jnp.max(sums) > 0, sums / 2, sums)))

    with pytest.raises(jaxtyping.TypeCheckError):
        size(jnp.zeros((2, 2)))
    arguments = jax.random.normal(jax.random.key(0), (10, 3)), jnp.int32(7)
    return Program(lambda x, k: size(total(x, k, scale=0.25)), by_hand, arguments)


def chex(autograph: Function) -> Program:
    """A frozen dataclass as loop state, static assertions in the body, a float that becomes traced."""
    chex = library("chex")

    @chex.dataclass(frozen=True)
    class State:
        x: Any
        t: Any

    @autograph
    def integrate(state, end):
        while state.t < end:
            chex.assert_shape(state.x, (3,))
            dt = 0.1
            if state.t + dt > end:
                dt = end - state.t
            state = state.replace(x=state.x * (1 - dt), t=state.t + dt)
        return state

    def by_hand(state, end):
        def turn(state):
            dt = jnp.where(state.t + 0.1 > end, end - state.t, 0.1)
            return state.replace(x=state.x * (1 - dt), t=state.t + dt)

        return jax.lax.while_loop(lambda state: state.t < end, turn, state)

    return Program(integrate, by_hand, (State(x=jnp.arange(3.0), t=jnp.float32(0.0)), jnp.float32(0.75)))


def distrax(autograph: Function) -> Program:
    """A distribution made anew in each turn; `not (a and b)` in the test."""
    normal = library("distrax").Normal

    @autograph
    def truncated(key, low, high):
        key, sub = jax.random.split(key)
        x = normal(0.0, 1.0).sample(seed=sub)
        tries = 1
        while not (x > low and x < high) and tries < 500:
            key, sub = jax.random.split(key)
            x = normal(0.0, 1.0 + 0.01 * tries).sample(seed=sub)
            tries += 1
        return x, tries

    def by_hand(key, low, high):
        key, sub = jax.random.split(key)

        def turn(carry):
            key, _, tries = carry
            key, sub = jax.random.split(key)
            return key, normal(0.0, 1.0 + 0.01 * tries).sample(seed=sub), tries + 1

        going = lambda carry: ~((carry[1] > low) & (carry[1] < high)) & (carry[2] < 500)
        return jax.lax.while_loop(going, turn, (key, normal(0.0, 1.0).sample(seed=sub), 1))[1:]

    return Program(truncated, by_hand, (jax.random.key(2), jnp.float32(0.9), jnp.float32(1.0)))


def numpyro(autograph: Function) -> Program:
    """Effect handlers in a `with` inside the loop."""
    numpyro, dist = library("numpyro"), library("numpyro.distributions")
    seed = library("numpyro.handlers").seed

    def model(mean):
        return numpyro.sample("y", dist.Normal(numpyro.sample("z", dist.Normal(mean, 1.0)), 0.1))

    @autograph
    def upper_sum(key, mean, n):
        total = 0.0
        for _ in range(n):
            key, sub = jax.random.split(key)
            with seed(rng_seed=sub):
                y = model(mean)
            if y > mean:
                total += y
        return total

    def by_hand(key, mean, n):
        def turn(_, carry):
            key, total = carry
            key, sub = jax.random.split(key)
            with seed(rng_seed=sub):
                y = model(mean)
            return key, jnp.where(y > mean, total + y, total)

        return jax.lax.fori_loop(0, n, turn, (key, 0.0))[1]

    return Program(upper_sum, by_hand, (jax.random.key(0), jnp.float32(0.3), 12))


def haiku(autograph: Function) -> Program:
    """A transformed function that is applied until it says halt."""
    hk = library("haiku")
    net = hk.without_apply_rng(hk.transform(lambda x: x + 0.3 * jnp.tanh(hk.nets.MLP([8, 4])(x))))

    @autograph
    def ponder(params, x):
        halt = 0.0
        steps = 0
        while halt < 1.0:
            x = net.apply(params, x)
            chance = jax.nn.sigmoid(x[0])
            halt += chance if chance > 0.05 else 0.05
            steps += 1
        return x, steps

    def by_hand(params, x):
        def turn(carry):
            x = net.apply(params, carry[0])
            return x, carry[1] + jnp.maximum(jax.nn.sigmoid(x[0]), 0.05), carry[2] + 1

        x, _, steps = jax.lax.while_loop(lambda carry: carry[1] < 1.0, turn, (x, 0.0, 0))
        return x, steps

    return Program(ponder, by_hand, (net.init(jax.random.key(0), -jnp.ones(4)), -jnp.ones(4)))


def jraph(autograph: Function) -> Program:
    """A namedtuple with fields of None as loop state; a break on `or`."""
    jraph = library("jraph")
    senders, receivers = jnp.array([0, 1, 2, 3, 0]), jnp.array([1, 2, 3, 0, 2])
    graph = jraph.GraphsTuple(
        nodes=jnp.arange(4.0)[:, None], edges=None, senders=senders, receivers=receivers, globals=None,
        n_node=jnp.array([4]), n_edge=jnp.array([5]),
    )  # fmt: skip

    def passed(graph):
        messages = jraph.segment_mean(graph.nodes[graph.senders], graph.receivers, graph.nodes.shape[0])
        return graph._replace(nodes=0.5 * graph.nodes + 0.5 * messages)

    @autograph
    def until_calm(graph, tolerance):
        rounds = 0
        while True:
            new = passed(graph)
            change = jnp.max(jnp.abs(new.nodes - graph.nodes))
            graph = new
            rounds += 1
            if change < tolerance or rounds >= 200:
                break
        return graph.nodes, rounds

    def by_hand(graph, tolerance):
        def turn(carry):
            new = passed(carry[0])
            return new, carry[1] + 1, jnp.max(jnp.abs(new.nodes - carry[0].nodes))

        going = lambda carry: (carry[2] >= tolerance) & (carry[1] < 200)
        graph, rounds, _ = jax.lax.while_loop(going, turn, (graph, 0, jnp.inf))
        return graph.nodes, rounds

    return Program(until_calm, by_hand, (graph, jnp.float32(1e-3)))


PROGRAMS = [
    optax, equinox, flax_nnx, diffrax, optimistix, blackjax, jaxopt, lineax, einops, jaxtyping_and_beartype, chex, distrax,
    numpyro, haiku, jraph,
]  # fmt: skip


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_gives_what_lax_by_hand_gives(make: Callable[[Function], Program]) -> None:
    def result(run: Callable[[Program], Function]) -> list[Any]:
        program = make(autograph_jax.autograph)  # anew each time: some change their arguments
        return jax.tree.leaves(run(program)(*program.arguments))

    tolerance = make(autograph_jax.autograph).tolerance
    expected = result(lambda program: program.jit(program.by_hand))
    for run in (lambda program: program.written, lambda program: program.jit(program.written)):
        for ours, theirs in zip(result(run), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_needs_conversion(make: Callable[[Function], Program]) -> None:
    program = make(lambda function: function)
    with pytest.raises((jax.errors.ConcretizationTypeError, TypeError)):
        program.jit(program.written)(*program.arguments)
