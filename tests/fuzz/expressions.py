"""Expressions of random programs, a rule for each way to write one."""

from __future__ import annotations

from tests.fuzz.grammar import Generator, rule


# ------------------------------------------------------------------ literals and variables
@rule("simple int", "literal")
def int_literal(g: Generator) -> str:
    return str(g.below(7) if g.chance(70) else g.below(31))


@rule("simple float", "literal")
def float_literal(g: Generator) -> str:
    return str(g.below(64) / 4)


@rule("simple bool", "literal", 1)
def bool_literal(g: Generator) -> str:
    return g.pick(("True", "False"))


@rule("simple ints", "literal", 2)
def int_array(g: Generator) -> str:
    if g.chance(50):
        return f"jnp.array([{', '.join(g.expression('int', g.below(2)) for _ in range(3))}])"
    return g.pick(("jnp.arange(3)", "jnp.zeros(3, int)", "jnp.array([3, 1, 2])", "jnp.full(3, 7)"))


@rule("simple floats", "literal", 2)
def float_array(g: Generator) -> str:
    if g.chance(50):
        return f"jnp.array([{', '.join(g.expression('float', g.below(2)) for _ in range(3))}])"
    return g.pick(("jnp.zeros(3)", "jnp.ones(3)", "jnp.array([0.5, 2.0, 1.25])"))


@rule("simple ints", "numpy", 1)
def numpys_int_array(g: Generator) -> str:
    """An array that is NumPy's in all ways to run the program, until traced data is written to it."""
    return g.pick(("np.arange(3)", "np.zeros(3, int)", "np.array([3, 1, 2])"))


@rule("simple floats", "numpy", 1)
def numpys_float_array(g: Generator) -> str:
    return g.pick(("np.zeros(3)", "np.ones(3)", "np.array([0.5, 2.0, 1.25])"))


def _variable_rules() -> None:
    for kind, weight in (("int", 9), ("float", 9), ("bool", 3), ("ints", 4), ("floats", 4)):
        rule(f"simple {kind}", "variable", weight)(lambda g, kind=kind: g.variable(kind))
        rule(kind, "variable", 4)(lambda g, _, kind=kind: g.variable(kind))


_variable_rules()


@rule("simple bool", "comparison", 3)
def comparison_of_variables(g: Generator) -> str:
    kind = g.pick(("int", "real" if g.smooth else "float"))
    return f"({g.expression(kind, 0)} {g.pick(('<', '>', '<=', '>=', '==', '!='))} {g.expression(kind, 0)})"


# ------------------------------------------------------------------ numbers
@rule("int", "arithmetic", 6)
def int_arithmetic(g: Generator, depth: int) -> str:
    left, right = g.expression("int", depth - 1), g.expression("int", depth - 1)
    return f"(({left} {g.pick('+-*')} {right}) % 31)"


@rule("int", "arithmetic", 2)
def int_division(g: Generator, depth: int) -> str:
    return f"({g.expression('int', depth - 1)} {g.pick(('//', '%'))} {2 + g.below(4)})"


@rule("float", "arithmetic", 6)
def float_arithmetic(g: Generator, depth: int) -> str:
    left, right = g.expression("float", depth - 1), g.expression(g.pick(("float", "int")), depth - 1)
    return f"(({left} {g.pick('+-')} {right}) % 16.0)"


@rule("float", "arithmetic", 2)
def float_of_int(g: Generator, depth: int) -> str:
    value = g.expression("int", depth - 1)
    return g.pick((f"({value} / 4)", f"float({value})", f"({value} * 0.25)"))


@rule("float", "arithmetic", 1)
def float_floor(g: Generator, depth: int) -> str:
    return f"({g.expression('float', depth - 1)} // 1)"


@rule("int", "conversion", 1)
def int_of_another(g: Generator, depth: int) -> str:
    return f"int({g.expression(g.pick(('float', 'bool')), depth - 1)})" if not g.smooth else f"int({g.expression('bool', 0)})"


@rule("float", "numpy", 1)
def float_function(g: Generator, depth: int) -> str:
    value = g.expression("float", depth - 1)
    return g.pick((f"abs({value} - 4.0)", f"jnp.minimum({value}, 4.0)", f"jnp.floor({value})", f"math.floor({value}) / 4"))


# ------------------------------------------------------------------ what all types have in common
def _common_rules() -> None:
    for kind in ("int", "float", "bool", "ints", "floats", "real"):
        rule(kind, "ternary", 2)(of_kind(ternary, kind))
        rule(kind, "log", 1)(of_kind(logged, kind))
    for kind in ("int", "float", "real"):
        rule(kind, "min_max", 1)(of_kind(extreme, kind))
        rule(kind, "call", 2)(of_kind(helper_call, kind))
    for kind in ("int", "float"):
        rule(kind, "and_or", 1)(of_kind(operand, kind))
        rule(kind, "walrus", 1)(of_kind(walrus, kind))
        rule(kind, "index", 3)(of_kind(element, kind))
        rule(kind, "attribute", 2)(of_kind(attribute, kind))


def of_kind(make, kind: str):
    def ruleof_kind(g: Generator, depth: int) -> str | None:
        return make(g, kind, depth)

    ruleof_kind.__name__ = make.__name__
    return ruleof_kind


def ternary(g: Generator, kind: str, depth: int) -> str:
    test = g.expression("bool", depth - 1)
    with g.lazily():
        return f"({g.expression(kind, depth - 1)} if {test} else {g.expression(kind, depth - 1)})"


