"""``dpcore app``: the Streamlit app."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from dpcore.cli.options import Parser

HELP = "start the app in the browser; other options go to Streamlit, as in --server.port 8600"
TABLE = False
PASSES_ON = True


def configure(parser: Parser) -> None:
    """Add no arguments: all options belong to Streamlit."""
    parser.usage = "%(prog)s [STREAMLIT OPTIONS]"


def run(arguments: argparse.Namespace) -> int:
    """Hand over to Streamlit."""
    from dpcore.cli.app import run_app  # noqa: PLC0415  # not needed for --help

    return run_app(arguments.rest)
