"""`ag.grad` and its family, `ag.jvp`, `ag.vjp`, `ag.linearize`: the form of the result, what is passed on, what is refused."""

import functools
import inspect
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax.errors import ArgumentError
from tests.runtime.functions import seed


def loss(x, y, *, scale=1.0):
    """A function with a branch."""
    if x > 0:
        return scale * x * y**2
    return scale * y


def twice(x):
    return 2 * x


def numbers(result: Any) -> Any:
    return jax.tree.map(float, result)


X, Y = 2.0, 3.0  # loss = 18, by x 9, by y 12, by scale 18

# ------------------------------------------------------------------ the form of the result

FORMS = {
    "the first": ({}, 9),
    "a number": (dict(argnums=1), 12),
    "a name": (dict(argnames="y"), 12),
    "a name as argnums": (dict(argnums="y"), 12),
    "one number in a list": (dict(argnums=[1]), (12,)),
    "one name in a list": (dict(argnames=["y"]), {"y": 12}),
    "numbers": (dict(argnums=(1, 0)), (12, 9)),
    "negative numbers": (dict(argnums=(-1, -2)), (18, 12)),
    "names": (dict(argnames=("y", "scale")), {"y": 12, "scale": 18}),
    "names as argnums": (dict(argnums=("x", "y")), {"x": 9, "y": 12}),
    "numbers and names": (dict(argnums=1, argnames="x"), (12, 9)),
    "a name among numbers": (dict(argnums=(0, "scale")), (9, 18)),
    "names in both": (dict(argnums="x", argnames="y"), {"x": 9, "y": 12}),
    "a generator of names": (dict(argnames=iter("xy")), {"x": 9, "y": 12}),
    "an array of numbers": (dict(argnums=jnp.array([0, 1])), (9, 12)),
}


@pytest.mark.parametrize("spec, expected", FORMS.values(), ids=FORMS.keys())
def test_the_form_of_a_gradient(spec, expected):
    spec = {key: list(value) if hasattr(value, "__next__") else value for key, value in spec.items()}
    assert numbers(ag.grad(loss, **spec)(X, Y)) == expected
    assert numbers(ag.value_and_grad(loss, **spec)(X, y=Y)) == (18, expected)
    for jacobian in (ag.jacfwd, ag.jacrev):
        assert numbers(jacobian(lambda x, y, *, scale=1.0: {"out": loss(x, y, scale=scale)}, **spec)(X, Y)) == {"out": expected}
    out, back = ag.vjp(loss, X, Y, scale=1.0, **spec)
    assert (out, numbers(back(1.0))) == (18, expected) or spec == {}


def test_a_generator_is_read_once():
    assert numbers(ag.grad(loss, argnames=(name for name in "xy"))(X, Y)) == {"x": 9, "y": 12}


def test_a_hessian_by_names_is_a_dict_of_dicts():
    h = numbers(ag.hessian(loss, argnames=["x", "y"])(X, y=Y))
    assert h == {"x": {"x": 0, "y": 6}, "y": {"x": 6, "y": 4}}
    assert numbers(ag.hessian(loss, (0, "y"))(X, Y)) == ((0, 6), (6, 4))


def test_all_that_args_and_kwargs_take():
    def total(*values, **named):
        return sum(v**2 for v in values) + sum(v**3 for v in named.values())

    assert numbers(ag.grad(total, argnames="values")(1.0, 2.0)) == (2, 4)
    assert numbers(ag.grad(total, argnames=["named", "values"])(1.0, a=2.0)) == {"values": (2,), "named": {"a": 12}}
    assert numbers(ag.grad(total, (1, "a"))(1.0, 2.0, 3.0, b=5.0, a=2.0)) == (4, 12)


def test_arguments_that_are_trees():
    def f(params, *, rate):
        return rate * params["w"] ** 2 + params["b"][0]

    gradient = ag.grad(f, argnames=["params", "rate"])({"w": 3.0, "b": [1.0]}, rate=2.0)
    assert numbers(gradient) == {"params": {"w": 12, "b": [1]}, "rate": 9}


