"""One look for every chart: the colours of Okabe and Ito with dashes, light and dark, in readable type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import altair as alt

if TYPE_CHECKING:
    from collections.abc import Sequence

LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DARK = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#FFFFFF")
DASHES = ([1, 0], [7, 3], [2, 2], [8, 3, 2, 3], [4, 4], [12, 4], [2, 5])
SHARES = (0.22, 0.12, 0.5, 0.6)
"""How much of a colour is in the pale fills of charts; most have the first."""
FONT = "sans-serif"
SMALL, TEXT, HEADING = 12, 13, 15
# numbers as `words.grouped` writes them: 10 000, not 10,000
NUMBERS = {"decimal": ".", "thousands": " ", "grouping": [3], "currency": ["", ""]}
EPSILON_TITLE = "Bound ε on the privacy loss"
DELTA_TITLE = "Excess δ over the bound"
"""Titles of axes in the words of the glossary: ε bounds the loss, δ is what may exceed the factor e^ε."""
_FACTS = ("config", "width", "height", "description", "usermeta", "title", "params", "data")  # of a layered chart
_PAPER = {False: "#ffffff", True: "#0e1117"}
_INK = {False: "#111111", True: "#ffffff"}
_QUIET = {False: "#404040", True: "#d5d8de"}  # above 7:1 on its paper
_GRID = {False: "#e4e4e4", True: "#2c313b"}
_AXIS = {False: "#767676", True: "#8c919b"}  # above 3:1, for lines that carry meaning


def palette(dark: bool = False) -> tuple[str, ...]:
    """Return the seven colours in their order for this background."""
    return DARK if dark else LIGHT


def colour(index: int, *, dark: bool = False) -> str:
    """Return the colour of series number `index`; after seven they repeat with another dash."""
    return palette(dark)[index % len(LIGHT)]


def dash(index: int) -> list[int]:
    """Return the dash pattern of series number `index`."""
    return list(DASHES[(index + index // len(LIGHT)) % len(DASHES)])


def paper(*, dark: bool = False) -> str:
    """Return the background of an exported picture; on a page the chart itself is transparent."""
    return _PAPER[dark]


def ink(*, dark: bool = False) -> str:
    """Return the colour of text."""
    return _INK[dark]


def quiet(*, dark: bool = False) -> str:
    """Return the colour of labels and reference lines."""
    return _QUIET[dark]


def pale(strong: str, *, dark: bool = False, share: float = SHARES[0]) -> str:
    """Mix a colour into the background: an opaque fill that hides what lies behind it."""
    back = _PAPER[dark]
    mixed = (round(share * int(strong[i : i + 2], 16) + (1 - share) * int(back[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def shades(*, dark: bool = False) -> tuple[str, ...]:
    """Return all colours of charts on one background; on the other, each has its counterpart at the same place.

    They are the palette, what is neither palette nor pale (background, text, labels, grid, axes), and the pale fills of both.
    """
    plain = tuple(tones[dark] for tones in (_PAPER, _INK, _QUIET, _GRID, _AXIS))
    strong = (*palette(dark), _QUIET[dark])
    return (*palette(dark), *plain, *(pale(one, dark=dark, share=share) for share in SHARES for one in strong))


def config(*, dark: bool = False) -> dict[str, Any]:
    """Return the Vega-Lite configuration of this look."""
    text, label = _INK[dark], _QUIET[dark]
    axis = {
        "labelColor": label,
        "titleColor": text,
        "gridColor": _GRID[dark],
        "domainColor": _AXIS[dark],
        "tickColor": _AXIS[dark],
        "labelFontSize": SMALL,
        "titleFontSize": TEXT,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelPadding": 5,
        "tickSize": 5,
        "labelOverlap": True,
    }
    return {
        "background": "transparent",
        "font": FONT,
        "mark": {"tooltip": None},  # only what a chart names: by default a page shows every encoded column
        "view": {"stroke": None, "fill": None},
        "axis": axis,
        "legend": {
            "labelColor": text,
            "titleColor": text,
            "labelFontSize": TEXT,
            "titleFontSize": TEXT,
            "orient": "bottom",
            "direction": "horizontal",
            "symbolSize": 420,
            "symbolStrokeWidth": 2.5,
            "columnPadding": 18,
            "rowPadding": 4,
            "labelLimit": 320,
            "padding": 4,
        },
        "title": {
            "color": text,
            "subtitleColor": label,
            "fontSize": HEADING,
            "subtitleFontSize": TEXT,
            "anchor": "start",
            "fontWeight": 600,
            "offset": 12,
            "limit": 0,
        },
        "range": {"category": list(palette(dark))},
        "text": {"color": text, "fontSize": SMALL},
        "rule": {"color": label},
        "numberFormat": ",.6~g",
        "locale": {"number": NUMBERS},
    }


@alt.theme.register("dpcore_light", enable=False)
def light_theme() -> alt.theme.ThemeConfig:
    """Return the light look for ``altair.theme.enable("dpcore_light")``."""
    return alt.theme.ThemeConfig({"config": config()})  # type: ignore[typeddict-item]  # checked by Altair's schema


@alt.theme.register("dpcore_dark", enable=False)
def dark_theme() -> alt.theme.ThemeConfig:
    """Return the dark look for ``altair.theme.enable("dpcore_dark")``."""
    return alt.theme.ThemeConfig({"config": config(dark=True)})  # type: ignore[typeddict-item]  # as above


@dataclass(frozen=True)
class Look:
    """How a chart looks, independent of what it shows.

    Attributes
    ----------
    dark : bool, default False
        For a dark background.
    title : str, default ""
        A line above the chart.
    description : str, default ""
        The text for screen readers; by default the takeaway of the figure.
    width : int or str, default "container"
        In points, or ``container``.
    height : int, default 0
        In points; 0 leaves it to the chart.
    """

    dark: bool = False
    title: str = ""
    description: str = ""
    width: int | str = "container"
    height: int = 0


PLAIN = Look()


NUMERALS = (
    "datum.value >= 1e6 || datum.value < 1e-4 && datum.value > 0 ? replace(format(datum.value, '.3~e'), '+', '') "
    ": format(datum.value, ',.6~g')"
)
"""Labels of an axis in the form of all numbers: plain from 1e-4 to 1e6; the chart's own would write 0.000001 and then 1e-7."""


