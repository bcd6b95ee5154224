"""A budget (epsilon, delta): how much of it a ledger has spent, and how many more releases fit into it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import DELTA, LOSS
from dpcore.core.effort import checkpoint, current, effort
from dpcore.core.errors import DomainError
from dpcore.core.kinds import settled
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.ledger.bounds import total
from dpcore.ledger.quick import CopyEstimate, ListContours
from dpcore.ledger.records import LARGEST_COUNT
from dpcore.regions import gate
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from dpcore.ledger.bounds import Total
    from dpcore.ledger.records import Ledger
    from dpcore.regions.tradeoff import TradeOff

MOST_MORE = 10**9  # copies of one release that are composed
_FINER = (1e-9, 1e-12)  # tolerances tried if the usual bracket contains the budget
_LONG = 40  # different releases from which an estimate saves more time than it takes
_KINDS = {"exact": "exact", "upper": "upper bound", "lower": "at least"}


@dataclass(frozen=True, slots=True)
class Budget:
    """The limit for the whole ledger: (epsilon, delta)-differential privacy.

    Parameters
    ----------
    epsilon : float
        From 0 upwards, finite.
    delta : float
        By how much probabilities may exceed e^epsilon, in [0, 1].
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        """Check both numbers."""
        object.__setattr__(self, "epsilon", LOSS.check(self.epsilon))
        object.__setattr__(self, "delta", DELTA.check(self.delta))


@dataclass(frozen=True, slots=True)
class Spending:
    """A ledger beside its budget.

    Attributes
    ----------
    budget : Budget
        What may be spent.
    spent, spent_lower : float
        Epsilon of the ledger at the budget's delta; the truth lies between them.
    kind : str
        Of `spent`.
    fits : bool or None
        True if the ledger certainly stays within the budget, False if it certainly does not, None if the bracket
        contains the budget.
    """

    budget: Budget
    spent: float
    spent_lower: float
    kind: str
    fits: bool | None

    @property
    def left(self) -> float:
        """The least epsilon that is left, at least 0. Epsilons do not simply add: use `more` to see what fits."""
        return max(0.0, self.budget.epsilon - self.spent)

    @property
    def words(self) -> str:
        """The state of the budget as a sentence."""
        budget, delta = nearest(self.budget.epsilon), outward(self.budget.delta, 6)
        if math.isinf(self.spent_lower):
            return f"At δ = {delta} no ε holds for this ledger: it does not fit into any budget with this δ."
        spent = f"ε = {grouped(outward(self.spent, 4))} ({_KINDS[self.kind]}) at δ = {delta}"
        if self.fits is False:
            over = outward(self.spent_lower - self.budget.epsilon, 3, up=False)
            return f"The ledger spends {spent}: over the budget of ε = {budget} by at least {over}."
        if self.fits is None:
            return f"The ledger spends {spent}; the bracket is too wide to tell whether that is within ε = {budget}."
        if self.budget.epsilon == 0:
            return f"The ledger spends {spent}, the whole budget of ε = 0."
        share = outward(100 * self.spent / self.budget.epsilon, 3)
        return f"The ledger spends {spent}: {share} % of the budget of ε = {budget}."


def spending(ledger: Ledger, budget: Budget, whole: Total | None = None) -> Spending:
    """Return how much of a budget a ledger spends.

    Parameters
    ----------
    ledger : Ledger
        Its rows.
    budget : Budget
        The limit.
    whole : Total, optional
        The epsilon of the ledger at the budget's delta, if it is known already.

    Returns
    -------
    Spending
        The ledger beside its budget.
    """
    bracket = total(ledger, budget.delta) if whole is None else whole
    fits = True if bracket.upper <= budget.epsilon else False if bracket.lower > budget.epsilon else None
    return Spending(budget, bracket.upper, bracket.lower, bracket.kind, fits)


# ---- how many more -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class More:
    """How many more releases of a row fit.

    Attributes
    ----------
    row : int
        Counted from 1.
    count : int
        The largest number of further releases with which the ledger certainly stays within the budget.
    kind : str
        ``exact`` if one more certainly does not fit; ``lower`` if that could not be decided, or if `count` is the
        largest number tried.
    over : bool
        Whether the ledger is over the budget already.
    delta : float
        Delta of the ledger with `count` more, at the budget's epsilon; not above the budget's.
    delta_next : float
        The lower side of delta with one further release; 0 if `count` is the largest number tried.
    """

    row: int
    count: int
    kind: str
    over: bool
    delta: float
    delta_next: float


