"""Simple statements of random programs: assignments of every kind, writes in place."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.expressions import arguments, index
from tests.fuzz.grammar import Generator, rule

SCALARS = ("int", "float", "bool")


# ------------------------------------------------------------------ variables
@rule("statement", "assign", 12)
def assign(g: Generator) -> list[str] | None:
    kind = g.pick(g.types)
    if kind not in VALUES:
        return assigned(g, kind, g.expression(kind))
    made = VALUES[kind](g)
    return assigned(g, kind, made) if g.has(kind) and made else None


def assigned(g: Generator, kind: str, value: str) -> list[str] | None:
    name = g.target(kind)
    if name is None:
        return None
    g.bind(name)
    return [f"{name} = {value}"]


def box(g: Generator) -> str | None:
    other, array = g.variable("box"), g.variable("ints")
    with g.lazily():
        part = array if array and g.chance(20) else "jnp.array([1, 2, 3])"
        made = f"Box({g.expression('int', 1)}, {g.expression('float', 1)}, {part})"
    if other is None or g.chance(40):
        return made
    chosen = f"({other} if {g.expression('bool', 1)} else {made})"
    return g.pick((other, other, f"{other}.fill({g.expression('int', 1)})", chosen))


def list_(g: Generator) -> str:
    known = g.variable("list")
    if known is None or g.chance(60):
        return f"[{', '.join(g.expression('int', 1) for _ in range(3))}]"
    return g.pick((known, f"list({known})", f"{known}[::-1]", f"[(v * 2) % 31 for v in {known}]", f"sorted({known})"))


def dict_(g: Generator) -> str:
    return f"{{'u': {g.expression('int', 1)}, 'v': {g.expression('int', 1)}}}"


def pair(g: Generator) -> str:
    known = [name for name, (_, result) in g.helpers.items() if result == ("int", "float")]
    if known and g.chance(60):
        name = g.pick(known)
        return f"{name}({arguments(g, name, 1)})"
    return f"({g.expression('int')}, {g.expression('float')})"


def maybe(g: Generator) -> str:
    known = g.variable("maybe") or "None"
    return g.pick((known, "None", g.expression("int"), either(g, lambda: g.expression("int", 1), lambda: "None")))


def text(g: Generator) -> str:
    return g.pick(("'up'", "'down'", "'left'", f"('up' if {g.expression('bool', 1)} else 'down')"))


def number(g: Generator) -> str:
    """Sometimes an int and sometimes a float: what decides may be traced, and then it is a float of the same value."""
    values = ["1", "2.5", either(g, lambda: g.expression("int", 1), lambda: g.expression("float", 1))]
    more = [f"((h + {g.expression('float', 1)}) % 16)", f"((h + {g.expression('int', 0)}) % 16)"]
    return g.pick(values + (more if g.variable("number") else []))


def either(g: Generator, first: Callable[[], str], second: Callable[[], str]) -> str:
    test = g.expression("bool", 1)
    with g.lazily():
        return f"({first()} if {test} else {second()})"


def real_list(g: Generator) -> str:
    known = g.variable("real list")
    if known is None or g.chance(60):
        return f"[{', '.join(g.expression('real', 1) for _ in range(3))}]"
    return g.pick((known, f"list({known})", f"{known}[::-1]", f"[jnp.sin(v) for v in {known}]"))


def real_dict(g: Generator) -> str:
    return f"{{'u': {g.expression('real', 1)}, 'v': {g.expression('real', 1)}}}"


VALUES = {"box": box, "list": list_, "dict": dict_, "pair": pair, "maybe": maybe, "text": text, "number": number}
VALUES |= {"real list": real_list, "real dict": real_dict}


@rule("statement", "augmented", 4)
def augmented(g: Generator) -> list[str] | None:
    """`k += v`, brought back into its range afterwards."""
    kind = "real" if g.smooth else g.pick(("int", "float", "int", "float", "ints"))
    name, value = g.target(kind), g.expression("int" if kind == "ints" else kind)
    if name not in g.bound:
        return None
    if kind == "real":
        return [f"{name} {g.pick(('+=', '-='))} {value}"]
    if kind == "ints":
        # In NumPy `a += 1` would show in other names of the array; JAX code rebinds, with and without us. So it is a fresh one.
        return [f"{name} = {name}.copy()", f"{name} {g.pick(('+=', '-='))} {value}", f"{name} %= 31"]
    symbol, modulus = (g.pick(("+=", "-=", "*=")), 31) if kind == "int" else (g.pick(("+=", "-=")), 16.0)
    return [f"{name} {symbol} {value}", f"{name} %= {modulus}"]


@rule("statement", "chained_assign", 1)
def chained(g: Generator) -> list[str] | None:
    kind = g.pick(("int", "int" if g.smooth else "float"))
    names = g.target(kind), g.target(kind)
    value = g.expression(kind)
    if None in names:
        return None
    g.bind(*map(str, names))
    return [f"{names[0]} = {names[1]} = {value}"]


@rule("statement", "tuples", 4)
def unpacked(g: Generator) -> list[str] | None:
    """`i, x = x_of, i_of`: all is read before anything is written."""
    kinds = [g.pick(("int", "real" if g.smooth else "float", "int", "bool")) for _ in range(2 + g.below(2))]
    names = [g.target(kind) for kind in kinds]
    values = [g.expression(kind, 1) for kind in kinds]
    if None in names:
        return None
    g.bind(*map(str, names))
    if len(names) == 3 and g.chance(50):
        return [f"({names[0]}, {names[1]}), {names[2]} = ({values[0]}, {values[1]}), {values[2]}"]
    return [f"{', '.join(map(str, names))} = {', '.join(values)}"]


@rule("statement", "tuples", 1)
def swapped(g: Generator) -> list[str] | None:
    kind = "real" if g.smooth else g.pick(("int", "float", "ints"))
    names = [name for name in g.variables(kind) if name not in g.frozen and name not in g.counters]
    if len(names) < 2:
        return None
    first, second = names[0], g.pick(names[1:])
    return [f"{first}, {second} = {second}, {first}"]


@rule("statement", "tuples", 1)
def unpacked_value(g: Generator) -> list[str] | None:
    """Of a pair, a list or an array."""
    names = g.target("int"), g.target("float")
    if g.variable("pair") and None not in names and g.chance(50):
        g.bind(*map(str, names))
        return [f"{names[0]}, {names[1]} = p"]
    kind = g.pick(("list", "ints"))
    source = g.variable(kind)
    targets = [g.target("int") for _ in range(3)]
    if source is None or None in targets:
        return None
    starred = g.chance(30) and "ys" not in g.frozen and source != "ys" and g.has("list")
    g.bind(*map(str, targets[: 1 if starred else 3]))
    three = f"{source}[:3]" if kind == "list" else source  # a list may have grown
    return [f"{targets[0]}, *_ = {source}" if starred else f"{', '.join(map(str, targets))} = {three}"]


@rule("statement", "alias", 3)
def alias(g: Generator) -> list[str] | None:
    """A second name of an array, list or object; what is written to one shows in the other."""
    kind = g.pick(("ints", "floats", "list", "box", "table"))
    source, name = g.variable(kind), g.target(kind)
    if source is None or name in (None, source):
        return None
    g.bind(str(name))
    return [f"{name} = {source}"]


@rule("statement", "view", 1)
def view(g: Generator) -> list[str] | None:
    """A view of an array, which is written: both show it, or it is refused."""
    source, name = g.variable("ints"), g.target("ints")
    if source is None or name in (None, source) or g.chance(50):  # most are refused
        return None
    g.bind(str(name))
    return [f"{name} = {source}[::-1]", *([f"{name}[0] = {g.expression('int', 1)}"] if g.chance(40) else [])]


@rule("statement", "alias", 1)
def either_of_two(g: Generator) -> list[str] | None:
    """A name of one of two arrays, which is written: the other one shows it, or it is refused."""
    names = g.variables("ints")
    if len(names) < 2 or "e" in g.frozen or not g.has("ternary"):
        return None
    g.bind("e")
    made = f"e = {names[0]} if {g.expression('bool', 1)} else {names[1]}"
    return [made, *([f"{g.pick(('e', names[0]))}[1] = {g.expression('int', 0)}"] if g.chance(50) else [])]


@rule("statement", "del", 1)
def deleted(g: Generator) -> list[str] | None:
    names = [n for n in g.variables("float") if n not in g.frozen]
    if len(names) < 3 or g.functions or g.smooth or g.depth > g.guarded:  # in a function, or in an `if` of it
        return None
    g.bound.discard(names[-1])
    return [f"del {names[-1]}"]


# ------------------------------------------------------------------ writes in place
@rule("statement", "item_write", 8)
def item_write(g: Generator) -> list[str] | None:
    kind = g.pick(("reals", "reals", "real list", "real dict") if g.smooth else ("ints", "floats", "ints", "list", "dict"))
    name = g.variable(kind)
    if name is None or not g.has(kind):
        return None
    if kind in ("ints", "floats", "reals"):
        return array_write(g, name, kind)
    if g.smooth:
        place = g.pick(("['u']", "['v']")) if kind == "real dict" else f"[{index(g, 1)}]"
        return [f"{name}{place} {g.pick(('=', '+='))} {g.expression('real')}"]
    place = g.pick(("['u']", "['v']")) if kind == "dict" else f"[{g.below(3)}]"
    if g.has("augmented") and g.chance(30):
        return [f"{name}{place} += {g.expression('int')}", f"{name}{place} %= 31"]
    return [f"{name}{place} = {g.expression('int')}"]


def array_write(g: Generator, name: str, kind: str) -> list[str]:
    scalar = kind[:-1]
    places = [f"[{index(g, 1)}]"] * 3
    if g.has("slice") and not g.smooth:
        places += ["[1:]", "[::2]", f"[{name} > {g.expression(scalar, 0)}]", "[:]"]
    place, value = g.pick(places), g.expression(scalar)
    if kind != "reals" and place == "[1:]" and g.chance(50):
        value = f"{name}[:2].copy()"
    if place == "[:]" and g.chance(50):
        value = g.expression(kind, 1)
    if g.has("augmented") and g.chance(30):
        return [f"{name}{place} {g.pick(('+=', '-='))} {value}"]
    if g.has("tuples") and not g.smooth and g.chance(20):
        first, second = f"{name}[{index(g, 1)}]", f"{name}[{index(g, 1)}]"
        return [f"{first}, {second} = {second}, {first}"]
    return [f"{name}{place} = {value}"]


@rule("statement", "attribute", 4)
def attribute_write(g: Generator) -> list[str] | None:
    o = g.variable("box")
    if o is None:
        return None
    if g.has("item_write") and g.chance(30):
        return [f"{o}.c[{index(g, 1)}] {g.pick(('=', '+='))} {g.expression('int')}"]
    if g.chance(20):
        return [f"{o}.v = {g.expression('float')}"]
    if g.has("augmented") and g.chance(30):
        return [f"{o}.n += {g.expression('int')}", f"{o}.n %= 31"]
    return [f"{o}.n = {g.expression('int')}"]


@rule("statement", "method", 2)
def method(g: Generator) -> list[str] | None:
    o = g.variable("box")
    argument = g.expression("int", 1)
    return [g.pick((f"{o}.lower()", f"{o}.bump({argument})", f"{o}.fill({argument})"))] if o else None


@rule("statement", "closure", 6)
def local_call(g: Generator) -> list[str] | None:
    """A call of a nested function, for what it does."""
    return [f"{g.pick(sorted(g.functions))}({g.expression('int', 1)})"] if g.functions else None


@rule("statement", "mutating_call", 2)
def mutating_call(g: Generator) -> list[str] | None:
    """A helper writes what it is given. An array that is read after it is refused, so objects are more frequent."""
    o, array = g.variable("box"), g.variable("ints")
    if o is not None and g.chance(90):
        return [f"shift({o}, {g.expression('int', 1)})"]
    return [f"put({array}, {g.below(3)}, {g.expression('int', 1)})"] if array and g.chance(20) else None


@rule("statement", "list", 1)
def grown(g: Generator) -> list[str] | None:
    """A list that grows inside of a staged block is refused, so it grows outside, or in a loop that Python runs."""
    xs = g.variable("list")
    return [f"{xs}.append({g.expression('int', 1)})"] if xs and g.depth == 0 and not g.frozen else None


@rule("statement", "log", 2)
def log(g: Generator) -> list[str] | None:
    return [f"note({1 + g.below(9)}, None)"] if not g.smooth else None


@rule("statement", "pass", 1)
def nothing(g: Generator) -> list[str]:
    return ["pass"]
