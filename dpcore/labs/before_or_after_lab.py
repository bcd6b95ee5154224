"""The lab of noise before or after the query: which one wins depends on the query, and the source got the median wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.core.registry import EPSILON, Parameter
from dpcore.labs import before_or_after as both
from dpcore.labs import before_or_after_views as views
from dpcore.labs.base import REPLICATIONS, Lab, LabCheck, Makers, Story, standard_error
from dpcore.labs.catalogue import enter
from dpcore.labs.disclosure import ages

if TYPE_CHECKING:
    from numpy.random import Generator

HIGH: Final = Parameter("high", low=80.0, high=1e6, label="Λ", meaning="ages are known to lie between 0 and this")
RECORDS: Final = Parameter("n", "integer", low=10, high=10**6, label="n", meaning="number of records, evenly spread")


@enter
@dataclass(frozen=True)
class BeforeOrAfter(Lab):
    """Noise on the records and noise on the answer, at the same epsilon."""

    name = "before_or_after"
    title = "Noise before or after the query"
    place = "Section 5.6"
    story = Story(
        "Adding noise to the answer was said to beat adding noise to every record for the mean, the variance and "
        "the median alike, and Figure 5.15 was said to show it for the median of 659 ages.",
        "The code behind that figure used a sensitivity of 1 year for the median instead of 110; with the right "
        "one the order is reversed, and for the variance the printed error is about 100 times too small at n = 659 "
        "and ε = 1.",
        "If the sensitivity of an answer does not fall with n, noise on the records averages out and can be the "
        "better choice, so a wrong sensitivity decides the comparison.",
    )
    formula = (
        r"\mathrm{MSE}_{before}(S^2)=\frac{4b^4(5n-3)}{n(n-1)}+\frac{8b^2s^2}{n-1}+4b^4,\ b=\tfrac\Lambda\varepsilon,\qquad "
        r"\varepsilon_{before}\sim\sqrt n\,\varepsilon_{after}"
    )
    assumptions = (
        "The records lie in [0, Λ], neighbours substitute one, and all noise is independent Laplace noise: of scale b "
        "= Λ/ε on every record, or of scale sensitivity/ε on the answer. The relation of the two ε is the one of "
        "equal error for the mean."
    )
    reference = "moments of the sample variance; sensitivities by definition; median by exact law and simulation"
    simulates = True

    epsilon: float = EPSILON.but(low=0.01, high=100.0, infinite=False).field(1.0)
    high: float = HIGH.field(110.0)
    n: int = RECORDS.field(659)
    replications: int = REPLICATIONS.field(400, meaning="simulated releases")

    @property
    def spread(self) -> float:
        """Sample variance of n evenly spread records, L² (n + 1) / (12 n)."""
        return self.high**2 * (self.n + 1) / (12 * self.n)

    def checks(self, rng: Generator) -> tuple[LabCheck, ...]:
        """Return the median first, then variance and mean."""
        return (*self._median_checks(rng), *self._variance_checks(), self._mean_check())

    def _median_checks(self, rng: Generator) -> tuple[LabCheck, ...]:
        x = ages()
        off = both.noisy_medians(x, self.high / self.epsilon, self.replications, rng, (0.0, 1.0)) - np.median(x)
        size, size_error = views.root_mean_square(off)
        return (
            LabCheck(
                "Figure 5.15, R Code A.0.6",
                f"sensitivity of the median of ages in [0, {nearest(self.high)}]",
                both.printed_median_sensitivity(),
                self.high,
                "false",
                "The code compares the medians of 0..109 and 1..110; one record can move the median across the whole range.",
                row="sensitivity-of-the-median",
                fixed=True,
            ),
            LabCheck(
                "Figure 5.15",
                f"root mean squared error of the median, noise after, ε = {nearest(self.epsilon)}",
                "the sensitivity of the code",
                math.sqrt(both.median_after(self.epsilon, self.high)),
                "false",
                f"Laplace noise of scale Λ/ε; the code has {nearest(math.sqrt(2) / self.epsilon, 4)}, from a sensitivity of 1.",
                row="sensitivity-of-the-median",
            ),
            LabCheck(
                "Section 5.6, median",
                f"root mean squared error of the median, noise before, ε = {nearest(self.epsilon)}",
                "much lower data utility than with noise after",
                size,
                "false",
                "Smaller than with noise after: the noise on 659 records averages out in their median.",
                kind="simulation",
                error=size_error,
                row="before-and-after",
            ),
            LabCheck(
                "Section 5.6, median",
                f"bias of the median, noise before, ε = {nearest(self.epsilon)}",
                0.0,
                float(off.mean()),
                "false",
                "A lot of noise pulls the median of skewed records towards their mean; the value for large n is "
                f"{nearest(both.median_before_limit(x, self.high / self.epsilon)[0] - float(np.median(x)), 3)}.",
                kind="simulation",
                error=standard_error(off),
                row="before-and-after",
            ),
        )

    def _variance_checks(self) -> tuple[LabCheck, ...]:
        e, n = self.epsilon, min(self.n, 10_000)
        x = both.spread_out(n, self.high)
        root = both.printed_equal_epsilon(self.high, x, e)
        return (
            LabCheck(
                "(5.25)",
                f"mean squared error of the variance, noise before, ε = {nearest(e)}, n = {n}, records evenly spread",
                both.printed_variance_before(e, self.high, x),
                both.variance_before(e, self.high, n, float(x.var(ddof=1))),
                "false",
                "The square of a sum was taken as the sum of squares, and E S² is not the error.",
                row="error-of-the-noisy-variance",
            ),
            LabCheck(
                "(5.26)",
                f"ε before with the error of noise after at ε = {nearest(e)}, n = {n}",
                "no real solution" if root is None else root,
                both.equal_epsilon_variance(e, self.high, n, float(x.var(ddof=1))),
                "false",
                "The printed equation has no real solution once A < B (evenly spread records at ε = 1: from about n = 160).",
                row="error-of-the-noisy-variance",
            ),
            LabCheck(
                "Section 5.6, variance",
                "growth of that ε when n grows 100-fold, from n = 10 000",
                100.0,
                both.equal_epsilon_variance(1.0, 1.0, 10**6, 1 / 12)
                / both.equal_epsilon_variance(1.0, 1.0, 10**4, 1 / 12),
                "false",
                "It grows like the square root of n, not like n.",
                row="rate-of-equal-error",
            ),
            LabCheck(
                "(5.23)",
                f"bias of the variance, noise before, ε = {nearest(e)}",
                2 * (self.high / e) ** 2,
                both.variance_bias(e, self.high),
                "holds",
                "Twice the squared scale of the noise.",
            ),
            LabCheck(
                "Section 5.6, variance",
                "fourth central moment of one noise about the mean of 5, scale 1",
                both.printed_fourth_moment(5),
                both.fourth_moment(5),
                "false",
                "A fourth moment of a mean has 3n(n - 1) pairs, not 6n(n - 1).",
                row="fourth-moment",
            ),
            LabCheck(
                "R Code A.0.6",
                "sensitivity of the variance of 659 ages in [0, 110]",
                18.5 / 659,
                110.0**2 / 659,
                "false",
                "The code divides the largest change of the variance of 0..110 by n once more.",
                row="divided-once-more",
            ),
        )

    def _mean_check(self) -> LabCheck:
        return LabCheck(
            "Section 5.6, mean",
            f"ε before with the error of noise after at ε = {nearest(self.epsilon)}, n = {self.n}",
            math.sqrt(self.n * self.epsilon),
            both.equal_epsilon_mean(self.epsilon, self.n),
            "reading",
            "√n ε; in the converted text the root covers both, which makes no difference at ε = 1.",
            row="root-of-n",
        )

    def pictures(self, rng: Generator) -> Makers:
        """Return the functions that draw the pictures."""
        return {
            "median": lambda: views.median(self, rng),
            "releases": lambda: views.releases(self, rng),
            "variance": lambda: views.variance(self, rng),
            "budget": lambda: views.budget(self),
        }
