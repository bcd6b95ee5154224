"""A query with its mechanism as a figure: closed forms and simulations of its error, as a parameter changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpcore.charts.figure import Figure
from dpcore.charts.regions import region_figure
from dpcore.charts.theme import PLAIN, Look, described
from dpcore.charts.utility import utility_chart, utility_notes, utility_takeaway
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.kinds import EXACT, WORDS
from dpcore.core.numerals import nearest
from dpcore.regions.guarantees import DP
from dpcore.utility.neighbourhood import DataRegion
from dpcore.utility.simulate import moved, simulate

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility import Dataset, UtilityPair
    from dpcore.utility.base import UtilityMeasure

COLUMNS = ("label", "parameter", "value", "kind", "low", "high", "theorem")
POINTS = 41  # per line
SIMULATED = 9  # points of the simulation
RELEASES = 400
SIMULATION = "simulation ± 2 standard errors"
_ANY = "lower bound on any mechanism"
_IN_PART = "no bound"  # of a line that is a bound at some points only; the kind of each row says which
LONGEST_LABEL = 48
AT_HAND = "these data, worst neighbour"
_SAME = 1e-9  # largest difference of false negatives at which two regions count as one
_RATES = np.linspace(0.0, 1.0, 41)
_REACH = 20.0  # a parameter without a usual range is drawn from a 20th to 20 times its value
_LARGEST_N = 10**6


def pair_grid(pair: UtilityPair, data: Dataset, parameter: str, points: int = POINTS) -> list[float]:
    """Return the values of a parameter to evaluate: round numbers, even on the log scale, with its current value.

    Parameters
    ----------
    pair, data : Pair or Dataset
        Query with mechanism, and the data.
    parameter : str
        One of the pair's numbers, or ``n``, the number of records.
    points : int, default POINTS
        About how many values.
    """
    low, high, now, whole = _span(pair, data, parameter)
    places = [float(f"{x:.3g}") for x in np.geomspace(low, high, points)]
    if whole:
        places = [float(round(x)) for x in places]
    inside = {x for x in places if low <= x <= high}
    return sorted({*inside, now})


def _span(pair: UtilityPair, data: Dataset, parameter: str) -> tuple[float, float, float, bool]:
    """Return the ends of the axis, the current value, and whether only integers are allowed."""
    parameters = {p.name: p for p in pair.parameters()}
    if parameter not in parameters:
        low, high = (1.0, float(max(_LARGEST_N, 100 * data.n)))
        return low, high, float(data.n), True
    about = parameters[parameter]
    if about.kind not in ("number", "integer"):
        msg = f"Only a number can move along the axis; {parameter} is {about.domain_words}."
        raise DomainError(msg)
    now = float(getattr(pair, parameter))
    if parameter == pair.main:
        low, high = pair.span
    elif about.high <= 1:
        low, high = (1e-9, 0.5) if parameter == "delta" else (0.01, 0.99)
    else:
        low, high = now / _REACH, now * _REACH
    whole = about.kind == "integer"
    low = max(low, about.low, 1.0 if whole else 1e-300)
    high = max(min(high, about.high), low)
    return min(low, now) if now > 0 else low, max(high, now), now, whole


def pair_table(
    pair: UtilityPair,
    data: Dataset,
    *,
    parameter: str | None = None,
    measure: str | None = None,
    releases: int = RELEASES,
    seed: int = 0,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return closed forms and simulations of one measure as a parameter changes, and notes about gaps.

    Parameters
    ----------
    pair, data : UtilityPair or Dataset
        Query with mechanism, and the data.
    parameter : str, optional
        The parameter on the axis; the pair's main one by default. ``n`` has closed forms only.
    measure : str, optional
        The pair's main one by default.
    releases : int, default RELEASES
        Simulated at each of nine values; 0 for none.
    seed : int, default 0
        Of the simulation.

    Returns
    -------
    DataFrame
        `label, parameter, value, kind, low, high, theorem`: closed forms have low = high = value, simulations reach two
        standard errors to both sides.
    tuple of str
        Why some values are missing.
    """
    name, quantity = parameter or pair.main, pair.measure_of(measure or pair.measure)
    rows: list[tuple[Any, ...]] = []
    refused: list[tuple[float, str]] = []
    grid = pair_grid(pair, data, name)
    for index, x in enumerate(grid):
        checkpoint(0.5 * index / len(grid))
        try:
            at, n = moved(pair, name, x)
            facts = [fact for fact in at.closed_forms(data, n) if fact.measure == quantity.name]
        except DomainError as error:
            refused.append((x, str(error)))
            continue
        rows += [(x, f.value, f.kind, f.value, f.value, f.theorem, f.about) for f in facts]
    rows += _simulated(pair, data, name, quantity, releases, seed)
    if not rows:
        msg = refused[0][1] if refused else f"Nothing is known about the {quantity.label} without a simulation."
        raise DomainError(msg)
    frame = pd.DataFrame(rows, columns=["parameter", "value", "kind", "low", "high", "theorem", "about"])
    # exact first, then the simulation: their colours are the same in every figure
    rank = frame["kind"].map({"exact": 0, "simulation": 1}).fillna(2)
    frame = frame.assign(rank=rank).sort_values("rank", kind="stable", ignore_index=True)
    return frame.assign(label=_labels(frame))[list(COLUMNS)], _gaps(name, refused)


