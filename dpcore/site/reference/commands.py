"""The page of the command line, from the arguments that the commands declare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.site.pages import Page
from dpcore.site.places import SitePlace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.site.compose import Composer

LEAD = """
`dpcore` is installed with the package. Tables go to standard output as CSV (`--format json` gives JSON) in full double
precision, with nothing else on standard output. A mistake is one line on standard error and exit code 2; a warning is
one line on standard error.

`LIST` is `0,0.5,1`, or `0:3:0.1` (both ends included), or `1e-9..1e-2/8` (8 values, evenly spaced on a log scale).
"""


@dataclass(frozen=True)
class Command:
    """A command with its arguments as texts."""

    name: str
    help: str
    usage: str
    epilog: str
    arguments: tuple[tuple[str, str], ...]


def command_page(section: str, commands: Sequence[Command]) -> Page:
    """Return the page of the command line."""
    return Page(
        f"{section}/command_line.html",
        section,
        "The command line",
        "All commands of `dpcore` with their arguments.",
        repr(list(commands)),
        (),
        lambda composer: _compose(composer, commands),
        "Tools",
        tuple(
            SitePlace("command", one.name, f"{section}/command_line.html", f"dpcore-{one.name}", f"`dpcore {one.name}`")
            for one in commands
        ),
    )


def _compose(composer: Composer, commands: Sequence[Command]) -> str:
    parts = [composer.md(LEAD)]
    for command in commands:
        parts += [
            composer.heading(f"`dpcore {command.name}`", name=f"dpcore-{command.name}"),
            composer.html("command.html", command=command),
        ]
    return "".join(parts)
