"""The composition charts: what every theorem promises about the same k mechanisms, as regions and as profiles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpcore.charts import theme
from dpcore.charts.figure import Figure
from dpcore.charts.profiles import profile_chart, profile_table
from dpcore.charts.regions import region_chart
from dpcore.charts.sampling import note, sample
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.core.errors import BudgetError, DomainError
from dpcore.words import best_power, of_100, outward

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dpcore.theorems.composition.theorem_regions import TheoremRegion

    Points = Callable[[TheoremRegion], pd.DataFrame]

KINDS = {"exact": "exact", "upper": "upper bound", "approximate": "approximation"}
_SPREAD = 1e-12


def way_points(way: TheoremRegion) -> pd.DataFrame:
    """Return the points that draw the region of one theorem; a bound's rates are marked as the safe side."""
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


def composition_table(ways: Iterable[TheoremRegion], points: Points = way_points) -> pd.DataFrame:
    """Return the points drawn for every theorem that applies; ``attrs["notes"]`` tells which took too long or were thinned."""
    parts, left_out = [], []
    for way in ways:
        if way.region is not None:
            try:
                parts.append(points(way))
            except BudgetError as error:
                left_out.append(f"{way.title}: {error}")
    if not parts:
        msg = "No theorem can be drawn: " + ("; ".join(left_out) or "choose at least one that applies.")
        raise DomainError(msg)
    table = pd.concat(parts, ignore_index=True)
    table.attrs = {"notes": [*filter(None, (part.attrs["note"] for part in parts)), *left_out]}
    return table


def composition_takeaway(ways: Iterable[TheoremRegion], *, fpr: float = 0.05) -> str:
    """Say what the best attacker finds according to every theorem, the strongest promise first."""
    found = [(*best_power(way.region, fpr), way) for way in ways if way.region is not None]
    held = sorted((known for known in found if known[2].kind != "approximate"), key=lambda known: known[0])
    groups: dict[str, list[str]] = {}
    for power, what, way in held:
        kind = what if way.kind == "exact" else KINDS[way.kind]
        groups.setdefault(_people(power), []).append(f"{way.title} ({kind})")
    said = "; ".join(f"{people} by {', '.join(names)}" for people, names in groups.items())
    rough = [f"{way.title}: about {_people(power)}, no promise" for power, _, way in found if way.kind == "approximate"]
    first = f"An attacker who wrongly accuses {of_100(fpr, up=False)} people outside the data finds at most {said} of the people inside it."
    return " ".join(
        [first if said else "", *(f"{text}." for text in rough), f"Blind guessing finds {of_100(fpr, up=False)}."]
    ).strip()


def _people(power: float) -> str:
    """Return a rate as people, rounded up; above 99 of 100 it is all of them."""
    return of_100(1.0 if power > 0.99 else power)


def _kind(way: TheoremRegion) -> str:
    kind = way.region.kind if way.kind == "exact" and way.region is not None else way.kind
    return KINDS[kind]


def composition_figure(
    ways: Sequence[TheoremRegion],
    *,
    log: bool = False,
    look: Look = PLAIN,
    points: Points = way_points,
    **options: Any,
) -> Figure:
    """Return the regions of all theorems on one chart; `options` are those of `region_chart`.

    Parameters
    ----------
    ways : sequence of TheoremRegion
        What `dpcore.theorems.composition.theorem_regions` returns; those that do not apply are left out.
    log : bool, default False
        Both axes logarithmic down to 1e-12.
    points : Points, optional
        Makes the points of one theorem; for a caller that keeps them.
    """
    table = composition_table(ways, points)
    drawn = set(table["label"].unique())
    shown = [way for way in ways if way.title in drawn]
    takeaway = composition_takeaway(shown, fpr=1e-6 if log else 0.05)
    chart = region_chart(table, log=log, look=described(look, takeaway), **options)
    return Figure(chart, table, takeaway, look.title or "Composition", tuple(table.attrs["notes"]))


def composition_profile(
    ways: Sequence[TheoremRegion],
    *,
    delta: float = 1e-6,
    epsilon_max: float | None = None,
    look: Look = PLAIN,
    **options: Any,
) -> Figure:
    """Return delta(epsilon) of all theorems on one chart; `options` are those of `profile_chart`."""
    shown = [way for way in ways if way.region is not None]
    top = profile_end(shown) if epsilon_max is None else epsilon_max
    parts, kept, left_out = [], [], []
    for way in shown:
        if way.region is None:  # pragma: no cover  filtered above, for the type checker
            continue
        try:
            rows = profile_table({way.title: way.region}, epsilon_max=min(top, _own_end(way)))
        except BudgetError as error:
            left_out.append(f"{way.title}: {error}")
            continue
        parts.append(rows if way.kind == "exact" else rows.assign(kind=way.kind))
        kept.append(way)
    if not parts:
        msg = "No theorem can be drawn: " + ("; ".join(left_out) or "choose at least one that applies.")
        raise DomainError(msg)
    takeaway = " ".join(_needs(way, delta) for way in kept)
    chart = profile_chart(pd.concat(parts, ignore_index=True), look=described(look, takeaway), **options)
    return Figure(chart, pd.concat(parts, ignore_index=True), takeaway, look.title or "Profiles", tuple(left_out))


def profile_end(ways: Sequence[TheoremRegion]) -> float:
    """Return where the profiles of the sharper theorems have left the picture, at most four times the sharpest."""
    sharp = [way for way in ways if not way.rough] or list(ways)
    ends = [end for end in map(_own_end, sharp) if 0 < end < math.inf]
    return min(max(ends), 4 * min(ends)) if ends else 1.0


def _own_end(way: TheoremRegion) -> float:
    """Return a little more than the epsilon where delta is 1e-12 or stays what it is; inf for one statement."""
    region = way.region
    if region is None or way.single:
        return math.inf
    limit = region.curve.q_inf
    try:
        end = float(region.epsilon(min(1.0, max(_SPREAD, limit * (1 + 1e-9)))))
    except BudgetError:
        return math.inf
    return 1.05 * end if limit == 0 and end > 0 else math.inf


def _needs(way: TheoremRegion, delta: float) -> str:
    """Say which epsilon a theorem needs for delta; one that is a single statement says that."""
    region, name = way.region, theme.short(way.title)
    if region is None:
        return ""
    if way.single:
        top, failing = max(0.0, region.curve.max_loss), region.curve.q_inf
        return f"{name}: ε is at most {outward(top, 3)} at δ = {outward(failing, 3)} (upper bound)."
    needed = float(region.epsilon(delta))
    if math.isinf(needed):
        return f"{name}: no ε reaches δ = {outward(delta, 6)}."
    if way.kind == "approximate":
        return f"{name}: about ε = {needed:.3g} for δ = {outward(delta, 6)}."
    return f"{name}: for δ = {outward(delta, 6)}, ε is at most {outward(needed, 3)} ({_kind(way)})."
