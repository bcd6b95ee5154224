"""The composition charts: what each theorem promises about the same k mechanisms, as regions and as profiles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure, not_drawn
from dpcore.charts.profiles import profile_chart, profile_table
from dpcore.charts.regions import region_chart
from dpcore.charts.sampling import BORDER, note, sample
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.kinds import WORDS
from dpcore.core.numerals import nearest
from dpcore.words import best_power, of_100, outward

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems.composition.theorem_regions import TheoremRegion

_LEAST_DELTA = 1e-12  # where a profile leaves the picture


def _points(way: TheoremRegion) -> pd.DataFrame:
    """Return the points drawn for one theorem; rates of a bound are marked as the safe side."""
    if way.region is None:
        msg = f"{way.title} has no region: {way.note}"
        raise DomainError(msg)
    points = sample(way.region, way.title)
    points.attrs["note"] = "" if way.single else note(way.region, points)
    if way.kind == "upper":
        points["kind"] = "lower"
    elif way.kind == "approximate":
        points["kind"] = "approximate"
    return points


def composition_table(ways: Iterable[TheoremRegion]) -> pd.DataFrame:
    """Return the points drawn for every theorem that applies.

    Parameters
    ----------
    ways : iterable of TheoremRegion
        What `dpcore.theorems.composition.theorem_regions` returns.

    Returns
    -------
    DataFrame
        Columns as in `dpcore.charts.sampling.sample`; ``attrs["notes"]`` says which took too long or were thinned.
    """
    parts, left_out = [], []
    for way in ways:
        if way.region is not None:
            try:
                parts.append(_points(way))
            except BudgetError as error:
                left_out.append(f"{way.title}: {error}")
    if not parts:
        msg = "No theorem can be drawn: " + ("; ".join(left_out) or "choose at least one that applies.")
        raise DomainError(msg)
    table = pd.concat(parts, ignore_index=True)
    table.attrs = {"notes": [*filter(None, (part.attrs["note"] for part in parts)), *left_out]}
    return table


def composition_border(ways: Iterable[TheoremRegion]) -> pd.DataFrame:
    """Return the border that each theorem promises, as it is drawn.

    Parameters
    ----------
    ways : iterable of TheoremRegion
        What `dpcore.theorems.composition.theorem_regions` returns; those that do not apply are left out.

    Returns
    -------
    DataFrame
        `label, region, alpha, beta, kind, theorem, neighbours`.
    """
    return composition_table(ways)[list(BORDER)]


def composition_takeaway(ways: Iterable[TheoremRegion], *, fpr: float = 0.05) -> str:
    """Say what the best attacker finds according to each theorem, the strongest promise first."""
    powers = [(*best_power(way.region, fpr), way) for way in ways if way.region is not None]
    promises = sorted((entry for entry in powers if entry[2].kind != "approximate"), key=lambda entry: entry[0])
    groups: dict[str, list[str]] = {}
    for power, what, way in promises:
        kind = what if way.kind == "exact" else WORDS[way.kind]
        groups.setdefault(_people(power), []).append(f"{way.title} ({kind})")
    counts = "; ".join(f"{people} by {', '.join(names)}" for people, names in groups.items())
    rough = [
        f"{way.title}: about {_people(power)}, no promise" for power, _, way in powers if way.kind == "approximate"
    ]
    first = f"An attacker who wrongly accuses {of_100(fpr, up=False)} people outside the data finds at most {counts} of the people inside it."
    return " ".join(
        [first if counts else "", *(f"{text}." for text in rough), f"Blind guessing finds {of_100(fpr, up=False)}."]
    ).strip()


def _people(power: float) -> str:
    """Return a rate as people, rounded up; above 99 of 100 it is all of them."""
    return of_100(1.0 if power > 0.99 else power)


def composition_figure(
    ways: Sequence[TheoremRegion],
    *,
    log: bool = False,
    look: Look = PLAIN,
    **options: Any,
) -> Figure:
    """Return the regions of all theorems on one chart.

    Parameters
    ----------
    ways : sequence of TheoremRegion
        What `dpcore.theorems.composition.theorem_regions` returns; those that do not apply are left out.
    log : bool, default False
        Both axes logarithmic down to 1e-12.
    look : Look, default PLAIN
        Size, title and colours.
    options : object
        Those of `region_chart`.

    Returns
    -------
    Figure
        The chart, its points, a sentence and notes.
    """
    table = composition_table(ways)
    titles = set(table["label"].unique())
    takeaway = composition_takeaway([way for way in ways if way.title in titles], fpr=1e-6 if log else 0.05)
    chart = region_chart(table, log=log, look=described(look, takeaway), **options)
    return Figure(chart, table, takeaway, look.title or "Composition", (*table.attrs["notes"], *_missing(ways)))


def composition_profile(
    ways: Sequence[TheoremRegion],
    *,
    delta: float = 1e-6,
    epsilon_max: float | None = None,
    look: Look = PLAIN,
    **options: Any,
) -> Figure:
    """Return delta(epsilon) of all theorems on one chart.

    Parameters
    ----------
    ways : sequence of TheoremRegion
        What `dpcore.theorems.composition.theorem_regions` returns; those that do not apply are left out.
    delta : float, default 1e-6
        The delta of the sentence.
    epsilon_max : float, optional
        The right end of the axis; by default `profile_end`.
    look : Look, default PLAIN
        Size, title and colours.
    options : object
        Those of `profile_chart`.

    Returns
    -------
    Figure
        The chart, its points, a sentence and notes.
    """
    regions = [(way, way.region) for way in ways if way.region is not None]
    top = profile_end([way for way, _ in regions]) if epsilon_max is None else epsilon_max
    parts, sentences, left_out = [], [], []
    for way, region in regions:
        try:
            rows = profile_table({way.title: region}, epsilon_max=min(top, _own_end(way)))
        except BudgetError as error:
            left_out.append(f"{way.title}: {error}")
            continue
        parts.append(rows if way.kind == "exact" else rows.assign(kind=way.kind))
        sentences.append(_needs(way, region, delta))
    if not parts:
        msg = "No theorem can be drawn: " + ("; ".join(left_out) or "choose at least one that applies.")
        raise DomainError(msg)
    table, takeaway = pd.concat(parts, ignore_index=True), " ".join(sentences)
    chart = profile_chart(table, look=described(look, takeaway), **options)
    return Figure(chart, table, takeaway, look.title or "Profiles", (*left_out, *_missing(ways)))


def _missing(ways: Iterable[TheoremRegion]) -> tuple[str, ...]:
    """Say which theorems do not apply, and why."""
    return not_drawn((way.note, way.title) for way in ways if way.region is None)


def profile_end(ways: Sequence[TheoremRegion]) -> float:
    """Return where the profiles of the sharper theorems have left the picture, at most four times the first of these ends."""
    sharp = [way for way in ways if not way.rough] or list(ways)
    ends = [end for end in map(_own_end, sharp) if 0 < end < math.inf]
    return min(max(ends), 4 * min(ends)) if ends else 1.0


def _own_end(way: TheoremRegion) -> float:
    """Return a little more than the epsilon where delta is 1e-12 or no longer falls; inf for a single statement."""
    region = way.region
    if region is None or way.single:
        return math.inf
    limit = region.curve.q_inf
    try:
        end = float(region.epsilon(min(1.0, max(_LEAST_DELTA, limit * (1 + 1e-9)))))
    except BudgetError:
        return math.inf
    return 1.05 * end if limit == 0 and end > 0 else math.inf


def _needs(way: TheoremRegion, region: TradeOff, delta: float) -> str:
    """Say which epsilon a theorem needs for delta; a single statement is repeated as it is."""
    name = theme.short(way.title)
    if way.single:
        top, failing = max(0.0, region.curve.max_loss), region.curve.q_inf
        return f"{name}: ε is at most {outward(top, 4)} at δ = {outward(failing, 3)} (upper bound)."
    epsilon = float(region.epsilon(delta))
    if math.isinf(epsilon):
        return f"{name}: no ε reaches δ = {outward(delta, 6)}."
    kind = WORDS[region.kind if way.kind == "exact" else way.kind]
    if way.kind == "approximate":
        return f"{name}: about ε = {nearest(epsilon, 4)} for δ = {outward(delta, 6)}."
    return f"{name}: for δ = {outward(delta, 6)}, ε is at most {outward(epsilon, 4)} ({kind})."
