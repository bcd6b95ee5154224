"""Seeded simulation of releases beside what is known in closed form, as tidy frames."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpcore.core.domains import COUNT
from dpcore.core.effort import checkpoint, claim
from dpcore.core.errors import DomainError
from dpcore.core.registry import Parameter
from dpcore.utility.base import QUANTILE, RATE, Fact, UtilityMeasure, UtilityPair

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.utility.dataset import Dataset

RELEASES = 2000
_COUNT = Parameter("releases", "integer", low=2, high=10**8)
_NUMBERS_AT_ONCE = 2_000_000  # 16 MB per array
SIMULATED = ["measure", "simulated", "standard_error", "releases"]
CLOSED = ["parameter", "value", "measure", "closed_form", "kind", "theorem", "about"]
TABLE = ["parameter", "value", "measure", "closed_form", "simulated", "standard_error", "kind", "theorem", "about"]


def simulate(
    pair: UtilityPair,
    data: Dataset,
    rng: Generator,
    releases: int = RELEASES,
    *,
    progress: tuple[float, float] = (0.0, 1.0),
) -> pd.DataFrame:
    """Return what `releases` simulated releases say of every measure, with standard errors.

    Releases are drawn in chunks, so memory stays bounded; a listener of `dpcore.core.effort` is told about every chunk.

    Parameters
    ----------
    pair : UtilityPair
        Query, mechanism and parameters.
    data : Dataset
        The dataset; it is used as it is in every release.
    rng : numpy.random.Generator
        The source of randomness; the same seed gives the same frame.
    releases : int, default RELEASES
        How many, from 2 to 10^8.
    progress : tuple of (float, float), optional
        Which part of the whole work this is, for the listener.

    Returns
    -------
    DataFrame
        Columns `measure, simulated, standard_error, releases`, one row per measure of the pair.
    """
    releases = _COUNT.check(releases)
    measures = pair.measures
    claim(8.0 * len(measures) * releases, f"Keeping the errors of {releases} releases")
    errors_of = {m.name: np.empty(releases) for m in measures}
    chunk = max(1, min(releases, _NUMBERS_AT_ONCE // pair.width(data)))
    first, last = progress
    for start in range(0, releases, chunk):
        checkpoint(first + (last - first) * start / releases)
        count = min(chunk, releases - start)
        errors = pair.errors(data, pair.release(data, rng, count))
        for name, array in errors_of.items():
            array[start : start + count] = errors[name]
    rows = [(m.name, *_summary(m, errors_of[m.name]), releases) for m in measures]
    return pd.DataFrame(rows, columns=SIMULATED)


def _summary(measure: UtilityMeasure, errors: NDArray[np.float64]) -> tuple[float, float]:
    """Return the statistic of a measure and its standard error."""
    if not np.isfinite(errors).all():
        msg = f"The simulated {measure.label} is not finite in {np.count_nonzero(~np.isfinite(errors))} releases."
        raise DomainError(msg)
    n = len(errors)
    if measure.statistic == QUANTILE:
        return _quantile(errors, measure.level)
    mean = float(errors.mean())
    if measure.statistic == RATE:
        # one more of each outcome, so that a rate seen as 0 or 1 does not claim to be known exactly
        smooth = (float(errors.sum()) + 1.0) / (n + 2.0)
        return mean, math.sqrt(smooth * (1.0 - smooth) / n)
    return mean, float(errors.std(ddof=1)) / math.sqrt(n)


def _quantile(errors: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Return an order statistic, and a quarter of the gap between those two binomial deviations below and above."""
    n = len(errors)
    order = np.sort(errors)
    spread = 2.0 * math.sqrt(n * level * (1.0 - level))
    at = [min(n - 1, max(0, math.ceil(n * level + shift) - 1)) for shift in (-spread, 0.0, spread)]
    low, middle, high = (float(order[i]) for i in at)
    return middle, 0.25 * (high - low)


def closed_table(pair: UtilityPair, parameter: str, values: Iterable[float], data: Dataset) -> pd.DataFrame:
    """Return the closed forms as a parameter moves, one row per value and fact.

    Parameters
    ----------
    pair : UtilityPair
        Query and mechanism; its other parameters stay.
    parameter : str
        The name of one of its parameters, or ``n``, the number of records (the data keep their shares).
    values : iterable of float
        Values of the parameter.
    data : Dataset
        The dataset.

    Returns
    -------
    DataFrame
        Columns `parameter, value, measure, closed_form, kind, theorem, about`.
    """
    rows = [
        (parameter, value, fact.measure, float(fact.value), fact.kind, fact.theorem, fact.about)
        for value in _value_list(values)
        for fact in facts(*moved(pair, parameter, value), data)
    ]
    return pd.DataFrame(rows, columns=CLOSED)


