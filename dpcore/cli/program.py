"""Find the command, run it and print its table; each error or warning is one line on standard error."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import warnings
from typing import TYPE_CHECKING, Protocol, cast

from dpcore.cli import commands, output
from dpcore.cli.options import Parser, add_common, join_negative
from dpcore.cli.several import Answers
from dpcore.core.effort import effort
from dpcore.core.errors import DpcoreError, ParseError
from dpcore.language.problems import nearest, quoted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    import pandas as pd

    Outcome = pd.DataFrame | Answers | int | None

DONE, MISTAKE, INTERRUPTED = 0, 2, 130


class CommandModule(Protocol):
    """The contents of a file of `dpcore.cli.commands`."""

    HELP: str

    def configure(self, parser: Parser) -> None:
        """Add the arguments of the command."""

    def run(self, arguments: argparse.Namespace) -> Outcome:
        """Compute the table; an integer is an exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after ``dpcore``; those of this process by default.

    Returns
    -------
    int
        0 if the command worked, 2 if an input was wrong, 130 if it was interrupted.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    code = DONE
    try:
        code = _dispatch(words)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_output()
    except (DpcoreError, OSError, MemoryError) as error:
        _say(f"error: {str(error) or 'out of memory'}")
        return MISTAKE
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    return code


def command_names() -> list[str]:
    """Return the names of the commands: the files of `dpcore.cli.commands`."""
    return sorted(module.name for module in pkgutil.iter_modules(commands.__path__))


def load(name: str) -> CommandModule:
    """Import the file of one command."""
    return cast("CommandModule", importlib.import_module(f"{commands.__name__}.{name}"))


def _dispatch(words: list[str]) -> int:
    """Choose the command by the first word, run it, and return its exit code."""
    names = command_names()
    if not words:
        msg = f"Name a command: {', '.join(names)}; dpcore --help explains them."
        raise ParseError(msg)
    first = words[0]
    if first in {"-h", "--help"}:
        width = max(map(len, names))
        lines = [f"  {name:<{width}}  {load(name).HELP}" for name in names]
        _print("usage: dpcore COMMAND ...\n\n", "\n".join(lines), "\n\ndpcore COMMAND --help explains one command.\n")
    elif first == "--version":
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  # slow and rarely needed

        try:
            _print(f"{version('dpcore')}\n")
        except PackageNotFoundError:
            _print("not installed\n")
    elif first in names:
        return _execute(first, words[1:])
    else:
        msg = f"Unknown command {quoted(first)}: {nearest(first, names) or 'choose one of ' + ', '.join(names) + '.'}"
        raise ParseError(msg)
    return DONE


def _execute(name: str, words: list[str]) -> int:
    """Parse the arguments of one command, run it within its limits, and print its table."""
    command = load(name)
    parser = Parser(prog=f"dpcore {name}", description=command.HELP)
    command.configure(parser)
    add_common(parser, table=bool(getattr(command, "TABLE", True)), tolerance=getattr(command, "TOLERANCE", None))
    try:
        arguments, rest = parser.parse_known_args(join_negative(words))
    except SystemExit:  # only --help exits here: mistakes are raised as ParseError
        return DONE
    if rest and not getattr(command, "PASSES_ON", False):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    arguments.rest = rest
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = _compute(command, arguments)
        finally:
            for text in dict.fromkeys(str(warning.message) for warning in caught):
                _say(f"warning: {text}")
    if isinstance(outcome, int):
        return outcome
    table, failures = (outcome.table, outcome.failures) if isinstance(outcome, Answers) else (outcome, ())
    if table is not None:
        output.write(table, sys.stdout, arguments.format)
        sys.stdout.flush()
    for text in failures:
        _say(f"error: {text}")
    return MISTAKE if failures else DONE


def _compute(command: CommandModule, arguments: argparse.Namespace) -> Outcome:
    """Run a command within the limits of its options."""
    with effort(tolerance=arguments.tolerance, deadline=arguments.deadline):
        return command.run(arguments)


def _print(*pieces: str) -> None:
    for piece in pieces:
        sys.stdout.write(piece)


def _say(text: str) -> None:
    """Write one line to standard error, whatever characters the text contains."""
    line = " ".join(text.splitlines())
    printable = "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
    sys.stderr.write(printable.encode("utf-8", "backslashreplace").decode() + "\n")


def _silence_output() -> None:
    """Redirect standard output to the null device once its reader has gone, so that Python exits without complaint."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, number)
    os.close(nothing)
