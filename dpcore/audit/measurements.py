"""The results of an attack: scores of people inside and outside the data, or the errors of tests fixed beforehand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpcore.audit.confidence import MOST_TRIALS, TRIALS, ranks, simultaneous_limits, upper_limits
from dpcore.core.domains import ALPHA, ANY_LOSS
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.parameter import value_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.curves.base import Bounds, FloatArray

    IntArray = NDArray[np.int64]
    Pairs = tuple[IntArray, IntArray]

_NUMBER = TRIALS.but(low=0)
MOST_TESTS = 10_000  # which share the risk
MOST_THRESHOLDS = 4000  # scores up to which every threshold is looked at
_ROUNDING = 1e-6  # how far a rate times its trials may be from a whole number


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of an attack: a higher score means a likelier member. Each score is one independent trial.

    Attributes
    ----------
    outsiders, members : ndarray of float
        Scores of runs without and with the person; infinite ones are allowed.
    unscored : tuple of (int, int), optional
        How many of either have no score. They count as errors of every test, a wrongly accused outsider or a missed
        member. No other choice is safe, because whether a run has a score may depend on who is in the data.
    """

    outsiders: FloatArray = field(repr=False)
    members: FloatArray = field(repr=False)
    unscored: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        """Check the scores and sort them; unscored runs go to the end where they are always errors."""
        ends = (math.inf, -math.inf)
        for name, end, missing in zip(("outsiders", "members"), ends, self.unscored, strict=True):
            scored = _scores(getattr(self, name), name)
            count = _NUMBER.but(name=f"unscored {name}").check(missing)
            every = np.sort(np.concatenate((scored, np.full(count, end))))
            if not 1 <= every.size <= MOST_TRIALS:
                msg = f"An audit needs 1 to {MOST_TRIALS} {name}, got {every.size}."
                raise DomainError(msg)
            object.__setattr__(self, name, every)

    @property
    def trials(self) -> tuple[int, int]:
        """How many outsiders and how many members were tried."""
        return self.outsiders.size, self.members.size

    @property
    def thresholds(self) -> FloatArray:
        """The thresholds, falling: everyone who scores more is accused. All that separate scores, or a few thousand."""
        out, own = self.outsiders, self.members
        if out.size + own.size > MOST_THRESHOLDS:
            out = out[out.size - ranks(out.size)]
            own = own[np.maximum(ranks(own.size) - 2, 0)]
        return np.unique(np.concatenate((out, own, [-math.inf])))[::-1]

    def errors(self) -> Pairs:
        """Return the false positives and false negatives of each threshold."""
        return self._error_counts

    @Lazy
    def _error_counts(self) -> Pairs:
        at = self.thresholds
        accused = self.outsiders.size - np.searchsorted(self.outsiders, at, side="right")
        missed = np.searchsorted(self.members, at, side="right")
        return accused.astype(np.int64), missed.astype(np.int64)

    def rates(self) -> Bounds:
        """Return the measured rates: false positives and false negatives of each threshold."""
        accused, missed = self.errors()
        return accused / self.outsiders.size, missed / self.members.size

    def upper(self, risk: float) -> Bounds:
        """Return upper limits of both rates of each threshold; all of them hold together with probability 1 - `risk`.

        The two samples are independent, so each may fail with probability 1 - sqrt(1 - risk).
        """
        accused, missed = self.errors()
        each = either(risk)
        out, own = self.trials
        return simultaneous_limits(accused, out, each), simultaneous_limits(missed, own, each)

    def lower(self, risk: float) -> Bounds:
        """Return lower limits of both rates, from upper limits of the correct decisions."""
        accused, missed = self.errors()
        each = either(risk)
        out, own = self.trials
        spared, reached = simultaneous_limits(out - accused, out, each), simultaneous_limits(own - missed, own, each)
        return 1.0 - spared, 1.0 - reached


