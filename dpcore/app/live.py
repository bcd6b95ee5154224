"""Pictures that follow a slider while it is held.

Streamlit runs a page's script when a slider is released. Here the part of the page that holds the picture is a fragment,
and a small script in the browser tells it where the slider stands meanwhile: Python computes and draws that part alone,
the newest value first. When the slider is released the page runs as usual, and the link and every other number follow.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_WHOLE = "_live_whole"  # set while the whole page runs: then the sliders themselves say where they stand


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
    st.session_state[_WHOLE] = True
    _part(key, tuple(sliders), draw)
    st.session_state[_WHOLE] = False


@st.fragment
def _part(key: str, sliders: tuple[str, ...], draw: Callable[[Mapping[str, str]], None]) -> None:
    whole = bool(st.session_state.get(_WHOLE))
    if not whole:
        work.begin()
    former = st.session_state.get(f"_live_{key}")
    seen = dict(getattr(former, "held", None) or {}) if former is not None else {}
    state = _listener()(
        key=f"_live_{key}",
        data={"sliders": list(sliders), "seen": seen.get("number", 0)},
        default={"held": {}},
        on_held_change=lambda: None,
        height=1,
    )
    held: dict[str, Any] = dict(state.held or {})
    draw({str(held["slider"]): str(held["text"])} if held and not whole else {})


@cache
def _listener() -> Callable[..., Any]:
    script = Path(__file__).with_name("live.js").read_text(encoding="utf-8")
    return st.components.v2.component("dpcore_live", html="<span></span>", js=script)
