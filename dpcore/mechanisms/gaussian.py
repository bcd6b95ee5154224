"""Gaussian mechanism: plain, with the classical calibration, with the exact one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from dpcore import renyi_curves
from dpcore.curves.gaussian import Gaussian as GaussianCurve
from dpcore.errors import DomainError
from dpcore.guarantees import gaussian_curve
from dpcore.mechanisms.base import Mechanism, check_noise
from dpcore.registry import DELTA, EPSILON, SENSITIVITY, SIGMA, Oracle, register

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
        return renyi_curves.gaussian(self.gaussian_mu, order)

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the normal density around `shift`."""
        check_noise(self.text, self.noise)
        t = (np.asarray(x) - shift) / self.noise
        return np.asarray(np.exp(-t * t / 2) / (self.noise * math.sqrt(2 * math.pi)), dtype=np.float64)

    def survival(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the normal tail."""
        return np.asarray(ndtr((shift - np.asarray(x, dtype=np.float64)) / self.noise), dtype=np.float64)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noise.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        check_noise(self.text, self.noise)
        return rng.normal(0.0, self.noise, size)


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

    epsilon_: float = OPEN_EPSILON.field()
    delta_: float = OPEN_DELTA.field()

    @property
    def noise(self) -> float:
        """The classical standard deviation."""
        return math.sqrt(2 * math.log(1.25 / self.delta_)) / self.epsilon_


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

    epsilon_: float = EPSILON.but(infinite=False).field()
    delta_: float = OPEN_DELTA.field()

    @property
    def noise(self) -> float:
        """The exact standard deviation, rounded up."""
        return math.nextafter(1.0 / self.gaussian_mu, math.inf)

    @cached_property
    def gaussian_mu(self) -> float:
        """The largest mu that is (epsilon, delta)-private."""
        return largest_mu(self.epsilon_, self.delta_)


def largest_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu with delta_mu(epsilon) <= delta, rounded to the safe side.

    Reference: Balle, Wang (2018), Theorem 8; here by bisection in mu on the closed-form profile.
    """
    at = np.array([epsilon])

    def safe(mu: float) -> bool:
        return float(GaussianCurve(mu).delta_bounds(at)[1][0]) <= delta

    low, high = 0.0, 1.0
    while safe(high):
        low, high = high, 2 * high
        if high > 1e9:
            msg = f"delta must be below 1 for a finite noise, got {delta!r}."
            raise DomainError(msg)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if safe(middle) else (low, middle)
    return low if low > 0 else high
