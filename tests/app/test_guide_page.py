"""The page of the guide: every text opens, its pictures are drawn, its contents lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.app import figure, guide, guide_texts, navigation
from dpcore.specs import draw
from dpcore.specs.references import replaced
from dpcore.specs.sections import with_sections

PAGE = Path(__file__).resolve().parents[2] / "pages" / "14_Guide.py"


def opened(**state: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=180)
    for key, value in state.items():
        app.query_params[key] = value
    return app.run()


def test_every_text_opens_with_its_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """One picture stands for all here; that every one can be drawn is for the tests of the site."""
    one = draw({"draw": "regions", "regions": ["dp(1)"], "title": "One region"})
    monkeypatch.setattr(figure, "figure_of", lambda _spec, **_: one)
    app = opened()
    for name, title in guide_texts.titles().items():
        app.selectbox(key=guide.KEY).set_value(title).run()
        assert not app.exception, name
        assert not app.error, (name, [error.value for error in app.error])
        assert app.header[0].value == title
        drawn = [part for part in guide_texts.parts(name) if part.spec is not None]
        charts = app.get("vega_lite_chart")
        assert len(charts) == len(drawn), name
        assert all(len(chart.proto.alt) > 20 for chart in charts), name
        assert [sub.value for sub in app.subheader] == guide_texts.headings(name)


def test_the_default_answers_what_1_1e5_means() -> None:
    app = opened()
    said = "\n".join(part.value for part in app.code)
    assert app.title[0].value == "Guide"
    assert "finds at most 14 of 100 people inside it" in said
    assert app.query_params.get(guide.KEY) in (None, [], [guide.DEFAULTS[guide.KEY]])


def test_contents_link_to_headings_of_the_page() -> None:
    for name in guide_texts.titles():
        links = re.findall(r"\(#([^)]+)\)", guide_texts.contents(name))
        anchors = [part.anchor for part in guide_texts.parts(name) if part.heading]
        assert len(links) in (0, len(anchors))
        assert set(links) <= set(anchors)
        assert len(set(anchors)) == len(anchors), f"two headings of {name} have one anchor"


def test_a_door_leads_to_its_text() -> None:
    app = opened()
    app.button(key="guide_door_faq").click().run()
    assert app.header[0].value == "Frequently asked questions"
    app.button(key="guide_step_1").click().run()
    assert app.header[0].value == "Glossary"


def test_garbage_in_the_link_gives_the_first_text() -> None:
    app = opened(guide_text="<script>")
    assert not app.exception
    assert app.header[0].value == guide_texts.titles()[guide.FIRST]


def test_parts_keep_all_of_a_text() -> None:
    for name in guide_texts.titles():
        text = (guide_texts.page.data_folder() / "guide" / f"{name}.md").read_text(encoding="utf-8")
        shown = "".join(part.heading + part.markdown + part.code for part in guide_texts.parts(name))
        file = guide_texts.page.data_folder() / "guide" / f"{name}.md"
        text = replaced(with_sections(file, text), guide_texts._in_app)  # references are links in the app
        quoted = re.split(
            r"^````\w*\n(.*?)^````$", text, flags=re.DOTALL | re.MULTILINE
        )  # a block shows others as they are
        rest = [re.sub(r"```[ \t]*figure.*?```", "", part, flags=re.DOTALL) for part in quoted[::2]]
        plain = "".join([*(re.sub(r"^```\w*", "", part, flags=re.MULTILINE) for part in rest), *quoted[1::2]])
        assert len(re.sub(r"\s|#", "", shown)) == len(re.sub(r"\s|#", "", plain)), name


def inside(name: str) -> None:
    """Run as a script of its own: a text inside an expander."""
    from dpcore.app import page

    page.guide(name)


def test_a_text_inside_another_page_has_its_pictures() -> None:
    app = AppTest.from_function(inside, kwargs={"name": "statistics_lab"}, default_timeout=180).run()
    assert not app.get("vega_lite_chart"), "a closed text costs nothing"
    app.session_state["guide_statistics_lab"] = True
    app.run()
    assert not app.exception
    assert len(app.get("vega_lite_chart")) == 1
    said = "\n".join(part.value for part in app.markdown)
    assert "### Why both" in said
    assert "```figure" not in said
    assert not app.get("download_button")


@pytest.mark.parametrize(("text", "other"), [(None, "Glossary"), ("Glossary", "Guide"), ("Choosing ε", "Glossary")])
def test_of_guide_and_glossary_one_is_marked_as_current(
    text: str | None, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(navigation.st, "query_params", {"guide_text": text} if text else {})
    monkeypatch.setattr(navigation.st, "session_state", {})
    doors = {door.label: door for group in navigation.GROUPS for door in group.doors}
    pair = {label: doors[label] for label in ("Guide", "Glossary")}
    assert [label for label, door in pair.items() if navigation.is_other_view(door)] == [other]
    assert not [label for label, door in doors.items() if label not in pair and navigation.is_other_view(door)]
    monkeypatch.setattr(navigation.st, "session_state", {"guide_text": "Glossary"})  # chosen in the menu
    assert navigation.is_other_view(pair["Guide"])


def test_a_number_of_people_is_not_broken_at_the_end_of_a_line() -> None:
    text = "1 of 100 000 people, 2 1000, `1 000`,\n```python\nx = [1, 100 000]\n```\nand 12 345 678"
    shown = figure.unbroken(text)
    assert shown.replace("\u00a0", " ") == text
    assert re.findall("[0-9]*\u00a0[0-9\u00a0]*", shown) == ["100\u00a0000", "12\u00a0345\u00a0678"]
