"""An accountant that follows a training run step by step: what was spent so far, and whether the next step still fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.core.domains import COUNT, POSITIVE, SHARE
from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.curves.gaussian_range import ALPHA
from dpcore.ledger import Budget, Ledger, Release
from dpcore.mechanisms.poisson_gaussian import PoissonGaussian
from dpcore.regions import gate
from dpcore.regions.algebra import Power, Product
from dpcore.regions.guarantees import DP
from dpcore.theorems.conversion import gaussian_fit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpcore.curves.gaussian_range import BestGaussian
    from dpcore.regions.tradeoff import TradeOff

MECHANISM = "dpcore"
NOISE = POSITIVE.but(
    name="noise_multiplier", low_open=False, high=1e50, meaning="deviation of the noise over the clipping norm"
)
SAMPLE_RATE = SHARE.but(name="sample_rate", meaning="probability that a step uses a record")
STEPS = COUNT.but(name="steps", high=10**9)

Entry = tuple[float, float, int]
"""Noise multiplier, sample rate and number of steps."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """Steps of equal noise on Poisson samples of equal rate.

    Attributes
    ----------
    noise_multiplier : float
        Standard deviation of the noise over the clipping norm, from 0 (no noise, no privacy) upwards.
    sample_rate : float
        Probability that a step uses a record, in (0, 1].
    steps : int, default 1
        How many.
    """

    noise_multiplier: float
    sample_rate: float
    steps: int = 1

    def __post_init__(self) -> None:
        """Check the numbers."""
        object.__setattr__(self, "noise_multiplier", NOISE.check(self.noise_multiplier))
        object.__setattr__(self, "sample_rate", SAMPLE_RATE.check(self.sample_rate))
        object.__setattr__(self, "steps", STEPS.check(self.steps))

    @classmethod
    def of(cls, entry: StepRecord | Sequence[Any]) -> StepRecord:
        """Return a record from (noise multiplier, sample rate) or (noise multiplier, sample rate, steps)."""
        if isinstance(entry, StepRecord):
            return entry
        if not isinstance(entry, (tuple, list)) or len(entry) not in {2, 3}:
            msg = f"Steps are (noise multiplier, sample rate, number of steps), got {value_text(entry)}."
            raise DomainError(msg)
        return cls(*entry)

    @property
    def region(self) -> TradeOff:
        """The region of one step."""
        return (
            PoissonGaussian(self.noise_multiplier, self.sample_rate) if self.noise_multiplier > 0 else DP(float("inf"))
        )


class Accountant:
    """The accountant of a training run on Poisson samples, certified; neighbours differ in one record added or removed.

    All numbers hold for strengths and a number of steps that were fixed beforehand; stopping earlier is allowed. If noise or rate
    depend on what earlier steps showed, keep the budget with a privacy filter (`dpcore.ledger.filters`).

    Parameters
    ----------
    history : sequence, default ()
        (noise multiplier, sample rate, number of steps) so far.

    Examples
    --------
    >>> accountant = Accountant()
    >>> for _ in range(3):
    ...     accountant.step(noise_multiplier=1.0, sample_rate=0.01)
    >>> accountant.history
    [(1.0, 0.01, 3)]
    >>> round(Accountant([(1.0, 0.01, 1000)]).epsilon(1e-5), 4)
    1.8282
    """

    def __init__(self, history: Sequence[StepRecord | Sequence[Any]] = ()) -> None:
        self._records: list[StepRecord] = []
        for entry in history:
            self._add(StepRecord.of(entry))

    def _add(self, record: StepRecord) -> None:
        last = self._records[-1] if self._records else None
        if last is not None and (last.noise_multiplier, last.sample_rate) == (
            record.noise_multiplier,
            record.sample_rate,
        ):
            record = StepRecord(last.noise_multiplier, last.sample_rate, last.steps + record.steps)
            self._records.pop()
        self._records.append(record)

    @property
    def history(self) -> list[Entry]:
        """(noise multiplier, sample rate, number of steps), equal neighbours joined."""
        return [(record.noise_multiplier, record.sample_rate, record.steps) for record in self._records]

    def __len__(self) -> int:
        """Return the number of steps so far."""
        return sum(record.steps for record in self._records)

    def step(self, *, noise_multiplier: float, sample_rate: float, steps: int = 1) -> None:
        """Count one step, or several.

        Parameters
        ----------
        noise_multiplier : float
            Standard deviation of the noise over the clipping norm.
        sample_rate : float
            Probability that a step uses a record, in (0, 1].
        steps : int, default 1
            How many.
        """
        self._add(StepRecord(noise_multiplier, sample_rate, steps))

    @property
    def region(self) -> TradeOff:
        """The region of all steps so far."""
        return _together(self._records)

    def epsilon_bounds(self, delta: float) -> tuple[float, float]:
        """Return the certified bracket of epsilon at delta.

        Parameters
        ----------
        delta : float
            In (0, 1].

        Returns
        -------
        tuple of (float, float)
            Lower and upper side; both 0 before the first step.
        """
        at = np.array([SHARE.but(name="delta").check(delta)])
        low, high = gate.epsilon_bounds(self.region, at)
        return float(low[0]), float(high[0])

    def epsilon(self, delta: float) -> float:
        """Return epsilon at delta, never below the truth.

        Parameters
        ----------
        delta : float
            In (0, 1].

        Returns
        -------
        float
            0 before the first step, inf without noise.
        """
        return self.epsilon_bounds(delta)[1]

    def fit(self, alpha: float = ALPHA) -> BestGaussian | None:
        """Return mu and its regret, each in a bracket; None if no finite mu holds for rates from `alpha` to 1/2."""
        return gaussian_fit(self.region, alpha)

    def mu(self, alpha: float = ALPHA) -> float:
        """Return the smallest certified mu for false-positive rates from `alpha` to 1/2.

        Parameters
        ----------
        alpha : float, default 1e-12
            The smallest false-positive rate considered, in (0, 1/2].

        Returns
        -------
        float
            inf if no finite mu holds.
        """
        best = self.fit(alpha)
        return float("inf") if best is None else best.mu[1]

    def would_exceed(
        self, budget: Budget | tuple[float, float], following: StepRecord | Sequence[Any] | None = None
    ) -> bool:
        """Whether further steps may exceed the budget.

        Parameters
        ----------
        budget : Budget or tuple of (float, float)
            Epsilon and delta.
        following : StepRecord or sequence, optional
            (noise multiplier, sample rate) or (noise multiplier, sample rate, steps); by default one more step like the last.

        Returns
        -------
        bool
            False if everything together certainly keeps the budget.
        """
        limit = budget if isinstance(budget, Budget) else Budget(*budget)
        if following is None and not self._records:
            msg = "There is no earlier step to repeat; say which step follows."
            raise DomainError(msg)
        record = StepRecord(*self.history[-1][:2]) if following is None else StepRecord.of(following)
        after = Accountant([*self._records, record])
        return bool(gate.delta_bounds(after.region, np.array([limit.epsilon]))[1][0] > limit.delta)

    def ledger(self) -> Ledger:
        """Return the history as a ledger, one row for each run of equal steps."""
        rows, first = [], 1
        for record in self._records:
            last = first + record.steps - 1
            label = f"step {first}" if first == last else f"steps {first} to {last}"
            rows.append(Release(label, str(record.region), record.steps))
            first = last + 1
        return Ledger(tuple(rows), "add/remove")

    def state_dict(self) -> dict[str, Any]:
        """Return the state, ready for a checkpoint or JSON: the history and the name of this accountant."""
        return {"history": self.history, "mechanism": MECHANISM}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load a state, including one from another accountant of Poisson samples: the history is the same.

        Parameters
        ----------
        state : mapping
            With a key ``history``, as `state_dict` and Opacus write it.
        """
        if not isinstance(state, dict) and not hasattr(state, "get"):
            msg = f"A state is a mapping with a history, got {value_text(state)}."
            raise DomainError(msg)
        history = state.get("history")
        if not isinstance(history, (list, tuple)):
            msg = "The state has no list named history."
            raise DomainError(msg)
        self._records = Accountant(history)._records


def _together(records: Sequence[StepRecord]) -> TradeOff:
    parts = [record.region if record.steps == 1 else Power(record.region, record.steps) for record in records]
    if not parts:
        return DP(0.0)
    return parts[0] if len(parts) == 1 else Product.of(*parts)
