"""The figure that every chart builder returns, and the tools that they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from dpcore.charts import theme
from dpcore.charts.vega_lite import layer_spec
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_SPECIAL = frozenset(".:[]")  # signs that Vega-Lite reads as a path in a name
PHONE = 330  # px that a legend may use on the narrowest screen
_SPARE = 20  # px by which a row of names is narrower than `_width` says, at least


@dataclass(frozen=True)
class Figure:
    """A chart with its table, its sentence and its notes.

    Attributes
    ----------
    chart : altair.LayerChart
        The picture.
    table : DataFrame
        The numbers drawn.
    takeaway : str
        What they show, in words.
    title : str
        A heading.
    notes : tuple of str, default ()
        Remarks for the lines under the chart.
    """

    chart: alt.LayerChart
    table: pd.DataFrame
    takeaway: str
    title: str
    notes: tuple[str, ...] = ()

    @Lazy
    def outline(self) -> tuple[dict[str, Any], dict[str, pd.DataFrame]]:
        """The chart as a Vega-Lite specification without data, and its tables by name; computed once.

        The description is left out: the page that shows the chart writes its own. So is Altair's check against the
        schema, which takes longer than everything else; the tests run it for every kind of chart. A chart without
        parameters is put together layer by layer (`dpcore.charts.vega_lite`), for the same reason.
        """
        tables: dict[str, pd.DataFrame] = {}
        if self._has_parameters:
            with alt.data_transformers.enable(_NAMED, tables=tables):
                spec = self._by_altair()
        else:
            spec = self._by_layers(lambda table: _named(table, tables))
        return {name: part for name, part in spec.items() if name != "description"}, tables

    @property
    def _has_parameters(self) -> bool:
        """Whether the chart or one of its layers has sliders or selections, which Altair moves to the top."""
        return any(part.params is not alt.Undefined for part in (self.chart, *self.chart.layer))

    def _by_altair(self) -> dict[str, Any]:
        spec: dict[str, Any] = self.chart.to_dict(validate=False)
        return spec

    def _by_layers(self, name_of: Callable[[pd.DataFrame], dict[str, str]]) -> dict[str, Any]:
        facts = {name: getattr(self.chart, name) for name in ("config", "width", "height", "usermeta", "title")}
        spec = {name: value for name, value in facts.items() if value is not alt.Undefined}
        layers = [layer_spec(layer, name_of) for layer in self.chart.layer]
        return {"$schema": alt.SCHEMA_URL, **spec, "layer": layers}

    @property
    def spec(self) -> dict[str, Any]:
        """The chart as a Vega-Lite specification with its data."""
        spec, tables = self.outline
        datasets = {name: table.to_dict("records") for name, table in tables.items()}
        return {**spec, "datasets": {**spec.get("datasets", {}), **datasets}} if datasets else dict(spec)


_NAMED = "dpcore"


def _named(data: Any, tables: dict[str, pd.DataFrame]) -> Any:
    """Leave a table out of the specification; its name is its number, and a table of several layers has one."""
    if not isinstance(data, pd.DataFrame):
        return alt.to_values(data)
    for name, table in tables.items():
        if table is data:
            return {"name": name}
    name = f"data-{len(tables)}"
    tables[name] = data
    return {"name": name}


alt.data_transformers.register(_NAMED, _named)


def checked(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame fit to be the data of a chart: without infinity, which JSON drops, and without special column names."""
    for name in frame.columns:
        _check_column(str(name), frame[name])
    return frame.reset_index(drop=True)


