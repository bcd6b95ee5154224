"""Command-line arguments: mistakes are raised instead of printed, and negative numbers may follow an option."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from dpcore.core.domains import POSITIVE, TOLERANCE
from dpcore.core.effort import Effort
from dpcore.core.errors import DomainError, DpcoreError, ParseError
from dpcore.core.numerals import numeral
from dpcore.language.lists import parse_list
from dpcore.language.numbers import read_fraction, read_value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpcore.core.parameter import Parameter

_DEADLINE = POSITIVE.but(name="deadline")
_NEGATIVE = re.compile(r"-(?:[0-9.]|inf\b)")
_OPTION = re.compile(r"--[A-Za-z][A-Za-z0-9-]*")


class Parser(argparse.ArgumentParser):
    """An argument parser that raises `ParseError` instead of exiting."""

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
        """Add an option that takes a LIST; without it the value is None and the command uses its default."""
        words = f"{text}: 0,0.5,1 or 0:3:0.1 or 1e-9..1e-2/8 (default: {default})".replace("%", "%%")
        self.add_argument(option, metavar="LIST", type=number_list, help=words)

    def add_value(self, option: str, parameter: Parameter, text: str, *, exact: bool = False, **more: Any) -> None:
        """Add an option that takes one value of a parameter, which is checked before anything is computed."""
        self.add_argument(option, type=Reader(parameter, exact), help=text, **more)


def add_common(parser: Parser, *, table: bool, tolerance: float | None = None) -> None:
    """Add the options of every command; `tolerance` is the command's default, None for that of the library."""
    if table:
        parser.add_argument(
            "--format", choices=("csv", "json"), default="csv", help="format of the table (default: csv)"
        )
    words = f"relative width of a bracket, at most (default: {numeral(tolerance or Effort().tolerance)})"
    parser.add_value("--tolerance", TOLERANCE, words, default=tolerance)
    parser.add_value("--deadline", _DEADLINE, "stop with an error after this time", metavar="SECONDS")


def join_negative(words: list[str]) -> list[str]:
    """Rewrite ``--epsilon -1,0`` as ``--epsilon=-1,0``; argparse would take ``-1,0`` for an option."""
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
    """Read a LIST; argparse only shows the message of an `ArgumentTypeError`."""
    try:
        return parse_list(text)
    except DpcoreError as error:
        raise argparse.ArgumentTypeError(str(error).removesuffix(".")) from error


@dataclass(frozen=True)
class Reader:
    """Reads the value of an option; with `exact`, as the fraction of the typed decimals."""

    parameter: Parameter
    exact: bool = False

    def __call__(self, text: str) -> Any:
        """Return the value; argparse only shows the message of an `ArgumentTypeError`."""
        try:
            return read_fraction(self.parameter, text) if self.exact else read_value(self.parameter, text)
        except DomainError as error:
            raise argparse.ArgumentTypeError(str(error).removesuffix(".")) from error
