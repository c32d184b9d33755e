"""Random programs run in Python: no read finds a variable unbound, and no value is read, against the facts.

A program is text made of the variables x, y, z, e. The analysis sees the text; what runs is the same text with calls
put in that note each read, each assignment and each start and end of a statement, in the order in which they happen.
"""

import ast
import contextlib
import textwrap

import gast
import hypothesis
import hypothesis.strategies as st

from autograph_jax.analysis import Facts
from tests.analysis.helpers import function_and_facts

VARIABLES = ("x", "y", "z", "e")
FUEL = 150

# Programs

variables = st.sampled_from(VARIABLES)
values = st.one_of(
    st.sampled_from(["new()", "fail()", "[k for k in items()]"]),
    variables,
    st.builds("{} if flip() else {}".format, variables, variables),
    st.builds("use({}, {})".format, variables, variables),
    st.builds("fail({})".format, variables),
    st.builds("(flip() and {} or {})".format, variables, variables),
    st.builds("[{} for k in items() if flip({})]".format, variables, variables),
    st.builds("[({} := k) for k in items() if flip()]".format, variables),
    st.builds("({} := new())".format, variables),
)
tests = st.one_of(
    st.sampled_from(["flip()", "True", "not flip()"]),
    st.builds("flip({})".format, variables),
    st.builds("flip() and ({} := flip())".format, variables),
    st.builds("not (flip({}) or ({} := flip()))".format, variables, variables),
    st.builds("0 <= ({} := flip()) <= flip({})".format, variables, variables),
)
simple = st.one_of(
    st.builds("{} = {}".format, variables, values),
    st.builds("{} = {}".format, variables, values),
    st.builds("{} += {}".format, variables, values),
    st.builds("del {}".format, variables),
    st.builds("del {}, {}".format, variables, variables),
    st.builds("use({})".format, variables),
    st.builds("assert {}".format, tests),
    st.sampled_from(["pass", "raise Error"]),
)


@st.composite
def suites(draw: st.DrawFn, depth: int, in_loop: bool = False) -> str:
    """One to three statements, each on lines of its own."""
    lines = [draw(statements(depth, in_loop)) for _ in range(draw(st.integers(1, 3)))]
    if draw(st.integers(0, 2)) == 0:
        lines.append(draw(st.sampled_from(["break", "continue"] if in_loop else ["return", "return use(x)"])))
    return "\n".join(lines)


@st.composite
def statements(draw: st.DrawFn, depth: int, in_loop: bool) -> str:
    if depth == 0:
        return draw(simple)
    inside = suites(depth - 1, in_loop)
    turn = suites(depth - 1, True)
    return draw(
        st.one_of(
            simple,
            st.builds(layout, st.builds("if {}:".format, tests), inside),
            st.builds(layout, st.builds("if {}:".format, tests), inside, st.just("else:"), inside),
            st.builds(layout, st.builds("while {}:".format, tests), turn),
            st.builds(layout, st.builds("while {}:".format, tests), turn, st.just("else:"), inside),
            st.builds(layout, st.builds("for {} in items():".format, variables), turn),
            st.builds(layout, st.builds("for {} in items():".format, variables), turn, st.just("else:"), inside),
            st.builds(layout, st.builds("with manager() as {}:".format, variables), inside),
            st.builds(layout, st.just("with manager():"), inside),
            st.builds(layout, st.just("try:"), inside, st.just("finally:"), inside),
            st.builds(layout, st.just("try:"), inside, handlers, inside),
            st.builds(layout, st.just("try:"), inside, handlers, inside, st.just("else:"), inside),
            st.builds(layout, st.just("try:"), inside, handlers, inside, st.just("finally:"), inside),
            st.builds(layout, st.just("try:"), inside, st.just("except Other as x:"), inside, handlers, inside),
            st.builds(matching, inside, variables, inside, variables, inside),
        )
    )


handlers = st.sampled_from(
    ["except Error:", "except Error as e:", "except NameError as y:", "except (Error, NameError):", "except:"]
)


def layout(*parts: str) -> str:
    """Headers and suites in turn."""
    return "\n".join(part if number % 2 == 0 else textwrap.indent(part, "  ") for number, part in enumerate(parts))


