r"""The likelihood ratio of normal noise whose centre jumps by one of several moves, each with its own probability.

With x standard normal under P0 and centre m_j with probability p_j under P1, m_j >= 0, the ratio is

.. math:: r(x) = 1 - \sum_j p_j + \sum_j p_j e^{m_j x - m_j^2/2} .

It rises with x. One move is a Poisson sample (`mixture_mgf` has its transform), several are the records of one person.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpcore.core.rounding import UNIT

FloatArray = NDArray[np.float64]

_ROOM = 8.7  # standard deviations beyond which the normal weight is below 1e-16
_SEARCHED = np.linspace(-60.0, _ROOM, 1200)  # x at which the largest bend of log r is sought
_APART = float(_SEARCHED[1] - _SEARCHED[0])
_OVERFLOW = 300.0  # exponent above which a square would leave the range of doubles
_SMALL = 0.5  # ratio below which its difference from 1 loses digits


@dataclass(frozen=True)
class Jumps:
    """Moves m_j > 0 (in standard deviations of the noise) and their probabilities p_j; with probability `rest` there is none.

    Attributes
    ----------
    moves, shares : tuple of float
        Moves, ascending, and their probabilities.
    rest : float
        Probability of no move. Where `lost` is 0 it is 1 minus the shares.
    lost : float, default 0
        Probability under P1 of moves that are left out and count as infinite losses.
    """

    moves: tuple[float, ...]
    shares: tuple[float, ...]
    rest: float
    lost: float = 0.0

    @classmethod
    def single(cls, mu: float, q: float) -> Jumps:
        """Return one move mu of probability q."""
        return cls((mu,), (q,), 1.0 - q)

    @property
    def largest(self) -> float:
        """The largest move."""
        return self.moves[-1]

    @property
    def alone(self) -> bool:
        """Whether there is one move only, and otherwise none."""
        return len(self.moves) == 1 and self.lost == 0.0

    @property
    def least_log(self) -> float:
        """Logarithm of the smallest ratio, that of no move alone."""
        if self.rest >= _SMALL:
            return math.log1p(-(sum(self.shares) + self.lost))
        return math.log(self.rest) if self.rest > 0.0 else -math.inf

    def mean_move(self, x: float) -> float:
        """Return the mean move given x, the derivative of log r."""
        if self.alone:
            return self.largest * self._share(x)
        weight = np.exp(self._log_terms(np.array([x]))[:, 0])
        return float(weight @ np.array((0.0, *self.moves)) / weight.sum())

    def _share(self, x: float) -> float:
        """Return the part of r(x) that is due to the only move."""
        mu, q = self.moves[0], self.shares[0]
        return 1.0 / (1.0 + (1.0 - q) / q * math.exp(min(700.0, mu * mu / 2 - mu * x)))

    @property
    def bend(self) -> float:
        """The largest second derivative of log r, the variance of the move given x, where x has a noticeable weight."""
        if self.alone:
            share = min(0.5, self._share(_ROOM))
            return self.largest**2 * share * (1.0 - share)
        return _bend(self)

    def _log_terms(self, x: FloatArray) -> FloatArray:
        """Return the logarithms of the terms of r, one row each, less the largest of each x."""
        rows = [np.full(x.size, math.log(self.rest) if self.rest > 0 else -math.inf)]
        rows += [math.log(p) + m * x - m * m / 2 for m, p in zip(self.moves, self.shares, strict=True)]
        terms = np.stack(rows)
        return np.asarray(terms - terms.max(axis=0), dtype=np.float64)

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Return log r on the real axis, in a form in which neither a large nor a small ratio loses digits."""
        if self.alone:
            mu, q = self.moves[0], self.shares[0]
            rise = mu * x - mu * mu / 2
            up = np.log(q) + rise
            small = q * np.expm1(np.minimum(rise, -math.log(q)))
            # with the first form for a ratio near 1 a difference of two numbers near log q would lose digits
            ratio = np.where(
                up > 0.0,
                up + np.log1p((1.0 - q) * np.exp(-np.maximum(up, 0.0))),
                np.log1p(np.maximum(small, _SMALL - 1.0)),
            )
            if self.rest >= _SMALL:
                return ratio
            # a ratio far below 1 would be a difference of numbers near 1: a sum of positive terms instead
            with np.errstate(divide="ignore"):
                return np.where(small < _SMALL - 1.0, np.log(self.rest + q * np.exp(np.minimum(rise, 0.0))), ratio)
        small = np.full(x.shape, -self.lost)
        top = np.full(x.shape, math.log(self.rest) if self.rest > 0.0 else -math.inf)
        near = np.ones(x.shape, dtype=np.bool_)
        for m, p in zip(self.moves, self.shares, strict=True):
            rise = m * x - m * m / 2
            near &= math.log(p) + rise <= 0.0
            small += p * np.expm1(np.minimum(rise, -math.log(p)))
            np.maximum(top, math.log(p) + rise, out=top)
        total = np.exp(math.log(self.rest) - top) if self.rest > 0.0 else np.zeros(x.shape)
        for m, p in zip(self.moves, self.shares, strict=True):
            total += np.exp(math.log(p) + m * x - m * m / 2 - top)
        near &= small > _SMALL - 1.0  # a smaller ratio would be a difference of numbers near 1
        return np.where(near, np.log1p(np.where(near, small, 0.0)), top + np.log(total))

    def scaled(self, highest: float) -> bool:
        """Return whether r up to some x may be a small rest of 1, or overflow: its largest term is then put in front."""
        return self.rest < _SMALL or self.largest * highest > _OVERFLOW

    def turned_log_ratio(self, x: FloatArray, height: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """Return log|r| and arg r at x + i height, from r - 1 without cancellation."""
        if self.scaled(float(x.max())):
            return self._scaled_log_ratio(x, height)
        real, imaginary = self._turned_excess(x, height)
        size = 0.5 * np.log1p(real * (2.0 + real) + imaginary * imaginary)
        return np.asarray(size, dtype=np.float64), np.arctan2(imaginary, 1.0 + real)

    def _turned_excess(self, x: FloatArray, height: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """Return the real and the imaginary part of r - 1 at x + i height."""
        real: FloatArray | float = -self.lost
        imaginary: FloatArray | float = 0.0
        for m, p in zip(self.moves, self.shares, strict=True):
            rise = m * x - m * m / 2
            growth = np.exp(rise)
            angle = m * height
            real = real + p * (np.expm1(rise) - 2.0 * growth * np.sin(angle / 2) ** 2)
            imaginary = imaginary + p * growth * np.sin(angle)
        return np.asarray(real, dtype=np.float64), np.asarray(imaginary, dtype=np.float64)

    def _scaled_log_ratio(self, x: FloatArray, height: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """Return log|r| and arg r with the largest term in front, where exponentials overflow or r is small."""
        large = self.largest * x > _OVERFLOW
        real, imaginary = self._turned_excess(np.where(large, 0.0, x), height)
        excess = real * (2.0 + real) + imaginary * imaginary  # |r|^2 - 1
        scaled = large | (excess < _SMALL * _SMALL - 1.0)
        size, turn = 0.5 * np.log1p(np.where(scaled, 0.0, excess)), np.arctan2(imaginary, 1.0 + real)
        if not scaled.any():
            return size, turn
        still = math.log(self.rest) if self.rest > 0.0 else -math.inf
        logs = [math.log(p) + m * x - m * m / 2 for m, p in zip(self.moves, self.shares, strict=True)]
        top = np.maximum.reduce([*logs, np.full_like(x, still)])
        real = np.exp(still - top) + np.zeros_like(size)
        imaginary = np.zeros_like(size)
        for m, log in zip(self.moves, logs, strict=True):
            real = real + np.exp(log - top) * np.cos(m * height)
            imaginary = imaginary + np.exp(log - top) * np.sin(m * height)
        with np.errstate(divide="ignore"):  # terms that cancel each other
            far = top + 0.5 * np.log(real * real + imaginary * imaginary)
        return np.where(scaled, far, size), np.where(scaled, np.arctan2(imaginary, real), turn)

    def mass_above(self, cut: float, wide: float) -> tuple[float, float]:
        """Return the masses of P0 and of P1 above a cut of normal noise of deviation `wide`."""
        p = float(ndtr(-cut / wide))
        moved = [share * float(ndtr((m - cut) / wide)) for m, share in zip(self.moves, self.shares, strict=True)]
        return p, self.rest * p + math.fsum(moved)


@lru_cache(maxsize=256)
def _bend(law: Jumps) -> float:
    """Bound the variance V of the move given x, for every x up to `_ROOM`.

    Its derivative is the third cumulant of the move, at most V times the largest move, so between two x of the grid V grows by at
    most e^(largest `_APART`/2). Left of the grid V is at most the mean of (m - m_0)^2, m_0 the smallest move (0 if there may be
    none), at most the sum of (m - m_0)^2 times the weights relative to that of m_0; these rise with x.
    """
    weight = np.exp(law._log_terms(_SEARCHED))
    moves = np.array((0.0, *law.moves))
    first = 0 if law.rest > 0.0 else 1
    left = float((moves - moves[first]) ** 2 @ weight[:, 0] / weight[first, 0]) if weight[first, 0] > 0.0 else math.inf
    weight /= weight.sum(axis=0)
    mean = moves @ weight
    inside = float(np.max((moves * moves) @ weight - mean * mean)) * math.exp(min(0.5 * _APART * law.largest, 700.0))
    return max(inside, min(left, law.largest**2 / 4.0)) * (1.0 + 1e-9) + 8.0 * UNIT * law.largest**2
