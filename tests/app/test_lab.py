"""The page of the statistics labs: every lab, every picture, errors in words, and code that runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore import specs
from dpcore.app import statistics_lab as page_of_labs
from dpcore.app import work
from dpcore.app.page import presets
from dpcore.app.settings import written
from dpcore.charts.lab import lab_figure, labelled
from dpcore.core.errors import DomainError
from dpcore.labs import LABS, Plot, lab, series, together
from tests.app.visits import listing

PAGE = Path(__file__).resolve().parents[2] / "pages" / "13_Statistics_lab.py"
OWN = {preset.state["lab"]: preset for preset in presets() if preset.page == "Statistics_lab"}


def opened(**parameters: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=180)
    for name, value in parameters.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, [found.stack_trace for found in app.exception]
    return app


def said(app: AppTest) -> str:
    return " ".join(str(found.value) for found in (*app.markdown, *app.caption, *app.info)).replace("\\", "")


def errors(app: AppTest) -> str:
    return " ".join(str(found.value) for found in app.error).replace("\\", "")


def test_the_menu_knows_every_lab() -> None:
    assert set(page_of_labs.ORDER) == set(LABS), "a new lab gets its place in ORDER"
    assert set(OWN) == set(LABS), "every lab has its example"
    assert all(OWN[name].meaning == cls.story.true for name, cls in LABS.items())


@pytest.mark.parametrize("name", page_of_labs.ORDER)
def test_a_lab_opens_on_its_story_and_its_picture(name: str) -> None:
    app = opened(lab=name)
    assert not app.error
    told = said(app)
    story = LABS[name].story
    for heading, sentence in (("Claimed", story.claimed), ("True", story.true), ("Why it matters", story.matters)):
        assert f"**{heading}**" in told
        assert sentence in told.replace("\u00a0", " ")
    chart = app.get("vega_lite_chart")[0]
    assert len(chart.proto.alt) > 60
    rows = app.dataframe[-1].value
    assert {"✗ false", "✗ misprint", "? reading", "≈ true but loose", "✓ holds"} >= set(rows["verdict"])
    assert "The story uses the source's own parameters" not in told
    assert not rows.isna().any().any()
    before = set(work.cache().kept)
    app.run()
    assert set(work.cache().kept) <= before, "a rerun does no work twice"


def test_the_story_and_the_verdicts_stay_with_the_source() -> None:
    """At n = 2000 and ε = 2 the cards still say 31 of 100, and whose parameters that are; rows at one's own have no verdict."""
    app = opened(lab="intervals epsilon=2.0 n=2000 replications=200")
    told = said(app).replace("\u00a0", " ")
    assert "31 of 100" in told
    assert "The story uses the source's own parameters (epsilon = 0.5, n = 50)" in told
    judged, own = (frame.value for frame in app.dataframe[-2:])
    assert judged["quantity"].str.contains("n = 50").any()
    assert not judged["quantity"].str.contains("2000").any()
    assert "verdict" not in own.columns
    assert own["quantity"].str.endswith("(epsilon = 2, n = 2000)").all()
    assert "At your parameters" in told


@pytest.mark.parametrize("name", page_of_labs.ORDER)
def test_formulas_stand_below_each_other(name: str) -> None:
    parts = page_of_labs.statements(lab(name))
    assert all(part and part.count("{") == part.count("}") and "quad" not in part for part in parts)
    whole, joined = (re.sub(r"\\q?quad|[\s,]", "", text) for text in (LABS[name].formula, "".join(parts)))
    assert joined == whole, "nothing is lost"


def test_pictures_have_readable_names() -> None:
    assert [page_of_labs.view_title(name) for name in ("figure_6_1", "table_3_4", "all_leaks", "prior")] == [
        "Figure 6.1",
        "Table 3.4",
        "All leaks",
        "Prior",
    ]
    assert "Figure 6.5" in opened(lab="time_series").selectbox(key="lab_view_menu").options


def test_another_lab_another_picture_another_value() -> None:
    app = opened(lab="noise_zoo")
    app.selectbox(key="lab_menu").select("time_series").run()
    assert app.text_input(key="lab").value == "time_series"
    app.selectbox(key="lab_view_menu").select("figure_6_2").run()
    assert app.text_input(key="lab_view").value == "figure_6_2"
    assert "figure_6_2" in listing(app, "lab_figure")
    app.text_input(key="lab_time_series_delta").set_value("0.01").run()
    assert "delta=0.01" in app.text_input(key="lab").value
    app.text_input(key="lab_time_series_delta").set_value("1e-2 ").run()
    assert "delta=1e-2" in app.text_input(key="lab").value
    assert app.text_input(key="lab_time_series_delta").value == "1e-2", "what was typed stays"
    app.text_input(key="lab_time_series_delta").set_value("7").run()
    assert "delta must be" in errors(app)
    assert "got 7" in errors(app)
    assert not app.exception


