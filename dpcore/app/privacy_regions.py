"""From a list of regions to the spec of its picture, and the tables of one region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpcore import frames
from dpcore.app import listing, work
from dpcore.charts.figure import Series
from dpcore.charts.sampling import MOST_ROWS, corner_count, sample
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import EXACT, WORDS, labelled
from dpcore.core.results import result
from dpcore.language.lists import parse_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpcore.app.listing import Item
    from dpcore.regions.tradeoff import TradeOff

HEIGHT, LEGEND_ROW = 420, 23  # the chart, its legend and its controls fit on one screen
REGION, PROFILE, RATIO = "region", "profile δ(ε)", "ratio of δ"


@dataclass(frozen=True, slots=True)
class RegionLine:
    """One item of the list: its label, its full expression, and its region or what is wrong with it."""

    item: Item
    label: str
    expression: str = ""
    region: TradeOff | None = None
    error: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def drawn(self) -> bool:
        """Whether it is on the chart."""
        return not self.error and not self.item.hidden


def lines(items: Sequence[Item]) -> list[RegionLine]:
    """Return every item with its region and its points computed; if one fails, the others are still drawn."""
    return [_line(item, label, items) for item, label in zip(items, listing.labels(items), strict=True)]


def _line(item: Item, label: str, items: Sequence[Item]) -> RegionLine:
    text, region = "", None
    notices: tuple[str, ...] = ()
    try:
        text = listing.expand(item.expression, items)
        region, notices = work.region(text)
        if not item.hidden:
            with work.half_of_the_time():
                sample(region)
    except DpcoreError as error:
        return RegionLine(item, label, text, region, str(error), notices)
    return RegionLine(item, label, text, region, "", notices)


def spec(every: Sequence[RegionLine], view: dict[str, Any], *, selected: str | None = None) -> dict[str, Any]:
    """Return the spec of the list; a hidden region keeps its colour, and `selected` is drawn in front."""
    drawn = {place: line for place, line in enumerate(every) if line.drawn}
    look = {"axes": "thesis" if view["axes"] == "thesis" else None, "log": True if view["scale"] == "log-log" else None}
    if not drawn:
        return {"draw": "blank", **look}
    labels = [line.label for line in drawn.values()]
    shared = {
        "regions": [line.expression for line in drawn.values()],
        "labels": None if labels == [str(line.region) for line in drawn.values()] else labels,
        "places": None if list(drawn) == list(range(len(drawn))) else list(drawn),
        "legend": None if view["legend"] else False,
    }
    if view["picture"] == PROFILE:
        return {"draw": "profile", **shared}
    if view["picture"] == RATIO:
        return {"draw": "ratio", "regions": shared["regions"], "labels": shared["labels"]}
    return {
        "draw": "regions",
        **shared,
        **look,
        "fill": False if view["draw"] == "lines" else None,
        "selected": selected if selected in labels else None,
        "rows": "border",
    }


def height(every: Sequence[RegionLine], view: dict[str, Any]) -> int:
    """Return a height that keeps the plot's size however many rows the legend has."""
    labels = [line.label for line in every if line.drawn]
    if not labels or not view["legend"]:
        return HEIGHT
    return HEIGHT + LEGEND_ROW * Series(labels, dark=False).rows()


def command(every: Sequence[RegionLine], view: dict[str, Any]) -> str:
    """Return the command for all corners of the first region with too many for a table; empty if there is none."""
    regions = [line.region for line in every if line.drawn and line.region is not None]
    long = [region for region in regions if (corner_count(region) or 0) > MOST_ROWS]
    return f'dpcore vertices "{long[0]}"' if long and view["picture"] == REGION else ""


def statements(region: TradeOff) -> tuple[pd.DataFrame, str]:
    """Return (epsilon, delta) statements for one region and a sentence that explains them."""
    corners = corner_count(region)
    if corners is not None and corners <= MOST_ROWS:
        rows = result(frames.constraints, region)
        return rows, f"Together these (ε, δ) statements are the region ({_what(rows)})."
    rows = result(frames.deltas, region, parse_list(frames.DEFAULT_EPSILON).tolist())
    return rows, f"The smallest δ at some values of ε ({_what(rows)}); the profile has all of them."


def _what(rows: pd.DataFrame) -> str:
    """Say what kind the numbers of a table are: exact only if all are."""
    return next((WORDS[kind] for kind in rows["kind"].tolist() if kind != EXACT), EXACT)


def vertices(region: TradeOff) -> pd.DataFrame | None:
    """Return the corners of a polygon, at most 10 000; None for any other region."""
    corners = corner_count(region)
    if corners is None or corners > MOST_ROWS:
        return None
    rows = result(frames.vertices, region)
    return labelled(rows.assign(power=1.0 - rows["beta"]))
