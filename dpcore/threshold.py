"""The attacker's test on one noisy answer: accuse above a threshold, and how often that is wrong.

Two neighbouring datasets have the true answers `without` and `within`. The attacker sees one answer X and accuses if
X > t; where single answers have a probability of their own, the answer t itself is accused with a chance `share`.
For noise whose likelihood ratio rises with the answer no other test is better (Neyman, Pearson 1933).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.domains import ALPHA
from dpcore.errors import DomainError
from dpcore.mechanisms.base import Mechanism, check_noise
from dpcore.mechanisms.bounded_laplace import BoundedLaplace
from dpcore.mechanisms.gaussian import Gaussian, GaussianNoise
from dpcore.mechanisms.laplace import Histogram, Laplace, LaplaceVector
from dpcore.mechanisms.poisson_gaussian import PoissonGaussian
from dpcore.mechanisms.randomized_response import RandomizedResponse
from dpcore.mechanisms.uniform import Uniform

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray

LEFT_OUT = 0.002  # share of either end that a drawing leaves out
_HALVINGS = 2200  # more than there are powers of two among the doubles


class Pair(ABC):
    """The answers of one mechanism on two neighbouring datasets; `inside` says whether the person is in the data."""

    discrete: bool = False
    names: tuple[str, str] = ("without you", "with you")
    note: str = ""
    labels: tuple[str, ...] = ()

    @abstractmethod
    def density(self, x: FloatArray, *, inside: bool) -> FloatArray:
        """Return the density at x; the probability of x where answers are discrete."""

    @abstractmethod
    def above(self, x: float, *, inside: bool) -> float:
        """Return the probability of an answer above x."""

    @abstractmethod
    def below(self, x: float, *, inside: bool) -> float:
        """Return the probability of an answer of at most x, with its own digits where it is small."""

    @abstractmethod
    def window(self) -> tuple[float, float]:
        """Return the range of answers that is worth drawing."""

    @abstractmethod
    def quantile(self, rate: float, *, inside: bool) -> float:
        """Return the smallest x with an answer above x of probability at most `rate`."""

    def mass(self, x: float, *, inside: bool) -> float:
        """Return the probability of the answer x itself: 0 unless answers are discrete."""
        return float(self.density(np.array([x]), inside=inside)[0]) if self.discrete and math.isfinite(x) else 0.0

    def at_rate(self, alpha: float) -> Test:
        """Return the test that accuses a share `alpha` of those outside the data."""
        ALPHA.check(alpha)
        threshold = self.quantile(alpha, inside=False)
        own = self.mass(threshold, inside=False)
        missing = alpha - self.above(threshold, inside=False)
        return Test(self, threshold, min(1.0, max(0.0, missing / own)) if own else 0.0)

    def at(self, threshold: float) -> Test:
        """Return the test that accuses above a threshold."""
        return Test(self, float(threshold))


@dataclass(frozen=True)
class Test:
    """Accuse above `threshold`, and with probability `share` at the threshold itself."""

    __test__ = False  # pytest would collect a class of this name

    pair: Pair
    threshold: float
    share: float = 0.0

    @property
    def alpha(self) -> float:
        """False positives: the share of those outside the data who are accused; 0 none, 1 all."""
        own = self.share * self.pair.mass(self.threshold, inside=False)
        return min(1.0, self.pair.above(self.threshold, inside=False) + own)

    @property
    def beta(self) -> float:
        """False negatives: the share of those in the data who are missed; 0 none, 1 all."""
        own = self.share * self.pair.mass(self.threshold, inside=True)
        return max(0.0, self.pair.below(self.threshold, inside=True) - own)

    def accused(self, x: FloatArray) -> FloatArray:
        """Return the probability that each answer leads to an accusation."""
        x = np.asarray(x, dtype=np.float64)
        return np.where(x > self.threshold, 1.0, np.where(x == self.threshold, self.share, 0.0))


def pair_of(mechanism: Mechanism, without: float | None = None) -> Pair:
    """Return the two answers that a mechanism is tested on.

    Parameters
    ----------
    mechanism : one with noise of its own.
    without : the true answer without the person; by default 0, or near the upper end of an interval. With the person it is
        larger by the sensitivity.

    Raises
    ------
    DomainError
        If the mechanism is a worst case without noise of its own, or its noise has no density.
    """
    if isinstance(mechanism, RandomizedResponse):
        return Choice(mechanism)
    noise, start, move, note = _one_answer(mechanism)
    first = start if without is None else float(without)
    noise.density(np.array([first]), first)  # says itself why there is nothing to draw
    return Noisy(noise, first, first + move, note)


def _one_answer(mechanism: Mechanism) -> tuple[Mechanism, float, float, str]:
    """Return the noise of one answer, where the answer starts, how far it moves, and what is to be said."""
    if isinstance(mechanism, BoundedLaplace):
        check_noise(mechanism.text, mechanism.scale)
        move = min(mechanism.sensitivity, mechanism.upper - mechanism.lower)
        note = "Drawn is the pair of answers at the upper end; the region covers every pair in the interval."
        return mechanism, mechanism.upper - move, move, note
    if isinstance(mechanism, GaussianNoise):
        noise = mechanism.noise  # the calibrated ones search for it
        check_noise(mechanism.text, noise)
        return Gaussian(noise), 0.0, mechanism.gaussian_mu * noise, ""
    if isinstance(mechanism, Histogram):
        note = "Drawn is one of the two cells that move; the best attacker looks at both."
        return Laplace(mechanism.epsilon_ / 2), 0.0, 1.0, note
    if isinstance(mechanism, LaplaceVector):
        check_noise(mechanism.text, mechanism.scale)
        note = "Drawn is the coordinate that moves most; the best attacker looks at all of them."
        several = len(mechanism.shifts) > 1
        return Laplace(1.0 / mechanism.scale), 0.0, max(mechanism.shifts), note if several else ""
    if isinstance(mechanism, PoissonGaussian):
        note = "Your record is used only sometimes; the region covers both directions of the comparison."
        return mechanism, 0.0, 1.0, note
    return mechanism, 0.0, float(getattr(mechanism, "sensitivity", 1.0)), ""


class Noisy(Pair):
    """A number plus noise."""

    def __init__(self, noise: Mechanism, without: float, within: float, note: str = "") -> None:
        self.noise = noise
        self.answers = (without, within)
        self.note = note
        self.discrete = noise.support == "integer"

    def density(self, x: FloatArray, *, inside: bool) -> FloatArray:
        """Return the density around the true answer."""
        return self.noise.density(x, self.answers[inside])

    def above(self, x: float, *, inside: bool) -> float:
        """Return the upper tail."""
        if math.isinf(x):
            return 0.0 if x > 0 else 1.0
        return float(self.noise.survival(np.array([x]), self.answers[inside])[0])

    def below(self, x: float, *, inside: bool) -> float:
        """Return the lower tail: the upper one of the mirrored noise."""
        if math.isinf(x):
            return 1.0 if x > 0 else 0.0
        noise, centre = self.noise, self.answers[inside]
        if isinstance(noise, PoissonGaussian):
            unused, used = Gaussian(noise.sigma).survival(np.array([-x, centre - x]))
            return float((1 - noise.q) * unused + noise.q * used) if inside else float(unused)
        if isinstance(noise, BoundedLaplace):
            noise = BoundedLaplace(noise.scale, -noise.upper, -noise.lower, noise.sensitivity)
        mirrored = -x - 1.0 if self.discrete else -x
        return float(noise.survival(np.array([mirrored]), -centre)[0])

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest answer that can occur without the person."""
        if isinstance(self.noise, Uniform):
            return self.answers[0] - self.noise.halfwidth, self.answers[0] + self.noise.halfwidth
        if isinstance(self.noise, BoundedLaplace):
            return self.noise.lower, self.noise.upper
        return -math.inf, math.inf

    def quantile(self, rate: float, *, inside: bool) -> float:
        """Return it by doubling and halving."""
        if rate >= 1.0:
            return -math.inf
        if rate <= 0.0:
            return self.ends[1] + (self.answers[inside] - self.answers[0] if isinstance(self.noise, Uniform) else 0.0)
        centre, step = self.answers[inside], 1.0
        low = high = centre
        while self.above(high, inside=inside) > rate and math.isfinite(high):
            low, high, step = high, high + step, 2 * step
        while self.above(low, inside=inside) <= rate and math.isfinite(low):
            low, high, step = low - step, low, 2 * step
        for _ in range(_HALVINGS):
            middle = low + 0.5 * (high - low)
            if middle in (low, high) or not math.isfinite(middle):
                break
            low, high = (low, middle) if self.above(middle, inside=inside) <= rate else (middle, high)
        return high

    def window(self) -> tuple[float, float]:
        """Return the middle of both answers, without the rarest ones."""
        low = self.quantile(1.0 - LEFT_OUT, inside=False)
        high = self.quantile(LEFT_OUT, inside=True)
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            msg = f"The noise of {self.noise.text} is too wide or too narrow to be drawn."
            raise DomainError(msg)
        margin = 0.05 * (high - low) if math.isfinite(self.ends[1]) else 0.0  # so that a sharp end is seen
        return low - margin, high + margin


