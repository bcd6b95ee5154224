"""The command line: each subcommand is one file of `dpcore.cli.commands`, named like the command."""

from dpcore.cli.program import main

__all__ = ["main"]
