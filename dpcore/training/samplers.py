r"""How a step of private training chooses its records, and the region that one step then has.

In units of the clipping norm a step is a sum of gradients, each of norm at most 1, plus normal noise sigma:

- ``poisson``: each record independently with probability q. One record moves the sum by 1 if it is used: ``poisson_gaussian(sigma, q)``. A
  person with up to m records moves it by the number of them that are used: ``user_gaussian(sigma, q, m)``.
- ``truncated``: the same, but of more than C records a random C are kept: ``truncated_poisson(sigma, q, C, N)``.
- ``fixed``: always B of the N records. A record that is drawn takes the place of another one, so the sum moves by up to 2: ``fixed_size(gaussian(sigma,
  2), B/N)``, the pair of ``poisson_gaussian(sigma / 2, B/N)``.
- ``allocation``: in every epoch each record goes into one of the K steps of the epoch, chosen at random (balls in bins): an epoch is
  ``random_allocation(sigma, K)``, and a part of an epoch counts as an epoch.
- ``full``: all records. One person moves the sum by m.

Batches that are cut from a shuffled list are none of these: `dpcore.training.shuffled` has what is proved about them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.mechanisms.gaussian import Gaussian
from dpcore.mechanisms.poisson_gaussian import PoissonGaussian
from dpcore.mechanisms.random_allocation import RandomAllocation
from dpcore.mechanisms.truncated_poisson import TruncatedPoisson
from dpcore.mechanisms.user_gaussian import UserGaussian
from dpcore.regions.sampling import FixedSize
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.training.run import TrainingRun


_ROUNDED = 1e-12  # relative, of a share that was rounded to a double


def _one(_: TrainingRun) -> int:
    return 1


@dataclass(frozen=True, slots=True)
class Sampler:
    """How the records of a step are chosen.

    Attributes
    ----------
    name, title : str
        In options, and as people read it.
    condition : str
        When the numbers hold, as the end of a sentence that starts with "if".
    step : callable
        From a run to the region of one of its steps.
    unknown : callable
        From a run to the expression of a step with its noise left open, and by what its solution is multiplied.
    samples : callable
        From a run to how it samples, in words.
    noise_share : float, default 1
        If not 0: the step has the pair of ``poisson_gaussian(noise_share * sigma, rate)``.
    persons : bool, default False
        Whether a person may have several records.
    whole_curve : bool, default True
        Whether the whole curve, which mu needs, is certified within seconds.
    round_steps : callable
        From a run to the steps that its `step` region covers: 1, or those of an epoch.
    """

    name: str
    title: str
    condition: str
    step: Callable[[TrainingRun], TradeOff]
    unknown: Callable[[TrainingRun], tuple[str, float]]
    samples: Callable[[TrainingRun], str]
    noise_share: float = 1.0
    persons: bool = False
    whole_curve: bool = True
    round_steps: Callable[[TrainingRun], int] = _one


def _poisson(run: TrainingRun) -> TradeOff:
    if run.unit_records == 1:
        return PoissonGaussian(run.sigma, run.rate)
    return UserGaussian(run.sigma, run.rate, run.unit_records)


def _poisson_unknown(run: TrainingRun) -> tuple[str, float]:
    if run.unit_records == 1:
        return f"poisson_gaussian(?, {run.rate!r})", 1.0
    return f"user_gaussian(?, {run.rate!r}, {run.unit_records})", 1.0


def _full(run: TrainingRun) -> TradeOff:
    return PoissonGaussian(run.sigma, 1.0) if run.unit_records == 1 else Gaussian(run.sigma, float(run.unit_records))


def _truncated(run: TrainingRun) -> TradeOff:
    return TruncatedPoisson(run.sigma, run.rate, *_sizes(run))


def _sizes(run: TrainingRun) -> tuple[int, int]:
    """Return the largest batch and the number of records of truncated samples."""
    if run.examples is None or run.largest_batch is None:
        msg = "Truncated samples need the number of records and the largest batch: give examples and largest_batch."
        raise DomainError(msg)
    return run.largest_batch, run.examples


def _truncated_unknown(run: TrainingRun) -> tuple[str, float]:
    largest, examples = _sizes(run)
    return f"truncated_poisson(?, {run.rate!r}, {largest}, {examples})", 1.0


def _fixed(run: TrainingRun) -> TradeOff:
    return FixedSize(Gaussian(run.sigma, 2.0), run.rate)


def _fixed_unknown(run: TrainingRun) -> tuple[str, float]:
    return f"poisson_gaussian(?, {run.rate!r})", 2.0


def epoch_steps(run: TrainingRun) -> int:
    """Return the steps of an epoch, a part of a batch counted as a batch; 1/3 is three batches, though not a double.

    Parameters
    ----------
    run : TrainingRun
        Its rate is the share of the records that a batch has.

    Returns
    -------
    int
        At least 1.
    """
    return max(1, math.ceil(1 / run.rate * (1.0 - _ROUNDED)))


def _allocation(run: TrainingRun) -> TradeOff:
    return RandomAllocation(run.sigma, epoch_steps(run))


def _allocation_unknown(run: TrainingRun) -> tuple[str, float]:
    return f"random_allocation(?, {epoch_steps(run)})", 1.0


def _allocation_samples(run: TrainingRun) -> str:
    return f"batches to which each record is allocated at random, {grouped(epoch_steps(run))} an epoch"


def _full_unknown(run: TrainingRun) -> tuple[str, float]:
    return f"gaussian(?, {run.unit_records})", 1.0


def _poisson_samples(run: TrainingRun) -> str:
    return f"Poisson samples of rate q = {nearest(run.rate)}"


def _truncated_samples(run: TrainingRun) -> str:
    return f"{_poisson_samples(run)}, cut to {grouped(_sizes(run)[0])} records"


def _fixed_samples(run: TrainingRun) -> str:
    return f"samples of fixed size, a share of {nearest(run.rate)}"


def _full_samples(_: TrainingRun) -> str:
    return "all records"


POISSON_SAMPLER: Final = Sampler(
    "poisson",
    "Poisson",
    "each step takes each record independently with probability q (Poisson sampling)",
    _poisson,
    _poisson_unknown,
    _poisson_samples,
    persons=True,
)
TRUNCATED_SAMPLER: Final = Sampler(
    "truncated",
    "truncated Poisson",
    "each step takes each record independently with probability q and, of more than the largest batch, keeps a random part of that size",
    _truncated,
    _truncated_unknown,
    _truncated_samples,
    noise_share=0.0,
    whole_curve=False,
)
FIXED_SAMPLER: Final = Sampler(
    "fixed",
    "fixed size",
    "each step draws a batch of fixed size without replacement, afresh in every step; q = B/N with the N of the larger dataset",
    _fixed,
    _fixed_unknown,
    _fixed_samples,
    noise_share=0.5,
)
ALLOCATION_SAMPLER: Final = Sampler(
    "allocation",
    "random allocation",
    "in each epoch every record goes into one batch, chosen at random and independently of all others (balls in bins)",
    _allocation,
    _allocation_unknown,
    _allocation_samples,
    noise_share=0.0,
    whole_curve=False,
    round_steps=epoch_steps,
)
FULL_SAMPLER: Final = Sampler(
    "full",
    "full batch",
    "each step uses all records",
    _full,
    _full_unknown,
    _full_samples,
    persons=True,
)
SAMPLERS: Final = (POISSON_SAMPLER, TRUNCATED_SAMPLER, FIXED_SAMPLER, ALLOCATION_SAMPLER, FULL_SAMPLER)
"""The records of all ways to sample batches."""
SHUFFLE: Final = "shuffle"
REFUSED: Final = {
    SHUFFLE: "Batches cut from a shuffled list have no known ε, only a lower bound and an upper one without amplification "
    "(shuffled_run): they can reveal several times more than Poisson samples of the same size. Sample each record with probability q in every step (poisson), or use all records (full)."
}
"""Samplers that people ask for and that have no certified region, each with the reason."""
QUESTION: Final = (
    "How does a step choose its records? Say poisson (each record independently with probability q, as Opacus does with "
    "poisson_sampling=True), truncated (the same, with a largest batch), fixed (a fresh batch of fixed size), allocation (each record in one random batch of every epoch) or full (all records in "
    "every step). Batches cut from a shuffled list are none of them: shuffle."
)


def sampler_of(name: str) -> Sampler:
    """Return a sampler by its name.

    Parameters
    ----------
    name : str
        ``poisson``, ``truncated``, ``fixed``, ``allocation`` or ``full``.

    Returns
    -------
    Sampler
        Raises `DomainError` with the reason if there is none of that name.
    """
    for one in SAMPLERS:
        if one.name == name:
            return one
    raise DomainError(REFUSED.get(str(name), QUESTION))


def check_run(run: TrainingRun) -> None:
    """Refuse numbers that do not fit the sampler of a run.

    Parameters
    ----------
    run : TrainingRun
        Its numbers are in range.
    """
    if run.sampler == FULL_SAMPLER and run.rate != 1.0:
        msg = f"With full batches every step uses every record: rate must be 1, got {numeral(run.rate)}."
        raise DomainError(msg)
    if run.unit_records > 1 and not run.sampler.persons:
        names = " or ".join(one.name for one in SAMPLERS if one.persons)
        msg = f"Several records per person are accounted for {names} only, not for {run.sampler.name}."
        raise DomainError(msg)
    if run.sampler == TRUNCATED_SAMPLER:
        _sizes(run)
    elif run.largest_batch is not None:
        msg = "A largest batch belongs to the sampler truncated."
        raise DomainError(msg)
