"""Gaussian noise on a Poisson sample: one step of private gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.registry import PROBABILITY, SIGMA, Oracle, register
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.subsampled import subsampled
from dpcore.mechanisms.base import Mechanism, Offer, TwoAnswers, check_noise
from dpcore.mechanisms.gaussian import NormalLaw
from dpcore.mechanisms.law import Law
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray


@register(
    "poisson_gaussian",
    title="Poisson-subsampled Gaussian",
    group="mechanism",
    symbol=r"G_{1/\sigma}^{q}",
    formula=r"N(0,\sigma^2)\ \text{against}\ (1-q)N(0,\sigma^2)+qN(1,\sigma^2)",
    meaning="Each record is used with probability q; the sum gets normal noise σ.",
    assumptions="Sensitivity 1; the record is in under one hypothesis and out under the other.",
    reference="Abadi et al. 2016; exact pair: Zhu, Dong, Wang 2022",
    neighbours="add/remove",
    oracles=(
        Oracle((1.0, 0.1), "delta", 0.0, 0.03829249, 1e-8, "theory"),
        Oracle((1.0, 0.1), "delta", 0.05, 0.02614366, 1e-8, "theory, the worse direction"),
        Oracle((2.0, 0.5), "delta", 0.2, 0.03982688, 1e-8, "theory"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class PoissonGaussian(Mechanism):
    """Gaussian noise on a Poisson sample."""

    sigma: float = SIGMA.field()
    q: float = PROBABILITY.but(name="q").field(least=1e-300, meaning="probability that a record is used")

    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("sigma", -1), ("q", 1))

    @property
    def oriented(self) -> str:
        """The record is in under H1 in every part."""
        return "add/remove"

    def _pair(self) -> Curve:
        if self.q == 0.0 or np.isinf(self.sigma):
            return three_point(0.0, 0.0, 1.0)
        base = GaussianCurve(1.0 / self.sigma)
        return subsampled(base, self.q)

    @property
    def law(self) -> NormalLaw:
        """Noise of the sum, whether the record is in the sample or not."""
        check_noise(self.text, self.sigma)
        return NormalLaw(self.sigma)

    def law_at(self, sensitivity: float) -> Law:  # noqa: ARG002  refused for every sensitivity
        """Refuse: the error is that of an answer from a sample."""
        msg = "Its error depends on the number of records sampled, not on the noise alone."
        raise DomainError(msg)

    def answers(self, without: float | None = None) -> TwoAnswers:
        """Return the noisy sum without the record, and that of a sample that holds it with probability q."""
        note = "Your record is used only sometimes; the region covers both directions of the comparison."
        law, start = self.law.moved(float(without or 0.0)), float(without or 0.0)
        return TwoAnswers(law, SampledLaw(self.sigma, self.q, start), note=note)

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the density of the noisy sum; `shift` 1 means that the record is in the data."""
        return self._sum(shift).density(x)

    def survival(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the tail of the noisy sum; `shift` 1 means that the record is in the data."""
        return self._sum(shift).above(x)

    def _sum(self, shift: float) -> Law:
        check_noise(self.text, self.sigma)
        return SampledLaw(self.sigma, self.q, 0.0, shift) if shift else NormalLaw(self.sigma)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noisy sum with the record in the data.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        check_noise(self.text, self.sigma)
        return SampledLaw(self.sigma, self.q).sample(rng, size)

    @property
    def sampled_gaussian(self) -> tuple[float, float]:
        """Sigma and q."""
        return self.sigma, self.q

    @classmethod
    def offer(cls) -> Offer:
        """Return its entry in a list of noises."""
        return Offer("Gaussian noise on samples", "Sampled Gaussian", 7, "σ")


class SampledLaw(Law):
    """Normal noise around `start`, and with probability q around `start` + `move`."""

    symmetric = False

    def __init__(self, sigma: float, q: float, start: float = 0.0, move: float = 1.0) -> None:
        self.sigma, self.q, self.start, self.move = sigma, q, start, move
        self.centre = start + move

    def _mixture(self, x: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        x = np.asarray(x, dtype=np.float64) - self.start
        return np.asarray((1 - self.q) * function(x) + self.q * function(x - self.move), dtype=np.float64)

    def density(self, x: FloatArray) -> FloatArray:
        """Return the mixture of the two normal densities."""
        return self._mixture(x, NormalLaw(self.sigma).density)

    def above(self, x: FloatArray) -> FloatArray:
        """Return the mixture of the two upper tails."""
        return self._mixture(x, NormalLaw(self.sigma).above)

    def below(self, x: FloatArray) -> FloatArray:
        """Return the mixture of the two lower tails."""
        return self._mixture(x, NormalLaw(self.sigma).below)

    @property
    def variance(self) -> float:
        """sigma^2 + q (1 - q) move^2."""
        return self.sigma**2 + self.q * (1 - self.q) * self.move**2

    @property
    def mean(self) -> float:
        """The start plus q times the move."""
        return self.start + self.q * self.move

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noisy sum.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        noise = rng.normal(0.0, self.sigma, size)
        return np.asarray(self.start + noise + self.move * (rng.random(size) < self.q), dtype=np.float64)
