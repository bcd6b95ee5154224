r"""The central limit of composition: many small losses add up to a nearly Gaussian one.

With the mean m and the variance v of the loss of one mechanism, k of them are close to Gaussian privacy of

.. math:: \mu = \sqrt k\,\frac{m_1+m_0}{\sqrt{(v_1+v_0)/2}},

with index 1 under P1, and index 0 under P0 for the loss with its sign changed; for a symmetric pair this is
:math:`2\sqrt k\,m/\sqrt v`. It is an approximation, never a promise. For symmetric pairs the error is known: with
:math:`\gamma = 0.56\,\bar\kappa_3/(v^{3/2}\sqrt k)` the exact curve f lies in the band

.. math:: G_\mu(\alpha+\gamma)-\gamma\ \le\ f(\alpha)\ \le\ G_\mu(\alpha-\gamma)+\gamma .

For different mechanisms the means, variances and third moments are summed over the factors first.

A probability d of infinite loss per mechanism does not enter the limit: the pair is its finite part together with the line
of total variation d, and k of them fail with probability :math:`D = 1-(1-d)^k`, so f is (1 - D) times a curve of the band
at alpha / (1 - D). Reference: Dong, Roth, Su (2022), Theorem 3.4 and Corollary 3.6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from dpcore.central_limit.moments import moments, summands
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.core.rounding import failure
from dpcore.curves.polygon import Polygon
from dpcore.words import outward

if TYPE_CHECKING:
    from dpcore.central_limit.moments import Moments
    from dpcore.curves.base import Bounds, Curve, FloatArray
    from dpcore.regions.tradeoff import TradeOff

_BERRY_ESSEEN = 0.56  # the constant of Shevtsova (2010), for losses that need not be identically distributed
_ROUNDING = 1e-14  # outward, for the few operations behind a bound
_GONE = 1e-16  # a profile this small, relative to its start, does not change a moment
_PANELS = 24  # with `_NODES` Gauss nodes each; the result is an approximation, kept inside the bracket of the moments
_NODES = 16


@dataclass(frozen=True, slots=True)
class Limit:
    """The Gaussian limit of one mechanism's composition.

    Attributes
    ----------
    mu : float
        Of one mechanism; k of them have mu sqrt(k).
    lost : float
        Probability of an infinite loss of one mechanism, which no limit removes.
    band : float
        Gamma of one mechanism, gamma / sqrt(k) of k; inf if it is not known.
    mu_bounds : tuple of (float, float), optional
        The bracket of mu if the moments are bracketed; the band covers all of it.
    moments : Moments, optional
        Of the loss, if the pair is symmetric.
    """

    mu: float
    lost: float
    band: float
    mu_bounds: tuple[float, float] = field(default=(0.0, math.inf))
    moments: Moments | None = None

    def gamma(self, k: int) -> float:
        """Return the largest error of both rates after k mechanisms; inf if it is not known or not below 1/2."""
        gamma = self.band / math.sqrt(k)
        return gamma if gamma < 0.5 else math.inf

    def failing(self, k: int) -> float:
        """Return the probability of an infinite loss of k mechanisms."""
        return -math.expm1(k * math.log1p(-self.lost)) + 0.0

    def span(self, k: int) -> tuple[float, float]:
        """Return the false-positive rates that the theorem covers, (1 - D) [gamma, 1 - gamma]; raise if gamma >= 1/2."""
        gamma, success = self.gamma(k), 1.0 - self.failing(k)
        why = self.silence(k)
        if why:
            msg = f"There is no band: {why}"
            raise DomainError(msg)
        return success * gamma, success * (1.0 - gamma)

    def edges(self, k: int, alpha: FloatArray) -> Bounds:
        """Return the two edges of the band at false-positive rates of `span`; the exact curve lies between them."""
        low, high = self.span(k)
        at = np.asarray(alpha, dtype=np.float64)
        if np.any((at < low - _ROUNDING) | (at > high + _ROUNDING)):
            msg = f"The band is about false-positive rates in [{outward(low, 6)}, {outward(high, 6, up=False)}], got {numeral(_first_outside(at, low, high))}."
            raise DomainError(msg)
        gamma, success, root = self.gamma(k), 1.0 - self.failing(k), math.sqrt(k)
        inner = at / success
        lower = _gaussian(np.minimum(inner + gamma, 1.0), self.mu_bounds[1] * root) - gamma
        upper = _gaussian(np.maximum(inner - gamma, 0.0), self.mu_bounds[0] * root) + gamma
        return (
            np.asarray(success * np.maximum(lower, 0.0) * (1 - _ROUNDING), dtype=np.float64),
            np.asarray(np.minimum(success * upper * (1 + _ROUNDING), 1.0 - at), dtype=np.float64),
        )

    def furthest(self, k: int) -> float:
        r"""Return a bound of sup \|f - G\| over all alpha that follows from gamma; inf if gamma is not below 1/2.

        G is convex and falls fastest at 0, so no rate differs by more than
        :math:`(1-D)(\gamma + 1 - G_\mu(\gamma))`.
        """
        gamma = self.gamma(k)
        if math.isinf(gamma):
            return math.inf
        fall = 1.0 - float(_gaussian(np.array([gamma]), self.mu_bounds[1] * math.sqrt(k))[0])
        return min(1.0, (1.0 - self.failing(k)) * (gamma + fall) * (1 + _ROUNDING) + _between(self, k))

    def silence(self, k: int) -> str:
        """Say why there is no band for k mechanisms; empty if there is one."""
        if self.failing(k) >= 1.0:
            return "some mechanism is sure to fail, and nothing is promised."
        if self.gamma(k) < 0.5:
            return ""
        if math.isinf(self.band):
            return "the theorem is about symmetric pairs, and the two directions of this one differ."
        gamma = self.band / math.sqrt(k)
        return f"γ = {nearest(gamma, 4)} is not below 1/2, and the theorem says nothing."


def _first_outside(alpha: FloatArray, low: float, high: float) -> float:
    return float(alpha[(alpha < low - _ROUNDING) | (alpha > high + _ROUNDING)].flat[0])


def _gaussian(alpha: FloatArray, mu: float) -> FloatArray:
    """Return G_mu(alpha), 1 at 0 and 0 at 1."""
    with np.errstate(divide="ignore"):
        value = ndtr(-ndtri(alpha) - mu)
    return np.asarray(np.where(alpha <= 0, 1.0, np.where(alpha >= 1, 0.0, value)), dtype=np.float64)


def _between(limit: Limit, k: int) -> float:
    """Return the largest distance of the curves at the two ends of mu: the normal density is below 0.4."""
    return 0.4 * (limit.mu_bounds[1] - limit.mu_bounds[0]) * math.sqrt(k)


def limit(region: TradeOff) -> Limit:
    """Return the central limit of many copies of a region.

    Parameters
    ----------
    region : TradeOff
        One mechanism, or a product of different ones.

    Returns
    -------
    Limit
        Its mu and, for symmetric pairs, its band; raises `DomainError` if there is no limit.

    Examples
    --------
    >>> from dpcore import dp
    >>> round(limit(dp(0.1)).mu * 10, 8)
    1.00041672
    """
    parts = summands(region)
    if all(curve.symmetric for curve, _ in parts):
        return _symmetric(moments(region), parts)
    mean, variance = _sums(parts)
    _check(variance)
    mu = mean / math.sqrt(variance)
    return Limit(mu, failure((curve.q_inf, count) for curve, count in parts), math.inf, (mu, mu))


def _sums(parts: list[tuple[Curve, int]]) -> tuple[float, float]:
    """Return m_1 + m_0 and (v_1 + v_0) / 2 of the whole, each the sum over the factors."""
    mean = variance = 0.0
    for curve, count in parts:
        first, second = _moments(curve)
        mean += count * (first[0] + first[1])
        variance += count * (second[0] - first[0] ** 2 + second[1] - first[1] ** 2) / 2
    return mean, variance


def _symmetric(moments: Moments, parts: list[tuple[Curve, int]]) -> Limit:
    """Return the limit with its band."""
    _check(moments.variance.lower)
    low = 2 * moments.kl.lower / math.sqrt(moments.variance.upper)
    high = 2 * moments.kl.upper / math.sqrt(moments.variance.lower)
    if moments.kind == "exact":
        mu = low
    else:
        mean, variance = _sums(parts)
        mu = min(high, max(low, mean / math.sqrt(max(variance, moments.variance.lower))))
    gamma = _BERRY_ESSEEN * moments.kappa3_bar.upper / moments.variance.lower**1.5 * (1 + _ROUNDING)
    return Limit(mu, moments.lost, gamma, (low, high), moments)


def _check(variance: float) -> None:
    if not (variance > 0 and math.isfinite(variance)):
        msg = "The central limit needs a loss that varies, with a finite variance."
        raise DomainError(msg)


def _moments(curve: Curve) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return E L and E L^2 of the finite part under P1, then under P0 with the sign of L changed."""
    if isinstance(curve, Polygon):
        success = 1.0 - curve.q_inf
        q, p = curve.q / success, curve.p / success
        loss = curve.loss
        return (float(q @ loss), float(-(p @ loss))), (float(q @ loss**2), float(p @ loss**2))
    t, weight = _grid(curve)
    ahead, back = _profile(curve, t), _profile(curve.inverse(), t)
    fade = np.exp(-t)
    # P1(L > t) = delta(t) - delta'(t) and P1(L < -t) = -e^-t delta_inverse'(t), integrated by parts
    means = (ahead + fade * back) @ weight, (back + fade * ahead) @ weight
    up, down = 2 * (t + 1), 2 * (1 - t) * fade
    squares = (up * ahead + down * back) @ weight, (up * back + down * ahead) @ weight
    return (float(means[0]), float(means[1])), (float(squares[0]), float(squares[1]))


