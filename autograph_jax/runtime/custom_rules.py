"""`ag.custom_jvp`, `ag.custom_vjp`: functions with derivative rules of their own, each converted, called in any way.

JAX sees a function of two arguments: the context (the function, its rules and its nondiff arguments, with what these hold of
a trace as leaves), and the arguments to differentiate by, in canonical form.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol, overload

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import RuleError, user_location
from autograph_jax.runtime.arguments import Spec
from autograph_jax.runtime.array_likes import arrays_of
from autograph_jax.runtime.canonical import Callee, decorate
from autograph_jax.runtime.lifting import Held, held
from autograph_jax.runtime.rule_arguments import RuleArguments, argument, derivatives, guarded, packed, plain, unpacked
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

    `f.defjvp(jvp)` sets the rule, which is converted too: `jvp(*nondiff, primals, tangents) -> (out, tangent of out)`. Its
    `primals` are the arguments in the signature's order, keyword-only ones too, `*rest` one by one, defaults where the call
    leaves them out; however a call passes them. `f.defjvps(*jvps)` takes one `jvp(tangent, out, *primals)` for each argument,
    or None.

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
        self.arguments = RuleArguments(self.canonical, nondiff)
        self.function, self.name = callee.target, callee.name
        self.rules: tuple[Callable[..., Any], ...] = ()
        self.custom = self.kind(self._named(self.primal))
        parameters = [p.name for p in self.canonical.parameters]
        self.made = self.canonical.forwarder(self.call, filled=parameters, opens=False)

    def give(self, **methods: Any) -> None:
        plain = self.made.__func__ if isinstance(self.made, types.MethodType) else self.made
        vars(plain).update(methods)

    def set_rules(self, *rules: Callable[..., Any]) -> None:
        self.rules = rules
        self.give(_rules=rules)  # where whoever looks for captured values finds them

    def call(self, *values: Any) -> Any:
        if not self.rules:
            method = "defjvp" if isinstance(self, _CustomJVP) else "defvjp"
            self.refuse(f"`{self.name}` has no derivative rule yet", help=f"set one by `{self.name}.{method}(...)`")
        nondiff, diff = self.arguments.divided(values)
        guard = functools.partial(guarded, self.name, user_location())
        context = held((self.function, self.rules, nondiff), guard)
        return self.custom(context, packed(arrays_of(diff), functools.partial(argument, guard)))

    def primal(self, context: Held, diff: list[Any]) -> Any:
        function, _, nondiff = context.value
        return self.arguments.call(function, nondiff, unpacked(diff))

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
        self.set_rules(Callee(jvp).target)
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
        self.set_rules(jvp)
        self.custom.defjvp(self._named(self.jvp, jvp))

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (context, diff), (_, directions) = primals, tangents
        _, (rule,), nondiff = context.value
        return rule(*nondiff, self.arguments.spread(unpacked(diff)), self.arguments.spread(derivatives(directions)))


class _CustomVJP(_Custom):
    kind = jax.custom_vjp

    def __init__(self, function: Any, nondiff_argnums: Spec, nondiff_argnames: Spec) -> None:
        super().__init__(function, nondiff_argnums, nondiff_argnames)
        self.give(defvjp=self.defvjp)

    def defvjp(
        self, fwd: Callable[..., Any], bwd: Callable[..., Any], *, symbolic_zeros: bool = False, optimize_remat: bool = False
    ) -> None:
        """Set the rule, `fwd(...) -> (out, residuals)` and `bwd(*nondiff, residuals, cotangent)`: see `jax.custom_vjp`."""
        self.set_rules(Callee(fwd).target, Callee(bwd).target)
        self.custom.defvjp(
            self._named(self.fwd, fwd),
            self._named(self.bwd, bwd),
            symbolic_zeros=symbolic_zeros,
            optimize_remat=optimize_remat,
        )

    def fwd(self, context: Held, diff: list[Any]) -> Any:
        _, (fwd, bwd), nondiff = plain(context).value
        result = self.arguments.call(fwd, nondiff, unpacked(diff))
        if not isinstance(result, tuple | list) or len(result) != 2:
            what = f"the rule `{name_of(fwd)}` of `{self.name}` returned {_described(result)}"
            self.refuse(what, help="return two values: the function's result, and what the backward rule needs of it")
        out, residuals = result
        return out, (packed(residuals, held), held((bwd, nondiff, self.arguments.holes(diff))))

    def bwd(self, residuals: Any, cotangent: Any) -> Any:
        packed, context = residuals
        bwd, nondiff, holes = context.value
        given = bwd(*nondiff, unpacked(packed), cotangent)
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
