"""The rows of the errata: data from data/errata.toml, evidence computed on demand."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from inspect import isfunction
from typing import TYPE_CHECKING, Final

import pandas as pd

from dpcore.core.errors import DomainError
from dpcore.core.parameter import one_of
from dpcore.files.data import data_folder
from dpcore.labs.errata import (
    course,
    optimal,
    proofs,
    statistics_noise,
    statistics_series,
    statistics_utility,
    thesis,
    variation,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dpcore.labs.errata.claims import Evidence

FALSE, MISPRINT, READING, NOTE = "false", "misprint", "reading", "note"
"""Kinds of errata."""
KINDS: Final = {
    FALSE: "a computation within the statement's own range contradicts it; the numbers show where",
    MISPRINT: "a slip of the pen; the explanation shows what was meant",
    READING: "about the converted text: the conversion may have changed one mark of the source",
    NOTE: "true, but loose, left open, or proven with a gap",
}
"""What each kind of erratum means."""
_MODULES: Final = (thesis, variation, optimal, course, statistics_noise, statistics_utility, statistics_series, proofs)
# every public function of these modules computes one piece of evidence, named like it
EVIDENCE: Final[dict[str, Callable[[], Evidence]]] = {
    name: function
    for module in _MODULES
    for name, function in vars(module).items()
    if isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
}


@dataclass(frozen=True, slots=True)
class Source:
    """A source that the rows are about.

    Parameters
    ----------
    name : str
        As rows name it.
    title, reference : str
        For headings and lists.
    """

    name: str
    title: str
    reference: str


@dataclass(frozen=True, slots=True)
class Row:
    """One place where a source is wrong or could say more.

    Parameters
    ----------
    name, source, place : str
        Name of the row, name of the source, and the place in it.
    printed, corrected : str
        Markdown with LaTeX; in `printed`, formulas and words in quotation marks are quoted.
    kind : str
        One of `KINDS`.
    why : str
        The sentence that shows it.
    name_of_evidence : str, default ""
        Name of the computation; empty if there is only the sentence.
    added : bool, default False
        Whether it was found while checking the first list.
    fails : str, default ""
        Where a false statement fails.
    """

    name: str
    source: str
    place: str
    printed: str
    corrected: str
    kind: str
    why: str
    name_of_evidence: str = ""
    added: bool = False
    fails: str = ""

    def __post_init__(self) -> None:
        """Check the kind, and that every false statement, and no other, has its range and its computation."""
        one_of(f"The kind of the errata row {self.name}", KINDS).check(self.kind)
        if self.kind == FALSE and not self.name_of_evidence:
            msg = f"The row {self.name} calls a statement false and names no evidence."
            raise DomainError(msg)
        if (self.kind == FALSE) != bool(self.fails):
            msg = f"The row {self.name} must say where the statement fails if and only if it is false, got {self.fails!r}."
            raise DomainError(msg)
        if self.name_of_evidence and self.name_of_evidence not in EVIDENCE:
            msg = f"There is no evidence {self.name_of_evidence!r}, which the row {self.name} names."
            raise DomainError(msg)

    def computed(self) -> Evidence | None:
        """Return the computed evidence, if this row has one."""
        return EVIDENCE[self.name_of_evidence]() if self.name_of_evidence else None

    def evidence(self) -> tuple[str, pd.DataFrame | None]:
        """Return the evidence: a sentence, and the numbers behind it where there are any."""
        computation = self.computed()
        return (
            (self.why, None) if computation is None else (f"{self.why} {computation.text}".strip(), computation.frame)
        )


def data_file() -> Path:
    """Return the file of the rows."""
    return data_folder() / "errata.toml"


@lru_cache(maxsize=1)
def _read() -> tuple[tuple[Source, ...], tuple[Row, ...]]:
    file = tomllib.loads(data_file().read_text(encoding="utf-8"))
    sources = tuple(Source(**source) for source in file["source"])
    names = {source.name for source in sources}
    rows = []
    for row in file["row"]:
        if row["source"] not in names:
            msg = f"The row {row['name']} names the source {row['source']!r}; known are {', '.join(sorted(names))}."
            raise DomainError(msg)
        rows.append(Row(name_of_evidence=row.pop("evidence", ""), **row))
    return sources, tuple(rows)


def sources() -> tuple[Source, ...]:
    """Return the sources in the order of the rows."""
    return _read()[0]


def rows(source: str | None = None, kind: str | None = None) -> tuple[Row, ...]:
    """Return the rows, all of them or those of one source or kind.

    Parameters
    ----------
    source : str, optional
        Name of a source, as in `sources`.
    kind : str, optional
        One of `KINDS`.

    Returns
    -------
    tuple of Row
        In the order of the file.
    """
    return tuple(row for row in _read()[1] if source in (None, row.source) and kind in (None, row.kind))


def table() -> pd.DataFrame:
    """Return all rows as a table: name, source, place, printed, corrected, kind, why, evidence, added, fails."""
    columns = ["name", "source", "place", "printed", "corrected", "kind", "why", "evidence", "added", "fails"]
    cells = [
        (r.name, r.source, r.place, r.printed, r.corrected, r.kind, r.why, r.name_of_evidence, r.added, r.fails)
        for r in rows()
    ]
    return pd.DataFrame(cells, columns=columns)