def _gaps(name: str, refused: list[tuple[float, str]]) -> tuple[str, ...]:
    """Say where nothing is drawn, with the first reason."""
    if not refused:
        return ()
    first, last = refused[0][0], refused[-1][0]
    several = f"{len(refused)} values of {name} from {nearest(first)} to {nearest(last)}"
    where = f"{name} = {nearest(first)}" if first == last else several
    return (f"Nothing is drawn at {where}: {refused[0][1]}",)


def _simulated(
    pair: UtilityPair, data: Dataset, name: str, measure: UtilityMeasure, releases: int, seed: int
) -> list[tuple[Any, ...]]:
    """Return a row for each value at which releases were simulated."""
    if not releases or name not in {p.name for p in pair.parameters()}:
        return []
    grid, rows = pair_grid(pair, data, name, SIMULATED), []
    for index, (x, rng) in enumerate(zip(grid, np.random.default_rng(seed).spawn(len(grid)), strict=True)):
        part = (0.5 + 0.5 * index / len(grid), 0.5 + 0.5 * (index + 1) / len(grid))
        try:
            frame = simulate(moved(pair, name, x)[0], data, rng, releases, progress=part)
        except DomainError:
            continue  # the closed forms say why
        row = frame[frame["measure"] == measure.name].iloc[0]
        value, error = float(row["simulated"]), float(row["standard_error"])
        theorem = f"{releases} simulated releases"
        rows.append((x, value, "simulation", value - 2 * error, value + 2 * error, theorem, "release"))
    return rows


def _labels(frame: pd.DataFrame) -> list[str]:
    """Name each line by what its numbers are, and by its theorem too where two lines would share a name."""
    short = frame["theorem"].str.split(":").str[0].str.strip()
    groups: dict[tuple[str, str], set[str]] = {}
    for theorem, about, kind in zip(short, frame["about"], frame["kind"], strict=True):
        groups.setdefault((theorem, about), set()).add(kind)
    names = {}
    for (theorem, about), kinds in groups.items():
        if kinds == {"simulation"}:
            names[theorem, about] = SIMULATION
        elif about == "any":
            names[theorem, about] = _ANY
        else:
            names[theorem, about] = WORDS[next(iter(kinds))] if len(kinds) == 1 else _IN_PART
    twice = {name for name in names.values() if list(names.values()).count(name) > 1 or name == _IN_PART}
    counts: dict[str, int] = {}
    full = {}
    for key, name in names.items():
        counts[name] = counts.get(name, 0) + 1
        long = f"{name}: {key[0]}"
        full[key] = name if name not in twice else long if len(long) <= LONGEST_LABEL else f"{name} ({counts[name]})"
    return [full[key] for key in zip(short, frame["about"], strict=True)]


