"""One number of a region as a parameter changes: the attacker's advantage, ε at one δ, an error rate and others."""

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
from dpcore.core.numerals import nearest
from dpcore.core.parameter import one_of
from dpcore.core.registry import value_text
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
class RegionMeasure:
    """A number of a region with its kind, its title, and the default of its argument, if it has one."""

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


MEASURES: Final[dict[str, RegionMeasure]] = {
    "epsilon": RegionMeasure("ε", lambda region, at: _published(region.epsilon_bounds(at), "upper"), 1e-6, "δ"),
    "delta": RegionMeasure("δ", lambda region, at: _published(region.delta_bounds(at), "upper"), 1.0, "ε"),
    "advantage": RegionMeasure("Advantage of the best attacker", _of_risk("advantage")),
    "equal_error_rate": RegionMeasure("Equal error rate", _of_risk("equal_error_rate")),
    "beta": RegionMeasure(
        "False negatives β", lambda region, at: _published(region.beta_bounds(at), "lower"), 0.05, "α"
    ),
    "power": RegionMeasure("Share of the people inside who are found", _of_risk("true_positive_rate"), 0.05, "α"),
    "accuracy": RegionMeasure("Chance that the best guess is right", _of_risk("best_accuracy"), 0.5, "prior"),
    "posterior": RegionMeasure("Largest belief after an answer", _of_risk("best_posterior"), 0.5, "prior"),
    "area": RegionMeasure("Area under the trade-off curve", _of_risk("area")),
}


def measure_named(name: str) -> RegionMeasure:
    """Return the measure of this name."""
    return MEASURES[one_of("measure", MEASURES).check(name)]


def measure_table(
    patterns: Mapping[str, str] | Sequence[str], values: Sequence[float], measure: str, at: float | None = None
) -> pd.DataFrame:
    """Tabulate a measure of regions with one open number.

    Parameters
    ----------
    patterns : mapping of str to str or sequence of str
        Expressions with one ``?``, such as ``laplace(?)``, with or without names.
    values : sequence of float
        Numbers to put there; one outside the domain raises the error of the library.
    measure : str
        A name of `MEASURES`.
    at : float, optional
        The δ, ε, rate or prior at which the measure is taken.

    Returns
    -------
    DataFrame
        `label, region, parameter, value, low, high, kind, theorem, neighbours`; a bound lies on the safe side.
    """
    quantity = measure_named(measure)
    if at is not None and quantity.at is None:
        msg = f"The measure {measure} takes no value of at, got at = {value_text(at)}."
        raise DomainError(msg)
    where = quantity.at if at is None else at
    named = dict(patterns) if isinstance(patterns, Mapping) else {text: text for text in patterns}
    rows = []
    for index, (label, text) in enumerate(named.items()):
        tree = parse_syntax(text, allow_unknown=True)
        for step, value in enumerate(values):
            checkpoint((index + step / len(values)) / len(named))
            region = build(fill(tree, value), text.replace("?", literal(value)))
            number, what = quantity.value(region, 0.0 if where is None else where)
            number += 0.0
            rows.append(
                (label, str(region), float(value), number, number, number, what, region.theorem, region.neighbours)
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def measure_figure(  # noqa: PLR0913  # what is measured, and the titles of its axes
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
    """Return a line per pattern: the measure against the open number; the first arguments are those of `measure_table`.

    Parameters
    ----------
    patterns : mapping of str to str or sequence of str
        Expressions with one ``?``.
    values : sequence of float
        Numbers to put there.
    measure : str
        A name of `MEASURES`.
    at : float, optional
        The δ, ε, rate or prior at which the measure is taken.
    parameter, value : str
        Titles of the axes.
    log_x, log_y : bool, default False
        Logarithmic axes.
    look : Look, default PLAIN
        Size, title and colours.
    """
    quantity = measure_named(measure)
    table = measure_table(patterns, values, measure, at)
    where = quantity.at if at is None else at
    name = value or (quantity.title if where is None else f"{quantity.title} at {quantity.of} = {nearest(where)}")
    figure = utility_figure(table, parameter=parameter, value=name, look=look, log_x=log_x, log_y=log_y)
    return replace(figure, table=table)
