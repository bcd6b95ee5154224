"""The format of a paper: the code saves the file that Export offers, and the link carries the format."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import pytest

from dpcore.app import composition, export, page
from dpcore.charts import Paper
from dpcore.charts.export import render
from tests.app import visits
from tests.app.visits import Page

COMPOSITION = Page("pages/2_Composition.py", "Composition")
FORMAT = {
    "paper": True,
    "width": "120",
    "height": "70",
    "font": "serif",
    "size": "7",
    "grey": True,
    "x_range": "0, 0.25",
}
STATE = {f"composition_{name}": value for name, value in FORMAT.items()}


def link(app: Any) -> dict[str, list[str]]:
    visits.open_row(app, "composition", "Link")
    (text,) = [str(code.value) for code in app.code if "at_delta=" in str(code.value)]
    return parse_qs(text.partition("?")[2], keep_blank_values=True)


def test_the_code_saves_the_picture_in_the_format_of_export(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    app = COMPOSITION.opened(**STATE)
    visits.open_row(app, "composition", "Export", "Code")
    code = visits.listing(app, "composition")
    assert 'save(\n        figure,\n        "composition.pdf",' in code
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(code.replace("composition.pdf", "composition.svg"), names)  # noqa: S102  # the code that the page shows
    saved = (tmp_path / "composition.svg").read_bytes()
    paper = Paper(width_mm=120, height_mm=70, font="serif", size=7, grey=True)
    assert saved == render(names["figure"], ".svg", paper=paper, x_range=(0.0, 0.25))
    assert b'width="120mm" height="70mm"' in saved


def test_the_format_outlives_the_panel() -> None:
    app = COMPOSITION.opened(**STATE)
    visits.open_row(app, "composition", "Code")
    assert "width_mm=120" in visits.listing(app, "composition")
    visits.open_row(app, "composition", "Export")
    assert app.text_input(key="composition_width").value == "120"


def test_the_link_carries_the_format_and_every_number_of_the_page() -> None:
    carried = link(COMPOSITION.opened(**STATE, k="30"))
    for name, value in STATE.items():
        assert carried[name] == ["true" if value is True else value]
    assert carried["composition_file"] == [".pdf"]
    for name in ("epsilon", "delta", "eta", "at_delta", "slack", "view", "comp_axes", "comp_draw"):
        assert carried[name] == [composition.DEFAULTS[name]]
    assert carried["k"] == ["30"]
    assert carried["mechanism"] == [""]
    assert carried["show"] == composition.DEFAULTS["show"]


def test_a_figure_that_is_not_for_a_paper_leaves_the_link_alone() -> None:
    app = COMPOSITION.opened()
    assert not any(name.startswith(("composition_", "ladder_")) for name in link(app))
    visits.open_row(app, "composition", "Code")
    assert 'save(figure, "composition.svg")' in visits.listing(app, "composition")


def test_a_wrong_format_is_explained() -> None:
    app = COMPOSITION.opened(**{**STATE, "composition_width": "3"})
    assert "width_mm must be" in visits.errors(app)


def test_every_field_of_the_format_is_asked_for() -> None:
    app = COMPOSITION.opened(**STATE)
    keys = {
        str(widget.key)
        for kind in ("toggle", "text_input", "selectbox", "button_group")
        for widget in getattr(app, kind)
    }
    assert set(export.fields("composition")) <= keys


@pytest.mark.parametrize(("host", "local"), [("http://127.0.0.1:8501", True), ("https://example.org", False)])
def test_a_local_address_comes_with_advice(host: str, local: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(page, "link", lambda: f"{host}/Composition?k=3")
    monkeypatch.setattr(page.st, "code", lambda *_, **__: None)
    monkeypatch.setattr(page.st, "caption", said.append)
    page.link_box()
    assert any("this computer only" in text for text in said) == local
