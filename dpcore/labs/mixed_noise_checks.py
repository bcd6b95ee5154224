"""Printed against true for the mixed noise mechanism: the theorem, the lemma, the figures and Table 5.1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.labs import mixed_noise as mix
from dpcore.labs import mixed_noise_trials as trials
from dpcore.labs.base import LabCheck
from dpcore.mechanisms.gaussian import Gaussian
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

_FAR = 3.0  # standard errors that are called a contradiction for one of two cells
FIGURE = (1e-5, 1e-3, 0.01, 0.05, 0.1, 0.25, 0.5)
_LOCAL = "Simulated data sets, noise averaged out exactly; the sensitivity is local, so that nothing here is private."


class Cell(NamedTuple):
    """One cell of Table 5.1: what was printed and the simulated shares at either level."""

    family: str
    parameter: float
    mechanism: str
    power: float
    printed: float
    at_95: trials.TrialCoverage
    at_99: trials.TrialCoverage

    @property
    def outlier(self) -> bool:
        """Whether the cell is one of the two that do not fit a 95 % interval."""
        return (self.family, self.parameter, self.mechanism, self.power) in trials.OUTLIERS

    @property
    def words(self) -> str:
        """The cell in words."""
        return f"{self.mechanism} noise, {self.family} data of parameter {nearest(self.parameter)}, δ n^-{nearest(self.power)}"


def table(replications: int, rng: Generator) -> tuple[Cell, ...]:
    """Return the 108 cells of Table 5.1, simulated with this many data sets of 500 records for each of the 12 rows."""
    cells = []
    rows = len(trials.TABLE)
    for row, (family, parameter, printed) in enumerate(trials.TABLE):
        part = (row / rows, (row + 1) / rows)
        data = trials.samples(family, parameter, trials.PRINTED_N, replications, rng, part=part)
        for mechanism, values in zip(trials.MECHANISMS, printed, strict=True):
            for power, value in zip(trials.POWERS, values, strict=True):
                delta = trials.PRINTED_N**-power
                at_95, at_99 = (
                    trials.coverage(data, mechanism, trials.PRINTED_EPSILON, delta, quantile)
                    for quantile in (trials.NORMAL_95, trials.NORMAL_99)
                )
                cells.append(Cell(family, parameter, mechanism, power, value, at_95, at_99))
    return tuple(cells)


def surprise(cell: Cell, level: trials.TrialCoverage) -> float:
    """Return by how many standard errors a printed share of 1000 runs is away from a simulated one."""
    spread = math.sqrt(max(level.value * (1 - level.value), 1e-3) / trials.PRINTED_RUNS + level.error**2)
    return (cell.printed / 100 - level.value) / spread


def theorem(epsilon: float, delta: float, sensitivity: float) -> list[LabCheck]:
    """Return the theorem and its threshold at these parameters."""
    true = mix.branch_delta(epsilon)
    need = mix.corrected_switch(epsilon, delta, sensitivity)
    threshold = mix.printed_threshold(epsilon, delta)
    return [
        LabCheck(
            "Theorem 5.3.2",
            f"δ of the normal branch at ε = {nearest(epsilon)}, at any sensitivity",
            delta,
            true,
            "false" if true > delta else "holds",
            "Noise of variance 2 (sensitivity/ε)^2 moves the answer by ε/sqrt(2) standard deviations whatever "
            "the sensitivity; the printed proof uses a normal tail bound without its factor 1/t.",
            row="mixed-noise",
        ),
        LabCheck(
            "Algorithm 5.3.6",
            f"threshold on the sensitivity with the answer in thousandths of its unit, ε = {nearest(epsilon)}, δ = {nearest(delta)}",
            threshold,
            1000 * threshold,
            "false",
            "A sensitivity has the unit of the answer. The printed threshold has none, so that the branch taken depends on "
            "the unit of measurement; the same rule would need the value shown.",
            row="mixed-noise",
        ),
        LabCheck(
            "Algorithm 5.3.6",
            f"variance that normal noise needs, ε = {nearest(epsilon)}, δ = {nearest(delta)}, sensitivity {nearest(sensitivity)}",
            mix.laplace_variance(epsilon, sensitivity),
            mix.exact_variance(epsilon, delta, sensitivity),
            "false" if true > delta else "loose",
            f"Normal noise of Laplace's variance is private exactly from δ = {nearest(true)} on; the least variance of both "
            f"noises at this δ has {need.noise} noise.",
            kind="approximate",
            row="mixed-noise",
        ),
    ]


def lemma() -> list[LabCheck]:
    """Return the lemma at four standard deviations; the first two contradict it."""
    rows = []
    for sigma in (0.001, 0.01, 0.1, 1.0):
        true = mix.lemma_delta(1.0, 0.01, sigma)
        allowed = mix.printed_largest_sensitivity(1.0, 0.01, sigma)
        rows.append(
            LabCheck(
                "Lemma 5.3.3, (5.15)",
                f"δ at ε = 1 and sensitivity {nearest(allowed)}, σ = {nearest(sigma)}",
                0.01,
                true,
                "false" if true > 0.01 else "holds",
                "For small σ the bound (5.15) allows sensitivities in proportion to σ, which never are small enough."
                if true > 0.01
                else "At this σ the bound is small enough.",
                row="lemma-of-mixed-noise" if true > 0.01 else "",
            )
        )
    true = float(Gaussian(0.1).survival(np.array([0.05]))[0])
    why = "The factor 1/t is missing; the same bound in the proof of Theorem 4.4.3 is what the lemma rests on."
    what = "chance that normal noise of σ = 0.1 exceeds 0.05"
    words = f"at most {outward(mix.printed_tail_bound(0.05, 0.1), 6)}"
    rows.append(LabCheck("Lemma 5.3.3, proof", what, words, true, "false", why, row="tail-of-the-normal"))
    return rows


def figures() -> list[LabCheck]:
    """Return the boundary of Figure 5.4 and the level of the ratios in Figures 5.6 to 5.14."""
    why = "2 log(1.25/δ); the least variance is smaller, see the picture of the switch."
    rows = [
        LabCheck(
            "Figure 5.4",
            f"variance of classical normal noise, ε = 1, δ = {nearest(delta)}, sensitivity 1",
            mix.classical_variance(1.0, delta),
            mix.exact_variance(1.0, delta),
            "loose",
            why,
            kind="upper",
        )
        for delta in FIGURE
    ]
    same = (
        "Both noises have the variance 2 (sensitivity/ε)^2 by construction: what the figures show around 1 is chance. "
        "The conclusions go further than the summary."
    )
    words = "the MNM and Laplace mechanisms perform similarly; a great improvement for the median"
    rows.append(
        LabCheck("Figures 5.6 to 5.14", "ratio of the mean squares of Laplace and mixed noise", words, 1.0, "loose", same,
                 row="mixed-noise-experiments")
    )  # fmt: skip
    n = trials.PRINTED_N
    level = "The ratio of the variances, 1 / log(1.25/δ)."
    for power in (1.0, 2.0):
        what = f"ratio of the mean squares of Laplace and classical normal noise, δ n^-{nearest(power)}"
        value = mix.expected_ratio(n**-power)
        rows.append(LabCheck("Figures 5.6 to 5.14", what, "", value, "holds", level))
    laplace, normal = (mix.errors(2.0)[name] for name in ("Laplace", "normal"))
    why = "At equal variance Laplace noise has the smaller typical errors; only its fourth moment is larger."
    words = "less data utility for Laplace noise"
    for what, first, second in (
        ("mean", normal.mean_absolute, laplace.mean_absolute),
        ("median", normal.median_absolute, laplace.median_absolute),
    ):
        name = f"{what} absolute error of normal over Laplace noise, equal variance"
        rows.append(LabCheck("Section 5.3", name, words, first / second, "false", why, row="kurtosis"))
    return rows


def table_rows(cells: tuple[Cell, ...]) -> list[LabCheck]:
    """Return Table 5.1 in four rows: its level, and the two cells that do not fit 95 %."""
    first = next(cell for cell in cells if cell.family == "pareto" and cell.mechanism == "normal")
    far = max(abs(surprise(cell, cell.at_95)) for cell in cells if not cell.outlier)
    rows = [
        LabCheck(
            "Table 5.1",
            f"percent inside the 99 % interval: {first.words}",
            first.printed,
            100 * first.at_99.value,
            "false",
            f"The printed shares fit a 95 % interval ({100 * first.at_95.value:.1f} here). {_LOCAL}",
            kind="simulation",
            error=100 * first.at_99.error,
            row="table-of-coverage",
        ),
        LabCheck(
            "Table 5.1",
            "largest distance of 106 printed cells from a 95 % interval, in standard errors",
            "99 % intervals",
            far,
            "false",
            "All cells but two fit intervals of 1.96 standard errors; most small ones do not fit 2.58 at all.",
            kind="simulation",
            row="table-of-coverage",
        ),
    ]
    rows += [
        LabCheck(
            "Table 5.1",
            f"percent inside the 99 % interval: {cell.words}",
            cell.printed,
            100 * cell.at_99.value,
            "holds" if abs(surprise(cell, cell.at_99)) <= _FAR else "false",
            f"{abs(surprise(cell, cell.at_99)):.1f} standard errors away from a 99 % interval and "
            f"{abs(surprise(cell, cell.at_95)):.1f} from a 95 % one, which its neighbours fit.",
            kind="simulation",
            error=100 * cell.at_99.error,
            row="" if abs(surprise(cell, cell.at_99)) <= _FAR else "table-of-coverage",
        )
        for cell in cells
        if cell.outlier
    ]
    return rows
