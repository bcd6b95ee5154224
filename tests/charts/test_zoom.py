"""Zoom: the picture is the same until somebody zooms; then it is cut at its frame, and its axes find their own ticks."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
import vl_convert

from dpcore import dp, gdp, laplace, specs
from dpcore.charts import profile_figure, region_figure
from dpcore.charts.export import picture
from dpcore.charts.zoom import ZOOM, zoomable
from tests.specs.test_specs import CASES, ROOT

LISTS = {"ledger", "ledger's costs", "constraints' pair"}  # of bars
QUICK = ["regions", "regions in log", "profile", "losses", "curves", "noise", "live", "ledger", "constraints' pair"]


def vega(spec: dict[str, Any]) -> dict[str, Any]:
    return dict(vl_convert.vegalite_to_vega(spec))


def zoomed(spec: dict[str, Any], **ranges: list[float]) -> dict[str, Any]:
    """Return a zoomable specification as it is after the reader has zoomed."""
    state = copy.deepcopy(zoomable(spec))
    for layer in state["layer"]:
        for param in layer.get("params", ()):
            if param["name"] == ZOOM:
                param["value"] = ranges
    return state


def visible(svg: str) -> str:
    """Return an SVG without what makes its parts deaf to the pointer or not, which nobody sees."""
    return svg.replace(' pointer-events="none"', "").replace(' fill="transparent"', "")


@pytest.mark.parametrize("name", QUICK)
def test_until_somebody_zooms_the_picture_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    spec = specs.draw(CASES[name]).spec
    before = copy.deepcopy(spec)
    free = zoomable(spec)
    assert spec == before
    bound = [scale["name"] for scale in vega(free)["scales"] if "domainRaw" in scale]
    assert bound == ([] if name in LISTS else ["x", "y"])
    assert (free == spec) == (name in LISTS)
    assert visible(picture(free)) == visible(picture(spec))


def ticks(svg: str) -> list[str]:
    return re.findall(r'aria-label="[XY]-axis[^"]*"', svg)


def test_zoomed_everything_outside_the_frame_is_cut_off() -> None:
    spec = region_figure([laplace(1.0), gdp(1.0)]).spec
    assert "clip-path" not in picture(spec)
    svg = picture(zoomed(spec, x=[0.1, 0.3], y=[0.2, 0.6]))
    assert len(re.findall(r'class="mark-(?:area|line|text|symbol)[^"]*"[^>]*clip-path', svg)) >= len(spec["layer"])
    assert [re.findall(r"from (\S+) to (\S+)&?\"", text)[0] for text in ticks(svg)] == [("0.1", "0.3"), ("0.2", "0.6")]


def test_zoomed_a_logarithmic_axis_has_ticks_within_a_decade() -> None:
    spec = region_figure([laplace(1.0)], log=True).spec
    assert all("1e-9" in picture(state) for state in (spec, zoomable(spec)))
    svg = picture(zoomed(spec, x=[1e-5, 9e-5], y=[0.9, 1]))
    assert ">0.00003<" in svg
    assert ">0.95<" in svg
    assert ">1e-9<" not in svg


def test_no_value_is_below_the_end_of_a_logarithmic_axis() -> None:
    # without the clamp, which holds for the whole picture only, such a point would have no place
    for figure in (region_figure([dp(1.0, 0.1), gdp(1.0)], log=True), profile_figure([dp(1.0), gdp(2.0)])):
        spec = figure.spec
        for layer in spec["layer"]:
            for channel in ("x", "y"):
                part = layer["encoding"].get(channel, {})
                if part.get("scale", {}).get("type") == "log":
                    values = [
                        row[part["field"]] for row in spec["datasets"][layer.get("data", spec.get("data"))["name"]]
                    ]
                    assert min(values) >= part["scale"]["domain"][0]


def test_the_wheel_needs_a_key_and_a_finger_scrolls() -> None:
    signals = {signal["name"]: signal for signal in vega(zoomable(region_figure([dp(1.0)]).spec))["signals"]}
    wheel = signals["zoom_zoom_delta"]["on"][0]["events"][0]
    assert wheel["type"] == "wheel"
    assert wheel["filter"] == ["event.ctrlKey || event.metaKey"]
    start = signals["zoom_translate_anchor"]["on"][0]["events"][0]
    assert "event.pointerType != 'touch'" in start["filter"][0]
    assert {event["type"] for event in signals["zoom_x"]["on"][0]["events"]} == {"dblclick"}


def test_tooltips_and_other_selections_stay() -> None:
    spec = region_figure([dp(1.0, 0.1)]).spec
    pick = {"name": "pick", "select": {"type": "point", "fields": ["x"], "on": "click"}}
    spec["layer"][-1] = {**spec["layer"][-1], "params": [pick]}
    free = zoomable(spec)
    assert free["layer"][-1]["params"] == [pick]
    assert free["layer"][-1]["encoding"]["tooltip"] == spec["layer"][-1]["encoding"]["tooltip"]
    compiled = vega(free)
    assert {"pick", "pick_tuple", ZOOM} <= {signal["name"] for signal in compiled["signals"]}
    hover = compiled["marks"][-1]
    assert hover["interactive"]
    assert "tooltip" in json.dumps(hover)


def test_the_zoom_stops_at_the_ends_of_the_axes() -> None:
    """Of the rates only [0, 1] can be seen; all layers agree, whatever their columns are called."""
    spec = zoomable(region_figure([dp(1), gdp(1)]).spec)
    for name in ("x", "y"):
        scales = [layer["encoding"][name].get("scale", {}) for layer in spec["layer"] if name in layer["encoding"]]
        bounds = {scale["domainRaw"]["expr"] for scale in scales if "domain" in scale}
        assert len(bounds) == 1
        (bound,) = bounds
        assert "clamp(zoom[" in bound
        assert bound.endswith(" : null")
    log = zoomable(region_figure([gdp(1)], log=True).spec)
    (bound,) = {
        layer["encoding"]["x"]["scale"]["domainRaw"]["expr"]
        for layer in log["layer"]
        if "domain" in layer["encoding"].get("x", {}).get("scale", {})
    }
    assert "max(1e-12, zoom[" in bound
