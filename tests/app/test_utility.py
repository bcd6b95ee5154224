"""The page of privacy and utility: every pair, preset and error; the code runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dpcore.app import (
    composition,
    mechanisms,
    page,
    privacy_and_utility,
    privacy_and_utility_data,
    privacy_and_utility_panels,
    settings,
    work,
)
from dpcore.app.figure import sentence
from dpcore.core.errors import DomainError
from dpcore.specs import draw
from dpcore.utility import PAIRS, pair
from dpcore.utility.samples import part, sample
from tests.app import test_listings, visits
from tests.app.visits import alts, errors, said, sources_without, unescaped

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

PAGE = visits.Page("pages/4_Privacy_and_utility.py", "Privacy and utility")
opened, ran = PAGE.opened, PAGE.ran
PRESETS = {preset.name: preset for preset in page.presets() if preset.page == "Privacy_and_utility"}
PROMISED: dict[str, str] = {}  # what each preset says
pytestmark = pytest.mark.usefixtures("quick_charts")


def click(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click()
    return ran(app)


def figures(setting: str, data: str) -> int:
    """Return how many figures there are: three, and a fourth where bounds are a choice."""
    known = privacy_and_utility_data.options()[data]
    return 3 + (privacy_and_utility.read(setting).wide_costs and not (known and sample(known).categories))


def source(name: str, **cut: Any) -> privacy_and_utility_data.DataSource:
    return privacy_and_utility_data.DataSource({"sample": name, **cut}, sample(name).n, work.ResultCache())


# ---- the setting as text -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAIRS)
def test_the_text_of_a_pair_is_that_pair(name: str) -> None:
    assert privacy_and_utility.read(settings.written(pair(name))) == pair(name)
    moved = [
        p.name
        for p in pair(name).parameters()
        if p.kind in ("number", "integer") and p.name != privacy_and_utility.COLUMNS
    ]
    assert list(privacy_and_utility.movable(pair(name)))[: len(moved)] == sorted(
        moved, key=lambda n: n != pair(name).main
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The setting is empty"),
        ("count_laplase", "did you mean count_laplace?"),
        ("count_laplace epsilon", "There is no pair 'count_laplace epsilon'"),
        ("count_laplace epsilom=1", "did you mean epsilon?"),
        ("count_laplace epsilon=-1", "epsilon must be a number in [1e-300, 1000], got -1"),
        ("count_laplace epsilon=abc", "epsilon must be a number in [1e-300, 1000], got 'abc'"),
        ("histogram_laplace bins=2.5", "bins must be an integer"),
        ("histogram_laplace unit=x", "unit must be one of counts, frequencies"),
        ("scores_exponential scores=[1", "scores must be"),
        ("x" * 3000, "at most 2000 characters"),
        ("<script>alert(1)</script>", "There is no pair"),
    ],
)
def test_a_wrong_setting_is_explained(text: str, words: str) -> None:
    with pytest.raises(DomainError) as found:
        privacy_and_utility.read(text)
    assert words in str(found.value)


@pytest.mark.parametrize("text", ["count_laplase", "x" * 3000, "<script>alert(1)</script>"])
def test_a_wrong_link_gets_a_page_and_a_sentence(text: str) -> None:
    app = opened(utility=text)
    assert "There is no pair" in errors(app) or "at most 2000 characters" in errors(app)
    assert "Correct or complete the fields" in said(app)
    assert not alts(app)


def test_reset_brings_a_broken_page_back() -> None:
    assert len(alts(click(opened(utility="nothing"), "Reset"))) == 3


def test_numbers_may_be_written_as_in_the_language() -> None:
    assert privacy_and_utility.read("survey_rr epsilon=log(3)").epsilon == pytest.approx(math.log(3), rel=1e-15)  # type: ignore[attr-defined]  # a survey


# ---- the page ------------------------------------------------------------------------------------------------


def test_the_first_view() -> None:
    app = opened()
    first, second, third = alts(app)
    assert "Mean squared error, total, at ε = 0.5: 320 (exact)" in first  # 8 k / eps^2
    assert "simulation ± 2 standard errors" in first
    assert "lower bound on any mechanism" in first
    assert second.startswith("exact region: an attacker who wrongly accuses")
    assert "(a simulation, not a promise)" in third
    assert "an attacker who wrongly accuses" in said(app)
    assert not errors(app)
    assert not app.warning


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset(name: str) -> None:
    preset = PRESETS[name]
    assert set(preset.state) <= set(privacy_and_utility.DEFAULTS)
    app = opened(**preset.state)
    assert not errors(app)
    state = {**privacy_and_utility.DEFAULTS, **preset.state}
    assert len(alts(app)) == figures(state["utility"], state["utility_data"])
    assert (
        app.text_input(key="utility").value
        == state["utility"]
        == settings.written(privacy_and_utility.read(state["utility"]))
    )
    assert app.selectbox(key="utility_data").value == state["utility_data"]
    PROMISED[name] = alts(app)[0] + said(app)
    if name == "utility_thesis_3_2":  # the one that sets most fields, by its button
        other = visits.choose_example(PAGE.opened(), name)
        assert alts(other) == alts(app)
        assert said(other) == said(app)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("utility_count", "a count is off by at most 6 records in 95 of 100 releases"),
        ("utility_thesis_3_2", "at δ = 0.1: 0.808 (exact)"),  # 2 log(12.5) 100 / (50 * 0.5)^2
        ("utility_thesis_3_11", "at ε = 0.5: 320 (exact)"),  # 8 * 10 / 0.5^2
        (
            "utility_thesis_3_12",
            "0.000112 (upper bound: thesis, Proposition 51, as printed)",
        ),  # 30 exp(-12.5), rounded up
        ("utility_ties", "at ε = 0.5: 1 (exact)"),
        ("utility_ties", "7.45e-6 (no bound: thesis, Proposition 51, as printed)"),
        ("utility_thesis_3_13", "0.886 (upper bound)"),  # 5 / (sqrt(e) + 4)
        ("utility_cheater", "tells the truth with a chance of 75 of 100"),
        ("utility_records", "at n = 2000"),
        ("utility_records", "2829"),  # sqrt(2 * 200^2 / 0.01) = 2828.4
    ],
)
def test_what_the_presets_promise(name: str, words: str) -> None:
    if name not in PROMISED:  # run alone
        test_each_preset(name)
    assert words in PROMISED[name]


@pytest.mark.parametrize("name", PAIRS)
def test_every_pair_can_be_chosen_and_drawn(name: str) -> None:
    """With the data that the menu chooses with it; without the page, for speed."""
    assert name in privacy_and_utility_panels._queries()[PAIRS[name].query]
    option = privacy_and_utility_data.fitting(pair(name), privacy_and_utility_data.FIRST)
    known = privacy_and_utility_data.options()[option]
    public = source(known) if known and PAIRS[name].uses_data else source("ages.age")
    view = privacy_and_utility.UtilityView(pair(name), public, pair(name).main, pair(name).measure, 20, 1)
    for spec in (view.utility_spec(), view.release_spec()):
        assert draw(spec).takeaway
    assert draw(view.region_spec()).takeaway.startswith(
        ("exact region: an attacker", "bound for all data: an attacker")
    )
    assert view.pair.sentence(view.data)
    assert privacy_and_utility.known_facts(view)
    for number, places in privacy_and_utility_panels._places(view.pair).items():
        assert getattr(view.pair, number) in places
        assert len(places) > 1


def test_another_query_brings_its_data_and_measure() -> None:
    app = opened(utility_releases="0", utility_measure="l1", utility_n="50")
    app.selectbox(key="utility_query").select("survey")
    ran(app)
    assert app.text_input(key="utility").value == settings.written(pair("survey_rr"))
    assert app.text_input(key="utility_measure").value == ""
    assert not errors(app)
    assert len(alts(app)) == 3
    click(app, "Undo")
    assert app.text_input(key="utility").value == privacy_and_utility.DEFAULTS["utility"]
    assert app.text_input(key="utility_measure").value == "l1"


def test_a_mechanism_keeps_the_parameters_of_the_query() -> None:
    app = opened(utility="histogram_laplace epsilon=0.7 bins=7")
    app.selectbox(key="utility_mechanism").select("histogram_gaussian")
    ran(app)
    kept: Any = privacy_and_utility.read(app.text_input(key="utility").value)
    assert (kept.epsilon, kept.bins, kept.delta) == (0.7, 7, 1e-5)
    click(app, "Undo")
    assert privacy_and_utility.read(app.text_input(key="utility").value) == pair(
        "histogram_laplace", epsilon=0.7, bins=7
    )


def test_every_slider_and_field_writes_the_setting() -> None:
    app = opened()
    slider = "utility_histogram_laplace_epsilon_slide"
    app.select_slider(key=slider).set_value(float(app.select_slider(key=slider).options[-1]))
    ran(app)
    assert privacy_and_utility.read(app.text_input(key="utility").value).epsilon == 5.0  # type: ignore[attr-defined]  # a histogram
    app.text_input(key="utility_histogram_laplace_epsilon").set_value("log(3)")
    ran(app)
    assert "epsilon=log(3)" in app.text_input(key="utility").value
    app.select_slider(key="utility_histogram_laplace_bins_slide").set_value(20)
    ran(app)
    assert "bins=20" in app.text_input(key="utility").value
    assert "epsilon=log(3)" in app.text_input(key="utility").value, "what was typed stays"
    app.text_input(key="utility_histogram_laplace_epsilon").set_value("-4")
    ran(app)
    assert "epsilon must be a number in [1e-300, 1000], got -4" in errors(app)
    assert "epsilon=log(3)" in app.text_input(key="utility").value, "what was typed stays"
    app.text_input(key="utility_histogram_laplace_epsilon").set_value("1")
    app.text_input(key="utility_histogram_laplace_bins").set_value("1")
    ran(app)
    assert "bins must be an integer in [2," in errors(app)


@pytest.mark.parametrize(
    ("held", "moved"),
    [
        ({"utility_histogram_laplace_epsilon_slide": "2.5"}, {"epsilon": 2.5}),
        ({"utility_histogram_laplace_bins_slide": "7"}, {"bins": 7}),
        ({"utility_n_slide": "150"}, {}),
        ({}, {}),
    ],
)
def test_a_held_slider_stands_for_its_field(held: dict[str, str], moved: dict[str, Any]) -> None:
    view = privacy_and_utility.UtilityView(pair("histogram_laplace"), source("ages.age"), "epsilon", "mse", 10**5, 1)
    after = view.moved(held)
    assert after.pair == pair("histogram_laplace", **moved)
    assert after.data.n == (150 if "utility_n_slide" in held else 2000)
    assert after.releases == (1000 if held else 10**5)
    with pytest.raises(DomainError, match="n must be an integer"):
        view.moved({"utility_n_slide": "3000"})


def test_records_move_too() -> None:
    app = opened(utility="mean_laplace", utility_moves="n")
    assert "at n = 2000" in alts(app)[0]
    app.select_slider(key="utility_n_slide").set_value(1)
    ran(app)
    assert app.text_input(key="utility_n").value == "1"
    app.text_input(key="utility_n").set_value("500")
    ran(app)
    assert "at n = 500" in alts(app)[0]
    assert app.select_slider(key="utility_n_slide").value == 500
    app.text_input(key="utility_n").set_value("3000")
    ran(app)
    assert "First n records must be an integer in [1, 2000], got '3000'" in errors(app)


def test_release_again() -> None:
    app = opened(utility="count_laplace")
    before = alts(app)[2]
    click(app, "Release again")
    assert app.text_input(key="utility_seed").value == "2"
    after = alts(app)[2]
    assert after != before
    assert alts(opened(utility="count_laplace", utility_seed="2"))[2] == after
    click(app, "Undo")
    assert alts(app)[2] == before


def test_the_inverse_question() -> None:
    app = opened(utility="count_laplace", utility_target="3")
    assert "ε from 0.9986" in said(app)  # log(20) / 3, rounded up
    click(app, "Look at epsilon = 0.998577")
    found: Any = privacy_and_utility.read(app.text_input(key="utility").value)
    assert found.epsilon == pytest.approx(math.log(20) / 3, rel=1e-9)
    assert found.epsilon >= math.log(20) / 3
    no = opened(utility="count_laplace", utility_target="-1")
    assert "The target must be a number in [0, 1000000000000000], got '-1'" in errors(no)


@pytest.mark.parametrize("value", ["nan", "-1", "<b>", "9" * 10_000])
def test_hostile_values_are_explained(value: str) -> None:
    app = opened(
        utility_n=value, utility_low=value, utility_target=value, utility_seed=value, utility_measure=value,
        utility_moves=value, utility_of=value, utility_data=value, utility_releases=value,
    )  # fmt: skip
    assert errors(app)
    assert len(errors(app)) < 3000
    assert "Traceback" not in errors(app)


def test_data_that_do_not_fit_are_explained() -> None:
    app = opened(utility="mean_laplace d=3")
    assert errors(app)
    assert "Traceback" not in errors(app)
    ages = opened(utility="sum_geometric", utility_data="survey: hours of study in a week")
    assert "Geometric noise needs integers" in said(ages)
    bounds = opened(utility_low="50", utility_high="40")
    assert "lower must be below upper" in errors(bounds)


def test_every_name_of_data_is_a_sample() -> None:
    for option, name in privacy_and_utility_data.options().items():
        assert bool(name) == (option not in (privacy_and_utility_data.MADE_UP, privacy_and_utility_data.UPLOAD))
        assert privacy_and_utility_data.fitting(pair("histogram_laplace"), option) == option
    assert not errors(opened(utility_data=privacy_and_utility_data.MADE_UP, utility_releases="0"))


def test_part_cuts_and_clips() -> None:
    data = part(sample("ages.age"), n=100, low=10, high=50)
    assert (data.n, data.low, data.high) == (100, 10.0, 50.0)
    assert data.values.tolist() == np.clip(sample("ages.age").values[:100], 10, 50).tolist()
    with pytest.raises(DomainError, match="Answers from a list have no bounds"):
        part(sample("survey.cheated"), low=0)
    with pytest.raises(DomainError, match=r"n must be an integer in \[1, 2000\]"):
        part(sample("ages.age"), n=2001)


def test_made_up_data_reach_a_million() -> None:
    app = opened(
        utility="mean_laplace",
        utility_data=privacy_and_utility_data.MADE_UP,
        utility_n="1000000",
        utility_releases="100",
    )
    assert not errors(app)
    assert "and n = 1000000 the released mean is within" in said(app)
    app.text_input(key="utility_n").set_value("1000001")
    assert "Number of records must be an integer in [1, 1000000], got '1000001'" in errors(ran(app))


# ---- code ----------------------------------------------------------------------------------------------------

STATES = {
    "median": {"utility": "median_exponential size=9", "utility_n": "99", "utility_measure": "miss", "utility_releases": "0"},
    "sum": {"utility": "sum_geometric", "utility_measure": "quantile"},
    "mean": {"utility": "mean_laplace", "utility_high": "50", "utility_measure": "mse"},
    "made up": {"utility": "mean_laplace d=3", "utility_data": privacy_and_utility_data.MADE_UP, "utility_n": "70"},
    "survey": {"utility": "survey_many_rr", "utility_data": "survey: way to the campus", "utility_moves": "n"},
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_the_code_makes_the_pictures(name: str) -> None:
    app = opened(**STATES[name])
    assert not errors(app)
    assert test_listings.check(app) == len(alts(app))


def test_the_code_answers_the_inverse_question() -> None:
    app = opened(utility="count_laplace", utility_target="3")
    (code,) = [str(block.value) for block in app.code if "requirement" in str(block.value)]
    space: dict[str, Any] = {}
    exec(code, space)  # noqa: S102  the lines the page shows
    assert unescaped([sentence(space["needed"].words)]) in said(app)


def test_a_second_run_computes_nothing() -> None:
    app = opened(utility="count_laplace epsilon=0.123")
    before, hits = set(work.cache().kept), work.cache().hits
    ran(app)
    assert set(work.cache().kept) <= before
    assert work.cache().hits >= hits + 4


def test_no_other_page_uses_the_same_keys() -> None:
    """A key set by a callback outlives its page, and would be another page's value."""
    other = sources_without(
        "4_Privacy_and_utility.py",
        "privacy_and_utility.py",
        "privacy_and_utility_data.py",
        "privacy_and_utility_panels.py",
        "privacy_and_utility_results.py",
    )
    assert "utility_" not in other.replace("utility_figure", "")
    assert not set(privacy_and_utility.DEFAULTS) & {"eps", "t", *composition.DEFAULTS, *mechanisms.DEFAULTS}
    assert set(privacy_and_utility_panels.CHOICES) <= set(privacy_and_utility.DEFAULTS)
