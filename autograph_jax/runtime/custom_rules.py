"""`ag.custom_jvp`, `ag.custom_vjp`: functions with derivative rules of their own, each converted, called in any way.

JAX sees a function of two arguments: the context (the function, its rules and its nondiff arguments, with what these hold of
a trace as leaves), and the arguments to differentiate by, in canonical form.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from inspect import Parameter
from typing import Any, NoReturn, Protocol, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import CustomVJPPrimal

from autograph_jax.errors import Location, RuleError, user_location
from autograph_jax.operators.choices import Choice
from autograph_jax.runtime.arguments import Argument, Spec
from autograph_jax.runtime.canonical import Callee, Canonical, decorate
from autograph_jax.runtime.classes import meet_all
from autograph_jax.runtime.forwarding import LeftOut
from autograph_jax.runtime.lifting import Guard, Held, as_partial, held
from autograph_jax.runtime.signatures import name_of


class CustomJVP(Protocol):
    """A function with a rule for forward mode, which JAX transposes for reverse mode."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any: ...
    def defjvp(self, jvp: Callable[..., Any], *, symbolic_zeros: bool = False) -> Callable[..., Any]: ...
    def defjvps(self, *jvps: Callable[..., Any] | None) -> None: ...


class CustomVJP(Protocol):
    """A function with a rule for reverse mode."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any: ...
    def defvjp(
        self, fwd: Callable[..., Any], bwd: Callable[..., Any], *, symbolic_zeros: bool = False, optimize_remat: bool = False
    ) -> None: ...


@overload
def custom_jvp(
    function: Callable[..., Any], /, nondiff_argnums: Spec = None, *, nondiff_argnames: Spec = None
) -> CustomJVP: ...
@overload
def custom_jvp(*, nondiff_argnums: Spec = None, nondiff_argnames: Spec = None) -> Callable[[Callable[..., Any]], CustomJVP]: ...
def custom_jvp(function: Any = None, /, nondiff_argnums: Spec = None, *, nondiff_argnames: Spec = None) -> Any:
    """Convert a function with `autograph` and give it a derivative rule with `jax.custom_jvp`.

    `f.defjvp(jvp)` sets the rule, which is converted too: `jvp(*nondiff, primals, tangents) -> (out, tangent of out)`. `primals`
    are the arguments in the signature's order, keyword-only ones too, `*rest` one by one, defaults where the call leaves them
    out; however a call passes them. `f.defjvps(*jvps)` takes one `jvp(tangent, out, *primals)` for each argument, or None.

    Nondiff arguments are given by number or by name as for `jit`, and may be anything: numbers, strings, functions, also
    functions that close over traced values. A function among the other arguments is a `jax.tree_util.Partial` in the rules:
    what it closes over has tangents too.

        >>> import jax
        >>> @custom_jvp
        ... def log1pexp(x, *, limit=30.0):
        ...     return x if x > limit else jax.numpy.log1p(jax.numpy.exp(x))
        >>> @log1pexp.defjvp
        ... def log1pexp_jvp(primals, tangents):
        ...     x, limit = primals
        ...     slope = 1 - 1 / (1 + jax.numpy.exp(x)) if x < limit else 1.0
        ...     return log1pexp(x, limit=limit), slope * tangents[0]
        >>> print(jax.jit(jax.grad(log1pexp))(0.0), jax.vmap(jax.grad(log1pexp))(jax.numpy.array([0.0, 100.0])))
        0.5 [0.5 1. ]

    Raises ArgumentError for a nondiff argument that is not there or is meant twice; RuleError, when called, without a rule, and
    when differentiated by a traced value that a nondiff argument, the function or its rule closes over.
    """
    return decorate(function, lambda f: _CustomJVP(f, nondiff_argnums, nondiff_argnames).made)


@overload
def custom_vjp(
    function: Callable[..., Any], /, nondiff_argnums: Spec = None, *, nondiff_argnames: Spec = None
) -> CustomVJP: ...
@overload
def custom_vjp(*, nondiff_argnums: Spec = None, nondiff_argnames: Spec = None) -> Callable[[Callable[..., Any]], CustomVJP]: ...
def custom_vjp(function: Any = None, /, nondiff_argnums: Spec = None, *, nondiff_argnames: Spec = None) -> Any:
    """Convert a function with `autograph` and give it a rule for reverse mode with `jax.custom_vjp`.

    `f.defvjp(fwd, bwd)` sets the rule; both are converted. `fwd` is called as the function is, and gives `(out, residuals)`;
    `bwd(*nondiff, residuals, cotangent of out)` gives a tuple with the cotangent of each argument, in the signature's order,
    `*rest` one by one; None stands for zero. Residuals may hold anything: strings, functions, None and Python numbers come to
    `bwd` as they are. Arguments are as for `custom_jvp`. As in JAX, forward mode is not defined.

        >>> import jax
        >>> @custom_vjp(nondiff_argnames="low")
        ... def clipped(x, *, low):
        ...     return x if x > low else low
        >>> def clipped_fwd(x, *, low):
        ...     return clipped(x, low=low), (x, "straight through")
        >>> def clipped_bwd(low, residuals, cotangent):
        ...     x, kind = residuals
        ...     return (cotangent if kind == "straight through" or x > low else 0.0,)
        >>> clipped.defvjp(clipped_fwd, clipped_bwd)
        >>> print(jax.grad(clipped)(1.0, low=2.0))
        1.0

    Raises ArgumentError for a nondiff argument that is not there or is meant twice; RuleError, when called, without a rule, for
    a rule's result of another form, and when differentiated by a traced value that a nondiff argument, the function or its
    rule closes over.
    """
    return decorate(function, lambda f: _CustomVJP(f, nondiff_argnums, nondiff_argnames).made)


class _Custom:
    """What both kinds share: the call of the function, and what its rules see of the arguments."""

    kind: Any

    def __init__(self, function: Any, nondiff_argnums: Spec, nondiff_argnames: Spec) -> None:
        callee = Callee(function)
        nondiff = callee.arguments("nondiff", nondiff_argnums, nondiff_argnames)
        self.canonical = callee.canonical(nondiff)
        self.arguments = _Arguments(self.canonical, nondiff)
        self.function, self.name = callee.target, callee.name
        self.rules: tuple[Callable[..., Any], ...] = ()
        self.custom = self.kind(self._named(self.primal))
        parameters = [p.name for p in self.canonical.parameters]
        self.made = self.canonical.forwarder(self.call, filled=parameters)

    def give(self, **methods: Any) -> None:
        plain = self.made.__func__ if isinstance(self.made, types.MethodType) else self.made
        vars(plain).update(methods)

    def call(self, *values: Any) -> Any:
        if not self.rules:
            method = "defjvp" if isinstance(self, _CustomJVP) else "defvjp"
            self.refuse(f"`{self.name}` has no derivative rule yet", help=f"set one by `{self.name}.{method}(...)`")
        nondiff, diff = self.arguments.divided(values)
        guard = functools.partial(_guarded, self.name, user_location())
        return self.custom(held((self.function, self.rules, nondiff), guard), _packed(diff, functools.partial(_argument, guard)))

    def primal(self, context: Held, diff: list[Any]) -> Any:
        function, _, nondiff = context.value
        return self.arguments.call(function, nondiff, _unpacked(diff))

    def _named(self, function: Callable[..., Any], like: Any = None) -> Callable[..., Any]:
        """JAX names functions in its messages."""

        def named(*values: Any) -> Any:
            return function(*values)

        named.__name__ = named.__qualname__ = self.name if like is None else name_of(like)
        return named

    def refuse(self, what: str, *, details: Sequence[str] = (), help: str) -> NoReturn:
        raise RuleError(what, location=user_location(), details=details, help=help)


class _CustomJVP(_Custom):
    kind = jax.custom_jvp

    def __init__(self, function: Any, nondiff_argnums: Spec, nondiff_argnames: Spec) -> None:
        super().__init__(function, nondiff_argnums, nondiff_argnames)
        self.give(defjvp=self.defjvp, defjvps=self.defjvps)

    def defjvp(self, jvp: Callable[..., Any], *, symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Set the rule, `jvp(*nondiff, primals, tangents) -> (out, tangent of out)`; it is given back. See `jax.custom_jvp`."""
        self.rules = (Callee(jvp).target,)
        self.custom.defjvp(self._named(self.jvp, jvp), symbolic_zeros=symbolic_zeros)
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set a rule for each argument, `jvp(tangent, out, *primals) -> tangent of out`; None for one that has no influence."""
        if self.arguments.nondiff:
            self.refuse(f"`defjvps` of `{self.name}`, which has nondiff arguments", help="use `defjvp`")
        rules = [None if jvp is None else Callee(jvp).target for jvp in jvps]
        made = self.made

        def jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
            out = self.arguments.call(made, [], self.arguments.gathered(primals, self.arguments.holes_of(len(primals))))
            pairs = [(rule, tangent) for rule, tangent in zip(rules, tangents, strict=True) if rule is not None]
            parts = [rule(tangent, out, *primals) for rule, tangent in pairs]
            zeros = jax.tree.map(lambda leaf: _zero_tangent(leaf), out)
            return out, functools.reduce(lambda a, b: jax.tree.map(jnp.add, a, b), parts) if parts else zeros

        jvp.__name__ = jvp.__qualname__ = self.name
        self.rules = (jvp,)
        self.custom.defjvp(self._named(self.jvp, jvp))

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (context, diff), (_, directions) = primals, tangents
        _, (rule,), nondiff = context.value
        return rule(*nondiff, self.arguments.spread(_unpacked(diff)), self.arguments.spread(_derivatives(directions)))


class _CustomVJP(_Custom):
    kind = jax.custom_vjp

    def __init__(self, function: Any, nondiff_argnums: Spec, nondiff_argnames: Spec) -> None:
        super().__init__(function, nondiff_argnums, nondiff_argnames)
        self.give(defvjp=self.defvjp)

    def defvjp(
        self, fwd: Callable[..., Any], bwd: Callable[..., Any], *, symbolic_zeros: bool = False, optimize_remat: bool = False
    ) -> None:
        """Set the rule, `fwd(...) -> (out, residuals)` and `bwd(*nondiff, residuals, cotangent)`. See `jax.custom_vjp.defvjp`."""
        self.rules = Callee(fwd).target, Callee(bwd).target
        self.custom.defvjp(
            self._named(self.fwd, fwd),
            self._named(self.bwd, bwd),
            symbolic_zeros=symbolic_zeros,
            optimize_remat=optimize_remat,
        )

    def fwd(self, context: Held, diff: list[Any]) -> Any:
        _, (fwd, bwd), nondiff = _values(context).value
        result = self.arguments.call(fwd, nondiff, _unpacked(diff))
        if not isinstance(result, tuple | list) or len(result) != 2:
            what = f"the rule `{name_of(fwd)}` of `{self.name}` returned {_described(result)}"
            self.refuse(what, help="return two values: the function's result, and what the backward rule needs of it")
        out, residuals = result
        return out, (_packed(residuals, held), held((bwd, nondiff, self.arguments.holes(diff))))

    def bwd(self, residuals: Any, cotangent: Any) -> Any:
        packed, context = residuals
        bwd, nondiff, holes = context.value
        given = bwd(*nondiff, _unpacked(packed), cotangent)
        names = self.arguments.names(holes)
        if not isinstance(given, tuple | list) or len(given) != len(names):
            what = f"the rule `{name_of(bwd)}` of `{self.name}` returned {_described(given)}"
            expected = f"The cotangents wanted are those of: {', '.join(f'`{name}`' for name in names)}."
            self.refuse(what, details=[expected], help="return a tuple with a cotangent for each, None where it is zero")
        return None, self.arguments.gathered(given, holes)


def _described(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)} values"
    return f"a value of type {type(value).__name__}"


def _zero_tangent(leaf: Any) -> Any:
    kind = jnp.result_type(leaf)
    return jnp.zeros_like(leaf) if jnp.issubdtype(kind, jnp.inexact) else np.zeros(jnp.shape(leaf), jax.dtypes.float0)


# ------------------------------------------------------------------ canonical arguments, and what the rules see of them


class _Arguments:
    """The arguments of a function: which are nondiff, and the others as its rules see them, `*rest` one by one."""

    def __init__(self, canonical: Canonical, nondiff: Sequence[Argument]) -> None:
        self.canonical = canonical
        at = [canonical.position(argument) for argument in nondiff]
        kinds = [parameter.kind for parameter in canonical.parameters]
        rest = kinds.index(Parameter.VAR_POSITIONAL) if Parameter.VAR_POSITIONAL in kinds else None
        places = [(rest or 0, a.position or 0) if p >= len(kinds) else (p, 0) for a, p in zip(nondiff, at, strict=True)]
        self.nondiff = [position for _, position in sorted(zip(places, at, strict=True))]
        self.diff = [position for position in range(len(canonical)) if position not in self.nondiff]
        self.rest = self.diff.index(rest) if rest is not None else None

    def divided(self, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        return [values[position] for position in self.nondiff], [values[position] for position in self.diff]

    def call(self, function: Callable[..., Any], nondiff: Sequence[Any], diff: Sequence[Any]) -> Any:
        """Call a function as the user has called this one; keyword-only arguments are passed by keyword."""
        values: list[Any] = [None] * len(self.canonical)
        for position, value in zip((*self.nondiff, *self.diff), (*nondiff, *diff), strict=True):
            values[position] = value
        positional, keywords = self.canonical.spelled(values)
        meet_all((positional, keywords))
        return function(*positional, **keywords)

    def holes(self, diff: Sequence[Any]) -> tuple[bool, ...]:
        """For each element of `*rest`: is it a nondiff argument's place?"""
        return () if self.rest is None else tuple(type(value) is LeftOut for value in diff[self.rest])

    def holes_of(self, count: int) -> tuple[bool, ...]:
        """The same for a number of arguments of which none is nondiff."""
        return () if self.rest is None else (False,) * (count - len(self.diff) + 1)

    def spread(self, diff: Sequence[Any]) -> tuple[Any, ...]:
        if self.rest is None:
            return tuple(diff)
        inside = [value for value in diff[self.rest] if type(value) is not LeftOut]
        return (*diff[: self.rest], *inside, *diff[self.rest + 1 :])

    def gathered(self, spread: Sequence[Any], holes: Sequence[bool]) -> list[Any]:
        if self.rest is None:
            return list(spread)
        remaining = iter(spread)
        before = [next(remaining) for _ in range(self.rest)]
        inside = tuple(LeftOut() if hole else next(remaining) for hole in holes)
        return [*before, inside, *remaining]

    def names(self, holes: Sequence[bool]) -> tuple[str, ...]:
        parameters = self.canonical.parameters
        names: list[Any] = [parameters[position].name for position in self.diff]
        if self.rest is not None:
            names[self.rest] = tuple(LeftOut() if hole else f"{names[self.rest]}[{n}]" for n, hole in enumerate(holes))
        return self.spread(names)


