"""One number of a region as a parameter moves: the attacker's advantage, ε at one δ, an error rate and others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from dpcore import risk
from dpcore.charts.theme import PLAIN, Look
from dpcore.charts.utility import utility_figure
from dpcore.errors import DomainError
from dpcore.language.build import build
from dpcore.language.grammar import parse_syntax
from dpcore.language.syntax import fill
from dpcore.limits import checkpoint
from dpcore.registry import shown
from dpcore.tradeoff import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpcore.charts.figure import Figure
    from dpcore.tradeoff import TradeOff

COLUMNS: Final = ("label", "region", "parameter", "value", "kind", "low", "high")


@dataclass(frozen=True)
class Measure:
    """A number of a region: what it is called, where it is asked, and on which side a bound of it lies."""

    title: str
    value: Callable[[TradeOff, float], float]
    at: float | None = None
    of: str = ""
    upper: bool = True


def _one(found: Any) -> float:
    return float(np.ravel(found)[0])


MEASURES: Final[dict[str, Measure]] = {
    "epsilon": Measure("ε", lambda region, at: float(region.epsilon(at)), 1e-6, "δ"),
    "delta": Measure("δ", lambda region, at: _one(region.delta_bounds(at)[1]), 1.0, "ε"),
    "advantage": Measure("Advantage of the best attacker", lambda region, _: risk.advantage(region)),
    "equal_error_rate": Measure("Equal error rate", lambda region, _: risk.equal_error_rate(region), upper=False),
    "beta": Measure("False negatives β", lambda region, at: _one(region.beta_bounds(at)[0]), 0.05, "α", upper=False),
    "power": Measure(
        "Share of the people inside who are found",
        lambda region, at: _one(risk.true_positive_rate(region, at)),
        0.05,
        "α",
    ),
    "accuracy": Measure(
        "Chance of the best guess to be right", lambda region, at: _one(risk.best_accuracy(region, at)), 0.5, "prior"
    ),
    "posterior": Measure(
        "Largest belief after an answer", lambda region, at: _one(risk.best_posterior(region, at)), 0.5, "prior"
    ),
    "area": Measure("Area under the trade-off curve", lambda region, _: risk.area(region), upper=False),
}


def measure_named(name: str) -> Measure:
    """Return a measure, or say which there are."""
    if name not in MEASURES:
        msg = f"measure must be one of {', '.join(MEASURES)}, got {shown(name)}."
        raise DomainError(msg)
    return MEASURES[name]


def measure_table(
    patterns: Mapping[str, str] | Sequence[str], values: Sequence[float], measure: str, at: float | None = None
) -> pd.DataFrame:
    """Tabulate a measure of regions in which one number is left open.

    Parameters
    ----------
    patterns : expressions with one ``?``, such as ``laplace(?)``, by name or by themselves.
    values : numbers to put there; where one is outside the domain the library's error says so.
    measure : a name of `MEASURES`.
    at : the δ, ε, rate or prior that the measure is asked at.

    Returns
    -------
    DataFrame
        `label, region, parameter, value, kind, low, high`; a bound lies on the safe side.
    """
    asked = measure_named(measure)
    if at is not None and asked.at is None:
        msg = f"The measure {measure} is not asked at any value, got at = {shown(at)}."
        raise DomainError(msg)
    where = asked.at if at is None else at
    named = dict(patterns) if isinstance(patterns, Mapping) else {text: text for text in patterns}
    rows = []
    for index, (label, text) in enumerate(named.items()):
        tree = parse_syntax(text, allow_unknown=True)
        for step, value in enumerate(values):
            checkpoint((index + step / len(values)) / len(named))
            region = build(fill(tree, value), text.replace("?", literal(value)))
            found = asked.value(region, 0.0 if where is None else where) + 0.0
            kind = region.kind if asked.upper or region.kind != "upper" else "lower"
            rows.append((label, str(region), float(value), found, kind, found, found))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def measure_figure(  # noqa: PLR0913  # what is measured, and how its axes are called
    patterns: Mapping[str, str] | Sequence[str],
    values: Sequence[float],
    measure: str,
    *,
    at: float | None = None,
    parameter: str = "parameter",
    value: str = "",
    log_x: bool = False,
    log_y: bool = False,
    look: Look = PLAIN,
) -> Figure:
    """Return a line per pattern: the measure as the number left open moves; arguments as in `measure_table`."""
    asked = measure_named(measure)
    table = measure_table(patterns, values, measure, at)
    where = asked.at if at is None else at
    name = value or (asked.title if where is None else f"{asked.title} at {asked.of} = {where:g}")
    figure = utility_figure(table, parameter=parameter, value=name, look=look, log_x=log_x, log_y=log_y)
    return replace(figure, table=table)
