r"""Normal noise whose centre jumps under P1: the transform of its loss, and the pair of several possible moves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.polygon import Polygon
from dpcore.engine import mixture_mgf
from dpcore.engine.few_jumps import FewJumps
from dpcore.engine.normal_jumps import Jumps
from dpcore.engine.trimmed_mixture import ExchangedTrim, Trimmed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.engine.contour_product import Factor

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)  # rule of a panel: its error is below rounding
_PANEL = 0.75  # width of a panel, over the largest of 1 and the moves: the integrand varies little inside
_TAIL = 9.5  # standard deviations beyond the last peak: the rest is below 1e-19 of the whole
_CELLS = 1 << 19  # nodes times epsilons at once, 4 MB
_STEPS = 60  # Newton's steps at most: about eight are taken
_UNIT = 2.0**-53
_USUAL = 400.0  # units of the rounding of a transform near the middle of the axis
_CANCELS = 0.02  # part of a mass that a difference must leave: it then has 1e-13 of rounding, and needs no integral
_LAST_TAIL = 37.0  # x up to which the normal tail is a double with all its digits
_LARGEST_MOVE = 100.0  # standard deviations: two normal laws so far apart have next to nothing in common
_RARELY = 0.01  # total probability of moves below which composition starts without the far ones
_FARTHEST_PLACE, _PLACES = 60.0, 6000  # values of x between which the x of a loss is interpolated
_FAR = 1e3  # |x| beyond any threshold that is needed


def mixture_curve(moves: Sequence[tuple[float, float]], rest: float, lost: float = 0.0) -> Curve:
    """Return the curve of moves with their probabilities, `rest` without a move and `lost` with an infinite loss.

    Moves of more than a hundred standard deviations are infinite losses as well: the difference is below 1e-500.
    """
    known = [(move, share) for move, share in moves if move <= _LARGEST_MOVE]
    lost += math.fsum(share for move, share in moves if move > _LARGEST_MOVE)
    if not known:
        return Polygon([math.log(rest)], [1.0], [rest], 0.0, lost) if rest > 0.0 else Polygon([], [], [], 1.0, 1.0)
    if len(known) == 1 and rest == lost == 0.0:
        return GaussianCurve(known[0][0])
    return GaussianMixture(Jumps(tuple(m for m, _ in known), tuple(p for _, p in known), rest, lost))


class JumpTransform(Curve):
    """Mixin: the finite losses are log r(x) of `jumps`; flipped, the pair is exchanged."""

    takes_rows = True
    jumps: Jumps
    flipped: bool

    @property
    def has_mgf(self) -> bool:
        """Whether the moves are small enough for the transform."""
        return mixture_mgf.has_transform(self.jumps)

    @property
    def loss_scale(self) -> float:
        """Return the order of magnitude of the loss: its deviation, to first order in the shares."""
        law = self.jumps
        first = math.fsum(
            p * math.sqrt(math.expm1(min(m * m, 100.0))) for m, p in zip(law.moves, law.shares, strict=True)
        )
        return min(first, law.largest)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log M(s); the exchanged pair has M(-1 - s)."""
        return mixture_mgf.log_mgf(-1.0 - s if self.flipped else s, self.jumps)

    def cumulants(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M and its derivative on the real axis; of the exchanged pair those of M(-1 - c)."""
        if not self.flipped:
            return mixture_mgf.cumulants(c, self.jumps)
        value, slope = mixture_mgf.cumulants(-1.0 - c, self.jumps)
        return value, -slope

    def cumulant_rounding(self, c: FloatArray) -> FloatArray:
        """Bound the error of log M(c) from `cumulants` beyond abs(log M(c)), in units of 2^-53."""
        return mixture_mgf.cumulant_rounding(-1.0 - c if self.flipped else c, self.jumps)

    def log_moments(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M(c) at real c and a bound of its error beyond abs(log M(c)), in units of 2^-53."""
        return self.cumulants(c)[0], self.cumulant_rounding(c)

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound by paths off the real axis."""
        return mixture_mgf.log_decay(-1.0 - c if self.flipped else c, y, self.jumps)

    @property
    def has_far_jumps(self) -> bool:
        """Whether the record is sampled rarely but reveals much when it is."""
        return self.has_mgf

    @property
    def rarely(self) -> bool:
        """Whether moves are rare."""
        return math.fsum(self.jumps.shares) < _RARELY

    def transform_effort(self, copies: int) -> float:
        """Return the work of the transform: a few rare samples make a law too irregular for a short line."""
        share = math.fsum(self.jumps.shares)
        return 3e6 if copies * share >= 30.0 or (share >= 2e-3 and copies * share >= 1.0) else 2e9

    def trimmed(self, mass: float) -> Factor:
        """Return the pair with its far jumps, at most `mass` of P1, removed from the finite losses."""
        if not self.has_far_jumps:
            return self
        trimmed = Trimmed(self.jumps, mass)
        return ExchangedTrim(trimmed) if self.flipped else trimmed

    def trimmed_above(self, loss: float) -> Trimmed | None:
        """Return the pair without its jumps above a loss, in the direction in which they are positive losses."""
        if not self._jumps_up:
            return None
        x = np.linspace(-_FARTHEST_PLACE, _FARTHEST_PLACE, _PLACES)
        place = float(np.interp(loss, self.jumps.log_ratio(x), x))
        return Trimmed(self.jumps, self.jumps.mass_above(place, 1.0)[1])

    def few_jumps(self, copies: int) -> FewJumps | None:
        """Return the profile of many copies, in the same direction."""
        return FewJumps(self.jumps, copies, self.loss_scale * math.sqrt(copies)) if self._jumps_up else None

    @property
    def _jumps_up(self) -> bool:
        """Whether the far jumps are positive losses, and finite."""
        return self.has_far_jumps and not self.flipped and self.jumps.lost == 0.0 and self.jumps.rest > 0.0

    @property
    def mgf_rounding(self) -> float:
        """A usual rounding error of the quadrature, in units of 2^-53 M(Re s), for plans: bounds are those along a line."""
        return _USUAL

    def mgf_rounding_along(self, s: ComplexArray) -> FloatArray:
        """Bound the rounding error at each exponent, in units of 2^-53 M(Re s)."""
        return mixture_mgf.rounding(-1.0 - s if self.flipped else s, self.jumps)


class GaussianMixture(JumpTransform):
    r"""The pair of N(0, 1) and a mixture of N(m_j, 1) with probabilities p_j, or (flipped) the other direction.

    The ratio r rises with x, so the best test is a threshold x(e) with r(x) = e^e, and for e >= 0

    .. math:: \delta(e) = p_\infty + e^{e}\int_{x(e)}^{\infty} \varphi(x)\,(e^{\log r(x)-e}-1)\,dx, \qquad
              \delta_{inverse}(e) = \int_{-\infty}^{x(-e)} \varphi(x)\,(1-e^{\log r(x)+e})\,dx,

    differences of normal tails, or, where these would lose digits, integrals of positive terms by Gauss and Legendre on short
    panels.
    """

    symmetric = False
    exact = True

    def __init__(self, jumps: Jumps, *, flipped: bool = False) -> None:
        self.jumps, self.flipped = jumps, flipped
        bottom = jumps.least_log if jumps.rest > 0 else -math.inf
        self.max_loss, self.min_loss = (-bottom, -math.inf) if flipped else (math.inf, bottom)
        self.q_inf, self.p_inf = (0.0, jumps.lost) if flipped else (jumps.lost, 0.0)
        self.work = 60.0 * len(jumps.moves)
        self.method = "mixture of shifts"

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return the profile for any real epsilon: negative ones through the other direction."""
        epsilon = np.asarray(epsilon, dtype=np.float64)
        ahead, behind = (self._backward, self._forward) if self.flipped else (self._forward, self._backward)
        value = np.empty(epsilon.size)
        up = epsilon >= 0
        value[up] = ahead(epsilon[up])
        e = epsilon[~up]
        value[~up] = -np.expm1(e) + np.exp(e) * behind(-e)
        value = np.clip(value, 0.0, 1.0)
        return value, value

    def threshold(self, loss: FloatArray) -> FloatArray:
        """Return the x with log r(x) = loss; below the smallest loss the far end.

        The part of r that moves is log-convex with slopes between the smallest and the largest move. Newton's steps start where one
        of its terms alone reaches the loss, to the right of x, and fall towards it.
        """
        jumps = self.jumps
        excess = math.fsum((*jumps.shares, jumps.lost))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            moved = np.where(
                loss < 1.0,
                np.log(np.expm1(loss) + excess),
                loss + np.log1p(-jumps.rest * np.exp(-np.maximum(loss, 1.0))),
            )
        moves = np.array(jumps.moves)[:, None]
        starts = np.log(np.array(jumps.shares))[:, None] - 0.5 * moves * moves
        # no loss beyond that of the far end needs another place, and Newton's steps towards the largest doubles overflow
        farthest = float((starts + moves * _FAR).max()) + math.log(len(moves)) + 1.0
        level = np.minimum(np.where(np.isfinite(moved), moved, 0.0), farthest)
        x = ((level - starts) / moves).min(axis=0)
        for _ in range(_STEPS):
            terms = starts + moves * x
            top = terms.max(axis=0)
            weight = np.exp(terms - top)
            total = weight.sum(axis=0)
            step = (top + np.log(total) - level) * total / (moves * weight).sum(axis=0)
            x = x - step
            if np.all(np.abs(step) <= 4.0 * _UNIT * np.maximum(1.0, np.abs(x))):
                break
        return np.where(np.isfinite(moved), np.clip(x, -_FAR, _FAR), np.where(loss > 0.0, _FAR, -_FAR))

    def _above(self, x: FloatArray) -> FloatArray:
        """Return the P1 mass of finite losses above x."""
        mass = self.jumps.rest * ndtr(-x)
        for move, share in zip(self.jumps.moves, self.jumps.shares, strict=True):
            mass = mass + share * ndtr(move - x)
        return np.asarray(mass, dtype=np.float64)

    def _below(self, x: FloatArray) -> FloatArray:
        """Return the P1 mass of finite losses below x."""
        mass = self.jumps.rest * ndtr(x)
        for move, share in zip(self.jumps.moves, self.jumps.shares, strict=True):
            mass = mass + share * ndtr(x - move)
        return np.asarray(mass, dtype=np.float64)

    def _panels(self, start: FloatArray, length: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return nodes and weights of equally many panels for each start; the shortest panels serve all."""
        width = _PANEL / max(1.0, self.jumps.largest)
        count = max(1, math.ceil(float(length.max()) / width))
        half = 0.5 * length / count
        place = (2.0 * np.arange(count)[:, None] + 1.0 + _NODES).ravel()
        return start[:, None] + half[:, None] * place, half[:, None] * np.tile(_WEIGHTS, count)

    def _pieces(self, epsilon: FloatArray) -> list[slice]:
        width = _PANEL / max(1.0, self.jumps.largest)
        each = _NODES.size * math.ceil((2 * _TAIL + self.jumps.largest + 1.0) / width)
        rows = max(1, _CELLS // each)
        return [slice(i, i + rows) for i in range(0, epsilon.size, rows)]

    def _forward(self, epsilon: FloatArray) -> FloatArray:
        finite = np.isfinite(epsilon)
        x = self.threshold(np.where(finite, epsilon, 0.0))
        above = self._above(x)
        with np.errstate(over="ignore", invalid="ignore"):
            out = np.where(finite, above - np.exp(epsilon) * ndtr(-x), 0.0)
        close = finite & (~(out >= _CANCELS * above) | (x > _LAST_TAIL))
        out[close] = self._forward_integral(epsilon[close], x[close])
        return np.asarray(out + self.jumps.lost, dtype=np.float64)

    def _forward_integral(self, epsilon: FloatArray, x: FloatArray) -> FloatArray:
        out = np.empty(epsilon.size)
        for piece in self._pieces(epsilon):
            checkpoint()
            e, start = epsilon[piece], x[piece]
            at, weight = self._panels(start, np.maximum(start, self.jumps.largest) + _TAIL - start)
            loss = self.jumps.log_ratio(at.ravel()).reshape(at.shape)
            gain = -np.expm1(np.minimum(e[:, None] - loss, 0.0)) * np.exp(loss - at * at / 2)
            out[piece] = (gain * weight).sum(axis=1) / math.sqrt(2 * math.pi)
        return out

    def _backward(self, epsilon: FloatArray) -> FloatArray:
        bottom = self.jumps.least_log if self.jumps.rest > 0 else -math.inf
        inside = -epsilon > bottom
        x = self.threshold(np.where(inside, -epsilon, 0.0))
        below = ndtr(x)
        with np.errstate(over="ignore", invalid="ignore"):
            out = np.where(inside, below - np.exp(epsilon) * self._below(x), 0.0)
        close = inside & ~(out >= _CANCELS * below)
        out[close] = self._backward_integral(epsilon[close], x[close])
        return np.asarray(out, dtype=np.float64)

    def _backward_integral(self, epsilon: FloatArray, x: FloatArray) -> FloatArray:
        out = np.empty(epsilon.size)
        for piece in self._pieces(epsilon):
            checkpoint()
            e, end = epsilon[piece], x[piece]
            start = np.minimum(end, 0.0) - _TAIL
            at, weight = self._panels(start, end - start)
            loss = self.jumps.log_ratio(at.ravel()).reshape(at.shape)
            gain = -np.expm1(np.minimum(loss + e[:, None], 0.0)) * np.exp(-at * at / 2)
            out[piece] = (gain * weight).sum(axis=1) / math.sqrt(2 * math.pi)
        return out

    def inverse(self) -> GaussianMixture:
        """Return the other direction."""
        return self._other

    @Lazy
    def _other(self) -> GaussianMixture:
        return GaussianMixture(self.jumps, flipped=not self.flipped)
