r"""Errors of noise and bias together: what clipping moved and what noise adds, at once.

Clipping a record to public bounds moves the answer by b before any noise comes. A release is then off by N + b, or, for a
true count c that is clipped at 0 after the noise, by max(N, -c) + b. With the excess :math:`h(x) = E (N-x)^+`, x >= 0,

.. math::
    E|N+b| = |b| + 2h(|b|), \qquad E|max(N,-c)+b| = |b| + 2h(|b|) - h(c), \qquad E\,max(N,-c) = h(c),

and the chance to be off by more than s is P(N > s - b) + P(N > s + b), the second term for s < c - b only if the count
is clipped at 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.utility.base import Fact
from dpcore.utility.noise import CentredNoise, least_reach, worst_beyond, worst_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_PANELS = 32  # on each side of every bias; with 20 nodes each, more of them change nothing beyond rounding
_NOTHING = 1e-18  # tail left out of an integral: below the rounding of its value
_MOST_BIASES = 32  # up to this many different biases the mean of the worst error is integrated; beyond, bounded
_MOST_TERMS = 1_000_000  # integers summed one by one


@dataclass(frozen=True)
class Off:
    """Coordinates with independent noise of one law, each with a bias of its own.

    Attributes
    ----------
    noise : CentredNoise
        The law.
    bias : ndarray of float
        By how much each coordinate is off without noise.
    counts : ndarray of float, optional
        The counts to which noise is added, if the sum is clipped at 0; None if it is not.
    """

    noise: CentredNoise
    bias: FloatArray
    counts: FloatArray | None = None

    def log_inside(self, s: FloatArray) -> FloatArray:
        """Return the logarithm of the chance that every coordinate is off by at most s >= 0."""
        s = np.asarray(s, dtype=np.float64)
        moved = self.bias != 0
        at, bias = s[..., None], self.bias[moved]
        down = self.noise.above(at + bias)
        if self.counts is not None:
            down = np.where(at < self.counts[moved] - bias, down, 0.0)
        chance = np.minimum(1.0, self.noise.above(at - bias) + down)
        many = int(np.count_nonzero(~moved))
        counts = None if self.counts is None else np.sort(self.counts[~moved])
        others = worst_beyond(self.noise, many, s, counts) if many else np.zeros(s.shape)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log1p(-chance).sum(axis=-1) + np.log1p(-others), dtype=np.float64)

    @property
    def absolute(self) -> float:
        """Sum of the mean absolute errors."""
        size = np.abs(self.bias)
        total = size + 2.0 * self.noise.excess(size)
        return float(np.sum(total if self.counts is None else total - self.noise.excess(self.counts)))

    @property
    def squared(self) -> float:
        """Sum of the mean squared errors."""
        if self.counts is None:
            return float(np.sum(self.bias**2)) + self.bias.size * self.noise.variance
        second = self.noise.clipped(self.counts)[1]
        return float(np.sum(second + 2.0 * self.bias * self.noise.excess(self.counts) + self.bias**2))


def missed(parts: Sequence[Off], s: FloatArray) -> FloatArray:
    """Return the chance that some coordinate is off by more than s >= 0; all are independent."""
    return np.asarray(-np.expm1(np.sum([part.log_inside(s) for part in parts], axis=0)), dtype=np.float64)


def off_quantile(parts: Sequence[Off], miss: float) -> float:
    """Return the smallest t that no coordinate exceeds in a share 1 - miss of the releases, rounded up."""

    def at(t: float) -> float:
        return float(missed(parts, np.array(t)))

    if at(0.0) <= miss:
        return 0.0
    each = -math.expm1(math.log1p(-miss) / sum(part.bias.size for part in parts))
    high = max(float(np.abs(part.bias).max()) + part.noise.reach(each) for part in parts)
    high = least_reach(at, miss, 0.0, high)
    whole = float(round(high))  # errors of integers are integers
    return whole if abs(whole - high) <= 1e-12 * high and at(whole) <= miss else high


def off_mean(parts: Sequence[Off]) -> tuple[float, str]:
    """Return the mean of the largest error, and whether that is exact or an upper bound.

    The integral of `missed` is taken where there are few different biases, for integer noise where all biases are whole
    and errors are moderate. Otherwise the largest bias and the largest noise are added up.
    """
    biases = np.unique(np.abs(np.concatenate([part.bias for part in parts])))
    ends = [part.noise.reach(_NOTHING / part.bias.size) for part in parts]
    last = float(biases[-1]) + max(ends)
    if any(part.noise.integer for part in parts):
        if last <= _MOST_TERMS and (biases == np.floor(biases)).all():
            return float(np.sum(missed(parts, np.arange(last + 1.0)))), "exact"
    elif biases.size <= _MOST_BIASES:
        steps = np.linspace(0.0, max(ends), _PANELS + 1)
        breaks = [np.array([0.0, last]), biases, *(b + side * steps for b in biases for side in (-1.0, 1.0))]
        breaks += [part.counts - part.bias for part in parts if part.counts is not None]
        knots = np.unique(np.clip(np.concatenate(breaks), 0.0, last))
        half = 0.5 * np.diff(knots)
        t = (knots[:-1] + half)[:, None] + half[:, None] * _NODES
        return float(np.sum(half * (missed(parts, t) @ _WEIGHTS))), "exact"
    return float(biases[-1]) + sum(worst_mean(part.noise, part.bias.size) for part in parts), "upper"


BIASED = "and what clipping to the bounds moves"


def off_facts(part: Off, miss: float) -> list[Fact]:
    """Return what is known of coordinates with noise of one law and a bias each."""
    law = part.noise.name
    many = part.bias.size
    each = f"{law} noise" if many == 1 else f"{many} times {law} noise"
    mean, kind = off_mean([part])
    return [
        Fact("mse", part.squared, "exact", f"squared bias plus variance: {each} {BIASED}", r"b^2+\sigma^2"),
        Fact("l1", part.absolute, "exact", f"mean absolute value of {each} {BIASED}"),
        Fact("worst", mean, kind, f"mean of the largest error of {each} {BIASED}"),
        Fact("quantile", off_quantile([part], miss), "exact", f"quantile of {each} {BIASED}"),
    ]
