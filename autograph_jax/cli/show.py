"""`autograph-jax show solver.py:step` prints what a function becomes. It parses the file, and never imports it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from autograph_jax import __version__
from autograph_jax.cli import colours, differences, originals, programs, running, text
from autograph_jax.cli.targets import Definition, File, find
from autograph_jax.errors import Location, UnconvertibleError

DESCRIPTION = """\
Print the source of a function as it is after conversion. The file is parsed, never imported; for --jaxpr and --hlo it is
imported, and a call traced."""
EXAMPLES = """\
examples:
  autograph-jax show solver.py:bisection
  autograph-jax show package.module:Solver.step --diff
  autograph-jax show solver.py:bisection --jaxpr --args "cos, 1.0, 2.0"
"""
_HEADER = """\
# {place}, converted by autograph_jax {version}
from autograph_jax.runtime.namespace import operators
{operators} = operators()
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `show`."""
    parser.add_argument("target", metavar="TARGET", help="module:function, module:Class.method, or file.py:function")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--raw", action="store_true", help="exactly the text that is compiled")
    form.add_argument("--diff", action="store_true", help="what the conversion changed, as a unified diff")
    form.add_argument("--side-by-side", action="store_true", help="the source on the left, what it becomes on the right")
    form.add_argument("--jaxpr", action="store_true", help="the jaxpr of a call with --args, with your lines beside it")
    form.add_argument("--hlo", action="store_true", help="its StableHLO, with your lines beside it")
    parser.add_argument("--args", default="", metavar="ARGS", help=running.ARGS_HELP)
    parser.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="default: in a terminal")


def run(options: argparse.Namespace) -> int:
    """Print the converted function. Raises TargetError, or UnconvertibleError for one that stays as it is."""
    if options.jaxpr or options.hlo:
        print(programs.text(options))
        return 0
    file, definitions = find(options.target)
    colored = wants_color(options.color)
    for number, definition in enumerate(definitions):  # the parts of a property; `def` in the branches of an `if`
        made, operators = converted(file, definition)
        if number:
            print("\n")
        if options.raw:
            print(made.raw)
            continue
        place = f"{file.name}:{definition.first_line}"
        new = text.readable(made, definition.node, file.lines, definition.name, drop=file.autograph_names)
        if options.diff:
            old = originals.original(definition.node, file.lines)
            print(differences.diff(old, new, place, f"{place}, converted", colored=colored))
            continue
        if options.side_by_side:
            print(differences.side_by_side(originals.original(definition.node, file.lines), new, _columns()))
            continue
        if number == 0:
            header = _HEADER.format(place=place, version=__version__, operators=operators)
            new = f"{header}\n{new}"
        print(colours.highlighted(new) if colored else new)
    return 0


def _columns() -> int:
    return max(shutil.get_terminal_size((160, 40)).columns, 60)


def wants_color(choice: str) -> bool:
    """`always`, `never`, or `auto`: on a terminal that has colours, unless NO_COLOR is set (https://no-color.org)."""
    if choice != "auto":
        return choice == "always"
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


# Converting ------------------------------------------------------------------------------------------


def converted(file: File, definition: Definition) -> tuple[text.Text, str]:
    """The text that is compiled in place of the definition, and what it calls the operators: `ag__`.

    Raises UnconvertibleError with the reason why it stays as it is.
    """
    from autograph_jax.converters import convert_tree
    from autograph_jax.converters.unsupported import WAY_OUT, reason_to_leave
    from autograph_jax.syntax import emit
    from autograph_jax.syntax.translation import to_ast, to_gast

    tree = to_gast(definition.node)
    reason = reason_to_leave(tree)
    if reason is None:
        converted = convert_tree(tree, definition.class_name)
        return text.Text(emit.to_text(converted.tree), to_ast(converted.tree)), converted.names.operators
    why, node = reason
    raise UnconvertibleError(
        f"`{definition.name}` cannot be converted: {why}",
        location=_location(file, definition, node),
        help=WAY_OUT,
    )


def _location(file: File, definition: Definition, node) -> Location:
    line = file.lines[node.lineno - 1]
    column = originals.characters(line, node.col_offset)
    end = originals.characters(line, node.end_col_offset) if node.end_lineno == node.lineno else None
    return Location(file.name, node.lineno, column, end, definition.name)
