r"""What a measurement proves: lower bounds on the privacy loss of whatever mechanism produced it.

With the stated confidence, every test has false positives of at most a and false negatives of at most b, the upper
limits of its two rates. A mechanism with trade-off curve f has f(true FP) <= true FN for each test, and f falls, so

.. math:: f(a) \le b \quad\text{for every test at once.}

Mixing two tests at random mixes their limits, so f lies below the convex envelope of all points (a, b): the proved curve.
Everything else follows from it:

=========  ===============================================================  =========================
epsilon    log max over tests of (1 - delta - b) / a, (1 - delta - a) / b   f = f_(epsilon, delta)
mu         max over tests of Phi^-1(1 - a) - Phi^-1(b)                      f = G_mu
eta        max over tests of 1 - a - b                                      f = 1 - eta - alpha
=========  ===============================================================  =========================

All these bounds hold together, for every delta, because they follow from the same event.

References: Kairouz, Oh, Viswanath (2015) for the tests; Jagielski, Ullman, Oprea (2020) for audits by Clopper and
Pearson; Nasr et al. (2023) for audits by the Gaussian curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from dpcore.audit.measurements import Counts, Measurement, Scores
from dpcore.core import domains
from dpcore.core.domains import DELTA, FPR
from dpcore.core.lazy import Lazy
from dpcore.regions.guarantees import Points

if TYPE_CHECKING:
    from dpcore.curves.base import Bounds, FloatArray
    from dpcore.regions.tradeoff import TradeOff

CONFIDENCE = 0.95
MOST_CORNERS = 60  # of the proved region, so that its expression fits into a link
_LARGEST_EXPONENT = 700.0  # e^700 is still a double
_DIGITS = 9  # of the corners of the proved region, rounded towards more errors


@dataclass(frozen=True, eq=False)
class Audit:
    """A measurement with its confidence limits.

    Attributes
    ----------
    measurement : Measurement
        Scores or counts.
    confidence : float, default CONFIDENCE
        Probability, before the trials, that all lower bounds on the privacy loss will be right.
    """

    measurement: Measurement
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        """Check the confidence."""
        domains.CONFIDENCE.check(self.confidence)

    @Lazy
    def limits(self) -> Bounds:
        """Upper limits (a, b) of the false positives and false negatives of each test, all at once."""
        return self.measurement.upper(1.0 - self.confidence)

    @Lazy
    def attack(self) -> Bounds:
        """Lower limits of both rates, which hold together with the same confidence: this attack is no better."""
        return self.measurement.lower(1.0 - self.confidence)

    @Lazy
    def proved(self) -> Bounds:
        """Corners of the proved curve, from (0, 1) to (1, 0): no mechanism with a curve above it produced this."""
        return envelope(*self.limits)

    @Lazy
    def measured(self) -> Bounds:
        """Corners of the convex envelope of the measured rates: an estimate, too good by chance."""
        return envelope(*self.measurement.rates())

    @Lazy
    def optimistic(self) -> Bounds:
        """Corners of the envelope of the lower limits: the most this attack can reach; other attacks may do better."""
        return envelope(*self.attack)

    @Lazy
    def region(self) -> TradeOff:
        """The proved curve as a region, which the mechanism's own region contains; at most some dozen corners."""
        alpha, beta = (thinned[1:-1] for thinned in _thinned(self.proved))
        if not alpha.size:
            return Points(((0.0, 1.0),))
        rounded = [np.minimum(1.0, np.ceil(x * 10**_DIGITS) / 10**_DIGITS) for x in (alpha, beta)]
        return Points(tuple(zip(*(x.tolist() for x in rounded), strict=True)))

    # ---- lower bounds on the privacy loss --------------------------------------------------------------------

    def epsilon(self, delta: float = 0.0) -> float:
        """Return a lower bound of epsilon at this delta; 0 if the measurement shows no loss."""
        return float(epsilons(self.proved, delta).max())

    @property
    def mu(self) -> float:
        """A lower bound of the mu of Gaussian privacy; 0 if no loss is shown."""
        return float(mus(self.proved).max())

    @property
    def eta(self) -> float:
        """A lower bound of the total variation, the attacker's advantage; 0 if no loss is shown."""
        return float(etas(self.proved).max())

    def power(self, fpr: float) -> float:
        """Return a lower bound of the share of members that tests with this rate of false positives find."""
        return power_of(self.proved, fpr)

    def delta(self, epsilon: float) -> float:
        """Return a lower bound of delta at this epsilon: max of 1 - b - e^epsilon a over tests, in both directions."""
        alpha, beta = self.proved
        times = math.exp(min(epsilon, _LARGEST_EXPONENT))
        gain = np.concatenate((1.0 - beta - times * alpha, 1.0 - alpha - times * beta))
        return max(0.0, float(gain.max()))

    def ceiling(self, delta: float = 0.0) -> float:
        """Return the largest epsilon that this number of trials could prove: that of an attack without any error."""
        limits = perfect(self.measurement).upper(1.0 - self.confidence)
        return float(epsilons(limits, delta).max())


