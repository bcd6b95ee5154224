r"""Privacy requirements in numbers people use, each as a target of calibration.

A requirement about beliefs becomes one about rates. If a share pi of the people in question is in the data, then the share
of the accused who are in it is :math:`\pi\,\mathrm{TPR}/(\pi\,\mathrm{TPR}+(1-\pi)\,\mathrm{FPR})`, which is at most p exactly if

.. math:: \frac{\mathrm{TPR}}{\mathrm{FPR}} \le R = \frac{p}{1-p}\cdot\frac{1-\pi}{\pi} .

The power of the best test is concave and at least 0 at 0, so power(FPR)/FPR falls: what holds at one false-positive
rate holds at every larger one. For every answer alone, however rare, R is a bound on the likelihood ratio: pure
privacy with epsilon = log R.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self

from dpcore.core.domains import DELTA, FPR, LOSS, PRIOR
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.words import of_100, outward

_DOWN = 1 - 1e-15  # rounds towards the stricter requirement
LARGEST_EPSILON = 1e4  # beyond any use, and far from overflow
_EPSILON = LOSS.but(high=LARGEST_EPSILON)
_DELTA, _FPR = DELTA.but(high_open=True), FPR.but(high_open=True)
_ADVANTAGE, _TPR, _POSTERIOR = (PRIOR.but(name=name) for name in ("advantage", "tpr", "posterior"))


class PrivacyRequirement(Protocol):
    """One requirement: the keywords of calibration, its name on an axis, and its words."""

    axis: ClassVar[str]

    @property
    def keywords(self) -> dict[str, float]:
        """The keywords of `calibrate`."""

    @property
    def value(self) -> float:
        """The number on the axis."""

    @property
    def words(self) -> str:
        """The requirement, as the end of a sentence that begins with "such that"."""

    def moved(self, factor: float) -> Self | None:
        """Return the requirement with its number multiplied; None if the result is out of range."""


@dataclass(frozen=True, slots=True)
class EpsilonDelta:
    """(epsilon, delta)-DP of everything together."""

    epsilon: float
    delta: float
    axis: ClassVar[str] = "total ε"

    def __post_init__(self) -> None:
        """Check both numbers."""
        _EPSILON.check(self.epsilon)
        _DELTA.check(self.delta)

    @property
    def keywords(self) -> dict[str, float]:
        """Epsilon and delta."""
        return {"epsilon": self.epsilon, "delta": self.delta}

    @property
    def value(self) -> float:
        """The epsilon."""
        return self.epsilon

    @property
    def words(self) -> str:
        """The statement."""
        return f"all answers together are within ε = {nearest(self.epsilon)} and δ = {outward(self.delta, 6)}"

    def moved(self, factor: float) -> EpsilonDelta | None:
        """Return the statement with another epsilon."""
        value = self.epsilon * factor
        return replace(self, epsilon=value) if 0 < value <= LARGEST_EPSILON else None


@dataclass(frozen=True, slots=True)
class Advantage:
    """True-positive minus false-positive rate, at most."""

    advantage: float
    axis: ClassVar[str] = "attacker's advantage"

    def __post_init__(self) -> None:
        """Check the number."""
        _ADVANTAGE.check(self.advantage)

    @property
    def keywords(self) -> dict[str, float]:
        """The advantage."""
        return {"advantage": self.advantage}

    @property
    def value(self) -> float:
        """The advantage."""
        return self.advantage

    @property
    def words(self) -> str:
        """How often the attacker guesses a coin toss right."""
        right = of_100(min(1.0, 0.5 + 0.5 * self.advantage))
        return f"the best guess about a coin toss is right about at most {right} people"

    def moved(self, factor: float) -> Advantage | None:
        """Return another advantage below 1."""
        value = self.advantage * factor
        return Advantage(value) if 0 < value < 1 else None


@dataclass(frozen=True, slots=True)
class AttackRates:
    """A true-positive rate of at most `tpr` at the false-positive rate `fpr`."""

    tpr: float
    fpr: float
    axis: ClassVar[str] = "true-positive rate allowed"

    def __post_init__(self) -> None:
        """Check both rates and their order."""
        _FPR.check(self.fpr)
        _TPR.check(self.tpr)
        if self.tpr <= self.fpr:
            msg = f"tpr must be above fpr = {numeral(self.fpr)}, which blind guessing reaches, got {numeral(self.tpr)}."
            raise DomainError(msg)

    @property
    def keywords(self) -> dict[str, float]:
        """Both rates."""
        return {"tpr": self.tpr, "fpr": self.fpr}

    @property
    def value(self) -> float:
        """The true-positive rate."""
        return self.tpr

    @property
    def words(self) -> str:
        """The rates as people."""
        members, accused = of_100(self.tpr), of_100(self.fpr)
        return f"an attacker who wrongly accuses {accused} people outside the data finds at most {members} inside it"

    def moved(self, factor: float) -> AttackRates | None:
        """Return another true-positive rate; what exceeds blind guessing is multiplied."""
        value = self.fpr + (self.tpr - self.fpr) * factor
        return AttackRates(value, self.fpr) if self.fpr < value < 1 else None


@dataclass(frozen=True, slots=True)
class Posterior:
    """A chance of `prior` to be in the data grows to at most `posterior`.

    With `fpr` 0 this holds for every single answer; otherwise for the people accused by an attacker who wrongly accuses
    at least a share of `fpr`.
    """

    prior: float
    posterior: float
    fpr: float = 0.0
    axis: ClassVar[str] = "posterior allowed"

    def __post_init__(self) -> None:
        """Check the numbers, their order, and that not every noise meets the requirement."""
        PRIOR.check(self.prior)
        _POSTERIOR.check(self.posterior)
        _FPR.check(self.fpr)
        if self.posterior <= self.prior:
            msg = f"posterior must be above the prior {numeral(self.prior)}, got {numeral(self.posterior)}: an answer can only add."
            raise DomainError(msg)
        if self.fpr * self.ratio >= 1:
            msg = (
                f"An attacker who accuses {numeral(self.fpr)} of those outside never gets above a chance of {numeral(self.posterior)}: "
                "every noise meets that. Choose a smaller false-positive rate or a smaller posterior."
            )
            raise DomainError(msg)

    @property
    def ratio(self) -> float:
        """R: by how much the odds may grow, rounded down."""
        return self.posterior / (1 - self.posterior) * ((1 - self.prior) / self.prior) * _DOWN

    @property
    def keywords(self) -> dict[str, float]:
        """Pure privacy of log R, or a true-positive rate of R times the false-positive rate."""
        if self.fpr == 0:
            return {"epsilon": math.log(self.ratio) * _DOWN, "delta": 0.0}
        return {"tpr": self.ratio * self.fpr, "fpr": self.fpr}

    @property
    def value(self) -> float:
        """The posterior."""
        return self.posterior

    @property
    def words(self) -> str:
        """The beliefs as people."""
        before, after = of_100(self.prior), of_100(self.posterior)
        if self.fpr == 0:
            return f"no answer brings an attacker's belief in a person from {before} above {after}"
        return (
            f"of the people accused at most {after} are in the data, if {before} of the people in question are and at least "
            f"{of_100(self.fpr)} of the others are accused"
        )

    def moved(self, factor: float) -> Posterior | None:
        """Return another posterior: the gain of the odds over those of the prior is multiplied."""
        start = self.prior / (1 - self.prior)
        odds = start + (self.posterior / (1 - self.posterior) - start) * factor
        try:
            return replace(self, posterior=odds / (1 + odds))
        except DomainError:
            return None
