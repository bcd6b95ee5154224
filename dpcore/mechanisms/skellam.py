"""Skellam mechanism: the difference of two Poisson numbers, noise that many parties can add up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import ive

from dpcore.core.errors import BudgetError
from dpcore.core.registry import Oracle, Parameter, register
from dpcore.mechanisms.base import MOST_INTEGERS, Mechanism, Offer
from dpcore.mechanisms.geometric import STEPS
from dpcore.mechanisms.tabulated_law import HalfTable, TabulatedLaw, half_table

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray


_REACH = 38.0  # standard deviations beyond which a normal law underflows
VARIANCE = Parameter(
    "mu",
    low=0.0,
    high=1e8,
    low_open=True,
    least=1e-50,
    label="μ",
    meaning="variance of the noise, the mean of both Poisson numbers together",
    example=1.0,
    falling=True,
)


@register(
    "skellam",
    title="Skellam mechanism",
    group="mechanism",
    symbol=r"\mathrm{Sk}_{\mu}",
    formula=r"N=A-B,\ A,B\sim\mathrm{Poisson}(\mu/2),\quad P(N=n)=e^{-\mu}I_{|n|}(\mu)",
    meaning="An integer answer plus the difference of two Poisson numbers; sums of such noises are such noises.",
    assumptions="The query is an integer and moves by at most the sensitivity.",
    reference="Skellam 1946; as a mechanism: Agarwal, Kairouz, Liu 2021",
    oracles=(
        Oracle((1.0,), "delta", 0.0, 0.46575960759364044, 1e-14, "the mass of 0, e^-1 I_0(1)"),
        Oracle((4.0,), "delta", 0.5, 0.05267542605376093, 1e-13, "direct sum in 40 digits"),
        Oracle((4.0, 2), "delta", 1.0, 0.12434004595802936, 1e-13, "direct sum in 40 digits"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class Skellam(Mechanism):
    """The difference of two independent Poisson numbers of mean mu / 2 each."""

    mu: float = VARIANCE.field()
    sensitivity: int = STEPS.field(1)
    offered: ClassVar[bool] = False  # calibration of powers is slow: their losses have no lattice

    @property
    def table_size(self) -> int:
        """About one loss for every integer whose mass is a double."""
        return int(min(2 * _REACH * sqrt(self.mu) + 400 + self.sensitivity, MOST_INTEGERS))

    @property
    def law(self) -> SkellamLaw:
        """The difference of two Poisson numbers."""
        return SkellamLaw(self.mu)

    @classmethod
    def offer(cls) -> Offer:
        """Return its entry in a list of noises."""
        return Offer("Skellam noise", "Skellam", 9, "μ")


class SkellamLaw(TabulatedLaw):
    """P(N = n) = e^-mu I_n(mu), I_n the modified Bessel function; a convolution of log-concave laws is log-concave."""

    def __init__(self, mu: float) -> None:
        super().__init__(_table(mu))
        self.mu = mu
        self.rounding = 100.0 + 50.0 * sqrt(mu)  # of the Bessel function: twice what comparisons up to mu = 1e6 show

    @property
    def variance(self) -> float:
        """Mu: the variances of two Poisson numbers of mean mu / 2."""
        return self.mu

    def sample(self, rng: Generator, size: int) -> NDArray[np.int64]:
        """Return integer draws: the difference of two Poisson ones.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        draws = rng.poisson(self.mu / 2, (2, size))
        return np.asarray(draws[0] - draws[1], dtype=np.int64)


@lru_cache(maxsize=8)
def _table(mu: float) -> HalfTable:
    """Return the masses of 0, 1, 2, ... as far as they are doubles, and the tails above them.

    Far out the masses fall like those of a Poisson number: ratio I_(n+1) / I_n below mu / (2n).
    """
    most = ceil(_REACH * sqrt(mu) + 400)
    if most > MOST_INTEGERS:
        msg = f"The noise takes more than {MOST_INTEGERS} integers of a probability that doubles can tell from 0."
        raise BudgetError(msg)
    own = np.asarray(ive(np.arange(float(most)), mu), dtype=np.float64)
    own = own[: int(np.argmax(own <= 0.0)) or own.size]
    return half_table(own)
