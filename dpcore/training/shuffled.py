r"""Batches cut from a shuffled list: a proved lower bound of epsilon, beside what the same numbers would give with Poisson samples.

In every epoch the N records are shuffled and cut into K batches. ``shuffled_batches(sigma, K)`` holds what is proved about one epoch: an attacker
who looks at the largest noisy sum attains its lower side, and its safe side is a bound without amplification. The epochs compose from both sides, so
every epsilon below the lower one is refuted. Poisson samples of the same size have the same neighbours, so the numbers can be compared.

Reference: Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang (2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.core.domains import SHARE
from dpcore.core.effort import current, effort
from dpcore.core.errors import DomainError
from dpcore.core.kinds import kind
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.mechanisms.shuffled_batches import LARGEST_MOVE, ShuffledBatches
from dpcore.regions import gate
from dpcore.regions.algebra import Power
from dpcore.regions.guarantees import GDP
from dpcore.training.libraries import library_reports, library_words
from dpcore.training.run import RunNumbers
from dpcore.training.samplers import POISSON_SAMPLER, epoch_steps
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from fractions import Fraction

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.training.run import TrainingRun

COLUMNS = ("quantity", "at", "value", "lower", "words", "kind", "theorem", "neighbours")
NEIGHBOURS = "add/remove"
REFERENCE = "Chua et al. 2024, the largest sum of an epoch"
_SAFE = "Safe for every order of the records: each epoch bounded without amplification."
_WIDTH = 1e-3  # of the deltas of an attack: a wider bracket costs a thousandth of epsilon


@dataclass(frozen=True)
class ShuffledRun:
    """A run on shuffled batches.

    Attributes
    ----------
    poisson : TrainingRun
        The run with the same numbers on Poisson samples.
    delta : float
        Where epsilon is asked, in (0, 1].
    """

    poisson: TrainingRun
    delta: float

    def __post_init__(self) -> None:
        """Check delta, and that an epoch is complete."""
        object.__setattr__(self, "delta", SHARE.but(name="delta").check(self.delta))
        if self.epochs == 0:
            msg = f"The run has less than one epoch of {grouped(self.batches)} batches; nothing is proved about a part of an epoch."
            raise DomainError(msg)

    @property
    def batches(self) -> int:
        """Batches of an epoch."""
        return epoch_steps(self.poisson)

    @property
    def epochs(self) -> int:
        """Whole epochs."""
        return self.poisson.steps // self.batches

    @Lazy
    def region(self) -> TradeOff:
        """The region of all whole epochs, a bound whose lower side an attack attains."""
        epoch = ShuffledBatches(self.poisson.sigma, self.batches)
        return epoch if self.epochs == 1 else Power(epoch, self.epochs)

    @Lazy
    def epsilon(self) -> tuple[float, float]:
        """What an attack on the whole epochs proves, and what certainly holds for the run, a part of an epoch counted as one."""
        with effort(tolerance=max(current().tolerance, _WIDTH)):
            low = float(gate.epsilon_bounds(self.region, np.array([self.delta]))[0][0])
        epochs = -(-self.poisson.steps // self.batches)
        safe = GDP(math.sqrt(LARGEST_MOVE * epochs) / self.poisson.sigma)
        return low, float(gate.epsilon_bounds(safe, np.array([self.delta]))[1][0])

    @property
    def epsilon_lower(self) -> float:
        """The proved lower bound of epsilon at delta."""
        return self.epsilon[0]

    @Lazy
    def poisson_epsilon(self) -> tuple[float, float]:
        """The certified bracket of epsilon that Poisson samples of the same size would have."""
        low, high = gate.epsilon_bounds(self.poisson.region, np.array([self.delta]))
        return float(low[0]), float(high[0])

    def answer(self) -> str:
        """Say what is proved."""
        low, high = self.epsilon_lower, self.poisson_epsilon[1]
        at = f"ε at δ = {outward(self.delta, 6)}"
        proved = (
            f"With shuffled batches {at} is at least {outward(low, 5, up=False)} (proved by an attack) and at most "
            f"{outward(self.epsilon[1], 5)} (without any amplification)."
        )
        if low > high:
            return (
                f"{proved} Accounting as if samples were Poisson says {outward(high, 5)}, which is too small for this run, "
                f"{outward(low / high, 3, up=False)} times or more."
            )
        return f"{proved} Accounting as if samples were Poisson says {outward(high, 5)}, which is not refuted, but not proved either."

    def table(self, claimed: float | None = None) -> pd.DataFrame:
        """Tabulate what is proved, what Poisson samples would have, and what libraries print.

        Parameters
        ----------
        claimed : float, optional
            An epsilon that somebody claims at delta.

        Returns
        -------
        DataFrame
            `quantity, at, value, lower, words, kind, theorem, neighbours`; the first row is the lower bound.
        """
        low, (least, most) = self.epsilon_lower, self.poisson_epsilon
        run = self.poisson
        as_poisson = (
            f"If every step took each record with probability {nearest(run.rate)}: ε at most {outward(most, 6)}."
        )
        rows: list[tuple[str, float, float, float, str, str, str, str]] = [
            ("epsilon", self.delta, low, low, self.answer(), "lower", REFERENCE, NEIGHBOURS),
            ("epsilon_safe", self.delta, self.epsilon[1], low, _SAFE, "upper", self.region.theorem, NEIGHBOURS),
            (
                "epsilon_if_poisson",
                self.delta,
                most,
                least,
                as_poisson,
                kind(least, most, "upper"),
                run.region.theorem,
                "add/remove",
            ),
        ]
        for _, row in library_reports(run, self.delta, bracket=self.epsilon).iterrows():
            value = float(row["epsilon"])
            words = library_words(row, self.epsilon)
            rows.append(
                (
                    f"{row['library']} {row['method']}",
                    self.delta,
                    value,
                    0.0,
                    words,
                    str(row["kind"]),
                    str(row["theorem"]),
                    "add/remove",
                )
            )
        if claimed is not None:
            rows.append(
                ("claimed_epsilon", self.delta, claimed, claimed, self.judged(claimed), "none", REFERENCE, NEIGHBOURS)
            )
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def judged(self, claimed: float) -> str:
        """Say whether a claimed epsilon can be true.

        Parameters
        ----------
        claimed : float
            Epsilon at delta.

        Returns
        -------
        str
            One sentence.
        """
        if claimed >= self.epsilon[1]:
            return (
                f"ε = {nearest(claimed)} holds: it is at most {outward(self.epsilon[1], 5)} even without amplification."
            )
        if claimed < self.epsilon_lower:
            return f"ε = {nearest(claimed)} is not true: it is at least {outward(self.epsilon_lower, 5, up=False)}."
        return f"ε = {nearest(claimed)} is neither proved nor refuted: at least {outward(self.epsilon_lower, 5, up=False)} is proved."


def shuffled_run(
    *,
    sigma: float,
    delta: float = 1e-5,
    examples: int | None = None,
    batch: float | Fraction | None = None,
    epochs: float | Fraction | None = None,
    rate: float | None = None,
    steps: int | None = None,
) -> ShuffledRun:
    """Return what is proved about a run whose batches are cut from a shuffled list.

    Parameters
    ----------
    sigma, examples, batch, epochs, rate, steps : optional
        As in `training_run`.
    delta : float, default 1e-5
        Where epsilon is asked, in (0, 1].

    Returns
    -------
    ShuffledRun
        A lower bound of epsilon, and the number that Poisson samples would have.

    Examples
    --------
    >>> run = shuffled_run(sigma=0.5, examples=100_000, batch=100, epochs=1)
    >>> run.epsilon_lower > run.poisson_epsilon[1]
    True
    """
    return ShuffledRun(RunNumbers(examples, batch, epochs, rate, steps).run(POISSON_SAMPLER, sigma), delta)
