"""The best of a table of scores, by the exponential mechanism or by report noisy max.

The scores are given as they are; neighbouring datasets move each of them by at most Δ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.registry import SENSITIVITY, Choice, Parameter
from dpcore.mechanisms.exponential import Exponential
from dpcore.utility.base import enter
from dpcore.utility.picking import ByExponential, ByGumbel, ByLaplace, Picking, score_box
from dpcore.utility.winners import MOST

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.base import Fact
    from dpcore.utility.dataset import Dataset

TABLE: Final = Parameter(
    "scores", "numbers", fewest=2, most=MOST, meaning="one score per candidate", example=(30.0, 28.0, 20.0)
)
MOVES = Choice(
    "moves",
    "text",
    label="scores move",
    meaning="whether the scores of neighbouring datasets differ any way, or all in the same direction",
    choices=("any", "same"),
)


@dataclass(frozen=True)
class ScoreTable(Picking):
    """Given scores; the data at hand are ignored."""

    query = "best of a table of scores"
    assumptions = (
        "One record changes each score by at most Δ. Scale 2Δ/ε; Δ/ε if all scores that change move the same way."
    )

    scores: tuple[float, ...] = TABLE.field((30.0, 28.0, 25.0, 20.0, 10.0))
    sensitivity: float = SENSITIVITY.field(1.0)
    moves: str = MOVES.field("any")

    def table(self, data: Dataset, n: int | None = None) -> FloatArray:  # noqa: ARG002  the scores are given
        """Return the scores."""
        return np.array(self.scores)

    @property
    def scale(self) -> float:
        """Scale of the noise: 2Δ/ε, or Δ/ε."""
        return (2.0 if self.moves == "any" else 1.0) * self.sensitivity / self.epsilon

    def region_at(self, data: Dataset) -> TradeOff:
        """Return the region of these scores against all scores within Δ of them."""
        return score_box(self.table(data) / self.scale, self.epsilon, self.noise, self.epsilon)

    def promises(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Add that a larger sensitivity acts as a smaller epsilon."""
        return super().promises(measure, "epsilon" if parameter == "sensitivity" else parameter, data, n)

    def depends_on_n(self) -> bool:
        """Return False: the scores are given."""
        return False


@enter
@dataclass(frozen=True)
class TableExponential(ByGumbel, ScoreTable):
    """Exponential mechanism, which is report noisy max with Gumbel noise."""

    name = "scores_exponential"
    title = "best score with the exponential mechanism"

    @property
    def region(self) -> TradeOff:
        """Exactly the bounded-range region: the union over all tables of scores, two candidates are enough."""
        return Exponential(self.epsilon)


@enter
@dataclass(frozen=True)
class TablePermute(ByExponential, ScoreTable):
    """Permute and flip, which is report noisy max with exponential noise."""

    name = "scores_permute"
    title = "best score with permute and flip"


@enter
@dataclass(frozen=True)
class TableLaplace(ByLaplace, ScoreTable):
    """Report noisy max with Laplace noise."""

    name = "scores_laplace"
    title = "best score with Laplace noisy max"
