"""The commands as data, for the site's reference."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dpcore.cli.options import Parser, add_common
from dpcore.cli.program import command_names, load

if TYPE_CHECKING:
    from dpcore.site.reference.commands import Command

WIDTH = 96


def commands() -> list[Command]:
    """Return all commands with their usage and arguments as texts."""
    from dpcore.site.reference.commands import Command  # noqa: PLC0415  # needs the packages for a site

    entries = []
    for name in command_names():
        module = load(name)
        parser = Parser(prog=f"dpcore {name}", description=module.HELP)
        module.configure(parser)
        add_common(parser, table=bool(getattr(module, "TABLE", True)), tolerance=getattr(module, "TOLERANCE", None))
        rows = tuple(
            (_names(action), _help(parser, action)) for action in parser._actions
        )  # argparse has no public list of them
        entries.append(Command(name, module.HELP, _usage(parser), parser.epilog or "", rows))
    return entries


def _usage(parser: Parser) -> str:
    """Return the usage with a width that does not depend on the terminal."""
    formatter = argparse.HelpFormatter(parser.prog, width=WIDTH)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups)
    return formatter.format_help().strip()


def _names(action: argparse.Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    value = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else metavar
    if not action.option_strings:
        return value
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {value}"


def _help(parser: Parser, action: argparse.Action) -> str:
    text = action.help or ""
    return text % {**vars(action), "prog": parser.prog} if "%" in text else text
