"""The page of subsampling: default, presets, errors, sliders, and certified numbers in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpcore.app import subsampling, work
from dpcore.app.page import Preset, presets
from tests.app import visits
from tests.app.visits import errors, said

PAGE = visits.Page("pages/7_Subsampling.py", "Subsampling")
opened = PAGE.opened
OWN = [preset for preset in presets() if preset.page == "Subsampling"]


def test_the_first_view() -> None:
    app = opened()
    assert not app.error
    charts = app.get("vega_lite_chart")
    assert len(charts) == 1
    assert all(len(chart.proto.alt) > 60 for chart in charts)
    assert "**after, by (ε, δ, η)** (upper bound): ε = 2.1817, δ = 1e-6, η = 0.038293" in said(app)
    # a rerun does no work twice
    before, hits = set(work.cache().kept), work.cache().hits
    app.run()
    assert set(work.cache().kept) <= before
    assert work.cache().hits > hits


@pytest.mark.parametrize("preset", OWN, ids=lambda preset: preset.name)
def test_every_example(preset: Preset) -> None:
    app = opened(**preset.state)
    assert not app.error
    assert set(preset.state) <= set(subsampling.DEFAULTS)
    assert len(app.get("vega_lite_chart")) == 1
    assert preset.meaning[:40] in said(app)
    if preset.name == "subsampling_statement":
        assert "The statement (ε, δ, η) says exactly that" in said(app)


def test_sliders_and_fields_follow_each_other() -> None:
    app = opened()
    app.select_slider(key="sub_p_slider").set_value("0.01").run()
    assert app.text_input(key="sub_p").value == "0.01"
    app.segmented_control(key="sub_scheme").set_value("fixed size").run()
    assert not app.error
    assert app.session_state["sub_scheme"] == "fixed size"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"sub_base": "nope(1)"}, "nope"),
        ({"sub_base": "dp(1"}, "column"),
        ({"sub_base": "x" * 5000}, "at most 2000 characters"),
        ({"sub_base": "<img src=x onerror=alert(1)>"}, "column"),
        ({"sub_base": "rr(1, 5)"}, "about add/remove neighbours"),
        ({"sub_base": "gaussian(1)", "sub_stated": "0"}, "state a larger δ"),
    ],
)
def test_a_wrong_field_is_explained(parameters: dict[str, str], words: str) -> None:
    app = opened(**parameters)
    assert words in errors(app)
    assert len(errors(app)) < 2000
    assert not app.get("vega_lite_chart")


def test_every_wrong_number_is_named_at_once() -> None:
    found = errors(opened(sub_p="0", sub_stated="2"))
    for words in ("Share p must be a number in (0, 1]", "Stated δ must be a number in [0, 1]"):
        assert words in found


def test_unknown_choices_fall_back() -> None:
    app = opened(sub_scheme="", sub_view="garbage")
    assert not app.error
    assert len(app.get("vega_lite_chart")) == 1


def test_all_records_may_be_sampled() -> None:
    assert not opened(sub_p="1").error


def test_a_held_slider_stands_for_its_field() -> None:
    once = subsampling.Once("gaussian(1)", 0.1, "Poisson", 1e-5)
    assert once.moved({"sub_p_slider": "0.5"}) == replace(once, p=0.5)
