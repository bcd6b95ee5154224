"""Parallel rows: the union of the worst, per-person limits, and what an adaptive attacker can really do."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dpcore import parse
from dpcore.ledger import Ledger
from dpcore.ledger.groups import essential, group_factors
from dpcore.ledger.inside import maximal
from dpcore.theorems import parallel_union

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

GRID = np.linspace(0.0, 4.0, 41)


def regions(*texts: str) -> list[TradeOff]:
    return [parse(text) for text in texts]


def together(parts: list[TradeOff]) -> TradeOff:
    out = parts[0]
    for part in parts[1:]:
        out = out * part
    return out


def test_one_part_each_is_the_union() -> None:
    given = [(1.0, 1e-3), (2.0, 0.0), (0.2, 0.05)]
    members = regions(*(f"dp({e}, {d})" for e, d in given))
    (found,) = group_factors(members, 1)
    row = parallel_union(given).iloc[0]
    assert found.same_region(parse(f"dp({float(row['epsilon'])}, {float(row['delta'])})"))
    assert np.allclose(found.delta(GRID), np.max([m.delta(GRID) for m in members], axis=0), rtol=1e-12)


def test_nested_rows_compose_the_worst_ones() -> None:
    members = regions("dp(0.2)", "dp(1)", "dp(0.5)", "dp(0.5)")
    assert [str(one) for one in group_factors(members, 2)] == ["dp(1)", "dp(0.5)"]
    assert group_factors(members, 4) == members
    assert group_factors(members, 9) == members


CROSSING = ("dptv(2, 0, 0.2)", "dp(0.7)", "tv(0.25)", "rr(1.2, 4)")


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_no_choice_of_rows_beats_the_bound(limit: int) -> None:
    members = regions(*CROSSING)
    bound = together(group_factors(members, limit)).delta(GRID)
    for chosen in itertools.combinations(members, limit):
        assert np.all(together(list(chosen)).delta(GRID) <= bound * (1 + 1e-12))


def test_no_adaptive_choice_of_rows_beats_the_bound() -> None:
    """The first row touches the person; which of the others does depends on its answer, in the worst way."""
    members = regions(*CROSSING)
    bound = together(group_factors(members, 2)).delta(GRID)
    reached = np.zeros(GRID.size)
    for first in range(len(members)):
        _, p, q = members[first].atoms()
        rest = members[:first] + members[first + 1 :]
        lost = members[first].curve.q_inf
        for place, epsilon in enumerate(GRID):
            # sum over answers of the best of sup_S q Q(S) - e^eps p P(S); a proof of presence (P0 = 0) counts in full
            worst = np.zeros(p.size)
            for other in rest:
                worst = np.maximum(worst, q * other.delta(epsilon + np.log(p) - np.log(q)))
            reached[place] = max(reached[place], lost + worst.sum())
    plain = np.max([together(list(c)).delta(GRID) for c in itertools.combinations(members, 2)], axis=0)
    assert np.any(reached > plain * (1 + 1e-6))  # adaptivity does help the attacker here ...
    assert np.all(reached <= bound * (1 + 1e-12))  # ... and the bound covers it


def test_the_union_composed_is_an_upper_bound_with_an_attained_side() -> None:
    ledger = Ledger.of(
        ("a", "dptv(2, 0, 0.2)", 1, "", "", "g"), ("b", "dp(0.7)", 1, "", "", "g"), ("all", "laplace(0.3)", 2)
    )
    low, high = ledger.region.delta_bounds(GRID)
    assert ledger.region.kind == "upper"
    alone = [(parse("laplace(0.3)^2") * member).delta(GRID) for member in regions("dptv(2, 0, 0.2)", "dp(0.7)")]
    assert np.all(np.max(alone, axis=0) <= high * (1 + 1e-12))
    assert np.all(low <= np.max(alone, axis=0) * (1 + 1e-9))
    single = Ledger.of(("a", "gdp(1)", 1, "", "", "g"), ("b", "dp(0.7)", 1, "", "", "g"))
    assert single.region.kind == "exact"


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        (("gaussian(2)^3", "gdp(0.5)", "gdp(0.4)^2"), ["gaussian(2)^3"]),
        (("laplace(1)", "laplace(0.5)", "laplace(1)^2"), ["laplace(1)^2"]),
        (("laplace(1)^2", "laplace(0.5)^3"), ["laplace(1)^2", "laplace(0.5)^3"]),
        (("poisson_gaussian(1, 0.1)^5", "poisson_gaussian(2, 0.05)^5"), ["poisson_gaussian(1, 0.1)^5"]),
        (
            ("poisson_gaussian(1, 0.1)", "poisson_gaussian(2, 0.5)"),
            ["poisson_gaussian(1, 0.1)", "poisson_gaussian(2, 0.5)"],
        ),
        (("dp(1)", "laplace(0.7)", "geometric(1)", "tv(0)", "rr(1)"), ["dp(1)"]),
        (("dp(0)", "tv(0)"), ["dp(0)"]),
        (("geometric(1, 2)", "geometric(0.5, 2)", "geometric(0.5)"), ["geometric(1, 2)", "geometric(0.5)"]),
        (("dp(1) * tv(0.1)", "dp(1)^2 * tv(0.1)"), ["dp(1)^2 * tv(0.1)"]),
        (("dp(1)", "dp(1)"), ["dp(1)"]),
    ],
)
def test_regions_inside_others_are_left_out(texts: tuple[str, ...], kept: list[str]) -> None:
    members = regions(*texts)
    found = maximal(members)
    assert [str(member) for member in found] == kept
    outer = np.max([member.delta(GRID) for member in found], axis=0)
    for member in members:  # a second route: no member left out has a larger delta anywhere
        assert np.all(member.delta_bounds(GRID)[0] <= outer * (1 + 1e-9) + 1e-15)


def test_rows_that_change_nothing_are_known() -> None:
    members = regions("dp(1)", "dp(0.5)", "dp(0.2)", "laplace(0.1)")
    assert essential(members, 1) == {0}
    assert essential(members, 2) == {0, 1}
    assert essential(members, 3) == {0, 1, 2, 3}


def test_a_replaced_record_may_leave_one_part_and_enter_another() -> None:
    """Five counts by department and a mean, each 0.5: what the group costs depends on the relation."""
    rows = [(f"count {n}", "laplace(0.5)", 1, "", "", "departments") for n in range(5)]
    silent = Ledger.of(*rows, ("mean", "laplace(0.5)", 1))
    assert (silent.neighbours, silent.limit("departments")) == ("add/remove", 1)
    assert silent.region.epsilon(0.0) == pytest.approx(1.0)
    assert silent.named_region.neighbours == "add/remove"
    replaced = replace(silent, relation="substitution")
    assert replaced.limit("departments") == 2
    assert replaced.region.epsilon(0.0) == pytest.approx(1.5)
    stated = Ledger.of(*[(*row, 1) for row in rows], ("mean", "laplace(0.5)", 1))
    assert (stated.neighbours, stated.limit("departments")) == ("any", 1)
    assert replace(stated, relation="substitution").region.epsilon(0.0) == pytest.approx(1.0)
    single = Ledger.of(rows[0], ("mean", "laplace(0.5)", 1))
    assert single.neighbours == "any"
