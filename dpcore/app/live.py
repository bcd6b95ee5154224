"""Pictures that follow a slider while it is held.

Streamlit runs a page's script when a slider is released. Here the part of the page that holds the picture is a fragment,
and a small script in the browser tells it where the slider stands meanwhile: Python computes and draws that part alone,
the newest value first. When the slider is released the page runs as usual, and the link and every other number follow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import work
from dpcore.app.figure import plain
from dpcore.core.errors import DpcoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,3})?")  # as sliders show them: no sign, inf or nan


def follow(key: str, sliders: Sequence[str], draw: Callable[[Mapping[str, str]], None]) -> None:
    """Draw a part of the page, and draw it again with the value of a slider that is being moved.

    Parameters
    ----------
    key : str
        Name of the part on its page.
    sliders : sequence of str
        Keys of the sliders that it follows.
    draw : callable
        Draws the part, given the text that a held slider shows by the slider's key; an empty mapping when none is held.
    """
    work.part(lambda: _draw(key, sliders, draw))


def _draw(key: str, sliders: Sequence[str], draw: Callable[[Mapping[str, str]], None]) -> None:
    former = st.session_state.get(f"_live_{key}")
    last = getattr(former, "held", None)
    seen = last.get("number", 0) if isinstance(last, Mapping) else 0
    state = _listener()(
        key=f"_live_{key}",
        data={"sliders": list(sliders), "seen": seen},
        default={"held": {}},
        on_held_change=lambda: None,
        height=1,
    )
    try:
        draw(_value(state.held, sliders) if work.alone() else {})  # otherwise the sliders say where they stand
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")


def _value(held: object, sliders: Sequence[str]) -> dict[str, str]:
    """Return the slider that is held and the number it shows; what is neither, as only a stranger's browser sends, is ignored."""
    if not isinstance(held, Mapping):
        return {}
    slider, text = held.get("slider"), held.get("text")
    if isinstance(slider, str) and slider in sliders and isinstance(text, str) and _NUMBER.fullmatch(text):
        return {slider: text}
    return {}


@cache
def _listener() -> Callable[..., Any]:
    script = Path(__file__).with_name("live.js").read_text(encoding="utf-8")
    return st.components.v2.component("dpcore_live", html="<span></span>", js=script)
