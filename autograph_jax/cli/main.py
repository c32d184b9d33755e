"""`autograph-jax show`, `explain`, `bench`, `port`, `check`, `demo` and `env`: options, exit codes and how errors are printed.

Exit codes: 0, it went well; 1, a function was refused, `check` found something, or a result is wrong; 2, the command was not
understood.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import traceback
from collections.abc import Iterator, Sequence

from autograph_jax import __version__
from autograph_jax.cli import bench, check, demo, explain, port, show
from autograph_jax.cli.targets import TargetError
from autograph_jax.errors import AutographError

_COMMANDS = {
    "show": (show, "print what a function becomes", show.EXAMPLES),
    "explain": (explain, "say what each line of a function becomes in a call", explain.EXAMPLES),
    "bench": (bench, "time a call: as Python, converted, compiled", bench.EXAMPLES),
    "port": (port, "port a function of NumPy code, and compare a call", port.EXAMPLES),
    "check": (check, "say what does not convert in files and folders", check.EPILOG),
}
_LIBRARIES = ("jax", "jaxlib", "numpy", "gast")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line on `argv`, or on the arguments of the process; the exit code."""
    options = _parser().parse_args(argv)
    try:
        return _run(options)
    except TargetError as error:
        print(f"autograph-jax {options.command}: error: {error}", file=sys.stderr)
        return 2
    except AutographError as error:
        print("".join(traceback.format_exception_only(error)), end="", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _run(options: argparse.Namespace) -> int:
    try:
        code = options.run(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # autograph-jax show solver.py:step | head
        # Python flushes stdout once more as it ends, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    text = "Python if, while, for, break, return and x[i] = v, staged as JAX control flow."
    parser = argparse.ArgumentParser(prog="autograph-jax", description=text)
    parser.add_argument("--version", action="version", version=f"autograph-jax {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", dest="command", required=True)

    for name, (module, help, epilog) in _COMMANDS.items():
        form = argparse.RawDescriptionHelpFormatter
        command = commands.add_parser(name, help=help, description=module.DESCRIPTION, epilog=epilog, formatter_class=form)
        module.add_arguments(command)
        command.set_defaults(run=module.run)

    text = "fit hares and lynxes with a solver in plain Python, and compare with SciPy"
    command = commands.add_parser("demo", help=text, description=f"{text[0].upper()}{text[1:]}.")
    demo.add_arguments(command)
    command.set_defaults(run=demo.run)

    text = "print versions and devices, for a bug report"
    command = commands.add_parser("env", help=text, description=f"{text[0].upper()}{text[1:]}.")
    command.set_defaults(run=_environment)
    return parser


def _environment(_: argparse.Namespace) -> int:
    for name, value in _facts():
        print(f"{name:14} {value}", flush=True)  # a device may take its time, or never answer
    return 0


def _facts() -> Iterator[tuple[str, str]]:
    yield "autograph_jax", __version__
    for library in _LIBRARIES:
        yield library, _version(library)
    yield "python", f"{platform.python_version()} ({platform.python_implementation()}, {sys.executable})"
    yield "platform", platform.platform()
    yield "devices", _devices()


def _version(library: str) -> str:
    import importlib.metadata  # a third of the time that --help takes

    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _devices() -> str:
    try:
        import jax

        return ", ".join(f"{device} ({device.device_kind})" for device in jax.devices())
    except Exception as error:  # no driver, or one that does not fit: that is what the report is about
        return "".join(traceback.format_exception_only(error)).strip()
