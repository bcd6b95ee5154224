"""Answers as pictures: what an attacker can do, two regions compared, a training run, and tables drawn as they are."""

from __future__ import annotations

import math
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, Final

import altair as alt
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, checked, tooltips
from dpcore.charts.regions import region_figure
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.certainty import certainty
from dpcore.core.errors import DomainError
from dpcore.core.kinds import WORDS, kind
from dpcore.core.numerals import nearest, numeral
from dpcore.frames import compare
from dpcore.words import about, attacks_sentence, of_100, outward

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.training import TrainingSummary

MOST_BARS: Final = 40
LETTERS: Final = 34  # of a line of a name; longer names take several lines
LETTER: Final = 6.6  # px of a letter in the widest of the usual fonts
LINE: Final = 12  # px of a line of a name
_LINES: Final = r"split(datum.label, '\n')"
MOST_LINES: Final = 40  # rows of a table that are drawn; the table itself has all of them
_MEASURES: Final = {
    "advantage": "advantage over guessing",
    "true_positive_rate": "members found at false positives of",
    "best_accuracy": "right guesses if the share inside is",
    "best_posterior": "largest belief after a belief of",
}
_DEPLOYED: Final = {
    "mu": "μ",
    "advantage": "advantage over guessing",
    "true_positive_rate": "members found at 1 % false positives",
}
_RELATIONS: Final = {
    "equal": "{a} and {b} are the same region.",
    "a inside b": "{a} promises more than {b}: whatever an attacker can do against {a}, it can do against {b}.",
    "b inside a": "{b} promises more than {a}: whatever an attacker can do against {b}, it can do against {a}.",
}


def bar_figure(
    rows: pd.DataFrame, words: str, *, axis: str, title: str, frame: pd.DataFrame | None = None, look: Look = PLAIN
) -> Figure:
    """Return a bar per row with its number beside it.

    Parameters
    ----------
    rows : DataFrame
        `name, value, text, series, kind`; rows with an infinite value are left to the table. A column `below` adds a
        second line to the names.
    words : str
        What the bars show.
    axis, title : str
        Titles of the axis and of the figure.
    frame : DataFrame, optional
        The table of the figure; `rows` by default.
    look : Look, default PLAIN
        Size, title and colours.
    """
    drawn = rows[rows["value"].map(math.isfinite)].head(MOST_BARS).copy()
    if drawn.empty:
        msg = "No number is finite: there is nothing to draw."
        raise DomainError(msg)
    names = list(dict.fromkeys(drawn["series"]))
    paints = [theme.colour(names.index(one), dark=look.dark) for one in drawn["series"]]
    drawn["paint"], drawn["start"] = paints, 0.0
    drawn["fill"] = [theme.pale(paint, dark=look.dark, share=0.5) for paint in paints]
    top = max(float(drawn["value"].max()), 1e-300)
    x = alt.X("value:Q", title=axis, scale=alt.Scale(domain=[0, 1.25 * top], nice=False))
    below = drawn["below"] if "below" in drawn else [""] * len(drawn)
    lines = [[*wrap(name, LETTERS), *wrap(more, LETTERS)] for name, more in zip(drawn["name"], below, strict=True)]
    drawn["lines"] = ["\n".join(some) for some in lines]
    # the room is estimated from the number of letters: a browser may have a wider font than the one measured with
    room = max(90, round(LETTER * max(len(line) for some in lines for line in some)))
    axis_ = alt.Axis(
        labelLimit=room,
        minExtent=room,
        labelOverlap=False,
        labelExpr=_LINES,
        labelLineHeight=LINE,
        labelOffset={  # otherwise the first line is beside the bar, not the middle
            "condition": [{"test": f"length({_LINES}) == {n}", "value": -LINE * (n - 1) / 2} for n in range(2, 7)],
            "value": 0,
        },
    )
    y = alt.Y("lines:N", title=None, sort=list(drawn["lines"]), axis=axis_)
    tips = {"name": "what", "text": "value", "kind": "it is"} | ({"series": "of"} if len(names) > 1 else {})
    base = alt.Chart(checked(drawn)).encode(y=y)
    bar = base.mark_bar(aria=False, height=15, strokeWidth=1.5).encode(
        x=x,
        x2=alt.X2("start:Q"),
        fill=alt.Fill("fill:N", scale=None),
        stroke=alt.Stroke("paint:N", scale=None),
        tooltip=tooltips(tips),
    )
    ink = theme.ink(dark=look.dark)
    label = base.mark_text(align="left", dx=5, aria=False, fontSize=theme.SMALL, color=ink).encode(
        x=x, text=alt.Text("text:N")
    )
    shown = described(look, words)
    chart = theme.finish(
        [bar, label], shown, words=words, height=60 + sum(max(24, 11 + LINE * len(some)) for some in lines)
    )
    return Figure(chart, rows if frame is None else frame, words, look.title or title)


