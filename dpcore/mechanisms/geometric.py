"""Geometric mechanism: integer noise, the discrete Laplace distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.registry import EPSILON, Oracle, Parameter, register
from dpcore.curves.polygon import Polygon
from dpcore.mechanisms.base import Mechanism, Offer, check_noise
from dpcore.mechanisms.law import Law
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import Curve, FloatArray

STEPS = Parameter(
    "sensitivity",
    "integer",
    low=1,
    high=10**6,
    label="Δ",
    meaning="how far the integer answer moves",
    example=1,
)


@register(
    "geometric",
    title="geometric mechanism",
    group="mechanism",
    symbol=r"\mathrm{Geo}_\varepsilon",
    formula=r"P(N=n)\propto r^{|n|},\quad r=e^{-\varepsilon/\Delta}",
    meaning="An integer answer plus two-sided geometric noise.",
    assumptions="The query is an integer and moves by at most the sensitivity.",
    reference="Ghosh, Roughgarden, Sundararajan 2012",
    oracles=(
        Oracle((1.0,), "delta", 0.0, math.tanh(0.5), 1e-15, "exactly the (ε, 0) region"),
        Oracle((1.0, 2), "delta", 0.0, 0.393469, 1e-6, "theory"),
        Oracle((1.0, 3), "delta", 0.0, 0.401797, 1e-6, "theory"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class Geometric(Mechanism):
    """Two-sided geometric noise with ratio e^(-epsilon / sensitivity)."""

    epsilon_: float = EPSILON.field()
    sensitivity: int = STEPS.field(1)
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("epsilon_", 1),)

    @property
    def ratio(self) -> float:
        """Ratio of neighbouring probabilities."""
        return math.exp(-self.epsilon_ / self.sensitivity)

    @property
    def _rate(self) -> float:
        """Epsilon over the sensitivity; refused if there is no noise or infinite noise."""
        check_noise(self.text, 1.0 / self.epsilon_ if self.epsilon_ else math.inf)
        return self.epsilon_ / self.sensitivity

    @property
    def table_size(self) -> int:
        """One loss for every step between the two answers."""
        return self.sensitivity + 1

    def _pair(self) -> Curve:
        steps, r = self.sensitivity, self.ratio
        if steps == 1 or self.epsilon_ == 0 or math.isinf(self.epsilon_):
            return three_point(self.epsilon_, 0.0, 0.0)
        # an output x strictly between the two true answers 0 and `steps` has the loss (2x - steps) eps / steps
        x = np.arange(1, steps)
        gap = -math.expm1(-self.epsilon_ / steps) / (1 + r)
        inner = gap * np.exp(-self.epsilon_ * (steps - x) / steps)
        q = np.concatenate(([math.exp(-self.epsilon_) / (1 + r)], inner, [1 / (1 + r)]))
        loss = np.concatenate(([-self.epsilon_], (2 * x - steps) * (self.epsilon_ / steps), [self.epsilon_]))
        return Polygon(loss, q[::-1], q, symmetric=True)

    @property
    def law(self) -> GeometricLaw:
        """Two-sided geometric noise."""
        return GeometricLaw(self._rate)

    @property
    def claimed_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon_

    @classmethod
    def offer(cls) -> Offer:
        """Return its entry in a list of noises."""
        return Offer("Geometric noise", "Geometric", 3, "ε")


class GeometricLaw(Law):
    """P(N = j) = (1-r)/(1+r) r^|j| on the integers, r = e^(-rate)."""

    integer = True
    log_concave = True

    def __init__(self, rate: float) -> None:
        self.rate, self.ratio = rate, math.exp(-rate)

    def density(self, x: FloatArray) -> FloatArray:
        """Return the probability of the integer x."""
        distance = np.abs(np.asarray(x, dtype=np.float64))
        return np.asarray(-math.expm1(-self.rate) / (1 + self.ratio) * np.exp(-self.rate * distance), dtype=np.float64)

    def above(self, x: FloatArray) -> FloatArray:
        """Return the tail of the two-sided geometric law above the integer part of x."""
        n = np.floor(np.asarray(x, dtype=np.float64))
        tail = np.exp(-self.rate * np.where(n >= 0, n + 1, -n)) / (
            1 + self.ratio
        )  # r^n would lose n times the rounding of r
        return np.where(n >= 0, tail, 1.0 - tail)

    @property
    def absolute_deviation(self) -> float:
        """2r / (1 - r^2), as 1 / sinh of the rate."""
        return 1.0 / math.sinh(self.rate) if self.rate < 700.0 else 0.0

    @property
    def variance(self) -> float:
        """2r / (1-r)^2."""
        return 2.0 * self.ratio / math.expm1(-self.rate) ** 2

    def reach(self, miss: float) -> float:
        """Return the smallest integer t with 2 r^(t+1)/(1+r) <= miss."""
        guess = math.ceil(-math.log(0.5 * miss * (1.0 + self.ratio)) / self.rate) - 1
        t = max(0, guess - 1)
        while 2.0 * math.exp(-self.rate * (t + 1.0)) / (1.0 + self.ratio) > miss:  # off by rounding: some rounds
            t += max(1, int(math.ulp(t)))  # beyond 2^53 the next double is further away than the next integer
        return float(t)

    def sample(self, rng: Generator, size: int) -> NDArray[np.int64]:
        """Return integer draws: the difference of two geometric ones.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        p = -math.expm1(-self.rate)
        return np.asarray(rng.geometric(p, size) - rng.geometric(p, size), dtype=np.int64)
