r"""k-noise and k-PRAM on a column of numbers: what they do to a record, and how many others are near it afterwards.

k-noise adds :math:`U[-a,a]`; k-PRAM draws a new value in the record's bin of width w.
Given the data both have exact moments, and the expected number of noisy records near a point is exact too. Neither
bounds what an attacker learns about a record in an empty neighbourhood; as additive noise, k-noise is exactly
:math:`(0,\Delta/2a)`-private for values that differ by Δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.registry import Parameter
from dpcore.planner.disclosure.chance import uniforms

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray

HALFWIDTH = Parameter("halfwidth", low=1e-6, high=1e9, label="a", meaning="the noise lies in [-a, a]")
WIDTH = Parameter("width", low=1e-6, high=1e9, label="w", meaning="width of the bins")


def expected_near(points: FloatArray, data: FloatArray, halfwidth: float, radius: float) -> FloatArray:
    """Return for each point the expected number of noisy records within `radius`: exact for fixed data.

    The share of a record is flat up to |r - a| and falls in a straight line to 0 at r + a, so counts and sums of sorted
    records suffice: a million records take seconds.
    """
    order = np.sort(data)
    middle = float(order[len(order) // 2])
    sums = np.concatenate([[0.0], np.cumsum(order - middle)])
    flat, reach = abs(radius - halfwidth), radius + halfwidth
    below, above = points - flat, points + flat
    low, start = np.searchsorted(order, points - reach), np.searchsorted(order, below)
    end, high = np.searchsorted(order, above, side="right"), np.searchsorted(order, points + reach, side="right")
    rising = (sums[start] - sums[low]) - (start - low) * (points - reach - middle)
    falling = (high - end) * (points + reach - middle) - (sums[high] - sums[end])
    top = min(1.0, radius / halfwidth)
    return np.asarray(top * (end - start) + (rising + falling) / (2.0 * halfwidth), dtype=np.float64)


def near(points: FloatArray, data: FloatArray, radius: float) -> NDArray[np.int64]:
    """Return for each point the number of records strictly within `radius`."""
    order = np.sort(data)
    first = np.searchsorted(order, points - radius, side="right")
    return np.asarray(np.searchsorted(order, points + radius, side="left") - first, dtype=np.int64)


def smallest_group(data: FloatArray, radius: float) -> int:
    """Return the least number of records strictly within `radius` of any x in their range.

    The count is constant between the borders of records and no larger at a border, so borders and ends decide.
    """
    low, high = float(data.min()), float(data.max())
    borders = np.concatenate([data - radius, data + radius, [low, high]])
    inside = borders[(borders >= low) & (borders <= high)]
    return int(near(inside, data, radius).min())


@dataclass(frozen=True, slots=True)
class ReleaseErrors:
    """Bias (true minus released), mean squared error and the standard error of the bias of one draw."""

    bias: float
    mse: float
    bias_error: float

    @property
    def rmse(self) -> float:
        """Root of the mean squared error."""
        return math.sqrt(self.mse)


def bins_of(data: FloatArray, width: float, start: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper end of each record's bin (low, high] of this width, one of which begins at `start`."""
    WIDTH.check(width)
    low = start + width * (np.ceil((data - start) / width) - 1.0)
    return np.asarray(low, dtype=np.float64), np.asarray(low + width, dtype=np.float64)


def smallest_bin(data: FloatArray, width: float, start: float = 0.0) -> int:
    """Return how many records the emptiest bin with records has: the k of k-PRAM."""
    low, _ = bins_of(data, width, start)
    return int(np.unique(low, return_counts=True)[1].min())


def k_pram_moments(data: FloatArray, width: float = 5.0, start: float = 0.0) -> ReleaseErrors:
    r"""Return the exact moments of k-PRAM on these data: the release is uniform in the record's bin with centre c.

    .. math:: \text{bias}=\overline{x-c},\quad\text{MSE}=\frac{w^2}{12}+\overline{(x-c)^2}

    For data uniform in their bins the MSE is w²/6 and the bias 0 on average over data.
    """
    low, high = bins_of(data, width, start)
    off = data - (low + high) / 2.0
    each = width * width / 12.0
    return ReleaseErrors(float(off.mean()), each + float(np.mean(off * off)), math.sqrt(each / len(data)))


def k_noise_moments(count: int, halfwidth: float = 2.5) -> ReleaseErrors:
    """Return the exact moments of k-noise: bias 0, MSE a²/3."""
    a = HALFWIDTH.check(halfwidth)
    return ReleaseErrors(0.0, a * a / 3.0, a / math.sqrt(3.0 * count))


def k_pram(data: FloatArray, rng: Generator | None, width: float = 5.0, start: float = 0.0) -> FloatArray:
    """Return one release of k-PRAM: for each record a new value, uniform in its bin."""
    low, high = bins_of(data, width, start)
    return np.asarray(low + (high - low) * uniforms(len(data), rng), dtype=np.float64)


def k_noise(data: FloatArray, rng: Generator | None, halfwidth: float = 2.5) -> FloatArray:
    """Return one release of k-noise."""
    return np.asarray(data + (2.0 * halfwidth * uniforms(len(data), rng) - halfwidth), dtype=np.float64)
