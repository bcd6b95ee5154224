"""The lab of disclosure control: k-anonymity, PRAM, k-PRAM and k-noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.core.numerals import nearest
from dpcore.core.registry import Parameter
from dpcore.labs import disclosure as sdc
from dpcore.labs import disclosure_views as views
from dpcore.labs.base import Lab, LabCheck, Makers, Story, standard_error
from dpcore.labs.catalogue import enter
from dpcore.planner.disclosure import noise, pram
from dpcore.planner.disclosure.post_randomisation import KEEP

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray

_SHIFT = Parameter("shift", low=0.01, high=50.0, label="Δ", meaning="years between the two ages to be told apart")
_DRAWS = Parameter("replications", "integer", low=10, high=20_000, label="draws", meaning="simulated releases")
_SEED = Parameter("sample", "integer", low=0, high=10_000, label="sample", meaning="which made-up set of ages")


@enter
@dataclass(frozen=True)
class DisclosureControl(Lab):
    """The methods of Chapter 3 on its toy table and on ages with its bin counts."""

    name = "disclosure_control"
    title = "Disclosure control"
    place = "Chapter 3"
    story = Story(
        "A table was called 3-anonymous in two columns, and noise on ages was said to have less bias than "
        "redrawing within groups, with the same protection as k-anonymity.",
        "In the two columns together, the table has classes of one record; both printed biases are within one "
        "standard error of zero, and the region of the noise has a straight boundary: ages further apart than the "
        "width of the noise can be told apart with certainty.",
        "Counting neighbours per column, or on average, says nothing about the person at the edge; a region does.",
    )
    formula = (
        r"k=\min_{\text{classes}}\#,\qquad E\#\{j:|Y_j-x|\le r\}=\sum_j\frac{(\min(a,r-d_j)-\max(-a,-r-d_j))_+}{2a},\qquad"
        r"\beta(\alpha)=\Big(1-\frac{\Delta}{2a}-\alpha\Big)_+"
    )
    assumptions = (
        "A class is formed by all quasi-identifiers together. The noise is uniform on [-a, a] and independent for "
        "every record; d_j is the distance of record j from x, Y_j its released value. The curve is for one released "
        "value that a change moves by Δ ≤ 2a, at rates where it is positive."
    )
    reference = "Sweeney 2002 for k-anonymity; Warner 1965 for randomized response"
    tool = "Disclosure"
    simulates = True

    keep: float = KEEP.field(0.8)
    width: float = sdc.WIDTH.field(5.0)
    halfwidth: float = sdc.HALFWIDTH.field(2.5)
    shift: float = _SHIFT.field(1.0)
    sample: int = _SEED.field(1)
    replications: int = _DRAWS.field(500)

    def checks(self, rng: Generator) -> tuple[LabCheck, ...]:
        """Return the tables and statements of Chapter 3 with the true values."""
        data = sdc.ages(self.sample)
        return (*self._tables(), *self._utility(data, rng), *self._groups(data), self._swapped())

    def _tables(self) -> list[LabCheck]:
        table = sdc.printed_two()
        fit = sum(
            low <= amount <= high
            for amount, (low, high) in zip(
                sdc.ORIGINAL[sdc.AMOUNT],
                (tuple(map(float, group.split("-"))) for group in sdc.PRINTED_AMOUNTS),
                strict=True,
            )
        )
        return [
            LabCheck(
                "Table 3.3",
                "k of the table in age and amount together",
                float(sdc.CLAIMED_K),
                float(sdc.anonymity(table, [sdc.AGE, sdc.AMOUNT])),
                "false",
                "Each column has classes of three, but two records are alone in the pair.",
                row="classes-of-the-table",
            ),
            LabCheck(
                "Table 3.3",
                "amounts that lie in their printed group, of 6",
                6.0,
                float(fit),
                "misprint",
                "120.00 is put in the group 51-100.",
                row="amount-outside",
            ),
            LabCheck(
                "Table 3.2",
                "k of the table in the age",
                float(sdc.CLAIMED_K),
                float(sdc.anonymity(sdc.printed_one(), [sdc.AGE])),
                "holds",
                "Two age groups of three records.",
            ),
            LabCheck(
                "Section 3.6",
                "groups of five years on [24, 79]",
                12.0,
                11.0,
                "misprint",
                "The program starts at 19, which gives the twelve.",
                row="number-of-groups",
            ),
        ]

    def _utility(self, data: FloatArray, rng: Generator) -> list[LabCheck]:
        (bias, mse, _), (bias_noise, mse_noise, _) = sdc.PRINTED["k-PRAM"], sdc.PRINTED["k-noise"]
        n = len(data)
        apart = (bias - bias_noise) / math.sqrt(25 / 6 / n + 25 / 12 / n)
        draws = views.simulations(data, self.width, self.halfwidth, rng, self.replications)
        rows = [
            LabCheck(
                "Table 3.4",
                "difference of the printed biases, in standard errors",
                "k-noise reduces the bias",
                apart,
                "loose",
                "Neither differs from 0 by one standard error, so the table cannot show it; given the ages k-noise has bias 0 "
                f"and k-PRAM {noise.k_pram_moments(data, self.width, sdc.EDGES[0]).bias:.3f}, which is how far they lie from the middles of their bins.",
                kind="approximate",
                row="bias-of-two-methods",
                fixed=True,
            )
        ]
        for method, printed in (("k-PRAM", mse), ("k-noise", mse_noise)):
            errors = draws[method][:, 1]
            rows.append(
                LabCheck(
                    "Table 3.4",
                    f"mean squared error of {method}",
                    printed,
                    float(errors.mean()),
                    "holds",
                    "w²/6 = 25/6 for ages uniform in bins of 5."
                    if method == "k-PRAM"
                    else "a²/3 = 25/12 for noise in [-2.5, 2.5].",
                    kind="simulation",
                    error=standard_error(errors),
                    fixed=True,
                )
            )
        return rows

    def _groups(self, data: FloatArray) -> list[LabCheck]:
        radius = 2.0 * self.halfwidth
        ratio = noise.expected_near(data, data, self.halfwidth, radius) / noise.near(data, data, radius)
        around = noise.expected_near(data, data, self.halfwidth, 2.5)
        least = noise.smallest_group(data, radius)
        return [
            LabCheck(
                "Theorem 3.5.1",
                "least share of the group that remains, over the records",
                0.5,
                float(ratio.min()),
                "loose",
                "True, with 'at least k/2' for the printed '= k/2'; the noise almost never empties a neighbourhood.",
            ),
            LabCheck(
                "Theorem 3.5.1",
                f"k: least number of ages within {nearest(radius)} years anywhere in their range",
                "groups of at least k",
                float(least),
                "loose",
                f"The last bins hold 2 records and 1: at the edge the k/2 promised is {nearest(least / 2)}.",
            ),
            LabCheck(
                "R Code A.0.5",
                "mean expected number of noisy ages within 2.5 years",
                sdc.PRINTED_GROUP,
                float(around.mean()),
                "holds",
                "Exact for the made-up ages, which have the bin counts and the smallest age of the source.",
                kind="approximate",
                fixed=True,
            ),
        ]

    def _swapped(self) -> LabCheck:
        channel = pram(self.keep)
        epsilon = channel.epsilon
        loss = "nothing" if math.isinf(epsilon) else f"ε = {nearest(epsilon)}"
        swapped = round(500.0 * float(channel.matrix[0, 1]), 9)  # 1 - 0.8 is a hair below 0.2
        return LabCheck(
            "Example 3.2.1",
            f"expected swaps among 500 answers that stay with probability {nearest(self.keep)}",
            100.0,
            swapped,
            "holds",
            f"This is randomized response, so it has a local guarantee that the source does not state: {loss}.",
            fixed=True,
        )

    def pictures(self, rng: Generator) -> Makers:
        """Return the functions that draw the figures."""
        data = sdc.ages(self.sample)
        return {
            "classes": views.classes,
            "table_3_4": lambda: views.table(data, self.width, self.halfwidth, rng, self.replications),
            "figure_3_2": lambda: views.counts_after("figure_3_2", data, self.halfwidth),
            "figure_3_3": lambda: views.counts_after("figure_3_3", data, self.halfwidth),
            "figure_3_4": lambda: views.scatter(data, self.width, self.halfwidth, rng),
            "figure_3_5": lambda: views.groups(data, self.halfwidth),
            "bound": lambda: views.bound(data, self.halfwidth),
            "error": views.widths,
            "regions": lambda: views.regions(self.keep, self.halfwidth, self.shift),
        }
