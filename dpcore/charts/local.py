"""Charts of local privacy: what channels keep as epsilon grows, a channel itself, and what its answers give away."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import altair as alt

from dpcore.charts import theme
from dpcore.charts.figure import Figure, Series, checked
from dpcore.charts.regions import region_figure
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.charts.utility import utility_chart, utility_table
from dpcore.core.numerals import nearest
from dpcore.local.bounds import BOUNDS
from dpcore.local.sweeps import BEST, FREE, MANY, RATIO, TWO
from dpcore.words import best_power, of_100, outward

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.local.channels import Channel
    from dpcore.local.hypotheses import LocalPromise

MOST_WRITTEN = 8  # answers; with more, the cells are too narrow for their numbers
MOST_LINES = 7  # more than this are hard to tell apart
_BESIDE_ETA = {bound.title for bound in BOUNDS if bound.name in {"contraction", "corollary", "duchi"}}
_HEIGHT, _ROW = 330, 28  # px of the plot, and of a line of its legend
_ROOM = 6.0  # bounds above this multiple of the best channel are not drawn
_RATE = 0.05  # of wrong guesses, in the sentence about a region
_DEEPEST = 0.6  # share of colour in a cell of probability 1: text stays readable on it


def sweep_figure(
    frame: pd.DataFrame, *, value: str, epsilon: float, apart: float | None = None, look: Look = PLAIN
) -> Figure:
    """Return the chart of `dpcore.local.utilities` or `dpcore.local.ratios` with its table and sentence.

    Parameters
    ----------
    frame : DataFrame
        What those functions return.
    value : str
        Name of the measure, as on the axis.
    epsilon : float
        The current value, drawn as a dotted line.
    apart : float, optional
        The measure of the hypotheses themselves, for the sentence; None or infinity leaves it out.
    look : Look, default PLAIN
        Size, title and colours.
    """
    ratio = RATIO in set(frame["series"])
    takeaway = _ratio_words(frame, epsilon) if ratio else _utility_words(frame, value, epsilon, apart)
    table = utility_table(_visible(frame).assign(label=_labels))
    linear = value == "total variation"
    look = replace(look, height=look.height or _HEIGHT + _ROW * Series(table["label"], dark=look.dark).rows())
    chart = utility_chart(
        table,
        current=epsilon,
        parameter=f"{theme.EPSILON_TITLE} of one answer",
        value=value[:1].upper() + value[1:],
        log_x=False,
        log_y=not linear,
        look=described(look, takeaway),
    )
    return Figure(chart, frame, takeaway, look.title or f"{value} against ε", _notes(table, frame))


def _labels(frame: pd.DataFrame) -> list[str]:
    """Return the names in the legend; those of bounds say that they are."""
    pairs = zip(frame["series"], frame["kind"], strict=True)
    return [name if kind == "exact" or "bound" in name else f"{name} bound" for name, kind in pairs]


def _notes(visible: pd.DataFrame, whole: pd.DataFrame) -> tuple[str, ...]:
    """Say what the picture leaves out."""
    if len(visible) == len(whole):
        return ()
    some = visible["label"].nunique() < whole["series"].nunique()
    also = ", also of bounds that are not drawn" if some else ""
    return (f"Lines of bounds end where they would leave the picture; the table has all values{also}.",)


def _visible(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out bounds beyond `MOST_LINES`, and values so large that the channels would look alike."""
    if FREE in set(frame["series"]) and frame["series"].nunique() > MOST_LINES:
        frame = frame[~frame["series"].isin(_BESIDE_ETA)]
    attained = frame[frame["kind"] == "exact"]["value"]
    most = _ROOM * float(attained.max()) if len(attained) else 0.0
    return frame[frame["value"] <= most] if most > 0 else frame


def _here(frame: pd.DataFrame, series: str, epsilon: float) -> pd.Series | None:
    rows = frame[frame["series"] == series]
    if rows.empty:
        return None
    return rows.iloc[int((rows["parameter"] - epsilon).abs().to_numpy().argmin())]


def _utility_words(frame: pd.DataFrame, value: str, epsilon: float, apart: float | None) -> str:
    best = _here(frame, BEST, epsilon)
    parts = []
    if best is not None:
        low, high = outward(float(best["low"]), 4, up=False), outward(float(best["high"]), 4)
        amount = (
            f"{nearest(float(best['value']), 4)} (exact)" if best["kind"] == "exact" else f"{low} to {high} (bounds)"
        )
        parts.append(f"At ε = {nearest(float(best['parameter']), 4)} the best channel keeps a {value} of {amount}")
        if apart is not None and 0 < apart < float("inf"):
            parts.append(f", compared with {nearest(apart, 4)} without privacy")
        parts.append(". ")
    for name in (TWO, MANY):
        row = _here(frame, name, epsilon)
        if row is not None:
            parts.append(f"{name[:1].upper()}{name[1:]}: {nearest(float(row['value']), 4)} (exact). ")
    upper = frame[(frame["kind"] == "upper")]
    near = [row for series in dict.fromkeys(upper["series"]) if (row := _here(upper, series, epsilon)) is not None]
    if near:
        least = min(near, key=lambda row: float(row["value"]))
        parts.append(f"The smallest upper bound ({least['series']}) is {outward(float(least['value']), 4)}.")
    return "".join(parts).strip()


