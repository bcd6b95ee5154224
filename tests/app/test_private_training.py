"""The page of private training: default, presets, errors, sliders, verdicts, targets, and links from Subsampling."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.app import private_training, subsampling, work
from dpcore.app.page import Preset, presets
from dpcore.core.effort import effort
from dpcore.core.errors import DpcoreError
from tests.app import visits
from tests.app.visits import errors, said

PAGE = visits.Page("pages/18_Private_training.py", "Private training")
opened = PAGE.opened
OWN = [preset for preset in presets() if preset.page == "Private_training"]
RATED = {"train_by": "rate and steps", "train_sigma": "1.5", "train_rate": "0.04", "train_steps": "2250"}


def test_the_first_view() -> None:
    app = opened()
    assert not app.error
    charts = app.get("vega_lite_chart")
    assert len(charts) == 2
    assert all(len(chart.proto.alt) > 60 for chart in charts)
    assert "After 14 063 steps on Poisson samples of rate q = 0.00426667" in said(app)
    assert "lies between 2.38168 and 2.38170 (certified)" in said(app)
    assert "each step takes each record independently with probability q" in said(app)
    assert "μ = 0.5977 for false-positive rates from 1e-12 to 1/2; regret 0.0053" in said(app)
    tables = {next(iter(frame.value.columns)): frame.value for frame in app.dataframe}
    assert (
        tables["Library"]["It is"].tolist() == ["above the truth"] * 2 + ["below the truth"] + ["above the truth"] * 2
    )
    assert tables["Wrongly accused"]["The CLT is"].tolist()[-1] == "below the truth"
    assert not any(table.isna().any().any() for table in tables.values())
    statement = next(block.value for block in app.code if "Unit of privacy" in block.value)
    assert "(2.382, 1e-5)-differentially private" in statement
    # a rerun does no work twice
    before, hits = set(work.cache().kept), work.cache().hits
    app.run()
    assert set(work.cache().kept) <= before
    assert work.cache().hits > hits


@pytest.mark.parametrize(
    "preset",
    [pytest.param(one, marks=(pytest.mark.long,) if one.name == "training_target" else ()) for one in OWN],
    ids=lambda preset: preset.name,
)
def test_every_example(preset: Preset) -> None:
    app = opened(**preset.state)
    assert not app.error
    assert set(preset.state) <= set(private_training.DEFAULTS)
    assert len(app.get("vega_lite_chart")) == (1 if preset.name == "training_long" else 2)
    assert preset.meaning[:40] in said(app)
    if preset.name == "training_opacus":
        assert "The claim is wrong" in said(app)
    if preset.name == "training_full":
        assert "(exact)" in said(app)
        assert "μ = 0.5 (exact)" in said(app)
    if preset.name == "training_target":
        assert "certainly meets ε = 3 at δ = 1e-6" in said(app)


def test_sliders_and_fields_follow_each_other() -> None:
    app = opened(**RATED)
    app.select_slider(key="train_steps_slider").set_value("1000").run()
    assert app.text_input(key="train_steps").value == "1000"
    assert "After 1 000 steps" in said(app)
    app.segmented_control(key="train_by").set_value("records and epochs").run()
    assert not app.error
    assert "q = 256/60 000" in said(app)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"train_sampler": "shuffled", "train_epochs": "0.5"}, "less than one epoch"),
        ({"train_sampler": "truncated", "train_largest": "0"}, "Largest batch C must be"),
        ({"train_unit": "0"}, "Per person m must be"),
        ({"train_batch": "70000"}, "batch must be at most the number of examples, 60 000, got 70000"),
        ({"train_batch": "1", "train_epochs": "1000"}, "steps must be an integer in [1, 1000000]"),
        ({**RATED, "train_steps": "1e9"}, "Steps T must be an integer in [1, 100000]"),
        ({**RATED, "train_rate": "0"}, "Sampling rate q must be a number in (0, 1]"),
        ({"train_sigma": "0"}, "Noise σ must be"),
        ({"train_examples": "x"}, "Records N must be an integer"),
        ({"train_delta": "0"}, "At δ must be"),
    ],
)
def test_a_wrong_field_is_explained(parameters: dict[str, str], words: str) -> None:
    app = opened(**parameters)
    assert words in errors(app).replace("\u00a0", " ")
    assert not app.get("vega_lite_chart")
    assert "Correct the field with the error" in said(app)


def test_every_wrong_number_is_named_at_once() -> None:
    found = errors(opened(train_examples="0", train_batch="-1", train_epochs="nan", train_sigma="0", train_delta="2"))
    for words in ("Records N must", "Batch B must", "Epochs E must", "Noise σ must", "At δ must"):
        assert words in found


def test_a_claim_is_judged() -> None:
    assert "The claim is wrong" in said(opened(**RATED, train_claim="6.6"))
    app = opened(**RATED, train_claim="7")
    assert not app.error
    assert "The claim holds" in said(app)
    assert "Claimed ε must be" in errors(opened(train_claim="-1"))


@pytest.mark.parametrize(
    ("unknown", "words"),
    [
        ("noise σ", "Noise σ = 1.22418 meets ε = 2"),
        ("steps", "certainly meet ε = 2 at δ = 1e-5; one more does not"),
        ("batch", "certainly meets ε = 2"),
        ("records", "examples certainly meet ε = 2"),
    ],
)
def test_a_target_is_met_and_can_be_used(unknown: str, words: str) -> None:
    app = opened(train_unknown=unknown, train_target="2")
    assert not app.error
    assert words in said(app)
    app.button(key="train_use").click().run()
    assert not app.exception
    (answer,) = [str(found.value) for found in app.success if "After" in found.value]
    assert "lies between 1.9" in answer or "and 2.0" in answer


def test_a_target_that_cannot_be_met_is_explained() -> None:
    assert "exceeds" in errors(opened(train_unknown="batch", train_target="0.0001"))


@pytest.mark.parametrize("parameters", [{**RATED, "train_rate": "1"}, {**RATED, "train_steps": "1"}])
def test_the_ends_of_the_ranges(parameters: dict[str, str]) -> None:
    assert not opened(**parameters).error


def test_with_a_delta_of_1_everything_meets_a_target() -> None:
    app = opened(train_delta="1")
    assert len(app.get("vega_lite_chart")) == 2
    assert len(app.error) == 1


@pytest.mark.parametrize(
    ("typed", "steps", "note"),
    [("60*60000/240", "15 000", ""), ("60*60000/256", "14 063", "60*60000/256 = 14062.5, counted as 14 063")],
)
def test_steps_may_be_typed_as_epochs_and_batches(typed: str, steps: str, note: str) -> None:
    app = opened(**{**RATED, "train_sigma": "1.1", "train_rate": "256/60000", "train_steps": typed})
    assert not app.error
    assert f"After {steps} steps" in said(app)
    assert note in said(app)
    assert app.text_input(key="train_steps").value == typed


def test_a_held_slider_stands_for_its_field() -> None:
    rated = private_training.RunQuery("Poisson", 1e-5, 1.5, rate=Fraction(1, 25), steps=Fraction(2250))
    assert rated.moved({}) is rated
    assert rated.moved({"train_sigma_slider": "2.5"}) == replace(rated, sigma=2.5, held=True)
    assert rated.moved({"train_rate_slider": "0.01"}) == replace(rated, rate=Fraction(1, 100), held=True)
    assert rated.moved({"train_steps_slider": "500"}) == replace(rated, steps=Fraction(500), held=True)
    assert rated.moved({"train_delta_slider": "1e-6"}) == replace(rated, delta=1e-6, held=True)
    with pytest.raises(DpcoreError, match="Steps T must be an integer"):
        rated.moved({"train_steps_slider": "1e9"})


def test_a_held_slider_waits_for_no_slow_certificate() -> None:
    slow = private_training.RunQuery("Poisson", 1e-5, 1.5, rate=Fraction(1, 1000), steps=Fraction(100), held=True)
    assert private_training.answer(slow).endswith("(Rényi bound).")
    assert private_training.steps_spec(slow)["steps"] == [1, 3000, 10_000, 30_000, 100_000]
    quick = private_training.RunQuery("Poisson", 1e-5, 1.5, rate=Fraction(1, 25), steps=Fraction(2250))
    with effort(tolerance=work.TOLERANCE):
        assert private_training.answer(replace(quick, held=True)) == private_training.answer(quick)


# ---- links from when training was a part of Subsampling -----------------------------------------------------


def test_an_old_link_says_the_same_run() -> None:
    assert subsampling.training_link({"sub_p": "0.1"}) == {}
    state = subsampling.training_link({"sub_q": "0.01", "sub_steps": "1000"})
    assert state == {"train_by": "rate and steps", "train_sigma": "1.5", "train_rate": "0.01", "train_steps": "1000"}
    old = {"sub_sigma": "1.1", "sub_q": "256/60000", "sub_steps": "60*60000/256", "sub_delta": "1e-6"}
    app = opened(**subsampling.training_link(old))
    assert not app.error
    assert "After 14 063 steps" in said(app)
    assert "σ = 1.1, ε at δ = 1e-6" in said(app)


def test_an_old_link_opens_the_new_page() -> None:
    """Subsampling passes it on; if the link is about one use as well, it stays there and offers the run."""
    app = AppTest.from_file(str(visits.ROOT / "streamlit_app.py"), default_timeout=180)
    app.switch_page("pages/7_Subsampling.py")
    app.query_params["sub_sigma"] = "1"
    app.query_params["sub_steps"] = "1000"
    app.run()
    assert not app.exception
    assert app.title[0].value == "Private training"
    assert "After 1 000 steps" in said(app)
    app = AppTest.from_file(str(visits.ROOT / "streamlit_app.py"), default_timeout=180)
    app.switch_page("pages/7_Subsampling.py")
    app.query_params["sub_p"] = "0.2"
    app.query_params["sub_steps"] = "1000"
    app.run()
    assert not app.exception
    assert app.title[0].value == "Subsampling"
    assert any("The training run of this link" in str(link.proto.label) for link in app.get("page_link"))


def test_shuffled_batches_have_a_lower_bound_beside_the_poisson_claim() -> None:
    app = opened(train_sampler="shuffled", train_epochs="2", train_claim="0.4")
    assert not errors(app)
    (warning,) = app.warning
    assert warning.value.startswith("With shuffled batches ε at δ = 1e-5 is at least")
    assert "too small" in warning.value
    assert "is not true: it is at least" in said(app)


@pytest.mark.parametrize("sampler", ["truncated", "fixed size", "allocated", "full batch"])
def test_every_sampler_is_answered(sampler: str) -> None:
    app = opened(train_sampler=sampler, train_epochs="30", train_sigma="1.1")
    assert not errors(app)
    assert "Tuning costs privacy too" in [header.value for header in app.header]
    assert "After" in said(app)


def test_persons_with_several_records() -> None:
    app = opened(train_unit="3", train_epochs="30", train_sigma="1.1")
    assert not errors(app)
    assert "up to 3 records per person" in said(app)
    assert "Unit of privacy: one person with up to 3 training records" in app.code[-1].value
