"""What every figure shares: its data apart from its outline, legends that show what is drawn, words that keep apart."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pytest

import dpcore
from dpcore import charts
from dpcore.audit import Counts, audit
from dpcore.charts import theme
from dpcore.charts.audit import audit_figure
from dpcore.charts.export import specification
from dpcore.charts.figure import Figure, Series
from dpcore.charts.references import with_references
from dpcore.core.errors import DomainError


def layers(figure: Figure, kind: str) -> list[dict[str, Any]]:
    return [layer for layer in specification(figure)["layer"] if layer["mark"]["type"] == kind]


def test_the_outline_and_its_tables_are_the_whole_chart() -> None:
    figure = charts.region_figure([dpcore.dp(1.0, 0.1), dpcore.gdp(1.0)], log=True)
    outline, tables = figure.outline
    whole = specification(figure)
    assert figure.outline is figure.outline  # made once
    assert len(outline["layer"]) == len(whole["layer"])
    assert "datasets" not in outline
    for drawn, layer in zip(outline["layer"], whole["layer"], strict=True):
        rows = whole["datasets"][layer["data"]["name"]]
        assert tables[drawn["data"]["name"]].to_dict("records") == rows
        assert {**drawn, "data": None} == {**layer, "data": None}
    assert json.loads(json.dumps(figure.spec, allow_nan=False))["datasets"].keys() == tables.keys()


def test_a_table_is_named_by_its_number_and_sent_once() -> None:
    spec, tables = charts.region_figure(dpcore.dp(1.0)).outline
    assert list(tables) == [f"data-{place}" for place in range(len(tables))]
    assert {layer["data"]["name"] for layer in spec["layer"]} == set(tables)
    base = alt.Chart(pd.DataFrame({"x": [1.0]})).encode(x="x:Q")
    chart = theme.finish([base.mark_line(), base.mark_point()], theme.PLAIN, words="", height=100)
    twice = Figure(chart, pd.DataFrame(), "", "")
    assert list(twice.outline[1]) == ["data-0"]


def measured(*kinds: str) -> Figure:
    rows = [
        {"parameter": e, "value": 1 / e, "low": 0.9 / e, "high": 1.1 / e, "kind": kind, "series": f"by {kind}"}
        for e in (0.1, 1.0)
        for kind in kinds
    ]
    return charts.utility_figure(pd.DataFrame(rows))


def legends(figure: Figure, channel: str) -> list[dict[str, Any]]:
    found = [layer["encoding"][channel] for layer in specification(figure)["layer"] if channel in layer["encoding"]]
    return [one for one in found if one.get("legend") is not None]


@pytest.mark.parametrize("kinds", [("exact", "simulation"), ("simulation",), ("exact",)])
def test_what_is_drawn_as_points_has_a_point_in_the_legend(kinds: tuple[str, ...]) -> None:
    figure = measured(*kinds)
    for channel, kind, symbol in (("fill", "simulation", "circle"), ("stroke", "exact", "stroke")):
        found = legends(figure, channel)
        assert len(found) == (kind in kinds)
        for one in found:
            (name,) = one["scale"]["domain"]
            assert name.endswith(kind)
            assert one["legend"]["symbolType"] == symbol


def test_colours_do_not_change_with_the_legend() -> None:
    series = Series(["a", "b", "c"], dark=False)
    part = series.only(["c", "a"])
    assert part.names == ["a", "c"]
    assert part.paint() == {name: paint for name, paint in series.paint().items() if name != "b"}
    assert part.dashes().range == [series.dashes().range[0], series.dashes().range[2]]


TESTS = Counts(tp=np.array([700, 400]), fp=np.array([150, 30]), tn=np.array([850, 970]), fn=np.array([300, 600]))


def test_the_tests_of_an_audit_are_points_in_the_legend() -> None:
    figure = audit_figure(audit(TESTS), dpcore.dp(1.0))
    (dots,) = legends(figure, "fill")
    assert (dots["scale"]["domain"], dots["legend"]["symbolType"]) == (["measured"], "circle")
    (lines,) = legends(figure, "stroke")
    assert "measured" not in lines["scale"]["domain"]
    assert len(lines["scale"]["domain"]) == 2


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("claim", [0.4, 1.0, 1.6])
@pytest.mark.parametrize("size", [100, 700])
def test_blind_guessing_is_not_named_beside_other_words(claim: float, log: bool, size: int) -> None:
    counts = Counts(np.array([size]), np.array([size // 7]), np.array([1000 - size // 7]), np.array([1000 - size]))
    figure = audit_figure(audit(counts), dpcore.dp(claim), log=log)
    spec = specification(figure)
    places = {
        row["text"]: row["power" if log else "beta"]
        for layer in layers(figure, "text")
        for row in spec["datasets"][layer["data"]["name"]]
    }
    assert "blind guessing" in places
    if len(places) == 2:
        axis = spec["layer"][1]["encoding"]["y"]["scale"]["domain"]
        a, b = (np.log(value) for value in places.values()) if log else places.values()
        assert abs(a - b) >= 0.09 * abs((np.log(axis[0]) if log else 1.0) - 0.0)


@pytest.mark.parametrize(("axes", "place"), [("fdp", {"x": 0.05, "y": 0.3}), ("thesis", {"x": 0.3, "y": 0.05})])
def test_reference_lines_and_points_lie_where_they_are_asked(axes: Any, place: dict[str, float]) -> None:
    plain = charts.region_figure(dpcore.dp(1.0), axes=axes)
    more = with_references(
        plain,
        lines=[{"alpha": 0.05, "label": "five in a hundred"}, {"start": (0, 0), "end": (1, 1)}],
        points=[{"alpha": 0.05, "beta": 0.3, "label": "here"}],
        axes=axes,
    )
    spec, old = specification(more), specification(plain)
    added = [spec["datasets"][layer["data"]["name"]] for layer in spec["layer"][len(old["layer"]) :]]
    assert spec["layer"][: len(old["layer"])] == old["layer"]
    across = "x" if axes == "fdp" else "y"
    assert [row[across] for row in added[0]] == [0.05, 0.05]
    assert added[1][0]["text"] == "five in a hundred"
    assert [(row["x"], row["y"]) for row in added[2]] == [(0.0, 0.0), (1.0, 1.0)]
    assert {name: added[3][0][name] for name in "xy"} == place
    with pytest.raises(DomainError, match="A line has alpha, or beta, or start and end"):
        with_references(plain, lines=[{"alpha": 0.1, "beta": 0.2}])
    with pytest.raises(DomainError, match=r"A rate must be a number in \[0, 1\], got 1.5"):
        with_references(plain, points=[{"alpha": 1.5, "beta": 0.2}])


def test_a_tooltip_shows_only_what_the_chart_names() -> None:
    """Streamlit's default is a tooltip with every encoded column, internal ones included, on each mark without its own."""
    spec = charts.region_figure({"one": dpcore.parse("dp(1)"), "two": dpcore.parse("gdp(1)")}).spec
    assert spec["config"]["mark"]["tooltip"] is None
    titles = {tip["title"] for layer in spec["layer"] for tip in layer["encoding"].get("tooltip", ())}
    assert titles
    assert not titles & {"guess", "paint", "label"}
