"""A training run: how records are sampled, how much noise each step gets, and how many steps there are.

In every step the gradient of each record is clipped to a norm C, the gradients of the sampled records are summed, and normal
noise of standard deviation sigma C is added. Which region a step has depends on the sampler, so it has to be stated:
`dpcore.training.samplers`. References: Abadi et al. (2016); Chua et al. (2024) on shuffled batches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dpcore.core.domains import COUNT, POSITIVE, SHARE
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.training.gradients import LARGEST_T, SIGMA, Training
from dpcore.training.samplers import FULL_SAMPLER, Sampler, check_run, sampler_of
from dpcore.words import grouped

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

EXAMPLES: Final = COUNT.but(name="examples", label="N", high=10**12, meaning="how many records the training data has")
BATCH: Final = POSITIVE.but(name="batch", label="B", meaning="how many records a step uses, on average")
EPOCHS: Final = POSITIVE.but(name="epochs", label="E", meaning="how often a record is used, on average")
RATE: Final = SHARE.but(name="rate", label="q", meaning="probability that a step uses a record")
LARGEST_BATCH: Final = COUNT.but(name="largest_batch", label="C", high=10**9, meaning="most records of a batch")
UNIT_RECORDS: Final = COUNT.but(name="unit_records", label="m", high=1000, meaning="most records of one person")
STEPS: Final = COUNT.but(name="steps", label="T", high=LARGEST_T, meaning="how many noisy steps are taken")


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
    examples, largest_batch : int, optional
        Records of the data and most records of a batch, if the samples are truncated.
    unit_records : int, default 1
        Most records of one person, who is protected as a whole.
    """

    sampler: Sampler
    sigma: float
    rate: float
    steps: int
    origin: str = ""
    examples: int | None = None
    largest_batch: int | None = None
    unit_records: int = 1

    def __post_init__(self) -> None:
        """Check the numbers."""
        object.__setattr__(self, "sigma", SIGMA.check(self.sigma))
        object.__setattr__(self, "rate", RATE.check(self.rate))
        object.__setattr__(self, "steps", STEPS.check(self.steps))
        object.__setattr__(self, "unit_records", UNIT_RECORDS.check(self.unit_records))
        if self.largest_batch is not None:
            object.__setattr__(self, "largest_batch", LARGEST_BATCH.check(self.largest_batch))
        check_run(self)

    @property
    def training(self) -> Training:
        """The steps as accountants of Poisson samples see them, whatever the sampler is."""
        return Training(self.sigma, self.rate, self.steps)

    @property
    def twin(self) -> Training | None:
        """Steps on Poisson samples with the same region, for the tables of `dpcore.training.gradients`; None if there are none."""
        share = self.sampler.noise_share
        if self.unit_records > 1 or share == 0.0 or self.sigma * share < SIGMA.low:
            return None
        return Training(self.sigma * share, self.rate, self.steps)

    @property
    def step(self) -> TradeOff:
        """The region of one step, or of one epoch if a record is allocated to one of its steps."""
        return self.sampler.step(self)

    @property
    def rounds(self) -> int:
        """How often the region `step` is composed: the steps, or the epochs, a part of one counted as a whole."""
        return -(-self.steps // self.sampler.round_steps(self))

    @Lazy
    def region(self) -> TradeOff:
        """The region of all steps."""
        return self.step if self.rounds == 1 else self.step**self.rounds

    def words(self) -> str:
        """Say what is done, without a verb: the steps, the noise and the samples."""
        many = "1 step" if self.steps == 1 else f"{grouped(self.steps)} steps"
        unit = "" if self.unit_records == 1 else f", up to {grouped(self.unit_records)} records per person"
        return f"{many} on {self.sampler.samples(self)} with noise σ = {nearest(self.sigma)}{unit}"


def training_run(  # noqa: PLR0913  the numbers of a run, each under its own name
    sampler: str,
    *,
    sigma: float,
    examples: int | None = None,
    batch: float | Fraction | None = None,
    epochs: float | Fraction | None = None,
    rate: float | None = None,
    steps: int | None = None,
    largest_batch: int | None = None,
    unit_records: int = 1,
) -> TrainingRun:
    r"""Return a training run from the numbers that people know: records, batch and epochs, or rate and steps.

    The sampling rate is batch / examples, and the number of steps epochs * examples / batch, a part of a step counted as a
    whole one. With full batches the rate is 1 and an epoch is a step.

    Parameters
    ----------
    sampler : str
        ``poisson``, ``truncated``, ``fixed``, ``allocation`` or ``full``; it is not guessed.
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
    largest_batch : int, optional
        For truncated samples: most records of a batch.
    unit_records : int, default 1
        Most records of one person, if persons are to be protected and not single records.

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
    numbers = RunNumbers(examples, batch, epochs, rate, steps, largest_batch, unit_records)
    return numbers.run(sampler_of(sampler), sigma)


@dataclass(frozen=True, slots=True)
class RunNumbers:
    """What is known of a run; None is not known. The methods raise `DomainError` if something is missing."""

    examples: int | None = None
    batch: float | Fraction | None = None
    epochs: float | Fraction | None = None
    rate: float | None = None
    steps: int | None = None
    largest_batch: int | None = None
    unit_records: int = 1

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
        return TrainingRun(
            sampler,
            sigma,
            float(share),
            steps,
            self._origin(steps),
            None if self.largest_batch is None else self.examples,
            self.largest_batch,
            self.unit_records,
        )

    def _share(self, sampler: Sampler) -> Fraction | None:
        """Return the sampling rate, exactly; None if it is not known."""
        if sampler == FULL_SAMPLER:
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
