"""Inverse questions: a requirement about privacy or the error, one unknown, and the answer of every noise.

The unknown is the noise, the privacy it gives, the number k of answers, or the number n of records.
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
from dpcore.core.numerals import nearest
from dpcore.core.parameter import one_of
from dpcore.language import parse
from dpcore.regions.guarantees import DP, TV
from dpcore.utility.survey import hoeffding

if TYPE_CHECKING:
    from dpcore.calibration.requirements import PrivacyRequirement
    from dpcore.regions.tradeoff import TradeOff

NOISE, PRIVACY, COUNT, RECORDS = "noise", "privacy", "k", "n"
WANTED: Final = "the requirement"
MOST_DRAWN: Final = 6
"""The most answers in one picture: with the requirement, there are then as many lines as colours."""
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
    """The requirement and the unknown.

    Attributes
    ----------
    unknown : str
        ``noise``, ``privacy``, ``k`` or ``n``.
    requirement : PrivacyRequirement, optional
        About privacy; None if only the error counts (noise and privacy).
    error, probability : float
        One answer is off by more than `error` with at most this probability. Required for k and n, and
        without a privacy requirement; otherwise `error` is None.
    k : int, default 1
        How many answers there are; ignored if it is the unknown.
    width : float, default 1
        How far one person moves the answer; for n, the width of the range of one record in a mean.
    delta, fpr : float
        Where epsilon and the true-positive rate of the answers are stated.
    q : float, default 1
        A sampling rate below 1 adds Gaussian noise on Poisson samples to the candidates.
    """

    unknown: str
    requirement: PrivacyRequirement | None = None
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
        """The noises to compare."""
        return candidates(self.width, self.q)

    def moved(self, factor: float) -> Question | None:
        """Return the question with the number of its requirement (or its error) multiplied; None if it is out of range."""
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
    """The answer of one noise; with `trouble` it has no answer, and the numbers are empty.

    `one` is the expression of one use, `total` of all; `value` the parameter, rounded to the safe side; `epsilon`,
    `advantage` and `tpr` describe all uses together at the delta and false-positive rate of the question. `kind` is
    that of the unknown, `worth_kind` that of these three.
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
    worth_kind: str = ""
    trouble: str = ""


def answers(question: Question) -> tuple[NoiseAnswer, ...]:
    """Return the answer of every noise, or why it has none.

    Parameters
    ----------
    question : Question
        The requirement and the unknown.

    Returns
    -------
    tuple of NoiseAnswer
        One for each candidate, in their order.

    Examples
    --------
    >>> from dpcore.calibration.requirements import EpsilonDelta
    >>> results = answers(Question("noise", EpsilonDelta(1.0, 1e-5)))
    >>> [(one.candidate.name, round(one.value, 4)) for one in results if one.candidate.name in ("laplace", "gaussian")]
    [('laplace', 1.0), ('gaussian', 3.7306)]
    """
    results = []
    for index, candidate in enumerate(question.candidates):
        checkpoint(index / len(question.candidates))
        try:
            results.append(_answer(question, candidate))
        except BudgetError as error:
            results.append(NoiseAnswer(candidate, trouble=_plainly(str(error))))
        except DpcoreError as error:
            results.append(NoiseAnswer(candidate, trouble=str(error)))
        except ArithmeticError:
            results.append(NoiseAnswer(candidate, trouble="Its numbers leave the range of doubles here."))
    return tuple(results)


def _plainly(message: str) -> str:
    """Shorten the usual refusals: an unbounded loss meets no requirement at delta 0, or one answer is too many."""
    if message.startswith("No ") and "delta = 0" in message:
        return "Some rare answers reveal more than that, however much noise there is."
    return (
        "Not even one answer of this error fits the requirement." if message.startswith("Not even k = 1") else message
    )


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


def _calibrated(requirement: PrivacyRequirement, candidate: Candidate, k: int) -> tuple[Candidate, float, str]:
    """Return the candidate (of a staircase, with its best shape), the parameter that meets the requirement, and its kind."""
    row = calibrate(f"{candidate.written('?')}^{k}", **requirement.keywords).iloc[0]
    shaped = candidate.shaped(float(row["value"]))
    if shaped is not candidate:
        candidate = shaped
        row = calibrate(f"{candidate.written('?')}^{k}", **requirement.keywords).iloc[0]
    return candidate, float(row["value"]), str(row["kind"])


def _count(question: Question, candidate: Candidate) -> NoiseAnswer:
    """Return how many answers of the error allowed fit the requirement."""
    if question.requirement is None or question.error is None:  # refused when the question was made
        raise DomainError(question.unknown)
    shaped, value = candidate.for_error(question.error, question.probability)
    row = calibrate(f"{shaped.written(repr(value))}^?", **question.requirement.keywords).iloc[0]
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
        msg = f"More than 10^15 records would be needed: {nearest(reach / question.error, 3)}."
        raise DomainError(msg)
    n = max(1, math.ceil(reach / question.error))
    while reach / n > question.error:  # the quotient is off by rounding only: a round or two
        n += 1
    fewer = n == 1 or reach * (1 - _ROUNDING) / (n - 1) > question.error  # one record less would certainly not do
    whole = _described(question, shaped, value, question.k, kind if fewer else "upper")
    return replace(whole, n=n, error=reach / n)


def _people(slope: float, error: float, probability: float) -> int:
    """Return how many people make Hoeffding's bound on the error of a share small enough."""
    least = math.log(2 / probability) / (2 * (slope * error) ** 2) if slope > 0 else math.inf
    if not least <= MOST_RECORDS:
        msg = f"More than 10^15 people would be needed: {nearest(least, 3)}."
        raise DomainError(msg)
    n = max(1, math.ceil(least))
    while (
        hoeffding(n, slope, error, probability)[1].value > error
    ):  # off by rounding only: some rounds up to 10^15 people
        n += 1
    return n


