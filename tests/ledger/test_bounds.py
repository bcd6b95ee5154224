"""Theorems about whole ledgers: each against a second route, and the best named is the best."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import parse
from dpcore.core.errors import DomainError
from dpcore.ledger import Ledger, headline, reason, theorems, total, verdict
from dpcore.theorems import divergences, kov_simplified_epsilon, rdp_to_dp
from dpcore.theorems.composition.verdict import best
from dpcore.theorems.divergence_sums import divergences as moments
from dpcore.theorems.releases import statements
from dpcore.training.gradients import renyi as sampled_renyi
from tests.ledger.test_records import MIXED

DELTA = 1e-6
PROMISES = ("exact", "upper")


def by_name(ledger: Ledger, delta: float = DELTA) -> dict[str, tuple[float, str]]:
    rows = theorems(ledger, delta)
    return {str(r["theorem"]): (float(r["epsilon"]), str(r["kind"])) for _, r in rows.iterrows()}


LISTS = [
    MIXED,
    (("a", "dp(0.1)", 30), ("b", "dp(0.2, 1e-9)", 10)),
    (("a", "dptv(0.3, 0, 0.02)", 30), ("b", "rr(0.5, 4)", 3)),
    (("a", "gaussian(5)", 3), ("b", "gdp(0.1)", 3)),
    (("a", "laplace(0.4)", 1, "", "", "g"), ("b", "gaussian(4)", 1, "", "", "g"), ("c", "dp(0.1)", 9)),
    (("a", "exponential(0.3)", 5),),
    (("a", "zcdp(0.01)", 3), ("b", "gaussian(9)", 3)),
    (("a", "tv(0.001)", 2),),
    (),
]


@pytest.mark.parametrize("rows", LISTS, ids=range(len(LISTS)))
@pytest.mark.parametrize("delta", [DELTA, 0.0, 1.0])
def test_the_best_named_is_never_worse_than_another(rows: tuple[tuple[object, ...], ...], delta: float) -> None:
    frame = theorems(Ledger.of(*rows), delta)
    held = frame[frame["kind"].isin(PROMISES)]
    top = best(frame)
    assert not frame.isna().any().any()
    assert set(frame["kind"]) <= {"exact", "upper", "approximate", "none"}
    assert (held["epsilon"] >= held["epsilon_lower"] * (1 - 1e-9)).all()
    assert frame.loc[frame["kind"] == "none", "note"].str.len().min() > 5 if (frame["kind"] == "none").any() else True
    if top is None:
        assert "no theorem promises" in headline(frame)
        assert reason(frame) == ""
    else:
        assert float(top["epsilon"]) == held["epsilon"].min()
        assert f"**{top['title']}** is best" in verdict(frame)
        assert reason(frame)


def test_statements_compose_by_their_own_theorems() -> None:
    found = by_name(Ledger.of(("a", "dp(0.1)", 30), ("b", "dp(0.2, 1e-9)", 10)))
    exact = parse("dp(0.1)^30 * dp(0.2, 1e-9)^10").epsilon(DELTA)
    assert found["exact"] == found["kov_optimal"] == (exact, "exact")
    row = kov_simplified_epsilon([(0.1, 0.0, 30), (0.2, 1e-9, 10)], DELTA)
    assert found["kov_simplified"][0] == float(row["epsilon"].iloc[0])
    assert found["basic"][0] == pytest.approx(float(parse("dp(5, 1e-8)").epsilon(DELTA)), rel=1e-12)
    assert found["rdp"][1] == found["zcdp"][1] == found["advanced_drv"][1] == "none"


def test_gaussian_rows_add_their_squares() -> None:
    found = by_name(Ledger.of(("a", "gaussian(5)", 3), ("b", "gdp(0.1)", 3)))
    exact = parse(f"gdp({math.sqrt(3 / 25 + 0.03)!r})").epsilon(DELTA)
    assert found["gdp"][0] == pytest.approx(exact, rel=1e-12)
    assert found["gdp"] == found["exact"]
    rho = (3 / 25 + 0.03) / 2
    assert found["zcdp"][0] == pytest.approx(by_name(Ledger.of(("z", f"zcdp({rho!r})")))["zcdp"][0], rel=1e-12)
    assert found["rdp"][0] == pytest.approx(found["zcdp"][0], rel=1e-4)
    assert found["clt"][1] == "none"


@pytest.mark.parametrize(
    "text", ["laplace(0.7)", "gaussian(2)", "geometric(0.4)", "dp(0.5)", "rr(1, 5)", "dptv(1, 0, 0.2)"]
)
def test_divergences_are_those_of_closed_forms(text: str) -> None:
    orders = np.array([1.01, 1.5, 2.0, 7.3, 60.0, 1000.0])
    ours = moments(parse(text), orders)
    known = [divergences.renyi(parse(text), float(order)) for order in orders]
    truth = np.array([found[0] for found in known if found is not None])
    assert np.all(ours >= truth * (1 - 1e-13))
    assert ours == pytest.approx(truth, rel=1e-9, abs=1e-13)


def test_divergences_of_samples_are_those_of_their_own_accountant() -> None:
    orders = np.array([1.5, 2.0, 8.0, 32.0])
    ours = moments(parse("poisson_gaussian(1, 0.01)"), orders)
    assert ours == pytest.approx(sampled_renyi(1.0, 0.01, orders.tolist()), rel=1e-6)


def test_renyi_of_the_mixed_ledger_by_adding_at_one_order() -> None:
    found = by_name(Ledger.of(*MIXED))["rdp"][0]
    order = 4.4
    parts = [divergences.renyi(parse(text), order) for text in ("laplace(0.1)", "gaussian(20)", "geometric(0.1)")]
    values = [part[0] for part in parts if part is not None]
    total_ = 100 * values[0] + 200 * values[1] + 50 * values[2] + 1000 * float(sampled_renyi(1.0, 0.01, order)[0])
    rows = rdp_to_dp(order, total_, DELTA)
    at_order = float(rows.loc[rows["theorem"] == "rdp_tight", "epsilon"].iloc[0])
    assert found <= at_order <= found * 1.001


def test_shares_of_delta_add_up() -> None:
    ledger = Ledger.of(*MIXED, ("x", "dp(0.1, 1e-8)", 20))
    given = statements(ledger.factors, DELTA)
    spent = sum(failing * count for _, failing, count in given.triples)
    assert spent == pytest.approx(20e-8 + 0.5 * (DELTA - 20e-8), rel=1e-9)
    assert spent <= DELTA
    with pytest.raises(DomainError, match=r"gaussian\(20\) has unbounded loss"):
        statements(ledger.factors, 1e-8)
    with pytest.raises(DomainError, match="delta must be"):
        total(ledger, 2.0)


def test_a_long_list_of_different_rows() -> None:
    sizes = np.linspace(0.001, 0.02, 500)
    rows = [(f"r{i}", f"dp({e:.9f})" if i % 2 else f"laplace({e:.9f})", 1) for i, e in enumerate(sizes)]
    ledger = Ledger.of(*rows)
    frame = theorems(ledger, DELTA).set_index("theorem")
    assert frame.loc["exact", "kind"] == "upper"
    width = frame.loc["exact", "epsilon"] - frame.loc["exact", "epsilon_lower"]
    assert 0 <= width < 1e-3 * frame.loc["exact", "epsilon"]
    assert frame.loc["kov_optimal", "kind"] == "none"
    assert "500 different releases" in frame.loc["kov_optimal", "note"]
    sum_ = math.fsum(np.round(sizes, 9))
    assert frame.loc["basic", "epsilon"] == pytest.approx(float(parse(f"dp({sum_!r})").epsilon(DELTA)), rel=1e-12)
    # between the compositions of the smallest and of the largest row
    assert (
        parse("laplace(0.001)^500").epsilon(DELTA)
        < frame.loc["exact", "epsilon"]
        < parse("dp(0.02)^500").epsilon(DELTA)
    )


def test_added_renyi_statements_are_no_exact_region() -> None:
    ledger = Ledger.of(("a", "rdp(4, 0.2)", 3), ("b", "laplace(0.2)", 2))
    frame = theorems(ledger, 0.3).set_index("theorem")
    assert frame.loc["exact", "kind"] == "upper"
    assert frame.loc["dptv", "epsilon"] < frame.loc["exact", "epsilon"]  # composing statements wins at this delta
    assert (frame["epsilon_lower"] <= frame.loc["dptv", "epsilon"]).all()
    assert total(Ledger.of(("a", "rdp(4, 0.2)")), 0.3).kind == "exact"
