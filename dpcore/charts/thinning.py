"""Polygons with too many corners to draw: fewer edges, on the safe side.

Where an edge is left out, its two neighbours are extended until they meet. The meeting point lies below the true
curve, so the drawn region contains the true one, and each drawn edge extends an edge of the true region.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.charts import pixels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray
    from dpcore.curves.polygon import Polygon


@dataclass(frozen=True)
class Path:
    """Points of a drawn curve, alpha ascending.

    `loss` is the loss of the edge that starts at the point; `corner` marks exact corners of the region; `safe` marks
    points on the safe side of the curve, not on it; `open_loss` marks a loss that is a lower bound.
    """

    alpha: FloatArray
    beta: FloatArray
    loss: FloatArray
    corner: NDArray[np.bool_]
    safe: NDArray[np.bool_]
    open_loss: NDArray[np.bool_]
    total: int = 0  # corners of the region, if it has more than are drawn
    power: FloatArray | None = None  # the attacker's power, if it has more digits than 1 - beta


def polygon_path(polygon: Polygon) -> Path:
    """Return the corners of a polygon, thinned if they and the bends of the log view exceed 400."""
    chain = _Chain(polygon)
    full = _bent(chain.all_points(), 0.1) if chain.edges <= pixels.MOST_POINTS else None
    if full is not None and full.alpha.size <= pixels.MOST_POINTS:
        return full
    tolerance = 0.1
    while True:  # coarser in each pass: at a tolerance of the whole picture two points are left
        thin = _bent(chain.thinned(tolerance), tolerance)
        if thin.alpha.size <= pixels.MOST_POINTS:
            return thin
        tolerance *= 1.25


class _Chain:
    """The edges of a polygon in the order of alpha, with falling losses, widths p, drops q, and their corners."""

    def __init__(self, polygon: Polygon) -> None:
        present = ((polygon.p > 0) | (polygon.q > 0))[::-1]
        self.loss = polygon.loss[::-1][present]
        self.p = polygon.p[::-1][present]
        self.q = polygon.q[::-1][present]
        self.edges = int(self.loss.size)
        self.alpha = np.minimum(np.concatenate(([0.0], np.cumsum(self.p))), 1.0)
        self.beta = np.minimum(np.concatenate((np.cumsum(self.q[::-1])[::-1], [0.0])), 1.0)
        self.beta[0] = 1.0 - polygon.q_inf
        self.alpha[-1] = 1.0 - polygon.p_inf
        self.alpha = np.asarray(np.minimum.accumulate(self.alpha[::-1])[::-1], dtype=np.float64)
        self.beta = np.asarray(np.minimum.accumulate(self.beta), dtype=np.float64)
        self.total = polygon.corner_count

    def all_points(self) -> Path:
        """Return every corner, closed by (1, 0)."""
        return self._path(self.alpha, self.beta, self.loss, np.zeros(self.alpha.size, dtype=bool))

    def thinned(self, tolerance: float) -> Path:
        """Keep as few edges as the tolerance (in pixels, both views) allows, greedily along the curve."""
        edges, corner = [0], [(0.0, float(self.beta[0]), False)]
        step, last = 1, self.edges - 1
        while edges[-1] < last:  # at least one edge further per pass
            here = edges[-1]
            far = self._farthest(here, step, tolerance)
            step = far - here
            corner.append((*self._meet(here, far), far > here + 1))
            edges.append(far)
        corner.append((float(self.alpha[-1]), 0.0, False))
        alpha, beta, safe = (np.array(column) for column in zip(*corner, strict=True))
        return self._path(alpha, beta, self.loss[edges], safe.astype(bool))

    def _farthest(self, here: int, guess: int, tolerance: float) -> int:
        """Return the farthest edge whose line may follow that of edge `here`: gallop, then halve."""
        last = self.edges - 1
        good, step = here + 1, max(1, guess)
        bad = last + 1
        while good < last:  # steps double
            probe = min(here + 1 + step, last)
            if self._gap(here, probe) > tolerance:
                bad = probe
                break
            good, step = probe, 2 * step
        while bad - good > 1 and good < last:  # halves
            probe = (good + bad) // 2
            if self._gap(here, probe) > tolerance:
                bad = probe
            else:
                good = probe
        return good

    def _meet(self, i: int, j: int) -> tuple[float, float]:
        """Return where the lines of edges i < j meet; all sums have positive terms, so tiny rates keep their digits.

        With P and Q the width and drop between the two edges, edge i is extended by t with t e^Li + (P - t) e^Lj = Q.
        """
        width = float(self.alpha[j] - self.alpha[i + 1])
        width = width if width > 1e-3 * self.alpha[j] else float(self.p[i + 1 : j].sum())
        drop = float(self.beta[i + 1] - self.beta[j])
        drop = drop if drop > 1e-3 * self.beta[i + 1] else float(self.q[i + 1 : j].sum())
        ratio = math.exp(self.loss[j] - self.loss[i])
        rest = -math.expm1(self.loss[j] - self.loss[i])  # 1 - ratio, never 0 for different losses
        run = (_times_exp(drop, -self.loss[i]) - width * ratio) / rest
        fall = (_times_exp(width, self.loss[j]) - drop * ratio) / rest
        return (
            float(self.alpha[i + 1]) + min(max(run, 0.0), width),
            float(self.beta[j]) + min(max(fall, 0.0), drop),
        )

    def _gap(self, i: int, j: int) -> float:
        """Bound the distance of the meeting point of edges i and j from the curve, in pixels of the worse view."""
        a, b = self._meet(i, j)
        above = self._beta_at(a, i, j)
        beside = self._alpha_at(b, i, j)
        up, right = pixels.WIDTH * (above - b), pixels.WIDTH * (beside - a)
        flat = up * right / math.hypot(up, right) if up > 0 and right > 0 else 0.0
        if above <= pixels.FLOOR or beside <= pixels.FLOOR:
            return flat
        log_up = math.log10(max(above, pixels.FLOOR) / max(b, pixels.FLOOR))
        log_right = math.log10(max(beside, pixels.FLOOR) / max(a, pixels.FLOOR))
        return max(flat, pixels.PER_DECADE * min(log_up, log_right))

    def _beta_at(self, a: float, i: int, j: int) -> float:
        """Return the true beta at alpha a, between edges i and j."""
        k = i + int(np.searchsorted(self.alpha[i : j + 2], a, side="right")) - 1
        k = min(max(k, i), j)
        width = float(self.alpha[k + 1] - self.alpha[k])
        share = (float(self.alpha[k + 1]) - a) / width if width > 0 else 0.0
        return float(self.beta[k + 1] + min(max(share, 0.0), 1.0) * (self.beta[k] - self.beta[k + 1]))

    def _alpha_at(self, b: float, i: int, j: int) -> float:
        """Return the true alpha at beta b, between edges i and j."""
        k = j + 1 - int(np.searchsorted(self.beta[i : j + 2][::-1], b, side="right"))
        k = min(max(k, i), j)
        drop = float(self.beta[k] - self.beta[k + 1])
        share = (float(self.beta[k]) - b) / drop if drop > 0 else 0.0
        return float(self.alpha[k] + min(max(share, 0.0), 1.0) * (self.alpha[k + 1] - self.alpha[k]))

    def _path(self, alpha: FloatArray, beta: FloatArray, loss: FloatArray, safe: NDArray[np.bool_]) -> Path:
        loss = np.append(loss, -np.inf)
        if alpha[-1] < 1.0:
            alpha, beta, loss = np.append(alpha, 1.0), np.append(beta, 0.0), np.append(loss, -np.inf)
            safe = np.append(safe, False)
        return Path(alpha, beta, loss, ~safe, safe, np.zeros(alpha.size, dtype=bool), self.total)


def _times_exp(mass: float, exponent: float) -> float:
    """Return mass * e^exponent without intermediate overflow."""
    return math.exp(min(math.log(mass) + exponent, 700.0)) if mass > 0 else 0.0


def _bent(path: Path, tolerance: float) -> Path:
    """Add points on straight edges where the log view shows them as bends; the linear view does not change.

    A straight edge is concave in the log view, so its drawn chords stay below it: again the safe side.
    """
    alpha, beta, edge = path.alpha, path.beta, np.arange(path.alpha.size)
    for side in (0, 1):
        alpha, beta, edge = _on_the_floor(alpha, beta, edge, side)
    for _ in range(16):
        middle = (0.5 * (alpha[1:] + alpha[:-1]), 0.5 * (beta[1:] + beta[:-1]))
        bad = np.flatnonzero(pixels.deviation((alpha, beta), middle) > tolerance)
        if bad.size == 0 or alpha.size > 2 * pixels.MOST_POINTS:
            break
        alpha, beta = np.insert(alpha, bad + 1, middle[0][bad]), np.insert(beta, bad + 1, middle[1][bad])
        edge = np.insert(edge, bad + 1, edge[bad])
    new = np.concatenate(([False], edge[1:] == edge[:-1]))
    # an edge extended beyond a corner to a meeting point has left the curve there
    beyond = path.safe | np.append(path.safe[1:], False)
    safe = np.where(new, beyond[edge], path.safe[edge])
    return Path(alpha, beta, path.loss[edge], path.corner[edge] & ~new, safe, path.open_loss[edge], path.total)


def _on_the_floor(
    alpha: FloatArray, beta: FloatArray, edge: NDArray[np.int64], side: int
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Add the points where alpha (side 0) or beta (side 1) is the smallest rate of the log view."""
    rate = (alpha, beta)[side]
    below = rate < pixels.FLOOR
    at = np.flatnonzero((below[1:] != below[:-1]) & (np.maximum(rate[1:], rate[:-1]) > pixels.FLOOR))
    share = (rate[at] - pixels.FLOOR) / (rate[at] - rate[at + 1])
    new = [values[at + 1] + (1.0 - share) * (values[at] - values[at + 1]) for values in (alpha, beta)]
    new[side] = np.full(at.size, pixels.FLOOR)
    return np.insert(alpha, at + 1, new[0]), np.insert(beta, at + 1, new[1]), np.insert(edge, at + 1, edge[at])
