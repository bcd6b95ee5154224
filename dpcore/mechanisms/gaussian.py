"""Gaussian mechanism: plain, with the classical calibration, and with the exact one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest, numeral
from dpcore.core.registry import DELTA, EPSILON, SENSITIVITY, SIGMA, Oracle, register
from dpcore.curves import renyi_divergence
from dpcore.curves.gaussian import GaussianCurve
from dpcore.mechanisms.base import Claim, Mechanism, Offer, check_noise, open_expression
from dpcore.mechanisms.law import Law
from dpcore.regions.guarantees import DP, gaussian_curve
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray

OPEN_EPSILON = EPSILON.but(low_open=True, infinite=False)
OPEN_DELTA = DELTA.but(low_open=True, high_open=True)


class GaussianNoise(Mechanism):
    """Normal noise; subclasses say how its standard deviation is chosen."""

    @property
    def noise(self) -> float:
        """Standard deviation of the noise."""
        raise NotImplementedError

    @property
    def gaussian_mu(self) -> float:
        """Sensitivity over standard deviation: the mu of Gaussian privacy."""
        return 1.0 / self.noise

    def _pair(self) -> Curve:
        return gaussian_curve(self.gaussian_mu)

    def renyi(self, order: float) -> float | None:
        """Return order mu^2 / 2."""
        return renyi_divergence.gaussian(self.gaussian_mu, order)

    @property
    def law(self) -> NormalLaw:
        """Normal noise around 0."""
        check_noise(self.text, self.noise)
        return NormalLaw(self.noise)

    @property
    def move(self) -> float:
        """Mu times the standard deviation: the sensitivity."""
        return self.gaussian_mu * self.noise

    @property
    def noise_parameter(self) -> tuple[str, float]:
        """The standard deviation, even where it is calibrated."""
        return "sigma", self.noise

    @property
    def open_text(self) -> str:
        """Gaussian noise of any standard deviation."""
        return "gaussian(?)"


class NormalLaw(Law):
    """The normal law around 0."""

    log_concave = True

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma

    def density(self, x: FloatArray) -> FloatArray:
        """Return the normal density."""
        t = np.asarray(x) / self.sigma
        return np.asarray(np.exp(-t * t / 2) / (self.sigma * math.sqrt(2 * math.pi)), dtype=np.float64)

    def above(self, x: FloatArray) -> FloatArray:
        """Return the normal tail."""
        return np.asarray(ndtr(-np.asarray(x, dtype=np.float64) / self.sigma), dtype=np.float64)

    @property
    def absolute_deviation(self) -> float:
        """Sigma times the root of 2 / pi."""
        return self.sigma * math.sqrt(2.0 / math.pi)

    @property
    def variance(self) -> float:
        """sigma^2."""
        return self.sigma**2

    def reach(self, miss: float) -> float:
        """Return -sigma Phi^-1(miss/2), rounded up."""
        return math.nextafter(-self.sigma * float(ndtri(0.5 * miss)), math.inf)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noise.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        return rng.normal(0.0, self.sigma, size)


@register(
    "gaussian",
    title="Gaussian mechanism",
    group="mechanism",
    symbol=r"G_{\Delta/\sigma}",
    formula=r"G_\mu,\quad \mu=\Delta/\sigma",
    meaning="The answer plus normal noise of standard deviation σ.",
    assumptions="The query moves by at most the sensitivity in l2 norm.",
    reference="Dong, Roth, Su 2022, Theorem 2.7",
    oracles=(Oracle((1.0,), "beta", 1e-6, 1 - 8.7218e-5, 1e-7, "dp-accounting tests: TPR at FPR 1e-6"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(GaussianNoise):
    """Normal noise of standard deviation sigma."""

    sigma: float = SIGMA.field()
    sensitivity: float = SENSITIVITY.field(1.0)

    @property
    def noise(self) -> float:
        """Sigma itself."""
        return self.sigma

    @property
    def gaussian_mu(self) -> float:
        """Sensitivity over sigma."""
        return self.sensitivity / self.sigma

    @property
    def open_text(self) -> str:
        """The expression with ? for sigma; the sensitivity stays."""
        return open_expression(self)

    @classmethod
    def offer(cls) -> Offer:
        """Return its entry in a list of noises."""
        return Offer("Gaussian noise", "Gaussian", 2, "σ")


@register(
    "gaussian_classic",
    title="Gaussian mechanism, classical calibration",
    group="mechanism",
    symbol=r"G_{1/\sigma_c}",
    formula=r"\sigma_c=\frac{\sqrt{2\log(1.25/\delta)}}{\varepsilon}",
    meaning="The region of the textbook noise for (ε, δ), whatever was claimed; above ε = 1 the claim can be false.",
    assumptions="Sensitivity 1; the (ε, δ) claim is proved for ε < 1 only, the region shown is the true one.",
    reference="Dwork, Roth 2014, Theorem 3.22",
    oracles=(Oracle((10.0, 1e-5), "delta", 10.0, 2.265e-5, 5e-9, "theory: the claim 1e-5 is false"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class GaussianClassic(GaussianNoise):
    """Noise of the classical formula for (epsilon, delta)."""

    offered: ClassVar[bool] = False

    epsilon_: float = OPEN_EPSILON.field()
    delta_: float = OPEN_DELTA.field()

    @property
    def noise(self) -> float:
        """The classical standard deviation."""
        return math.sqrt(2 * math.log(1.25 / self.delta_)) / self.epsilon_

    def claim(self) -> Claim:
        """Return the (epsilon, delta) it was calibrated to, which above epsilon = 1 can be false."""
        epsilon, delta = self.epsilon_, self.delta_
        true = float(self.delta(epsilon))
        holds = true <= delta
        least = GaussianAnalytic(epsilon, delta).noise
        ratio = self.noise / least
        sigma = f"Its σ is {nearest(self.noise, 5)}; the exact calibration gives σ = {outward(least, 5)} (rounded up)"
        if holds:
            end = f"{sigma}: the classical noise is {nearest(100 * (ratio - 1), 3)} % wider than necessary."
            words = f"The claim holds: at ε = {nearest(epsilon)} the true δ is {outward(true, 4)} (exact, rounded up), the claimed one {nearest(delta)}."
        else:
            times = outward(true / delta, 3, up=False)
            end = f"{sigma}, {nearest(100 * (1 / ratio - 1), 3)} % more."
            words = (
                f"The claim fails: at ε = {nearest(epsilon)} the true δ is {outward(true, 4, up=False)} (exact, rounded down), "
                f"{times} times the claimed {nearest(delta)}. The classical formula is proved only for ε below 1."
            )
        return Claim(DP(epsilon, delta), holds, f"{words} {end}")


@register(
    "gaussian_analytic",
    title="Gaussian mechanism, exact calibration",
    group="mechanism",
    symbol=r"G_{1/\sigma_a}",
    formula=r"\sigma_a=\min\{\sigma:\ \delta_{1/\sigma}(\varepsilon)\le\delta\}",
    meaning="The region of the least normal noise that is (ε, δ)-private.",
    assumptions="Sensitivity 1.",
    reference="Balle, Wang 2018",
    oracles=(Oracle((1.0, 1e-5), "delta", 1.0, 1e-5, 1e-15, "calibrated to it"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class GaussianAnalytic(GaussianNoise):
    """The least noise that is (epsilon, delta)-private."""

    offered: ClassVar[bool] = False

    epsilon_: float = EPSILON.but(infinite=False).field()
    delta_: float = OPEN_DELTA.field()

    @property
    def noise(self) -> float:
        """The exact standard deviation, rounded up."""
        return math.nextafter(1.0 / self.gaussian_mu, math.inf)

    @Lazy
    def gaussian_mu(self) -> float:
        """The largest mu that is (epsilon, delta)-private."""
        return largest_mu(self.epsilon_, self.delta_)

    def claim(self) -> Claim:
        """Return the (epsilon, delta) it was calibrated to."""
        words = f"The claim holds with σ = {outward(self.noise, 5)} (rounded up); with a smaller one it would not."
        return Claim(DP(self.epsilon_, self.delta_), True, words)


def largest_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu with delta_mu(epsilon) <= delta, rounded to the safe side.

    Reference: Balle, Wang (2018), Theorem 8; here by bisection in mu on the closed-form profile.
    """
    at = np.array([epsilon])

    def safe(mu: float) -> bool:
        return float(GaussianCurve(mu).delta_bounds(at)[1][0]) <= delta

    low, high = 0.0, 1.0
    while safe(high):  # doubles to 1e9, then refused
        low, high = high, 2 * high
        if high > 1e9:
            msg = f"delta must be below 1 for a finite noise, got {numeral(delta)}."
            raise DomainError(msg)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if safe(middle) else (low, middle)
    return low if low > 0 else high
