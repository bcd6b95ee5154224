"""Figures for a paper: millimetres, a font and its size in points, colour or grey, and ranges of the axes.

A figure is laid out on a canvas on which its smallest letters have the size that they have on a screen, and the canvas is
then scaled to the page: lines, dashes, dots and gaps keep their proportion to the letters, whatever the size.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dpcore.charts import theme
from dpcore.core.domains import HEIGHT_MM, LETTER_SIZE, WIDTH_MM
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.parameter import Parameter, value_text
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Mapping

Range = tuple[float, float]
FONT: Final = Parameter("font", "text", meaning="font family, such as serif or Times New Roman")
POINT: Final = 25.4 / 72.0
"""Millimetres of a point."""
DOTS_PER_INCH: Final = 300
"""Of a PNG for a paper."""
GREYS: Final = ("#000000", "#737373", "#404040", "#969696", "#595959", "#262626", "#858585")
"""One for each colour of the theme; neighbours differ most, and dashes tell them apart as well."""
_FILLS: Final = ("#d0d0d0", "#e8e8e8", "#dadada", "#f0f0f0", "#e0e0e0", "#d5d5d5", "#ececec")
_COLOUR: Final = re.compile(r"#[0-9a-fA-F]{6}")
_FAMILY: Final = re.compile(r"[A-Za-z][A-Za-z0-9 -]{0,59}")
# Lengths in units of the canvas.
_MARGIN: Final = 4
_TICKS: Final = 36  # an axis without its title
_LONG_LABELS: Final = 54  # such as 1e-12 or 10000
_SYMBOL: Final = 20  # a line of the legend, long enough for its dashes
_ROW: Final = 22
_BETWEEN: Final = 10  # columns of a legend
_GAP: Final = 6
_LEAST: Final = 70  # a lower picture shows nothing
_NARROW: Final = frozenset(" .,:;'|()[]{}ijltfI")


@dataclass(frozen=True)
class Paper:
    """The format of a figure in print.

    Attributes
    ----------
    width_mm, height_mm : float, default 85.0, 60.0
        Size of the whole figure, with axes and legend: 85 mm is one of two columns on A4.
    font : str, default "sans-serif"
        ``sans-serif``, ``serif``, ``monospace`` or the name of a family. A PDF or PNG needs it installed; an SVG names it.
    size : float, default 8.0
        Size of all letters in points.
    grey : bool, default False
        Greys instead of colours; lines differ by their dashes too.

    Examples
    --------
    >>> [round(side, 3) for side in Paper(width_mm=85, height_mm=60, font="serif", size=8, grey=True).points]
    [240.945, 170.079]
    """

    width_mm: float = 85.0
    height_mm: float = 60.0
    font: str = theme.FONT
    size: float = 8.0
    grey: bool = False

    def __post_init__(self) -> None:
        """Check each value."""
        for parameter in (WIDTH_MM, HEIGHT_MM, LETTER_SIZE, FONT):
            object.__setattr__(self, parameter.name, parameter.check(getattr(self, parameter.name)))
        if not _FAMILY.fullmatch(self.font):
            msg = f"font must be the name of one family in letters, digits, spaces and -, got {value_text(self.font)}."
            raise DomainError(msg)
        grey: object = self.grey  # from a file it may be anything
        if not isinstance(grey, bool):
            msg = f"grey must be True or False, got {value_text(grey)}."
            raise DomainError(msg)
        if min(self.canvas) < 100:
            least = 100 * self.size / theme.SMALL * POINT
            msg = f"Letters of {nearest(self.size)} pt need a figure of at least {math.ceil(least)} mm each way, got {nearest(self.width_mm)} x {nearest(self.height_mm)}."
            raise DomainError(msg)

    @property
    def points(self) -> tuple[float, float]:
        """Width and height in points, the unit of a PDF."""
        return self.width_mm / POINT, self.height_mm / POINT

    @property
    def canvas(self) -> tuple[float, float]:
        """Width and height of the canvas, on which the letters have the theme's smallest size."""
        across, up = self.points
        return across * theme.SMALL / self.size, up * theme.SMALL / self.size


def printed(spec: Mapping[str, Any], paper: Paper) -> dict[str, Any]:
    """Return the specification of a chart as it is laid out on the canvas of a paper.

    Parameters
    ----------
    spec : mapping
        A layered chart with its data; it is not changed.
    paper : Paper
        The format.

    Returns
    -------
    dict
        Of fixed size, with letters of one size, on white.
    """
    dark = bool(spec.get("usermeta", {}).get("dpcore", {}).get("dark", False))
    width, height = paper.canvas
    page = _painted(dict(spec), _colours(dark=dark, grey=paper.grey), grey=paper.grey)
    layers = _fitting([_one_size(layer) for layer in page["layer"]], paper)
    config = {name: _one_size(part) if isinstance(part, dict) else part for name, part in page["config"].items()}
    sides = {side: {"anchor": "middle"} for side in ("bottom", "top")}
    config |= {"font": paper.font, "legend": {**config.get("legend", {}), "layout": sides}}
    fixed = {"width": width, "height": height, "autosize": {"type": "fit", "contains": "padding"}, "padding": _MARGIN}
    return {**page, **fixed, "layer": layers, "config": config, "background": theme.paper()}


