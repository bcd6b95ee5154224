"""Rounded Gaussian mechanism: normal noise, and the answer rounded to an integer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import ndtr

from dpcore.core.effort import checkpoint
from dpcore.core.registry import SIGMA, Oracle, register
from dpcore.mechanisms.base import MOST_INTEGERS, Mechanism
from dpcore.mechanisms.geometric import STEPS
from dpcore.mechanisms.law import Law

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray

_NARROW = (
    2.0  # below, the interval is wide in standard deviations and the difference of the tails loses one digit at most
)
_BEYOND = 60.0  # standard deviations: beyond 38.6 densities underflow, and cosh overflows eventually
_SLICE = 1 << 15  # integers at once: 6 MB of nodes, and about ten milliseconds between two checks of the clock
_NODES = np.polynomial.legendre.leggauss(24)  # of an interval of half a standard deviation: exact to rounding


@register(
    "rounded_gaussian",
    title="rounded Gaussian mechanism",
    group="mechanism",
    symbol=r"\lfloor N\rceil_{\Delta/\sigma}",
    formula=r"P(N=n)=\Phi\!\left(\tfrac{n+1/2}{\sigma}\right)-\Phi\!\left(\tfrac{n-1/2}{\sigma}\right)",
    meaning="An integer answer plus normal noise, rounded to the nearest integer before it is published.",
    assumptions="The query is an integer and moves by at most the sensitivity; the rounding hides the fraction.",
    reference="Rounding is post-processing: never more informative than gaussian(σ)",
    oracles=(
        Oracle((1.0,), "delta", 0.0, 0.38292492254802624, 1e-14, "2Φ(1/2) - 1: rounding keeps the best test at 1/2"),
        Oracle((1.0,), "delta", 1.0, 0.12693673750664395, 1e-13, "direct sum in 40 digits"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class RoundedGaussian(Mechanism):
    """Normal noise rounded to integers."""

    sigma: float = SIGMA.but(infinite=False, high=1e4).field()
    sensitivity: int = STEPS.field(1)
    offered: ClassVar[bool] = False  # the discrete Gaussian is

    @property
    def table_size(self) -> int:
        """About one loss for every integer whose mass is a double."""
        return int(min(75.0 * self.sigma + self.sensitivity + 3, MOST_INTEGERS))

    @property
    def concentrated_rate(self) -> float:
        """Δ²/2σ², that of normal noise: rounding lowers it at every order, and ever less as the order grows."""
        return float(self.sensitivity**2 / (2.0 * self.sigma**2))

    @property
    def law(self) -> RoundedGaussianLaw:
        """Normal noise rounded to integers."""
        return RoundedGaussianLaw(self.sigma)


class RoundedGaussianLaw(Law):
    """The normal law of all numbers nearest to an integer; rounding keeps it log-concave."""

    integer = True
    log_concave = True
    rounding = 4000.0  # of a normal tail at 38 standard deviations

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma

    def density(self, x: FloatArray) -> FloatArray:
        """Return the mass of the unit interval around the integer x, from the side where both tails are small."""
        distance = np.abs(np.asarray(x, dtype=np.float64))
        if self.sigma < _NARROW:
            return np.asarray(
                ndtr((0.5 - distance) / self.sigma) - ndtr((-0.5 - distance) / self.sigma), dtype=np.float64
            )
        # in wide noise the difference loses digits; the density is that in the middle times cosh(z t) e^(-t^2/2)
        middle, (node, weight) = np.minimum(distance / self.sigma, _BEYOND), _NODES
        t = node / (2.0 * self.sigma)
        inner, fade = np.empty(middle.shape), np.exp(-0.5 * t * t)
        flat, result = middle.ravel(), inner.ravel()
        for start in range(0, flat.size, _SLICE):
            checkpoint(start / flat.size)
            result[start : start + _SLICE] = (
                np.cosh(np.multiply.outer(flat[start : start + _SLICE], t)) * fade
            ) @ weight
        scale = 2.0 * self.sigma * math.sqrt(2.0 * math.pi)
        return np.asarray(np.exp(-0.5 * middle * middle) * inner / scale, dtype=np.float64)

    def above(self, x: FloatArray) -> FloatArray:
        """Return the normal tail half a step above the integer part of x."""
        return np.asarray(ndtr(-(np.floor(np.asarray(x, dtype=np.float64)) + 0.5) / self.sigma), dtype=np.float64)

    def sample(self, rng: Generator, size: int) -> NDArray[np.int64]:
        """Return integer draws.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        return np.asarray(np.rint(rng.normal(0.0, self.sigma, size)), dtype=np.int64)
