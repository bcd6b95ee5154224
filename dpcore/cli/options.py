"""Reading arguments: mistakes are raised, not printed, and negative numbers may follow an option."""

from __future__ import annotations

import argparse
import math
import re
from typing import TYPE_CHECKING, NoReturn

from dpcore.errors import DpcoreError, ParseError
from dpcore.lists import parse_list

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NEGATIVE = re.compile(r"-(?:[0-9.]|inf\b)")
_OPTION = re.compile(r"--[A-Za-z][A-Za-z0-9-]*")


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `ParseError` instead of leaving the program."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Raise the mistake as an error of this package."""
        msg = f"{message}; {self.prog} --help explains the arguments."
        raise ParseError(msg)

    def add_regions(self, *, many: bool = True) -> None:
        """Add the expressions: at least one, or exactly one."""
        self.add_argument("expressions", metavar="EXPR", nargs="+" if many else 1, help="a region, e.g. 'dp(1)^10'")

    def add_list(self, option: str, default: str, text: str) -> None:
        """Add an option that takes a LIST; without it the value is None and the command takes its default."""
        shown = f"{text}: 0,0.5,1 or 0:3:0.1 or 1e-9..1e-2/8 (default: {default})".replace("%", "%%")
        self.add_argument(option, metavar="LIST", type=number_list, help=shown)


def add_common(parser: Parser, *, table: bool) -> None:
    """Add the options of every command."""
    if table:
        parser.add_argument("--format", choices=("csv", "json"), default="csv", help="form of the table (default: csv)")
    parser.add_argument("--tolerance", type=number, help="relative width asked of a bracket (default: 1e-6)")
    parser.add_argument("--deadline", type=positive, metavar="SECONDS", help="stop with an error after this time")


def join_negative(words: list[str]) -> list[str]:
    """Write ``--epsilon -1,0`` as ``--epsilon=-1,0``; argparse would take ``-1,0`` for an option."""
    joined: list[str] = []
    for index, word in enumerate(words):
        if word == "--":
            return joined + words[index:]
        if joined and _NEGATIVE.match(word) and _OPTION.fullmatch(joined[-1]):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def number_list(text: str) -> NDArray[np.float64]:
    """Read a LIST; argparse keeps the words of an `ArgumentTypeError` only."""
    try:
        return parse_list(text)
    except DpcoreError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from error


def number(text: str) -> float:
    """Read one finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        msg = f"{text[:60]!r} is not a finite number"
        raise argparse.ArgumentTypeError(msg)
    return value


def positive(text: str) -> float:
    """Read one finite number above 0."""
    value = number(text)
    if value <= 0:
        msg = f"{text[:60]!r} is not above 0"
        raise argparse.ArgumentTypeError(msg)
    return value