def described(look: Look, takeaway: str) -> Look:
    """Return the look with this takeaway as its description, unless it has one."""
    return look if look.description else replace(look, description=takeaway)


def finish(layers: Sequence[alt.Chart], look: Look, *, words: str, height: int) -> alt.LayerChart:
    """Join the layers and set size, title, screen-reader text and configuration."""
    properties: dict[str, Any] = {
        "width": look.width,
        "height": look.height or height,
        "description": look.description or words,
        "usermeta": {"dpcore": {"dark": look.dark}, "embedOptions": {"actions": False}},
    }
    if look.title:
        properties["title"] = short(look.title, 90)
    chart = alt.LayerChart(config=config(dark=look.dark), **properties)
    chart.layer = list(layers)  # like `alt.layer`, without copying the layers: nobody else holds them
    return chart


def halo_text(base: alt.Chart, text: str, *, dark: bool, halo: float = 1.0, **mark: Any) -> list[alt.Chart]:
    """Return a text over a halo in the colour of the background, readable over lines; `halo` is its opacity."""
    word, back = base.encode(text=alt.Text(text)), paper(dark=dark)
    return [
        word.mark_text(color=back, stroke=back, strokeWidth=4, opacity=halo, aria=False, **mark),
        word.mark_text(color=ink(dark=dark), aria=False, **mark),
    ]


def over(chart: alt.LayerChart, *layers: alt.Chart) -> alt.LayerChart:
    """Return the chart with more layers in front; layers are shared, not copied, because Altair's own copy is slow."""
    layered = alt.LayerChart()
    for name in _FACTS:
        layered[name] = getattr(chart, name)
    layered.layer = [*chart.layer, *layers]
    return layered


def short(text: str, most: int = 60) -> str:
    """Return a text on one line of at most `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
