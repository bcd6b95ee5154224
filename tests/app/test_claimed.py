"""The page of claims: default, presets, errors and verdicts in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpcore.app import claimed_and_true, work
from dpcore.app.page import Preset, presets
from dpcore.core.effort import effort
from dpcore.core.errors import DpcoreError
from dpcore.language.numbers import read_value
from dpcore.training import SAFE, WRONG
from tests.app import visits
from tests.app.visits import errors, said, sources_without

PAGE = visits.Page("pages/10_Claimed_and_true.py", "Claimed and true")
opened = PAGE.opened
OWN = {preset.name: preset for preset in presets() if preset.page == "Claimed_and_true"}
VERDICTS = {
    "claimed_classic_wrong": (WRONG, "2.26 times the claimed"),
    "claimed_classic_wasteful": (SAFE, "the noise is 29.8 % wider than necessary"),
    "claimed_clt": (WRONG, "the true ε at δ = 1e-5 is at least 1.828"),
    "claimed_moments": (SAFE, "at most 6.7688 (certified); the claim says 8.07966"),
    "claimed_rdp": (SAFE, "at most 6.7688 (certified); the claim says 7.32911"),
    "claimed_naive": (WRONG, "the true ε at δ = 1e-5 is at least 31.17"),
    "claimed_advanced": (SAFE, "at most 4.6927 (exact); the claim says 6.30823"),
    "claimed_thesis_gaussian": (WRONG, "the true δ is at least 0.3035"),
    "claimed_group": (WRONG, "the true δ is at least 0.06298"),
    "claimed_kov_gaussian": (WRONG, "the true δ is at least 0.7827"),
    "claimed_rr": (SAFE, "the noise is 120 % wider"),
    "claimed_cut": (WRONG, "the true ε at δ = 0 is at least 1.489"),
}


def asked(preset: Preset) -> claimed_and_true.ClaimQuery:
    state = {**claimed_and_true.DEFAULTS, **preset.state}
    epsilon = read_value(claimed_and_true.EPSILON, state["claimed_epsilon"]) if state["claimed_epsilon"] else None
    return claimed_and_true.ClaimQuery(
        state["claimed_mechanism"],
        int(state["claimed_k"]),
        epsilon,
        float(state["claimed_delta"]),
        claimed_and_true.NAMES.get(state["claimed_by"], ""),
    )


def test_the_first_view() -> None:
    app = opened()
    assert not app.error
    charts = app.get("vega_lite_chart")
    assert len(charts) == 3
    assert "lies below the true curve: it is wrong" in charts[0].proto.alt
    assert "Below the truth, so no promise: Classical Gaussian" in charts[1].proto.alt
    text = said(app)
    assert "the true ε at δ = 1e-5 is at least 10.393 (exact); the claim says 10" in text
    assert "3.19 % more noise would make the claim true" in text
    assert "finds at least 68 of 1 000 000 people inside it (exact); the claim allows at most 57" in text
    assert "(Mechanisms?expression=gaussian_classic%2810%2C%201e-5%29)" in text
    assert not app.dataframe[-1].value.isna().any().any()
    before, hits = set(work.cache().kept), work.cache().hits
    app.run()
    assert set(work.cache().kept) <= before
    assert work.cache().hits > hits


@pytest.mark.parametrize("name", OWN)
def test_what_every_example_shows(name: str) -> None:
    preset = OWN[name]
    assert set(preset.state) <= set(claimed_and_true.DEFAULTS)
    verdict, words = VERDICTS[name]
    with effort(tolerance=work.TOLERANCE):
        judgement = claimed_and_true.judgement_of(asked(preset))
        wrong, answer = claimed_and_true.verdict(asked(preset))
        advice = claimed_and_true.advice(asked(preset))
    assert judgement.verdict == verdict
    assert wrong == (verdict == WRONG)
    assert words in " ".join([answer, judgement.words(), *advice])


@pytest.mark.parametrize("name", OWN)
def test_examples_on_the_page(name: str) -> None:
    preset = OWN[name]
    app = opened(**preset.state)
    assert not app.error
    wrong = [found for found in app.info if found.icon == ":material/flag:"]
    assert [len(found) for found in (wrong, app.success)] == ([1, 0] if VERDICTS[name][0] == WRONG else [0, 1])
    assert VERDICTS[name][1] in said(app)
    assert preset.meaning[:40] in said(app)
    assert len(app.get("vega_lite_chart")) == (2 if name == "claimed_group" else 3)
    assert app.selectbox(key="claimed_by").value == {**claimed_and_true.DEFAULTS, **preset.state}["claimed_by"]
    if name == "claimed_group":
        assert "No accountant reports a finite ε" in said(app)
    if name == "claimed_clt":
        assert "GDP, central limit reports an ε of about 1.61771 (approximation) (no promise" in said(app)


def test_changing_the_accountant_changes_an_empty_claim() -> None:
    app = opened(
        claimed_mechanism="gaussian(2)", claimed_k="4", claimed_epsilon="", claimed_by="zCDP, first conversion"
    )
    assert "the claim says 5.29853" in said(app)  # 1/2 + 2 sqrt(log(1e5)/2)
    app.selectbox(key="claimed_by").select("Rényi, better conversion").run()
    assert "the claim says 4.72" in said(app)
    app.segmented_control(key="claimed_view").set_value("log-log").run()
    assert not app.error


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"claimed_mechanism": "nope(1)"}, "nope"),
        ({"claimed_mechanism": "dp(1"}, "expression ends"),
        ({"claimed_mechanism": "x" * 5000}, "at most 2000 characters"),
        ({"claimed_mechanism": "<img src=x onerror=alert(1)>"}, "Unexpected"),
        ({"claimed_mechanism": "rr(1) * poisson_gaussian(1, 0.1)"}, "add/remove"),
        (
            {"claimed_k": "1e9", "claimed_epsilon": "-1", "claimed_delta": "2"},
            "Uses k must be an integer in [1, 1000000]",
        ),
        ({"claimed_epsilon": "nan"}, "Claimed ε must be a number in [0, 10000]"),
        ({"claimed_delta": "2"}, "Claimed δ must be a number in [0, 1]"),
        ({"claimed_epsilon": "", "claimed_by": "not said"}, "Type the claimed ε, or choose an accountant"),
        ({"claimed_mechanism": "laplace(1)", "claimed_epsilon": ""}, "It applies to Gaussian noise only."),
    ],
)
def test_a_wrong_field_is_explained(parameters: dict[str, str], words: str) -> None:
    app = opened(**parameters)
    assert words in errors(app)
    assert len(errors(app)) < 2000
    assert "Correct the field" in said(app)
    assert not app.get("vega_lite_chart")


def test_unknown_choices_fall_back() -> None:
    app = opened(
        claimed_by="nobody",
        claimed_view="sideways",
        claimed_mechanism="laplace(1)",
        claimed_epsilon="1",
        claimed_delta="0",
    )
    assert not app.error
    assert "The claim holds, and it is the truth itself up to rounding" in said(app)


def test_a_held_slider_stands_for_its_field() -> None:
    query = asked(OWN["claimed_clt"])
    assert query.moved({}) is query
    assert query.moved({"claimed_epsilon_slider": "2.5"}) == replace(query, epsilon=2.5)
    assert query.moved({"claimed_k_slider": "400"}) == replace(query, k=400)
    with pytest.raises(DpcoreError, match="Uses k must be an integer"):
        query.moved({"claimed_k_slider": "1e9"})
    app = opened()
    app.select_slider(key="claimed_epsilon_slider").set_value("12").run()
    assert app.text_input(key="claimed_epsilon").value == "12"
    assert "The claim holds" in said(app)


def test_no_other_page_uses_the_same_keys() -> None:
    other = sources_without("10_Claimed_and_true.py", "claimed_and_true.py", "claimed_and_true_panels.py")
    assert not [key for key in claimed_and_true.DEFAULTS if f'"{key}"' in other]
