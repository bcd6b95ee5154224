"""One person's answer by randomized response, and how often it is the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.mechanisms.randomized_response import RandomizedResponse
from dpcore.utility.base import MAIN_EPSILON, RATE, Fact, UtilityMeasure, enter
from dpcore.utility.choosing import SIZE, Choosing
from dpcore.words import of_100

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset


@enter
@dataclass(frozen=True)
class RandomizedAnswer(Choosing):
    """The answer of the first person of the data, one of m."""

    name = "answer_rr"
    title = "one answer by randomized response"
    query = "one answer"
    mechanism = "randomized response"
    formula = r"P(y\mid x)=\frac{e^{\varepsilon 1\{y=x\}}}{e^{\varepsilon}+m-1}"
    assumptions = "One person, one of m answers; the range of the data is cut into m cells of equal width."
    reference = "Warner 1965; thesis, sections 2.4.4 and 3.5.5"
    measure = "lie"

    epsilon: float = MAIN_EPSILON.field(0.5)
    size: int = SIZE.field(5, meaning="number of possible answers")

    @property
    def region(self) -> TradeOff:
        """Exactly m-ary randomized response."""
        return RandomizedResponse(self.epsilon, self.size)

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """The chance of another answer than the truth."""
        return (
            UtilityMeasure(
                "lie", "chance of a false answer", meaning="The answer given is not the true one.", statistic=RATE
            ),
        )

    def options(self, data: Dataset) -> FloatArray:  # noqa: ARG002  codes
        """Return the codes 0, ..., m - 1."""
        return np.arange(self.size, dtype=np.float64)

    def answer(self, data: Dataset) -> FloatArray:
        """Return the code of the first record."""
        share = (float(data.column[0]) - data.low) / (data.high - data.low)
        return np.array(float(min(self.size - 1, math.floor(share * self.size))))

    def chances(self, data: Dataset, n: int | None = None) -> FloatArray:  # noqa: ARG002  one person
        """Return p for the truth and o for every other answer."""
        return RandomizedResponse(self.epsilon, self.size).density(self.options(data), float(self.answer(data)))

    def costs(self, data: Dataset, n: int | None = None) -> dict[str, FloatArray]:  # noqa: ARG002  one person
        """Return 1 for every false answer."""
        return {"lie": (self.options(data) != float(self.answer(data))) * 1.0}

    def bounds(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:  # noqa: ARG002  of the mechanism alone
        """Return the chance of a random answer (true by luck in one of m cases), and the least of all mechanisms."""
        odds = math.exp(-self.epsilon)
        return (
            Fact(
                "lie",
                self.size * odds / (1 + (self.size - 1) * odds),
                "upper",
                "chance that the answer is drawn at random (thesis, section 3.5.5)",
                r"\frac{m}{e^{\varepsilon}+m-1}",
            ),
            Fact(
                "lie",
                (self.size - 1) * odds / (1 + (self.size - 1) * odds),
                "lower",
                "every ε-DP answer, averaged over the m true ones: P(y|y) ≤ e^ε P(y|x) summed over x and y",
                r"\frac{m-1}{e^{\varepsilon}+m-1}",
                about="any",
            ),
        )

    def promises(self, measure: str, parameter: str, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Add that more possible answers only make lies more likely."""
        return self.closed_forms(data, n)[:1] if parameter == "size" else super().promises(measure, parameter, data, n)

    def depends_on_n(self) -> bool:
        """Return False: one person."""
        return False

    def sentence(self, data: Dataset) -> str:
        """Say how often the answer is false."""
        lie = float(self.closed_forms(data)[0].value)
        return f"At ε = {nearest(self.epsilon)} the released answer, one of {self.size}, is false with a chance of at most {of_100(lie)} (exact)."
