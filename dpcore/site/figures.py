"""Figures as files and as parts of a page: picture, live chart, numbers, code."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from dpcore.charts import theme
from dpcore.charts.export import picture
from dpcore.site.colours import adaptable
from dpcore.site.tables import Table, plain_columns, table_of
from dpcore.specs import base

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.specs import Spec

DIGITS: Final = 5  # of the numbers in a picture; those in the files are complete
WIDTH: Final = 640
_PLACES: Final = re.compile(r' (d|transform|[xy][12]?|c[xy]|r|width|height)="([^"]*)"')
_MARKS: Final = re.compile(r' (?:class|role|aria-[a-z]+|pointer-events)="[^"]*"')
_LONG: Final = re.compile(r"-?\d+(?:\.\d{2,}(?:e[-+]?\d+)?|(?:\.\d+)?e-\d+)")


@dataclass(frozen=True)
class Drawn:
    """A figure as texts, so that it can travel between processes and rest in files.

    Attributes
    ----------
    facts : name, title, takeaway, notes, code, and the numbers by column; what the JSON file holds.
    chart : the specification as `packed` makes it; what the script file holds.
    svg : the picture, with ids of its own.
    """

    facts: dict[str, Any]
    chart: dict[str, Any]
    svg: str

    @property
    def name(self) -> str:
        """The name of the figure."""
        return str(self.facts["name"])

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture."""
        found = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', self.svg)
        return (round(float(found[1])), round(float(found[2]))) if found else (WIDTH, WIDTH)

    @property
    def table(self) -> Table:
        """The numbers as the page shows them."""
        columns = unpacked(self.facts["columns"])
        return table_of(list(columns), list(zip(*columns.values(), strict=True)))

    @property
    def script(self) -> str:
        """The chart as a script that hands it over: from a local file, no page may read anything else."""
        return f"dpcoreCharts[{json.dumps(self.name)}]={compact(self.chart)};\n"

    @property
    def files(self) -> dict[str, bytes]:
        """The files of the figure by suffix."""
        frame = pd.DataFrame(unpacked(self.facts["columns"]))
        return {
            ".csv": frame.to_csv(index=False, lineterminator="\n").encode(),
            ".json": (compact(self.facts) + "\n").encode(),
            ".svg": adaptable(self.svg).encode(),
            ".js": self.script.encode(),
        }

    @classmethod
    def read(cls, files: Callable[[str], str]) -> Drawn:
        """Return a figure from its files; `files` gives the text of a suffix."""
        chart = files(".js").partition("]=")[2].rstrip().removesuffix(";")
        svg = re.sub(r"<style>.*?</style>", "", files(".svg"), count=1)
        return cls(json.loads(files(".json")), json.loads(chart), svg)


def compact(value: Any) -> str:
    """Return JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def drawn(spec: Spec, name: str) -> Drawn:
    """Draw a spec; `name` is that of its files and the start of its ids."""
    figure = base.draw(spec)
    chart = rounded(figure.spec)
    svg = shortened(responsive(picture(chart, width=WIDTH, prefix=f"{name}-")))
    facts = {
        "name": name,
        "title": figure.title,
        "takeaway": figure.takeaway,
        "notes": list(figure.notes),
        "code": base.code(spec),
        "columns": {name: _column(values) for name, values in plain_columns(figure.table).items()},
    }
    return Drawn(facts, packed(chart, figure.takeaway), svg)


# ---- smaller -------------------------------------------------------------------------------------------------


def packed(chart: dict[str, Any], words: str) -> dict[str, Any]:
    """Return a specification without the look that all charts share, its data by column; the page unpacks it.

    A column is a list, or where texts repeat ``[texts, places]``; so a chart takes a quarter of the room.
    """
    kept = {name: value for name, value in chart.items() if name not in ("config", "usermeta", "$schema")}
    data = {name: _columns(rows) for name, rows in chart.get("datasets", {}).items()}
    return {**kept, "description": words, "datasets": data}


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    names = list(rows[0]) if rows else []
    return {name: _column([row[name] for row in rows]) for name in names}


def _column(values: list[Any]) -> Any:
    if not values or not all(isinstance(value, str) for value in values):
        return values
    texts = list(dict.fromkeys(values))
    places = {text: place for place, text in enumerate(texts)}
    return {"texts": texts, "at": [places[value] for value in values]}


def unpacked(columns: dict[str, Any]) -> dict[str, list[Any]]:
    """Return columns as lists."""
    return {name: c if isinstance(c, list) else [c["texts"][place] for place in c["at"]] for name, c in columns.items()}


def responsive(svg: str) -> str:
    """Return an SVG that takes the width of its place; its own size stays in the viewBox."""
    head, rest = svg.split(">", 1)
    kept = [part for part in head.split(" ") if not part.startswith(("width=", "height=", "class=", "version="))]
    return " ".join(kept) + ">" + rest


def shortened(svg: str) -> str:
    """Return an SVG without marks for scripts and readers, which have the live chart, and with coordinates to a tenth of a point."""
    return _PLACES.sub(lambda found: f' {found[1]}="{_LONG.sub(_tenth, found[2])}"', _MARKS.sub("", svg))


def _tenth(found: re.Match[str]) -> str:
    return f"{round(float(found[0]), 1) + 0.0:g}"


def rounded(value: Any) -> Any:
    """Return a specification whose numbers have as many digits as a picture can show."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def look() -> dict[str, Any]:
    """Return the light look that all charts share."""
    return theme.config()
