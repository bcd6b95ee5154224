"""Pictures that follow a slider while it is held.

Streamlit runs a page's script when a slider is released. Here the part of the page that holds the picture is a fragment,
and a small script in the browser tells it where the slider stands meanwhile: Python computes and draws that part alone,
the newest value first. When the slider is released the page runs as usual, and the link and every other number follow.

A `Handle` makes a place on a chart draggable: it moves a slider, by which the same can be done with the keyboard.
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
    """A place on a chart that the pointer can drag; it moves a slider.

    Attributes
    ----------
    chart : str
        Key of the container that holds the chart, and nothing else; the chart is drawn as SVG.
    slider : str
        Key of the slider; it is among those that the part follows.
    path : tuple of pairs
        Where the handle is, in the units of the axes: at least two places, evenly from the start of the slider to its end.
        A coordinate that is None makes it a line: the threshold of a test is ``((low, None), (high, None))``.
    x, y : pair of float, default (0.0, 1.0)
        The ends of the two axes.
    log : bool, default False
        Both axes are logarithmic.
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
    """Draw a part of the page, and draw it again with the value of a slider that is being moved.

    Parameters
    ----------
    key : str
        Name of the part on its page.
    sliders : sequence of str
        Keys of the sliders that it follows.
    draw : callable
        Draws the part, given the text that a held slider shows by the slider's key; an empty mapping when none is held.
    handles : callable, optional
        Returns the handles on the charts of the part, given the same.
    """
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
    held = _value(last, sliders) if work.alone() else {}  # otherwise the sliders say where they stand
    try:
        drags = [asdict(handle) for handle in handles(held)] if handles else []
    except DpcoreError:
        drags = []  # what cannot be drawn has no handles; the part itself says why
    _listener()(
        key=f"_live_{key}",
        data={"sliders": list(sliders), "seen": seen, "drags": drags},
        default={"held": {}},
        on_held_change=lambda: None,
        height=1,
    )
    try:
        draw(held)
    except DpcoreError as error:
        trouble(error, f"live_{key}")


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
