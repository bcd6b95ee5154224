"""Inverse questions: a requirement about privacy or about the error, one thing left open, and what every noise answers.

Left open is one of: the noise, the privacy it gives, how many answers k there may be, how many records n are needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from dpcore.calibration import calibrate
from dpcore.calibration.candidates import Candidate, candidates
from dpcore.calibration.requirements import Advantage, EpsilonDelta
from dpcore.core.domains import COUNT as COUNTED
from dpcore.core.domains import DELTA, FPR, POSITIVE, PRIOR, SHARE
from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError, DomainError, DpcoreError
from dpcore.core.kinds import EXACT, FACTS, labelled
from dpcore.core.parameter import one_of
from dpcore.language import parse
from dpcore.regions.guarantees import DP, TV
from dpcore.utility.survey import hoeffding

if TYPE_CHECKING:
    from dpcore.calibration.requirements import Requirement
    from dpcore.regions.tradeoff import TradeOff

NOISE, PRIVACY, COUNT, RECORDS = "noise", "privacy", "k", "n"
WANTED: Final = "wanted"
UNKNOWNS: Final = (NOISE, PRIVACY, COUNT, RECORDS)
LARGEST_K: Final = 10**6
MOST_RECORDS: Final = 10**15
FACTORS: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
_ROUNDING = 1e-12
COLUMNS: Final = (
    "mechanism", "title", "one", "total", "parameter", "value", "deviation", "error", "epsilon", "delta", "advantage",
    "fpr", "tpr", "k", "n", "value_kind", *FACTS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """What is wanted and what is left open.

    Attributes
    ----------
    unknown : str
        ``noise``, ``privacy``, ``k`` or ``n``.
    requirement : Requirement, optional
        About privacy; None where only the error counts (noise and privacy).
    error, probability : float
        One answer is off by more than `error` with at most this probability. Needed for k and n, and
        where there is no requirement; otherwise `error` is None.
    k : int, default 1
        How many answers there are; ignored where it is left open.
    width : float, default 1
        How far one person moves the answer; for n, the width of the range of one record, whose mean is asked.
    delta, fpr : float
        At which epsilon and the true-positive rate of the answers are stated.
    q : float, default 1
        A sampling rate below 1 adds Gaussian noise on Poisson samples to the candidates.
    """

    unknown: str
    requirement: Requirement | None = None
    error: float | None = None
    probability: float = 0.05
    k: int = 1
    width: float = 1.0
    delta: float = 1e-5
    fpr: float = 0.01
    q: float = 1.0

    def __post_init__(self) -> None:
        """Check the numbers, and that the question can be answered."""
        one_of("unknown", UNKNOWNS).check(self.unknown)
        COUNTED.but(high=LARGEST_K).check(self.k)
        POSITIVE.but(name="width").check(self.width)
        PRIOR.but(name="probability").check(self.probability)
        DELTA.check(self.delta)
        FPR.check(self.fpr)
        SHARE.but(name="q").check(self.q)
        if self.error is not None:
            POSITIVE.but(name="error").check(self.error)
        both = self.unknown in (COUNT, RECORDS)
        if both and (self.requirement is None or self.error is None):
            msg = f"To find {self.unknown}, both a requirement about privacy and an error are needed."
            raise DomainError(msg)
        if not both and (self.requirement is None) == (self.error is None):
            msg = f"To find the {self.unknown}, give a requirement about privacy or an error, one of them."
            raise DomainError(msg)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The noises that are asked."""
        return candidates(self.width, self.q)

    def moved(self, factor: float) -> Question | None:
        """Return the question with the number of its requirement (or its error) multiplied; None where there is none."""
        if self.requirement is not None:
            requirement = self.requirement.moved(factor)
            return None if requirement is None else replace(self, requirement=requirement)
        return replace(self, error=(self.error or 0.0) * factor)

    @property
    def place(self) -> float:
        """The number that `moved` multiplies."""
        return self.requirement.value if self.requirement is not None else (self.error or 0.0)


@dataclass(frozen=True, slots=True)
class NoiseAnswer:
    """What one noise answers; with `trouble` it has no answer, and the numbers are empty.

    `one` is the expression of one use, `total` of all; `value` the parameter, rounded to the safe side; `epsilon`,
    `advantage` and `tpr` say what all uses together are worth at the delta and false-positive rate of the question.
    `kind` is that of what was left open, `known` that of these three.
    """

    candidate: Candidate
    one: str = ""
    total: str = ""
    value: float = math.nan
    error: float | None = None
    epsilon: float = math.nan
    advantage: float = math.nan
    tpr: float = math.nan
    k: int = 0
    n: int = 0
    kind: str = ""
    known: str = ""
    trouble: str = ""


