"""The lab of noisy gradient descent: the privacy schedule, the error terms, and the cost of making them vanish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import stage
from dpcore.core.numerals import nearest
from dpcore.core.registry import Parameter
from dpcore.labs import noisy_sgd_views as views
from dpcore.labs.base import Lab, LabCheck, Makers, Story, standard_error
from dpcore.labs.catalogue import enter
from dpcore.labs.noisy_sgd import BUDGET, DECAY, GROWTH, PRINTED_CONSTANT, RATE, STEPS, Schedule, exponents, vanishing
from dpcore.labs.noisy_sgd_runs import PENALTY, Ridge, points, run
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

_RUNS = Parameter("replications", "integer", low=10, high=5000, label="runs", meaning="simulated runs")
_RECORDS = Parameter("records", "integer", low=10, high=10_000, label="n", meaning="points of the regression")
_DATA_SEED = 7


@enter
@dataclass(frozen=True)
class NoisySgd(Lab):
    """Gradient descent with Laplace noise of the printed schedule."""

    name = "noisy_sgd"
    title = "Noisy gradient descent"
    place = "Chapter 7"
    story = Story(
        "The source gives noise levels that keep a promised loss at every step, with the message that privacy and "
        "convergence are compatible.",
        "The noise part of the error vanishes only if the promised loss may grow faster than the square root of "
        "the number of steps (2κ + ρ > 2), and the promise covers a single iterate, while the error bound is for "
        "the average of all of them.",
        "After 1000 steps at the edge of convergence, the promise for the last iterate is ε = 178, while simply "
        "adding the losses of all steps gives 126 for releasing every iterate.",
    )
    formula = (
        r"\gamma_t=\frac{S_t}{\eta_{t-1}t^{\kappa}}\frac D\varepsilon,\qquad A_3=\frac1{S_N}\sum_t"
        r"\Big(\frac{DS_t}{\varepsilon t^{\kappa}}\Big)^2\sim N^{\max(2-\rho-2\kappa,\ \rho-1)},\qquad"
        r"\varepsilon_{\text{all}}=\sum_t\frac D{\gamma_t}"
    )
    assumptions = (
        "Learning rates η(1 + t)^-ρ with sums S_t, independent Laplace noise of scale γ_t in every step, and "
        "gradients that one record moves by at most D in the l1 norm, at equal parameters. The last sum is for "
        "releasing every iterate."
    )
    reference = "Garrigos, Gower 2023 for the error bound; Dwork, Roth 2014, Appendix B for adding losses"
    simulates = True

    rho: float = DECAY.field(0.5)
    kappa: float = GROWTH.field(0.75)
    steps: int = STEPS.field(1000, low=3, high=20_000)
    rate: float = RATE.field(0.1, high=0.5)
    epsilon: float = BUDGET.field(1.0)
    penalty: float = PENALTY.field(0.1, high=2.0)
    records: int = _RECORDS.field(100)
    replications: int = _RUNS.field(200)

    @property
    def plan(self) -> Schedule:
        """The schedule with D = 1, as in the source's rates."""
        return Schedule(self.steps, self.rho, self.kappa, self.rate, self.epsilon)

    @property
    def problem(self) -> Ridge:
        """The made-up regression, the same at every seed of the noise."""
        return points(self.records, np.random.default_rng(_DATA_SEED), self.penalty)

    @property
    def fitting(self) -> Schedule:
        """The schedule with the D of the regression."""
        return Schedule(self.steps, self.rho, self.kappa, self.rate, self.epsilon, self.problem.sensitivity)

    def checks(self, rng: Generator) -> tuple[LabCheck, ...]:
        """Return the statements of Chapter 7 with the true values."""
        return (*self._privacy(), *self._rates(), *self._gradients(), self._run(rng))

    def _privacy(self) -> list[LabCheck]:
        plan = self.plan
        last = float(plan.promised[-1])
        flat = Schedule(2, 0.0, 0.0, self.rate, self.epsilon)
        return [
            LabCheck(
                "Theorem 7.6.1 with Theorem 7.7.1",
                f"loss of releasing the average of {self.steps} iterates",
                last,
                plan.joint,
                "loose",
                "The promise covers only the last iterate; the average needs all of them, and their losses D/γ add up to at most this.",
                kind="upper",
            ),
            LabCheck(
                "Theorem 7.6.1",
                f"the same, each step using one of {self.records} records, hidden",
                last,
                plan.sampled(self.records),
                "loose",
                "The proof ignores that a record is used in few steps, and that nobody sees which.",
                kind="upper",
            ),
            LabCheck(
                "Theorem 7.6.1",
                "loss of the sequence of the first 2 iterates, κ = 0, constant rate, one record",
                self.epsilon,
                flat.joint,
                "false",
                "Stated for the sequence, it holds only for each iterate alone: the second step adds half the loss of the first.",
                row="gradients-at-two-places",
            ),
        ]

    def _rates(self) -> list[LabCheck]:
        power = exponents(self.rho, self.kappa)
        printed = 2.0 - self.rho - 2.0 * self.kappa
        return [
            LabCheck(
                "Example 7.8.3",
                "κ above which the noise term vanishes at a constant rate",
                PRINTED_CONSTANT,
                vanishing(0.0),
                "loose",
                "The condition 2κ + ρ > 2 gives κ > 1 at ρ = 0; and the sampling term A2 does not vanish there at all.",
                row="constant-rate",
            ),
            LabCheck(
                "Example 7.8.2",
                "power of N of the sampling term A2, ρ = 0.75",
                -0.75,
                exponents(0.75, self.kappa)[1],
                "false",
                "Printed for every ρ in (0, 1); for ρ above 1/2 the squares of the rates have a finite sum, and the power is ρ - 1.",
                row="second-term",
            ),
            LabCheck(
                "Example 7.8.2",
                f"power of N of the sampling term A2, ρ = {nearest(self.rho)}",
                -self.rho,
                power[1],
                "holds" if power[1] == -self.rho else "false",
                "For ρ above 1/2 the squares of the rates have a finite sum, and the power is ρ - 1 (with log N at 1/2).",
            ),
            LabCheck(
                "Example 7.8.3",
                f"power of N of the noise term A3, ρ = {nearest(self.rho)}, κ = {nearest(self.kappa)}",
                printed,
                power[2],
                "holds" if power[2] == printed else "false",
                "No schedule makes the term fall faster than N to the ρ - 1.",
            ),
        ]

    def _gradients(self) -> list[LabCheck]:
        problem = self.problem
        everyone = np.arange(problem.records)
        rows = problem.gradients(np.repeat(problem.best[None], problem.records, axis=0), everyone)
        return [
            LabCheck(
                "(7.13)",
                "mean length of a single gradient where the mean gradient is 0 (ridge data)",
                "the length of the mean gradient, so 0",
                float(np.linalg.norm(rows, axis=1).mean()),
                "false",
                "The mean of the lengths is at least the length of the mean, with equality only if all gradients point the same way.",
                row="norm-of-a-mean",
            )
        ]

    def _run(self, rng: Generator) -> LabCheck:
        problem, plan = self.problem, self.fitting
        with stage(0.0, 0.9):
            average = run(problem, plan, rng, self.replications, [self.steps])[self.steps]
        with stage(0.9, 1.0):
            excess = problem.excess(average)
        bound = plan.bound(float(problem.best @ problem.best), problem.spread, problem.dimension)
        return LabCheck(
            "Theorem 7.7.1",
            f"loss above the ridge line after {self.steps} steps",
            bound,
            float(excess.mean()),
            "holds" if excess.mean() <= bound else "false",
            f"A true bound for rates up to {outward(1 / (4 * problem.smoothness), 4, up=False)}; the ridge line is known in closed form.",
            kind="simulation",
            error=standard_error(excess),
        )

    def pictures(self, rng: Generator) -> Makers:
        """Return the functions that draw the pictures."""
        return {
            "trade": lambda: views.trade(self.plan, self.records),
            "errors": lambda: views.errors(self.plan),
            "vanishing": views.lines,
            "grid": lambda: views.sums(self.plan),
            "schedule": lambda: views.schedule(self.plan),
            "ridge": lambda: views.excesses(self.problem, self.fitting, rng, self.replications),
            "path": lambda: views.path(self.problem, self.fitting, rng),
            "regions": lambda: views.regions(self.plan),
        }
