r"""The noises to choose from: how each is written, how far it is off, and how much of it an error allows.

All but geometric noise scale with the sensitivity. The staircase has the shape of least mean absolute error at its
epsilon, :math:`\gamma = 1/(1+e^{\varepsilon/2})`. References: Dwork et al. (2006); Ghosh, Roughgarden, Sundararajan
(2012); Geng, Viswanath (2014); Warner (1965).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.calibration.accuracy import epsilon_for_error
from dpcore.errors import DomainError
from dpcore.mechanisms.staircase import Staircase
from dpcore.utility import noise

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.utility.noise import Noise

LAPLACE, GAUSSIAN, GEOMETRIC, STAIRCASE = "laplace", "gaussian", "geometric", "staircase"
UNIFORM, RESPONSE, SAMPLED = "uniform", "rr", "poisson_gaussian"
TITLES: Final = {
    LAPLACE: "Laplace noise",
    GAUSSIAN: "Gaussian noise",
    GEOMETRIC: "Geometric noise",
    STAIRCASE: "Staircase noise",
    UNIFORM: "Uniform noise",
    RESPONSE: "Randomized response",
    SAMPLED: "Gaussian noise on samples",
}
SHORT: Final = {
    **{name: title.removesuffix(" noise") for name, title in TITLES.items()},
    RESPONSE: "Rand. response",
    SAMPLED: "Sampled Gaussian",
}
PARAMETERS: Final = {
    LAPLACE: "epsilon",
    GAUSSIAN: "sigma",
    GEOMETRIC: "epsilon",
    STAIRCASE: "epsilon",
    UNIFORM: "halfwidth",
    RESPONSE: "epsilon",
    SAMPLED: "sigma",
}
SYMBOLS: Final = {"epsilon": "ε", "sigma": "σ", "halfwidth": "half width"}
_LARGEST_STAIR = 500.0
_ROUNDS = 200


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kind of noise for an answer that moves by `sensitivity`.

    `q` is the sampling rate of noise on samples, `gamma` the width of a staircase's first step.
    """

    name: str
    sensitivity: float = 1.0
    q: float = 1.0
    gamma: float = 0.5

    @property
    def title(self) -> str:
        """Its name as people read it."""
        return TITLES[self.name]

    @property
    def short(self) -> str:
        """Its name where there is little room, as in a legend."""
        return SHORT[self.name]

    @property
    def parameter(self) -> str:
        """What is solved for."""
        return PARAMETERS[self.name]

    @property
    def why_not(self) -> str:
        """Why it cannot answer this question at all; empty if it can."""
        if self.name == GEOMETRIC and self.sensitivity != math.floor(self.sensitivity):
            return f"It is for integer answers, which move by an integer, not by {self.sensitivity:g}."
        if self.name == RESPONSE and self.sensitivity != 1:
            return "It is for yes-no answers, which move by 1."
        return ""

    def written(self, value: str) -> str:
        """Return the expression of one use with the parameter written as `value` (a number, or ?)."""
        moved = "" if self.sensitivity == 1 else f", {self._sensitivity}"
        if self.name == STAIRCASE:
            return f"staircase({value}, {self.gamma!r})"
        if self.name == SAMPLED:
            return f"poisson_gaussian({value}, {self.q!r})"
        return f"{self.name}({value}{moved if self.name in (GAUSSIAN, UNIFORM, GEOMETRIC) else ''})"

    @property
    def _sensitivity(self) -> str:
        return str(int(self.sensitivity)) if self.name == GEOMETRIC else repr(self.sensitivity)

    # ---- how far it is off ---------------------------------------------------------------------------------

    def law(self, value: float) -> Noise | None:
        """Return the law of the noise in units of the answer, where it is one of the usual three."""
        if self.name == LAPLACE:
            return noise.Laplace(self.sensitivity / value)
        if self.name == GAUSSIAN:
            return noise.Gaussian(value)
        return noise.Geometric(value / self.sensitivity) if self.name == GEOMETRIC else None

    def deviation(self, value: float) -> float | None:
        """Return the standard deviation of the noise; None where there is no noise on the answer itself."""
        law = self.law(value)
        if law is not None:
            return math.sqrt(law.variance)
        if self.name == UNIFORM:
            return value / math.sqrt(3.0)
        return self.sensitivity * math.sqrt(_stair_variance(value, self.gamma)) if self.name == STAIRCASE else None

    def error(self, value: float, probability: float) -> float | None:
        """Return what the error exceeds with at most this probability, rounded up; None as for `deviation`."""
        law = self.law(value)
        if law is not None:
            return law.quantile(probability)
        if self.name == UNIFORM:
            return math.nextafter(value * (1 - probability), math.inf)
        return self.sensitivity * _stair_quantile(value, self.gamma, probability) if self.name == STAIRCASE else None

    def for_error(self, error: float, probability: float) -> tuple[Candidate, float]:
        """Return the most private parameter that keeps the error within a bound, up to a probability.

        With it comes the candidate itself, a staircase with its first step chosen.
        """
        if self.name == STAIRCASE:
            value = _stair_for(error / self.sensitivity, probability)
            return self.shaped(value), value
        if self.name in (RESPONSE, SAMPLED):
            whose = "people" if self.name == RESPONSE else "records sampled"
            msg = f"Its error depends on the number of {whose}, not on the noise alone."
            raise DomainError(msg)
        return self, epsilon_for_error(self.name, error, probability, sensitivity=self.sensitivity).value

    def shaped(self, epsilon: float) -> Candidate:
        """Return a staircase with the first step of least error at about this epsilon; any other noise as it is."""
        return replace(self, gamma=best_gamma(epsilon)) if self.name == STAIRCASE else self


