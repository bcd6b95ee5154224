"""The errata chart: how many rows each source has, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series, checked
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.labs.errata import FALSE, KINDS, rows, sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.labs.errata import Row

BAR = 20
_BREAK = "lastindexof(slice(datum.label, 0, 20), ' ')"
_TWO_LINES = (
    f"length(datum.label) > 20 ? [slice(datum.label, 0, {_BREAK}), slice(datum.label, {_BREAK} + 1)] : datum.label"
)
"""A long source name is broken at a space to leave room for the bars."""
COLUMNS = ["name", "source", "place", "printed", "corrected", "kind", "why", "evidence", "added", "fails"]


def errata_table(entries: Sequence[Row]) -> pd.DataFrame:
    """Return the entries as a table like `dpcore.labs.errata.table`, with the whole sentence as evidence."""
    cells = [
        (r.name, r.source, r.place, r.printed, r.corrected, r.kind, r.why, r.evidence()[0], r.added, r.fails)
        for r in entries
    ]
    return pd.DataFrame(cells, columns=COLUMNS)


def errata_takeaway(entries: Sequence[Row]) -> str:
    """Say how many rows there are of each kind."""
    counts = {kind: sum(row.kind == kind for row in entries) for kind in KINDS}
    summary = ", ".join(f"{count} {_noun(kind, count)}" for kind, count in counts.items() if count)
    places = len({row.source for row in entries})
    where = "1 source" if places == 1 else f"{places} sources"
    return f"{len(entries)} rows about {where}: {summary}. Every false statement is refuted by a computation."


def _noun(kind: str, count: int) -> str:
    return kind if count == 1 or kind == FALSE else f"{kind}s"


def errata_figure(entries: Sequence[Row] | None = None, *, look: Look = PLAIN) -> Figure:
    """Return the number of rows by source and kind as bars, with the rows as its table.

    Parameters
    ----------
    entries : sequence of Row, optional
        The rows, all by default; an empty list draws empty bars.
    look : Look, default PLAIN
        Size, title and colours.
    """
    entries = list(rows() if entries is None else entries)
    takeaway = errata_takeaway(entries)
    chart = _bars(entries, described(look, takeaway))
    return Figure(chart, errata_table(entries), takeaway, look.title or "Rows by source and kind")


def _bars(entries: Sequence[Row], look: Look) -> alt.LayerChart:
    series = Series(KINDS, dark=look.dark)
    titles = {source.name: source.title for source in sources()}
    cells = [
        {
            "source": titles[name],
            "label": kind,
            "count": sum(r.source == name and r.kind == kind for r in entries),
        }
        for name in titles
        for kind in KINDS
    ]
    data = checked(pd.DataFrame(cells))
    data["words"] = [
        f"{count} {label}" if count else "" for count, label in zip(data["count"], data["label"], strict=True)
    ]
    data["paint"] = data["label"].map(series.paint())
    base = alt.Chart(data).encode(
        y=alt.Y(
            "source:N", title=None, sort=list(titles.values()), axis=alt.Axis(labelLimit=170, labelExpr=_TWO_LINES)
        ),
        yOffset=alt.YOffset("label:N", sort=series.names),
    )
    most = int(data["count"].max()) or 1
    x = alt.X("count:Q", title="Rows", scale=alt.Scale(domain=[0, 1.8 * most]), axis=alt.Axis(tickMinStep=1))
    tips = [alt.Tooltip("source:N"), alt.Tooltip("label:N", title="kind"), alt.Tooltip("count:Q", title="rows")]
    bars = base.mark_bar(height={"band": 0.9}).encode(x=x, color=alt.Color("paint:N", scale=None), tooltip=tips)
    text = base.mark_text(align="left", dx=4, fontSize=10, color=theme.ink(dark=look.dark)).encode(x=x, text="words:N")
    return theme.finish([bars, text], look, words="", height=BAR * len(cells))
