"""The page Map: default, examples, what is refused, and the slider."""

from __future__ import annotations

import pytest

from dpcore.app import map as model
from dpcore.app.page import Preset, presets
from tests.app import visits
from tests.app.visits import errors, said

PAGE = visits.Page("pages/19_Map.py", "Map")
opened = PAGE.opened
OWN = [preset for preset in presets() if preset.page == "Map"]


def test_the_first_view() -> None:
    app = opened()
    assert not app.error
    assert len(app.get("vega_lite_chart")) == 1
    assert "ε at δ = 1e-6: at most 0.0964 at sigma = 4, steps = 100" in said(app)


@pytest.mark.parametrize("preset", OWN, ids=lambda preset: preset.name)
def test_every_example(preset: Preset) -> None:
    app = opened(**preset.state)
    assert not app.error
    assert set(preset.state) <= set(model.DEFAULTS)
    assert len(app.get("vega_lite_chart")) == 1


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"map_expression": "gdp({mu})"}, "two or three holes"),
        ({"map_first": "1:2"}, "1:2"),
        ({"map_first": "1"}, "varies two holes"),
        ({"map_delta": "2"}, "got '2'"),
        ({"map_first": "1:1000:1", "map_second": "1:1000:1"}, "at most 10000 cells"),
        ({"map_expression": "poisson_gaussian({sigma}, 0.01)^{steps"}, "two or three holes"),
    ],
)
def test_a_wrong_field_is_explained(parameters: dict[str, str], words: str) -> None:
    app = opened(**parameters)
    assert not app.exception
    assert words in errors(app)


def test_the_slider_moves_the_argument() -> None:
    app = opened()
    app.select_slider(key="map_delta_slider").set_value("1e-5").run()
    assert app.text_input(key="map_delta").value == "1e-5"
    assert "ε at δ = 1e-5" in said(app)
    app.segmented_control(key="map_measure").set_value("advantage").run()
    assert not app.error
    assert "advantage" in said(app)
