"""The lab of sensitivities: local, global, smooth and weighted, with the noise each of them allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.core.registry import DELTA, Choice, Parameter
from dpcore.labs import sensitivity_smooth as smooth
from dpcore.labs import sensitivity_views as pictures
from dpcore.labs import sensitivity_weighted as weighted
from dpcore.labs.base import Lab, LabCheck, Makers, Story
from dpcore.labs.catalogue import enter
from dpcore.labs.sensitivity import local
from dpcore.labs.sensitivity_checks import fixed_checks
from dpcore.planner.sensitivity.noise import BUDGET, laplace_worst_delta

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray

POPULATION: Final = Choice(
    "population",
    "text",
    choices=("uniform", "exponential"),
    label="population",
    meaning="uniform on [0, 1], or exponential with mean 1/4, clipped at 1",
)
BESIDE: Final = Parameter(
    "beside", "integer", low=1, high=1000, label="records beside", meaning="records on each side of the median"
)
DRAWS: Final = Parameter("replications", "integer", low=1, high=8, label="data sets", meaning="how many are drawn")


@enter
@dataclass(frozen=True)
class Sensitivity(Lab):
    """Local, global, smooth and weighted sensitivity of the median."""

    name = "sensitivity"
    title = "Which sensitivity the noise may follow"
    place = "Sections 2.1 and 5.2"
    story = Story(
        "Noise that mixes the local into the global sensitivity was said to beat the Laplace mechanism for weights "
        "b of the global one up to 0.7, with a leak δ below 0.1 from about b = 0.45 at ε = 15.",
        "A factor of 2 was lost: only b below 1/2 saves noise; the printed bound on δ allows such a b only above ε "
        "= 10.4; the exact δ allows b ≥ 0.488 at ε = 1 and b ≥ 0.153 at ε = 10, and every gain costs a leak of "
        "more than e^-ε / 4.",
        "Noise that follows the data leaks through its own size, so compare a gain with what the Laplace mechanism "
        "does at the same δ.",
    )
    formula = (
        r"\delta(\varepsilon,b)=(1-b)\,b^{b/(1-b)}e^{-\varepsilon b/(1-b)},\qquad "
        r"\mathrm{Var}=\tfrac{8}{\varepsilon^2}(a\Delta^{loc}+b\Delta)^2,\qquad b<\tfrac12"
    )
    assumptions = (
        "Laplace noise of scale (2/ε)(a Δ^loc + b Δ), where a + b = 1 and Δ^loc is the local sensitivity of the data; "
        "δ is the exact one of the worst pair of neighbours."
    )
    reference = "exact pairs of two widths; smooth sensitivity: Nissim, Raskhodnikova, Smith 2007"
    tool = "Sensitivity"
    simulates = True

    epsilon: float = BUDGET.but(low=0.01, low_open=False).field(1.0)
    delta: float = DELTA.but(low=1e-12, high=0.7, meaning="leak that is allowed").field(0.1)
    weight: float = weighted.WEIGHT.but(low=0.01, low_open=False, high=0.99).field(0.45)
    beside: int = BESIDE.field(50)
    population: str = POPULATION.field("uniform")
    replications: int = DRAWS.field(5)

    @property
    def n(self) -> int:
        """Number of records: odd, so that the median is unique."""
        return 2 * self.beside + 1

    def draw(self, rng: Generator) -> FloatArray:
        """Return one data set of the population, on [0, 1]."""
        if self.population == "uniform":
            return rng.random(self.n)
        return np.minimum(rng.exponential(0.25, self.n), 1.0)

    def ratios(self, rng: Generator) -> list[float]:
        """Return local over global sensitivity of the median for every data set."""
        return [local("median", self.draw(rng), 0.0, 1.0) for _ in range(self.replications)]

    def checks(self, rng: Generator) -> tuple[LabCheck, ...]:
        """Return the rows at these parameters, then those of fixed examples."""
        e, b = self.epsilon, self.weight
        r = self.ratios(rng)[0]
        at = f"ε = {nearest(e)}, b = {nearest(b)}"
        return (
            LabCheck(
                "(5.13), Figs. 5.1-5.2",
                f"noise variance of the weighted sensitivity, {at}, local/global = {nearest(r, 3)}",
                weighted.printed_variance(e, b, r),
                weighted.variance(e, b, r),
                "false",
                "Laplace(1) has variance 2, but the source uses 1; at b = 1 the variance is 4 times that of the Laplace mechanism.",
                row="variance-of-candidate-1",
            ),
            LabCheck(
                "Example 5.2.19",
                f"largest b that saves noise, local/global = {nearest(r, 3)}",
                weighted.useful_weight(r, printed=True),
                weighted.useful_weight(r),
                "false",
                "From the corrected variance: b ≤ (1/2 - r)/(1 - r), never 0.7.",
                row="weights-that-help",
            ),
            LabCheck(
                "(5.10)",
                f"δ of the weighted noise, {at}",
                weighted.printed_delta(e, b),
                weighted.delta(e, b),
                "loose",
                "Worst pair: the same answer, local sensitivity 0 against the global one.",
                kind="exact" if weighted.narrow_bound(e, b) <= weighted.delta(e, b) else "lower",
            ),
            LabCheck(
                "Example 5.2.19",
                f"least b with δ ≤ {nearest(self.delta)}, ε = {nearest(e)}",
                weighted.private_weight(e, self.delta, printed=True),
                weighted.private_weight(e, self.delta),
                "loose",
                "The exact δ solved for b; the printed one is a bound.",
                kind="upper",
            ),
            self._smooth_check(),
            *fixed_checks(),
        )

    def _smooth_check(self) -> LabCheck:
        beta = smooth.laplace_beta(self.epsilon, self.delta)
        return LabCheck(
            "Corollary 5.2.9",
            f"δ of Laplace noise by smooth sensitivity, ε = {nearest(self.epsilon)}, δ' = {nearest(self.delta)}",
            smooth.printed_laplace_delta(self.epsilon, self.delta),
            laplace_worst_delta(self.epsilon, beta),
            "loose",
            "The full ratio of the scales and the full move of the answer, with the wider noise on the data.",
        )

    def pictures(self, rng: Generator) -> Makers:
        """Return the functions that draw the pictures."""
        return {
            "room": lambda: pictures.room(self),
            "noise": lambda: pictures.noise(self, rng),
            "leak": lambda: pictures.leak(self),
            "all_leaks": lambda: pictures.all_leaks(self),
            "smooth": lambda: pictures.smooth_sensitivity(self, rng),
            "promises": lambda: pictures.promises(self),
            "queries": lambda: pictures.queries(self, rng),
            "pairs": lambda: pictures.pairs(self),
            "mechanisms": lambda: pictures.mechanisms(self, rng),
        }
