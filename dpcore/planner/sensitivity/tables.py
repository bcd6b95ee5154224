"""The sensitivities of a column, and the errors of all mechanisms that answer a query about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from dpcore.core.domains import DELTA, SEED
from dpcore.core.kinds import labelled
from dpcore.core.numerals import nearest, numeral
from dpcore.core.parameter import one_of
from dpcore.mechanisms.gaussian import largest_mu
from dpcore.planner.sensitivity.blocking import block_errors, noisy_quantile
from dpcore.planner.sensitivity.noise import BUDGET, SMOOTH, SmoothCauchy
from dpcore.planner.sensitivity.queries import MeanQuery, QuantileQuery, TrimmedMeanQuery, VarianceQuery
from dpcore.utility.inverse_sensitivity import QuantileInverse
from dpcore.utility.quantile import QuantileExponential

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.curves.base import FloatArray
    from dpcore.planner.sensitivity.queries import SensitiveQuery
    from dpcore.utility.dataset import Dataset

QUERIES: Final = ("mean", "quantile", "variance", "trimmed mean")
"""The statistics that `sensitive_query` knows."""
LEVELS: Final = (0.5, 0.95)
VALUES: Final = 1000  # evenly spaced answers of the inverse-sensitivity mechanism
SENSITIVITIES: Final = ("statistic", "sensitivity", "beta", "value", "share_of_global", "kind", "note")
MECHANISMS: Final = (
    "statistic",
    "mechanism",
    "sensitivity",
    "scale",
    "error_50",
    "error_95",
    "errors",
    "epsilon",
    "delta",
    "region",
)
OWNER: Final = "depends on the data: for their owner, not to be published"


def sensitive_query(statistic: str, *, probability: float = 0.5, trim: float = 0.1) -> SensitiveQuery:
    """Return a query by name.

    Parameters
    ----------
    statistic : str
        ``mean``, ``quantile``, ``variance`` or ``trimmed mean``.
    probability : float, default 0.5
        Which quantile.
    trim : float, default 0.1
        Share of records that a trimmed mean leaves out at each end.

    Examples
    --------
    >>> sensitive_query("quantile").smooth(np.array([0.1, 0.4, 0.5, 0.9]), 0.0, 1.0, 0.5)
    0.25
    """
    name = one_of("statistic", QUERIES).check(statistic)
    if name == "quantile":
        return QuantileQuery(probability)
    if name == "trimmed mean":
        return TrimmedMeanQuery(trim)
    return MeanQuery() if name == "mean" else VarianceQuery()


def sensitivity_table(
    data: Dataset, *, epsilon: float = 1.0, delta: float = 1e-6, probability: float = 0.5, trim: float = 0.1
) -> pd.DataFrame:
    """Return local, smooth and global sensitivities of mean, quantile, variance and trimmed mean.

    Parameters
    ----------
    data : Dataset
        One column of numbers within public bounds.
    epsilon, delta : float
        The target of the noise; it sets how fast a smooth sensitivity may change.
    probability : float, default 0.5
        Which quantile.
    trim : float, default 0.1
        Of the trimmed mean.

    Returns
    -------
    DataFrame
        Columns `statistic, sensitivity, beta, value, share_of_global, kind, note`; beta is 0 for the global and infinite for the
        local one.
    """
    x, low, high = _column(data)
    rows: list[tuple[Any, ...]] = []
    for name in QUERIES:
        query = sensitive_query(name, probability=probability, trim=trim)
        whole = query.largest(x.size, low, high)
        local = query.local(x, low, high)
        rows.append((query.label, "local", np.inf, local, local / whole, "exact", f"no noise may follow it; {OWNER}"))
        for cls in _offered(delta):
            beta = cls(epsilon, delta).beta
            value = query.smooth(x, low, high, beta)
            rows.append(
                (query.label, f"smooth, for {cls.name.split(',')[0]} noise", beta, value, value / whole, "exact", OWNER)
            )
        rows.append((query.label, "global", 0.0, whole, 1.0, "exact", "public: from n and the bounds alone"))
    return pd.DataFrame(rows, columns=list(SENSITIVITIES))


def smooth_table(data: Dataset, query: SensitiveQuery, betas: Iterable[float] | None = None) -> pd.DataFrame:
    """Return the smooth sensitivity against beta, beside the local and the global one.

    Returns
    -------
    DataFrame
        Columns `label, parameter, value, kind, low, high`.
    """
    x, low, high = _column(data)
    places = [float(f"{b:.3g}") for b in np.geomspace(1e-3, 3.0, 36)] if betas is None else [float(b) for b in betas]
    ends = {"local": query.local(x, low, high), "global": query.largest(x.size, low, high)}
    rows = [("smooth", b, query.smooth(x, low, high, b)) for b in places]
    rows += [(name, b, value) for name, value in ends.items() for b in places]
    table = pd.DataFrame(rows, columns=["label", "parameter", "value"])
    return table.assign(kind="exact", low=table["value"], high=table["value"])


def mechanism_table(
    data: Dataset,
    query: SensitiveQuery,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    blocks: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the errors on these data of every mechanism that answers the query, each with its true (epsilon, delta).

    Parameters
    ----------
    data : Dataset
        One column of numbers within public bounds.
    query : SensitiveQuery
        What `sensitive_query` returned.
    epsilon, delta : float
        The target of every mechanism; at delta 0, mechanisms that need a positive delta are left out.
    blocks : int, optional
        Number of blocks of blocking II; the square root of n by default.
    seed : int, default 0
        Seed of the partitions of blocking II.

    Returns
    -------
    DataFrame
        A row per mechanism: half of the releases are off by at most `error_50`, 95 of 100 by at most `error_95`, against
        the statistic of the values within the bounds. `errors` says how these were computed; `kind` is about epsilon and delta.
    """
    x, low, high = _column(data)
    BUDGET.check(epsilon)
    DELTA.but(high_open=True).check(delta)
    rows = [*_global_rows(query, x.size, low, high, epsilon, delta), *_smooth_rows(query, x, low, high, epsilon, delta)]
    if isinstance(query, QuantileQuery):
        rows += _choosing_rows(query, data, epsilon)
    rows.append(_block_row(query, data, epsilon, blocks, seed))
    frame = pd.DataFrame([row[:-2] for row in rows], columns=list(MECHANISMS[1:]))
    frame.insert(0, "statistic", query.label)
    return labelled(
        frame,
        kind=[row[-2] for row in rows],
        theorem=[row[-1] for row in rows],
        neighbours=["substitution"] * len(rows),
    )


