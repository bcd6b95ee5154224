"""The ledger: all releases about the same people, what they reveal together, and what fits into a budget."""

from __future__ import annotations

from dpcore.ledger.answers import answers, headline, reason, verdict
from dpcore.ledger.bounds import TITLES, Total, theorems, total
from dpcore.ledger.budget import Budget, More, Spending, check_row, more, more_words, spending
from dpcore.ledger.costs import costs
from dpcore.ledger.filtering import ASSUMPTION, CHOICE, filter_table, filter_words, may_release, may_words
from dpcore.ledger.filters import Filter, Price, filters
from dpcore.ledger.reading import LedgerEntry, LedgerReading, open_ledger, read_ledger
from dpcore.ledger.records import COLUMNS, Ledger, Release
from dpcore.ledger.writing import to_csv, to_frame, to_json

__all__ = [
    "ASSUMPTION",
    "CHOICE",
    "COLUMNS",
    "TITLES",
    "Budget",
    "Filter",
    "Ledger",
    "LedgerEntry",
    "LedgerReading",
    "More",
    "Price",
    "Release",
    "Spending",
    "Total",
    "answers",
    "check_row",
    "costs",
    "filter_table",
    "filter_words",
    "filters",
    "headline",
    "may_release",
    "may_words",
    "more",
    "more_words",
    "open_ledger",
    "read_ledger",
    "reason",
    "spending",
    "theorems",
    "to_csv",
    "to_frame",
    "to_json",
    "total",
    "verdict",
]
