"""Charts of the central limit: the composition in the band of the theorem, and its distance to the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from dpcore.central_limit.arrays import FAILING, PURE, VARYING
from dpcore.central_limit.convergence import BELOW, unsafe_words
from dpcore.charts import theme
from dpcore.charts.figure import Figure, checked
from dpcore.charts.regions import Axes, region_chart
from dpcore.charts.sampling import note, sample
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.charts.utility import utility_chart, utility_table
from dpcore.core.errors import DomainError
from dpcore.core.kinds import FACTS, WORDS
from dpcore.core.numerals import nearest
from dpcore.words import best_power, grouped, of_100, outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.central_limit.arrays import Array
    from dpcore.central_limit.convergence import Copies

TRUE, LIMIT = "composition", "Gaussian limit, approximate"
CLT = "central limit theorem"
BAND_POINTS = 121
FLOOR = 1e-12  # the least rate of a logarithmic axis
_NAMES = {PURE: "pure", FAILING: "with δ", VARYING: "with total variation"}
_FPR = 0.05


# ---- the composition and its limit ---------------------------------------------------------------------------


def band_table(row: Copies) -> pd.DataFrame:
    """Return the edges of the theorem's band, `alpha, lower, upper`; no rows unless gamma is below 1/2."""
    if row.limit.silence(row.k):
        return pd.DataFrame({"alpha": [], "lower": [], "upper": []}, dtype=np.float64)
    low, high = row.limit.span(row.k)
    # denser at both ends, where the edges bend
    alpha = low + (high - low) * np.sin(np.linspace(0.0, np.pi / 2, BAND_POINTS)) ** 2
    lower, upper = row.limit.edges(row.k, alpha)
    return pd.DataFrame({"alpha": alpha, "lower": lower, "upper": upper})


def limit_table(row: Copies) -> pd.DataFrame:
    """Return the points drawn: the composition, its limit and the edges of the band.

    Returns
    -------
    DataFrame
        `label, alpha, beta, kind, theorem, neighbours`; the band's edges have kind ``lower`` and ``upper``.
    """
    band = band_table(row)
    facts = {"kind": "", "theorem": CLT, "neighbours": row.mechanism.neighbours}
    edges = [
        pd.DataFrame({"label": f"band, {side} edge", "alpha": band["alpha"], "beta": band[side], **facts, "kind": side})
        for side in ("lower", "upper")
        if len(band)
    ]
    return pd.concat([_points(row)[["label", "alpha", "beta", *FACTS]], *edges], ignore_index=True)


def _points(row: Copies) -> pd.DataFrame:
    true, limit = sample(row.composed, TRUE), sample(row.region, LIMIT)
    return pd.concat([true, limit.assign(kind="approximate", theorem=CLT, corner=False)], ignore_index=True)


def limit_takeaway(row: Copies, fpr: float = _FPR) -> str:
    """Say what the best attacker finds, what the limit says, and what the band promises."""
    (true, kind), limit = best_power(row.composed, fpr), float(row.region.power(fpr))
    words = (
        f"{grouped(row.k)} × {theme.short(str(row.mechanism))}: an attacker who wrongly accuses {of_100(fpr, up=False)} people "
        f"outside the data finds at most {of_100(true)} people inside it ({kind}); the limit, μ = {nearest(row.goal.mu, 4)}, "
        f"says about {nearest(100 * limit, 3)} of 100."
    )
    why = row.limit.silence(row.k)
    if why:
        return f"{words} No band is drawn: {why}"
    gamma = outward(row.limit.gamma(row.k), 3)
    return f"{words} The theorem's band, drawn, allows both rates to be off by at most γ = {gamma}."


def limit_figure(
    row: Copies, *, axes: Axes = "fdp", log: bool = False, filled: bool = False, look: Look = PLAIN
) -> Figure:
    """Return the exact composition, its Gaussian limit and the theorem's band; the band only where gamma < 1/2.

    Parameters
    ----------
    row : Copies
        What `dpcore.central_limit.convergence.copies` returns.
    axes, log, filled : Axes or bool
        As in `region_chart`.
    look : Look, default PLAIN
        Size, title and colours.
    """
    points = _points(row)
    takeaway = limit_takeaway(row, 1e-6 if log else _FPR)
    # the limit is in front: the composition shows through its dashes
    chart = region_chart(points, axes=axes, log=log, filled=filled, selected=LIMIT, look=described(look, takeaway))
    band = band_table(row)
    if len(band):
        chart = theme.over(chart, *_band(band, axes=axes, log=log, dark=look.dark))
    text = note(row.composed, points[points["label"] == TRUE])
    return Figure(chart, limit_table(row), takeaway, look.title or "The central limit", (text,) if text else ())