def _column(data: Dataset) -> tuple[FloatArray, float, float]:
    data.check_numbers("A sensitivity")
    return data.ordered, data.low, data.high


def _offered(delta: float) -> list[Any]:
    """Return the kinds of smooth noise that this delta allows."""
    return [cls for cls in SMOOTH if delta > 0 or cls is SmoothCauchy]


def _global_rows(
    query: SensitiveQuery, n: int, low: float, high: float, epsilon: float, delta: float
) -> list[tuple[Any, ...]]:
    """Return Laplace and Gaussian noise scaled to the global sensitivity."""
    whole = query.largest(n, low, high)
    scale = whole / epsilon
    laplace = [-scale * float(np.log1p(-level)) for level in LEVELS]
    text = numeral(epsilon)
    rows: list[tuple[Any, ...]] = [
        (
            "Laplace, global",
            whole,
            scale,
            *laplace,
            "exact",
            epsilon,
            0.0,
            f"laplace({text})",
            "exact",
            "Laplace mechanism",
        )
    ]
    if delta > 0:
        mu = largest_mu(epsilon, delta)
        errors = [SMOOTH[2].reach(level) * whole / mu for level in LEVELS]
        about = ("exact", epsilon, delta, f"gdp({numeral(mu)})", "exact", "exact calibration of Gaussian noise")
        rows.append(("Gaussian, global", whole, whole / mu, *errors, *about))
    return rows


def _smooth_rows(
    query: SensitiveQuery, x: FloatArray, low: float, high: float, epsilon: float, delta: float
) -> list[tuple[Any, ...]]:
    """Return noise scaled to the smooth sensitivity."""
    rows: list[tuple[Any, ...]] = []
    for cls in _offered(delta):
        noise = cls(epsilon, delta)
        value = query.smooth(x, low, high, noise.beta)
        errors = [noise.reach(level) * noise.scale * value for level in LEVELS]
        true = noise.true_delta
        region = f"dp({numeral(epsilon)}, {numeral(true)})" if true else f"dp({numeral(epsilon)})"
        theorem = f"{noise.theorem}; β = {nearest(noise.beta, 4)}"
        rows.append((noise.name, value, noise.scale * value, *errors, "exact", epsilon, true, region, "upper", theorem))
    return rows


def _choosing_rows(query: QuantileQuery, data: Dataset, epsilon: float) -> list[tuple[Any, ...]]:
    """Return the exponential and the inverse-sensitivity mechanism, by their exact laws on these data."""
    inside = data.unclipped()
    truth = query.answer(inside.ordered)
    exponential = QuantileExponential(epsilon=epsilon, level=query.probability)
    errors = [exponential.distance_quantile(inside, level, truth) for level in LEVELS]
    region = f"exponential({numeral(epsilon)})"
    about = ("exact", epsilon, 0.0, region, "upper", "bounded range of the loss: holds for every dataset")
    inverse = QuantileInverse(epsilon=epsilon, level=query.probability, size=VALUES)
    off, chances = np.abs(inverse.options(inside) - truth), inverse.chances(inside)
    order = np.argsort(off, kind="stable")
    ladder = np.cumsum(chances[order])
    far = [float(off[order][min(int(np.searchsorted(ladder, level * ladder[-1])), off.size - 1)]) for level in LEVELS]
    return [
        ("exponential mechanism", 1.0, 2 / epsilon, *errors, *about),
        (f"inverse sensitivity, {VALUES} values", 1.0, 2 / epsilon, *far, *about),
    ]


def _block_row(query: SensitiveQuery, data: Dataset, epsilon: float, blocks: int | None, seed: int) -> tuple[Any, ...]:
    """Return blocking II, averaged over random partitions."""
    values = data.column
    m = max(1, round(values.size**0.5)) if blocks is None else blocks
    if blocks is None:
        m = max(1, min(m, values.size // query.fewest))
    rng = np.random.default_rng(SEED.check(seed))
    scale, shifts = block_errors(query, values, (data.low, data.high), m, epsilon, rng)
    errors = [noisy_quantile(shifts, scale, level) for level in LEVELS]
    name = f"blocking II, {m} block{'s' * (m != 1)}"
    theorem = "Laplace mechanism on the mean of block answers, bias included in the errors"
    return (
        name,
        scale * epsilon,
        scale,
        *errors,
        "simulation",
        epsilon,
        0.0,
        f"laplace({numeral(epsilon)})",
        "exact",
        theorem,
    )