def sized(svg: str, paper: Paper, *, millimetres: bool) -> str:
    """Return the SVG of a canvas with the size of the page: in millimetres, or in points for the making of a PDF."""
    (width, height), unit = ((paper.width_mm, paper.height_mm), "mm") if millimetres else (paper.points, "")
    across, up = paper.canvas
    head, _, rest = svg.partition(">")
    attributes = re.sub(r'\s(?:width|height|viewBox)="[^"]*"', "", head)
    return f'{attributes} width="{nearest(width, 10)}{unit}" height="{nearest(height, 10)}{unit}" viewBox="0 0 {nearest(across, 10)} {nearest(up, 10)}">{rest}'


def within(spec: Mapping[str, Any], *, x: Range | None = None, y: Range | None = None) -> dict[str, Any]:
    """Return a chart whose axes have these ranges; what lies outside is cut off.

    Parameters
    ----------
    spec : mapping
        A layered chart; it is not changed.
    x, y : pair of float, optional
        The ends of an axis; by default those of the chart.

    Returns
    -------
    dict
        The specification.

    Raises
    ------
    DomainError
        If a range is empty, an axis has names instead of numbers, or a logarithmic axis would reach 0.
    """
    layers = [dict(layer) for layer in spec["layer"]]
    for channel, limits in (("x", x), ("y", y)):
        if limits is not None:
            layers = _limited(layers, channel, _ends(f"{channel}_range", limits))
    return {**spec, "layer": layers}


def _ends(name: str, limits: Range) -> Range:
    low, high = Parameter(name, "numbers", fewest=2, most=2).check(limits)
    if not low < high:
        msg = f"{name} must rise from its first number to its second, got {value_text(low)} and {value_text(high)}."
        raise DomainError(msg)
    return low, high


def _limited(layers: list[dict[str, Any]], channel: str, limits: Range) -> list[dict[str, Any]]:
    positions = [layer["encoding"].get(channel, {}) for layer in layers]
    fields = [one for one in positions if "field" in one]
    if not fields or any(one.get("type") != "quantitative" for one in fields):
        msg = f"The {channel} axis of this figure lists names; it has no range, got {value_text(limits[0])} to {value_text(limits[1])}."
        raise DomainError(msg)
    if limits[0] <= 0 and any((one.get("scale") or {}).get("type") == "log" for one in fields):
        msg = f"{channel}_range must start above 0 on a logarithmic axis, got {value_text(limits[0])}."
        raise DomainError(msg)
    return [_limited_layer(layer, channel, limits) for layer in layers]


def _limited_layer(layer: dict[str, Any], channel: str, limits: Range) -> dict[str, Any]:
    """Return a layer with other ends of one axis, which chooses its own ticks, cut at the frame."""
    own = layer["encoding"].get(channel, {})
    if own.get("type") != "quantitative":
        return {**layer, "mark": {**layer["mark"], "clip": True}}
    gone = ("domain", "domainMin", "domainMax", "clamp", "zero", "padding")
    scale = {name: value for name, value in (own.get("scale") or {}).items() if name not in gone}
    position = {**own, "scale": {**scale, "domain": list(limits), "nice": False}}
    if own.get("axis"):
        position["axis"] = {name: value for name, value in own["axis"].items() if name not in ("values", "labelExpr")}
    return {**layer, "encoding": {**layer["encoding"], channel: position}, "mark": {**layer["mark"], "clip": True}}


# ---- letters and colours ---------------------------------------------------------------------------------------