def table(
    pair: UtilityPair,
    parameter: str,
    values: Iterable[float],
    data: Dataset,
    rng: Generator,
    releases: int = RELEASES,
) -> pd.DataFrame:
    """Return closed forms beside simulations as a parameter moves, one row per value and fact.

    Columns: `parameter, value, measure, closed_form, simulated, standard_error, kind, theorem, about`. `kind` says
    what `closed_form` is: the exact value, an upper or lower bound, or an approximation; a measure with several facts
    has several rows with the same simulated number. A measure without a known closed form has one true, if weak, row:
    the lower bound 0 (see `facts`). So no cell is empty.

    Parameters
    ----------
    pair : UtilityPair
        Query and mechanism; its other parameters stay.
    parameter : str
        The name of one of its parameters. (``n`` cannot be simulated with the data at hand.)
    values : iterable of float
        Values of the parameter.
    data, rng, releases : Dataset or numpy.random.Generator or int
        As in `simulate`, at every value; every value has randomness of its own.
    """
    cases = []
    for value in _value_list(values):
        at, n = moved(pair, parameter, value)
        if n is not None:
            msg = "A table with simulations moves a parameter of the pair; n, the number of records, has closed forms only."
            raise DomainError(msg)
        cases.append((value, at, data))
    return cases_table(parameter, cases, rng, releases)


def cases_table(
    parameter: str, cases: Sequence[tuple[float, UtilityPair, Dataset]], rng: Generator, releases: int = RELEASES
) -> pd.DataFrame:
    """Return closed forms beside simulations, one row per case and fact, as `table` does.

    Parameters
    ----------
    parameter : str
        What tells the cases apart: a parameter of the pair, or something of the data, such as ``n`` or ``upper``.
    cases : sequence of tuple of (float, UtilityPair, Dataset)
        Its value, the pair and the data of each.
    rng, releases : numpy.random.Generator or int
        As in `simulate`; every case has randomness of its own.
    """
    rows = []
    for index, ((value, pair, data), own) in enumerate(zip(cases, rng.spawn(len(cases)), strict=True)):
        part = (index / len(cases), (index + 1) / len(cases))
        estimates = {row[0]: row[1:3] for row in simulate(pair, data, own, releases, progress=part).to_numpy().tolist()}
        for fact in facts(pair, None, data):
            closed = (fact.measure, float(fact.value), *estimates[fact.measure])
            rows.append((parameter, value, *closed, fact.kind, fact.theorem, fact.about))
    return pd.DataFrame(rows, columns=TABLE)


def facts(pair: UtilityPair, n: int | None, data: Dataset) -> list[Fact]:
    """Return the closed forms in the order of the measures; a measure without any gets the lower bound 0.

    Parameters
    ----------
    pair : UtilityPair
        Query and mechanism.
    n : int or None
        As if the data had n records with the same shares; None for the data as they are.
    data : Dataset
        The dataset.

    Returns
    -------
    list of Fact
        At least one for every measure.
    """
    closed_forms = pair.closed_forms(data, n)
    out = []
    for measure in pair.measures:
        own = [fact for fact in closed_forms if fact.measure == measure.name]
        out += own or [Fact(measure.name, 0.0, "lower", "no closed form is known; the measure is never negative")]
    return out


def moved(pair: UtilityPair, parameter: str, value: float) -> tuple[UtilityPair, int | None]:
    """Return the pair with one parameter set, and the number of records if that is what was set."""
    if parameter != "n" or "n" in {p.name for p in pair.parameters()}:
        whole = {p.name: p.kind for p in pair.parameters()}.get(parameter) == "integer"
        return pair.but(**{parameter: int(value) if whole and float(value).is_integer() else value}), None
    return pair, COUNT.but(name="n").check(value)


def _value_list(values: Iterable[float]) -> list[Any]:
    items = [value.item() if hasattr(value, "item") else value for value in values]
    if not items:
        msg = "A table needs at least one value of its parameter, got none."
        raise DomainError(msg)
    return items
