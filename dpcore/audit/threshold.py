"""The attacker's test on one noisy answer: accuse above a threshold, and how often that is wrong.

Two neighbouring datasets have the true answers `without` and `within`. The attacker sees one answer X and accuses if
X > t; if single answers have a probability of their own, the answer t itself leads to an accusation with chance `share`.
For noise whose likelihood ratio rises with the answer, no other test is better (Neyman, Pearson 1933).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import ALPHA
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.mechanisms.base import Mechanism, TwoAnswers
    from dpcore.mechanisms.law import Law

LEFT_OUT = 0.002  # share of either end that a drawing leaves out


@dataclass(frozen=True)
class AnswerPair:
    """The answers of one mechanism on two neighbouring datasets; `inside` says whether the person is in the data."""

    answers: TwoAnswers
    text: str

    @property
    def discrete(self) -> bool:
        """Whether answers are integers or categories, which have probabilities of their own."""
        return self.answers.without.integer

    @property
    def names(self) -> tuple[str, str]:
        """What the two datasets are called."""
        return self.answers.names

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the places 0, 1, 2, if answers are categories."""
        return self.answers.labels

    @property
    def note(self) -> str:
        """What a caption must mention."""
        return self.answers.note

    def law(self, *, inside: bool) -> Law:
        """Return the law of the answer."""
        return self.answers.within if inside else self.answers.without

    def density(self, x: FloatArray, *, inside: bool) -> FloatArray:
        """Return the density at x; the probability of x if answers are discrete."""
        return self.law(inside=inside).density(x)

    def above(self, x: float, *, inside: bool) -> float:
        """Return the probability of an answer above x."""
        if math.isinf(x):
            return 0.0 if x > 0 else 1.0
        return float(self.law(inside=inside).above(np.array([x]))[0])

    def below(self, x: float, *, inside: bool) -> float:
        """Return the probability of an answer of at most x; small ones keep their digits."""
        if math.isinf(x):
            return 1.0 if x > 0 else 0.0
        return float(self.law(inside=inside).below(np.array([x]))[0])

    def quantile(self, rate: float, *, inside: bool) -> float:
        """Return the smallest x such that an answer above x has a probability of at most `rate`."""
        place = float(self.law(inside=inside).quantile(np.array([rate]))[0])
        return max(place, -1.0) if self.labels else place  # below the first category there is only -1

    def window(self) -> tuple[float, float]:
        """Return the range of answers to draw: both distributions without their rarest answers."""
        return self._window

    @Lazy
    def _window(self) -> tuple[float, float]:
        if self.labels:
            return -0.6, len(self.labels) - 0.4
        low = self.quantile(1.0 - LEFT_OUT, inside=False)
        high = self.quantile(LEFT_OUT, inside=True)
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            msg = f"The noise of {self.text} is too wide or too narrow to be drawn."
            raise DomainError(msg)
        # a margin shows a sharp end; bars of integers have one already
        margin = 0.05 * (high - low) if math.isfinite(self.answers.without.high) and not self.discrete else 0.0
        return low - margin, high + margin

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

    pair: AnswerPair
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


def pair_of(mechanism: Mechanism, without: float | None = None) -> AnswerPair:
    """Return the two answers that a mechanism is tested on.

    Parameters
    ----------
    mechanism : Mechanism
        One with noise of its own.
    without : float, optional
        The true answer without the person; by default 0, or near the upper end of an interval. With the person it is
        larger by the sensitivity.

    Returns
    -------
    AnswerPair
        The laws of both answers.

    Raises
    ------
    DomainError
        If the mechanism is a worst case without noise of its own, or its noise has no density.
    """
    answers = mechanism.answers(without)
    answers.without.density(np.array([answers.without.centre]))  # raises with the reason if there is nothing to draw
    return AnswerPair(answers, mechanism.text)
