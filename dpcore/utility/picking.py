"""Choosing the best of several candidates by noisy scores: what all such mechanisms share."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.mechanisms.exponential import Exponential
from dpcore.regions.guarantees import DP
from dpcore.utility.base import MAIN_EPSILON, MISS, QUANTILE, RATE, Fact, UtilityMeasure
from dpcore.utility.choosing import WITHIN, Choosing, softmax
from dpcore.utility.neighbourhood import DataRegion, RegionBound, hull
from dpcore.utility.winners import duel, winners
from dpcore.words import of_100, outward

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

# candidates up to which all 2^m sets are tried; Gumbel chances are closed forms, the others cost an integration per set
_SUBSETS: Final = {"gumbel": 12, "exponential": 7, "laplace": 7}


@dataclass(frozen=True)
class Picking(Choosing):
    """The candidate with the largest noisy score; `noise` is of scale `scale(…)`."""

    noise: ClassVar[str]
    measure = "success"
    span = (0.01, 10.0)

    epsilon: float = MAIN_EPSILON.field(0.5)
    within: float = WITHIN.field(5.0, meaning="loss of score that counts as far off")
    probability: float = MISS.field(0.05)

    @abstractmethod
    def table(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return the score of every candidate."""

    def true_table(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return the scores by which a choice is judged: those of the records as they came."""
        return self.table(data, n)

    @property
    @abstractmethod
    def scale(self) -> float:
        """Scale b of the noise: 2 Δ / eps, or Δ / eps where all scores that change move the same way."""

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """Chance of a best candidate, of a far worse one, and the loss of score."""
        sure = 1.0 - self.probability
        return (
            UtilityMeasure(
                "success", "chance of the best candidate", "", "Its score is the largest.", RATE, larger_is_better=True
            ),
            UtilityMeasure(
                "far", f"chance to lose ≥ {nearest(self.within)} of the score", "", "Far worse than the best.", RATE
            ),
            UtilityMeasure("gap", "mean loss of score", "", "Best score minus that of the release."),
            UtilityMeasure("quantile", f"loss of score, {nearest(sure, 4)} quantile", "", "", QUANTILE, sure),
        )

    def options(self, data: Dataset) -> FloatArray:
        """Return the numbers 0, 1, ... of the candidates."""
        return np.arange(self.table(data).size, dtype=np.float64)

    def answer(self, data: Dataset) -> FloatArray:
        """Return the first candidate with the largest score."""
        return np.array(float(np.argmax(self.true_table(data))))

    def chances(self, data: Dataset, n: int | None = None) -> FloatArray:
        """Return the exact chance of every candidate."""
        return winners(self.table(data, n) / self.scale, self.noise)

    def costs(self, data: Dataset, n: int | None = None) -> dict[str, FloatArray]:
        """Return success, far and loss of score of every candidate."""
        scores = self.true_table(data, n)
        gap = scores.max() - scores
        return {"success": (gap == 0) * 1.0, "far": (gap >= self.within) * 1.0, "gap": gap, "quantile": gap}

    def bounds(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return what theorems say of a far loss, of the mean loss and of success."""
        scores, b = self.table(data, n), self.scale
        gap = scores.max() - scores
        worse = gap[gap > 0] / b
        pairwise = min(1.0, float(duel(gap[gap >= self.within] / b, self.noise).sum()))
        lost = min(1.0, float(duel(worse, self.noise).sum()))
        name = "a loser must beat the best candidate: sum over duels"
        return (
            Fact("success", 1.0 - lost, "lower", name),
            Fact("far", self._textbook(gap), "upper", *_TEXTBOOK[self.noise]),
            Fact("far", pairwise, "upper", name),
            *self._mean_bound(gap),
        )

    def _textbook(self, gap: FloatArray) -> float:
        """Return the bound of the textbook on the chance to lose `within` or more."""
        best = np.count_nonzero(gap == 0) if self.noise == "gumbel" else 1
        rate = 2 if self.noise == "laplace" else 1
        return math.exp(min(0.0, math.log(gap.size / best) - self.within / (rate * self.scale)))

    def _mean_bound(self, gap: FloatArray) -> tuple[Fact, ...]:
        if self.noise == "gumbel":
            value = self.scale * math.log(gap.size / np.count_nonzero(gap == 0))
            return (Fact("gap", value, "upper", "entropy is at most log |C|", r"b\log(|C|/|C^*|)"),)
        if self.noise == "exponential":
            value = float(np.dot(softmax(-gap / self.scale), gap))
            return (Fact("gap", value, "upper", "never worse than the exponential mechanism (McKenna, Sheldon 2020)"),)
        return ()

    @property
    def region(self) -> TradeOff:
        """The worst case over all scores: bounded range for the exponential mechanism, eps-DP for the others."""
        if self.noise == "gumbel":
            return RegionBound(
                Exponential(self.epsilon), "bounded range of the loss: holds for all scores", self.relation
            )
        return RegionBound(DP(self.epsilon), "ε-DP of report noisy max: holds for all scores", self.relation)

    @property
    def relation(self) -> str:
        """Neighbouring relation."""
        return "any"

    def sentence(self, data: Dataset) -> str:
        """Say how often the best candidate wins."""
        facts = {fact.measure: fact.value for fact in self.closed_forms(data) if fact.kind == "exact"}
        return (
            f"At ε = {nearest(self.epsilon)} the best of {self.table(data).size} candidates is chosen in at least "
            f"{of_100(min(1.0, facts['success']), up=False)} releases (exact for these scores); the score falls short by at "
            f"most {outward(facts['quantile'], 3)} in {of_100(1 - self.probability, up=False)}."
        )


_TEXTBOOK: Final = {
    "gumbel": ("utility theorem of the exponential mechanism (thesis, Proposition 24)", r"\frac{|C|}{|C^*|}e^{-v/b}"),
    "exponential": ("the loser's noise alone must reach the loss", r"|C|e^{-v/b}"),
    "laplace": ("some noise must reach half the loss", r"|C|e^{-v/2b}"),
}


def score_box(scores: FloatArray, shift: float, noise: str, epsilon: float) -> TradeOff:
    """Return the region of given scores against all scores within one sensitivity of them.

    For a set S of candidates P1(S) is largest when the scores in S rise and all others fall as far as they may
    (the noise is the same, so the winner can only move into S); only the relative shift counts. All sets are tried.

    Parameters
    ----------
    scores : ndarray of float
        In units of the scale of the noise.
    shift : float
        How far a set of scores may move against the others, in the same units (it is epsilon for the scales used).
    """
    reason = "the scores at hand against all scores within the sensitivity, both directions"
    if scores.size > _SUBSETS[noise]:
        worst: TradeOff = Exponential(epsilon) if noise == "gumbel" else DP(epsilon)
        return RegionBound(
            worst, f"{reason}: too many candidates to try all sets, the worst case over all scores is given", "any"
        )
    member = (np.arange(1, 2**scores.size - 1)[:, None] >> np.arange(scores.size)) & 1
    first = winners(scores, noise)
    second = np.array([winners(scores + shift * row, noise) for row in member])
    outside = 1 - member
    alpha = np.concatenate((member @ first, np.sum(outside * second, axis=1)))
    power = np.concatenate((np.sum(member * second, axis=1), outside @ first))
    return DataRegion(hull(alpha, power), "scores at hand", "any", f"{reason} (exact)")


class ByGumbel(Picking):
    """Exponential mechanism, which is report noisy max with Gumbel noise."""

    noise = "gumbel"
    mechanism = "exponential"
    formula = r"P(c)\propto e^{s(c)/b}"
    reference = "McSherry, Talwar 2007; thesis, Proposition 24; course, part 3"


class ByExponential(Picking):
    """Permute and flip, which is report noisy max with exponential noise."""

    noise = "exponential"
    mechanism = "permute and flip"
    formula = r"\arg\max_c\, s(c)+\mathrm{Exp}(b)"
    reference = "McKenna, Sheldon 2020; Ding, Kifer et al. 2021"


class ByLaplace(Picking):
    """Report noisy max with Laplace noise."""

    noise = "laplace"
    mechanism = "noisy max, Laplace"
    formula = r"\arg\max_c\, s(c)+\mathrm{Lap}(b)"
    reference = "Dwork, Roth 2014, Claim 3.9; course, part 4"