class Choice(Pair):
    """Randomized response: the two possible truths, and all other answers together.

    Places 0, 1, 2 stand for the first truth, any other answer and the second truth: the order of the likelihood ratio.
    """

    discrete = True
    names = ("your truth is A", "your truth is B")

    def __init__(self, mechanism: RandomizedResponse) -> None:
        truth = mechanism.truth
        lie = truth * math.exp(-mechanism.epsilon_)
        others = mechanism.size - 2
        chances = [truth, others * lie, lie] if others else [truth, lie]
        self.chances = np.array([chances, chances[::-1]])
        another = "another" if others == 1 else f"one of {others} others"
        self.labels = ("A", another, "B") if others else ("A", "B")

    def density(self, x: FloatArray, *, inside: bool) -> FloatArray:
        """Return the probability of each place."""
        x = np.asarray(x, dtype=np.float64)
        place = np.clip(x, 0, len(self.labels) - 1).astype(np.int64)
        return np.where(place == x, self.chances[int(inside)][place], 0.0)

    def above(self, x: float, *, inside: bool) -> float:
        """Return the chances of the places above x."""
        places = np.arange(len(self.labels))
        return min(1.0, math.fsum(self.chances[int(inside)][places > x]))

    def below(self, x: float, *, inside: bool) -> float:
        """Return the chances of the places up to x."""
        places = np.arange(len(self.labels))
        return min(1.0, math.fsum(self.chances[int(inside)][places <= x]))

    def quantile(self, rate: float, *, inside: bool) -> float:
        """Return the first place from which on at most `rate` lies above."""
        return next(float(x) for x in range(-1, len(self.labels)) if self.above(x, inside=inside) <= rate)

    def window(self) -> tuple[float, float]:
        """Return all places."""
        return -0.6, len(self.labels) - 0.4
