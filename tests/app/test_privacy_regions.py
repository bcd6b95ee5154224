"""The page of privacy regions: the list is edited, drawn, combined and compared, and no link can break it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import streamlit as st

from dpcore import frames, parse
from dpcore.app import catalogue, editing, listing, privacy_regions, work
from dpcore.core import registry
from dpcore.theorems import kov_simplified
from tests.app import test_listings, visits
from tests.app.visits import errors

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

PAGE = visits.Page("pages/1_Privacy_regions.py", "Privacy regions")
opened, ran = PAGE.opened, PAGE.ran


def text(app: AppTest) -> str:
    return str(app.text_area(key="regions").value)


def chart(app: AppTest) -> Any:
    found = app.get("vega_lite_chart")
    return found[0].proto if found else None


def said(app: AppTest) -> str:
    return visits.said(app, "markdown", "info")


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click()
    return ran(app)


def python(app: AppTest) -> str:
    return visits.listing(app, "privacy_regions")


def test_the_first_view() -> None:
    app = opened()
    assert text(app) == "dp(1); laplace(1)"
    assert not app.error
    assert "14 of 100 under DP, ε = 1 (exact)" in chart(app).alt  # 0.05 e = 0.1359


# ---- the list -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [catalogue.kinds()[n] for n in (3, -1)], ids=str)
def test_a_kind_of_the_menu_is_added_and_selected(kind: catalogue.Kind) -> None:
    app = opened(regions="tv(0.1)")
    app.selectbox(key="add").set_value(kind)
    ran(app)
    assert text(app) == f"tv(0.1); {kind.item}"
    assert app.selectbox(key="add").value is None
    assert app.selectbox(key="selected").value == (kind.item.name or kind.item.expression)
    assert not app.error


@pytest.mark.parametrize("part", [slice(0, 20), slice(20, 40), slice(40, None)])
def test_every_kind_of_the_menu_is_drawn(part: slice) -> None:
    kinds = catalogue.kinds()[part]
    app = opened(regions="; ".join(str(kind.item) for kind in kinds))
    assert not app.error
    assert not app.warning
    assert python(app).count("parse(") == len(kinds)


def test_every_atom_of_the_language_is_in_the_menu() -> None:
    names = {kind.item.expression.partition("(")[0] for kind in catalogue.kinds()}
    assert names == {entry.name for entry in registry.entries()}


def test_the_menu_starts_with_the_eleven_kinds_of_the_thesis_at_their_defaults() -> None:
    assert [kind.item.expression for kind in catalogue.kinds()[:11]] == [
        "dp(0.6, 0.1)",
        "basic(dp(0.6, 0.1)^2)",
        "dp(0.6, 0.1)^4",
        "simplified(dp(0.6, 0.1)^2, 0.03)",
        "dptv(0.6, 0.15, 0.25)",
        "dptv(0.6, 0.05, 0.2)^4",
        "gdp(1.5)",
        "gdp(1.5)^3",
        "laplace(0.6)",
        "gaussian_classic(0.6, 0.1)",
        "rr(0.6, 5)",
    ]


def test_an_expression_can_be_typed_and_a_wrong_one_stays_with_its_error() -> None:
    app = opened()
    app.text_input(key="typed").set_value("mine := dp(0.6, 0.05)^5 & gdp(1.2)")
    ran(app)
    assert text(app).endswith("; mine := dp(0.6, 0.05)^5 & gdp(1.2)")
    assert app.selectbox(key="selected").value == "mine"
    app.text_input(key="typed").set_value("laplce(1)")
    ran(app)
    assert "laplace" in errors(app)
    assert app.text_input(key="typed").value == "laplce(1)"
    assert "laplce" not in text(app)


def test_fields_edit_the_selected_region_and_undo_takes_it_back() -> None:
    app = opened(regions="dp(0.6, 0.1)^4; gdp(1)")
    assert app.number_input(key="edit_k").value == 4
    app.text_input(key="edit_dp_epsilon").set_value("log(3)")
    ran(app)
    assert text(app) == "dp(log(3), 0.1)^4; gdp(1)"
    app.number_input(key="edit_k").set_value(1)
    ran(app)
    assert text(app) == "dp(log(3), 0.1); gdp(1)"
    press(press(app, "Undo"), "Undo")
    assert text(app) == "dp(0.6, 0.1)^4; gdp(1)"
    assert app.text_input(key="edit_dp_epsilon").value == "0.6"


def test_the_text_of_a_region_can_be_edited_and_a_wrong_one_stays_with_its_error() -> None:
    app = opened(regions="dp(0.6, 0.1); mine := gdp(1)")
    app.selectbox(key="selected").set_value("mine")
    ran(app)
    app.text_input(key="edit_text").set_value("gdp(2) & tv(0.1)")
    ran(app)
    assert text(app) == "dp(0.6, 0.1); mine := gdp(2) & tv(0.1)"
    for wrong, words in (("gdp(2", "expected"), ("gdp(1); dp(1)", "One expression"), (" ", "Delete removes")):
        app.text_input(key="edit_text").set_value(wrong)
        ran(app)
        assert words in errors(app)
        assert app.text_input(key="edit_text").value == wrong
        assert text(app) == "dp(0.6, 0.1); mine := gdp(2) & tv(0.1)"


def test_a_value_outside_its_domain_is_named_and_changes_nothing() -> None:
    app = opened(regions="dp(0.6, 0.1)")
    app.text_input(key="edit_dp_delta").set_value("1.5")
    ran(app)
    assert "delta must be a number in [0, 1], got 1.5" in errors(app)
    assert text(app) == "dp(0.6, 0.1)"
    app.text_input(key="edit_dp_delta").set_value("1e-6")
    ran(app)
    assert not app.error
    assert text(app) == "dp(0.6, 1e-6)"


def test_the_slider_moves_the_first_parameter() -> None:
    app = opened(regions="gdp(1.5)")
    app.select_slider(key="edit_gdp_mu_slide").set_value(2.0)
    ran(app)
    assert text(app) == "gdp(2)"
    assert app.text_input(key="edit_gdp_mu").value == "2"


@pytest.mark.parametrize(
    ("expression", "slider", "value", "after"),
    [
        ("dptv(0.6, 0.15, 0.25)", "edit_dptv_eta_slide", 0.4, "dptv(0.6, 0.15, 0.4)"),
        ("dp(0.6, 0.1)^4", "edit_k_slide", 20, "dp(0.6, 0.1)^20"),
        ("rr(1, 5)", "edit_rr_size_slide", 9, "rr(1, 9)"),
        ("simplified(dp(0.6, 0.1)^2, 0.03)", "kov_k_slide", 30, "simplified(dp(0.6, 0.1)^30, 0.03)"),
        ("simplified(dp(0.6, 0.1)^2, 0.03)", "kov_delta_slide", 1e-6, "simplified(dp(0.6, 1e-6)^2, 0.03)"),
    ],
)
def test_every_number_of_the_selected_region_has_a_slider(
    expression: str, slider: str, value: float, after: str
) -> None:
    app = opened(regions=expression)
    app.select_slider(key=slider).set_value(value)
    assert text(ran(app)) == after
    assert not app.error


def test_a_held_slider_stands_for_its_field() -> None:
    """The list that is drawn while a slider is held is the one that is written when it is released."""
    items = listing.read("gdp(1); dp(0.6, 0.1)^4; simplified(dp(0.6, 0.1)^2, 0.03)")
    fields = {"edit_k": 4, "edit_dp_epsilon": "0.6", "edit_dp_delta": "0.1"}
    kov = {"kov_epsilon": "0.6", "kov_delta": "0.1", "kov_k": "2", "kov_slack": "0.03"}
    st.session_state.update({**fields, **kov})
    for index, held, after in (
        (1, {"edit_dp_epsilon_slide": "1.5"}, "dp(1.5, 0.1)^4"),
        (1, {"edit_k_slide": "7"}, "dp(0.6, 0.1)^7"),
        (2, {"kov_slack_slide": "0.2"}, "simplified(dp(0.6, 0.1)^2, 0.2)"),
        (0, {}, "gdp(1)"),
    ):
        moved = editing.moved(items, index, held)
        assert moved[index].expression == after
        assert [item for at, item in enumerate(moved) if at != index] == [
            item for at, item in enumerate(items) if at != index
        ]


def test_the_simplified_theorem_is_edited_by_its_four_parameters() -> None:
    app = opened(regions=str(catalogue.simplified(0.6, 0.1, 2, 0.03)))
    app.text_input(key="kov_k").set_value("30")
    ran(app)
    assert not app.error
    (item,) = listing.read(text(app))
    assert item.expression == "simplified(dp(0.6, 0.1)^30, 0.03)"
    row = kov_simplified([(0.6, 0.1, 30)], 0.03).iloc[0]
    statement = parse(f"dp({float(row['epsilon'])!r}, {float(row['delta'])!r})")
    assert parse(item.expression).delta([0.0, 1.0, 20.0]).tolist() == statement.delta([0.0, 1.0, 20.0]).tolist()
    app.text_input(key="kov_slack").set_value("0")
    ran(app)
    assert "slack" in errors(app)


@pytest.mark.parametrize("expression", ["basic(dp(0.6, 0.05)^5)", "simplified(dp(0.6, 0.1)^2, 0.03)"])
def test_a_bound_is_called_one_in_the_sentence_and_in_the_tables(expression: str) -> None:
    app = opened(regions=expression)
    assert not app.error
    assert "(upper bound)" in chart(app).alt
    assert "(exact)" not in chart(app).alt
    line = listing.read(text(app))[0]
    region = parse(line.expression)
    assert set(privacy_regions.statements(region)[0]["kind"]) == {"upper"}
    corners = privacy_regions.vertices(region)
    assert corners is not None
    assert set(corners["kind"].iloc[:-1]) == {"lower"}


def test_basic_composition_is_edited_by_epsilon_delta_and_k() -> None:
    app = opened(regions="basic(dp(0.6, 0.1)^2)")
    app.number_input(key="edit_k").set_value(7)
    ran(app)
    assert text(app) == "basic(dp(0.6, 0.1)^7)"


def test_duplicate_rename_hide_show_delete_clear() -> None:
    app = press(opened(), "Duplicate")
    assert text(app) == "dp(1); dp(1); laplace(1)"
    assert app.selectbox(key="selected").value == "dp(1) (2)"
    app.text_input(key="edit_name").set_value("copy")
    ran(app)
    assert text(app) == "dp(1); copy := dp(1); laplace(1)"
    assert app.selectbox(key="selected").value == "copy"
    press(app, "Hide")
    assert text(app) == "dp(1); !copy := dp(1); laplace(1)"
    assert "copy" not in chart(app).alt
    assert "places=(0, 2)" in python(app), "the third keeps its colour while the second is hidden"
    press(app, "Show")
    press(app, "Delete")
    assert text(app) == "dp(1); laplace(1)"
    press(app, "Clear all")
    assert text(app) == ""
    assert "An empty chart: only the line of blind guessing" in chart(app).alt
    assert "Nothing is drawn yet" in said(app)
    press(app, "Undo")
    assert text(app) == "dp(1); laplace(1)"
    press(app, "Reset")
    assert text(app) == "dp(1); laplace(1)"
    app.selectbox(key="selected").set_value("laplace(1)")
    press(ran(app), "Duplicate")
    assert text(app) == "dp(1); laplace(1); laplace(1)"
    assert app.selectbox(key="selected").value == "laplace(1) (2)"


def test_switches_hide_and_show() -> None:
    app = opened()
    next(pills for pills in app.get("button_group") if pills.key == "shown").set_value([1])
    ran(app)
    assert text(app) == "!dp(1); laplace(1)"
    press(app, "Undo")
    assert text(app) == "dp(1); laplace(1)"


def test_a_name_that_cannot_be_one_is_refused_in_words() -> None:
    app = opened(regions="a := dp(1.0); b := gdp(1.0)")
    app.text_input(key="edit_name").set_value("<script>")
    ran(app)
    assert "A name has up to 60 letters" in errors(app)
    app.text_input(key="edit_name").set_value("b")
    ran(app)
    assert "already has a region named 'b'" in errors(app)
    assert text(app) == "a := dp(1.0); b := gdp(1.0)"


@pytest.mark.parametrize(("label", "sign"), [("Intersect", "&"), ("Compose", "*")])
def test_a_combination_follows_its_parents(label: str, sign: str) -> None:
    app = opened(regions="dp(0.6, 0.05); gdp(1); tv(0.3)")
    app.multiselect(key="pick").set_value(["dp(0.6, 0.05)", "tv(0.3)"])
    press(ran(app), label)
    assert f"@A {sign} @B" in text(app)
    before = chart(app).alt
    app.selectbox(key="selected").set_value("A: dp(0.6, 0.05)")
    ran(app)
    app.text_input(key="edit_dp_epsilon").set_value("3.0")
    ran(app)
    assert text(app).startswith("A := dp(3.0, 0.05); gdp(1); B := tv(0.3); ")
    assert chart(app).alt != before
    assert f'parse("(dp(3.0, 0.05)) {sign} (tv(0.3))")' in python(app)


def test_renaming_and_deleting_a_parent_keeps_its_children() -> None:
    app = opened(regions="A := dp(1); B := tv(0.3); A and B := @A & @B")
    app.text_input(key="edit_name").set_value("my DP")
    ran(app)
    assert text(app) == "my_DP := dp(1); B := tv(0.3); A and B := @my_DP & @B"
    press(app, "Delete")
    assert text(app) == "B := tv(0.3); A and B := (dp(1)) & @B"
    assert not app.error


@pytest.mark.parametrize(
    ("first", "second", "words", "size"),
    [
        # one corner: its triangle covers the share tanh(1/2) of that below blind guessing
        ("dp(1)", "laplace(1)", "laplace(1) lies inside dp(1)", "dp(1) covers 46.22 %"),
        # the area under G_mu is Phi(-mu / sqrt 2)
        ("dp(1)", "gdp(1)", "cross at (α 0.2143, β 0.4174)", "gdp(1) covers 52.05 %"),
        ("tv(0.2)", "dp(0, 0.2)", "are the same region", "tv(0.2) covers 36 %"),
    ],
)
def test_two_regions_are_compared_in_a_sentence(first: str, second: str, words: str, size: str) -> None:
    app = opened(regions=f"{first}; {second}", pick=[first, second])
    assert words in said(app)
    assert "Of the triangle below blind guessing" in said(app)
    assert size in said(app)


def test_a_semicolon_inside_quotes_does_not_end_an_item() -> None:
    items = listing.read('!hand := assume(rr(1), "a;b"); dp(1)')
    assert [item.expression for item in items] == ['assume(rr(1), "a;b")', "dp(1)"]
    assert items[0].hidden
    assert listing.write(items) == '!hand := assume(rr(1), "a;b"); dp(1)'


# ---- the picture --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "options"),
    [
        ({}, "region_figure(regions)"),
        ({"axes": "thesis", "scale": "log-log"}, 'region_figure(regions, axes="thesis", log=True)'),
        ({"draw": "lines", "legend": False}, "region_figure(regions, legend=False, filled=False)"),
        ({"front": True, "selected": "laplace(1)"}, 'region_figure(regions, selected="laplace(1)")'),
        ({"picture": "profile δ(ε)"}, "profile_figure(regions)"),
        ({"regions": "!dp(1); gdp(1)"}, "region_figure(regions, places=(1,))"),
        ({"regions": "", "scale": "log-log"}, "blank_figure(log=True)"),
    ],
)
def test_the_view_is_in_the_code_and_the_code_makes_it(state: dict[str, Any], options: str) -> None:
    app = opened(**state)
    assert options in python(app)
    assert test_listings.check(app) == 1


def test_the_numbers_are_the_corners_of_polygons() -> None:
    app = visits.open_row(opened(regions="dp(0.6, 0.05)^5"), "privacy_regions", "Table")
    shown = next(found.value for found in app.dataframe if "label" in found.value)
    alpha, beta = parse("dp(0.6, 0.05)^5").vertices()
    assert np.array_equal(shown["alpha"], alpha)
    assert np.array_equal(shown["beta"], beta)
    assert set(shown["kind"]) == {"exact"}


def test_more_corners_than_a_table_holds_come_with_a_command_and_a_word_about_the_drawing() -> None:
    app = visits.open_row(opened(regions="dp(0.01)^20000"), "privacy_regions", "Table")
    captions = [str(found.value).replace("\\", "") for found in app.caption]
    assert 'All rows: `dpcore vertices "dp(0.01)^20000"`' in captions
    assert any("20\u00a0001 corners and is drawn with" in text and "on the safe side" in text for text in captions)
    shown = next(found.value for found in app.dataframe if "label" in found.value)
    assert len(shown) <= 400
    assert "lower" in set(shown["kind"])
    short = visits.open_row(opened(regions="dp(0.01)^50"), "privacy_regions", "Table")
    assert not any("All rows" in str(found.value) for found in short.caption)


def test_tables_of_the_selected_region_are_those_of_the_library() -> None:
    app = opened(regions="dp(0.6, 0.05)^5; gdp(1)")
    app.session_state["region_details"] = True  # somebody opens them
    ran(app)
    tables = [found.value for found in app.dataframe]
    constraints = frames.constraints(parse("dp(0.6, 0.05)^5"))
    assert any("delta" in table and np.array_equal(table["delta"], constraints["delta"]) for table in tables)
    app.selectbox(key="selected").set_value("gdp(1)")
    app.session_state["region_details"] = True
    ran(app)
    deltas = frames.deltas(parse("gdp(1)"))
    assert any(
        "delta" in found.value and np.array_equal(found.value["delta"], deltas["delta"]) for found in app.dataframe
    )


def test_a_value_that_is_clamped_is_said() -> None:
    app = opened(regions="dptv(0.6, 0.05, 0.9)")
    assert "0.9" in str(app.info[0].value)
    assert "it changes nothing" in str(app.info[0].value)
    assert chart(app) is not None
    another = opened(regions="dp(1); dptv(0.6, 0.05, 0.9)")
    assert sum("it changes nothing" in str(found.value) for found in another.info) == 1


@pytest.mark.parametrize(("eta", "word"), [("0.25", "changes nothing"), ("0.1", "tv(0.1)")])
@pytest.mark.parametrize("slide", [False, True])
def test_what_was_typed_stays_however_far_another_number_moves(eta: str, word: str, slide: bool) -> None:
    """An η that says nothing at ε = 0.1, or is below δ, is not replaced by the number that would say the same."""
    written = f"dptv(0.6, 0.15, {eta})"
    app = opened(regions=written)
    for epsilon in ("0.1", "0.6"):
        if slide:
            app.select_slider(key="edit_dptv_epsilon_slide").set_value(float(epsilon))
        else:
            app.text_input(key="edit_dptv_epsilon").set_value(epsilon)
        ran(app)
        assert text(app) == f"dptv({epsilon}, 0.15, {eta})"
        assert [app.text_input(key=f"edit_dptv_{name}").value for name in ("epsilon", "delta", "eta")] == [
            epsilon,
            "0.15",
            eta,
        ]
        if epsilon == "0.1":
            assert word in visits.unescaped([str(found.value) for found in app.info])
    assert text(app) == written


def test_stopped_work_waits_until_it_is_asked_again() -> None:
    app = opened()
    app.session_state["_stopped"] = True
    app.session_state["_asked"] = ("dp(1); laplace(1); histogram(0.77)", "region")
    app.text_area(key="regions").set_value("dp(1); laplace(1); histogram(0.77)")
    ran(app)
    assert "Stopped before the end" in errors(app)
    assert "Laplace, ε = 1" in chart(app).alt
    press(app, "Try again")
    assert not app.error
    assert "Histogram with Laplace noise, ε = 0.77" in chart(app).alt


def test_a_rerun_does_no_work_twice() -> None:
    app = opened(regions="laplace(0.3)^7; dp(0.31)^9")
    before = set(work.cache().kept)
    ran(app)
    assert set(work.cache().kept) <= before


@pytest.mark.long
def test_the_code_makes_the_numbers_that_are_drawn_at_the_tolerance_of_the_page() -> None:
    """At the library's own tolerance this region is refused; the page draws it."""
    app = opened(regions="(dp(1, 0.1) & gdp(1))^20", picture="profile δ(ε)")
    assert not app.error
    assert test_listings.check(app) == 1


@pytest.mark.parametrize(
    "text",
    [
        "shuffle(rr(1), 1000)",
        "subsample(gaussian(1), 0.1)",
        "poisson(laplace(1), 0.5)^4",
        "integer_vector(discrete_gaussian(2), 2, 1.5)",
        "basic(dp(0.1)^3)",
        "dp(1)^2",
    ],
)
def test_an_operation_is_not_taken_for_its_part(text: str) -> None:
    """The page said that a shuffled answer is the same region as the answer."""
    assert editing.same_as(text) == ""


@pytest.mark.parametrize("text", ["dptv(0.6, 0.15, 0.1)", "dptv(0.6, 0.15, 0.1)^5"])
def test_a_statement_that_another_one_implies_is_named(text: str) -> None:
    assert "dptv is the same region as tv(0.1)" in editing.same_as(text)
