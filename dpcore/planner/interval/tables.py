"""A plan for data, all its numbers in one table, and its width as n or epsilon changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from dpcore.core.domains import COUNT, SEED
from dpcore.core.effort import checkpoint
from dpcore.core.numerals import nearest
from dpcore.core.parameter import one_of
from dpcore.planner.interval.moments import MeanPlan, MomentPlan, VariancePlan
from dpcore.planner.interval.proportion import ProportionPlan
from dpcore.planner.interval.quantile import QuantilePlan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.planner.interval.base import IntervalPlan
    from dpcore.utility.dataset import Dataset

PLANS: Final[dict[str, type[IntervalPlan]]] = {
    plan.name: plan for plan in (MeanPlan, ProportionPlan, QuantilePlan, VariancePlan)
}
"""The plans of an interval, by the statistic."""
AGAINST: Final = ("n", "epsilon")
COLUMNS: Final = ("statistic", "quantity", "value", "error", "kind", "note")
ALONE: Final = "for the owner of the data: no noise protects it"
WHOLE, SAMPLING, NOISE = "private interval", "sampling alone", "noise alone"
_RELEASES: Final = COUNT.but(name="releases", high=10**6)


def interval_plan(
    statistic: str,
    data: Dataset,
    *,
    epsilon: float,
    delta: float = 0.0,
    level: float = 0.95,
    noise: str = "gaussian",
    probability: float = 0.5,
    spread: float | None = None,
) -> IntervalPlan:
    """Return the plan of a private interval for these data; only the number of records and the bounds matter.

    Parameters
    ----------
    statistic : str
        ``mean``, ``proportion`` (of ones among zeros and ones), ``quantile`` or ``variance``.
    data : Dataset
        One column of numbers within public bounds.
    epsilon, delta : float
        Budget for everything that is released; Laplace noise does not use delta.
    level : float, default 0.95
        Share of intervals that should contain the truth.
    noise : str, default "gaussian"
        ``gaussian`` or ``laplace``.
    probability : float, default 0.5
        Which quantile.
    spread : float, optional
        Public guess of the standard deviation for which the split of a mean or variance is best.

    Examples
    --------
    >>> from dpcore.utility.samples import sample
    >>> plan = interval_plan("mean", sample("ages.age"), epsilon=1, delta=1e-6)
    >>> round(plan.share, 2), plan.covers
    (0.84, 'the population mean of values moved into [0, 100]')
    """
    cls = PLANS[one_of("statistic", tuple(PLANS)).check(statistic)]
    data.check_numbers(f"An interval for a {statistic}")
    own: dict[str, Any] = {"probability": probability} if cls is QuantilePlan else {}
    if issubclass(cls, MomentPlan):
        own["spread"] = spread
    return cls(data.n, data.low, data.high, epsilon, delta, level, noise, **own)


def interval_table(plan: IntervalPlan, data: Dataset, *, releases: int = 2000, seed: int = 0) -> pd.DataFrame:
    """Return everything about a plan for data: the truth, the privacy, the noise, half-widths, coverage, one release.

    Parameters
    ----------
    plan : IntervalPlan
        What `interval_plan` returned.
    data : Dataset
        The data.
    releases : int, default 2000
        How many intervals of resampled data to simulate.
    seed : int, default 0
        Seed of the simulation.

    Returns
    -------
    DataFrame
        Columns `statistic, quantity, value, error, kind, note`; error is a standard error, 0 where there is none.
    """
    values, rng = data.column, np.random.default_rng(SEED.check(seed))
    one, covered = plan.release(values, rng), plan.coverage(values, rng, _RELEASES.check(releases))
    half, bare, noise = plan.typical(values)
    name, fake = plan.name, "simulation only, not a release"
    inside, outside = plan.truth(values), plan.truth(data.raw_column)
    drawn = f"{releases} resamples of the data"
    rows: list[tuple[str, float, float, str, str]] = [
        (f"{name} of the data within the bounds", inside, 0.0, "exact", ALONE),
        *(
            [(f"{name} of the data as they came", outside, 0.0, "exact", f"{data.moved} values outside: not covered")]
            if data.moved
            else []
        ),
        ("n", plan.n, 0.0, "exact", "public"),
        ("level", plan.level, 0.0, "exact", f"of {plan.covers}; assumes {plan.assumes}"),
        ("epsilon", plan.epsilon, 0.0, "exact", "budget of all that is released"),
        ("delta", privacy_delta(plan), 0.0, *_privacy_kind(plan)),
        *((part, value, 0.0, "exact", "part of the plan: no data needed") for part, value in plan.parts().items()),
        ("half-width", half, 0.0, "approximate", f"typical of these data; {ALONE}"),
        ("half-width of sampling alone", bare, 0.0, "approximate", f"no privacy; {ALONE}"),
        (
            "half-width of noise alone",
            noise,
            0.0,
            "approximate" if name == "quantile" else "exact",
            "the whole data known",
        ),
        ("coverage", covered.share, covered.error, "simulation", drawn),
        ("mean half-width", covered.width / 2, 0.0, "simulation", drawn),
        ("low", one.low, 0.0, "simulation", fake),
        ("estimate", one.estimate, 0.0, "simulation", fake),
        ("high", one.high, 0.0, "simulation", fake),
    ]
    return pd.DataFrame([(name, *row) for row in rows], columns=list(COLUMNS))


def privacy_delta(plan: IntervalPlan) -> float:
    """Return the delta of all that is released at the epsilon of the budget."""
    return float(plan.region.delta(plan.epsilon)) if plan.noise == "gaussian" else 0.0


def _privacy_kind(plan: IntervalPlan) -> tuple[str, str]:
    if plan.noise == "laplace":
        return "exact", "Laplace noise needs no delta; neighbours substitute one record"
    kind = "upper" if plan.name == "variance" else "exact"
    return kind, f"Gaussian noise of mu {nearest(plan.strength)} in total; neighbours substitute one record"


def width_table(
    plan: IntervalPlan, data: Dataset, *, against: str = "n", values: Iterable[float] | None = None
) -> pd.DataFrame:
    """Return half-widths on data like these as n or epsilon changes, and those of sampling alone and of noise alone.

    Parameters
    ----------
    plan : IntervalPlan
        What `interval_plan` returned; everything else stays as in it.
    data : Dataset
        The data.
    against : str, default "n"
        ``n`` or ``epsilon``.
    values : iterable of float, optional
        Values of it; around the plan's own by default.

    Returns
    -------
    DataFrame
        Columns `label, parameter, value, kind, low, high`.
    """
    one_of("against", AGAINST).check(against)
    places = _places(plan, against) if values is None else list(values)
    summary, rows = plan.summary(data.ordered), []
    for at, place in enumerate(places):
        checkpoint(at / len(places))
        moved = (
            replace(plan, n=COUNT.but(name="n").check(place)) if against == "n" else replace(plan, epsilon=float(place))
        )
        parts = moved.reaches(summary)
        rows += [
            (label, float(place), part, "approximate", part, part)
            for label, part in zip((WHOLE, SAMPLING, NOISE), parts, strict=True)
        ]
    return pd.DataFrame(rows, columns=["label", "parameter", "value", "kind", "low", "high"])


def _places(plan: IntervalPlan, against: str) -> list[float]:
    """Return round values on both sides of the plan's value."""
    if against == "epsilon":
        return sorted({*(float(f"{value:.3g}") for value in np.geomspace(0.05, 10.0, 25)), float(plan.epsilon)})
    low, high = max(plan.fewest, plan.n // 100, 10), 100 * plan.n
    return sorted({*(float(f"{value:.2g}") for value in np.geomspace(low, high, 25)), float(plan.n)})