def audit(measurement: Measurement, confidence: float = CONFIDENCE) -> Audit:
    """Return what a measurement proves.

    Parameters
    ----------
    measurement : Measurement
        `Scores` or `Counts`; every trial independent of the others.
    confidence : float, default CONFIDENCE
        In [0.5, 0.999999], chosen before looking.

    Returns
    -------
    Audit
        The measurement with its confidence limits.
    """
    return Audit(measurement, confidence)


def perfect(measurement: Measurement) -> Measurement:
    """Return what an attack without any error would have measured in the same number of trials."""
    if isinstance(measurement, Scores):
        out, own = measurement.trials
        return Scores(np.zeros(out), np.ones(own))
    zero = np.zeros(measurement.tp.size, dtype=np.int64)
    return Counts(measurement.tp + measurement.fn, zero, measurement.tn + measurement.fp, zero)


# ---- from points to numbers ----------------------------------------------------------------------------------


def epsilons(points: Bounds, delta: float) -> FloatArray:
    """Return for each point the smallest epsilon >= 0 whose (epsilon, delta) curve lies below it; inf if none does."""
    DELTA.check(delta)
    alpha, beta = points
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.fmax((1.0 - beta - delta) / alpha, (1.0 - alpha - delta) / beta)
    factors = np.where(np.isnan(factors), 1.0, factors)  # 0 / 0: every curve passes through the point
    return np.asarray(np.log(np.maximum(factors, 1.0)), dtype=np.float64)


def mus(points: Bounds) -> FloatArray:
    """Return for each point the smallest mu >= 0 whose Gaussian curve lies below it; inf if none does."""
    alpha, beta = points
    inside = (alpha < 1.0) & (beta < 1.0)  # the ends (0, 1) and (1, 0) belong to every curve
    values = -ndtri(np.where(inside, alpha, 0.5)) - ndtri(np.where(inside, beta, 0.5))
    return np.asarray(np.maximum(values, 0.0), dtype=np.float64)


def etas(points: Bounds) -> FloatArray:
    """Return for each point its advantage 1 - alpha - beta, at least 0."""
    return np.asarray(np.maximum(1.0 - points[0] - points[1], 0.0), dtype=np.float64)


def power_of(points: Bounds, fpr: float) -> float:
    """Return 1 - beta on the envelope of the points at a false-positive rate."""
    FPR.check(fpr)
    alpha, beta = points
    last = alpha.size - 1 - int(np.argmax(alpha[::-1] <= fpr))  # at a jump the lower end counts
    return float(1.0 - beta[last]) if alpha[last] == fpr else float(1.0 - np.interp(fpr, alpha, beta))


def envelope(alpha: FloatArray, beta: FloatArray) -> Bounds:
    """Return the corners of the lower convex envelope of points with (0, 1) and (1, 0), by rising alpha."""
    a, b = np.concatenate(([0.0], alpha, [1.0])), np.concatenate(([1.0], beta, [0.0]))
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    falling = np.concatenate(([True], b[1:] < np.minimum.accumulate(b)[:-1]))
    corners: list[tuple[float, float]] = []
    for x, y in zip(a[falling].tolist(), b[falling].tolist(), strict=True):
        while len(corners) > 1 and _above(corners[-2], corners[-1], (x, y)):  # every point is removed once at most
            corners.pop()
        corners.append((x, y))
    hull = [(0.0, 1.0), *corners] if corners[0] != (0.0, 1.0) else corners
    hull = hull if hull[-1] == (1.0, 0.0) else [*hull, (1.0, 0.0)]
    return np.array([x for x, _ in hull]), np.array([y for _, y in hull])


def _above(first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]) -> bool:
    """Whether the middle point lies on or above the line from the first to the last."""
    (x0, y0), (x1, y1), (x2, y2) = first, middle, last
    return (y1 - y0) * (x2 - x0) >= (y2 - y0) * (x1 - x0)


def _thinned(points: Bounds) -> Bounds:
    """Return some dozen corners, including the most telling ones: leaving one out proves less, never more."""
    alpha, beta = points
    best = [int(np.argmax(values)) for values in (epsilons(points, 0.0), mus(points), etas(points))]
    spread = np.linspace(0, alpha.size - 1, min(alpha.size, MOST_CORNERS)).astype(np.int64)
    keep = np.unique(np.append(spread, best))
    return alpha[keep], beta[keep]