def _ratio_words(frame: pd.DataFrame, epsilon: float) -> str:
    row = _here(frame, RATIO, epsilon)
    if row is None:
        return "The ratio is not known."
    kind = "exact" if row["kind"] == "exact" else "at most: the best channel is only bounded"
    here, value = nearest(float(row["parameter"]), 4), nearest(float(row["value"]), 4)
    sentence = f"At ε = {here} the binary mechanism keeps {value} of what the best channel keeps ({kind})"
    lower = frame[frame["kind"] == "lower"]
    names = [name for name in dict.fromkeys(lower["series"]) if name != RATIO]
    rows = [(name, _here(lower, name, epsilon)) for name in names]
    parts = [f"{outward(float(bound['value']), 3, up=False)} ({name})" for name, bound in rows if bound is not None]
    return f"{sentence}; for any hypotheses it is at least {', '.join(parts)}." if parts else f"{sentence}."


def channel_figure(channel: Channel, promise: LocalPromise, *, look: Look = PLAIN) -> Figure:
    """Return a channel as a picture: a row per letter, a column per answer, the darker the likelier.

    Parameters
    ----------
    channel : Channel
        How people answer.
    promise : LocalPromise
        What every answer is to guarantee, for the sentence.
    look : Look, default PLAIN
        Size, title and colours.
    """
    frame, words = channel.frame(), channel_words(channel, promise)
    answers = list(frame.columns[1:])
    rows = frame.melt(id_vars="letter", var_name="answer", value_name="probability")
    rows["text"] = [nearest(p, 3) if p >= 0.0005 or p == 0 else nearest(p, 1) for p in rows["probability"]]
    strong, back = theme.colour(0, dark=look.dark), theme.paper(dark=look.dark)
    deep = theme.pale(strong, dark=look.dark, share=_DEEPEST)
    x = alt.X(
        "answer:N",
        title="Answer",
        sort=answers,
        axis=alt.Axis(orient="top", labelAngle=0 if len(answers) <= 4 else -40, labelLimit=110),
        scale=alt.Scale(padding=0.04),
    )
    y = alt.Y("letter:N", title="Private letter", sort=list(frame["letter"]), axis=alt.Axis(labelLimit=130))
    scale = alt.Scale(domain=[0, 1], range=[back, deep], interpolate="rgb")
    fill = alt.Color("probability:Q", scale=scale, legend=None)
    tips = [alt.Tooltip(f"{name}:N", title=name) for name in ("letter", "answer")]
    tips.append(alt.Tooltip("text:N", title="probability"))
    base = alt.Chart(checked(rows)).encode(x=x, y=y)
    cells = base.mark_rect(stroke=theme.quiet(dark=look.dark), strokeWidth=0.5, aria=False)
    layers = [cells.encode(color=fill, tooltip=tips)]
    if len(answers) <= MOST_WRITTEN:
        ink = theme.ink(dark=look.dark)
        layers.append(base.mark_text(color=ink, fontSize=theme.SMALL, aria=False).encode(text=alt.Text("text:N")))
    height = 60 + 34 * len(frame)
    chart = theme.finish(layers, described(look, words), words=words, height=min(height, 480))
    return Figure(chart, rows.drop(columns="text"), words, look.title or channel.title)


def channel_words(channel: Channel, promise: LocalPromise) -> str:
    """Say how many answers a channel has, and what it gives away at most."""
    count = sum(any(row[y] > 0 for row in channel.rows) for y in range(len(channel.answers)))
    answers = "one answer" if count == 1 else f"{count} answers"
    least = "infinite (some answer excludes a letter)" if math.isinf(channel.epsilon) else outward(channel.epsilon, 5)
    extra = ""
    if promise.delta > 0:
        extra = f", its δ at ε = {nearest(promise.epsilon)} is {outward(channel.delta(promise.epsilon), 4)}"
    return (
        f"{channel.title[:1].upper()}{channel.title[1:]}: {answers}. Its smallest pure ε is {least}{extra}, and its total "
        f"variation is {outward(channel.total_variation, 4)} (exact, rounded up)."
    )


def answer_figure(channel: Channel, promise: LocalPromise, times: int = 1, *, look: Look = PLAIN) -> Figure:
    """Return what one answer of a channel tells about a person, what several tell, and what the promise allows.

    Parameters
    ----------
    channel : Channel
        How people answer.
    promise : LocalPromise
        What every answer is to guarantee.
    times : int, default 1
        How often one person answers about the same letter.
    look : Look, default PLAIN
        Size, title and colours.
    """
    regions = {f"one answer, {channel.title}": channel.region()}
    if times > 1:
        regions[f"{times} answers of one person"] = channel.region(times)
    regions[f"promise: {promise}"] = promise.region
    known = {name: best_power(region, _RATE) for name, region in regions.items()}
    parts = [f"{of_100(power)} ({name}; {what})" for name, (power, what) in known.items()]
    words = (
        f"A guess at which of two letters a person has that is wrong about the first in {of_100(_RATE)} cases is "
        f"right about the second in at most {', '.join(parts)}; blind guessing in {of_100(_RATE)}."
    )
    return replace(region_figure(regions, look=described(look, words)), takeaway=words)
