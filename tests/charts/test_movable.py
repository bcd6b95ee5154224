"""Charts that change in place: the same picture, and the same specification whatever a slider says."""

from __future__ import annotations

import copy
import re
from typing import Any

import pandas as pd
import pytest

from dpcore import specs
from dpcore.app.mechanisms import MechanismView, noise_spec
from dpcore.app.start import StartStory
from dpcore.charts.export import picture
from dpcore.charts.movable import FACTS, movable
from dpcore.charts.zoom import zoomable
from tests.charts.test_zoom import QUICK, visible
from tests.specs.test_specs import CASES, ROOT

REGION = "dptv({}, 0.15, 0.25)"
HELD = {
    "the noise of Start": [StartStory(epsilon).noise() for epsilon in (0.3, 1.7)],
    "the region of Start": [StartStory(1.0, threshold).region() for threshold in (40.1, 44.0)],
    "regions": [{"draw": "regions", "regions": [REGION.format(epsilon)]} for epsilon in (0.6, 0.65)],
    "a mechanism": [noise_spec(MechanismView(f"laplace({epsilon})", 0.05, 1e-5)) for epsilon in (1, 3)],
    "composition": [{"draw": "composition", "mechanism": "dptv(0.1, 0, 0.03)", "k": k} for k in (80, 90)],
}


def on_a_page(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification as a page sends it, with its data."""
    free, facts = movable(spec, {name: pd.DataFrame(rows) for name, rows in spec.get("datasets", {}).items()})
    more = {} if facts is None else {FACTS: facts.to_dict("records")}
    return {**zoomable(free), "datasets": {**spec.get("datasets", {}), **more}}


def without_facts(svg: str) -> str:
    """Return an SVG without the invisible layer that carries the table of the ends and names."""
    return re.sub(r'<g class="mark-symbol[^>]*><path[^>]*stroke-width="0"[^>]*/></g>', "", svg)


@pytest.mark.parametrize("name", QUICK)
def test_the_picture_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    spec = specs.draw(CASES[name]).spec
    before = copy.deepcopy(spec)
    free = on_a_page(spec)
    assert spec == before
    assert without_facts(visible(picture(free))) == visible(picture(spec))


@pytest.mark.parametrize("name", HELD)
def test_only_data_change_while_a_slider_is_held(name: str) -> None:
    first, second = (
        specs.draw({key: value for key, value in spec.items() if value is not None}).outline for spec in HELD[name]
    )
    assert movable(first[0])[0] == movable(second[0])[0]
    assert len(first[1]) == len(second[1])


def test_two_ends_of_one_axis_have_two_names() -> None:
    layers = [{"mark": "line", "encoding": {"x": {"scale": {"domain": [0, top]}}}} for top in (2.0, 3.0, 2.0)]
    spec, facts = movable({"layer": layers})
    ends = [layer["encoding"]["x"]["scale"]["domain"][1]["expr"] for layer in spec["layer"][:-1]]
    assert ends[0] == ends[2] != ends[1]
    assert facts is not None
    assert sorted(facts.iloc[0]) == [2.0, 3.0]


def test_the_zoom_ends_with_the_numbers_on_axes_without_a_domain() -> None:
    table = pd.DataFrame({"n": [10.0, 1000.0], "error": [0.5, 0.02]})
    x = {"field": "n", "type": "quantitative", "scale": {"type": "log"}}
    y = {"field": "error", "type": "quantitative"}
    spec = {"layer": [{"data": {"name": "data-0"}, "mark": "line", "encoding": {"x": x, "y": y}}]}
    free, facts = movable(spec, {"data-0": table})
    assert facts is not None
    assert facts.iloc[0].to_dict() == {"x_low": 10.0, "x_high": 1000.0, "y_low": 0.0, "y_high": 0.5}
    scales = [zoomable(free)["layer"][0]["encoding"][name]["scale"] for name in ("x", "y")]
    for scale, name in zip(scales, ("x", "y"), strict=True):
        assert "domain" not in scale, "the whole picture stays as it was"
        assert f"data('{FACTS}')[0].{name}_low" in scale["domainRaw"]["expr"]
        assert f"data('{FACTS}')[0].{name}_high" in scale["domainRaw"]["expr"]
