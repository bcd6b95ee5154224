"""The inverse questions of training: the noise, batch, number of steps or records for a target epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.calibration import calibrate, largest_k
from dpcore.core.domains import LOSS, SHARE
from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.numerals import nearest
from dpcore.curves.gaussian import GaussianCurve
from dpcore.regions import gate
from dpcore.training.gradients import LARGEST_T, SIGMA, clt_mu
from dpcore.training.run import EXAMPLES, RunNumbers, TrainingRun, exact
from dpcore.training.samplers import FULL_SAMPLER, Sampler, sampler_of
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

UNKNOWNS: Final = ("sigma", "steps", "batch", "examples")
_STAND_IN = 1.0  # the noise of a run whose noise is sought; only its rate and steps are used


@dataclass(frozen=True, slots=True)
class TrainingTarget:
    """A run that meets a target.

    Attributes
    ----------
    unknown : str
        What was solved for, one of `UNKNOWNS`.
    value : float
        Its value, on the safe side.
    run : TrainingRun
        The run with that value.
    words : str
        The answer in one sentence.
    """

    unknown: str
    value: float
    run: TrainingRun
    words: str


def solve_training(  # noqa: PLR0913  the numbers of a run, each under its own name
    sampler: str,
    *,
    epsilon: float,
    delta: float = 1e-5,
    sigma: float | None = None,
    examples: int | None = None,
    batch: float | Fraction | None = None,
    epochs: float | Fraction | None = None,
    rate: float | None = None,
    steps: int | None = None,
    largest_batch: int | None = None,
    unit_records: int = 1,
) -> TrainingTarget:
    """Return the least noise, the largest batch or number of steps, or the least number of records for a target.

    Exactly one of them is left out: sigma; both epochs and steps; batch; or examples.

    Parameters
    ----------
    sampler : str
        ``poisson``, ``truncated``, ``fixed``, ``allocation`` or ``full``.
    epsilon, delta : float
        The target: epsilon at delta, delta in (0, 1].
    sigma : float, optional
        Noise multiplier, in [0.05, 1000].
    examples, batch, epochs, rate, steps, largest_batch, unit_records : optional
        As in `training_run`.

    Returns
    -------
    TrainingTarget
        The value and the run, which certainly meets the target; raises `DomainError` or `BudgetError` if there is none.

    Examples
    --------
    >>> target = solve_training("poisson", epsilon=2, rate=0.01, steps=1000)
    >>> target.unknown, round(target.value, 4)
    ('sigma', 0.9591)
    """
    how = sampler_of(sampler)
    goal = _Goal(LOSS.but(name="target epsilon").check(epsilon), SHARE.but(name="delta").check(delta))
    numbers = RunNumbers(examples, batch, epochs, rate, steps, largest_batch, unit_records)
    if sigma is None:
        return goal.noise(how, numbers)
    if epochs is None and steps is None:
        return goal.steps(how, numbers, sigma)
    if how != FULL_SAMPLER and rate is None:
        if batch is None and numbers.examples is not None:
            return goal.batch(how, numbers, numbers.examples, sigma)
        if examples is None and batch is not None:
            return goal.examples(how, numbers, batch, sigma)
    msg = (
        "A target leaves one number open: leave out sigma, the batch, the number of examples, or both epochs and steps."
    )
    raise DomainError(msg)


@dataclass(frozen=True, slots=True)
class _Goal:
    epsilon: float
    delta: float

    @property
    def words(self) -> str:
        return f"ε = {nearest(self.epsilon)} at δ = {outward(self.delta, 6)}"

    def met(self, run: TrainingRun) -> bool:
        """Whether a run certainly meets the target."""
        checkpoint()
        return bool(gate.delta_bounds(run.region, np.array([self.epsilon]))[1][0] <= self.delta)

    def noise(self, how: Sampler, numbers: RunNumbers) -> TrainingTarget:
        run = numbers.run(how, _STAND_IN)
        text, factor = how.unknown(run)
        row = calibrate(f"{text}^{run.rounds}", epsilon=self.epsilon, delta=self.delta).iloc[0]
        run = replace(run, sigma=float(row["value"]) * factor)
        words = f"Noise σ = {outward(run.sigma, 6)} meets {self.words}; it is the least that certainly does."
        return TrainingTarget("sigma", run.sigma, run, words)

    def likely(self, run: TrainingRun) -> bool:
        """Whether the central limit says so: slightly wrong, but immediate."""
        sigma = max(run.sigma * (run.sampler.noise_share or 1.0) / run.unit_records, SIGMA.low)
        mu = clt_mu(sigma, run.rate, run.steps)
        return bool(GaussianCurve(mu).delta_bounds(np.array([self.epsilon]))[1][0] <= self.delta)

    def steps(self, how: Sampler, numbers: RunNumbers, sigma: float) -> TrainingTarget:
        one = replace(numbers, steps=1).run(how, sigma)
        count = min(LARGEST_T, largest_k(str(one.step), self.epsilon, self.delta) * how.round_steps(one))
        epochs = outward(float(count * exact(one.rate)), 4, up=False)
        end = "the most that are counted" if count == LARGEST_T else "one more does not"
        words = f"{grouped(count)} steps, {epochs} epochs, certainly meet {self.words}; {end}."
        return TrainingTarget("steps", float(count), replace(one, steps=count), words)

    def batch(self, how: Sampler, numbers: RunNumbers, examples: int, sigma: float) -> TrainingTarget:
        def run(batch: int) -> TrainingRun:
            return replace(numbers, batch=batch).run(how, sigma)

        least = 1 if numbers.epochs is None else math.ceil(exact(numbers.epochs) * examples / LARGEST_T)
        size = None if least > examples else self._last(run, least, examples)
        if size is None:
            msg = f"Even a batch of {grouped(least)} exceeds {self.words}."
            raise BudgetError(msg)
        end = "; all records are in it." if size == examples else f"; {grouped(size + 1)} does not."
        return TrainingTarget(
            "batch", float(size), run(size), f"A batch of {grouped(size)} certainly meets {self.words}{end}"
        )

    def examples(self, how: Sampler, numbers: RunNumbers, batch: float | Fraction, sigma: float) -> TrainingTarget:
        def run(fewer: int) -> TrainingRun:
            return replace(numbers, examples=most - fewer).run(how, sigma)

        least, most = math.ceil(exact(batch)), int(EXAMPLES.high)
        if numbers.epochs is not None:
            most = min(most, math.floor(LARGEST_T * exact(batch) / exact(numbers.epochs)))
        fewer = None if most < least else self._last(run, 0, most - least)
        if fewer is None:
            msg = f"Even {grouped(most)} examples do not meet {self.words}."
            raise BudgetError(msg)
        size = most - fewer
        end = "." if size == least else f"; {grouped(size - 1)} do not."
        return TrainingTarget(
            "examples", float(size), run(fewer), f"{grouped(size)} examples certainly meet {self.words}{end}"
        )

    def _last(self, run: Callable[[int], TrainingRun], low: int, high: int) -> int | None:
        """Return a number whose run certainly meets the target while that of the next does not; None if not even `low` does.

        The search starts where the central limit puts the answer: numbers far from it take long to decide.
        """
        start = _before(lambda number: self.likely(run(number)), low - 1, high + 1)
        good, bad, step = low - 1, high + 1, 1
        trial = min(max(start, low), high)
        while good < trial < bad:  # steps double
            if self.met(run(trial)):
                good, trial = trial, min(trial + step, high)
            else:
                bad, trial = trial, max(trial - step, low)
            step *= 2
        good = _before(lambda number: self.met(run(number)), good, bad)
        return None if good < low else good


def _before(holds: Callable[[int], bool], good: int, bad: int) -> int:
    """Return an integer from `good` to `bad` - 1 after which a condition no longer holds, by bisection."""
    while bad - good > 1:  # halves
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good
