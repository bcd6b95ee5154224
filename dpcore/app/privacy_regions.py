"""From a list of regions to pictures, tables and the Python that makes them; every part is computed once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpcore import frames
from dpcore.app import listing, work
from dpcore.charts import profile_figure, region_chart, region_takeaway
from dpcore.charts.figure import Figure, Series
from dpcore.charts.regions import blank_figure
from dpcore.charts.sampling import MOST_ROWS, border_table, corner_count, note, sample
from dpcore.charts.theme import Look, described
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import EXACT, WORDS, labelled
from dpcore.language.lists import parse_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.app.listing import Item
    from dpcore.regions.tradeoff import TradeOff

HEIGHT, LEGEND_ROW = 440, 23  # the chart, its legend and its controls fit one screen
LOW_RATE, USUAL_RATE = 1e-6, 0.05
REGION, PROFILE = "region", "profile δ(ε)"


@dataclass(frozen=True, slots=True)
class RegionLine:
    """One line of the list: its label, its region and the points that draw it, or what is wrong with it."""

    item: Item
    label: str
    region: TradeOff | None
    points: pd.DataFrame | None
    error: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def drawn(self) -> bool:
        """Whether it is on the chart."""
        return self.points is not None and not self.item.hidden


def lines(items: Sequence[Item]) -> list[RegionLine]:
    """Return every item with its region and points; one that fails does not keep the others from the chart."""
    out = []
    for item, label in zip(items, listing.labels(items), strict=True):
        region: TradeOff | None = None
        notices: tuple[str, ...] = ()
        try:
            region, notices = work.region(listing.expand(item.expression, items))
            with work.half_of_the_time():
                points = None if item.hidden else sample(region)
            out.append(RegionLine(item, label, region, points, "", notices))
        except DpcoreError as error:
            out.append(RegionLine(item, label, region, None, str(error), notices))
    return out


def picture(
    every: Sequence[RegionLine], view: dict[str, Any], *, selected: str | None, dark: bool
) -> tuple[Figure, dict[str, Any]]:
    """Return the figure of a view and the options that make it again in Python; a hidden line keeps its colour."""
    visible = [line for line in every if line.drawn]
    options: dict[str, Any] = {} if view["legend"] else {"legend": False}
    places = tuple(place for place, line in enumerate(every) if line.drawn)
    kept = () if places == tuple(range(len(places))) else places
    if kept:
        options["look"] = Look(places=kept)
    if view["picture"] == PROFILE:
        return profile_picture(visible, dark=dark, legend=view["legend"], places=kept), options
    if view["axes"] == "thesis":
        options["axes"] = "thesis"
    if view["scale"] == "log-log":
        options["log"] = True
    if view["draw"] == "lines":
        options["filled"] = False
    if selected in {line.label for line in visible}:
        options["selected"] = selected
    options_text = {"log": False, "selected": None, **options, "look": Look(dark=dark, places=kept)}
    return region_picture(visible, **options_text), options


def blank(view: dict[str, Any], *, dark: bool) -> tuple[Figure, str]:
    """Return the window before anything is added, and the Python that makes it."""
    options: dict[str, Any] = {"axes": "thesis"} if view["axes"] == "thesis" else {}
    if view["scale"] == "log-log":
        options["log"] = True
    options_text = ", ".join(f"{name}={value!r}" for name, value in options.items())
    code = f"from dpcore.charts.regions import blank_figure\n\nfigure = blank_figure({options_text})"
    return blank_figure(look=Look(dark=dark, height=HEIGHT), **options), code


def table(visible: Sequence[RegionLine], kind: str, drawn: Figure) -> tuple[pd.DataFrame, str]:
    """Return the rows to show and download with a picture, and the command that prints what is too long for them."""
    return border_rows(visible) if kind == REGION else (drawn.table, "")


def region_picture(
    visible: Sequence[RegionLine], *, look: Look, log: bool, selected: str | None, **options: Any
) -> Figure:
    """Return the region chart of the lines; `options` are those of `dpcore.charts.region_chart`."""
    parts = [(line.label, line.region, line.points) for line in visible]
    regions = {label: region for label, region, _ in parts if region is not None}

    def make() -> Figure:
        table = pd.concat([points.assign(label=label) for label, _, points in parts if points is not None])
        takeaway = region_takeaway(regions, fpr=LOW_RATE if log else USUAL_RATE, selected=selected)
        sized = replace(look, height=_height(regions, legend=options.get("legend", True)))
        chart = region_chart(table, log=log, selected=selected, look=described(sized, takeaway), **options)
        notes = [note(region, table[table["label"] == label]) for label, region in regions.items()]
        return Figure(chart, table, takeaway, "Privacy regions", tuple(text for text in notes if text))

    key = (_key(regions), look, log, selected, tuple(sorted(options.items())))
    return work.cache().get(("region chart", *key), make)


def profile_picture(visible: Sequence[RegionLine], *, dark: bool, legend: bool, places: tuple[int, ...] = ()) -> Figure:
    """Return the chart of the smallest delta for every epsilon."""
    regions = {line.label: line.region for line in visible if line.region is not None}
    look = Look(dark=dark, height=_height(regions, legend=legend), places=places)
    key = ("profile chart", _key(regions), look, legend)
    return work.cache().get(key, lambda: profile_figure(regions, look=look, legend=legend))


def _height(regions: dict[str, TradeOff], *, legend: bool) -> int:
    """Return a height that leaves the plot its size however many lines the legend has."""
    columns = getattr(Series(regions, dark=False).legend(), "columns", 1)
    return HEIGHT + (LEGEND_ROW * -(-len(regions) // int(columns)) if legend else 0)


def _key(regions: dict[str, TradeOff]) -> tuple[tuple[str, str], ...]:
    return tuple((label, str(region)) for label, region in regions.items())


def border_rows(visible: Sequence[RegionLine]) -> tuple[pd.DataFrame, str]:
    """Return the border of every region as rows, and the command that prints what is too long for a table."""
    regions = {line.label: line.region for line in visible if line.region is not None}
    long = [region for region in regions.values() if (corner_count(region) or 0) > MOST_ROWS]
    return border_table(regions), f'dpcore vertices "{long[0]}"' if long else ""


def statements(region: TradeOff) -> tuple[pd.DataFrame, str]:
    """Return (epsilon, delta) statements of one region and the sentence that says what they are."""
    corners = corner_count(region)
    if corners is not None and corners <= MOST_ROWS:
        rows = frames.constraints(region)
        return rows, f"The region is what remains when these statements hold together ({_what(rows)})."
    rows = frames.deltas(region, parse_list(frames.DEFAULT_EPSILON))
    return rows, f"The smallest δ for some values of ε ({_what(rows)}); the profile has all of them."


def _what(rows: pd.DataFrame) -> str:
    """Say what the numbers of a table are: exact only if all are."""
    return next((WORDS[kind] for kind in rows["kind"].tolist() if kind != EXACT), EXACT)


def vertices(region: TradeOff) -> pd.DataFrame | None:
    """Return the corners of a polygon of at most 10 000, None for any other region."""
    corners = corner_count(region)
    if corners is None or corners > MOST_ROWS:
        return None
    rows = frames.vertices(region)
    return labelled(rows.assign(power=1.0 - rows["beta"]))


def code(visible: Sequence[RegionLine], picture: str, options: dict[str, Any]) -> str:
    """Return the Python lines that reproduce the view."""
    maker = "region_figure" if picture == REGION else "profile_figure"
    rows = [f"    {line.label!r}: parse({str(line.region)!r})," for line in visible]
    options_text = "".join(f", {name}={_written(value)}" for name, value in options.items())
    names = ", ".join(["Look", maker] if "look" in options else [maker])
    border = picture == REGION
    return "\n".join(
        [
            "from dpcore import parse",
            f"from dpcore.charts import {names}, save",
            *(["from dpcore.charts.sampling import border_table"] if border else []),
            "",
            "regions = {",
            *rows,
            "}",
            f"figure = {maker}(regions{options_text})",
            *(["table = border_table(regions)"] if border else []),
            "print(figure.takeaway)",
            'save(figure, "regions.svg")',
        ]
    )


def _written(value: Any) -> str:
    return f"Look(places={value.places!r})" if isinstance(value, Look) else repr(value)