def risk_figure(regions: Mapping[str, TradeOff], frame: pd.DataFrame, *, look: Look = PLAIN) -> Figure:
    """Return what an attacker can do, as bars: all are shares between 0 and 1.

    Parameters
    ----------
    regions : mapping of str to TradeOff
        The regions by their names.
    frame : DataFrame
        What `dpcore.risk.risk` returned for them.
    look : Look, default PLAIN
        Size, title and colours.
    """
    names = {str(region): name for name, region in regions.items()}
    chosen = frame[frame["measure"].isin(_MEASURES)]
    several = len(regions) > 1
    rows = pd.DataFrame(
        {
            "name": [
                " ".join(
                    filter(
                        None,
                        (
                            f"{names[row['region']]}:" if several else "",
                            _MEASURES[row["measure"]],
                            "" if row["at"] is None or pd.isna(row["at"]) else nearest(float(row["at"])),
                        ),
                    )
                )
                for _, row in chosen.iterrows()
            ],
            "value": chosen["value"].to_numpy(),
            "text": [f"{of_100(min(1.0, float(value)))}" for value in chosen["value"]],
            "series": [names[text] for text in chosen["region"]],
            "kind": chosen["kind"].map(WORDS).to_numpy(),
        }
    )
    words = attacks_sentence(regions)
    return bar_figure(rows, words, axis="Share, at most", title="What an attacker can do", frame=frame, look=look)


def compare_figure(a: TradeOff, b: TradeOff, *, look: Look = PLAIN) -> Figure:
    """Return two regions in one picture, and a sentence that says which one promises more.

    Parameters
    ----------
    a, b : TradeOff
        The regions.
    look : Look, default PLAIN
        Size, title and colours.
    """
    frame = compare(a, b)
    relation = str(frame["relation"].iloc[0])
    if relation in _RELATIONS:
        words = _RELATIONS[relation].format(a=a.legend, b=b.legend)
    else:
        places = ", ".join(nearest(float(alpha), 4) for alpha in frame["crossing_alpha"])
        words = f"Neither promises more: {a.legend} and {b.legend} cross at false-positive rates of {places}."
    figure = region_figure({a.legend: a, b.legend: b} if a.legend != b.legend else {str(a): a, str(b): b}, look=look)
    return replace(figure, table=frame, takeaway=words, title=look.title or "Two regions compared")


def training_figure(summary: TrainingSummary, claimed: float | None = None, *, look: Look = PLAIN) -> Figure:
    """Return the certified epsilon of a training run beside what libraries print.

    Parameters
    ----------
    summary : TrainingSummary
        The run, and delta.
    claimed : float, optional
        An epsilon to show among them.
    look : Look, default PLAIN
        Size, title and colours.
    """
    word = certainty(kind(*summary.epsilon, "upper"), summary.run.region)
    computed = (f"dpcore, {word}", summary.epsilon[1], "dpcore", "upper")
    others = [
        (f"{row['library']}, {row['method']}", float(row["epsilon"]), "libraries", str(row["kind"]))
        for _, row in summary.libraries.iterrows()
    ]
    stated = [("claimed", float(claimed), "claim", "upper")] if claimed is not None else []
    rows = pd.DataFrame([computed, *stated, *others], columns=["name", "value", "series", "kind"])
    rows["text"] = [
        outward(value, 5) if series == "dpcore" else nearest(value, 5) if math.isfinite(value) else "none"
        for value, series in zip(rows["value"], rows["series"], strict=True)
    ]
    rows["kind"] = rows["kind"].map(WORDS).fillna("as printed")
    words = summary.answer()
    axis = f"ε at δ = {nearest(summary.delta)}"
    figure = bar_figure(
        rows, words, axis=axis, title="The ε of a training run", frame=summary.table(claimed), look=look
    )
    return replace(figure, notes=(summary.conditions(),))


