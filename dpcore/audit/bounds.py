r"""What a measurement proves: lower bounds on the privacy loss of whatever mechanism produced it.

With the confidence stated, every test looked at has false positives of at most a and false negatives of at most b, the
upper limits of its two rates. A mechanism with trade-off curve f has f(true FP) <= true FN for each test, and f falls, so

.. math:: f(a) \le b \quad\text{for every test at once.}

Mixing two tests by chance mixes their limits, so f lies below the convex envelope of all points (a, b): the proved curve.
Everything else follows from it:

=========  ===============================================================  =========================
epsilon    log max over tests of (1 - delta - b) / a, (1 - delta - a) / b   f = f_(epsilon, delta)
mu         max over tests of Phi^-1(1 - a) - Phi^-1(b)                      f = G_mu
eta        max over tests of 1 - a - b                                      f = 1 - eta - alpha
=========  ===============================================================  =========================

All these bounds hold together, whatever delta is asked, because they follow from the same event.

References: Kairouz, Oh, Viswanath (2015) for the tests; Jagielski, Ullman, Oprea (2020) for audits by Clopper and
Pearson; Nasr et al. (2023) for audits by the Gaussian curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from dpcore.audit.measurements import Counts, Measurement, Scores
from dpcore.core import domains
from dpcore.core.domains import DELTA, FPR
from dpcore.regions.guarantees import Points

if TYPE_CHECKING:
    from dpcore.curves.base import Bounds, FloatArray
    from dpcore.regions.tradeoff import TradeOff

CONFIDENCE = 0.95
MOST_CORNERS = 60
_LARGEST_EXPONENT = 700.0  # e^700 still is a double
_DIGITS = 9  # of the corners of the proved region, rounded towards more errors


@dataclass(frozen=True, eq=False)
class Audit:
    """A measurement with its confidence limits.

    Attributes
    ----------
    measurement : scores or counts.
    confidence : probability, before the trials, that all lower bounds on the privacy loss will be right.
    """

    measurement: Measurement
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        """Check the confidence."""
        domains.CONFIDENCE.check(self.confidence)

    @cached_property
    def limits(self) -> Bounds:
        """Upper limits (a, b) of the false positives and false negatives of each test, all at once."""
        return self.measurement.upper(1.0 - self.confidence)

    @cached_property
    def attack(self) -> Bounds:
        """Lower limits of both rates, which hold together with the same confidence: this attack is no better than they say."""
        return self.measurement.lower(1.0 - self.confidence)

    @cached_property
    def proved(self) -> Bounds:
        """Corners of the proved curve, from (0, 1) to (1, 0): no mechanism whose curve runs above it produced this."""
        return envelope(*self.limits)

    @cached_property
    def measured(self) -> Bounds:
        """Corners of the convex envelope of the measured rates: an estimate, too good by chance."""
        return envelope(*self.measurement.rates())

    @cached_property
    def optimistic(self) -> Bounds:
        """Corners of the envelope of the lower limits: what this attack can reach at most, other attacks may do better."""
        return envelope(*self.attack)

    @cached_property
    def region(self) -> TradeOff:
        """The proved curve as a region, which the mechanism's own region contains; some dozen corners at most."""
        alpha, beta = (thinned[1:-1] for thinned in _thinned(self.proved))
        if not alpha.size:
            return Points(((0.0, 1.0),))
        rounded = [np.minimum(1.0, np.ceil(x * 10**_DIGITS) / 10**_DIGITS) for x in (alpha, beta)]
        return Points(tuple(zip(*(x.tolist() for x in rounded), strict=True)))

    # ---- lower bounds on the privacy loss --------------------------------------------------------------------

    def epsilon(self, delta: float = 0.0) -> float:
        """Return the epsilon that is needed at least at this delta; 0: the measurement shows no loss."""
        return float(epsilons(self.proved, delta).max())

    @property
    def mu(self) -> float:
        """The mu of Gaussian privacy that is needed at least; 0: no loss is shown."""
        return float(mus(self.proved).max())

    @property
    def eta(self) -> float:
        """The total variation that is needed at least: the attacker's advantage; 0: no loss is shown."""
        return float(etas(self.proved).max())

    def power(self, fpr: float) -> float:
        """Return the share of members that tests with this rate of false positives find at least."""
        return power_of(self.proved, fpr)

    def delta(self, epsilon: float) -> float:
        """Return the delta that is needed at least at this epsilon: max of 1 - b - e^epsilon a over tests, both ways."""
        alpha, beta = self.proved
        times = math.exp(min(epsilon, _LARGEST_EXPONENT))
        gain = np.concatenate((1.0 - beta - times * alpha, 1.0 - alpha - times * beta))
        return max(0.0, float(gain.max()))

    def ceiling(self, delta: float = 0.0) -> float:
        """Return the largest epsilon that as many trials could prove: that of an attack without any error."""
        limits = perfect(self.measurement).upper(1.0 - self.confidence)
        return float(epsilons(limits, delta).max())


