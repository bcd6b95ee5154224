"""Who wins when every score gets noise of its own: exact chances for Gumbel, exponential and Laplace noise.

With scores s_i, noise density f and distribution F (scale 1), the chance that i has the largest noisy score is

    P(i) = integral of f(x - s_i) prod_{j != i} F(x - s_j) dx.

Gumbel noise gives e^s_i / sum_j e^s_j. For exponential noise let r_j = e^(s_j - max s), u = e^(max s - x):
P(i) = r_i int_0^1 prod_{j != i} (1 - r_j u) du, a polynomial, which Gauss-Legendre nodes integrate exactly. For Laplace
noise the part with x above all scores is the same polynomial with r_j / 2; the part below goes panel by panel between
the scores, where the integrand is smooth.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.parameter import one_of
from dpcore.utility.choosing import softmax

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.curves.base import FloatArray

MOST: Final = 200  # candidates; the work grows with their square
_NODES = 24  # Gauss-Legendre nodes per panel: exact to rounding on panels of the width that `panels` chooses
_FEW, _DEEP, _DEPTH = 16, 150.0, 60.0  # how many scales below the best score are looked at, for few or more candidates
_STEEP = 25.0  # a panel this many units of (candidates / length) wide is integrated to 1e-16


def winners(scores: FloatArray, noise: str) -> FloatArray:
    """Return the exact chance of each candidate to have the largest noisy score.

    Parameters
    ----------
    scores : ndarray of float
        In units of the scale of the noise.
    noise : str
        Gumbel, exponential or laplace.
    """
    s = np.asarray(scores, dtype=np.float64)
    one_of("noise", _LAWS).check(noise)
    if s.size > MOST and noise != "gumbel":
        msg = f"Exact chances are computed for at most {MOST} candidates, got {s.size}."
        raise DomainError(msg)
    return np.asarray(_LAWS[noise](s - s.max()), dtype=np.float64)


def duel(gap: FloatArray, noise: str) -> FloatArray:
    """Return the chance that the worse of two candidates, `gap` scales behind, wins.

    Gumbel 1 / (1 + e^g), exponential e^-g / 2, Laplace (1 + g/2) e^-g / 2.
    """
    g = np.asarray(gap, dtype=np.float64)
    if noise == "gumbel":
        return np.asarray(np.exp(-g) / (1 + np.exp(-g)), dtype=np.float64)
    return np.asarray(np.exp(-g) * (1 + (g / 2 if noise == "laplace" else 0)) / 2, dtype=np.float64)


@cache
def _nodes(count: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Legendre nodes and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(count)
    return (x + 1) / 2, w / 2


def _others(factors: FloatArray) -> FloatArray:
    """Return, for each candidate (row), the product of the factors of all others: prefix times suffix products."""
    before = np.ones_like(factors)
    after = np.ones_like(factors)
    np.cumprod(factors[:-1], axis=0, out=before[1:])
    after[:-1] = np.cumprod(factors[:0:-1], axis=0)[::-1]
    return before * after


def _polynomial(ratio: FloatArray, weight: float) -> FloatArray:
    """Return weight r_i int_0^1 prod_{j != i} (1 - weight r_j u) du."""
    u, w = _nodes(ratio.size // 2 + 1)
    return np.asarray(weight * ratio * (_others(1 - weight * ratio[:, None] * u) @ w), dtype=np.float64)


def _exponential(s: FloatArray) -> FloatArray:
    return _polynomial(np.exp(s), 1.0)


def _laplace(s: FloatArray) -> FloatArray:
    above = _polynomial(np.exp(s), 0.5)
    low = max(float(s.min()), -_DEEP if s.size <= _FEW else -_DEPTH)
    if low == 0.0:
        return above + _below_all(s, low)
    x, w = panels(np.unique(np.clip(s, low, 0.0)), s.size)
    gap = x - s[:, None]
    half = np.exp(-np.abs(gap)) / 2
    below = (half * _others(np.where(gap < 0, half, 1 - half))) @ w
    return above + below + _below_all(s, low)


def _below_all(s: FloatArray, low: float) -> FloatArray:
    """Return the part of the integral below every score: each candidate has the same share of prod_j e^(low - s_j)/2.

    Scores that were cut off at `low` win with a chance of at most e^-60, which is spread evenly.
    """
    log_all = float(np.sum(np.minimum(low - s, 0.0))) - s.size * math.log(2)
    return np.full(s.size, math.exp(log_all) / s.size)


def panels(edges: FloatArray, candidates: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights on panels between the edges, none wider than the integrand is smooth."""
    widest = min(1.0, _STEEP / candidates)
    pieces = np.maximum(1, np.ceil(np.diff(edges) / widest)).astype(np.int64)
    width = np.repeat(np.diff(edges) / pieces, pieces)
    order = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    start = np.repeat(edges[:-1], pieces) + order * width
    node, weight = _nodes(_NODES)
    return (start[:, None] + width[:, None] * node).ravel(), (width[:, None] * weight).ravel()


_LAWS: Final[dict[str, Callable[[FloatArray], FloatArray]]] = {
    "gumbel": softmax,
    "exponential": _exponential,
    "laplace": _laplace,
}
