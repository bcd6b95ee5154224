"""What all pages share: no field of one page is that of another, and each wait has a Stop of its own."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.app import work, your_data
from tests.app.visits import ROOT, Page

PAGES = ["streamlit_app.py", *(f"pages/{file.name}" for file in sorted((ROOT / "pages").glob("*.py")))]
SOURCES = [ROOT / "streamlit_app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "dpcore" / "app").glob("*.py")]


def test_no_field_of_a_link_belongs_to_two_pages() -> None:
    """A field that two pages share would take its value along: a page opened from the menu would not be as its link says."""
    found = defaultdict(set)
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                for word in node.keywords:
                    if word.arg == "key" and isinstance(word.value, ast.Constant):
                        found[word.value.value].add(source.name)
    assert len(found) > 40
    assert {key: files for key, files in found.items() if len(files) > 1} == {}


def test_no_default_is_given_by_two_pages() -> None:
    found = defaultdict(set)
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "DEFAULTS"
            if named and isinstance(node.value, ast.Dict):
                page = (
                    "your_data" if source.stem.startswith("your_data_") else source.stem
                )  # its tools share their fields
                for key in node.value.keys:
                    if isinstance(key, ast.Constant):
                        found[key.value].add(page)
    assert {"regions", "comp_axes", "epsilon", "data_epsilon", "data_tool"} <= found.keys()
    assert {key: files for key, files in found.items() if len(files) > 1} == {}


def test_a_field_of_two_tools_has_one_default() -> None:
    values = defaultdict(set)
    for module in your_data.SECTIONS.values():
        for key, value in module.DEFAULTS.items():
            values[key].add(repr(value))
    assert {key: found for key, found in values.items() if len(found) > 1} == {}


def test_a_choice_of_axes_stays_on_its_page() -> None:
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=180)
    app.switch_page("pages/1_Privacy_regions.py").run()
    app.radio(key="axes").set_value("thesis")
    app.radio(key="draw").set_value("lines")
    app.run()
    app.switch_page("pages/2_Composition.py").run()
    assert not app.exception
    assert (app.session_state["comp_axes"], app.session_state["comp_draw"]) == ("f-DP", "filled")


def waits() -> None:
    """Show three waits, two of them with the same words."""
    import streamlit as st

    from dpcore.app import work
    from dpcore.core.effort import checkpoint

    work.begin()
    for words in ("Computing", "Computing", "Drawing"):
        with work.progress(words):
            checkpoint(0.5)
            st.text(" ".join(sorted(str(key) for key in st.session_state if str(key).startswith("_stop_"))))


def test_waits_with_the_same_words_have_a_stop_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "LONG", -1.0)
    app = AppTest.from_function(waits)
    for _ in range(2):  # the same names in every run, or a press would be lost
        app.run()
        assert not app.exception, app.exception[0].message
        assert app.text[-1].value == "_stop_Computing_1 _stop_Computing_2 _stop_Drawing_1"


@pytest.mark.parametrize("file", PAGES)
def test_a_page_opens_without_a_warning_and_declares_what_its_link_carries(file: str) -> None:
    app = Page(file, "").made().run()
    assert not app.exception
    assert not app.warning
    assert not app.error
    bound: set[str] = set()

    def walk(node: Any) -> None:
        for child in getattr(node, "children", {}).values():
            walk(child)
        bound.add(getattr(getattr(node, "proto", None), "query_param_key", "") or "")

    walk(app._tree)
    assert bound - {""} <= set(app.session_state["_linked"][app.session_state["_page"]])


@pytest.mark.parametrize("file", sorted(path.name for path in (ROOT / "pages").glob("*.py")))
def test_a_page_that_was_left_is_there_again(file: str) -> None:
    """Streamlit forgets the fields of a page while another one is open."""
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=180)
    for place in (f"pages/{file}", "streamlit_app.py", f"pages/{file}"):
        app.switch_page(place).run()
        assert not app.exception, [found.stack_trace for found in app.exception]
        assert not app.error


@pytest.mark.parametrize("file", sorted(path.name for path in (ROOT / "pages").glob("*.py")))
def test_a_page_whose_work_was_stopped_has_no_traceback(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is computed after a Stop, whatever the page asks for: each part says so in its place."""
    monkeypatch.setattr(work, "_SHARED", work.ResultCache())  # where nothing is ready
    monkeypatch.setattr(work, "fresh", lambda _: None)
    app = AppTest.from_file(str(ROOT / "pages" / file), default_timeout=180)
    app.session_state["_stopped"] = True
    app.run()
    assert not app.exception, [found.stack_trace for found in app.exception]
    assert any("Stopped before the end" in str(error.value) for error in app.error)


SECONDARY = {
    "7_Subsampling": ("sub_stated",),
    "10_Claimed_and_true": ("claimed_delta",),
    "8_Local_privacy": ("local_delta", "local_alarm", "local_miss"),
    "6_Limits": ("lim_mu", "lim_failing", "lim_c"),
    "11_Choose_your_noise": ("choose_width", "choose_stated", "choose_q"),
    "17_Your_data": ("data_level",),
}
"""Fields beside the main ones, by page."""


@pytest.mark.parametrize("name", SECONDARY)
def test_secondary_fields_have_a_slider_too(name: str) -> None:
    """A slider writes its value into the field, which the page takes without an error."""
    app = AppTest.from_file(str(ROOT / "pages" / f"{name}.py"), default_timeout=60).run()
    for key in SECONDARY[name]:
        slider = app.select_slider(key=f"{key}_slider")
        other = next(option for option in slider.options[1:] if option != slider.value)
        slider.set_value(other).run()
        assert not app.exception
        assert not app.error
        assert app.text_input(key=key).value == other
