"""Smaller pictures: an SVG without what the reader cannot see, as wide as its container."""

from __future__ import annotations

import math
import re
from itertools import pairwise
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
_LINES: Final = re.compile(r' d="((?:M[-\d.]+,[-\d.]+(?:L[-\d.]+,[-\d.]+)+Z?)+)"')
_DOTS: Final = re.compile(
    r'<circle cx="[-\d.]+" cy="[-\d.]+"( r="[\d.]+" fill="#\w+"/>)(?:<circle cx="[-\d.]+" cy="[-\d.]+"\1){3,}'
)
_CENTRE: Final = re.compile(r'cx="([-\d.]+)" cy="([-\d.]+)" r="([\d.]+)" fill="(#\w+)"')
_PART: Final = re.compile(r"M([^MZ]+)(Z?)")
NEAR: Final = 0.06  # points; a corner that is closer to the line without it cannot be seen


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
    body, count = _DOTS.sub(_dotted, _LINES.sub(_drawn, rest)), 1
    while count:  # every round makes the text shorter
        body, count = _EMPTY.subn("", body)
    return f"{head}{_FONT}>{body.replace(_FONT, '')}"


def _drawn(match: re.Match[str]) -> str:
    """Return a path of straight lines by its visible corners, each relative to the one before."""
    parts = []
    for lines, end in _PART.findall(match[1]):
        corners = [(float(x), float(y)) for x, y in (pair.split(",") for pair in lines.split("L"))]
        points = [(round(10 * x), round(10 * y)) for x, y in visible(corners)]
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points) if a != b]
        parts.append(f"M{_pairs(points[:1])}l{_pairs(steps or [(0, 0)])}{end}")
    return f' d="{"".join(parts)}"'


def _dotted(match: re.Match[str]) -> str:
    """Return equal dots as one path: a line without length and with round ends is a dot."""
    dots = _CENTRE.findall(match[0])
    radius, colour = dots[0][2:]
    moves = "".join(f"M{x} {y}h0" for x, y, *_ in dots)
    return f'<path d="{moves}" stroke="{colour}" stroke-width="{2 * float(radius):g}" stroke-linecap="round"/>'


def visible(corners: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of a line without those that lie within `NEAR` of the line through the others."""
    keep, stack = {0, len(corners) - 1}, [(0, len(corners) - 1)]
    while stack:  # every corner is kept once at most
        first, last = stack.pop()
        (x0, y0), (x1, y1) = corners[first], corners[last]
        dx, dy = x1 - x0, y1 - y0
        square = dx * dx + dy * dy
        far, at = 0.0, 0
        for place in range(first + 1, last):
            x, y = corners[place][0] - x0, corners[place][1] - y0
            share = min(1.0, max(0.0, (x * dx + y * dy) / square)) if square else 0.0
            away = math.hypot(x - share * dx, y - share * dy)
            if away > far:
                far, at = away, place
        if far > NEAR:
            keep.add(at)
            stack += [(first, at), (at, last)]
    return [corners[place] for place in sorted(keep)]


def _pairs(tenths: list[tuple[int, int]]) -> str:
    """Return numbers of tenths as short as SVG allows: no leading zero, no space before a sign."""
    texts = [
        f"{number / 10:g}".replace("0.", ".", 1) if abs(number) < 10 else f"{number / 10:g}"
        for pair in tenths
        for number in pair
    ]
    return "".join(text if text.startswith("-") or not place else f" {text}" for place, text in enumerate(texts))


def _tenth(match: re.Match[str]) -> str:
    return f"{round(float(match[0]), 1) + 0.0:g}"
