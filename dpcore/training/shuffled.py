r"""Batches cut from a shuffled list: a proved lower bound of epsilon, beside what the same numbers would give with Poisson samples.

In every epoch the N records are shuffled and cut into K batches. Let the gradient of one record be +1, that of all others -1, and let a
neighbour blank that record out (gradient 0). Up to known constants the K noisy sums of an epoch are then normal with standard deviation
sigma and mean 2 at a random place, or 1 at a random place, and 0 elsewhere. An attacker looks at the largest of them, with

.. math:: P(\max\le c)=\Phi\Bigl(\frac{c-2}\sigma\Bigr)\Phi\Bigl(\frac c\sigma\Bigr)^{K-1}\quad\text{or}\quad
    \Phi\Bigl(\frac{c-1}\sigma\Bigr)\Phi\Bigl(\frac c\sigma\Bigr)^{K-1}.

Which of some intervals the largest sum lies in is a function of the output, so the pair of its two laws reveals no more than the run, and
neither does its composition over the whole epochs: every epsilon below the bound is refuted. With Poisson samples the same record and neighbour
are covered by ``poisson_gaussian``, so the two numbers can be compared.

Reference: Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang (2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import log_ndtr, ndtri

from dpcore.core.domains import SHARE
from dpcore.core.errors import DomainError
from dpcore.core.kinds import kind
from dpcore.core.numerals import nearest
from dpcore.regions import gate
from dpcore.regions.algebra import Power
from dpcore.regions.guarantees import Pmf
from dpcore.training.libraries import library_reports, library_words
from dpcore.training.run import RunNumbers, exact
from dpcore.training.samplers import POISSON_SAMPLER
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from fractions import Fraction

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.training.run import TrainingRun

COLUMNS = ("quantity", "at", "value", "lower", "words", "kind", "theorem", "neighbours")
NEIGHBOURS = "one record blanked out"
REFERENCE = "Chua et al. 2024, the largest sum of an epoch"
_INTERVALS = 120  # of the largest sum; more of them raise the bound by less than 1e-3
_FAR = 9.0  # standard deviations beyond which an interval ends


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
        return math.ceil(1 / exact(self.poisson.rate))

    @property
    def epochs(self) -> int:
        """Whole epochs."""
        return self.poisson.steps // self.batches

    @cached_property
    def witness(self) -> TradeOff:
        """A region inside that of the run: what the largest sums of all epochs reveal."""
        return Power(self._epoch(), self.epochs) if self.epochs > 1 else self._epoch()

    def _epoch(self) -> Pmf:
        sigma, rest = self.poisson.sigma, self.batches - 1
        # evenly spaced in how likely the largest of the sums without a record lies below, and beyond it
        level = np.linspace(0.02, 0.98, _INTERVALS // 2) ** (1.0 / self.batches)
        start = float(sigma * ndtri(level[-1]))
        border = np.unique(
            np.concatenate(
                (sigma * ndtri(level), np.linspace(start, max(start, 2.0) + _FAR * sigma / 3.0, _INTERVALS // 2))
            )
        )
        return Pmf(*(_masses(border, sigma, rest, shift) for shift in (1.0, 2.0)))

    @cached_property
    def epsilon_lower(self) -> float:
        """A lower bound of epsilon at delta: that of all epochs, or of one, whose bracket is narrower."""
        regions = {1: self._epoch(), self.epochs: self.witness}
        return max(float(gate.epsilon_bounds(region, np.array([self.delta]))[0][0]) for region in regions.values())

    @cached_property
    def poisson_epsilon(self) -> tuple[float, float]:
        """The certified bracket of epsilon that Poisson samples of the same size would have."""
        low, high = gate.epsilon_bounds(self.poisson.region, np.array([self.delta]))
        return float(low[0]), float(high[0])

    def answer(self) -> str:
        """Say what is proved."""
        low, high = self.epsilon_lower, self.poisson_epsilon[1]
        at = f"ε at δ = {outward(self.delta, 6)}"
        proved = f"With shuffled batches {at} is at least {outward(low, 5, up=False)} (proved), and no upper bound is known here."
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
        for _, row in library_reports(run, self.delta, bracket=(low, math.inf)).iterrows():
            value = float(row["epsilon"])
            words = library_words(row, (low, math.inf))
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
        if claimed < self.epsilon_lower:
            return f"ε = {nearest(claimed)} is not true: it is at least {outward(self.epsilon_lower, 5, up=False)}."
        return f"ε = {nearest(claimed)} is neither proved nor refuted: at least {outward(self.epsilon_lower, 5, up=False)} is proved."


def _masses(border: FloatArray, sigma: float, rest: int, shift: float) -> tuple[float, ...]:
    """Return the probabilities of the intervals between borders for the largest sum, differences taken of the smaller tail."""
    log_below = log_ndtr((border - shift) / sigma) + rest * log_ndtr(border / sigma)
    below = np.concatenate(([0.0], np.exp(log_below), [1.0]))
    above = np.concatenate(([1.0], -np.expm1(log_below), [0.0]))
    mass = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
    return tuple((np.maximum(mass, 0.0) / mass.sum()).tolist())


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
