"""The text that `show` prints: spelling, comments, and how long lines are broken."""

import ast
import textwrap

import pytest

from autograph_jax.cli import show, targets, text


def shown(source):
    """The readable text of the one function in `source`, and that it is the program that is compiled."""
    file = targets.File("f.py", source.split("\n"), ast.parse(source))
    [definition] = targets.definitions(file.tree.body)
    made, _ = show.converted(file, definition)
    new = text.readable(made, definition.node, file.lines, definition.name, drop=file.autograph_names)
    assert ast.unparse(ast.parse(new)) == ast.unparse(ast.parse(made.raw))
    return new


LONG = "alpha_alpha, beta_beta_beta, gamma_gamma"
LAYOUT = {  # name: source, text
    "the user's spelling": (
        'def f(x):\n    x = 1e-3, 0xff, "a", (x)  # why\n    return g(0xff, f"{x}", "a")\n',
        'def f(x):\n    x = 1e-3, 0xff, "a", (x)  # why\n    return ag__.call(g)(0xff, ag__.text(ag__.field(x, "", "")), "a")',
    ),
    "comments above the signature's end": (
        "def f(\n    x,  # m\n):\n    # nothing\n    return x\n",
        "def f(\n    x,  # m\n):\n    # nothing\n    return x",
    ),
    "comments above statements": (
        'def f(x):\n    """Doc."""\n    # one\n\n    # two\n    # three\n    x = 1  # four\n    return x\n',
        'def f(x):\n    """Doc."""\n    # one\n    # two\n    # three\n    x = 1  # four\n    return x',
    ),
    "the comments of equal statements": (
        "def f(x):\n    x = 1  # one\n    x = 1\n    y = 2; x = 1  # two\n    return x\n",
        "def f(x):\n    x = 1  # one\n    x = 1\n    y = 2\n    x = 1  # two\n    return x",
    ),
    "two spaces": ('def f(x):\n  """Doc."""\n  return x\n', 'def f(x):\n    """Doc."""\n    return x'),
    "a docstring alone": ('def f(x):\n    """Doc."""\n', 'def f(x):\n    """Doc."""'),
    "arguments share a line": (
        f"def f({LONG}):\n    return some_function({LONG}, some_other_function(another_function))\n",
        f"def f({LONG}):\n    return ag__.call(some_function)(\n        {LONG}, ag__.call(some_other_function)"
        "(another_function)\n    )",
    ),
    "a comprehension is one element": (
        f"def f({LONG}):\n    return [x * longest + 1.125 * y for x, y in zip(alpha_alpha, beta_beta_beta, longest)]\n",
        f"def f({LONG}):\n    return [\n        x * longest + 1.125 * y for x, y in "
        "ag__.call(zip)(alpha_alpha, beta_beta_beta, longest)\n    ]",
    ),
    "a lambda keeps its parameters": (
        f"def f({LONG}):\n    return apply(lambda x, y: alpha_alpha * beta_beta_beta + x * y, 'x', {{1: gamma_gamma}}, "
        "key=alpha_alpha)\n",
        f"def f({LONG}):\n    return ag__.call(apply)(\n        "
        "lambda x, y: alpha_alpha * beta_beta_beta + x * y, 'x', {1: gamma_gamma}, key=alpha_alpha\n    )",
    ),
    "a docstring inside is left alone": (
        f'def f():\n    def inner():\n        """Calls ({LONG}, {LONG}).\n\n        1e-3, 0x10 ({LONG}, {LONG})."""\n'
        "        return 1e-3, 0x10\n    return inner\n",
        f'def f():\n    def inner():\n        """Calls ({LONG}, {LONG}).\n\n        1e-3, 0x10 ({LONG}, {LONG})."""\n'
        "        return 1e-3, 0x10\n    return inner",
    ),
    "strings that span lines": (
        'def f(x):\n    return f"""{x}\'s\n    1e-3""", """a\n    b"""\n',
        "def f(x):\n    return (ag__.text(ag__.field(x, '', ''), \"'s\\n    1e-3\"), 'a\\n    b')",
    ),
    "an f-string without fields is left alone": (
        'def f(x):\n    return g(f"0.001 (a, b)", 1e-3)\n',
        "def f(x):\n    return ag__.call(g)(f'0.001 (a, b)', 1e-3)",
    ),
    "nothing to break": (
        f"def f():\n    return {'a' * 120} + b()\n",
        f"def f():\n    return {'a' * 120} + ag__.call(b)()",
    ),
}


@pytest.mark.parametrize("name", LAYOUT)
def test_layout(name):
    source, expected = LAYOUT[name]
    assert shown(source) == expected


COMMENTS = {  # name: source, text
    "of a statement that is changed": (
        """
        def f(x):
            y = g(
                x,  # what
            )  # why
            return y
        """,
        """
        def f(x):
            # what
            y = ag__.call(g)(x)  # why
            return y
        """,
    ),
    "of an if": (
        """
        def f(x):
            y = 0
            # which
            if x > 0:  # above
                y = 1
            # or
            else:  # below
                y = 2  # two
            return y
        """,
        """
        def f(x):
            y = 0

            # which
            def then():
                nonlocal y
                y = 1

            def otherwise():
                nonlocal y
                # or
                # below
                y = 2  # two
            ag__.if_stmt(x > 0, then, otherwise, 'y')  # above
            return y
        """,
    ),
    "of loops": (
        """
        def f(x, n):
            for i in range(n):  # each
                y = x * i
                # the end
            while x:  # on
                x = n  # n
            return x
        """,
        """
        def f(x, n):
            def body(i):
                y = x * i
            ag__.for_stmt(ag__.call(range)(n), body)  # each

            # the end
            def body():
                nonlocal x
                x = n  # n
            ag__.while_stmt(lambda: x, body, 'x')  # on
            return x
        """,
    ),
    "of what stays": (
        """
        def f(x):
            with x as y:  # file
                pass
            # made
            @make  # so
            def g(a):  # inner
                return a  # a
            match x:  # which
                case 1:  # one
                    y = g
            return y
        """,
        """
        def f(x):
            with x as y, ag__.Told():  # file
                pass
            ag__.ended()

            # made
            # so
            @ag__.call(make)
            def g(a):  # inner
                return a  # a

            # which
            def then():
                nonlocal y
                # one
                y = g
            ag__.if_stmt(x == 1, then, None, 'y')
            return y
        """,
    ),
    "of what is now a part": (
        """
        def f(x):
            if x:
                return 1  # gone
            return 2  # gone
        """,
        """
        def f(x):
            return ag__.if_stmt(x, lambda: 1, lambda: 2)
        """,
    ),
}


@pytest.mark.parametrize("name", COMMENTS)
def test_comments(name):
    source, expected = map(textwrap.dedent, COMMENTS[name])
    assert shown(source.lstrip("\n")) == expected.strip("\n")


def test_text_that_is_not_sure_to_be_the_same_program_is_not_shown(monkeypatch):
    monkeypatch.setattr(text, "_same_function", lambda candidate, function: False)
    assert shown("def f(x):\n    return 1e-8\n") == "def f(x):\n    return 1e-08"
