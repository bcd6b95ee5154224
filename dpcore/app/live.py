"""Charts that follow a slider while the visitor drags it.

Streamlit runs a page's script when a slider is released. Here the part of the page with the chart is a fragment, and a
small script in the browser sends it the slider's value during the drag: Python computes and draws only that part,
newest value first. When the slider is released the page runs as usual, and the link and all other numbers update.

A `Handle` makes a point or a line on a chart draggable. It moves a slider, so the keyboard can do the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import work
from dpcore.app.figure import trouble
from dpcore.core.errors import DpcoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,3})?")  # as sliders show them: no sign, inf or nan


@dataclass(frozen=True)
class Handle:
    """A point or line on a chart that the pointer can drag; it moves a slider.

    Attributes
    ----------
    chart : str
        Key of the container that holds only the chart; the chart is drawn as SVG.
    slider : str
        Key of the slider, one of those that the part follows.
    path : tuple of pairs
        Positions of the handle in axis units: at least two, evenly spaced from one end of the slider to the other. A
        coordinate of None makes it a line: the threshold of a test is ``((low, None), (high, None))``.
    x, y : pair of float, default (0.0, 1.0)
        The ends of the two axes.
    log : bool, default False
        Whether both axes are logarithmic.
    """

    chart: str
    slider: str
    path: tuple[tuple[float | None, float | None], ...]
    x: tuple[float, float] = (0.0, 1.0)
    y: tuple[float, float] = (0.0, 1.0)
    log: bool = False


def follow(
    key: str,
    sliders: Sequence[str],
    draw: Callable[[Mapping[str, str]], None],
    handles: Callable[[Mapping[str, str]], Sequence[Handle]] | None = None,
) -> None:
    """Draw a part of the page, and redraw it while one of its sliders is dragged.

    Parameters
    ----------
    key : str
        Name of the part on its page.
    sliders : sequence of str
        Keys of the sliders to follow. No other part may follow one of them: the browser sends both changes in one message,
        Streamlit runs one part only, and the other one never gets its answer.
    draw : callable
        Draws the part; takes a mapping from the key of the held slider to its text, empty if no slider is held.
    handles : callable, optional
        Returns the handles on the part's charts; takes the same mapping.
    """
    for slider in sliders:
        if (other := work.note_follower(slider, key)) != key:
            msg = f"The parts {other!r} and {key!r} of the page follow the same slider {slider!r}."
            raise ValueError(msg)
    work.part(lambda: _draw(key, sliders, draw, handles))


def _draw(
    key: str,
    sliders: Sequence[str],
    draw: Callable[[Mapping[str, str]], None],
    handles: Callable[[Mapping[str, str]], Sequence[Handle]] | None,
) -> None:
    former = st.session_state.get(f"_live_{key}")
    last = getattr(former, "held", None)
    seen = last.get("number", 0) if isinstance(last, Mapping) else 0
    positions = _value(last, sliders) if work.alone() else {}  # in a full run the sliders have their own values
    work.hold(held=bool(positions))
    try:
        drags = [asdict(handle) for handle in handles(positions)] if handles else []
    except DpcoreError:
        drags = []  # without a chart there are no handles; the part itself shows the error
    _listener()(
        key=f"_live_{key}",
        data={"sliders": list(sliders), "seen": seen, "drags": drags},
        default={"held": {}},
        on_held_change=lambda: None,
        height=1,
    )
    try:
        draw(positions)
    except DpcoreError as error:
        trouble(error, f"live_{key}")


def _value(held: object, sliders: Sequence[str]) -> dict[str, str]:
    """Return the held slider and its number; ignore anything else, which only a manipulated browser would send."""
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
