"""Which theorem is best, and by how much, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.core.kinds import WORDS
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

_SAME = 1e-9
_PROMISES = ("exact", "upper")


def best(rows: pd.DataFrame) -> pd.Series | None:
    """Return the row of the smallest epsilon that is a promise, the earlier one of a tie; None if there is none.

    An approximation is never best: it promises nothing.
    """
    place = best_place(rows["epsilon"].tolist(), rows["kind"].tolist())
    return None if place is None else rows.iloc[place]


def best_place(epsilon: Sequence[float], kind: Sequence[str]) -> int | None:
    """Return the place of the smallest epsilon that is a promise in two columns, or None."""
    held = [(value, place) for place, value in enumerate(epsilon) if kind[place] in _PROMISES and value < math.inf]
    return min(held)[1] if held else None


def verdict(rows: pd.DataFrame, delta: float, titles: Sequence[str] | None = None) -> str:
    """Say which theorem is best for the k and delta of `rows`, and what the others give away.

    Parameters
    ----------
    rows : what `ladder` returns for one k.
    delta : the delta asked.
    titles : theorems to compare with; all by default. The best is the best of all.
    """
    return " ".join(part for part in (headline(rows, delta), gaps(rows, titles)) if part)


def headline(rows: pd.DataFrame, delta: float) -> str:
    """Name the best theorem and its epsilon."""
    asked = f"k = {grouped(int(rows['k'].iloc[0]))} and δ = {outward(delta, 6)}"
    top = best(rows)
    if top is None:
        return f"For {asked} no theorem promises any ε; with a larger δ one may."
    return f"For {asked}, **{top['title']}** is best: ε ≤ {outward(float(top['epsilon']), 4)} ({WORDS[top['kind']]})."


def gaps(rows: pd.DataFrame, titles: Sequence[str] | None = None) -> str:
    """Say how much more the other theorems cost, and what the approximation makes of it."""
    top = best(rows)
    shown = rows if titles is None else rows[rows["title"].isin(titles)]
    said = []
    if top is not None:
        smallest = float(top["epsilon"])
        others = [row for _, row in shown[shown["kind"].isin(["exact", "upper"])].iterrows()]
        others = sorted((r for r in others if r["theorem"] != top["theorem"]), key=lambda row: float(row["epsilon"]))
        equal = [str(row["title"]) for row in others if _same(float(row["epsilon"]), smallest)]
        worse = [_gap(row, smallest) for row in others if not _same(float(row["epsilon"]), smallest)]
        if equal:
            said.append(f"{_listed(equal)} {'gives' if len(equal) == 1 else 'give'} the same.")
        if worse:
            said.append(f"Others need more: {'; '.join(worse)}.")
    return " ".join([*said, *(_estimate(row) for _, row in shown[shown["kind"] == "approximate"].iterrows())])


def _same(a: float, b: float) -> bool:
    return a <= b * (1 + _SAME)


def _gap(row: pd.Series, smallest: float) -> str:
    value = float(row["epsilon"])
    if math.isinf(value):
        return f"{row['title']}: no ε at all"
    return f"{row['title']} {outward(value, 4)}{_more(value, smallest)}"


def _more(value: float, smallest: float) -> str:
    """Say how much larger a number is: in percent up to twice as much."""
    if smallest <= 0:
        return ""
    ratio = value / smallest
    if ratio >= 1.995:
        return f" ({ratio:.3g} times as much)"
    percent = 100 * (ratio - 1)
    return f" ({percent:.0f} % more)" if percent >= 1 else " (less than 1 % more)"


def _estimate(row: pd.Series) -> str:
    value = float(row["epsilon"])
    shown = "sees no ε that would do" if math.isinf(value) else f"puts ε at about {value:.4g}"
    return f"The central limit {shown}: an approximation, no promise."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
