"""Charts of claims: a claimed (epsilon, delta) on the true profile, and what every accountant reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
import pandas as pd

from dpcore.central_limit.convergence import ABOVE, BELOW, OPEN
from dpcore.charts import pixels, theme
from dpcore.charts.figure import Figure, Series, checked, not_drawn, rounded_up, tooltips
from dpcore.charts.profiles import profile_chart, profile_table
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.errors import DomainError
from dpcore.core.kinds import WORDS
from dpcore.core.numerals import nearest
from dpcore.training.accountants import COMPOSED
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from dpcore.training import Judgement

TRUTH = "true δ(ε)"
SIDES: Final = {OPEN: "the truth, as far as known", BELOW: "below the truth: no promise", ABOVE: "above the truth"}
_SHAPES: Final = {OPEN: "circle", ABOVE: "triangle-right", BELOW: "cross"}
_ROOM = 1.4  # the axis ends at this multiple of the largest epsilon
_ROW, _FRAME = 28, 150  # points of an accountant's row; of axis and legend
_FAR = 4.0  # times the truth; points beyond are not drawn, they would squeeze the rest together


# ---- a claim on the profile ----------------------------------------------------------------------------------


def claim_figure(judgement: Judgement, *, look: Look = PLAIN, **options: Any) -> Figure:
    """Return the true profile with the claim as a point: below the curve it is wrong, above it there is slack.

    Parameters
    ----------
    judgement : Judgement
        What `dpcore.training.judge` returns.
    look : Look, default PLAIN
        Size, title and colours.
    options : object
        Those of `dpcore.charts.profile_chart`.
    """
    ends = [value for value in (judgement.epsilon, *judgement.epsilon_bounds) if math.isfinite(value)]
    top = _ROOM * max(ends) or 1.0
    table = profile_table({TRUTH: judgement.total}, epsilon_max=top)
    takeaway = judgement.short()
    chart = profile_chart(table, look=described(look, takeaway), **options)
    chart = theme.over(chart, *_point(judgement, dark=look.dark))
    row = {"region": "claimed", "label": "claimed", "epsilon": judgement.epsilon, "delta": judgement.delta}
    row |= {"kind": "claimed", "theorem": "none: this is the claim", "neighbours": judgement.total.neighbours}
    below = judgement.delta < pixels.FLOOR
    notes = ("The claimed δ has no place on the log axis; its point is drawn at the end of the axis.",) * below
    return Figure(
        chart,
        pd.concat([table, pd.DataFrame([row])], ignore_index=True),
        takeaway,
        look.title or "The claim and the truth",
        notes,
    )


def _point(judgement: Judgement, *, dark: bool) -> list[alt.Chart]:
    """Return the claim as a point with its name, and a line up or down to the truth."""
    ink, back = theme.ink(dark=dark), theme.paper(dark=dark)
    height = max(judgement.delta, pixels.FLOOR)
    rows = pd.DataFrame(
        {
            "epsilon": [judgement.epsilon],
            "shown": [height],
            "to": [max(judgement.delta_bounds[1], pixels.FLOOR)],
            "name": ["claimed"],
            "numbers": [f"ε = {nearest(judgement.epsilon)}, δ = {nearest(judgement.delta)}"],
        }
    )
    base = alt.Chart(checked(rows)).encode(x=alt.X("epsilon:Q"), y=alt.Y("shown:Q"))
    line = base.mark_rule(color=ink, strokeWidth=1.5, strokeDash=[2, 3], aria=False, clip=True).encode(
        y2=alt.Y2("to:Q")
    )
    tips = [alt.Tooltip("name:N", title="point"), alt.Tooltip("numbers:N", title="at")]
    dot = base.mark_point(filled=True, size=140, opacity=1, color=ink, stroke=back, strokeWidth=1.5, aria=False)
    place: dict[str, Any] = {"align": "right", "dx": -11, "dy": 4, "fontSize": theme.TEXT, "fontWeight": 600}
    return [line, dot.encode(tooltip=tips), *theme.halo_text(base, "name:N", dark=dark, **place)]


# ---- what the accountants report -----------------------------------------------------------------------------


def accountants_takeaway(frame: pd.DataFrame) -> str:
    """Say the true epsilon, which reports are below it, and which theorems promise the most and the least."""
    reports = frame[frame["kind"] != "none"]
    composed = reports[reports["accountant"] == COMPOSED].iloc[0]
    truth = float(composed["epsilon"])
    delta = outward(float(frame["delta"].iloc[0]), 6)
    if math.isinf(truth):
        return f"No ε holds at δ = {delta}."
    words = [f"At δ = {delta} the true ε is at most {grouped(outward(truth, 5))} ({WORDS[composed['kind']]})."]
    low = reports[reports["verdict"] == BELOW]
    if len(low):
        names = ", ".join(
            f"{title} ({grouped(nearest(value, 5))})" for title, value in zip(low["title"], low["epsilon"], strict=True)
        )
        words.append(f"Below the truth, so no promise: {names}.")
    safe = reports[
        (reports["kind"] != "approximate") & (reports["accountant"] != COMPOSED) & np.isfinite(reports["epsilon"])
    ]
    if len(safe):
        order = safe.sort_values("epsilon", kind="stable")
        first, last = order.iloc[0], order.iloc[-1]
        words.append(
            f"Of the other theorems {first['title']} promises the most, ε ≤ {grouped(outward(float(first['epsilon']), 5))}"
        )
        words[-1] += (
            f", and {last['title']} the least, {grouped(outward(float(last['epsilon']), 5))}."
            if len(order) > 1
            else "."
        )
    return " ".join(words)


def accountants_figure(frame: pd.DataFrame, *, claimed: float | None = None, look: Look = PLAIN) -> Figure:
    """Return a point per accountant at the epsilon it reports, and a line at the truth.

    Parameters
    ----------
    frame : DataFrame
        What `dpcore.training.reports` returns.
    claimed : float, optional
        An epsilon to mark with a second line.
    look : Look, default PLAIN
        Size, title and colours.
    """
    takeaway = accountants_takeaway(frame)
    chart = accountants_chart(frame, claimed=claimed, look=described(look, takeaway))
    lines = "Solid line: the true ε." if claimed is None else "Solid line: the true ε. Dashed line: the claim."
    return Figure(chart, frame, takeaway, look.title or "What accountants report", (lines, *_silences(frame)))


def _near(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the accountants that are drawn, smallest epsilon first."""
    truth = float(frame.loc[frame["accountant"] == COMPOSED, "epsilon"].iloc[0])
    finite = frame[np.isfinite(frame["epsilon"])]
    near: pd.DataFrame = finite[~(finite["epsilon"] > _FAR * max(truth, 0.05))]
    return near.sort_values("epsilon", kind="stable")