def audit(measurement: Measurement, confidence: float = CONFIDENCE) -> Audit:
    """Return what a measurement proves.

    Parameters
    ----------
    measurement : `Scores` or `Counts`; every trial independent of the others.
    confidence : in [0.5, 0.999999], chosen before looking.
    """
    return Audit(measurement, confidence)


def perfect(measurement: Measurement) -> Measurement:
    """Return what an attack without any error would have measured in as many trials."""
    if isinstance(measurement, Scores):
        out, own = measurement.trials
        return Scores(np.zeros(out), np.ones(own))
    zero = np.zeros(measurement.tp.size, dtype=np.int64)
    return Counts(measurement.tp + measurement.fn, zero, measurement.tn + measurement.fp, zero)


# ---- from points to numbers ----------------------------------------------------------------------------------


def epsilons(points: Bounds, delta: float) -> FloatArray:
    """Return for each point the smallest epsilon >= 0 whose (epsilon, delta) curve lies below it; inf where none does."""
    DELTA.check(delta)
    alpha, beta = points
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.fmax((1.0 - beta - delta) / alpha, (1.0 - alpha - delta) / beta)
    factors = np.where(np.isnan(factors), 1.0, factors)  # 0 / 0: a curve through the point asks for nothing more
    return np.asarray(np.log(np.maximum(factors, 1.0)), dtype=np.float64)


def mus(points: Bounds) -> FloatArray:
    """Return for each point the smallest mu >= 0 whose Gaussian curve lies below it; inf where none does."""
    alpha, beta = points
    inside = (alpha < 1.0) & (beta < 1.0)  # the ends (0, 1) and (1, 0) belong to every curve
    found = -ndtri(np.where(inside, alpha, 0.5)) - ndtri(np.where(inside, beta, 0.5))
    return np.asarray(np.maximum(found, 0.0), dtype=np.float64)


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
        while len(corners) > 1 and _above(corners[-2], corners[-1], (x, y)):
            corners.pop()
        corners.append((x, y))
    found = [(0.0, 1.0), *corners] if corners[0] != (0.0, 1.0) else corners
    found = found if found[-1] == (1.0, 0.0) else [*found, (1.0, 0.0)]
    return np.array([x for x, _ in found]), np.array([y for _, y in found])


def _above(first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]) -> bool:
    """Whether the middle point lies on or above the line from the first to the last."""
    (x0, y0), (x1, y1), (x2, y2) = first, middle, last
    return (y1 - y0) * (x2 - x0) >= (y2 - y0) * (x1 - x0)


def _thinned(points: Bounds) -> Bounds:
    """Return some dozen of the corners, the most telling among them: leaving one out proves less, never more."""
    alpha, beta = points
    best = [int(np.argmax(values)) for values in (epsilons(points, 0.0), mus(points), etas(points))]
    spread = np.linspace(0, alpha.size - 1, min(alpha.size, MOST_CORNERS)).astype(np.int64)
    keep = np.unique(np.append(spread, best))
    return alpha[keep], beta[keep]
