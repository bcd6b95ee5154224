r"""Moments of the loss, the numbers behind the central limit of composition.

For a symmetric pair with loss L, all under P1 and of the finite part,

.. math:: kl = E\,L,\quad \kappa_2 = E\,L^2,\quad \kappa_3 = E\,|L|^3,\quad \bar\kappa_3 = E\,|L-kl|^3 .

Polygons have exact sums, Laplace and Gaussian noise closed forms. For any other curve they follow from the profile,

.. math:: E\,g(L) = \int_0^\infty w(t)\,\delta(t)\,dt,\qquad w(t) = g'(t) + \frac{d}{dt}\bigl(g'(t) - e^{-t} g'(-t)\bigr),

for g with g(0) = 0, by parts from P1(L > t) = delta - delta' and P1(L < -t) = -e^-t delta'. Because delta is convex
in e^t, it lies below its chords and above the prolonged chords of neighbouring cells: every moment gets a bracket.
Losses of a product are independent given the datasets. So the moments in the theorem for different mechanisms are sums
over the factors, and a power of a product is a product with more of each.
Reference: Dong, Roth, Su (2022), Section 3.2; the closed forms of polygons: Ghazi, Issa (2023), Appendix B.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

from dpcore.core.errors import DomainError
from dpcore.core.rounding import failure
from dpcore.curves.bound import published
from dpcore.curves.polygon import Polygon
from dpcore.regions.algebra import Additive, Assume, SelfComposing, factors
from dpcore.regions.tradeoff import shorten
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.curves.base import Curve, FloatArray
    from dpcore.regions.tradeoff import TradeOff

    Weight = Callable[[FloatArray], FloatArray]

CELLS = 600  # brackets are then about 1e-3 wide, relative; more cells narrow them quadratically
_ROUNDING = 1e-12  # outward, for the quadrature of a polynomial times an exponential in one cell
_FADED = 1e-17  # relative: beyond it cells may be wide
_GONE = 1e-290  # a profile this small adds nothing that a double could hold
_FARTHEST = 1e5  # a loss whose profile is still alive here has no light tail
_GAUSS = np.polynomial.legendre.leggauss(6)
_FINE = np.polynomial.legendre.leggauss(48)
_CHUNK = 8.0  # length of a panel of the closed forms: 48 nodes leave rounding only


class Bracket(NamedTuple):
    """The truth lies between the two bounds; they are equal if it is exact."""

    lower: float
    upper: float

    @classmethod
    def of(cls, value: float) -> Bracket:
        """Return an exact number."""
        return cls(float(value), float(value))

    @property
    def middle(self) -> float:
        """The number to show if an approximation is enough."""
        return (self.lower + self.upper) / 2


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments of the loss of one symmetric mechanism, or their sums over the factors of a product, given that none fails.

    Attributes
    ----------
    kl, kappa2, kappa3, kappa3_bar : Bracket
        As above.
    variance : Bracket
        kappa2 - kl^2, of a product the sum over its factors.
    lost : float
        Probability of an infinite loss of one mechanism, which is not part of the moments.
    kind : str
        ``exact``, or ``bracket`` if lower and upper differ.
    method : str
        How they were computed, in a few words.
    factors : int, default 1
        How many mechanisms they are summed over.
    """

    kl: Bracket
    kappa2: Bracket
    kappa3: Bracket
    kappa3_bar: Bracket
    variance: Bracket
    lost: float
    kind: str
    method: str
    factors: int = 1


def summands(region: TradeOff) -> list[tuple[Curve, int]]:
    """Return the curves of the region's factors, whose losses add up to that of the region, with their counts."""
    while isinstance(region, Assume):  # as deep as regions are nested
        region = region.region
    keeps_direction = bool(region.oriented)
    return [(curve_of(node, keeps_direction=keeps_direction), count) for node, count in factors(region)]


