"""The trade-off over a public bound: bias falls as the bound grows, noise grows with it.

Records outside the bounds are moved to them, which biases the answer; wider bounds need more noise. Both parts are known to
the owner of the data: the *bias alone* is the error of a release without noise, the *noise alone* that of data which end at
the bounds, and the *total* is the error of a release. The curve depends on the data, and a bound chosen from it
reveals something about them: see `LEAK`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.parameter import one_of
from dpcore.utility.simulate import RELEASES, cases_table, facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.random import Generator

    from dpcore.utility.base import Fact, UtilityPair
    from dpcore.utility.dataset import Dataset

SIDES = ("upper", "lower")
LEAK = (
    "This curve is computed from the private data: a bound chosen from it reveals something about them, and no noise in the "
    "release hides that. Choose the bound from what is known without the data, or from other data."
)
TOTAL, BIAS, NOISE = "total", "bias alone", "noise alone"
COLUMNS = ("label", "parameter", "value", "kind", "low", "high", "theorem")
_REACH = 20.0  # widths from a 20th to 20 times the present one
_POINTS = 41  # of the grid, evenly on a logarithmic axis


@dataclass(frozen=True)
class Parts:
    """What a measure is at one bound.

    Attributes
    ----------
    total : Fact
        The fact about a release.
    bias : float
        The measure of a release without noise.
    noise : Fact
        The fact about data that end at the bounds.
    """

    total: Fact
    bias: float
    noise: Fact


def at_bound(data: Dataset, side: str, value: float) -> Dataset:
    """Return the data with one public bound changed."""
    one_of("side", SIDES).check(side)
    return data.within(data.low, value) if side == "upper" else data.within(value, data.high)


def bound_grid(data: Dataset, side: str = "upper", points: int = _POINTS) -> list[float]:
    """Return bounds that make the range from a 20th to 20 times as wide, the present one among them; no record is looked at.

    Whole bounds stay whole.
    """
    width = data.high - data.low
    whole = data.low == round(data.low) and data.high == round(data.high)
    widths = [float(f"{x:.3g}") for x in np.geomspace(width / _REACH, width * _REACH, points)]
    widths = sorted({max(1.0, float(round(x))) for x in widths} if whole else {*widths})
    bounds = [data.low + x for x in widths] if side == "upper" else [data.high - x for x in widths]
    return sorted({*bounds, data.high if side == "upper" else data.low})


def parts(pair: UtilityPair, data: Dataset, measure: str) -> Parts:
    """Return total, bias alone and noise alone of one measure; a pair that bounds do not affect is refused."""
    _check(pair)
    noiseless = pair.errors(data, np.asarray(pair.centre(data), dtype=np.float64)[None])
    return Parts(_best(pair, data, measure), float(noiseless[measure][0]), _best(pair, data.unclipped(), measure))


def _check(pair: UtilityPair) -> None:
    if not pair.clips:
        msg = f"Bounds do not affect the {pair.query}; their trade-off is known for mean, sum, histogram, median and quantile."
        raise DomainError(msg)


def _best(pair: UtilityPair, data: Dataset, measure: str) -> Fact:
    """Return the fact to draw: the exact one, or the best bound on the safe side."""
    better = pair.measure_of(measure).larger_is_better
    candidates = [fact for fact in facts(pair, None, data) if fact.measure == measure and fact.about == "release"]
    for kind in ("exact", "lower" if better else "upper"):
        matches = [fact for fact in candidates if fact.kind == kind]
        if matches:
            return (max if better else min)(matches, key=lambda fact: fact.value)
    return candidates[0]


def bound_table(
    pair: UtilityPair,
    data: Dataset,
    *,
    side: str = "upper",
    values: Iterable[float] | None = None,
    measure: str | None = None,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return one measure against a public bound: total, bias alone and noise alone, and why some places are empty.

    Parameters
    ----------
    pair, data : UtilityPair or Dataset
        Query with mechanism, and the data.
    side : str, default "upper"
        Which bound moves, upper or lower.
    values : iterable of float, optional
        Its values; `bound_grid` by default.
    measure : str, optional
        The headline one by default.

    Returns
    -------
    DataFrame
        `label, parameter, value, kind, low, high, theorem`.
    tuple of str
        That the curve must not choose the bound, and why some places are empty.
    """
    target = pair.measure_of(measure or pair.measure)
    _check(pair)
    records = data if data.categories or data.d > 1 else data.in_order()
    rows: list[tuple[str, float, float, str, float, float, str]] = []
    refused: list[str] = []
    grid = list(bound_grid(data, side) if values is None else values)
    for index, value in enumerate(grid):
        checkpoint(index / len(grid))
        try:
            split = parts(pair, at_bound(records, side, value), target.name)
        except DomainError as error:
            refused.append(f"Nothing is drawn at {side} = {nearest(value)}: {error}")
            continue
        theorem = "error of a release without noise"
        rows += [_row(TOTAL, value, split.total), _row(NOISE, value, split.noise)]
        rows.append((BIAS, value, split.bias, "exact", split.bias, split.bias, theorem))
    if not rows:
        raise DomainError(refused[0] if refused else "A trade-off needs at least one bound, got none.")
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    rank = frame["label"].map({TOTAL: 0, BIAS: 1, NOISE: 2})
    frame = frame.assign(rank=rank).sort_values(["rank", "parameter"], kind="stable", ignore_index=True)
    return frame[list(COLUMNS)], (LEAK, *refused[:1])


def _row(label: str, value: float, fact: Fact) -> tuple[str, float, float, str, float, float, str]:
    return label, value, fact.value, fact.kind, fact.value, fact.value, fact.theorem


def bound_cases(
    pair: UtilityPair, data: Dataset, side: str, values: Sequence[float], rng: Generator, releases: int = RELEASES
) -> pd.DataFrame:
    """Return the table of `dpcore.utility.table` as a bound moves, with the columns `bias_alone` and `noise_alone`."""
    _check(pair)
    cases = [(value, pair, at_bound(data, side, value)) for value in values]
    frame = cases_table(side, cases, rng, releases)
    splits = {(value, m.name): parts(pair, cut, m.name) for value, _, cut in cases for m in pair.measures}
    columns = [splits[key] for key in zip(frame["value"], frame["measure"], strict=True)]
    return frame.assign(bias_alone=[p.bias for p in columns], noise_alone=[p.noise.value for p in columns])