def test_arguments_that_are_not_differentiated_may_be_anything():
    def f(x, method, *, options):
        return x**2 if method == "square" and options == {"a": None} else x

    assert ag.grad(f)(3.0, "square", options={"a": None}) == 6
    assert ag.hessian(f, "x")(options={"a": None}, method="square", x=3.0) == 2


def test_options_are_passed_on():
    f = ag.grad(lambda x: (x**2, {"x": x}), has_aux=True)
    assert numbers(f(3.0)) == (6, {"x": 3})
    assert numbers(ag.value_and_grad(lambda x: (x**2, "note"), has_aux=True)(3.0)[1]) == 6
    assert ag.grad(lambda z: z**2, holomorphic=True)(1j) == 2j
    assert ag.grad(lambda n: 2.0 * n, allow_int=True)(3).dtype == jax.dtypes.float0
    assert numbers(ag.jacfwd(lambda x, y: (x * y, x), argnames=["y"], has_aux=True)(2.0, y=3.0)) == ({"y": 2}, 2)


def test_the_result_is_a_function_like_the_users():
    f = ag.grad(loss, argnames="y")
    assert (f.__name__, f.__doc__, str(inspect.signature(f))) == ("loss", "A function with a branch.", "(x, y, *, scale=1.0)")
    with pytest.raises(TypeError, match=r"loss\(\) missing 1 required positional argument: 'y'"):
        f(1.0)  # pyright: ignore


def test_transforms_of_transforms():
    assert ag.grad(ag.grad(loss, argnames="y"), argnames="y")(X, y=Y) == 4
    assert ag.jit(ag.grad(loss, argnames=["scale"]))(X, Y, scale=2.0) == {"scale": 18}
    assert ag.vmap(ag.grad(loss, argnames="y"), {"y": 0})(X, y=jnp.array([3.0, 1.0])).tolist() == [12, 4]
    assert jax.grad(ag.jit(loss, static_argnames="scale"))(X, Y, scale=1.0) == 9
    assert ag.grad(jnp.sin)(0.0) == 1 and ag.grad(jax.jit(twice))(X) == 2
    assert ag.grad(functools.partial(loss, X), argnames="scale")(y=Y) == 18


def test_a_default_behind_other_transforms():
    for transformed in (ag.jit(loss), ag.checkpoint(ag.jit(loss)), functools.partial(ag.jit(loss), y=Y)):
        keywords = {} if isinstance(transformed, functools.partial) else {"y": Y}
        assert numbers(ag.grad(transformed, argnames=["scale"])(X, **keywords)) == {"scale": 18}
        assert numbers(ag.jvp(transformed, {"x": X, **keywords}, {"scale": 1.0})) == (18, 18)

    @ag.jit
    def total(x, axis=0):
        return x.sum(axis)

    assert ag.vmap(total)(jnp.ones((2, 3))).tolist() == [3, 3]  # the default stays a constant
    assert ag.vmap(jax.jit(lambda x, axis=0: x.sum(axis)))(jnp.ones((2, 3))).tolist() == [3, 3]
    assert ag.grad(lambda x: ag.vmap(total)(x).sum())(jnp.ones((2, 3))).shape == (2, 3)


def test_in_converted_code():
    @ag.autograph
    def step(x, y):
        while x > 1:
            x = x - 0.1 * ag.grad(loss, argnames="x")(x, y=y)
        return x

    assert abs(jax.jit(step)(2.0, 1.0) - 1) < 0.2


