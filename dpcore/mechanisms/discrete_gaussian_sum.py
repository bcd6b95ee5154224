"""Distributed discrete Gaussian noise: every party adds its own, and the answer carries the sum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.errors import BudgetError
from dpcore.core.registry import SIGMA, Oracle, Parameter, register
from dpcore.curves.integer_gaussian import MOST_INTEGERS, listed, masses, reach, sum_gap
from dpcore.engine import lattice, lattice_rounding
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.discrete_gaussian import DiscreteGaussian, DiscreteGaussianLaw
from dpcore.mechanisms.geometric import STEPS
from dpcore.mechanisms.tabulated_law import HalfTable, TabulatedLaw, half_table

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import Curve
    from dpcore.mechanisms.law import Law

_ONE = 1e-13  # relative gap below which the sum is one discrete Gaussian to rounding
PARTIES = Parameter(
    "parties", "integer", low=1, high=10**6, label="n", meaning="how many parties add noise of their own", example=10
)


@register(
    "discrete_gaussian_sum",
    title="sum of discrete Gaussian noises",
    group="mechanism",
    symbol=r"N_{\mathbb{Z},\sigma}^{*n}",
    formula=r"N=N_1+\dots+N_n,\quad P(N_i=j)\propto e^{-j^2/(2\sigma^2)}",
    meaning="An integer answer plus the discrete Gaussian noises of n parties, of which nobody sees a single one.",
    assumptions="The query is an integer and moves by at most the sensitivity; all parties add their noise.",
    reference="Kairouz, Liu, Steinke 2021",
    oracles=(
        Oracle((0.5, 4), "delta", 0.0, 0.46773973246107601, 1e-11, "direct convolution in 40 digits"),
        Oracle((0.7, 3, 2), "delta", 1.0, 0.39145135011120593, 1e-11, "direct convolution in 40 digits"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class DiscreteGaussianSum(Mechanism):
    """The sum of the discrete Gaussian noises of several parties."""

    sigma: float = SIGMA.but(
        infinite=False,
        high=1e47,  # that of a million parties together is still a width
        meaning="width of the noise of each party",
    ).field()
    parties: int = PARTIES.field(10)
    sensitivity: int = STEPS.field(1)
    offered: ClassVar[bool] = False  # the discrete Gaussian is

    @property
    def one(self) -> DiscreteGaussian:
        """The discrete Gaussian of the same variance."""
        return DiscreteGaussian(self.sigma * sqrt(self.parties), self.sensitivity)

    @property
    def gap(self) -> float:
        """A certified bound of the loss between this noise and the one discrete Gaussian of the same variance.

        No probability differs by more than the factor e^gap; infinite for very narrow noise.
        """
        return sum_gap(self.sigma, self.parties)

    @property
    def table_size(self) -> int:
        """One loss for every integer whose mass is a double."""
        return self.one.table_size

    def _pair(self) -> Curve:
        return self.one.pair if self.gap < _ONE else super()._pair()

    @property
    def law(self) -> Law:
        """The sum of all noises."""
        if self.gap < _ONE:
            return DiscreteGaussianLaw(self.one.sigma)
        return _SumLaw(self.sigma, self.parties)


class _SumLaw(TabulatedLaw):
    """The convolution of discrete Gaussians, log-concave as each of them."""

    def __init__(self, sigma: float, parties: int) -> None:
        table, self.rounding = _table(sigma, parties)
        super().__init__(table)
        self.sigma, self.parties = sigma, parties

    @property
    def variance(self) -> float:
        """That of one party times their number."""
        return self.parties * DiscreteGaussianLaw(self.sigma).variance

    def sample(self, rng: Generator, size: int) -> NDArray[np.int64]:
        """Return integer draws by the inverse of the distribution function.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        cumulative = np.cumsum(np.concatenate((self.table.masses[:0:-1], self.table.masses)))[:-1]
        place = np.searchsorted(cumulative, rng.random(size), side="right")
        return np.asarray(place - (self.table.masses.size - 1), dtype=np.int64)


@lru_cache(maxsize=8)
def _table(sigma: float, parties: int) -> tuple[HalfTable, float]:
    """Return the masses of 0, 1, 2, ... of the sum and the tails above them, and their rounding in units of 2^-53."""
    if listed(sigma * sqrt(parties), 1) > MOST_INTEGERS:
        msg = f"The noise takes more than {MOST_INTEGERS} integers of a probability that doubles can tell from 0."
        raise BudgetError(msg)
    own, far = masses(sigma), reach(sigma)
    index = np.arange(-far, far + 1)
    law = lattice.lattice_product([(lattice.LatticeMeasure(index, own, own, 1.0, 0.0, 0.0), parties)])
    full = np.zeros(int(law.losses[-1]) + 1)
    full[law.losses[law.losses >= 0]] = law.q[law.losses >= 0]
    return half_table(full), law.rounding + lattice_rounding.copied(4.0, parties)
