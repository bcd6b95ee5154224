"""The lab of noise restricted to an interval: the scale that looks right leaks, and the right one solves an equation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.numerals import nearest
from dpcore.core.registry import DELTA, SENSITIVITY
from dpcore.labs import bounded_noise as cut
from dpcore.labs.base import LAB_EPSILON, Lab, LabCheck, Makers, Plot, Regions, Story, series, together
from dpcore.labs.catalogue import enter
from dpcore.mechanisms.bounded_laplace import LOWER, UPPER
from dpcore.mechanisms.laplace import Laplace
from dpcore.regions.guarantees import DP
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

MOVE = SENSITIVITY.but(low=1e-3, high=1e4, low_open=False)
SPARE = DELTA.but(high=0.5, meaning="how much probabilities may exceed the factor; 0 means pure DP")
START, END = LOWER.but(low=-1e4, high=1e4), UPPER.but(low=-1e4, high=1e4)
_GRID = 81


@enter
@dataclass(frozen=True)
class BoundedNoise(Lab):
    """Cut Laplace noise: naive scale, right scale, bias and error."""

    name = "bounded_noise"
    title = "Noise cut to the possible answers"
    place = "Section 5.5"
    story = Story(
        claimed="Laplace noise restricted to the interval of possible answers is (ε, δ)-private if its scale is at least "
        "what a theorem states.",
        true="The theorem has the scale on both sides and must be solved for it: on [0, 10] at ε = 1 and sensitivity 1 "
        "it needs 1.612, while the usual scale 1 has a loss of 1.49; one of its constants lacks a bracket in our "
        "copy of the text.",
        matters="Restricting the noise is not free, unlike clamping: the release is pushed away from the ends, and it "
        "needs more noise than an ordinary Laplace answer that is clamped to the interval afterwards.",
    )
    formula = (
        r"b=\frac{\Delta}{\varepsilon-\log\Delta C(b)-\log(1-\delta)},\qquad \Delta C(b)=\frac{C_{l+\Delta}(b)}{C_l(b)},"
        r"\qquad C_q(b)=1-\tfrac12\bigl(e^{-(q-l)/b}+e^{-(u-q)/b}\bigr)"
    )
    assumptions = (
        "One answer in [l, u] that a record moves by at most Δ; the Laplace noise of scale b is restricted to answers "
        "in [l, u], and b is the solution of the first equation."
    )
    reference = "Holohan, Antonatos, Braghin, Mac Aonghusa 2020"

    epsilon: float = LAB_EPSILON.field(1.0)
    sensitivity: float = MOVE.field(1.0)
    lower: float = START.field(0.0)
    upper: float = END.field(10.0)
    delta: float = SPARE.field(0.1)

    def __post_init__(self) -> None:
        """Check the fields, and that two answers inside can be a sensitivity apart."""
        super().__post_init__()
        cut.check(self.bounds, self.sensitivity)

    @property
    def bounds(self) -> cut.Bounds:
        """The interval of possible answers."""
        return cut.Bounds(self.lower, self.upper)

    @property
    def naive(self) -> float:
        """The scale of uncut Laplace noise."""
        return self.sensitivity / self.epsilon

    @property
    def right(self) -> float:
        """The scale that keeps the largest loss at epsilon."""
        return cut.required_scale(self.epsilon, self.sensitivity, self.bounds)

    @property
    def _words(self) -> str:
        return f"ε = {nearest(self.epsilon)}, sensitivity {nearest(self.sensitivity)}, answers in [{nearest(self.lower)}, {nearest(self.upper)}]"

    def checks(self, rng: Generator) -> tuple[LabCheck, ...]:  # noqa: ARG002  nothing is simulated
        """Return printed against true."""
        return (*self._scales(), *self._approximate(), *_examples())

    def _scales(self) -> list[LabCheck]:
        move, bounds, naive = self.sensitivity, self.bounds, self.naive
        return [
            LabCheck(
                "Section 5.5",
                f"largest loss of cut noise at the uncut scale, {self._words}",
                "may exceed ε",
                cut.largest_loss(naive, move, bounds),
                "holds",
                "The normalising constants of two answers can differ; the source says so and gives no number.",
            ),
            LabCheck(
                "Theorem 5.5.5",
                f"least scale for pure privacy, {self._words}",
                "b ≥ Δ/(ε - ln ΔC)",
                self.right,
                "holds",
                "ΔC depends on b, so the scale is on both sides of the condition; the value solves it, and there the "
                "largest loss is ε.",
                kind="upper",
            ),
            LabCheck(
                "Section 5.5",
                f"normalising constant one sensitivity below the upper end, scale {nearest(self.right)}",
                cut.printed_norm(self.upper - move, self.right, bounds),
                cut.norm(self.upper - move, self.right, bounds),
                "reading",
                "exp(-(u-q))/b must be exp(-(u-q)/b): a bracket closes one place too early.",
                row="bounded-normaliser",
            ),
        ]

    def _approximate(self) -> list[LabCheck]:
        if self.delta == 0:
            return []
        scale = cut.required_scale(self.epsilon, self.sensitivity, self.bounds, self.delta)
        region = cut.mechanism(scale, self.sensitivity, self.bounds)
        return [
            LabCheck(
                "Theorem 5.5.5",
                f"δ at the scale {nearest(scale)} of δ = {nearest(self.delta)}, {self._words}",
                self.delta,
                float(region.delta(self.epsilon)),
                "loose",
                "The theorem holds for every pair of answers in the interval; its δ is far from tight.",
                kind="upper",
            ),
            LabCheck(
                "Theorem 5.5.5",
                f"least scale for δ = {nearest(self.delta)}, {self._words}",
                scale,
                cut.exact_scale(self.epsilon, self.sensitivity, self.bounds, self.delta, 1e-6),
                "loose",
                "The smallest scale that keeps δ for the worst pair.",
                kind="upper",
            ),
        ]

    def pictures(self, rng: Generator) -> Makers:  # noqa: ARG002  nothing is simulated
        """Return the functions that draw the pictures."""
        return {
            "loss": self._loss,
            "regions": self._regions,
            "scale": self._scale,
            "bias": self._bias,
            "error": self._error,
        }

    def _loss(self) -> Plot:
        epsilons = np.geomspace(0.05, 10.0, _GRID)
        move, bounds = self.sensitivity, self.bounds
        naive = [cut.largest_loss(move / e, move, bounds) for e in epsilons.tolist()]
        right = [cut.largest_loss(cut.required_scale(e, move, bounds), move, bounds) for e in epsilons.tolist()]
        here = cut.largest_loss(self.naive, move, bounds)
        frame = together(
            series("cut noise at the uncut scale", epsilons, naive),
            series("cut noise at the right scale", epsilons, right),
            series("as asked for", epsilons, epsilons),
            series("here", [self.epsilon], [here], mark="point"),
        )
        takeaway = (
            f"Cut to [{nearest(self.lower)}, {nearest(self.upper)}], noise of the uncut scale {nearest(self.naive, 4)} has a largest loss of "
            f"{nearest(here)} (exact) instead of {nearest(self.epsilon)}; the scale {outward(self.right, 6)} keeps {nearest(self.epsilon)}."
        )
        return Plot("The loss of cut noise", takeaway, frame, "ε asked for", "Largest loss",
                    log_x=True, log_y=True)  # fmt: skip

    def _regions(self) -> Regions:
        move, bounds = self.sensitivity, self.bounds
        naive, right = (cut.mechanism(scale, move, bounds) for scale in (self.naive, self.right))
        regions = {
            "asked for": DP(self.epsilon),
            "cut, uncut scale": naive,
            "cut, right scale": right,
            "uncut Laplace": Laplace(self.epsilon),
        }
        takeaway = (
            f"At ε = {nearest(self.epsilon)} the naive scale leaves δ = {outward(float(naive.delta(self.epsilon)), 3)}, the "
            "right one 0 (upper bounds over the worst pair of answers)."
        )
        notes = ("Regions of cut noise cover every pair of answers one sensitivity apart, in both directions.",)
        return Regions("Regions of cut noise", takeaway, regions, notes=notes)

    def _scale(self) -> Plot:
        move, bounds, epsilons = self.sensitivity, self.bounds, np.geomspace(0.1, 5.0, 25)
        pure = [cut.required_scale(e, move, bounds) / move for e in epsilons.tolist()]
        parts = [
            series("uncut Laplace noise", epsilons, 1 / epsilons),
            series("cut, δ = 0", epsilons, pure, kind="upper"),
        ]
        if self.delta > 0:
            printed = [cut.required_scale(e, move, bounds, self.delta) / move for e in epsilons.tolist()]
            parts.append(series(f"cut, δ = {nearest(self.delta)}, Theorem 5.5.5", epsilons, printed, kind="upper"))
            few, least = epsilons[::6], []
            for place, e in enumerate(few.tolist()):
                checkpoint(place / few.size)
                least.append(cut.exact_scale(e, move, bounds, self.delta, 1e-4) / move)
            parts.append(series(f"cut, δ = {nearest(self.delta)}, least scale", few, least, kind="upper"))
        takeaway = (
            f"At ε = {nearest(self.epsilon)} pure DP needs the scale {outward(self.right, 6)}, "
            f"{outward(self.right / self.naive, 4)} times that of uncut noise."
        )
        return Plot("Scales in units of the sensitivity", takeaway, together(*parts), "ε",
                    "Scale / sensitivity", log_x=True, log_y=True)  # fmt: skip

    def _bias(self) -> Plot:
        answers = np.linspace(self.lower, self.upper, _GRID)
        functions = {
            "cut, right scale": (cut.bias, self.right),
            "cut, uncut scale (not private)": (cut.bias, self.naive),
            "clamped Laplace": (cut.clamped_bias, self.naive),
        }
        parts = [
            series(name, answers, [function(q, scale, self.bounds) for q in answers.tolist()])
            for name, (function, scale) in functions.items()
        ]
        end = cut.bias(self.lower, self.right, self.bounds)
        clamped = cut.clamped_bias(self.lower, self.naive, self.bounds)
        takeaway = (
            f"At the lower end the cut release is {nearest(end, 4)} too large on average, a clamped Laplace answer only "
            f"{nearest(clamped, 4)} (exact); in the middle both are right."
        )
        return Plot("Bias of the release", takeaway, together(*parts), "True answer", "Mean release minus answer",
                    reference={"unbiased": 0.0})  # fmt: skip

    def _error(self) -> Plot:
        answers = np.linspace(self.lower, self.upper, _GRID)
        functions = {
            "cut, right scale": (cut.mean_square, self.right),
            "cut, uncut scale (not private)": (cut.mean_square, self.naive),
            "clamped Laplace": (cut.clamped_mean_square, self.naive),
        }
        parts = [
            series(name, answers, [math.sqrt(max(0.0, function(q, scale, self.bounds))) for q in answers.tolist()])
            for name, (function, scale) in functions.items()
        ]
        middle = (self.lower + self.upper) / 2
        first = math.sqrt(cut.mean_square(middle, self.right, self.bounds))
        second = math.sqrt(cut.clamped_mean_square(middle, self.naive, self.bounds))
        takeaway = (
            f"In the middle the root mean squared error is {nearest(first, 4)} for cut and {nearest(second, 4)} for clamped noise, both of "
            f"ε = {nearest(self.epsilon)} (exact)."
        )
        notes = ("Clamping moves a release outside the interval to the nearer end; that is post-processing.",)
        return Plot("Error of the release", takeaway, together(*parts), "True answer", "Root mean squared error",
                    reference={"uncut Laplace": math.sqrt(2.0) * self.naive}, notes=notes)  # fmt: skip


def _examples() -> list[LabCheck]:
    """Return the examples of the section."""
    n, largest = 100, 1.0
    ages = cut.Bounds(0.0, 110.0)
    scale = cut.required_scale(1.0, 10.0, ages)
    return [
        LabCheck(
            "Example 5.5.2",
            f"sensitivity of the standard deviation of {n} records in [0, {nearest(largest)}]",
            cut.printed_deviation_sensitivity(largest, n),
            cut.deviation_sensitivity(largest, n),
            "false",
            "Equal records with one moved to the end have deviation largest/sqrt(n); no record can move it further.",
            row="sensitivity-of-the-deviation",
        ),
        LabCheck(
            "Example 5.5.1",
            "share of negative releases of a true count 0 with uncut Laplace noise",
            0.5,
            float(Laplace(1.0).survival(np.zeros(1))[0]),
            "holds",
            "The noise is symmetric.",
        ),
        LabCheck(
            "Example 5.5.4",
            "bias of the release of the age 10 in [0, 110], ε = 1, sensitivity 10",
            "noise on [-10, 100]",
            cut.bias(10.0, scale, ages),
            "holds",
            f"Support of the noise [-10, 100] as printed; the right scale is {nearest(scale)}, and releases are biased towards the middle.",
        ),
    ]
