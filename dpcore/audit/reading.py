"""A user's file of attack results: every row is read, or listed with the reason why it is not.

Nothing is stored: the bytes belong to the caller. Rows are streamed, so a million of them need little more than their numbers.
"""

from __future__ import annotations

import csv
import io
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.audit.columns import COUNTS, RATES, SCORES, Columns, find, label_in, number
from dpcore.audit.measurements import MOST_TESTS, Counts, Measurement, Scores, errors_of
from dpcore.core.domains import ALPHA
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.files.columns import MOST_ROWS, comma_sentence, is_comma_number
from dpcore.files.sheet import Sheet, filled, open_csv, rows_of
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_NAMED = 1000  # rows that are listed with their problem; the others are counted
_IN_SENTENCE = 3  # of them are quoted in the message
_EVERY = 20_000  # rows between two reports of progress

Row = tuple[int, list[str]]


@dataclass(frozen=True)
class AuditReading:
    """A file as a measurement: ``rows == complete + unscored + dropped``.

    Attributes
    ----------
    measurement : Measurement
        What was measured.
    kind : str
        ``scores``, ``counts`` or ``rates``.
    rows : int
        Rows with text in them, under the names.
    complete : int
        Rows that were read in full.
    unscored : int
        Rows with a label but no score, counted as errors of the attacker.
    dropped : int
        Rows left out.
    problems : tuple of tuple of (int, str)
        Line and reason of the rows that were not read as they are, the first thousand.
    messages : tuple of str
        All of this in sentences.
    """

    measurement: Measurement = field(repr=False)
    kind: str
    rows: int
    complete: int
    unscored: int
    dropped: int
    problems: tuple[tuple[int, str], ...]
    messages: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """Return `line, reason` of the rows that were not read as they are."""
        return pd.DataFrame(list(self.problems), columns=["line", "reason"])


def read_audit(
    data: bytes | Sheet, *, score: str | None = None, label: str | None = None, reverse: bool = False
) -> AuditReading:
    """Return the attack results of a CSV file.

    Parameters
    ----------
    data : bytes or Sheet
        The file's bytes, or what `dpcore.files.sheet.open_csv` made of them.
    score, label : str, optional
        Names of the two columns; by default the usual names are recognised (`dpcore.audit.columns`).
    reverse : bool, default False
        Whether a low score means a member.

    Returns
    -------
    AuditReading
        The measurement, and what happened to every row.

    Raises
    ------
    DomainError
        The file is not a table of attack results, or none of its rows can be read.
    """
    sheet = data if isinstance(data, Sheet) else open_csv(data)
    columns = find(sheet, score, label)
    notes = _FileNotes(comma=sheet.comma)
    rows = _rows(sheet, notes)
    measurement = (
        _scores(rows, columns, notes, reverse=reverse) if columns.kind == SCORES else _tests(rows, columns, notes)
    )
    return AuditReading(
        measurement,
        columns.kind,
        notes.rows,
        notes.rows - notes.unscored - notes.dropped,
        notes.unscored,
        notes.dropped,
        tuple(notes.problems),
        (*sheet.notes, *notes.words(columns.kind)),
    )


class _FileNotes:
    """What is counted while a file is read."""

    def __init__(self, *, comma: bool) -> None:
        self.comma = comma
        self.rows = self.unscored = self.dropped = self.rounded = 0
        self.problems: list[tuple[int, str]] = []
        self.commas: tuple[int, str, int] = (0, "", 0)  # values with a decimal comma, and the first with its line

    def number(self, line: int, cell: str, name: str) -> float:
        """Return the number in a cell, and count decimal commas."""
        value = number(cell, name, comma=self.comma)
        if self.comma and is_comma_number(cell.strip()):
            count, text, first = self.commas
            self.commas = (count + 1, text or cell.strip(), first or line)
        return value

    def name(self, line: int, reason: object) -> None:
        """List a row with its problem."""
        if len(self.problems) < MOST_NAMED:
            self.problems.append((line, str(reason).rstrip(".")))

    def drop(self, line: int, reason: object) -> None:
        """Leave a row out."""
        self.dropped += 1
        self.name(line, reason)

    def first(self) -> str:
        """Quote the first rows with their problems."""
        reasons = "; ".join(f"line {line}: {reason}" for line, reason in self.problems[:_IN_SENTENCE])
        rest = self.unscored + self.dropped - min(_IN_SENTENCE, len(self.problems))
        return f"{reasons}; and {grouped(rest)} more" if rest else reasons

    def nothing(self, what: str) -> DomainError:
        """Return the error of a file without any usable row."""
        if not self.rows:
            return DomainError("The file has 0 rows of data under its first line.")
        why = f": {self.first()}" if self.problems else ""
        return DomainError(f"The file has {_rows_words(self.rows)} of data, but {what}{why}.")

    def words(self, kind: str) -> list[str]:
        """Say how many rows were read, and what became of the others."""
        complete = self.rows - self.unscored - self.dropped
        what = {SCORES: "as scores with labels", COUNTS: "as tests with counts", RATES: "as tests with rates"}[kind]
        sentences = [f"{grouped(complete)} of {_rows_words(self.rows)} read {what}."]
        if self.unscored:
            sentences.append(
                f"{_rows_words(self.unscored)} without a score counted as errors of the attacker, which is the safe side."
            )
        if self.dropped:
            sentences.append(f"{_rows_words(self.dropped)} left out.")
        if self.commas[0]:
            count, text, line = self.commas
            sentences.append(comma_sentence(f"{grouped(count)} value{'s' * (count > 1)}", "", text, f"line {line}"))
        if self.problems:
            sentences.append(f"{self.first()[:1].upper()}{self.first()[1:]}.")
        if kind == RATES:
            sentences.append("Rates are taken as exact; if they were rounded, counts say more.")
        if self.rounded:
            sentences.append(
                f"In {_rows_words(self.rounded)} a rate times its trials is not a whole number; the errors were rounded up."
            )
        return sentences


