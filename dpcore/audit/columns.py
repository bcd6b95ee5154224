"""What the columns of a file hold: scores with labels, counts of outcomes, or measured rates with numbers of trials."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.files.sheet import MISSING, number_in

if TYPE_CHECKING:
    from dpcore.files.sheet import Sheet

SCORES, COUNTS, RATES = "scores", "counts", "rates"
NAMES: dict[str, tuple[str, ...]] = {
    "score": ("score", "scores", "statistic", "attack_score"),
    "label": ("label", "labels", "member", "is_member", "membership", "in_data", "y"),
    "tp": ("tp", "true_positives", "true_positive"),
    "fp": ("fp", "false_positives", "false_positive"),
    "tn": ("tn", "true_negatives", "true_negative"),
    "fn": ("fn", "false_negatives", "false_negative"),
    "fpr": ("fpr", "false_positive_rate", "alpha"),
    "fnr": ("fnr", "false_negative_rate", "beta"),
    "tpr": ("tpr", "true_positive_rate", "power"),
    "n0": ("n0", "outsiders", "negatives", "non_members"),
    "n1": ("n1", "members", "positives"),
    "n": ("n", "trials"),
}
EXPECTED = (
    "An audit reads the columns score and label (1 for a member, 0 for an outsider), or tp, fp, tn and fn, or fpr and fnr "
    "(or tpr) with the numbers of trials n0 of outsiders and n1 of members (or n of each)"
)
_YES, _NO = ("1", "true"), ("0", "false")


@dataclass(frozen=True)
class Columns:
    """What a file holds, and at which place: role -> place of its column."""

    kind: str
    places: dict[str, int]


def find(sheet: Sheet, score: str | None = None, label: str | None = None) -> Columns:
    """Return what a file holds, by the names of its columns or by the two names given.

    Raises
    ------
    DomainError
        If the names are not known; the message lists those that are.
    """
    if (score is None) != (label is None):
        msg = "Name both columns, the scores and the labels, or neither."
        raise DomainError(msg)
    if score is not None and label is not None:
        return Columns(SCORES, {"score": sheet.place(score), "label": sheet.place(label)})
    places = {_plain(name): place for place, name in reversed(list(enumerate(sheet.columns)))}
    by_role = {role: places[name] for role, names in NAMES.items() for name in names[::-1] if name in places}
    for kind, roles in (
        (SCORES, ("score", "label")),
        (COUNTS, ("tp", "fp", "tn", "fn")),
        (RATES, ("fpr", "fnr", "n0", "n1")),
        (RATES, ("fpr", "tpr", "n0", "n1")),
        (RATES, ("fpr", "fnr", "n")),
        (RATES, ("fpr", "tpr", "n")),
    ):
        if all(role in by_role for role in roles):
            return Columns(kind, {role: by_role[role] for role in roles})
    msg = f"{EXPECTED}; this file has {', '.join(sheet.columns)[:200]}."
    raise DomainError(msg)


def _plain(name: str) -> str:
    return "_".join(name.strip().lower().replace("-", " ").split())


def number(cell: str, name: str, *, comma: bool) -> float:
    """Return the number in a cell, infinite ones included; raise with what is wrong.

    Parameters
    ----------
    cell : str
        The text of the cell.
    name : str
        Of the column, for the message.
    comma : bool
        Whether a single comma may be the decimal sign, as in files with semicolons between fields.

    Returns
    -------
    float
        May be infinite, never nan.
    """
    text = cell.strip()
    value = number_in(text, comma=comma)
    if value is not None:
        return value
    if text.lower() in MISSING:
        msg = f"{name} is missing" if not text else f"{name} is {value_text(text)}"
        raise DomainError(msg)
    try:
        infinite = float(text) if "_" not in text else math.nan
    except ValueError:
        infinite = math.nan
    if math.isinf(infinite):
        return infinite
    msg = f"{name} must be a number, got {value_text(text)}"
    raise DomainError(msg)


def label_in(cell: str) -> bool:
    """Return whether a label says member; raise if it is neither 0 nor 1."""
    text = cell.strip().lower()
    value = number_in(text)
    if text in _YES or value == 1.0:
        return True
    if text in _NO or value == 0.0:
        return False
    msg = f"label must be 0 or 1, got {value_text(cell.strip())}" if text else "label is missing"
    raise DomainError(msg)
