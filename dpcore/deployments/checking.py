"""What follows from a record and what does not: its numbers, computed from each other, with their kinds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import kind
from dpcore.core.numerals import nearest, numeral
from dpcore.core.parameter import one_of
from dpcore.language import parse
from dpcore.ledger.filters import largest_rho
from dpcore.risk import measured
from dpcore.theorems.conversion import gaussian_fit
from dpcore.theorems.zcdp_tight import best_epsilon
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.deployments.record import Deployment, Stated
    from dpcore.regions.tradeoff import TradeOff

COLUMNS: Final = (
    "deployment",
    "quantity",
    "at",
    "stated",
    "value",
    "lower",
    "verdict",
    "words",
    "kind",
    "theorem",
    "neighbours",
)
"""Columns of a table of checked deployments."""
MEASURES: Final = ("mu", "advantage", "true_positive_rate")
FOLLOWS, ROUNDED, FAILS, NEW = "follows", "follows if rounded", "does not follow", "computed"
Row = tuple[str, str, float | None, float | None, float, float, str, str, str, str, str]


def check(deployment: Deployment) -> pd.DataFrame:
    """Compute what a record states from its other numbers, and say what follows.

    Parameters
    ----------
    deployment : Deployment
        The record.

    Returns
    -------
    DataFrame
        The columns of `COLUMNS`. `verdict` is ``follows`` (the published number is at least what follows), ``follows if
        rounded`` (only from a value that rounds to the published one), ``does not follow``, or ``computed`` for a number that
        the record does not state.
    """
    rows: list[Row] = []
    region = deployment.region
    if region is None:
        return pd.DataFrame(columns=list(COLUMNS))
    neighbours = _neighbours(deployment, region)
    rho, delta, epsilon = (deployment.numbers.get(name) for name in ("rho", "delta", "epsilon"))
    if rho is not None and delta is not None and delta.value > 0:
        rows += _concentrated(deployment, neighbours)
        if epsilon is not None and math.isfinite(epsilon.value) and delta.value < 1:
            rows.append(_back(deployment, epsilon, neighbours))
    elif epsilon is not None and deployment.number("mu") is None and rho is None:
        rows.append(_row(deployment, "delta", epsilon.value, delta.value if delta else 0.0, region, neighbours))
    if deployment.number("mu") is not None and delta is not None:
        rows.append(_epsilon_of_mu(deployment, neighbours))
    rows += _attacks(deployment, region, neighbours, MEASURES)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _neighbours(one: Deployment, region: TradeOff) -> str:
    return one.texts.get("neighbours", region.neighbours)


def _row(one: Deployment, quantity: str, at: float, value: float, region: object, neighbours: str) -> Row:
    words = f"The statement is (ε, δ) = ({nearest(at)}, {nearest(value)}); nothing else is to be computed from."
    return (
        one.name,
        quantity,
        at,
        value,
        value,
        value,
        FOLLOWS,
        words,
        "exact",
        f"the statement itself: {region}",
        neighbours,
    )


def _judged(upper: float, least: float, stated: Stated | None) -> str:
    """Judge a published ε: `upper` follows from its source, `least` from the least value that rounds to it."""
    if stated is None:
        return NEW
    if upper <= stated.value:
        return FOLLOWS
    return ROUNDED if least <= stated.ends[1] else FAILS


def _gaussian_epsilon(mu: float, delta: float) -> tuple[float, float]:
    """Return both sides of ε at δ of Gaussian privacy, with μ rounded up."""
    if mu <= 0:
        return 0.0, 0.0
    low, high = parse(f"gdp({numeral(math.nextafter(mu, math.inf))})").epsilon_bounds([delta])
    return float(low[0]), float(high[0])


def _concentrated(one: Deployment, neighbours: str) -> list[Row]:
    """Return ε at δ from ρ, by concentrated DP alone and for Gaussian noise."""
    rho, delta = one.numbers["rho"], one.numbers["delta"]
    stated = one.numbers.get("epsilon")
    upper = best_epsilon(rho.value, 0.0, delta.value)[0]
    least = best_epsilon(rho.ends[0], 0.0, delta.value)[0] if rho.ends[0] > 0 else 0.0
    theorem = "concentrated privacy to (ε, δ): Canonne, Kamath, Steinke 2020, Proposition 12"
    verdict = _judged(upper, least, stated)
    if stated is None:
        words = f"ρ = {rho.text} gives ε = {outward(upper, 5)} at δ = {delta.text}."
    elif verdict == FOLLOWS:
        words = f"ρ = {rho.text} gives ε = {outward(upper, 5)} at δ = {delta.text}; the published {stated.text} is not below it."
    elif verdict == ROUNDED:
        words = (
            f"ρ = {rho.text} itself gives ε = {outward(upper, 5)} at δ = {delta.text}, above the published {stated.text}; a ρ from "
            f"{nearest(rho.ends[0])} on, which rounds to {rho.text}, gives {outward(least, 5)} and more."
        )
    else:
        words = f"ρ = {rho.text} gives ε = {outward(upper, 5)} at δ = {delta.text}, which is above the published {stated.text}."
    shown = None if stated is None else stated.value
    rows: list[Row] = [
        (one.name, "epsilon", delta.value, shown, upper, 0.0, verdict, words, "upper", theorem, neighbours)
    ]
    low, high = _gaussian_epsilon(math.sqrt(2 * rho.value), delta.value)
    words = f"If all noise is Gaussian, as ρ = μ²/2 says, ε at δ = {delta.text} is {outward(high, 5)}."
    if stated is not None:
        words += f" The published {stated.text} is {'not below it' if high <= stated.value else 'below it'}."
    judged = _judged(high, _gaussian_epsilon(math.sqrt(2 * rho.ends[0]), delta.value)[1], stated)
    theorem = "Gaussian privacy of μ = √(2ρ)"
    rows.append(
        (one.name, "epsilon if Gaussian", delta.value, shown, high, low, judged, words, "upper", theorem, neighbours)
    )
    return rows


def _back(one: Deployment, epsilon: Stated, neighbours: str) -> Row:
    """Return the largest ρ from which the published ε at δ follows: the inverse of ε from ρ."""
    rho, delta = one.numbers["rho"], one.numbers["delta"]
    largest = largest_rho(epsilon.value, delta.value)
    found = f"ε = {epsilon.text} at δ = {delta.text} follows from every ρ up to {outward(largest, 5, up=False)}"
    if rho.value <= largest:
        verdict, words = FOLLOWS, f"{found}; the published {rho.text} is not above it."
    elif rho.ends[0] <= largest_rho(epsilon.ends[1], delta.value):
        verdict, words = ROUNDED, f"{found}; the published {rho.text} is above it, unless both were rounded."
    else:
        verdict, words = FAILS, f"{found}; the published {rho.text} is above it."
    theorem = "concentrated privacy to (ε, δ), solved for ρ: Canonne, Kamath, Steinke 2020, Proposition 12"
    return (one.name, "rho", delta.value, rho.value, largest, largest, verdict, words, "lower", theorem, neighbours)


def _epsilon_of_mu(one: Deployment, neighbours: str) -> Row:
    mu, delta = one.numbers["mu"], one.numbers["delta"]
    stated = one.numbers.get("epsilon")
    region = parse(f"gdp({numeral(mu.value)})")
    low, high = (float(side[0]) for side in region.epsilon_bounds([delta.value]))
    verdict = _judged(high, _gaussian_epsilon(mu.ends[0], delta.value)[1], stated)
    words = f"μ = {mu.text} gives ε = {outward(high, 5)} at δ = {delta.text}."
    shown = None if stated is None else stated.value
    return (
        one.name,
        "epsilon",
        delta.value,
        shown,
        high,
        low,
        verdict,
        words,
        kind(low, high, "upper"),
        region.theorem,
        neighbours,
    )


def _attacks(one: Deployment, region: TradeOff, neighbours: str, measures: Sequence[str]) -> list[Row]:
    """Return μ, the advantage or the true-positive rate at 1 %, computed from the strongest statement."""
    rows: list[Row] = []
    for measure in measures:
        if measure == "mu":
            rows += _gaussian(one, region, neighbours)
            continue
        at = 0.01 if measure == "true_positive_rate" else None
        value, what = measured(region, measure, 0.0 if at is None else at)
        words = f"{measure.replace('_', ' ')}{'' if at is None else f' at false positives of {nearest(at)}'}: at most {outward(value, 4)}."
        low = value if what == "exact" else 0.0
        rows.append(
            (one.name, measure, at, None, value, low, NEW, words.capitalize(), what, region.theorem, neighbours)
        )
    return rows


def _gaussian(one: Deployment, region: TradeOff, neighbours: str) -> list[Row]:
    """Return the smallest μ over the range of distinguishable rates; no rows if no finite one holds there."""
    try:
        fit = gaussian_fit(region)
    except DpcoreError:
        return []
    if fit is None:
        return []
    low, high = fit.mu
    words = f"The smallest μ of Gaussian privacy for false-positive rates from 1e-12 is {outward(high, 4)}."
    what = kind(low, high, "upper")
    return [(one.name, "mu", 1e-12, one.number("mu"), high, low, NEW, words, what, region.theorem, neighbours)]


def comparison(deployments: Sequence[Deployment], measure: str = "mu") -> pd.DataFrame:
    """Tabulate one number for all deployments, smallest first; those without numbers are left out.

    Parameters
    ----------
    deployments : sequence of Deployment
        The records.
    measure : str, default "mu"
        ``mu``, ``advantage`` or ``true_positive_rate`` (at false positives of 1 %).

    Returns
    -------
    DataFrame
        `name, curator, unit, period, model, statement, value, lower, kind, theorem, neighbours`.
    """
    rows = []
    one_of("measure", MEASURES).check(measure)
    for one in deployments:
        region = one.region
        computed = [] if region is None else _attacks(one, region, _neighbours(one, region), (measure,))
        if not computed:
            continue
        row = dict(zip(COLUMNS, computed[0], strict=True))
        facts = {name: one.texts.get(name, "") for name in ("curator", "unit", "period", "model")}
        numbers = ", ".join(f"{name} {stated.text}" for name, stated in one.numbers.items())
        values = {name: row[name] for name in ("value", "lower", "kind", "theorem", "neighbours")}
        rows.append({"name": one.name, **facts, "statement": numbers, **values})
    columns = [
        "name",
        "curator",
        "unit",
        "period",
        "model",
        "statement",
        "value",
        "lower",
        "kind",
        "theorem",
        "neighbours",
    ]
    table = pd.DataFrame(rows, columns=columns)
    return table.iloc[np.argsort(table["value"].to_numpy(dtype=float), kind="stable")].reset_index(drop=True)