def curve_of(region: TradeOff, *, keeps_direction: bool = True) -> Curve:
    """Return the curve whose losses add when the region is composed; raise if they do not add.

    `keeps_direction` says whether a pair keeps its direction in its product; otherwise it is closed first.
    """
    if isinstance(region, (Additive, SelfComposing)):
        msg = f"{shorten(str(region))} does not compose by adding independent losses."
        raise DomainError(msg)
    curve = published(region.pair if (keeps_direction and region.oriented) or region.pair.symmetric else region.curve)
    if curve.q_inf != curve.p_inf or curve.q_inf >= 1.0:
        msg = "The central limit needs the same probability of an infinite loss, below 1, in both directions."
        raise DomainError(msg)
    return curve


def moments(region: TradeOff) -> Moments:
    """Return kl, kappa2, kappa3 and kappa3_bar of a symmetric region, each exact or in a bracket.

    Parameters
    ----------
    region : TradeOff
        A region whose factors are symmetric.

    Returns
    -------
    Moments
        Sums over the factors.

    Examples
    --------
    >>> from dpcore import dp
    >>> round(moments(dp(0.5)).kl.upper, 12)
    0.122459331202
    """
    parts = summands(region)
    if not all(curve.symmetric for curve, _ in parts):
        msg = (
            f"The theorem is about symmetric pairs; {shorten(str(region))} is composed direction by direction "
            "and its two directions differ."
        )
        raise DomainError(msg)
    return _summed([(_of_curve(curve), count) for curve, count in parts])


def _of_curve(curve: Curve) -> Moments:
    if isinstance(curve, Polygon):
        return _of_polygon(curve)
    if curve.gaussian_mu is not None:
        return _of_gaussian(curve.gaussian_mu)
    if curve.laplace_epsilon is not None:
        return _of_laplace(curve.laplace_epsilon)
    return _of_profile(curve)


def _summed(parts: list[tuple[Moments, int]]) -> Moments:
    """Return the sums over the factors; failures multiply."""
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    many = sum(count for _, count in parts)

    def total(name: str) -> Bracket:
        brackets = [(getattr(part, name), count) for part, count in parts]
        return Bracket(*(math.fsum(count * bracket[side] for bracket, count in brackets) for side in (0, 1)))

    exact = all(part.kind == "exact" for part, _ in parts)
    method = "; ".join(dict.fromkeys(part.method for part, _ in parts))
    return Moments(
        kl=total("kl"),
        kappa2=total("kappa2"),
        kappa3=total("kappa3"),
        kappa3_bar=total("kappa3_bar"),
        variance=total("variance"),
        lost=failure((part.lost, count) for part, count in parts),
        kind="exact" if exact else "bracket",
        method=f"{method}, summed over {grouped(many)} factors",
        factors=many,
    )


# ---- exact ones ----------------------------------------------------------------------------------------------


def _exact(values: tuple[float, float, float, float, float], lost: float, method: str) -> Moments:
    kl, second, third, centred, variance = (Bracket.of(value) for value in values)
    return Moments(kl, second, third, centred, variance, lost, "exact", method)


def _of_polygon(curve: Polygon) -> Moments:
    """Return the finite sums, each over the losses and their masses under P1."""
    q, loss = curve.q / (1.0 - curve.q_inf), curve.loss
    mean = float(q @ loss)
    away = loss - mean
    sums = (mean, q @ loss**2, q @ np.abs(loss) ** 3, q @ np.abs(away) ** 3, q @ away**2)
    return _exact(tuple(map(float, sums)), curve.q_inf, "finite sum over the losses")  # type: ignore[arg-type]  # five of them


def _of_gaussian(mu: float) -> Moments:
    r"""Return those of the loss N(mu^2/2, mu^2): kappa3_bar is :math:`\sqrt{8/\pi}\,\mu^3`."""
    a = mu / 2
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    third = mu**3 * ((a**3 + 3 * a) * (2 * float(ndtr(a)) - 1) + 2 * (a * a + 2) * density)
    values = (mu**2 / 2, mu**2 + mu**4 / 4, third, math.sqrt(8 / math.pi) * mu**3, mu**2)
    return _exact(values, 0.0, "closed form")


