"""Compound statements of random programs: if, loops, try, with, match, nested functions."""

from __future__ import annotations

from tests.fuzz.grammar import Block, Generator, indented, rule


# ------------------------------------------------------------------ if, match
@rule("compound", "if", 14)
def if_(g: Generator) -> Block:
    lines = [f"if {test(g)}:"]
    bound = set(g.bound)
    with g.guard():
        blocks = [g.suite()]
        lines += blocks[0].indented()
        if g.has("elif") and g.chance(20):
            lines.append(f"elif {g.expression('bool', 1)}:")
            blocks.append(g.suite(most=2))
            lines += blocks[-1].indented()
        if g.has("else") and g.chance(50):
            lines.append("else:")
            blocks.append(g.suite())
            lines += blocks[-1].indented()
        else:
            blocks.append(Block([], bound))
    g.join(*blocks)
    return Block(lines, g.bound, exits=all(block.exits for block in blocks))


def test(g: Generator) -> str:
    """A condition, which may bind an int."""
    if g.has("walrus") and g.chance(10) and (name := g.target("int")):
        value = f"({name} := {g.expression('int', 1)}) {g.pick('<>')} {g.expression('int', 0)}"
        g.bind(name)
        return value
    return g.expression("bool")


@rule("compound", "match", 2)
def match(g: Generator) -> Block:
    lines = [f"match {g.expression('int', 1)} % 4:"]
    guards = f" if {g.expression('bool', 1)}" if g.chance(50) else ""
    patterns = ["0", f"1 | 2{guards}"] if g.chance(70) else [f"1{guards}"]
    blocks = []
    with g.guard():
        for pattern in [*patterns, "_"]:
            block = g.suite(most=2)
            lines += [f"    case {pattern}:", *indented(block.indented())]
            blocks.append(block)
    g.join(*blocks)
    return Block(lines, g.bound, exits=all(block.exits for block in blocks))


# ------------------------------------------------------------------ loops
@rule("compound", "while", 6)
def while_(g: Generator) -> Block:
    """Ends by a counter, which starts and ends at a literal or at a value of the program's."""
    counter = g.fresh("w")
    start = str(g.below(3)) if g.chance(70) else f"{g.expression('int', 1)} % 3"
    limit = str(1 + g.below(4)) if g.chance(40) else f"{g.expression('int', 1)} % 5"
    g.counters.append(counter)
    g.bind(counter)
    condition = f"{counter} < {limit}"
    kind = g.below(4)
    if kind == 0:
        condition = f"{condition} and {g.expression('bool', 1)}"
    elif kind == 1:
        condition = f"{g.expression('bool', 1)} and {condition}"
    if kind == 2 and g.has("break"):
        header, first = "while True:", [f"    {counter} += 1", f"    if not {counter} < {limit}:", "        break"]
    else:
        header, first = f"while {condition}:", [f"    {counter} += 1"]
    return loop(g, [f"{counter} = {start}", header, *first])


@rule("compound", "for", 5)
def for_range(g: Generator) -> Block | None:
    name = g.target("int")
    count = str(g.below(4)) if g.chance(40) else f"{g.expression('int', 1)} % 4"
    ranges = ("range({})", "range({})", "range(1, {})", "reversed(range({}))", "range({}, -1, -1)")
    return loop(g, [f"for {name} in {g.pick(ranges).format(count)}:"], [name]) if name else None


@rule("compound", "for_array", 5)
def for_array(g: Generator) -> Block | None:
    kind = "real" if g.smooth else g.pick(("int", "float"))
    array, name = g.expression(f"{kind}s", g.below(2)), g.target(kind)
    return loop(g, [f"for {name} in {array}:"], [name]) if name else None


@rule("compound", "enumerate", 3)
def for_enumerate(g: Generator) -> Block | None:
    kind = "real" if g.smooth else g.pick(("int", "float"))
    array, name, number = g.expression(f"{kind}s", g.below(2)), g.target(kind), g.target("int")
    if name is None or number is None or name == number:
        return None
    if g.chance(60):
        return loop(g, [f"for {number}, {name} in enumerate({array}):"], [name, number])
    other = "jnp.array([4, 2, 9])" if g.smooth else g.expression("ints", 0)
    return loop(g, [f"for {number}, {name} in zip({other}, {array}):"], [name, number])


@rule("compound", "for_list", 2)
def for_list(g: Generator) -> Block | None:
    """Over a list or dict of Python's."""
    name, xs = g.target("int"), None if g.smooth else g.variable("list")
    if name is None or g.loops > 1:
        return None
    if g.variable("dict") and not g.smooth and g.chance(30):
        return loop(g, [f"for _, {name} in g.items():"], [name])
    made = f"[{', '.join(g.expression('int', 1) for _ in range(2 + g.below(2)))}]"
    return loop(g, [f"for {name} in {xs if xs and g.chance(50) else made}:"], [name])


