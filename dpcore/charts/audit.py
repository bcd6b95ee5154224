"""The audit chart: measured attacks with their confidence region, over the claimed region."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from dpcore.audit.measurements import Counts
from dpcore.audit.statements import METHOD, NEIGHBOURS, consistent, percent, sentence, verdict
from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series, checked, tooltips
from dpcore.charts.regions import TITLES
from dpcore.charts.sampling import named, note, sample
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.kinds import FACTS
from dpcore.core.numerals import nearest
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpcore.audit.bounds import Audit
    from dpcore.audit.statements import Verdict
    from dpcore.curves.base import Bounds, FloatArray
    from dpcore.regions.tradeoff import TradeOff

    Others = Sequence[TradeOff] | Mapping[str, TradeOff]

COLUMNS = ("label", "region", "alpha", "beta", "power", *FACTS)
MEASURED = "measured"
BEST = "this attack at its best"
CLAIM = "claim: "
POWER = "True positives (inside the data, found)"
MOST_POINTS = 400
MOST_DOTS = 60
HEIGHT = 480
_EDGE = 0.06  # of the axis: how far from the edge the text about a contradiction is placed
BREAKS = "◆ this test breaks the claim"
DELTA = 1e-5
_LINEAR = np.linspace(0.0, 1.0, 201)
_FINE = 240  # points of the band on a logarithmic axis
_LOG_LABEL = "datum.value == 1 ? '1' : datum.value >= 0.001 ? format(datum.value, '.3~g') : format(datum.value, '.0e')"


def proved_label(audit: Audit) -> str:
    """Return the name of the proved curve in the legend."""
    return f"proved, {percent(audit.confidence)} confidence"


def audit_table(audit: Audit, claim: TradeOff | None = None, others: Others = ()) -> pd.DataFrame:
    """Return the points drawn.

    Returns
    -------
    DataFrame
        `label, region, alpha, beta, power, kind, theorem, neighbours` with power = 1 - beta: the measured rates
        (``approximate``), the corners of the proved curve, which the mechanism's own curve cannot exceed (beta is
        ``upper``), those of this attack at its best (beta is ``lower``), and the curves of the claim and of other regions
        (``exact``, or ``lower`` on the safe side).
    """
    measured = _thinned(*audit.measurement.rates())
    parts = [
        _rows(MEASURED, "", measured, "approximate"),
        _rows(proved_label(audit), "", audit.proved, "upper"),
        _rows(BEST, "", audit.optimistic, "lower"),
    ]
    for name, region in _regions(claim, others).items():
        points = sample(region, name)
        parts.append(points[list(COLUMNS)])
    return pd.concat(parts, ignore_index=True)


def _regions(claim: TradeOff | None, others: Others) -> dict[str, TradeOff]:
    """Return the regions drawn by their names in the legend, each region once."""
    regions = {} if claim is None else {f"{CLAIM}{claim.legend}": claim}
    for name, region in (named(others) if len(others) else {}).items():
        if str(region) not in map(str, regions.values()):
            regions[name] = region
    return regions


def _rows(label: str, region: str, points: Bounds, kind: str) -> pd.DataFrame:
    alpha, beta = points
    columns = {"alpha": alpha + 0.0, "beta": beta + 0.0, "power": 1.0 - beta}
    facts = {"kind": kind, "theorem": METHOD, "neighbours": NEIGHBOURS}
    return pd.DataFrame({"label": label, "region": region, **columns, **facts}, columns=list(COLUMNS))


def _thinned(alpha: FloatArray, beta: FloatArray) -> Bounds:
    """Return a few hundred of the measured points, denser at both ends, with the last one that accuses nobody."""
    order = np.lexsort((-beta, alpha))
    alpha, beta = alpha[order], beta[order]
    ends = np.geomspace(1, alpha.size, MOST_POINTS // 4).astype(np.int64)
    even = np.linspace(0, alpha.size - 1, min(alpha.size, MOST_POINTS // 2)).astype(np.int64)
    nobody = np.flatnonzero(alpha == alpha[0])[-1:]
    keep = np.unique(np.concatenate((even, ends - 1, alpha.size - ends, nobody)))
    return alpha[keep], beta[keep]


def audit_takeaway(audit: Audit, claim: TradeOff | None = None, *, delta: float = DELTA) -> str:
    """Say what is proved, and whether the claim is contradicted."""
    statement = sentence(audit, delta)
    return statement if claim is None else f"{statement} {verdict(audit, claim).words}"


def audit_figure(
    audit: Audit,
    claim: TradeOff | None = None,
    others: Others = (),
    *,
    delta: float = DELTA,
    smallest: bool = False,
    log: bool = False,
    look: Look = PLAIN,
) -> Figure:
    """Return chart, table, sentence and notes of an audit.

    Parameters
    ----------
    audit : Audit
        The audit.
    claim : TradeOff, optional
        The claimed region, filled; a contradiction is marked on it.
    others : Others, default ()
        More regions, drawn as lines: a list, or a mapping from names to regions.
    delta : float, default DELTA
        The delta at which the sentence states epsilon.
    smallest : bool, default False
        Also draw the smallest DP-TV and Gaussian statements that the measurement does not contradict.
    log : bool, default False
        Logarithmic axes with true positives instead of false negatives, for attacks that accuse very few.
    look : Look, default PLAIN
        Size, title and colours.
    """
    if smallest:
        statements = consistent(audit, delta)[1:]
        others = {
            **(named(others) if len(others) else {}),
            **{f"smallest {one.notion}": one.region for one in statements if one.region is not None},
        }
    table = audit_table(audit, claim, others)
    judgement = None if claim is None else verdict(audit, claim)
    takeaway = audit_takeaway(audit, claim, delta=delta)
    chart = audit_chart(table, audit, judgement, log=log, look=described(look, takeaway))
    regions = _regions(claim, others)
    notes = [note(region, table[table["label"] == name]) for name, region in regions.items()]
    band = f"The band holds the attack's own curve: each of its borders with {percent(audit.confidence)} confidence."
    return Figure(chart, table, takeaway, look.title or "Measured against claimed", (band, *filter(None, notes)))


def audit_chart(
    table: pd.DataFrame, audit: Audit, judgement: Verdict | None = None, *, log: bool = False, look: Look = PLAIN
) -> alt.LayerChart:
    """Draw the claimed region, the band of the attack, the lines, and the test that contradicts the claim.

    Parameters
    ----------
    table : DataFrame
        What `audit_table` returns.
    audit : Audit
        The audit behind the table.
    judgement : Verdict, optional
        What it says about the claim.
    log : bool, default False
        Both axes logarithmic, down to less than one of all trials, with true positives up.
    look : Look, default PLAIN
        Size, title and colours.
    """
    view = _View(_floor(audit) if log else 0.0)
    series = Series([label for label in dict.fromkeys(table["label"]) if label != BEST], dark=look.dark)
    counts = isinstance(audit.measurement, Counts)
    left_out = {BEST, MEASURED} if counts else {BEST}
    layers = _claimed(table, series, view)
    layers += _guessing(view, dark=look.dark)
    layers.append(_band(audit, series, view, dark=look.dark))
    lines = series.only(name for label, name in series.name_of.items() if label not in left_out)
    layers.append(_lines(table[~table["label"].isin(left_out)], lines, view))
    layers += _tests(audit, series, view) if counts else []
    layers.append(_corners(audit, series, view))
    if judgement is not None and judgement.contradicted:
        layers += _contradiction(judgement, view, dark=look.dark)
    words = "Measured false positives and false negatives with their confidence region."
    return theme.finish(layers, look, words=words, height=HEIGHT)


def _floor(audit: Audit) -> float:
    """Return the smallest rate a logarithmic axis shows: a power of ten below one error of all trials."""
    return 10.0 ** math.floor(math.log10(0.5 / max(audit.measurement.trials)))


class _View:
    """The axes: linear with false negatives up, or (with a floor) logarithmic with true positives up."""

    def __init__(self, floor: float) -> None:
        self.floor = floor
        self.up = "power" if floor else "beta"
        self.x, self.y = _axis(alt.X, "alpha", floor), _axis(alt.Y, self.up, floor)

    def height(self, beta: FloatArray) -> FloatArray:
        """Return the coordinate of false negatives on the vertical axis."""
        return self.clamped(1.0 - beta if self.floor else beta)

    def clamped(self, values: FloatArray) -> FloatArray:
        """Return the values, none below the end of the axis."""
        return np.asarray(np.maximum(values, self.floor), dtype=np.float64)

    def grid(self, alpha: FloatArray) -> FloatArray:
        """Return where a curve of straight lines is drawn: denser on a logarithmic axis."""
        fine = np.geomspace(self.floor, 1.0, _FINE) if self.floor else _LINEAR
        return np.unique(np.clip(np.concatenate((fine, alpha)), self.floor, 1.0))

    def part(self, value: float) -> float:
        """Return the position of a value on an axis, from 0 to 1."""
        return 1.0 - math.log(max(value, self.floor)) / math.log(self.floor) if self.floor else value

    def value(self, part: float) -> float:
        """Return the value at a position of an axis."""
        part = min(max(part, 0.0), 1.0)
        return float(self.floor ** (1.0 - part)) if self.floor else part

    def along(self, points: Bounds, at: FloatArray) -> FloatArray:
        """Return the heights of a curve of straight lines; where it jumps at alpha = 0, after the jump."""
        alpha, beta = points
        first = int(np.flatnonzero(alpha == alpha[0])[-1])
        return self.height(np.asarray(np.interp(at, alpha[first:], beta[first:]), dtype=np.float64))


def _axis(kind: Any, name: str, floor: float) -> Any:
    title = POWER if name == "power" else TITLES[name]
    if floor:
        ticks = [10.0**power for power in range(round(math.log10(floor)), 1)]
        scale = alt.Scale(type="log", domain=[floor, 1], nice=False, clamp=True)
        return kind(f"{name}:Q", title=title, scale=scale, axis=alt.Axis(values=ticks, labelExpr=_LOG_LABEL))
    scale = alt.Scale(domain=[0, 1], nice=False)
    return kind(f"{name}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=6))


def _curve(table: pd.DataFrame, label: str) -> Bounds:
    rows = table[table["label"] == label]
    return rows["alpha"].to_numpy(dtype=np.float64), rows["beta"].to_numpy(dtype=np.float64)


def _claimed(table: pd.DataFrame, series: Series, view: _View) -> list[alt.Chart]:
    """Fill the claimed region, from its curve to blind guessing."""
    labels = [label for label in series.labels if label.startswith(CLAIM)]
    if not labels:
        return []
    curve = _curve(table, labels[0])
    at = view.grid(curve[0])
    rows = pd.DataFrame({"alpha": at, view.up: view.along(curve, at), "guess": view.height(1.0 - at)})
    fill = series.fills()[series.name_of[labels[0]]]
    area = alt.Chart(checked(rows)).mark_area(color=fill, opacity=1, line=False, aria=False)
    return [area.encode(x=view.x, y=view.y, y2=alt.Y2("guess:Q"))]


def _guessing(view: _View, *, dark: bool) -> list[alt.Chart]:
    """Draw the diagonal of blind guessing and say what it is."""
    at = view.grid(np.array([0.0, 1.0]))
    rows = pd.DataFrame({"alpha": at, view.up: view.height(1.0 - at)})
    middle = view.floor**0.5 if view.floor else 0.52
    height = view.height(np.array([1.0 - middle]))
    place = pd.DataFrame({"alpha": [middle], view.up: height, "text": ["blind guessing"]})
    quiet = theme.quiet(dark=dark)
    line = alt.Chart(checked(rows)).mark_line(color=quiet, strokeWidth=1.5, strokeDash=[3, 3], aria=False)
    word = alt.Chart(checked(place)).mark_text(align="left", dx=8, dy=10 if view.floor else -6, color=quiet, aria=False)
    return [line.encode(x=view.x, y=view.y), word.encode(x=view.x, y=view.y, text=alt.Text("text:N"))]


def _band(audit: Audit, series: Series, view: _View, *, dark: bool) -> alt.Chart:
    """Fill between the attack at its best and what is proved."""
    at = np.union1d(view.grid(audit.proved[0]), view.grid(audit.optimistic[0]))
    rows = pd.DataFrame(
        {"alpha": at, view.up: view.along(audit.optimistic, at), "proved": view.along(audit.proved, at)}
    )
    fill = series.paint()[series.name_of[MEASURED]]
    area = alt.Chart(checked(rows)).mark_area(color=fill, opacity=0.32 if dark else 0.25, line=False, aria=False)
    chart: alt.Chart = area.encode(x=view.x, y=view.y, y2=alt.Y2("proved:Q"))
    return chart


def _lines(lines: pd.DataFrame, series: Series, view: _View) -> alt.Chart:
    """Draw the curves; straight ones get more points on a logarithmic axis."""
    parts = []
    for label in dict.fromkeys(lines["label"]):
        alpha, beta = _curve(lines, label)
        height = view.height(beta)
        if view.floor and label != MEASURED:
            at = view.grid(alpha)
            alpha, height = at, view.along((alpha, beta), at)
        elif view.floor:  # a logarithmic axis has no place for nobody accused and nobody found
            some = (alpha > 0.0) | (beta < 1.0)
            alpha, height = alpha[some], height[some]
        step = np.arange(alpha.size)
        parts.append(
            pd.DataFrame({"label": series.name_of[label], "alpha": view.clamped(alpha), view.up: height, "step": step})
        )
    chart: alt.Chart = (
        alt.Chart(checked(pd.concat(parts)))
        .mark_line(strokeWidth=2.5, strokeJoin="round", aria=False)
        .encode(x=view.x, y=view.y, order=alt.Order("step:Q"), **series.strokes(legend=True))
    )
    return chart


def _tests(audit: Audit, series: Series, view: _View) -> list[alt.Chart]:
    """Draw each test as a point with a cross of its confidence limits."""
    alpha, beta = audit.measurement.rates()
    (low_a, low_b), (high_a, high_b) = audit.attack, audit.limits
    paint = series.paint()[series.name_of[MEASURED]]
    rows = pd.DataFrame(
        {
            "alpha": view.clamped(alpha),
            view.up: view.height(beta),
            "left": view.clamped(low_a),
            "right": high_a,
            "first": view.height(low_b),
            "last": view.height(high_b),
            "rates": [f"{nearest(a)}, {nearest(b)}" for a, b in zip(alpha, beta, strict=True)],
            "label": series.name_of[MEASURED],
        }
    ).iloc[: 10 * MOST_DOTS]
    tip = [alt.Tooltip("rates:N", title="measured α, β")]
    base = alt.Chart(checked(rows))
    wide = base.mark_rule(color=paint, strokeWidth=1.5, aria=False)
    tall = base.mark_rule(color=paint, strokeWidth=1.5, aria=False)
    dots = base.mark_point(filled=True, size=70, opacity=1, aria=False)
    fill = series.only([series.name_of[MEASURED]]).dots(legend=True)  # the tests are points, and no line joins them
    return [
        wide.encode(x=_axis_of(view.x, "left"), x2=alt.X2("right:Q"), y=view.y),
        tall.encode(x=view.x, y=_axis_of(view.y, "first"), y2=alt.Y2("last:Q")),
        dots.encode(x=view.x, y=view.y, tooltip=tip, **fill),
    ]


def _axis_of(axis: Any, column: str) -> Any:
    """Return an axis that shows another column."""
    other = axis.copy(deep=True)
    other.shorthand = f"{column}:Q"
    return other


def _corners(audit: Audit, series: Series, view: _View) -> alt.Chart:
    """Draw the corners of the proved curve, which hold the tooltips."""
    alpha, beta = (part[1:-1] for part in audit.proved)
    keep = np.unique(np.linspace(0, max(0, alpha.size - 1), min(alpha.size, MOST_DOTS)).astype(np.int64))
    alpha, beta = alpha[keep], beta[keep]
    rows = pd.DataFrame(
        {
            "alpha": view.clamped(alpha),
            view.up: view.height(beta),
            "accused": [outward(v, 4) for v in alpha],
            "found": [outward(1.0 - v, 4, up=False) for v in beta],
        }
    )
    titles = {"accused": "outsiders accused, at most", "found": "members found, at least"}
    tips = tooltips(titles)
    paint = series.paint()[series.name_of[proved_label(audit)]]
    dots = alt.Chart(checked(rows)).mark_point(filled=True, size=28, opacity=1, color=paint, aria=False)
    chart: alt.Chart = dots.encode(x=view.x, y=view.y, tooltip=tips)
    return chart


def _contradiction(judgement: Verdict, view: _View, *, dark: bool) -> list[alt.Chart]:
    """Mark the test that the claim does not allow, and its distance to what the claim allows.

    The words are placed in the corner beyond blind guessing, where no curve can be.
    """
    ink = theme.ink(dark=dark)
    here, there = view.height(np.array([1.0 - judgement.power, 1.0 - judgement.allowed])).tolist()
    marked = pd.DataFrame({"alpha": [max(judgement.alpha, view.floor)], view.up: [here], "allowed": [there]})
    base = alt.Chart(checked(marked))
    corner = {"alpha": [1.0], view.up: [view.value(_EDGE if view.floor else 1.0 - _EDGE)], "text": [BREAKS]}
    words = alt.Chart(checked(pd.DataFrame(corner)))
    rule = base.mark_rule(color=ink, strokeWidth=2, strokeDash=[2, 2], aria=False)
    mark = base.mark_point(shape="diamond", filled=True, size=170, opacity=1, color=ink, aria=False)
    word = words.mark_text(color=ink, fontSize=theme.TEXT, align="right", dx=-8, aria=False)
    return [
        rule.encode(x=view.x, y=view.y, y2=alt.Y2("allowed:Q")),
        mark.encode(x=view.x, y=view.y),
        word.encode(x=view.x, y=view.y, text=alt.Text("text:N")),
    ]
