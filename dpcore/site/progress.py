"""A progress bar on standard error: one line that moves on a terminal, a few lines elsewhere."""

from __future__ import annotations

import sys
from typing import Final

BAR: Final = 28
NAME: Final = 34


class Progress:
    """Counts steps and shows how far they are."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet, self.total, self.count, self.said = quiet, 0, 0, -1

    def start(self, total: int) -> None:
        """Begin with so many steps."""
        self.total, self.count, self.said = total, 0, -1

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
        elif int(10 * share) > self.said:  # a log needs no more than ten lines
            self.said = int(10 * share)
            sys.stderr.write(line.rstrip() + "\n")
        sys.stderr.flush()

    def done(self) -> None:
        """End the line."""
        if self.count and not self.quiet and sys.stderr.isatty():
            sys.stderr.write("\n")