def _profile(curve: Curve, t: FloatArray) -> FloatArray:
    """Return delta of the finite part."""
    return np.asarray((curve.delta_bounds(t)[1] - curve.q_inf) / (1.0 - curve.q_inf), dtype=np.float64)


def _grid(curve: Curve) -> tuple[FloatArray, FloatArray]:
    """Return Gauss nodes and weights from 0 to where both profiles vanish, closer near 0.

    If one direction ends much earlier than the other, as with a small sample, the cells grow from there.
    """
    end = max(curve.max_loss, -curve.min_loss)
    if not math.isfinite(end):
        places = np.geomspace(1e-3, 1e5, 60)
        left = np.maximum(_profile(curve, places), _profile(curve.inverse(), places))
        start = float(left[0])
        negligible = np.flatnonzero(left <= _GONE * max(start, _GONE))
        if not negligible.size:
            msg = "The central limit needs a loss that is bounded or has light tails."
            raise DomainError(msg)
        end = float(places[negligible[0]])
    edges = end * np.linspace(0.0, 1.0, _PANELS + 1) ** 2
    early = min(curve.max_loss, -curve.min_loss)
    if 0 < early < end / 4:
        edges = np.concatenate((early * np.linspace(0.0, 1.0, _PANELS + 1), np.geomspace(early, end, 2 * _PANELS)[1:]))
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    half = np.diff(edges)[:, None] / 2
    middle = (edges[1:] + edges[:-1])[:, None] / 2
    return (middle + half * node).ravel(), (half * weight).ravel()