def _band(band: pd.DataFrame, *, axes: Axes, log: bool, dark: bool) -> list[alt.Chart]:
    """Draw the band as one closed outline, with its name in it."""
    across = np.concatenate((band["alpha"], band["alpha"][::-1]))
    up = np.concatenate((band["lower"], band["upper"][::-1]))
    x, y = (across, up) if axes == "fdp" else (up, across)
    least = FLOOR if log else 0.0
    rows = pd.DataFrame({"x": np.maximum(x, least), "y": np.maximum(y, least), "step": np.arange(x.size)})
    colour = theme.colour(2, dark=dark)
    outline = alt.Chart(checked(rows)).mark_line(
        interpolate="linear-closed",
        fill=colour,
        fillOpacity=0.2,
        stroke=colour,
        strokeWidth=1,
        strokeDash=[2, 3],
        aria=False,
    )
    at = band.iloc[len(band) // 3]
    inside = float(at["lower"] + 0.7 * (at["upper"] - at["lower"]))
    x_at, y_at = (float(at["alpha"]), inside) if axes == "fdp" else (inside, float(at["alpha"]))
    place = pd.DataFrame({"x": [max(x_at, least)], "y": [max(y_at, least)], "text": ["band of the theorem"]})
    base = alt.Chart(checked(place)).encode(x=alt.X("x:Q"), y=alt.Y("y:Q"))
    return [
        outline.encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), order=alt.Order("step:Q")),
        *theme.halo_text(base, "text:N", dark=dark, halo=0.8),
    ]


# ---- distances -----------------------------------------------------------------------------------------------