def test_stopped_work_can_be_started_again() -> None:
    app = opened(lab="noise_zoo")
    app.session_state["_asked"] = ("noise_zoo sensitivity=1.25 scale=1 sigma=1 order=2", "regions", 0)
    app.session_state["_stopped"] = True
    app.session_state["lab"] = "noise_zoo sensitivity=1.25"
    app.run()
    assert "Stopped before the end" in errors(app)
    next(button for button in app.button if button.label == "Try again").click().run()
    assert not app.error
    assert "1.25" in listing(app, "lab_figure")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"lab": "nois_zoo"}, "did you mean noise_zoo?"),
        ({"lab": "<script>alert(1)</script>"}, "There is no lab"),
        ({"lab": "x" * 3000}, "at most 2000 characters"),
        ({"lab": "time_series delta=7"}, "delta must be"),
        ({"lab": "time_series colour=red"}, "no parameter"),
        ({"lab": "time_series", "lab_view": "figure_9"}, "choose one of"),
        ({"lab": "mixed_noise", "lab_seed": "-3"}, "The seed must be an integer in [0, "),
    ],
)
def test_bad_links_get_the_page_and_a_sentence(given: dict[str, str], words: str) -> None:
    assert words in errors(opened(**given))


@pytest.mark.parametrize("name", page_of_labs.ORDER)
def test_the_code_of_every_lab_makes_its_picture(name: str) -> None:
    chosen = lab(name)
    spec = page_of_labs.spec(chosen, chosen.views[0], 0)
    names: dict[str, Any] = {}
    exec(specs.code(spec), names)  # noqa: S102  the lines the page shows
    assert names["figure"].table.equals(specs.draw(spec).table)
    assert page_of_labs.KIND.read(written(chosen)) == chosen


# ---- the chart -----------------------------------------------------------------------------------------------


def test_names_say_what_the_numbers_are_once() -> None:
    frame = together(
        series("mean", [1.0], [2.0]),
        series("as printed", [1.0], [2.0], kind="printed"),
        series("sum", [1], [3], kind="upper"),
    )
    assert labelled(frame)["label"].tolist() == ["mean (exact)", "as printed", "sum (upper bound)"]


def test_bars_points_and_reference_lines_are_drawn() -> None:
    rows = together(
        series("found", ["a", "b"], [1.0, 2.0], kind="simulation", mark="bar", low=[0.5, 1.5], high=[1.5, 2.5]),
        series("exact one", ["a", "b"], [1.1, 1.9], mark="bar"),
    )
    spec = lab_figure(Plot("T", "A takeaway.", rows, "group", "value", reference={"claimed": 1.5})).chart.to_dict()
    marks = [layer["mark"]["type"] for layer in spec["layer"]]
    assert marks == ["bar", "rule", "rule", "text"]
    dots = lab_figure(Plot("T", "A takeaway.", rows.assign(mark="point"), "group", "value")).chart.to_dict()
    assert [layer["mark"]["type"] for layer in dots["layer"]] == ["point", "rule"]


def test_the_notes_name_what_is_drawn_as_dots() -> None:
    """The key shows a stroke for every series, also for those that are drawn as dots."""
    line, dots = (
        series("line", [1.0, 2.0], [1.0, 2.0]),
        series("runs", [1, 2], [1.0, 2.0], kind="simulation", mark="point"),
    )
    mixed = lab_figure(Plot("T", "A takeaway.", together(line, dots), "x", "y", notes=("First.",)))
    assert mixed.notes == ("First.", "Dots: runs (simulation).")
    for alone in (line, dots):
        assert lab_figure(Plot("T", "A takeaway.", alone, "x", "y")).notes == ()


def test_long_names_of_groups_take_two_lines() -> None:
    rows = series("found", ["Table 3.3, both", "A1+N1"], [1.0, 2.0], mark="bar")
    spec = lab_figure(Plot("T", "A takeaway.", rows, "group", "value")).chart.to_dict()
    assert spec["layer"][0]["encoding"]["x"]["axis"]["labelExpr"] == r"split(datum.label, regexp(', |\\+'))"


def test_a_series_is_finite_or_refused() -> None:
    with pytest.raises(DomainError, match="finite everywhere"):
        series("hole", [1, 2], [1.0, float("nan")])
    with pytest.raises(DomainError, match="kind must be one of"):
        series("odd", [1], [1.0], kind="guess")
    assert isinstance(series("one", 1, 2.0), pd.DataFrame)
