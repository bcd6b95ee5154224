"""Explorable charts: sliders for ε, δ, η and μ that work in any browser, without Python and without a server.

The curves are formulas that Vega evaluates; `FAMILIES` holds each of them once, in a form that a test can evaluate too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series
from dpcore.charts.profiles import profile_takeaway
from dpcore.charts.regions import TITLES, region_takeaway
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.errors import DomainError
from dpcore.core.kinds import facts, kinds
from dpcore.core.numerals import nearest
from dpcore.core.parameter import one_of
from dpcore.core.registry import DELTA, EPSILON, ETA, MU, Parameter, value_text
from dpcore.language import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.core.kinds import Side
    from dpcore.regions.tradeoff import TradeOff

View = Literal["region", "profile"]
POINTS: Final = 400
FPR: Final = 0.05
_LEAST: Final = 1e-12  # the end of the axis of δ


@dataclass(frozen=True)
class Family:
    """Regions with sliders: an expression of the language, and the same curves as formulas of Vega."""

    title: str
    expression: str
    parameters: tuple[str, ...]
    beta: str
    delta: str


@dataclass(frozen=True)
class Slider:
    """The range of a parameter."""

    parameter: Parameter
    low: float
    high: float
    step: float
    start: float


SLIDERS: Final[dict[str, Slider]] = {
    "epsilon": Slider(EPSILON, 0.05, 5.0, 0.05, 1.0),
    "delta": Slider(DELTA, 0.0, 0.5, 0.01, 0.05),
    "eta": Slider(ETA, 0.0, 1.0, 0.01, 0.3),
    "mu": Slider(MU, 0.05, 4.0, 0.05, 1.0),
}
_DP = "max(0, 1 - delta - exp(epsilon) * alpha, exp(-epsilon) * (1 - delta - alpha))"
_DP_DELTA = "delta + (1 - delta) * max(0, (exp(epsilon) - exp(x)) / (1 + exp(epsilon)))"
FAMILIES: Final[dict[str, Family]] = {
    "dp": Family("(ε, δ)-DP", "dp({epsilon}, {delta})", ("epsilon", "delta"), _DP, _DP_DELTA),
    "pure": Family("ε-DP", "dp({epsilon})", ("epsilon",), _DP.replace("delta", "0"), _DP_DELTA.replace("delta", "0")),
    "tv": Family("η total variation", "tv({eta})", ("eta",), "max(0, 1 - eta - alpha)", "eta"),
    "dptv": Family(
        "(ε, δ) and η",
        "dp({epsilon}, {delta}) & tv({eta})",
        ("epsilon", "delta", "eta"),
        f"max({_DP}, 1 - eta - alpha)",
        "",  # the profile has no short formula: only the region is offered
    ),
    "gdp": Family(
        "μ-GDP",
        "gdp({mu})",
        ("mu",),
        "cumulativeNormal(quantileNormal(1 - alpha) - mu)",
        "cumulativeNormal(mu / 2 - x / mu) - exp(x) * cumulativeNormal(-mu / 2 - x / mu)",
    ),
    "laplace": Family(
        "Laplace noise for ε",
        "laplace({epsilon})",
        ("epsilon",),
        "if(alpha < exp(-epsilon) / 2, 1 - exp(epsilon) * alpha, if(alpha < 0.5, exp(-epsilon) / (4 * max(alpha, 1e-300)), "
        "exp(-epsilon) * (1 - alpha)))",
        "max(0, 1 - exp((x - epsilon) / 2))",
    ),
}


def live_figure(families: Sequence[str], *, view: View = "region", look: Look = PLAIN, **start: float) -> Figure:
    """Return a chart with sliders; its table and sentence are those of the starting values.

    Parameters
    ----------
    families : sequence of str
        Names of `FAMILIES`, at most four.
    view : View, default "region"
        ``region`` (false negatives against false positives) or ``profile`` (δ against ε).
    look : Look, default PLAIN
        Size, title and colours.
    start : float
        Values of `epsilon`, `delta`, `eta` and `mu` at which the sliders start.
    """
    curves = _families_named(families, view)
    values = _values(curves, start)
    regions = {family.title: parse(family.expression.format(**values)) for family in curves}
    table = _rows(regions, view, _end(values))
    takeaway = region_takeaway(regions, fpr=FPR) if view == "region" else profile_takeaway(regions)
    chart = _chart(curves, values, view, described(look, takeaway))
    settings = ", ".join(f"{SLIDERS[name].parameter.label} = {nearest(value)}" for name, value in values.items())
    notes = (f"The sentence and the table are about {settings}; the sliders change the picture only.",)
    return Figure(chart, table, takeaway, look.title or "Move the sliders", notes)


def _families_named(families: Sequence[str], view: str) -> list[Family]:
    """Return the families of these names."""
    unknown = [name for name in families if name not in FAMILIES]
    if unknown or not 1 <= len(families) <= 4 or len(set(families)) < len(families):
        msg = f"families are one to four of {', '.join(FAMILIES)}, got {value_text(list(families))}."
        raise DomainError(msg)
    one_of("view", ("region", "profile")).check(view)
    curves = [FAMILIES[name] for name in families]
    silent = [family.title for family in curves if view == "profile" and not family.delta]
    if silent:
        msg = f"There is no formula for the profile of {silent[0]}; view must be region."
        raise DomainError(msg)
    return curves


def _values(curves: Sequence[Family], start: dict[str, float]) -> dict[str, float]:
    """Return the starting value of each slider of these curves."""
    names = list(dict.fromkeys(name for family in curves for name in family.parameters))
    extra = set(start) - set(names)
    if extra:
        msg = f"These curves have the sliders {', '.join(names)}, got {', '.join(sorted(extra))}."
        raise DomainError(msg)
    values = {}
    for name in names:
        slider = SLIDERS[name]
        domain = slider.parameter.but(low=slider.low, high=slider.high, low_open=False, infinite=False)
        values[name] = float(domain.check(start.get(name, slider.start)))
    return values


def _end(values: dict[str, float]) -> float:
    return 1.5 * max(values.get("epsilon", 0.0), 3 * values.get("mu", 0.0), 1.0)


def _end_in_vega(values: dict[str, float]) -> str:
    """Return `_end` as a formula of Vega, so that the axis follows the sliders."""
    return f"1.5 * max({', '.join([*(('3 * mu' if name == 'mu' else name) for name in values if name in ('epsilon', 'mu')), '1'])})"


# ---- numbers at the start ------------------------------------------------------------------------------------


def _rows(regions: dict[str, TradeOff], view: View, end: float) -> pd.DataFrame:
    """Return the numbers of each region at the start, on the safe side."""
    across, up = ("alpha", "beta") if view == "region" else ("epsilon", "delta")
    safe: Side = "lower" if view == "region" else "upper"
    x = np.linspace(0.0, 1.0 if view == "region" else end, 41)
    parts = []
    for label, region in regions.items():
        low, high = region.beta_bounds(x) if view == "region" else region.delta_bounds(x)
        y = (low if safe == "lower" else high) + 0.0
        columns = {"label": label, "region": str(region), across: x, up: y, "kind": kinds((low, high), safe)}
        parts.append(pd.DataFrame({**columns, **facts(region)}))
    return pd.concat(parts, ignore_index=True)


# ---- the chart -----------------------------------------------------------------------------------------------


def _chart(curves: list[Family], values: dict[str, float], view: View, look: Look) -> alt.LayerChart:
    """Draw a line per family, whose points Vega computes, and a sentence in the corner."""
    series = Series([family.title for family in curves], dark=look.dark)
    x, y = _region_axes() if view == "region" else _profile_axes(_end_in_vega(values))
    base = alt.Chart(alt.sequence(0, POINTS + 1, 1, as_="i"))
    layers = [_curve(base, family, view, values, series, x, y) for family in curves]
    if view == "region":
        layers.append(_guessing(base, x, y, look))
        layers.append(_words(base, "'Accusing 5 of 100, an attacker finds at most'", 0, look))
        layers += [_words(base, _power_text(family), place, look) for place, family in enumerate(curves, 1)]
    chart = theme.finish(layers, look, words="Curves that follow the sliders.", height=400)
    return chart.add_params(*(_param(name, value) for name, value in values.items()))


def _param(name: str, value: float) -> alt.Parameter:
    slider = SLIDERS[name]
    label = f"{slider.parameter.label} "
    bind = alt.binding_range(min=slider.low, max=slider.high, step=slider.step, name=label)
    return alt.param(name=name, value=value, bind=bind)


def _region_axes() -> tuple[alt.X, alt.Y]:
    scale, axis = alt.Scale(domain=[0, 1], nice=False), alt.Axis(tickCount=6)
    return (
        alt.X("alpha:Q", title=TITLES["alpha"], scale=scale, axis=axis),
        alt.Y("beta:Q", title=TITLES["beta"], scale=scale, axis=axis),
    )


def _profile_axes(end: str) -> tuple[alt.X, alt.Y]:
    scale = alt.Scale(type="log", domain=[_LEAST, 1], clamp=True)
    axis = alt.Axis(
        values=[10.0**-k for k in range(0, 13, 3)], labelExpr="datum.value == 1 ? '1' : format(datum.value, '.0e')"
    )
    across = alt.Axis(tickCount=8)
    return (
        alt.X(
            "alpha:Q",
            title=theme.EPSILON_TITLE,
            scale=alt.Scale(domainMin=0, domainMax=alt.ExprRef(end), nice=False),
            axis=across,
        ),
        alt.Y("beta:Q", title=theme.DELTA_TITLE, scale=scale, axis=axis),
    )


def _curve(
    base: alt.Chart, family: Family, view: View, values: dict[str, float], series: Series, x: alt.X, y: alt.Y
) -> alt.Chart:
    """Draw one family; points are denser near 0, where the curves are steep."""
    if view == "region":
        place, formula = f"pow(datum.i / {POINTS}, 2)", in_vega(family.beta, alpha="datum.alpha")
    else:
        place = f"{_end_in_vega(values)} * datum.i / {POINTS}"
        formula = f"max({_LEAST!r}, {in_vega(family.delta, x='datum.alpha')})"
    name = series.name_of[family.title]
    line: alt.Chart = (
        base.transform_calculate(alpha=place)
        .transform_calculate(beta=formula, label=repr(name))
        .mark_line(strokeWidth=2.5, aria=False, clip=True)
        .encode(x=x, y=y, order="i:Q", **series.strokes(legend=True))
    )
    return line


def _guessing(base: alt.Chart, x: alt.X, y: alt.Y, look: Look) -> alt.Chart:
    quiet = theme.quiet(dark=look.dark)
    points = base.transform_calculate(alpha=f"datum.i / {POINTS}", beta=f"1 - datum.i / {POINTS}")
    line: alt.Chart = points.mark_line(color=quiet, strokeWidth=1.5, strokeDash=[3, 3], aria=False).encode(x=x, y=y)
    return line


def _power_text(family: Family) -> str:
    """Return what the best attacker finds as a formula of Vega, rounded up to a tenth."""
    power = f"ceil(1000 * (1 - ({in_vega(family.beta, alpha=repr(FPR))})) - 1e-6) / 10"
    return f"format({power}, '.4~g') + ' of 100: ' + {family.title!r}"


def _words(base: alt.Chart, words: str, place: int, look: Look) -> alt.Chart:
    """Write a line into the empty corner."""
    mark: dict[str, Any] = {"align": "right", "baseline": "top", "fontSize": theme.TEXT, "aria": False}
    text: alt.Chart = (
        base.transform_filter("datum.i == 0")
        .transform_calculate(words=words)
        .mark_text(color=theme.ink(dark=look.dark), **mark)
        .encode(x=alt.value({"expr": "width"}), y=alt.value(4 + 19 * place), text=alt.Text("words:N"))
    )
    return text


def in_vega(formula: str, **names: str) -> str:
    """Return a formula with its variables in the spelling of Vega."""
    for name, text in names.items():
        formula = re.sub(rf"(?<![\w.]){name}(?!\w)", text, formula)
    return formula