def _one_size(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a specification whose letters all have the theme's smallest size."""
    sizes = {name: theme.SMALL for name in part if name.lower().endswith("fontsize")}
    inner = {name: _one_size(value) for name, value in part.items() if isinstance(value, dict) and name != "data"}
    return {**part, **inner, **sizes}


def _fitting(layers: list[dict[str, Any]], paper: Paper) -> list[dict[str, Any]]:
    """Return layers whose legends have the columns that fit, and whose axis titles are broken into the lines that fit."""
    width, height = paper.canvas
    logarithmic = any((layer["encoding"].get("y", {}).get("scale") or {}).get("type") == "log" for layer in layers)
    labels, entries = _LONG_LABELS if logarithmic else _TICKS, list(dict.fromkeys(map(_names, _legends(layers))))
    for columns in range(max(map(len, entries), default=1), 0, -1):  # as many as fit; the rest is for the picture
        legends = sum(math.ceil(len(names) / columns) * _ROW + _GAP for names in entries)
        up = max(1.0, height - 2 * _MARGIN - _TICKS - theme.SMALL - legends)
        across = width - 2 * _MARGIN - labels - _title(layers, "y", up)
        if all(_row_width(names, columns) <= across + 2 * _MARGIN for names in entries):
            break
    up -= _title(layers, "x", across) - theme.SMALL
    if up < _LEAST:
        least = paper.height_mm + math.ceil((_LEAST - up) * paper.size / theme.SMALL * POINT)
        msg = f"The legend and the axes leave no room for the picture: height_mm must be at least {outward(least, 6)}, got {nearest(paper.height_mm)}."
        raise DomainError(msg)
    fitting = []
    for layer in layers:
        encoding = dict(layer["encoding"])
        for channel, room in (("x", across), ("y", up)):
            if _titled(layer, channel):
                encoding[channel] = {**encoding[channel], "title": _lines(encoding[channel]["title"], room)}
        for name, part in encoding.items():
            if _legend(part):
                own = {
                    "columns": min(columns, len(_names(part))),
                    "labelLimit": width - 2 * _SYMBOL,
                    "columnPadding": _BETWEEN,
                }
                own |= {"offset": _GAP, "symbolSize": min(_SYMBOL**2, part["legend"].get("symbolSize", _SYMBOL**2))}
                encoding[name] = {**part, "legend": {**part["legend"], **own}}
        fitting.append({**layer, "encoding": encoding})
    return fitting


def _title(layers: list[dict[str, Any]], channel: str, room: float) -> int:
    """Return the height of the lines of a title."""
    titles = [_lines(one["encoding"][channel]["title"], room) for one in layers if _titled(one, channel)]
    return theme.SMALL * max(map(len, titles), default=0)


def _names(part: dict[str, Any]) -> tuple[str, ...]:
    return tuple(map(str, part["scale"]["domain"]))


def _legend(part: Any) -> bool:
    return isinstance(part, dict) and bool(part.get("legend")) and "domain" in part.get("scale", {})


def _legends(layers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [part for layer in layers for part in layer["encoding"].values() if _legend(part)]


def _titled(layer: dict[str, Any], channel: str) -> bool:
    return isinstance(layer["encoding"].get(channel, {}).get("title"), str)


def _row_width(names: tuple[str, ...], columns: int) -> float:
    """Return the width of a legend with this many columns; the widest name decides."""
    count = min(columns, len(names))
    return count * (max(map(_length, names)) + _SYMBOL + 6) + (count - 1) * _BETWEEN


def _length(text: str) -> float:
    """Return about the width of a text: that of a wide serif, so that narrower fonts fit as well."""
    return theme.SMALL * sum(0.34 if sign in _NARROW else 0.76 if sign.isupper() else 0.57 for sign in text)


def _lines(text: str, room: float) -> list[str]:
    """Return a text as the fewest lines that fit, of about equal length."""
    words = text.split()
    spans = {_length(" ".join(words[i:j])) for i in range(len(words)) for j in range(i + 1, len(words) + 1)}
    fewest = len(_broken(words, 0.97 * room))  # letters differ from font to font
    return next(lines for width in sorted(spans) if len(lines := _broken(words, width)) <= fewest)


def _broken(words: list[str], width: float) -> list[str]:
    lines: list[str] = []
    for word in words:
        if lines and _length(f"{lines[-1]} {word}") <= width:
            lines[-1] = f"{lines[-1]} {word}"
        else:
            lines.append(word)
    return lines


def _colours(*, dark: bool, grey: bool) -> dict[str, str]:
    """Return what each colour of a look becomes on white paper; of two equal ones, the one that is no series counts."""
    light = dict(zip(map(str.lower, theme.shades(dark=dark)), theme.shades(), strict=True))
    if not grey:
        return light
    greys = dict(zip(theme.LIGHT, GREYS, strict=True)) | dict(zip(map(theme.pale, theme.LIGHT), _FILLS, strict=True))
    return {source: greys.get(shade, shade) for source, shade in light.items()}


def _painted(part: Any, table: Mapping[str, str], *, grey: bool) -> Any:
    """Return a part of a specification in the colours of the table; in grey, any other colour has its own lightness."""
    if isinstance(part, dict):
        return {name: _painted(value, table, grey=grey) for name, value in part.items()}
    if isinstance(part, list):
        return [_painted(item, table, grey=grey) for item in part]
    if not isinstance(part, str) or not _COLOUR.fullmatch(part):
        return part
    other = table.get(part.lower(), part)
    if not grey:
        return other
    red, green, blue = (int(other[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + 3 * f"{round(0.2126 * red + 0.7152 * green + 0.0722 * blue):02x}"