@dataclass(frozen=True, eq=False)
class Counts:
    """Outcomes of tests that were fixed before the trials: one entry for every test that was tried.

    Attributes
    ----------
    tp, fn : ndarray of int
        Members found and members missed.
    fp, tn : ndarray of int
        Outsiders wrongly accused and outsiders spared.
    """

    tp: IntArray
    fp: IntArray
    tn: IntArray
    fn: IntArray

    def __post_init__(self) -> None:
        """Check the counts: integers, lists of one length, with trials on both sides."""
        for name in ("tp", "fp", "tn", "fn"):
            values = np.atleast_1d(np.asarray(getattr(self, name)))
            counts = [_NUMBER.but(name=name).check(value) for value in values.tolist()]
            object.__setattr__(self, name, np.array(counts, dtype=np.int64))
        sizes = {getattr(self, name).size for name in ("tp", "fp", "tn", "fn")}
        if len(sizes) != 1 or not 1 <= self.tp.size <= MOST_TESTS:
            msg = f"tp, fp, tn and fn must be lists of one length from 1 to {MOST_TESTS}, got lengths {sorted(sizes)}."
            raise DomainError(msg)
        for name, totals in (("outsiders (fp + tn)", self.fp + self.tn), ("members (tp + fn)", self.tp + self.fn)):
            wrong = totals[(totals < 1) | (totals > MOST_TRIALS)]
            if wrong.size:
                msg = f"Every test needs 1 to {MOST_TRIALS} {name}, got {wrong[0]}."
                raise DomainError(msg)

    @classmethod
    def one(cls, *, tp: float, fp: float, tn: float, fn: float) -> Counts:
        """Return the outcome of one test from the numbers of a file; a number that is not an integer is refused."""
        counts = {"tp": tp, "fp": fp, "tn": tn, "fn": fn}
        return cls(**{name: np.array([_NUMBER.but(name=name).check(value)]) for name, value in counts.items()})

    @property
    def trials(self) -> tuple[int, int]:
        """How many outsiders and how many members the largest test had."""
        return int((self.fp + self.tn).max()), int((self.tp + self.fn).max())

    def errors(self) -> Pairs:
        """Return the false positives and false negatives of each test."""
        return self.fp, self.fn

    def rates(self) -> Bounds:
        """Return the measured rates of each test."""
        return self.fp / (self.fp + self.tn), self.fn / (self.tp + self.fn)

    def upper(self, risk: float) -> Bounds:
        """Return upper limits of both rates of each test; all of them hold together with probability 1 - `risk`.

        Tests may share trials, so the risk is divided among them; within one test outsiders and members are independent.
        """
        each = either(risk / self.fp.size)
        return _limits(self.fp, self.fp + self.tn, each), _limits(self.fn, self.tp + self.fn, each)

    def lower(self, risk: float) -> Bounds:
        """Return lower limits of both rates of each test."""
        each = either(risk / self.fp.size)
        return 1.0 - _limits(self.tn, self.fp + self.tn, each), 1.0 - _limits(self.tp, self.tp + self.fn, each)


Measurement: TypeAlias = Scores | Counts


def either(risk: float) -> float:
    """Return the risk that each of two independent statements may take: 1 - sqrt(1 - risk)."""
    return -math.expm1(0.5 * math.log1p(-risk))


def errors_of(rate: float, trials: float, name: str = "rate") -> int:
    """Return the number of errors behind a measured rate, rounded up if no count gives this rate."""
    count = int(TRIALS.check(trials))
    ALPHA.but(name=name).check(rate)
    near = round(rate * count)
    return near if abs(rate * count - near) <= _ROUNDING * max(1.0, near) else math.ceil(rate * count)


def _limits(errors: IntArray, trials: IntArray, level: float) -> FloatArray:
    """Return upper limits if each test has its own number of trials."""
    limits = np.empty(errors.size)
    for count in np.unique(trials).tolist():
        own = trials == count
        limits[own] = upper_limits(errors[own], count, level)
    return limits


def _scores(values: object, name: str) -> FloatArray:
    """Return scores as an array, which may be empty; raise if one is not a number."""
    if not isinstance(values, (Sequence, np.ndarray)) or isinstance(values, str) or not np.ndim(values):
        msg = f"{name} must be a list of scores, got {value_text(values)}."
        raise DomainError(msg)
    score = ANY_LOSS.but(name=f"A score of the {name} (runs without one are given as unscored)")
    return score.array(values) if len(values) else np.zeros(0)
