"""Costs: never negative, at most the row's own epsilon if pure, and adding up by the basic theorem."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from dpcore import parse
from dpcore.core.errors import DomainError
from dpcore.ledger import Ledger, costs, theorems, total
from dpcore.theorems.releases import statements
from tests.ledger.test_records import MIXED

DELTA = 1e-6
PURE = (
    ("a", "laplace(0.1)", 10),
    ("b", "dp(0.3)", 2),
    ("c", "geometric(0.05)", 20),
    ("d", "rr(0.4, 4)", 1),
    ("e", "exponential(0.2)", 1),
)


@pytest.mark.parametrize("rows", [MIXED, PURE[:4], PURE[:2], MIXED[1:2], PURE[4:]], ids=range(5))
@pytest.mark.parametrize("delta", [DELTA, 1e-2])
def test_the_laws_of_costs(rows: tuple[tuple[str, str, int], ...], delta: float) -> None:
    ledger = Ledger.of(*rows)
    whole = total(ledger, delta)
    found = costs(ledger, delta)
    assert found["row"].tolist() == list(range(1, len(rows) + 1))
    for place, row in found.iterrows():
        assert 0 <= row["cost_lower"] <= row["cost"] <= whole.upper
        rest = total(ledger.without(int(place)), delta)  # type: ignore[call-overload]  # an integer
        assert row["cost_lower"] <= max(0.0, whole.upper - rest.lower)
        assert row["cost"] >= min(whole.lower - rest.upper, row["cost"])
        own = parse(rows[int(place)][1]).curve  # type: ignore[call-overload]  # an integer
        if math.isfinite(own.max_loss) and own.q_inf == 0:
            assert row["cost"] <= rows[int(place)][2] * own.max_loss * (1 + 1e-12)  # type: ignore[call-overload]
        exact = whole.kind == rest.kind == "exact"
        assert row["kind"] == ("exact" if exact else "upper")


def test_a_pure_row_costs_its_own_epsilon_at_delta_zero() -> None:
    found = costs(Ledger.of(*PURE[:4]), 0.0)
    assert found["cost"].tolist() == pytest.approx([1.0, 0.6, 1.0, 0.4], rel=1e-12)


@pytest.mark.parametrize(
    "rows", [MIXED, PURE, PURE[:1], (("a", "dp(0.1, 1e-8)", 7), ("b", "gaussian(3) * laplace(0.5)^2", 3))]
)
def test_by_the_basic_theorem_costs_add_up(rows: tuple[tuple[str, str, int], ...]) -> None:
    ledger = Ledger.of(*rows, relation="add/remove")
    frame = theorems(ledger, DELTA).set_index("theorem")
    found = costs(ledger, DELTA, by="basic")
    epsilon = math.fsum(step * count for step, _, count in statements(ledger.factors, DELTA).triples)
    assert math.fsum(found["cost"]) == pytest.approx(epsilon, rel=1e-12)
    # the whole statement also uses the part of delta that the failures leave, which is worth less than 2 delta
    assert 0 <= epsilon - float(frame.loc["basic", "epsilon"]) <= 2 * DELTA
    assert (found["cost"] > 0).all()


def test_gaussian_costs_in_closed_form() -> None:
    rows = [("a", "gaussian(5)", 3), ("b", "gdp(0.1)", 3), ("c", "gaussian(2)", 1)]
    ledger = Ledger.of(*rows)
    found = costs(ledger, DELTA)
    squares = np.array([3 / 25, 0.03, 0.25])
    whole = parse(f"gdp({math.sqrt(squares.sum())!r})").epsilon(DELTA)
    rest = [parse(f"gdp({math.sqrt(squares.sum() - one)!r})").epsilon(DELTA) for one in squares.tolist()]
    assert found["cost"].tolist() == pytest.approx([whole - one for one in rest], rel=1e-9)
    assert set(found["kind"]) == {"exact"}
    assert costs(Ledger.of(rows[0]), DELTA)["cost"].tolist() == pytest.approx([total(Ledger.of(rows[0]), DELTA).upper])


def test_many_rows_are_computed_without_a_certificate_and_agree() -> None:
    sizes = np.linspace(0.01, 0.2, 40)
    rows = [(f"r{i}", f"laplace({e:.6f})", 1 + i % 3) for i, e in enumerate(sizes)]
    rows += [("p", "poisson_gaussian(1.5, 0.02)", 100), ("q", "dp(0.3, 1e-9)", 2)]
    ledger = Ledger.of(*rows)
    found = costs(ledger, DELTA)
    assert set(found["kind"]) == {"approximate"}
    whole = total(ledger, DELTA)
    for place in (0, 17, 39, 40, 41):
        rest = total(ledger.without(place), DELTA)
        low, high = whole.lower - rest.upper, whole.upper - rest.lower
        assert low - 1e-6 <= found["cost"][place] <= high + 1e-6


def test_rows_of_groups() -> None:
    ledger = Ledger.of(
        ("a", "gaussian(5)", 3, "", "", "g"), ("b", "gaussian(4)", 3, "", "", "g"), ("c", "dp(1)"), ("d", "dp(1)")
    )
    found = costs(ledger, DELTA)
    assert found["cost"][0] == 0
    assert "worse" in found["note"][0]
    direct = total(ledger, DELTA).upper - total(Ledger.of(*ledger.rows[:1], *ledger.rows[2:]), DELTA).upper
    assert found["cost"][1] == pytest.approx(direct, rel=1e-9)
    assert found["cost"][2] == found["cost"][3]
    by_basic = costs(ledger, DELTA, by="basic")
    assert by_basic["cost"][0] == 0
    assert by_basic["cost"][2] == 1.0
    pure = Ledger.of(("a", "dp(1)", 1, "", "", "g"), ("b", "dp(3)", 1, "", "", "g"), ("c", "dp(2)"))
    assert costs(pure, 0.0)["cost"].tolist() == pytest.approx([0.0, 2.0, 2.0])
    assert costs(pure, 0.0, by="basic")["cost"].tolist() == pytest.approx([0.0, 2.0, 2.0])


def test_a_whole_group_costs_what_leaving_all_of_it_out_saves() -> None:
    parts = [(f"part {place}", "laplace(0.5)", 1, "", "", "parts") for place in range(5)]
    ledger = Ledger.of(*parts, ("mean", "laplace(0.5)"))
    assert costs(ledger, DELTA)["cost"].tolist()[:5] == [0.0] * 5  # one part less saves nothing
    for by in ("exact", "basic"):
        found = costs(ledger, DELTA, by=by, whole_groups=True)
        assert found["row"].tolist() == ["1–5", 6]
        assert found["label"].tolist() == ["group parts", "mean"]
        assert found["count"].tolist() == [5, 1]
        assert found["cost"].tolist() == pytest.approx([0.5, 0.5], abs=1e-4)
    whole, rest = total(ledger, DELTA), total(Ledger.of(("mean", "laplace(0.5)")), DELTA)
    assert costs(ledger, DELTA, whole_groups=True)["cost"][0] == pytest.approx(whole.upper - rest.upper)
    alone = Ledger.of(*parts)
    assert costs(alone, DELTA, whole_groups=True)["cost"].tolist() == pytest.approx([total(alone, DELTA).upper])
    scattered = Ledger.of(parts[0], ("a", "dp(1)"), parts[1], ("b", "dp(1)"), *parts[2:])
    assert costs(scattered, DELTA, whole_groups=True)["row"].tolist() == ["1, 3, 5, 6, 7", 2, 4]
    plain = Ledger.of(("a", "dp(1)"), ("b", "gaussian(3)"))
    pd.testing.assert_frame_equal(costs(plain, DELTA, whole_groups=True), costs(plain, DELTA))


def test_where_no_epsilon_reaches_delta() -> None:
    found = costs(Ledger.of(("a", "gaussian(5)", 3), ("b", "dp(1)")), 0.0)
    assert found["cost"].tolist() == [math.inf, math.inf]
    assert found["kind"].tolist() == ["exact", "none"]
    assert "with or without" in found["note"][1]
    basic = costs(Ledger.of(("a", "gaussian(5)", 3), ("b", "dp(1)")), 0.0, by="basic")
    assert set(basic["kind"]) == {"none"}
    assert len(costs(Ledger(), DELTA)) == 0
    with pytest.raises(DomainError, match="by must be one of exact, basic"):
        costs(Ledger(), DELTA, by="renyi")
