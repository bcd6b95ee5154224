"""The inverse question: which parameter value, or how many records, an error target requires."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.domains import REAL
from dpcore.core.effort import checkpoint
from dpcore.core.errors import DomainError
from dpcore.core.kinds import WORDS
from dpcore.core.numerals import nearest
from dpcore.core.registry import Parameter, value_text
from dpcore.utility.simulate import moved
from dpcore.words import outward

if TYPE_CHECKING:
    from dpcore.utility.base import UtilityMeasure, UtilityPair
    from dpcore.utility.dataset import Dataset

MOST_RECORDS: Final = 10**15  # numbers of records stay exact in doubles up to 9e15
_ROUNDS = 200  # halvings: more than any domain needs to reach _WIDTH
_TRIES = 60  # halvings from an end of the domain towards a value at which the closed forms can be computed
_WIDTH = 1e-13  # relative width at which a search ends; the answer is the end that meets the target


@dataclass(frozen=True, slots=True)
class UtilityRequirement:
    """The least demanding value of a parameter that meets a target.

    Attributes
    ----------
    parameter : str
        Name of a parameter of the pair, or ``n``, the number of records.
    value : float
        Its value, rounded to the side that keeps the promise.
    measure : str
        Name of the measure.
    target : float
        What the measure is to meet.
    kind : str
        What the answer rests on: ``exact`` (the closed form itself; no smaller value would do), ``upper`` or ``lower``
        (a bound meets the target, so the value is enough; perhaps less would do) or ``approximate``.
    words : str
        The answer in one sentence.
    """

    parameter: str
    value: float
    measure: str
    target: float
    kind: str
    words: str


def requirement(
    pair: UtilityPair, measure: str, target: float, data: Dataset, of: str | None = None
) -> UtilityRequirement:
    """Return the value of `of` at which `measure` meets `target`, rounded to the side that keeps the promise.

    Parameters
    ----------
    pair : UtilityPair
        Query and mechanism; its other parameters stay.
    measure : str
        A measure of the pair: errors should be at most, success probabilities at least `target`.
    target : float
        A finite number.
    data : Dataset
        The dataset; for ``n`` it is imagined smaller or larger with the same shares.
    of : str, optional
        A parameter of the pair, its main one by default, or ``n``, the number of records.

    Returns
    -------
    UtilityRequirement
        The value, what it rests on, and a sentence.

    Raises
    ------
    DomainError
        If no value of the parameter meets the target, or the closed forms do not say.
    """
    target_measure = pair.measure_of(measure)
    goal = _finite(target)
    name = of or pair.main
    parameter = _parameter(pair, name)
    if parameter.kind not in ("number", "integer"):
        msg = f"Only a number can be solved for; {name} is {parameter.domain_words}."
        raise DomainError(msg)
    if name == "n" and not pair.depends_on_n():
        msg = f"The {target_measure.label} of {pair.title} does not depend on the number of records, only on the parameters."
        raise DomainError(msg)
    search = _Inversion(pair, target_measure, goal, data, parameter)
    value = search.run()
    return UtilityRequirement(
        name, value, measure, goal, search.kind, _words(pair, target_measure, goal, parameter, value, search)
    )


class _Inversion:
    """Bisection for the edge of the values that meet the target; the measure is monotone in the parameter."""

    def __init__(
        self, pair: UtilityPair, measure: UtilityMeasure, goal: float, data: Dataset, parameter: Parameter
    ) -> None:
        self.pair, self.measure, self.goal, self.data, self.parameter = pair, measure, goal, data, parameter
        self.whole = parameter.kind == "integer"
        self.kind = "exact"
        self.rising = True

    def at(self, x: float) -> tuple[float, str]:
        """Return the best number that is safe to promise at x, and its kind."""
        value: Any = int(x) if self.whole else x
        pair, n = moved(self.pair, self.parameter.name, value)
        steady = pair.monotone_facts(self.measure.name, self.parameter.name, self.data, n)
        candidates = [f for f in steady if f.measure == self.measure.name and f.about == "release"]
        safe, best = ("lower", max) if self.measure.larger_is_better else ("upper", min)
        for kind in ("exact", safe, "approximate"):
            values = [fact.value for fact in candidates if fact.kind == kind]
            if values:
                return best(values), kind
        msg = f"No closed form promises the {self.measure.label} of {self.pair.title}; only a simulation can tell."
        raise DomainError(msg)

    def meets(self, x: float) -> bool:
        """Return whether the target is met at x."""
        checkpoint(0.5)
        value, self.kind = self.at(x)
        return value >= self.goal if self.measure.larger_is_better else value <= self.goal

    def run(self) -> float:
        """Return the least x that meets the target where the measure gets better with x, otherwise the largest."""
        outer = self._ends()
        start = min(max(self._start(), outer[0]), outer[1])
        ends = self._workable(outer[0], start), self._workable(outer[1], start)
        (low, _), (high, _) = self.at(ends[0]), self.at(ends[1])
        self.rising = (high >= low) if self.measure.larger_is_better else (high <= low)
        good, bad = (ends[1], ends[0]) if self.rising else ends
        if not self.meets(good):
            reach = self.at(good)[0]
            says = "at least" if self.measure.larger_is_better else "at most"
            msg = (
                f"No {self.parameter.name} in [{nearest(ends[0])}, {nearest(ends[1])}] makes the {self.measure.label} {says} "
                f"{nearest(self.goal)}; the best is {nearest(reach)}."
            )
            raise DomainError(msg)
        if self.meets(bad):
            return self._with_kind(bad)
        if start not in ends:
            good, bad = (start, bad) if self.meets(start) else (good, start)
        return self._with_kind(self._bisect(good, bad))

    def _workable(self, end: float, start: float) -> float:
        """Return the end, or a value between it and the start at which the closed forms can be computed."""
        for _ in range(_TRIES):
            try:
                self.at(end)
            except (DomainError, ArithmeticError):
                end = self._between(end, start)
            else:
                return end
        return start

    def _between(self, a: float, b: float) -> float:
        if self.whole:
            return (int(a) + int(b)) // 2
        return math.sqrt(a * b) if a > 0 and b > 0 else 0.5 * (a + b)

    def _bisect(self, good: float, bad: float) -> float:
        for _ in range(_ROUNDS):
            middle = self._between(good, bad)
            if middle in (good, bad) or abs(good - bad) <= _WIDTH * abs(good):
                break
            if self.meets(middle):
                good = middle
            else:
                bad = middle
        return good

    def _with_kind(self, value: float) -> float:
        self.kind = self.at(value)[1]
        return value

    def _start(self) -> float:
        name = self.parameter.name
        return float(self.data.n) if name == "n" and not hasattr(self.pair, "n") else float(getattr(self.pair, name))

    def _ends(self) -> tuple[float, float]:
        """Return the values between which is searched: the domain, cut to numbers of everyday size."""
        low = max(self.parameter.low, -1e9)
        high = min(self.parameter.high, 1e9) if self.parameter.name != "n" else self.parameter.high
        span = high - low
        if not self.whole:
            low = low + min(1e-9, 1e-9 * span) if self.parameter.low_open else low
            high = high - min(1e-9, 1e-9 * span) if self.parameter.high_open else high
        return low, high


def _parameter(pair: UtilityPair, name: str) -> Parameter:
    parameters = {p.name: p for p in pair.parameters()}
    if name in parameters:
        return parameters[name]
    if name == "n":
        return Parameter("n", "integer", low=1, high=MOST_RECORDS, label="n", meaning="how many records")
    msg = (
        f"{pair.name} has no parameter {value_text(name)} to solve for; choose one of {', '.join((*parameters, 'n'))}."
    )
    raise DomainError(msg)


def _words(
    pair: UtilityPair, measure: UtilityMeasure, goal: float, parameter: Parameter, value: float, search: _Inversion
) -> str:
    label = parameter.label or parameter.name
    at = str(int(value)) if search.whole else outward(value, 4, search.rising)
    enough = (
        "is needed"
        if search.kind == "exact"
        else "is enough"
        if search.kind in ("upper", "lower")
        else "is about right"
    )
    edge = "from" if search.rising else "up to"
    says = "at least" if measure.larger_is_better else "at most"
    unit = f" {measure.unit}" if measure.unit else ""
    what = measure.label[:1].upper() + measure.label[1:]
    return f"{what} {says} {nearest(goal)}{unit} ({pair.title}): {label} {edge} {at} {enough} ({WORDS[search.kind]}, closed form)."


def _finite(target: Any) -> float:
    target = REAL.but(name="target").check(target)
    return float(target)