def test_in_a_class():
    class Model:
        weight = 2.0

        @ag.grad(argnames="x")
        def by_x(self, x, *, k=1.0):
            return k * self.weight * x**2

        @staticmethod
        @ag.grad
        def square(x):
            return x**2

        @ag.value_and_grad(argnames=["x"])
        @classmethod
        def both(cls, x):
            return cls.weight * x

    model = Model()
    assert model.by_x(3.0) == Model.by_x(model, x=3.0) == 12 and model.by_x(k=2.0, x=3.0) == 24
    assert model.square(3.0) == 6 and numbers(Model.both(x=3.0)) == (6, {"x": 2})


def test_a_raise_is_the_users_own():
    def checked(x):
        if x < 0:
            raise ValueError("negative")
        return x**2

    with pytest.raises(ValueError, match="^negative"):
        ag.grad(checked)(-1.0)
    with pytest.raises(ValueError, match="^negative"):
        jax.block_until_ready(ag.vmap(checked)(jnp.array([-1.0, 1.0])))


# ------------------------------------------------------------------ jvp, vjp, linearize

JVPS = {
    "tuples": (lambda: ag.jvp(loss, (X, Y), (1.0, 0.0)), 9),
    "lists": (lambda: ag.jvp(loss, [X, Y], [0.0, 1.0]), 12),
    "by name": (lambda: ag.jvp(loss, {"x": X, "y": Y}, {"x": 1.0, "y": 1.0}), 21),
    "some by name": (lambda: ag.jvp(loss, {"x": X, "y": Y, "scale": 1.0}, {"scale": 1.0}), 18),
    "further arguments": (lambda: ag.jvp(loss, (X,), (1.0,), y=Y), 9),
    "further arguments move": (lambda: ag.jvp(loss, (X,), {"x": 1.0, "y": 1.0}, y=Y), 21),
    "tangents by number": (lambda: ag.jvp(loss, (X, Y), {1: 1.0}), 12),
    "a default moves": (lambda: ag.jvp(loss, (X, Y), {"scale": 1.0}), 18),
}


@pytest.mark.parametrize("run, expected", JVPS.values(), ids=JVPS.keys())
def test_jvp(run, expected):
    assert numbers(run()) == (18, expected)


def test_vjp_of_all_that_is_passed():
    for out, back in (ag.vjp(loss, X, Y), ag.vjp(loss, X, y=Y), ag.vjp(loss, y=Y, x=X)):
        assert (out, numbers(back(1.0))) == (18, (9, 12))
    assert numbers(ag.vjp(loss, X, scale=1.0, y=Y)[1](2.0)) == (18, 24, 36)
    assert numbers(ag.vjp(lambda *xs: xs[0] * xs[1], 2.0, 3.0)[1](1.0)) == (3, 2)
    assert numbers(ag.vjp(lambda **xs: xs["a"] * xs["b"], b=2.0, a=3.0)[1](1.0)) == (3, 2)


def test_what_is_not_chosen_may_be_anything():
    def f(x, method, *, flag=None):
        return x**2 if method == "square" else x

    out, back = ag.vjp(f, 3.0, "square", argnames=["x"])
    assert (out, numbers(back(1.0))) == (9, {"x": 6})
    out, along = ag.linearize(f, 3.0, method="square", flag="f", argnums=0)
    assert (out, along(2.0)) == (9, 12)


def test_linearize_takes_tangents_by_position_and_by_name():
    out, along = ag.linearize(loss, X, y=Y, scale=1.0)
    assert out == 18
    assert along(1.0, 0.0, 0.0) == 9 and along(0.0, scale=1.0, y=1.0) == 30
    out, along = ag.linearize(loss, X, Y, argnames=["y", "x"])
    assert along(1.0, 0.0) == 12 == along(x=0.0, y=1.0)


def test_has_aux():
    def f(x, y):
        return x * y, {"x": x}

    assert numbers(ag.jvp(f, (2.0,), (1.0,), y=3.0, has_aux=True)) == (6, 3, {"x": 2})
    out, back, aux = ag.vjp(f, 2.0, y=3.0, has_aux=True)
    assert numbers((out, back(1.0), aux)) == (6, (3, 2), {"x": 2})
    out, along, aux = ag.linearize(f, 2.0, y=3.0, has_aux=True)
    assert numbers((out, along(1.0, 0.0), aux)) == (6, 3, {"x": 2})