def more(ledger: Ledger, row: int, budget: Budget) -> More:
    """Return how many more releases of one row fit into a budget: the largest integer, with a certificate.

    In a parallel group the releases are about the same part of the data as the row.

    Parameters
    ----------
    ledger : Ledger
        Its rows.
    row : int
        Which one, counted from 0.
    budget : Budget
        The limit.

    Returns
    -------
    More
        The number, its kind, and the deltas that prove it.
    """
    ledger.check(row)
    search = _CopySearch(ledger, row, budget)
    guess = search.estimate()
    likely = guess is not None and 0 < guess <= search.most and search.gap(guess) <= 0
    start = (0.0, 0.0) if likely else search.bounds(0)  # if more fit, so does the ledger as it is
    if start[1] > budget.delta:
        sure = start[0] > budget.delta
        return More(row + 1, 0, "exact" if sure else "lower", over=True, delta=start[1], delta_next=start[0])
    fits, fails = search.enclosed(guess)
    if fails is None:
        return More(row + 1, fits, "lower", over=False, delta=search.bounds(fits)[1], delta_next=0.0)
    fits, kind, after = search.settled(*search.narrowed(fits, fails))
    return More(row + 1, fits, kind, over=False, delta=search.bounds(fits)[1], delta_next=after)


class _CopySearch:
    """The integers j for which the ledger with j more releases is within the budget: 0 up to a largest one."""

    def __init__(self, ledger: Ledger, row: int, budget: Budget) -> None:
        self.ledger, self.row, self.budget = ledger, row, budget
        self.tolerance = current().tolerance
        self.cache: dict[int, tuple[float, tuple[float, float]]] = {}  # the tolerance and the bracket

    @Lazy
    def most(self) -> int:
        """The largest number to try: at most 10^9 copies of one release are composed."""
        counts = {node.text: count for node, count in self.ledger.factors}
        release = self.ledger.rows[self.row]
        each = [
            (MOST_MORE - counts.get(node.text, count)) // (count // release.count)
            for node, count in self.ledger.parts(self.row)
        ]
        return max(0, min([*each, LARGEST_COUNT - release.count]))

    def region(self, extra: int) -> TradeOff:
        release = self.ledger.rows[self.row]
        return self.ledger.with_count(self.row, release.count + extra).region if extra else self.ledger.region

    def bounds(self, extra: int) -> tuple[float, float]:
        """Return (lower, upper) of delta at the budget's epsilon with `extra` more releases, as narrow as asked so far."""
        tolerance, (low, high) = self.cache.get(extra, (math.inf, (-math.inf, math.inf)))
        if tolerance > self.tolerance and low <= self.budget.delta < high:
            checkpoint(min(0.95, len(self.cache) / 40))
            with effort(tolerance=self.tolerance):
                low, high = self.computed_bounds(extra)
            self.cache[extra] = self.tolerance, (low, high)
        return low, high

    def computed_bounds(self, extra: int) -> tuple[float, float]:
        region = self.region(extra)
        sides = gate.delta_bounds(region, np.array([self.budget.epsilon]))
        low, high = (float(bound[0]) + 0.0 for bound in settled(sides, "upper", exact=region.curve.exact))
        return low, high

    def gap(self, extra: int) -> float:
        """Return log(delta / budget), at most 0 if it fits; with a budget of 0 only the sign counts."""
        upper = self.bounds(extra)[1]
        if upper <= self.budget.delta:
            return min(0.0, math.log(max(upper, 1e-300) / self.budget.delta)) if self.budget.delta > 0 else -1.0
        return math.log(upper / self.budget.delta) if self.budget.delta > 0 else 1.0

    def estimate(self) -> int | None:
        """Return about how many fit, without certificate; None for short lists, for which a search is quick enough."""
        ledger, release = self.ledger, self.ledger.rows[self.row]
        if len(ledger.factors) < _LONG or release.group or not 0 < self.budget.delta < 1 or self.budget.epsilon == 0:
            return None
        one = [(node, count // release.count) for node, count in ledger.parts(self.row)]
        if not ListContours.knows(ledger.factors):
            return None
        rough = CopyEstimate(ledger.factors, one, self.budget.delta, self.budget.epsilon)
        estimate = rough.count(self.most)
        added = {node.text: count * estimate for node, count in one}
        parts = [(node, count + added.get(node.text, 0)) for node, count in ledger.factors]
        quick = ListContours.of(parts, self.budget.delta, self.budget.epsilon, rough.grown(estimate))
        return None if quick is None else estimate + quick.most(one, -estimate, self.most - estimate)

    def enclosed(self, guess: int | None) -> tuple[int, int | None]:
        """Return a number that fits and a larger one that does not; None if the largest allowed one fits."""
        fits, step = 0, max(1, self.ledger.rows[self.row].count // 8)
        if guess is not None and 0 < guess <= self.most:
            if self.gap(guess) > 0:
                return self._below(guess)
            fits, step = guess, 1
        return self._above(fits, step)

    def _above(self, fits: int, step: int) -> tuple[int, int | None]:
        """Return a number that fits and a larger one that does not, above one that fits; None if the largest fits."""
        while fits < self.most:  # steps of four times the one before: 15 rounds to 10^9
            extra = min(self.most, fits + step)
            if self.gap(extra) > 0:
                return fits, extra
            fits, step = extra, step * 4
        return fits, None

    def _below(self, fails: int) -> tuple[int, int]:
        """Return a number that fits below one that does not; 0 is known to fit."""
        step = 1
        while fails - step > 0:  # as above, downwards
            if self.gap(fails - step) <= 0:
                return fails - step, fails
            fails, step = fails - step, step * 4
        return 0, fails

    def narrowed(self, fits: int, fails: int) -> tuple[int, int]:
        """Shrink to two neighbours: false position on log delta, and halving in every third round."""
        turn = 0
        while fails - fits > 1:  # every third round halves: at most 90 for 10^9
            a, b = self.gap(fits), self.gap(fails)
            guess = fits + (fails - fits) * (-a / (b - a))
            middle = (fits + fails) // 2 if turn % 3 == 2 else math.floor(guess + 0.5)
            extra = min(max(middle, fits + 1), fails - 1)
            fits, fails = (extra, fails) if self.gap(extra) <= 0 else (fits, extra)
            turn += 1
        return fits, fails

    def settled(self, fits: int, fails: int) -> tuple[int, str, float]:
        """Return the largest number, whether it is certain, and delta after one more, with finer brackets if needed.

        A number that does not certainly fit may fit by a finer bracket, and with it a thousandth more: these are
        searched as before, once for each tolerance.
        """
        for tolerance in _FINER:
            if self.bounds(fails)[0] > self.budget.delta:
                break
            self.tolerance = min(tolerance, self.tolerance)
            if self.gap(fails) <= 0:
                fits, above = self._above(fails, 1)
                if above is None:
                    return fits, "lower", 0.0
                fits, fails = self.narrowed(fits, above)
        low = self.bounds(fails)[0]
        return fits, "exact" if low > self.budget.delta else "lower", low


def more_words(ledger: Ledger, answer: More, budget: Budget) -> str:
    """Say how many more fit.

    Parameters
    ----------
    ledger : Ledger
        Its rows.
    answer : More
        What `more` returns.
    budget : Budget
        The limit.

    Returns
    -------
    str
        One sentence.
    """
    name = ledger.name(answer.row - 1)
    name = name[0].lower() + name[1:]
    goal = f"(ε, δ) = ({nearest(budget.epsilon)}, {outward(budget.delta, 6)})"
    if answer.over:
        sure = "is over" if answer.kind == "exact" else "cannot be shown to stay within"
        return f"None of {name}: the ledger {sure} the budget {goal} as it is."
    if answer.count == 0:
        last = "one more would exceed it" if answer.kind == "exact" else "whether one more fits could not be decided"
        return f"No more of {name} fits into {goal}: {last}."
    if answer.delta_next == 0.0 and answer.kind == "lower":
        return f"At least {grouped(answer.count)} more of {name} fit into {goal}; larger numbers were not tried."
    last = (
        "one more would exceed it (exact)"
        if answer.kind == "exact"
        else "whether one more fits could not be decided (lower bound)"
    )
    return f"{grouped(answer.count)} more of {name} {'fits' if answer.count == 1 else 'fit'} into {goal}; {last}."


def check_row(ledger: Ledger, text: str) -> int:
    """Return the row that a text names.

    Parameters
    ----------
    ledger : Ledger
        Its rows.
    text : str
        A number from 1, or a label.

    Returns
    -------
    int
        The row, from 0; raises `DomainError` if the text names none, or several.
    """
    name = text.strip()
    if name.isdigit():
        row = int(name) - 1
        ledger.check(row)
        return row
    matches = [row for row, release in enumerate(ledger.rows) if release.label.strip() == name]
    if len(matches) != 1:
        what = "no row is" if not matches else f"{len(matches)} rows are"
        msg = f"{what.capitalize()} labelled {name[:60]!r}; name a row by its number from 1 to {len(ledger)}."
        raise DomainError(msg)
    return matches[0]