def best_gamma(epsilon: float) -> float:
    """Return the width of the first step that makes the mean absolute error least."""
    return 1.0 / (1.0 + math.exp(min(epsilon, _LARGEST_STAIR) / 2))


def _stair_variance(epsilon: float, gamma: float) -> float:
    r"""Return E N^2 of the staircase: both levels of every step, summed as geometric series.

    With b = e^-epsilon, g = gamma and the level a of the first step it is
    :math:`2a\sum_j b^j[((j+g)^3-j^3)/3 + b((j+1)^3-(j+g)^3)/3]`, and the sums of b^j j^m are known.
    """
    b, g = math.exp(-epsilon), gamma
    gap = -math.expm1(-epsilon)
    level = gap / (2 * (g + b * (1 - g)))
    s0, s1, s2 = 1 / gap, b / gap**2, b * (1 + b) / gap**3
    near = g * s2 + g * g * s1 + g**3 / 3 * s0
    far = (1 - g) * s2 + (1 - g * g) * s1 + (1 - g**3) / 3 * s0
    return 2 * level * (near + b * far)


def _stair_tail(epsilon: float, gamma: float, t: float) -> float:
    return 2.0 * float(Staircase(epsilon, gamma).survival(np.array([t]))[0])


def _stair_quantile(epsilon: float, gamma: float, probability: float) -> float:
    """Return a t with P(abs(N) > t) <= probability, the least but for rounding."""
    low, high = 0.0, 1.0
    while _stair_tail(epsilon, gamma, high) > probability:
        low, high = high, 2 * high
    return _edge(lambda t: _stair_tail(epsilon, gamma, t) <= probability, low, high)


def _stair_for(error: float, probability: float) -> float:
    """Return an epsilon, about the least, whose staircase exceeds `error` with at most this probability.

    The first step changes with epsilon, and the tail at a fixed place need not fall everywhere: the search starts from
    the last place of a grid at which it is too large.
    """

    def met(epsilon: float) -> bool:
        return _stair_tail(epsilon, best_gamma(epsilon), error) <= probability

    grid: list[float] = [1e-6, *np.geomspace(1e-4, _LARGEST_STAIR, 100).tolist()]
    missed = [place for place, epsilon in enumerate(grid) if not met(epsilon)]
    if not missed:
        return grid[0]
    if missed[-1] == len(grid) - 1:
        msg = f"No staircase noise keeps the error within {error:g} times the sensitivity so often."
        raise DomainError(msg)
    return _edge(met, grid[missed[-1]], grid[missed[-1] + 1])


def _edge(met: Callable[[float], bool], low: float, high: float) -> float:
    """Return the upper end of a bisection: a place where the condition is met, next to one where it is not."""
    for _ in range(_ROUNDS):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (low, middle) if met(middle) else (middle, high)
    return high