def matching(first: str, guarded: str, second: str, capture: str, third: str) -> str:
    cases = layout("case 0:", first, f"case {guarded} if flip({guarded}):", second, f"case {capture}:", third)
    return "match number():\n" + textwrap.indent(cases, "  ")


DECLARED = "y: int; z: int; e: int\n"  # locals also where nothing binds them
programs = st.builds(lambda body: "def f(x):\n" + textwrap.indent(DECLARED + body, "  "), suites(2))

# The same programs, taking notes


class Noting(ast.NodeTransformer):
    """Puts the calls into a program: each takes the place, (line, column), that it speaks of."""

    def suite(self, statements: list[ast.stmt], first: str = "") -> list[ast.stmt]:
        """The statements, each between a note of its start and one of its end."""
        noted = ast.parse(first).body
        for statement in statements:
            place = (statement.lineno, statement.col_offset)
            noted += [*ast.parse(f"note('<', {place})").body, *self.visit_statement(statement)]
            noted += ast.parse(f"note('>', {place})").body
        return noted

    def visit_statement(self, node: ast.stmt) -> list[ast.stmt]:
        if not isinstance(node, ast.Delete):
            return [self.visit(node)]
        noted = []
        for target in node.targets:
            place = (target.lineno, target.col_offset)
            noted += [*ast.parse(f"try_to_read({place})").body, ast.Delete([target])]
            noted += ast.parse(f"was_read({place})").body
        return noted

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in ("body", "orelse", "finalbody"):
            if isinstance(statements := getattr(node, field, None), list):
                setattr(node, field, self.suite(statements))
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                setattr(node, field, self.visit(value))
            elif field not in ("body", "orelse", "finalbody", "targets"):
                setattr(node, field, [self.visit(v) for v in value] if isinstance(value, list) else value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in VARIABLES or not isinstance(node.ctx, ast.Load):
            return node
        return self.read(node)

    def read(self, node: ast.Name) -> ast.expr:
        place = (node.lineno, node.col_offset)
        return expression(f"read({place}, {node.id!r}, (try_to_read({place}), {node.id})[1])")

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        (target,) = node.targets
        node.value = bound(target.id, self.visit(node.value))
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = bound(node.target.id, self.visit(node.value))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        value = ast.Tuple([self.read(node.target), self.visit(node.value)], ast.Load())
        return ast.Assign([node.target], bound(node.target.id, value))

    def visit_While(self, node: ast.While) -> ast.stmt:
        place = (node.lineno, node.col_offset)
        self.generic_visit(node)
        # note() gives None, so that the test is the value
        node.test = ast.BoolOp(ast.Or(), [expression(f"note('@', {place})"), node.test])
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        node.iter = expression(f"turns({(node.lineno, node.col_offset)}, {node.target.id!r})")
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        node.type = node.type or expression("Exception")  # out of fuel is out of fuel
        node.body = self.suite(node.body, f"bind({node.name!r}, None)" if node.name else "")
        return node

    def visit_withitem(self, node: ast.withitem) -> ast.withitem:
        name = node.optional_vars.id if node.optional_vars is not None else None
        node.context_expr = expression(f"manager({name!r})")
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        name = getattr(node.pattern, "name", None)
        node.body = self.suite(node.body, f"bind({name!r}, None)" if name and not node.guard else "")
        if node.guard is not None:  # bind() gives None, so that the guard is the value
            node.guard = ast.BoolOp(ast.Or(), [expression(f"bind({name!r}, None)"), self.visit(node.guard)])
        return node


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def bound(name: str, value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("bind", ast.Load()), [ast.Constant(name), value], [])


class Error(Exception):
    pass


class OutOfFuel(BaseException):
    pass


class Run:
    """One run of a noting program; `choices` say how its conditions come out, and where it fails."""

    def __init__(self, choices: list[bool]) -> None:
        self.choices = choices
        self.fuel = FUEL
        self.notes: list[tuple[str, tuple[int, int]]] = []
        self.bound_at: dict[str, int] = {"x": 0}  # how many notes there were when each variable was last bound
        self.open_reads: list[tuple[int, int]] = []
        self.values_read: list[tuple[str, int, int]] = []  # name, bound after so many notes, read after so many

    def choose(self, *_: object) -> bool:
        self.burn()
        return self.choices.pop() if self.choices else False

    def burn(self) -> None:
        self.fuel -= 1
        if self.fuel < 0:
            raise OutOfFuel

    def note(self, mark: str, place: tuple[int, int]) -> None:
        self.burn()
        self.notes.append((mark, place))

    def bind(self, name: str, value: object) -> object:
        self.bound_at[name] = len(self.notes)
        return value

    def try_to_read(self, place: tuple[int, int]) -> None:
        self.open_reads.append(place)

    def was_read(self, place: tuple[int, int]) -> None:
        self.open_reads.remove(place)

    def read(self, place: tuple[int, int], name: str, value: object) -> object:
        self.was_read(place)
        self.values_read.append((name, self.bound_at[name], len(self.notes)))
        return value

    def fail(self, *_: object) -> object:
        if self.choose():
            raise Error
        return object()

    def number(self) -> int:
        return self.choose() + self.choose()

    def turns(self, place: tuple[int, int], name: str):
        for _ in range(2):
            self.note("@", place)
            if not self.choose():
                return
            yield self.bind(name, object())
        self.note("@", place)

    @contextlib.contextmanager
    def manager(self, name: str | None):
        swallows = self.choose()
        try:
            yield self.bind(name, object()) if name else None
        except (Error, NameError):
            if not swallows:
                raise

    def __call__(self, program: str) -> None:
        tree = ast.parse(program)
        (function,) = tree.body
        function.body = Noting().suite(function.body)
        names = dict(
            note=self.note, bind=self.bind, try_to_read=self.try_to_read, was_read=self.was_read, read=self.read,
            turns=self.turns, manager=self.manager, fail=self.fail, number=self.number, flip=self.choose,
            new=object, use=lambda *_: object(), items=lambda: [1] * self.choose(), Error=Error, Other=KeyError,
        )  # fmt: skip
        exec(compile(ast.fix_missing_locations(tree), "<program>", "exec"), names)
        with contextlib.suppress(Error, NameError, AssertionError, OutOfFuel):
            names["f"](object())


def check(program: str, facts: Facts, run: Run) -> None:
    risky = {(node.lineno, node.col_offset) for node in facts.maybe_unbound | facts.maybe_unbound_targets}
    assert set(run.open_reads) <= risky, "a read found its variable unbound"
    live = {"<": facts.live_before, ">": facts.live_after, "@": facts.live_head}
    statements = {(node.lineno, node.col_offset): node for node in facts.live_before}
    for name, bound_at, read_at in run.values_read:
        for mark, place in run.notes[bound_at:read_at]:
            assert name in live[mark][statements[place]], f"{name} is read after {mark}{place}"


@hypothesis.given(programs, st.lists(st.lists(st.booleans(), min_size=5, max_size=40), min_size=3, max_size=6))
def test_what_happens_was_foreseen(program: str, runs: list[list[bool]]):
    compile(program, "<program>", "exec")
    _, facts = function_and_facts(program)
    for choices in runs:
        run = Run(choices)
        run(program)
        check(program, facts, run)


def test_the_test_can_fail():
    """Facts of another program do not fit: a variable that is unbound, and one that is live."""
    run = Run([])
    program = "def f(x):\n  y = new()\n  use(y)\n  use(z)\n  z = 1"
    run(program)
    assert (run.open_reads, run.values_read) == ([(4, 6)], [("y", 1, 3)])
    for other in ("def f(x):\n  y = new()\n  use(y)\n  use(x)", "def f(x):\n  y = new()\n  use(x)\n  use(z)\n  z = 1"):
        _, facts = function_and_facts(other)
        try:
            check(program, facts, run)
        except AssertionError:
            continue
        raise RuntimeError("not noticed")
    check(program, function_and_facts(program)[1], run)


def test_places_are_those_of_gast():
    tree = gast.parse("if x:\n  y = (x)")
    assert [(n.lineno, n.col_offset) for n in gast.walk(tree) if isinstance(n, gast.Name)] == [(1, 3), (2, 2), (2, 7)]
