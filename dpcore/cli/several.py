"""Several expressions in one command: each has its own rows, and failures are reported by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.core.errors import DpcoreError
from dpcore.language import parse
from dpcore.regions.tradeoff import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from dpcore.regions.tradeoff import TradeOff


@dataclass(frozen=True)
class Answers:
    """The rows of the expressions that succeeded (None if none did), and a sentence for each that failed."""

    table: pd.DataFrame | None
    failures: tuple[str, ...]


def answers(expressions: Sequence[str], table: Callable[[TradeOff], pd.DataFrame]) -> Answers:
    """Return the tables of all expressions, one below the other; the error of a lone expression is raised unchanged."""
    import pandas as pd  # noqa: PLC0415  # slow to import and not needed for --help

    parts, failures = [], []
    for text in expressions:
        try:
            parts.append(table(parse(text)))
        except DpcoreError as error:
            if len(expressions) == 1:
                raise
            failures.append(f"{shorten(' '.join(text.split()))}: {error}")
    return Answers(pd.concat(parts, ignore_index=True) if parts else None, tuple(failures))