def _of_laplace(epsilon: float) -> Moments:
    r"""Return those of Laplace noise: atoms 1/2 at epsilon and e^-epsilon/2 at -epsilon, between them
    :math:`\tfrac14e^{(L-\varepsilon)/2}`.

    kl is :math:`\varepsilon+e^{-\varepsilon}-1` and kappa2 :math:`\varepsilon^2-2\varepsilon+4-(2\varepsilon+4)
    e^{-\varepsilon}`; both cancel for small epsilon, so the density is summed instead: analytic between 0, kl and the
    ends, by Gauss nodes that leave rounding only.
    """  # noqa: D205  the formula does not fit on the first line
    atoms = (np.array([epsilon, -epsilon]), np.array([0.5, 0.5 * math.exp(-epsilon)]))

    def mean_of(of: Weight, *kinks: float) -> float:
        ends = sorted({-epsilon, epsilon, *(min(epsilon, kink) for kink in kinks)})
        total = float(of(atoms[0]) @ atoms[1])
        for low, high in itertools.pairwise(ends):
            for left, right in _pieces(low, high):
                half = (right - left) / 2
                node = (left + right) / 2 + half * _FINE[0]
                total += half * float((of(node) * np.exp((node - epsilon) / 2) / 4) @ _FINE[1])
        return total

    # a loss +l has e^l times the mass of -l under P1: E L = E of l tanh(l/2) over sizes l, all positive
    kl = mean_of(lambda loss: np.abs(loss) * np.tanh(np.abs(loss) / 2), 0.0)
    third = mean_of(lambda loss: np.abs(loss) ** 3, 0.0)
    centred = mean_of(lambda loss: np.abs(loss - kl) ** 3, kl)
    variance = mean_of(lambda loss: (loss - kl) ** 2)
    return _exact((kl, variance + kl * kl, third, centred, variance), 0.0, "closed form")


def _pieces(low: float, high: float) -> list[tuple[float, float]]:
    edges = np.linspace(low, high, max(2, math.ceil((high - low) / _CHUNK) + 1)).tolist()
    return list(itertools.pairwise(edges))


# ---- brackets from the profile -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Profile:
    """The profile of the finite part, in every cell between one line above and two lines below."""

    places: FloatArray
    lower: FloatArray
    upper: FloatArray

    def integral(self, weight: Weight, *kinks: float) -> Bracket:
        """Bound the integral of a weight >= 0 times delta; cells are cut where the weight has a kink."""
        low, high = 0.0, 0.0
        nodes, measure = _GAUSS
        for left, right in _cut(self.places[:-1], self.places[1:], kinks):
            half = (right - left) / 2
            t = (left + right)[:, None] / 2 + half[:, None] * nodes
            w = weight(t) * measure * half[:, None]
            under = [(w * self._under(t, side)).sum(axis=1) for side in (0, 1)]
            low += float(np.maximum(np.maximum(*under), 0.0).sum())
            high += float((w * self._over(t)).sum())
        return Bracket(low * (1 - _ROUNDING), high * (1 + _ROUNDING))

    def _over(self, t: FloatArray) -> FloatArray:
        """Return the chord, straight in e^t."""
        a, b = self.places[:-1, None], self.places[1:, None]
        share = np.expm1(t - a) / np.expm1(b - a)
        return np.asarray(self.upper[:-1, None] + share * np.diff(self.upper)[:, None], dtype=np.float64)

    def _under(self, t: FloatArray, side: int) -> FloatArray:
        """Return the chord of the cell before (0) or after (1) prolonged, rounded to the low side."""
        lower, upper, width = self.lower, self.upper, np.diff(self.places)
        if side == 0:
            fall = (lower[1:-1] - upper[:-2]) / -np.expm1(-width[:-1])
            # no cell lies before the first one; 0 is a bound there
            line = np.concatenate(([0.0], lower[1:-1]))[:, None] + np.concatenate(([0.0], fall))[:, None] * np.expm1(
                t - self.places[:-1, None]
            )
        else:
            rise = np.maximum(lower[1:-1] - upper[2:], 0.0) / np.expm1(width[1:])
            line = lower[1:, None] - np.append(rise, 0.0)[:, None] * np.expm1(t - self.places[1:, None])
        return np.asarray(line, dtype=np.float64)