def layer_table(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return columns as a frame fit to be the data of a chart, as `checked` does.

    A figure on a page is redrawn while a slider moves. There, selecting and copying rows and columns of frames takes
    longer than computing the numbers, so builders of such figures select in arrays and make each frame once.
    """
    for name, values in columns.items():
        _check_column(name, values)
    return pd.DataFrame(dict(columns))


def _check_column(name: str, values: Any) -> None:
    if not _SPECIAL.isdisjoint(name):
        msg = f"A column of a chart must not contain . : [ or ], got {name!r}."
        raise DomainError(msg)
    array = np.asarray(values)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        msg = f"Column {name!r} of a chart must be finite: write infinity as a label."
        raise DomainError(msg)


class Series:
    """The names of a chart's series in their order, with one colour and one dash each.

    `places` are the numbers of their colours, 0, 1, 2, ... by default: if some series are hidden, the others keep their
    colours. `name_of` maps a label to its name in the legend, which is short and unique.
    """

    def __init__(self, labels: Iterable[str], *, dark: bool, places: Sequence[int] = ()) -> None:
        self.labels = list(dict.fromkeys(labels))
        self.dark = dark
        if places and len(places) != len(self.labels):
            msg = f"places must name one colour for each of the {len(self.labels)} series, got {len(places)}."
            raise DomainError(msg)
        self.places = list(places) or list(range(len(self.labels)))
        self.name_of: dict[str, str] = {}
        for label in self.labels:
            base = name = theme.short(label, 48) or "(no name)"
            count = 1
            while name in self.name_of.values():  # one of that many names is free
                count += 1
                name = f"{base} ({count})"
            self.name_of[label] = name

    @property
    def names(self) -> list[str]:
        """The names as the legend shows them."""
        return list(self.name_of.values())

    def _numbered(self) -> zip[tuple[int, str]]:
        return zip(self.places, self.names, strict=True)

    def colours(self) -> alt.Scale:
        """Return the scale of strong colours."""
        return alt.Scale(domain=self.names, range=[theme.colour(i, dark=self.dark) for i in self.places])

    def fills(self) -> dict[str, str]:
        """Return the pale, opaque fill of each name."""
        return {name: theme.pale(theme.colour(i, dark=self.dark), dark=self.dark) for i, name in self._numbered()}

    def dashes(self) -> alt.Scale:
        """Return the scale of dash patterns."""
        return alt.Scale(domain=self.names, range=[theme.dash(i) for i in self.places])

    def _width(self, columns: int) -> int:
        """Return the width in px of a legend with this many columns, each as wide as its longest name."""
        return sum(7 * max(map(len, self.names[first::columns])) + 44 for first in range(columns))

    def rows(self, width: int = PHONE) -> int:
        """Return how many rows the legend has in a picture of some width."""
        count = len(self.names)
        columns = next((columns for columns in range(count, 1, -1) if self._width(columns) <= width), 1)
        return -(-count // columns)

    def legend(self, *, visible: bool = True) -> alt.Legend | None:
        """Return a legend at the bottom with as many columns as the picture is wide."""
        if not visible:
            return None
        most = range(len(self.names), 1, -1)
        fitting = "".join(f"width + {_SPARE} >= {self._width(columns)} ? {columns} : " for columns in most)
        columns = alt.ExprRef(f"{fitting}1")
        return alt.Legend(
            title=None, orient="bottom", columns=columns, symbolType="stroke", symbolSize=900, labelLimit=PHONE - 40
        )

    def strokes(self, *, legend: bool) -> dict[str, Any]:
        """Return the encodings of a line: colour and dash together, one legend."""
        key = self.legend(visible=legend)
        return {
            "stroke": alt.Stroke("label:N", title=None, scale=self.colours(), legend=key),
            "strokeDash": alt.StrokeDash("label:N", title=None, scale=self.dashes(), legend=key),
        }

    def dots(self, *, legend: bool) -> dict[str, Any]:
        """Return the encoding of points without a line: their colour, and a legend that shows points.

        The legend is above the chart: beside that of the lines there would be no room for it on a phone.
        """
        key = self.legend(visible=legend)
        if key is not None:
            key.symbolType, key.symbolSize, key.symbolStrokeWidth, key.orient = "circle", 90, 0, "top"
        return {"fill": alt.Fill("label:N", title=None, scale=self.colours(), legend=key)}

    def only(self, names: Iterable[str]) -> Series:
        """Return the series with these names; they keep their colours and dashes."""
        subset = set(names)
        pairs = [
            (place, label)
            for place, label in zip(self.places, self.labels, strict=True)
            if self.name_of[label] in subset
        ]
        part = Series((), dark=self.dark)
        part.labels, part.places = [label for _, label in pairs], [place for place, _ in pairs]
        part.name_of = {label: self.name_of[label] for label in part.labels}
        return part

    def paint(self) -> dict[str, str]:
        """Return the strong colour of each name, for marks that take it as a value.

        In a layered chart, a second scale without a legend would remove the legend of the lines as well.
        """
        return {name: theme.colour(i, dark=self.dark) for i, name in self._numbered()}


def tooltips(titles: Mapping[str, str]) -> list[alt.Tooltip]:
    """Return the tooltips of columns of texts, by their titles."""
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in titles.items()]


def rounded_up(value: float, kind: str, digits: int) -> str:
    """Return a number as a bar or point shows it: rounded up, or to the nearest if it is not a bound."""
    return (
        f"about {grouped(nearest(value, digits))}" if kind == "approximate" else grouped(outward(float(value), digits))
    )


def not_drawn(reasons: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return notes about what is not drawn, from pairs (reason, name); each reason is given once."""
    names: dict[str, list[str]] = {}
    for reason, name in reasons:
        names.setdefault(reason, []).append(name)
    return tuple(f"Not drawn: {', '.join(some)}. {reason}" for reason, some in names.items())
