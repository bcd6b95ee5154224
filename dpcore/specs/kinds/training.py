"""Private training: a claim against the truth, what accountants report, sampling, and many noisy steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpcore.core.errors import DomainError
from dpcore.regions.tradeoff import literal
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import Variable, call, draws
from dpcore.training.reports import LARGEST_K
from dpcore.training.sampling import FIXED, POISSON


@enter
@dataclass(frozen=True, kw_only=True)
class ClaimDrawer(Drawer):
    """A claimed (epsilon, delta) on the true profile."""

    kind: ClassVar[str] = "claim"
    meaning: ClassVar[str] = "a claimed (ε, δ) of k uses of a mechanism, as a point beside the true profile"

    mechanism: str = fields.expression()
    k: int = fields.integer(1, low=1, high=LARGEST_K)
    epsilon: float = fields.number(low=0.0)
    delta: float = fields.rate(1e-5)

    def recipe(self) -> Any:
        """Return the figure of the claim."""
        judgement = call("dpcore.training:judge", self.mechanism, self.k, self.epsilon, self.delta)
        return draws("dpcore.charts.claims:claim_figure", judgement)

    def target(self) -> tuple[str, float]:
        """Return the delta of the claim."""
        return "delta", self.delta


@enter
@dataclass(frozen=True, kw_only=True)
class AccountantsDrawer(Drawer):
    """What each accountant reports."""

    kind: ClassVar[str] = "accountants"
    meaning: ClassVar[str] = "the ε that each accountant reports for k uses of a mechanism, beside the true one"

    mechanism: str = fields.expression()
    k: int = fields.integer(1, low=1, high=LARGEST_K)
    delta: float = fields.rate(1e-5)
    claimed: float | None = fields.number(None, low=0.0)

    def recipe(self) -> Any:
        """Return the figure of the reports."""
        rows = call("dpcore.training:reports", self.mechanism, self.k, self.delta)
        return draws("dpcore.charts.claims:accountants_figure", rows, claimed=self.claimed)

    def target(self) -> tuple[str, float]:
        """Return the delta of the reports."""
        return "delta", self.delta


@enter
@dataclass(frozen=True, kw_only=True)
class SamplingDrawer(Drawer):
    """A region before and after sampling."""

    kind: ClassVar[str] = "sampling"
    meaning: ClassVar[str] = "a region before and after random sampling, by each form of the theorem"

    region: str = fields.expression()
    p: float = fields.number(low=0.0, high=1.0, low_open=True)
    scheme: str = fields.choice(FIXED, POISSON)
    delta: float | None = fields.rate()
    log: bool = fields.flag()

    def recipe(self) -> Any:
        """Return the figure of the forms."""
        region = call("dpcore.language:parse", self.region)
        forms = call("dpcore.training:forms", region, self.p, scheme=self.scheme, delta=self.delta)
        return draws("dpcore.charts.amplified:forms_figure", forms, **self.options("log"))


@dataclass(frozen=True, kw_only=True)
class TrainingDrawer(Drawer):
    """Steps of Gaussian noise on Poisson samples, by their numbers, or steps of any region."""

    sigma: float | None = fields.number(None, low=0.05, high=1000.0)
    q: float | None = fields.number(None, low=0.0, high=1.0, low_open=True)
    step: str | None = fields.expression(None, "the region of one step, in place of sigma and q")

    def __post_init__(self) -> None:
        """Check that exactly one source is given for the step."""
        numbers = self.sigma is not None and self.q is not None
        if numbers == (self.step is not None) or (self.sigma is None) != (self.q is None):
            msg = "A step is given by sigma and q, or by step, a region such as user_gaussian(1.1, 0.01, 3)."
            raise DomainError(msg)

    def about(self) -> dict[str, Any]:
        """Return the parameters, and the region of one step as the mechanism that is repeated."""
        step = self.step or f"poisson_gaussian({literal(self.sigma)}, {literal(self.q)})"
        return {**super().about(), "mechanism": step}


@enter
@dataclass(frozen=True, kw_only=True)
class StepsDrawer(TrainingDrawer):
    """Epsilon of private training as the number of steps grows."""

    kind: ClassVar[str] = "steps"
    meaning: ClassVar[str] = "ε of private training as the number of steps grows: composed, by Rényi and by the CLT"

    delta: float = fields.number(1e-5, low=0.0, high=1.0, low_open=True)
    steps: tuple[float, ...] | None = fields.numbers(None)
    mark: int | None = fields.integer(None, low=1)
    counts: str | None = fields.text(None, "what is counted, if it is not steps")

    def recipe(self) -> Any:
        """Return the figure of the steps."""
        counts = None if self.steps is None else [int(count) if count == int(count) else count for count in self.steps]
        if self.step is None:
            rows = call("dpcore.training:gradient_ladder", self.sigma, self.q, self.delta, steps=counts)
        else:
            rows = call("dpcore.training:step_ladder", self.step, self.delta, steps=counts)
        named = {} if self.counts is None else {"counts": self.counts}
        return draws(
            "dpcore.charts.amplified:steps_figure", Variable("frame", rows), delta=self.delta, steps=self.mark, **named
        )

    def target(self) -> tuple[str, float]:
        """Return the delta of all steps together."""
        return "delta", self.delta


@enter
@dataclass(frozen=True, kw_only=True)
class RatesDrawer(TrainingDrawer):
    """What an attacker finds after private training, at low false-positive rates."""

    kind: ClassVar[str] = "rates"
    meaning: ClassVar[str] = "true positives at low false-positive rates after many steps of private training"

    steps: int = fields.integer(low=1, high=10**6)

    def recipe(self) -> Any:
        """Return the figure of the rates."""
        if self.step is None:
            rows = call("dpcore.training:rates", self.sigma, self.q, self.steps)
        else:
            rows = call("dpcore.training:step_rates", self.step, self.steps)
        return draws("dpcore.charts.amplified:rate_figure", rows)

    def about(self) -> dict[str, Any]:
        """Return the parameters; every step is one copy of the mechanism."""
        return {**super().about(), "k": self.steps}
