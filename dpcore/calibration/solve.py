"""Solve for the unknown: certified evaluations of rebuilt expressions, started from a quick estimate if there is one."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from dpcore.calibration import quick
from dpcore.calibration.search import Axis, Search
from dpcore.calibration.targets import ProfileTarget
from dpcore.core.effort import checkpoint, current, effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.notices import collected
from dpcore.core.numerals import nearest
from dpcore.language.build import build
from dpcore.language.syntax import fill
from dpcore.words import outward

if TYPE_CHECKING:
    from dpcore.calibration.targets import Target
    from dpcore.calibration.unknown import Place
    from dpcore.language.syntax import Region
    from dpcore.regions.tradeoff import TradeOff

_EXACT_CLOSE = 1e-11  # relative width of an answer called exact; the contract is 1e-10
_CERTIFIED_CLOSE = 5e-7  # half the default tolerance: certified brackets do not resolve less
_QUICK_CLOSE, _QUICK_ERROR = 1e-5, 5e-9  # where the quick search stops: width of its bracket, error of its root
_STEEP = 16.0  # a common rate of log delta in the logarithm of the unknown
_LOOSER = (1e-3, 0.1)  # tolerances tried if the usual one is refused: wide brackets still decide far from the root
_MARGIN = 4e-8  # certified points lie this far from the quick root, several times its error
_KEPT = 2  # regions in memory: a region may hold a million corners
_COPIES = (64, 1024, 2**14, 2**18)  # where the quick search for k starts
_EIGHTFOLD = math.log(8.0)
_FLAT, _NOTHING = 1e-6, 1e-290  # changes below are those of brackets, and of a delta that rounding alone keeps above 0
_NUMERIC_COPIES = 10**9  # more copies have closed forms only


@dataclass(frozen=True)
class Solution:
    """The value, its region, the number it reaches, and whether the value is exact, an upper or a lower bound."""

    value: float
    region: TradeOff
    reached: float
    kind: str


@dataclass(frozen=True)
class _Answer:
    lower: float
    upper: float
    kind: str


class Problem:
    """One unknown of one expression under one target.

    The search runs along v = sign * log(value - origin), with the sign that makes larger v more private.
    """

    def __init__(self, tree: Region, text: str, place: Place, target: Target) -> None:
        self.tree, self.text, self.place, self.target = tree, text, place, target
        self.sign = 1.0 if place.falling else -1.0
        self.answers: dict[float, _Answer] = {}
        self.refusal: BudgetError | None = None
        self._turned_once = False
        self._regions: dict[float, TradeOff] = {}

    def region(self, value: float) -> TradeOff:
        """Return the region of the expression with this value."""
        if value not in self._regions:
            region = build(fill(self.tree, value), self.text)
            _ = region.neighbours  # raises if the parts have different relations
            for old in list(self._regions)[:-_KEPT]:
                del self._regions[old]
            self._regions[value] = region
        return self._regions[value]

    def value(self, v: float) -> float:
        """Return the parameter at a point of the axis."""
        return self.place.value(self.sign * v)

    def ask(self, value: float) -> _Answer | None:
        """Return the certified bracket at one value, or None if it was refused at every tolerance."""
        if value in self.answers:
            return self.answers[value]
        checkpoint(min(0.95, len(self.answers) / 30))
        region = self.region(value)
        for tolerance in (None, *_LOOSER):
            try:
                with effort(tolerance=None if tolerance is None else max(tolerance, current().tolerance)):
                    lower, upper = self.target.reached(region)
            except BudgetError as error:
                if time.monotonic() > current().ends_at:
                    raise
                self.refusal = error
                if value > _NUMERIC_COPIES and self.place.exponent:
                    break
            else:
                kind = region.kind if upper - lower <= _EXACT_CLOSE * upper else "upper"
                self.answers[value] = _Answer(lower, upper, kind)
                return self.answers[value]
        return None

    def gap(self, v: float) -> float:
        """Return the certified gap at a point of the axis; nan if it was refused."""
        answer = self.ask(self.value(v))
        return math.nan if answer is None else self.target.gap(answer.upper)

    # ---- the axis ------------------------------------------------------------------------------------------

    def axis(self, close: float) -> Axis:
        """Return the axis with the private end at the right."""
        low, high = sorted(self.sign * end for end in self.place.range)
        if not self.place.integer:
            return Axis(low, high, close)
        return Axis(low, high, close, self._between)

    def _between(self, v: float, missed: float, met: float) -> float | None:
        """Return the integer point nearest to v strictly between two others."""
        first, last = sorted((int(self.value(missed)), int(self.value(met))))
        if last - first <= 1:
            return None
        nearest = min(max(int(self.value(v)), first + 1), last - 1)
        return self.sign * self.place.log(nearest)

    # ---- solving -------------------------------------------------------------------------------------------

    def solve(self) -> Solution:
        """Return the least private value that certainly meets the target."""
        if self.target.trivial:
            raise self._trivial()
        with collected():
            self._orient()
            start = self.place.start if not self.place.exponent else 0.0
            first = self.region(self.place.value(start))
            search = self._begun(first) or self._cold(start)
            search.narrow()
            return self._solution(search)

    def _orient(self) -> None:
        """Find the private direction of a parameter about which nothing is known, or refuse it."""
        if self.place.falling is not None:
            return
        low, high = self.place.range
        low, high = max(low, self.place.start - 3.0), min(high, self.place.start + 3.0)
        places = [self.place.value(low + i * (high - low) / 6) for i in range(7)]
        values = [answer.upper for value in places if (answer := self.ask(value)) is not None]
        changes = {b > a for a, b in pairwise(values) if not math.isclose(a, b, rel_tol=_FLAT, abs_tol=_NOTHING)}
        if len(changes) == 2:
            msg = (
                f"{self.place.parameter.name} of {self.place.owner} cannot be calibrated: "
                "the region neither only grows nor only shrinks with it."
            )
            raise DomainError(msg)
        self.sign = -1.0 if True in changes else 1.0

    def _close(self, region: TradeOff) -> float:
        return _EXACT_CLOSE if region.kind == "exact" else max(_CERTIFIED_CLOSE, 0.2 * current().tolerance)

    def _cold(self, start: float) -> Search:
        """Find a bracket from the example value; if the private direction proves wrong, turn it round."""
        close = self._close(self.region(self.place.value(start)))
        search = Search(self.gap, self.axis(close))
        if self.place.exponent:
            self._first_copy()
            enclosed = self._more_copies(search)
        else:
            enclosed = search.enclose(self.sign * start)
        if enclosed or self._dipped(search):
            return search
        if self._turned():
            return self._cold(start)
        raise self._ended(search)

    def _dipped(self, search: Search) -> bool:
        """Whether the target is met between two values that miss it: cut noise has a best width, neither end is private."""
        if self.place.exponent or self.place.integer or math.isfinite(search.met) or len(search.points) < 3:
            return False
        points = sorted(search.points)
        lowest = min(range(len(points)), key=lambda i: points[i][1])
        if lowest in {0, len(points) - 1} or points[lowest][1] >= points[-1][1] - _FLAT:
            return False
        dip = search.deepest(points[lowest - 1][0], points[lowest + 1][0])
        if not math.isfinite(search.met):
            return False
        search.missed = max(v for v, gap in search.points if v < dip and gap > 0)
        return True

    def _turned(self) -> bool:
        """Turn the private direction round if the values computed so far contradict it."""
        values = [answer.upper for _, answer in sorted(self.answers.items(), key=lambda item: self.sign * item[0])]
        if self.place.exponent or self._turned_once or len(values) < 2 or values[-1] <= values[0]:
            return False
        self.sign, self._turned_once = -self.sign, True
        return True

    def _more_copies(self, search: Search) -> bool:
        """Multiply k by 8 until the target is missed; beyond 10^9 only closed forms answer."""
        most = search.axis.low
        search.axis.low = -math.log(_NUMERIC_COPIES)
        if search.enclose(0.0, _EIGHTFOLD, growth=1.0):
            return True
        search.axis.low = most
        return math.isfinite(search.met) and search.enclose(search.met, _EIGHTFOLD, growth=1.0)

    def _begun(self, region: TradeOff) -> Search | None:
        """Return a search started at the root of the quick delta; None if there is none."""
        target = self.target
        if not isinstance(target, ProfileTarget):
            return None
        estimate = quick.DeltaEstimate(target.epsilon)
        gaps: dict[float, float] = {}

        def gap(v: float) -> float:
            if v not in gaps:
                at = self.region(self.value(v))
                delta = estimate.delta(at, v) if quick.applies(at) else math.nan
                gaps[v] = delta if math.isnan(delta) else target.gap(delta)
            return gaps[v]

        if not self.place.exponent:
            starts = [self.sign * self.place.start + i * _EIGHTFOLD for i in range(4)] if quick.applies(region) else []
        else:
            starts = [self.sign * math.log(k) for k in _COPIES] if quick.applies(self.region(_COPIES[0])) else []
        start = next((v for v in starts if not math.isnan(gap(v))), None)
        guess = Search(gap, self.axis(_QUICK_CLOSE), unknown=math.nan, trusted=_QUICK_ERROR)
        if start is None:
            return None
        # delta falls fast with the noise: from a small gap a small step is enough to pass the root
        step = math.log(1.3) if self.place.integer else min(math.log(1.3), max(0.01, abs(gap(start)) / _STEEP))
        if not guess.enclose(start, step) or not guess.narrow():
            return None
        target.lead = estimate.lead
        return self._closed_in(guess)

    def _closed_in(self, guess: Search) -> Search | None:
        """Return a certified search around a root that was found without certificate."""
        search = Search(self.gap, self.axis(self._close(self.region(self.value(guess.met)))))
        if self.place.exponent:
            self._first_copy()
            search.probe(0.0)
        if self.place.integer:
            search.probe(guess.met)
            search.probe(guess.missed)
        else:
            slope = abs(guess.slope)
            margin = _MARGIN if not slope > 0 else min(2e-7, max(_MARGIN, current().tolerance / slope))
            search.probe(guess.root + margin)
            if math.isfinite(search.met) and not self._at_edge(search.met, slope):
                search.probe(guess.root - margin)
            elif math.isfinite(search.met):
                search.missed = search.met - 0.5 * search.axis.close
        if math.isfinite(search.met) and math.isfinite(search.missed):
            return search
        return search if search.enclose(guess.met, _EIGHTFOLD if self.place.integer else 1e-5) else None

    def _at_edge(self, v: float, slope: float) -> bool:
        """Whether even the lower bound at v is so near the target that a step of 1e-6 would miss it."""
        answer = self.answers[self.value(v)]
        return self.target.gap(answer.lower) > -0.5e-6 * slope

    def _first_copy(self) -> None:
        answer = self.ask(1)
        if answer is not None and self.target.gap(answer.upper) > 0:
            msg = f"Not even k = 1 meets {self.target.words}: one copy reaches {outward(answer.upper, 6)}."
            raise BudgetError(msg)
        if answer is not None and self.region(1).total_variation == 0:
            raise self._trivial()

    def _solution(self, search: Search) -> Solution:
        value = self._rounded(search)
        answer = self.answers[value]
        past = self.answers.get(self.value(search.missed))
        side = "upper" if self.sign > 0 else "lower"
        if self.place.integer:
            proved = past is not None and self.target.gap(past.lower) > 0
            return Solution(value, self.region(value), answer.upper, "exact" if proved else side)
        exact = answer.kind == "exact" and search.met - search.missed <= 1e-10
        return Solution(value, self.region(value), answer.upper, "exact" if exact else side)

    def _rounded(self, search: Search) -> float:
        """Return the value, or a round number next to it that meets the target as well."""
        value = self.value(search.met)
        if self.place.integer:
            return value
        round_one = float(f"{value:.9g}")
        if round_one == value or abs(round_one - value) > 4 * _EXACT_CLOSE * abs(value):
            return value
        answer = self.ask(round_one)
        return round_one if answer is not None and self.target.gap(answer.upper) <= 0 else value

    # ---- when there is no answer ---------------------------------------------------------------------------

    def _trivial(self) -> DomainError:
        name = self.place.parameter.name
        return DomainError(f"Every {name} meets {self.target.words}: there is nothing to calibrate.")

    def _ended(self, search: Search) -> DomainError | BudgetError:
        """Return why an end of the axis was reached."""
        name, domain = self.place.parameter.name, self.place.domain
        if math.isinf(search.met) and math.isinf(search.missed):
            return self.refusal or BudgetError(f"No {name} could be evaluated.")
        if math.isinf(search.met):
            last = self.answers.get(self.value(search.missed))
            reached = "" if last is None else f"; the private end of the range reaches {outward(last.upper, 6)}"
            best = min(search.points, key=lambda point: point[1], default=(search.missed, math.inf))[0]
            if last is not None and (least := self.answers[self.value(best)]).upper < (1.0 - _FLAT) * last.upper:
                reached = f"; the best one, near {nearest(self.value(best), 4)}, reaches {outward(least.upper, 6)}"
            return BudgetError(f"No {name} ({domain}) meets {self.target.words}{reached}.")
        if self.place.exponent and self.refusal is not None:
            met = int(self.value(search.met))
            return BudgetError(f"At least k = {met} copies meet {self.target.words}; {_lowered(str(self.refusal))}")
        return self._trivial()


def _lowered(sentence: str) -> str:
    """Return a sentence to be continued after a semicolon."""
    return sentence[:1].lower() + sentence[1:]
