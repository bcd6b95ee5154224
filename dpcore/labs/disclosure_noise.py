r"""k-PRAM and k-noise on ages: expected group sizes, bias and mean squared error, exactly and by simulation.

k-PRAM draws a new value in the own bin of width w; k-noise adds :math:`U[-a,a]`. Given the data both have exact moments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.registry import Parameter

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray

EDGES: Final = tuple(range(19, 80, 5))
COUNTS: Final = (32, 100, 121, 81, 62, 79, 84, 57, 31, 9, 2, 1)
NOISY_COUNTS: Final = (39, 96, 119, 72, 73, 77, 74, 64, 31, 11, 2, 1)  # one draw of k-noise, as printed
PRINTED_GROUP = 81.40651  # mean number of noisy ages within 2.5 years, 1000 draws
PRINTED: Final = {"k-PRAM": (0.06881953, 4.398563, 2.097275), "k-noise": (0.03408935, 2.060666, 1.435502)}  # Table 3.4
YOUNGEST, OLDEST = 22.0, 78.0  # ages 22 to 77, with a fraction of a year added
HALFWIDTH = Parameter("halfwidth", low=0.01, high=50.0, label="a", meaning="the noise lies in [-a, a]")
WIDTH = Parameter("width", low=0.1, high=100.0, label="w", meaning="width of the bins")
_PAIRS_AT_ONCE = 2_000_000  # 16 MB per array


def ages(seed: int = 0) -> FloatArray:
    """Return 659 made-up ages with the printed bin counts, drawn uniformly in each bin, none below 22 or above 78.

    The source's data are not public under a name; their bin counts, least and largest age are known.
    """
    rng = np.random.default_rng(seed)
    parts = [
        rng.uniform(max(low, YOUNGEST), min(low + 5.0, OLDEST), count)
        for low, count in zip(EDGES[:-1], COUNTS, strict=True)
    ]
    return np.concatenate(parts)


def share_near(distance: Any, halfwidth: float, radius: float) -> FloatArray:
    r"""Return the probability that x + U[-a, a] comes within r of a point at this distance from x.

    .. math:: w(d)=\frac{\max\{0,\ \min(a,r-d)-\max(-a,-r-d)\}}{2a}

    For a = delta and r = 2 delta: 1 up to delta, then falling in a straight line to 0 at 3 delta, 1/2 at 2 delta.
    """
    d = np.abs(np.asarray(distance, dtype=np.float64))
    room = np.minimum(halfwidth, radius - d) - np.maximum(-halfwidth, -radius - d)
    return np.asarray(np.maximum(0.0, room) / (2.0 * halfwidth), dtype=np.float64)


def expected_near(points: FloatArray, data: FloatArray, halfwidth: float, radius: float) -> FloatArray:
    """Return for each point the expected number of noisy records within `radius`: exact, the data being fixed."""
    chunk = max(1, _PAIRS_AT_ONCE // len(data))
    parts = []
    for start in range(0, len(points), chunk):
        if start:
            checkpoint(start / len(points))
        parts.append(share_near(points[start : start + chunk, None] - data, halfwidth, radius).sum(axis=1))
    return np.concatenate(parts)


def near(points: FloatArray, data: FloatArray, radius: float) -> NDArray[np.int64]:
    """Return for each point the number of records strictly within `radius`."""
    order = np.sort(data)
    first = np.searchsorted(order, points - radius, side="right")
    return np.asarray(np.searchsorted(order, points + radius, side="left") - first, dtype=np.int64)


def smallest_group(data: FloatArray, radius: float) -> int:
    """Return the k of Theorem 3.5.1: the least number of records strictly within `radius` of any x in their range.

    Between two records' borders the count is constant and at a border no larger, so the borders and ends decide.
    """
    low, high = float(data.min()), float(data.max())
    borders = np.concatenate([data - radius, data + radius, [low, high]])
    inside = borders[(borders >= low) & (borders <= high)]
    return int(near(inside, data, radius).min())


def expected_bins(data: FloatArray, halfwidth: float, edges: tuple[float, ...] = EDGES) -> FloatArray:
    """Return the expected bin counts after k-noise, exactly: the sum of the shares of noise that end in each bin."""
    cuts = np.asarray(edges, dtype=np.float64)
    below = np.clip((cuts - data[:, None] + halfwidth) / (2.0 * halfwidth), 0.0, 1.0)
    return np.asarray(np.diff(below.sum(axis=0)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class ReleaseErrors:
    """Bias (true minus released, as in the source), mean squared error and the standard error of the bias of one draw."""

    bias: float
    mse: float
    bias_error: float

    @property
    def rmse(self) -> float:
        """Root of the mean squared error."""
        return math.sqrt(self.mse)


def bins_of(data: FloatArray, width: float, start: float = EDGES[0]) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper end of each record's bin (low, high] of this width."""
    WIDTH.check(width)
    low = start + width * (np.ceil((data - start) / width) - 1.0)
    return np.asarray(low, dtype=np.float64), np.asarray(low + width, dtype=np.float64)


def k_pram_moments(data: FloatArray, width: float = 5.0) -> ReleaseErrors:
    r"""Return the exact moments of k-PRAM on these data: release uniform in the own bin, centre c.

    .. math:: \text{bias}=\overline{x-c},\quad\text{MSE}=\frac{w^2}{12}+\overline{(x-c)^2}

    For data uniform in their bins the MSE is w²/6 and the bias 0 on average over data.
    """
    low, high = bins_of(data, width)
    off = data - (low + high) / 2.0
    each = width * width / 12.0
    return ReleaseErrors(float(off.mean()), each + float(np.mean(off * off)), math.sqrt(each / len(data)))


def k_noise_moments(count: int, halfwidth: float = 2.5) -> ReleaseErrors:
    """Return the exact moments of k-noise: bias 0, MSE a²/3."""
    a = HALFWIDTH.check(halfwidth)
    return ReleaseErrors(0.0, a * a / 3.0, a / math.sqrt(3.0 * count))


def k_pram(data: FloatArray, rng: Generator, width: float = 5.0) -> FloatArray:
    """Return one release of k-PRAM: for each record a new value, uniform in its bin."""
    low, high = bins_of(data, width)
    return rng.uniform(low, high)


def k_noise(data: FloatArray, rng: Generator, halfwidth: float = 2.5) -> FloatArray:
    """Return one release of k-noise."""
    return data + rng.uniform(-halfwidth, halfwidth, len(data))


def simulated(data: FloatArray, release: FloatArray) -> tuple[float, float, float]:
    """Return bias (true minus released), mean squared error and its root of one release: a row of Table 3.4."""
    if data.shape != release.shape:
        msg = f"data and release must have the same length, got {len(data)} and {len(release)}."
        raise DomainError(msg)
    off = data - release
    mse = float(np.mean(off * off))
    return float(off.mean()), mse, math.sqrt(mse)
