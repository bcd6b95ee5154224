"""The budget: what is spent, and the largest number of further releases that fits, checked release by release."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import parse
from dpcore.core.effort import current, effort
from dpcore.core.errors import DomainError
from dpcore.ledger import Budget, Ledger, check_row, more, more_words, spending
from dpcore.ledger.budget import _CopySearch
from tests.ledger.test_records import MIXED

BUDGET = Budget(8.0, 1e-6)
SMALL = Budget(2.0, 1e-6)


@pytest.mark.parametrize("row", range(4))
def test_one_more_than_fits_breaks_the_budget(row: int) -> None:
    ledger = Ledger.of(*MIXED)
    found = more(ledger, row, BUDGET)
    assert found.kind == "exact"
    assert not found.over
    # a second route: epsilon at delta instead of delta at epsilon, for both numbers
    last, next_ = (ledger.with_count(row, MIXED[row][2] + found.count + extra).region for extra in (0, 1))
    assert last.epsilon_bounds([1e-6])[1][0] <= 8.0 < next_.epsilon_bounds([1e-6])[0][0]
    assert found.delta <= 1e-6 < found.delta_next
    assert f"more of row {row + 1}" in more_words(ledger, found, BUDGET)
    assert "(exact)" in more_words(ledger, found, BUDGET)


@pytest.mark.parametrize(("sigma", "epsilon", "delta"), [(5.0, 3.0, 1e-6), (40.0, 1.0, 1e-9), (2.0, 20.0, 1e-3)])
def test_gaussian_releases_in_closed_form(sigma: float, epsilon: float, delta: float) -> None:
    ledger = Ledger.of(("a", f"gaussian({sigma})", 2))
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if parse(f"gdp({middle!r})").delta(epsilon) <= delta else (low, middle)
    assert more(ledger, 0, Budget(epsilon, delta)).count == max(0, math.floor((low * sigma) ** 2) - 2)


def test_pure_releases_fill_the_budget() -> None:
    ledger = Ledger.of(("a", "dp(0.1)", 3), ("b", "laplace(0.25)", 1))
    assert more(ledger, 0, Budget(1.0, 0.0)).count == 4
    assert more(ledger, 1, Budget(1.0, 0.0)).count == 1
    full = more(Ledger.of(("a", "dp(0.5)", 2)), 0, Budget(1.0, 0.0))
    assert (full.count, full.kind, full.over) == (0, "exact", False)
    assert "one more would exceed it" in more_words(Ledger.of(("a", "dp(0.5)", 2)), full, Budget(1.0, 0.0))


def test_over_the_budget_and_without_end() -> None:
    ledger = Ledger.of(("a", "dp(0.5)", 4))
    over = more(ledger, 0, Budget(1.0, 1e-6))
    assert (over.count, over.kind, over.over) == (0, "exact", True)
    assert "is over the budget" in more_words(ledger, over, Budget(1.0, 1e-6))
    free = Ledger.of(("a", "tv(0)", 3), ("b", "dp(0.5)"))
    found = more(free, 0, Budget(1.0, 0.0))
    assert (found.count, found.kind) == (10**9 - 3, "lower")
    assert "larger numbers were not tried" in more_words(free, found, Budget(1.0, 0.0))
    nothing = Ledger.of(("a", "gaussian(5)", 3))
    assert more(nothing, 0, Budget(1.0, 0.0)).over


def test_more_in_a_group_fills_the_part_first() -> None:
    ledger = Ledger.of(("a", "dp(0.1)", 3, "", "", "g"), ("b", "dp(1)", 1, "", "", "g"), ("c", "dp(0.5)"))
    assert more(ledger, 0, Budget(1.5, 0.0)).count == 7
    assert more(ledger, 1, Budget(1.5, 0.0)).count == 0


def test_a_row_of_several_releases() -> None:
    ledger = Ledger.of(("a", "dp(0.1)^2 * dp(0.3)", 1), ("b", "dp(0.1)", 1))
    assert more(ledger, 0, Budget(1.7, 0.0)).count == 2


class _Wide(_CopySearch):
    """A delta that grows evenly, in brackets as wide as the tolerance, and how often it was asked for."""

    asked = 0

    def computed_bounds(self, extra: int) -> tuple[float, float]:
        self.asked += 1
        delta, slack = 2e-9 * extra, current().tolerance
        return delta * (1.0 - slack), delta * (1.0 + slack)


@pytest.mark.parametrize("delta", [0.012300001, 0.250000001, 0.999900001])
def test_what_wide_brackets_leave_open_is_searched_and_not_counted(delta: float) -> None:
    """Brackets of a thousandth leave a thousandth of all numbers open: they were once tried one by one."""
    search = _Wide(Ledger.of(("a", "dp(0.5)", 3)), 0, Budget(1.0, delta))
    with effort(tolerance=1e-3):
        fits, fails = search.enclosed(None)
        assert fails is not None
        count, kind, after = search.settled(*search.narrowed(fits, fails))
    assert search.asked < 200
    assert kind == "exact"
    assert after > delta
    assert abs(count - delta / 2e-9) <= 1 + 1e-9 * count


def test_a_budget_below_the_smallest_normal_double() -> None:
    found = more(Ledger.of(("a", "dp(0.1)", 1)), 0, Budget(1.0, 1e-310))
    assert (found.count, found.kind) == (9, "exact")


def test_spending() -> None:
    ledger = Ledger.of(*MIXED)
    found = spending(ledger, BUDGET)
    assert found.fits is True
    assert found.left == pytest.approx(8 - found.spent)
    assert "94.3 % of the budget of ε = 8" in found.words
    tight = spending(ledger, Budget(5.0, 1e-6))
    assert tight.fits is False
    assert tight.left == 0
    assert "over the budget of ε = 5 by at least 2.54" in tight.words
    low, high = ledger.region.epsilon_bounds([1e-6])
    between = spending(ledger, Budget(float(np.mean([low[0], high[0]])), 1e-6))
    assert between.fits is None
    assert "too wide to tell" in between.words
    assert "no ε holds" in spending(ledger, Budget(5.0, 0.0)).words
    assert "the whole budget of ε = 0" in spending(Ledger(), Budget(0.0, 0.0)).words
    assert "0 % of the budget" in spending(Ledger(), BUDGET).words
    for wrong in ((-1.0, 0.1), (math.inf, 0.1), (1.0, 1.1), ("1", 0)):
        with pytest.raises(DomainError):
            Budget(*wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_rows_by_number_or_label() -> None:
    ledger = Ledger.of(*MIXED, ("means", "dp(1)"))
    assert check_row(ledger, " 3 ") == 2
    assert check_row(ledger, "training") == 3
    for wrong, words in (("means", "2 rows are"), ("nothing", "No row is"), ("9", "rows 1 to 5"), ("0", "rows 1 to 5")):
        with pytest.raises(DomainError, match=words):
            check_row(ledger, wrong)


def test_of_a_long_list_an_estimate_comes_first_and_the_answer_is_certain() -> None:
    rows = [(f"r{i}", f"laplace({0.01 + 0.001 * i:.4f})", 2) for i in range(40)]
    for last in (("s", "poisson_gaussian(1, 0.02)", 5), ("t", "gaussian(40)", 3)):
        ledger = Ledger.of(*rows, last)
        assert _CopySearch(ledger, 40, SMALL).estimate() == more(ledger, 40, SMALL).count > 10
        found = more(ledger, 40, SMALL)
        assert (found.kind, found.over) == ("exact", False)
        last_one, next_ = (ledger.with_count(40, last[2] + found.count + extra).region for extra in (0, 1))
        assert last_one.epsilon_bounds([1e-6])[1][0] <= SMALL.epsilon < next_.epsilon_bounds([1e-6])[0][0]
    assert more(Ledger.of(*rows, ("u", "gaussian(0.2)", 1)), 40, SMALL).over