# ------------------------------------------------------------------ what JAX does not know


_NUMBERS = (bool, int, float, complex)


def _packed(tree: Any, package: Callable[[Any], Any]) -> Any:
    """The tree, with what `package` makes of leaves that are no arrays."""
    leaves, structure = jax.tree.flatten(tree, is_leaf=lambda leaf: isinstance(leaf, Choice))
    if all(isinstance(leaf, jax.Array) for leaf in leaves):
        return tree
    return structure.unflatten([leaf if _is_array(leaf) else package(leaf) for leaf in leaves])


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.generic) or isinstance(leaf, np.ndarray) and leaf.dtype != object


def _argument(guard: Guard, leaf: Any) -> Any:
    """A part of an argument as JAX takes it: functions as Partials, what it does not know as a pytree."""
    if isinstance(leaf, _NUMBERS):
        return leaf
    return as_partial(leaf) if callable(leaf) and not isinstance(leaf, type) else held(leaf, guard)


def _is_held(value: Any) -> bool:
    return isinstance(value, Held)


def _unpacked(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: _values(leaf).value if _is_held(leaf) else leaf, tree, is_leaf=_is_held)


def _derivatives(tree: Any) -> Any:
    """Tangents: None for what is no array."""
    return jax.tree.map(lambda leaf: None if _is_held(leaf) else leaf, tree, is_leaf=_is_held)


def _values(package: Held) -> Held:
    """Under `symbolic_zeros`, JAX wraps each leaf."""
    leaves = [leaf.value if isinstance(leaf, CustomVJPPrimal) else leaf for leaf in package.leaves]
    return Held(package.skeleton, leaves)


def _guarded(function: str, location: Location | None, leaf: Any, name: str) -> Any:
    """A traced value that is constant for the rule. To differentiate by it would give zero, and is an error instead."""
    if not jnp.issubdtype(leaf.dtype, jnp.inexact):
        return leaf

    @jax.custom_jvp
    def guard(value: Any) -> Any:
        return value

    @guard.defjvp
    def _(primals: Any, tangents: Any) -> NoReturn:
        raise RuleError(
            f"`{name}` is differentiated by, and the derivative rule of `{function}` does not see it",
            location=location,
            details=[f"`{function}`, its rule or one of its nondiff arguments closes over `{name}`."],
            help=f"pass `{name}` as an argument; a function that closes over it, as an argument that is not nondiff; or use "
            "`jax.lax.stop_gradient`",
        )

    return guard(leaf)