def _cut(left: FloatArray, right: FloatArray, kinks: tuple[float, ...]) -> list[tuple[FloatArray, FloatArray]]:
    """Return the cells, each in as many parts as there are kinks plus one; parts may be empty."""
    parts = []
    start = left
    for kink in sorted(kinks):
        stop = np.clip(kink, start, right)
        parts.append((start, stop))
        start = stop
    return [*parts, (start, right)]


def _of_profile(curve: Curve) -> Moments:
    profile = _profile(curve)
    kl = profile.integral(lambda t: 1 + np.exp(-t))
    second = profile.integral(lambda t: 2 * (t + 1) + 2 * (1 - t) * np.exp(-t))
    third = profile.integral(lambda t: 3 * t * t * -np.expm1(-t) + 6 * t * (1 + np.exp(-t)))
    middle, slack = kl.middle, (kl.upper - kl.lower) / 2
    around = _centred(profile, middle)
    # the cube root of E|L - m|^3 moves by at most |m - kl|
    low, high = max(0.0, np.cbrt(max(0.0, around.lower)) - slack) ** 3, (np.cbrt(around.upper) + slack) ** 3
    variance = Bracket(max(0.0, second.lower - kl.upper**2), second.upper - kl.lower**2)
    centred = Bracket(float(low), float(high))
    return Moments(kl, second, third, centred, variance, curve.q_inf, "bracket", "quadrature of the profile")


def _centred(profile: _Profile, m: float) -> Bracket:
    """Return E|L - m|^3: m^3 and an integral whose weight has its kink at m."""
    plus = profile.integral(lambda t: 3 * np.maximum(t - m, 0.0) ** 2 + 6 * np.abs(t - m) + 6 * (t + m) * np.exp(-t), m)
    minus = profile.integral(lambda t: 3 * np.maximum(m - t, 0.0) ** 2 + 3 * (t + m) ** 2 * np.exp(-t), m)
    return Bracket(plus.lower - minus.upper + m**3, plus.upper - minus.lower + m**3)


def _profile(curve: Curve) -> _Profile:
    """Return the profile on a grid: narrow cells where it matters, wider ones to where it vanishes."""
    places = np.geomspace(1e-6, min(curve.max_loss, _FARTHEST), 240)
    upper = _finite(curve, places)[1]
    end = curve.max_loss
    if not math.isfinite(end):
        negligible = np.flatnonzero(upper <= _GONE)
        if not negligible.size:
            msg = "The central limit needs a loss that is bounded or has light tails."
            raise DomainError(msg)
        end = float(places[negligible[0]])
    faded = np.flatnonzero(upper <= _FADED * upper[0])
    alive = float(places[faded[0]]) if faded.size else end
    grid = alive * np.linspace(0.0, 1.0, CELLS + 1) ** 1.5
    if alive < end:
        grid = np.concatenate((grid, np.linspace(alive, end, CELLS // 4 + 1)[1:]))
    grid = np.asarray(grid, dtype=np.float64)
    return _Profile(grid, *_finite(curve, grid))


def _finite(curve: Curve, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bounds of delta of the finite part."""
    success = 1.0 - curve.q_inf
    low, high = (np.maximum(bound - curve.q_inf, 0.0) / success for bound in curve.delta_bounds(t))
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
