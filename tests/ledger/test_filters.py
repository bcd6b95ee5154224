"""Privacy filters against the strongest adaptive adversary: every strategy is tried by backward induction."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from dpcore import parse
from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.ledger import (
    Budget,
    Filter,
    Ledger,
    Price,
    filter_table,
    filter_words,
    filters,
    may_release,
    may_words,
    read_ledger,
)
from dpcore.ledger.filters import best_order, largest_divergence, largest_mu, largest_rho

if TYPE_CHECKING:
    from collections.abc import Callable

Counts = tuple[int, ...]
STEP = 0.1  # losses of the mechanisms below are whole multiples of it
MENU = ("dp(0.3)", "dp(0.5)", "dp(0.9)", "tv(0.01)")
LOSSES = (3, 5, 9, None)


def adversary(epsilon: float, allowed: Callable[[Counts], bool]) -> float:
    r"""Return the largest delta(epsilon) that an adversary reaches who chooses every release by all earlier answers.

    With r the loss so far, :math:`P_1=e^rP_0`. Stopping is worth :math:`P_0(e^r-e^\varepsilon)^+`; a release from the
    menu splits r. Only multisets that the rule allows are entered.
    """

    @cache
    def value(loss: int, counts: Counts) -> float:
        best = max(0.0, math.exp(STEP * loss) - math.exp(epsilon))
        for place, step in enumerate(LOSSES):
            after = tuple(count + (place == own) for own, count in enumerate(counts))
            if not allowed(after):
                continue
            if step is None:  # a failure shows everything: all of it counts
                lost = 0.01
                found = math.exp(STEP * loss) * lost + (1 - lost) * value(loss, after)
            else:
                less = 1 / (1 + math.exp(STEP * step))
                found = less * value(loss + step, after) + (1 - less) * value(loss - step, after)
            best = max(best, found)
        return best

    return value(0, (0,) * len(MENU))


def rule_of(one: Filter) -> Callable[[Counts], bool]:
    """Return the multisets that a filter lets through."""
    prices: list[Price | None] = []
    for text in MENU:
        try:
            prices.append(one.price([(parse(text), 1)]))
        except DomainError:
            prices.append(None)

    def allowed(counts: Counts) -> bool:
        spent = Price()
        for price, count in zip(prices, counts, strict=True):
            if count and price is None:
                return False
            spent = spent.plus(price or Price(), count)
        return one.holds(spent)

    return allowed


def natural(epsilon: float, delta: float) -> Callable[[Counts], bool]:
    """Return the rule that composes whole regions and looks at the budget: no filter."""

    @cache
    def allowed(counts: Counts) -> bool:
        parts = [f"{text}^{count}" for text, count in zip(MENU, counts, strict=True) if count]
        return not parts or float(parse(" * ".join(parts)).delta(epsilon)) <= delta

    return allowed


BUDGETS = [(1.5, 0.05), (0.7, 0.1), (2.0, 0.03), (0.9, 0.2)]


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_no_adversary_breaks_a_filter(epsilon: float, delta: float) -> None:
    for one in filters(Budget(epsilon, delta)):
        reached = adversary(epsilon, rule_of(one))
        # the adversary comes near: the test is not about empty lists
        assert 0.1 * delta < reached <= delta * (1 + 1e-9), one.title


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_adversary_breaks_the_rule_of_whole_regions(epsilon: float, delta: float) -> None:
    assert adversary(epsilon, natural(epsilon, delta)) > delta * 1.3


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_passing_what_any_filter_lets_pass_is_no_filter(epsilon: float, delta: float) -> None:
    rules = [rule_of(one) for one in filters(Budget(epsilon, delta))]
    assert adversary(epsilon, lambda counts: any(rule(counts) for rule in rules)) > delta * 1.1


@pytest.mark.parametrize("entries", [(3, 0, 0, 1), (2, 2, 1, 0), (1, 1, 1, 2), (6, 0, 0, 0)])
def test_order_and_end_of_a_fixed_list_are_free(entries: Counts) -> None:
    """The order in which a fixed list is used up may depend on answers: nothing beyond its product is reached."""
    text = " * ".join(f"{name}^{count}" for name, count in zip(MENU, entries, strict=True) if count)
    for epsilon in (0.0, 0.4, 1.0):
        reached = adversary(epsilon, lambda counts: all(c <= most for c, most in zip(counts, entries, strict=True)))
        assert reached == pytest.approx(float(parse(text).delta(epsilon)), rel=1e-9, abs=1e-14)


def test_the_counterexample_of_the_guide_in_fractions() -> None:
    """After dp(log 2) ask dp(log 2) if it said yes, tv(1/9) if it said no; budget (log 3, 1/9)."""
    third = Fraction(1, 3)
    coin = [(2 * third, third), (third, 2 * third)]  # answers of dp(log 2): probability with and without the person
    leak = [(Fraction(1, 9), Fraction(0)), (Fraction(8, 9), Fraction(8, 9)), (Fraction(0), Fraction(1, 9))]

    def delta(after_yes: list[tuple[Fraction, Fraction]], after_no: list[tuple[Fraction, Fraction]]) -> Fraction:
        second = zip(coin, (after_yes, after_no), strict=True)
        pairs = [(a * p, b * q) for (a, b), answers in second for p, q in answers]
        assert sum(p for p, _ in pairs) == sum(q for _, q in pairs) == 1
        return sum((max(Fraction(0), p - 3 * q) for p, q in pairs), Fraction(0))

    assert delta(coin, coin) == delta(leak, leak) == Fraction(1, 9)
    assert delta(coin, leak) == Fraction(4, 27) > Fraction(1, 9)
    log2, log3 = math.log(2), math.log(3)
    assert float(parse(f"dp({log2!r})^2").delta(log3)) == pytest.approx(1 / 9, rel=1e-12)
    assert float(parse(f"dp({log2!r}) * tv({1 / 9!r})").delta(log3)) == pytest.approx(1 / 9, rel=1e-12)


# ---- limits and prices ---------------------------------------------------------------------------------------


@given(epsilon=some.floats(0.01, 20), exponent=some.floats(-12, -1))
@settings(max_examples=6, deadline=None)
def test_limits_imply_the_budget_and_nothing_larger_does(epsilon: float, exponent: float) -> None:
    delta = 10**exponent
    mu, rho, order = largest_mu(epsilon, delta), largest_rho(epsilon, delta), best_order(epsilon, delta)
    assert float(parse(f"gdp({mu!r})").delta(epsilon)) <= delta
    assert float(parse(f"gdp({mu * (1 + 1e-9)!r})").delta(epsilon)) > delta
    bound = largest_divergence(order, epsilon, delta)
    for text, limit in ((f"zcdp({rho!r})", rho), (f"rdp({order!r}, {bound!r})", bound)):
        if limit > 0:
            assert float(np.asarray(parse(text).delta_bounds(np.array([epsilon]))[1])[0]) <= delta * (1 + 1e-9)
    # Gaussian noise is the one that all three know: the weaker the notion, the less of it fits
    assert bound / order * 2 <= mu * mu * (1 + 1e-9)
    assert rho * 2 <= mu * mu * (1 + 1e-9)


def test_prices_are_those_of_the_theorems() -> None:
    basic, renyi, rate, gaussian = filters(Budget(3.0, 1e-6), order=8.0)
    noise = [(parse("gaussian(4)"), 1)]
    assert float(gaussian.price(noise).amount) == pytest.approx(1 / 16, rel=1e-12)
    assert float(rate.price(noise).amount) == pytest.approx(1 / 32, rel=1e-12)
    assert float(renyi.price(noise).amount) == pytest.approx(8 / 32, rel=1e-12)
    assert float(basic.price(noise).amount) == pytest.approx(float(parse("gaussian(4)").epsilon(1e-9)), rel=1e-9)
    assert float(basic.price(noise).failing) == pytest.approx(1e-9, rel=1e-12)
    pure = gaussian.price([(parse("laplace(0.5)"), 3)])
    mu = math.sqrt(float(pure.amount) / 3)
    at = np.linspace(0.0, 0.5, 21)
    assert np.all(parse(f"gdp({mu!r})").delta_bounds(at)[1] >= parse("laplace(0.5)").delta_bounds(at)[0] * (1 - 1e-12))
    with pytest.raises(DomainError, match=r"poisson_gaussian\(1, 0\.01\) is not known to lie inside"):
        gaussian.price([(parse("poisson_gaussian(1, 0.01)"), 1)])
    with pytest.raises(DomainError, match="only the basic filter counts failures"):
        renyi.price([(parse("dp(0.1, 1e-8)"), 1)])
    with pytest.raises(DomainError, match="this filter adds up ρ alone"):
        rate.price([(parse("zcdp(0.1, 0.2)"), 1)])


# ---- ledgers -------------------------------------------------------------------------------------------------

ROWS = (("a", "laplace(0.1)", 100), ("b", "gaussian(20)", 200), ("c", "geometric(0.1)", 50))


def test_a_ledger_is_run_row_by_row() -> None:
    frame = filter_table(Ledger.of(*ROWS), Budget(8.0, 1e-6))
    fits = frame.pivot_table(index="filter", columns="row", values="fits")
    assert fits.loc["basic"].tolist() == [80, 0, 0]  # 80 times 0.1 is 8, though not in doubles
    assert fits.loc["rdp"].tolist() == [100, 200, 50]
    assert fits.loc["gdp"].tolist() == [100, 200, 22]
    assert (frame["spent"] <= frame["limit"] * (1 + 1e-15)).all()
    assert not frame.isna().any().any()
    last = frame[frame["filter"] == "gdp"].iloc[-1]
    assert last["left"] < last["cost"]
    assert last["note"] == "only 22 of 50 fit"


def test_what_a_filter_lets_pass_is_within_the_budget_without_adaptivity() -> None:
    budget = Budget(8.0, 1e-6)
    frame = filter_table(Ledger.of(*ROWS), budget)
    for _, rows in frame.groupby("filter"):
        parts = [f"{e}^{n}" for e, n in zip(rows["expression"], rows["fits"], strict=True) if n]
        assert float(parse(" * ".join(parts)).curve.delta_bounds(np.array([8.0]))[1][0]) <= 1e-6


def test_one_more_release_of_a_row() -> None:
    ledger, budget = Ledger.of(*ROWS), Budget(8.0, 1e-6)
    found = may_release(ledger, 2, budget).set_index("filter")
    assert found["may"].to_dict() == {"basic": False, "rdp": True, "zcdp": True, "gdp": False}
    more = int(found.loc["rdp", "more"])
    again = filter_table(ledger.with_count(2, 50 + more + 1), budget)
    assert again[(again["filter"] == "rdp") & (again["row"] == 3)]["fits"].iloc[0] == 50 + more
    words = may_words(ledger, 2, found.reset_index())
    assert words.startswith(
        "Yes, one more of row 3 (c: geometric(0.1)) may follow, if the filter chosen beforehand was the"
    )
    assert f"({more} fit)" in words
    lines = [filter_words(row) for _, row in may_release(ledger, 2, budget).iterrows()]
    assert lines[1] == f"**Rényi filter, order 4.35**: D spent is 4.206 of 4.576; one more costs 0.0213: {more} fit."
    assert lines[3].endswith("one more costs 0.0158: it does not fit.")
    tight = may_release(ledger, 0, Budget(0.1, 1e-6))
    assert not tight["may"].any()
    assert may_words(ledger, 0, tight).startswith("No: no filter allows one more of row 1")


def test_rows_without_a_price_are_refused_with_a_reason() -> None:
    ledger = Ledger.of(("a", "dp(0.1, 1e-8)", 3), ("b", "poisson_gaussian(1, 0.01)", 10))
    frame = filter_table(ledger, Budget(4.0, 1e-6)).set_index(["filter", "row"])
    assert frame.loc[("basic", 1), "fits"] == 3
    assert frame.loc[("rdp", 1), "cost"] == math.inf
    assert "fails with probability 1e-8" in frame.loc[("rdp", 1), "note"]
    assert frame.loc[("rdp", 2), "fits"] == 10
    answers = may_release(ledger, 1, Budget(4.0, 1e-6)).set_index("filter")
    assert "Row 1 (a: dp(0.1, 1e-8))" in answers.loc["rdp", "note"]
    silent = may_release(ledger, 1, Budget(4.0, 1e-6)).iloc[1]
    assert filter_words(silent).startswith("**Rényi filter, order 7.31**: no answer. Row 1 (a: dp(0.1, 1e-8))")


@pytest.mark.parametrize("delta", [0.0, 1.0])
def test_the_ends_of_delta(delta: float) -> None:
    frame = filter_table(Ledger.of(("a", "dp(0.5)", 4), ("b", "gaussian(1)", 1)), Budget(1.0, delta))
    fits = {str(name): rows["fits"].tolist() for name, rows in frame.groupby("filter")}
    if delta == 0:
        assert fits == {"basic": [2, 0], "rdp": [0, 0], "zcdp": [0, 0], "gdp": [0, 0]}
    else:
        assert all(found == [4, 1] for found in fits.values())


def test_wrong_options_are_named() -> None:
    with pytest.raises(DomainError, match="order must be"):
        filters(Budget(1.0, 1e-6), order=1.0)
    with pytest.raises(DomainError, match="each must be"):
        filters(Budget(1.0, 1e-6), each=2.0)


def test_time_that_ended_is_no_answer_about_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = read_ledger("label,expression,count\na,gaussian(20),200\n").ledger

    def late(*_: object) -> Price:
        time.sleep(0.6)
        msg = "The time allowed ended."
        raise BudgetError(msg)

    monkeypatch.setattr(Filter, "price", late)
    with effort(deadline=0.5), pytest.raises(BudgetError, match="time allowed"):
        may_release(ledger, 0, Budget(8.0, 1e-6))


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-30, 1e-17])
def test_a_budget_of_next_to_nothing_has_its_filters(epsilon: float) -> None:
    """The best order lies so close to 1 that it would round to it."""
    limits = {one.name: one.limit for one in filters(Budget(epsilon, 1e-6))}
    assert 0 <= limits["zcdp"] <= largest_mu(epsilon, 1e-6) ** 2 / 2 * (1 + 1e-9)


def test_filters_that_ignore_groups_say_so() -> None:
    """Five parts of one group spend 0.5 by regions, and 2.5 by the basic filter, which counts every row."""
    parts = [(f"part {place}", "laplace(0.5)", 1, "", "", "parts") for place in range(5)]
    budget = Budget(8.0, 1e-6)
    for ledger, grouped in ((Ledger.of(*parts), True), (Ledger.of(*[part[:3] for part in parts]), False)):
        answers = may_release(ledger, 0, budget)
        spent = answers.set_index("filter")["spent"]
        assert spent["basic"] == pytest.approx(2.5)
        assert ("count every row in full" in may_words(ledger, 0, answers)) == grouped