def _lines(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    if not any(len(part) for part in parts):
        msg = "There is no finite number above 0 to draw: ask for a larger δ, or for fewer copies."
        raise DomainError(msg)
    rows = pd.concat([part for part in parts if len(part)], ignore_index=True)
    return utility_table(rows)


def _line(frame: pd.DataFrame, at: str, column: str, title: str, kind: Any) -> pd.DataFrame:
    """Return one series, without values that a logarithmic axis cannot show."""
    rows = frame[np.isfinite(frame[column]) & (frame[column] > 0)]
    value = rows[column].to_numpy(dtype=np.float64)
    return pd.DataFrame(
        {
            "parameter": rows[at].to_numpy(dtype=np.float64),
            "value": value,
            "low": value,
            "high": value,
            "kind": kind if isinstance(kind, str) else kind[rows.index].to_numpy(),
            "series": title,
        }
    )


def convergence_figure(frame: pd.DataFrame, *, k: int | None = None, look: Look = PLAIN) -> Figure:
    """Return sup|f - G| against k, by how much the limit is too optimistic, and what gamma promises.

    Gamma bounds the distance of the curves along the diagonal, in both rates at once; the vertical distance that it
    promises is larger, and is drawn where it is below 1.

    Parameters
    ----------
    frame : DataFrame
        What `dpcore.central_limit.convergence.convergence` returns.
    k : int, optional
        The current number of copies, drawn as a dotted line.
    look : Look, default PLAIN
        Size, title and colours.
    """
    rows = frame[frame["kind"] != "none"]
    kinds = rows["kind"].map(WORDS)
    points = _lines(
        [
            _line(rows, "k", "distance", "sup |f − G|", kinds),
            _line(rows, "k", "optimistic", "limit too optimistic", kinds),
            _line(frame[frame["bound"] < 1.0], "k", "bound", "sup promised by γ", "upper bound"),
            _line(frame, "k", "gamma", "γ, along the diagonal", "upper bound"),
        ]
    )
    takeaway = convergence_takeaway(rows)
    chart = utility_chart(
        points,
        current=k,
        parameter="Number of copies k",
        value="Largest difference of the rates",
        look=described(look, takeaway),
    )
    missing = frame[frame["kind"] == "none"]
    silent = f"Not computed within the operations allowed: k = {', '.join(grouped(int(n)) for n in missing['k'])}."
    return Figure(chart, frame, takeaway, look.title or "Distance to the limit", (silent,) if len(missing) else ())


def convergence_takeaway(rows: pd.DataFrame) -> str:
    """Say the smallest and the last distance, and at which k the limit is below the truth."""
    if rows.empty:
        return "No distance was computed within the operations allowed."
    least, last = rows.iloc[int(np.argmin(rows["distance"]))], rows.iloc[-1]
    words = f"Composition and limit differ least at k = {grouped(int(least['k']))}, by at most {outward(least['distance'], 3)}"
    if last["k"] != least["k"]:
        words += f"; at k = {grouped(int(last['k']))} they differ by at most {outward(last['distance'], 3)}"
    below = rows.loc[rows["verdict"] == BELOW, "k"].tolist()
    if not below:
        return f"{words}. At the chosen δ, the CLT number is not below the truth at any k shown."
    if len(below) == len(rows):
        return f"{words}. At the chosen δ, the CLT number is below the truth at every k shown."
    counts = ", ".join(grouped(int(k)) for k in below)
    return f"{words}. At the chosen δ, the CLT number is below the truth at k = {counts}."


def array_figure(frame: pd.DataFrame, *, n: int | None = None, look: Look = PLAIN) -> Figure:
    """Return sup|f - G| against n, a line per array; `frame` is what `array_distances` returns."""
    points = _lines(
        [
            _line(part, "n", "distance", str(title), part["kind"].map(WORDS))
            for title, part in frame.groupby("title", sort=False)
        ]
    )
    last = frame[frame["n"] == frame["n"].max()]
    differences = "; ".join(f"{_NAMES[str(row.array)]} {outward(float(row.distance), 3)}" for row in last.itertuples())
    takeaway = f"At n = {grouped(int(frame['n'].max()))} the largest difference to the limit is: {differences}."
    chart = utility_chart(
        points,
        current=n,
        parameter="Number of mechanisms n",
        value="Largest difference to the limit",
        look=described(look, takeaway),
    )
    return Figure(chart, frame, takeaway, look.title or "Three arrays and their limits")


def array_region_figure(arrays: Sequence[Array], n: int, *, axes: Axes = "fdp", look: Look = PLAIN) -> Figure:
    """Return row n of every array with its limit."""
    rows = {array.name: array.composed(n) for array in arrays}
    limits: dict[str, Any] = {}
    for array in arrays:
        limits.setdefault("limit with δ" if array.goal.lost else "limit", array.goal.region)
    parts = [sample(rows[array.name], array.title) for array in arrays]
    parts += [
        sample(region, label).assign(kind="approximate", theorem=CLT, corner=False) for label, region in limits.items()
    ]
    table = pd.concat(parts, ignore_index=True)
    powers = "; ".join(
        f"{_NAMES[array.name]} {of_100(float(rows[array.name].power(_FPR)))}, "
        f"in the limit {of_100(float(array.goal.region.power(_FPR)))}"
        for array in arrays
    )
    takeaway = (
        f"n = {grouped(n)}: an attacker who wrongly accuses {of_100(_FPR)} people finds, of the people inside the data, at "
        f"most: {powers} (exact)."
    )
    chart = region_chart(table, axes=axes, filled=False, corners=False, look=described(look, takeaway))
    return Figure(chart, table, takeaway, look.title or "Three arrays and their limits")


# ---- where the limit is unsafe -------------------------------------------------------------------------------


def safety_figure(rows: pd.DataFrame, *, delta: float | None = None, look: Look = PLAIN) -> Figure:
    """Return the true epsilon and that of the limit against delta, with a mark where the limit is below the truth.

    Parameters
    ----------
    rows : DataFrame
        What `dpcore.central_limit.convergence.safety` returns.
    delta : float, optional
        The current delta, drawn as a dotted line.
    look : Look, default PLAIN
        Size, title and colours.
    """
    points = _lines(
        [
            _line(rows, "delta", "epsilon", "truth", rows["kind"].map(WORDS)),
            _line(rows, "delta", "epsilon_clt", "Gaussian limit", "approximation"),
        ]
    )
    below = rows[(rows["verdict"] == BELOW) & np.isfinite(rows["epsilon_clt"])]
    takeaway = safety_takeaway(rows)
    chart = utility_chart(
        points,
        current=delta,
        parameter=theme.DELTA_TITLE,
        value=theme.EPSILON_TITLE,
        log_y=False,
        look=described(look, takeaway),
    )
    if len(below):
        chart = theme.over(chart, _marks(below, dark=look.dark))
    return Figure(chart, rows, takeaway, look.title or "The limit's ε and the true one")


def _marks(below: pd.DataFrame, *, dark: bool) -> alt.Chart:
    """Mark the points where the limit is below the truth, by shape as well as colour."""
    cells = zip(below["delta"], below["epsilon_clt"], below["epsilon_lower"], strict=True)
    words = [
        f"δ = {outward(d, 3)}: the limit says {nearest(limit, 5)}, the truth is at least {outward(low, 5, up=False)}"
        for d, limit, low in cells
    ]
    marks = pd.DataFrame({"parameter": below["delta"], "value": below["epsilon_clt"], "words": words})
    base = alt.Chart(checked(marks)).mark_point(
        shape="triangle-down", filled=True, size=110, opacity=1, color=theme.ink(dark=dark), aria=False
    )
    chart: alt.Chart = base.encode(
        x=alt.X("parameter:Q"), y=alt.Y("value:Q"), tooltip=alt.Tooltip("words:N", title="below the truth")
    )
    return chart


def safety_takeaway(rows: pd.DataFrame) -> str:
    """Say at which deltas the limit is below the truth, and by how much at worst."""
    words = unsafe_words(rows)
    if not words:
        return "The CLT number is not below the truth at any δ drawn."
    below = rows[rows["verdict"] == BELOW]
    finite = below[np.isfinite(below["epsilon_lower"]) & np.isfinite(below["epsilon_clt"])]
    if finite.empty:
        return f"{words} Triangles mark them."
    gap = finite["epsilon_lower"] - finite["epsilon_clt"]
    worst = finite.loc[gap.idxmax()]
    return (
        f"{words} Triangles mark them; it is furthest off at δ = {outward(float(worst['delta']), 3)}: the limit says about "
        f"{nearest(float(worst['epsilon_clt']), 4)}, the truth is at least {outward(float(worst['epsilon_lower']), 4, up=False)}."
    )