def table_figure(
    frame: pd.DataFrame, words: str, title: str, columns: Sequence[str] = (), *, look: Look = PLAIN
) -> Figure:
    """Return a table as a picture of its cells; pages and documents show it as a table.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    words : str
        What they show.
    title : str
        A heading.
    columns : sequence of str, default ()
        The columns to show, in order; all by default.
    look : Look, default PLAIN
        Size, title and colours.
    """
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        msg = (
            f"The table has the columns {', '.join(map(str, frame.columns))[:200]}; there is no column {missing[0]!r}."
        )
        raise DomainError(msg)
    shown: pd.DataFrame = frame[list(columns)] if columns else frame
    if shown.empty:
        msg = "The table has no rows."
        raise DomainError(msg)
    names = [str(name) for name in shown.columns]
    cells = [
        {"row": place, "column": name, "text": _cell(value)}
        for place, row in enumerate([names, *shown.head(MOST_LINES).to_numpy().tolist()])
        for name, value in zip(names, row, strict=True)
    ]
    base = alt.Chart(checked(pd.DataFrame(cells)))
    text = base.mark_text(
        align="left", aria=False, fontSize=theme.SMALL, limit=220, color=theme.ink(dark=look.dark)
    ).encode(
        x=alt.X("column:N", sort=names, axis=None, scale=alt.Scale(paddingOuter=0)),
        y=alt.Y("row:O", axis=None),
        text=alt.Text("text:N"),
    )
    height = 30 + 22 * (1 + min(len(shown), MOST_LINES))
    chart = theme.finish([text], described(look, words), words=words, height=height)
    return Figure(chart, shown.reset_index(drop=True), words, look.title or title)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return nearest(value, 6) if isinstance(value, float) else str(value)


def convert_words(frame: pd.DataFrame) -> str:
    """Say what a table of conversions promises, the first row of it."""
    row = frame.iloc[0]
    return f"{row['region']} implies {row['to']} with {row['parameters']} ({WORDS[str(row['kind'])]})."


def calibrate_words(frame: pd.DataFrame) -> str:
    """Say what a calibration found."""
    row = frame.iloc[0]
    target = (
        f"ε = {nearest(float(row['epsilon']))} at δ = {nearest(float(row['delta']))}"
        if pd.notna(row["epsilon"])
        else "the target"
    )
    return f"{row['parameter']} = {numeral(float(row['value']))} meets {target}: {row['expression']} ({WORDS[str(row['kind'])]})."


def interval_words(frame: pd.DataFrame) -> str:
    """Say how wide an interval is, and how often it held the truth."""
    known = dict(zip(frame["quantity"], frame["value"], strict=True))
    width, coverage = float(known["half-width"]), float(known["coverage"])
    return (
        f"The interval reaches about {nearest(width, 4)} to both sides (typical of these data), and contained the "
        f"truth in {about(coverage)} resamples (simulation)."
    )


def deployments_figure(frame: pd.DataFrame, measure: str, *, look: Look = PLAIN) -> Figure:
    """Return published deployments on one axis, the smallest number first, with their units and coloured by their period.

    Parameters
    ----------
    frame : DataFrame
        What `dpcore.deployments.comparison` returned.
    measure : str
        The number that it compares.
    look : Look, default PLAIN
        Size, title and colours.
    """
    if frame.empty:
        msg = "No record states a number: there is nothing to draw."
        raise DomainError(msg)
    rows = pd.DataFrame(
        {
            "name": frame["name"],
            "below": [f"({unit})" if unit else "" for unit in frame["unit"]],
            "value": frame["value"],
            "text": [outward(float(value), 3) for value in frame["value"]],
            "series": [
                f"per {period}" if period and period != "once" else period or "not stated" for period in frame["period"]
            ],
            "kind": frame["kind"].map(WORDS),
        }
    )
    first, last = frame.iloc[0], frame.iloc[-1]
    words = (
        f"Of {len(frame)} records, {first['name']} promises the most ({_DEPLOYED[measure]} at most {outward(float(first['value']), 3)}), and "
        f"{last['name']} the least ({outward(float(last['value']), 3)}). Units and periods differ: a promise for a day starts again every day. "
        f"Colours are periods, from the top: {', '.join(dict.fromkeys(rows['series']))}."
    )
    return bar_figure(
        rows, words, axis=f"{_DEPLOYED[measure]}, at most", title="Published deployments", frame=frame, look=look
    )