def _theorems(table: pd.DataFrame) -> tuple[str, ...]:
    """Name the theorems of numbered lines."""
    rows = table[table["label"].str.endswith(")")].drop_duplicates("label")
    return tuple(f"{label}: {theorem}." for label, theorem in zip(rows["label"], rows["theorem"], strict=True))


def pair_regions(pair: UtilityPair, data: Dataset) -> dict[str, TradeOff]:
    """Return the regions of a pair by name: for all data, for these data where that is another, and as it is stated.

    Parameters
    ----------
    pair, data : UtilityPair or Dataset
        Query with mechanism, and the data.
    """
    regions = {"exact region" if pair.region.kind == EXACT else "bound for all data": pair.region}
    here = pair.region_at(data)
    if isinstance(here, DataRegion):
        regions[AT_HAND] = here
    elif not _alike(here, pair.region):
        regions["exact region here"] = here
    values = {p.name: getattr(pair, p.name) for p in pair.parameters()}
    if "epsilon" in values:
        stated = DP(values["epsilon"], values.get("delta", 0.0))
        if not any(_alike(stated, region) for region in regions.values()):
            regions[f"({nearest(stated.epsilon_)}, {nearest(stated.delta_)})-DP as stated"] = stated
    return regions


def _alike(first: TradeOff, second: TradeOff) -> bool:
    return bool(np.max(np.abs(first.beta(_RATES) - second.beta(_RATES))) <= _SAME)


def pair_region_figure(pair: UtilityPair, data: Dataset, *, look: Look = PLAIN) -> Figure:
    """Return the regions of a pair as a figure, the one for all data in front.

    Parameters
    ----------
    pair, data : UtilityPair or Dataset
        As in `pair_regions`.
    look : Look, default PLAIN
        Size, title and colours.
    """
    regions = pair_regions(pair, data)
    figure = region_figure(regions, selected=next(iter(regions)), look=look)
    if AT_HAND not in regions:
        return figure
    note = "The region of these data depends on them: it is for their owner and must not be published."
    return replace(figure, notes=(*figure.notes, note))


def pair_figure(
    pair: UtilityPair,
    data: Dataset,
    *,
    parameter: str | None = None,
    measure: str | None = None,
    releases: int = RELEASES,
    seed: int = 0,
    look: Look = PLAIN,
    **options: Any,
) -> Figure:
    """Return the utility of a pair against one of its parameters.

    Errors are drawn on a logarithmic axis, chances of success on a linear one. The arguments are those of `pair_table`;
    `options` are those of `utility_chart`.
    """
    name, quantity = parameter or pair.main, pair.measure_of(measure or pair.measure)
    options.setdefault("log_y", not quantity.larger_is_better)
    table, notes = pair_table(pair, data, parameter=name, measure=quantity.name, releases=releases, seed=seed)
    about = next((p for p in pair.parameters() if p.name == name), None)
    now = float(getattr(pair, name)) if about is not None else float(data.n)
    sign = (about.label or about.name) if about is not None else "n"
    axis = f"{quantity.label} ({quantity.unit})" if quantity.unit else quantity.label
    takeaway = utility_takeaway(table, current=now, parameter=sign, value=quantity.label)
    chart = utility_chart(
        table.drop(columns="theorem"),
        current=now,
        parameter=sign,
        value=axis,
        look=described(look, takeaway),
        **options,
    )
    title = look.title or f"{pair.title}: {quantity.label} against {sign}"
    return Figure(
        chart,
        table,
        takeaway,
        title,
        (*notes, *_theorems(table), *utility_notes(table, log_y=options["log_y"])),
    )
