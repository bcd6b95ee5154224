"""The page of subsampling: default, presets, errors, sliders, and certified numbers in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpcore.app import subsampling, work
from dpcore.app.page import Preset, presets
from dpcore.core.effort import effort
from dpcore.core.errors import DpcoreError
from tests.app import visits
from tests.app.visits import errors, said

PAGE = visits.Page("pages/7_Subsampling.py", "Subsampling")
opened = PAGE.opened
OWN = [preset for preset in presets() if preset.page == "Subsampling"]


def test_the_first_view() -> None:
    app = opened()
    assert not app.error
    charts = app.get("vega_lite_chart")
    assert len(charts) == 3
    assert all(len(chart.proto.alt) > 60 for chart in charts)
    assert "lies between 6.76877 and 6.76879 (certified)" in said(app)
    assert "about 6.602, is below the truth by at least 0.167" in said(app)
    assert "**after, by (ε, δ, η)** (upper bound): ε = 2.1817, δ = 1e-6, η = 0.038293" in said(app)
    tables = {next(iter(frame.value.columns)): frame.value for frame in app.dataframe}
    assert tables["Method"]["What it is"].tolist() == [
        "upper bound",
        "upper bound",
        "approximation",
        "approximation",
        "exact",
    ]
    assert tables["Wrongly accused"]["The CLT is"].tolist()[-1] == "below the truth"
    assert not any(table.isna().any().any() for table in tables.values())
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
    assert len(app.get("vega_lite_chart")) == 3
    if preset.name != "subsampling_gradients":  # the first view is that one
        assert preset.meaning[:40] in said(app)
    if preset.name == "subsampling_small":
        assert "about 1.618, is below the truth" in said(app)
    if preset.name == "subsampling_statement":
        assert "The statement (ε, δ, η) says exactly that" in said(app)


def test_sliders_and_fields_follow_each_other() -> None:
    app = opened()
    app.select_slider(key="sub_steps_slider").set_value("1000").run()
    assert app.text_input(key="sub_steps").value == "1000"
    assert "After 1 000 steps" in said(app)
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
        ({"sub_steps": "1e9"}, "Steps T must be an integer in [1, 100000]"),
    ],
)
def test_a_wrong_field_is_explained_and_the_rest_stays(parameters: dict[str, str], words: str) -> None:
    app = opened(**parameters)
    assert words in errors(app)
    assert len(errors(app)) < 2000
    first = next(iter(parameters)) in {"sub_base", "sub_p", "sub_stated"}
    assert len(app.get("vega_lite_chart")) == (2 if first else 1)


def test_every_wrong_number_is_named_at_once() -> None:
    found = errors(opened(sub_p="0", sub_stated="2", sub_sigma="0", sub_q="nan", sub_delta="0"))
    for words in (
        "Share p must be a number in (0, 1]",
        "δ stated before",
        "Noise σ must be",
        "rate q must be",
        "At δ must",
    ):
        assert words in found


def test_unknown_choices_fall_back() -> None:
    app = opened(sub_scheme="", sub_view="garbage")
    assert not app.error
    assert len(app.get("vega_lite_chart")) == 3


@pytest.mark.parametrize("parameters", [{"sub_q": "1"}, {"sub_steps": "1"}, {"sub_p": "1"}, {"sub_delta": "1"}])
def test_the_ends_of_the_ranges(parameters: dict[str, str]) -> None:
    app = opened(**parameters)
    assert not app.error


@pytest.mark.parametrize(
    ("typed", "steps", "note"),
    [("60*60000/240", "15 000", ""), ("60*60000/256", "14 063", "60*60000/256 = 14062.5, counted as 14 063")],
)
def test_steps_may_be_typed_as_epochs_and_batches(typed: str, steps: str, note: str) -> None:
    app = opened(sub_sigma="1.1", sub_q="256/60000", sub_steps=typed)
    assert not app.error
    assert f"After {steps} steps" in said(app)
    assert note in said(app)
    assert app.text_input(key="sub_steps").value == typed


def test_a_held_slider_stands_for_its_field() -> None:
    steps = subsampling.TrainingSteps(1.5, 0.04, 2250, 1e-5)
    assert steps.moved({}) is steps
    assert steps.moved({"sub_sigma_slider": "2.5"}) == replace(steps, sigma=2.5, held=True)
    assert steps.moved({"sub_q_slider": "0.01"}) == replace(steps, q=0.01, held=True)
    assert steps.moved({"sub_steps_slider": "500"}) == replace(steps, steps=500, held=True)
    with pytest.raises(DpcoreError, match="Steps T must be an integer"):
        steps.moved({"sub_steps_slider": "1e9"})
    once = subsampling.Once("gaussian(1)", 0.1, "Poisson", 1e-5)
    assert once.moved({"sub_p_slider": "0.5"}) == replace(once, p=0.5)


def test_a_held_slider_waits_for_no_slow_certificate() -> None:
    slow = subsampling.TrainingSteps(1.5, 1e-3, 100, 1e-5, held=True)
    assert subsampling.answer(slow).endswith("(Rényi bound).")
    assert subsampling.comparison(slow) == (False, "")
    assert subsampling.steps_spec(slow)["steps"] == [1, 3000, 10_000, 30_000, 100_000]
    quick = subsampling.TrainingSteps(1.5, 0.04, 2250, 1e-5)
    with effort(tolerance=work.TOLERANCE):
        assert subsampling.answer(replace(quick, held=True)) == subsampling.answer(quick)
