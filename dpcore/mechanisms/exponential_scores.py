"""Exponential mechanism on two given datasets: a random choice by known scores, with its exact region."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.registry import EPSILON, SENSITIVITY, Oracle, Parameter, register
from dpcore.mechanisms.base import Attacker, Mechanism, TwoAnswers, answer_attacker
from dpcore.mechanisms.law import Law, Masses
from dpcore.regions.guarantees import pmf_polygon

if TYPE_CHECKING:
    from dpcore.curves.base import Curve, FloatArray

MOST = 10_000  # candidates; their polygon is sorted, drawn and composed in well under a second
SCORES = Parameter(
    "scores",
    "numbers",
    low=0.0,
    high=1e6,
    most=MOST,
    label="scores",
    meaning="one score per candidate, from 0; only differences matter",
    example=(3.0, 2.0, 0.0),
)
SLIGHTLY = 1e-9  # relative rounding of typed scores


@register(
    "exponential_scores",
    title="exponential mechanism with given scores",
    group="mechanism",
    symbol=r"T(P_s,P_{s'})",
    formula=r"P_s(c)=\frac{e^{\varepsilon s(c)/2\Delta}}{\sum_{c'}e^{\varepsilon s(c')/2\Delta}},\qquad f=T(P_s,P_{s'})",
    meaning="One candidate is chosen with probability proportional to exp(ε score / 2Δ), by its scores on two neighbouring datasets.",
    assumptions="Exactly these two datasets; no score moves by more than Δ. For the worst case over all scores see exponential.",
    reference="McSherry, Talwar 2007",
    oracles=(
        Oracle(
            (2.0, (1.0, 0.0), (0.0, 1.0)), "delta", 0.0, math.tanh(0.5), 1e-14, "two candidates, ε = 2: (e - 1)/(e + 1)"
        ),
        Oracle((1.0, (5.0, 5.0, 5.0), (5.0, 5.0, 5.0)), "delta", 0.0, 0.0, 1e-15, "equal scores say nothing"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class ExponentialScores(Mechanism):
    """The exponential mechanism with the scores of two neighbouring datasets."""

    epsilon_: float = EPSILON.but(infinite=False, high=1e3).field()
    scores: tuple[float, ...] = SCORES.field()
    neighbour_scores: tuple[float, ...] = SCORES.but(
        name="neighbour_scores", label="scores of the neighbour", example=(2.0, 3.0, 0.0)
    ).field()
    sensitivity: float = SENSITIVITY.field(1.0)
    offered: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check that both lists have the same length and that no score moves too far."""
        super().__post_init__()
        if len(self.scores) != len(self.neighbour_scores):
            msg = f"scores and neighbour_scores must have the same length, got {len(self.scores)} and {len(self.neighbour_scores)}."
            raise DomainError(msg)
        moves = np.abs(np.array(self.scores) - np.array(self.neighbour_scores))
        if moves.max() > self.sensitivity * (1 + SLIGHTLY):
            at = int(moves.argmax())
            msg = (
                f"A score must move by at most the sensitivity {nearest(self.sensitivity)}; that of candidate {at + 1} moves by "
                f"{nearest(float(moves[at]))}."
            )
            raise DomainError(msg)

    @property
    def oriented(self) -> str:
        """One concrete pair keeps its direction."""
        return "pair"

    def masses(self) -> tuple[FloatArray, FloatArray]:
        """Return the probabilities of the candidates on both datasets."""
        rate = self.epsilon_ / (2 * self.sensitivity)
        first, second = (np.array(scores) * rate for scores in (self.scores, self.neighbour_scores))
        p, q = (np.exp(s - s.max()) for s in (first, second))
        return p / p.sum(), q / q.sum()

    def _pair(self) -> Curve:
        return pmf_polygon(*self.masses())

    @property
    def law(self) -> Law:
        """Refuse: noise cannot be added to a candidate."""
        msg = f"{self.text} answers with a candidate; it adds no noise to a number."
        raise DomainError(msg)

    def answers(self, without: float | None = None) -> TwoAnswers:  # noqa: ARG002  candidates have no place to start from
        """Return the choices on both datasets, candidates in the order of their likelihood ratio."""
        p, q = self.masses()
        order = np.argsort(np.array(self.neighbour_scores) - np.array(self.scores), kind="stable")
        labels = tuple(str(place + 1) for place in order)
        return TwoAnswers(
            Masses(0, p[order]), Masses(0, q[order]), labels=labels, note="Candidates by how much they point to you."
        )

    def attack(self) -> tuple[Attacker, str]:
        """Return the attacker whose score is the place of the candidate."""
        return answer_attacker(self.answers()), "The score is the candidate, ordered by how much it points to a member."

    @property
    def claimed_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon_
