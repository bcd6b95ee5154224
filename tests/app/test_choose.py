"""The page of inverse questions: default, presets, errors, answers in words, links and code that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from dpcore import parse
from dpcore.app import choose_your_noise, work
from dpcore.app.page import Preset, presets
from dpcore.calibration.answers import Question
from dpcore.calibration.requirements import Advantage
from tests.app import visits
from tests.app.visits import ROOT, errors, sources_without

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

PAGE = visits.Page("pages/11_Choose_your_noise.py", "Choose your noise")
opened = PAGE.opened
OWN = [preset for preset in presets() if preset.page == "Choose_your_noise"]
SHOWN = {
    "choose_statement": "Discrete Gaussian noise has the smallest error: at most 73",
    "choose_advantage": "Geometric noise reveals the least: ε at most 0.2007",
    "choose_attack": "Gaussian noise has the smallest error",
    "choose_posterior": "Gaussian noise: no answer. Some rare answers",
    "choose_error": "Discrete Gaussian noise reveals the least: ε at most 3.",
    "choose_count": "Discrete Gaussian noise answers most often: 4",
    "choose_records": "Randomized response: 86 368 records are enough (upper bound)",
    "choose_training": "On samples of 0.01, σ = 0.95",
}


def said(app: AppTest) -> str:
    return visits.said(app, "warning", "info", "markdown", "caption")


def test_the_first_view() -> None:
    app = opened()
    assert not app.error
    (chart,) = app.get("vega_lite_chart")
    assert "under Laplace (exact)" in chart.proto.alt
    assert "Noise such that all answers together are within ε = 1 and δ = 1e-5." in said(app)
    assert "Laplace noise has the smallest error" in said(app)
    assert "Gaussian noise: σ = 3.7307 (rounded to the safe side)" in said(app)
    frame = app.dataframe[-1].value
    assert len(frame) == 7
    assert not frame.isna().any().any()
    before, hits = set(work.cache().kept), work.cache().hits
    app.run()
    assert set(work.cache().kept) <= before
    assert work.cache().hits > hits


def test_every_answer_links_to_its_mechanism() -> None:
    for one in choose_your_noise.results(Question("noise", Advantage(0.2), k=3, width=2.0)):
        if one.trouble:
            assert choose_your_noise.link(one) == ""
        else:
            page, text = choose_your_noise.link(one).split("?expression=")
            assert (ROOT / "pages" / f"3_{page}.py").exists()
            assert str(parse(unquote(text))) == one.one
            assert str(parse(unquote(text)) ** 3) == one.total


@pytest.mark.parametrize("preset", OWN, ids=lambda preset: preset.name)
def test_every_example(preset: Preset) -> None:
    app = opened(**preset.state)
    assert not app.error
    assert set(preset.state) <= set(choose_your_noise.DEFAULTS)
    assert SHOWN[preset.name] in said(app)
    assert preset.meaning[:40] in said(app)
    assert len(app.get("vega_lite_chart")) == 1
    for key, value in preset.state.items():
        assert app.session_state[key] == value


def test_what_is_unknown_changes_what_can_be_wanted() -> None:
    app = opened()
    app.selectbox(key="choose_unknown").set_value("ε").run()
    assert not app.exception
    assert app.session_state["choose_wish"] == "advantage"  # (ε, δ) cannot be both given and unknown
    assert "The ε such that" in said(app)
    app.selectbox(key="choose_wish").set_value("error").run()
    assert "one answer is off by at most 10" in said(app)
    app.selectbox(key="choose_unknown").set_value("answers k").run()
    assert not app.exception
    assert app.session_state["choose_wish"] in choose_your_noise.requirements_for("k")
    app.selectbox(key="choose_unknown").set_value("noise").run()
    app.selectbox(key="choose_wish").set_value("posterior").run()
    app.text_input(key="choose_accused").set_value("0.01").run()
    assert not app.error
    assert "of the people accused at most 20 of 100 are in the data" in said(app)


def test_a_link_that_contradicts_itself_gets_a_page() -> None:
    app = opened(choose_unknown="ε", choose_wish="(ε, δ)")
    assert not app.error
    assert "The ε such that" in said(app)
    app = opened(choose_unknown="everything", choose_wish="peace", choose_picture="none")
    assert not app.error
    assert len(app.get("vega_lite_chart")) == 1


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"choose_epsilon": "-1"}, "ε must be a number in [0, 10000]"),
        ({"choose_delta": "1"}, "delta must be a number in [0, 1)"),
        ({"choose_k": "1e12"}, "Answers k must be an integer in [1, 100000]"),
        ({"choose_width": "0"}, "Sensitivity Δ must be a number in (0, 1000000000000000]"),
        ({"choose_q": "0"}, "Rate q must be a number in (0, 1]"),
        ({"choose_wish": "advantage", "choose_advantage": "1"}, "advantage must be a number in (0, 1)"),
        ({"choose_wish": "TPR at FPR", "choose_tpr": "0.01", "choose_fpr": "0.5"}, "tpr must be above fpr"),
        ({"choose_wish": "posterior", "choose_posterior": "0.05"}, "posterior must be above the prior"),
        ({"choose_wish": "posterior", "choose_posterior": "0.9", "choose_accused": "0.5"}, "every noise meets that"),
        (
            {"choose_wish": "error", "choose_error": "<b>"},
            "Error must be a number in (0, 1000000000000000]",
        ),
        ({"choose_miss": "nan", "choose_stated": "9" * 50_000}, "Compare at δ must be"),
    ],
)
def test_a_wrong_field_is_explained(parameters: dict[str, str], words: str) -> None:
    app = opened(**parameters)
    assert words in errors(app)
    assert len(errors(app)) < 2000
    assert "Correct the field" in said(app)


def test_a_wish_that_no_noise_meets() -> None:
    app = opened(choose_unknown="answers k", choose_epsilon="0.1", choose_delta="0", choose_error="0.1")
    assert not app.error
    assert "No noise has an answer to this question." in said(app)
    assert "nothing to draw" in said(app)
    assert "Not even one answer of this error fits the requirement." in said(app)
    app = opened(choose_epsilon="0", choose_delta="0")
    assert "epsilon and delta cannot both be 0" in said(app)


def test_no_other_page_uses_the_same_keys() -> None:
    other = sources_without("11_Choose_your_noise.py", "choose_your_noise.py", "choose_your_noise_panels.py")
    assert not [key for key in choose_your_noise.DEFAULTS if f'"{key}"' in other]


def test_the_verdict_speaks_of_all_rows() -> None:
    """At k = 5 one noise has the least ε and another the fewest people found: both are named."""
    app = opened(choose_wish="error", choose_k="5")
    words = said(app)
    assert "Geometric noise reveals the least" not in words
    assert "Geometric noise has the least ε" in words
    assert "finds fewest with Discrete Gaussian noise: at most 29 of 1 000, against 42 of 1 000" in words
