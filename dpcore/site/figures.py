"""Figures as files and as parts of a page: picture, live chart, numbers, code."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from dpcore.charts import theme
from dpcore.charts.export import picture
from dpcore.core.lazy import Lazy
from dpcore.files.csv_writer import frame_text
from dpcore.language import parse
from dpcore.site.colours import adaptable
from dpcore.site.svg import responsive, shortened
from dpcore.site.tables import Table, parameters_of, plain_columns, rows_of, table_of
from dpcore.specs import base

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.specs import Spec

DIGITS: Final = 5  # of the numbers in a picture; files have all digits
WIDTH: Final = 640
EXPRESSION: Final = "expression"
LONG: Final = 80  # characters of an expression that is written once if it has a name


@dataclass(frozen=True)
class RenderedFigure:
    """A figure as texts, which can be passed between processes and stored in files.

    Attributes
    ----------
    facts : dict of str to object
        Name, title, the spec as it was written, all parameters, takeaway, notes, code, and the names of the columns: the
        contents of the JSON file.
    chart : dict of str to object
        The specification as `packed` returns it: the contents of the script file.
    svg : str
        The picture, with ids of its own.
    numbers : str
        The table: the contents of the CSV file. No other file repeats it.
    """

    facts: dict[str, Any]
    chart: dict[str, Any]
    svg: str
    numbers: str

    @property
    def name(self) -> str:
        """The name of the figure."""
        return str(self.facts["name"])

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture."""
        match = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', self.svg)
        return (round(float(match[1])), round(float(match[2]))) if match else (WIDTH, WIDTH)

    @property
    def sliders(self) -> bool:
        """Whether the live chart has sliders, which its picture does not show."""
        return any(isinstance(one.get("bind"), dict) for one in self.chart.get("params", []))

    @Lazy
    def table(self) -> Table:
        """The numbers as the page shows them; what the names of regions mean is among its parameters."""
        columns, rows = rows_of(self.numbers)
        places = [place for place, name in enumerate(columns) if name != self.facts.get("defines")]
        return table_of([columns[place] for place in places], [[row[place] for place in places] for row in rows])

    @property
    def parameters(self) -> list[str]:
        """The parameters of the figure as texts such as ``k = 5``."""
        return parameters_of(self.facts["parameters"])

    @property
    def script(self) -> str:
        """The chart as a script: a page opened from a local file may load nothing else."""
        return f"dpcoreCharts[{json.dumps(self.name)}]={compact(self.chart)};\n"

    @property
    def files(self) -> dict[str, bytes]:
        """The files of the figure by suffix."""
        return {
            ".csv": self.numbers.encode(),
            ".json": (compact(self.facts) + "\n").encode(),
            ".svg": adaptable(self.svg).encode(),
            ".js": self.script.encode(),
        }

    @classmethod
    def read(cls, files: Callable[[str], str]) -> RenderedFigure:
        """Return a figure from its files; `files` maps a suffix to the text of its file."""
        chart = files(".js").partition("]=")[2].rstrip().removesuffix(";")
        svg = re.sub(r"<style>.*?</style>", "", files(".svg"), count=1)
        return cls(json.loads(files(".json")), json.loads(chart), svg, files(".csv"))


def compact(value: Any) -> str:
    """Return JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def render(spec: Spec, name: str) -> RenderedFigure:
    """Draw a spec; `name` is the name of its files and the prefix of its ids."""
    figure = base.draw(spec)
    chart, table = rounded(figure.spec), numbers_of(figure.table)
    svg = shortened(responsive(picture(chart, width=WIDTH, prefix=f"{name}-")))
    facts = {
        "name": name,
        "title": figure.title,
        "figure": json.loads(json.dumps({key: value for key, value in spec.items() if key != "name"}, default=str)),
        "parameters": base.parameters(spec),
        "takeaway": figure.takeaway,
        "notes": list(figure.notes),
        "code": base.code(spec),
        "numbers": f"{name}.csv",
        "rows": len(figure.table),
        "columns": [str(column) for column in table.columns],
    }
    if EXPRESSION in table.columns and EXPRESSION not in figure.table.columns:
        facts["defines"] = EXPRESSION  # the column that says what the names of regions stand for
    return RenderedFigure(facts, packed(chart, figure.takeaway), svg, frame_text(pd.DataFrame(plain_columns(table))))


# ---- smaller -------------------------------------------------------------------------------------------------


def packed(chart: dict[str, Any], words: str) -> dict[str, Any]:
    """Return a specification with its data by column, without the configuration that all charts share; the page unpacks it.

    A column is a list or, if texts repeat, each text once with its positions or runs. A packed chart takes about a quarter
    of the space.
    """
    own = {name: value for name, value in chart.items() if name not in ("config", "usermeta", "$schema")}
    data = {name: _columns(rows) for name, rows in chart.get("datasets", {}).items()}
    return {**own, "description": words, "datasets": data}


def numbers_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table without columns that only its chart needs.

    They are slopes and order of a border, marks of corners where there are none, names equal to the regions, and ends of
    intervals where no value has one.
    """
    border = ("epsilon", "epsilon_label", "step")
    spare = list(border) if {*border, "alpha", "beta"} <= set(table.columns) else []
    if {"y", "low", "high"} <= set(table.columns) and all(table[end].equals(table["y"]) for end in ("low", "high")):
        spare += ["low", "high"]
    if {"region", "label"} <= set(table.columns) and all(map(_is_own_name, *_pairs(table))):
        spare.append("label")
    if spare and "corner" in table.columns and not table["corner"].any():
        spare.append("corner")
    return _named_once(table.drop(columns=spare))


def _named_once(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with long expressions once: regions by name, and `expression` in the first row of each."""
    if not {"region", "label"} <= set(table.columns) or EXPRESSION in table.columns:
        return table
    regions, labels = _pairs(table)
    if max(map(len, regions), default=0) < LONG or len(set(labels)) < len(labels):
        return table
    once = table["region"].where(~table["label"].duplicated(), "")
    return table.assign(region=table["label"], **{EXPRESSION: once}).drop(columns="label")


def _pairs(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return each region of a table with its label."""
    pairs = table[["region", "label"]].drop_duplicates()
    return pairs["region"].tolist(), pairs["label"].tolist()


def _is_own_name(region: str, label: str) -> bool:
    """Whether a label says no more than the expression: it is the expression, or the same in words."""
    return label == region or (not region.startswith("<") and bool(region) and label == parse(region).legend)


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    names = list(rows[0]) if rows else []
    return {name: _column([row[name] for row in rows]) for name in names}


def _column(values: list[Any]) -> Any:
    """Return the shortest of three forms: a list, or each value once with its runs or its places."""
    values = [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
    if not values or isinstance(values[0], (dict, list)):
        return values
    once = {(type(value), value): value for value in values}
    places = {key: place for place, key in enumerate(once)}
    at = [places[type(value), value] for value in values]
    runs = [[place, len(list(run))] for place, run in groupby(at)]
    texts = list(once.values())
    return min(
        (values, {"texts": texts, "runs": runs}, {"texts": texts, "at": at}), key=lambda form: len(compact(form))
    )


def rounded(value: Any) -> Any:
    """Return a specification with its numbers rounded to the digits that a picture can show."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def look() -> dict[str, Any]:
    """Return the configuration that all light charts share."""
    return theme.config()
