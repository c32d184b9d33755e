"""`explain`: what it says of each line, of the whole, and in which forms."""

import html.parser
import json
import os
import shutil
import subprocess
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax.operators import decisions


def staged_while(x):
    n = 0
    while x > 1:
        x = x / 2
        n += 1
    return n


def staged_for(x):
    for k in range(5):
        x = x * k
    return x


def staged_if(x):
    if x > 0:
        y = x
    else:
        y = 2 * x
        x = -x
    return x + y


def left_early(xs):
    for x in xs:
        if x > 2:
            break
    return x


def promoted(x):
    s = 0
    while x > 1:
        s = s + 0.5
        x = x / 2
    return s


def chosen(x):
    best = None
    while x > 1:
        best = x
        x = x / 2
    return best


def a_number(x):
    fact = 1
    for k in range(4):
        fact *= k + 1
        x = x + fact
    return x


def a_tuple(x):
    for name in ("a", "b"):
        x = x + len(name)
    return x


def marked(x):
    for k in ag.unroll(range(3)):
        x = x + k
    return x


def known(x):
    n = 8
    while n > 1:
        n = n // 2
        x = x + n
    return x


def fails_when_staged(x, names=("a", "b", "c", "d")):
    for k in range(4):
        x = x + len(names[int(k)])
    return x


def left_in_three_ways(x):
    for k in ag.stage(range(10)):
        if x > 5:
            break
        if x > 3:
            x = x + 2
            continue
        if x < 0:
            return x
        x = x + k
    return x


def helper(x):
    return x * 2


@ag.do_not_convert
def as_it_is(x):
    return x * 2


def calling(x):
    y = helper(x)
    return as_it_is(y)


def checked(x):
    while x > 1:
        assert x < 100, "too big"
        x = x / 2
    return [y for y in (x, 2 * x) if y > 0]


made = ag.checkpoint(helper)


def calling_made(x):
    return made(x)


class Row(NamedTuple):
    """A function, its arguments, and what is said of lines, by their numbers from the `def` on: the beginning of the text."""

    function: Any
    arguments: tuple[Any, ...]
    lines: dict[int, str]