def _rows_words(count: int) -> str:
    return f"{grouped(count)} row{'s' * (count != 1)}"


def _rows(sheet: Sheet, notes: _FileNotes) -> Iterator[Row]:
    """Yield rows with the line each ends on; empty lines are skipped, short rows are padded."""
    source = io.BytesIO(sheet.data)
    reader = csv.reader(io.TextIOWrapper(source, encoding=sheet.encoding, newline=""), delimiter=sheet.delimiter)
    width, begun = len(sheet.columns), not sheet.header
    for row in rows_of(reader):
        if not filled(row):
            continue
        if not begun:
            begun = True
            continue
        notes.rows += 1
        if notes.rows > MOST_ROWS:
            msg = f"The file has more than {grouped(MOST_ROWS)} rows; at most that many are read."
            raise DomainError(msg)
        if notes.rows % _EVERY == 0:
            checkpoint(source.tell() / len(sheet.data))
        yield reader.line_num, row + [""] * (width - len(row))


def _scores(rows: Iterator[Row], columns: Columns, notes: _FileNotes, *, reverse: bool) -> Scores:
    at_score, at_label = columns.places["score"], columns.places["label"]
    scores = (array("d"), array("d"))
    missing = [0, 0]
    for line, row in rows:
        try:
            member = label_in(row[at_label])
        except DomainError as error:
            notes.drop(line, error)
            continue
        try:
            score = notes.number(line, row[at_score], "score")
        except DomainError as error:
            notes.unscored += 1
            notes.name(line, f"{error}, counted as an error")
            missing[member] += 1
            continue
        scores[member].append(-score if reverse else score)
    outsiders, members = (np.array(part, dtype=np.float64) for part in scores)
    for name, scored in (("outsider (label 0)", outsiders), ("member (label 1)", members)):
        if not scored.size:
            why = f"none of them is a scored {name}; both kinds are needed"
            raise notes.nothing(why)
    return Scores(outsiders, members, (missing[0], missing[1]))


def _tests(rows: Iterator[Row], columns: Columns, notes: _FileNotes) -> Counts:
    """Read one test per row."""
    tests: list[tuple[int, int, int, int]] = []
    for line, row in rows:
        try:
            values = {role: notes.number(line, row[at], role) for role, at in columns.places.items()}
            test = _counts(values) if columns.kind == COUNTS else _rates(values, notes)
        except DomainError as error:
            notes.drop(line, error)
            continue
        tests.append(test)
        if len(tests) > MOST_TESTS:
            msg = f"The file has more than {grouped(MOST_TESTS)} tests; at most that many share one confidence level."
            raise DomainError(msg)
    if not tests:
        why = "none of them is a test that can be read"
        raise notes.nothing(why)
    return Counts(*(np.array(part, dtype=np.int64) for part in zip(*tests, strict=True)))


def _counts(values: dict[str, float]) -> tuple[int, int, int, int]:
    counts = Counts.one(tp=values["tp"], fp=values["fp"], tn=values["tn"], fn=values["fn"])
    return int(counts.tp[0]), int(counts.fp[0]), int(counts.tn[0]), int(counts.fn[0])


def _rates(values: dict[str, float], notes: _FileNotes) -> tuple[int, int, int, int]:
    out, own = values.get("n0", values.get("n", 0.0)), values.get("n1", values.get("n", 0.0))
    for name in ("fpr", "fnr", "tpr"):
        if name in values:
            ALPHA.but(name=name).check(values[name])
    missed = values["fnr"] if "fnr" in values else 1.0 - values["tpr"]
    fp, fn = errors_of(values["fpr"], out, "fpr"), errors_of(missed, own, "fnr")
    notes.rounded += abs(fp - values["fpr"] * out) > 1e-3 or abs(fn - missed * own) > 1e-3
    return int(own) - fn, fp, int(out) - fp, fn