def answers(question: Question) -> tuple[NoiseAnswer, ...]:
    """Return what every noise answers, or why it has none.

    Examples
    --------
    >>> from dpcore.calibration.requirements import EpsilonDelta
    >>> results = answers(Question("noise", EpsilonDelta(1.0, 1e-5)))
    >>> [(one.candidate.name, round(one.value, 4)) for one in results if one.candidate.name in ("laplace", "gaussian")]
    [('laplace', 1.0), ('gaussian', 3.7306)]
    """
    found = []
    for index, candidate in enumerate(question.candidates):
        checkpoint(index / len(question.candidates))
        try:
            found.append(_answer(question, candidate))
        except BudgetError as error:
            found.append(NoiseAnswer(candidate, trouble=_plainly(str(error))))
        except DpcoreError as error:
            found.append(NoiseAnswer(candidate, trouble=str(error)))
        except ArithmeticError:
            found.append(NoiseAnswer(candidate, trouble="Its numbers leave the range of doubles here."))
    return tuple(found)


def _plainly(told: str) -> str:
    """Say the usual refusals shortly: loss without bound meets no requirement at delta 0, and one answer is too many."""
    if told.startswith("No ") and "delta = 0" in told:
        return "Some answers, however rare, give more away than that, however much noise there is."
    return "Not even one answer of this error fits the requirement." if told.startswith("Not even k = 1") else told


def _answer(question: Question, candidate: Candidate) -> NoiseAnswer:
    if question.unknown == RECORDS:
        return _records(question, candidate)
    if candidate.why_not:
        raise DomainError(candidate.why_not)
    if question.unknown == COUNT:
        return _count(question, candidate)
    if question.requirement is not None:
        shaped, value, kind = _calibrated(question.requirement, candidate, question.k)
    else:
        shaped, value = candidate.for_error(question.error or 0.0, question.probability)
        kind = "exact"
    return _described(question, shaped, value, question.k, kind)


def _calibrated(requirement: Requirement, candidate: Candidate, k: int) -> tuple[Candidate, float, str]:
    """Return the candidate (a staircase with its shape chosen), the parameter that meets the requirement, and its kind."""
    row = calibrate(f"{candidate.written('?')}^{k}", **requirement.given).iloc[0]
    shaped = candidate.shaped(float(row["value"]))
    if shaped is not candidate:
        candidate = shaped
        row = calibrate(f"{candidate.written('?')}^{k}", **requirement.given).iloc[0]
    return candidate, float(row["value"]), str(row["kind"])


def _count(question: Question, candidate: Candidate) -> NoiseAnswer:
    """Return how many answers of the error allowed fit the requirement."""
    if question.requirement is None or question.error is None:  # refused when the question was made
        raise DomainError(question.unknown)
    shaped, value = candidate.for_error(question.error, question.probability)
    row = calibrate(f"{shaped.written(repr(value))}^?", **question.requirement.given).iloc[0]
    return _described(question, shaped, value, int(row["value"]), str(row["kind"]))


def _records(question: Question, candidate: Candidate) -> NoiseAnswer:
    """Return how many records make the error of their mean small enough."""
    if question.requirement is None or question.error is None:  # refused when the question was made
        raise DomainError(question.unknown)
    if candidate.sampled:
        candidate.for_error(question.error, question.probability)  # says why not
    if candidate.why_not:
        raise DomainError(candidate.why_not)
    shaped, value, kind = _calibrated(question.requirement, candidate, question.k)
    slope = candidate.mechanism(value).survey_slope
    if slope is not None:
        n = _people(slope, question.error, question.probability)
        return replace(_described(question, shaped, value, question.k, "upper"), n=n, error=question.error)
    reach = shaped.error(value, question.probability) or 0.0  # of the sum, which moves by the width
    if not reach / question.error <= MOST_RECORDS:
        msg = f"More than 10^15 records would be needed: {reach / question.error:.3g}."
        raise DomainError(msg)
    n = max(1, math.ceil(reach / question.error))
    while reach / n > question.error:
        n += 1
    fewer = n == 1 or reach * (1 - _ROUNDING) / (n - 1) > question.error  # one record less would certainly not do
    whole = _described(question, shaped, value, question.k, kind if fewer else "upper")
    return replace(whole, n=n, error=reach / n)


def _people(kept: float, error: float, probability: float) -> int:
    """Return how many people make Hoeffding's bound on the error of a share small enough."""
    needed = math.log(2 / probability) / (2 * (kept * error) ** 2) if kept > 0 else math.inf
    if not needed <= MOST_RECORDS:
        msg = f"More than 10^15 people would be needed: {needed:.3g}."
        raise DomainError(msg)
    n = max(1, math.ceil(needed))
    while hoeffding(n, kept, error, probability)[1].value > error:
        n += 1
    return n


