"""Randomized response: the truth with some probability, otherwise any other answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.registry import EPSILON, Oracle, Parameter, register
from dpcore.curves import polygon_algebra
from dpcore.curves.bound import Outer
from dpcore.curves.polygon import Polygon
from dpcore.curves.shuffled import binomial_window
from dpcore.curves.shuffled_letters import ThirdLetter, UniformLetters
from dpcore.curves.shuffled_responses import ShuffledResponses
from dpcore.mechanisms.base import Mechanism, Offer, TwoAnswers, answer_attacker
from dpcore.mechanisms.law import Masses
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import Curve, FloatArray
    from dpcore.mechanisms.base import Attacker
    from dpcore.mechanisms.law import Law

_SEARCHED = (1e-6, 8.0)  # losses for which a search reaches a width of 1e-6 for all numbers of people
_MOST_LISTED = 200  # shuffled people whose pairs are listed for all truths of the others, in a quarter of a second
_LARGEST_LISTED = 600.0  # loss of all together: the rarest count still has a normal double as its probability
_MOST_LETTERS = 2_000_000  # shuffled people with more than two answers: half a second for one delta
_ROUNDINGS = 16.0  # of a mass, for each person
SIZE = Parameter("size", "integer", low=2, high=10**9, label="m", meaning="number of possible answers", example=2)


@register(
    "rr",
    title="randomized response",
    group="mechanism",
    symbol=r"\mathrm{RR}_{\varepsilon,m}",
    formula=r"f_{\varepsilon,0,\eta},\quad \eta=\frac{e^{\varepsilon}-1}{e^{\varepsilon}+m-1}",
    meaning="The true one of m answers is e^ε times as likely as each other one.",
    reference="Warner 1965; region: Ghazi, Issa 2023",
    neighbours="substitution",
    oracles=(
        Oracle((math.log(1.5),), "beta", 0.25, 0.625, 1e-14, "riskcal issue 2, exact"),
        Oracle((math.log(2.5 / 0.5), 4), "beta", 0.0625, 1 - 0.3125, 1e-12, "dp-accounting tests, noise 0.5"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class RandomizedResponse(Mechanism):
    """k-ary randomized response."""

    epsilon_: float = EPSILON.field()
    size: int = SIZE.field(2)
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("epsilon_", 1),)

    def _pair(self) -> Curve:
        shrink = math.exp(-self.epsilon_)
        if self.epsilon_ == 0 or shrink == 0 or self.size == 2:
            return three_point(self.epsilon_, 0.0, 0.0)
        high = self.truth
        low, middle = high * shrink, high * shrink * (self.size - 2)
        loss = [-self.epsilon_, 0.0, self.epsilon_]
        return Polygon(loss, [high, middle, low], [low, middle, high], symmetric=True)

    def shuffled(self, people: int) -> Curve | None:
        """Return the largest region over all truths of the others: exact or a bracket for two answers, else a bound.

        For few people it is a polygon, see `_union`.
        """
        if people == 1:
            return self._pair()
        if self.size == 2 and people <= _MOST_LISTED and 0.0 < self.epsilon_ * people < _LARGEST_LISTED:
            return self._union(people)
        if not _SEARCHED[0] <= self.epsilon_ <= _SEARCHED[1] or (self.size > 2 and people > _MOST_LETTERS):
            return None
        if self.size == 2:
            return ShuffledResponses(self.epsilon_, people)
        outer = UniformLetters(self.epsilon_, self.size, people)
        return Outer(outer, [ThirdLetter(self.epsilon_, self.size, people)], outer.method)

    def _union(self, people: int) -> Polygon:
        """Return the union over all truths of the others, for two possible answers and few people.

        Of n - 1 others m have one truth: the attacker counts, and the count without the person is the sum of two binomial
        numbers. No m is the worst for every test.
        """
        lie, others = self.truth * math.exp(-self.epsilon_), people - 1
        pairs = []
        for first in range(others // 2 + 1):  # the rest is the same with the answers exchanged
            count = np.convolve(binomial_window(first, lie)[1], binomial_window(others - first, lie)[1][::-1])
            pairs.append(polygon_algebra.closure(self._counted(count, lie)))
        whole = polygon_algebra.union(pairs)
        rounding = _ROUNDINGS * people
        return Polygon(
            whole.loss,
            whole.p,
            whole.q,
            symmetric=True,
            method="shuffled answers, all truths of the others",
            rounding=rounding,
        )

    def _counted(self, count: FloatArray, lie: float) -> Polygon:
        """Return the pair of the person's two answers added to the count of the others.

        Its masses at j differ by tanh(epsilon / 2) (count_j - count_(j-1)), even where both are nearly equal or
        tiny and a difference of their logarithms would be rounding; at the ends, where nobody else can have given the
        answer, the loss is epsilon.
        """
        p, q = (np.convolve(count, chances) for chances in ((self.truth, lie), (lie, self.truth)))
        fall = -np.diff(count, prepend=0.0, append=0.0)
        loss = np.sign(fall) * np.log1p(np.abs(fall) * math.tanh(0.5 * self.epsilon_) / np.minimum(p, q))
        loss[0], loss[-1] = -self.epsilon_, self.epsilon_
        order = np.argsort(loss)
        return Polygon(*polygon_algebra.merge_equal(loss[order], p[order], q[order]))

    @property
    def truth(self) -> float:
        """Probability of the true answer."""
        return 1.0 / (1.0 + (self.size - 1) * math.exp(-self.epsilon_))

    @property
    def law(self) -> Law:
        """Refuse: noise cannot be added to a category."""
        msg = f"{self.text} answers with a category; it adds no noise to a number."
        raise DomainError(msg)

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the probability of each answer in 0..size-1 when the true one is `shift`."""
        other = (1.0 - self.truth) / (self.size - 1)
        return np.where(np.asarray(x) == shift, self.truth, other)

    def sample(self, rng: Generator, size: int) -> NDArray[np.int64]:
        """Return draws of (answer - truth) modulo the number of answers, integers.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        lie = rng.integers(1, self.size, size)
        return np.asarray(np.where(rng.random(size) < self.truth, 0, lie), dtype=np.int64)

    def answers(self, without: float | None = None) -> TwoAnswers:  # noqa: ARG002  categories have no place to start from
        """Return the two possible truths, with all other answers merged between them.

        Places 0, 1, 2 stand for the first truth, any other answer and the second truth: the order of the likelihood ratio.
        """
        lie = self.truth * math.exp(-self.epsilon_)
        others = self.size - 2
        chances = np.array([self.truth, others * lie, lie] if others else [self.truth, lie])
        another = "another" if others == 1 else f"one of {others} others"
        labels = ("A", another, "B") if others else ("A", "B")
        names = ("your truth is A", "your truth is B")
        return TwoAnswers(Masses(0, chances), Masses(0, chances[::-1]), names, labels)

    def attack(self) -> tuple[Attacker, str]:
        """Return the attacker whose score is the place of the answer."""
        return answer_attacker(self.answers()), "The score is the answer, ordered by how much it points to a member."

    @property
    def claimed_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon_

    @classmethod
    def offer(cls) -> Offer:
        """Return its entry in a list of noises."""
        return Offer("Randomized response", "Rand. response", 6, "ε")

    @classmethod
    def why_not(cls, sensitivity: float) -> str:
        """Return why it does not suit an answer that moves by `sensitivity`; empty if it does."""
        return "" if sensitivity == 1 else "It is for yes-no answers, which move by 1."

    def law_at(self, sensitivity: float) -> Law:  # noqa: ARG002  refused for every sensitivity
        """Refuse: the error is that of a share of many people."""
        msg = "Its error depends on the number of people, not on the noise alone."
        raise DomainError(msg)

    @property
    def survey_slope(self) -> float:
        """The probability of the truth minus that of any other answer."""
        return math.tanh(self.epsilon_ / 2) if self.size == 2 else self.truth * -math.expm1(-self.epsilon_)


def from_gamma(gamma: float) -> RandomizedResponse:
    """Return the binary form that keeps the truth with probability 1/2 + gamma, gamma in [0, 1/2)."""
    value = Parameter("gamma", low=0.0, high=0.5, high_open=True).check(gamma)
    return RandomizedResponse(math.log((0.5 + value) / (0.5 - value)))


def from_nu(nu: float) -> RandomizedResponse:
    """Return the binary form that is truthful with probability nu and a fair coin otherwise, nu in [0, 1)."""
    value = Parameter("nu", low=0.0, high=1.0, high_open=True).check(nu)
    return RandomizedResponse(math.log((1.0 + value) / (1.0 - value)))
