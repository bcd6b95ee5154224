r"""Distances between a noisy answer and the same answer moved by the sensitivity, for every noise of the zoo.

With densities p of the noise and q of the noise moved by D: total variation :math:`\sup|P-Q|`, Kullback-Leibler
:math:`E_P\log(p/q)`, Rényi :math:`(a-1)^{-1}\log E_P(p/q)^{a-1}`, largest loss :math:`\sup\log(p/q)` and hockey-stick
:math:`E_\gamma=\sup_A P(A)-\gamma Q(A)`, which is delta at epsilon = log gamma. All noises here are symmetric, so that
both directions agree.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from dpcore.core.domains import ORDER
from dpcore.mechanisms.gaussian import Gaussian
from dpcore.mechanisms.laplace import Laplace
from dpcore.mechanisms.laplace_sum import LaplaceSum
from dpcore.mechanisms.normal_laplace import NormalLaplace
from dpcore.mechanisms.uniform import Uniform
from dpcore.theorems import divergences

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.mechanisms.base import Mechanism

LAPLACE, TWICE, MIXED, NORMAL, UNIFORM = "Laplace", "two Laplace", "Laplace + normal", "normal", "uniform"
_CELLS = 400  # of the quadrature; with the narrow ones below it is right to about 1e-10
_FINE = 40  # narrow cells on each side of both answers, from 1e-4 to 1 standard deviation
_REACH = 60.0  # standard deviations on both sides; what lies beyond is below 1e-30 for every noise of the zoo
_LARGE = 500.0  # larger exponents are scaled by the largest; below, expm1 keeps the digits of small divergences
_LEGENDRE = np.polynomial.legendre.leggauss(16)


def zoo(sensitivity: float, scale: float, sigma: float) -> dict[str, Mechanism]:
    """Return the five noises: one Laplace, the same with a second noise, and two others of variance 2 scale^2.

    Parameters
    ----------
    sensitivity : float
        How far the answer moves.
    scale : float
        Of every Laplace part.
    sigma : float
        Standard deviation of the normal noise that is added to the Laplace noise.
    """
    return {
        LAPLACE: Laplace(sensitivity / scale),
        TWICE: LaplaceSum(scale, sensitivity),
        MIXED: NormalLaplace(sigma, scale, sensitivity),
        NORMAL: Gaussian(math.sqrt(2.0) * scale, sensitivity),
        UNIFORM: Uniform(math.sqrt(6.0) * scale, sensitivity),
    }


def renyi(noise: Mechanism, order: float) -> tuple[float, str]:
    """Return the Rényi divergence of order >= 1 (1: Kullback-Leibler, inf: largest loss) and its kind.

    Closed forms where they are known, Gauss-Legendre quadrature of the densities for the two sums (``approximate``:
    right to about 1e-10). Infinite where an answer is possible on one side only.
    """
    ORDER.check(order)
    closed_form = divergences.renyi(noise, order)
    if math.isinf(order):
        return noise.curve.max_loss if closed_form is None else closed_form[0], "exact"
    return (
        (closed_form[0], "exact")
        if closed_form is not None and closed_form[1]
        else (_quadrature(noise, order), "approximate")
    )


def _quadrature(noise: Mechanism, order: float) -> float:
    """Integrate p (p/q)^(order-1), or p log(p/q), over cells that meet at both answers."""
    move = noise.move
    width = noise.law.deviation
    reach = _REACH * width
    step = (reach + move) / _CELLS
    # narrow cells around both answers: there a sum with little normal noise is almost a kink
    away = np.concatenate((np.arange(0.0, reach, step), np.geomspace(1e-4 * width, width, _FINE)))
    inner = np.linspace(0.0, move, max(2, 1 + math.ceil(move / step)))
    edges = np.unique(np.concatenate((-away, away, inner, move - away, move + away)))
    node, weight = _LEGENDRE
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    x = (middle[:, None] + half[:, None] * node).ravel()
    w = (half[:, None] * weight).ravel()
    p, q = noise.density(x), noise.density(x, move)
    inside = (p > 0) & (q > 0)
    p, q, w = p[inside], q[inside], w[inside]
    loss = np.log(p) - np.log(q)
    if order == 1.0:
        return float(w @ (p * loss))
    power = (order - 1.0) * loss
    top = float(power.max())
    if top < _LARGE:
        # e^((a-1) loss) - 1 keeps the digits of small divergences
        return math.log1p(float(w @ (p * np.expm1(power)))) / (order - 1.0)
    return (top + math.log(float(w @ (p * np.exp(power - top))))) / (order - 1.0)


def printed_total_variation(distance: float, sigma: float) -> float:
    r"""Return :math:`4\Phi(d/2\sigma^2)-2`, printed for two normal laws of one variance; it can exceed 1.

    Correct is :math:`2\Phi(d/2\sigma)-1` (`normal_total_variation`): the factor is 2, the unit sigma, not its square.
    """
    return float(4.0 * ndtr(distance / (2.0 * sigma**2)) - 2.0)


def normal_total_variation(distance: float, sigma: float) -> float:
    """Return the largest difference of the probabilities of two normal laws, from the exact region."""
    return Gaussian(sigma, distance).total_variation


def density(noise: Mechanism, x: FloatArray, sensitivity: float, *, moved: bool = False) -> FloatArray:
    """Return the density of the noise in the unit of the answer, moved by the sensitivity if asked."""
    return noise.law_at(sensitivity).moved(sensitivity if moved else 0.0).density(x)


def loss(noise: Mechanism, x: FloatArray, sensitivity: float) -> FloatArray:
    """Return the logarithm of the likelihood ratio of the answers x: moved against not moved."""
    return np.asarray(
        np.log(density(noise, x, sensitivity, moved=True)) - np.log(density(noise, x, sensitivity)), dtype=np.float64
    )
