"""Smaller pictures: an SVG without what the reader cannot see, as wide as its container."""

from __future__ import annotations

import re
from typing import Final

_PLACES: Final = re.compile(r' (d|transform|[xy][12]?|c[xy]|r|width|height)="([^"]*)"')
_MARKS: Final = re.compile(r' (?:class|role|aria-[a-z]+|pointer-events)="[^"]*"')
_LONG: Final = re.compile(r"-?\d+(?:\.\d{2,}(?:e[-+]?\d+)?|(?:\.\d+)?e-\d+)")
_DOT: Final = re.compile(
    r'<path transform="translate\(([-\d.]+),([-\d.]+)\)" d="M([\d.]+),0A\3,\3,0,1,1,-\3,0A\3,\3,0,1,1,\3,0"'
)
# attributes at their default, and paths without extent
_PLAIN: Final = re.compile(
    r' (?:opacity="1"|stroke-width="1"|stroke-dasharray="1,0"|text-anchor="start"|transform="translate\(0,0\)"|[xy]2="0")'
    r'|<path d="(?:M0,0h0v0h0Z)?"(?: display="none")?/>'
)
_EMPTY: Final = re.compile(r'<g(?: transform="[^"]*")?></g>')
_BARE: Final = re.compile(r'(<(?:circle|path)(?:(?! stroke=)[^>])*?) stroke-width="[^"]*"(?![^>]* stroke=)')
_FONT: Final = ' font-family="sans-serif"'


def responsive(svg: str) -> str:
    """Return an SVG that takes the width of its container; its own size stays in the viewBox."""
    head, rest = svg.split(">", 1)
    parts = [part for part in head.split(" ") if not part.startswith(("width=", "height=", "class=", "version="))]
    return " ".join(parts) + ">" + rest


def shortened(svg: str) -> str:
    """Return an SVG with coordinates to a tenth of a point, without attributes for scripts and screen readers.

    Those have the live chart. Default values are left out, the font is named once, and dots become circles.
    """
    rounded = _PLACES.sub(lambda match: f' {match[1]}="{_LONG.sub(_tenth, match[2])}"', _MARKS.sub("", svg))
    dotted = _DOT.sub(r'<circle cx="\1" cy="\2" r="\3"', _PLAIN.sub("", rounded))
    head, rest = _BARE.sub(r"\1", dotted).split(">", 1)
    body, count = rest, 1
    while count:
        body, count = _EMPTY.subn("", body)
    return f"{head}{_FONT}>{body.replace(_FONT, '')}"


def _tenth(match: re.Match[str]) -> str:
    return f"{round(float(match[0]), 1) + 0.0:g}"
