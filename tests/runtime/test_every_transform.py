"""A table: every transform, every kind of parameter, every way to say which one is meant, every way to pass it.

The function is always u * v**2 at u = 2, v = 3, and `v` is the argument that is meant. What cannot be said (the number of a
keyword in `**kwargs`) is refused, and the table says how.
"""

import functools
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.core
import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax.errors import ArgumentError
from autograph_jax.runtime.signatures import called_signature

U, V = 2.0, 3.0
VALUE, SLOPE, CURVATURE = 18.0, 12.0, 4.0  # of u * v**2, and by v


class Seen:
    """What the function saw of `v` in each run: "T" for a traced value."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def __call__(self, u: Any, v: Any) -> Any:
        self.values.append("T" if isinstance(v, jax.core.Tracer) else float(v))
        if jnp.max(u) > 1000:  # Python control flow, to see that the function is converted
            return -u * v
        return u * v**2


# ------------------------------------------------------------------ kinds of parameters


class Kind(NamedTuple):
    make: Callable[[Callable[..., Any], Seen], Any]  # the function, with a transform applied to it where its author would
    number: int | None
    negative: int | None
    name: str | None
    calls: tuple[str, ...]


def passes_on(transform, seen):
    def wraps(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    @wraps
    def f(u, v):
        return seen(u, v)

    return transform(f)


def partial(*arguments, **keywords):
    def make(transform, seen):
        def f(first, u, v, *, last):
            return seen(u, v)

        return transform(functools.partial(f, *arguments, **keywords))

    return make


def partial_by_keyword(transform, seen):
    def f(u, v, last):
        return seen(u, v)

    return transform(functools.partial(f, last=0))


def partial_gives_v(transform, seen):
    def f(u, v):
        return seen(u, v)

    return transform(functools.partial(f, v=V))


def callable_object(transform, seen):
    class Model:
        def __call__(self, u, v):
            return seen(u, v)

    return transform(Model())


def bound_method(transform, seen):
    class Model:
        def f(self, u, v):
            return seen(u, v)

    return transform(Model().f)


def method(transform, seen):
    @jax.tree_util.register_static
    class Model:
        @transform
        def f(self, u, v):
            return seen(u, v)

    return Model().f


def static_method(transform, seen):
    class Model:
        @staticmethod
        @transform
        def f(u, v):
            return seen(u, v)

    return Model().f


def around_static_method(transform, seen):
    class Model:
        @transform
        @staticmethod
        def f(u, v):
            return seen(u, v)

    return Model.f


def class_method(transform, seen):
    class Model:
        @classmethod
        def f(cls, u, v):
            return seen(u, v)

    return transform(Model.f)


EITHER = ("f(u, v)", "f(u, v=v)", "f(v=v, u=u)", "f(*[u], **{'v': v})")
KINDS = {
    "positional-only": Kind(
        lambda transform, seen: transform(lambda u, v, /: seen(u, v)), 1, -1, "v", ("f(u, v)", "f(*(u, v))")
    ),
    "either way": Kind(lambda transform, seen: transform(lambda u, v: seen(u, v)), 1, -1, "v", EITHER),
    "first": Kind(
        lambda transform, seen: transform(lambda v, u: seen(u, v)), 0, -2, "v", ("f(v, u)", "f(u=u, v=v)", "f(v, u=u)")
    ),
    "keyword-only": Kind(
        lambda transform, seen: transform(lambda u, *, v: seen(u, v)), 1, -1, "v", ("f(u, v=v)", "f(v=v, u=u)")
    ),
    "defaulted": Kind(lambda transform, seen: transform(lambda u, v=7.0, w=0: seen(u, v)), 1, -2, "v", EITHER),
    "defaulted keyword-only": Kind(
        lambda transform, seen: transform(lambda u, *, w=0, v=7.0: seen(u, v)), 2, -1, "v", EITHER[1:]
    ),
    "left out": Kind(lambda transform, seen: transform(lambda u, v=3.0: seen(u, v)), 1, -1, "v", ("f(u)", "f(u=u)")),
    "left out, keyword-only": Kind(
        lambda transform, seen: transform(lambda u, *, v=3.0: seen(u, v)), 1, -1, "v", ("f(u)", "f(u=u)")
    ),
    "in *args": Kind(
        lambda transform, seen: transform(lambda u, *rest: seen(u, *rest)), 1, None, None, ("f(u, v)", "f(*[u, v])")
    ),
    "in *args of all": Kind(
        lambda transform, seen: transform(lambda *rest: seen(*rest)), 1, None, None, ("f(u, v)", "f(*[u, v])")
    ),
    "in **kwargs": Kind(lambda transform, seen: transform(lambda u, **more: seen(u, more["v"])), None, None, "v", EITHER[1:]),
    "before *args": Kind(lambda transform, seen: transform(lambda u, v, *rest: seen(u, v)), 1, None, "v", EITHER),
    "after *args": Kind(lambda transform, seen: transform(lambda u, *rest, v: seen(u, v)), None, None, "v", EITHER[1:]),
    "wrapper": Kind(passes_on, 1, -1, "v", ("f(u, v)", "f(*(u, v))")),
    "wrapper, by keyword": Kind(passes_on, 1, -1, "v", ("f(u, v=v)", "f(u, **{'v': v})")),
    "partial by position": Kind(partial(0, last=0), 1, -2, "v", EITHER),
    "partial by keyword": Kind(partial_by_keyword, 1, -2, "v", EITHER),
    "partial that gives it": Kind(partial_gives_v, 1, -1, "v", ("f(u)", "f(u=u)")),
    "callable object": Kind(callable_object, 1, -1, "v", EITHER),
    "bound method": Kind(bound_method, 1, -1, "v", EITHER),
    "method in its class": Kind(method, 2, -1, "v", EITHER),
    "staticmethod": Kind(static_method, 1, -1, "v", EITHER),
    "around staticmethod": Kind(around_static_method, 1, -1, "v", EITHER),
    "classmethod": Kind(class_method, 1, -1, "v", EITHER),
}
NO_WORD = {  # what cannot be said, what comes closest, and what is said of that
    ("in *args", "negative"): (-1, "has no last one"),
    ("in *args", "name"): ("v", "has no parameter"),
    ("in *args of all", "negative"): (-1, "has no last one"),
    ("in *args of all", "name"): ("v", "has no parameter"),
    ("in **kwargs", "number"): (1, "has 1 parameter"),
    ("in **kwargs", "negative"): (-2, "has 1 parameter"),
    ("before *args", "negative"): (-2, "has no last one"),
    ("after *args", "number"): None,  # 2 is the second of *args
    ("after *args", "negative"): (-1, "has no last one"),
}

# ------------------------------------------------------------------ transforms


def by_number_or_name(prefix: str, spec: Any) -> dict[str, Any]:
    is_name = isinstance(spec[0] if isinstance(spec, list) else spec, str)
    return {f"{prefix}{'argnames' if is_name else 'argnums'}": spec}


def numbers(result: Any) -> Any:
    return jax.tree.map(float, result)


def differentiating(transform: Callable[..., Any], expected: Callable[[Callable[[Any], Any]], Any]) -> Any:
    def check(kind: Kind, spec: Any, form: Callable[[Any], Any]) -> None:
        f = kind.make(lambda function: transform(function, **by_number_or_name("", spec)), Seen())
        for call in kind.calls:
            assert numbers(eval(call, {"f": f, "u": U, "v": V})) == expected(form), call

    return check


def linearizing(run: Callable[..., Any]) -> Any:
    """`ag.vjp(f, u, v=v, argnames='v')` and its like take the arguments along with the function."""

    def check(kind: Kind, spec: Any, form: Callable[[Any], Any]) -> None:
        f = kind.make(lambda function: function, Seen())
        run_call = functools.partial(run, f, by_number_or_name("", spec), form)
        for call in kind.calls:
            eval(call, {"f": run_call, "u": U, "v": V})

    return check


def run_vjp(f, spec, form, *arguments, **keywords):
    out, back = ag.vjp(f, *arguments, **keywords, **spec)
    assert (out, numbers(back(1.0))) == (VALUE, form(SLOPE))


def run_linearize(f, spec, form, *arguments, **keywords):
    out, along = ag.linearize(f, *arguments, **keywords, **spec)
    assert (out, along(2.0)) == (VALUE, 2 * SLOPE)


def run_jvp(f, spec, form, *arguments, **keywords):
    (entry,) = spec.values()
    tangents = {entry[0] if isinstance(entry, list) else entry: 2.0}
    assert ag.jvp(f, arguments, tangents, **keywords) == (VALUE, 2 * SLOPE)


def jit_static(kind, spec, form):
    f = kind.make(lambda function: ag.jit(function, **by_number_or_name("static_", spec)), seen := Seen())
    for call in kind.calls:
        assert eval(call, {"f": f, "u": U, "v": V}) == VALUE, call
    assert seen.values == [V]  # one trace for all spellings


def jit_donated(kind, spec, form):
    f = kind.make(lambda function: ag.jit(function, **by_number_or_name("donate_", spec)), seen := Seen())
    for call in kind.calls:
        u, v = jnp.asarray(U), jnp.asarray(V)
        assert eval(call, {"f": f, "u": u, "v": v}) == VALUE, call
        assert not u.is_deleted() and v.is_deleted() == ("v" in call), call
    assert len(seen.values) == 1


def jit_sharded(kind, spec, form):
    here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    f = kind.make(lambda function: ag.jit(function, in_shardings={spec: here}), seen := Seen())
    for call in kind.calls:
        assert eval(call, {"f": f, "u": U, "v": V}) == VALUE, call
    assert len(seen.values) == 1


def checkpoint_static(kind, spec, form):
    f = kind.make(lambda function: ag.checkpoint(function, **by_number_or_name("static_", spec)), seen := Seen())
    for call in kind.calls:
        assert jax.grad(lambda u: eval(call, {"f": f, "u": u, "v": V}))(U) == V**2, call
    assert seen.values == [V]  # one trace for all spellings


def make_jaxpr_static(kind, spec, form):
    f = kind.make(lambda function: ag.make_jaxpr(function, **by_number_or_name("static_", spec)), seen := Seen())
    for call in kind.calls:
        assert len(eval(call, {"f": f, "u": U, "v": V}).jaxpr.invars) == 1, call
    assert set(seen.values) == {V}


def vmap_by(kind, spec, form):
    f = kind.make(lambda function: ag.vmap(function, {spec: 0}, axis_size=2), Seen())
    for call in kind.calls:
        result = eval(call, {"f": f, "u": U, "v": jnp.array([V, 1.0])})
        assert result.tolist() == ([VALUE, U] if "v" in call else [VALUE, VALUE]), call


def pmap_static(kind, spec, form):
    f = kind.make(lambda function: ag.pmap(function, **by_number_or_name("static_broadcasted_", spec)), seen := Seen())
    for call in kind.calls:
        assert eval(call, {"f": f, "u": jnp.array([U]), "v": V}) == jnp.array([VALUE]), call
    assert set(seen.values) == {V}


def pmap_by(kind, spec, form):
    given = any("v" in call for call in kind.calls)
    axes, u = ({spec: 0}, U) if given else ({spec: 0, 0: 0}, jnp.array([U]))  # something has to be mapped
    f = kind.make(lambda function: ag.pmap(function, in_axes=axes), Seen())
    for call in kind.calls:
        result = eval(call, {"f": f, "u": u, "v": jnp.array([V])})
        assert result.tolist() == [VALUE], call


def shard_map_by(kind, spec, form):
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    specs = dict(in_specs={spec: jax.P("i")}, out_specs=jax.P("i"))
    f = jax.jit(kind.make(lambda function: ag.shard_map(function, mesh=mesh, **specs), Seen()))
    for call in kind.calls:
        result = eval(call, {"f": f, "u": jnp.array([U]), "v": jnp.array([V])})
        assert result.tolist() == [VALUE], call


RULE = 10 * V**2  # what the rules below give for the derivative by `u`


def with_rule(transform: Callable[..., Any], set_rule: Callable[[Any, Any], None]) -> Any:
    def check(kind: Kind, spec: Any, form: Callable[[Any], Any]) -> None:
        def make(function):
            made = transform(function, **by_number_or_name("nondiff_", spec))
            set_rule(made.__func__ if isinstance(made, staticmethod) else made, function)
            return made

        f = kind.make(make, seen := Seen())
        for call in kind.calls:
            assert eval(call, {"f": f, "u": U, "v": V}) == VALUE, call
            assert jax.grad(lambda u: eval(call, {"f": f, "u": u, "v": V}))(U) == RULE, call
        assert set(seen.values) == {V}

    return check


def set_jvp(made, function):
    @made.defjvp
    def jvp(v, primals, tangents):
        assert v == V and isinstance(v, float)
        (slope,) = [
            t for primal, t in zip(primals, tangents, strict=True) if isinstance(primal, float | jax.Array) and primal == U
        ]
        return jnp.asarray(VALUE), RULE * slope


def set_vjp(made, function):
    parameters = called_signature(function.__func__ if isinstance(function, staticmethod) else function).parameters

    def backward(v, residuals, cotangent):
        assert v == V and isinstance(v, float)
        slopes: list[Any] = []
        for parameter in parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                slopes += [] if "u" in parameters else [RULE * cotangent]
            elif parameter.name != "v":
                slopes.append(RULE * cotangent if parameter.name == "u" else None)
        return tuple(slopes)

    made.defvjp(lambda *arguments, **keywords: (VALUE, None), backward)


TRANSFORMS = {
    "grad": differentiating(ag.grad, lambda form: form(SLOPE)),
    "value_and_grad": differentiating(ag.value_and_grad, lambda form: (VALUE, form(SLOPE))),
    "jacfwd": differentiating(ag.jacfwd, lambda form: form(SLOPE)),
    "jacrev": differentiating(ag.jacrev, lambda form: form(SLOPE)),
    "hessian": differentiating(ag.hessian, lambda form: form(form(CURVATURE))),
    "vjp": linearizing(run_vjp),
    "linearize": linearizing(run_linearize),
    "jvp": linearizing(run_jvp),
    "jit static": jit_static,
    "jit donate": jit_donated,
    "jit in_shardings": jit_sharded,
    "checkpoint static": checkpoint_static,
    "make_jaxpr static": make_jaxpr_static,
    "vmap": vmap_by,
    "pmap static": pmap_static,
    "pmap in_axes": pmap_by,
    "shard_map": shard_map_by,
    "custom_jvp nondiff": with_rule(ag.custom_jvp, set_jvp),
    "custom_vjp nondiff": with_rule(ag.custom_vjp, set_vjp),
}
WAYS: dict[str, tuple[str, Callable[[Any], Any]]] = {  # what of a Kind is given, and how the derivative comes back
    "a number": ("number", lambda value: value),
    "a negative number": ("negative", lambda value: value),
    "a name": ("name", lambda value: value),
    "a list with a number": ("number", lambda value: (value,)),
    "a list with a name": ("name", lambda value: {"v": value}),
}
# A method is transformed in its class by a decorator; these take the function together with its arguments.
NO_DECORATORS = ("vjp", "linearize", "jvp")
# A list of one gives a result of its own; for other transforms it means what the one means, as test_arguments.py tests.
WITH_LISTS = ("grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "vjp", "jit static")


def is_row(transform: str, kind: str, way: str) -> bool:
    if transform in NO_DECORATORS and kind == "method in its class" or way.startswith("a list") and transform not in WITH_LISTS:
        return False
    return (kind, WAYS[way][0]) not in NO_WORD


TABLE = [row for row in itertools.product(TRANSFORMS, KINDS, WAYS) if is_row(*row)]


@pytest.mark.parametrize("transform, kind, way", TABLE, ids=lambda value: value.replace(" ", "_"))
def test_every_transform(transform, kind, way):
    part, form = WAYS[way]
    entry = getattr(KINDS[kind], part)
    TRANSFORMS[transform](KINDS[kind], [entry] if way.startswith("a list") else entry, form)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "method in its class"])  # it takes the function
def test_closure_convert(kind):
    """It has no arguments to choose; what it gives is called as the function is, with what was captured."""

    def check(*arguments, **keywords):
        converted, captured = ag.closure_convert(f, *arguments, **keywords)
        assert converted(*arguments, *captured, **keywords) == VALUE

    f = KINDS[kind].make(lambda function: function, Seen())
    for call in KINDS[kind].calls:
        eval(call, {"f": check, "u": U, "v": V})


REFUSED = [(transform, kind, said) for transform in TRANSFORMS for (kind, _), said in NO_WORD.items() if said is not None]


@pytest.mark.parametrize("transform, kind, said", REFUSED)
def test_what_cannot_be_said_is_refused(transform, kind, said):
    entry, message = said
    with pytest.raises(ArgumentError, match=message):
        TRANSFORMS[transform](KINDS[kind], entry, lambda value: value)


def test_what_has_no_word_is_no_part_of_its_kind():
    parts = itertools.product(KINDS, ("number", "negative", "name"))
    missing = {(name, part) for name, part in parts if getattr(KINDS[name], part) is None}
    assert missing == set(NO_WORD)
