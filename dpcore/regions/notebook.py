"""A region in a notebook: a picture, one sentence and a small table of deltas, as self-contained HTML.

Everything is on the safe side: numbers are rounded outward, and a bound is called a bound. A region that takes longer
than `DEADLINE` is represented by its name and the reason; its numbers remain available one by one.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DpcoreError
from dpcore.core.kinds import WORDS, kind
from dpcore.curves.bound import published
from dpcore.curves.polygon import Polygon
from dpcore.regions import gate
from dpcore.regions.tradeoff import TradeOff, shorten
from dpcore.words import attack_sentence, kind_of, outward

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

DEADLINE: Final = 5.0  # seconds; a cell that only names a region should not start a long computation
MOST_CORNERS: Final = 300  # beyond that corners are closer than a pixel, and a fixed grid serves as well
MOST_ROWS: Final = 8
EPSILONS: Final = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
LONGEST_NAME: Final = 200
_SIDE: Final = 200.0  # pixels of the unit square
_LEFT, _TOP, _RIGHT, _BOTTOM = 40.0, 10.0, 14.0, 42.0
_BLUE: Final = "#0072B2"
# Half a pixel is 0.0025: the steep start of a curve needs points closer than that, the rest a point every second pixel.
_ALPHA: Final = np.concatenate(([0.0], np.geomspace(1e-5, 0.01, 16), np.linspace(0.02, 1.0, 99)))


def html(region: TradeOff) -> str:
    """Return the representation of a region as one HTML element that is well-formed XML and holds no script.

    Parameters
    ----------
    region : TradeOff
        The region. An error that stops its computation, such as parts with different neighbours, appears in its place.

    Returns
    -------
    str
        A ``div`` with an inline SVG picture, a sentence about an attacker and a table of deltas.
    """
    name = f"<p><code>{escape(shorten(region.text, LONGEST_NAME))}</code></p>"
    try:
        with effort(deadline=DEADLINE):
            return _whole(region, name)
    except DpcoreError as error:
        more = " Ask for single numbers instead: region.delta(1.0)." if isinstance(error, BudgetError) else ""
        return f"<div>{name}<p>{escape(str(error) + more)}</p></div>"


def _whole(region: TradeOff, name: str) -> str:
    sentence = attack_sentence(region)
    what = f"{kind_of(region)} by {region.theorem}; neighbours: {region.neighbours}"
    words = f"{name}<p>{escape(sentence)}</p>{_table(region)}<p><small>{escape(what)}</small></p>"
    picture = _picture(*points(region), sentence)
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:1.5em">{picture}<div style="max-width:34em">{words}</div></div>'
    )


def points(region: TradeOff) -> tuple[FloatArray, FloatArray]:
    """Return the points (alpha, beta) of the picture, from (0, 1) to (1, 0)."""
    shape = published(region.curve)
    if isinstance(shape, Polygon) and shape.corner_count <= MOST_CORNERS:
        alpha, beta = region.vertices()
        order = np.lexsort((-beta, alpha))
        alpha, beta = alpha[order], beta[order]
    else:
        alpha, beta = _ALPHA, region.beta(_ALPHA)
    return np.concatenate(([0.0], alpha, [1.0])), np.concatenate(([1.0], beta, [0.0]))


def _table(region: TradeOff) -> str:
    """Return delta at 0 and at the corners of a polygon with few of them, otherwise at a few epsilons."""
    shape = published(region.curve)
    few = isinstance(shape, Polygon) and shape.corner_count <= MOST_CORNERS
    corners = np.unique(np.append(region.corners()[0], 0.0)) if few else np.array(EPSILONS)
    at = corners if corners.size <= MOST_ROWS else np.array(EPSILONS)
    lower, upper = gate.delta_bounds(region, at)  # of any width: the upper side holds
    rows = "".join(
        f"<tr><td>{outward(float(epsilon), 6)}</td><td>{outward(float(high), 6)}</td>"
        f"<td>{WORDS[kind(float(low), float(high), 'upper')]}</td></tr>"
        for epsilon, low, high in zip(at, lower, upper, strict=True)
    )
    head = "<thead><tr><th>ε</th><th>δ, rounded up</th><th>kind</th></tr></thead>"
    return f'<table style="text-align:left;border-spacing:0.8em 0">{head}<tbody>{rows}</tbody></table>'


def _picture(alpha: FloatArray, beta: FloatArray, sentence: str) -> str:
    """Return the region between its curve and the line of blind guessing."""
    path = " ".join(f"{_x(a):.2f},{_y(b):.2f}" for a, b in zip(alpha.tolist(), beta.tolist(), strict=True))
    width, height = _LEFT + _SIDE + _RIGHT, _TOP + _SIDE + _BOTTOM
    middle = _TOP + _SIDE / 2
    parts = [
        f'<polygon points="{path}" fill="{_BLUE}" fill-opacity="0.22" stroke="none"/>',
        f'<line x1="{_x(0):g}" y1="{_y(1):g}" x2="{_x(1):g}" y2="{_y(0):g}" stroke="currentColor" stroke-dasharray="3 3"/>',
        f'<polyline points="{path}" fill="none" stroke="{_BLUE}" stroke-width="2"/>',
        f'<rect x="{_LEFT:g}" y="{_TOP:g}" width="{_SIDE:g}" height="{_SIDE:g}" fill="none" stroke="currentColor"/>',
        *(f'<text x="{_x(t):g}" y="{_y(0) + 15:g}" text-anchor="middle">{t:g}</text>' for t in (0, 0.5, 1)),
        *(f'<text x="{_LEFT - 5:g}" y="{_y(t) + 4:g}" text-anchor="end">{t:g}</text>' for t in (0, 0.5, 1)),
        f'<text x="{_x(0.5):g}" y="{height - 8:g}" text-anchor="middle">false positives α</text>',
        f'<text x="12" y="{middle:g}" text-anchor="middle" transform="rotate(-90 12 {middle:g})">false negatives β</text>',
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(sentence)}" '
        f'font-family="sans-serif" font-size="11" fill="currentColor">{"".join(parts)}</svg>'
    )


def _x(alpha: float) -> float:
    return _LEFT + _SIDE * alpha


def _y(beta: float) -> float:
    return _TOP + _SIDE * (1.0 - beta)