ROWS = [
    Row(staged_while, (8.0,), {2: "lax.while_loop; carries n int32[], x float32[]", 3: "1 operation, float32[]"}),
    Row(staged_for, (8.0,), {1: "lax.scan of 5 turns; carries x float32[]"}),
    Row(staged_if, (8.0,), {1: "lax.cond; leaves x float32[], y float32[]", 6: "1 operation, float32[]"}),
    Row(left_early, (jnp.ones(4),), {1: "lax.while_loop; carries"}),
    Row(promoted, (8.0,), {2: "lax.while_loop; carries s float32[], x float32[]; `s` enters as 0 and is carried as float32[]"}),
    Row(chosen, (8.0,), {2: "lax.while_loop; carries best None or float32[], x float32[]; traced data chooses `best`"}),
    Row(a_number, (8.0,), {2: "Python, unrolled x4; a Python number is computed along the way"}),
    Row(a_tuple, (8.0,), {1: "Python, unrolled x2; Python takes the elements of a tuple one by one"}),
    Row(marked, (8.0,), {1: "Python, unrolled x3; it is marked: `ag.unroll`"}),
    Row(known, (8.0,), {2: "Python, unrolled x3; nothing that decides about it is traced"}),
    Row(fails_when_staged, (8.0,), {1: "Python, unrolled x4; tracing its body raised "}),
    Row(
        left_in_three_ways,
        (1.0,),
        {
            1: "lax.while_loop; carries ",
            2: "lax.cond; leaves x float32[]; may break or return float32[]",
            4: "lax.cond; leaves x float32[]; may return float32[]",
        },
    ),
    Row(checked, (8.0,), {1: "lax.while_loop; carries x float32[]", 4: "lax.cond; leaves value float32[] or nothing"}),
    Row(calling_made, (8.0,), {1: "1 operation, float32[]; calls `made`, converted"}),
    Row(
        calling,
        (8.0,),
        {1: "1 operation, float32[]; calls `helper`, converted", 2: "1 operation, float32[]; `as_it_is` is called as"},
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=[row.function.__name__ for row in ROWS])
def test_lines(row: Row):
    explained = ag.explain(row.function, *row.arguments, compile=False)
    function = explained.functions[0]
    first = function.lines[0].number
    assert (function.name, first) == (row.function.__name__, _first_line(row.function))
    for number, said in row.lines.items():
        line = function.lines[number]
        assert "; ".join([line.what, *line.details]).startswith(said)


def _first_line(function: Any) -> int:
    return function.__code__.co_firstlineno


def test_the_answer_comes_first():
    explained = ag.explain(a_number, 8.0)
    assert explained.answer[0] == "a_number: nothing staged, 1 loop unrolled by Python; 4 operations"
    assert explained.answer[1].startswith("forward mode: yes; reverse mode: yes; traced in ")
    assert repr(explained).startswith("\n".join(explained.answer))
    assert explained.compile_seconds and explained.trace_seconds > 0


def two_blocks(x):
    while x > 1:
        if x > 7:
            x = x - 1
        x = x / 2
    y = jnp.sin(x)
    for k in range(3):
        y = y * k
    return y


def test_what_is_compiled_apart():
    """Each outermost block; of what is in one of them, and of other lines, no such time can be told."""
    lines = ag.explain(two_blocks, 8.0).functions[0].lines
    assert [line.number - lines[0].number for line in lines if line.compile_seconds > 0] == [1, 6]
    assert lines[2].seconds > 0
    assert not any(line.compile_seconds for line in ag.explain(two_blocks, 8.0, compile=False).functions[0].lines)


def test_it_fits_on_a_screen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = repr(ag.explain(chosen, 8.0, compile=False))
    assert len(text.splitlines()) < 24 and max(map(len, text.splitlines()[3:])) <= 80


def test_a_branch_under_vmap_is_a_selection():
    explained = ag.explain(ag.vmap(staged_if), jnp.ones(3), compile=False)
    [function] = [function for function in explained.functions if function.name == "staged_if"]
    assert function.lines[1].what == "select, of both branches"


def test_functions_that_are_called_come_after():
    explained = ag.explain(calling, 8.0, compile=False)
    assert [function.name for function in explained.functions] == ["calling", "helper", "as_it_is"]
    assert explained.functions[1].lines[1].what == "1 operation, float32[]"


def halved_below_one(x):
    while True:
        x = x / 2
        if x < 1:
            break
    return x


def power(x, n):
    result = 1.0
    for _ in range(n):
        result = result * x
    return result


def test_what_jax_remembers_is_not_told_of_another_function():
    """JAX traces `where` once for all, here while another function is differentiated: that one is no part of this program."""
    jax.clear_caches()
    jax.grad(ag.autograph(power))(1.5, 4)
    jax.jit(jax.grad(ag.autograph(power)))(1.5, 4)
    explained = ag.explain(halved_below_one, 8.0, compile=False)
    assert [function.name for function in explained.functions] == ["halved_below_one"]


WAYS = {
    "plain": lambda: staged_while,
    "autograph": lambda: ag.autograph(staged_while),
    "ag.jit": lambda: ag.jit(staged_while),
    "jax.jit": lambda: jax.jit(ag.autograph(staged_while)),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_decorate(way: str):
    """Also of a function that has been called, and the second time."""
    function = WAYS[way]()
    ag.jit(staged_while)(8.0)
    for _ in range(2):
        explained = ag.explain(function, 8.0, compile=False)
        assert explained.functions[0].lines[2].details == ("carries n int32[], x float32[]", "kernel: the loop is one kernel")


def test_methods_and_static_arguments():
    class Model:
        rate = 0.5

        def step(self, x, method="halve"):
            while x > 1:
                x = x * self.rate if method == "halve" else x - 1
            return x

    explained = ag.explain(Model().step, 8.0, method="halve", compile=False)
    assert explained.static == ("method='halve'",)
    assert explained.captures == ("self.rate=0.5",)
    assert explained.functions[0].lines[1].what == "lax.while_loop"
    jitted = ag.jit(Model().step, static_argnames="method")
    assert ag.explain(jitted, 8.0, method="halve", compile=False).functions[0].lines[1].what == "lax.while_loop"


def test_static_arguments_of_every_kind():
    def described(x, *rest, **more):
        return x + len(rest[0]) if more["sign"] == "+" else x

    explained = ag.explain(described, 2.0, "name", 3.0, sign="+", compile=False)
    assert explained.static == ("1='name'", "sign='+'")


def test_derivatives():
    def counted(n):
        return n * 2

    def without_reverse(x):
        return jax.lax.while_loop(lambda y: y > 1, lambda y: y / 2, x)

    assert ag.explain(counted, 2, compile=False).derivatives["reverse"] == "no floats to differentiate"
    derivatives = ag.explain(without_reverse, 2.0, compile=False).derivatives
    assert derivatives["forward"] == "yes" and derivatives["reverse"].startswith("no, ValueError: Reverse-mode")


def test_as_json():
    data = json.loads(json.dumps(ag.explain(staged_while, 8.0).data()))
    assert data["functions"][0]["lines"][2]["kind"] == "while"
    assert data["operations"] > 2 and data["name"] == "staged_while"


def test_what_tracing_raises_is_raised():
    def growing(x):
        while x.sum() > 1:
            x = jnp.append(x, 0.0) / 2
        return x

    with pytest.raises(ag.ShapeError):
        ag.explain(growing, jnp.ones(3))


def test_nobody_hears_when_nobody_asks():
    assert decisions._listener.get() is None
    with decisions.listening(lambda decision: None):
        assert decisions.clock() > 0
    assert decisions._listener.get() is None and decisions.clock() == 0


# The page --------------------------------------------------------------------------------------------


class Page(html.parser.HTMLParser):
    """The tags of a page, and whether each that is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def quoting(x):
    if x > 0 and "<b>&" != "</pre>":
        x = x + 1
    return x


def test_the_page():
    explained = ag.explain(quoting, 8.0, compile=False)
    page = Page(explained.html())
    assert page.open == []
    tags = [tag for tag, _ in page.tags]
    assert not {"script", "link", "img", "iframe", "a"} & set(tags)
    attributes = [name for _, attrs in page.tags for name in attrs]
    assert not [name for name in attributes if name.startswith("on") or name in ("src", "href")]
    assert "http" not in explained.html() and "url(" not in explained.html() and "@import" not in explained.html()
    assert "&lt;b&gt;&amp;" in explained.html() and tags.count("details") >= 2
    assert explained._repr_html_() in explained.html()


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
def test_the_page_in_a_browser(tmp_path):
    """The browser finds each line, lays the page out without a scroll bar, and a line's operations open."""
    assert CHROMIUM is not None
    explained = ag.explain(staged_if, 8.0, compile=False)
    # The page itself has no script; the one of this test says what the browser has made of it.
    probe = """<script>
      const lines = document.querySelectorAll('.ag .line'), first = document.querySelector('details');
      const shown = () => first.querySelector('pre').checkVisibility(), before = shown();
      first.querySelector('summary').click();
      document.title = [lines.length, document.querySelectorAll('.staged').length, before, shown(),
        document.documentElement.scrollWidth <= innerWidth,
        new Set([...document.querySelectorAll('.what')].map(e => e.getBoundingClientRect().left)).size].join(' ');
    </script>"""
    file = tmp_path / "page.html"
    file.write_text(explained.html().replace("</body>", f"{probe}</body>"), encoding="utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [*command, "--window-size=1200,800", "--dump-dom", file.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"HOME": str(tmp_path)},
    )
    lines = len(explained.functions[0].lines)
    assert f"<title>{lines} 1 false true true 1</title>" in done.stdout
