"""The page of limits: default, presets, errors, the band, sliders, and what is said about unsafe numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dpcore.app import limits, work
from dpcore.app.page import Preset, presets
from dpcore.core.errors import DpcoreError
from tests.app import visits
from tests.app.visits import errors

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

PAGE = visits.Page("pages/6_Limits.py", "Limits")
opened = PAGE.opened
OWN = [preset for preset in presets() if preset.page == "Limits"]


def said(app: AppTest) -> str:
    return visits.said(app, "warning", "info", "markdown")


def specs(app: AppTest) -> list[str]:
    return [chart.proto.spec for chart in app.get("vega_lite_chart")]


def test_the_first_view() -> None:
    app = opened()
    assert not app.error
    charts = app.get("vega_lite_chart")
    assert len(charts) == 5
    assert all(len(chart.proto.alt) > 60 for chart in charts)
    assert "The CLT number is below the truth. For k = 50 and δ = 1e-5 the limit says ε ≈ 8.5851" in said(app)
    assert "needs ε ≥ 10.592 (exact)" in said(app)
    assert "linear-closed" in specs(app)[0]  # the band
    assert "off by at most γ = 0.29" in charts[0].proto.alt
    table = next(frame.value for frame in app.dataframe if "quantity" in frame.value.columns)
    assert table["quantity"].tolist() == ["μ of k copies", "kl", "κ₂", "κ₃", "κ̄₃", "γ of k copies"]
    assert not table.isna().any().any()
    # a rerun does no work twice
    before, hits = set(work.cache().kept), work.cache().hits
    app.run()
    assert set(work.cache().kept) <= before
    assert work.cache().hits > hits


@pytest.mark.parametrize("preset", OWN, ids=lambda preset: preset.name)
def test_every_example(preset: Preset) -> None:
    app = opened(**preset.state)
    assert not app.error
    assert preset.meaning[:40] in said(app)
    assert set(preset.state) <= set(limits.DEFAULTS)
    if preset.name == "limits_few":
        assert "linear-closed" not in specs(app)[0]
        assert "No band is drawn" in said(app)
    if preset.name == "limits_gradients":
        assert "needs ε ≥ 1.8282" in said(app)
        assert "the two directions of this one differ" in said(app)
    if preset.name == "limits_laplace":
        assert "above the truth" in said(app)


def test_sliders_and_fields_follow_each_other() -> None:
    app = opened()
    app.select_slider(key="lim_k_slider").set_value("1000").run()
    assert app.text_input(key="lim_k").value == "1000"
    assert "k = 1 000" in said(app)
    app.select_slider(key="lim_n_slider").set_value("100").run()
    assert "Row n = 100 has 100 mechanisms. Each has ε = 0.1 (pure), δ = 0.001 in addition" in said(app)
    visits.choose_example(app, "limits_thesis_3_10")
    assert app.text_input(key="lim_mechanism").value == "dp(0.1)"
    assert '"title": "False negatives' in specs(app)[0].split('"y"')[0]  # thesis axes: false negatives across


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"lim_mechanism": "nope(1)"}, "nope"),
        ({"lim_mechanism": "dp(1"}, "column"),
        ({"lim_mechanism": "<script>alert(1)</script>"}, "column"),
        ({"lim_mechanism": "x" * 5000}, "at most 2000 characters"),
        ({"lim_mechanism": "gaussian(1)"}, "No limit is needed"),
        ({"lim_mechanism": "zcdp(0.1)"}, "does not compose by adding independent losses"),
        ({"lim_k": "1e9"}, "Copies k must be an integer in [1, 100000]"),
        ({"lim_delta": "0"}, "Compared at δ must be a number in (0, 1]"),
        ({"lim_n": "1.5"}, "Row n must be an integer"),
    ],
)
def test_a_wrong_field_is_explained_and_the_rest_stays(parameters: dict[str, str], words: str) -> None:
    app = opened(**parameters)
    assert words in errors(app)
    assert len(errors(app)) < 2000
    # what the wrong field does not touch is still drawn
    assert len(app.get("vega_lite_chart")) == (3 if "lim_n" in parameters else 2)


def test_every_wrong_number_is_named_at_once() -> None:
    found = errors(opened(lim_mechanism="dp(0)", lim_mu="-1", lim_failing="x", lim_c="0.7"))
    for words in (
        "a loss that varies",
        "μ of the limit must be a number in (0, 10]",
        "Sum d of the δ",
        "Power c must be",
    ):
        assert words in found


def test_unknown_choices_fall_back() -> None:
    app = opened(lim_view="", lim_axes="garbage")
    assert not app.error
    assert len(app.get("vega_lite_chart")) == 5


def test_a_held_slider_stands_for_its_field() -> None:
    query = limits.LimitsQuery("rr(1, 50)", 50, 1e-5)
    assert query.moved({}) is query
    assert query.moved({"lim_k_slider": "400"}) == replace(query, k=400)
    assert query.moved({"lim_delta_slider": "2e-7"}) == replace(query, delta=2e-7)
    with pytest.raises(DpcoreError, match="Copies k must be an integer"):
        query.moved({"lim_k_slider": "1e9"})
