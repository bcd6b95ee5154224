r"""Above threshold (sparse vector): the first query whose noisy answer reaches a noisy threshold.

The threshold gets Laplace noise Z of scale Δ/e1, each answer its own of scale 2Δ/e2. Given Z = z the chance to stop at k is the
product of F(z - q_i) over i < k times 1 - F(z - q_k). On a neighbour, with z + Δ in place of z, every F of the product is no
smaller, and the last factor is at least e^{-e2} times as large: so P(k | z) <= e^{e2} P'(k | z + Δ), also for "none". The
loss of (z, k) is therefore at most e2 more than that of Laplace noise moved by Δ, and

    delta(eps) <= delta_L(eps - e2),      delta_L the profile of laplace(e1),

in both directions. The largest region with these profiles is laplace(e1 + e2) for e2 <= e1, else its union with
dp(log(e^{e1} + e^{e2} - 1)). With c answers above the threshold and noise of scale 2cΔ/e2, e2 is that of all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.registry import EPSILON, PROBABILITY, Oracle, register
from dpcore.curves import polygon_algebra
from dpcore.curves.bound import Outer
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.laplace import laplace_curve
from dpcore.regions.algebra import Loose, either
from dpcore.regions.guarantees import pmf_polygon, three_point

if TYPE_CHECKING:
    from dpcore.curves.base import Curve, FloatArray
    from dpcore.curves.polygon import Polygon

_STREAMS = ((1, 1.5), (4, 0.5), (10, 0.0))
"""Attained streams: so many queries that rise, this far (in units of 2Δ/e2) below the threshold, then one that falls as far above it."""
_ATTAINABLE = (1e-3, 20.0)  # values of e1 and e2 for which the streams are integrated
_NODES = np.polynomial.legendre.leggauss(24)  # on panels of a fifth of the smaller scale: exact to rounding
_REACH = 45.0  # scales of the noise on either side of the threshold; the rest has a mass of e^-45


@register(
    "above_threshold",
    title="above threshold (sparse vector)",
    group="mechanism",
    symbol=r"\mathrm{AT}_\varepsilon",
    formula=r"\delta(\varepsilon')\le\delta_{L_{s\varepsilon}}(\varepsilon'-(1-s)\varepsilon)",
    meaning="The first of many queries above a threshold: noise of scale Δ/(sε) on the threshold, 2Δ/((1-s)ε) on each answer.",
    assumptions="Every query moves by at most Δ; there may be any number of them, chosen on the way.",
    reference="Dwork, Naor, Reingold, Rothblum, Vadhan 2009; Lyu, Su, Li 2017",
    kind="upper",
    oracles=(
        Oracle((1.0,), "delta", 0.0, -math.expm1(-0.5), 1e-14, "laplace(1) for equal shares"),
        Oracle((1.2, 1 / 6), "delta", 0.0, 0.4923451469204361, 1e-12, "dp(log(e^0.2 + e - 1))"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class AboveThreshold(Mechanism, Loose):
    """A stream of queries, each compared with one noisy threshold, until the first is above it."""

    epsilon_: float = EPSILON.field()
    share: float = PROBABILITY.but(
        name="share", low_open=True, high_open=True, label="s", meaning="share of ε for the threshold", example=0.5
    ).field(0.5)
    offered: ClassVar[bool] = False
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("epsilon_", 1),)
    why_loose: ClassVar[str] = "the two losses are added up"

    @property
    def parts(self) -> tuple[float, float]:
        """Epsilon of the threshold and of the answers."""
        first = self.share * self.epsilon_
        return first, self.epsilon_ - first

    def _pair(self) -> Curve:
        first, second = self.parts
        outer = laplace_curve(self.epsilon_)
        if math.isinf(self.epsilon_) or self.epsilon_ == 0.0:
            return outer
        if second > first:
            # log(e^a + e^b - 1), b the larger one
            middle = second + math.log1p(math.exp(first - second) - math.exp(-second))
            outer = either([outer, three_point(middle, 0.0, 0.0)])
        inner = self.attained()
        return Outer(outer, [inner] if inner is not None else [], "noise of the threshold and of the last answer")

    def attained(self) -> Curve | None:
        """Return what an attacker can do with a few streams, integrated over the noise of the threshold."""
        if not all(_ATTAINABLE[0] <= part <= _ATTAINABLE[1] for part in self.parts):
            return None
        return _attained(*self.parts)

    @property
    def claimed_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon_


@lru_cache(maxsize=32)
def _attained(first: float, second: float) -> Polygon:
    streams = [stream_chances(first, second, count, distance) for count, distance in _STREAMS]
    return polygon_algebra.union([polygon_algebra.closure(pmf_polygon(*chances)) for chances in streams])


def stream_chances(first: float, second: float, count: int, distance: float) -> tuple[FloatArray, FloatArray]:
    """Return the chances to stop early, at the last query, or never, on two neighbouring datasets.

    `count` queries are `distance` below the threshold and rise by 1; one is as far above it and falls by 1.
    """
    wide, narrow = 1.0 / first, 2.0 / second
    least, most = min(wide, narrow), max(wide, narrow)
    both = []
    for moved in (0.0, 1.0):
        checkpoint()  # up to a million nodes, a tenth of a second
        early, last = -distance * narrow + moved, distance * narrow - moved
        panels = np.arange(-_REACH * most, (_REACH + 15.0) * most, max(least / 5.0, most / 400.0))
        edges = np.unique(np.concatenate((panels, [0.0, early, last])))
        half = 0.5 * np.diff(edges)[:, None]
        z = (edges[:-1, None] + half + half * _NODES[0]).ravel()
        mass = (half * _NODES[1]).ravel() * np.exp(-np.abs(z) / wide) / (2.0 * wide)
        passed = _below((z - early) / narrow) ** count
        stopped = passed * _below((last - z) / narrow)
        both.append(np.array([mass @ (1.0 - passed), mass @ stopped, mass @ (passed - stopped)]))
    return both[0] / both[0].sum(), both[1] / both[1].sum()


def _below(x: FloatArray) -> FloatArray:
    half = 0.5 * np.exp(-np.abs(x))
    return np.asarray(np.where(x < 0, half, 1.0 - half), dtype=np.float64)