def _described(question: Question, candidate: Candidate, value: float, k: int, kind: str) -> NoiseAnswer:
    """Return the answer with the privacy of all uses together."""
    one = str(parse(candidate.written(repr(value))))
    total = parse(one) if k == 1 else parse(f"{one}^{k}")
    epsilon, advantage, tpr, worth_kind = _worth(total, question)
    reach = candidate.error(value, question.probability)
    return NoiseAnswer(candidate, one, str(total), value, reach, epsilon, advantage, tpr, k, 0, kind, worth_kind)


def _worth(total: TradeOff, question: Question) -> tuple[float, float, float, str]:
    """Return epsilon at delta, advantage and true-positive rate of all uses together, and their kind."""
    epsilon = float(total.epsilon_bounds(np.array([question.delta]))[1][0])
    if isinstance(question.requirement, EpsilonDelta) and question.delta >= question.requirement.delta:
        epsilon = min(epsilon, question.requirement.epsilon)  # certified by the calibration, perhaps more narrowly
    return epsilon, total.total_variation, float(total.power(question.fpr)), total.kind


# ---- tables --------------------------------------------------------------------------------------------------


def table(question: Question, results: tuple[NoiseAnswer, ...]) -> pd.DataFrame:
    """Tabulate the answers; cells that do not apply are empty.

    Parameters
    ----------
    question : Question
        The requirement and the unknown.
    results : tuple of NoiseAnswer
        What `answers` returns; those without an answer are left out.

    Returns
    -------
    DataFrame
        `mechanism, title, one, total, parameter, value, deviation, error, epsilon, delta, advantage, fpr, tpr, k, n,
        value_kind, kind, theorem, neighbours`. `value_kind` is that of the unknown, `kind` that of epsilon, advantage
        and tpr.
    """
    rows = []
    for one in results:
        if not one.trouble:
            noise = one.candidate
            spread = noise.deviation(one.value)
            numbers = (one.value, spread, one.error, one.epsilon, question.delta, one.advantage, question.fpr, one.tpr)
            counts = (one.k, one.n or None)
            facts = (one.kind, one.worth_kind, *_facts(one))
            rows.append((noise.name, noise.title, one.one, one.total, noise.parameter, *numbers, *counts, *facts))
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for name in ("deviation", "error", "n"):
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    return frame


def _facts(answer: NoiseAnswer) -> tuple[str, str]:
    """Return the theorem and the neighbours of the numbers of all uses together."""
    total = parse(answer.total)
    return total.theorem, total.neighbours


def regions(question: Question, results: tuple[NoiseAnswer, ...]) -> dict[str, TradeOff]:
    """Return the region of all uses for the answers with the smallest errors, by name; that of the requirement first.

    At most `MOST_DRAWN` answers: more lines, and their legend, leave no room for the picture. `table` has them all.
    """
    target: dict[str, TradeOff] = {}
    if isinstance(question.requirement, EpsilonDelta):
        target[WANTED] = DP(question.requirement.epsilon, question.requirement.delta)
    elif isinstance(question.requirement, Advantage):
        target[WANTED] = TV(question.requirement.advantage)
    answered = [one for one in results if not one.trouble]
    if len(answered) > MOST_DRAWN:
        nearest_first = sorted(answered, key=lambda one: math.inf if one.error is None else one.error)
        closest = {one.candidate.short for one in nearest_first[:MOST_DRAWN]}
        answered = [one for one in answered if one.candidate.short in closest]
    return {**target, **{one.candidate.short: parse(one.total) for one in answered}}


def ladder(question: Question, factors: tuple[float, ...] = FACTORS) -> pd.DataFrame:
    """Tabulate the unknown as the number of the requirement (or of the error) moves.

    Parameters
    ----------
    question : Question
        The requirement and the unknown.
    factors : tuple of float, default FACTORS
        What the number is multiplied by.

    Returns
    -------
    DataFrame
        `series, parameter, value, low, high, kind, theorem, neighbours`, what `dpcore.charts.utility_figure` draws;
        `value` is the error for the noise, epsilon for privacy, k or n.
    """
    rows = []
    for index, factor in enumerate(factors):
        moved = question.moved(factor)
        checkpoint(index / len(factors))
        if moved is None:
            continue
        for one in answers(moved):
            value = None if one.trouble else _open(moved, one)
            if value is not None and math.isfinite(value):
                rows.append((one.candidate.short, moved.place, float(value), _open_kind(moved, one), *_facts(one)))
    frame = pd.DataFrame(rows, columns=["series", "parameter", "value", *FACTS])
    return labelled(frame.assign(low=frame["value"], high=frame["value"]))


def _open(question: Question, answer: NoiseAnswer) -> float | None:
    """Return the unknown, as the ladder draws it."""
    if question.unknown == COUNT:
        return float(answer.k)
    if question.unknown == RECORDS:
        return float(answer.n)
    return answer.error if question.unknown == NOISE and question.requirement is not None else answer.epsilon


def _open_kind(question: Question, answer: NoiseAnswer) -> str:
    """Return the kind of that number: counts have their own, epsilon has that of the region, errors are rounded up."""
    if question.unknown == COUNT:
        return answer.kind
    if question.unknown == RECORDS or (question.unknown == NOISE and question.requirement is not None):
        return EXACT if answer.kind == EXACT else "upper"
    return answer.worth_kind
