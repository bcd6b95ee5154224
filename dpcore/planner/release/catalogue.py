"""The kinds of answers by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpcore.planner.release.choices import Quantile, TopChoice
from dpcore.planner.release.kinds import Count, MeanOfValues, Proportion, SumOfValues, Variance
from dpcore.planner.release.tables import CategoryCounts, Contingency

if TYPE_CHECKING:
    from dpcore.planner.release.kinds import AnswerKind

KINDS: Final[dict[str, AnswerKind]] = {
    kind.name: kind
    for kind in (
        Count(), CategoryCounts(), SumOfValues(), MeanOfValues(), Quantile(), Proportion(), Variance(), Contingency(), TopChoice(),
    )
}  # fmt: skip
