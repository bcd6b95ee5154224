r"""The central limit of composition: many small losses add up to a Gaussian one.

With the mean m and the variance v of the loss of one mechanism, k of them are close to Gaussian privacy of

.. math:: \mu = \sqrt k\,\frac{m_1+m_0}{\sqrt{(v_1+v_0)/2}},

index 1 under P1 and 0 (of the loss with its sign changed) under P0; for a symmetric pair this is
:math:`2\sqrt k\,m/\sqrt v`. An approximation, never a promise. For symmetric polygons of finite loss the error is
known: at most :math:`\gamma = 0.56\,\bar\kappa_3/(v^{3/2}\sqrt k)` in both rates.
Reference: Dong, Roth, Su (2022), Theorem 3.4 and Corollary 3.6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.algebra import Additive, SelfComposing
from dpcore.curves.polygon import Polygon
from dpcore.errors import DomainError
from dpcore.tradeoff import shorten

if TYPE_CHECKING:
    from dpcore.curves.base import Curve, FloatArray
    from dpcore.tradeoff import TradeOff

_BERRY_ESSEEN = 0.56
_GONE = 1e-16
_PANELS = 24
_NODES = 16


@dataclass(frozen=True, slots=True)
class Limit:
    """The Gaussian limit of one mechanism's composition.

    Attributes
    ----------
    mu : of one mechanism; k of them have mu sqrt(k).
    lost : failure probability of one mechanism, which no limit removes.
    band : gamma of one mechanism, gamma / sqrt(k) of k; inf where it is not known.
    """

    mu: float
    lost: float
    band: float

    def gamma(self, k: int) -> float:
        """Return the largest error of both rates after k mechanisms; inf where it is not known or says nothing."""
        found = self.band / math.sqrt(k)
        return found if found < 0.5 else math.inf


def limit(region: TradeOff) -> Limit:
    """Return the central limit of many copies of a region, or say why there is none."""
    if isinstance(region, (Additive, SelfComposing)):
        msg = f"{shorten(str(region))} does not compose by adding independent losses."
        raise DomainError(msg)
    curve = region.pair if region.oriented or region.pair.symmetric else region.curve
    if curve.q_inf != curve.p_inf or curve.q_inf >= 1.0:
        msg = "The central limit needs the same failure probability, below 1, in both directions."
        raise DomainError(msg)
    first, second = _moments(curve)
    variance = (second[0] - first[0] ** 2 + second[1] - first[1] ** 2) / 2
    if not (variance > 0 and math.isfinite(variance)):
        msg = "The central limit needs a loss that varies, with a finite variance."
        raise DomainError(msg)
    return Limit((first[0] + first[1]) / math.sqrt(variance), curve.q_inf, _band(curve, first[0], variance))


def _moments(curve: Curve) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return E L and E L^2 of the finite part under P1, then under P0 with the sign of L changed."""
    if isinstance(curve, Polygon):
        kept = 1.0 - curve.q_inf
        q, p = curve.q / kept, curve.p / kept
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
    """Return Gauss nodes and weights from 0 to where both profiles are gone, closer near 0."""
    end = max(curve.max_loss, -curve.min_loss)
    if not math.isfinite(end):
        places = np.geomspace(1e-3, 1e5, 60)
        left = np.maximum(_profile(curve, places), _profile(curve.inverse(), places))
        start = float(left[0])
        gone = np.flatnonzero(left <= _GONE * max(start, _GONE))
        if not gone.size:
            msg = "The central limit needs a loss that is bounded or has light tails."
            raise DomainError(msg)
        end = float(places[gone[0]])
    edges = end * np.linspace(0.0, 1.0, _PANELS + 1) ** 2
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    half = np.diff(edges)[:, None] / 2
    middle = (edges[1:] + edges[:-1])[:, None] / 2
    return (middle + half * node).ravel(), (half * weight).ravel()


def _band(curve: Curve, mean: float, variance: float) -> float:
    """Return 0.56 E|L - m|^3 / v^1.5 of a symmetric polygon without failures, otherwise inf."""
    if not isinstance(curve, Polygon) or not curve.symmetric or curve.q_inf > 0:
        return math.inf
    third = float(curve.q @ np.abs(curve.loss - mean) ** 3)
    return float(_BERRY_ESSEEN * third / variance**1.5)