def test_linear_maps_may_cross_a_trace():
    _, back = ag.vjp(loss, X, y=Y)
    assert numbers(jax.jit(lambda b: b(1.0))(back)) == (9, 12)
    _, along = ag.linearize(loss, X, y=Y)
    assert jax.jit(lambda f: f(1.0, y=0.0))(along) == 9


# ------------------------------------------------------------------ errors

WRONG = {
    "unknown": (dict(argnames="tool"), "`argnames='tool'`: `solve` has no parameter `tool`", "did you mean `tol`?"),
    "out of range": (dict(argnums=3), "`argnums=3`: `solve` has 3 parameters", "count from 0 to 2, or from -1 to -3"),
    "twice": (dict(argnums=(0, 0)), "`argnums=[0, 0]`: `x` of `solve` is meant twice", "give it once"),
    "number and name": (dict(argnums=0, argnames="x"), "`argnames='x'`: `x` of `solve` is meant twice", "give it once"),
    "none": (dict(argnums=()), "`argnums=[]`: this means no argument of `solve`", "leave `argnums` out"),
}
DIFFERENTIATING: dict[str, Any] = {
    **{f.__name__: f for f in (ag.grad, ag.value_and_grad, ag.jacfwd, ag.jacrev, ag.hessian)},
    "vjp": lambda f, **spec: ag.vjp(f, 1.0, **spec),
    "linearize": lambda f, **spec: ag.linearize(f, 1.0, **spec),
}


def solve(x, n=3.0, *, tol=1e-6):
    return x


@pytest.mark.parametrize("spec, what, help", WRONG.values(), ids=WRONG.keys())
@pytest.mark.parametrize("transform", DIFFERENTIATING.values(), ids=DIFFERENTIATING.keys())
def test_wrong_arguments_are_refused_at_once(transform, spec, what, help):
    with pytest.raises(ArgumentError) as caught:
        transform(solve, **spec)
    assert (caught.value.what, caught.value.help) == (what, help)
    assert caught.value.location is not None and caught.value.location.filename == __file__


def test_an_argument_that_the_call_does_not_pass():
    gradient = ag.grad(lambda x, **more: x * more.get("k", 1.0), argnames="k")
    assert gradient(2.0, k=3.0) == 2
    with pytest.raises(ArgumentError, match="`k` of `<lambda>` is differentiated by, and this call does not pass it"):
        gradient(2.0)
    with pytest.raises(ArgumentError, match=r"`args\[1\]` of `max` is differentiated by"):
        ag.grad(max, 1)(2.0)


TANGENTS = {
    "too few": (lambda: ag.jvp(solve, (1.0, 2.0), (1.0,)), "the primals of `solve` are 2, and its tangents 1"),
    "by position for names": (
        lambda: ag.jvp(solve, {"x": 1.0}, (1.0,)),
        "the primals of `solve` have names, and its tangents none",
    ),
    "unknown": (lambda: ag.jvp(solve, (1.0,), {"y": 1.0}), "`tangents='y'`: `solve` has no parameter `y`"),
    "too many": (
        lambda: ag.linearize(solve, 1.0, n=2.0)[1](1.0),
        "this map of `solve` takes a tangent for each of: `x`, `n`",
    ),
}


@pytest.mark.parametrize("run, what", TANGENTS.values(), ids=TANGENTS.keys())
def test_tangents_that_do_not_match(run, what):
    with pytest.raises(ArgumentError) as caught:
        run()
    assert caught.value.what == what


def test_a_wrong_call_of_vjp_is_pythons_error():
    with pytest.raises(TypeError, match="takes from 1 to 2 positional arguments but 3"):
        ag.vjp(solve, 1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'c'"):
        ag.linearize(seed, 1.0, 2.0)
