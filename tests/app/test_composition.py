"""The composition page: every theorem about the same k mechanisms, restored by a link, whatever the link says."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from dpcore.app import composition, inputs
from dpcore.app.page import Preset, presets
from dpcore.core.domains import COUNT, LOSS
from dpcore.core.errors import DomainError
from dpcore.language.numbers import read_value
from dpcore.theorems.composition import TITLES
from tests.app import visits

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

PAGE = visits.Page("pages/2_Composition.py", "Composition")
opened = PAGE.opened
OWN = [preset for preset in presets() if preset.page == "Composition"]


def said(app: AppTest) -> str:
    return visits.unescaped([str(app.success[0].value)])


def specs(app: AppTest) -> list[dict[str, object]]:
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def test_the_first_view() -> None:
    app = opened()
    assert app.title[0].value == "Composition"
    assert said(app) == "For k = 100 and δ = 1e-6, **DP-TV** is best: ε ≤ 3.611 (exact)."
    assert not app.error
    assert not app.warning
    words = " ".join(str(block.value) for block in app.markdown)
    assert "KOV optimal 4.775 (32 % more)" in words
    assert "an approximation, no promise" in words
    charts = app.get("vega_lite_chart")
    assert len(charts) == 2
    assert all(len(chart.proto.alt) > 40 for chart in charts)


def test_the_comparison_has_a_row_for_every_theorem_and_says_why_one_is_missing() -> None:
    table = next(frame.value for frame in opened().dataframe if "Theorem" in frame.value.columns)
    assert list(table["Theorem"]) == list(TITLES.values())
    assert not table.isna().any().any()
    missing = table[table["What it is"] == "does not apply"]
    assert list(missing["Theorem"]) == ["Actual mechanism"]
    assert "exact composition" in missing["Note"].iloc[0]


@pytest.mark.parametrize("preset", OWN, ids=lambda preset: preset.name)
def test_every_example_is_the_same_by_link_and_by_click(preset: Preset) -> None:
    by_link = opened(**preset.state)
    assert not by_link.error
    clicked = visits.choose_example(PAGE.opened(), preset.name)
    assert said(clicked) == said(by_link)
    assert specs(clicked) == specs(by_link)
    tables = [[frame.value.to_csv() for frame in app.dataframe] for app in (clicked, by_link)]
    assert tables[0] == tables[1]
    assert any(
        preset.meaning[:30] in str(block.value).replace("\\", "").replace("\u00a0", " ") for block in by_link.markdown
    )
    for key, value in preset.state.items():
        assert clicked.session_state[key] == value


def test_undo_and_reset() -> None:
    app = opened()
    first = said(app)
    visits.choose_example(app, "composition_thesis_3_9")
    second = said(app)
    assert second != first
    next(button for button in app.button if button.label == "Undo").click().run()
    assert said(app) == first
    visits.choose_example(app, "composition_thesis_3_9")
    next(button for button in app.button if button.label == "Reset").click().run()
    assert said(app) == first


def test_undo_brings_back_what_was_typed_and_what_was_moved() -> None:
    app = opened()
    first = said(app)
    undo = lambda: next(button for button in app.button if button.label == "Undo")
    assert undo().disabled
    app.text_input(key="k").set_value("50").run()
    typed = said(app)
    app.select_slider(key="epsilon_slider").set_value("0.5").run()
    app.text_input(key="at_delta").set_value("nonsense").run()
    for expected in (None, typed, first):
        assert not undo().disabled
        undo().click().run()
        assert expected in (None, said(app))
    assert undo().disabled
    assert (app.text_input(key="k").value, app.text_input(key="epsilon").value) == ("100", "0.1")


def test_slider_and_field_follow_each_other() -> None:
    app = opened()
    app.select_slider(key="k_slider").set_value("1000").run()
    assert app.text_input(key="k").value == "1000"
    assert "k = 1 000" in said(app)
    app.text_input(key="k").set_value("777").run()
    assert app.select_slider(key="k_slider").value == "777"
    assert "k = 777" in said(app)
    app.text_input(key="k").set_value("1e3").run()
    assert app.select_slider(key="k_slider").value == "1000"
    app.text_input(key="k").set_value("many").run()
    assert app.select_slider(key="k_slider").value == inputs.NOWHERE
    assert app.select_slider(key="k_slider").disabled
    app.text_input(key="k").set_value("50").run()
    app.select_slider(key="epsilon_slider").set_value("0.5").run()
    assert app.text_input(key="epsilon").value == "0.5"


@pytest.mark.parametrize("epsilon", ["0.6", "0", "log(3)", "100", "0.00001"])
def test_the_slider_stands_where_the_field_does(epsilon: str) -> None:
    slider = opened(epsilon=epsilon, k="7").select_slider(key="epsilon_slider")
    assert slider.value == epsilon
    values = [read_value(LOSS.but(high=100.0), option) for option in slider.options]
    assert values == sorted(values)


def test_a_mechanism_replaces_the_statement() -> None:
    app = opened(mechanism="laplace(0.2)", epsilon="nonsense", k="20")
    assert not app.error
    assert "**Actual mechanism** is best" in said(app)
    assert app.text_input(key="epsilon").disabled


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": "1000000000000"}, "k must be an integer in [1, 1000000]"),
        ({"k": "1.5"}, "k must be an integer"),
        ({"k": "<script>alert(1)</script>"}, "k must be an integer"),
        ({"epsilon": "x" * 100_000}, "ε must be a number in [0, 100]"),
        ({"epsilon": "nan"}, "ε must be a number"),
        ({"epsilon": "-1"}, "ε must be a number"),
        ({"delta": "2"}, "δ must be a number in [0, 1]"),
        ({"eta": "inf"}, "η must be a number in [0, 1]"),
        ({"slack": "0"}, "Slack δ~ must be a number in (0, 1]"),
        ({"at_delta": ""}, "Total δ must be a number"),
        ({"mechanism": "nope(1)"}, "nope"),
        ({"mechanism": "dp(1"}, "column"),
        ({"mechanism": "<img src=x onerror=alert(1)>"}, "column"),
        ({"mechanism": "dp(" * 5000}, "."),
        ({"mechanism": "rr(1) * poisson_gaussian(1, 0.1)"}, "neighbours"),
    ],
)
def test_a_wrong_field_is_explained_and_the_page_stays(parameters: dict[str, str], words: str) -> None:
    app = opened(**parameters)
    shown = " ".join(str(error.value) for error in app.error).replace("\\", "").replace("\u00a0", " ")
    assert words in shown
    assert len(shown) < 2000
    assert app.title[0].value == "Composition"


@pytest.mark.parametrize("value", ["", "garbage", "<b>", "x" * 600_000])
def test_unknown_choices_fall_back(value: str) -> None:
    app = opened(view=value, comp_axes=value, comp_draw=value, show=value)
    assert "**DP-TV** is best" in said(app)


def test_eta_above_its_largest_value_changes_nothing_and_says_so() -> None:
    app = opened(eta="0.5")
    assert "changes nothing" in app.warning[0].value
    assert "**KOV optimal** is best" in said(app)


@pytest.mark.parametrize(
    "parameters", [{"delta": "1"}, {"mechanism": "gaussian(2)", "at_delta": "0"}, {"mechanism": "dp(inf)"}]
)
def test_no_promise_is_said(parameters: dict[str, str]) -> None:
    app = opened(**parameters)
    assert not app.success
    assert "no theorem promises any ε" in app.warning[0].value


def test_where_no_theorem_promises_anything_the_delta_that_works_is_one_press_away() -> None:
    app = opened(epsilon="0.6", delta="0.05", eta="0.15", k="5")
    assert "no theorem promises any ε" in app.warning[0].value
    assert "0.22622" in " ".join(str(found.value) for found in app.markdown)  # 1 - 0.95^5, rounded up
    app.button(key="use_delta").click().run()
    assert app.text_input(key="at_delta").value == "0.23"
    assert not app.warning
    assert "is best" in said(app)


@pytest.mark.parametrize("parameters", [{"epsilon": "0"}, {"at_delta": "1"}, {"k": "1"}, {"k": "1000000"}, {"eta": ""}])
def test_the_ends_of_the_ranges(parameters: dict[str, str]) -> None:
    app = opened(**parameters)
    assert not app.error
    assert "is best" in said(app)


@pytest.mark.parametrize(("view", "command"), [("regions", "vertices"), ("profile", "constraints")])
def test_more_corners_than_the_table_holds_come_with_a_command(view: str, command: str) -> None:
    app = opened(epsilon="0.001", eta="", k="100000", view=view)
    visits.open_row(app, "composition", "Table")
    captions = [str(found.value).replace("\\", "") for found in app.caption]
    assert f'All rows: `dpcore {command} "dp(0.001)^100000"`' in captions
    assert any("100\u00a0001 corners and is drawn with" in text for text in captions) == (view == "regions")


def test_a_rerun_does_no_work_twice() -> None:
    from dpcore.app import work

    app = opened()
    before, hits = set(work.cache().kept), work.cache().hits
    app.run()
    assert set(work.cache().kept) <= before
    assert work.cache().hits > hits


def test_numbers_are_typed_as_the_language_writes_them() -> None:
    wide, count = LOSS.but(high=100.0), COUNT.but(high=10**6)
    assert read_value(wide, "log(3)") == pytest.approx(math.log(3))
    assert read_value(wide, "1/3") == pytest.approx(1 / 3)
    assert read_value(count, "1 000") == 1000
    assert read_value(count, "1e6") == 10**6
    for text in ("", "nan", "inf", "1) & dp(1", "__import__"):
        with pytest.raises(DomainError):
            read_value(wide, text, "ε")


def test_downloads_keep_infinity_and_every_digit() -> None:
    from dpcore.app.export import csv_of, json_of
    from dpcore.charts import ladder_figure
    from dpcore.theorems.composition import ladder

    frame = ladder("dp(0.6, 0.05)", 0.25, [1, 5, 9])
    body = json.loads(json_of(ladder_figure(frame, delta=0.25), frame))
    assert [float(row["epsilon"]) for row in body["rows"]] == frame["epsilon"].tolist()
    assert "inf" in [row["epsilon"] for row in body["rows"]]
    lines = csv_of(frame).decode().splitlines()
    assert lines[0] == "k,theorem,title,epsilon,kind,note,neighbours"
    assert len(lines) == len(frame) + 1


def test_defaults_are_the_fields_of_a_link() -> None:
    for preset in OWN:
        assert set(preset.state) <= set(composition.DEFAULTS)


def test_the_reason_for_a_missing_curve_stands_under_the_choice_of_theorems() -> None:
    app = opened()
    order = [(found.type, visits.unescaped([str(getattr(found, "value", ""))])) for found in app.main]
    choice = next(
        place for place, (kind, value) in enumerate(order) if kind == "button_group" and "Actual mechanism" in value
    )
    words = next(value for _, value in order[choice + 1 :] if value)
    assert words.startswith("Not drawn: Actual mechanism. Nothing but the statement is known")
