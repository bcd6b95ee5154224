"""A progress bar on standard error: one line that moves on a terminal, a few lines elsewhere."""

from __future__ import annotations

import sys
from typing import Final

BAR: Final = 28
NAME: Final = 34


class Progress:
    """Counts steps and shows their share of all."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet, self.total, self.count, self.tenths = quiet, 0, 0, -1

    def start(self, total: int) -> None:
        """Start with the number of steps."""
        self.total, self.count, self.tenths = total, 0, -1

    def step(self, name: str) -> None:
        """Take one step."""
        self.count += 1
        if self.quiet or not self.total:
            return
        share = self.count / self.total
        full = round(BAR * share)
        line = f"[{'#' * full}{'.' * (BAR - full)}] {self.count}/{self.total} {name[:NAME]:<{NAME}}"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{line}")
        elif int(10 * share) > self.tenths:  # at most ten lines in a log
            self.tenths = int(10 * share)
            sys.stderr.write(line.rstrip() + "\n")
        sys.stderr.flush()

    def end(self) -> None:
        """End the line."""
        if self.count and not self.quiet and sys.stderr.isatty():
            sys.stderr.write("\n")