def logged(g: Generator, kind: str, depth: int) -> str | None:
    return f"note({1 + g.below(9)}, {g.expression(kind, depth - 1)})" if not g.smooth else None


def extreme(g: Generator, kind: str, depth: int) -> str:
    parts = ", ".join(g.expression(kind, depth - 1) for _ in range(2 + g.below(2)))
    return f"{g.pick(('min', 'max'))}({parts})"


def helper_call(g: Generator, kind: str, depth: int) -> str | None:
    """A call of a module's function: by position, or by keyword."""
    known = [name for name, (_, result) in g.helpers.items() if result == (kind,)]
    if not known:
        return None
    name = g.pick(known)
    return f"{name}({arguments(g, name, depth)})"


def arguments(g: Generator, name: str, depth: int) -> str:
    parameters, _ = g.helpers[name]
    values = [g.expression(kind, depth - 1) for kind in parameters]
    by_name = g.below(len(values) + 1) if g.has("keyword_call") and g.chance(30) else len(values)
    return ", ".join(v if n < by_name else f"p{n}={v}" for n, v in enumerate(values))


def operand(g: Generator, kind: str, depth: int) -> str:
    first = g.expression(kind, depth - 1)
    with g.lazily():
        return f"({first} {g.pick(('and', 'or'))} {in_order(g, g.expression(kind, depth - 1))})"


def walrus(g: Generator, kind: str, depth: int) -> str | None:
    """Binds a variable that has a value anyway, so that it does not matter whether this is evaluated."""
    names = [name for name in g.variables(kind) if name not in g.frozen and name not in g.counters]
    if g.lazy and not g.has("lazy_walrus"):
        return None
    return f"({g.pick(names)} := {g.expression(kind, depth - 1)})" if names else None


def element(g: Generator, kind: str, depth: int) -> str | None:
    array = g.variable(kind + "s")
    return f"{array}[{index(g, depth)}]" if array else None


def index(g: Generator, depth: int) -> str:
    return str(g.below(4) - 1) if g.chance(50) else f"{g.expression('int', depth - 1)} % 3"


def attribute(g: Generator, kind: str, depth: int) -> str | None:
    box = g.variable("box")
    if box is None:
        return None
    if kind == "int" and g.has("method") and g.chance(30):
        return g.pick((f"{box}.bump({g.expression('int', depth - 1)})", f"shift({box}, {g.expression('int', 0)}, by=3).n"))
    return f"{box}.{'n' if kind == 'int' else 'v'}"


_common_rules()


# ------------------------------------------------------------------ truth values
@rule("bool", "comparison", 8)
def comparison(g: Generator, depth: int) -> str:
    kind = g.pick(("int", "real" if g.smooth else "float"))
    symbol = g.pick(("<", ">", "<=", ">=", "==", "!="))
    return f"({g.expression(kind, depth - 1)} {symbol} {g.expression(kind, depth - 1)})"


@rule("bool", "chain", 2)
def chain(g: Generator, depth: int) -> str:
    first, second = (g.expression("int", depth - 1) for _ in range(2))
    with g.lazily():
        third = g.expression("int", depth - 1)
    return f"({first} {g.pick(('<', '<=', '!='))} {second} {g.pick(('<', '<=', '=='))} {third})"


@rule("bool", "and_or", 3)
def and_or(g: Generator, depth: int) -> str:
    first = g.expression("bool", depth - 1)
    with g.lazily():
        others = [in_order(g, g.expression("bool", depth - 1)) for _ in range(1 + g.below(2))]
    return f"({g.pick((' and ', ' or ')).join([first, *others])})"


def in_order(g: Generator, value: str) -> str:
    """Sometimes noted in the log, where it shows whether it was evaluated."""
    return f"note({1 + g.below(9)}, {value})" if g.has("log") and not g.smooth and g.chance(20) else value


@rule("bool", "and_or", 2)
def negation(g: Generator, depth: int) -> str:
    return f"(not {g.expression(g.pick(('bool', 'int')), depth - 1)})"


@rule("bool", "membership", 1)
def membership(g: Generator, depth: int) -> str:
    container = g.pick(("(1, 2, 3)", "[0, 4]", "{1: 2, 5: 6}", "range(9)"))
    return f"({g.expression('int', depth - 1)} {g.pick(('in', 'not in'))} {container})"


@rule("bool", "none", 2)
def is_none(g: Generator, depth: int) -> str | None:
    if g.variable("maybe") is None:
        return None
    more = f"t is not None and t > {g.expression('int', 0)}", f"t is None or t < {g.expression('int', 0)}"
    return g.pick(("(t is None)", "(t is not None)", *(f"({text})" for text in more)))


@rule("bool", "text", 2)
def text_compared(g: Generator, depth: int) -> str | None:
    return g.variable("text") and g.pick(("(w == 'up')", "(w != 'down')", "(w in ('up', 'left'))"))


@rule("bool", "numpy", 1)
def any_all(g: Generator, depth: int) -> str | None:
    a = g.variable("ints")
    last = f"[{g.expression('bool', depth - 1)}, {g.expression('bool', 0)}]"
    return g.pick((f"any({last})", f"all({last})", *((f"any({a} > 3)", f"({a} > 5).any()", f"bool({a}[1])") if a else ())))


@rule("bool", "number", 1)
def number_compared(g: Generator, depth: int) -> str | None:
    return g.variable("number") and f"(h {g.pick(('<', '>'))} {g.expression('int', 0)})"
