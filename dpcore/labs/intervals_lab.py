"""The lab of private confidence intervals: the privacy noise must be counted, and counted only once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dpcore.core.numerals import nearest
from dpcore.core.registry import Parameter
from dpcore.labs import intervals
from dpcore.labs import intervals_views as pictures
from dpcore.labs.base import LAB_DELTA, LAB_EPSILON, REPLICATIONS, Lab, LabCheck, Makers, Story
from dpcore.labs.catalogue import enter
from dpcore.mechanisms.gaussian import GaussianClassic
from dpcore.mechanisms.laplace import Laplace
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.regions.tradeoff import TradeOff

LOSS: Final = LAB_EPSILON.but(
    meaning="bound on the privacy loss of the noisy mean; the classical noise is proven for ε < 1, above that see its true δ",
)
VARIANCE_LOSS: Final = LOSS.but(
    name="variance_epsilon", label="ε₁", meaning="bound on the privacy loss of the noisy variance"
)
LEVEL: Final = Parameter("level", low=0.5, high=0.999, label="level", meaning="coverage asked for, 1 - α")
HIGH: Final = Parameter("high", low=0.0, low_open=True, high=1e9, label="Λ", meaning="records lie between 0 and this")
RECORDS: Final = Parameter("n", "integer", low=10, high=5000, label="n", meaning="number of records")


@enter
@dataclass(frozen=True)
class Intervals(Lab):
    """Confidence intervals from a noisy mean and a noisy variance."""

    name = "intervals"
    title = "Private confidence intervals"
    place = "Section 5.7"
    story = Story(
        "An interval around a noisy mean, widened for the noise, keeps its level and is (ε + ε₁, δ)-private even "
        "if a negative noisy variance is drawn again; written out, the noise adds c²Λ/(εn) under the root.",
        "The level holds if the noise adds its own variance, c²Λ²/(εn)²; the written-out term has lost its squares, "
        "changes with the unit of the data and makes the interval 4.9 times as wide at n = 50; drawing again "
        "raises the loss of the variance from 0.5 to 0.832.",
        "An analyst who ignores the noise covers the mean in 31 of 100 cases instead of 95; one who follows the "
        "printed formula gets an interval as wide as the right one from only 10 of the 50 records.",
    )
    formula = (
        r"\bar X+Z\pm z_{\alpha/2}\sqrt{\frac{(\hat\sigma^2+Z_1)_+}{n}+\frac{c^2\Lambda^2}{\varepsilon^2n^2}},\qquad "
        r"c^2=2\ln\frac{1.25}{\delta}"
    )
    assumptions = (
        "n independent records in an interval of length Λ, n public, neighbours substitute one. Z is normal with the "
        "classical deviation cΛ/(εn), Z₁ Laplace noise on the variance; the distribution of the mean is approximated "
        "by a normal one."
    )
    reference = "normal approximation and simulation; privacy: exact product of Gaussian and Laplace regions"
    tool = "Intervals"
    simulates = True

    epsilon: float = LOSS.field(0.5)
    variance_epsilon: float = VARIANCE_LOSS.field(0.5)
    delta: float = LAB_DELTA.field(1e-5)
    level: float = LEVEL.field(0.95)
    n: int = RECORDS.field(50)
    high: float = HIGH.field(1.0)
    population: str = intervals.POPULATION.field("uniform")
    replications: int = REPLICATIONS.field(2000, low=100, high=100_000, meaning="simulated intervals")

    @property
    def plan(self) -> intervals.Plan:
        """What is released and claimed."""
        return intervals.Plan(self.epsilon, self.variance_epsilon, self.delta, self.level, self.high, self.population)

    @property
    def region(self) -> TradeOff:
        """The exact region of both releases; moving one of n zeros to Λ moves both answers as far as possible."""
        return GaussianClassic(self.epsilon, self.delta) * Laplace(self.variance_epsilon)

    @property
    def mean_delta(self) -> float:
        """True delta at epsilon of the classical noise on the mean; above `delta` where epsilon is too large for it."""
        return float(GaussianClassic(self.epsilon, self.delta).delta(self.epsilon))

    @property
    def condition(self) -> tuple[str, ...]:
        """A note where the noise is used outside the range for which it is proved."""
        if self.epsilon < 1:
            return ()
        true, side = self.mean_delta, "above" if self.mean_delta > self.delta else "not above"
        words = f"at ε = {nearest(self.epsilon)} its true δ is {outward(true, 3)}, {side} {outward(self.delta, 3)}"
        return (f"The noise on the mean is that of Theorem 4.4.3, which is proved for ε < 1; {words} (exact).",)

    @property
    def variance(self) -> float:
        """Variance of the population."""
        return intervals.moments(self.population, self.high)[1]

    def checks(self, rng: Generator) -> tuple[LabCheck, ...]:
        """Return coverage, widths and privacy."""
        shares = intervals.simulate(self.plan, self.n, self.replications, rng)
        return (*self._coverage_checks(shares), *self._width_checks(), *self._privacy_checks(shares))

    def _coverage_checks(self, shares: intervals.IntervalCoverage) -> tuple[LabCheck, ...]:
        def coverage(
            place: str, what: str, share: float, verdict: str, why: str, statement: str = "", row: str = ""
        ) -> LabCheck:
            quantity, error = f"coverage {what}, n = {self.n}", shares.error(share)
            printed = statement or self.level
            return LabCheck(place, quantity, printed, share, verdict, why, kind="simulation", error=error, row=row)

        near = abs(shares.estimated - self.level) <= max(0.02, 4 * shares.error(shares.estimated))
        near_known = abs(shares.known - self.level) <= max(0.02, 4 * shares.error(shares.known))
        return (
            coverage(
                "Section 5.7, display",
                "with the noise term c²Λ/(εn)",
                shares.display,
                "false",
                "A square is lost: too wide if Λ < εn, too narrow if Λ > εn, so it depends on the unit of the data.",
                row="width-of-the-interval",
            ),
            coverage(
                "Section 5.7",
                "if the noise is ignored",
                shares.naive,
                "holds",
                f"The noisy mean has variance σ²/n + σ_Z²: the interval of the clean mean misses the level {nearest(self.level)}.",
                "the noise has to be counted",
            ),
            coverage(
                "Theorem 5.7.2",
                "with the noisy variance",
                shares.estimated,
                "holds" if near else "loose",
                "The level is reached as n grows; the noise part is normal and known.",
            ),
            coverage(
                "Corollary 5.7.1",
                "with the known variance",
                shares.known,
                "holds" if near_known else "loose",
                "Mean and noise are together close to normal.",
            ),
        )

    def _width_checks(self) -> tuple[LabCheck, ...]:
        classic = intervals.noise_deviation(self.epsilon, self.delta, self.high, self.n)
        least = intervals.noise_deviation(self.epsilon, self.delta, self.high, self.n, exact=True)
        return (
            LabCheck(
                "Section 5.7, display",
                f"half-width with the known variance, n = {self.n}",
                intervals.printed_half_width(self.level, self.variance, self.n, self.epsilon, self.delta, self.high),
                intervals.half_width(self.level, self.variance, self.n, classic),
                "false",
                "c²Λ²/(ε²n²) instead of c²Λ/(εn), which also depends on the unit of the data.",
                row="width-of-the-interval",
            ),
            LabCheck(
                "Corollary 5.7.1",
                f"deviation of the noise on the mean, n = {self.n}",
                classic,
                least,
                "loose",
                "The exact calibration of Gaussian noise needs less for the same (ε, δ) below ε = 1.",
                kind="upper",
            ),
            LabCheck(
                "Corollary 5.7.1",
                f"δ of the noise on the mean at ε = {nearest(self.epsilon)}",
                self.delta,
                self.mean_delta,
                "loose",
                "The noise of Theorem 4.4.3, which is stated for ε < 1; there its δ is far below the promise.",
            ),
            LabCheck(
                "Section 5.7",
                "centre of the law of the noisy mean",
                0.0,
                intervals.moments(self.population, self.high)[0],
                "loose",
                "The noisy mean is N(μ, σ²/n + σ_Z²), as the next line of the source uses it; N(0, ·) is for the mean zero assumed before.",
                row="centre-of-the-mean",
            ),
            LabCheck(
                "Section 5.7, last remark",
                "limit of the variance of noisy records over the true variance",
                "does not converge to the population variance",
                intervals.before_variance(self.variance, self.high, self.epsilon) / self.variance,
                "holds",
                "Noise on every record stays in the variance, however large n is.",
            ),
        )

    def _privacy_checks(self, shares: intervals.IntervalCoverage) -> tuple[LabCheck, ...]:
        together_ = self.epsilon + self.variance_epsilon
        leak = float(self.region.delta(together_))
        return (
            LabCheck(
                "Theorem 5.7.2",
                f"δ of both releases at ε + ε₁ = {nearest(together_)}",
                self.delta,
                leak,
                "loose",
                "Exact product of the Gaussian and the Laplace region; the theorem needs ε < 1.",
                kind="upper",
            ),
            LabCheck(
                "Section 5.7, drawing again",
                f"largest loss of the variance when negative values are drawn again, ε₁ = {nearest(self.variance_epsilon)}",
                self.variance_epsilon,
                intervals.resampled_loss(self.variance_epsilon),
                "false",
                "Noise cut at 0 has a normaliser that depends on the data; clamping at 0 costs nothing.",
                row="noise-until-positive",
            ),
            LabCheck(
                "Section 5.7",
                f"share of negative noisy variances, n = {self.n}",
                "may be negative",
                shares.negative,
                "holds",
                "Half the Laplace tail beyond the sample variance.",
                kind="simulation",
                error=shares.error(shares.negative),
            ),
        )

    def pictures(self, rng: Generator) -> Makers:
        """Return the functions that draw the pictures."""
        return {
            "coverage": lambda: pictures.coverage(self, rng),
            "variances": lambda: pictures.variances(self, rng),
            "widths": lambda: pictures.widths(self),
            "split": lambda: pictures.split(self),
            "regions": lambda: pictures.regions(self),
        }