def loop(g: Generator, lines: list[str], targets: list[str] | None = None) -> Block:
    """The body and the `else` of a loop. After it is bound what was before: it may make no turn."""
    before = set(g.bound)
    g.bind(*(targets or []))
    with g.loop():
        body = g.suite()
    lines = lines + body.indented()
    after = Block([], before)
    g.bound = set(before)
    if g.has("loop_else") and g.chance(25):
        with g.guard():
            after = g.suite(most=2)
        lines += ["else:", *after.indented()]
    g.bound = set(before)
    g.join(Block([], set(before)), Block([], body.bound | after.bound))
    return Block(lines, g.bound)


@rule("compound", "real list", 3)
def growing_list(g: Generator) -> Block | None:
    """A list that a loop without exits makes."""
    target, name = g.target("real"), g.target("real list")
    if not g.smooth or target is None or name is None:
        return None
    over = g.expression("reals", 0)
    before = g.bound - {name}
    g.bound = before | {target}
    lines = [f"{name} = []", f"for {target} in {over}:"]
    if g.chance(50):
        lines += [f"    if {g.expression('bool', 1)}:", f"        {target} = {g.expression('real', 1)}"]
    lines.append(f"    {name}.append({g.expression('real')})")
    g.bound = before | {name}
    return Block(lines, g.bound)


# ------------------------------------------------------------------ try, with
@rule("compound", "try", 4)
def try_finally(g: Generator) -> Block:
    """`finally` may read what surely was bound before; an exception may have ended the body anywhere."""
    body = g.suite()
    ending = final(g)
    lines = ["try:", *body.indented(), "finally:", *ending.indented()]
    g.bound = body.bound | ending.bound if not body.exits else set(ending.bound)
    return Block(lines, g.bound, exits=body.exits or ending.exits)


def final(g: Generator) -> Block:
    g.finals += 1
    block = g.suite(most=2)
    g.finals -= 1
    return block


@rule("compound", "except", 1)
def try_except(g: Generator) -> Block:
    """Raises what it catches; where traced data decides about that, it is refused, so that is rare."""
    caught = g.pick(("Stop", "(Stop, KeyError)", "Stop as error", "KeyError"))
    fail = "{}['no key']" if "KeyError" in caught else f"raise Stop({g.expression('int', 1)})"
    traced = "Stop" in caught and g.chance(20)
    raising = [f"if {g.expression('bool', 1)}:", f"    {fail}"] if traced else [g.pick(("pass", fail))]
    body = g.suite(most=2)
    handled = g.suite(most=2)
    lines = ["try:", *body.indented(), *([] if body.exits else indented(raising))]
    lines += [f"except {caught}:", *handled.indented()]
    if g.chance(30):
        ending = final(g)
        lines += ["finally:", *ending.indented()]
    return Block(lines, g.bound)


@rule("compound", "with", 2)
def with_(g: Generator) -> Block | None:
    name = g.target("int")
    if name is None or g.smooth:
        return None
    header = g.pick((f"with Scope({1 + g.below(6)}):", f"with Scope({1 + g.below(6)}) as {name}:"))
    if header.endswith(f"{name}:"):
        g.bind(name)
    body = g.suite()
    g.join(body)
    return Block([header, *body.indented()], g.bound, exits=body.exits)


# ------------------------------------------------------------------ functions
@rule("compound", "closure", 6)
def nested_function(g: Generator) -> Block | None:
    """`def f1(v): ...`: reads variables around it, and may assign some of them; its own are others."""
    if g.frozen or g.smooth:
        return None
    name, parameter = g.fresh("f"), g.target("int")
    if parameter is None:
        return None
    lines = [f"def {name}({parameter}):"]
    outer = sorted(n for n in g.variables("int") if n not in g.counters and n != parameter)
    nonlocals = [g.pick(outer)] if outer and g.has("nonlocal") and g.chance(60) else []
    lines += [f"    nonlocal {n}" for n in nonlocals]
    with g.function():
        g.frozen = g.bound - {parameter, *nonlocals}
        g.bind(parameter)
        g.returns = ("int",)
        lines += [f"    {n} = {g.expression('int', 1)}" for n in nonlocals]
        body = g.suite(most=2)
        lines += body.indented()
        if not body.exits:
            g.bound = body.bound
            lines.append(f"    return {g.expression('int', 1)}")
    g.functions[name] = 1
    return Block(lines, g.bound)


@rule("compound", "lambda", 1)
def named_lambda(g: Generator) -> Block | None:
    if g.frozen or g.smooth:
        return None
    name = g.fresh("f")
    known = sorted(g.functions)
    if len(known) > 1 and g.chance(50):
        value = f"{known[0]} if {g.expression('bool', 1)} else {known[1]}"
    else:
        value = f"lambda v: (v * {g.expression('int', 0)} + {g.expression('int', 0)}) % 31"
    g.functions[name] = 1
    return Block([f"{name} = {value}"], g.bound)
