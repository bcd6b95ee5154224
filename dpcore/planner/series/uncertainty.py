"""How far the uncertainty of a fit moves the least noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.planner.series.attacks import EVENT, least_noise, plan
from dpcore.planner.series.fit import MODELS, MOST_DRAWN, fit
from dpcore.planner.series.model import STATIONARY

if TYPE_CHECKING:
    from dpcore.planner.series.fit import Panel, SeriesFit


def noise_range(
    fitted: SeriesFit, releases: int, mu: float, level: str = EVENT, prior: str | float = STATIONARY
) -> tuple[float, float] | None:
    """Return the range of the least noise over the series that a table does not rule out, at 95 %.

    Parameters
    ----------
    fitted : SeriesFit
        A fit.
    releases, mu, level, prior : object
        As in `least_noise`.

    Returns
    -------
    tuple of float or None
        Pooled: over parameters within their intervals. Full: without the 2.5 % of draws at either end, a simulation with a fixed seed. None
        if there is no such series, or if some of them have no stationary law.
    """
    series = fitted.plausible()
    if not series or (prior == STATIONARY and any(one.radius >= 1.0 for one in series)):
        return None
    noises = []
    for place, one in enumerate(series):
        checkpoint(place / len(series))
        noises.append(least_noise(one, releases, mu, level, prior)[0])
    noises.sort()
    left_out = 0 if fitted.model.pooled else (len(noises) + 1) // 40 - 1
    return noises[left_out], noises[-1 - left_out]


def range_words(fitted: SeriesFit, releases: int, mu: float, prior: str | float = STATIONARY) -> str:
    """Return a sentence about the least noise for one value over the series that a table does not rule out."""
    ends = noise_range(fitted, releases, mu, prior=prior)
    users = len(fitted.variance)
    if ends is not None:
        low, high = (nearest(end, 3) for end in ends)
        how = (
            "With parameters of the fit within their 95 % intervals"
            if fitted.model.pooled
            else "For 95 % of the series that are plausible after this fit"
        )
        return f"{how}, the least noise at event level is {low} to {high}."
    if fitted.plausible():
        return (
            "Some series that the table does not exclude are unstable, so a stationary prior gives no upper end of the least noise; "
            "choose a flat prior, or plan for users."
        )
    if users > MOST_DRAWN:
        return f"The uncertainty of the fit is simulated for at most {MOST_DRAWN} users, got {users}."
    return (
        f"The uncertainty of the fit cannot be computed: a full fit of {users} users needs at least {2 * users + 2} times and values "
        f"that do not move together, got {fitted.pairs + 1} times."
    )


def both_plans(
    panel: Panel, releases: int, epsilon: float, delta: float, prior: str | float = STATIONARY
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the least noise by the pooled and the full fit, one below the other, and why one of them is missing.

    Parameters
    ----------
    panel : Panel
        Users and times.
    releases, epsilon, delta, prior : object
        As in `plan`.

    Returns
    -------
    DataFrame
        Columns ``model, parameters, freedom, radius``, then those of `plan`: `freedom` is the residual degrees of freedom of an equation,
        `radius` the largest size of an eigenvalue of A.
    tuple of str
        A sentence for each model that the table does not support.
    """
    tables, notes = [], []
    for model in MODELS:
        try:
            one = fit(panel, model)
            table = plan(one.model, releases, epsilon, delta, prior)
        except DomainError as error:
            notes.append(f"No {model} fit: {error}")
            continue
        facts: dict[str, str | float] = {
            "model": model,
            "parameters": len(one.frame()),
            "freedom": one.freedom,
            "radius": one.model.radius,
        }
        for place, (name, value) in enumerate(facts.items()):
            table.insert(place, name, value)
        tables.append(table)
    if not tables:
        raise DomainError(" ".join(notes))
    return pd.concat(tables, ignore_index=True), tuple(notes)