def _silences(frame: pd.DataFrame) -> tuple[str, ...]:
    """Say which accountants have no point; each reason is given once."""
    finite = np.isfinite(frame["epsilon"])
    far, missing = frame[finite & ~frame["title"].isin(_near(frame)["title"])], frame[~finite]
    pairs = zip(far["title"], far["epsilon"], strict=True)
    reasons = [("More than four times the truth.", f"{title} ({nearest(epsilon, 4)})") for title, epsilon in pairs]
    return not_drawn([*reasons, *zip(missing["note"].astype(str), missing["title"].astype(str), strict=True)])


def accountants_chart(frame: pd.DataFrame, *, claimed: float | None = None, look: Look = PLAIN) -> alt.LayerChart:
    """Draw the points, smallest epsilon first, on a logarithmic axis."""
    rows = _near(frame)
    if rows.empty:
        msg = "No accountant reports a finite ε at this δ: there is nothing to draw."
        raise DomainError(msg)
    series = Series(SIDES.values(), dark=look.dark)
    points = pd.DataFrame(
        {
            "title": rows["title"],
            "epsilon": rows["epsilon"],
            "label": rows["verdict"].map(SIDES),
            "text": [rounded_up(*pair, 5) for pair in zip(rows["epsilon"], rows["kind"], strict=True)],
            "kind": rows["kind"].map(WORDS),
            "note": rows["note"].str.slice(0, 120),
        }
    )
    order = rows["title"].tolist()
    scale, values = _scale(rows, claimed)
    x = alt.X("epsilon:Q", title="Reported ε", scale=scale, axis=alt.Axis(values=values))
    y = alt.Y(
        "title:N", title=None, sort=order, axis=alt.Axis(labelLimit=200, labelOverlap=False, grid=True, ticks=False)
    )
    shapes = alt.Scale(domain=series.names, range=[_SHAPES[side] for side in SIDES])
    legend = alt.Legend(title=None, orient="bottom", columns=1, symbolSize=140, labelLimit=300)
    tips = {"title": "accountant", "text": "ε", "kind": "ε is", "label": "it is", "note": "note"}
    base = alt.Chart(checked(points)).encode(x=x, y=y)
    marks = base.mark_point(filled=True, size=130, opacity=1, aria=False).encode(
        color=alt.Color("label:N", scale=series.colours(), legend=legend),
        shape=alt.Shape("label:N", scale=shapes, legend=legend),
        tooltip=tooltips(tips),
    )
    lines, words = _lines(frame, claimed, x, dark=look.dark), _words(points, scale.domain, x, y, dark=look.dark)
    return theme.finish([*lines, marks, *words], look, words="ε by every accountant.", height=_ROW * len(rows) + _FRAME)


