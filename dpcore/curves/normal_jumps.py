r"""Normal noise whose centre jumps under P1: the transform of its loss, and the pair of several possible moves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.curves.base import Bounds, ComplexArray, Curve, FloatArray
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.polygon import Polygon
from dpcore.engine import mixture_mgf
from dpcore.engine.normal_jumps import Jumps
from dpcore.engine.trimmed_mixture import Trimmed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.engine.contour_table import Factor

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)  # of a panel: leaves only rounding
_PANEL = 0.75  # width of a panel, over the largest of 1 and the moves: the integrand turns little inside
_TAIL = 9.5  # standard deviations beyond the last peak: the rest is below 1e-19 of the whole
_CELLS = 1 << 19  # nodes times epsilons at once, 4 MB
_HALVINGS = 80  # of the interval of x of an epsilon: to the last digit
_LARGEST_MOVE = 100.0  # standard deviations: two normal laws so far apart have next to nothing in common
_RARELY = 0.01  # total probability of moves below which composition starts without the far ones
_FAR = 1e3  # |x| beyond any threshold that is looked for


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

    def log_decay(self, c: float, y: float) -> float:
        """Return the bound by paths off the real axis."""
        return mixture_mgf.log_decay(-1.0 - c if self.flipped else c, y, self.jumps)

    @property
    def has_far_jumps(self) -> bool:
        """Whether the record is sampled rarely but reveals much when it is."""
        return not self.flipped and self.has_mgf

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
        return Trimmed(self.jumps, mass) if self.has_far_jumps else self

    @property
    def mgf_rounding(self) -> float:
        """Rounding error of the quadrature, in units of 2^-53 M(Re s)."""
        return mixture_mgf.ROUNDING

    def mgf_rounding_at(self, c: FloatArray) -> FloatArray:
        """Return the same at Re s = c."""
        return mixture_mgf.rounding(-1.0 - c if self.flipped else c, self.jumps)


class GaussianMixture(JumpTransform):
    r"""The pair of N(0, 1) and a mixture of N(m_j, 1) with probabilities p_j, or (flipped) the other direction.

    The ratio r rises with x, so the best test is a threshold x(e) with r(x) = e^e, and for e >= 0

    .. math:: \delta(e) = p_\infty + e^{e}\int_{x(e)}^{\infty} \varphi(x)\,(e^{\log r(x)-e}-1)\,dx, \qquad
              \delta_{inverse}(e) = \int_{-\infty}^{x(-e)} \varphi(x)\,(1-e^{\log r(x)+e})\,dx,

    integrals of positive terms by Gauss and Legendre on short panels.
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
        """Return the x with log r(x) = loss, by halving; below the smallest loss -inf."""
        low, high = np.full(loss.size, -_FAR), np.full(loss.size, _FAR)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            below = self.jumps.log_ratio(middle) < loss
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(0.5 * (low + high), dtype=np.float64)

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
        out = np.full(epsilon.size, self.jumps.lost)
        for piece in self._pieces(epsilon):
            checkpoint()
            e = epsilon[piece]
            finite = np.isfinite(e)
            x = self.threshold(np.where(finite, e, 0.0))
            end = np.maximum(x, self.jumps.largest) + _TAIL
            at, weight = self._panels(x, end - x)
            loss = self.jumps.log_ratio(at.ravel()).reshape(at.shape)
            gain = -np.expm1(np.minimum(e[:, None] - loss, 0.0)) * np.exp(loss - at * at / 2)
            out[piece] += np.where(finite, (gain * weight).sum(axis=1) / math.sqrt(2 * math.pi), 0.0)
        return out

    def _backward(self, epsilon: FloatArray) -> FloatArray:
        out = np.zeros(epsilon.size)
        bottom = self.jumps.least_log if self.jumps.rest > 0 else -math.inf
        for piece in self._pieces(epsilon):
            checkpoint()
            e = epsilon[piece]
            inside = -e > bottom
            x = self.threshold(np.where(inside, -e, 0.0))
            start = np.minimum(x, 0.0) - _TAIL
            at, weight = self._panels(start, x - start)
            loss = self.jumps.log_ratio(at.ravel()).reshape(at.shape)
            gain = -np.expm1(np.minimum(loss + e[:, None], 0.0)) * np.exp(-at * at / 2)
            out[piece] = np.where(inside, (gain * weight).sum(axis=1) / math.sqrt(2 * math.pi), 0.0)
        return out

    def inverse(self) -> GaussianMixture:
        """Return the other direction."""
        return self._other

    @Lazy
    def _other(self) -> GaussianMixture:
        return GaussianMixture(self.jumps, flipped=not self.flipped)
