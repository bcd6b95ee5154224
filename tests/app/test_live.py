"""What a browser says of a held slider is used only if it is a number of a slider of the page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.app import composition, live
from dpcore.core.errors import DpcoreError

SLIDERS = ("eps", "t")


@pytest.mark.parametrize("text", ["0.05", "41", "1e-06", "1.5e+300"])
def test_a_number_of_a_slider_is_used(text: str) -> None:
    assert live._value({"slider": "eps", "text": text, "number": 3}, SLIDERS) == {"eps": text}


@pytest.mark.parametrize(
    "held",
    [
        None,
        {},
        [],
        "eps",
        {"slider": "other", "text": "1"},
        {"slider": "eps"},
        {"slider": "eps", "text": 1.0},
        {"slider": ["eps"], "text": "1"},
        *(
            {"slider": "eps", "text": text}
            for text in ("", "nan", "inf", "-1", "1 ", "0x10", "1_0", "١", "9" * 50, "dp(1)")
        ),
    ],
    ids=repr,
)
def test_anything_else_is_ignored(held: object) -> None:
    assert live._value(held, SLIDERS) == {}


@pytest.mark.parametrize("text", ["1e300", "0", "2.5", "2000000"])
def test_a_number_that_no_slider_has_is_refused(text: str) -> None:
    query = composition.CompositionQuery("dp(0.1)", 100, 1e-6, 1e-7)
    with pytest.raises(DpcoreError, match="k must be"):
        composition.with_slider(query, {"k_slider": text})
    assert composition.with_slider(query, {"k_slider": "250"}).k == 250
    assert composition.with_slider(query, {}) == query


def part() -> None:
    """Run a page with a handle; its path depends on the slider that is held."""
    import streamlit as st  # the script of a page

    from dpcore.app import live
    from dpcore.core.errors import DomainError

    def handles(held: dict[str, str]) -> list[live.Handle]:
        if st.session_state.get("wrong"):
            msg = "there is nothing to draw"
            raise DomainError(msg)
        return [live.Handle("picture", "t", ((0.0, None), (float(held.get("eps", 2.0)), None)), x=(0.0, 9.0))]

    live.follow("part", ["eps", "t"], lambda held: st.markdown(f"drawn at {dict(held)}"), handles)


def test_the_browser_is_told_where_the_handles_are(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(live, "_listener", lambda: lambda **options: told.append(options["data"]))
    page = AppTest.from_function(part, default_timeout=30).run()
    (handle,) = told[-1]["drags"]
    assert handle == {
        "chart": "picture",
        "slider": "t",
        "path": ((0.0, None), (2.0, None)),
        "x": (0.0, 9.0),
        "y": (0.0, 1.0),
        "log": False,
    }
    assert told[-1]["sliders"] == ["eps", "t"]
    page.session_state["wrong"] = True
    page.run()
    assert told[-1]["drags"] == []
    assert page.markdown[0].value == "drawn at {}"
    assert not page.exception


def test_a_handle_follows_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, Any]] = []
    drawn: list[dict[str, str]] = []
    state = {"_live_part": SimpleNamespace(held={"slider": "eps", "text": "3.5", "number": 7})}
    monkeypatch.setattr(live, "_listener", lambda: lambda **options: told.append(options["data"]))
    monkeypatch.setattr(live, "st", SimpleNamespace(session_state=state))
    monkeypatch.setattr(live.work, "alone", lambda: True)

    def handles(held: Any) -> list[live.Handle]:
        return [live.Handle("picture", "t", ((0.0, None), (float(held["eps"]), None)))]

    live._draw("part", ("eps", "t"), drawn.append, handles)
    assert drawn == [{"eps": "3.5"}]
    assert told == [{"sliders": ["eps", "t"], "seen": 7, "drags": [live.asdict(handles({"eps": "3.5"})[0])]}]


def rivals() -> None:
    """Run a page with two parts that follow the same slider."""
    from dpcore.app import live

    live.follow("one", ["eps"], lambda _: None)
    live.follow("other", ["t", "eps"], lambda _: None)


def test_two_parts_that_follow_one_slider_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    page = AppTest.from_function(rivals, default_timeout=30).run()
    assert page.exception
    assert "The parts 'one' and 'other' of the page follow the same slider 'eps'." in caplog.text
