"""The indexes of the sources: no number between the first and the last statement, figure or table of a source is left out."""

from __future__ import annotations

from collections import defaultdict

import pytest

from dpcore.files.data import data_folder
from dpcore.site.sources import numbers, read_source

STATEMENTS = frozenset(
    ["theorem", "lemma", "proposition", "corollary", "definition", "remark", "example", "algorithm", "fallacy"]
)
# the last number of each run in the sources: per section where statements share one numbering, per kind where they do not
LAST = {
    "thesis": {"statement": 63, "figure 2": 5, "figure 3": 13, "figure 4": 1},
    "statistics": {
        "statement 2.1": 6,
        "statement 2.2": 4,
        "statement 2.3": 7,
        "statement 3.1": 2,
        "statement 3.2": 1,
        "statement 3.3": 1,
        "statement 3.5": 2,
        "statement 4.2": 3,
        "statement 4.3": 1,
        "statement 4.4": 3,
        "statement 4.5": 14,
        "statement 5.1": 5,
        "statement 5.2": 19,
        "statement 5.3": 6,
        "statement 5.4": 8,
        "statement 5.5": 5,
        "statement 5.7": 2,
        "statement 5.8": 7,
        "statement 6.3": 8,
        "statement 7.2": 6,
        "statement 7.4": 2,
        "statement 7.6": 1,
        "statement 7.7": 1,
        "statement 7.8": 3,
        "statement 7.9": 2,
        "figure 2": 2,
        "figure 3": 5,
        "figure 4": 1,
        "figure 5": 15,
        "figure 6": 5,
        "table 3": 4,
        "table 5": 2,
    },
    "variation": {
        "theorem": 8,
        "definition": 7,
        "proposition": 2,
        "corollary": 2,
        "remark": 5,
        "lemma": 3,
        "figure": 7,
    },
    "optimal": {"figure": 4, "statement 2": 5, "statement 3": 5},
}
FIRST = {("optimal", "statement 3"): 2}  # Theorem 3.1 of the paper is not mentioned in its supplement
# cited in the supplement by numbers of the paper, which start again in its appendices
ALONE = {"optimal": {("remark", "5.1"), ("remark", "A.1"), ("theorem", "4.3"), ("theorem", "4.4"), ("lemma", "1")}}


def runs(source: str) -> dict[str, set[int]]:
    """Return the last parts of the numbers that an index names, by the run that they belong to."""
    _, items = read_source(data_folder() / "sources" / f"{source}.toml")
    found: dict[str, set[int]] = defaultdict(set)
    for item in items:
        for kind, number in numbers(item.place) - ALONE.get(source, set()):
            head, _, last = number.rpartition(".")
            if kind in STATEMENTS:
                shared = kind if source == "variation" else "statement"
            elif kind in ("figure", "table"):
                shared = kind
            else:
                continue
            found[f"{shared} {head}".strip()].add(int(last))
    return found


@pytest.mark.parametrize("source", LAST)
def test_nothing_numbered_is_left_out(source: str) -> None:
    whole = {run: set(range(FIRST.get((source, run), 1), last + 1)) for run, last in LAST[source].items()}
    assert runs(source) == whole


@pytest.mark.parametrize("source", LAST)
def test_what_is_not_served_has_a_reason(source: str) -> None:
    _, items = read_source(data_folder() / "sources" / f"{source}.toml")
    assert [item.place for item in items if not item.see and not item.reason] == []
