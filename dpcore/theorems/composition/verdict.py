"""Which theorem is best, and by how much, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from dpcore.core.kinds import WORDS
from dpcore.core.numerals import nearest
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

_SAME = 1e-9  # relative: two certified brackets of the same number differ by less
_PROMISES = ("exact", "upper")


class _Promise(NamedTuple):
    """A row of the ladder."""

    title: str
    theorem: str
    epsilon: float
    kind: str


def best(rows: pd.DataFrame) -> pd.Series | None:
    """Return the row of the smallest promised epsilon, the first of a tie; None if nothing is promised.

    An approximation is never best: it promises nothing.

    Parameters
    ----------
    rows : DataFrame
        Rows with `epsilon` and `kind`, as `ladder` returns them.

    Returns
    -------
    Series or None
        One of the rows.
    """
    place = best_place(rows["epsilon"].tolist(), rows["kind"].tolist())
    return None if place is None else rows.iloc[place]


def best_place(epsilon: Sequence[float], kind: Sequence[str]) -> int | None:
    """Return the place of the smallest promised epsilon, given both columns, or None."""
    promises = [(value, place) for place, value in enumerate(epsilon) if kind[place] in _PROMISES and value < math.inf]
    return min(promises)[1] if promises else None


def verdict(rows: pd.DataFrame, delta: float, titles: Sequence[str] | None = None) -> str:
    """Say which theorem is best for the k and delta of `rows`, and how much more the others cost.

    Parameters
    ----------
    rows : DataFrame
        What `ladder` returns for one k.
    delta : float
        The delta of `rows`.
    titles : sequence of str, optional
        Titles of the theorems to compare with; all by default. The best is the best of all theorems.

    Returns
    -------
    str
        The sentences of `headline` and `gaps`.
    """
    return " ".join(part for part in (headline(rows, delta), gaps(rows, titles)) if part)


def headline(rows: pd.DataFrame, delta: float) -> str:
    """Name the best theorem and its epsilon.

    Parameters
    ----------
    rows : DataFrame
        What `ladder` returns for one k.
    delta : float
        The delta of `rows`.

    Returns
    -------
    str
        One sentence.
    """
    question = f"k = {grouped(int(rows['k'].iloc[0]))} and δ = {outward(delta, 6)}"
    top = best(rows)
    if top is None:
        return f"For {question} no theorem promises any ε; with a larger δ one may."
    return (
        f"For {question}, **{top['title']}** is best: ε ≤ {outward(float(top['epsilon']), 4)} ({WORDS[top['kind']]})."
    )


def gaps(rows: pd.DataFrame, titles: Sequence[str] | None = None) -> str:
    """Say how much more the other theorems cost, and what the approximation gives.

    Parameters
    ----------
    rows : DataFrame
        What `ladder` returns for one k.
    titles : sequence of str, optional
        Titles of the theorems to compare with; all by default.

    Returns
    -------
    str
        Up to three sentences; empty if there is nothing to compare.
    """
    columns = [rows[name].tolist() for name in ("title", "theorem", "epsilon", "kind")]
    every = [
        _Promise(*row) for row in zip(*columns, strict=True)
    ]  # a Series for each row would take longer than the rest
    place = best_place([row.epsilon for row in every], [row.kind for row in every])
    selection = [row for row in every if titles is None or row.title in titles]
    sentences = []
    if place is not None:
        top = every[place]
        others = [row for row in selection if row.kind in _PROMISES and row.theorem != top.theorem]
        others.sort(key=lambda row: row.epsilon)
        equal = [row.title for row in others if _same(row.epsilon, top.epsilon)]
        worse = [_gap(row, top.epsilon) for row in others if not _same(row.epsilon, top.epsilon)]
        if equal:
            sentences.append(f"{_conjunction(equal)} {'gives' if len(equal) == 1 else 'give'} the same.")
        if worse:
            sentences.append(f"Others need more: {'; '.join(worse)}.")
    return " ".join([*sentences, *(_estimate(row) for row in selection if row.kind == "approximate")])


def _same(a: float, b: float) -> bool:
    return a <= b * (1 + _SAME)


def _gap(row: _Promise, smallest: float) -> str:
    if math.isinf(row.epsilon):
        return f"{row.title}: no ε at all"
    return f"{row.title} {grouped(outward(row.epsilon, 4))}{_more(row.epsilon, smallest)}"


def _more(value: float, smallest: float) -> str:
    """Say how much larger a number is: in percent up to twice as much."""
    if smallest <= 0:
        return ""
    ratio = value / smallest
    if ratio >= 1.995:
        return f" ({nearest(ratio, 3)} times as much)"
    percent = 100 * (ratio - 1)
    return f" ({percent:.0f} % more)" if percent >= 1 else " (less than 1 % more)"


def _estimate(row: _Promise) -> str:
    value = row.epsilon
    result = "sees no ε that would do" if math.isinf(value) else f"puts ε at about {grouped(nearest(value, 4))}"
    return f"The central limit {result}: an approximation, no promise."


def _conjunction(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
