r"""A training run: how records are sampled, how much noise each step gets, and how many steps there are.

In every step the gradient of each record is clipped to a norm C, the gradients of the sampled records are summed, and normal
noise of standard deviation sigma C is added. Which region a step has depends on the sampler, so it has to be stated:

- ``poisson``: each step takes each record independently with probability q. A step is ``poisson_gaussian(sigma, q)``.
- ``full``: each step uses all records, q = 1. A step is Gaussian noise without sampling.

Batches that are cut from a shuffled list are neither. What they reveal can be more than Poisson samples of the same size
reveal, so no number of this room stands for them. References: Abadi et al. (2016); Chua et al. (2024) on shuffled batches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dpcore.core.domains import COUNT, POSITIVE, SHARE
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.training.gradients import LARGEST_T, SIGMA, Training
from dpcore.words import grouped

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

EXAMPLES: Final = COUNT.but(name="examples", label="N", high=10**12, meaning="how many records the training data has")
BATCH: Final = POSITIVE.but(name="batch", label="B", meaning="how many records a step uses, on average")
EPOCHS: Final = POSITIVE.but(name="epochs", label="E", meaning="how often a record is used, on average")
RATE: Final = SHARE.but(name="rate", label="q", meaning="probability that a step uses a record")
STEPS: Final = COUNT.but(name="steps", label="T", high=LARGEST_T, meaning="how many noisy steps are taken")


@dataclass(frozen=True, slots=True)
class Sampler:
    """How the records of a step are chosen.

    Attributes
    ----------
    name, title : str
        In options, and as people read it.
    condition : str
        When the numbers hold, as the end of a sentence that starts with "if".
    """

    name: str
    title: str
    condition: str


POISSON_SAMPLER: Final = Sampler(
    "poisson", "Poisson", "each step takes each record independently with probability q (Poisson sampling)"
)
FULL_SAMPLER: Final = Sampler("full", "full batch", "each step uses all records")
SAMPLERS: Final = (POISSON_SAMPLER, FULL_SAMPLER)
REFUSED: Final = {
    "shuffle": "No ε is certified for batches cut from a shuffled list: they can reveal several times more than Poisson samples "
    "of the same size. Sample each record with probability q in every step (poisson), or use all records (full)."
}
"""Samplers that people ask for and that have no certified region, each with the reason."""
QUESTION: Final = (
    "How does a step choose its records? Say poisson (each record independently with probability q, as Opacus does with "
    "poisson_sampling=True) or full (all records in every step). Shuffled batches are neither."
)


def sampler_of(name: str) -> Sampler:
    """Return a sampler by its name.

    Parameters
    ----------
    name : str
        ``poisson`` or ``full``.

    Returns
    -------
    Sampler
        Raises `DomainError` with the reason if there is none of that name.
    """
    for one in SAMPLERS:
        if one.name == name:
            return one
    raise DomainError(REFUSED.get(str(name), QUESTION))


@dataclass(frozen=True)
class TrainingRun:
    """Steps of clipped gradients with Gaussian noise on samples of the records; see `training_run`.

    Attributes
    ----------
    sampler : Sampler
        How a step chooses its records.
    sigma : float
        Noise multiplier: standard deviation of the noise over the clipping norm.
    rate : float
        Probability q that a step uses a record; 1 for full batches.
    steps : int
        How many steps.
    origin : str, default ""
        How rate and steps follow from records, batch and epochs, in words.
    """

    sampler: Sampler
    sigma: float
    rate: float
    steps: int
    origin: str = ""

    def __post_init__(self) -> None:
        """Check the numbers."""
        object.__setattr__(self, "sigma", SIGMA.check(self.sigma))
        object.__setattr__(self, "rate", RATE.check(self.rate))
        object.__setattr__(self, "steps", STEPS.check(self.steps))
        if self.sampler is FULL_SAMPLER and self.rate != 1.0:
            msg = f"With full batches every step uses every record: rate must be 1, got {numeral(self.rate)}."
            raise DomainError(msg)

    @property
    def training(self) -> Training:
        """The steps, for the tables of `dpcore.training.gradients`."""
        return Training(self.sigma, self.rate, self.steps)

    @property
    def step(self) -> TradeOff:
        """The region of one step."""
        return self.training.step

    @property
    def region(self) -> TradeOff:
        """The region of all steps."""
        return self.training.region

    def words(self) -> str:
        """Say what is done, without a verb: the steps, the noise and the samples."""
        many = "1 step" if self.steps == 1 else f"{grouped(self.steps)} steps"
        if self.sampler is FULL_SAMPLER:
            return f"{many} on all records with noise σ = {nearest(self.sigma)}"
        return f"{many} on Poisson samples of rate q = {nearest(self.rate)} with noise σ = {nearest(self.sigma)}"


def training_run(
    sampler: str,
    *,
    sigma: float,
    examples: int | None = None,
    batch: float | Fraction | None = None,
    epochs: float | Fraction | None = None,
    rate: float | None = None,
    steps: int | None = None,
) -> TrainingRun:
    r"""Return a training run from the numbers that people know: records, batch and epochs, or rate and steps.

    The sampling rate is batch / examples, and the number of steps epochs * examples / batch, a part of a step counted as a
    whole one. With full batches the rate is 1 and an epoch is a step.

    Parameters
    ----------
    sampler : str
        ``poisson`` or ``full``; it is not guessed.
    sigma : float
        Noise multiplier, in [0.05, 1000].
    examples : int, optional
        How many records the training data has.
    batch : float or Fraction, optional
        How many records a step uses, on average; at most `examples`.
    epochs : float or Fraction, optional
        How often a record is used, on average.
    rate : float, optional
        Probability that a step uses a record, in (0, 1], in place of `examples` and `batch`.
    steps : int, optional
        How many steps, from 1 to 10^6, in place of `epochs`.

    Returns
    -------
    TrainingRun
        Raises `DomainError` if a number is missing, given twice or out of range.

    Examples
    --------
    >>> run = training_run("poisson", sigma=1.1, examples=60_000, batch=256, epochs=60)
    >>> run.rate, run.steps
    (0.004266666666666667, 14063)
    """
    return RunNumbers(examples, batch, epochs, rate, steps).run(sampler_of(sampler), sigma)


@dataclass(frozen=True, slots=True)
class RunNumbers:
    """What is known of a run; None is not known. The methods raise `DomainError` if something is missing."""

    examples: int | None = None
    batch: float | Fraction | None = None
    epochs: float | Fraction | None = None
    rate: float | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        """Check each number that is there."""
        for name, parameter in (("examples", EXAMPLES), ("rate", RATE), ("steps", STEPS)):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, parameter.check(value))
        for name, parameter in (("batch", BATCH), ("epochs", EPOCHS)):
            value = getattr(self, name)
            if value is not None:
                parameter.check(float(value) if isinstance(value, Fraction) else value)
        if self.batch is not None and self.examples is not None and self.batch > self.examples:
            msg = f"batch must be at most the number of examples, {grouped(self.examples)}, got {nearest(float(self.batch))}."
            raise DomainError(msg)

    def run(self, sampler: Sampler, sigma: float) -> TrainingRun:
        """Return the run."""
        share = self._share(sampler)
        if share is None:
            msg = "The sampling rate is missing: give rate, or examples and batch."
            raise DomainError(msg)
        steps = self._steps(share)
        return TrainingRun(sampler, sigma, float(share), steps, self._origin(steps))

    def _share(self, sampler: Sampler) -> Fraction | None:
        """Return the sampling rate, exactly; None if it is not known."""
        if sampler is FULL_SAMPLER:
            if self.batch is not None and self.batch != self.examples:
                msg = "With full batches the batch is the whole data: leave batch out."
                raise DomainError(msg)
            return exact(1.0 if self.rate is None else self.rate)
        if self.rate is not None:
            if self.batch is not None:
                msg = "rate and batch say the same thing; give one of them."
                raise DomainError(msg)
            return exact(self.rate)
        if self.batch is None or self.examples is None:
            return None
        return exact(self.batch) / self.examples

    def _steps(self, share: Fraction) -> int:
        if self.steps is not None:
            if self.epochs is not None:
                msg = "epochs and steps say the same thing; give one of them."
                raise DomainError(msg)
            return self.steps
        if self.epochs is None:
            msg = "The number of steps is missing: give epochs or steps."
            raise DomainError(msg)
        return int(STEPS.check(math.ceil(exact(self.epochs) / share)))

    def _origin(self, steps: int) -> str:
        """Say how the rate and the steps were found; '' if they were given."""
        parts = []
        if self.batch is not None and self.examples is not None:
            parts.append(f"q = {nearest(float(self.batch))}/{grouped(self.examples)}")
        if self.epochs is not None:
            parts.append(f"{nearest(float(self.epochs))} epochs are {grouped(steps)} steps")
        return "; ".join(parts)


def exact(value: float | Fraction) -> Fraction:
    """Return the decimal number that a double was written as: 0.1 is a tenth, so that 0.1 * 1000 / 10 is 10 steps, not 11."""
    return value if isinstance(value, Fraction) else Fraction(repr(float(value)))
