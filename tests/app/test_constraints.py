"""The page of several constraints: its first view, every preset, the table editor, sliders and errors."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dpcore import parse
from dpcore.app import page, several_constraints, work
from dpcore.app.several_constraints import DELTA, EPSILON
from dpcore.charts.constraints import pair_figure
from dpcore.charts.peeling import peeling_figure
from dpcore.constraints import Constraint, Constraints, activity, containing, split
from dpcore.core.errors import DpcoreError
from tests.app import visits
from tests.app.visits import alts, errors, frame, sources_without

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

PAGE = visits.Page("pages/5_Several_constraints.py", "Several constraints")
opened, ran = PAGE.opened, PAGE.ran
PRESETS = {preset.name: preset for preset in page.presets() if preset.page == "Several_constraints"}


def said(app: AppTest) -> str:
    return visits.said(app, "markdown", "info", "success", "warning", without="### Notation")


# ---- the page ------------------------------------------------------------------------------------------------


def test_the_first_view() -> None:
    app = opened()
    assert not errors(app)
    assert len(alts(app)) == 3
    assert "24 of 100 from 2 of them (exact); the guess of the thesis says 27 of 100." in alts(app)[0]
    assert "up to 0.0927 lower" in alts(app)[0]
    assert "5 kinds of answers" in alts(app)[1]
    assert "Found after 1 step: ε = 0.2 (3 times)" in alts(app)[2]
    assert "Every statement counts" in said(app)
    assert "1. Loss 0.7 weighs 3: ε = 0.2, 3 times; 0.5 is left." in said(app)
    assert "2 mechanisms together: the total variation is at most 0.3053 (exact)" in said(app)
    assert "Yes: 4 factors, ε = 0.2 (3 times), ε = 0.5; δ in total 0.01." in said(app)
    assert frame(app, "delta_of_guess")["delta_of_guess"].tolist() == pytest.approx([0.36, 0.24, 0.0975])
    assert frame(app, "by")["status"].tolist() == ["active", "active"]
    assert "The mathematics behind this page" in [box.label for box in app.expander]


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset(name: str) -> None:
    preset = PRESETS[name]
    app = opened(**preset.state)
    assert not errors(app)
    assert set(preset.state) <= set(several_constraints.DEFAULTS)
    state = {**several_constraints.DEFAULTS, **preset.state}
    assert app.text_input(key="cons_list").value == state["cons_list"]
    assert app.text_input(key="cons_split").value == state["cons_split"]
    promised = {
        "constraints_thesis_4_1": "1.76658 is no whole number",
        "constraints_thesis_4_2": "Yes: 3 factors, ε = 0.5 (3 times)",
        "constraints_laplace": "fill an interval",
        "constraints_implied": "Statements 1, 2, 4 count; the others follow",
        "constraints_thousand": "1 000 mechanisms together promise",
        "constraints_peeling": "Yes: 8 factors",
    }
    assert promised[name] in said(app)


def test_a_preset_button_undo_and_reset() -> None:
    app = opened()
    first = alts(app)
    assert "Found after 2 steps" in alts(visits.choose_example(app, "constraints_peeling"))[-1]
    next(button for button in app.button if button.label == "Undo").click()
    assert alts(ran(app)) == first
    app.text_input(key="cons_k").set_value("7")
    app.text_input(key="cons_split").set_value("tv(0.1)")
    assert "from 7 of them" in alts(ran(app))[0]
    next(button for button in app.button if button.label == "Reset").click()
    assert alts(ran(app)) == first


def test_taking_the_list_to_the_splitter_and_the_containing_product() -> None:
    app = opened()
    next(button for button in app.button if button.label == "Take the list above").click()
    ran(app)
    assert app.text_input(key="cons_split").value == "dp(0.6, 0.05) & tv(0.2)"
    assert "No: this region is not a product" in said(app)
    assert "nothing proves that none is smaller" in said(app)
    assert len(frame(app, "first_epsilons")) >= 6
    app.slider(key="cons_m").set_value(1)
    assert "is smaller (proved)" in said(ran(app))


def test_thesis_axes() -> None:
    spec = json.loads(opened(cons_axes="thesis").get("vega_lite_chart")[0].proto.spec)
    assert spec["layer"][0]["encoding"]["x"]["title"].startswith("False negatives")


@pytest.mark.parametrize(
    ("state", "words", "charts"),
    [
        ({"cons_list": "1, 2"}, "delta must be a number in [0, 1], got 2", 1),
        ({"cons_list": "hello"}, "stands alone", 1),
        ({"cons_list": ";;"}, "1 to 40 statements", 1),
        ({"cons_list": "<script>alert(1)</script>"}, "Unexpected '<'", 1),
        ({"cons_list": "1," * 3000}, "at most 4000 characters", 1),
        ({"cons_k": "1001"}, "integer in [1, 1000]", 1),
        ({"cons_k": "nan"}, "integer in [1, 1000]", 1),
        ({"cons_split": "dp("}, "expression ends", 2),
        ({"cons_split": "x" * 3000}, "at most 2000 characters", 2),
        ({"cons_split": "laplac(1)"}, "did you mean laplace", 2),
    ],
)
def test_what_is_wrong_is_explained_and_the_rest_stays(state: dict[str, str], words: str, charts: int) -> None:
    app = opened(**state)
    assert words in errors(app)
    assert len(errors(app)) < 2000
    assert len(alts(app)) == charts


@pytest.mark.parametrize(
    "state",
    [
        {"cons_step": "99", "cons_m": "-3", "cons_axes": "nonsense"},
        {"cons_list": "0, 1", "cons_split": "tv(1)"},
        {"cons_list": "0, 0", "cons_split": "dp(0)"},
        {"cons_list": "700, 0; 0, 1e-300", "cons_k": "3", "cons_split": "dp(700)^3"},
        pytest.param(
            {"cons_list": "1e-300, 0", "cons_k": "1000", "cons_split": "exponential(1)^2"}, marks=pytest.mark.long
        ),
    ],
)
def test_extremes_do_no_harm(state: dict[str, str]) -> None:
    assert not errors(opened(**state))


# ---- the editor ----------------------------------------------------------------------------------------------


def test_the_editor_writes_the_list() -> None:
    text = "0.6, 0.05; 0, 0.2"
    changes = {
        "edited_rows": {0: {DELTA: 0.1}},
        "added_rows": [{EPSILON: 1, DELTA: 1e-6}, {EPSILON: 2}],
        "deleted_rows": [1],
    }
    assert several_constraints.edited(text, changes) == "0.6, 0.1; 1, 1e-6"
    assert several_constraints.edited(text, {}) == text
    assert (
        several_constraints.edited(text, {"edited_rows": {7: {DELTA: 0.1}, 0: {"status": "x", EPSILON: None}}}) == text
    )
    with pytest.raises(DpcoreError, match="1 to 40 statements"):
        several_constraints.edited(text, {"deleted_rows": [0, 1]})
    shown = several_constraints.editor_table(Constraints.read("1, 0.1; 2, 0.2; 3, 1"))
    assert shown["status"].tolist() == ["active", "implied by 1", "implied by 1"]


# ---- sliders and work ----------------------------------------------------------------------------------------


def test_a_held_slider_stands_for_its_field() -> None:
    view = several_constraints.ConstraintsView(Constraints.read("0.6, 0.05; 0, 0.2"), 3)
    assert view.moved({}) is view
    assert view.moved({"cons_k_slider": "20"}) == replace(view, k=20)
    with pytest.raises(DpcoreError, match="Number of mechanisms k must be an integer"):
        view.moved({"cons_k_slider": "1e9"})
    app = opened()
    app.select_slider(key="cons_k_slider").set_value("20")
    assert "20 mechanisms together: the total variation" in said(ran(app))
    assert app.text_input(key="cons_k").value == "20"


def test_a_second_run_computes_nothing() -> None:
    app = opened(cons_list="0.7, 0.01; 0, 0.1", cons_k="4", cons_split="dp(0.35)^4")
    before = set(work.cache().kept)
    ran(app)
    assert set(work.cache().kept) <= before


# ---- charts --------------------------------------------------------------------------------------------------


def test_charts_refuse_what_they_cannot_draw() -> None:
    with pytest.raises(DpcoreError, match="nothing to peel"):
        peeling_figure(split(parse("tv(0.2)")))
    with pytest.raises(DpcoreError, match="at most 120 are drawn"):
        pair_figure(parse("dp(0.1)^200"))
    assert "never infinite" in pair_figure(parse("dp(1)")).takeaway
    assert "promise nothing" in pair_figure(parse("tv(1)")).takeaway
    many = peeling_figure(split(parse("dp(0.01)^500")))
    assert len(many.notes) == 1
    assert "Every weight is explained" in many.takeaway


def test_ticks_of_the_peeling_lie_on_their_axis() -> None:
    for text in ("dptv(1, 0, 0.2)", "dp(0.1)^40", "dp(0.2)^3 * dp(0.5)"):
        spec = json.loads(peeling_figure(split(parse(text))).chart.to_json())
        y = spec["layer"][0]["encoding"]["y"]
        low, high = y["scale"]["domain"]
        assert y["axis"]["values"]
        assert all(low <= tick <= high for tick in y["axis"]["values"])


def test_words_about_a_search() -> None:
    region = parse("dptv(1, 0, 0.2)")
    assert "proved" in several_constraints.product_words(containing(region, 1), 1)
    outer = several_constraints.product_words(containing(parse("gdp(1)"), 1), 1)
    assert "nothing proves" in outer
    assert "approximation" in outer


def test_no_other_page_uses_the_same_keys() -> None:
    other = sources_without("5_Several_constraints.py", "several_constraints.py", "several_constraints_panels.py")
    assert not [key for key in several_constraints.DEFAULTS if f'"{key}"' in other]


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([(0.0, 1.0)], "No statement counts: every mechanism satisfies all of them (exact)."),
        ([(1.0, 0.1), (1.0, 0.1)], "Only statement 1 counts; the other follows, as the table proves (exact)."),
    ],
)
def test_statements_that_do_not_count_are_said_so(pairs: list[tuple[float, float]], words: str) -> None:
    constraints = Constraints(tuple(Constraint(*pair) for pair in pairs))
    assert several_constraints.activity_words(activity(constraints)) == words