def _described(question: Question, candidate: Candidate, value: float, k: int, kind: str) -> NoiseAnswer:
    """Return the answer with what all uses together are worth."""
    one = str(parse(candidate.written(repr(value))))
    total = parse(one) if k == 1 else parse(f"{one}^{k}")
    epsilon, advantage, tpr, known = _worth(total, question)
    reach = candidate.error(value, question.probability)
    return NoiseAnswer(candidate, one, str(total), value, reach, epsilon, advantage, tpr, k, 0, kind, known)


def _worth(total: TradeOff, question: Question) -> tuple[float, float, float, str]:
    """Return epsilon at delta, advantage and true-positive rate of all uses together, and what these numbers are."""
    epsilon = float(total.epsilon_bounds(np.array([question.delta]))[1][0])
    if isinstance(question.requirement, EpsilonDelta) and question.delta >= question.requirement.delta:
        epsilon = min(epsilon, question.requirement.epsilon)  # certified by the calibration, perhaps more narrowly
    return epsilon, total.total_variation, float(total.power(question.fpr)), total.kind


# ---- tables --------------------------------------------------------------------------------------------------


def table(question: Question, found: tuple[NoiseAnswer, ...]) -> pd.DataFrame:
    """Tabulate the answers that there are; what does not apply to one is empty.

    Returns
    -------
    DataFrame
        `mechanism, title, one, total, parameter, value, deviation, error, epsilon, delta, advantage, fpr, tpr, k, n,
        value_kind, kind, theorem, neighbours`. `value_kind` is that of what was left open, `kind` that of epsilon,
        advantage and tpr.
    """
    rows = []
    for one in found:
        if not one.trouble:
            noise = one.candidate
            spread = noise.deviation(one.value)
            numbers = (one.value, spread, one.error, one.epsilon, question.delta, one.advantage, question.fpr, one.tpr)
            counts = (one.k, one.n or None)
            facts = (one.kind, one.known, *_facts(one))
            rows.append((noise.name, noise.title, one.one, one.total, noise.parameter, *numbers, *counts, *facts))
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for name in ("deviation", "error", "n"):
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    return frame


def _facts(answer: NoiseAnswer) -> tuple[str, str]:
    """Return by which argument, and for which neighbours, the numbers of all uses together hold."""
    total = parse(answer.total)
    return total.theorem, total.neighbours


def regions(question: Question, found: tuple[NoiseAnswer, ...]) -> dict[str, TradeOff]:
    """Return the region of all uses together for every answer, with that of the requirement first where it is a region."""
    wished: dict[str, TradeOff] = {}
    if isinstance(question.requirement, EpsilonDelta):
        wished[WANTED] = DP(question.requirement.epsilon, question.requirement.delta)
    elif isinstance(question.requirement, Advantage):
        wished[WANTED] = TV(question.requirement.advantage)
    return {**wished, **{one.candidate.short: parse(one.total) for one in found if not one.trouble}}


def ladder(question: Question, factors: tuple[float, ...] = FACTORS) -> pd.DataFrame:
    """Tabulate what was left open as the number of the requirement (or of the error) moves.

    Returns
    -------
    DataFrame
        `series, parameter, value, low, high, kind, theorem, neighbours`, what `dpcore.charts.utility_figure` draws;
        `value` is the error for the noise, epsilon for privacy, k or n.
    """
    rows = []
    for index, factor in enumerate(factors):
        asked = question.moved(factor)
        checkpoint(index / len(factors))
        if asked is None:
            continue
        for one in answers(asked):
            value = None if one.trouble else _open(asked, one)
            if value is not None and math.isfinite(value):
                rows.append((one.candidate.short, asked.place, float(value), _open_kind(asked, one), *_facts(one)))
    frame = pd.DataFrame(rows, columns=["series", "parameter", "value", *FACTS])
    return labelled(frame.assign(low=frame["value"], high=frame["value"]))


def _open(question: Question, answer: NoiseAnswer) -> float | None:
    """Return the number that was left open, as the ladder draws it."""
    if question.unknown == COUNT:
        return float(answer.k)
    if question.unknown == RECORDS:
        return float(answer.n)
    return answer.error if question.unknown == NOISE and question.requirement is not None else answer.epsilon


def _open_kind(question: Question, answer: NoiseAnswer) -> str:
    """Return what that number is: counts have a kind of their own, epsilon that of the region, errors are rounded up."""
    if question.unknown == COUNT:
        return answer.kind
    if question.unknown == RECORDS or (question.unknown == NOISE and question.requirement is not None):
        return EXACT if answer.kind == EXACT else "upper"
    return answer.known
