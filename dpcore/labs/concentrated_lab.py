"""The lab of concentrated privacy: a slip in solving an equation, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.core.registry import COUNT, SENSITIVITY
from dpcore.labs import concentrated as con
from dpcore.labs.base import LAB_DELTA, LAB_EPSILON, Lab, LabCheck, Makers, Plot, Regions, Story, series, together
from dpcore.labs.catalogue import enter
from dpcore.mechanisms.gaussian import Gaussian, GaussianClassic
from dpcore.regions.guarantees import DP
from dpcore.theorems import divergences
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

MOVE = SENSITIVITY.but(low=1e-3, high=1e3, low_open=False)
ANSWERS = COUNT.but(high=10_000, label="k", meaning="answers composed")
EACH = LAB_DELTA.but(name="each_delta", label="δ of each", meaning="δ of every answer composed")
CLASSICAL = ((0.1, 1e-5), (0.5, 1e-5), (0.9, 1e-5), (0.9, 0.01), (0.9, 0.05))  # Theorem 4.4.3 is stated for ε in (0, 1)
_MOST = 0.5
_EPSILONS = np.geomspace(0.02, 5.0, 41)


@enter
@dataclass(frozen=True)
class ConcentratedPrivacy(Lab):
    """Printed, concentrated, classical and exact variances, and k answers together."""

    name = "concentrated"
    title = "Concentrated privacy and the Gaussian mechanism"
    place = "Section 5.8"
    story = Story(
        claimed="Concentrated privacy needs more normal noise than the classical theorem, so its claimed superiority is "
        "disproved.",
        true="The printed solution of the equation is about four times too large; solved correctly, concentrated "
        "privacy needs less noise below ε = 0.448 (at δ = 1e-5), and exact calibration needs less than both "
        "wherever both are proven.",
        matters="Concentrated privacy is made for many answers: 100 of them, each with classical noise for ε = 0.1 and δ = "
        "1e-6, cost ε = 10 by adding up, 0.828 by concentrated privacy and 0.564 exactly, all at δ = 1e-4.",
    )
    formula = (
        r"\sigma^2=\frac{\Delta^2}{4\varepsilon^2}\bigl(\sqrt{2L}+\sqrt{2L+2\varepsilon}\bigr)^2,\quad L=\log(1/\delta),"
        r"\qquad \text{below the classical variance iff}\qquad \varepsilon<\bigl(2\sqrt{L+\log 1.25}-\sqrt L\bigr)^2-L"
    )
    assumptions = (
        "One answer of sensitivity Δ with normal noise, and the standard conversion of concentrated privacy, ε = ρ + "
        "2 √(ρ L). The classical variance is proven for ε up to 1."
    )
    reference = "Bun, Steinke 2016, Lemma 3.5; Balle, Wang 2018; Dong, Roth, Su 2022"

    epsilon: float = LAB_EPSILON.field(0.1)
    delta: float = LAB_DELTA.field(1e-5)
    sensitivity: float = MOVE.field(1.0)
    k: int = ANSWERS.field(100)
    each_delta: float = EACH.field(1e-6)

    def __post_init__(self) -> None:
        """Check the fields, and that the deltas of all answers together promise something."""
        super().__post_init__()
        if self.k * self.each_delta > _MOST:
            msg = f"k * each_delta must be at most {_MOST}, got {self.k} * {numeral(self.each_delta)}."
            raise DomainError(msg)

    def checks(self, rng: Generator) -> tuple[LabCheck, ...]:  # noqa: ARG002  nothing is simulated
        """Return printed against true."""
        return (*self._variances(), *self._together(), *_classical(), *_lemmas())

    def _variances(self) -> list[LabCheck]:
        e, d, s = self.epsilon, self.delta, self.sensitivity
        at = f"ε = {nearest(e)}, δ = {nearest(d)}, sensitivity {nearest(s)}"
        right, classical = con.zcdp_variance(e, d, s), con.classical_variance(e, d, s)
        smaller, least = right < classical, con.exact_variance(e, d, s)
        cross = con.crossover(d)
        return [
            LabCheck(
                "Remark 5.8.7",
                f"variance by concentrated privacy, {at}",
                con.printed_variance(e, d, s),
                right,
                "false",
                "The quadratic equation was solved with ε instead of ε/2: the printed variance gives ε/2.",
                row="variance-by-concentration",
            ),
            LabCheck(
                "Remark 5.8.7",
                f"variance by concentrated privacy over the classical one, {at}",
                con.printed_variance(e, d, s) / classical,
                right / classical,
                "false" if smaller else "loose",
                f"Below 1 if and only if ε < {cross:.6f} at this δ; the source says it is always above 1.",
                row="concentration-wins",
            ),
            LabCheck(
                "Remark 5.8.7",
                f"ε up to which concentrated privacy needs less noise, δ = {nearest(d)}",
                "a larger variance",
                cross,
                "false",
                "Where both variances are equal.",
                row="concentration-wins",
            ),
            LabCheck(
                "Theorem 4.4.3",
                f"least variance of normal noise, {at}",
                classical,
                least,
                "loose",
                "The exact calibration; the classical variance is stated for ε < 1 only.",
                kind="upper",
            ),
            LabCheck(
                "Sections 5.1 and 5.3",
                f"classical variance, {at}",
                con.unsquared_variance(e, d, s),
                classical,
                "misprint",
                "Sensitivity / ε has to be squared.",
                row="variance-without-squares",
            ),
        ]

    def _together(self) -> list[LabCheck]:
        total = self._totals(self.k)
        at = self._total_delta
        words = f"{self.k} answers of classical noise for ({nearest(self.epsilon)}, {nearest(self.each_delta)}), δ = {nearest(at)}"
        return [
            LabCheck(
                "Section 5.8",
                f"ε of {words}, concentrated privacy",
                "nothing about several answers",
                total.zcdp,
                "loose",
                f"Adding the ε gives {nearest(total.basic)}; ρ also adds up, which the source does not say.",
                kind="upper",
            ),
            LabCheck(
                "Section 5.8",
                f"ε of {words}",
                "nothing about several answers",
                total.exact,
                "loose",
                "Normal answers compose to one normal answer: squares of sensitivity / σ add up.",
            ),
        ]

    @property
    def _total_delta(self) -> float:
        """The delta at which basic composition makes its promise."""
        return self.k * self.each_delta

    def _totals(self, k: int) -> con.Totals:
        return con.totals(self.epsilon, self.each_delta, k, self._total_delta)

    def pictures(self, rng: Generator) -> Makers:  # noqa: ARG002  nothing is simulated
        """Return the functions that draw the pictures."""
        return {
            "variance": self._variance,
            "composition": self._composition,
            "true_delta": self._true_delta,
            "regions": self._regions,
        }

    def _variance(self) -> Plot:
        d, epsilons = self.delta, _EPSILONS.tolist()
        classical = np.array([con.classical_variance(e, d) for e in epsilons])
        ways = {
            "printed": ([con.printed_variance(e, d) for e in epsilons], "printed"),
            "concentrated, solved rightly": ([con.zcdp_variance(e, d) for e in epsilons], "exact"),
            "least variance": ([con.exact_variance(e, d) for e in epsilons], "upper"),
        }
        parts = [series(name, _EPSILONS, np.array(y) / classical, kind=kind) for name, (y, kind) in ways.items()]
        cross = con.crossover(d)
        parts.append(series("equal", [cross], [1.0], mark="point"))
        here = con.zcdp_variance(self.epsilon, d) / con.classical_variance(self.epsilon, d)
        takeaway = (
            f"Solved correctly, concentrated privacy needs {nearest(here, 4)} times the classical variance at ε "
            f"{nearest(self.epsilon)}, not {nearest(con.printed_variance(self.epsilon, d) / con.classical_variance(self.epsilon, d), 4)}; "
            f"it needs less than the classical theorem below ε = {cross:.6f} (exact, δ = {nearest(d)})."
        )
        notes = ("All variances are divided by the classical one, which is proven only for ε below 1.",)
        return Plot("How much normal noise?", takeaway, together(*parts), "ε",
                    "Variance / classical variance", log_x=True, reference={"classical": 1.0}, notes=notes)  # fmt: skip

    def _composition(self) -> Plot:
        counts = np.unique(np.round(np.geomspace(1, self.k, 25)).astype(int)).tolist()
        at = self._total_delta
        rows = [con.totals(self.epsilon, self.each_delta, k, at) for k in counts]
        basic, zcdp, tight, exact = (list(column) for column in zip(*rows, strict=True))
        frame = together(
            series("adding the epsilons", counts, basic, kind="upper"),
            series("concentrated, Lemma 5.8.5", counts, zcdp, kind="upper"),
            series("concentrated, best order", counts, tight, kind="upper"),
            series("exact", counts, exact),
        )
        last = rows[-1]
        takeaway = (
            f"{self.k} answers at ε = {nearest(self.epsilon)} cost {nearest(last.basic)} by adding, at most "
            f"{outward(last.zcdp, 5)} by concentrated privacy and {nearest(last.exact)} exactly, all at δ = {nearest(at)}."
        )
        notes = (f"Every answer has the classical noise for ({nearest(self.epsilon)}, {nearest(self.each_delta)}).",)
        return Plot("Many answers", takeaway, frame, "Number of answers", "ε of all together",
                    log_x=True, log_y=True, notes=notes)  # fmt: skip

    def _true_delta(self) -> Plot:
        epsilons = np.geomspace(0.02, 10.0, 81)
        true = np.array([float(GaussianClassic(e, self.delta).delta(e)) for e in epsilons.tolist()])
        right = [float(Gaussian(math.sqrt(con.zcdp_variance(e, self.delta))).delta(e)) for e in epsilons.tolist()]
        frame = together(
            series("classical noise", epsilons, true),
            series("noise by concentrated privacy", epsilons, right),
            series("claimed", epsilons, np.full(epsilons.size, self.delta), kind="printed"),
        )
        above = epsilons[true > self.delta]
        tail = f"from ε = {outward(above[0], 3)} it is above the claim" if above.size else "it stays below the claim"
        takeaway = (
            f"At ε = {nearest(self.epsilon)} classical noise for δ = {nearest(self.delta)} has the true δ "
            f"{nearest(float(GaussianClassic(self.epsilon, self.delta).delta(self.epsilon)), 4)} (exact); {tail}."
        )
        return Plot("The δ that the noise really gives", takeaway, frame, "ε", "True δ",
                    log_x=True, log_y=True)  # fmt: skip

    def _regions(self) -> Regions:
        e, d = self.epsilon, self.delta
        regions = {
            "asked for": DP(e, d),
            "printed variance": Gaussian(math.sqrt(con.printed_variance(e, d))),
            "concentrated variance": Gaussian(math.sqrt(con.zcdp_variance(e, d))),
            "classical variance": Gaussian(math.sqrt(con.classical_variance(e, d))),
            "least variance": Gaussian(math.sqrt(con.exact_variance(e, d))),
        }
        deltas = [
            f"{nearest(float(region.delta(e)), 3)} with the {name}"
            for name, region in regions.items()
            if name != "asked for"
        ]
        takeaway = f"The target is δ = {nearest(d)} at ε = {nearest(e)}; the noises give {', '.join(deltas)} (exact)."
        return Regions("Regions of the four noises", takeaway, regions)


def _classical() -> list[LabCheck]:
    """Return the true delta of classical noise inside the range of the theorem; `_true_delta` draws it beyond."""
    rows = []
    for epsilon, delta in CLASSICAL:
        true = float(GaussianClassic(epsilon, delta).delta(epsilon))
        rows.append(
            LabCheck(
                "Theorem 4.4.3",
                f"δ of classical noise at ε = {nearest(epsilon)}, δ = {nearest(delta)}",
                delta,
                true,
                "loose",
                "True, far from tight.",
            )
        )
    return rows


def _lemmas() -> list[LabCheck]:
    """Return the lemmas on concentrated privacy."""
    rate = divergences.concentrated(DP(1.0))
    pure = rate.rho if rate is not None else 0.5
    rho = con.zcdp_rho(1.0, 1e-5)
    return [
        LabCheck("Lemma 5.8.4", "ρ of every 1-DP mechanism", 0.5, pure, "loose",
                 "ε tanh(ε/2), attained by randomized response."),
        LabCheck("Lemma 5.8.5", f"ε at δ = 1e-5 of ρ = {nearest(rho)}, the ρ printed for ε = 1", 1.0, con.zcdp_epsilon(rho, 1e-5),
                 "holds", "The conversion and its inverse are right; using all orders gains a little more.",
                 kind="upper"),
        LabCheck("Theorem 5.8.6", "ρ of normal noise, sensitivity 1, σ = 2", 0.125, _gaussian_rho(2.0), "holds",
                 "Signs in the middle of the printed proof are wrong, but its result is right."),
        LabCheck("Theorem 5.8.6, proof", "exponent for order 2, means 1 and 0, σ = 1", con.printed_exponent(2.0, 1.0, 0.0),
                 2.0 * _gaussian_rho(1.0), "misprint", "Three signs; the next line of the proof is right.",
                 row="signs-of-a-square"),
    ]  # fmt: skip


def _gaussian_rho(sigma: float) -> float:
    rate = divergences.concentrated(Gaussian(sigma))
    return rate.rho if rate is not None else math.inf
