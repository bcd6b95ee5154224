"""Discrete Gaussian mechanism: integer noise with the masses of a normal density."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import ndtr

from dpcore.core.registry import SIGMA, Oracle, register
from dpcore.curves.integer_gaussian import MOST_INTEGERS, integer_gaussian, listed, masses, reach
from dpcore.mechanisms.base import Mechanism, Offer
from dpcore.mechanisms.geometric import STEPS
from dpcore.mechanisms.law import Law

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import Curve, FloatArray

_WIDE = 5000.0  # sigma from which tails have a closed form to rounding


@register(
    "discrete_gaussian",
    title="discrete Gaussian mechanism",
    group="mechanism",
    symbol=r"N_{\mathbb{Z},\Delta/\sigma}",
    formula=r"P(N=n)\propto e^{-n^2/(2\sigma^2)},\quad n\in\mathbb{Z}",
    meaning="An integer answer plus discrete Gaussian noise, as statistical offices add it to counts.",
    assumptions="The query is an integer and moves by at most the sensitivity.",
    reference="Canonne, Kamath, Steinke 2020",
    oracles=(
        Oracle((1.0,), "delta", 0.0, 0.3989422782668617, 1e-14, "the mass of 0, direct sum in 40 digits"),
        Oracle((1.0,), "delta", 1.0, 0.14135133940562191, 1e-14, "direct sum in 40 digits"),
        Oracle((2.0, 3), "delta", 2.5, 0.08422904542303586, 1e-14, "direct sum in 40 digits"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class DiscreteGaussian(Mechanism):
    """Integer noise with masses proportional to e^(-n^2 / (2 sigma^2))."""

    sigma: float = SIGMA.but(infinite=False, meaning="width of the noise, nearly its standard deviation").field()
    sensitivity: int = STEPS.field(1)
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = ()

    def _pair(self) -> Curve:
        return integer_gaussian(self.sigma, self.sensitivity)

    @property
    def table_size(self) -> int:
        """One loss for every integer whose mass is a double, if they are few enough to be listed."""
        return min(listed(self.sigma, self.sensitivity), MOST_INTEGERS)

    @property
    def law(self) -> DiscreteGaussianLaw:
        """Discrete Gaussian noise."""
        return DiscreteGaussianLaw(self.sigma)

    def renyi(self, order: float) -> float:
        """Return order Δ²/2σ² and a correction of at most 0, which vanishes where (order - 1) Δ is an integer."""
        rate = order * self.concentrated_rate
        weight = 2.0 * math.exp(-2.0 * (math.pi * self.sigma) ** 2)
        if order <= 1.0 or weight < 1e-18:
            return rate
        c, sigma = (order - 1.0) * self.sensitivity, self.sigma
        x = np.arange(-reach(sigma) - 1.0, reach(sigma) + 2.0) + math.floor(c)
        if math.isinf(rate):
            return rate
        # e^{c^2/(2 sigma^2)} sum_x e^{-(x - c)^2/(2 sigma^2)} / Z, both sums next to each other and from their largest terms on
        above, below = (-0.5 * ((x - at) / sigma) ** 2 for at in (c, math.floor(c)))
        largest = float(above.max())
        ratio = np.sum(np.exp(above - largest)) / np.sum(np.exp(below))
        return rate + (largest + math.log(float(ratio))) / (order - 1.0)

    @property
    def concentrated_rate(self) -> float:
        """Δ²/2σ², that of normal noise; attained at every integer order."""
        return float(self.sensitivity**2 / (2.0 * self.sigma**2))

    @classmethod
    def offer(cls) -> Offer:
        """Return its entry in a list of noises."""
        return Offer("Discrete Gaussian noise", "Discrete Gaussian", 4, "σ")


class DiscreteGaussianLaw(Law):
    """P(N = n) proportional to e^(-n^2 / (2 sigma^2)) on the integers."""

    integer = True
    log_concave = True

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma
        self._table = None if sigma > _WIDE else _table(sigma)

    def density(self, x: FloatArray) -> FloatArray:
        """Return the probability of the integer x; the sum of all is sigma sqrt(2 pi) to rounding for wide noise."""
        distance = np.abs(np.asarray(x, dtype=np.float64))
        if self._table is None:
            z = distance / self.sigma
            return np.asarray(np.exp(-0.5 * z * z) / (self.sigma * math.sqrt(2.0 * math.pi)), dtype=np.float64)
        mass = self._table[0]
        place = np.minimum(distance, mass.size - 1.0).astype(np.int64)
        return np.where(distance < mass.size, mass[place], 0.0)

    def above(self, x: FloatArray) -> FloatArray:
        """Return the sum of the masses above the integer part of x, from the far end.

        For wide noise it is the normal tail half a step further in, with two terms of the Euler-Maclaurin formula; the next
        one is below 1e-15 of the sum.
        """
        n = np.floor(np.asarray(x, dtype=np.float64))
        upper = n >= 0
        far = np.where(upper, n, -n - 1.0)  # P(N > n) = 1 - P(N > -n - 1)
        if self._table is None:
            z = (far + 0.5) / self.sigma
            density = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
            second = z / (24.0 * self.sigma**2) - 7.0 * (z**3 - 3.0 * z) / (5760.0 * self.sigma**4)
            tail = ndtr(-z) - density * second
        else:
            tail = self._table[1][np.minimum(far, self._table[1].size - 1.0).astype(np.int64)]
        return np.where(upper, tail, 1.0 - tail)

    @property
    def variance(self) -> float:
        """Sum of n^2 times the masses: a little below sigma^2 for narrow noise."""
        if self._table is None:
            return self.sigma**2
        n = np.arange(float(self._table[0].size))
        return 2.0 * float(self._table[0] @ n**2)

    def sample(self, rng: Generator, size: int) -> NDArray[np.int64]:
        """Return integer draws, of wide noise by rounding normal ones.

        For simulation, not for releasing data; `dpcore.mechanisms.exact_sampling` draws without rounding.
        """
        if self._table is None:
            return np.asarray(np.rint(rng.normal(0.0, self.sigma, size)), dtype=np.int64)
        mass = self._table[0]
        cumulative = np.cumsum(np.concatenate((mass[:0:-1], mass)))[:-1]
        return np.asarray(np.searchsorted(cumulative, rng.random(size), side="right") - (mass.size - 1), dtype=np.int64)


@lru_cache(maxsize=8)
def _table(sigma: float) -> tuple[FloatArray, FloatArray]:
    """Return the masses of 0, 1, 2, ... and the tails above them."""
    own = masses(sigma)[reach(sigma) :]
    tails = np.append(np.cumsum(own[:0:-1])[::-1], 0.0)
    own.setflags(write=False)
    tails.setflags(write=False)
    return own, tails
