"""One number of a region as a parameter moves: the attacker's advantage, ε at one δ, an error rate and others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pandas as pd

from dpcore import risk
from dpcore.charts.theme import PLAIN, Look
from dpcore.charts.utility import utility_figure
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.kinds import kind
from dpcore.core.parameter import one_of
from dpcore.core.registry import shown
from dpcore.language.build import build
from dpcore.language.grammar import parse_syntax
from dpcore.language.syntax import fill
from dpcore.regions.tradeoff import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpcore.charts.figure import Figure
    from dpcore.core.kinds import Side
    from dpcore.curves.base import Bounds
    from dpcore.regions.tradeoff import TradeOff

COLUMNS: Final = ("label", "region", "parameter", "value", "low", "high", "kind", "theorem", "neighbours")


@dataclass(frozen=True)
class Measure:
    """A number of a region with its kind: what it is called, and where it is asked."""

    title: str
    value: Callable[[TradeOff, float], tuple[float, str]]
    at: float | None = None
    of: str = ""


def _published(bounds: Bounds, safe: Side) -> tuple[float, str]:
    """Return the safe side of one number and its kind."""
    low, high = (float(bound[0]) for bound in bounds)
    return high if safe == "upper" else low, kind(low, high, safe)


def _of_risk(name: str) -> Callable[[TradeOff, float], tuple[float, str]]:
    return lambda region, at: risk.measured(region, name, at)


MEASURES: Final[dict[str, Measure]] = {
    "epsilon": Measure("ε", lambda region, at: _published(region.epsilon_bounds(at), "upper"), 1e-6, "δ"),
    "delta": Measure("δ", lambda region, at: _published(region.delta_bounds(at), "upper"), 1.0, "ε"),
    "advantage": Measure("Advantage of the best attacker", _of_risk("advantage")),
    "equal_error_rate": Measure("Equal error rate", _of_risk("equal_error_rate")),
    "beta": Measure("False negatives β", lambda region, at: _published(region.beta_bounds(at), "lower"), 0.05, "α"),
    "power": Measure("Share of the people inside who are found", _of_risk("true_positive_rate"), 0.05, "α"),
    "accuracy": Measure("Chance of the best guess to be right", _of_risk("best_accuracy"), 0.5, "prior"),
    "posterior": Measure("Largest belief after an answer", _of_risk("best_posterior"), 0.5, "prior"),
    "area": Measure("Area under the trade-off curve", _of_risk("area")),
}


def measure_named(name: str) -> Measure:
    """Return a measure, or say which there are."""
    return MEASURES[one_of("measure", MEASURES).check(name)]


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
        `label, region, parameter, value, low, high, kind, theorem, neighbours`; a bound lies on the safe side.
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
            number, what = asked.value(region, 0.0 if where is None else where)
            number += 0.0
            rows.append(
                (label, str(region), float(value), number, number, number, what, region.theorem, region.neighbours)
            )
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