def _words(points: pd.DataFrame, ends: Any, x: alt.X, y: alt.Y, *, dark: bool) -> list[alt.Chart]:
    """Write each number beside its point, on the side where there is room."""
    middle = math.sqrt(ends[0] * ends[1]) if ends[0] > 0 else 0.5 * ends[1]
    left = points["epsilon"] <= middle
    sides: tuple[tuple[pd.DataFrame, dict[str, Any]], ...] = (
        (points[left], {"align": "left", "dx": 10}),
        (points[~left], {"align": "right", "dx": -10}),
    )
    layers = []
    for rows, place in sides:
        if len(rows):
            layers += theme.halo_text(alt.Chart(checked(rows)).encode(x=x, y=y), "text:N", dark=dark, **place)
    return layers


def _scale(rows: pd.DataFrame, claimed: float | None) -> tuple[alt.Scale, list[float]]:
    """Return the axis and its ticks."""
    values = [*rows["epsilon"].tolist(), *([claimed] if claimed is not None else [])]
    low, high = min(values), max(values)
    if low <= 0:
        step = 10.0 ** math.floor(math.log10(high or 1.0))
        ticks = [step * i for i in range(11) if step * i <= 1.1 * (high or 1.0)]
        return alt.Scale(domain=[0.0, 1.1 * (high or 1.0)], nice=False), ticks
    span = max(math.log10(high / low), 0.2)
    ends = low * 10 ** (-0.06 * span), high * 10 ** (0.06 * span)
    decades = range(math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1])) + 1)
    steps: tuple[float, ...] = (1, 2, 3, 5) if span < 2 else (1,)
    steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8) if span < 0.7 else steps
    ticks = [float(f"{step}e{power}") for power in decades for step in steps]
    return alt.Scale(type="log", domain=list(ends), nice=False), [tick for tick in ticks if ends[0] <= tick <= ends[1]]


def _lines(frame: pd.DataFrame, claimed: float | None, x: alt.X, *, dark: bool) -> list[alt.Chart]:
    """Draw a line at the certified epsilon and a dashed one at the claim."""
    truth = float(frame.loc[frame["accountant"] == COMPOSED, "epsilon"].iloc[0])
    ink = theme.ink(dark=dark)
    places = [(truth, [1, 0])] if math.isfinite(truth) else []
    places += [(claimed, [4, 4])] if claimed is not None else []
    return [
        alt.Chart(checked(pd.DataFrame({"epsilon": [float(at)]})))
        .mark_rule(color=ink, strokeWidth=1.5, strokeDash=dash, aria=False)
        .encode(x=x)
        for at, dash in places
    ]
